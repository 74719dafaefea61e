//! The linear mode, without any terminal.

use futures::future::BoxFuture;
use signoff::domain::event::{EVENT_VERSION, TaskChange};
use signoff::domain::{
    Digest, EventRecord, Member, MemberName, Party, Refusal, Reply, Request, RequestId, RequestKind, RequestState, Task, TaskId,
    TeamCommand, TeamEvent, Timestamp, Verdict,
};
use signoff::runtime::{LiveBoard, Team};
use signoff::tui::plain::{PlainEnd, Stay, plain};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::mpsc;

#[derive(Default)]
struct FakeTeam {
    known: Vec<TeamEvent>,
    readers: Mutex<Vec<mpsc::UnboundedSender<Arc<EventRecord>>>>,
    commands: Mutex<Vec<TeamCommand>>,
}

impl FakeTeam {
    fn tell(&self, event: TeamEvent) {
        let record = Arc::new(EventRecord { v: EVENT_VERSION, seq: 0, at: Timestamp(0), event });
        self.readers.lock().unwrap().retain(|reader| reader.send(Arc::clone(&record)).is_ok());
    }
}

impl Team for FakeTeam {
    fn command(&self, by: Party, command: TeamCommand) -> BoxFuture<'_, Result<Reply, Refusal>> {
        assert_eq!(by, Party::Human);
        self.commands.lock().unwrap().push(command.clone());
        if matches!(command, TeamCommand::StopTeam { .. }) {
            self.tell(TeamEvent::Finished { reason: "stopped by the person".into(), ok: true });
        }
        let refused = matches!(&command, TeamCommand::ForceStop { target } if target == "nobody");
        Box::pin(async move { if refused { Err(Refusal::Invalid("there is no such member".into())) } else { Ok(Reply::Done) } })
    }

    fn subscribe(&self) -> mpsc::UnboundedReceiver<Arc<EventRecord>> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.readers.lock().unwrap().push(sender);
        self.known.iter().for_each(|event| self.tell(event.clone()));
        receiver
    }

    fn live(&self) -> Arc<LiveBoard> {
        Arc::default()
    }

    fn is_runner(&self) -> bool {
        true
    }
}

/// A person who reads lines and writes lines.
struct Person {
    team: Arc<FakeTeam>,
    input: Option<DuplexStream>,
    output: BufReader<DuplexStream>,
    session: tokio::task::JoinHandle<std::io::Result<PlainEnd>>,
}

impl Person {
    fn sits_down(known: Vec<TeamEvent>) -> Self {
        Self::stays(known, Stay::UntilFinished)
    }

    #[expect(clippy::disallowed_methods, reason = "the handle is the owner")]
    fn stays(known: Vec<TeamEvent>, stay: Stay) -> Self {
        let team = Arc::new(FakeTeam { known, ..FakeTeam::default() });
        let (input, their_input) = tokio::io::duplex(64 * 1024);
        let (output, their_output) = tokio::io::duplex(64 * 1024);
        let shared: Arc<dyn Team> = Arc::clone(&team) as _;
        let session = tokio::spawn(plain(shared, BufReader::new(their_input), their_output, stay));
        Self { team, input: Some(input), output: BufReader::new(output), session }
    }

    async fn types(&mut self, line: &str) {
        self.input.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Reads on until a line begins like this; that line.
    async fn hears(&mut self, beginning: &str) -> String {
        let mut heard = Vec::new();
        loop {
            let mut line = String::new();
            let read = tokio::time::timeout(Duration::from_secs(10), self.output.read_line(&mut line)).await;
            assert!(matches!(read, Ok(Ok(1..))), "waited in vain for {beginning:?}; heard {heard:#?}");
            let line = line.trim_end().to_owned();
            if line.starts_with(beginning) {
                return line;
            }
            heard.push(line);
        }
    }

    fn commands(&self) -> Vec<TeamCommand> {
        self.team.commands.lock().unwrap().clone()
    }
}

fn plan(body: &str) -> Request {
    let bob = MemberName::parse("bob").unwrap();
    Request {
        id: RequestId::parse("1a2b3c4d").unwrap(),
        kind: RequestKind::Plan,
        asker: Party::Member(bob.clone()),
        target: bob,
        generation: Default::default(),
        title: "Migrate the database".into(),
        body: body.into(),
        task: None,
        previous: None,
        rule: None,
        created: Timestamp(0),
        deadline: None,
        force: false,
        state: RequestState::Pending,
        answer: None,
        ended: None,
        extra: Default::default(),
    }
}

fn asked(request: &Request) -> TeamEvent {
    TeamEvent::RequestChanged { request: Arc::new(request.clone()) }
}

#[tokio::test]
async fn a_long_plan_is_approved_only_after_it_was_read_in_full() {
    let request = plan("1. stop the writers\n2. copy\x1b[2J\n3. switch");
    let mut person = Person::sits_down(vec![asked(&request)]);
    person.hears("Approval needed: plan of bob, request 1a2b3c4d: Migrate the database").await;
    person.types("approve 1a2b3c4d").await;
    person.hears("Error: request 1a2b3c4d was not read yet: type show 1a2b3c4d first").await;
    person.types("show 1a2b3c4d").await;
    let line = person.hears("  2. copy").await;
    assert!(!line.contains('\x1b'), "{line:?}");
    person.types("approve 1a2b3c4d looks good").await;
    person.hears("Done.").await;
    let verdict = Verdict::Approve { note: Some("looks good".into()), edited: None, always: false };
    assert_eq!(person.commands(), [TeamCommand::Answer { id: request.id.clone(), verdict, shown: request.digest() }]);
}

#[tokio::test]
async fn a_plan_that_changed_after_it_was_read_must_be_read_again() {
    let request = plan("line 1\nline 2");
    let mut person = Person::sits_down(vec![asked(&request)]);
    person.types("show 1a2b3c4d").await;
    person.hears("End of request 1a2b3c4d").await;
    person.team.tell(asked(&plan("line 1\nline 2\nrm -rf /")));
    person.hears("Approval needed").await;
    person.types("approve 1a2b3c4d").await;
    person.hears("Error: request 1a2b3c4d was not read yet").await;
    assert_eq!(person.commands(), []);
}

#[tokio::test]
async fn a_short_request_is_read_with_its_line_and_can_be_rejected_with_words() {
    let mut person = Person::sits_down(vec![asked(&plan("cargo publish"))]);
    person.hears("Request 1a2b3c4d: cargo publish").await;
    person.types("reject 1a2b3c4d not on a Friday").await;
    person.hears("Done.").await;
    let verdict = Verdict::Reject { feedback: Some("not on a Friday".into()) };
    let shown = Digest::of("cargo publish");
    assert_eq!(person.commands(), [TeamCommand::Answer { id: RequestId::parse("1a2b3c4d").unwrap(), verdict, shown }]);
}

#[tokio::test]
async fn u12_status_and_show_tell_in_words_and_nothing_steers_the_terminal() {
    let member = Arc::new(Member::new(MemberName::parse("alice").unwrap(), "coder\x1b[31m"));
    let mut task = Task::new(TaskId(3), "Refactor");
    task.description = "Move it.\x07".into();
    let known = vec![
        TeamEvent::MemberChanged { member, why: None },
        TeamEvent::TaskChanged { task: Arc::new(task), change: TaskChange::Loaded, by: Party::System },
    ];
    let mut person = Person::sits_down(known);
    person.hears("Member: alice (coder").await;
    person.types("status").await;
    person.hears("Board: 1 ready, 0 in progress, 0 blocked, 0 done.").await;
    person.hears("Nothing waits for you.").await;
    person.types("show 3").await;
    person.hears("Task #3: Refactor").await;
    person.hears("  Move it.").await;
    person.types("show 99").await;
    person.hears("Error: there is no pending request and no task 99.").await;
    drop(person.input.take());
    let mut rest = String::new();
    person.output.read_to_string(&mut rest).await.unwrap();
    assert!(!rest.contains(['\x1b', '\x07']));
}

#[tokio::test]
async fn commands_reach_the_team_and_refusals_are_told() {
    let mut person = Person::sits_down(Vec::new());
    person.types("say go on").await;
    person.hears("Done.").await;
    person.types("stop nobody").await;
    person.hears("Refused: there is no such member").await;
    person.types("aprove x").await;
    person.hears("Error: there is no command aprove; did you mean approve?").await;
    assert_eq!(person.commands()[0], TeamCommand::Send { to: "lead".into(), content: "go on".into() });
}

#[tokio::test]
async fn quit_stops_the_team_and_waits_for_its_end() {
    let mut person = Person::sits_down(Vec::new());
    person.types("quit").await;
    person.hears("Finished: stopped by the person").await;
    assert_eq!(person.session.await.unwrap().unwrap(), PlainEnd::Left);
    assert_eq!(person.team.commands.lock().unwrap().as_slice(), [TeamCommand::StopTeam { now: false }]);
}

#[tokio::test]
async fn the_end_of_the_input_stops_the_team_too() {
    let mut person = Person::sits_down(Vec::new());
    drop(person.input.take());
    assert_eq!(person.session.await.unwrap().unwrap(), PlainEnd::Left);
}

#[tokio::test]
async fn a_team_that_ends_by_itself_ends_the_session() {
    let mut person = Person::sits_down(Vec::new());
    person.hears("signoff, linear mode").await;
    person.team.tell(TeamEvent::Finished { reason: "the board is done".into(), ok: true });
    assert_eq!(person.session.await.unwrap().unwrap(), PlainEnd::Finished { ok: true });
}

#[tokio::test]
async fn a_person_may_have_more_to_say_when_the_work_has_ended() {
    let mut person = Person::stays(Vec::new(), Stay::UntilLeft);
    person.hears("signoff, linear mode").await;
    person.team.tell(TeamEvent::Finished { reason: "the lead is done".into(), ok: true });
    person.hears("The team is still here").await;
    person.types("say and now the other one").await;
    person.hears("Done").await;
    person.types("quit").await;
    assert_eq!(person.session.await.unwrap().unwrap(), PlainEnd::Left);
}
