//! Moments at which two things happen at once: what is under way is neither lost nor doubled nor hidden.

use crate::support::team::{TestTeam, scripted, settings};
use futures::StreamExt as _;
use futures::stream;
use signoff::domain::conversation::{AssistantAnswer, FinishReason};
use signoff::domain::settings::{Access, Permissions, TeamSettings};
use signoff::domain::*;
use signoff::llm::{ChatModel, ChatRequest, ModelError, ModelEvent, ModelStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// A model that is a function of the request and of how many there were before.
struct Played<F>(F, AtomicUsize);

impl<F: Fn(&ChatRequest, usize) -> ModelStream + Send + Sync> ChatModel for Played<F> {
    fn stream(&self, request: ChatRequest) -> ModelStream {
        (self.0)(&request, self.1.fetch_add(1, Ordering::SeqCst))
    }
    fn context_window(&self, _: &str) -> Option<u64> {
        None
    }
    fn name(&self) -> &str {
        "played"
    }
}

fn played(play: impl Fn(&ChatRequest, usize) -> ModelStream + Send + Sync + 'static) -> Arc<dyn ChatModel> {
    Arc::new(Played(play, AtomicUsize::new(0)))
}

fn text(words: &str) -> ModelStream {
    answer(AssistantAnswer { text: words.into(), ..AssistantAnswer::default() })
}

fn call(name: &str, arguments: &str) -> ModelStream {
    let call = ToolCall { id: CallId::new(format!("{name}1")), name: name.into(), arguments: arguments.into() };
    answer(AssistantAnswer { calls: vec![call], finish: FinishReason::ToolCalls, ..AssistantAnswer::default() })
}

fn answer(answer: AssistantAnswer) -> ModelStream {
    stream::iter([Ok(ModelEvent::Finished(answer))]).boxed()
}

fn name(text: &str) -> MemberName {
    MemberName::parse(text).unwrap()
}

async fn open(model: Arc<dyn ChatModel>, settings: TeamSettings) -> (tempfile::TempDir, TestTeam) {
    let dir = tempfile::tempdir().unwrap();
    let team = TestTeam::open(dir.path(), model, settings);
    (dir, team)
}

fn is_whole(team: &TestTeam, who: &str) {
    let (entries, _) = team.store.transcript(&name(who)).unwrap();
    let replayed = signoff::protocol::replay::replay(&entries);
    assert!(replayed.repairs.is_empty(), "every call has its result: {:?}", replayed.repairs);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inputs_keep_their_order_however_many_wait() {
    let (_dir, team) = open(scripted("format = 1"), settings()).await;
    let create = |n: usize| TeamCommand::CreateTask { subject: n.to_string(), description: String::new(), blocked_by: Vec::new() };
    let waiting: Vec<_> = (1..=700).map(|n| team.human(create(n))).map(futures::FutureExt::boxed).collect();
    let replies = futures::future::join_all(waiting).await;
    for reply in replies {
        let Ok(Reply::Task(task)) = reply else { panic!("{reply:?}") };
        assert_eq!(task.id.0.to_string(), task.subject);
    }
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t13_quitting_twice_is_not_hidden_by_the_first_time() {
    let (_dir, mut team) = open(played(|_, _| call("bash", r#"{"command":"sleep 600"}"#)), settings()).await;
    team.goal("go").await;
    team.until("the command", |e| matches!(e, TeamEvent::ActivityChanged { activity: Activity::Tool { .. }, .. })).await;
    team.human(TeamCommand::StopTeam { now: false }).await.unwrap();
    team.human(TeamCommand::StopTeam { now: true }).await.unwrap();
    team.until_finished().await;
    is_whole(&team, "lead");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn force_ends_a_member_that_waits_for_permission_at_once() {
    let asks = TeamSettings { permissions: Permissions { commands: Access::Ask, ..Permissions::default() }, ..settings() };
    let model = played(|request, _| if request.member.is_lead() { text("ok") } else { call("bash", r#"{"command":"make"}"#) });
    let (_dir, mut team) = open(model, asks).await;
    let order = SpawnOrder { name: "bob".into(), role: "r".into(), prompt: Some("go".into()), ..SpawnOrder::default() };
    team.human(TeamCommand::Spawn(order)).await.unwrap();
    team.until_request(RequestKind::Permission).await;
    let began = Instant::now();
    team.human(TeamCommand::ForceStop { target: "bob".into() }).await.unwrap();
    team.until_status("bob", MemberStatus::Shutdown).await;
    assert!(began.elapsed() < Duration::from_millis(1_500), "{:?}", began.elapsed());
    team.until("the end of its question", |e| matches!(e, TeamEvent::RequestChanged { request } if !request.is_pending())).await;
    let open = team.store.requests().unwrap().items.into_iter().filter(|(r, _)| r.is_pending()).count();
    assert_eq!(open, 0, "its question goes with it");
    is_whole(&team, "bob");
    team.close().await;
}

/// A conversation that is too long, and a summary that never comes.
fn too_long(calls: Arc<AtomicUsize>) -> Arc<dyn ChatModel> {
    played(move |request, _| {
        let summary = request.tools.is_empty();
        calls.fetch_add(usize::from(!summary), Ordering::SeqCst);
        match summary {
            true => stream::pending().boxed(),
            false => stream::iter([Err(ModelError::ContextOverflow { message: "too long".into() })]).boxed(),
        }
    })
}

/// One message alone is kept word for word: there has to be something to summarise.
async fn compacting(team: &mut TestTeam) {
    team.goal(&"words ".repeat(30_000)).await;
    team.until("the compaction", |e| matches!(e, TeamEvent::ActivityChanged { activity: Activity::Compacting { .. }, .. })).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupt_during_a_compaction_ends_the_turn_without_another_call() {
    let calls = Arc::new(AtomicUsize::new(0));
    let (_dir, mut team) = open(too_long(calls.clone()), settings()).await;
    compacting(&mut team).await;
    team.human(TeamCommand::Interrupt { target: "lead".into() }).await.unwrap();
    team.until("rest", |e| matches!(e, TeamEvent::TurnEnded { outcome, .. } if outcome == "interrupted")).await;
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_during_a_compaction_ends_the_member_without_another_call() {
    let calls = Arc::new(AtomicUsize::new(0));
    let (_dir, mut team) = open(too_long(calls.clone()), settings()).await;
    compacting(&mut team).await;
    let began = Instant::now();
    team.human(TeamCommand::StopTeam { now: true }).await.unwrap();
    team.until_finished().await;
    assert!(began.elapsed() < Duration::from_millis(1_500), "{:?}", began.elapsed());
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_an_answer_does_not_stay_on_the_screen_after_an_interrupt() {
    let model = played(|_, _| stream::iter([Ok(ModelEvent::Text("half an ans".into()))]).chain(stream::pending()).boxed());
    let (_dir, mut team) = open(model, settings()).await;
    team.goal("go").await;
    let live = signoff::runtime::Team::live(&team.handle);
    let mut changes = live.changes();
    while live.read(&name("lead"), u64::MAX, 0).text.is_empty() {
        tokio::time::timeout(Duration::from_secs(30), changes.changed()).await.expect("text streams").unwrap();
    }
    team.human(TeamCommand::Interrupt { target: "lead".into() }).await.unwrap();
    team.until("rest", |e| matches!(e, TeamEvent::TurnEnded { .. })).await;
    assert_eq!(live.read(&name("lead"), u64::MAX, 0).text, "");
    team.close().await;
}

#[test]
fn t14_text_of_a_name_that_comes_back_is_read_from_its_beginning() {
    use signoff::runtime::live::{LiveBoard, LiveKind};
    let live = LiveBoard::default();
    live.push(&name("bob"), LiveKind::Text, "a long text of the first one");
    let old = live.read(&name("bob"), u64::MAX, 0);
    live.remove(&name("bob"));
    live.push(&name("bob"), LiveKind::Text, "new");
    let now = live.read(&name("bob"), old.epoch, old.next);
    assert_eq!(now.text, "new");
    assert_ne!(now.epoch, old.epoch);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t32_a_result_reaches_the_lead_even_when_mail_came_in_the_last_moment() {
    let gate = Arc::new(Notify::new());
    let opened = gate.clone();
    let model = played(move |request, _| {
        let told = |words: &str| request.messages.iter().any(|m| matches!(m, ChatMessage::User { text } if text.contains(words)));
        let answered = request.messages.iter().any(|m| matches!(m, ChatMessage::Assistant { .. }));
        match (request.member.is_lead(), answered) {
            (true, false) => call("spawn_teammate", r#"{"name":"bob","role":"counter","prompt":"Count."}"#),
            (true, true) => text("I wait."),
            (false, false) => {
                let gate = gate.clone();
                let late = async move {
                    gate.notified().await;
                    text("There are 7.")
                };
                futures::FutureExt::into_stream(late).flatten().boxed()
            }
            (false, true) => text(if told("hurry") { "I am done." } else { "?" }),
        }
    });
    let (_dir, mut team) = open(model, settings()).await;
    team.goal("go").await;
    team.until("bob's call", |e| matches!(e, TeamEvent::ActivityChanged { name, activity: Activity::Model { .. } } if name.same("bob")))
        .await;
    team.human(TeamCommand::Send { to: "bob".into(), content: "hurry".into() }).await.unwrap();
    opened.notify_one();
    let sent = team
        .until(
            "the result",
            |e| matches!(e, TeamEvent::MessageSent { message } if message.kind == MessageKind::Result && message.to == "lead"),
        )
        .await;
    let TeamEvent::MessageSent { message } = &sent.event else { unreachable!() };
    assert!(message.content.contains("There are 7."), "{}", message.content);
    team.close().await;
}
