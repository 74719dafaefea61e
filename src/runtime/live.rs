//! Streaming text: one buffer a member, latest wins, read when a frame is drawn. It never passes through the event log.

use crate::domain::MemberName;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tokio::sync::watch;

/// A buffer keeps at most this many bytes; the head goes first. More than a screen can show, and 200 members stay
/// below 13 MB together.
pub const LIVE_MAX: usize = 64 * 1024;

/// What streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LiveKind {
    /// The model's visible text.
    #[default]
    Text,
    /// The model's reasoning.
    Reasoning,
    /// Output of the running tool.
    Output,
}

#[derive(Default)]
struct Buffer {
    epoch: u64,
    kind: LiveKind,
    text: String,
    dropped: usize,
}

/// All buffers. Epochs are drawn from one counter, so that a name that comes back never repeats one.
#[derive(Default)]
struct Buffers {
    by_name: HashMap<MemberName, Buffer>,
    epochs: u64,
}

/// A piece of streaming text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LivePiece {
    /// Changes when the buffer was begun anew; then `text` is the whole of it.
    pub epoch: u64,
    /// What streams.
    pub kind: LiveKind,
    /// The text after the position asked for.
    pub text: String,
    /// The position to ask for next, in bytes since the epoch began.
    pub next: usize,
}

/// Streaming text of all members.
pub struct LiveBoard {
    buffers: Mutex<Buffers>,
    changed: watch::Sender<u64>,
}

impl Default for LiveBoard {
    fn default() -> Self {
        Self { buffers: Mutex::default(), changed: watch::Sender::new(0) }
    }
}

impl LiveBoard {
    /// Begins a buffer anew.
    pub fn begin(&self, name: &MemberName, kind: LiveKind) {
        self.with(name, |buffer, epoch| *buffer = Buffer { epoch, kind, ..Buffer::default() });
    }

    /// Adds text. A change of kind begins anew.
    pub fn push(&self, name: &MemberName, kind: LiveKind, text: &str) {
        self.with(name, |buffer, epoch| {
            if buffer.kind != kind || buffer.epoch == 0 {
                *buffer = Buffer { epoch, kind, ..Buffer::default() };
            }
            buffer.text.push_str(text);
            let surplus = buffer.text.len().saturating_sub(LIVE_MAX);
            if surplus > LIVE_MAX / 4 {
                let cut = (surplus..=buffer.text.len()).find(|at| buffer.text.is_char_boundary(*at)).unwrap_or(0);
                buffer.text.drain(..cut);
                buffer.dropped += cut;
            }
        });
    }

    /// Changes a buffer; the number is the epoch to take when it is begun anew.
    fn with(&self, name: &MemberName, change: impl FnOnce(&mut Buffer, u64)) {
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        buffers.epochs += 1;
        let epoch = buffers.epochs;
        match buffers.by_name.get_mut(name) {
            Some(buffer) => change(buffer, epoch),
            None => change(buffers.by_name.entry(name.clone()).or_default(), epoch),
        }
        drop(buffers);
        self.changed.send_modify(|n| *n = n.wrapping_add(1));
    }

    /// Forgets a member.
    pub fn remove(&self, name: &MemberName) {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner).by_name.remove(name);
        self.changed.send_modify(|n| *n = n.wrapping_add(1));
    }

    /// The text after `position` of `epoch`; everything when the epoch changed or the position was dropped.
    pub fn read(&self, name: &MemberName, epoch: u64, position: usize) -> LivePiece {
        let buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(buffer) = buffers.by_name.get(name) else { return LivePiece::default() };
        let from = if epoch == buffer.epoch { position.saturating_sub(buffer.dropped).min(buffer.text.len()) } else { 0 };
        let from = (from..=buffer.text.len()).find(|at| buffer.text.is_char_boundary(*at)).unwrap_or(0);
        let text = buffer.text[from..].to_owned();
        LivePiece { epoch: buffer.epoch, kind: buffer.kind, text, next: buffer.dropped + buffer.text.len() }
    }

    /// Tells when any buffer changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }
}
