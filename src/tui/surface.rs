//! ratatui's back end: it collects one frame as bytes. Nothing here touches the terminal, asks it anything or blocks.
//!
//! The size is told from outside, because ratatui's own back end would ask the system (and run `tput`) for it.

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use std::io;

/// The bytes of a frame that is being drawn.
#[derive(Debug, Default)]
pub struct Surface {
    bytes: Vec<u8>,
    size: Size,
    cursor: Position,
    shown: bool,
}

impl Surface {
    /// An empty frame of this size.
    pub fn new(size: Size) -> Self {
        Self { size, ..Self::default() }
    }

    /// The size of the next frame.
    pub fn set_size(&mut self, size: Size) {
        self.size = size;
    }

    /// The bytes since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// The terminal was set up anew: its cursor is hidden.
    pub fn forget_cursor(&mut self) {
        self.shown = false;
    }

    fn inner(&mut self) -> CrosstermBackend<&mut Vec<u8>> {
        CrosstermBackend::new(&mut self.bytes)
    }
}

impl Backend for Surface {
    type Error = io::Error;

    fn draw<'a, I: Iterator<Item = (u16, u16, &'a Cell)>>(&mut self, content: I) -> io::Result<()> {
        let mut content = content.peekable();
        if content.peek().is_none() { Ok(()) } else { self.inner().draw(content) }
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.shown) { self.inner().hide_cursor() } else { Ok(()) }
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.shown, true) { Ok(()) } else { self.inner().show_cursor() }
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(self.cursor)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.cursor = position.into();
        let cursor = self.cursor;
        self.inner().set_cursor_position(cursor)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.inner().clear()
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        self.inner().clear_region(clear_type)
    }

    fn size(&self) -> io::Result<Size> {
        Ok(self.size)
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size, pixels: Size::default() })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
