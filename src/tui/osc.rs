//! Escape sequences that tell the terminal something beside cells: title, clipboard, notification.
//!
//! Pure. All text is cut to one line without control characters before it goes into a sequence.

use crate::domain::text::one_line;
use crossterm::Command;
use crossterm::clipboard::CopyToClipboard;

/// A title longer than this helps nobody.
const TITLE_MAX: usize = 120;
/// A notification longer than this is cut by every desktop.
const NOTICE_MAX: usize = 240;
/// Terminals drop longer clipboards, and some disconnect.
pub const COPY_MAX: usize = 1024 * 1024;
/// Saves the window's title on the terminal's stack.
pub const SAVE_TITLE: &str = "\x1b[22;2t";
/// Takes it back from there.
pub const RESTORE_TITLE: &str = "\x1b[23;2t";

/// Which notification sequence the terminal understands. Sending both would show it twice in those that know both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notifier {
    /// OSC 9: iTerm2, kitty, WezTerm, Ghostty, Windows Terminal.
    #[default]
    Osc9,
    /// OSC 777: urxvt, foot, terminals built on VTE.
    Osc777,
}

/// What stands between us and the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wrapper {
    /// Nothing.
    #[default]
    None,
    /// tmux: unknown sequences must be passed through.
    Tmux,
}

/// What is known of the terminal from the environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dialect {
    /// How it notifies.
    pub notifier: Notifier,
    /// What is in between.
    pub wrapper: Wrapper,
}

impl Dialect {
    /// Reads `TERM`, `VTE_VERSION` and `TMUX` through `env`.
    pub fn detect(env: impl Fn(&str) -> Option<String>) -> Self {
        let term = env("TERM").unwrap_or_default();
        let is_777 = term.starts_with("rxvt") || term.starts_with("foot") || env("VTE_VERSION").is_some();
        let notifier = if is_777 { Notifier::Osc777 } else { Notifier::Osc9 };
        let wrapper = if env("TMUX").is_some() { Wrapper::Tmux } else { Wrapper::None };
        Self { notifier, wrapper }
    }

    fn wrap(self, sequence: String) -> String {
        match self.wrapper {
            Wrapper::None => sequence,
            Wrapper::Tmux => format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b")),
        }
    }

    /// Bell and notification.
    pub fn notify(self, title: &str, body: &str) -> String {
        let (title, body) = (one_line(title, TITLE_MAX), one_line(body, NOTICE_MAX));
        let sequence = match self.notifier {
            // `4;…` would be a progress report to some terminals.
            Notifier::Osc9 => format!("\x1b]9;{}: {body}\x1b\\", title.replace(';', ",")),
            Notifier::Osc777 => format!("\x1b]777;notify;{};{}\x1b\\", title.replace(';', ","), body.replace(';', ",")),
        };
        format!("\x07{}", self.wrap(sequence))
    }

    /// Puts text on the clipboard with OSC 52. In tmux both ways are tried: by itself (`set-clipboard on`) and passed
    /// through (`allow-passthrough on`). `None` when the text is longer than [`COPY_MAX`] bytes.
    pub fn copy(self, text: &str) -> Option<String> {
        if text.len() > COPY_MAX {
            return None;
        }
        let mut sequence = String::new();
        CopyToClipboard::to_clipboard_from(text).write_ansi(&mut sequence).ok()?;
        Some(match self.wrapper {
            Wrapper::None => sequence,
            Wrapper::Tmux => format!("{sequence}{}", self.wrap(sequence.clone())),
        })
    }
}

/// Sets the window's title.
pub fn title(text: &str) -> String {
    format!("\x1b]2;{}\x1b\\", one_line(text, TITLE_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_cannot_carry_another_sequence() {
        let sequence = title("a\x1b]52;c;eA==\x07b\n\u{9c}c");
        assert_eq!(sequence.matches('\x1b').count(), 2, "{sequence:?}");
        assert!(!sequence.contains('\x07') && !sequence.contains('\u{9c}') && !sequence.contains('\n'));
    }

    #[test]
    fn a_notification_is_passed_through_tmux() {
        let env = |name: &str| (name == "TMUX").then(|| "/tmp/x".to_owned());
        let sequence = Dialect::detect(env).notify("bob", "waits");
        assert_eq!(sequence, "\x07\x1bPtmux;\x1b\x1b]9;bob: waits\x1b\x1b\\\x1b\\");
    }

    #[test]
    fn each_terminal_gets_the_one_notification_it_knows() {
        let foot = |name: &str| (name == "TERM").then(|| "foot".to_owned());
        assert_eq!(Dialect::detect(foot).notify("a;b", "c"), "\x07\x1b]777;notify;a,b;c\x1b\\");
        assert_eq!(Dialect::detect(|_| None).notify("4;b", "c"), "\x07\x1b]9;4,b: c\x1b\\");
    }

    #[test]
    fn text_is_copied_as_base64_and_too_much_is_refused() {
        assert!(Dialect::default().copy("hello").unwrap().contains("aGVsbG8="));
        assert_eq!(Dialect::default().copy(&"x".repeat(COPY_MAX + 1)), None);
    }
}
