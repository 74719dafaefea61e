//! What the loop waits for, in the order of who is served first. The person comes before the team, so a flood of events
//! never delays a key.

use super::{Happening, Runner};
use crate::runtime::Team;
use crate::tui::frame::Urgency;
use crate::tui::screen::Screen;
use std::future::{Future, pending};
use std::sync::Arc;
use tokio::time::{Instant, sleep_until};

async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => pending().await,
    }
}

async fn maybe<T>(future: Option<impl Future<Output = T>>) -> T {
    match future {
        Some(future) => future.await,
        None => pending().await,
    }
}

impl<S, F, E> Runner<'_, S, F>
where
    S: Screen,
    F: Future<Output = Result<Arc<dyn Team>, E>>,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    /// Waits for the next thing to handle. Everything it waits for is cancel safe.
    pub(super) async fn wait(&mut self) -> Happening<F::Output> {
        let is_ours = !self.is_away();
        let is_flushed = self.terminal.is_flushed();
        if self.live.is_stale() {
            self.pacer.request(Urgency::Stream);
        }
        let frame = self.pacer.due().filter(|_| is_ours && is_flushed);
        tokio::select! {
            biased;
            notice = self.signals.next() => Happening::Signal(notice),
            () = at(self.ending.map(|(until, _)| until)) => Happening::GraceOver,
            () = at(frame) => Happening::Frame,
            result = self.terminal.flush(), if is_ours && !is_flushed => Happening::Flushed(result),
            input = self.input.next(), if is_ours => Happening::Input(input),
            team = maybe(self.opener.as_mut()) => Happening::Opened(team),
            result = maybe(self.editing.as_mut().map(|editing| &mut editing.done)) => Happening::Edited(result),
            job = next_job(&mut self.jobs) => Happening::Job(job),
            () = at(self.wake) => Happening::Wake,
            () = self.live.changed() => Happening::Live,
            event = maybe(self.events.as_mut().map(|events| events.recv())) => Happening::Event(event),
        }
    }
}

async fn next_job(jobs: &mut tokio::task::JoinSet<super::Job>) -> super::Job {
    loop {
        match jobs.join_next().await {
            Some(Ok(job)) => return job,
            // Panics inside a job are turned into its outcome; this is a cancelled one.
            Some(Err(error)) => tracing::error!(%error, "a command beside the screen was lost"),
            None => return pending().await,
        }
    }
}
