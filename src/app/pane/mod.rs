//! The panes' own state: what is selected, filtered and scrolled. One file a pane.

mod activity;
mod approvals;
mod board;
mod inbox;
pub mod moves;
mod roster;

pub use activity::ActivityPane;
pub use approvals::ApprovalsPane;
pub use board::BoardPane;
pub use inbox::InboxPane;
pub use roster::RosterPane;

/// A step in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// By so many rows; negative is up.
    By(isize),
    /// To the first.
    First,
    /// To the last.
    Last,
}

impl Move {
    /// Where it leads from `at` in a list of `len`; `None` in an empty one. Without a selection it begins at the first.
    pub fn target(self, at: Option<usize>, len: usize) -> Option<usize> {
        let last = len.checked_sub(1)?;
        Some(match (self, at) {
            (Self::First, _) | (Self::By(_), None) => 0,
            (Self::Last, _) => last,
            (Self::By(rows), Some(at)) => at.saturating_add_signed(rows).min(last),
        })
    }
}

/// The first row that is drawn, so that the selected one is on the screen and the rest stays where it was.
pub fn keep_visible(top: usize, selected: Option<usize>, height: usize, len: usize) -> usize {
    let top = top.min(len.saturating_sub(height));
    match selected {
        Some(at) if at < top => at,
        Some(at) if height > 0 && at >= top + height => at + 1 - height,
        Some(_) | None => top,
    }
}
