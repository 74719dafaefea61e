//! Graphs: the shape a protocol gives to a team, and the shape a person can give to it by hand (`none` with a graph).

use crate::domain::MemberName;
use serde::{Deserialize, Serialize};

/// Nodes and edges. What a protocol's graph shows; with protocol `none` what the run follows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// In the order they were given.
    #[serde(default)]
    pub nodes: Vec<Node>,
    /// In order: the first edge of a choice whose condition holds is taken.
    #[serde(default)]
    pub edges: Vec<Edge>,
}

/// A place in a graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Unique in its graph.
    pub id: String,
    /// What happens there.
    pub kind: NodeKind,
    /// Who works there; for [`NodeKind::Member`] only, the node's id where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberName>,
}

/// What happens at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// The run begins.
    Start,
    /// A member works.
    Member,
    /// The lead decides who goes next.
    Supervisor,
    /// All members bid.
    Bidding,
    /// One way becomes several that go on side by side.
    Fork,
    /// The ways of one fork become one again.
    Join,
    /// Exactly one of several ways is taken, by a rule on the last output.
    Choice,
    /// The run ends.
    End,
}

/// A way from one node to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// The node it leaves.
    pub from: String,
    /// The node it enters.
    pub to: String,
    /// When it is taken; for edges that leave a choice only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
}

/// A rule on the last output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The last member succeeded.
    Ok,
    /// The last member failed.
    Failed,
    /// The output is empty.
    Empty,
    /// The output contains this text, ignoring case.
    Contains(String),
    /// The output does not contain this text, ignoring case.
    Lacks(String),
    /// No other edge of the choice holds.
    Otherwise,
}

impl Condition {
    /// Whether it holds for an output and its success. `Otherwise` always does: it is asked last.
    pub fn holds(&self, output: &str, ok: bool) -> bool {
        let contains = |text: &str| output.to_lowercase().contains(&text.to_lowercase());
        match self {
            Self::Ok => ok,
            Self::Failed => !ok,
            Self::Empty => output.trim().is_empty(),
            Self::Contains(text) => contains(text),
            Self::Lacks(text) => !contains(text),
            Self::Otherwise => true,
        }
    }
}

impl Node {
    /// The member that works at this node: the one it names, else the one of its own name.
    pub fn works_there(&self) -> Option<MemberName> {
        self.member.clone().or_else(|| MemberName::parse(&self.id).ok())
    }
}

impl Graph {
    /// Adds a node that is not a member.
    #[must_use]
    pub fn node(mut self, id: &str, kind: NodeKind) -> Self {
        self.nodes.push(Node { id: id.to_owned(), kind, member: None });
        self
    }

    /// Adds a member's node, with the member's name as its id.
    #[must_use]
    pub fn member(mut self, name: &MemberName) -> Self {
        self.nodes.push(Node { id: name.as_str().to_owned(), kind: NodeKind::Member, member: Some(name.clone()) });
        self
    }

    /// Adds an edge.
    #[must_use]
    pub fn edge(mut self, from: &str, to: &str) -> Self {
        self.edges.push(Edge { from: from.to_owned(), to: to.to_owned(), when: None });
        self
    }

    /// Adds an edge that leaves a choice.
    #[must_use]
    pub fn edge_when(mut self, from: &str, to: &str, when: Condition) -> Self {
        self.edges.push(Edge { from: from.to_owned(), to: to.to_owned(), when: Some(when) });
        self
    }

    /// Start, supervisor and every member around it, end.
    pub fn star<'a>(members: impl IntoIterator<Item = &'a MemberName>) -> Self {
        let hub = Self::default().node("start", NodeKind::Start).node("supervisor", NodeKind::Supervisor);
        let graph = hub.node("end", NodeKind::End).edge("start", "supervisor").edge("supervisor", "end");
        members
            .into_iter()
            .fold(graph, |graph, name| graph.member(name).edge("supervisor", name.as_str()).edge(name.as_str(), "supervisor"))
    }
}
