//! What happens in a team that runs elsewhere, as events: first what is known, then what is new.
//!
//! The event log comes first, since activity, spending and conversations are only there; long ago spending is summed up.
//! The files follow, since they are the truth. Afterwards both are watched: the log tells in the runner's words, and a file
//! whose change the log does not tell within [`SETTLE`] (nobody runs the team) is told from the file.

use super::Files;
use crate::domain::event::{EVENT_VERSION, NoticeLevel, TaskChange};
use crate::domain::{Activity, EventRecord, Member, MemberName, Party, Refusal, Request, RequestId, Task, TaskId, TeamEvent, Timestamp, TokenUsage};
use crate::runtime::clock;
use crate::store::{Change, Guard, Key, TeamStore, Topic};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;

/// Events of the past that are told one by one.
const PAST_MAX: usize = 5_000;
/// How much of the log is read in one go, in bytes.
const CHUNK: usize = 1 << 20;
/// How long a changed file waits for the log to tell its change.
const SETTLE: Duration = Duration::from_millis(400);

/// What each member did last, as the log tells.
pub(super) fn activities(store: &TeamStore) -> Result<HashMap<MemberName, Activity>, Refusal> {
    let mut last = HashMap::new();
    for record in store.recent_events(CHUNK)?.events {
        if let TeamEvent::ActivityChanged { name, activity } = record.event {
            last.insert(name, activity);
        }
    }
    Ok(last)
}

/// Begins to tell. Ends when the receiver is dropped.
pub(super) fn start(files: Files) -> UnboundedReceiver<Arc<EventRecord>> {
    let (events, receiver) = mpsc::unbounded_channel();
    let (changed, changes) = mpsc::unbounded_channel();
    let mut feed = Feed { store: files.store, events, offset: 0, seq: 0, known: Known::default() };
    // Watching begins before reading, so that nothing falls in between.
    let watch = feed.store.watch(move |change| drop(changed.send(change)));
    feed.guarded(Feed::past);
    match watch {
        Ok(guard) => owned(feed.follow(guard, changes)),
        Err(error) => feed.warn(&error.to_string()),
    }
    receiver
}

/// The task ends by itself when the receiver of its events is gone: its owner is whoever reads.
#[expect(clippy::disallowed_methods, reason = "owned by its receiver: it ends when that is dropped")]
fn owned(task: impl Future<Output = ()> + Send + 'static) {
    drop(tokio::spawn(task));
}

/// What was told last of each entity.
#[derive(Default)]
struct Known {
    tasks: BTreeMap<TaskId, Arc<Task>>,
    members: BTreeMap<MemberName, Arc<Member>>,
    requests: BTreeMap<RequestId, Arc<Request>>,
}

struct Feed {
    store: TeamStore,
    events: UnboundedSender<Arc<EventRecord>>,
    offset: u64,
    seq: u64,
    known: Known,
}

impl Feed {
    fn guarded(&mut self, read: impl FnOnce(&mut Self) -> Result<(), Refusal>) {
        if let Err(error) = read(self) {
            self.warn(&error.to_string());
        }
    }

    fn warn(&mut self, text: &str) {
        self.tell(TeamEvent::Noticed { level: NoticeLevel::Warning, text: text.to_owned(), name: None });
    }

    /// Tells something that is in no log.
    fn tell(&mut self, event: TeamEvent) {
        let record = EventRecord { v: EVENT_VERSION, seq: self.seq, at: clock::now(), event };
        self.send(record);
    }

    fn send(&mut self, record: EventRecord) {
        self.known.note(&record.event);
        self.seq = self.seq.max(record.seq);
        let _ = self.events.send(Arc::new(record));
    }

    fn past(&mut self) -> Result<(), Refusal> {
        let mut past = Past::default();
        loop {
            let read = self.store.events_after(self.offset, CHUNK)?;
            if read.next == self.offset {
                break;
            }
            self.offset = read.next;
            read.events.into_iter().for_each(|record| past.add(record));
        }
        past.into_events().into_iter().for_each(|record| self.send(record));
        self.mail()?;
        self.everything()
    }

    /// Mail that is in no log: written while nobody ran the team, or by other programs.
    fn mail(&mut self) -> Result<(), Refusal> {
        Ok(())
    }

    /// All files, as far as they differ from what was told.
    fn everything(&mut self) -> Result<(), Refusal> {
        let mut keys = BTreeSet::from([Key::Team]);
        keys.extend(self.store.tasks()?.items.into_iter().map(|(task, _)| Key::Task(task.id)));
        keys.extend(self.known.tasks.keys().map(|id| Key::Task(*id)));
        keys.extend(self.store.requests()?.items.into_iter().map(|(request, _)| Key::Request(request.id)));
        keys.into_iter().try_for_each(|key| self.entity(&key))
    }

    fn entity(&mut self, key: &Key) -> Result<(), Refusal> {
        match key {
            Key::Task(id) => self.task(*id),
            Key::Team => self.team(),
            Key::Request(id) => self.request(id),
            Key::Memory(_) => Ok(()),
        }
    }

    fn task(&mut self, id: TaskId) -> Result<(), Refusal> {
        let (there, known) = (self.store.task(id)?.map(|(task, _)| task), self.known.tasks.get(&id).cloned());
        match there {
            Some(task) if known.as_deref() != Some(&task) => {
                let change = if known.is_none() { TaskChange::Loaded } else { TaskChange::Edited };
                let by = task.notes.last().map_or(Party::System, |note| note.by.clone());
                self.tell(TeamEvent::TaskChanged { task: Arc::new(task), change, by });
            }
            None if known.is_some() => self.tell(TeamEvent::TaskRemoved { id, by: Party::System }),
            Some(_) | None => {}
        }
        Ok(())
    }

    fn team(&mut self) -> Result<(), Refusal> {
        let Some((team, _)) = self.store.team()? else { return Ok(()) };
        let gone: Vec<MemberName> = self.known.members.keys().filter(|name| !team.members.iter().any(|m| m.name == **name)).cloned().collect();
        gone.into_iter().for_each(|name| self.tell(TeamEvent::MemberRemoved { name }));
        for member in team.members {
            if self.known.members.get(&member.name).map(AsRef::as_ref) != Some(&member) {
                self.tell(TeamEvent::MemberChanged { member: Arc::new(member), why: None });
            }
        }
        Ok(())
    }

    fn request(&mut self, id: &RequestId) -> Result<(), Refusal> {
        if let Some((request, _)) = self.store.request(id)?
            && self.known.requests.get(id).map(AsRef::as_ref) != Some(&request)
        {
            self.tell(TeamEvent::RequestChanged { request: Arc::new(request) });
        }
        Ok(())
    }

    fn log(&mut self) -> Result<(), Refusal> {
        loop {
            let read = self.store.events_after(self.offset, CHUNK)?;
            if read.next == self.offset {
                return Ok(());
            }
            self.offset = read.next;
            read.events.into_iter().for_each(|record| self.send(record));
        }
    }

    async fn follow(mut self, guard: Guard, mut changes: UnboundedReceiver<Change>) {
        let mut waiting: BTreeSet<Change> = BTreeSet::new();
        let mut due: Option<Instant> = None;
        loop {
            let change = tokio::select! {
                () = self.events.closed() => break,
                change = changes.recv() => change,
                () = until(due) => {
                    due = None;
                    let settled = std::mem::take(&mut waiting);
                    self = blocking(self, move |feed| feed.settle(settled)).await;
                    continue;
                }
            };
            match change {
                None => break,
                Some(Change::Topic(Topic::Events)) => self = blocking(self, |feed| feed.guarded(Self::log)).await,
                Some(Change::Topic(_)) => {}
                Some(change @ (Change::Key(_) | Change::Rescan)) => {
                    waiting.insert(change);
                    due = due.or_else(|| Some(Instant::now() + SETTLE));
                }
            }
        }
        drop(guard);
    }

    /// Tells changed files, after whatever the log has to say of them.
    fn settle(&mut self, changes: BTreeSet<Change>) {
        self.guarded(Self::log);
        if changes.contains(&Change::Rescan) {
            return self.guarded(Self::everything);
        }
        for change in changes {
            match change {
                Change::Key(key) => self.guarded(|feed| feed.entity(&key)),
                Change::Topic(_) | Change::Rescan => {}
            }
        }
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// Reads files off the executor. The feed comes back even from a panic's place: there is none that could be reached.
async fn blocking(feed: Feed, read: impl FnOnce(&mut Feed) + Send + 'static) -> Feed {
    tokio::task::block_in_place(|| {
        let mut feed = feed;
        read(&mut feed);
        feed
    })
}

impl Known {
    fn note(&mut self, event: &TeamEvent) {
        match event {
            TeamEvent::TaskChanged { task, .. } => drop(self.tasks.insert(task.id, task.clone())),
            TeamEvent::TaskRemoved { id, .. } => drop(self.tasks.remove(id)),
            TeamEvent::MemberChanged { member, .. } => drop(self.members.insert(member.name.clone(), member.clone())),
            TeamEvent::MemberRemoved { name } => drop(self.members.remove(name)),
            TeamEvent::RequestChanged { request } => drop(self.requests.insert(request.id.clone(), request.clone())),
            TeamEvent::Opened { .. }
            | TeamEvent::ActivityChanged { .. }
            | TeamEvent::MessageSent { .. }
            | TeamEvent::TurnStarted { .. }
            | TeamEvent::TurnEnded { .. }
            | TeamEvent::AnswerFinished { .. }
            | TeamEvent::ToolStarted { .. }
            | TeamEvent::ToolFinished { .. }
            | TeamEvent::UsageAdded { .. }
            | TeamEvent::Compacted { .. }
            | TeamEvent::Noticed { .. }
            | TeamEvent::Denied { .. }
            | TeamEvent::Traced { .. }
            | TeamEvent::ProtocolChanged { .. }
            | TeamEvent::Finished { .. } => {}
        }
    }
}

/// The log so far: the latest events, and of those before them the spending and what opened the team.
#[derive(Default)]
struct Past {
    latest: VecDeque<EventRecord>,
    opened: Option<EventRecord>,
    spent: BTreeMap<(MemberName, String, Priced), Spent>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Priced {
    Known,
    Unknown,
}

struct Spent {
    usage: TokenUsage,
    cost: f64,
    at: Timestamp,
    seq: u64,
    context: u64,
    window: u64,
}

impl Past {
    fn add(&mut self, record: EventRecord) {
        // How an earlier run ended says nothing about this one.
        if matches!(record.event, TeamEvent::Finished { .. }) {
            return;
        }
        self.latest.push_back(record);
        if self.latest.len() > PAST_MAX
            && let Some(old) = self.latest.pop_front()
        {
            self.forget(old);
        }
    }

    fn forget(&mut self, record: EventRecord) {
        let (at, seq) = (record.at, record.seq);
        match record.event {
            TeamEvent::UsageAdded { name, model, usage, cost, task: _, context, window } => {
                let priced = if cost.is_some() { Priced::Known } else { Priced::Unknown };
                let empty = || Spent { usage: TokenUsage::default(), cost: 0.0, at, seq, context, window };
                let spent = self.spent.entry((name, model, priced)).or_insert_with(empty);
                spent.usage += usage;
                spent.cost += cost.unwrap_or(0.0);
                (spent.at, spent.seq, spent.context, spent.window) = (at, seq, context, window);
            }
            TeamEvent::Opened { .. } => self.opened = Some(record),
            _ => {}
        }
    }

    fn into_events(self) -> Vec<EventRecord> {
        let spent = self.spent.into_iter().map(|((name, model, priced), spent)| {
            let cost = (priced == Priced::Known).then_some(spent.cost);
            let Spent { usage, at, seq, context, window, .. } = spent;
            let event = TeamEvent::UsageAdded { name, model, usage, cost, task: None, context, window };
            EventRecord { v: EVENT_VERSION, seq, at, event }
        });
        self.opened.into_iter().chain(spent).chain(self.latest).collect()
    }
}
