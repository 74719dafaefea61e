//! Everything that anybody can do to a team, drawn at random.

use super::disk::{Fault, Key};
use super::rng::Rng;
use super::world::{World, name};
use signoff::domain::command::{Action, Intent};
use signoff::domain::settings::PlanMode;
use signoff::domain::*;
use signoff::protocol::AgentReport;
use signoff::protocol::turn::Outcome as Rest;

pub const NAMES: [&str; 5] = ["ann", "bob", "cid", "dan", "lead"];
const ODD: [&str; 6] = ["Ann", "BOB", "nobody", "", "../x", "human"];
const PLANS: [&str; 4] = ["1. look\n2. change", "1. change", "# drop it all", "  "];
/// Boards stay small: rules do not depend on their size, and a small one is hit more often.
const TASKS_MAX: usize = 7;

/// One step of somebody; returns it in words.
pub fn act(world: &mut World, rng: &mut Rng) -> String {
    world.pass(u64::try_from(rng.below(40)).unwrap() + 1);
    // A team that lies about does nothing: somebody starts it again.
    if world.agents.len() < 3 && rng.one_in(4) {
        return revive(world, rng);
    }
    match rng.weighted(&[100, 90, 40, 14, 12, 4, 2, 8]) {
        0 => agent_step(world, rng),
        1 => agent_tool(world, rng),
        2 => steering(world, rng),
        3 => super::meddling::meddle(world, rng),
        4 => timer(world, rng),
        5 => ghost(world, rng),
        6 => trouble(world, rng),
        _ => look(world, rng),
    }
}

fn revive(world: &mut World, rng: &mut Rng) -> String {
    if !world.agents.contains_key(&MemberName::lead()) {
        return give(world, Party::Human, TeamCommand::Send { to: "lead".into(), content: "go on".into() });
    }
    let name = rng.pick(&["ann", "bob", "cid"]).to_owned();
    if rng.one_in(2) {
        return give(world, Party::Human, TeamCommand::Resume { target: name });
    }
    let order = SpawnOrder { name, prompt: Some("begin".into()), require_plan: rng.one_in(3), ..SpawnOrder::default() };
    give(world, Party::Human, TeamCommand::Spawn(order))
}

fn some_agent(world: &World, rng: &mut Rng) -> Option<MemberName> {
    let names: Vec<&MemberName> = world.agents.keys().collect();
    (!names.is_empty()).then(|| rng.pick(&names).clone())
}

/// The agent takes in what waits, or its turn ends one way or another.
fn agent_step(world: &mut World, rng: &mut Rng) -> String {
    let Some(who) = some_agent(world, rng) else { return "nobody runs".into() };
    match rng.weighted(&[120, 20, 10, 4, 6, 1, 1]) {
        0 => world.step(&who),
        1 => world.rests(&who, Rest::Done),
        2 => world.rests(&who, Rest::Idled),
        3 => world.rests(&who, Rest::RoundCap(50)),
        4 => {
            let used = TokenUsage { input: 100, output: 50, ..TokenUsage::default() };
            let generation = world.agents[&who].generation;
            world.report(&who, generation, AgentReport::Used { model: "m".into(), usage: used, context: 150, window: 8_000 });
        }
        5 => world.ends(&who, true, "the provider refused the key"),
        _ => world.ends(&who, rng.one_in(2), "internal error (a panic)"),
    }
    format!("{who} steps")
}

fn some_task(rng: &mut Rng) -> TaskId {
    TaskId(u64::try_from(rng.below(TASKS_MAX + 1)).unwrap() + 1)
}

fn some_request(world: &World, rng: &mut Rng) -> Option<(RequestId, Digest)> {
    let open: Vec<_> = world.core.requests().filter(|r| r.is_pending()).collect();
    let all: Vec<_> = world.core.requests().collect();
    let of = if open.is_empty() || rng.one_in(4) { &all } else { &open };
    let mut sorted: Vec<_> = of.iter().map(|r| (r.id.clone(), r.digest())).collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    if sorted.is_empty() { None } else { Some(rng.pick(&sorted)) }
}

fn verdict(rng: &mut Rng) -> Verdict {
    match rng.below(6) {
        0 | 1 => Verdict::approve(),
        2 => Verdict::Approve { note: Some("go".into()), edited: Some("1. edited".into()), always: false },
        3 => Verdict::Approve { note: None, edited: None, always: true },
        4 => Verdict::Approve { note: None, edited: Some(" ".into()), always: false },
        _ => Verdict::Reject { feedback: Some("no".into()) },
    }
}

fn answer(world: &World, rng: &mut Rng) -> TeamCommand {
    let unknown = || (RequestId::parse("ffffffff").unwrap(), Digest::of("x"));
    let (id, digest) = some_request(world, rng).unwrap_or_else(unknown);
    let shown = if rng.one_in(8) { Digest::of("something else") } else { digest };
    TeamCommand::Answer { id, verdict: verdict(rng), shown }
}

fn own_task(world: &World, who: &MemberName, rng: &mut Rng) -> TaskId {
    let own = world.core.board().in_progress_of(who).next();
    own.filter(|_| !rng.one_in(4)).unwrap_or_else(|| some_task(rng))
}

fn agent_tool(world: &mut World, rng: &mut Rng) -> String {
    let Some(who) = some_agent(world, rng) else { return "nobody runs".into() };
    let intent = |action| TeamCommand::Authorize(Intent { tool: "t".into(), action, resolved: Vec::new() });
    let command = match rng.weighted(&[8, 6, 10, 6, 12, 4, 3, 4, 6, 14, 2, 5]) {
        0 => intent(Action::Write { path: "src/a.rs".into() }),
        1 => intent(Action::Command { command: format!("make {}", rng.below(3)), cwd: "/w".into() }),
        2 => TeamCommand::SubmitPlan { plan: rng.pick(&PLANS).into() },
        3 => TeamCommand::ClaimTask { task: some_task(rng) },
        4 => TeamCommand::CompleteTask { task: own_task(world, &who, rng) },
        5 => TeamCommand::ReleaseTask { task: own_task(world, &who, rng), note: Some("blocked".into()) },
        6 => TeamCommand::EditBlockers { task: some_task(rng), add: vec![some_task(rng)], remove: vec![some_task(rng)] },
        7 => TeamCommand::Send { to: rng.pick(&NAMES).into(), content: "hi".into() },
        8 => answer(world, rng),
        9 => own_shutdown(world, &who, rng),
        10 => TeamCommand::Brief,
        _ if who.is_lead() => return steering_by(world, Party::lead(), rng),
        _ => create(world, rng),
    };
    let words = format!("{who}: {command:?}");
    world.tool(&who, command);
    words
}

/// A member answers what it was asked, mostly.
fn own_shutdown(world: &World, who: &MemberName, rng: &mut Rng) -> TeamCommand {
    let asked = world.agents[who].asked.last().and_then(|id| world.core.request(id));
    // The lead reviews plans where it may.
    let open = world.core.requests().filter(|r| who.is_lead() && r.is_pending() && r.kind == RequestKind::Plan);
    match asked.or_else(|| open.min_by_key(|r| r.id.clone())) {
        Some(request) => TeamCommand::Answer { id: request.id.clone(), verdict: verdict(rng), shown: request.digest() },
        None => answer(world, rng),
    }
}

fn create(world: &World, rng: &mut Rng) -> TeamCommand {
    let blocked_by = if rng.one_in(2) { vec![some_task(rng)] } else { vec![] };
    if world.core.board().len() >= TASKS_MAX {
        return TeamCommand::DeleteTask { task: some_task(rng) };
    }
    TeamCommand::CreateTask { subject: if rng.one_in(9) { " " } else { "work" }.into(), description: String::new(), blocked_by }
}

/// Commands of the person, and of those who have no right to give them.
fn steering(world: &mut World, rng: &mut Rng) -> String {
    let by = match rng.weighted(&[20, 1, 1, 1]) {
        0 => Party::Human,
        1 => Party::System,
        2 => Party::Outside("x y".into()),
        _ => Party::Member(name(rng.pick(&["ann", "bob", "ghost"]))),
    };
    steering_by(world, by, rng)
}

fn steering_by(world: &mut World, by: Party, rng: &mut Rng) -> String {
    let target = if rng.one_in(12) { rng.pick(&ODD) } else { rng.pick(&NAMES) }.to_owned();
    let command = match rng.weighted(&[16, 30, 18, 36, 4, 6, 8, 12, 6, 4, 8, 6, 4, 4, 3, 1]) {
        0 => TeamCommand::Spawn(SpawnOrder {
            name: target,
            role: "coder".into(),
            prompt: rng.one_in(2).then(|| "begin".into()),
            require_plan: rng.one_in(3),
            model: None,
        }),
        1 => create(world, rng),
        2 => TeamCommand::RequestShutdown { target, reason: None },
        3 => answer(world, rng),
        4 => TeamCommand::ForceStop { target },
        5 => TeamCommand::Interrupt { target },
        6 => TeamCommand::Resume { target },
        7 => TeamCommand::Send { to: target, content: if rng.one_in(9) { " " } else { "do it" }.into() },
        8 => TeamCommand::CompleteTask { task: some_task(rng) },
        9 => TeamCommand::DeleteTask { task: some_task(rng) },
        10 => TeamCommand::ReleaseTask { task: some_task(rng), note: None },
        11 => TeamCommand::EditBlockers { task: some_task(rng), add: vec![some_task(rng)], remove: vec![some_task(rng)] },
        12 => TeamCommand::RepairTask { task: some_task(rng) },
        13 => TeamCommand::Broadcast { content: "all".into() },
        14 => TeamCommand::SetPlanMode { mode: rng.pick(&[PlanMode::Ask, PlanMode::Auto, PlanMode::Deny]) },
        _ => TeamCommand::StopTeam { now: rng.one_in(2) },
    };
    give(world, by, command)
}

/// A command, with its notes for the ledger.
pub fn give(world: &mut World, by: Party, command: TeamCommand) -> String {
    use super::world::Outcome;
    let words = format!("{by}: {command:?}");
    if matches!((&command, &by), (TeamCommand::StopTeam { .. }, Party::Human | Party::System)) {
        world.ledger.stopping = true;
    }
    let mode = match &command {
        TeamCommand::SetPlanMode { mode } => Some(*mode),
        _ => None,
    };
    let outcome = match by.member().filter(|who| who.is_lead()) {
        Some(lead) => world.tool(&lead.clone(), command),
        None => world.command(by, command),
    };
    if let (Some(mode), Outcome::Reply(_)) = (mode, &outcome) {
        world.ledger.plans = mode;
    }
    words
}

fn timer(world: &mut World, rng: &mut Rng) -> String {
    if rng.one_in(3) {
        world.flush();
        return "the team's file is written".into();
    }
    let Some(timer) = world.next_timer() else { return "no timer".into() };
    world.fire(&timer);
    format!("{timer:?} fires")
}

/// What an agent that ended left behind arrives after its end.
fn ghost(world: &mut World, rng: &mut Rng) -> String {
    if world.ghosts.is_empty() {
        return "no ghost".into();
    }
    let (who, generation) = rng.pick(&world.ghosts);
    if world.agents.get(&who).is_some_and(|agent| agent.generation == generation) {
        return "it runs again".into();
    }
    let report = match rng.below(4) {
        0 => AgentReport::Began { cause: "late".into() },
        1 => AgentReport::Rested { outcome: Rest::Done, text: "late".into() },
        2 => AgentReport::Ended { failed: rng.one_in(2), reason: "late".into() },
        _ => AgentReport::Doing(Activity::Model { since: world.now }),
    };
    let words = format!("late of {who} g{}: {report:?}", generation.0);
    world.report(&who, generation, report);
    words
}

/// The disk is full for a moment, or the machine dies at one of the next writes, or now.
fn trouble(world: &mut World, rng: &mut Rng) -> String {
    let after = u32::try_from(rng.below(4)).unwrap();
    match rng.below(4) {
        0 => {
            world.reopen();
            "crash".into()
        }
        1 => {
            world.disk.fault = Some(Fault::Crashes(after));
            format!("power goes after {after} writes")
        }
        _ => {
            world.disk.fault = Some(Fault::Fails(after));
            format!("a write fails after {after}")
        }
    }
}

/// The watcher tells of one of the changes.
fn look(world: &mut World, rng: &mut Rng) -> String {
    let unseen: Vec<Key> = world.unseen.iter().cloned().collect();
    if unseen.is_empty() {
        return "nothing changed".into();
    }
    let key = rng.pick(&unseen);
    world.notice(&key);
    format!("{key:?} is noticed")
}
