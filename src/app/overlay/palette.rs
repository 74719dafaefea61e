//! The palette: every action by name, fuzzy; what does not work now is listed dim and says so.

use crate::app::act::run;
use crate::app::action::Action;
use crate::app::available::is_available;
use crate::app::editor::Editor;
use crate::app::filter::Filter;
use crate::app::keymap::{Binding, Context};
use crate::app::msg::{Cmd, Key};
use crate::app::pane::Move;
use crate::app::state::State;
use crate::domain::Timestamp;
use std::cmp::Reverse;

/// The open palette.
#[derive(Default)]
pub struct Palette {
    /// What is typed.
    pub editor: Editor,
    /// The selected row.
    pub at: usize,
}

fn mentions(desc: &str, typed: &str) -> bool {
    desc.to_lowercase().contains(&typed.trim().to_lowercase())
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaletteRow {
    /// What it runs.
    pub action: Action,
    /// Its keys.
    pub keys: String,
    /// What it does.
    pub desc: String,
    /// Whether it works now.
    pub available: bool,
}

/// The rows that fit what is typed, the best first.
pub fn rows(state: &State) -> Vec<PaletteRow> {
    let typed = state.palette.as_ref().map(|p| p.editor.value()).unwrap_or_default();
    // The names in the settings have underscores, the words on the screen have not.
    let mut filter = Filter::new(&typed.replace('_', " "));
    let listed = |b: &&Binding| !matches!(b.context, Context::Prompt | Context::Detail);
    let mut scored: Vec<(bool, bool, u32, &Binding)> = Vec::new();
    for binding in state.options.keymap.bindings().iter().filter(listed) {
        let name = binding.action.name().replace('_', " ");
        let found = match &mut filter {
            None => Some((true, 0)),
            Some(filter) => {
                filter.score(&name).map(|score| (true, score)).or_else(|| mentions(&binding.desc, &typed).then_some((false, 0)))
            }
        };
        scored.extend(found.map(|(named, score)| (named, is_available(state, binding.action), score, binding)));
    }
    // An action whose name fits stands before every one that only mentions the words, and what works now before what does not.
    scored.sort_by_key(|(named, works, score, _)| Reverse((*named, *works, *score)));
    scored.into_iter().map(|(.., binding)| row(state, binding)).collect()
}

fn row(state: &State, binding: &Binding) -> PaletteRow {
    PaletteRow {
        action: binding.action,
        keys: binding.keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        desc: binding.desc.clone(),
        available: is_available(state, binding.action),
    }
}

/// A key while the palette is open.
pub fn key(state: &mut State, key: Key, now: Timestamp) -> Vec<Cmd> {
    let action = state.options.keymap.action(Context::Prompt, key);
    match action {
        Some(Action::Cancel) => state.palette = None,
        Some(Action::Submit) => {
            let chosen = state.palette.as_ref().and_then(|p| rows(state).into_iter().nth(p.at));
            state.palette = None;
            return match chosen {
                Some(row) => run(state, row.action, now),
                None => state.hint("no action has that name", now),
            };
        }
        Some(Action::CursorUp | Action::PreviousField) => step(state, Move::By(-1)),
        Some(Action::CursorDown | Action::NextField) => step(state, Move::By(1)),
        Some(Action::Newline) => {}
        Some(action) => edit(state, |editor| editor.act(action)),
        None => {
            if let Some(c) = key.typed() {
                edit(state, |editor| {
                    editor.insert(c);
                    true
                });
            }
        }
    }
    Vec::new()
}

fn step(state: &mut State, step: Move) {
    let len = rows(state).len();
    if let Some(palette) = &mut state.palette {
        palette.at = step.target(Some(palette.at), len).unwrap_or(0);
    }
}

fn edit(state: &mut State, change: impl FnOnce(&mut Editor) -> bool) {
    if let Some(palette) = &mut state.palette
        && change(&mut palette.editor)
    {
        palette.at = 0;
    }
}
