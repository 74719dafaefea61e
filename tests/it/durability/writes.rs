//! A scripted run in which each write fails in turn, with each error and in each way: no panic, nothing told as done that
//! is not on the disk, the person is told, and the team goes on when the disk works again.

use super::faulty::{ERRORS, Faulty, WAYS, Way};
use super::{is_full, of};
use crate::support::team::{TestTeam, scripted, settings};
use rustix::io::Errno;
use signoff::domain::*;
use signoff::protocol::replay;
use signoff::store::{Durability, FileBackend, TeamStore};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

const SCRIPT: &str = r#"format = 1
[[rule]]
for = "lead"
on = "goal"
[[rule.step]]
say = "the board first"
calls = [{ tool = "task_create", args = { subject = "first" } }, { tool = "task_create", args = { subject = "second" } }]
[[rule.step]]
calls = [{ tool = "spawn_teammate", args = { name = "bob", role = "coder", prompt = "work" } }, { tool = "send_message", args = { to = "human", content = "begun" } }]
[[rule.step]]
say = "they work"
[[rule]]
for = "bob"
on = "prompt"
[[rule.step]]
say = "ready"
[[rule]]
on = "claimed"
[[rule.step]]
tool = "write_file"
args = { path = "out-{task_id}.txt", content = "done" }
[[rule.step]]
tool = "task_update"
args = { task_id = "{task_id}", status = "completed" }
[[rule.step]]
tool = "send_message"
args = { to = "lead", content = "finished {task_id}" }
[[rule.step]]
say = "that was {task_id}"
[[rule]]
on = "mail"
[[rule.step]]
say = "noted"
"#;

struct Case {
    from: u64,
    many: u64,
    way: Way,
    error: Errno,
}

fn backend(dir: &Path, case: &Case) -> Arc<Faulty> {
    let files = FileBackend::open(dir, Durability::Buffered).unwrap();
    Arc::new(Faulty::new(files, case.from, case.from.saturating_add(case.many), case.way, case.error))
}

/// What the person does: gives the goal, again if it was refused, resumes who failed, and waits until nothing is open.
async fn steer(team: &mut TestTeam, faulty: &Faulty) -> bool {
    let mut refused = false;
    let deadline = Instant::now() + crate::support::team::DEADLINE;
    let goal = TeamCommand::Send { to: "lead".into(), content: "go".into() };
    while team.human(goal.clone()).await.is_err() {
        refused = true;
        faulty.mend();
        assert!(Instant::now() < deadline, "the goal is never taken: {}", team.story());
    }
    let failed_for_long = Instant::now() + Duration::from_millis(700);
    loop {
        team.drain();
        if faulty.has_failed() && Instant::now() > failed_for_long {
            faulty.mend();
        }
        let ended = team.events.iter().any(|r| matches!(r.event, TeamEvent::Finished { .. }));
        if ended {
            return refused;
        }
        assert!(Instant::now() < deadline, "it does not come to an end: {}", team.story());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn noticed(team: &TestTeam, refused: bool) -> bool {
    let words = ["No space left", "Input/output error", "Too many open files"];
    let says = |text: &str| words.iter().any(|word| text.contains(word));
    refused
        || team.events.iter().any(|record| match &record.event {
            TeamEvent::Noticed { text, .. } | TeamEvent::ToolFinished { output: text, .. } => says(text),
            _ => false,
        })
}

/// The state that was told is the state on the disk.
async fn assert_true(team: &TestTeam, what: &str) {
    let Ok(Reply::Tasks(told)) = team.human(TeamCommand::ListTasks).await else { panic!("{what}: the team does not answer") };
    let there: BTreeMap<TaskId, Task> = team.store.tasks().unwrap().items.into_iter().map(|(task, _)| (task.id, task)).collect();
    for task in &told {
        assert_eq!(there.get(&task.id), Some(&**task), "{what}: a task as it is told");
    }
    for record in &team.events {
        match &record.event {
            TeamEvent::TaskChanged { task, .. } if task.status == TaskStatus::Completed => {
                assert_eq!(there.get(&task.id).map(|t| t.status), Some(TaskStatus::Completed), "{what}: done and on the disk");
            }
            TeamEvent::MessageSent { message } => {
                let mail = match Party::read(&message.to) {
                    Party::Member(name) => team.store.mail_after(&name, 0, usize::MAX),
                    _ => team.store.human_mail_after(0, usize::MAX),
                };
                assert!(mail.unwrap().messages.iter().any(|m| m.id == message.id), "{what}: a letter that was told is in its inbox");
            }
            TeamEvent::MemberChanged { member, .. } => {
                let reason = member.reason.as_deref().unwrap_or_default();
                assert!(!reason.contains("panic"), "{what}: {reason}");
            }
            _ => {}
        }
    }
}

async fn play(case: Case) -> u64 {
    let what = format!("{:?} {:?} at write {} for {}", case.error, case.way, case.from, case.many);
    let dir = tempfile::tempdir().unwrap();
    let faulty = backend(dir.path(), &case);
    let mut team = TestTeam::open_over(dir.path(), scripted(SCRIPT), settings(), TeamStore::new(faulty.clone()));
    let refused = steer(&mut team, &faulty).await;
    let writes = faulty.writes();
    faulty.mend();
    let told = !faulty.has_failed() || noticed(&team, refused);
    assert!(told, "{what}: the person is told\n{}", team.story());
    // A scripted member does not try again what was refused: the person finishes what it holds.
    let Ok(Reply::Tasks(open)) = team.human(TeamCommand::ListTasks).await else { panic!("{what}: the team does not answer") };
    for task in open.iter().filter(|task| task.status == TaskStatus::InProgress) {
        // Refused where the write that "failed" was done after all, and is noticed just now.
        let _ = team.human(TeamCommand::CompleteTask { task: task.id }).await;
    }
    // The app goes on: a new task is made, and what is told of it is on the disk.
    let made = TeamCommand::CreateTask { subject: "afterwards".into(), description: String::new(), blocked_by: vec![] };
    let Ok(Reply::Task(made)) = team.human(made).await else { panic!("{what}: it does not go on") };
    let live = |team: &TestTeam| {
        let last = team.events.iter().rev().find_map(|r| match &r.event {
            TeamEvent::MemberChanged { member, .. } if member.name.as_str() == "bob" => Some(member.status),
            _ => None,
        });
        last.is_some_and(MemberStatus::is_live)
    };
    team.drain();
    let done =
        |e: &TeamEvent| matches!(e, TeamEvent::TaskChanged { task, .. } if task.id == made.id && task.status == TaskStatus::Completed);
    let already = team.events.iter().any(|record| done(&record.event));
    if live(&team) && !already {
        team.until("the new task to be done", done).await;
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    team.drain();
    assert_true(&team, &what).await;
    let store = team.store.clone();
    let events = std::mem::take(&mut team.events);
    team.close().await;
    for name in ["lead", "bob"] {
        let (entries, faults) = store.transcript(&MemberName::parse(name).unwrap()).unwrap();
        assert_eq!(faults, [], "{what}: transcript of {name}");
        let replayed = replay::replay(&entries);
        let mut mail: Vec<_> = entries
            .iter()
            .filter_map(|entry| if let TranscriptEntry::Mail { messages, .. } = entry { Some(messages) } else { None })
            .flatten()
            .map(|m| m.id.clone())
            .collect();
        let all = mail.len();
        mail.sort_by_key(|id| format!("{id:?}"));
        mail.dedup();
        assert_eq!(all, mail.len(), "{what}: {name} saw each letter once");
        assert_eq!(replayed.repairs, Vec::<String>::new(), "{what}: the transcript of {name} is whole");
    }
    let logged: Vec<u64> = store.events_after(0, usize::MAX).unwrap().records.iter().map(|r| r.seq).collect();
    let lost: Vec<_> = events.iter().filter(|r| r.seq > logged[0] && !logged.contains(&r.seq)).map(|r| (r.seq, &r.event)).collect();
    assert!(lost.is_empty(), "{what}: not in the event log: {lost:?}");
    let held = store.tasks().unwrap().items.into_iter().filter(|(task, _)| task.status == TaskStatus::InProgress).count();
    assert_eq!(held, 0, "{what}: nobody's task is held for ever");
    writes
}

async fn play_all(cases: Vec<Case>) {
    let mut running = JoinSet::new();
    for case in cases {
        if running.len() >= 8 {
            running.join_next().await.unwrap().unwrap();
        }
        running.spawn(play(case));
    }
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }
}

async fn writes_of_a_run() -> u64 {
    let writes = play(Case { from: u64::MAX, many: 0, way: Way::Before, error: Errno::IO }).await;
    assert!(writes > 25, "the run writes: {writes}");
    println!("{writes} writes in the run");
    // The order of steps differs a little from run to run.
    writes + 3
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_write_fails_once() {
    let last = writes_of_a_run().await;
    let mut cases = Vec::new();
    for from in 1..=last {
        for (number, way) in WAYS.into_iter().enumerate() {
            let errors = if is_full() { 0..3 } else { 0..1 };
            for more in errors {
                let error = ERRORS[(number + usize::try_from(from).unwrap() + more) % 3];
                let taken = is_full() || number == usize::try_from(from).unwrap() % 3;
                cases.extend(taken.then_some(Case { from, many: 1, way, error }));
            }
        }
    }
    println!("{} runs", cases.len());
    play_all(cases).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_each_write_on_everything_fails_until_there_is_room_again() {
    let last = writes_of_a_run().await;
    let step = of(8, 1);
    let cases = (1..=last).step_by(step).map(|from| {
        let turn = usize::try_from(from).unwrap();
        Case { from, many: u64::MAX, way: WAYS[(turn / step) % 3], error: ERRORS[turn % 3] }
    });
    play_all(cases.collect()).await;
}
