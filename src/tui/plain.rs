//! The linear mode, for screen readers and plain terminals (`--plain`, `ACCESSIBLE=1`): one labelled line an event,
//! commands as lines. No alternate screen, no colour, no motion, no timers.
//!
//! What is decided must have been read: a request whose text did not fit on its line is answered only after `show ID`.

mod command;
mod view;

use crate::domain::{EventRecord, Party, Reply, RequestKind, RequestState, TeamCommand, TeamEvent};
use crate::runtime::Team;
use command::{Command, HELP};
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::UnboundedReceiver;
use view::View;

/// Lines longer than this are refused; a paste into the terminal is no command.
const LINE_MAX: usize = 64 * 1024;

/// How the linear mode ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainEnd {
    /// The person left, or the input ended; the team, where it ran here, has stopped.
    Left,
    /// The team ended by itself.
    Finished { ok: bool },
}

/// Whether the end of the work ends the linear mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stay {
    /// A script has nothing more to say.
    UntilFinished,
    /// A person may have more to say.
    UntilLeft,
}

/// Runs the linear mode until the person quits, the input ends, or, where it does not stay, the team's work does.
///
/// # Errors
/// When the output cannot be written.
pub async fn plain<R, W>(team: Arc<dyn Team>, input: R, output: W, stay: Stay) -> io::Result<PlainEnd>
where
    R: AsyncBufRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let events = team.subscribe();
    let mut session = Session { team, output, view: View::default(), leaving: Leaving::No, is_open: true, stay };
    session.say(&["signoff, linear mode. Type help and Enter for the commands."]).await?;
    session.run(input, events).await
}

/// A member did not answer the request to shut down in time.
fn is_unanswered(event: &TeamEvent) -> bool {
    matches!(event, TeamEvent::RequestChanged { request } if request.kind == RequestKind::Shutdown && request.state == RequestState::Expired)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaving {
    No,
    /// The team was asked to stop.
    Asked,
    Now,
}

struct Session<W> {
    team: Arc<dyn Team>,
    output: W,
    view: View,
    leaving: Leaving,
    /// More lines may come. Without them nobody can ask a second time.
    is_open: bool,
    stay: Stay,
}

impl<W: AsyncWrite + Unpin> Session<W> {
    async fn run<R: AsyncBufRead + Unpin>(&mut self, input: R, mut events: UnboundedReceiver<Arc<EventRecord>>) -> io::Result<PlainEnd> {
        let mut lines = input.lines();
        loop {
            tokio::select! {
                // A command is about what was told before it.
                biased;
                event = events.recv() => match event {
                    Some(record) => {
                        if let Some(end) = self.event(&record).await? {
                            return Ok(end);
                        }
                    }
                    None => return Ok(PlainEnd::Left),
                },
                line = lines.next_line(), if self.is_open => match line {
                    Ok(Some(line)) => self.line(&line).await?,
                    Ok(None) | Err(_) => {
                        self.is_open = false;
                        self.leave().await?;
                    }
                },
            }
            if self.leaving == Leaving::Now {
                return Ok(PlainEnd::Left);
            }
        }
    }

    async fn event(&mut self, record: &EventRecord) -> io::Result<Option<PlainEnd>> {
        let lines = self.view.fold(&record.event);
        self.say(&lines).await?;
        if self.leaving == Leaving::Asked && !self.is_open && is_unanswered(&record.event) {
            self.leave().await?;
        }
        Ok(match &record.event {
            TeamEvent::Finished { .. } if self.leaving != Leaving::No => Some(PlainEnd::Left),
            TeamEvent::Finished { ok, .. } if self.stay == Stay::UntilFinished => Some(PlainEnd::Finished { ok: *ok }),
            TeamEvent::Finished { .. } => {
                self.say(&["The team is still here: send it more, or type quit and Enter to leave."]).await?;
                None
            }
            _ => None,
        })
    }

    async fn line(&mut self, line: &str) -> io::Result<()> {
        if line.len() > LINE_MAX {
            return self.say(&[format!("Error: that line has more than {LINE_MAX} bytes; nothing was done.")]).await;
        }
        match command::parse(line) {
            Ok(None) => Ok(()),
            Ok(Some(command)) => self.carry_out(command).await,
            Err(reason) => self.say(&[format!("Error: {reason}")]).await,
        }
    }

    async fn carry_out(&mut self, command: Command) -> io::Result<()> {
        match command {
            Command::Help => self.say(&HELP).await,
            Command::Status => {
                let lines = self.view.status();
                self.say(&lines).await
            }
            Command::Show(id) => {
                let lines = self.view.show(&id);
                self.say(&lines).await
            }
            Command::Answer { id, verdict } => match self.view.answer(&id, verdict) {
                Ok(command) => self.give(command).await,
                Err(reason) => self.say(&[format!("Error: {reason}")]).await,
            },
            Command::Team(command) => self.give(command).await,
            Command::Quit => self.leave().await,
        }
    }

    async fn give(&mut self, command: TeamCommand) -> io::Result<()> {
        let team = Arc::clone(&self.team);
        let line = match team.command(Party::Human, command).await {
            Ok(reply) => format!("Done{}", view::reply(&reply)),
            Err(refusal) => format!("Refused: {}", crate::domain::text::sanitise(&refusal.to_string())),
        };
        self.say(&[line]).await
    }

    /// Asks the team to stop and waits for it; the second time it is stopped at once.
    async fn leave(&mut self) -> io::Result<()> {
        if !self.team.is_runner() {
            self.leaving = Leaving::Now;
            return Ok(());
        }
        let now = self.leaving != Leaving::No;
        let words = if now { "Stopping everybody now." } else { "Stopping the team. Type quit again to stop it at once." };
        self.say(&[words]).await?;
        let outcome: Result<Reply, _> = self.team.command(Party::Human, TeamCommand::StopTeam { now }).await;
        self.leaving = Leaving::Asked;
        if now || outcome.is_err() {
            self.leaving = Leaving::Now;
        }
        Ok(())
    }

    async fn say<T: AsRef<str>>(&mut self, lines: &[T]) -> io::Result<()> {
        let mut text = String::new();
        for line in lines {
            text.push_str(line.as_ref());
            text.push('\n');
        }
        self.output.write_all(text.as_bytes()).await?;
        self.output.flush().await
    }
}
