//! Taking a workspace up: the lock, the files, the watch, then the task.

use super::super::handle::TeamHandle;
use super::Supervisor;
use super::execute::Carried;
use super::feed::history_start;
use super::seats::Seats;
use super::timers::Timers;
use crate::domain::event::NoticeLevel;
use crate::domain::{Envelope, EventRecord, MemberName, MemberStatus, MessageKind, Party, TeamConfig, TeamEvent, Timestamp};
use crate::protocol::core::Loaded;
use crate::protocol::{TeamCore, replay};
use crate::runtime::clock;
use crate::runtime::env::RuntimeEnv;
use crate::runtime::ids::RandomIds;
use crate::runtime::inbound::Inbound;
use crate::store::{Change, Fault, Guard, Key, Revision, StoreError, TeamStore, Topic};
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How much of the log's end tells who is on a team whose file is damaged, in bytes.
const ROSTER_MAX: usize = 16 << 20;
/// A log longer than this is moved aside at the next start.
const LOG_MAX: u64 = 64 << 20;

/// A team that runs, and the task that runs it.
pub struct Opened {
    /// Gives commands and facts.
    pub handle: TeamHandle,
    /// Ends when the handle was closed.
    pub task: JoinHandle<()>,
}

struct Files {
    loaded: Loaded,
    revisions: HashMap<Key, Revision>,
    faults: Vec<Fault>,
    /// What the person wrote to the lead last and it has not read.
    unread: Option<String>,
    /// The number of the last step in the trace.
    last_step: u64,
}

/// Mail of a member that is looked at when the team is opened, in bytes.
const UNREAD_MAX: usize = 1 << 20;
/// The end of the log that tells what came last, in bytes.
const RECENT_MAX: usize = 256 << 10;

/// Takes the workspace's lock and runs its team. `None`: another process runs it.
pub fn open(env: RuntimeEnv, runtime: &tokio::runtime::Handle) -> Result<Option<Opened>, StoreError> {
    let Some(lock) = env.store.lock_team()? else { return Ok(None) };
    let (tx, rx) = mpsc::unbounded_channel();
    let changes = tx.clone();
    let files = read(&env)?;
    let watch = env.store.watch(move |change| {
        let _ = changes.send(Inbound::Changed(change));
    });
    // The watch tells what changed since the loading, but for the one file that was not loaded with others.
    let _ = tx.send(Inbound::Changed(Change::Key(Key::Team)));
    let env = Arc::new(env);
    let mut supervisor = build(env.clone(), files.revisions, lock, tx.clone(), rx, files.loaded)?;
    supervisor.drive.written(files.unread);
    supervisor.drive.count_on_from(files.last_step);
    supervisor.settle_watch(watch);
    for fault in files.faults {
        supervisor.notice_store(&fault.to_string());
    }
    let handle = TeamHandle { tx, live: env.live.clone() };
    #[expect(clippy::disallowed_methods, reason = "the one task without a parent; its handle is returned")]
    let task = {
        let _entered = runtime.enter();
        tokio::spawn(supervisor.begin())
    };
    Ok(Some(Opened { handle, task }))
}

fn read(env: &RuntimeEnv) -> Result<Files, StoreError> {
    let mut revisions = HashMap::new();
    let mut faults = Vec::new();
    let mut loaded = Loaded::default();
    match env.store.team() {
        Ok(Some((team, revision))) => {
            faults.extend(TeamStore::team_faults(&team));
            revisions.insert(Key::Team, revision);
            loaded.team = Some(team);
        }
        Ok(None) => {}
        Err(error) if error.is_damage() => loaded.team = Some(rebuilt(env, &error, &mut faults)?),
        Err(error) => return Err(error),
    }
    let tasks = env.store.tasks()?;
    faults.extend(tasks.faults);
    for (task, revision) in tasks.items {
        revisions.insert(Key::Task(task.id), revision);
        loaded.tasks.push(task);
    }
    let requests = env.store.requests()?;
    faults.extend(requests.faults);
    for (request, revision) in requests.items {
        revisions.insert(Key::Request(request.id.clone()), revision);
        loaded.requests.push(request);
    }
    let (has_work, unread) = lead_left(env)?;
    loaded.lead_has_work = has_work;
    let recent = env.store.recent_events(RECENT_MAX)?.records;
    // The last sign of life of the process that ran the team before.
    let since = recent.last().map(|record| record.at).unwrap_or_default();
    teammates_left(env, &mut loaded, since)?;
    let step = |record: &EventRecord| if let TeamEvent::Traced { step, .. } = record.event { Some(step) } else { None };
    let last_step = recent.iter().rev().find_map(step).unwrap_or_default();
    Ok(Files { loaded, revisions, faults, unread, last_step })
}

/// The team whose file is damaged: kept aside, and put together again from the event log.
fn rebuilt(env: &RuntimeEnv, error: &StoreError, faults: &mut Vec<Fault>) -> Result<TeamConfig, StoreError> {
    let aside = env.store.set_aside(&Key::Team)?.map_or_else(|| "nowhere".to_owned(), |path| path.display().to_string());
    let team = env.store.team_of_events(ROSTER_MAX)?;
    let names: Vec<&str> = team.members.iter().map(|member| member.name.as_str()).collect();
    let roster = if names.is_empty() { "nobody".to_owned() } else { names.join(", ") };
    faults.push(Fault::new(Key::Team, format_args!("{error}. It was moved to {aside}; by the event log the team is: {roster}")));
    Ok(team)
}

/// Whether the lead was in the middle of something when its last process ended (its status in the file may be older), and
/// what the person wrote to it last that it has not read. That alone is no work of before: it is asked for now.
fn lead_left(env: &RuntimeEnv) -> Result<(bool, Option<String>), StoreError> {
    let lead = MemberName::lead();
    let (entries, _) = env.store.transcript(&lead)?;
    let replayed = replay::replay(&entries);
    let unread = env.store.mail_after(&lead, replayed.inbox_offset, UNREAD_MAX)?.messages;
    let others = unread.iter().any(|mail| mail.from != Party::Human);
    let has_work = replayed.generation.is_some() && (replay::is_unfinished(&replayed.messages) || others);
    Ok((has_work, unread.into_iter().rev().find(|mail| mail.from == Party::Human).map(|mail| mail.content)))
}

/// What teammates were in the middle of when their process ended (a status in the file may be older), and who of them was
/// written to by the person since then. Nothing is read of a team that was closed in order.
fn teammates_left(env: &RuntimeEnv, loaded: &mut Loaded, since: Timestamp) -> Result<(), StoreError> {
    let members = loaded.team.iter().flat_map(|team| &team.members);
    for member in members.filter(|m| !m.name.is_lead() && (m.status.is_live() || m.status == MemberStatus::Interrupted)) {
        let (entries, _) = env.store.transcript(&member.name)?;
        let replayed = replay::replay(&entries);
        if replayed.generation != Some(member.generation) {
            continue;
        }
        let unread = env.store.mail_after(&member.name, replayed.inbox_offset, UNREAD_MAX)?.messages;
        let asked = |mail: &Envelope| mail.from == Party::Human && mail.kind != MessageKind::ShutdownRequest && mail.at > since;
        if unread.iter().any(asked) {
            loaded.called.insert(member.name.clone());
        }
        if replay::is_unfinished(&replayed.messages) {
            loaded.cut_off.insert(member.name.clone());
        }
    }
    Ok(())
}

fn build(
    env: Arc<RuntimeEnv>,
    revisions: HashMap<Key, Revision>,
    lock: Guard,
    tx: mpsc::UnboundedSender<Inbound>,
    rx: mpsc::UnboundedReceiver<Inbound>,
    loaded: Loaded,
) -> Result<Supervisor, StoreError> {
    let now = clock::now();
    let too_long = match env.store.backend().end(&Topic::Events) {
        Ok(end) => end > LOG_MAX,
        Err(StoreError::TooLarge { .. }) => true,
        Err(error) => return Err(error),
    };
    if too_long {
        env.store.backend().archive(&Topic::Events, &now.0.to_string())?;
    }
    let log_end = env.store.backend().end(&Topic::Events)?;
    let (mut core, effects) = TeamCore::open(env.settings.clone(), loaded, now);
    core.configure(env.protocol_config.clone());
    let opened = TeamEvent::Opened {
        team: core.name().to_owned(),
        protocol: core.protocol().to_owned(),
        provider: env.model.name().to_owned(),
        model: env.model_name.clone(),
        scripted: env.model.is_scripted(),
        pid: std::process::id(),
        wall: env.settings.permissions.wall,
        choice: env.choice.clone(),
    };
    let mut inbox_seen = HashMap::new();
    for member in core.members() {
        inbox_seen.insert(member.name.clone(), env.store.inbox_end(&member.name)?);
    }
    Ok(Supervisor {
        core,
        env,
        tx,
        rx,
        seats: Seats::default(),
        timers: Timers::default(),
        revisions,
        deferred: HashMap::new(),
        subscribers: Vec::new(),
        // Line numbers go on growing over restarts: milliseconds are far ahead of any count of lines.
        seq: u64::try_from(now.0).unwrap_or_default(),
        log: Vec::new(),
        notices: VecDeque::new(),
        log_start: history_start(log_end),
        team_dirty: None,
        inbox_seen,
        own_mail: HashSet::new(),
        own_mail_order: VecDeque::new(),
        trouble: super::trouble::Trouble::default(),
        missing: BTreeSet::new(),
        opened: (now, opened),
        watching: false,
        poll_at: None,
        ids: RandomIds,
        _guards: vec![lock],
        opening: effects,
        drive: super::drive::Drive::default(),
    })
}

impl Supervisor {
    fn settle_watch(&mut self, watch: Result<Guard, StoreError>) {
        match watch {
            Ok(guard) => {
                self._guards.push(guard);
                self.watching = true;
            }
            Err(error) => {
                let text = format!("{error}; the files are polled every {} s instead", self.env.settings.poll_interval.max(1));
                self.record(TeamEvent::Noticed { level: NoticeLevel::Warning, text, name: None });
                self.poll_at = Some(Timestamp::default());
            }
        }
    }

    async fn begin(mut self) {
        self.record(self.opened.1.clone());
        if let Some(text) = self.env.choice.clone() {
            let level = if self.env.settings.no_model { NoticeLevel::Warning } else { NoticeLevel::Info };
            self.record(TeamEvent::Noticed { level, text, name: None });
        }
        for text in self.env.notices.clone() {
            self.record(TeamEvent::Noticed { level: NoticeLevel::Info, text, name: None });
        }
        let effects = std::mem::take(&mut self.opening);
        match self.carry_out(effects, &mut None) {
            Carried::Done => {}
            Carried::Lost(outside) => self.take_outside(*outside),
            Carried::Failed(error) => self.notice_store(&error),
        }
        self.restore_drive();
        self.settle();
        self.write_log();
        self.run().await;
    }
}
