//! Reading what is open in full: scrolling and searching.

use super::action::Action;
use super::feed::Depth;
use super::msg::Cmd;
use super::overlay::{DetailKind, protocols};
use super::projection::FeedKind;
use super::rich::plain;
use super::scroll::Source;
use super::state::State;
use crate::domain::Timestamp;

/// A movement in the open detail or help.
pub fn go(state: &mut State, action: Action) {
    let page = isize::try_from(state.view.overlay.height.saturating_sub(1).max(1)).unwrap_or(1);
    let lines = state.view.detail.lines.len();
    let last = lines.saturating_sub(usize::from(state.view.overlay.height));
    let step = match action {
        Action::Up => -1,
        Action::Down => 1,
        Action::PageUp => -page,
        Action::PageDown => page,
        Action::Top => isize::MIN + 1,
        _ => isize::MAX,
    };
    if let Some(help) = &mut state.help {
        help.top = help.top.saturating_add_signed(step).min(last);
    } else if let Some(needs) = &mut state.needs {
        let len = super::overlay::needs::list(&state.team).len();
        needs.at = needs.at.saturating_add_signed(step).min(len.saturating_sub(1));
    } else if let Some(list) = &mut state.protocols {
        list.at = list.at.saturating_add_signed(step).min(protocols::rows().len().saturating_sub(1));
    } else if let Some(detail) = state.detail.as_mut().filter(|d| matches!(d.kind, DetailKind::Trace)) {
        detail.at = detail.at.saturating_add_signed(step).min(lines.saturating_sub(1));
    } else if matches!(state.detail.as_ref().map(|d| &d.kind), Some(DetailKind::Transcript(_))) {
        scroll_transcript(state, action, step);
    } else if let Some(detail) = &mut state.detail {
        detail.top = detail.top.saturating_add_signed(step).min(last);
    }
}

fn scroll_transcript(state: &mut State, action: Action, step: isize) {
    let Some(detail) = &mut state.detail else { return };
    let mut scroll = detail.scroll;
    let mut source = Source { items: &detail.items, live: Some(&mut state.live), depth: Depth::Full, cache: &mut state.view.cache };
    match action {
        Action::Top => scroll.to_start(&source),
        Action::Bottom => scroll.follow(),
        _ => scroll.scroll(step, &mut source),
    }
    detail.scroll = scroll;
}

/// Looks for `text` from here on.
pub fn search(state: &mut State, text: &str, now: Timestamp) -> Vec<Cmd> {
    let Some(detail) = &mut state.detail else { return Vec::new() };
    detail.search = Some(text.trim().to_lowercase()).filter(|text| !text.is_empty());
    find(state, Way::Forward, now)
}

/// Where to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Below.
    Forward,
    /// Above.
    Back,
}

/// Goes to the next place that holds what is searched for; from the end it goes on at the other one.
pub fn find(state: &mut State, way: Way, now: Timestamp) -> Vec<Cmd> {
    let Some(detail) = &state.detail else { return Vec::new() };
    let Some(wanted) = detail.search.clone() else { return state.hint("nothing is searched for: / searches", now) };
    let is_transcript = matches!(detail.kind, DetailKind::Transcript(_));
    let found = if is_transcript { find_item(state, &wanted, way) } else { find_line(state, &wanted, way) };
    if found { Vec::new() } else { state.hint(format!("not found: {wanted}"), now) }
}

fn find_line(state: &mut State, wanted: &str, way: Way) -> bool {
    let lines = state.view.detail.lines.clone();
    let Some(detail) = &mut state.detail else { return false };
    let hit = |at: &usize| lines.get(*at).is_some_and(|row| plain(row).to_lowercase().contains(wanted));
    let found = around(detail.top.min(lines.len()), lines.len(), way).find(hit);
    detail.top = found.unwrap_or(detail.top);
    detail.at = detail.top;
    found.is_some()
}

fn find_item(state: &mut State, wanted: &str, way: Way) -> bool {
    let Some(detail) = &mut state.detail else { return false };
    let top = detail.scroll.top_item().unwrap_or(0);
    let start = detail.items.partition_point(|item| item.id < top);
    let hit = |at: &usize| detail.items.get(*at).is_some_and(|item| holds(&item.kind, wanted));
    let Some(id) = around(start, detail.items.len(), way).find(hit).and_then(|at| detail.items.get(at)).map(|item| item.id) else {
        return false;
    };
    let mut scroll = detail.scroll;
    scroll.to_item(id, &Source { items: &detail.items, live: None, depth: Depth::Full, cache: &mut state.view.cache });
    detail.scroll = scroll;
    true
}

/// All places once, beginning beside `from`.
fn around(from: usize, len: usize, way: Way) -> impl Iterator<Item = usize> {
    (1..=len).map(move |step| match way {
        Way::Forward => (from + step) % len,
        Way::Back => (from + len - step) % len,
    })
}

/// Whether an entry holds what is searched for (in small letters).
pub fn holds(kind: &FeedKind, wanted: &str) -> bool {
    let has = |text: &str| text.to_lowercase().contains(wanted);
    match kind {
        FeedKind::Answer { text, reasoning } => has(text) || reasoning.as_deref().is_some_and(has),
        FeedKind::Tool { tool, summary, output, .. } => has(tool) || has(summary) || has(output),
        FeedKind::Turn(text) | FeedKind::Heard(text) | FeedKind::Note(text) | FeedKind::Notice(_, text) => has(text),
    }
}
