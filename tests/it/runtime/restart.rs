//! The app ends, comes back, and other processes write in between.

use crate::support::team::{TestTeam, scripted, settings, store_at};
use signoff::domain::*;
use std::time::Duration;

const WORKER: &str = r#"
format = 1
[[rule]]
on = "claimed"
[[rule.step]]
say = "I take it."
tool = "task_update"
args = { task_id = "{task_id}", status = "completed" }
[[rule.step]]
say = "Done."
[[rule]]
on = "prompt"
[[rule.step]]
say = "I wait."
"#;

async fn with_worker(dir: &std::path::Path) -> TestTeam {
    let mut team = TestTeam::open(dir, scripted(WORKER), settings());
    let order = SpawnOrder { name: "bob".into(), role: "worker".into(), prompt: Some("go".into()), ..SpawnOrder::default() };
    team.human(TeamCommand::Spawn(order)).await.unwrap();
    team.until("rest", |e| matches!(e, TeamEvent::TurnEnded { name, .. } if name.same("bob"))).await;
    team
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mail_written_right_after_the_spawn_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let words = "format = 1\n[[rule]]\non = \"mail\"\n[[rule.step]]\nsay = \"I read it\"\n";
    let mut team = TestTeam::open(dir.path(), scripted(words), settings());
    for at in 0..8 {
        let name = format!("m{at}");
        team.spawn(&name, "reader").await;
        team.human(TeamCommand::Send { to: name.clone(), content: "hello".into() }).await.unwrap();
        team.until("answer", |e| matches!(e, TeamEvent::AnswerFinished { name: who, .. } if who.same(&name))).await;
    }
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_file_written_by_an_editor_is_claimed_and_completed() {
    let dir = tempfile::tempdir().unwrap();
    let mut team = with_worker(dir.path()).await;
    std::fs::write(dir.path().join(".tasks/task_7.json"), br#"{"id":7,"subject":"from an editor","status":"pending","blockedBy":[]}"#)
        .unwrap();
    let done = team
        .until(
            "completion",
            |e| matches!(e, TeamEvent::TaskChanged { task, .. } if task.id == TaskId(7) && task.status == TaskStatus::Completed),
        )
        .await;
    assert!(matches!(&done.event, TeamEvent::TaskChanged { task, .. } if task.owner.as_ref().unwrap().same("bob")));
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_fields_of_a_task_survive_the_teams_writes() {
    let dir = tempfile::tempdir().unwrap();
    let mut team = with_worker(dir.path()).await;
    std::fs::write(dir.path().join(".tasks/task_1.json"), br#"{"id":1,"subject":"a","status":"pending","blockedBy":[],"priority":"high"}"#)
        .unwrap();
    team.until("completion", |e| matches!(e, TeamEvent::TaskChanged { task, .. } if task.status == TaskStatus::Completed)).await;
    let text = std::fs::read_to_string(dir.path().join(".tasks/task_1.json")).unwrap();
    assert!(text.contains("\"priority\"") && text.contains("high"), "{text}");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_requested_in_the_teams_file_starts() {
    let dir = tempfile::tempdir().unwrap();
    let mut team = with_worker(dir.path()).await;
    tokio::time::sleep(Duration::from_millis(0)).await;
    let (mut config, revision) = loop {
        let Some((config, revision)) = team.store.team().unwrap() else { continue };
        if config.members.iter().any(|m| m.name.same("bob")) {
            break (config, revision);
        }
    };
    config.members.push(Member { status: MemberStatus::Requested, ..Member::new(MemberName::parse("dave").unwrap(), "tester") });
    let _ = revision;
    let text = serde_json::to_vec_pretty(&config).unwrap();
    std::fs::write(dir.path().join("team/config.json"), text).unwrap();
    team.until("dave", |e| matches!(e, TeamEvent::MemberChanged { member, .. } if member.name.same("dave") && member.status.is_live()))
        .await;
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t25_a_second_process_does_not_run_the_team() {
    let dir = tempfile::tempdir().unwrap();
    let team = TestTeam::open(dir.path(), scripted("format = 1"), settings());
    assert!(store_at(&team.dir).lock_team().unwrap().is_none(), "the lock is taken");
    team.close().await;
    assert!(store_at(dir.path()).lock_team().unwrap().is_some(), "and free again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t19_a_corrupt_task_is_reported_and_left_and_the_rest_works() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join(".tasks")).unwrap();
    std::fs::write(dir.path().join(".tasks/task_1.json"), b"{\"id\":1,").unwrap();
    std::fs::write(dir.path().join(".tasks/task_2.json"), br#"{"id":2,"subject":"fine"}"#).unwrap();
    let mut team = TestTeam::open(dir.path(), scripted("format = 1"), settings());
    team.until("task 2", |e| matches!(e, TeamEvent::TaskChanged { task, .. } if task.id == TaskId(2))).await;
    assert_eq!(std::fs::read(dir.path().join(".tasks/task_1.json")).unwrap(), b"{\"id\":1,");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_said_before_the_screen_opened_is_told_to_it() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join(".tasks")).unwrap();
    std::fs::write(dir.path().join(".tasks/task_3.json"), b"{ this is no task").unwrap();
    let mut team = TestTeam::open(dir.path(), scripted(WORKER), settings());
    team.until("the lead", |e| matches!(e, TeamEvent::MemberChanged { member, .. } if member.status == MemberStatus::Idle)).await;
    let mut late = signoff::runtime::Team::subscribe(&team.handle);
    let told = tokio::time::timeout(crate::support::team::DEADLINE, async {
        while let Some(record) = late.recv().await {
            if matches!(&record.event, TeamEvent::Noticed { text, .. } if text.contains("task_3")) {
                return true;
            }
        }
        false
    });
    assert!(told.await.unwrap());
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lead_that_was_given_nothing_had_no_turn() {
    let dir = tempfile::tempdir().unwrap();
    let mut team = TestTeam::open(dir.path(), scripted(WORKER), settings());
    team.until("the lead", |e| matches!(e, TeamEvent::MemberChanged { member, .. } if member.status == MemberStatus::Idle)).await;
    assert!(!team.events.iter().any(|r| matches!(r.event, TeamEvent::TurnEnded { .. })), "{}", team.story());
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t5_mail_during_a_long_turn_is_read_at_the_next_step_and_not_at_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let text = "format = 1\n[[rule]]\nfor = \"bob\"\non = \"prompt\"\n[[rule.step]]\ntool = \"bash\"\nargs = { command = \"until test -e go; do sleep 0.02; done\" }\n\
        [[rule.step]]\ntool = \"bash\"\nargs = { command = \"until test -e on; do sleep 0.02; done\" }\n[[rule.step]]\nsay = \"built\"\n";
    let mut team = TestTeam::open(dir.path(), scripted(text), settings());
    let order = SpawnOrder { name: "bob".into(), role: "builder".into(), prompt: Some("build".into()), ..SpawnOrder::default() };
    team.human(TeamCommand::Spawn(order)).await.unwrap();
    let runs = |e: &TeamEvent| matches!(e, TeamEvent::ToolStarted { tool, .. } if tool == "bash");
    team.until("the build", runs).await;
    team.human(TeamCommand::Send { to: "bob".into(), content: "stop, wrong branch".into() }).await.unwrap();
    std::fs::write(dir.path().join("go"), "").unwrap();
    team.until("the next step", runs).await;
    let bob = MemberName::parse("bob").unwrap();
    let (entries, _) = team.store.transcript(&bob).unwrap();
    assert!(format!("{entries:?}").contains("stop, wrong branch"), "the turn still goes on: {entries:?}");
    assert!(!team.events.iter().any(|r| matches!(&r.event, TeamEvent::TurnEnded { name, .. } if *name == bob)));
    std::fs::write(dir.path().join("on"), "").unwrap();
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resumed_member_does_not_read_the_shutdown_that_was_answered_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut team = with_worker(dir.path()).await;
    team.until(
        "rest",
        |e| matches!(e, TeamEvent::MemberChanged { member, .. } if member.name.same("bob") && member.status == MemberStatus::Idle),
    )
    .await;
    team.human(TeamCommand::RequestShutdown { target: "bob".into(), reason: Some("that will do".into()) }).await.unwrap();
    let ended = |e: &TeamEvent| matches!(e, TeamEvent::MemberChanged { member, .. } if member.name.same("bob") && member.status == MemberStatus::Shutdown);
    team.until("the end", ended).await;
    team.human(TeamCommand::Resume { target: "bob".into() }).await.unwrap();
    team.human(TeamCommand::Send { to: "bob".into(), content: "one more thing".into() }).await.unwrap();
    let bob = MemberName::parse("bob").unwrap();
    let taken_in = |team: &TestTeam| format!("{:?}", team.store.transcript(&bob).unwrap().0);
    let reading = async {
        while !taken_in(&team).contains("one more thing") {
            tokio::task::yield_now().await;
        }
    };
    assert!(tokio::time::timeout(crate::support::team::DEADLINE, reading).await.is_ok(), "{}", team.story());
    assert!(!taken_in(&team).contains("that will do"), "{}", taken_in(&team));
    team.close().await;
}
