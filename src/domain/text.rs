//! Untrusted text: what is taken out before it is drawn, logged or sent on.

/// Whether `c` may reach a terminal or a log as it is. Newline and tab are allowed; control characters (C0, DEL, C1),
/// bidirectional controls, zero-width characters except the joiner, tags and interlinear marks are not.
pub fn is_safe(c: char) -> bool {
    match c {
        '\n' | '\t' | '\u{200d}' => true,
        c if c.is_control() => false,
        '\u{061c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => false,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' | '\u{00ad}' | '\u{115f}' | '\u{1160}' | '\u{3164}' => false,
        _ => true,
    }
}

/// `text` with every character that cannot be seen, or looks like another one that means something else, written out as
/// `⟨U+202E⟩`: for what a person decides on. Newlines and ordinary spaces stay; a tab is written out, too.
pub fn visible(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains(hides) {
        return text.into();
    }
    let written = |c: char| if hides(c) { format!("⟨U+{:04X}⟩", u32::from(c)) } else { c.into() };
    text.chars().map(written).collect::<String>().into()
}

/// Whether a reader would not notice the character, or not tell it from another one.
fn hides(c: char) -> bool {
    c != '\n' && (!is_safe(c) || c == '\t' || c == '\u{200d}' || is_mark(c) || (c != ' ' && c.is_whitespace()) || is_selector(c))
}

/// Selectors of a glyph's variant, which show nothing themselves, and letters without ink.
fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{2800}' | '\u{ffa0}')
}

/// At most this many combining marks follow one base character; the rest is dropped.
pub const MARKS_MAX: usize = 4;

/// `text` without anything that could steer a terminal or hide words: unsafe characters become `�` (a carriage return
/// before a newline just goes), and a pile of combining marks is cut at [`MARKS_MAX`]. Borrowed when nothing had to change.
pub fn sanitise(text: &str) -> std::borrow::Cow<'_, str> {
    let mut marks = 0;
    let clean = text.chars().all(|c| {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        is_safe(c) && marks <= MARKS_MAX
    });
    if clean { text.into() } else { sanitise_slow(text).into() }
}

fn sanitise_slow(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut marks = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        if marks > MARKS_MAX || (c == '\r' && chars.peek() == Some(&'\n')) {
            continue;
        }
        out.push(if is_safe(c) { c } else { '\u{fffd}' });
    }
    out
}

/// Combining marks of the common blocks (the ones piled up in "zalgo" text).
fn is_mark(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{036f}' | '\u{0483}'..='\u{0489}' | '\u{0610}'..='\u{061a}' | '\u{064b}'..='\u{065f}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}' | '\u{0e31}' | '\u{0e34}'..='\u{0e3a}' | '\u{0e47}'..='\u{0e4e}')
}

/// One line of at most `max` characters: newlines become spaces, runs of white space one, the cut is marked with `…`.
pub fn one_line(text: &str, max: usize) -> String {
    let clean = sanitise(text);
    let mut out = String::new();
    for (count, c) in clean.split_whitespace().flat_map(|word| std::iter::once(' ').chain(word.chars())).skip(1).enumerate() {
        if count + 1 >= max {
            out.push('…');
            break;
        }
        out.push(c);
    }
    out
}
