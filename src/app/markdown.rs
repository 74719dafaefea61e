//! Markdown as lines with roles: headings, lists, code, emphasis, quotes, simple tables, links as text.
//!
//! Absent on purpose: anything that could act (links are never made clickable, HTML is shown as text).

use super::clip::{clean, left, width};
use super::rich::{Indent, Ink, RichLine, Span, hard_wrap, line, wrap};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Longer texts are wrapped as plain lines: nobody formats a quarter of a megabyte by hand.
const MARKDOWN_MAX: usize = 256 * 1024;

/// `text` as lines of at most `cols` cells.
pub fn render(text: &str, cols: usize) -> Vec<RichLine> {
    let text = clean(text);
    if text.len() > MARKDOWN_MAX {
        return plain_text(&text, Ink::Text, cols);
    }
    let mut page = Page { cols: cols.max(1), ..Page::default() };
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for event in Parser::new_ext(&text, options) {
        page.event(event);
    }
    page.flush();
    page.out
}

/// `text` line by line without formatting, safe to draw.
pub fn plain_text(text: &str, ink: Ink, cols: usize) -> Vec<RichLine> {
    let mut out = Vec::new();
    for row in clean(text).lines() {
        hard_wrap(row, ink, cols, &Indent::default(), &mut out);
    }
    out
}

#[derive(Default)]
struct Page {
    cols: usize,
    out: Vec<RichLine>,
    inline: Vec<Span>,
    inks: Vec<Ink>,
    lists: Vec<Option<u64>>,
    marker: Option<String>,
    quotes: usize,
    code: Option<String>,
    link: Option<(String, usize)>,
    table: Option<Vec<Vec<String>>>,
}

impl Page {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(code) => self.push(&code, Ink::Code),
            Event::Html(html) | Event::InlineHtml(html) => self.push(html.trim_end_matches('\n'), Ink::Dim),
            Event::SoftBreak => self.push(" ", self.ink()),
            Event::HardBreak => self.flush(),
            Event::Rule => {
                self.gap();
                self.out.push(line("─".repeat(self.cols.min(24)), Ink::Dim));
            }
            Event::TaskListMarker(done) => self.push(if done { "[x] " } else { "[ ] " }, Ink::Text),
            Event::FootnoteReference(name) => self.push(&name, Ink::Dim),
            Event::InlineMath(math) | Event::DisplayMath(math) => self.push(&math, Ink::Code),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.gap(),
            Tag::Heading { level, .. } => {
                self.gap();
                self.inks.push(Ink::Heading);
                if level > HeadingLevel::H2 {
                    self.inks.push(Ink::Strong);
                }
            }
            Tag::BlockQuote(_) => {
                self.gap();
                self.quotes += 1;
            }
            Tag::CodeBlock(_) => {
                self.gap();
                self.code = Some(String::new());
            }
            Tag::List(first) => {
                self.flush();
                if self.lists.is_empty() {
                    self.gap();
                }
                self.lists.push(first);
            }
            Tag::Item => self.item(),
            Tag::Emphasis => self.inks.push(Ink::Emphasis),
            Tag::Strong => self.inks.push(Ink::Strong),
            Tag::Strikethrough => self.inks.push(Ink::Dim),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some((dest_url.into_string(), self.inline.len()));
                self.inks.push(Ink::Link);
            }
            Tag::Table(_) => {
                self.gap();
                self.table = Some(Vec::new());
            }
            Tag::TableHead | Tag::TableRow => self.table.iter_mut().for_each(|rows| rows.push(Vec::new())),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::Item | TagEnd::HtmlBlock => self.flush(),
            TagEnd::Heading(_) => {
                self.flush();
                self.inks.clear();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.quotes = self.quotes.saturating_sub(1);
            }
            TagEnd::CodeBlock => self.code_block(),
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.inks.pop();
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            TagEnd::TableCell => {
                let cell: String = self.inline.drain(..).map(|span| span.text).collect();
                if let Some(row) = self.table.as_mut().and_then(|rows| rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => self.end_table(),
            _ => {}
        }
    }

    fn ink(&self) -> Ink {
        self.inks.last().copied().unwrap_or_default()
    }

    fn text(&mut self, text: &str) {
        match &mut self.code {
            Some(code) => code.push_str(text),
            None => self.push(text, self.ink()),
        }
    }

    fn push(&mut self, text: &str, ink: Ink) {
        let text = if text.contains('\n') { text.replace('\n', " ") } else { text.to_owned() };
        self.inline.push(Span::new(text, ink));
    }

    fn gap(&mut self) {
        self.flush();
        let inside_item = self.marker.is_some() || (!self.lists.is_empty() && self.out.last().is_some_and(Vec::is_empty));
        if !self.out.is_empty() && !inside_item && self.lists.is_empty() && !self.out.last().is_some_and(Vec::is_empty) {
            self.out.push(Vec::new());
        }
    }

    fn item(&mut self) {
        self.flush();
        self.marker = Some(match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{}. ", *number - 1)
            }
            _ => "• ".into(),
        });
    }

    fn indent(&mut self) -> Indent {
        let depth = self.lists.len().saturating_sub(1) * 2;
        let mut first: RichLine = Vec::new();
        if self.quotes > 0 {
            first.push(Span::new("│ ".repeat(self.quotes), Ink::Dim));
        }
        if depth > 0 {
            first.push(Span::new(" ".repeat(depth), Ink::Text));
        }
        let mut rest = first.clone();
        let marker = self.marker.take();
        let hang = match (&marker, self.lists.last()) {
            (Some(marker), _) => width(marker),
            (None, Some(Some(_))) => 3,
            (None, Some(None)) => 2,
            (None, None) => 0,
        };
        if hang > 0 {
            rest.push(Span::new(" ".repeat(hang), Ink::Text));
            first.push(marker.map_or_else(|| Span::new(" ".repeat(hang), Ink::Text), |m| Span::new(m, Ink::Accent)));
        }
        Indent { first, rest }
    }

    fn flush(&mut self) {
        if self.inline.is_empty() && self.marker.is_none() {
            return;
        }
        if self.inline.is_empty() {
            // The item's own text comes in a block of its own (a loose list).
            return;
        }
        let spans = std::mem::take(&mut self.inline);
        let indent = self.indent();
        wrap(&spans, self.cols, &indent, &mut self.out);
    }

    fn code_block(&mut self) {
        let code = self.code.take().unwrap_or_default();
        let mut indent = self.indent();
        indent.first.push(Span::new("  ", Ink::Text));
        indent.rest.push(Span::new("  ", Ink::Text));
        for row in code.trim_end_matches('\n').split('\n') {
            hard_wrap(row, Ink::Code, self.cols, &indent, &mut self.out);
        }
    }

    fn end_link(&mut self) {
        self.inks.pop();
        let Some((url, from)) = self.link.take() else { return };
        let shown: String = self.inline.get(from..).unwrap_or_default().iter().map(|s| s.text.as_str()).collect();
        if shown != url && !url.is_empty() {
            self.push(&format!(" ({url})"), Ink::Dim);
        }
    }

    fn end_table(&mut self) {
        let rows = self.table.take().unwrap_or_default();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        if columns == 0 {
            return;
        }
        let share = (self.cols / columns).saturating_sub(2).max(3);
        let wide = |at: usize| rows.iter().filter_map(|r| r.get(at)).map(|c| width(c)).max().unwrap_or(0);
        let natural: Vec<usize> = (0..columns).map(wide).collect();
        let fits = natural.iter().sum::<usize>() + 2 * columns <= self.cols;
        let widths: Vec<usize> = natural.iter().map(|n| if fits { *n } else { (*n).min(share) }).collect();
        for (at, row) in rows.iter().enumerate() {
            let cells = widths.iter().enumerate().map(|(i, w)| left(row.get(i).map_or("", String::as_str), *w));
            let text = cells.collect::<Vec<_>>().join("  ");
            self.out.push(line(text.trim_end(), if at == 0 { Ink::Strong } else { Ink::Text }));
        }
    }
}
