//! The first run: three lines on what was found, and the one key that starts.

use super::Painter;
use crate::app::clip::one_line;
use crate::app::rich::{Indent, Ink, Span, wrap};
use crate::app::view::Area;
use crate::app::{Action, State};
use crate::tui::style::Role;

/// Whether nothing has happened yet.
pub fn is_due(state: &State) -> bool {
    state.team.is_fresh() && state.quitting.is_none()
}

pub fn draw(painter: &mut Painter<'_>, state: &State, area: Area) {
    let cols = usize::from(area.width.saturating_sub(2));
    let label = state.model_label();
    let provider = if state.team.runner.is_some() { &state.team.provider } else { &state.options.provider };
    let model = match &state.team.choice {
        Some(why) => format!("{label}. {why}"),
        None if label.starts_with("scripted") => format!("{label} (no key, no network)"),
        None => format!("{label} at {provider}"),
    };
    let sandbox = if state.team.runner.is_some() { state.team.wall.words() } else { &state.options.sandbox };
    let mut rows = vec![("model", model), ("workspace", state.options.workspace.clone()), ("sandbox", sandbox.to_owned())];
    if !state.options.untrusted.is_empty() {
        rows.push(("settings", state.options.untrusted.clone()));
    }
    let gap = u16::from(area.height >= 7);
    let rest = cols.saturating_sub(11);
    let mut y = gap;
    for (label, text) in &rows {
        if y + 1 + gap < area.height {
            painter.text(area.x + 1, area.y + y, 10, label, Role::Dim);
        }
        // Where there is room the whole text is worth a second line.
        let mut lines = Vec::new();
        let text = if gap > 0 { one_line(text, 4 * rest) } else { one_line(text, rest) };
        wrap(&[Span::new(text, Ink::Text)], rest, &Indent::default(), &mut lines);
        for line in lines.iter().filter(|_| rest > 0) {
            // The last row is kept for the key that starts.
            if y + 1 + gap < area.height {
                painter.spans(area.x + 12, area.y + y, rest, line);
            }
            y += 1;
        }
    }
    y = (y + gap).min(area.height.saturating_sub(1));
    if area.height > 0 {
        let key = state.key_name(Action::WriteLead);
        let used = painter.text(area.x + 1, area.y + y, cols, &key, Role::Strong);
        let text = " tells the lead what should be done";
        painter.text(area.x + 1 + used, area.y + y, cols.saturating_sub(usize::from(used)), text, Role::Text);
    }
}
