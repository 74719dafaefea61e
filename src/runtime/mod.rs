//! The runtime: members as tokio tasks under one supervisor that owns the team core and linearizes every input.
//!
//! Imports `protocol` and the ports below it. Deliberately absent: the screen and its state, concrete backends.

use crate::domain::{EventRecord, Party, Refusal, Reply, TeamCommand};
use futures::future::BoxFuture;
use std::sync::Arc;
use tokio::sync::mpsc;

mod agent;
pub mod clock;
mod env;
mod handle;
mod ids;
mod inbound;
pub mod live;
pub mod remote;
mod supervisor;

pub use env::{Prompts, RuntimeEnv};
pub use handle::TeamHandle;
pub use live::LiveBoard;
pub use supervisor::{Opened, open};

/// A team as screens and the command line see it: the one that runs in this process, or the files of one that runs in
/// another.
pub trait Team: Send + Sync {
    /// Gives a command and waits for its outcome.
    fn command(&self, by: Party, command: TeamCommand) -> BoxFuture<'_, Result<Reply, Refusal>>;
    /// All that is known now, as events, followed by every later event. Facts go up unbounded; a reader that is gone is
    /// dropped.
    fn subscribe(&self) -> mpsc::UnboundedReceiver<Arc<EventRecord>>;
    /// Streaming text of the members: read when a frame is drawn.
    fn live(&self) -> Arc<LiveBoard>;
    /// Whether the members run in this process. Otherwise this is a second screen.
    fn is_runner(&self) -> bool;
    /// Lets go: where the members run here, stops them now, and waits until the files are written and the lock is free.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
