//! When to draw: any number of changes become one frame, and without a change there is neither a frame nor a timer.
//!
//! Pure: moments come in. Origin of the idea: codex's frame requester.

use std::time::Duration;
use tokio::time::Instant;

/// The shortest time between two frames while text streams: 16 frames a second are as smooth as reading needs, and
/// keep a slow link usable.
pub const STREAM_GAP: Duration = Duration::from_millis(60);
/// The shortest time between two frames when something happens in the team: seen at once after a pause, and a burst
/// does not cost more than one frame of a usual display.
pub const EVENT_GAP: Duration = Duration::from_millis(16);
/// The shortest time between two frames while the person types: an echo is due within 5 ms, drawing included.
pub const KEY_GAP: Duration = Duration::from_millis(2);

/// How soon a change should be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// With the next streaming frame.
    Stream,
    /// Something happened in the team.
    Event,
    /// The person did something and waits for the echo.
    Echo,
}

/// Merges wishes for a redraw.
#[derive(Debug)]
pub struct Pacer {
    last: Instant,
    wanted: Option<Urgency>,
}

impl Pacer {
    /// Nothing is wanted yet.
    pub fn new(now: Instant) -> Self {
        Self { last: now, wanted: None }
    }

    /// Wishes for a frame. The most urgent wish counts.
    pub fn request(&mut self, urgency: Urgency) {
        self.wanted = self.wanted.max(Some(urgency));
    }

    /// When the next frame is due; `None` while nothing is wanted.
    pub fn due(&self) -> Option<Instant> {
        self.wanted.map(|urgency| match urgency {
            Urgency::Stream => self.last + STREAM_GAP,
            Urgency::Event => self.last + EVENT_GAP,
            Urgency::Echo => self.last + KEY_GAP,
        })
    }

    /// A frame is drawn now: all wishes are met.
    pub fn drawn(&mut self, now: Instant) {
        self.last = now;
        self.wanted = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> (Pacer, Instant) {
        let now = Instant::now();
        (Pacer::new(now), now)
    }

    #[test]
    fn without_a_wish_no_frame_is_ever_due() {
        let (mut pacer, now) = start();
        assert_eq!(pacer.due(), None);
        pacer.request(Urgency::Stream);
        pacer.drawn(now);
        assert_eq!(pacer.due(), None);
    }

    #[test]
    fn a_thousand_events_between_two_frames_make_one_frame() {
        let (mut pacer, now) = start();
        (0..1000).for_each(|_| pacer.request(Urgency::Stream));
        assert_eq!(pacer.due(), Some(now + STREAM_GAP));
        pacer.drawn(now + STREAM_GAP);
        assert_eq!(pacer.due(), None);
    }

    #[test]
    fn a_key_is_echoed_within_5_ms_even_while_text_streams() {
        let (mut pacer, now) = start();
        pacer.request(Urgency::Stream);
        pacer.request(Urgency::Echo);
        pacer.request(Urgency::Stream);
        assert!(pacer.due().unwrap() <= now + Duration::from_millis(5));
    }

    #[test]
    fn what_happens_in_the_team_does_not_wait_for_the_text() {
        let (mut pacer, now) = start();
        pacer.request(Urgency::Stream);
        pacer.request(Urgency::Event);
        assert_eq!(pacer.due(), Some(now + EVENT_GAP));
    }

    #[test]
    fn after_a_pause_a_frame_is_due_at_once() {
        let (mut pacer, now) = start();
        pacer.request(Urgency::Stream);
        assert!(pacer.due().unwrap() < now + Duration::from_secs(1));
    }
}
