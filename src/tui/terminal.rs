//! The terminal as the screen needs it: raw, alternate screen, paste and focus reports, mouse. How all of it is undone
//! stands in `restore`.
//!
//! Frames are written without blocking: what the terminal does not take stays pending, and nothing new is drawn meanwhile.

use super::device::Device;
use super::osc::SAVE_TITLE;
use super::restore::{
    CUT_FRAME, Capture, Entered, FRAME_END, Keyboard, MOUSE_OFF, Owner, Title, entered, install_panic_hook, owner, restore,
};
use super::surface::Surface;
use super::{Screen, TuiError};
use crate::domain::Timestamp;
use ratatui::layout::Size;
use rustix::termios::Termios;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::io::unix::AsyncFd;

/// Alternate screen, clear, bracketed paste, focus reports, cursor hidden.
const ENTER: &str = "\x1b[?1049h\x1b[2J\x1b[H\x1b[?2004h\x1b[?1004h\x1b[?25l";
/// Clicks and the wheel, in SGR coordinates. Motion is not asked for: nothing needs it, and it would wake us.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1006h";
/// Kitty's protocol, level 1 ("disambiguate"): Esc needs no waiting, Shift-Enter differs from Enter. Never "report all
/// keys", which breaks input methods and dead keys.
const KEYBOARD_ON: &str = "\x1b[>1u";
/// A frame appears at once or not at all, where the terminal knows synchronised updates.
const FRAME_BEGIN: &str = "\x1b[?2026h";
/// The size where the terminal tells none.
const FALLBACK: (u16, u16) = (80, 24);

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
