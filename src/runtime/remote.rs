//! A team through its files: for a second screen and for the command line, while another process runs the members, or nobody does.
//!
//! What is asked for is written into the files by compare-and-swap; the process that runs the members sees the change
//! and acts on it. Only that process writes `team/events.jsonl`. What needs the members themselves (interrupting,
//! changing the protocol) is refused with the reason.
//!
//! Imports the store and `domain`'s rules. Deliberately absent: models, tools, the team core.

mod board;
mod feed;
mod members;
mod past;
mod requests;
mod runner;

use crate::domain::{EventRecord, Party, Refusal, Reply, TeamCommand, TeamSettings, Timestamp};
use crate::runtime::{LiveBoard, Team, clock};
use crate::store::TeamStore;
use futures::future::BoxFuture;
use std::sync::Arc;
use tokio::sync::mpsc;

/// A team whose members run elsewhere, or nowhere. Clones share it.
#[derive(Clone)]
pub struct RemoteTeam {
    files: Files,
    live: Arc<LiveBoard>,
}

/// The files with what the rules need to know.
#[derive(Clone)]
struct Files {
    store: TeamStore,
    settings: Arc<TeamSettings>,
}

/// Who acts, and when.
struct Act<'a> {
    by: &'a Party,
    at: Timestamp,
}

/// Whether some process runs the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    /// One does.
    Elsewhere,
    /// None does: what is asked for is taken up when one opens the workspace.
    Nobody,
}

impl RemoteTeam {
    /// Over the files of a workspace. Of `settings` it needs who reviews plans, how many members there may be, and the grace of a
    /// shutdown.
    pub fn new(store: TeamStore, settings: TeamSettings) -> Self {
        Self { files: Files { store, settings: Arc::new(settings) }, live: Arc::default() }
    }

    /// Whether some process runs the members now. Blocks shortly.
    ///
    /// # Errors
    /// When the files cannot be read.
    pub fn runner(&self) -> Result<Runner, Refusal> {
        self.files.runner()
    }
}

impl Files {
    fn runner(&self) -> Result<Runner, Refusal> {
        Ok(if self.store.is_team_locked()? { Runner::Elsewhere } else { Runner::Nobody })
    }

    fn handle(&self, by: &Party, command: TeamCommand) -> Result<Reply, Refusal> {
        if *by != Party::Human {
            return Err(Refusal::Invalid(format!("{by} does not act through the files; only a person does")));
        }
        let act = Act { by, at: clock::now() };
        match command {
            TeamCommand::CreateTask { subject, description, blocked_by } => self.create_task(&act, &subject, description, blocked_by),
            TeamCommand::CompleteTask { task } => self.complete_task(&act, task),
            TeamCommand::ReleaseTask { task, note } => self.release_task(&act, task, note.as_deref()),
            TeamCommand::DeleteTask { task } => self.delete_task(task),
            TeamCommand::EditBlockers { task, add, remove } => self.edit_blockers(&act, task, &add, &remove),
            TeamCommand::EditTask { task, subject, description } => self.edit_task(&act, task, subject, description),
            TeamCommand::RepairTask { task } => self.repair_task(&act, task),
            TeamCommand::GetTask { task } => self.get_task(task),
            TeamCommand::ListTasks => self.list_tasks(),
            TeamCommand::ListMembers => self.list_members(),
            TeamCommand::Send { to, content } => self.send(&act, &to, content),
            TeamCommand::Broadcast { content } => self.broadcast(&act, &content),
            TeamCommand::RequestShutdown { target, reason } => self.request_shutdown(&act, &target, reason),
            TeamCommand::ForceStop { target } => self.force_stop(&act, &target),
            TeamCommand::Answer { id, verdict, shown } => self.answer(&act, &id, &verdict, &shown),
            TeamCommand::GetRequest { id } => self.get_request(&id),
            TeamCommand::Spawn(order) => self.spawn(order),
            TeamCommand::Resume { target } => self.resume(&target),
            TeamCommand::Interrupt { .. } => Err(elsewhere("interrupt a member")),
            TeamCommand::SetPlanMode { .. } => Err(elsewhere("change how plans are decided")),
            TeamCommand::EndRun => Err(elsewhere("end the run")),
            TeamCommand::SetProtocol { .. } => Err(elsewhere("change the protocol")),
            TeamCommand::StopTeam { .. } => Err(elsewhere("stop the whole team")),
            TeamCommand::ClaimTask { .. }
            | TeamCommand::SubmitPlan { .. }
            | TeamCommand::Authorize(_)
            | TeamCommand::UseProtocolTool { .. }
            | TeamCommand::Brief => Err(Refusal::Invalid("that is for members, which do not act through this screen".into())),
        }
    }
}

fn elsewhere(what: &str) -> Refusal {
    Refusal::Unavailable(format!("the team does not run in this process: to {what}, use the screen that runs it"))
}

impl Team for RemoteTeam {
    fn command(&self, by: Party, command: TeamCommand) -> BoxFuture<'_, Result<Reply, Refusal>> {
        let files = self.files.clone();
        Box::pin(async move {
            let done = tokio::task::spawn_blocking(move || files.handle(&by, command)).await;
            done.map_err(|error| Refusal::Unavailable(format!("the command was not finished: {error}")))?
        })
    }

    fn subscribe(&self) -> mpsc::UnboundedReceiver<Arc<EventRecord>> {
        feed::start(self.files.clone())
    }

    fn live(&self) -> Arc<LiveBoard> {
        self.live.clone()
    }

    fn is_runner(&self) -> bool {
        false
    }
}
