//! A day of work at high speed: thousands of messages, tasks, plans and compactions in a process of its own (this test
//! binary, started again), with a screen's state beside the team. Memory and handles are flat over the last half, and no
//! dead child waits to be collected. A few seconds in the ordinary run, minutes with `SIGNOFF_FULL=1`.

use super::of;
use crate::support::team::{TestTeam, scripted, settings};
use signoff::app::msg::Msg;
use signoff::app::{State, StateOptions, update};
use signoff::domain::*;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PLACE: &str = "SIGNOFF_TEST_SOAK";
const SECONDS: &str = "SIGNOFF_TEST_SOAK_SECONDS";
const SCRIPT: &str = r#"format = 1
context_window = 24000
[stream]
tokens_per_second = 0
pause = 0
[[rule]]
for = "lead"
on = "goal"
[[rule.step]]
calls = [{ tool = "task_create", args = { subject = "round and round", description = "as always" } }, { tool = "broadcast", args = { content = "there is work" } }, { tool = "send_message", args = { to = "human", content = "begun" } }]
[[rule.step]]
say = "they work"
[[rule]]
for = "carol"
on = "claimed"
[[rule.step]]
tool = "plan_approval"
args = { plan = "for {task_id}" }
[[rule.step]]
wait_for = "verdict"
tool = "task_update"
args = { task_id = "{task_id}", status = "completed" }
[[rule.step]]
say = "done with {task_id}"
[[rule]]
on = "claimed"
[[rule.step]]
calls = [{ tool = "write_file", args = { path = "out-{name}.txt", content = "again {task_id}" } }, { tool = "bash", args = { command = "echo {task_id}; true & " } }, { tool = "read_file", args = { path = "long.txt" } }]
[[rule.step]]
tool = "task_update"
args = { task_id = "{task_id}", status = "completed" }
[[rule.step]]
say = "done with {task_id}"
[[rule]]
on = "mail"
[[rule.step]]
say = "noted, and thanks for all the words that came with it"
"#;

/// The memory of this process that is its own and in use, in KiB. What the allocator merely keeps is part of it.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn handles() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn zombies() -> usize {
    let own = std::process::id().to_string();
    let stats = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let is_one = |stat: &String| {
        let mut words = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        (words.next(), words.next()) == (Some("Z"), Some(own.as_str()))
    };
    stats.filter(is_one).count()
}

/// Not a test by itself: the team, for so many seconds. Tells its samples, one a line.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn app() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let seconds: u64 = std::env::var(SECONDS).unwrap().parse().unwrap();
    let dir = Path::new(&place);
    std::fs::write(dir.join("long.txt"), "a line that is read again and again\n".repeat(60)).unwrap();
    let mut team = TestTeam::open(dir, scripted(SCRIPT), settings());
    let mut screen = State::new(StateOptions::default());
    for name in ["alice", "bob", "carol"] {
        team.spawn(name, "coder").await;
    }
    let (began, mut events, mut next) = (Instant::now(), 0, Duration::ZERO);
    while began.elapsed() < Duration::from_secs(seconds) {
        let _ = team.human(TeamCommand::Send { to: "lead".into(), content: "go on, please".into() }).await;
        let deadline = tokio::time::Instant::now() + Duration::from_millis(20);
        tokio::time::sleep_until(deadline).await;
        for record in team.drain() {
            if let TeamEvent::RequestChanged { request } = &record.event
                && request.is_pending()
                && request.kind == RequestKind::Plan
            {
                let _ = team.decide(request, Verdict::approve()).await;
            }
            events += 1;
            let at = record.at;
            let _ = update(&mut screen, Msg::Event(record), at);
        }
        team.events.clear();
        if began.elapsed() >= next {
            next += Duration::from_millis(500);
            let Ok(Reply::Tasks(tasks)) = team.human(TeamCommand::ListTasks).await else { panic!("it answers") };
            let open = tasks.iter().filter(|task| task.status != TaskStatus::Completed).count();
            println!("sample {} {} {} {} {open} {events}", memory(), handles(), zombies(), tasks.len());
            // A person tidies up now and then: a board of thousands is not what is measured.
            for task in tasks.iter().filter(|task| task.status == TaskStatus::Completed).take(tasks.len().saturating_sub(50)) {
                let _ = team.human(TeamCommand::DeleteTask { task: task.id }).await;
            }
        }
    }
    team.close().await;
    println!("end {} {}", handles(), zombies());
}

#[test]
fn a_day_of_work_leaves_memory_and_handles_flat_and_no_dead_child() {
    let dir = tempfile::tempdir().unwrap();
    let seconds = of(8, 300);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "durability::soak::app", "-q", "--nocapture"]).env(PLACE, dir.path()).env(SECONDS, seconds.to_string());
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let numbers = |line: &str| line.split_whitespace().skip(1).map(|n| n.parse::<u64>().unwrap()).collect::<Vec<u64>>();
    let samples: Vec<Vec<u64>> = text.lines().filter(|line| line.starts_with("sample ")).map(numbers).collect();
    let ended = text.lines().find(|line| line.starts_with("end ")).map(numbers).expect("it ended");
    assert!(samples.len() >= 8, "{text}");
    let half = &samples[samples.len() / 2..];
    let median = |part: &[Vec<u64>], field: usize| {
        let mut values: Vec<u64> = part.iter().map(|sample| sample[field]).collect();
        values.sort_unstable();
        values[values.len() / 2]
    };
    let (early, late) = half.split_at(half.len() / 2);
    let events = samples.last().unwrap()[5];
    println!("{events} events; KiB {} then {}; handles {} then {}", median(early, 0), median(late, 0), median(early, 1), median(late, 1));
    assert!(events > 1_000, "it was busy: {text}");
    // In the short run the panes and transcripts are still filling up to their bounds.
    let room = of(16 * 1024, 4 * 1024) as u64;
    assert!(median(late, 0) <= median(early, 0) + room, "memory grows:\n{text}");
    assert!(median(late, 1) <= median(early, 1) + 4, "handles grow:\n{text}");
    assert!(half.iter().filter(|sample| sample[2] > 3).count() * 4 < half.len(), "dead children wait:\n{text}");
    assert_eq!(ended[1], 0, "no dead child is left");
}
