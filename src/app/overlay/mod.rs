//! What lies over the panes. One file each.

pub mod confirm;
pub mod detail;
pub mod form;
pub mod help;
pub mod needs;
pub mod palette;
pub mod prompt;
pub mod protocols;
pub mod quit;

pub use confirm::{Confirm, ConfirmAction};
pub use detail::{Detail, DetailKind};
pub use form::{Field, Form, FormKind};
pub use help::Help;
pub use needs::{Need, NeedTarget, NeedsList};
pub use palette::{Palette, PaletteRow};
pub use prompt::{Prompt, Purpose, Switch};
pub use protocols::ProtocolList;
pub use quit::Quitting;
