//! The upper edge: team, protocol and model at the left; who works, what waits and what it cost at the right. What does
//! not fit goes, the least important first.

use super::layout::Layout;
use crate::app::State;
use crate::app::clip::{one_line, width};
use crate::app::words;
use crate::domain::settings::Wall;
use crate::domain::{Activity, Timestamp};
use crate::tui::style::Role;
use crate::tui::widget::Painter;

/// A piece of the header; small ranks stay longest.
struct Piece {
    text: String,
    role: Role,
    rank: u8,
    /// To how many cells it may be cut; 0: not at all.
    shortest: usize,
}

/// Cells of the end's words, at most; where they are scarce it is cut to the lesser number before other pieces go.
const REASON_MAX: usize = 60;
const REASON_MIN: usize = 42;

pub fn draw(painter: &mut Painter<'_>, state: &State, layout: &Layout, now: Timestamp) {
    let area = layout.area;
    let edge = u16::from(layout.framed) * 2;
    let cols = usize::from(area.width - edge);
    let mut left = left(state);
    let mut right = right(state, now);
    let too_long = |left: &[Piece], right: &[Piece]| (length(left, " ── ") + length(right, " · ") + 6).saturating_sub(cols);
    let excess = too_long(&left, &right);
    shorten(&mut right, excess);
    while too_long(&left, &right) > 0 {
        let worst = left.iter().chain(&right).map(|p| p.rank).max().unwrap_or(0);
        if worst == 0 {
            break;
        }
        left.retain(|piece| piece.rank < worst);
        right.retain(|piece| piece.rank < worst);
    }
    let mut x = area.x + edge / 2;
    let between = if layout.framed { " ── " } else { "  " };
    x += painter.text(x, area.y, cols, " ", Role::Text);
    for (at, piece) in left.iter().enumerate() {
        if at > 0 {
            x += painter.text(x, area.y, cols, between, Role::Border);
        }
        x += painter.text(x, area.y, cols, &piece.text, piece.role);
    }
    painter.text(x, area.y, cols, " ", Role::Text);
    if right.is_empty() {
        return;
    }
    let length = u16::try_from(length(&right, " · ")).unwrap_or(u16::MAX);
    let end = area.x + area.width - edge / 2;
    let mut x = end.saturating_sub(length + 2).max(x + 1);
    let room = |x: u16| usize::from(end.saturating_sub(x));
    x += painter.text(x, area.y, room(x), " ", Role::Text);
    for (at, piece) in right.iter().enumerate() {
        if at > 0 {
            x += painter.text(x, area.y, room(x), " · ", Role::Dim);
        }
        x += painter.text(x, area.y, room(x), &piece.text, piece.role);
    }
    painter.text(x, area.y, room(x), " ", Role::Text);
}

/// Words that may be cut give way before anything goes.
fn shorten(pieces: &mut [Piece], excess: usize) {
    let Some(piece) = pieces.iter_mut().find(|piece| piece.shortest > 0) else { return };
    let wanted = width(&piece.text).saturating_sub(excess).max(piece.shortest);
    piece.text = one_line(&piece.text, wanted);
}

fn length(pieces: &[Piece], between: &str) -> usize {
    let text: usize = pieces.iter().map(|piece| width(&piece.text)).sum();
    text + pieces.len().saturating_sub(1) * width(between)
}

fn left(state: &State) -> Vec<Piece> {
    let team = if state.team.team.is_empty() { &state.options.workspace } else { &state.team.team };
    let piece = |text: String, role, rank| Piece { text, role, rank, shortest: 0 };
    let mut pieces = vec![piece("signoff".into(), Role::Strong, 5)];
    // Whoever looks at the screen must know it, at any width: nothing else stays longer.
    if let Some(badge) = state.team.wall.badge() {
        let role = match state.team.wall {
            Wall::Full | Wall::Reduced | Wall::Bundled => Role::Attention,
            Wall::Unavailable | Wall::Absent => Role::Error,
        };
        pieces.push(piece(badge.into(), role, 0));
    }
    if !state.options.is_runner {
        let words = if state.team.runner_gone { "nobody runs the team" } else { "second screen" };
        pieces.push(piece(words.into(), Role::Attention, if state.team.runner_gone { 0 } else { 4 }));
    }
    pieces.push(piece(one_line(team, 24), Role::Text, 3));
    if !state.team.protocol.is_empty() {
        pieces.push(piece(one_line(&state.team.protocol, 20), Role::Text, 9));
    }
    let label = state.model_label();
    let role = if label.starts_with("scripted") { Role::Accent } else { Role::Text };
    // A script is never taken for a model, so its label stays longer than most.
    let rank = if label.starts_with("scripted") { 1 } else { 8 };
    pieces.push(piece(one_line(&label, 28), role, rank));
    pieces
}

fn right(state: &State, now: Timestamp) -> Vec<Piece> {
    let team = &state.team;
    let mut pieces = Vec::new();
    if let Some((reason, ok)) = &team.finished {
        let (sign, role) = if *ok { ("✓", Role::Success) } else { ("✗", Role::Error) };
        pieces.push(Piece { text: format!("{sign} finished: {}", one_line(reason, REASON_MAX)), role, rank: 2, shortest: REASON_MIN });
    }
    let mut add = |text: String, role, rank| pieces.push(Piece { text, role, rank, shortest: 0 });
    if let Some(until) = rate_limit(state).filter(|until| *until > now) {
        add(format!("rate limit, {} left", words::countdown(until, now)), Role::Attention, 3);
    }
    if team.counts.working > 0 {
        add(format!("{} working", team.counts.working), Role::Text, 3);
    }
    if team.counts.failed > 0 {
        add(format!("✗ {} failed", team.counts.failed), Role::Error, 2);
    }
    let waiting = team.requests.pending_len();
    if waiting > 0 {
        let words = if state.view.size.0 < 40 { format!("◆ {waiting} for you") } else { format!("◆ {waiting} waiting for you") };
        add(words, Role::Attention, 0);
    }
    if team.totals.calls > 0 {
        add(format!("{} tok", words::tokens(team.totals.usage.total())), Role::Text, 7);
        add(words::cost(&team.totals), Role::Text, 6);
    }
    pieces
}

fn rate_limit(state: &State) -> Option<Timestamp> {
    let until = |activity: &Activity| match activity {
        Activity::RateLimit { until } => Some(*until),
        _ => None,
    };
    state.team.members().filter_map(|view| until(&view.activity)).max()
}
