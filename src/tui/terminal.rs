//! The terminal as the screen needs it: raw, alternate screen, paste and focus reports, mouse; and all of it undone in
//! one function, whichever way the program ends.
//!
//! [`restore`] is called by `Drop`, by the panic hook, before a suspension and before an editor. It works once and then
//! does nothing until the terminal is entered again. Frames are written without blocking: what the terminal does not
//! take stays pending, and nothing new is drawn meanwhile.

use super::device::Device;
use super::osc::{RESTORE_TITLE, SAVE_TITLE};
use super::surface::Surface;
use super::{Screen, TuiError};
use crate::domain::Timestamp;
use crate::domain::text::sanitise;
use ratatui::layout::Size;
use rustix::termios::Termios;
use std::io;
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;
use tokio::io::unix::AsyncFd;

/// Alternate screen, clear, bracketed paste, focus reports, cursor hidden.
const ENTER: &str = "\x1b[?1049h\x1b[2J\x1b[H\x1b[?2004h\x1b[?1004h\x1b[?25l";
/// Clicks and the wheel, in SGR coordinates. Motion is not asked for: nothing needs it, and it would wake us.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1006h";
/// Also what others may have left on.
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l";
/// Kitty's protocol, level 1 ("disambiguate"): Esc needs no waiting, Shift-Enter differs from Enter. Never "report all
/// keys", which breaks input methods and dead keys.
const KEYBOARD_ON: &str = "\x1b[>1u";
const KEYBOARD_OFF: &str = "\x1b[<1u";
/// A frame appears at once or not at all, where the terminal knows synchronised updates.
const FRAME_BEGIN: &str = "\x1b[?2026h";
const FRAME_END: &str = "\x1b[?2026l";
/// CAN: ends a sequence that was cut in the middle.
const CANCEL: &str = "\x18";
/// On the way out a stalled terminal is waited for at most this long.
const PATIENCE: Duration = Duration::from_millis(500);
/// The size where the terminal tells none.
const FALLBACK: (u16, u16) = (80, 24);

/// What is undone at the end.
struct Entered {
    device: Arc<Device>,
    cooked: Termios,
    keyboard: Keyboard,
    mouse: Capture,
    title: Title,
}

/// Who owns the screen: its thread, and its task where it runs in one.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Owner {
    thread: ThreadId,
    task: Option<tokio::task::Id>,
}

impl Owner {
    fn current() -> Self {
        Self { thread: std::thread::current().id(), task: tokio::task::try_id() }
    }
}

static ENTERED: Mutex<Option<Entered>> = Mutex::new(None);
static OWNER: Mutex<Option<Owner>> = Mutex::new(None);
static CUT_FRAME: AtomicBool = AtomicBool::new(false);

fn entered() -> MutexGuard<'static, Option<Entered>> {
    ENTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn owner() -> MutexGuard<'static, Option<Owner>> {
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
enum Title {
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

/// The terminal while a screen is open.
pub struct Terminal {
    device: Arc<Device>,
    fd: Arc<AsyncFd<Arc<Device>>>,
    cooked: Termios,
    raw: Termios,
    keyboard: Keyboard,
    mouse: Capture,
    title: Option<String>,
    pending: Vec<u8>,
    written: usize,
    screen: ratatui::Terminal<Surface>,
}

impl Terminal {
    /// Opens the terminal and enters it. Needs a tokio runtime.
    ///
    /// # Errors
    /// When standard output is no terminal, or its settings cannot be read or changed.
    pub fn open(keyboard: Keyboard, mouse: Capture) -> Result<Self, TuiError> {
        let device = Arc::new(Device::open()?);
        let cooked = device.attributes().map_err(TuiError::io("read the terminal's settings"))?;
        let mut raw = cooked.clone();
        raw.make_raw();
        let fd = watch(Arc::clone(&device)).map_err(TuiError::io("watch the terminal"))?;
        let (width, height) = device.size().unwrap_or(FALLBACK);
        let surface = Surface::new(Size { width, height });
        let screen = ratatui::Terminal::new(surface).map_err(TuiError::io("prepare the screen"))?;
        let fd = Arc::new(fd);
        let mut terminal = Self { device, fd, cooked, raw, keyboard, mouse, title: None, pending: Vec::new(), written: 0, screen };
        install_panic_hook();
        *owner() = Some(Owner::current());
        terminal.enter()?;
        Ok(terminal)
    }

    /// Takes the terminal again after [`restore`]. The next frame draws everything.
    ///
    /// # Errors
    /// When the line settings cannot be changed.
    pub fn enter(&mut self) -> Result<(), TuiError> {
        let title = if self.title.is_some() { Title::Saved } else { Title::Untouched };
        self.claim(self.keyboard, title);
        self.device.set_attributes(&self.raw).map_err(TuiError::io("switch the terminal to raw mode"))?;
        self.pending.clear();
        self.written = 0;
        if let Some(title) = self.title.clone() {
            self.push(SAVE_TITLE);
            self.push(&title);
        }
        self.push(ENTER);
        if self.mouse == Capture::On {
            self.push(MOUSE_ON);
        }
        if self.keyboard == Keyboard::Disambiguate {
            self.push(KEYBOARD_ON);
        }
        self.screen.backend_mut().forget_cursor();
        self.clear()
    }

    /// From now on [`restore`] has something to do.
    fn claim(&self, keyboard: Keyboard, title: Title) {
        let (device, cooked, mouse) = (Arc::clone(&self.device), self.cooked.clone(), self.mouse);
        *entered() = Some(Entered { device, cooked, keyboard, mouse, title });
    }

    /// Gives the terminal back in order after somebody else, who had it meanwhile, was killed.
    pub fn tidy(&self) {
        self.claim(Keyboard::Legacy, Title::Untouched);
        restore();
    }

    /// The device, for reading keys and for children that take the terminal over.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The device with its readiness.
    pub fn fd(&self) -> Arc<AsyncFd<Arc<Device>>> {
        Arc::clone(&self.fd)
    }

    /// The size in cells that frames are drawn for.
    pub fn size(&self) -> (u16, u16) {
        let size = ratatui::backend::Backend::size(self.screen.backend()).unwrap_or_default();
        (size.width, size.height)
    }

    /// Asks the system for the size; where it tells none, the old one stays.
    pub fn measure(&mut self) {
        let (width, height) = self.device.size().unwrap_or(self.size());
        self.screen.backend_mut().set_size(Size { width, height });
    }

    /// The next frame draws everything.
    ///
    /// # Errors
    /// Never in practice: frames are collected in memory.
    pub fn clear(&mut self) -> Result<(), TuiError> {
        self.screen.clear().map_err(TuiError::io("clear the screen"))
    }

    /// Draws one frame and writes what the terminal takes at once.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn draw(&mut self, screen: &mut impl Screen, now: Timestamp) -> Result<(), TuiError> {
        self.screen.draw(|frame| screen.draw(frame, now)).map_err(TuiError::io("draw"))?;
        let bytes = self.screen.backend_mut().take();
        if !bytes.is_empty() {
            self.push(FRAME_BEGIN);
            self.pending.extend_from_slice(&bytes);
            self.push(FRAME_END);
        }
        self.write_some().map_err(TuiError::io("write to the terminal"))
    }

    /// Adds a whole sequence to what is to be written.
    pub fn push(&mut self, sequence: &str) {
        self.pending.extend_from_slice(sequence.as_bytes());
    }

    /// Captures the mouse, or leaves it to the terminal.
    pub fn set_mouse(&mut self, mouse: Capture) {
        if mouse == std::mem::replace(&mut self.mouse, mouse) {
            return;
        }
        self.push(match mouse {
            Capture::On => MOUSE_ON,
            Capture::Off => MOUSE_OFF,
        });
        if let Some(entered) = entered().as_mut() {
            entered.mouse = mouse;
        }
    }

    /// Sets the window's title; the old one is saved before the first time.
    pub fn set_title(&mut self, text: &str) {
        let title = super::osc::title(text);
        if self.title.is_none() {
            self.push(SAVE_TITLE);
        }
        self.push(&title);
        self.title = Some(title);
        if let Some(entered) = entered().as_mut() {
            entered.title = Title::Saved;
        }
        // At once: the old title must not be restored without having been saved.
        self.write_last();
    }

    /// Writes what is pending on the way out (a title that was saved, a text for the clipboard), as far as the terminal
    /// takes it at once; what is left is dropped.
    pub fn write_last(&mut self) {
        if entered().is_some()
            && let Err(error) = self.write_some()
        {
            tracing::debug!(%error, "the last output was lost");
        }
    }

    /// Whether the terminal took everything.
    pub fn is_flushed(&self) -> bool {
        self.written == self.pending.len()
    }

    /// Waits until the terminal took everything. Cancel safe.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub async fn flush(&mut self) -> io::Result<()> {
        while !self.is_flushed() {
            let fd = Arc::clone(&self.fd);
            let mut ready = fd.writable().await?;
            let device = &self.device;
            let rest = &self.pending[self.written..];
            match ready.try_io(|_| device.write(rest)) {
                Ok(count) => self.advance(count?),
                Err(_would_block) => {}
            }
        }
        Ok(())
    }

    fn write_some(&mut self) -> io::Result<()> {
        while !self.is_flushed() {
            match self.device.write(&self.pending[self.written..]) {
                Ok(count) => self.advance(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        CUT_FRAME.store(!self.is_flushed(), Ordering::Relaxed);
        Ok(())
    }

    fn advance(&mut self, count: usize) {
        self.written += count;
        if self.is_flushed() {
            self.pending.clear();
            self.written = 0;
        }
        CUT_FRAME.store(!self.pending.is_empty(), Ordering::Relaxed);
    }
}

#[allow(deprecated, reason = "the replacement is unsafe because the descriptor might be closed early; the device owns it")]
fn watch(device: Arc<Device>) -> io::Result<AsyncFd<Arc<Device>>> {
    AsyncFd::new(device)
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
        *owner() = None;
    }
}
