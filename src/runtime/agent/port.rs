//! The team as this member's tools see it.

use crate::domain::{Generation, MemberName, Party, Refusal, Reply, TeamCommand};
use crate::protocol::format;
use crate::runtime::inbound::Inbound;
use crate::runtime::live::{LiveBoard, LiveKind};
use crate::tool::TeamPort;
use crate::tool::redact::redact;
use futures::future::BoxFuture;
use std::borrow::Cow;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Commands in the member's name: who gives a command is set here, never by what a model writes.
pub(super) struct AgentPort {
    pub name: MemberName,
    pub generation: Generation,
    pub up: mpsc::UnboundedSender<Inbound>,
    pub live: Arc<LiveBoard>,
    /// Whether known shapes of keys are taken out of what tools bring in.
    pub redacts: bool,
}

impl AgentPort {
    /// What a tool brought in, as it may be told on.
    pub(super) fn cleared<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.redacts { redact(text) } else { text.into() }
    }
}

impl TeamPort for AgentPort {
    fn command(&self, command: TeamCommand) -> BoxFuture<'_, Result<Reply, Refusal>> {
        let (reply, answer) = oneshot::channel();
        let by = Party::Member(self.name.clone());
        let sent = self.up.send(Inbound::Command { by, generation: Some(self.generation), command, reply });
        Box::pin(async move {
            let gone = || Refusal::Unavailable("the team has ended".into());
            sent.map_err(|_| gone())?;
            answer.await.map_err(|_| gone())?
        })
    }

    fn take_mail(&self) -> BoxFuture<'_, Result<String, Refusal>> {
        // Mail is taken in at every boundary before the model is asked again, in one append with its acknowledgement; a
        // tool result in between could not carry it without being lost or doubled by a crash.
        Box::pin(async { Ok("New mail, if there is any, follows right after this result.".to_owned()) })
    }

    fn notify_later(&self, text: String) {
        let _ = self.up.send(Inbound::TellBack {
            name: self.name.clone(),
            generation: self.generation,
            text: format::notice(&self.cleared(&text)),
        });
    }

    fn live(&self, text: &str) {
        self.live.push(&self.name, LiveKind::Output, &crate::domain::text::sanitise(&self.cleared(text)));
    }
}
