//! Whether a custom graph works out, said so that the person knows which line to mend.

use crate::collaboration::{Condition, Edge, Graph, Node, NodeKind};
use std::collections::{BTreeMap, BTreeSet};

/// A graph may have at most so many nodes; more is a mistake in a file.
const NODES_MAX: usize = 200;

/// The first fault found, in words.
pub fn check(graph: &Graph) -> Result<(), String> {
    if graph.nodes.is_empty() {
        return Err("there are no nodes: give at least start, one member and end".into());
    }
    if graph.nodes.len() > NODES_MAX {
        return Err(format!("{} nodes are more than {NODES_MAX}", graph.nodes.len()));
    }
    let nodes = by_id(graph)?;
    let starts = graph.nodes.iter().filter(|node| node.kind == NodeKind::Start).count();
    if starts != 1 {
        return Err(format!("there must be exactly one start node, not {starts}"));
    }
    if !graph.nodes.iter().any(|node| node.kind == NodeKind::End) {
        return Err("there is no end node".into());
    }
    edges(graph, &nodes)?;
    graph.nodes.iter().try_for_each(|node| degrees(graph, node))?;
    reachable(graph)?;
    idle_circle(graph, &nodes)
}

fn by_id(graph: &Graph) -> Result<BTreeMap<&str, &Node>, String> {
    let mut nodes = BTreeMap::new();
    for node in &graph.nodes {
        if node.id.trim().is_empty() {
            return Err("a node has no id".into());
        }
        if nodes.insert(node.id.as_str(), node).is_some() {
            return Err(format!("two nodes have the id {:?}", node.id));
        }
        match (node.kind, &node.member) {
            (NodeKind::Supervisor | NodeKind::Bidding, _) => {
                return Err(format!("node {:?}: kinds supervisor and bidding belong to other protocols", node.id));
            }
            (NodeKind::Start | NodeKind::Fork | NodeKind::Join | NodeKind::Choice | NodeKind::End, Some(_)) => {
                return Err(format!("node {:?}: only nodes of kind member name a member", node.id));
            }
            (NodeKind::Member | NodeKind::Start | NodeKind::Fork | NodeKind::Join | NodeKind::Choice | NodeKind::End, _) => {}
        }
    }
    Ok(nodes)
}

fn edges(graph: &Graph, nodes: &BTreeMap<&str, &Node>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for Edge { from, to, when } in &graph.edges {
        for end in [from, to] {
            if !nodes.contains_key(end.as_str()) {
                let near = crate::domain::names::nearest(end, nodes.keys().copied());
                let hint = near.map(|id| format!(" (did you mean {id}?)")).unwrap_or_default();
                return Err(format!("edge {from} → {to}: there is no node {end:?}{hint}"));
            }
        }
        let choice = nodes.get(from.as_str()).is_some_and(|node| node.kind == NodeKind::Choice);
        if when.is_some() && !choice {
            return Err(format!("edge {from} → {to}: only edges that leave a choice have a condition"));
        }
        if when.is_none() && choice {
            return Err(format!("edge {from} → {to}: an edge that leaves a choice needs a condition (`otherwise` for the rest)"));
        }
        if !choice && !seen.insert((from, to)) {
            return Err(format!("edge {from} → {to} is there twice"));
        }
    }
    Ok(())
}

fn degrees(graph: &Graph, node: &Node) -> Result<(), String> {
    let out: Vec<&Edge> = graph.edges.iter().filter(|edge| edge.from == node.id).collect();
    let into = graph.edges.iter().filter(|edge| edge.to == node.id).count();
    let id = &node.id;
    match node.kind {
        NodeKind::Start if into > 0 => Err(format!("node {id:?}: nothing leads back to the start")),
        NodeKind::End if !out.is_empty() => Err(format!("node {id:?}: nothing leaves an end")),
        NodeKind::Start | NodeKind::Member | NodeKind::Join if out.len() != 1 => {
            Err(format!("node {id:?}: exactly one edge must leave it, not {} (use a fork or a choice)", out.len()))
        }
        NodeKind::Fork if out.len() < 2 => Err(format!("node {id:?}: at least two edges must leave a fork")),
        NodeKind::Join if into < 2 => Err(format!("node {id:?}: at least two edges must enter a join")),
        NodeKind::Choice => {
            let others = out.iter().filter(|edge| edge.when == Some(Condition::Otherwise)).count();
            if out.len() < 2 || others != 1 {
                return Err(format!("node {id:?}: a choice needs at least two edges, exactly one of them `otherwise`"));
            }
            Ok(())
        }
        NodeKind::Start | NodeKind::Member | NodeKind::Fork | NodeKind::Join | NodeKind::End | NodeKind::Supervisor | NodeKind::Bidding => {
            Ok(())
        }
    }
}

fn reachable(graph: &Graph) -> Result<(), String> {
    let of = |kind: NodeKind| graph.nodes.iter().filter(move |node| node.kind == kind).map(|node| node.id.as_str());
    let forward =
        flood(of(NodeKind::Start).collect(), |id| graph.edges.iter().filter(move |edge| edge.from == id).map(|edge| edge.to.as_str()));
    if let Some(node) = graph.nodes.iter().find(|node| !forward.contains(node.id.as_str())) {
        return Err(format!("node {:?} cannot be reached from the start", node.id));
    }
    let back = flood(of(NodeKind::End).collect(), |id| graph.edges.iter().filter(move |edge| edge.to == id).map(|edge| edge.from.as_str()));
    match graph.nodes.iter().find(|node| !back.contains(node.id.as_str())) {
        Some(node) => Err(format!("from node {:?} no end can be reached", node.id)),
        None => Ok(()),
    }
}

fn flood<'a, I: Iterator<Item = &'a str>>(mut queue: Vec<&'a str>, next: impl Fn(&'a str) -> I) -> BTreeSet<&'a str> {
    let mut seen: BTreeSet<&str> = queue.iter().copied().collect();
    while let Some(id) = queue.pop() {
        queue.extend(next(id).filter(|id| seen.insert(id)));
    }
    seen
}

/// A circle in which nobody works would turn for ever.
fn idle_circle(graph: &Graph, nodes: &BTreeMap<&str, &Node>) -> Result<(), String> {
    let idle = |id: &str| nodes.get(id).is_some_and(|node| node.kind != NodeKind::Member);
    for node in graph.nodes.iter().filter(|node| idle(&node.id)) {
        let first: Vec<&str> =
            graph.edges.iter().filter(|edge| edge.from == node.id && idle(&edge.to)).map(|edge| edge.to.as_str()).collect();
        let reached =
            flood(first, |id| graph.edges.iter().filter(move |edge| edge.from == id && idle(&edge.to)).map(|edge| edge.to.as_str()));
        if reached.contains(node.id.as_str()) {
            return Err(format!("node {:?} is in a circle without any member", node.id));
        }
    }
    Ok(())
}
