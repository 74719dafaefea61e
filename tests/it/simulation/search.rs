//! An exhaustive search, breadth first, over a small team on the real core: two teammates, two tasks, a few requests, and
//! everything that can happen to them in every order, failing writes and crashes included. States that print alike are
//! one state.

use super::acts::give;
use super::agent::Doing;
use super::disk::{Fault, Key};
use super::invariants::check;
use super::world::{World, name};
use signoff::domain::command::{Action, Intent};
use signoff::domain::settings::TeamSettings;
use signoff::domain::*;
use signoff::protocol::Timer;
use signoff::protocol::turn::Outcome as Rest;
use std::collections::{HashSet, VecDeque};
use std::fmt::Write;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a search is bounded by.
#[derive(Clone, Copy)]
struct Model {
    names: &'static [&'static str],
    requests: usize,
    tasks: usize,
    generations: u32,
    /// Crashes, failing writes and hands of others in one history: each makes the rest of it a search of its own.
    troubles: u32,
    /// Mail, interrupts, and a lead that may fail.
    chatter: bool,
}

/// Two teammates with everything that can happen: a search of its first steps, from several beginnings.
const WIDE: Model = Model { names: &["ann", "bob"], requests: 3, tasks: 2, generations: 2, troubles: 1, chatter: true };
/// One teammate: a search to the end.
const NARROW: Model = Model { names: &["ann"], requests: 1, tasks: 1, generations: 1, troubles: 0, chatter: false };

/// Things an agent may be told without taking them in.
const QUEUE_MAX: usize = 3;
/// Distinct states of any run, however slow the machine.
const STATES_MIN: usize = 1_000;

#[derive(Clone, Debug)]
enum Act {
    Step(MemberName),
    Rest(MemberName),
    Fail(MemberName),
    Tool(MemberName, TeamCommand),
    Human(TeamCommand),
    /// Another screen answers in the file; the watcher is slow or quick.
    AnswerFile(RequestId, Party),
    TaskFile(TaskId, MemberName),
    TaskGone(TaskId),
    Notice(Key),
    Fire(Timer),
    Flush,
    Fault(Fault),
    Crash,
}

fn carry_out(world: &mut World, act: Act) {
    world.ids.requests = u128::try_from(world.core.requests().count()).unwrap();
    match act {
        Act::Step(who) => world.step(&who),
        Act::Rest(who) => world.rests(&who, Rest::Done),
        Act::Fail(who) => world.ends(&who, true, "boom"),
        Act::Tool(who, command) => {
            world.tool(&who, command);
        }
        Act::Human(command) => {
            give(world, Party::Human, command);
        }
        Act::AnswerFile(id, by) => {
            let request = world.core.request(&id).unwrap();
            let answer = Some(Answer { by, at: world.now, digest: request.digest(), verdict: Verdict::approve() });
            let written = Request { state: RequestState::Approved, answer, ..Request::clone(request) };
            world.ledger.tampered.insert(id.clone());
            world.disk.put_request(Arc::new(written));
            world.unseen.insert(Key::Request(id));
        }
        Act::TaskFile(id, owner) => {
            let written = Task { status: TaskStatus::InProgress, owner: Some(owner), ..Task::new(id, "t") };
            world.disk.put_task(Arc::new(written));
            world.unseen.insert(Key::Task(id));
        }
        Act::TaskGone(id) => {
            world.disk.tasks.remove(&id);
            world.ledger.removed.insert(id);
            world.unseen.insert(Key::Task(id));
        }
        Act::Notice(key) => world.notice(&key),
        Act::Fire(timer) => world.fire(&timer),
        Act::Flush => world.flush(),
        Act::Fault(fault) => world.disk.fault = Some(fault),
        Act::Crash => world.reopen(),
    }
    if world.crashed {
        world.reopen();
    }
    world.ghosts.clear();
    // Time stands still, so that states are compared without it; timers fire in any order.
    world.now = Timestamp(1_000_000);
}

fn is_trouble(act: &Act) -> bool {
    matches!(act, Act::Fault(_) | Act::Crash | Act::AnswerFile(..) | Act::TaskFile(..) | Act::TaskGone(_))
}

fn acts(model: Model, world: &World, troubles: u32) -> Vec<Act> {
    let mut acts = Vec::new();
    world.agents.keys().for_each(|who| agent_acts(model, world, who, &mut acts));
    // Whoever is told this much takes it in before more is said: otherwise there is no end of states.
    if world.agents.values().any(|agent| agent.queue.len() >= QUEUE_MAX) {
        return acts;
    }
    human_acts(model, world, &mut acts);
    acts.extend(world.timers.keys().cloned().map(Act::Fire));
    acts.extend(world.unseen.iter().cloned().map(Act::Notice));
    if troubles < model.troubles {
        file_acts(world, &mut acts);
        acts.extend([Fault::Fails(0), Fault::Fails(1), Fault::Crashes(1)].map(Act::Fault));
        acts.extend([Act::Crash, Act::Flush]);
    }
    acts
}

fn room_for_requests(model: Model, world: &World) -> bool {
    world.core.requests().count() < model.requests
}

fn agent_acts(model: Model, world: &World, who: &MemberName, acts: &mut Vec<Act>) {
    let agent = &world.agents[who];
    if !agent.is_done() {
        acts.push(Act::Step(who.clone()));
    }
    if model.chatter || !who.is_lead() {
        acts.push(Act::Fail(who.clone()));
    }
    if agent.doing != Doing::Working {
        return;
    }
    acts.push(Act::Rest(who.clone()));
    let mut tool = |command| acts.push(Act::Tool(who.clone(), command));
    for task in world.core.board().iter() {
        if task.owner.as_ref() == Some(who) {
            tool(TeamCommand::CompleteTask { task: task.id });
            tool(TeamCommand::ReleaseTask { task: task.id, note: None });
        } else {
            tool(TeamCommand::ClaimTask { task: task.id });
        }
    }
    for request in agent.asked.iter().filter_map(|id| world.core.request(id)) {
        for verdict in [Verdict::approve(), Verdict::reject()] {
            tool(TeamCommand::Answer { id: request.id.clone(), verdict, shown: request.digest() });
        }
    }
    if room_for_requests(model, world) && !who.is_lead() {
        tool(TeamCommand::SubmitPlan { plan: "1. do".into() });
        let action = Action::Command { command: "make".into(), cwd: "/w".into() };
        tool(TeamCommand::Authorize(Intent { tool: "bash".into(), action, resolved: Vec::new() }));
    }
}

fn human_acts(model: Model, world: &World, acts: &mut Vec<Act>) {
    let mut human = |command| acts.push(Act::Human(command));
    for who in model.names.iter().copied() {
        let target = || who.to_owned();
        let member = world.core.member(&name(who));
        if !world.agents.contains_key(&name(who)) {
            if member.is_none_or(|m| m.generation.0 < model.generations) {
                let prompt = (who == "bob").then(|| "go".to_owned());
                human(TeamCommand::Spawn(SpawnOrder { name: target(), require_plan: who == "ann", prompt, ..SpawnOrder::default() }));
            }
            if member.is_some() {
                human(TeamCommand::Resume { target: target() });
            }
            continue;
        }
        human(TeamCommand::ForceStop { target: target() });
        if room_for_requests(model, world) {
            human(TeamCommand::RequestShutdown { target: target(), reason: None });
        }
        if model.chatter {
            human(TeamCommand::Interrupt { target: target() });
            human(TeamCommand::Send { to: target(), content: "hi".into() });
        }
    }
    for request in sorted(world).into_iter().filter(|r| r.is_pending() && r.kind != RequestKind::Shutdown) {
        for verdict in [Verdict::approve(), Verdict::reject()] {
            human(TeamCommand::Answer { id: request.id.clone(), verdict, shown: request.digest() });
        }
    }
    if world.core.board().len() < model.tasks {
        let blocked_by = world.core.board().iter().map(|t| t.id).collect();
        human(TeamCommand::CreateTask { subject: "t".into(), description: String::new(), blocked_by });
    }
    for task in world.core.board().iter() {
        human(TeamCommand::DeleteTask { task: task.id });
    }
    human(TeamCommand::StopTeam { now: false });
}

fn sorted(world: &World) -> Vec<&Arc<Request>> {
    let mut requests: Vec<_> = world.core.requests().collect();
    requests.sort_by(|a, b| a.id.cmp(&b.id));
    requests
}

fn file_acts(world: &World, acts: &mut Vec<Act>) {
    for request in sorted(world).into_iter().filter(|r| r.is_pending() && !world.unseen.contains(&Key::Request(r.id.clone()))) {
        acts.extend([Party::Human, Party::lead()].map(|by| Act::AnswerFile(request.id.clone(), by)));
    }
    let seen = |id: &TaskId| !world.unseen.contains(&Key::Task(*id));
    for id in world.core.board().iter().map(|task| task.id).filter(seen) {
        acts.push(Act::TaskFile(id, name("ann")));
        acts.push(Act::TaskGone(id));
    }
}

/// Everything that decides what can happen next.
fn print(world: &World, out: &mut String) {
    out.clear();
    let _ = write!(out, "{:?}", world.core);
    for (who, agent) in &world.agents {
        let unread = world.disk.inboxes.get(who.as_str()).map_or(0, Vec::len) > agent.offset;
        let _ = write!(out, "{who} {:?} {} {} {:?} {:?} ", agent.doing, agent.reported, agent.aborted, agent.outcome, agent.asked);
        let _ = write!(out, "{unread} {} ", agent.told == agent.seen);
        for input in &agent.queue {
            use signoff::protocol::AgentInput as I;
            let _ = match input {
                I::Mail => write!(out, "m"),
                I::Unread => write!(out, "u"),
                I::GoalTaken { .. } => write!(out, "G"),
                I::Tell { cause, .. } => write!(out, "t{cause}"),
                I::Claimed(task) => write!(out, "c{}", task.id),
                I::GoOn { task, .. } => write!(out, "g{:?}", task.as_ref().map(|t| t.id)),
                I::Verdict(request) => write!(out, "v{}", request.id),
                I::Offered(_) => write!(out, "o"),
                I::Interrupt => write!(out, "i"),
                I::End { .. } => write!(out, "e"),
                I::Kill { .. } => write!(out, "k"),
            };
        }
        out.push('\n');
    }
    let _ = write!(out, "{:?} {:?} {:?} ", world.timers.keys(), world.deferred, world.disk.fault);
    for key in &world.unseen {
        let _ = match key {
            Key::Task(id) => write!(out, "{key:?} {:?}", world.disk.tasks.get(id).map(|(t, _)| (t.status, t.owner.clone()))),
            Key::Request(id) => {
                write!(out, "{key:?} {:?}", world.disk.requests.get(id).map(|(r, _)| r.answer.as_ref().map(|a| a.by.clone())))
            }
            Key::Team => write!(out, "{key:?}"),
        };
    }
    let saved = world.disk.team.iter().flat_map(|(team, _)| &team.members);
    saved.for_each(|m| {
        let _ = write!(out, "{} {:?} {} ", m.name, m.status, m.generation.0);
    });
    let offsets = world
        .disk
        .offsets
        .iter()
        .map(|(who, (generation, offset))| (who, generation.0, world.disk.inboxes.get(who.as_str()).map_or(0, Vec::len) > *offset));
    offsets.for_each(|offset| {
        let _ = write!(out, "{offset:?}");
    });
}

/// A state that was reached, and what was spent on the way.
struct Node {
    world: World,
    at: usize,
    depth: u32,
    troubles: u32,
}

struct Search {
    model: Model,
    seen: HashSet<(u64, u64)>,
    hashers: (RandomState, RandomState),
    queue: VecDeque<Node>,
    /// How each state was reached: from which one, and by what.
    paths: Vec<(usize, String)>,
    steps: u64,
    deepest: u32,
    text: String,
}

/// Where histories begin: an empty team, a team at work, one that waits for answers, one that was asked to stop.
fn beginnings(model: Model) -> Vec<World> {
    let mut world = World::new(TeamSettings { max_members: 3, ..TeamSettings::default() });
    world.step(&MemberName::lead());
    let mut all = vec![world.clone()];
    if model.names.len() < 2 {
        return all;
    }
    for who in model.names.iter().copied() {
        let order = SpawnOrder { name: who.into(), require_plan: who == "ann", ..SpawnOrder::default() };
        carry_out(&mut world, Act::Human(TeamCommand::Spawn(order)));
        world.step(&name(who));
    }
    for _ in 0..model.tasks {
        let create = TeamCommand::CreateTask { subject: "t".into(), description: String::new(), blocked_by: vec![] };
        carry_out(&mut world, Act::Human(create));
    }
    model.names.iter().for_each(|who| world.step(&name(who)));
    all.push(world.clone());
    let mut asked = world.clone();
    carry_out(&mut asked, Act::Tool(name("ann"), TeamCommand::SubmitPlan { plan: "1. do".into() }));
    let action = Action::Command { command: "make".into(), cwd: "/w".into() };
    carry_out(&mut asked, Act::Tool(name("bob"), TeamCommand::Authorize(Intent { tool: "bash".into(), action, resolved: Vec::new() })));
    all.push(asked);
    carry_out(&mut world, Act::Human(TeamCommand::StopTeam { now: false }));
    model.names.iter().for_each(|who| world.step(&name(who)));
    all.push(world);
    all
}

impl Search {
    fn new(model: Model) -> Self {
        let mut search = Self {
            model,
            seen: HashSet::new(),
            hashers: (RandomState::new(), RandomState::new()),
            queue: VecDeque::new(),
            paths: Vec::new(),
            steps: 0,
            deepest: 0,
            text: String::new(),
        };
        for (at, world) in beginnings(model).into_iter().enumerate() {
            search.reached(Node { world, at: usize::MAX, depth: 0, troubles: 0 }, format!("beginning {at}"));
        }
        search
    }

    fn path(&self, from: usize, by: String) -> String {
        let mut path = vec![by];
        let mut at = from;
        while let Some((before, words)) = self.paths.get(at) {
            path.push(words.clone());
            at = *before;
        }
        path.reverse();
        path.join("\n")
    }

    fn reached(&mut self, node: Node, by: String) {
        let Node { mut world, at: from, depth, troubles } = node;
        self.steps += 1;
        self.deepest = self.deepest.max(depth);
        check(&mut world);
        if let Some(wrong) = world.ledger.wrong.first() {
            panic!("{wrong}\nafter:\n{}\n{:?}", self.path(from, by), world.core);
        }
        let mut text = std::mem::take(&mut self.text);
        print(&world, &mut text);
        let key = (self.hashers.0.hash_one((&text, troubles)), self.hashers.1.hash_one((&text, troubles)));
        self.text = text;
        if self.seen.insert(key) {
            self.queue.push_back(Node { world, at: self.paths.len(), depth, troubles });
            self.paths.push((from, by));
        }
    }

    fn expand(&mut self) -> bool {
        let Some(node) = self.queue.pop_front() else { return false };
        for act in acts(self.model, &node.world, node.troubles) {
            let mut world = node.world.clone();
            let words = format!("{act:?}");
            let troubles = node.troubles + u32::from(is_trouble(&act));
            carry_out(&mut world, act);
            self.reached(Node { world, at: node.at, depth: node.depth + 1, troubles }, words);
        }
        true
    }
}

/// Searches until nothing is open, or the ordinary run's time (or the full run's states) are used up.
#[expect(clippy::disallowed_methods, reason = "the budget of a test is wall time")]
fn search(model: Model, time: Duration, states: usize) -> Search {
    let full = std::env::var_os("SIGNOFF_FULL").is_some();
    let began = Instant::now();
    let mut search = Search::new(model);
    let goes_on = |search: &Search| {
        let reached = search.seen.len();
        reached < STATES_MIN || if full { reached < states } else { began.elapsed() < time }
    };
    while goes_on(&search) && search.expand() {}
    let Search { seen, steps, queue, deepest, .. } = &search;
    println!("{} states, {steps} steps, {} open, depth {deepest}, {:?}", seen.len(), queue.len(), began.elapsed());
    search
}

#[test]
fn no_order_of_events_in_a_small_team_breaks_a_rule() {
    search(WIDE, Duration::from_secs(6), 100_000);
}

#[test]
fn no_history_of_one_member_breaks_a_rule() {
    search(NARROW, Duration::from_secs(6), 100_000);
}
