//! What happens in a team that runs elsewhere, as events: first what is known, then what is new.
//!
//! The event log comes first, since activity, spending and conversations are only there; long ago spending is summed up.
//! The files follow, since they are the truth. Afterwards both are watched: the log tells in the runner's words, and a file
//! whose change the log does not tell within [`SETTLE`] (nobody runs the team) is told from the file.

use super::Files;
use super::past::Past;
use super::runner::Watched;
use crate::domain::event::{EVENT_VERSION, NoticeLevel, TaskChange};
use crate::domain::{
    Activity, EventRecord, Member, MemberName, MessageId, Party, Refusal, Request, RequestId, Task, TaskId, TeamEvent, Timestamp,
};
use crate::runtime::clock;
use crate::store::{Change, Guard, Key, TeamStore, Topic};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;

/// How much of the log is read in one go, in bytes.
const CHUNK: usize = 1 << 20;
/// How long a changed file waits for the log to tell its change.
const SETTLE: Duration = Duration::from_millis(400);

/// What each member did last, as the log tells.
pub(super) fn activities(store: &TeamStore) -> Result<HashMap<MemberName, Activity>, Refusal> {
    let mut last = HashMap::new();
    for record in store.recent_events(CHUNK)?.records {
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
    let feed = Feed { store: files.store, events, offset: 0, seq: 0, mail: HashMap::new(), known: Known::default() };
    // Watching begins before reading, so that nothing falls in between.
    let watch = feed.store.watch(move |change| drop(changed.send(change)));
    owned(async move {
        let Some(mut feed) = blocking(feed, |feed| feed.guarded(Feed::past)).await else { return };
        match watch {
            Ok(guard) => feed.follow(guard, changes).await,
            Err(error) => feed.warn(&error.to_string()),
        }
    });
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
    /// The process that opened the team last.
    runner: Option<u32>,
    tasks: BTreeMap<TaskId, Arc<Task>>,
    members: BTreeMap<MemberName, Arc<Member>>,
    requests: BTreeMap<RequestId, Arc<Request>>,
    mail: HashSet<MessageId>,
}

struct Feed {
    store: TeamStore,
    events: UnboundedSender<Arc<EventRecord>>,
    offset: u64,
    seq: u64,
    mail: HashMap<Topic, u64>,
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
        self.tell_at(clock::now(), event);
    }

    fn tell_at(&mut self, at: Timestamp, event: TeamEvent) {
        self.send(EventRecord { v: EVENT_VERSION, seq: self.seq, at, event });
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
            read.records.into_iter().for_each(|record| past.add(record));
        }
        past.into_events().into_iter().for_each(|record| self.send(record));
        self.everything()?;
        self.all_mail()
    }

    /// Mail that is in no log: written while nobody ran the team, or by other programs.
    fn all_mail(&mut self) -> Result<(), Refusal> {
        let names: Vec<MemberName> = self.known.members.keys().cloned().chain([MemberName::lead()]).collect();
        names.into_iter().map(Topic::Inbox).chain([Topic::HumanInbox]).try_for_each(|inbox| self.mail(inbox))
    }

    fn mail(&mut self, inbox: Topic) -> Result<(), Refusal> {
        loop {
            let offset = self.mail.get(&inbox).copied().unwrap_or(0);
            let read = match &inbox {
                Topic::Inbox(name) => self.store.mail_after(name, offset, CHUNK)?,
                Topic::HumanInbox => self.store.human_mail_after(offset, CHUNK)?,
                Topic::Transcript(_) | Topic::Events => return Ok(()),
            };
            if read.next == offset {
                return Ok(());
            }
            self.mail.insert(inbox.clone(), read.next);
            for mut message in read.messages {
                if message.to.is_empty()
                    && let Topic::Inbox(name) = &inbox
                {
                    message.to = name.to_string();
                }
                let new = message.id.as_ref().is_none_or(|id| !self.known.mail.contains(id));
                if new {
                    self.tell_at(message.at, TeamEvent::MessageSent { message: Arc::new(message) });
                }
            }
        }
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
        let gone: Vec<MemberName> =
            self.known.members.keys().filter(|name| !team.members.iter().any(|m| m.name == **name)).cloned().collect();
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
            read.records.into_iter().for_each(|record| self.send(record));
        }
    }

    async fn follow(mut self, guard: Guard, mut changes: UnboundedReceiver<Change>) {
        let mut waiting: BTreeSet<Change> = BTreeSet::new();
        let mut due: Option<Instant> = None;
        let mut runner = Watched::default();
        loop {
            runner.follow(self.known.runner);
            let change = tokio::select! {
                () = self.events.closed() => break,
                change = changes.recv() => change,
                pid = runner.ended() => {
                    let Some(feed) = blocking(self, move |feed| feed.guarded(|feed| feed.runner_ended(pid))).await else { return };
                    self = feed;
                    continue;
                }
                () = until(due) => {
                    due = None;
                    let settled = std::mem::take(&mut waiting);
                    let Some(feed) = blocking(self, move |feed| feed.settle(settled)).await else { return };
                    self = feed;
                    continue;
                }
            };
            match change {
                None => break,
                Some(Change::Topic(Topic::Events)) => {
                    let Some(feed) = blocking(self, |feed| feed.guarded(Self::log)).await else { return };
                    self = feed;
                }
                Some(Change::Topic(Topic::Transcript(_))) => {}
                Some(change @ (Change::Key(_) | Change::Rescan | Change::Topic(Topic::Inbox(_) | Topic::HumanInbox))) => {
                    waiting.insert(change);
                    due = due.or_else(|| Some(Instant::now() + SETTLE));
                }
            }
        }
        drop(guard);
    }

    /// Nobody runs the team, unless another process does by now.
    fn runner_ended(&mut self, pid: u32) -> Result<(), Refusal> {
        self.log()?;
        if self.known.runner == Some(pid) && !self.store.is_team_locked()? {
            self.tell(TeamEvent::RunnerGone { pid });
            self.warn("the process that ran this team has ended, so nobody works: q, then signoff again, runs it here");
        }
        Ok(())
    }

    /// Tells changed files, after whatever the log has to say of them.
    fn settle(&mut self, changes: BTreeSet<Change>) {
        self.guarded(Self::log);
        if changes.contains(&Change::Rescan) {
            return self.guarded(|feed| feed.everything().and_then(|()| feed.all_mail()));
        }
        for change in changes {
            match change {
                Change::Key(key) => self.guarded(|feed| feed.entity(&key)),
                Change::Topic(inbox) => self.guarded(|feed| feed.mail(inbox)),
                Change::Rescan => {}
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

/// Reads files off the executor; `None` when that ended in a panic, or the executor ends.
async fn blocking(mut feed: Feed, read: impl FnOnce(&mut Feed) + Send + 'static) -> Option<Feed> {
    let work = move || {
        read(&mut feed);
        feed
    };
    tokio::task::spawn_blocking(work).await.ok()
}

impl Known {
    fn note(&mut self, event: &TeamEvent) {
        match event {
            TeamEvent::TaskChanged { task, .. } => drop(self.tasks.insert(task.id, task.clone())),
            TeamEvent::TaskRemoved { id, .. } => drop(self.tasks.remove(id)),
            TeamEvent::MemberChanged { member, .. } => drop(self.members.insert(member.name.clone(), member.clone())),
            TeamEvent::MemberRemoved { name } => drop(self.members.remove(name)),
            TeamEvent::RequestChanged { request } => drop(self.requests.insert(request.id.clone(), request.clone())),
            TeamEvent::MessageSent { message } => self.mail.extend(message.id.clone()),
            TeamEvent::Opened { pid, .. } => self.runner = Some(*pid),
            TeamEvent::ActivityChanged { .. }
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
            | TeamEvent::ProtocolShown { .. }
            | TeamEvent::ProtocolChanged { .. }
            | TeamEvent::RunnerGone { .. }
            | TeamEvent::Finished { .. } => {}
        }
    }
}
