//! `swarm`: the first member begins; tasks emerge from the work into a pool, and whoever worked least lately takes the
//! next one. A task leaves the pool when it succeeds and returns when its agent fails.
//!
//! Pheromone: after each run −1 for all (not below 0) and +5 for who ran; the lowest acts, ties by registration order.
//! A tagged task goes before the others and to its agent; after a failure the tag is dropped, so that somebody else
//! may try. One step costs the number of members. Origin: Solon AI `SwarmProtocol`.

use super::memory::memory;
use super::{
    ArgValue, Call, CollaborationProtocol, DEFAULT_MAX_TURNS, FINISH, FinishVerdict, Graph, Judgement, Param, ParamKind, ProtocolTool,
    ROUTE_TO, Remember, Report, Route, Said, Seat, Step, Team, dashboard, fall_back_to_last, status,
};
use crate::domain::Section;
use crate::domain::text::one_line;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// So many tasks may be open at one time, the one being worked on included.
pub const OPEN_MAX: usize = 32;
/// Added to who just ran.
const PHEROMONE_RUN: u32 = 5;
/// Longest text of a task, in characters.
const TASK_MAX: usize = 2_000;

const TASK_FIELDS: &[Param] = &[
    Param::required("task", ParamKind::Text, "what has to be done"),
    Param::optional("agent", ParamKind::Text, "who should do it, if that matters"),
];

/// Puts tasks into the pool.
pub const EMERGE_TASKS: ProtocolTool = ProtocolTool {
    name: "emerge_tasks",
    description: "Put tasks that the work brought up into the team's pool. At most 32 are open at one time.",
    params: &[Param::required("tasks", ParamKind::Records(TASK_FIELDS), "the tasks")],
};

memory! {
    /// A task in the pool.
    struct Item {
        id: u32,
        task: String,
        agent: Option<String>,
        tries: u32,
    }
}

memory! {
    /// The swarm's pool and trails.
    struct Memory {
        started: bool,
        next: u32,
        open: Vec<Item>,
        active: Option<Item>,
        trails: BTreeMap<String, u32>,
    }
}

/// The swarm.
#[derive(Clone, Debug, Default)]
pub struct Swarm {
    memory: Memory,
}

impl Swarm {
    fn emerge(&mut self, team: &Team, call: &Call) -> Result<Said, String> {
        let mut taken = Vec::new();
        let mut refused = Vec::new();
        for record in call.list("tasks") {
            let text = record.get("task").map(ToString::to_string).unwrap_or_default();
            match self.add(team, text.trim(), record.get("agent").and_then(ArgValue::as_text)) {
                Ok(line) => taken.push(line),
                Err(line) => refused.push(line),
            }
        }
        let said = [taken.as_slice(), refused.as_slice()].concat().join("\n");
        match (taken.is_empty(), refused.is_empty()) {
            (true, true) => Err("tasks is empty: give at least one {task, agent?}".into()),
            (true, false) => Err(said),
            (false, _) => Ok(Said::noted(said)),
        }
    }

    fn add(&mut self, team: &Team, text: &str, agent: Option<&str>) -> Result<String, String> {
        let short = one_line(text, 80);
        let same = |item: &Item| normal(&item.task) == normal(text);
        if text.is_empty() {
            return Err("refused: a task without words".into());
        }
        if self.memory.open.iter().chain(&self.memory.active).any(same) {
            return Err(format!("refused: {short:?} is in the pool already"));
        }
        if self.memory.open.len() + usize::from(self.memory.active.is_some()) >= OPEN_MAX {
            return Err(format!("refused: {short:?}: {OPEN_MAX} tasks are open already; let the team work them off first"));
        }
        let found = agent.map(|name| team.find(name));
        let note = match &found {
            Some(Ok(seat)) => format!(", for {}", seat.name()),
            Some(Err(why)) => format!(", untagged: {why}"),
            None => String::new(),
        };
        self.memory.next += 1;
        let agent = found.and_then(Result::ok).map(|seat| seat.name().to_string());
        self.memory.open.push(Item { id: self.memory.next, task: text.chars().take(TASK_MAX).collect(), agent, tries: 0 });
        Ok(format!("taken: T{} {short:?}{note}", self.memory.next))
    }

    fn trail(&self, seat: &Seat) -> u32 {
        self.memory.trails.get(seat.name().as_str()).copied().unwrap_or(0)
    }

    fn lowest<'a>(&self, team: &'a Team) -> Option<&'a Seat> {
        team.live().filter(|seat| !seat.is_busy()).min_by_key(|seat| self.trail(seat))
    }

    /// The next open task and who takes it.
    fn pick(&mut self, team: &Team) -> Option<Route> {
        let tagged = self.memory.open.iter().enumerate().find_map(|(at, item)| {
            let seat = team.find(item.agent.as_deref()?).ok().filter(|seat| !seat.is_busy())?;
            Some((at, seat, "its tag"))
        });
        let (at, seat, why) = tagged.or_else(|| Some((0, self.lowest(team)?, "lowest pheromone")))?;
        if at >= self.memory.open.len() {
            return None;
        }
        let item = self.memory.open.remove(at);
        let rule = format!("task T{} by {why} ({})", item.id, self.trail(seat));
        let route = Route::new(seat.name(), item.task.clone(), rule).on(u64::from(item.id));
        self.memory.active = Some(item);
        Some(route)
    }

    fn evaporate(&mut self, who: &Seat) {
        self.memory.trails.retain(|_, trail| {
            *trail = trail.saturating_sub(1);
            *trail > 0
        });
        *self.memory.trails.entry(who.name().to_string()).or_default() += PHEROMONE_RUN;
    }
}

fn normal(text: &str) -> String {
    text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

impl CollaborationProtocol for Swarm {
    fn name(&self) -> &'static str {
        "swarm"
    }

    fn graph(&self, team: &Team) -> Graph {
        let mut graph = Graph::star(team.live().map(Seat::name));
        graph.edges.retain(|edge| edge.from != "start");
        let first = team.first().map_or("supervisor", |seat| seat.name().as_str());
        graph.edge("start", first)
    }

    fn reset(&mut self, _team: &Team) {
        self.memory = Memory::default();
    }

    fn save(&self) -> ArgValue {
        self.memory.to_value()
    }

    fn load(&mut self, memory: &ArgValue) -> bool {
        Memory::from_value(memory).map(|memory| self.memory = memory).is_some()
    }

    /// Two for each task, as far as one full pool goes, beside the usual ones.
    fn own_turns(&self, _team: &Team) -> u32 {
        DEFAULT_MAX_TURNS + 2 * self.memory.next.min(OPEN_MAX as u32)
    }

    fn agent_tools(&self, _team: &Team, _who: &Seat) -> Vec<ProtocolTool> {
        vec![EMERGE_TASKS]
    }

    fn agent_instruction(&self, _team: &Team, _who: &Seat) -> String {
        format!(
            "You work in a swarm: do your task, and put what else has to be done into the pool with emerge_tasks.\n{}",
            status::STATUS_RULE
        )
    }

    fn on_agent_tool(&mut self, team: &Team, _who: &Seat, call: &Call) -> Result<Said, String> {
        self.emerge(team, call)
    }

    fn on_agent_end(&mut self, _team: &Team, who: &Seat, report: &Report<'_>) -> Judgement {
        self.evaporate(who);
        let judgement = status::judge(report);
        let failed = matches!(judgement, Judgement::Failed(_));
        if let Some(item) = self.memory.active.take().filter(|_| failed) {
            self.memory.open.push(Item { agent: None, tries: item.tries + 1, ..item });
        }
        judgement
    }

    fn should_run_supervisor(&mut self, team: &Team) -> Step {
        if team.busy() > 0 {
            return Step::Wait;
        }
        if !self.memory.started {
            self.memory.started = true;
            let first = team.first().map(|seat| Route::new(seat.name(), "", "the first member begins"));
            return first.map_or(Step::Supervisor, |route| Step::Route(vec![route]));
        }
        self.pick(team).map_or(Step::Supervisor, |route| Step::Route(vec![route]))
    }

    fn supervisor_tools(&self, _team: &Team) -> Vec<ProtocolTool> {
        vec![EMERGE_TASKS, ROUTE_TO, FINISH]
    }

    fn supervisor_instruction(&self, _team: &Team) -> String {
        "You watch a swarm. Put what is still missing into the pool with emerge_tasks (the swarm takes it from there), send one \
         member with route_to, or finish{answer} when the goal is reached and the pool is empty.\n\
         By text: @emerge_tasks {\"tasks\": [{\"task\": \"…\"}]}, a member's name and what it shall do, or [TEAM_FINISH] and the answer.\n"
            .into()
    }

    fn supervisor_context(&self, team: &Team) -> String {
        let mut out = dashboard::show(team);
        let _ = writeln!(out, "\n## Pool ({} open)", self.memory.open.len());
        for item in &self.memory.open {
            let tag = item.agent.as_ref().map(|name| format!(" [{name}]")).unwrap_or_default();
            let tries = if item.tries > 0 { format!(" (failed {}×)", item.tries) } else { String::new() };
            let _ = writeln!(out, "- T{}{tag} {}{tries}", item.id, one_line(&item.task, 200));
        }
        let _ = writeln!(out, "Pheromones: {}", self.memory.trails.to_value());
        out
    }

    fn on_supervisor_tool(&mut self, team: &Team, call: &Call) -> Result<Said, String> {
        self.emerge(team, call)
    }

    /// While tasks are open the pool's rule decides, whoever was named.
    fn resolve_route(&mut self, team: &Team, route: Route) -> Step {
        Step::Route(vec![self.pick(team).unwrap_or(route)])
    }

    fn may_finish(&self, team: &Team) -> FinishVerdict {
        let open = self.memory.open.len() + usize::from(self.memory.active.is_some());
        match (team.has_acted(), open) {
            (false, _) => FinishVerdict::Refused("no member has acted yet".into()),
            (true, 0) => FinishVerdict::Allowed,
            (true, open) => FinishVerdict::Refused(format!("{open} tasks are open in the pool")),
        }
    }

    fn view(&self, team: &Team) -> Vec<Section> {
        let row = |item: &Item, state: &str| {
            let tries = if item.tries > 0 { format!("failed {}x", item.tries) } else { String::new() };
            [format!("T{}", item.id), state.to_owned(), item.agent.clone().unwrap_or_default(), tries, item.task.clone()]
        };
        let active = self.memory.active.iter().map(|item| row(item, "at work"));
        let rows = active.chain(self.memory.open.iter().map(|item| row(item, "open")));
        let trails = team.live().map(|seat| [seat.name().to_string(), self.trail(seat).to_string()]);
        vec![
            Section::new(format!("Task pool ({} open)", self.memory.open.len()), &["task", "state", "for", "tries", "what"]).with(rows),
            Section::new("Pheromones (the lowest acts next)", &["member", "pheromone"]).with(trails),
        ]
    }

    fn fallback(&mut self, team: &Team, reason: &str) -> Step {
        match self.pick(team) {
            Some(route) => Step::Route(vec![route]),
            None => fall_back_to_last(team, reason),
        }
    }
}
