//! The help: every binding of the keymap, by context.

use crate::app::keymap::{Context, Keymap};
use crate::app::rich::{Indent, Ink, RichLine, Span, line, wrap};

/// The open help.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Help {
    /// The first line on the screen.
    pub top: usize,
}

/// Cells of the column of keys.
const KEYS: usize = 22;
/// The same in a window narrower than [`NARROW`].
const KEYS_NARROW: usize = 8;
const NARROW: usize = 50;

/// The help as lines of at most `cols` cells.
pub fn lines(keymap: &Keymap, cols: usize) -> Vec<RichLine> {
    let keys_cols = if cols < NARROW { KEYS_NARROW } else { KEYS };
    let mut out = Vec::new();
    for context in Context::ALL {
        let bindings: Vec<_> = keymap.bindings().iter().filter(|b| b.context == context && !b.keys.is_empty()).collect();
        if bindings.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push(Vec::new());
        }
        out.push(line(heading(context), Ink::Heading));
        for binding in bindings {
            let keys = binding.keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            let head = Span::new(crate::app::clip::left(&keys, keys_cols), Ink::Accent);
            let indent = Indent { first: vec![head], rest: line(" ".repeat(keys_cols), Ink::Text) };
            wrap(&[Span::new(binding.desc.clone(), Ink::Text)], cols, &indent, &mut out);
        }
    }
    out
}

const fn heading(context: Context) -> &'static str {
    match context {
        Context::Global => "Everywhere",
        Context::Roster => "Team",
        Context::Approvals => "Approvals",
        Context::Board => "Board",
        Context::Inbox => "Inbox",
        Context::Activity => "Activity",
        Context::Detail => "Reading",
        Context::Prompt => "Writing",
    }
}
