//! Activity as lines: entries are rendered when they are looked at, once for each width.

use super::clip::one_line;
use super::markdown;
use super::projection::{FeedItem, FeedKind, ToolState};
use super::rich::{Ink, RichLine, Span, line, wrap};
use super::words::took;
use crate::domain::event::NoticeLevel;
use std::collections::HashMap;
use std::sync::Arc;

/// Rendered entries that are kept.
const CACHE_MAX: usize = 2_048;
/// Lines of a tool's output that a transcript shows.
const OUTPUT_LINES: usize = 12;

/// How much of an entry is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Depth {
    /// Tools are one line.
    Brief,
    /// Tools with their output, answers with their reasoning.
    Full,
}

/// Rendered entries by entry, edition, width and depth.
#[derive(Debug, Default)]
pub struct LineCache {
    map: HashMap<(u64, u32, usize, Depth), Arc<Vec<RichLine>>>,
}

impl LineCache {
    pub(super) fn lines(&mut self, item: &FeedItem, cols: usize, depth: Depth) -> Arc<Vec<RichLine>> {
        let key = (item.id, item.edition, cols, depth);
        if let Some(lines) = self.map.get(&key) {
            return lines.clone();
        }
        if self.map.len() >= CACHE_MAX {
            self.map.clear();
        }
        let lines = Arc::new(render(&item.kind, cols, depth));
        self.map.insert(key, lines.clone());
        lines
    }
}

/// An entry as lines.
pub fn render(kind: &FeedKind, cols: usize, depth: Depth) -> Vec<RichLine> {
    let mut out = Vec::new();
    match kind {
        FeedKind::Answer { text, reasoning } => {
            if let (Depth::Full, Some(reasoning)) = (depth, reasoning) {
                out.push(line("thinking", Ink::Dim));
                out.extend(markdown::plain_text(reasoning, Ink::Dim, cols));
            }
            out.extend(markdown::render(text, cols));
            out.push(Vec::new());
        }
        FeedKind::Tool { tool, summary, state, output, .. } => {
            out.push(tool_line(tool, summary, *state, cols));
            if depth == Depth::Full {
                out.extend(extract(output, cols));
            }
        }
        FeedKind::Turn(cause) => out.push(line(one_line(&format!("── {cause}"), cols), Ink::Dim)),
        FeedKind::Heard(text) => {
            let text = if depth == Depth::Full { text.clone() } else { one_line(text, 400) };
            let lines = markdown::render(&text, cols.saturating_sub(2));
            out.extend(lines.into_iter().map(|mut row| {
                row.insert(0, Span::new("> ", Ink::Accent));
                row
            }));
            out.push(Vec::new());
        }
        FeedKind::Note(text) => wrapped(text, Ink::Dim, cols, &mut out),
        FeedKind::Notice(level, text) => {
            let (sign, ink) = match level {
                NoticeLevel::Info => ("· ", Ink::Dim),
                NoticeLevel::Warning => ("! ", Ink::Attention),
                NoticeLevel::Error => ("✗ ", Ink::Error),
            };
            wrapped(&format!("{sign}{text}"), ink, cols, &mut out);
        }
    }
    out
}

fn wrapped(text: &str, ink: Ink, cols: usize, out: &mut Vec<RichLine>) {
    let spans = [Span::new(one_line(text, 2_000), ink)];
    wrap(&spans, cols, &super::rich::Indent::default(), out);
}

/// `bash cargo test … ok 3.1 s`.
fn tool_line(tool: &str, summary: &str, state: ToolState, cols: usize) -> RichLine {
    let (end, ink) = match state {
        ToolState::Running => ("running".to_owned(), Ink::Accent),
        ToolState::Ended { ok: true, millis } => (format!("ok {}", took(millis)).trim_end().to_owned(), Ink::Success),
        ToolState::Ended { ok: false, millis } => (format!("failed {}", took(millis)).trim_end().to_owned(), Ink::Error),
        ToolState::Cut => ("cut off".to_owned(), Ink::Attention),
    };
    let tool = one_line(tool, 20);
    let used = super::clip::width(&tool) + super::clip::width(&end) + 2;
    // A plan begins with a heading; its mark says nothing in a line.
    let summary = one_line(summary.strip_prefix("# ").unwrap_or(summary), cols.saturating_sub(used));
    vec![Span::new(tool, Ink::Strong), Span::new(format!(" {summary} "), Ink::Text), Span::new(end, ink)]
}

/// Head and tail of a tool's output.
fn extract(output: &str, cols: usize) -> Vec<RichLine> {
    let rows: Vec<&str> = output.lines().collect();
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        let skipped = rows.len().saturating_sub(OUTPUT_LINES);
        if skipped > 0 && at == OUTPUT_LINES / 2 {
            text.push_str(&format!("… {skipped} lines …\n"));
        }
        if skipped == 0 || at < OUTPUT_LINES / 2 || at >= rows.len() - OUTPUT_LINES / 2 {
            text.push_str(row);
            text.push('\n');
        }
    }
    let mut lines = markdown::plain_text(&text, Ink::Dim, cols.saturating_sub(2));
    lines.iter_mut().for_each(|row| row.insert(0, Span::new("  ", Ink::Text)));
    lines
}
