//! The exercises of the lessons this design comes from.

use crate::support::team::{TestTeam, scripted, settings};
use signoff::domain::*;

fn exercise(text: &str) -> (tempfile::TempDir, TestTeam) {
    let dir = tempfile::tempdir().unwrap();
    let team = TestTeam::open(dir.path(), scripted(text), settings());
    (dir, team)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alice_is_spawned_asked_to_shut_down_and_listed_as_shut_down() {
    let (_dir, mut team) = exercise(include_str!("../../../assets/demo/exercises/1-shutdown.toml"));
    team.goal("go").await;
    team.until_status("alice", MemberStatus::Shutdown).await;
    let shows = |output: &str| output.lines().any(|line| line.starts_with("alice") && line.contains("shutdown"));
    let listed = |e: &TeamEvent| matches!(e, TeamEvent::ToolFinished { tool, output, .. } if tool == "list_teammates" && shows(output));
    if !team.events.iter().any(|r| listed(&r.event)) {
        team.until("the list that shows her as shut down", listed).await;
    }
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bobs_plan_is_rejected_and_charlies_is_approved() {
    let (_dir, mut team) = exercise(include_str!("../../../assets/demo/exercises/2-plans.toml"));
    team.goal("go").await;
    let bobs = team.until_request(RequestKind::Plan).await;
    assert_eq!(bobs.target.as_str(), "bob");
    team.decide(&bobs, Verdict::Reject { feedback: Some("too risky".into()) }).await.unwrap();
    let charlies = loop {
        let plan = team.until_request(RequestKind::Plan).await;
        if plan.target.as_str() == "charlie" {
            break plan;
        }
    };
    team.decide(&charlies, Verdict::approve()).await.unwrap();
    team.until(
        "charlie at work",
        |e| matches!(e, TeamEvent::TurnStarted { name, cause, .. } if name.same("charlie") && cause.contains("approved")),
    )
    .await;
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_with_a_task_is_asked_to_shut_down_gracefully() {
    let (_dir, mut team) = exercise(include_str!("../../../assets/demo/exercises/3-graceful.toml"));
    team.goal("go").await;
    // How far it had come when it was asked is up to the scheduler; it leaves in order all the same.
    team.until(
        "an ended worker",
        |e| matches!(e, TeamEvent::MemberChanged { member, .. } if !member.name.is_lead() && member.status == MemberStatus::Shutdown),
    )
    .await;
    let asked = team.store.requests().unwrap();
    let (request, _) = asked.items.first().expect("the request is on disk");
    assert_eq!((request.kind, request.state), (RequestKind::Shutdown, RequestState::Approved));
    let given_up = |e: &TeamEvent| matches!(e, TeamEvent::TaskChanged { task, .. } if task.status != TaskStatus::InProgress);
    let last = team.events.iter().rev().find(|r| matches!(r.event, TeamEvent::TaskChanged { .. })).map(|r| r.event.clone());
    if !last.is_some_and(|event| given_up(&event)) {
        team.until("the task given back", given_up).await;
    }
    let (task, _) = team.store.task(TaskId(1)).unwrap().expect("the task is still there");
    assert_ne!(task.status, TaskStatus::InProgress, "done or given back, but not held by somebody who left");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_autonomous_worker_claims_and_completes_three_tasks_by_itself() {
    let (_dir, mut team) = exercise(include_str!("../../../assets/demo/exercises/4-autonomous.toml"));
    team.goal("go").await;
    let (reason, ok) = team.until_finished().await;
    assert!(ok, "{reason}");
    let tasks = team.store.tasks().unwrap();
    assert_eq!(tasks.items.len(), 3);
    assert!(tasks.items.iter().all(|(t, _)| t.status == TaskStatus::Completed && t.owner.as_ref().unwrap().same("worker")));
    team.close().await;
}
