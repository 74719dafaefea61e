//! What is open in full: a detail, the help, or the list of what needs the person.

use super::Painter;
use crate::app::clip::one_line;
use crate::app::detail_text;
use crate::app::feed::Depth;
use crate::app::overlay::{DetailKind, needs, protocols};
use crate::app::pane::keep_visible;
use crate::app::rich::{Ink, Span};
use crate::app::scroll::Source;
use crate::app::view::{Area, Choice};
use crate::app::words::{self, Tone};
use crate::app::{State, rich};
use crate::domain::Timestamp;
use crate::tui::style::Role;

/// From this height on a transcript begins with facts about its member.
const FACTS_HEIGHT: u16 = 12;
/// Lines of facts at most.
const FACTS_MAX: usize = 4;

/// Whether something covers the panes.
pub fn is_open(state: &State) -> bool {
    state.detail.is_some() || state.help.is_some() || state.needs.is_some() || state.protocols.is_some()
}

pub fn draw(painter: &mut Painter<'_>, state: &mut State, area: Area, now: Timestamp) {
    if area.height == 0 {
        return;
    }
    painter.clear(area);
    let rows = Area { y: area.y + 1, height: area.height - 1, ..area };
    state.view.overlay = rows;
    let (title, note) = if state.needs.is_some() {
        ("Needs you".to_owned(), needs_list(painter, state, rows))
    } else if state.protocols.is_some() {
        ("Ways of working together".to_owned(), protocol_list(painter, state, rows))
    } else if matches!(state.detail.as_ref().map(|d| &d.kind), Some(DetailKind::Transcript(_))) && state.help.is_none() {
        let rest = member_facts(painter, state, rows, now);
        transcript(painter, state, rest)
    } else {
        text(painter, state, rows, now)
    };
    let used = painter.text(area.x, area.y, usize::from(area.width), &format!("▸{title}"), Role::TitleFocused);
    let rest = usize::from(area.width.saturating_sub(used + 1));
    painter.right(area.x + used + 1, area.y, rest, &note, Role::Dim);
}

fn text(painter: &mut Painter<'_>, state: &mut State, rows: Area, now: Timestamp) -> (String, String) {
    let cols = usize::from(rows.width.saturating_sub(2));
    detail_text::refresh(state, cols);
    let lines = state.view.detail.lines.clone();
    let last = lines.len().saturating_sub(usize::from(rows.height));
    let top = match (&mut state.help, &mut state.detail) {
        (Some(help), _) => &mut help.top,
        (None, Some(detail)) => &mut detail.top,
        (None, None) => return (String::new(), String::new()),
    };
    *top = (*top).min(last);
    let mut top = *top;
    let cursor = cursor(state, lines.len());
    if let (Some(at), Some(detail)) = (cursor, &mut state.detail) {
        top = keep_visible(top, Some(at), usize::from(rows.height), lines.len());
        (detail.top, detail.at) = (top, at);
    }
    let wanted = state.detail.as_ref().and_then(|d| d.search.clone()).filter(|_| state.help.is_none());
    for (row, line) in (0..rows.height).zip(lines.iter().skip(top)) {
        painter.spans(rows.x + 1, rows.y + row, cols, line);
        if wanted.as_ref().is_some_and(|w| rich::plain(line).to_lowercase().contains(w)) {
            painter.tint(Area { y: rows.y + row, height: 1, ..rows }, Role::SelectionQuiet);
            painter.text(rows.x, rows.y + row, 1, "▸", Role::Accent);
        }
    }
    if let Some(row) = cursor.and_then(|at| u16::try_from(at.checked_sub(top)?).ok()).filter(|row| *row < rows.height) {
        painter.text(rows.x, rows.y + row, 1, "▸", Role::Accent);
        painter.tint(Area { y: rows.y + row, height: 1, ..rows }, Role::Selection);
    }
    if state.help.is_none()
        && let Some(DetailKind::Request(id)) = state.detail.as_ref().map(|d| d.kind.clone())
        && let Some(request) = state.team.requests.get(&id).cloned()
    {
        state.view.request_row = rows;
        state.view.show_request(&request, Choice::Person, now);
    }
    (title(state), position(top, usize::from(rows.height), lines.len()))
}

/// The selected line, where lines lead somewhere.
fn cursor(state: &State, len: usize) -> Option<usize> {
    let detail = state.detail.as_ref().filter(|detail| state.help.is_none() && matches!(detail.kind, DetailKind::Trace))?;
    Some(detail.at.min(len.saturating_sub(1)))
}

fn protocol_list(painter: &mut Painter<'_>, state: &State, rows: Area) -> String {
    let Some(open) = state.protocols else { return String::new() };
    let list = protocols::rows();
    let top = keep_visible(0, Some(open.at), usize::from(rows.height), list.len());
    let cols = usize::from(rows.width.saturating_sub(18));
    for (row, (index, (name, summary))) in (0..rows.height).zip(list.iter().enumerate().skip(top)) {
        let own = *name == state.team.protocol;
        painter.text(rows.x + 2, rows.y + row, 14, name, if own { Role::Strong } else { Role::Text });
        let note = if own { format!("{summary} (the present one)") } else { (*summary).to_owned() };
        painter.text(rows.x + 17, rows.y + row, cols, &one_line(&note, cols), Role::Text);
        if index == open.at {
            painter.text(rows.x, rows.y + row, 1, "▸", Role::Accent);
            painter.tint(Area { y: rows.y + row, height: 1, ..rows }, Role::Selection);
        }
    }
    list.len().to_string()
}

fn title(state: &State) -> String {
    if state.help.is_some() {
        return "Help".into();
    }
    match state.detail.as_ref().map(|d| &d.kind) {
        Some(DetailKind::Request(id)) => match state.team.requests.get(id) {
            Some(request) => format!("{} of {}", request.kind.word(), request.target),
            None => "Request".into(),
        },
        Some(DetailKind::Task(id)) => format!("Task {id}"),
        Some(DetailKind::Message(_)) => "Message".into(),
        Some(DetailKind::Trace) => "Protocol".into(),
        Some(DetailKind::Costs) => "Costs".into(),
        Some(DetailKind::Transcript(name)) => format!("Transcript: {name}"),
        None => String::new(),
    }
}

/// Who it is and how it is, whole: the roster has no room for a long reason. Returns what is left below.
fn member_facts(painter: &mut Painter<'_>, state: &mut State, rows: Area, now: Timestamp) -> Area {
    let Some(DetailKind::Transcript(name)) = state.detail.as_ref().map(|d| &d.kind) else { return rows };
    let Some(view) = state.team.member(name).filter(|_| rows.height >= FACTS_HEIGHT) else { return rows };
    let member = &view.member;
    let words = words::member(member.status, &view.activity, member.reason.as_deref(), now, state.options.utc_offset);
    let tone = match words.tone {
        Tone::Attention => Ink::Attention,
        Tone::Failed => Ink::Error,
        Tone::Active | Tone::Quiet | Tone::Done => Ink::Text,
    };
    let mut facts = vec![Span::new(format!("{} {}", words.tone.glyph(), words.text), tone)];
    let mut add = |text: String| facts.push(Span::new(format!(" · {text}"), Ink::Dim));
    if !words.time.is_empty() {
        add(words.time.clone());
    }
    if let Some(task) = member.task {
        add(format!("task {task}"));
    }
    if !member.name.same(&member.role) {
        add(one_line(&member.role, 60));
    }
    add(format!("generation {}", member.generation.0));
    if view.spend.calls > 0 {
        add(format!("{} tokens, {}", words::tokens(view.spend.usage.total()), words::cost(&view.spend)));
    }
    if let Some(percent) = view.context_percent() {
        add(format!("context {percent}% full"));
    }
    let mut lines = Vec::new();
    rich::wrap(&facts, usize::from(rows.width.saturating_sub(2)), &rich::Indent::default(), &mut lines);
    lines.truncate(FACTS_MAX);
    for (row, line) in (0..rows.height).zip(&lines) {
        painter.spans(rows.x + 1, rows.y + row, usize::from(rows.width.saturating_sub(2)), line);
    }
    let used = u16::try_from(lines.len()).unwrap_or(0) + 1;
    let rest = Area { y: rows.y + used, height: rows.height - used, ..rows };
    state.view.overlay = rest;
    rest
}

/// `12 to 40 of 210`; nothing when all is in sight.
fn position(top: usize, height: usize, len: usize) -> String {
    if len <= height { String::new() } else { format!("{} to {} of {len}", top + 1, (top + height).min(len)) }
}

fn transcript(painter: &mut Painter<'_>, state: &mut State, rows: Area) -> (String, String) {
    let title = title(state);
    let Some(detail) = &mut state.detail else { return (title, String::new()) };
    let cols = usize::from(rows.width.saturating_sub(2));
    let open = match &detail.kind {
        DetailKind::Transcript(name) => Some(name),
        _ => None,
    };
    let live = (state.live.name.as_ref() == open).then_some(&mut state.live);
    let mut source = Source { items: &detail.items, live, depth: Depth::Full, cache: &mut state.view.cache };
    let mut scroll = detail.scroll;
    let lines = scroll.window(&mut source, cols, usize::from(rows.height));
    detail.scroll = scroll;
    let wanted = detail.search.as_deref();
    for (row, line) in (0..rows.height).zip(&lines) {
        painter.spans(rows.x + 1, rows.y + row, cols, line);
        if wanted.is_some_and(|w| rich::plain(line).to_lowercase().contains(w)) {
            painter.text(rows.x, rows.y + row, 1, "▸", Role::Accent);
            painter.tint(Area { y: rows.y + row, height: 1, ..rows }, Role::SelectionQuiet);
        }
    }
    if lines.is_empty() {
        super::empty(painter, rows, "Nothing was said yet.");
    }
    let hits = wanted.map(|w| detail.items.iter().filter(|item| crate::app::reading::holds(&item.kind, w)).count());
    let note = match (scroll.is_following(), scroll.new_below(&detail.items)) {
        (true, _) => "follows".into(),
        (false, 0) => "G follows".into(),
        (false, new) => format!("↓ {new} new"),
    };
    let note = match hits {
        Some(1) => format!("1 place · {note}"),
        Some(hits) => format!("{hits} places · {note}"),
        None => note,
    };
    (title, note)
}

fn needs_list(painter: &mut Painter<'_>, state: &mut State, rows: Area) -> String {
    let list = needs::list(&state.team);
    let Some(open) = &mut state.needs else { return String::new() };
    open.at = open.at.min(list.len().saturating_sub(1));
    let at = open.at;
    let top = keep_visible(0, Some(at), usize::from(rows.height), list.len());
    if list.is_empty() {
        super::empty(painter, rows, "Nothing needs you any more. Esc closes.");
    }
    let cols = usize::from(rows.width.saturating_sub(4));
    for (row, (index, need)) in (0..rows.height).zip(list.iter().enumerate().skip(top)) {
        painter.text(rows.x + 1, rows.y + row, 1, "◆", Role::Attention);
        painter.text(rows.x + 3, rows.y + row, cols, &one_line(&need.text, cols), Role::Text);
        if index == at {
            painter.text(rows.x, rows.y + row, 1, "▸", Role::Accent);
            painter.tint(Area { y: rows.y + row, height: 1, ..rows }, Role::Selection);
        }
    }
    list.len().to_string()
}
