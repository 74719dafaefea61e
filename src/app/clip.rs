//! Text measured in terminal cells: width, and cutting on grapheme boundaries with `…`.
//!
//! Everything that is not ours goes through [`one_line`] or [`clean`] before it is drawn: escapes, control characters and
//! bidirectional overrides end here.

use crate::domain::text::sanitise;
use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Bytes that are looked at for one line: far more than any screen is wide, so a huge text costs no more than a short one.
const LINE_BYTES: usize = 4096;

/// The width in cells.
pub fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// `text` cut to `cols` cells; a cut is marked with `…` as the last cell.
pub fn cut(text: &str, cols: usize) -> Cow<'_, str> {
    if text.len() <= cols || width(text) <= cols {
        return Cow::Borrowed(text);
    }
    if cols == 0 {
        return Cow::Borrowed("");
    }
    let (head, _) = split(text, cols - 1);
    Cow::Owned(format!("{head}…"))
}

/// The longest head that fits into `cols` cells, and the rest.
pub fn split(text: &str, cols: usize) -> (&str, &str) {
    if text.is_ascii() {
        return text.split_at(cols.min(text.len()));
    }
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += width(grapheme);
        if used > cols {
            return text.split_at(at);
        }
    }
    (text, "")
}

/// One line of at most `cols` cells, safe to draw: white space becomes single blanks.
pub fn one_line(text: &str, cols: usize) -> String {
    let mut end = text.len().min(LINE_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let clean = sanitise(&text[..end]);
    let mut line = String::with_capacity(clean.len().min(cols * 4 + 8));
    for word in clean.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > cols * 4 + 64 && width(&line) > cols {
            break;
        }
    }
    cut(&line, cols).into_owned()
}

/// Safe to draw, line breaks kept, tabs as blanks.
pub fn clean(text: &str) -> Cow<'_, str> {
    let clean = sanitise(text);
    if clean.contains('\t') { clean.replace('\t', "    ").into() } else { clean }
}

/// Cut and padded to exactly `cols` cells, left-aligned.
pub fn left(text: &str, cols: usize) -> String {
    let text = cut(text, cols);
    let pad = cols.saturating_sub(width(&text));
    format!("{text}{:pad$}", "")
}

/// Cut and padded to exactly `cols` cells, right-aligned.
pub fn right(text: &str, cols: usize) -> String {
    let text = cut(text, cols);
    let pad = cols.saturating_sub(width(&text));
    format!("{:pad$}{text}", "")
}
