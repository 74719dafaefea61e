//! What the engine says no to. Nothing changed when one of these comes back.

use crate::domain::MemberName;

/// Why an input or a team was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CollaborationError {
    /// No such protocol.
    #[error("there is no protocol {name:?}{}; there are: {known}", hint(.nearest))]
    UnknownProtocol { name: String, nearest: Option<String>, known: String },
    /// A protocol that decides who acts needs somebody.
    #[error("protocol {protocol} needs at least one member: spawn a teammate first")]
    EmptyTeam { protocol: &'static str },
    /// Names are unique over the whole team, nested teams included.
    #[error("the name {0} is used twice in this team")]
    DuplicateMember(MemberName),
    /// The lead supervises.
    #[error("the lead supervises and cannot be a member of its own team")]
    LeadAsMember,
    /// Nested teams inside nested teams inside …
    #[error("teams are nested deeper than {max} levels (at {at})")]
    TooDeep { at: MemberName, max: usize },
    /// No such member.
    #[error("there is no member {name}{}", hint(.nearest))]
    UnknownMember { name: MemberName, nearest: Option<String> },
    /// The member was not chosen to act (or has ended already).
    #[error("{0} is not at work in this run")]
    NotAtWork(MemberName),
    /// Nobody asked the supervisor.
    #[error("the supervisor was not asked")]
    NotAsked,
    /// A new prompt while a run goes on.
    #[error("a run goes on ({who}): stop it first, or send an empty prompt to go on")]
    Busy { who: String },
    /// An empty prompt with no run to go on with.
    #[error("there is no run to go on with: give a prompt")]
    NothingToResume,
    /// The run is over.
    #[error("the run has ended: give a new prompt")]
    Over,
    /// The custom graph does not work out.
    #[error("graph: {0}")]
    Graph(String),
    /// A setting does not fit.
    #[error("{0}")]
    Config(String),
    /// A snapshot that cannot be used.
    #[error("snapshot: {0}")]
    Snapshot(String),
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}
