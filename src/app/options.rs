//! What the screen is told when it opens.

use super::keymap::Keymap;

/// Whether colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorMode {
    /// The theme's.
    #[default]
    Themed,
    /// None (`NO_COLOR`): bold, underlined and reversed only.
    Mono,
}

/// What the screen is told when it opens.
#[derive(Clone, Debug)]
pub struct StateOptions {
    /// Who answers model calls, as text.
    pub provider: String,
    /// The team's model.
    pub model: String,
    /// Whether answers come from a script: said wherever the model is named.
    pub scripted: bool,
    /// The workspace as the person knows it (a short path).
    pub workspace: String,
    /// What the sandbox does, in words.
    pub sandbox: String,
    /// What of the workspace's settings does not count, since nobody trusted them; empty when all counts.
    pub untrusted: String,
    /// Draw with ASCII signs only.
    pub ascii: bool,
    /// Colours.
    pub color: ColorMode,
    /// Keys.
    pub keymap: Keymap,
    /// Whether the members run in this process; otherwise this is a second screen.
    pub is_runner: bool,
    /// The person's time zone: seconds east of UTC.
    pub utc_offset: i32,
    /// Whether the mouse is captured at the start.
    pub mouse: bool,
}

impl Default for StateOptions {
    fn default() -> Self {
        Self {
            provider: String::new(),
            model: String::new(),
            scripted: false,
            workspace: String::new(),
            sandbox: String::new(),
            untrusted: String::new(),
            ascii: false,
            color: ColorMode::default(),
            keymap: Keymap::default(),
            is_runner: true,
            utc_offset: 0,
            mouse: true,
        }
    }
}
