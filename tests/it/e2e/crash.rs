//! `kill -9` at random moments of the demonstration, again and again in the same directory. `SIGNOFF_FULL=1` for 200 of
//! them, `SIGNOFF_SEED` for other moments.

use super::*;
use signoff::domain::event::TaskChange;
use signoff::domain::{MemberName, MemberStatus, RequestKind, TaskId, TaskStatus, TeamEvent, TranscriptEntry};
use signoff::llm::scripted::demo;
use signoff::protocol::replay;
use std::collections::{BTreeMap, BTreeSet};

/// Kills before the demonstration is played to its end and begins anew.
const KILLS_A_ROUND: usize = 10;

/// A small generator of numbers: the same seed gives the same moments.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn demonstration() -> World {
    let world = World::new();
    for file in demo::PROJECT {
        let path = world.work.join(file.path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, file.text).unwrap();
    }
    let quick = demo::SCRIPT.replace("tokens_per_second = 34", "tokens_per_second = 1500").replace("pause = \"900ms\"", "pause = \"25ms\"");
    std::fs::write(world.script(), quick.replace("pause = \"1s\"", "pause = \"50ms\"")).unwrap();
    world
}

/// What must never be lost, as far as it was seen.
#[derive(Default)]
struct Seen {
    transcripts: BTreeMap<String, Vec<TranscriptEntry>>,
    done: BTreeSet<TaskId>,
    kills: usize,
}

impl Seen {
    fn check(&mut self, world: &World) {
        world.wait_no_commands();
        let store = world.store();
        // A command that was being started at that moment holds it until it is started.
        wait("the lock to be free", || store.lock_team().unwrap().map(drop));
        let events = store.events_after(0, 64 << 20).unwrap();
        assert!(events.faults.len() <= self.kills, "at most a torn line a kill: {:?}", events.faults);
        let (mut created, mut removed) = (BTreeSet::new(), BTreeSet::new());
        for record in &events.records {
            match &record.event {
                TeamEvent::TaskChanged { task, change: TaskChange::Created, .. } => drop(created.insert(task.id)),
                TeamEvent::TaskRemoved { id, .. } => drop(removed.insert(*id)),
                _ => {}
            }
        }
        let loaded = store.tasks().unwrap();
        assert!(loaded.faults.is_empty(), "{:?}", loaded.faults);
        let tasks: BTreeMap<TaskId, _> = loaded.items.into_iter().map(|(task, _)| (task.id, task)).collect();
        let lost: Vec<_> = created.difference(&removed).filter(|id| !tasks.contains_key(id)).collect();
        assert!(lost.is_empty(), "lost: {lost:?}");
        let mut holders = BTreeSet::new();
        for task in tasks.values() {
            if task.status == TaskStatus::InProgress {
                let owner = task.owner.clone().unwrap_or_else(|| panic!("{} is in progress without an owner", task.id));
                assert!(holders.insert(owner.to_string()), "{owner} holds two tasks: {tasks:?}");
            }
        }
        let done: BTreeSet<TaskId> = tasks.values().filter(|t| t.status == TaskStatus::Completed).map(|t| t.id).collect();
        assert!(done.is_superset(&self.done), "done stays done: {:?} {done:?}", self.done);
        self.done = done;
        for name in ["lead", "bob", "alice", "carol"] {
            self.check_transcript(world, name);
        }
    }

    fn check_transcript(&mut self, world: &World, name: &str) {
        let store = world.store();
        let member = MemberName::parse(name).unwrap();
        let (entries, faults) = store.transcript(&member).unwrap();
        assert!(faults.len() <= self.kills, "{name}: {faults:?}");
        let before = self.transcripts.get(name).cloned().unwrap_or_default();
        assert!(entries.starts_with(&before), "the transcript of {name} lost or changed what it had");
        let replayed = replay::replay(&entries);
        let started = entries.iter().rposition(|entry| matches!(entry, TranscriptEntry::Started { .. }));
        let Some(started) = started else { return };
        let TranscriptEntry::Started { inbox_offset, .. } = &entries[started] else { return };
        let taken: Vec<_> = entries[started..]
            .iter()
            .filter_map(|entry| match entry {
                TranscriptEntry::Mail { messages, .. } => Some(messages.clone()),
                _ => None,
            })
            .flatten()
            .map(|message| message.id)
            .collect();
        let inbox: Vec<_> = store.mail_after(&member, *inbox_offset, 64 << 20).unwrap().messages.into_iter().map(|m| m.id).collect();
        assert!(inbox.starts_with(&taken), "{name} took in each message once and in order: {taken:?} of {inbox:?}");
        let unread = store.mail_after(&member, replayed.inbox_offset, 64 << 20).unwrap().messages.len();
        assert_eq!(taken.len() + unread, inbox.len(), "{name}: what is not taken in is still to be read");
        self.transcripts.insert(name.to_owned(), entries);
    }
}

fn statuses(world: &World) -> Vec<(String, MemberStatus)> {
    let team = world.store().team().unwrap().map(|(team, _)| team.members).unwrap_or_default();
    team.into_iter().map(|member| (member.name.to_string(), member.status)).collect()
}

/// After a start nobody works; what was cut off is marked, on the screen and in the file.
fn check_opened(world: &World, pty: &Pty, before: &[(String, MemberStatus)]) {
    let on_team: Vec<&str> = before.iter().map(|(name, _)| name.as_str()).collect();
    for name in &on_team {
        wait_member(pty, name, "");
    }
    let text = pty.contents();
    for name in on_team.iter().filter(|name| **name != "lead") {
        let row = member_row(&text, name).unwrap();
        assert!(
            ["interrupted", "not running", "waits: plan", "shut down", "requested"].iter().any(|word| row.contains(word)),
            "{name} shows as at work:\n{text}"
        );
    }
    let lead = member_row(&text, "lead").unwrap();
    assert!(lead.contains("idle") || lead.contains("interrupted") || lead.contains("starting"), "{text}");
    wait("statuses in the file", || {
        let live = statuses(world).into_iter().any(|(name, status)| name != "lead" && status.is_live());
        (!live).then_some(())
    });
    assert!(!statuses(world).iter().any(|(name, status)| name == "lead" && *status == MemberStatus::Working));
}

fn is_left(text: &str, name: &str) -> bool {
    member_row(text, name).is_some_and(|row| row.contains("interrupted") || row.contains("not running"))
}

/// Starts everybody again who was left when the app died: the first one by key, then all who remain by name of the action.
fn resume_all(pty: &mut Pty, names: &[(String, MemberStatus)]) {
    let left: Vec<&String> = names.iter().map(|(name, _)| name).filter(|name| is_left(&pty.contents(), name)).collect();
    let Some(first) = left.first() else { return };
    select(pty, first);
    pty.send("R");
    pty.wait_for(&format!("{first} to go on"), |screen| !is_left(&screen.contents(), first));
    if left.iter().any(|name| is_left(&pty.contents(), name)) {
        pty.send(":resume_all");
        pty.wait_for_text("resume_all");
        pty.send("\r");
    }
    for name in left {
        pty.wait_for(&format!("{name} to go on"), |screen| !is_left(&screen.contents(), name));
    }
}

fn approve_pending(world: &World) -> usize {
    let requests = world.store().requests().unwrap().items;
    let plans = requests.into_iter().map(|(request, _)| request).filter(|r| r.is_pending() && r.kind == RequestKind::Plan);
    // One that was replaced in between is refused; its newer version comes next time.
    plans.filter(|plan| world.run(&["approve", plan.id.as_str()]).status.success()).count()
}

/// Plays the rest: whoever was asked goes on, and what is on the board gets done.
fn play_to_the_end(world: &World, seen: &mut Seen) {
    let before = statuses(world);
    let mut pty = world.open();
    check_opened(world, &pty, &before);
    let waiting = approve_pending(world);
    if waiting > 0 {
        wait_member(&pty, "bob", "");
        pty.wait_for("the decided plan's member to go on", |screen| {
            member_row(&screen.contents(), "bob").is_none_or(|row| !row.contains("waits: plan"))
        });
    }
    resume_all(&mut pty, &before);
    wait("the board to be done", || {
        approve_pending(world);
        let tasks = world.store().tasks().unwrap().items;
        let open = tasks.iter().filter(|(task, _)| task.status != TaskStatus::Completed).count();
        let quiet = statuses(world).iter().all(|(_, status)| *status != MemberStatus::Working);
        (tasks.len() >= 8 && open == 0 && quiet).then_some(())
    });
    let check = Command::new("sh").arg("check.sh").current_dir(&world.work).output().unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
    quit_now(world, pty);
    seen.check(world);
}

#[test]
fn t22_killed_at_any_moment_it_opens_again_with_everything_and_goes_on() {
    let full = std::env::var_os("SIGNOFF_FULL").is_some();
    let seed = std::env::var("SIGNOFF_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7);
    let mut dice = Dice(seed);
    let rounds = if full { 20 } else { 2 };
    for round in 0..rounds {
        let world = demonstration();
        let mut seen = Seen::default();
        for kill in 0..KILLS_A_ROUND {
            println!("seed {seed}, round {round}, kill {kill}: {:?}", statuses(&world));
            kill_once(&world, &mut dice, kill);
            seen.kills += 1;
            seen.check(&world);
        }
        println!("seed {seed}, round {round}, to the end: {:?}", statuses(&world));
        play_to_the_end(&world, &mut seen);
    }
}

fn kill_once(world: &World, dice: &mut Dice, kill: usize) {
    let before = statuses(world);
    let mut pty = world.open_blind();
    if kill > 0 && dice.below(5) == 0 {
        std::thread::sleep(Duration::from_millis(dice.below(250)));
        return pty.kill();
    }
    wait_member(&pty, "lead", "");
    let fresh = world.store().transcript(&MemberName::lead()).unwrap().0.len() < 2;
    if fresh {
        wait_member(&pty, "lead", "idle");
        write_lead(&mut pty, demo::GOAL);
    } else {
        check_opened(world, &pty, &before);
        if dice.below(3) == 0 {
            approve_pending(world);
        }
        resume_all(&mut pty, &before);
    }
    std::thread::sleep(Duration::from_millis(dice.below(900)));
    pty.kill();
}
