//! `run` against a toy team.

use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use signoff::cli::out::{Form, Out};
use signoff::cli::run::{Order, STOP_TIME, headless};
use signoff::cli::{CliError, Exit};
use signoff::domain::{EventRecord, MemberName, Party, Refusal, Reply, TeamCommand, TeamEvent, Timestamp};
use signoff::runtime::{LiveBoard, Team};
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A place that is written to, and read by the test.
#[derive(Clone, Default)]
pub struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Answers the goal with these events, and a stop with the end.
struct Toy {
    past: Vec<TeamEvent>,
    answer: Vec<TeamEvent>,
    obeys_stop: bool,
    given: Mutex<Vec<TeamCommand>>,
    events: Mutex<Option<UnboundedSender<Arc<EventRecord>>>>,
    seq: Mutex<u64>,
}

impl Toy {
    fn new(answer: Vec<TeamEvent>) -> Arc<Self> {
        Self::with_past(Vec::new(), answer)
    }

    fn with_past(past: Vec<TeamEvent>, answer: Vec<TeamEvent>) -> Arc<Self> {
        let (given, events, seq) = (Mutex::default(), Mutex::default(), Mutex::default());
        Arc::new(Self { past, answer, obeys_stop: true, given, events, seq })
    }

    fn tell(&self, event: &TeamEvent) {
        let mut seq = self.seq.lock().unwrap();
        *seq += 1;
        let record = EventRecord { v: 1, seq: *seq, at: Timestamp(1), event: event.clone() };
        if let Some(events) = &*self.events.lock().unwrap() {
            let _ = events.send(Arc::new(record));
        }
    }

    fn given(&self) -> Vec<TeamCommand> {
        self.given.lock().unwrap().clone()
    }
}

impl Team for Toy {
    fn command(&self, by: Party, command: TeamCommand) -> BoxFuture<'_, Result<Reply, Refusal>> {
        assert_eq!(by, Party::Human);
        self.given.lock().unwrap().push(command.clone());
        match command {
            TeamCommand::Send { .. } => self.answer.iter().for_each(|event| self.tell(event)),
            TeamCommand::StopTeam { .. } if self.obeys_stop => self.tell(&finished("stopped", false)),
            _ => {}
        }
        Box::pin(async { Ok(Reply::Done) })
    }

    fn subscribe(&self) -> UnboundedReceiver<Arc<EventRecord>> {
        let (sender, receiver) = unbounded_channel();
        *self.events.lock().unwrap() = Some(sender);
        self.past.iter().for_each(|event| self.tell(event));
        receiver
    }

    fn live(&self) -> Arc<LiveBoard> {
        Arc::default()
    }

    fn is_runner(&self) -> bool {
        true
    }
}

fn finished(reason: &str, ok: bool) -> TeamEvent {
    TeamEvent::Finished { reason: reason.into(), ok }
}

fn said(text: &str) -> TeamEvent {
    TeamEvent::AnswerFinished { name: MemberName::lead(), text: text.into(), reasoning: None }
}

struct Ran {
    exit: Result<Exit, CliError>,
    data: String,
    people: String,
}

fn order(form: Form) -> Order {
    Order { goal: "make it so".into(), form, timeout: None, stop_time: STOP_TIME }
}

async fn run_with(team: Arc<Toy>, order: Order, interrupts: BoxStream<'static, ()>) -> Ran {
    let (data, people) = (Shared::default(), Shared::default());
    let mut out = Out::to(data.clone(), people.clone(), None);
    let ended = tokio::time::timeout(Duration::from_secs(20), headless(team, order, interrupts, &mut out)).await;
    Ran { exit: ended.expect("it ends"), data: data.text(), people: people.text() }
}

async fn run(team: Arc<Toy>, order: Order) -> Ran {
    run_with(team, order, futures::stream::pending().boxed()).await
}

fn last_line(text: &str) -> serde_json::Value {
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

#[tokio::test]
async fn each_event_is_a_json_line_and_the_last_one_is_the_end() {
    let team = Toy::new(vec![said("done"), finished("all tasks are done", true)]);
    let ran = run(team.clone(), order(Form::Json)).await;
    assert_eq!(ran.exit.unwrap(), Exit::Done);
    assert_eq!(team.given(), [TeamCommand::Send { to: "lead".into(), content: "make it so".into() }]);
    for line in ran.data.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("only JSON on standard output");
        assert!(line["v"] == 1 && line["seq"].is_u64() && line["kind"].is_string());
    }
    let last = last_line(&ran.data);
    assert_eq!((&last["kind"], &last["ok"]), (&"finished".into(), &true.into()));
}

#[tokio::test]
async fn a_failure_is_exit_code_one() {
    let ran = run(Toy::new(vec![finished("the model refused the key", false)]), order(Form::Json)).await;
    assert_eq!(ran.exit.unwrap(), Exit::Failed);
}

#[tokio::test]
async fn the_end_of_an_earlier_run_is_not_the_end_of_this_one() {
    let team = Toy::with_past(vec![finished("long ago", false)], vec![finished("now", true)]);
    let ran = run(team, order(Form::Json)).await;
    assert_eq!(ran.exit.unwrap(), Exit::Done);
    assert_eq!(last_line(&ran.data)["reason"], "now");
}

#[tokio::test]
async fn for_people_the_story_is_on_standard_error_and_the_answer_on_standard_output() {
    let ran = run(Toy::new(vec![said("first"), said("All eight tasks are done."), finished("done", true)]), order(Form::Table)).await;
    assert_eq!(ran.data, "All eight tasks are done.\n");
    assert!(ran.people.contains("Finished: done"), "{}", ran.people);
}

#[tokio::test]
async fn what_nobody_could_allow_is_listed_at_the_end() {
    let denied = TeamEvent::Denied { name: MemberName::parse("bob").unwrap(), what: "bash: rm -rf /".into() };
    let ran = run(Toy::new(vec![denied, finished("done", true)]), order(Form::Json)).await;
    assert!(ran.people.contains("bob: bash: rm -rf /"), "{}", ran.people);
    assert!(!ran.data.contains("nobody was there"), "words for people are not on standard output");
}

#[tokio::test]
async fn when_the_time_is_over_the_team_is_stopped_and_the_code_is_four() {
    let team = Toy::new(vec![said("working")]);
    let ran = run(team.clone(), Order { timeout: Some(Duration::from_millis(100)), ..order(Form::Json) }).await;
    assert_eq!(ran.exit.unwrap(), Exit::TimedOut);
    assert_eq!(team.given().last(), Some(&TeamCommand::StopTeam { now: true }));
    let last = last_line(&ran.data);
    assert_eq!((&last["reason"], &last["ok"]), (&"timed out".into(), &false.into()));
    assert_eq!(ran.data.matches("\"finished\"").count(), 1, "the end is told once");
}

#[tokio::test]
async fn a_team_that_does_not_stop_does_not_hold_the_program() {
    let toy = Toy { obeys_stop: false, ..Arc::into_inner(Toy::new(Vec::new())).unwrap() };
    let ran =
        run(Arc::new(toy), Order { timeout: Some(Duration::from_millis(50)), stop_time: Duration::from_millis(50), ..order(Form::Json) })
            .await;
    assert_eq!(ran.exit.unwrap(), Exit::TimedOut);
}

#[tokio::test]
async fn an_interrupt_stops_the_team_and_is_exit_code_130() {
    let team = Toy::new(Vec::new());
    let once = futures::stream::once(async {}).chain(futures::stream::pending()).boxed();
    let ran = run_with(team.clone(), order(Form::Json), once).await;
    assert_eq!(ran.exit.unwrap().code(), 130);
    assert_eq!(team.given().last(), Some(&TeamCommand::StopTeam { now: true }));
    assert_eq!(last_line(&ran.data)["reason"], "interrupted");
}
