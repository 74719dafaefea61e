//! The screen of a team: the state from `app`, drawn by the views.

use super::screen::Screen;
use super::style::Style;
use super::view;
use crate::app::msg::{Cmd, Msg};
use crate::app::{State, update};
use crate::domain::Timestamp;
use ratatui::Frame;

/// State and style together.
pub struct TeamScreen {
    /// What is shown.
    pub state: State,
    /// How it looks.
    pub style: Style,
    /// Whether it may call for attention outside of its window.
    pub notify: bool,
}

impl Screen for TeamScreen {
    fn update(&mut self, msg: Msg, now: Timestamp) -> Vec<Cmd> {
        let mut commands = update(&mut self.state, msg, now);
        if !self.notify {
            commands.retain(|command| !matches!(command, Cmd::Notify { .. }));
        }
        commands
    }

    fn draw(&mut self, frame: &mut Frame<'_>, now: Timestamp) {
        view::draw(frame, &mut self.state, &self.style, now);
    }

    fn attached(&mut self, is_runner: bool, now: Timestamp) -> Vec<Cmd> {
        self.state.options.is_runner = is_runner;
        if self.state.options.untrusted.is_empty() {
            return Vec::new();
        }
        // The greeting tells it for as long as nothing has happened; a team with a past has none.
        let text = self.state.options.untrusted.clone();
        self.state.hint(text, now)
    }
}
