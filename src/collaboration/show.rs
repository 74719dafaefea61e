//! What all protocols show: the members with what they last said, the graph, and where in it somebody is at work.

use super::engine::Engine;
use super::{Condition, Graph, NodeKind, Seat, SeatState, Team};
use crate::domain::Section;
use crate::domain::shown::{NodeMark, NodeState, ShownEdge, ShownGraph, ShownNode};

impl Engine {
    /// Tables for the person: the members' reports and errors, then what is particular to the protocol.
    pub fn view(&self) -> Vec<Section> {
        let mut sections = vec![reports(self.team())];
        sections.extend(self.protocol().view(self.team()));
        for (name, engine) in self.teams() {
            sections.extend(engine.view().into_iter().map(|section| Section { title: format!("{name} / {}", section.title), ..section }));
        }
        sections
    }

    /// The graph as it is drawn.
    pub fn shown_graph(&self) -> ShownGraph {
        draw(&self.graph())
    }

    /// Where something is to be seen in this graph.
    pub fn marks(&self, graph: &ShownGraph) -> Vec<NodeMark> {
        let mark = |node: &ShownNode| {
            let state = match node.kind.as_str() {
                "supervisor" => self.is_asking().then_some(NodeState::Running),
                "member" => node.member.as_ref().and_then(|name| self.team().seat(name)).and_then(state_of),
                _ => None,
            };
            state.map(|state| NodeMark { node: node.id.clone(), state })
        };
        graph.nodes.iter().filter_map(mark).collect()
    }
}

fn state_of(seat: &Seat) -> Option<NodeState> {
    match seat.state {
        SeatState::Running => Some(NodeState::Running),
        SeatState::Held | SeatState::Interrupted => Some(NodeState::Held),
        SeatState::Gone => Some(NodeState::Gone),
        SeatState::Free if seat.error.is_some() => Some(NodeState::Failed),
        SeatState::Free if seat.runs > 0 => Some(NodeState::Done),
        SeatState::Free => None,
    }
}

fn reports(team: &Team) -> Section {
    let row = |seat: &Seat| {
        let said = seat.error.as_ref().map_or_else(|| seat.output.clone(), |error| format!("ERROR {error}"));
        [seat.name().to_string(), seat.word().to_owned(), seat.runs.to_string(), said]
    };
    Section::new("Reports", &["member", "state", "runs", "last report or error"]).with(team.seats.iter().map(row))
}

fn draw(graph: &Graph) -> ShownGraph {
    let nodes = graph.nodes.iter().map(|node| {
        let member = node.member.clone().or_else(|| crate::domain::MemberName::parse(&node.id).ok());
        ShownNode { id: node.id.clone(), kind: kind(node.kind).into(), member: member.filter(|_| node.kind == NodeKind::Member) }
    });
    let edges =
        graph.edges.iter().map(|edge| ShownEdge { from: edge.from.clone(), to: edge.to.clone(), when: edge.when.as_ref().map(condition) });
    ShownGraph { nodes: nodes.collect(), edges: edges.collect() }
}

fn kind(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Start => "start",
        NodeKind::Member => "member",
        NodeKind::Supervisor => "supervisor",
        NodeKind::Bidding => "bidding",
        NodeKind::Fork => "fork",
        NodeKind::Join => "join",
        NodeKind::Choice => "choice",
        NodeKind::End => "end",
    }
}

fn condition(when: &Condition) -> String {
    match when {
        Condition::Ok => "ok".into(),
        Condition::Failed => "failed".into(),
        Condition::Empty => "empty".into(),
        Condition::Contains(text) => format!("contains {text:?}"),
        Condition::Lacks(text) => format!("lacks {text:?}"),
        Condition::Otherwise => "otherwise".into(),
    }
}
