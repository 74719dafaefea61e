//! Commands: what a party asks of the team. Imperative; carried out or refused, one after the other, by the supervisor.

use super::settings::PlanMode;
use super::{Digest, Member, MemberName, Request, RequestId, Task, TaskId, Verdict};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A command. Who gives it is told beside it, by the runtime.
#[derive(Clone, Debug, PartialEq)]
pub enum TeamCommand {
    /// Put a task on the board.
    CreateTask { subject: String, description: String, blocked_by: Vec<TaskId> },
    /// Take a ready task (members only).
    ClaimTask { task: TaskId },
    /// Mark a task as done.
    CompleteTask { task: TaskId },
    /// Give a task back to the board: pending, no owner.
    ReleaseTask { task: TaskId, note: Option<String> },
    /// Take a task off the board.
    DeleteTask { task: TaskId },
    /// Change what a task waits for.
    EditBlockers { task: TaskId, add: Vec<TaskId>, remove: Vec<TaskId> },
    /// Change a task's words.
    EditTask { task: TaskId, subject: Option<String>, description: Option<String> },
    /// Drop blockers that are missing or form a circle.
    RepairTask { task: TaskId },
    /// The task as it is.
    GetTask { task: TaskId },
    /// All tasks.
    ListTasks,
    /// All members.
    ListMembers,
    /// Write to one member or the human.
    Send { to: String, content: String },
    /// Write to every live member but the sender.
    Broadcast { content: String },
    /// Ask a member to shut down.
    RequestShutdown { target: String, reason: Option<String> },
    /// End a member now: cancel its model call, kill its commands.
    ForceStop { target: String },
    /// Answer a request. `shown` is the digest of the text the decider saw.
    Answer { id: RequestId, verdict: Verdict, shown: Digest },
    /// Hand in a plan (members only).
    SubmitPlan { plan: String },
    /// May this tool run now? The reply comes when that is decided (members only).
    Authorize(Intent),
    /// The request as it is.
    GetRequest { id: RequestId },
    /// Start a teammate.
    Spawn(SpawnOrder),
    /// Start an interrupted, failed or stopped member again, with its conversation.
    Resume { target: String },
    /// End the member's current turn; it then waits for mail.
    Interrupt { target: String },
    /// Change how plans are decided.
    SetPlanMode { mode: PlanMode },
    /// Change the collaboration protocol, while nobody works.
    SetProtocol { name: String },
    /// End the run of the collaboration protocol; the team stays and can be given another goal.
    EndRun,
    /// Call a tool of the collaboration protocol (the supervisor and members, while it offers one to them).
    UseProtocolTool { tool: String, arguments: serde_json::Value },
    /// Roster, open tasks and pending requests in words, for a conversation that starts without them.
    Brief,
    /// Stop everybody: by handshake, or now.
    StopTeam { now: bool },
}

/// A teammate to be started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpawnOrder {
    /// Must be free and well-formed.
    pub name: String,
    /// What it is for.
    pub role: String,
    /// The first instruction.
    pub prompt: Option<String>,
    /// Read-only until a plan is approved.
    pub require_plan: bool,
    /// A model of its own.
    pub model: Option<String>,
}

/// What a tool is about to do; the policy decides on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Intent {
    /// The tool's name.
    pub tool: String,
    /// What it touches.
    pub action: Action,
    /// What names in it lead to on this machine, for the person who is asked: one line each, untrusted.
    pub resolved: Vec<String>,
}

/// What a tool touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Runs a shell command in a directory.
    Command { command: String, cwd: String },
    /// Changes a file; the path is relative to the workspace.
    Write { path: String },
}

/// What came of a command.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// Carried out.
    Done,
    /// Carried out, with words for the user.
    Said(String),
    /// What a protocol's tool said, and whether the caller's turn should end now.
    ProtocolSaid { text: String, ok: bool, ends_turn: bool },
    /// The task after the command.
    Task(Arc<Task>),
    /// Tasks.
    Tasks(Vec<Arc<Task>>),
    /// Members with what they do.
    Members(Vec<(Member, super::Activity)>),
    /// The request after the command.
    Request(Arc<Request>),
    /// The plan equals one that is approved already: go on.
    PlanAlreadyApproved,
    /// The member that was started.
    Spawned(Member),
    /// A message was delivered to these.
    Sent(Vec<MemberName>),
    /// The intent may be carried out.
    Authorized,
}
