//! Tools that are commands to the team.

use super::fake::Room;
use serde_json::json;
use signoff::domain::request::{Answer, Request, RequestKind, RequestState, Verdict};
use signoff::domain::{
    Digest, Extra, Generation, MemberName, Party, Refusal, Reply, RequestId, SpawnOrder, Task, TaskId, TaskStatus, TeamCommand, Timestamp,
};
use signoff::tool::{Audience, Control};
use std::sync::Arc;

fn alice() -> MemberName {
    MemberName::parse("alice").unwrap()
}

fn id() -> RequestId {
    RequestId::parse("0a1b2c3d").unwrap()
}

fn request(kind: RequestKind, state: RequestState) -> Request {
    Request {
        id: id(),
        kind,
        asker: Party::lead(),
        target: alice(),
        generation: Generation::default(),
        title: "title".into(),
        body: "the body".into(),
        task: None,
        previous: None,
        rule: None,
        created: Timestamp(0),
        deadline: None,
        force: false,
        state,
        answer: None,
        ended: None,
        extra: Extra::new(),
    }
}

fn reply(request: Request) -> Result<Reply, Refusal> {
    Ok(Reply::Request(Arc::new(request)))
}

fn teammate() -> Room {
    Room::new(Audience::Teammate)
}

fn lead() -> Room {
    Room::new(Audience::Lead)
}

fn task(id: u64, status: TaskStatus, blocked_by: &[u64]) -> Arc<Task> {
    Arc::new(Task { status, blocked_by: blocked_by.iter().copied().map(TaskId).collect(), ..Task::new(TaskId(id), format!("Task {id}")) })
}

#[tokio::test]
async fn a_task_is_created_with_what_it_waits_for() {
    let room = teammate().answers([Ok(Reply::Task(task(3, TaskStatus::Pending, &[1, 2])))]);
    let outcome = room.call("task_create", json!({ "subject": "Write", "blockedBy": ["#1", 2] })).await;
    assert_eq!(outcome.content, "created #3 [pending] Task 3 (blocked by #1, #2)");
    let blocked_by = vec![TaskId(1), TaskId(2)];
    assert_eq!(room.commands(), [TeamCommand::CreateTask { subject: "Write".into(), description: String::new(), blocked_by }]);
}

#[tokio::test]
async fn the_board_is_listed_with_what_is_ready_and_what_waits() {
    let tasks = vec![task(10, TaskStatus::Pending, &[2, 9]), task(2, TaskStatus::Pending, &[1]), task(1, TaskStatus::Completed, &[])];
    let room = teammate().answers([Ok(Reply::Tasks(tasks)), Ok(Reply::Tasks(Vec::new()))]);
    let outcome = room.call("task_list", json!({})).await;
    assert_eq!(outcome.content, "#1 [completed] Task 1\n#2 [pending] Task 2 (ready)\n#10 [pending] Task 10 (waits for #2, missing #9)");
    assert_eq!(room.call("task_list", json!({})).await.content, "the board is empty");
}

#[tokio::test]
async fn each_status_is_its_command() {
    let cases = [
        ("completed", TeamCommand::CompleteTask { task: TaskId(1) }),
        ("in_progress", TeamCommand::ClaimTask { task: TaskId(1) }),
        ("pending", TeamCommand::ReleaseTask { task: TaskId(1), note: None }),
    ];
    for (status, command) in cases {
        let room = teammate();
        assert!(room.call("task_update", json!({ "task_id": 1, "status": status })).await.ok);
        assert_eq!(room.commands(), [command]);
    }
    let outcome = teammate().call("task_update", json!({ "task_id": 1 })).await;
    assert!(!outcome.ok && outcome.content.starts_with("nothing to change"));
}

#[tokio::test]
async fn an_update_that_is_half_done_tells_both_halves() {
    let room = teammate().answers([Ok(Reply::Done), Err(Refusal::Finished(TaskId(1)))]);
    let outcome = room.call("task_update", json!({ "task_id": 1, "addBlockedBy": [2], "status": "completed" })).await;
    assert!(!outcome.ok);
    assert_eq!(outcome.content, "dependencies changed: done\nthe status was not changed: task #1 is completed already");
}

#[tokio::test]
async fn a_refusal_is_told_as_it_is() {
    let room = teammate().answers([Err(Refusal::Owned { task: TaskId(4), owner: alice() })]);
    let outcome = room.call("claim_task", json!({ "task_id": 4 })).await;
    assert!(!outcome.ok);
    assert_eq!(outcome.content, "task #4 is owned by alice");
}

#[tokio::test]
async fn a_task_is_read_in_full_and_bounded() {
    let long = Task { description: "x".repeat(10_000), ..Task::new(TaskId(5), "Long") };
    let room = teammate().answers([Ok(Reply::Task(Arc::new(long)))]);
    let outcome = room.call("task_get", json!({ "task_id": 5 })).await;
    assert!(outcome.content.starts_with(r#"{"id":5,"subject":"Long""#) && outcome.content.chars().count() < 2_100);
}

#[tokio::test]
async fn mail_goes_out_and_comes_in() {
    let room = teammate().answers([Ok(Reply::Sent(vec![alice()]))]);
    assert_eq!(room.call("send_message", json!({ "to": "alice", "content": "hello" })).await.content, "sent to alice");
    assert_eq!(room.commands(), [TeamCommand::Send { to: "alice".into(), content: "hello".into() }]);
    *room.team.mail.lock().unwrap() = "from lead: \u{1b}]52;c;x\u{7}go".into();
    assert_eq!(room.call("read_inbox", json!({})).await.content, "from lead: go");
    assert_eq!(room.call("read_inbox", json!({})).await.content, "no new mail");
}

#[tokio::test]
async fn a_submitted_plan_ends_the_turn_until_the_verdict() {
    let room = teammate().answers([reply(request(RequestKind::Plan, RequestState::Pending)), Ok(Reply::PlanAlreadyApproved)]);
    let outcome = room.call("plan_approval", json!({ "plan": "1. do" })).await;
    assert_eq!((outcome.ok, &outcome.control), (true, &Control::AwaitVerdict));
    assert!(outcome.content.contains("submitted as request 0a1b2c3d"));
    let again = room.call("plan_approval", json!({ "plan": "1. do" })).await;
    assert_eq!((again.control, again.content.contains("approved already")), (Control::Continue, true));
}

#[tokio::test]
async fn a_plan_decided_at_once_needs_no_wait() {
    let answer = |verdict| Answer { by: Party::System, at: Timestamp(0), digest: Digest::of("the body"), verdict };
    let approved = Request { answer: Some(answer(Verdict::approve())), ..request(RequestKind::Plan, RequestState::Approved) };
    let verdict = Verdict::Reject { feedback: Some("nobody is there".into()) };
    let rejected = Request { answer: Some(answer(verdict)), ..request(RequestKind::Plan, RequestState::Rejected) };
    let room = teammate().answers([reply(approved), reply(rejected)]);
    let outcome = room.call("plan_approval", json!({ "plan": "1. do" })).await;
    assert_eq!((outcome.ok, outcome.control), (true, Control::Continue));
    let outcome = room.call("plan_approval", json!({ "plan": "1. do" })).await;
    assert!(!outcome.ok && outcome.control == Control::Continue && outcome.content.contains("nobody is there"));
}

#[tokio::test]
async fn the_lead_answers_the_plan_that_is_there() {
    let room = lead().answers([reply(request(RequestKind::Plan, RequestState::Pending)), Ok(Reply::Done)]);
    assert!(room.call("plan_review", json!({ "request_id": "0a1b2c3d", "approve": false, "feedback": "no tests" })).await.ok);
    let verdict = Verdict::Reject { feedback: Some("no tests".into()) };
    let answer = TeamCommand::Answer { id: id(), verdict, shown: Digest::of("the body") };
    assert_eq!(room.commands(), [TeamCommand::GetRequest { id: id() }, answer]);
}

#[tokio::test]
async fn an_answer_to_a_request_of_another_kind_is_refused() {
    let room = teammate().answers([reply(request(RequestKind::Permission, RequestState::Pending))]);
    let outcome = room.call("shutdown_response", json!({ "request_id": "0a1b2c3d", "approve": true })).await;
    assert!(!outcome.ok && outcome.control == Control::Continue);
    assert_eq!(room.commands().len(), 1);
    let outcome = room.call("shutdown_response", json!({ "request_id": "nonsense", "approve": true })).await;
    assert_eq!(outcome.content, "there is no request \"nonsense\"");
}

#[tokio::test]
async fn agreeing_to_a_shutdown_ends_the_work_and_refusing_does_not() {
    let pending = || reply(request(RequestKind::Shutdown, RequestState::Pending));
    let room = teammate().answers([pending(), Ok(Reply::Done), pending(), Ok(Reply::Done)]);
    let outcome = room.call("shutdown_response", json!({ "request_id": "0a1b2c3d", "approve": true, "reason": "all done" })).await;
    assert_eq!(outcome.control, Control::Shutdown { reason: "all done".into() });
    let outcome = room.call("shutdown_response", json!({ "request_id": "0a1b2c3d", "approve": false, "reason": "busy" })).await;
    assert_eq!((outcome.ok, outcome.control), (true, Control::Continue));
}

#[tokio::test]
async fn an_answer_that_came_too_late_does_not_end_the_work() {
    let late = Refusal::AlreadyDecided { id: id(), state: RequestState::Expired, by: None, at: None };
    let room = teammate().answers([reply(request(RequestKind::Shutdown, RequestState::Pending)), Err(late)]);
    let outcome = room.call("shutdown_response", json!({ "request_id": "0a1b2c3d", "approve": true })).await;
    assert_eq!((outcome.ok, outcome.control), (false, Control::Continue));
}

#[tokio::test]
async fn the_lead_spawns_asks_and_looks() {
    let room = lead();
    let order = SpawnOrder { name: "bob".into(), role: "coder".into(), prompt: Some("go".into()), require_plan: true, model: None };
    room.call("spawn_teammate", json!({ "name": "bob", "role": "coder", "prompt": "go", "require_plan": "true", "model": "" })).await;
    room.call("shutdown_request", json!({ "teammate": "bob" })).await;
    let ask = TeamCommand::RequestShutdown { target: "bob".into(), reason: None };
    assert_eq!(room.commands(), [TeamCommand::Spawn(order), ask]);
    let room = lead().answers([reply(request(RequestKind::Shutdown, RequestState::Expired))]);
    assert_eq!(
        room.call("shutdown_check", json!({ "request_id": "0a1b2c3d" })).await.content,
        "shutdown request 0a1b2c3d to alice: expired"
    );
}

#[tokio::test]
async fn idling_ends_the_turn() {
    assert_eq!(teammate().call("idle", json!({})).await.control, Control::Idle);
}

#[tokio::test]
async fn t30_what_a_spawn_cannot_do_is_refused_and_not_passed_over() {
    let room = lead();
    let order = json!({ "name": "bob", "role": "coder", "prompt": "go", "isolation": "worktree" });
    let outcome = room.call("spawn_teammate", order).await;
    assert!(!outcome.ok && outcome.content.contains("isolation"), "{}", outcome.content);
    assert!(room.commands().is_empty(), "nobody is spawned");
}
