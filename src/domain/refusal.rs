//! Refusals: what the team says no to. A value that the user or the model sees, never the end of a loop.

use super::{MemberName, NameError, Party, RequestId, RequestKind, RequestState, TaskId, Timestamp};

/// Why a command was not carried out. Nothing changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// Not a name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// No such member.
    #[error("there is no member {name:?}{}; the team is: {roster}", hint(.nearest))]
    UnknownMember { name: String, nearest: Option<String>, roster: String },
    /// The name is taken, perhaps in another case.
    #[error("the name {wanted:?} is taken by {taken} ({status}); choose another name, or shut it down first")]
    NameTaken { wanted: String, taken: MemberName, status: &'static str },
    /// The team is full.
    #[error("the team has {max} members already (limits.max_members): shut one down first")]
    TeamFull { max: usize },
    /// The member does not run, so mail would never be read.
    #[error("{name} is {status}{}: spawn or resume it first", reason(.why))]
    NotLive { name: MemberName, status: &'static str, why: Option<String> },
    /// No such task.
    #[error("there is no task {0}")]
    UnknownTask(TaskId),
    /// Claimed by somebody.
    #[error("task {task} is owned by {owner}")]
    Owned { task: TaskId, owner: MemberName },
    /// Not ready.
    #[error("task {task} waits for {blockers}")]
    Blocked { task: TaskId, blockers: String },
    /// Done already.
    #[error("task {0} is completed already")]
    Finished(TaskId),
    /// One in-progress task per teammate.
    #[error("{member} works on task {task}: finish or release it before claiming another")]
    Busy { member: MemberName, task: TaskId },
    /// Only its owner completes a task.
    #[error("task {task} is not yours: {owner}")]
    NotOwner { task: TaskId, owner: String },
    /// A circle of dependencies.
    #[error("that would make a circle: {}", path(.0))]
    Cycle(Vec<TaskId>),
    /// A dependency that does not exist.
    #[error("task {task} cannot wait for {missing}: there is no such task")]
    MissingBlocker { task: TaskId, missing: TaskId },
    /// No such request.
    #[error("there is no request {0:?}")]
    UnknownRequest(String),
    /// Exactly one answer.
    #[error("request {id} was {} already{}", .state.word(), decided(.by, .at))]
    AlreadyDecided { id: RequestId, state: RequestState, by: Option<Party>, at: Option<Timestamp> },
    /// Not the addressee.
    #[error("{by} may not answer {} request {id}", .kind.word())]
    NotYours { id: RequestId, by: Party, kind: RequestKind },
    /// The text changed after it was shown.
    #[error("request {id} changed after it was shown: read it again, then decide")]
    Changed { id: RequestId },
    /// A plan must be approved first.
    #[error("not run: {0}")]
    Gate(String),
    /// The policy or the person said no.
    #[error("not allowed: {0}")]
    Denied(String),
    /// The command is not for this party, or not now.
    #[error("{0}")]
    Invalid(String),
    /// A limit was reached.
    #[error("stopped: {0}")]
    Budget(String),
    /// The files could not be read or written.
    #[error("{0}")]
    Store(String),
    /// The runtime is not there (it ended, or another process has it).
    #[error("{0}")]
    Unavailable(String),
}

impl Refusal {
    /// Whether a wrong name or id is the reason, which the command line tells apart (exit code 3 either way).
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::UnknownMember { .. } | Self::UnknownTask(_) | Self::UnknownRequest(_))
    }
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}

fn reason(why: &Option<String>) -> String {
    why.as_ref().map(|text| format!(" ({text})")).unwrap_or_default()
}

fn path(ids: &[TaskId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" → ")
}

fn decided(by: &Option<Party>, at: &Option<Timestamp>) -> String {
    let by = by.as_ref().map(|party| format!(" by {party}")).unwrap_or_default();
    let at = at.map(|at| format!(" at {}", clock(at))).unwrap_or_default();
    by + &at
}

/// Hours and minutes in UTC, enough to tell which answer it was.
fn clock(at: Timestamp) -> String {
    let minutes = at.0.div_euclid(60_000);
    format!("{:02}:{:02} UTC", minutes.div_euclid(60).rem_euclid(24), minutes.rem_euclid(60))
}
