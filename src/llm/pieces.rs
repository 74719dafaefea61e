//! Joins pieces of text that follow each other quickly: every event wakes its reader, and nobody reads word by word.
//!
//! Pure: moments come in.

use super::ModelEvent;
use std::time::Duration;
use tokio::time::Instant;

/// The shortest time between two pieces that are handed on; less than the time between two frames.
const GAP: Duration = Duration::from_millis(40);

/// What was not handed on yet.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    held: Option<ModelEvent>,
    last: Option<Instant>,
}

impl Pieces {
    /// Takes an event; gives what is to be handed on now, in order. The first piece after a pause goes on at once, and
    /// whatever is no text takes with it what is held.
    pub(super) fn push(&mut self, event: ModelEvent, now: Instant) -> Vec<ModelEvent> {
        let mut out = Vec::new();
        match (&mut self.held, event) {
            (Some(ModelEvent::Text(held)), ModelEvent::Text(more)) | (Some(ModelEvent::Reasoning(held)), ModelEvent::Reasoning(more)) => {
                held.push_str(&more);
            }
            (held, event @ (ModelEvent::Text(_) | ModelEvent::Reasoning(_))) => out.extend(held.replace(event)),
            (held, event) => {
                out.extend(held.take());
                out.push(event);
            }
        }
        if self.last.is_none_or(|last| last + GAP <= now) {
            out.extend(self.flush(now));
        }
        out
    }

    /// When what is held has to go on; `None` while nothing is held.
    pub(super) fn due(&self) -> Option<Instant> {
        self.held.as_ref().and(self.last).map(|last| last + GAP)
    }

    /// Gives what is held.
    pub(super) fn flush(&mut self, now: Instant) -> Option<ModelEvent> {
        let held = self.held.take()?;
        self.last = Some(now);
        Some(held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> ModelEvent {
        ModelEvent::Text(text.into())
    }

    #[test]
    fn the_first_piece_goes_on_at_once_and_the_next_ones_together() {
        let mut pieces = Pieces::default();
        let now = Instant::now();
        assert_eq!(pieces.push(text("a"), now), [text("a")]);
        assert_eq!(pieces.push(text("b"), now), []);
        assert_eq!(pieces.push(text("c"), now), []);
        assert_eq!(pieces.due(), Some(now + GAP));
        assert_eq!(pieces.push(text("d"), now + GAP), [text("bcd")]);
        assert_eq!(pieces.due(), None);
    }

    #[test]
    fn nothing_overtakes_the_text_that_is_held() {
        let mut pieces = Pieces::default();
        let now = Instant::now();
        pieces.push(text("a"), now);
        pieces.push(text("b"), now);
        assert_eq!(pieces.push(ModelEvent::Reasoning("hm".into()), now), [text("b")]);
        let call = ModelEvent::CallStarted { name: "claim".into() };
        assert_eq!(pieces.push(call.clone(), now), [ModelEvent::Reasoning("hm".into()), call]);
        assert_eq!(pieces.flush(now), None);
    }

    #[test]
    fn what_is_held_at_the_end_is_not_lost() {
        let mut pieces = Pieces::default();
        let now = Instant::now();
        pieces.push(text("a"), now);
        pieces.push(text("b"), now);
        assert_eq!(pieces.flush(now), Some(text("b")));
    }
}
