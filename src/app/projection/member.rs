//! One member of the projection, and the entries of its activity.

use crate::domain::event::{NoticeLevel, ORDINARY_ENDS};
use crate::domain::usage::Spend;
use crate::domain::{Activity, CallId, Envelope, Member, MemberName, MemberStatus, TeamEvent, Timestamp};
use std::collections::VecDeque;
use std::sync::Arc;

/// A member as far as events tell.
#[derive(Clone, Debug)]
pub struct MemberView {
    /// As `team/config.json` has it.
    pub member: Arc<Member>,
    /// What it does or waits for.
    pub activity: Activity,
    /// What it spent, over all generations.
    pub spend: Spend,
    /// Tokens in its conversation, and how many fit. Zeros: not known yet.
    pub context: (u64, u64),
    /// Mail to it, and from it to the person; oldest first.
    pub inbox: VecDeque<Arc<Envelope>>,
    /// What it did; oldest first, ids growing.
    pub feed: VecDeque<FeedItem>,
}

impl MemberView {
    pub(super) fn new(member: Arc<Member>) -> Self {
        Self {
            member,
            activity: Activity::Starting,
            spend: Spend::default(),
            context: (0, 0),
            inbox: VecDeque::new(),
            feed: VecDeque::new(),
        }
    }

    /// A new generation never sees the old one's mail; what the old one did stays readable.
    pub(super) fn begin_generation(&mut self) {
        self.inbox.clear();
        self.context = (0, 0);
        self.activity = Activity::Starting;
    }

    /// A member that ended has no running tools any more, whatever was heard of them.
    pub(super) fn settle(&mut self, status: MemberStatus) {
        if status.is_live() {
            return;
        }
        for item in self.feed.iter_mut().rev().take(8) {
            if let FeedKind::Tool { state: state @ ToolState::Running, .. } = &mut item.kind {
                *state = ToolState::Cut;
                item.edition += 1;
            }
        }
    }

    pub(super) fn end_tool(&mut self, ended: &CallId, end: ToolState, extract: &str) -> bool {
        // A running call is near the end of the feed; looking further would make an event cost the history.
        for item in self.feed.iter_mut().rev().take(64) {
            if let FeedKind::Tool { call, state, output, .. } = &mut item.kind
                && call == ended
                && *state == ToolState::Running
            {
                *state = end;
                extract.clone_into(output);
                item.edition += 1;
                return true;
            }
        }
        false
    }

    /// How full the conversation is, in percent.
    pub fn context_percent(&self) -> Option<u64> {
        let (used, window) = self.context;
        (window > 0).then(|| used.saturating_mul(100) / window)
    }
}

/// An entry of a member's activity.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedItem {
    /// Grows; unique in the team.
    pub id: u64,
    /// Grows when the entry changes.
    pub edition: u32,
    /// When.
    pub at: Timestamp,
    /// What.
    pub kind: FeedKind,
}

/// What a member did.
#[derive(Clone, Debug, PartialEq)]
pub enum FeedKind {
    /// The model's answer.
    Answer { text: String, reasoning: Option<String> },
    /// A tool call.
    Tool { call: CallId, tool: String, summary: String, state: ToolState, output: String },
    /// It began to work, and why.
    Turn(String),
    /// What was said to it (transcripts only).
    Heard(String),
    /// Something happened to it.
    Note(String),
    /// Something the person should know.
    Notice(NoticeLevel, String),
}

/// Where a tool call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolState {
    /// It runs.
    Running,
    /// It ended by itself.
    Ended { ok: bool, millis: u64 },
    /// Its member ended first.
    Cut,
}

/// The entry that an event adds to a member's activity, if any.
pub(in crate::app) fn feed_of(event: &TeamEvent) -> Option<(&MemberName, FeedKind)> {
    match event {
        TeamEvent::TurnStarted { name, cause, .. } => Some((name, FeedKind::Turn(cause.clone()))),
        TeamEvent::TurnEnded { outcome, .. } if ORDINARY_ENDS.contains(&outcome.as_str()) => None,
        TeamEvent::TurnEnded { name, outcome } => Some((name, FeedKind::Note(format!("turn ended: {outcome}")))),
        TeamEvent::AnswerFinished { name, text, reasoning } => {
            let shown = !text.trim().is_empty() || reasoning.is_some();
            shown.then(|| (name, FeedKind::Answer { text: text.clone(), reasoning: reasoning.clone() }))
        }
        TeamEvent::ToolStarted { name, call, tool, summary } => {
            let (call, tool, summary) = (call.clone(), tool.clone(), summary.clone());
            Some((name, FeedKind::Tool { call, tool, summary, state: ToolState::Running, output: String::new() }))
        }
        TeamEvent::Compacted { name, before, after } => {
            let words = format!("conversation shortened: about {before} to {after} tokens");
            Some((name, FeedKind::Note(words)))
        }
        _ => None,
    }
}
