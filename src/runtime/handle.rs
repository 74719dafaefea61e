//! The handle of a team that runs in this process.

use super::Team;
use super::inbound::Inbound;
use super::live::LiveBoard;
use crate::domain::{EventRecord, Party, Refusal, Reply, TeamCommand};
use futures::future::BoxFuture;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Sends to the supervisor. Cheap to clone.
#[derive(Clone)]
pub struct TeamHandle {
    pub(super) tx: mpsc::UnboundedSender<Inbound>,
    pub(super) live: Arc<LiveBoard>,
}

impl Team for TeamHandle {
    fn command(&self, by: Party, command: TeamCommand) -> BoxFuture<'_, Result<Reply, Refusal>> {
        let (reply, answer) = oneshot::channel();
        let sent = self.tx.send(Inbound::Command { by, generation: None, command, reply });
        Box::pin(async move {
            let gone = || Refusal::Unavailable("the team has ended".into());
            sent.map_err(|_| gone())?;
            answer.await.map_err(|_| gone())?
        })
    }

    fn subscribe(&self) -> mpsc::UnboundedReceiver<Arc<EventRecord>> {
        let (tx, rx) = mpsc::unbounded_channel();
        let _ = self.tx.send(Inbound::Subscribe(tx));
        rx
    }

    fn live(&self) -> Arc<LiveBoard> {
        self.live.clone()
    }

    fn is_runner(&self) -> bool {
        true
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        let (done, wait) = oneshot::channel();
        let sent = self.tx.send(Inbound::Close(done)).is_ok();
        Box::pin(async move {
            if sent {
                let _ = wait.await;
            }
        })
    }
}
