//! `none` with a graph: nodes and edges of the person's own. Members work, a fork goes on side by side, a join waits for
//! the ways of its fork, a choice takes exactly one way by a rule on the last output, an end ends.
//!
//! Tokens walk the graph; each carries the last output and the forks it came through. A join lets the ways of one fork
//! through when all of them that still exist have arrived; when nothing else moves, it lets through what is there and
//! says so, so a way that went elsewhere cannot block a run. A member that is needed on two ways at once works on them
//! one after the other.

use super::memory::memory;
use super::{
    ArgValue, CollaborationError, CollaborationProtocol, Condition, DEFAULT_MAX_TURNS, Ending, Graph, Judgement, Node, NodeKind, Remember,
    Report, Route, Seat, Step, Team, answer_or_last, goal_and, status,
};
use crate::domain::{MemberName, Section};
use std::collections::{BTreeMap, BTreeSet};

mod check;

/// A walk without anybody working takes at most so many moves for each node and token.
const MOVES_A_NODE: usize = 16;

memory! {
    /// A place where the run stands.
    struct Token {
        node: String,
        forks: Vec<u32>,
        output: String,
        from: String,
        failed: bool,
        working: bool,
        waiting: bool,
    }
}

memory! {
    /// All places.
    struct Memory {
        tokens: Vec<Token>,
        next_fork: u32,
    }
}

/// A graph that a run follows.
#[derive(Clone, Debug)]
pub struct Custom {
    graph: Graph,
    nodes: BTreeMap<String, usize>,
    ways: BTreeMap<String, Vec<usize>>,
    memory: Memory,
}

/// What a walk over the graph came to.
enum Walk {
    Moved,
    Stands(Vec<Route>),
    Ends(Ending),
}

impl Custom {
    /// Checks everything about the graph but whether its members exist (that is checked with the team).
    pub fn new(graph: Graph) -> Result<Self, CollaborationError> {
        check::check(&graph).map_err(CollaborationError::Graph)?;
        let nodes = graph.nodes.iter().enumerate().map(|(at, node)| (node.id.clone(), at)).collect();
        let mut ways: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, edge) in graph.edges.iter().enumerate() {
            ways.entry(edge.from.clone()).or_default().push(at);
        }
        Ok(Self { graph, nodes, ways, memory: Memory::default() })
    }

    fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.get(id).map(|at| &self.graph.nodes[*at])
    }

    fn targets(&self, id: &str) -> Vec<String> {
        self.ways.get(id).into_iter().flatten().map(|at| self.graph.edges[*at].to.clone()).collect()
    }

    /// The way a choice takes: the first whose condition holds, `otherwise` last.
    fn choose(&self, token: &Token) -> Option<String> {
        let ways = || self.ways.get(&token.node).into_iter().flatten().map(|at| &self.graph.edges[*at]);
        let other = |when: &Option<Condition>| *when == Some(Condition::Otherwise);
        let holds = |when: &Option<Condition>| when.as_ref().is_some_and(|when| when.holds(&token.output, !token.failed));
        let way = ways().find(|edge| !other(&edge.when) && holds(&edge.when)).or_else(|| ways().find(|edge| other(&edge.when)));
        way.map(|edge| edge.to.clone())
    }

    fn step_from(&mut self, at: usize) {
        let next = self.targets(&self.memory.tokens[at].node).into_iter().next().unwrap_or_default();
        self.memory.tokens[at].node = next;
    }

    /// Moves every token as far as it gets, once; collects who shall work.
    fn walk(&mut self, team: &Team) -> Walk {
        let mut routes: Vec<Route> = Vec::new();
        for at in 0..self.memory.tokens.len() {
            if self.memory.tokens[at].working || self.memory.tokens[at].waiting {
                continue;
            }
            let Some(node) = self.node(&self.memory.tokens[at].node).cloned() else {
                return Walk::Ends(Ending::new("the graph has no way on", false));
            };
            match node.kind {
                NodeKind::Member => match self.employ(team, at, &node, &routes) {
                    Some(route) => routes.push(route),
                    None if self.memory.tokens[at].node == node.id => {}
                    None => return Walk::Moved,
                },
                NodeKind::Start => {
                    self.step_from(at);
                    return Walk::Moved;
                }
                NodeKind::Choice => {
                    let next = self.choose(&self.memory.tokens[at]).unwrap_or_default();
                    self.memory.tokens[at].node = next;
                    return Walk::Moved;
                }
                NodeKind::Fork => {
                    self.fork(at);
                    return Walk::Moved;
                }
                NodeKind::Join => self.memory.tokens[at].waiting = true,
                NodeKind::End => return Walk::Ends(self.ending(at)),
                NodeKind::Supervisor | NodeKind::Bidding => {
                    return Walk::Ends(Ending::new("the graph has a node of another protocol", false));
                }
            }
        }
        if self.join(false) { Walk::Moved } else { Walk::Stands(routes) }
    }

    fn ending(&self, at: usize) -> Ending {
        let token = &self.memory.tokens[at];
        let ok = !token.failed;
        let reason =
            if ok { format!("end {:?} reached", token.node) } else { format!("end {:?} reached after {} failed", token.node, token.from) };
        Ending { answer: Some(token.output.clone()), ..Ending::new(reason, ok) }
    }

    /// Puts a member to work, or moves on when it is gone; `None` and unmoved when it is busy.
    fn employ(&mut self, team: &Team, at: usize, node: &Node, routes: &[Route]) -> Option<Route> {
        let name = node.works_there()?;
        let seat = team.seat(&name).filter(|seat| seat.is_live());
        let Some(seat) = seat else {
            let token = &mut self.memory.tokens[at];
            (token.failed, token.from, token.output) = (true, name.to_string(), String::new());
            self.step_from(at);
            return None;
        };
        if seat.is_busy() || routes.iter().any(|route| route.who == name) {
            return None;
        }
        let token = &mut self.memory.tokens[at];
        token.working = true;
        let input =
            if token.output.is_empty() { String::new() } else { format!("Work on the output of {}:\n\n{}", token.from, token.output) };
        Some(Route::new(&name, input, format!("node {:?}", node.id)))
    }

    fn fork(&mut self, at: usize) {
        self.memory.next_fork += 1;
        let fork = self.memory.next_fork;
        let mut token = self.memory.tokens.remove(at);
        token.forks.push(fork);
        let ways = self.targets(&token.node).into_iter().map(|node| Token { node, ..token.clone() });
        self.memory.tokens.extend(ways.collect::<Vec<_>>());
    }

    /// Lets one group of waiting tokens through: complete, or whatever is there when `forced`.
    fn join(&mut self, forced: bool) -> bool {
        let key = |token: &Token| (token.node.clone(), token.forks.last().copied());
        let groups: BTreeSet<(String, Option<u32>)> = self.memory.tokens.iter().filter(|token| token.waiting).map(key).collect();
        let complete = |(node, fork): &(String, Option<u32>)| {
            let Some(fork) = fork else { return true };
            let descends = |token: &&Token| token.forks.contains(fork);
            self.memory.tokens.iter().filter(descends).all(|token| token.waiting && token.node == *node && token.forks.last() == Some(fork))
        };
        let Some((node, fork)) = groups.into_iter().find(|group| forced || complete(group)) else { return false };
        let (arrived, rest): (Vec<Token>, Vec<Token>) = std::mem::take(&mut self.memory.tokens)
            .into_iter()
            .partition(|token| token.waiting && token.node == node && token.forks.last().copied() == fork);
        self.memory.tokens = rest;
        let mut forks = arrived.first().map(|token| token.forks.clone()).unwrap_or_default();
        forks.pop();
        let failed: Vec<&str> = arrived.iter().filter(|token| token.failed).map(|token| token.from.as_str()).collect();
        let outputs: Vec<String> =
            arrived.iter().filter(|token| !token.output.is_empty()).map(|token| format!("[{}]\n{}", token.from, token.output)).collect();
        let from = if failed.is_empty() { node.clone() } else { failed.join(", ") };
        let next = self.targets(&node).into_iter().next().unwrap_or_default();
        let merged =
            Token { node: next, forks, output: outputs.join("\n\n"), from, failed: !failed.is_empty(), working: false, waiting: false };
        self.memory.tokens.push(merged);
        true
    }
}

impl CollaborationProtocol for Custom {
    fn name(&self) -> &'static str {
        "none"
    }

    fn graph(&self, _team: &Team) -> Graph {
        self.graph.clone()
    }

    fn check(&self, team: &Team) -> Result<(), CollaborationError> {
        if team.seats.is_empty() {
            return Err(CollaborationError::EmptyTeam { protocol: self.name() });
        }
        for node in self.graph.nodes.iter().filter(|node| node.kind == NodeKind::Member) {
            let found = node.works_there().is_some_and(|name| team.seat(&name).is_some());
            if !found {
                let wanted = node.member.as_ref().map_or(node.id.as_str(), MemberName::as_str);
                let near = team.nearest(wanted).map(|name| format!(" (did you mean {name}?)")).unwrap_or_default();
                return Err(CollaborationError::Graph(format!("node {:?}: there is no member {wanted:?}{near}", node.id)));
            }
        }
        Ok(())
    }

    fn reset(&mut self, _team: &Team) {
        let start = self.graph.nodes.iter().find(|node| node.kind == NodeKind::Start).map(|node| node.id.clone());
        self.memory = Memory { tokens: vec![Token { node: start.unwrap_or_default(), ..Token::default() }], next_fork: 0 };
    }

    fn save(&self) -> ArgValue {
        self.memory.to_value()
    }

    fn load(&mut self, memory: &ArgValue) -> bool {
        Memory::from_value(memory).map(|memory| self.memory = memory).is_some()
    }

    fn has_supervisor(&self) -> bool {
        false
    }

    /// Two for each member's node: enough for one way back.
    fn own_turns(&self, _team: &Team) -> u32 {
        let members = self.graph.nodes.iter().filter(|node| node.kind == NodeKind::Member).count();
        DEFAULT_MAX_TURNS.max(2 * u32::try_from(members).unwrap_or(u32::MAX / 2))
    }

    fn agent_instruction(&self, _team: &Team, _who: &Seat) -> String {
        status::STATUS_RULE.to_owned()
    }

    fn agent_prompt(&self, team: &Team, _who: &Seat, route: &Route) -> String {
        goal_and(team, &route.instruction)
    }

    fn should_run_supervisor(&mut self, team: &Team) -> Step {
        // Members that left are walked past, so a circle of them must be bounded here.
        for _ in 0..MOVES_A_NODE * (self.graph.nodes.len() + self.memory.tokens.len()) {
            match self.walk(team) {
                Walk::Moved => {}
                Walk::Ends(ending) => return Step::End(ending),
                Walk::Stands(routes) if !routes.is_empty() => return Step::Route(routes),
                Walk::Stands(_) if team.busy() > 0 => return Step::Wait,
                Walk::Stands(_) if self.join(true) => {}
                Walk::Stands(_) => break,
            }
        }
        Step::End(Ending::new("the graph has no way on", false))
    }

    fn on_agent_end(&mut self, _team: &Team, who: &Seat, report: &Report<'_>) -> Judgement {
        let judgement = status::judge(report);
        let works =
            |token: &Token| token.working && self.node(&token.node).and_then(Node::works_there).is_some_and(|name| name == *who.name());
        if let Some(at) = self.memory.tokens.iter().position(works) {
            let token = &mut self.memory.tokens[at];
            token.working = false;
            token.failed = judgement != Judgement::Done;
            token.from = who.name().to_string();
            token.output = report.output.to_owned();
            self.step_from(at);
        }
        judgement
    }

    fn view(&self, _team: &Team) -> Vec<Section> {
        let row = |token: &Token| {
            let state = match (token.working, token.waiting, token.failed) {
                (true, _, _) => "at work",
                (false, true, _) => "waits for the other ways",
                (false, false, true) => "failed",
                (false, false, false) => "on its way",
            };
            [token.node.clone(), state.to_owned(), token.from.clone(), token.output.clone()]
        };
        vec![Section::new("Places", &["node", "state", "from", "carries"]).with(self.memory.tokens.iter().map(row))]
    }

    fn on_finished(&mut self, team: &Team, ending: &Ending) -> String {
        answer_or_last(team, ending)
    }
}
