//! The lower edge: the keys that work right now, from the keymap; or what came of the last one.

use super::layout::Layout;
use crate::app::available::is_available;
use crate::app::clip::width;
use crate::app::keymap::{Binding, Context};
use crate::app::overlay::{DetailKind, Purpose};
use crate::app::state::StatusLevel;
use crate::app::{Action, State};
use crate::tui::style::Role;
use crate::tui::widget::Painter;

/// Keys from this rank on stand at the right and are always there.
const RIGHT_RANK: u8 = 90;

pub fn draw(painter: &mut Painter<'_>, state: &State, layout: &Layout) {
    let area = layout.area;
    let edge = u16::from(layout.framed);
    let y = area.y + area.height - 1;
    let x = area.x + edge;
    let cols = usize::from(area.width - 2 * edge);
    if let Some(confirm) = &state.confirm {
        let keys = super::prompt::CONFIRM_KEYS;
        let long = super::prompt::long_status(state, layout.inner).is_some();
        let question = if long { String::new() } else { format!(" {}", confirm.question) };
        let used = painter.text(x, y, cols.saturating_sub(width(keys)), &question, Role::Attention);
        painter.text(x + used, y, cols.saturating_sub(usize::from(used)), keys, Role::Strong);
        return;
    }
    // Whoever writes needs its keys more than what came of the last one, unless that went wrong.
    let writes = state.prompt.is_some() || state.form.is_some() || state.palette.is_some();
    let told = |level: StatusLevel| !writes || level == StatusLevel::Error;
    let status = state.status.as_ref().filter(|status| told(status.level) && super::prompt::long_status(state, layout.inner).is_none());
    if let Some(status) = status {
        let (sign, role) = match status.level {
            StatusLevel::Info => ("✓", Role::Success),
            StatusLevel::Hint => ("·", Role::Attention),
            StatusLevel::Error => ("✗", Role::Error),
        };
        painter.text(x, y, cols, &format!(" {sign} {} ", status.text), role);
        return;
    }
    let (left, right) = hints(state);
    let right_cols = if cols >= 48 { total(&right) } else { 0 };
    let room = cols.saturating_sub(right_cols + usize::from(right_cols > 0));
    let mut used = 0;
    for hint in &left {
        let wanted = hint_width(hint);
        if used + wanted > room {
            break;
        }
        draw_hint(painter, x + u16::try_from(used).unwrap_or(0), y, hint);
        used += wanted;
    }
    if right_cols > 0 {
        let mut x = x + u16::try_from(cols - right_cols).unwrap_or(0);
        for hint in &right {
            draw_hint(painter, x, y, hint);
            x += u16::try_from(hint_width(hint)).unwrap_or(0);
        }
    }
}

type Hint = (String, String);

fn hint_width((key, word): &Hint) -> usize {
    width(key) + width(word) + 3
}

fn total(hints: &[Hint]) -> usize {
    hints.iter().map(hint_width).sum()
}

fn draw_hint(painter: &mut Painter<'_>, x: u16, y: u16, (key, word): &Hint) {
    let used = painter.text(x, y, width(key) + 1, &format!(" {key}"), Role::Strong);
    painter.text(x + used, y, width(word) + 2, &format!(" {word} "), Role::Text);
}

/// The keys that work now: the pane's own first, then the others by rank; and the ones for the right edge.
fn hints(state: &State) -> (Vec<Hint>, Vec<Hint>) {
    if state.quitting.is_some() && state.prompt.is_none() {
        let keys =
            |action| (state.key_name(action), if action == Action::Quit { "stop now".to_owned() } else { "keep the screen".to_owned() });
        return (vec![keys(Action::Quit), keys(Action::Back)], Vec::new());
    }
    let contexts = state.contexts();
    let near = contexts.first().copied().unwrap_or(Context::Global);
    let mut listed: Vec<&Binding> = state.options.keymap.bindings().iter().filter(|b| listed(state, b, &contexts)).collect();
    // In a list Enter is what one is there for.
    let chooses = |b: &Binding| b.action == Action::Open && (state.needs.is_some() || state.protocols.is_some());
    let order = |b: &&Binding| (!chooses(b), near == Context::Board && b.context != Context::Board, b.rank.unwrap_or(u8::MAX));
    listed.sort_by_key(order);
    let hint = |b: &&Binding| (b.keys.first().map(ToString::to_string).unwrap_or_default(), word(state, b));
    let is_right = |b: &&&Binding| b.rank.is_some_and(|rank| rank >= RIGHT_RANK);
    let right = listed.iter().filter(is_right).map(hint).collect();
    let left = listed.iter().filter(|b| !is_right(b)).map(hint).collect();
    (left, right)
}

fn listed(state: &State, binding: &Binding, contexts: &[Context]) -> bool {
    let reading = contexts.contains(&Context::Detail);
    // While something is open only what belongs to it is worth a place.
    let fits = !reading
        || binding.context != Context::Global
        || binding.rank.is_some_and(|rank| rank < 20 || (rank >= RIGHT_RANK && binding.action != Action::Quit));
    let listed = state.needs.is_some() || state.protocols.is_some();
    let fits = fits || (listed && binding.action == Action::Open);
    let steps = matches!(state.detail.as_ref().map(|d| &d.kind), Some(DetailKind::Trace));
    let fits = (fits || steps && binding.action == Action::Open) && !(binding.action == Action::Open && state.detail.is_some() && !steps);
    let fits = fits && !(binding.action == Action::Search && state.detail.is_none());
    binding.rank.is_some() && !binding.keys.is_empty() && contexts.contains(&binding.context) && fits && is_available(state, binding.action)
}

/// The word for a key, where the moment knows a better one.
fn word(state: &State, binding: &Binding) -> String {
    let purpose = state.prompt.as_ref().map(|prompt| &prompt.purpose);
    let word = match binding.action {
        Action::Submit if matches!(purpose, Some(Purpose::Search)) => Some("search"),
        Action::Submit if matches!(purpose, Some(Purpose::Filter(_))) => Some("keep"),
        Action::Submit if matches!(purpose, Some(Purpose::Blockers(_))) => Some("change"),
        Action::Submit if state.palette.is_some() => Some("run"),
        Action::Submit if state.form.as_ref().is_some_and(|f| f.at + 1 < f.fields.len()) => Some("next"),
        Action::Open if state.needs.is_some() => Some("go there"),
        Action::Open if state.protocols.is_some() => Some("choose"),
        Action::Open if state.detail.is_some() => Some("transcript"),
        _ => None,
    };
    word.map(str::to_owned).or_else(|| binding.hint.clone()).unwrap_or_else(|| binding.action.name().replace('_', " "))
}
