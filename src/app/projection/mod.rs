//! The team as the screen and the command line know it: a fold of events, nothing else.
//!
//! Events that change an entity carry the whole entity, so folding is an upsert. An event costs the same whatever the
//! number of tasks, members and past events. Memory is bounded: feeds, inboxes, traces and decided requests are rings.

mod member;
mod requests;
mod stuck;

pub(super) use member::feed_of;
pub use member::{FeedItem, FeedKind, MemberView, ToolState};
pub use requests::{Requests, outcome as requests_outcome};

use crate::domain::board::Stuck;
use crate::domain::event::NoticeLevel;
use crate::domain::settings::Wall;
use crate::domain::shown::{NodeMark, Section, ShownGraph};
use crate::domain::usage::Spend;
use crate::domain::{
    Activity, Board, Envelope, EventRecord, Member, MemberName, MemberStatus, Party, TaskId, TeamEvent, Timestamp, TokenUsage,
};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// Messages kept for each inbox.
pub const INBOX_MAX: usize = 500;
/// Entries kept for each member's activity.
pub const FEED_MAX: usize = 1_000;
/// Steps kept of the protocol's trace.
pub const TRACE_MAX: usize = 1_000;
/// Team-wide notices kept.
pub const NOTICES_MAX: usize = 200;

/// How many members stand where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberCounts {
    /// At work.
    pub working: usize,
    /// With a running agent, whatever it does.
    pub live: usize,
    /// Ended by an error.
    pub failed: usize,
}

/// A step of the collaboration protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceStep {
    /// When.
    pub at: Timestamp,
    /// Its number.
    pub step: u64,
    /// Who was chosen.
    pub who: Option<MemberName>,
    /// By which rule.
    pub rule: String,
    /// What came out.
    pub outcome: String,
    /// How long it took.
    pub millis: u64,
}

/// What the protocol shows: its graph, where something is to be seen in it, and its tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// The graph; `None` before the first run.
    pub graph: Option<Arc<ShownGraph>>,
    /// Nodes where somebody acts, waits, failed or is gone.
    pub marks: Vec<NodeMark>,
    /// What is particular to the protocol.
    pub sections: Vec<Section>,
}

/// Something the person should know.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// When.
    pub at: Timestamp,
    /// How much it matters.
    pub level: NoticeLevel,
    /// About whom.
    pub name: Option<MemberName>,
    /// In words.
    pub text: String,
}

/// The team as far as events tell.
#[derive(Clone, Debug, Default)]
pub struct Projection {
    /// The team's name.
    pub team: String,
    /// The collaboration protocol.
    pub protocol: String,
    /// Who answers model calls.
    pub provider: String,
    /// The team's model.
    pub model: String,
    /// Whether answers come from a script.
    pub scripted: bool,
    /// What stands around commands.
    pub wall: Wall,
    /// Why this model answers, where that is worth a sentence.
    pub choice: Option<String>,
    /// The process that runs the team.
    pub runner: Option<u32>,
    /// That process has ended: nobody runs the team.
    pub runner_gone: bool,
    /// All tasks.
    pub board: Board,
    /// All requests.
    pub requests: Requests,
    /// What was written to the person.
    pub human_inbox: VecDeque<Arc<Envelope>>,
    /// Who acted and why.
    pub trace: VecDeque<TraceStep>,
    /// What the protocol shows of itself.
    pub shown: Shown,
    /// Notices about the whole team.
    pub notices: VecDeque<Notice>,
    /// What all members spent together.
    pub totals: Spend,
    /// The same by model.
    pub by_model: BTreeMap<String, Spend>,
    /// The same by task, where a call belonged to one.
    pub by_task: BTreeMap<TaskId, Spend>,
    /// Whether and why the run ended, and whether well.
    pub finished: Option<(String, bool)>,
    /// How many members stand where.
    pub counts: MemberCounts,
    /// Grows with every event that was folded in: a stamp for caches.
    pub revision: u64,
    members: HashMap<MemberName, MemberView>,
    order: Vec<MemberName>,
    stuck: BTreeMap<TaskId, Stuck>,
    next_item: u64,
}

impl Projection {
    /// Folds one event in.
    pub fn apply(&mut self, record: &EventRecord) {
        self.revision += 1;
        let at = record.at;
        match &record.event {
            TeamEvent::Opened { team, protocol, provider, model, scripted, pid, wall, choice } => {
                (self.wall, self.runner_gone, self.choice) = (*wall, false, choice.clone());
                (self.team, self.protocol, self.provider, self.model) = (team.clone(), protocol.clone(), provider.clone(), model.clone());
                (self.scripted, self.runner, self.finished) = (*scripted, Some(*pid), None);
            }
            TeamEvent::MemberChanged { member, why } => self.member_changed(member, why.as_deref(), at),
            TeamEvent::MemberRemoved { name } => self.member_removed(name),
            TeamEvent::ActivityChanged { name, activity } => self.change(name, |view| view.activity = activity.clone()),
            TeamEvent::TaskChanged { task, .. } => self.task_changed(task.id, Some(task.clone())),
            TeamEvent::TaskRemoved { id, .. } => self.task_changed(*id, None),
            TeamEvent::MessageSent { message } => self.message_sent(message),
            TeamEvent::RequestChanged { request } => {
                if let Some(words) = self.requests.upsert(request) {
                    self.feed(&request.target, at, FeedKind::Note(words));
                }
            }
            TeamEvent::Denied { name, what } => self.feed(name, at, FeedKind::Notice(NoticeLevel::Warning, format!("denied: {what}"))),
            TeamEvent::Traced { step, who, rule, outcome, millis } => {
                let step = TraceStep { at, step: *step, who: who.clone(), rule: rule.clone(), outcome: outcome.clone(), millis: *millis };
                push_bounded(&mut self.trace, step, TRACE_MAX);
            }
            TeamEvent::ProtocolShown { graph, marks, sections } => {
                if graph.is_some() {
                    self.shown.graph.clone_from(graph);
                }
                (self.shown.marks, self.shown.sections) = (marks.clone(), sections.clone());
            }
            TeamEvent::ProtocolChanged { name } => {
                if self.protocol != *name {
                    self.shown = Shown::default();
                }
                self.protocol.clone_from(name);
            }
            TeamEvent::Noticed { level, text, name } => self.noticed(*level, text, name.as_ref(), at),
            TeamEvent::RunnerGone { .. } => self.runner_gone = true,
            TeamEvent::Finished { reason, ok } => self.finished = Some((reason.clone(), *ok)),
            TeamEvent::UsageAdded { name, model, usage, cost, task, context, window } => {
                self.spend(name, model, *usage, *cost, *task);
                self.change(name, |view| view.context = (*context, *window));
            }
            TeamEvent::TurnStarted { .. } => {
                self.finished = None;
                self.member_event(&record.event, at);
            }
            TeamEvent::TurnEnded { .. }
            | TeamEvent::AnswerFinished { .. }
            | TeamEvent::ToolStarted { .. }
            | TeamEvent::ToolFinished { .. }
            | TeamEvent::Compacted { .. } => self.member_event(&record.event, at),
        }
    }

    fn member_event(&mut self, event: &TeamEvent, at: Timestamp) {
        if let TeamEvent::ToolFinished { name, call, tool, ok, millis, output } = event {
            let end = ToolState::Ended { ok: *ok, millis: *millis };
            let found = self.members.get_mut(name).is_some_and(|view| view.end_tool(call, end, output));
            if !found {
                let (tool, call) = (tool.clone(), call.clone());
                self.feed(name, at, FeedKind::Tool { call, tool, summary: String::new(), state: end, output: output.clone() });
            }
            return;
        }
        if let Some((name, kind)) = member::feed_of(event) {
            self.feed(name, at, kind);
        }
    }

    fn member_changed(&mut self, member: &Arc<Member>, why: Option<&str>, at: Timestamp) {
        let name = &member.name;
        if !self.members.contains_key(name) {
            // The lead stands first; everybody else in the order of arrival, for good.
            let place = if name.is_lead() { 0 } else { self.order.len() };
            self.order.insert(place, name.clone());
            self.members.insert(name.clone(), MemberView::new(member.clone()));
            self.count(member.status, Count::In);
        }
        let mut note = None;
        self.change(name, |view| {
            if view.member.generation != member.generation {
                view.begin_generation();
            }
            if view.member.status != member.status {
                note = why.map(|why| format!("{}: {why}", member.status.spoken()));
                view.settle(member.status);
            }
            view.member = member.clone();
        });
        if let Some(note) = note {
            self.feed(name, at, FeedKind::Note(note));
        }
    }

    fn member_removed(&mut self, name: &MemberName) {
        if let Some(view) = self.members.remove(name) {
            self.count(view.member.status, Count::Out);
            self.order.retain(|other| other != name);
        }
    }

    /// Changes a member and keeps the counts right. Events about a name that is not there are dropped.
    fn change(&mut self, name: &MemberName, change: impl FnOnce(&mut MemberView)) {
        let Some(view) = self.members.get_mut(name) else { return };
        let before = view.member.status;
        change(view);
        let after = view.member.status;
        if before != after {
            self.count(before, Count::Out);
            self.count(after, Count::In);
        }
    }

    fn count(&mut self, status: MemberStatus, way: Count) {
        let counts = &mut self.counts;
        let step = |n: &mut usize, on: bool| match way {
            Count::In if on => *n += 1,
            Count::Out if on => *n = n.saturating_sub(1),
            Count::In | Count::Out => {}
        };
        step(&mut counts.working, status == MemberStatus::Working);
        step(&mut counts.live, status.is_live());
        step(&mut counts.failed, status == MemberStatus::Failed);
    }

    fn feed(&mut self, name: &MemberName, at: Timestamp, kind: FeedKind) {
        self.next_item += 1;
        let item = FeedItem { id: self.next_item, edition: 0, at, kind };
        if let Some(view) = self.members.get_mut(name) {
            push_bounded(&mut view.feed, item, FEED_MAX);
        }
    }

    fn noticed(&mut self, level: NoticeLevel, text: &str, name: Option<&MemberName>, at: Timestamp) {
        if let Some(name) = name {
            self.feed(name, at, FeedKind::Notice(level, text.to_owned()));
        }
        push_bounded(&mut self.notices, Notice { at, level, name: name.cloned(), text: text.to_owned() }, NOTICES_MAX);
    }

    fn message_sent(&mut self, message: &Arc<Envelope>) {
        if Party::read(&message.to) == Party::Human {
            push_bounded(&mut self.human_inbox, message.clone(), INBOX_MAX);
            // What a member writes to the person is part of the conversation with that member.
            if let Some(view) = message.from.member().and_then(|name| self.members.get_mut(name)) {
                push_bounded(&mut view.inbox, message.clone(), INBOX_MAX);
            }
        } else if let Some(view) = MemberName::parse(&message.to).ok().and_then(|name| self.members.get_mut(&name)) {
            push_bounded(&mut view.inbox, message.clone(), INBOX_MAX);
        }
    }

    fn spend(&mut self, name: &MemberName, model: &str, usage: TokenUsage, cost: Option<f64>, task: Option<TaskId>) {
        self.totals.add_call(usage, cost);
        self.by_model.entry(model.to_owned()).or_default().add_call(usage, cost);
        if let Some(task) = task {
            self.by_task.entry(task).or_default().add_call(usage, cost);
        }
        self.change(name, |view| view.spend.add_call(usage, cost));
    }

    /// The members: the lead first, then in the order of arrival.
    pub fn members(&self) -> impl Iterator<Item = &MemberView> {
        self.order.iter().filter_map(|name| self.members.get(name))
    }

    /// A member.
    pub fn member(&self, name: &MemberName) -> Option<&MemberView> {
        self.members.get(name)
    }

    /// The members' names in the order of the roster.
    pub fn order(&self) -> &[MemberName] {
        &self.order
    }

    /// What a member does now.
    pub fn activity(&self, name: &MemberName) -> Option<&Activity> {
        self.members.get(name).map(|view| &view.activity)
    }

    /// Whether nothing has happened yet: no task, no mail, no activity.
    pub fn is_fresh(&self) -> bool {
        // That the lead was taken on is no news yet; that it did something is.
        let quiet = |view: &MemberView| view.inbox.is_empty() && view.feed.iter().all(|item| matches!(item.kind, FeedKind::Note(_)));
        self.board.is_empty() && self.order.len() <= 1 && self.members().all(quiet)
    }
}

#[derive(Clone, Copy)]
enum Count {
    In,
    Out,
}

/// Appends to a ring of at most `max`.
pub fn push_bounded<T>(ring: &mut VecDeque<T>, item: T, max: usize) {
    if ring.len() >= max {
        ring.pop_front();
    }
    ring.push_back(item);
}
