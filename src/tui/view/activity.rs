//! What the selected member did, and what streams from it now.

use super::{empty, selected};
use crate::app::State;
use crate::app::feed::Depth;
use crate::app::scroll::Source;
use crate::app::view::Area;
use crate::app::words;
use crate::tui::widget::Painter;

pub fn draw(painter: &mut Painter<'_>, state: &mut State, area: Area) -> String {
    let Some(view) = state.roster.selected.as_ref().and_then(|name| state.team.member(name)) else {
        empty(painter, area, "Select a member: 1 goes to the team.");
        return String::new();
    };
    let cols = usize::from(area.width.saturating_sub(2));
    let live = (state.live.name.as_ref() == Some(&view.member.name)).then_some(&mut state.live);
    let mut source = Source { items: &view.feed, live, depth: Depth::Brief, cache: &mut state.view.cache };
    let lines = state.activity.scroll.window(&mut source, cols, usize::from(area.height));
    if lines.is_empty() {
        empty(painter, area, "Nothing yet. What it says and does appears here.");
    }
    for (row, line) in (0..area.height).zip(&lines) {
        painter.spans(area.x + 1, area.y + row, cols, line);
    }
    let new = state.activity.scroll.new_below(&view.feed);
    let following = state.activity.scroll.is_following();
    match (following, new) {
        (true, _) => spent(state),
        (false, 0) => "G follows".into(),
        (false, new) => format!("↓ {new} new"),
    }
}

/// `ctx 12% · $0.42 · 41k tok`: how full the conversation is, and what it cost.
fn spent(state: &State) -> String {
    let Some(view) = selected(state).filter(|view| view.spend.calls > 0) else { return String::new() };
    let mut parts = Vec::new();
    if let Some(percent) = view.context_percent() {
        parts.push(format!("ctx {percent}%"));
    }
    parts.push(words::cost(&view.spend));
    parts.push(format!("{} tok", words::tokens(view.spend.usage.total())));
    parts.join(" · ")
}
