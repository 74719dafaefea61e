//! `signoff run`: a team without a screen. Events go to standard output as JSON lines, or as words to standard error
//! with the lead's last answer on standard output; the end is always told, and the exit code says how it was.

use super::args::{Plans, RunArgs};
use super::change::text;
use super::compose::{Choice, Fallback, choose_model};
use super::error::{CliError, Exit};
use super::out::{Form, Out};
use super::session::Session;
use super::team::{self, Opening};
use crate::domain::event::EVENT_VERSION;
use crate::domain::settings::PlanMode;
use crate::domain::{EventRecord, MessageKind, Party, TeamCommand, TeamEvent, TeamSettings, Timestamp};
use crate::runtime::{Team, clock};
use crate::tui::sentence::sentence;
use crate::tui::signals::{Notice, Signals};
use futures::StreamExt as _;
use futures::stream::BoxStream;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;

/// How long the team may take to stop when it is stopped from outside; it kills what does not.
pub const STOP_TIME: Duration = Duration::from_secs(10);

/// What a headless team is to do.
#[derive(Clone, Debug)]
pub struct Order {
    /// What the lead is told.
    pub goal: String,
    /// How events are printed.
    pub form: Form,
    /// After which time the team is stopped.
    pub timeout: Option<Duration>,
    /// How long a team that is stopped from outside may take; [`STOP_TIME`].
    pub stop_time: Duration,
}

/// `run`
pub async fn run(session: &Session, args: &RunArgs, out: &mut Out) -> Result<Exit, CliError> {
    let goal = text(&args.goal)?;
    if goal.trim().is_empty() {
        return Err(CliError::Usage("the goal is empty: say what the team should do".into()));
    }
    if team::running_elsewhere(session)?.is_some() {
        let hint = "give it the goal with `signoff send lead …`, or use another workspace";
        return Err(crate::domain::Refusal::Invalid(format!("another process runs the team of this workspace: {hint}")).into());
    }
    let config = &session.loaded.config;
    let choice = Choice { config, env: &session.env, speed: None, fallback: Fallback::Refuse };
    let chosen = choose_model(choice).await?;
    chosen.notice.iter().for_each(|notice| out.say(notice));
    let interrupts = interrupts()?;
    let opened = team::open(Opening::new(session, unattended(&session.team_settings(), args.plans), chosen)?).await?;
    let exit =
        headless(opened.clone(), Order { goal, form: Form::of(args.json), timeout: args.timeout, stop_time: STOP_TIME }, interrupts, out)
            .await;
    opened.close().await;
    match exit {
        Err(CliError::ReaderGone) => Err(CliError::Failed("the team was stopped: nobody reads the output any more".into())),
        exit => exit,
    }
}

/// The settings of a team that nobody watches: what would ask is refused, unless another shell decides.
fn unattended(settings: &TeamSettings, plans: Option<Plans>) -> TeamSettings {
    let mut settings = settings.clone();
    settings.plans = match (plans, settings.plans) {
        (Some(Plans::Ask), _) => PlanMode::Ask,
        (Some(Plans::Auto), _) | (None, PlanMode::Auto) => PlanMode::Auto,
        (Some(Plans::Deny), _) | (None, PlanMode::Ask | PlanMode::Deny) => PlanMode::Deny,
    };
    settings.permissions.unattended |= settings.plans != PlanMode::Ask;
    settings
}

/// Signals that ask to end. From now on they no longer end the process by themselves.
fn interrupts() -> Result<BoxStream<'static, ()>, CliError> {
    let signals = Signals::listen()?;
    let next = |mut signals: Signals| async move {
        let notice = signals.next().await;
        Some((notice, signals))
    };
    let all = futures::stream::unfold(signals, next);
    Ok(all.filter_map(async |notice| matches!(notice, Notice::End(_) | Notice::HangUp).then_some(())).boxed())
}

/// Why the loop ends.
enum End {
    Finished {
        ok: bool,
    },
    TimedOut,
    Interrupted,
    /// The runtime is gone without a word.
    Lost,
}

/// Sends the goal to the lead and tells what happens until the team is finished, the time is over, or an interrupt comes
/// (a second one ends at once).
///
/// # Errors
/// When the goal is refused, or output cannot be written (the team is stopped then).
pub async fn headless(team: Arc<dyn Team>, order: Order, mut interrupts: BoxStream<'static, ()>, out: &mut Out) -> Result<Exit, CliError> {
    let mut events = team.subscribe();
    let mut teller = Teller::new(order.form);
    // What is known already is not the end of this run.
    while let Ok(record) = events.try_recv() {
        if !matches!(record.event, TeamEvent::Finished { .. }) {
            teller.tell(&record, out)?;
        }
    }
    let started = Instant::now();
    team.command(Party::Human, TeamCommand::Send { to: "lead".into(), content: order.goal }).await?;
    let deadline = order.timeout.map(|time| started + time);
    let end = match follow(&mut events, &mut teller, deadline, &mut interrupts, out).await {
        Ok(end) => end,
        Err(error) => {
            stop(&team, order.stop_time, &mut events, &mut interrupts, |_| ()).await;
            return Err(error);
        }
    };
    let exit = match end {
        End::Finished { ok: true } => Exit::Done,
        End::Finished { ok: false } => Exit::Failed,
        End::TimedOut => {
            teller.stop(&team, order.stop_time, &mut events, &mut interrupts, out).await?;
            teller.finish("timed out", out)?;
            Exit::TimedOut
        }
        End::Interrupted => {
            out.say("stopping the team; once more ends at once");
            teller.stop(&team, order.stop_time, &mut events, &mut interrupts, out).await?;
            teller.finish("interrupted", out)?;
            Exit::Interrupted
        }
        End::Lost => {
            teller.finish("the team's runtime ended unexpectedly; the log tells more", out)?;
            Exit::Failed
        }
    };
    teller.sum_up(out)?;
    Ok(exit)
}

async fn follow(
    events: &mut UnboundedReceiver<Arc<EventRecord>>,
    teller: &mut Teller,
    deadline: Option<Instant>,
    interrupts: &mut BoxStream<'static, ()>,
    out: &mut Out,
) -> Result<End, CliError> {
    let over = async {
        match deadline {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(over);
    loop {
        tokio::select! {
            biased;
            Some(()) = interrupts.next() => return Ok(End::Interrupted),
            () = &mut over => return Ok(End::TimedOut),
            record = events.recv() => {
                let Some(record) = record else { return Ok(End::Lost) };
                teller.tell(&record, out)?;
                if let TeamEvent::Finished { ok, .. } = record.event {
                    return Ok(End::Finished { ok });
                }
            }
        }
    }
}

/// Stops everybody now and waits until that is done, but not for ever. What happens until then is told.
async fn stop(
    team: &Arc<dyn Team>,
    patience: Duration,
    events: &mut UnboundedReceiver<Arc<EventRecord>>,
    interrupts: &mut BoxStream<'static, ()>,
    mut tell: impl FnMut(&EventRecord),
) {
    let stopped = async {
        if let Err(refusal) = team.command(Party::Human, TeamCommand::StopTeam { now: true }).await {
            tracing::warn!(%refusal, "the team could not be stopped");
            return;
        }
        while let Some(record) = events.recv().await {
            if matches!(record.event, TeamEvent::Finished { .. }) {
                return;
            }
            tell(&record);
        }
    };
    tokio::select! {
        () = stopped => {}
        () = tokio::time::sleep(patience) => {}
        Some(()) = interrupts.next() => {}
    }
}

/// Prints events.
struct Teller {
    form: Form,
    /// Lines printed. The team's own numbers would repeat: a screen's first facts all carry the same one.
    lines: u64,
    /// When this run began; what is older was printed by an earlier one.
    since: Option<Timestamp>,
    denied: Vec<String>,
    answer: Option<String>,
}

impl Teller {
    fn new(form: Form) -> Self {
        Self { form, lines: 0, since: None, denied: Vec::new(), answer: None }
    }

    async fn stop(
        &mut self,
        team: &Arc<dyn Team>,
        patience: Duration,
        events: &mut UnboundedReceiver<Arc<EventRecord>>,
        interrupts: &mut BoxStream<'static, ()>,
        out: &mut Out,
    ) -> Result<(), CliError> {
        let mut told = Ok(());
        stop(team, patience, events, interrupts, |record| {
            if told.is_ok() {
                told = self.tell(record, out);
            }
        })
        .await;
        told
    }

    fn tell(&mut self, record: &EventRecord, out: &mut Out) -> Result<(), CliError> {
        if matches!(record.event, TeamEvent::Opened { .. }) {
            self.since.get_or_insert(record.at);
        }
        if self.since.is_some_and(|since| record.at < since) {
            return Ok(());
        }
        self.lines += 1;
        if let TeamEvent::Denied { name, what } = &record.event {
            self.denied.push(format!("{name}: {what}"));
        } else if let TeamEvent::MessageSent { message } = &record.event
            && message.kind == MessageKind::Result
            && message.from.is_lead()
            && Party::read(&message.to) == Party::Human
        {
            // The answer of a protocol's run, whoever gave it.
            self.answer = Some(message.content.clone());
        } else if let TeamEvent::AnswerFinished { name, text, .. } = &record.event
            && name.is_lead()
            && !text.trim().is_empty()
        {
            self.answer = Some(text.clone());
        }
        match self.form {
            Form::Json => out.json(&EventRecord { seq: self.lines, ..record.clone() }),
            Form::Table => {
                sentence(&record.event).iter().for_each(|line| out.say(line));
                Ok(())
            }
        }
    }

    /// The last line of a run that was ended from outside.
    fn finish(&mut self, reason: &str, out: &mut Out) -> Result<(), CliError> {
        let event = TeamEvent::Finished { reason: reason.into(), ok: false };
        self.tell(&EventRecord { v: EVENT_VERSION, seq: 0, at: clock::now(), event }, out)
    }

    fn sum_up(&self, out: &mut Out) -> Result<(), CliError> {
        if !self.denied.is_empty() {
            out.say(&format!("{} refused, because nobody was there to decide:", self.denied.len()));
            self.denied.iter().for_each(|what| out.say(&format!("  {}", crate::domain::text::one_line(what, 200))));
            out.say("`--plans ask` waits for `signoff approve` instead; rules under [permissions] allow it from the start where the full sandbox works");
        }
        match (&self.answer, self.form) {
            (Some(answer), Form::Table) => out.line(answer),
            (Some(_) | None, Form::Json) | (None, Form::Table) => Ok(()),
        }
    }
}
