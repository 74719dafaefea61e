//! What must hold after every step, whatever happened.

use super::disk::Key;
use super::oracle::{done, read_only};
use super::world::World;
use signoff::domain::command::{Action, Intent};
use signoff::domain::*;
use signoff::protocol::core::Loaded;
use signoff::protocol::{Input, Timer};
use std::collections::{BTreeMap, BTreeSet};

/// Looks at everything; what is wrong goes into the ledger.
pub fn check(world: &mut World) {
    let mut wrong = Vec::new();
    files_equal_core(world, &mut wrong);
    agents_equal_roster(world, &mut wrong);
    index_equals_tasks(world, &mut wrong);
    gates(world, &mut wrong);
    if world.settled {
        tasks_have_owners(world, &mut wrong);
        requests_have_waiters(world, &mut wrong);
    }
    world.ledger.wrong.extend(wrong);
}

fn files_equal_core(world: &World, wrong: &mut Vec<String>) {
    let mut core: BTreeMap<TaskId, &Task> = world.core.board().iter().map(|task| (task.id, &**task)).collect();
    for (id, (task, _)) in &world.disk.tasks {
        if core.remove(id) != Some(&**task) && !world.unseen.contains(&Key::Task(*id)) {
            wrong.push(format!("task {id} in the files is {task:?}, the core differs"));
        }
    }
    wrong.extend(core.keys().filter(|id| !world.unseen.contains(&Key::Task(**id))).map(|id| format!("task {id} has no file")));
    for request in world.core.requests() {
        let there = world.disk.requests.get(&request.id).map(|(there, _)| there);
        if there != Some(request) && !world.unseen.contains(&Key::Request(request.id.clone())) {
            wrong.push(format!("request {request:?} is {there:?} in the files"));
        }
    }
}

/// Who shows as running runs, and nobody else; names are unique whatever their case.
fn agents_equal_roster(world: &World, wrong: &mut Vec<String>) {
    let mut names = BTreeSet::new();
    for member in world.core.members() {
        let runs = world.agents.get(&member.name);
        // A start that could not be written shows until the next input mends it.
        let shows = member.status.is_live();
        if shows != runs.is_some() && (world.settled || !shows) {
            wrong.push(format!("{} shows as {:?}, runs = {}", member.name, member.status, runs.is_some()));
        }
        if runs.is_some_and(|agent| agent.generation != member.generation) {
            wrong.push(format!("{} runs in another generation", member.name));
        }
        if !names.insert(member.name.as_str().to_ascii_lowercase()) {
            wrong.push(format!("two members are called {}", member.name));
        }
    }
    let unknown = world.agents.keys().filter(|name| world.core.member(name).is_none());
    wrong.extend(unknown.map(|name| format!("{name} runs and is not on the roster")));
}

fn index_equals_tasks(world: &World, wrong: &mut Vec<String>) {
    let board = world.core.board();
    let ready: Vec<TaskId> = board
        .iter()
        .filter(|t| t.status == TaskStatus::Pending && t.owner.is_none() && t.blocked_by.iter().all(|b| done(world, *b)))
        .map(|t| t.id)
        .collect();
    if ready != board.ready().collect::<Vec<_>>() {
        wrong.push(format!("ready are {ready:?}, the board says {:?}", board.ready().collect::<Vec<_>>()));
    }
}

fn tasks_have_owners(world: &World, wrong: &mut Vec<String>) {
    let mut held: BTreeMap<&MemberName, Vec<TaskId>> = BTreeMap::new();
    for task in world.core.board().iter().filter(|t| t.status == TaskStatus::InProgress) {
        match &task.owner {
            Some(owner) => held.entry(owner).or_default().push(task.id),
            None => wrong.push(format!("task {} is in progress and nobody has it", task.id)),
        }
    }
    let strangers = held.keys().filter(|owner| world.core.member(owner).is_none());
    wrong.extend(strangers.map(|owner| format!("{owner} is not on the team and holds a task")));
    for member in world.core.members() {
        let tasks = held.get(&member.name).map(Vec::as_slice).unwrap_or_default();
        if tasks.len() > 1 {
            wrong.push(format!("{} has {tasks:?} in progress", member.name));
        }
        if !tasks.is_empty() && matches!(member.status, MemberStatus::Shutdown | MemberStatus::Failed) {
            wrong.push(format!("{} is {:?} and holds {tasks:?}", member.name, member.status));
        }
        if member.task != tasks.first().copied() {
            wrong.push(format!("the record of {} says {:?}, the board {tasks:?}", member.name, member.task));
        }
    }
}

fn requests_have_waiters(world: &World, wrong: &mut Vec<String>) {
    for request in world.core.requests().filter(|r| r.is_pending()) {
        let member = world.core.member(&request.target).filter(|m| m.generation == request.generation);
        let Some(member) = member else {
            wrong.push(format!("{:?} {} is open and its member is gone", request.kind, request.id));
            continue;
        };
        let runs = world.agents.contains_key(&member.name);
        let may_wait = runs || (request.kind == RequestKind::Plan && member.status == MemberStatus::Interrupted);
        if !may_wait && member.status != MemberStatus::Requested {
            wrong.push(format!("{:?} {} is open and {} is {:?}", request.kind, request.id, member.name, member.status));
        }
        if runs
            && request.kind == RequestKind::Shutdown
            && !world.timers.contains_key(&Timer::Shutdown(request.id.clone()))
            && !request.force
        {
            wrong.push(format!("shutdown {} has no deadline", request.id));
        }
    }
    for (name, agent) in world.agents.iter().filter(|(_, agent)| agent.is_done()) {
        let asked = |r: &&std::sync::Arc<Request>| r.kind == RequestKind::Shutdown && r.is_pending() && r.target == *name && !r.force;
        if let Some(request) = world.core.requests().find(asked) {
            wrong.push(format!("{name} rests and nobody answers its shutdown {}", request.id));
        }
        if world.ledger.stopping && !agent.is_ending() {
            wrong.push(format!("the team stops and {name} rests on"));
        }
    }
    for (id, who) in &world.deferred {
        if world.core.request(id).is_none_or(|r| !r.is_pending()) {
            wrong.push(format!("the tool of {who} waits for {id}, which is not open any more"));
        }
    }
}

fn gates(world: &World, wrong: &mut Vec<String>) {
    for name in world.agents.keys() {
        let intent = Intent { tool: "write_file".into(), action: Action::Write { path: "a".into() }, resolved: Vec::new() };
        let input = Input::Command { by: Party::Member(name.clone()), command: TeamCommand::Authorize(intent) };
        let decided = world.core.decide(&input, world.now, &mut world.ids.clone());
        let refused = matches!(&decided, Err(Refusal::Gate(words)) if !words.contains("shutting down"));
        if let Some(closed) = read_only(world, name).filter(|closed| *closed != refused) {
            let shuts = matches!(&decided, Err(Refusal::Gate(words)) if words.contains("shutting down"));
            if !shuts {
                wrong.push(format!("by its plans {name} is read-only = {closed}, but writing came to {decided:?}"));
            }
        }
    }
}

/// The end of a run is only told when it is one.
pub fn before_event(world: &mut World, event: &TeamEvent) {
    let TeamEvent::Finished { reason, .. } = event else { return };
    let stopped = reason.starts_with("stopped by") || reason.contains("budget is used up");
    let mut wrong = Vec::new();
    for (name, agent) in &world.agents {
        let inbox = world.disk.inboxes.get(name.as_str()).map_or(0, Vec::len);
        let busy = agent.doing != super::agent::Doing::Resting || agent.is_called(inbox) || !agent.reported;
        if stopped || (busy && !agent.is_ending()) {
            wrong.push(format!("finished ({reason}) while {name} is {:?} and has {:?}", agent.doing, agent.queue));
        }
    }
    let open = world.core.requests().filter(|r| r.is_pending()).map(|r| r.id.clone()).collect::<Vec<_>>();
    if !open.is_empty() && !stopped {
        wrong.push(format!("finished ({reason}) while {open:?} wait for an answer"));
    }
    world.ledger.wrong.extend(wrong);
}

/// Who may run right after a start: the lead, and members that another process asked for.
pub fn expected_at_start(loaded: &Loaded) -> BTreeSet<MemberName> {
    let requested = loaded.team.iter().flat_map(|team| &team.members).filter(|m| m.status == MemberStatus::Requested);
    requested.map(|m| m.name.clone()).chain([MemberName::lead()]).collect()
}

pub fn after_start(world: &mut World, expected: &BTreeSet<MemberName>) {
    let risen: Vec<MemberName> = world.agents.keys().filter(|name| !expected.contains(*name)).cloned().collect();
    risen.iter().for_each(|name| world.ledger.wrong(format!("{name} runs after a crash and nobody started it")));
}
