//! A team through its files, over memory and over real files.

use signoff::domain::request::PlanReviewer;
use signoff::domain::{
    Digest, EventRecord, Generation, Member, MemberName, MemberStatus, Party, Refusal, Reply, Request, RequestId, RequestKind,
    RequestState, SpawnOrder, Task, TaskId, TaskStatus, TeamCommand, TeamConfig, TeamEvent, TeamSettings, Timestamp, Verdict,
};
use signoff::runtime::Team as _;
use signoff::runtime::remote::{RemoteTeam, Runner};
use signoff::store::{Durability, Expect, FileBackend, MemoryBackend, PutOf, TeamStore};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

fn memory() -> TeamStore {
    TeamStore::new(Arc::new(MemoryBackend::new()))
}

fn files(dir: &tempfile::TempDir) -> TeamStore {
    TeamStore::new(Arc::new(FileBackend::open(dir.path(), Durability::Buffered).unwrap()))
}

fn remote(store: &TeamStore) -> RemoteTeam {
    RemoteTeam::new(store.clone(), TeamSettings::default())
}

fn name(text: &str) -> MemberName {
    MemberName::parse(text).unwrap()
}

/// A lead and these members, as a process left them.
fn with_members(store: &TeamStore, members: &[(&str, MemberStatus)]) {
    let member = |(who, status): &(&str, MemberStatus)| Member { status: *status, ..Member::new(name(who), "coder") };
    let members: Vec<Member> = std::iter::once(&("lead", MemberStatus::Idle)).chain(members).map(member).collect();
    store.put_team(&TeamConfig { members, ..TeamConfig::default() }, Expect::Absent).unwrap();
}

async fn give(team: &RemoteTeam, command: TeamCommand) -> Result<Reply, Refusal> {
    team.command(Party::Human, command).await
}

async fn create(team: &RemoteTeam, subject: &str, blocked_by: Vec<TaskId>) -> Result<TaskId, Refusal> {
    let command = TeamCommand::CreateTask { subject: subject.into(), description: String::new(), blocked_by };
    match give(team, command).await? {
        Reply::Task(task) => Ok(task.id),
        other => panic!("{other:?}"),
    }
}

fn plan(id: &str) -> Request {
    Request {
        id: RequestId::parse(id).unwrap(),
        kind: RequestKind::Plan,
        asker: Party::Member(name("bob")),
        target: name("bob"),
        generation: Generation::default(),
        title: "Migrate the db".into(),
        body: "1. copy\n2. switch".into(),
        task: None,
        previous: None,
        rule: None,
        created: Timestamp(1),
        deadline: None,
        force: false,
        state: RequestState::Pending,
        answer: None,
        ended: None,
        extra: signoff::domain::Extra::new(),
    }
}

fn answer(request: &Request, verdict: Verdict) -> TeamCommand {
    TeamCommand::Answer { id: request.id.clone(), verdict, shown: request.digest() }
}

#[tokio::test]
async fn the_board_follows_the_same_rules_as_in_a_running_team() {
    let store = memory();
    let team = remote(&store);
    let first = create(&team, "first", vec![]).await.unwrap();
    let second = create(&team, "second", vec![first]).await.unwrap();
    assert!(matches!(create(&team, "  ", vec![]).await, Err(Refusal::Invalid(_))));
    assert_eq!(create(&team, "x", vec![TaskId(9)]).await, Err(Refusal::MissingBlocker { task: TaskId(3), missing: TaskId(9) }));
    assert!(matches!(give(&team, TeamCommand::CompleteTask { task: second }).await, Err(Refusal::Blocked { .. })));
    let cycle = TeamCommand::EditBlockers { task: first, add: vec![second], remove: vec![] };
    assert!(matches!(give(&team, cycle).await, Err(Refusal::Cycle(_))));
    give(&team, TeamCommand::CompleteTask { task: first }).await.unwrap();
    assert_eq!(give(&team, TeamCommand::CompleteTask { task: first }).await, Err(Refusal::Finished(first)));
    assert_eq!(give(&team, TeamCommand::CompleteTask { task: TaskId(77) }).await, Err(Refusal::UnknownTask(TaskId(77))));
    assert!(matches!(give(&team, TeamCommand::ReleaseTask { task: second, note: None }).await, Err(Refusal::Invalid(_))));
}

#[tokio::test]
async fn the_person_may_override_an_owner_and_the_task_says_so() {
    let store = memory();
    let owned = Task { status: TaskStatus::InProgress, owner: Some(name("alice")), ..Task::new(TaskId(1), "work") };
    store.put_task(&owned, Expect::Absent).unwrap();
    let reply = give(&remote(&store), TeamCommand::ReleaseTask { task: TaskId(1), note: Some("she left".into()) }).await.unwrap();
    let Reply::Task(task) = reply else { panic!() };
    assert_eq!((task.status, &task.owner), (TaskStatus::Pending, &None));
    let note = task.notes.last().unwrap();
    assert_eq!(note.by, Party::Human);
    assert!(note.text.contains("alice") && note.text.contains("she left"), "{}", note.text);
}

#[tokio::test]
async fn a_task_that_can_never_start_is_repaired() {
    let store = memory();
    let team = remote(&store);
    for (id, blockers) in [(1, vec![9]), (2, vec![3]), (3, vec![2])] {
        let blocked_by = blockers.into_iter().map(TaskId).collect();
        store.put_task(&Task { blocked_by, ..Task::new(TaskId(id), "odd") }, Expect::Absent).unwrap();
    }
    for id in [1, 2] {
        let Reply::Task(task) = give(&team, TeamCommand::RepairTask { task: TaskId(id) }).await.unwrap() else { panic!() };
        assert!(task.blocked_by.is_empty());
    }
    assert!(matches!(give(&team, TeamCommand::RepairTask { task: TaskId(3) }).await, Err(Refusal::Invalid(_))), "#3 waits for #2 now");
    let Reply::Said(words) = give(&team, TeamCommand::DeleteTask { task: TaskId(2) }).await.unwrap() else { panic!() };
    assert!(words.contains("#3"), "who waited for it is told: {words}");
}

#[tokio::test]
async fn mail_reaches_live_members_and_makes_no_inbox_for_strangers() {
    let dir = tempfile::tempdir().unwrap();
    let store = files(&dir);
    with_members(&store, &[("alice", MemberStatus::Interrupted), ("carol", MemberStatus::Shutdown)]);
    let team = remote(&store);
    let send = |to: &str| TeamCommand::Send { to: to.into(), content: "hello".into() };
    assert_eq!(give(&team, send("ALICE")).await, Ok(Reply::Sent(vec![name("alice")])));
    let refusal = give(&team, send("alise")).await.unwrap_err();
    assert!(matches!(&refusal, Refusal::UnknownMember { nearest: Some(near), .. } if near == "alice"), "{refusal}");
    assert!(matches!(give(&team, send("carol")).await, Err(Refusal::NotLive { .. })));
    assert!(!dir.path().join("team/inbox/alise.jsonl").exists());
    assert_eq!(give(&team, send("all")).await, Ok(Reply::Sent(vec![name("lead"), name("alice")])));
    let mail = store.mail_after(&name("alice"), 0, usize::MAX).unwrap().messages;
    assert_eq!((mail.len(), &mail[0].from), (2, &Party::Human));
}

#[tokio::test]
async fn the_lead_gets_mail_before_anybody_opened_the_workspace() {
    let store = memory();
    let sent = give(&remote(&store), TeamCommand::Send { to: "lead".into(), content: "start".into() }).await;
    assert_eq!(sent, Ok(Reply::Sent(vec![MemberName::lead()])));
}

#[tokio::test]
async fn a_request_gets_exactly_one_answer_however_many_answer_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let store = files(&dir);
    let request = plan("3f9a01bc");
    store.put_request(&request, Expect::Absent).unwrap();
    let verdicts = (0..8).map(|n| if n % 2 == 0 { Verdict::approve() } else { Verdict::reject() });
    let answers = verdicts.map(|verdict| {
        // Each with its own handles, as another process has them.
        let (team, command) = (remote(&files(&dir)), answer(&request, verdict));
        async move { give(&team, command).await }
    });
    let results = futures::future::join_all(answers).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for refusal in results.into_iter().filter_map(Result::err) {
        assert!(matches!(refusal, Refusal::AlreadyDecided { by: Some(Party::Human), at: Some(_), .. }), "{refusal}");
    }
}

#[tokio::test]
async fn an_answer_to_another_text_or_by_the_wrong_one_changes_nothing() {
    let store = memory();
    let request = plan("3f9a01bc");
    store.put_request(&request, Expect::Absent).unwrap();
    let team = remote(&store);
    let stale = TeamCommand::Answer { id: request.id.clone(), verdict: Verdict::approve(), shown: Digest::of("another plan") };
    assert_eq!(give(&team, stale).await, Err(Refusal::Changed { id: request.id.clone() }));
    let shutdown = Request { id: RequestId::parse("0000000a").unwrap(), kind: RequestKind::Shutdown, ..plan("0000000a") };
    store.put_request(&shutdown, Expect::Absent).unwrap();
    assert!(matches!(give(&team, answer(&shutdown, Verdict::approve())).await, Err(Refusal::NotYours { .. })));
    let by_member = team.command(Party::Member(name("bob")), answer(&request, Verdict::approve())).await;
    assert!(matches!(by_member, Err(Refusal::Invalid(_))), "members do not act through the files");
    let unknown = TeamCommand::GetRequest { id: RequestId::parse("ffffffff").unwrap() };
    assert!(matches!(give(&team, unknown).await, Err(Refusal::UnknownRequest(_))));
    assert!(store.request(&request.id).unwrap().unwrap().0.is_pending());
    let _ = PlanReviewer::Human;
}

#[tokio::test]
async fn a_shutdown_is_asked_for_once_and_forced_by_the_same_request() {
    let store = memory();
    with_members(&store, &[("bob", MemberStatus::Working)]);
    let team = remote(&store);
    let ask = TeamCommand::RequestShutdown { target: "bob".into(), reason: Some("enough".into()) };
    let Reply::Request(first) = give(&team, ask.clone()).await.unwrap() else { panic!() };
    assert_eq!((first.kind, first.force, first.deadline), (RequestKind::Shutdown, false, None), "nobody runs the team: no deadline runs");
    let Reply::Request(second) = give(&team, ask).await.unwrap() else { panic!() };
    assert_eq!(second.id, first.id);
    let Reply::Request(forced) = give(&team, TeamCommand::ForceStop { target: "bob".into() }).await.unwrap() else { panic!() };
    assert!(forced.id == first.id && forced.force);
    let mail = store.mail_after(&name("bob"), 0, usize::MAX).unwrap().messages;
    assert_eq!(mail.iter().filter(|message| message.request_id.as_ref() == Some(&first.id)).count(), 1);
    assert!(matches!(give(&team, TeamCommand::ForceStop { target: "lead".into() }).await, Err(Refusal::Invalid(_))));
}

#[tokio::test]
async fn a_spawned_member_is_only_asked_for_and_a_name_comes_back_as_a_new_generation() {
    let store = memory();
    with_members(&store, &[("bob", MemberStatus::Shutdown)]);
    let team = remote(&store);
    let order = |name: &str| TeamCommand::Spawn(SpawnOrder { name: name.into(), role: "coder".into(), ..SpawnOrder::default() });
    let Reply::Spawned(member) = give(&team, order("bob")).await.unwrap() else { panic!() };
    assert_eq!((member.status, member.generation), (MemberStatus::Requested, Generation(2)));
    assert!(matches!(give(&team, order("BOB")).await, Err(Refusal::NameTaken { .. })));
    for bad in ["lead", "human", "../x", ""] {
        assert!(matches!(give(&team, order(bad)).await, Err(Refusal::Name(_))), "{bad:?}");
    }
    let members = store.team().unwrap().unwrap().0.members;
    assert_eq!(members.iter().filter(|member| member.name.same("bob")).count(), 1);
}

#[tokio::test]
async fn a_full_team_takes_nobody() {
    let store = memory();
    with_members(&store, &[("a", MemberStatus::Working)]);
    let team = RemoteTeam::new(store, TeamSettings { max_members: 2, ..TeamSettings::default() });
    let order = SpawnOrder { name: "b".into(), role: "coder".into(), ..SpawnOrder::default() };
    assert_eq!(give(&team, TeamCommand::Spawn(order)).await, Err(Refusal::TeamFull { max: 2 }));
}

#[tokio::test]
async fn a_stopped_member_is_asked_to_go_on_with_its_generation() {
    let store = memory();
    with_members(&store, &[("bob", MemberStatus::Interrupted), ("eve", MemberStatus::Working)]);
    let team = remote(&store);
    let Reply::Spawned(member) = give(&team, TeamCommand::Resume { target: "bob".into() }).await.unwrap() else { panic!() };
    assert_eq!((member.status, member.generation), (MemberStatus::Requested, Generation(1)));
    assert!(matches!(give(&team, TeamCommand::Resume { target: "eve".into() }).await, Err(Refusal::Invalid(_))));
}

#[tokio::test]
async fn what_needs_the_running_process_is_refused_with_the_reason() {
    let team = remote(&memory());
    let commands = [
        TeamCommand::Interrupt { target: "bob".into() },
        TeamCommand::SetProtocol { name: "swarm".into() },
        TeamCommand::StopTeam { now: true },
    ];
    for command in commands {
        let refusal = give(&team, command).await.unwrap_err();
        assert!(matches!(&refusal, Refusal::Unavailable(words) if words.contains("does not run in this process")), "{refusal}");
    }
    assert!(!team.is_runner());
}

#[tokio::test]
async fn the_holder_of_the_lock_is_seen_and_looking_leaves_no_trace() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(remote(&files(&dir)).runner(), Ok(Runner::Nobody));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "an empty workspace stays empty");
    with_members(&files(&dir), &[]);
    let holder = files(&dir);
    let lock = holder.lock_team().unwrap();
    assert!(lock.is_some());
    assert_eq!(remote(&files(&dir)).runner(), Ok(Runner::Elsewhere));
    drop(lock);
    assert_eq!(remote(&files(&dir)).runner(), Ok(Runner::Nobody));
}

/// Takes events until one fits.
async fn until(events: &mut UnboundedReceiver<Arc<EventRecord>>, fits: impl Fn(&TeamEvent) -> bool) -> Vec<TeamEvent> {
    let mut seen = Vec::new();
    let all = async {
        while let Some(record) = events.recv().await {
            seen.push(record.event.clone());
            if fits(&record.event) {
                return;
            }
        }
        panic!("the events ended");
    };
    let found = tokio::time::timeout(Duration::from_secs(20), all).await;
    assert!(found.is_ok(), "no such event among {seen:#?}");
    seen
}

fn record(seq: u64, event: TeamEvent) -> EventRecord {
    EventRecord { v: 1, seq, at: Timestamp(seq.cast_signed()), event }
}

fn spent(input: u64) -> TeamEvent {
    let usage = signoff::domain::TokenUsage { input, ..Default::default() };
    TeamEvent::UsageAdded { name: name("lead"), model: "m".into(), usage, cost: Some(0.5), task: None, context: 1, window: 2 }
}

#[tokio::test]
async fn a_second_screen_first_learns_what_is_known() {
    let store = memory();
    with_members(&store, &[("bob", MemberStatus::Working)]);
    store.put_task(&Task::new(TaskId(1), "work"), Expect::Absent).unwrap();
    store.put_request(&plan("3f9a01bc"), Expect::Absent).unwrap();
    let turn = TeamEvent::TurnEnded { name: name("bob"), outcome: "idle".into() };
    let old = TeamEvent::Finished { reason: "long ago".into(), ok: true };
    store.append_events(&[record(1, spent(7)), record(2, old), record(3, turn.clone())]).unwrap();
    let team = remote(&store);
    give(&team, TeamCommand::Send { to: "bob".into(), content: "written while nobody looked".into() }).await.unwrap();
    let mut events = team.subscribe();
    let seen =
        until(&mut events, |event| matches!(event, TeamEvent::MessageSent { message } if message.content.contains("nobody looked"))).await;
    assert!(seen.contains(&spent(7)) && seen.contains(&turn));
    assert!(seen.iter().any(|event| matches!(event, TeamEvent::MemberChanged { member, .. } if member.name == name("bob"))));
    assert!(seen.iter().any(|event| matches!(event, TeamEvent::TaskChanged { task, .. } if task.id == TaskId(1))));
    assert!(seen.iter().any(|event| matches!(event, TeamEvent::RequestChanged { request } if request.is_pending())));
    assert!(!seen.iter().any(|event| matches!(event, TeamEvent::Finished { .. })), "an earlier end is not the end of this view");
}

#[tokio::test]
async fn spending_of_long_ago_is_summed_up_not_lost() {
    let store = memory();
    let many: Vec<EventRecord> = (1..=7_000).map(|seq| record(seq, spent(1))).collect();
    store.append_events(&many).unwrap();
    with_members(&store, &[]);
    let mut events = remote(&store).subscribe();
    let seen = until(&mut events, |event| matches!(event, TeamEvent::MemberChanged { .. })).await;
    let total = |event: &TeamEvent| if let TeamEvent::UsageAdded { usage, .. } = event { usage.input } else { 0 };
    assert_eq!(seen.iter().map(total).sum::<u64>(), 7_000);
    assert!(seen.len() < 6_000, "{}", seen.len());
}

#[tokio::test]
async fn a_second_screen_learns_what_happens_from_the_log_and_from_the_files() {
    let dir = tempfile::tempdir().unwrap();
    let store = files(&dir);
    with_members(&store, &[("bob", MemberStatus::Working)]);
    let team = remote(&store);
    let mut events = team.subscribe();
    until(&mut events, |event| matches!(event, TeamEvent::MemberChanged { member, .. } if member.name == name("bob"))).await;

    let other = files(&dir);
    let notice = TeamEvent::Noticed { level: signoff::domain::event::NoticeLevel::Info, text: "from the runner".into(), name: None };
    other.append_events(&[record(1, notice.clone())]).unwrap();
    until(&mut events, |event| *event == notice).await;

    create(&remote(&other), "added from a shell", vec![]).await.unwrap();
    until(
        &mut events,
        |event| matches!(event, TeamEvent::TaskChanged { task, by: Party::Human, .. } if task.subject == "added from a shell"),
    )
    .await;
    give(&remote(&other), TeamCommand::DeleteTask { task: TaskId(1) }).await.unwrap();
    until(&mut events, |event| matches!(event, TeamEvent::TaskRemoved { id: TaskId(1), .. })).await;
    other.put_request(&plan("3f9a01bc"), Expect::Absent).unwrap();
    until(&mut events, |event| matches!(event, TeamEvent::RequestChanged { .. })).await;
    give(&remote(&other), TeamCommand::Send { to: "bob".into(), content: "hello".into() }).await.unwrap();
    until(&mut events, |event| matches!(event, TeamEvent::MessageSent { message } if message.content == "hello")).await;
}

#[tokio::test]
async fn what_the_runner_tells_is_not_told_again_from_the_file() {
    let store = memory();
    with_members(&store, &[]);
    let mut events = remote(&store).subscribe();
    until(&mut events, |event| matches!(event, TeamEvent::MemberChanged { .. })).await;
    let task = Task::new(TaskId(1), "by the runner");
    let change = signoff::domain::event::TaskChange::Claimed;
    let told = TeamEvent::TaskChanged { task: Arc::new(task.clone()), change, by: Party::System };
    assert!(matches!(store.put_task(&task, Expect::Absent).unwrap(), PutOf::Applied(_)));
    store.append_events(&[record(1, told)]).unwrap();
    // A later file change marks the end of what is to be looked at.
    store.put_task(&Task::new(TaskId(2), "marker"), Expect::Absent).unwrap();
    let seen = until(&mut events, |event| matches!(event, TeamEvent::TaskChanged { task, .. } if task.id == TaskId(2))).await;
    let first = |event: &&TeamEvent| matches!(event, TeamEvent::TaskChanged { task, .. } if task.id == TaskId(1));
    assert_eq!(seen.iter().filter(first).count(), 1, "{seen:#?}");
}
