//! What the last frame showed: heights for paging, places for the mouse, and which request could be read and decided.
//! Written while drawing, read while updating.

use super::feed::LineCache;
use super::rich::RichLine;
use crate::domain::{Digest, RequestId, Timestamp};
use std::sync::Arc;

/// A rectangle in cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Area {
    pub x: u16,
    pub y: u16,
    pub width: u16,
    pub height: u16,
}

impl Area {
    /// Whether the cell is inside.
    pub fn contains(self, column: u16, row: u16) -> bool {
        column >= self.x && row >= self.y && column < self.x.saturating_add(self.width) && row < self.y.saturating_add(self.height)
    }
}

/// How the selected request came to be selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The person moved to it.
    Person,
    /// It came up by itself: it takes a verdict only after it could be seen.
    #[default]
    Itself,
}

/// A request that is on the screen, selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownRequest {
    /// Which.
    pub id: RequestId,
    /// The digest of the text as it was when it was drawn.
    pub digest: Digest,
    /// Since when it has been on the screen without a break.
    pub since: Timestamp,
    /// How it came there.
    pub choice: Choice,
    /// Its text changed while it was on the screen: it must be seen again before it is decided.
    pub changed: bool,
}

/// Lines of what is open in full, and what they were made from.
#[derive(Clone, Debug, Default)]
pub struct DetailLines {
    /// What they were made from.
    pub stamp: (u64, usize),
    /// The lines.
    pub lines: Arc<Vec<RichLine>>,
    /// Beside each line, where the lines lead somewhere: whose transcript it leads to.
    pub targets: Arc<Vec<Option<crate::domain::MemberName>>>,
}

/// What the last frame showed.
#[derive(Debug, Default)]
pub struct ViewMemory {
    /// The window, in cells.
    pub size: (u16, u16),
    /// The rows of each pane without its title, by [`super::state::Pane`]; empty where the pane is not drawn.
    pub panes: [Area; 5],
    /// The titles, for the mouse.
    pub titles: [Area; 5],
    /// The selected request that is drawn.
    pub shown: Option<ShownRequest>,
    /// Rows of the open detail, help or list.
    pub overlay: Area,
    /// Rendered entries of activity.
    pub cache: LineCache,
    /// The open detail as lines.
    pub detail: DetailLines,
    /// The row of the selected request, where it is one in a list.
    pub request_row: Area,
    digest: Option<(usize, Digest)>,
    /// The message in each row of the inbox, by its place in the list.
    pub inbox_rows: Vec<usize>,
    fresh: bool,
}

impl ViewMemory {
    /// A frame begins: nothing is on it yet.
    pub fn begin_frame(&mut self, size: (u16, u16)) {
        self.size = size;
        self.panes = [Area::default(); 5];
        self.titles = [Area::default(); 5];
        self.overlay = Area::default();
        self.request_row = Area::default();
        self.fresh = false;
    }

    /// Something lies over this area: a request that is (partly) below it is not on the screen.
    pub fn hide_below(&mut self, area: Area) {
        let row = self.request_row;
        let apart =
            row.x + row.width <= area.x || area.x + area.width <= row.x || row.y + row.height <= area.y || area.y + area.height <= row.y;
        if !apart {
            self.fresh = false;
        }
    }

    /// A frame is complete: a request that is not on it cannot be decided.
    pub fn end_frame(&mut self) {
        if !self.fresh {
            self.shown = None;
        }
    }

    /// Notes that a request is drawn as the selected one. A text that changed under the eyes counts as new.
    pub fn show_request(&mut self, request: &Arc<crate::domain::Request>, choice: Choice, now: Timestamp) {
        self.fresh = true;
        // The digest of a long plan is not worth computing for every frame; the same allocation has the same text.
        let address = Arc::as_ptr(request).addr();
        let digest = match &self.digest {
            Some((known, digest)) if *known == address && self.shown.as_ref().is_some_and(|s| s.id == request.id) => digest.clone(),
            _ => request.digest(),
        };
        self.digest = Some((address, digest.clone()));
        let same = self.shown.as_ref().filter(|s| s.id == request.id);
        let (since, changed) = match same {
            Some(old) if old.digest == digest => (old.since, old.changed),
            Some(_) => (now, true),
            None => (now, false),
        };
        self.shown = Some(ShownRequest { id: request.id.clone(), digest, since, choice, changed });
    }
}
