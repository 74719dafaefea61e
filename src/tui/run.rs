//! The loop of the screen: waits for keys, events, streaming text, outcomes, timers and signals; folds them into the
//! screen's state; carries out its commands; draws one frame for any number of changes.
//!
//! The first frame is drawn before the team is opened. While nothing happens it neither wakes nor writes. It is one
//! task: run it with `block_on`, on a runtime with several threads, so that the team's work never delays a key.

mod effects;
mod live;
mod wait;

use super::frame::{Pacer, Urgency};
use super::input::Input;
use super::osc::Dialect;
use super::restore::{Capture, Keyboard, restore};
use super::screen::{Screen, TranscriptSource};
use super::signals::{Notice, Signals};
use super::terminal::Terminal;
use super::{TuiError, editor};
use crate::app::msg::Msg;
use crate::domain::{EventRecord, MemberName, Refusal, Reply, TeamCommand, TranscriptEntry};
use crate::runtime::{Team, clock};
use futures::future::BoxFuture;
use live::LiveText;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

/// Events folded in before the screen may draw again.
const EVENTS_MAX: usize = 1024;
/// Commands that are under way at the end may finish within this time.
const LAST_COMMANDS: Duration = Duration::from_secs(1);

/// After a team was opened its events are drawn as quickly as keys for so long.
const OPENING: Duration = Duration::from_millis(200);

/// How the screen is run.
pub struct Options {
    /// Who has the mouse at first.
    pub mouse: Capture,
    /// How keys are reported.
    pub keyboard: Keyboard,
    /// What the terminal understands.
    pub dialect: Dialect,
    /// The editor's command line.
    pub editor: String,
    /// Where transcripts come from.
    pub transcripts: Option<Arc<dyn TranscriptSource>>,
    /// How long the screen may take to end by itself after a signal; a second signal ends it at once.
    pub signal_grace: Duration,
}

impl Options {
    /// Reads `TERM`, `TMUX`, `VISUAL`, `EDITOR` and the like through `env`.
    pub fn detect(env: impl Fn(&str) -> Option<String>) -> Self {
        let is_plain = matches!(env("TERM").as_deref(), Some("linux" | "dumb" | "vt100" | "vt220"));
        let is_apple = env("TERM_PROGRAM").as_deref() == Some("Apple_Terminal");
        Self {
            mouse: Capture::Off,
            keyboard: if is_plain || is_apple { Keyboard::Legacy } else { Keyboard::Disambiguate },
            editor: editor::command(&env),
            dialect: Dialect::detect(env),
            transcripts: None,
            signal_grace: Duration::from_secs(5),
        }
    }
}

/// How the screen ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The screen said so.
    Quit,
    /// By this signal; the usual exit code is 128 plus it.
    Signal(i32),
    /// The terminal went away.
    HangUp,
}

/// What came of something that ran beside the loop.
enum Job {
    Replied { token: u64, result: Result<Reply, Refusal> },
    Transcript { name: MemberName, result: Result<Vec<TranscriptEntry>, String> },
}

/// An editor that has the terminal.
struct Editing {
    token: u64,
    done: BoxFuture<'static, Result<String, String>>,
}

/// What the loop woke for.
enum Happening<O> {
    Signal(Notice),
    Frame,
    Flushed(std::io::Result<()>),
    Input(std::io::Result<Vec<Msg>>),
    Opened(O),
    Edited(Result<String, String>),
    Job(Job),
    Wake,
    GraceOver,
    Live,
    Event(Option<Arc<EventRecord>>),
}

/// Who has the terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Terminality {
    Ours,
    /// It is gone: only the end is left.
    Gone,
}

struct Runner<'a, S, F> {
    screen: &'a mut S,
    options: Options,
    terminal: Terminal,
    terminality: Terminality,
    input: Input,
    signals: Signals,
    pacer: Pacer,
    opener: Option<Pin<&'a mut F>>,
    team: Option<Arc<dyn Team>>,
    early: Vec<(u64, TeamCommand)>,
    events: Option<UnboundedReceiver<Arc<EventRecord>>>,
    /// Until then events belong to the opening of the team.
    expected_until: Instant,
    live: LiveText,
    jobs: JoinSet<Job>,
    editing: Option<Editing>,
    wake: Option<Instant>,
    focus: effects::Focus,
    /// A signal asked to end: until when the screen may do that by itself, and how it ends then.
    ending: Option<(Instant, Ended)>,
    ended: Option<Ended>,
}

/// Opens the screen on the terminal and runs it to its end. `opener` is first polled after the first frame; until it is
/// done keys go to the screen and commands wait for the team.
///
/// # Errors
/// When the terminal cannot be used, or with the error of `opener` (the terminal is given back already, so it can be
/// printed).
pub async fn run<S, F, E>(screen: &mut S, opener: F, options: Options) -> Result<Ended, TuiError>
where
    S: Screen,
    F: Future<Output = Result<Arc<dyn Team>, E>>,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let opener = pin!(opener);
    let terminal = Terminal::open(options.keyboard, options.mouse)?;
    let now = Instant::now();
    let mut runner = Runner {
        screen,
        input: Input::new(terminal.fd()),
        signals: Signals::listen()?,
        options,
        terminal,
        terminality: Terminality::Ours,
        pacer: Pacer::new(now),
        opener: Some(opener),
        team: None,
        early: Vec::new(),
        events: None,
        expected_until: now,
        live: LiveText::default(),
        jobs: JoinSet::new(),
        editing: None,
        wake: None,
        focus: effects::Focus::new(now),
        ending: None,
        ended: None,
    };
    let ended = runner.run().await;
    runner.terminal.write_last();
    restore();
    if runner.editing.take().is_some() {
        // Dropping it killed the editor, which leaves its own modes behind.
        runner.terminal.tidy();
    }
    // A last command (stop the team, a verdict) was given before the end and must not be lost with it.
    let _ = timeout(LAST_COMMANDS, async { while runner.jobs.join_next().await.is_some() {} }).await;
    ended
}

impl<S, F, E> Runner<'_, S, F>
where
    S: Screen,
    F: Future<Output = Result<Arc<dyn Team>, E>>,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    async fn run(&mut self) -> Result<Ended, TuiError> {
        let (width, height) = self.terminal.size();
        self.apply(Msg::Resized { width, height }, Urgency::Echo).await?;
        self.draw().await?;
        loop {
            if let Some(ended) = self.ended {
                return Ok(ended);
            }
            let happening = self.wait().await;
            match self.handle(happening).await {
                // A terminal that is closed is told by CONT as well as by HUP, in any order, and CONT would take it back.
                Err(TuiError::Io { source, .. }) if is_gone(&source) => self.hang_up(&source).await?,
                done => done?,
            }
        }
    }

    async fn handle(&mut self, happening: Happening<Result<Arc<dyn Team>, E>>) -> Result<(), TuiError> {
        match happening {
            Happening::Signal(notice) => self.signal(notice).await,
            Happening::Frame => self.draw().await,
            Happening::Flushed(Ok(())) => Ok(()),
            Happening::Flushed(Err(error)) => self.hang_up(&error).await,
            Happening::Input(Ok(messages)) => self.typed(messages).await,
            Happening::Input(Err(error)) => self.hang_up(&error).await,
            Happening::Opened(team) => self.attach(team.map_err(|error| TuiError::Team(error.into()))?).await,
            Happening::Edited(result) => self.edited(result).await,
            Happening::Job(job) => self.job_done(job).await,
            Happening::Wake => {
                self.wake = None;
                self.apply(Msg::Woken, Urgency::Stream).await
            }
            Happening::GraceOver => {
                self.ended = self.ended.or(self.ending.map(|(_, how)| how));
                Ok(())
            }
            Happening::Live => {
                self.live.note_change();
                Ok(())
            }
            Happening::Event(record) => self.event(record).await,
        }
    }

    async fn typed(&mut self, messages: Vec<Msg>) -> Result<(), TuiError> {
        for msg in messages {
            self.focus.note(&msg, Instant::now());
            self.apply(msg, Urgency::Echo).await?;
            if self.ended.is_some() {
                break;
            }
        }
        Ok(())
    }

    async fn event(&mut self, first: Option<Arc<EventRecord>>) -> Result<(), TuiError> {
        let Some(first) = first else {
            self.events = None;
            return Ok(());
        };
        // Somebody who has just started the program waits for the board.
        let urgency = if Instant::now() < self.expected_until { Urgency::Echo } else { Urgency::Event };
        self.apply(Msg::Event(first), urgency).await?;
        for _ in 1..EVENTS_MAX {
            let Some(next) = self.events.as_mut().and_then(|events| events.try_recv().ok()) else { break };
            self.apply(Msg::Event(next), urgency).await?;
        }
        Ok(())
    }

    async fn attach(&mut self, team: Arc<dyn Team>) -> Result<(), TuiError> {
        self.opener = None;
        self.events = Some(team.subscribe());
        self.expected_until = Instant::now() + OPENING;
        self.live.attach(team.live());
        let commands = self.screen.attached(team.is_runner(), clock::now());
        self.team = Some(team);
        for (token, command) in std::mem::take(&mut self.early) {
            self.give(token, command);
        }
        self.pacer.request(Urgency::Echo);
        self.execute(commands).await
    }

    async fn signal(&mut self, notice: Notice) -> Result<(), TuiError> {
        match notice {
            Notice::Resized => self.resize().await,
            // Who has the terminal is stopped with us.
            Notice::Stop if self.is_away() => {
                self.signals.stop_job().await;
                Ok(())
            }
            Notice::Stop => self.suspend().await,
            Notice::Continued if self.is_away() => Ok(()),
            Notice::Continued => self.take_back().await,
            // Ctrl-C is for the editor, until it has set up its own keys.
            Notice::End(number) if self.editing.is_some() && is_from_keys(number) => Ok(()),
            Notice::HangUp => self.end_by(Ended::HangUp).await,
            Notice::End(number) => self.end_by(Ended::Signal(number)).await,
        }
    }

    async fn hang_up(&mut self, error: &std::io::Error) -> Result<(), TuiError> {
        tracing::info!(%error, "the terminal is gone");
        self.terminality = Terminality::Gone;
        self.end_by(Ended::HangUp).await
    }

    /// The first time the screen is asked to end by itself; the second time it ends.
    async fn end_by(&mut self, how: Ended) -> Result<(), TuiError> {
        match self.ending {
            None => {
                self.ending = Some((Instant::now() + self.options.signal_grace, how));
                self.apply(Msg::Signal, Urgency::Echo).await
            }
            // A terminal that goes away says so twice: by a signal and by an error.
            Some(_) if how == Ended::HangUp => Ok(()),
            Some(_) => {
                self.ended = Some(how);
                Ok(())
            }
        }
    }

    async fn resize(&mut self) -> Result<(), TuiError> {
        // Also at the old size everything is drawn: the window may have been small in between.
        self.terminal.measure();
        self.terminal.clear()?;
        let (width, height) = self.terminal.size();
        self.apply(Msg::Resized { width, height }, Urgency::Echo).await
    }

    async fn edited(&mut self, result: Result<String, String>) -> Result<(), TuiError> {
        let Some(editing) = self.editing.take() else { return Ok(()) };
        self.take_back().await?;
        self.apply(Msg::Edited { token: editing.token, result }, Urgency::Echo).await
    }

    /// Takes the terminal again after somebody else had it.
    async fn take_back(&mut self) -> Result<(), TuiError> {
        self.input.reset();
        self.terminal.enter()?;
        self.pacer.request(Urgency::Echo);
        self.resize().await
    }

    pub(super) fn is_away(&self) -> bool {
        self.editing.is_some() || self.terminality == Terminality::Gone
    }

    async fn draw(&mut self) -> Result<(), TuiError> {
        if let Some(msg) = self.live.read() {
            self.apply(msg, Urgency::Stream).await?;
        }
        if self.pacer.due().is_none() || self.is_away() {
            return Ok(());
        }
        self.pacer.drawn(Instant::now());
        if let Err(error) = self.terminal.draw(self.screen, clock::now()) {
            return self.hang_up(&std::io::Error::other(error)).await;
        }
        let commands = self.screen.update(Msg::Drawn, clock::now());
        self.execute(commands).await
    }

    async fn apply(&mut self, msg: Msg, urgency: Urgency) -> Result<(), TuiError> {
        self.pacer.request(urgency);
        let commands = self.screen.update(msg, clock::now());
        self.execute(commands).await
    }
}

/// Whether a call failed since there is no terminal any more.
fn is_gone(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    error.raw_os_error().is_some_and(|number| [Errno::IO, Errno::NXIO, Errno::PIPE].iter().any(|errno| errno.raw_os_error() == number))
}

fn is_from_keys(number: i32) -> bool {
    [rustix::process::Signal::INT, rustix::process::Signal::QUIT].iter().any(|signal| signal.as_raw() == number)
}
