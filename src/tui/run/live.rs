//! Streaming text of the one member that is watched: read when a frame is due, never more often.

use crate::app::msg::{LiveKind, Msg};
use crate::domain::MemberName;
use crate::runtime::LiveBoard;
use crate::runtime::live::LiveKind as BoardKind;
use std::future::pending;
use std::sync::Arc;
use tokio::sync::watch;

/// Who is watched, and how far its text was read.
#[derive(Default)]
pub struct LiveText {
    board: Option<(Arc<LiveBoard>, watch::Receiver<u64>)>,
    name: Option<MemberName>,
    epoch: Option<u64>,
    position: usize,
    stale: bool,
}

impl LiveText {
    /// The team is open.
    pub fn attach(&mut self, board: Arc<LiveBoard>) {
        let changes = board.changes();
        self.board = Some((board, changes));
        self.stale = self.name.is_some();
    }

    /// Watches this member from now on, from the beginning of its buffer.
    pub fn watch(&mut self, name: MemberName) {
        self.name = Some(name);
        self.epoch = None;
        self.position = 0;
        self.stale = self.board.is_some();
    }

    /// Something changed, perhaps not of the member that is watched: to be looked at with the next frame.
    pub fn note_change(&mut self) {
        self.stale = true;
    }

    /// Whether there may be new text.
    pub fn is_stale(&self) -> bool {
        self.stale
    }

    /// Waits for a change of any buffer. Never comes back while nobody is watched. Cancel safe.
    pub async fn changed(&mut self) {
        let Some((_, changes)) = self.board.as_mut().filter(|_| self.name.is_some() && !self.stale) else { return pending().await };
        if changes.changed().await.is_err() {
            pending().await
        }
    }

    /// The new text, if there is some.
    pub fn read(&mut self) -> Option<Msg> {
        if !std::mem::take(&mut self.stale) {
            return None;
        }
        let (board, _) = self.board.as_ref()?;
        let name = self.name.clone()?;
        let piece = board.read(&name, self.epoch.unwrap_or(u64::MAX), self.position);
        let reset = self.epoch != Some(piece.epoch);
        self.epoch = Some(piece.epoch);
        self.position = piece.next;
        let kind = match piece.kind {
            BoardKind::Text => LiveKind::Text,
            BoardKind::Reasoning => LiveKind::Reasoning,
            BoardKind::Output => LiveKind::Output,
        };
        (reset || !piece.text.is_empty()).then_some(Msg::Live { name, kind, text: piece.text, reset })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(msg: Option<Msg>) -> Option<(String, bool)> {
        match msg {
            Some(Msg::Live { text, reset, .. }) => Some((text, reset)),
            _ => None,
        }
    }

    #[test]
    fn only_new_text_of_the_watched_member_is_read() {
        let board = Arc::new(LiveBoard::default());
        let [alice, bob] = ["alice", "bob"].map(|name| MemberName::parse(name).unwrap());
        let mut live = LiveText::default();
        live.attach(Arc::clone(&board));
        live.watch(alice.clone());
        board.push(&alice, BoardKind::Text, "one");
        assert_eq!(text(live.read()), Some(("one".into(), true)));
        board.push(&alice, BoardKind::Text, " two");
        live.note_change();
        assert_eq!(text(live.read()), Some((" two".into(), false)));
        board.push(&bob, BoardKind::Text, "other");
        live.note_change();
        assert_eq!(text(live.read()), None);
        board.begin(&alice, BoardKind::Reasoning);
        live.note_change();
        assert_eq!(text(live.read()), Some((String::new(), true)));
    }
}
