//! What reaches the supervisor, one after the other.

use crate::domain::{EventRecord, Generation, MemberName, Party, Refusal, Reply, TeamCommand};
use crate::protocol::AgentReport;
use crate::store::Change;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Where a command's outcome goes.
pub type ReplyTo = oneshot::Sender<Result<Reply, Refusal>>;

/// One input of the supervisor.
pub enum Inbound {
    /// A command of the human, the system, or (with its generation) a member.
    Command { by: Party, generation: Option<Generation>, command: TeamCommand, reply: ReplyTo },
    /// What an agent did. `seen` is how many inputs it had taken when it said so: a member that rests while more is under
    /// way to it does not count as resting.
    Report { name: MemberName, generation: Generation, report: AgentReport, seen: u64 },
    /// Text for a member from something of its own that ended later (a background command).
    TellBack { name: MemberName, generation: Generation, text: String },
    /// The files changed.
    Changed(Change),
    /// A screen wants the facts.
    Subscribe(mpsc::UnboundedSender<Arc<EventRecord>>),
    /// End: stop everybody now, write what is left, let go of the lock.
    Close(oneshot::Sender<()>),
}
