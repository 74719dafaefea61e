//! The help: every binding of the keymap, by context.

use crate::app::keymap::{Context, Keymap};
use crate::app::rich::{Ink, RichLine, Span, line};

/// The open help.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Help {
    /// The first line on the screen.
    pub top: usize,
}

/// Cells of the column of keys.
const KEYS: usize = 22;

/// The help as lines.
pub fn lines(keymap: &Keymap) -> Vec<RichLine> {
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
            out.push(vec![Span::new(crate::app::clip::left(&keys, KEYS), Ink::Accent), Span::new(binding.desc.clone(), Ink::Text)]);
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
