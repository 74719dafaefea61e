//! What comes into the screen's state and what goes out of it.

use crate::domain::{EventRecord, MemberName, Refusal, Reply, TeamCommand, Timestamp, TranscriptEntry};
use std::sync::Arc;

/// A key, in our own words, so that no terminal library is named here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Which.
    pub code: KeyCode,
    /// Control is held.
    pub ctrl: bool,
    /// Alt is held.
    pub alt: bool,
    /// Shift is held (for letters the code is upper case already).
    pub shift: bool,
}

/// Which key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyCode {
    Char(char),
    Enter,
    Esc,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Insert,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    F(u8),
}

/// What the mouse did, in cells from the upper left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mouse {
    Click { column: u16, row: u16 },
    DoubleClick { column: u16, row: u16 },
    ScrollUp { column: u16, row: u16 },
    ScrollDown { column: u16, row: u16 },
}

/// What comes in.
#[derive(Clone, Debug)]
pub enum Msg {
    /// Something happened in the team.
    Event(Arc<EventRecord>),
    /// A key was pressed.
    Key(Key),
    /// Text was pasted: one message, however long.
    Paste(String),
    /// The mouse.
    Mouse(Mouse),
    /// The window's size in cells.
    Resized { width: u16, height: u16 },
    /// The window got or lost the focus.
    Focused(bool),
    /// Streaming text of the watched member; `reset` begins anew.
    Live { name: MemberName, kind: LiveKind, text: String, reset: bool },
    /// What came of [`Cmd::Team`].
    Replied { token: u64, result: Result<Reply, Refusal> },
    /// What came of [`Cmd::Edit`]: the new text, or why there is none.
    Edited { token: u64, result: Result<String, String> },
    /// What came of [`Cmd::LoadTranscript`].
    Transcript { name: MemberName, entries: Vec<TranscriptEntry> },
    /// The moment asked for by [`Cmd::Wake`] is there (elapsed times, expiring hints).
    Woken,
    /// A frame was drawn: what was visible then may be decided upon 500 ms later.
    Drawn,
    /// The system asks to end (TERM, HUP, INT).
    Signal,
}

/// What streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LiveKind {
    #[default]
    Text,
    Reasoning,
    Output,
}

/// What goes out.
#[derive(Clone, Debug, PartialEq)]
pub enum Cmd {
    /// Give a command to the team as the human; the outcome comes back as [`Msg::Replied`].
    Team { token: u64, command: TeamCommand },
    /// Open the text in `$VISUAL` or `$EDITOR`.
    Edit { token: u64, text: String, name: String },
    /// Put text on the clipboard (OSC 52).
    Copy(String),
    /// Ring the bell and notify, if the window is not focused. Both texts are sanitised.
    Notify { title: String, body: String },
    /// Set the window's title.
    Title(String),
    /// Stream the live text of this member from now on.
    WatchLive(MemberName),
    /// Read a member's whole transcript from the store.
    LoadTranscript(MemberName),
    /// Send [`Msg::Woken`] at this moment; a later wake replaces an earlier one. `None` cancels it.
    Wake(Option<Timestamp>),
    /// Turn mouse capture on or off.
    Mouse(bool),
    /// Stop the process as Ctrl-Z does.
    Suspend,
    /// Redraw everything from scratch (Ctrl-L).
    Clear,
    /// Leave: the team has stopped, or the person wants out now.
    Quit,
}
