//! `kill -9` at random points of a busy team: a process of its own runs it (this test binary, started again), and is killed
//! again and again over the same files. 1,000 kills with `SIGNOFF_FULL=1`.

use super::mutate::Dice;
use super::{of, seed};
use crate::support::team::{TestTeam, scripted, settings, store_at};
use signoff::domain::event::TaskChange;
use signoff::domain::*;
use signoff::protocol::replay;
use signoff::store::TeamStore;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PLACE: &str = "SIGNOFF_TEST_SUDDEN";
/// Kills over the same files; then others, so that reading everything after each stays cheap.
const KILLS_A_WORKSPACE: usize = 50;
const NAMES: [&str; 4] = ["lead", "alice", "bob", "carol"];
const SCRIPT: &str = r#"format = 1
[stream]
tokens_per_second = 4000
pause = "1ms"
[[rule]]
for = "lead"
on = "goal"
[[rule.step]]
say = "more work"
calls = [{ tool = "task_create", args = { subject = "a" } }, { tool = "task_create", args = { subject = "b" } }, { tool = "task_create", args = { subject = "c" } }]
[[rule.step]]
calls = [{ tool = "broadcast", args = { content = "there is work" } }, { tool = "send_message", args = { to = "human", content = "begun" } }]
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
tool = "write_file"
args = { path = "out-{task_id}.txt", content = "carol" }
[[rule.step]]
tool = "task_update"
args = { task_id = "{task_id}", status = "completed" }
[[rule.step]]
say = "done with {task_id}"
[[rule]]
on = "claimed"
[[rule.step]]
calls = [{ tool = "write_file", args = { path = "out-{task_id}.txt", content = "{name}" } }, { tool = "send_message", args = { to = "lead", content = "about {task_id}" } }]
[[rule.step]]
tool = "task_update"
args = { task_id = "{task_id}", status = "completed" }
[[rule.step]]
say = "done with {task_id}"
[[rule]]
on = "mail"
[[rule.step]]
say = "noted"
"#;

/// Not a test by itself: the busy team, until it is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn app() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let dir = Path::new(&place);
    let mut team = TestTeam::open(dir, scripted(SCRIPT), settings());
    std::fs::write(dir.join("opened"), "").unwrap();
    loop {
        for name in &NAMES[1..] {
            let Ok(Reply::Members(members)) = team.human(TeamCommand::ListMembers).await else { continue };
            let there = members.iter().map(|(member, _)| member).find(|member| member.name.as_str() == *name);
            let order = SpawnOrder { name: (*name).into(), role: "coder".into(), prompt: Some("work".into()), ..SpawnOrder::default() };
            let _ = match there.map(|member| member.status) {
                None => team.human(TeamCommand::Spawn(order)).await,
                Some(MemberStatus::Interrupted) => team.human(TeamCommand::Resume { target: (*name).into() }).await,
                Some(MemberStatus::Shutdown | MemberStatus::Failed) => team.human(TeamCommand::Spawn(order)).await,
                Some(_) => team.human(TeamCommand::Send { to: (*name).into(), content: "how is it going?".into() }).await,
            };
        }
        let _ = team.human(TeamCommand::Send { to: "lead".into(), content: "go on".into() }).await;
        for (request, _) in team.store.requests().unwrap().items {
            if request.is_pending() && request.kind == RequestKind::Plan {
                let _ = team.decide(&request, Verdict::approve()).await;
            }
        }
        team.drain();
        team.events.clear();
        tokio::time::sleep(Duration::from_millis(40)).await;
    }
}

fn start(dir: &Path) -> Child {
    let _ = std::fs::remove_file(dir.join("opened"));
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "durability::sudden::app", "-q", "--nocapture"]).env(PLACE, dir);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// What must never be lost, as far as it was seen.
#[derive(Default)]
struct Seen {
    transcripts: BTreeMap<&'static str, usize>,
    heads: BTreeMap<&'static str, Vec<TranscriptEntry>>,
    mail: BTreeMap<&'static str, usize>,
    done: BTreeSet<TaskId>,
    decided: BTreeMap<RequestId, RequestState>,
    kills: usize,
}

impl Seen {
    fn check(&mut self, store: &TeamStore) {
        let until = Instant::now() + Duration::from_secs(20);
        while store.lock_team().unwrap().is_none() {
            assert!(Instant::now() < until, "the lock of a dead process is free");
            std::thread::sleep(Duration::from_millis(2));
        }
        self.check_tasks(store);
        let requests = store.requests().unwrap();
        assert_eq!(requests.faults, []);
        for (request, _) in requests.items {
            if let Some(before) = self.decided.get(&request.id) {
                assert_eq!(*before, request.state, "what was decided stays decided: {}", request.id);
            }
            if !request.is_pending() {
                self.decided.insert(request.id, request.state);
            }
        }
        assert!(store.team().unwrap().is_none_or(|(team, _)| team.unread.is_empty()));
        NAMES.iter().for_each(|name| self.check_member(store, name));
    }

    fn check_tasks(&mut self, store: &TeamStore) {
        let events = store.events_after(0, usize::MAX).unwrap();
        assert!(events.faults.len() <= self.kills, "at most a torn line a kill: {:?}", events.faults);
        let created: BTreeSet<TaskId> = events
            .records
            .iter()
            .filter_map(|record| match &record.event {
                TeamEvent::TaskChanged { task, change: TaskChange::Created, .. } => Some(task.id),
                _ => None,
            })
            .collect();
        let loaded = store.tasks().unwrap();
        assert_eq!(loaded.faults, []);
        let tasks: BTreeMap<TaskId, Task> = loaded.items.into_iter().map(|(task, _)| (task.id, task)).collect();
        assert!(created.iter().all(|id| tasks.contains_key(id)), "no task is lost");
        let mut holders = BTreeSet::new();
        for task in tasks.values().filter(|task| task.status == TaskStatus::InProgress) {
            let owner = task.owner.clone().expect("who is at work has a name");
            assert!(holders.insert(owner.clone()), "{owner} holds two tasks: {tasks:?}");
        }
        let done: BTreeSet<TaskId> = tasks.values().filter(|t| t.status == TaskStatus::Completed).map(|t| t.id).collect();
        assert!(done.is_superset(&self.done), "done stays done");
        self.done = done;
    }

    fn check_member(&mut self, store: &TeamStore, name: &'static str) {
        let member = MemberName::parse(name).unwrap();
        let (entries, faults) = store.transcript(&member).unwrap();
        assert!(faults.len() <= self.kills, "{name}: {faults:?}");
        let before = self.heads.get(name).cloned().unwrap_or_default();
        assert!(entries.starts_with(&before), "the transcript of {name} lost or changed what it had");
        self.transcripts.insert(name, entries.len());
        let inbox = store.mail_after(&member, 0, usize::MAX).unwrap();
        let count = inbox.messages.len();
        assert!(count >= *self.mail.get(name).unwrap_or(&0), "{name}: no letter is lost");
        self.mail.insert(name, count);
        let started = entries.iter().rposition(|entry| matches!(entry, TranscriptEntry::Started { .. }));
        if let Some((at, TranscriptEntry::Started { inbox_offset, .. })) = started.map(|at| (at, &entries[at])) {
            let taken: Vec<_> = entries[at..]
                .iter()
                .filter_map(|entry| if let TranscriptEntry::Mail { messages, .. } = entry { Some(messages) } else { None })
                .flatten()
                .map(|message| message.id.clone())
                .collect();
            let all: Vec<_> = store.mail_after(&member, *inbox_offset, usize::MAX).unwrap().messages.into_iter().map(|m| m.id).collect();
            assert!(all.starts_with(&taken), "{name} took in each letter once and in order");
            let unread = store.mail_after(&member, replay::replay(&entries).inbox_offset, usize::MAX).unwrap().messages.len();
            assert_eq!(taken.len() + unread, all.len(), "{name}: what is not taken in is still to be read");
        }
        self.heads.insert(name, entries);
    }
}

/// Kills a team on a workspace of its own at so many points.
fn kill_again_and_again(number: usize, kills: usize) -> (usize, usize) {
    let mut dice = Dice::new(seed().wrapping_add(1 + number as u64));
    let dir = tempfile::tempdir().unwrap();
    let (store, mut seen) = (store_at(dir.path()), Seen::default());
    for _ in 0..kills {
        let mut child = start(dir.path());
        // One in eight dies while it opens.
        if dice.below(8) > 0 {
            let until = Instant::now() + Duration::from_secs(60);
            while !dir.path().join("opened").exists() {
                assert!(Instant::now() < until && child.try_wait().unwrap().is_none(), "it opens again");
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_micros(dice.below(150_000) as u64));
        } else {
            std::thread::sleep(Duration::from_micros(dice.below(40_000) as u64));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        seen.kills += 1;
        seen.check(&store);
    }
    (seen.done.len(), seen.mail.values().sum())
}

#[test]
fn killed_at_any_moment_of_a_busy_team_nothing_is_lost_doubled_or_owned_twice() {
    let workspaces = of(1, 20);
    let kills = of(30, KILLS_A_WORKSPACE);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let (began, sums) = (Instant::now(), std::sync::Mutex::new((0, 0)));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    if number >= workspaces {
                        return;
                    }
                    let (done, mail) = kill_again_and_again(number, kills);
                    assert!(done > 0 && mail > 10, "the team was busy: {done} tasks, {mail} letters");
                    let mut sums = sums.lock().unwrap();
                    *sums = (sums.0 + done, sums.1 + mail);
                }
            });
        }
    });
    println!("{} kills, (tasks done, letters) {:?}, {:?}", workspaces * kills, sums.lock().unwrap(), began.elapsed());
}
