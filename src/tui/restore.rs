//! The terminal given back as it was, in one function, whichever way the program ends.
//!
//! [`restore`] is called by `Drop`, by the panic hook, before a suspension and before an editor. It works once and then
//! does nothing until the terminal is entered again.

use super::device::Device;
use super::osc::RESTORE_TITLE;
use crate::domain::text::sanitise;
use rustix::termios::Termios;
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

/// Also what others may have left on.
pub(super) const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l";
const KEYBOARD_OFF: &str = "\x1b[<1u";
/// Ends a synchronised update.
pub(super) const FRAME_END: &str = "\x1b[?2026l";
/// CAN: ends a sequence that was cut in the middle.
const CANCEL: &str = "\x18";
/// On the way out a stalled terminal is waited for at most this long.
const PATIENCE: Duration = Duration::from_millis(500);

/// What is undone at the end.
pub(super) struct Entered {
    pub(super) device: Arc<Device>,
    pub(super) cooked: Termios,
    pub(super) keyboard: Keyboard,
    pub(super) mouse: Capture,
    pub(super) title: Title,
}

/// Who owns the screen: its thread, and its task where it runs in one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    thread: ThreadId,
    task: Option<tokio::task::Id>,
}

impl Owner {
    pub(super) fn current() -> Self {
        Self { thread: std::thread::current().id(), task: tokio::task::try_id() }
    }
}

static ENTERED: Mutex<Option<Entered>> = Mutex::new(None);
static OWNER: Mutex<Option<Owner>> = Mutex::new(None);
pub(super) static CUT_FRAME: AtomicBool = AtomicBool::new(false);

pub(super) fn entered() -> MutexGuard<'static, Option<Entered>> {
    ENTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn owner() -> MutexGuard<'static, Option<Owner>> {
    OWNER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How keys are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keyboard {
    /// As ever.
    Legacy,
    /// Kitty's level 1; terminals that do not know it ignore the request.
    #[default]
    Disambiguate,
}

/// Whether the mouse belongs to us or to the terminal (for selecting text).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Capture {
    /// To us.
    On,
    /// To the terminal.
    #[default]
    Off,
}

impl From<bool> for Capture {
    fn from(on: bool) -> Self {
        if on { Self::On } else { Self::Off }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Title {
    Untouched,
    Saved,
}

/// Gives the terminal back as it was: mouse, paste and focus reports off, keyboard popped, cursor shown, colours reset,
/// alternate screen left, title restored, and only then the old line settings, so that no report is echoed as text.
/// Does nothing when it was done already. Bounded in time, callable from any thread and from a panic hook.
pub fn restore() {
    let Some(entered) = entered().take() else { return };
    let mut bytes = String::new();
    if CUT_FRAME.swap(false, Ordering::Relaxed) {
        bytes.push_str(CANCEL);
    }
    bytes.push_str(FRAME_END);
    bytes.push_str(MOUSE_OFF);
    bytes.push_str("\x1b[?2004l\x1b[?1004l");
    if entered.keyboard == Keyboard::Disambiguate {
        bytes.push_str(KEYBOARD_OFF);
    }
    bytes.push_str("\x1b[?25h\x1b[0m\x1b[?1049l");
    if entered.title == Title::Saved {
        bytes.push_str(RESTORE_TITLE);
    }
    entered.device.write_patiently(bytes.as_bytes(), PATIENCE);
    if entered.mouse == Capture::On {
        entered.device.discard_input();
    }
    if let Err(error) = entered.device.set_attributes(&entered.cooked) {
        tracing::warn!(%error, "the terminal's line settings could not be restored");
    }
}

/// What to type when a killed program left the terminal unusable.
pub const RESET_ADVICE: &str = "if the terminal behaves oddly, type `reset` and Enter (you may not see what you type)";

/// Installs the panic hook, once for the process. A panic on the screen's own thread restores the terminal and is then
/// reported as usual; a panic elsewhere goes to the log while a screen is open, because its owner learns of it anyway
/// and a message would wreck the picture.
pub fn install_panic_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let screen = *owner();
            match screen {
                Some(screen) if screen != Owner::current() => log_panic(info),
                Some(_) | None => {
                    restore();
                    usual(info);
                }
            }
        }));
    });
}

fn log_panic(info: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let message = info.to_string();
    tracing::error!(thread = thread.name().unwrap_or("?"), "{}", sanitise(&message));
}
