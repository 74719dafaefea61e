//! The demonstration as it ships, without its pauses.

use crate::support::team::{TestTeam, settings};
use signoff::domain::*;
use signoff::llm::scripted::{ScriptedModel, demo};
use std::collections::BTreeMap;
use std::sync::Arc;

fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in demo::PROJECT {
        let path = dir.path().join(file.path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, file.text).unwrap();
    }
    dir
}

fn check_passes(dir: &std::path::Path) -> bool {
    std::process::Command::new("sh").arg("check.sh").current_dir(dir).output().unwrap().status.success()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_demo_plays_to_its_end_and_its_check_really_passes() {
    let dir = project();
    assert!(!check_passes(dir.path()), "it fails at first");
    let mut team = TestTeam::open(dir.path(), Arc::new(ScriptedModel::demo().with_speed(0.0)), settings());
    team.goal(demo::GOAL).await;
    let plan = team.until_request(RequestKind::Plan).await;
    assert!(!check_passes(dir.path()));
    team.decide(&plan, Verdict::Reject { feedback: Some("keep the old file until the new one is checked".into()) }).await.unwrap();
    let revised = team.until_request(RequestKind::Plan).await;
    assert_eq!(revised.previous, Some(plan.id.clone()));
    team.decide(&revised, Verdict::approve()).await.unwrap();
    let (reason, ok) = team.until_finished().await;
    assert!(ok, "{reason}\n{}", team.story());
    assert!(check_passes(dir.path()), "{}", team.story());
    let tasks = team.store.tasks().unwrap();
    assert!(tasks.items.len() >= 6 && tasks.items.iter().all(|(t, _)| t.status == TaskStatus::Completed));
    assert!(tasks.items.iter().any(|(t, _)| !t.blocked_by.is_empty()));
    let mut claims: BTreeMap<TaskId, usize> = BTreeMap::new();
    for record in &team.events {
        if let TeamEvent::TaskChanged { task, change: event::TaskChange::Claimed, .. } = &record.event {
            *claims.entry(task.id).or_default() += 1;
        }
    }
    assert!(claims.len() >= 6 && claims.values().all(|n| *n == 1), "claimed live, once each: {claims:?}");
    assert!(team.events.iter().any(|r| matches!(&r.event, TeamEvent::RequestChanged { request } if request.kind == RequestKind::Shutdown && request.state == RequestState::Approved)));
    let mail = |from: &str, to: &str| {
        team.events
            .iter()
            .any(|r| matches!(&r.event, TeamEvent::MessageSent { message } if message.from.as_str() == from && message.to == to))
    };
    assert!(["alice", "bob", "carol"].iter().any(|n| mail(n, "lead")), "messages to the lead");
    assert!(["alice", "bob", "carol"].iter().any(|n| mail("lead", n)), "and from it");
    team.close().await;
}
