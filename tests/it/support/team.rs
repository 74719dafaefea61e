//! A real team in a directory of its own: files, supervisor, agents, tools; only the model is scripted.

use signoff::collaboration::ProtocolConfig;
use signoff::domain::*;
use signoff::llm::ChatModel;
use signoff::llm::scripted::ScriptedModel;
use signoff::runtime::{LiveBoard, Opened, Prompts, RuntimeEnv, Team, TeamHandle, open};
use signoff::store::{Durability, FileBackend, TeamStore};
use signoff::tool::Registry;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

/// Longer than anything here takes on a busy machine; reaching it is a failure, never a pause.
pub const DEADLINE: Duration = Duration::from_secs(60);

pub struct TestTeam {
    pub dir: PathBuf,
    pub handle: TeamHandle,
    pub store: TeamStore,
    pub events: Vec<Arc<EventRecord>>,
    rx: UnboundedReceiver<Arc<EventRecord>>,
    task: Option<tokio::task::JoinHandle<()>>,
}

pub fn scripted(text: &str) -> Arc<dyn ChatModel> {
    Arc::new(ScriptedModel::from_str(text, "test").unwrap().with_speed(0.0))
}

/// Settings for tests: commands run without asking, nobody leaves for boredom.
pub fn settings() -> TeamSettings {
    let permissions = settings::Permissions { commands: settings::Access::Allow, ..settings::Permissions::default() };
    TeamSettings { permissions, idle_timeout: 0, ..TeamSettings::default() }
}

pub fn store_at(dir: &Path) -> TeamStore {
    TeamStore::new(Arc::new(FileBackend::open(dir, Durability::Buffered).unwrap()))
}

impl TestTeam {
    pub fn open(dir: &Path, model: Arc<dyn ChatModel>, settings: TeamSettings) -> Self {
        Self::open_with(dir, model, settings, ProtocolConfig::default())
    }

    pub fn open_with(dir: &Path, model: Arc<dyn ChatModel>, settings: TeamSettings, protocol_config: ProtocolConfig) -> Self {
        let store = store_at(dir);
        Self::open_fully(dir, model, settings, protocol_config, store)
    }

    /// Over another store.
    pub fn open_over(dir: &Path, model: Arc<dyn ChatModel>, settings: TeamSettings, store: TeamStore) -> Self {
        Self::open_fully(dir, model, settings, ProtocolConfig::default(), store)
    }

    fn open_fully(
        dir: &Path,
        model: Arc<dyn ChatModel>,
        settings: TeamSettings,
        protocol_config: ProtocolConfig,
        store: TeamStore,
    ) -> Self {
        let dir = dir.canonicalize().unwrap();
        let env = RuntimeEnv {
            model,
            model_name: "test-model".into(),
            tools: Registry::standard(),
            store: store.clone(),
            settings,
            workspace: dir.clone().into(),
            prompts: Prompts {
                lead: "lead".into(),
                teammate: "teammate".into(),
                compact: include_str!("../../../assets/prompts/compact.md").into(),
            },
            instructions: None,
            protocol_config,
            choice: None,
            notices: Vec::new(),
            live: Arc::new(LiveBoard::default()),
        };
        let Opened { handle, task } = open(env, &tokio::runtime::Handle::current()).unwrap().expect("the lock is free");
        let rx = handle.subscribe();
        Self { dir, handle, store, events: Vec::new(), rx, task: Some(task) }
    }

    pub async fn human(&self, command: TeamCommand) -> Result<Reply, Refusal> {
        self.handle.command(Party::Human, command).await
    }

    pub async fn goal(&self, text: &str) {
        self.human(TeamCommand::Send { to: "lead".into(), content: text.into() }).await.unwrap();
    }

    /// Waits until an event fits, keeping all that came before.
    pub async fn until(&mut self, what: &str, fits: impl Fn(&TeamEvent) -> bool) -> Arc<EventRecord> {
        let deadline = tokio::time::Instant::now() + DEADLINE;
        loop {
            match tokio::time::timeout_at(deadline, self.rx.recv()).await {
                Ok(Some(record)) => {
                    self.events.push(record.clone());
                    if fits(&record.event) {
                        return record;
                    }
                }
                Ok(None) => panic!("the team ended while the test waited for {what}:\n{}", self.story()),
                Err(_) => panic!("{what} did not come:\n{}", self.story()),
            }
        }
    }

    pub async fn until_finished(&mut self) -> (String, bool) {
        let record = self.until("the end", |e| matches!(e, TeamEvent::Finished { .. })).await;
        match &record.event {
            TeamEvent::Finished { reason, ok } => (reason.clone(), *ok),
            _ => unreachable!(),
        }
    }

    pub async fn until_status(&mut self, who: &str, status: MemberStatus) {
        self.until(
            &format!("{who} {}", status.word()),
            |e| matches!(e, TeamEvent::MemberChanged { member, .. } if member.name.same(who) && member.status == status),
        )
        .await;
    }

    pub async fn until_request(&mut self, kind: RequestKind) -> Arc<Request> {
        let record = self
            .until(
                &format!("a {} request", kind.word()),
                |e| matches!(e, TeamEvent::RequestChanged { request } if request.kind == kind && request.is_pending()),
            )
            .await;
        match &record.event {
            TeamEvent::RequestChanged { request } => request.clone(),
            _ => unreachable!(),
        }
    }

    pub async fn decide(&self, request: &Request, verdict: Verdict) -> Result<Reply, Refusal> {
        self.human(TeamCommand::Answer { id: request.id.clone(), verdict, shown: request.digest() }).await
    }

    pub async fn close(mut self) -> PathBuf {
        self.handle.close().await;
        if let Some(task) = self.task.take() {
            task.await.unwrap();
        }
        self.dir.clone()
    }

    /// Ends like kill -9: nobody says goodbye, nothing more is written.
    pub async fn crash(mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
            let _ = task.await;
        }
    }

    /// Everything that was told until now, without waiting.
    pub fn drain(&mut self) -> Vec<Arc<EventRecord>> {
        let mut later = Vec::new();
        while let Ok(record) = self.rx.try_recv() {
            later.push(record.clone());
            self.events.push(record);
        }
        later
    }

    pub async fn spawn(&self, name: &str, role: &str) {
        let order = SpawnOrder { name: name.into(), role: role.into(), ..SpawnOrder::default() };
        self.human(TeamCommand::Spawn(order)).await.unwrap();
    }

    /// The trace so far: who, rule, outcome.
    pub fn trace(&self) -> Vec<(String, String, String)> {
        let line = |r: &Arc<EventRecord>| match &r.event {
            TeamEvent::Traced { who, rule, outcome, .. } => {
                Some((who.as_ref().map(ToString::to_string).unwrap_or_default(), rule.clone(), outcome.clone()))
            }
            _ => None,
        };
        self.events.iter().filter_map(line).collect()
    }

    /// What happened, for failures.
    pub fn story(&self) -> String {
        let line = |r: &Arc<EventRecord>| serde_json::to_string(&r.event).unwrap().chars().take(300).collect::<String>();
        self.events.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}
