//! Numbers, times and states in words, the same everywhere on the screen.

use crate::domain::board::{Blocker, Stuck};
use crate::domain::member::{LEFT_WAITING, RESTED};
use crate::domain::usage::Spend;
use crate::domain::{Activity, Board, MemberStatus, RequestKind, Task, TaskId, TaskStatus, Timestamp};
use std::time::Duration;

/// `10,000`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, c) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// Tokens in at most four cells: `812`, `41k`, `1.2M`.
pub fn tokens(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}k", number / 1_000),
        1_000_000..10_000_000 => format!("{}.{}M", number / 1_000_000, number / 100_000 % 10),
        _ => format!("{}M", number / 1_000_000),
    }
}

/// `$0.42`; `$0.42+?` when a part has no known price; `$?` when nothing has; empty when nothing was spent.
pub fn cost(spend: &Spend) -> String {
    match (spend.unpriced, spend.cost > 0.0) {
        (false, false) if spend.calls == 0 => String::new(),
        (true, false) => "$?".into(),
        (true, true) => format!("${:.2}+?", spend.cost),
        (false, _) => format!("${:.2}", spend.cost),
    }
}

/// A time span in at most five cells: `12 s`, `5 min`, `3 h`, `4 d`.
pub fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} m", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// What was asked for, as done: `completing #3` becomes `completed #3`, `adding the task` becomes `added #9`.
pub fn done(label: &str, task: Option<TaskId>) -> String {
    const PAST: [(&str, &str); 19] = [
        ("adding the task", "added"),
        ("approving", "approved"),
        ("asking", "asked"),
        ("changing", "changed"),
        ("completing", "completed"),
        ("deleting", "deleted"),
        ("editing", "edited"),
        ("interrupting", "interrupted"),
        ("permitting", "permitted"),
        ("rejecting", "rejected"),
        ("releasing", "released"),
        ("repairing", "repaired"),
        ("resuming", "resumed"),
        ("spawning", "spawned"),
        ("stopping the team now", "the team stops now"),
        ("stopping the team", "the team was asked to stop"),
        ("stopping", "stopped"),
        ("writing", "written"),
        ("plans", "plans"),
    ];
    let past = PAST.iter().find_map(|(now, past)| label.strip_prefix(now).map(|rest| format!("{past}{rest}")));
    let text = past.unwrap_or_else(|| format!("{label}: done"));
    match task.map(|id| id.to_string()).filter(|id| !text.contains(id.as_str())) {
        Some(id) => format!("{text} {id}"),
        None => text,
    }
}

/// A tool's time: `3.1 s`, `340 ms`, `2 m`; empty when it took none that is worth a word, or is not known.
pub fn took(millis: u64) -> String {
    match millis {
        0 => String::new(),
        1..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{}.{} s", millis / 1_000, millis / 100 % 10),
        _ => span(Duration::from_millis(millis)),
    }
}

/// `12:03`, in the person's time zone; always five cells.
pub fn clock(at: Timestamp, utc_offset: i32) -> String {
    let minutes = (at.0.saturating_add(i64::from(utc_offset) * 1000)).div_euclid(60_000);
    format!("{:02}:{:02}", minutes.div_euclid(60).rem_euclid(24), minutes.rem_euclid(60))
}

/// How a state looks beside its word: never by colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// At work.
    Active,
    /// Waits for the person.
    Attention,
    /// Quiet.
    Quiet,
    /// Went wrong.
    Failed,
    /// Ended well.
    Done,
}

impl Tone {
    /// The sign before the word.
    pub const fn glyph(self) -> &'static str {
        match self {
            Self::Active => "●",
            Self::Attention => "◆",
            Self::Quiet => "○",
            Self::Failed => "✗",
            Self::Done => "✓",
        }
    }
}

/// A state in words, with the time that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateWords {
    /// Its tone.
    pub tone: Tone,
    /// What is going on.
    pub text: String,
    /// `12 s` or `12:03`; empty where there is none.
    pub time: String,
}

/// What a member does or waits for. Idle members show since when instead of how long, so that nothing has to wake to
/// keep it true.
pub fn member(status: MemberStatus, activity: &Activity, reason: Option<&str>, now: Timestamp, utc_offset: i32) -> StateWords {
    let words = |tone, text: String, time: String| StateWords { tone, text, time };
    let since = |at: &Timestamp| clock(*at, utc_offset);
    let elapsed = |at: &Timestamp| span(now.since(*at));
    let ended = |word: &str| match reason.filter(|r| !r.is_empty()) {
        Some(reason) if reason.starts_with(word) => reason.to_owned(),
        Some(reason) => format!("{word}: {reason}"),
        None => word.to_owned(),
    };
    if !status.is_live() {
        return match status {
            MemberStatus::Failed => words(Tone::Failed, ended("failed"), String::new()),
            MemberStatus::Interrupted if reason == Some(RESTED) => words(Tone::Quiet, "not running".into(), String::new()),
            MemberStatus::Interrupted if reason == Some(LEFT_WAITING) => words(Tone::Attention, "waits: plan".into(), String::new()),
            MemberStatus::Interrupted => words(Tone::Attention, "interrupted".into(), String::new()),
            MemberStatus::Requested => words(Tone::Quiet, "requested".into(), String::new()),
            _ => words(Tone::Quiet, ended("shut down"), String::new()),
        };
    }
    match activity {
        Activity::Starting => words(Tone::Active, "starting".into(), String::new()),
        Activity::Model { since } => words(Tone::Active, "working".into(), elapsed(since)),
        Activity::Tool { tool, summary, since } => words(Tone::Active, format!("{tool} {summary}"), elapsed(since)),
        Activity::Approval { request_kind, since: at, .. } => words(Tone::Attention, format!("waits: {}", kind(*request_kind)), since(at)),
        Activity::RateLimit { until } => words(Tone::Quiet, "rate limit".into(), countdown(*until, now)),
        Activity::Retry { attempt, until, reason } => words(Tone::Quiet, format!("retry {attempt}: {reason}"), countdown(*until, now)),
        Activity::Mail { since: at } => words(Tone::Quiet, "waits: mail".into(), since(at)),
        Activity::HoldsTask { task, since: at } => words(Tone::Attention, format!("holds {task}"), since(at)),
        Activity::Nothing { since: at } => words(Tone::Quiet, "idle".into(), since(at)),
        Activity::Stopping { since, .. } => words(Tone::Active, "stopping".into(), elapsed(since)),
        Activity::Compacting { since } => words(Tone::Active, "compacting".into(), elapsed(since)),
        Activity::Stopped { .. } => words(Tone::Quiet, ended("shut down"), String::new()),
        Activity::Failed { reason } => words(Tone::Failed, format!("failed: {reason}"), String::new()),
    }
}

/// `12 s`, rounded up, so that it ends at the moment it says.
pub fn countdown(until: Timestamp, now: Timestamp) -> String {
    span(until.plus(Duration::from_millis(999)).since(now))
}

/// When the words of a member change by themselves: the next second (or minute) of what is counted. `None`: never.
pub fn next_change(status: MemberStatus, activity: &Activity, now: Timestamp) -> Option<Timestamp> {
    if !status.is_live() {
        return None;
    }
    match activity {
        Activity::Model { since } | Activity::Tool { since, .. } | Activity::Stopping { since, .. } | Activity::Compacting { since } => {
            let passed = now.since(*since);
            let step = if passed.as_secs() < 60 { 1_000 } else { 60_000 };
            let into = u64::try_from(passed.as_millis()).unwrap_or(0) % step;
            Some(now.plus(Duration::from_millis(step - into)))
        }
        Activity::RateLimit { until } | Activity::Retry { until, .. } if *until > now => {
            let left = u64::try_from(until.since(now).as_millis()).unwrap_or(0);
            let into = if left > 60_000 { left % 60_000 } else { left % 1_000 };
            Some(now.plus(Duration::from_millis(if into == 0 { 1_000 } else { into })))
        }
        Activity::RateLimit { .. }
        | Activity::Retry { .. }
        | Activity::Starting
        | Activity::Approval { .. }
        | Activity::Mail { .. }
        | Activity::HoldsTask { .. }
        | Activity::Nothing { .. }
        | Activity::Stopped { .. }
        | Activity::Failed { .. } => None,
    }
}

/// Where a task stands.
pub fn task(board: &Board, task: &Task, stuck: bool) -> (Tone, &'static str) {
    match task.status {
        TaskStatus::Completed => (Tone::Done, "done"),
        TaskStatus::InProgress => (Tone::Active, "doing"),
        TaskStatus::Pending if board.is_ready(task.id) => (Tone::Quiet, "ready"),
        TaskStatus::Pending if stuck => (Tone::Attention, "stuck"),
        TaskStatus::Pending if task.owner.is_some() => (Tone::Quiet, "owned"),
        TaskStatus::Pending => (Tone::Quiet, "blocked"),
    }
}

/// `#3 #4 missing #9`.
pub fn blockers(board: &Board, id: TaskId) -> String {
    let word = |b: &Blocker| match b {
        Blocker::Open(id) => id.to_string(),
        Blocker::Missing(id) => format!("missing {id}"),
    };
    board.blockers(id).iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Why a task can never become ready.
pub fn stuck(why: &Stuck) -> String {
    let list = |ids: &[TaskId], between: &str| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(between);
    match why {
        Stuck::Missing(ids) => format!("waits for missing {}", list(ids, " ")),
        Stuck::Cycle(path) => format!("waits in a circle: {}", list(path, " → ")),
    }
}

/// `1 plan`, `2 permissions`.
pub fn kind(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Shutdown => "shutdown",
        RequestKind::Plan => "plan",
        RequestKind::Permission => "permit",
    }
}
