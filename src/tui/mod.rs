//! (room under construction)

pub mod style;
pub mod view;
pub mod widget;
