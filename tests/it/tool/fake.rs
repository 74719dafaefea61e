//! A team that answers as told, and a room to run tools in.

use futures::future::BoxFuture;
use signoff::domain::{Generation, MemberName, Refusal, Reply, TeamCommand};
use signoff::tool::shell::Jobs;
use signoff::tool::{Audience, Registry, ShellSettings, TeamPort, ToolContext, ToolOutcome};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

#[derive(Default)]
pub struct FakeTeam {
    pub replies: Mutex<VecDeque<Result<Reply, Refusal>>>,
    pub commands: Mutex<Vec<TeamCommand>>,
    pub notes: Mutex<Vec<String>>,
    pub noted: Notify,
    pub shown: Mutex<String>,
    pub mail: Mutex<String>,
}

impl TeamPort for FakeTeam {
    fn command(&self, command: TeamCommand) -> BoxFuture<'_, Result<Reply, Refusal>> {
        self.commands.lock().unwrap().push(command);
        let reply = self.replies.lock().unwrap().pop_front().unwrap_or(Ok(Reply::Done));
        Box::pin(async move { reply })
    }

    fn take_mail(&self) -> BoxFuture<'_, Result<String, Refusal>> {
        let mail = std::mem::take(&mut *self.mail.lock().unwrap());
        Box::pin(async move { Ok(mail) })
    }

    fn notify_later(&self, text: String) {
        self.notes.lock().unwrap().push(text);
        self.noted.notify_one();
    }

    fn live(&self, text: &str) {
        self.shown.lock().unwrap().push_str(text);
    }
}

/// A workspace with a team and all tools.
pub struct Room {
    pub folder: tempfile::TempDir,
    pub team: Arc<FakeTeam>,
    pub context: ToolContext,
    pub registry: Registry,
    pub audience: Audience,
}

impl Room {
    pub fn new(audience: Audience) -> Self {
        Self::with(audience, ShellSettings::default())
    }

    pub fn with(audience: Audience, settings: ShellSettings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let team = Arc::new(FakeTeam::default());
        let context = ToolContext {
            member: MemberName::parse("alice").unwrap(),
            generation: Generation::default(),
            workspace: folder.path().canonicalize().unwrap().into(),
            team: Arc::clone(&team) as Arc<dyn TeamPort>,
            cancel: CancellationToken::new(),
            jobs: Arc::new(Jobs::default()),
            output_limit: 2_000,
            command_timeout: Duration::from_secs(60),
        };
        Self { folder, team, context, registry: Registry::with_shell(settings), audience }
    }

    pub fn answers(self, replies: impl IntoIterator<Item = Result<Reply, Refusal>>) -> Self {
        self.team.replies.lock().unwrap().extend(replies);
        self
    }

    /// Calls a tool as a model does.
    pub async fn call(&self, name: &str, arguments: serde_json::Value) -> ToolOutcome {
        match self.registry.prepare(name, &arguments.to_string(), self.audience) {
            Ok((tool, arguments)) => tool.run(arguments, self.context.clone()).await,
            Err(fault) => ToolOutcome::error(fault),
        }
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(path)).unwrap()
    }

    pub fn commands(&self) -> Vec<TeamCommand> {
        self.team.commands.lock().unwrap().clone()
    }
}

/// Waits until `condition` holds, at most `limit`.
pub async fn wait_for(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let end = tokio::time::Instant::now() + limit;
    while !condition() {
        if tokio::time::Instant::now() > end {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    true
}

/// Whether a process lives (a zombie does not).
pub fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next()).is_some_and(|state| state != "Z")
}

/// Whether a process that was killed is gone. It is there until the scheduler lets it die: on a busy machine that takes a
/// moment. Blocks; for the end of a test, when nothing else has to run.
pub fn is_gone(pid: u32) -> bool {
    (0..80).any(|_| {
        let gone = !lives(pid);
        if !gone {
            std::thread::sleep(std::time::Duration::from_millis(25));
        }
        gone
    })
}
