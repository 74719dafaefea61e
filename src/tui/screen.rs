//! What the run loop needs of the screen's state: two calls, so that the loop is tested with a toy.

use crate::app::msg::{Cmd, Msg};
use crate::domain::{MemberName, Timestamp, TranscriptEntry};
use ratatui::Frame;

/// State that takes messages in, gives commands out and can be drawn.
pub trait Screen {
    /// Folds a message in; the commands are carried out in their order.
    fn update(&mut self, msg: Msg, now: Timestamp) -> Vec<Cmd>;

    /// Draws everything. Called at most once for any number of messages.
    fn draw(&mut self, frame: &mut Frame<'_>, now: Timestamp);

    /// The team is open; events follow. Where `is_runner` is not set, its members run in another process.
    fn attached(&mut self, is_runner: bool, now: Timestamp) -> Vec<Cmd> {
        let _ = (is_runner, now);
        Vec::new()
    }
}

/// Where a member's whole transcript comes from.
pub trait TranscriptSource: Send + Sync {
    /// Reads it; may block, so it is called off the screen's thread. The error is shown to the person.
    fn load(&self, name: &MemberName) -> Result<Vec<TranscriptEntry>, String>;
}
