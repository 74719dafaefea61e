//! Carries out what the screen asks for.

use super::{Editing, Ended, Job, Runner};
use crate::app::msg::{Cmd, Msg};
use crate::domain::event::{EVENT_VERSION, NoticeLevel};
use crate::domain::{EventRecord, MemberName, Party, Refusal, TeamCommand, TeamEvent};
use crate::runtime::{Team, clock};
use crate::tui::frame::Urgency;
use crate::tui::restore::{Capture, restore};
use crate::tui::screen::Screen;
use crate::tui::{TuiError, editor};
use futures::FutureExt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Where the terminal never reports its focus, somebody who typed nothing for so long is taken to be elsewhere.
const AWAY_AFTER: Duration = Duration::from_secs(60);

/// Whether the person looks at the window.
#[derive(Debug)]
pub(super) struct Focus {
    reported: Option<bool>,
    last_input: Instant,
}

impl Focus {
    pub(super) fn new(now: Instant) -> Self {
        Self { reported: None, last_input: now }
    }

    pub(super) fn note(&mut self, msg: &Msg, now: Instant) {
        match msg {
            Msg::Focused(focus) => self.reported = Some(*focus),
            Msg::Event(_)
            | Msg::Key(_)
            | Msg::Paste(_)
            | Msg::Mouse(_)
            | Msg::Resized { .. }
            | Msg::Live { .. }
            | Msg::Replied { .. }
            | Msg::Edited { .. }
            | Msg::Transcript { .. }
            | Msg::Woken
            | Msg::Drawn
            | Msg::Signal => self.last_input = now,
        }
    }

    fn is_elsewhere(&self, now: Instant) -> bool {
        match self.reported {
            Some(focus) => !focus,
            None => now.duration_since(self.last_input) >= AWAY_AFTER,
        }
    }
}

impl<S, F, E> Runner<'_, S, F>
where
    S: Screen,
    F: Future<Output = Result<Arc<dyn Team>, E>>,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    pub(super) async fn execute(&mut self, commands: Vec<Cmd>) -> Result<(), TuiError> {
        for command in commands {
            self.execute_one(command).await?;
        }
        Ok(())
    }

    async fn execute_one(&mut self, command: Cmd) -> Result<(), TuiError> {
        match command {
            Cmd::Team { token, command } => self.give(token, command),
            Cmd::Edit { token, text, name } => self.edit(token, text, name),
            Cmd::Copy(text) => self.copy(&text),
            Cmd::Notify { title, body } => self.notify(&title, &body),
            Cmd::Title(text) => self.terminal.set_title(&text),
            Cmd::WatchLive(name) => self.live.watch(name),
            Cmd::LoadTranscript(name) => self.load(name),
            Cmd::Wake(moment) => self.wake = moment.map(|moment| Instant::now() + moment.since(clock::now())),
            Cmd::Mouse(on) => self.terminal.set_mouse(Capture::from(on)),
            Cmd::Suspend => return self.suspend().await,
            Cmd::Clear => {
                self.pacer.request(Urgency::Echo);
                self.terminal.clear()?;
            }
            Cmd::Quit => self.ended = self.ended.or(Some(self.ending.map_or(Ended::Quit, |(_, how)| how))),
        }
        Ok(())
    }

    /// Gives a command to the team, or keeps it until the team is open.
    pub(super) fn give(&mut self, token: u64, command: TeamCommand) {
        let Some(team) = self.team.clone() else {
            self.early.push((token, command));
            return;
        };
        self.jobs.spawn(async move {
            let outcome = AssertUnwindSafe(team.command(Party::Human, command)).catch_unwind().await;
            let lost = || Refusal::Unavailable("the command failed inside signoff; the log says why".into());
            Job::Replied { token, result: outcome.unwrap_or_else(|_| Err(lost())) }
        });
    }

    pub(super) async fn job_done(&mut self, job: Job) -> Result<(), TuiError> {
        match job {
            Job::Replied { token, result } => self.apply(Msg::Replied { token, result }, Urgency::Echo).await,
            Job::Transcript { name, result } => {
                let entries = match result {
                    Ok(entries) => entries,
                    Err(reason) => {
                        self.apply(Msg::Event(Arc::new(notice(&name, &reason))), Urgency::Echo).await?;
                        Vec::new()
                    }
                };
                self.apply(Msg::Transcript { name, entries }, Urgency::Echo).await
            }
        }
    }

    fn load(&mut self, name: MemberName) {
        let Some(source) = self.options.transcripts.clone() else { return };
        self.jobs.spawn_blocking(move || {
            let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| source.load(&name)));
            let result = outcome.unwrap_or_else(|_| Err("reading failed inside signoff; the log says why".into()));
            Job::Transcript { name, result }
        });
    }

    fn edit(&mut self, token: u64, text: String, name: String) {
        if self.editing.is_some() {
            return;
        }
        restore();
        let (device, command) = (Arc::clone(self.terminal.device()), self.options.editor.clone());
        let done = async move { editor::edit(command, text, name, &device).await }.boxed();
        self.editing = Some(Editing { token, done });
    }

    fn copy(&mut self, text: &str) {
        match self.options.dialect.copy(text) {
            Some(sequence) => self.terminal.push(&sequence),
            None => tracing::warn!(bytes = text.len(), "too long for the clipboard"),
        }
    }

    fn notify(&mut self, title: &str, body: &str) {
        if self.focus.is_elsewhere(Instant::now()) && self.editing.is_none() {
            self.terminal.push(&self.options.dialect.notify(title, body));
        }
    }

    /// Gives the terminal back, stops, and takes it again when we go on.
    pub(super) async fn suspend(&mut self) -> Result<(), TuiError> {
        restore();
        self.signals.stop_job().await;
        Box::pin(self.take_back()).await
    }
}

/// A fault of ours, told as any other notice. Its number is 0: it is in no log.
fn notice(name: &MemberName, reason: &str) -> EventRecord {
    let text = format!("the transcript of {name} cannot be read: {reason}");
    let event = TeamEvent::Noticed { level: NoticeLevel::Error, text, name: Some(name.clone()) };
    EventRecord { v: EVENT_VERSION, seq: 0, at: clock::now(), event }
}
