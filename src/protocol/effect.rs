//! What goes into the team core and what comes out of it.

use super::turn::Outcome;
use crate::domain::event::NoticeLevel;
use crate::domain::{
    Activity, CallId, Envelope, Generation, Member, MemberName, MemberStatus, MessageId, Party, Refusal, Reply, Request, RequestId, Task,
    TaskId, TeamCommand, TeamConfig, TeamEvent, Timestamp, TokenUsage, ToolSpec,
};
use std::sync::Arc;

/// Where new ids come from: random in the runtime, counted in tests.
pub trait Ids {
    /// A request id that was not drawn before.
    fn request(&mut self) -> RequestId;
    /// A message id.
    fn message(&mut self) -> MessageId;
}

/// What the core is told.
#[derive(Clone, Debug)]
pub enum Input {
    /// A party asks for something.
    Command { by: Party, command: TeamCommand },
    /// An agent tells what it did.
    Report { name: MemberName, generation: Generation, report: AgentReport },
    /// Another process changed the files.
    Outside(Outside),
    /// A timer that was set has fired.
    Fired(Timer),
}

/// A change that another process made.
#[derive(Clone, Debug)]
pub enum Outside {
    /// A task was written.
    Task(Arc<Task>),
    /// A task's file is gone.
    TaskGone(TaskId),
    /// A request was written.
    Request(Arc<Request>),
    /// The team's configuration was written.
    Team(TeamConfig),
    /// Somebody else wrote into this member's inbox.
    Mail(MemberName, Vec<Arc<Envelope>>),
}

/// What an agent tells about itself.
#[derive(Clone, Debug)]
pub enum AgentReport {
    /// It took something in and works.
    Began { cause: String },
    /// It does or waits for something else.
    Doing(Activity),
    /// The model finished an answer.
    Answered { text: String, reasoning: Option<String> },
    /// A tool began.
    ToolBegan { call: CallId, tool: String, summary: String },
    /// A tool ended.
    ToolEnded { call: CallId, tool: String, ok: bool, millis: u64, output: String },
    /// Tokens were used.
    Used { model: String, usage: TokenUsage, context: u64, window: u64 },
    /// The conversation was shortened.
    Compacted { before: u64, after: u64 },
    /// Something the person should know.
    Noticed { level: NoticeLevel, text: String },
    /// The turn ended and the member waits. `text` is its last answer.
    Rested { outcome: Outcome, text: String },
    /// The agent ended for good.
    Ended { failed: bool, reason: String },
}

/// What an agent is told.
#[derive(Clone, Debug)]
pub enum AgentInput {
    /// There is mail in its inbox.
    Mail,
    /// It starts: mail that was there before it may wait. What comes later is told by itself, or is not for it to read yet.
    Unread,
    /// What the person wrote to it has become the goal of a run: the protocol tells it, so this is not for it to read as mail.
    GoalTaken { goal: String },
    /// Text for the conversation: a prompt, a notice, a nudge. Wakes it.
    Tell { text: String, cause: &'static str },
    /// A task was claimed for it.
    Claimed(Arc<Task>),
    /// It was started again after its conversation was cut off, and its task if it has one. What it was told and had not
    /// answered goes on; a claim that never reached its conversation is told now.
    GoOn { task: Option<Arc<Task>> },
    /// Tools that the collaboration protocol offers to it from now on, beside its own.
    Offered(Arc<Vec<ToolSpec>>),
    /// Its plan was decided.
    Verdict(Arc<Request>),
    /// End the current turn, then wait.
    Interrupt,
    /// End at the next boundary; when idle, at once.
    End { reason: String },
    /// End now: cancel the model call, kill the commands.
    Kill { reason: String },
}

/// A timer is a value; setting it again moves it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// A teammate has had nothing to do.
    Idle(MemberName, Generation),
    /// A shutdown request was not answered.
    Shutdown(RequestId),
    /// An agent that was killed has not ended.
    Kill(MemberName, Generation),
    /// The team's or a member's wall time is used up.
    WallTime(Option<MemberName>),
}

/// A change of the core's own state that is nobody else's business: not logged.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// The agent's task runs (or not any more).
    Live { name: MemberName, live: bool },
    /// The member rests with this outcome, or works.
    Phase { name: MemberName, phase: Phase },
    /// What its plans allow.
    Gate { name: MemberName, gate: PlanGate },
    /// It was nudged about this task.
    Nudged { name: MemberName, task: Option<TaskId> },
    /// It is to end, and why.
    Ending { name: MemberName, reason: Option<String> },
    /// A result of this turn goes to the lead.
    ReportsBack { name: MemberName, yes: bool },
    /// "Always" was answered: this rule holds for the session.
    SessionRule(String),
    /// It was killed: the deadline of the kill stands and is not moved again.
    Killed(MemberName),
    /// Another process asked for it; `resume`: again, with its conversation.
    Requested { name: MemberName, resume: bool },
    /// Where the end of the work stands.
    Closing(Closing),
    /// Somebody was given work: a run begins, which ends with `Finished`.
    RunOpened,
    /// The whole team is stopping.
    Stopping(Option<String>),
    /// Whether a run of a protocol that chooses who acts goes on; its own rules then say when it ends.
    Driving(bool),
    /// How plans are decided from now on.
    PlanMode(crate::domain::settings::PlanMode),
    /// A file that cannot be read has this number: no new task gets it or one before it.
    NumberTaken(TaskId),
    /// What others wrote into the team's file: their fields, and entries that are no members.
    TeamExtra { extra: crate::domain::Extra, unread: Vec<serde_json::Value> },
}

/// A change of one part of a member's record.
#[derive(Clone, Debug, PartialEq)]
pub enum MemberPatch {
    /// Its status, and why.
    Status(MemberStatus, Option<String>),
    /// The task it has in progress.
    Task(Option<TaskId>),
}

/// Whether a member works.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Phase {
    /// Works on something.
    Working,
    /// Was told something and has neither begun nor rested since: it counts as at work.
    Called,
    /// Waits for something new.
    Resting { since: Timestamp, outcome: Outcome },
    /// Its agent does not run.
    #[default]
    Off,
}

/// What a member's plans allow it to change.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PlanGate {
    /// Everything that policy allows.
    #[default]
    Open,
    /// Nothing until a plan is approved.
    Required,
    /// Nothing: a plan waits for its verdict.
    Pending(RequestId),
    /// Nothing: the last plan was rejected.
    Rejected(RequestId),
    /// Everything that policy allows, for this task.
    Approved { request: RequestId, task: Option<TaskId> },
}

/// Where the end of the work stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Closing {
    /// Nothing to close: no work was given since the last end.
    #[default]
    Quiet,
    /// Work was given; the lead sums up when the board is done.
    Open,
    /// The lead was told that the board is done.
    SummingUp,
    /// The lead was told that the board stands still.
    Stalled,
}

/// What is to be done, in this order; the first one that fails stops the batch.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Write a new task, if its number is free.
    CreateTask(Arc<Task>),
    /// Write a task over the known one.
    SaveTask(Arc<Task>),
    /// Remove a task.
    DeleteTask(TaskId),
    /// Write a new request.
    CreateRequest(Arc<Request>),
    /// Write a request over the known one.
    SaveRequest(Arc<Request>),
    /// Write the team's configuration before anything else happens (otherwise it is written soon).
    SaveTeam,
    /// Put a message into the inbox of its `to`.
    Deliver(Arc<Envelope>),
    /// Change a member's record as it is at that moment; becomes a fact when it changes anything.
    Patch { name: MemberName, patch: MemberPatch },
    /// A fact: apply it, log it, show it.
    Emit(TeamEvent),
    /// Apply a change of the core's own state.
    Mark(Mark),
    /// Start an agent. `resume` keeps its conversation.
    Start { member: Arc<Member>, resume: bool },
    /// Tell an agent.
    Tell { name: MemberName, input: AgentInput },
    /// End an agent's task the hard way.
    Abort { name: MemberName },
    /// Set or move a timer.
    SetTimer { timer: Timer, at: Timestamp },
    /// Forget a timer.
    CancelTimer(Timer),
    /// Answer the command.
    Reply(Reply),
    /// Refuse the command, after what had to be recorded was.
    Refuse(Refusal),
    /// The command's answer comes with this request's.
    Defer(RequestId),
    /// Answer the command that was deferred on this request.
    Settle { id: RequestId, result: Result<Reply, Refusal> },
}
