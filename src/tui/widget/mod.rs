//! Small tools for drawing: text that fits its cells, and box lines that join.

pub mod grid;
pub mod painter;

pub use grid::Grid;
pub use painter::{Painter, columns};
