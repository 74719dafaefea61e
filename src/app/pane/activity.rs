//! The activity of the selected member: a scroll position.

use crate::app::scroll::Scroll;

/// The activity's state.
#[derive(Default)]
pub struct ActivityPane {
    /// Follows the end until it is moved up.
    pub scroll: Scroll,
}
