//! The protocol step by step, as lines: its graph with what goes on there, its tables, and who acted and why. One view for
//! all protocols; what is particular to one comes as tables.

use super::clip::{one_line, width};
use super::projection::{Projection, TraceStep};
use super::rich::{Indent, Ink, RichLine, Span, line, wrap};
use super::words;
use crate::domain::MemberName;
use crate::domain::shown::{NodeState, Section, ShownEdge, ShownGraph};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// Widest column that is not the last one, in cells.
const COLUMN_MAX: usize = 24;

/// Lines, and the member that each leads to.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The lines.
    pub lines: Vec<RichLine>,
    /// Beside each line: whose transcript Enter opens.
    pub targets: Vec<Option<MemberName>>,
    cols: usize,
}

/// The whole view.
pub fn page(team: &Projection, cols: usize, utc_offset: i32) -> Page {
    let mut page = Page { cols, ..Page::default() };
    let mut head = vec![Span::new(one_line(&team.protocol, 40), Ink::Strong)];
    if let Some((reason, ok)) = &team.finished {
        let ink = if *ok { Ink::Success } else { Ink::Error };
        head.push(Span::new(format!("  ended: {}", one_line(reason, 200)), ink));
    }
    page.wrapped(&head, &Indent::default(), None);
    if let Some(graph) = team.shown.graph.as_ref().filter(|graph| !graph.nodes.is_empty()) {
        page.heading("Graph");
        page.graph(graph, team);
    } else {
        let why = "No graph: the members choose their work themselves, or no run has begun since signoff was opened.";
        page.wrapped(&[Span::new(why, Ink::Dim)], &Indent::default(), None);
    }
    team.shown.sections.iter().filter(|section| !section.rows.is_empty()).for_each(|section| page.section(section, team));
    page.heading("Steps, the newest first");
    if team.trace.is_empty() {
        page.wrapped(
            &[Span::new("Nobody has acted yet. Each step appears here: who was chosen, by which rule, and what came out.", Ink::Dim)],
            &Indent::default(),
            None,
        );
    }
    team.trace.iter().rev().for_each(|step| page.step(step, utc_offset));
    page
}

impl Page {
    fn push(&mut self, line: RichLine, target: Option<MemberName>) {
        self.lines.push(line);
        self.targets.push(target);
    }

    fn wrapped(&mut self, spans: &[Span], indent: &Indent, target: Option<&MemberName>) {
        wrap(spans, self.cols, indent, &mut self.lines);
        self.targets.resize(self.lines.len(), target.cloned());
    }

    fn heading(&mut self, text: &str) {
        self.push(Vec::new(), None);
        self.push(line(one_line(text, self.cols), Ink::Heading), None);
    }

    /// The way from start to end, then what hangs beside it.
    fn graph(&mut self, graph: &ShownGraph, team: &Projection) {
        let states: BTreeMap<&str, NodeState> = team.shown.marks.iter().map(|mark| (mark.node.as_str(), mark.state)).collect();
        let node = |id: &str| label(id, states.get(id).copied());
        let spine = spine(graph);
        let mut spans = Vec::new();
        for (at, id) in spine.iter().enumerate() {
            if at > 0 {
                spans.push(Span::new(" → ", Ink::Dim));
            }
            spans.push(node(id));
        }
        let rest = Indent { first: Vec::new(), rest: line("  ", Ink::Dim) };
        self.wrapped(&spans, &rest, None);
        let on_spine: HashSet<(&str, &str)> = spine.windows(2).map(|pair| (pair[0], pair[1])).collect();
        for (from, arrow, ways) in beside(graph, &on_spine) {
            let mut spans = vec![node(from), Span::new(format!(" {arrow} "), Ink::Dim)];
            for (at, edge) in ways.iter().enumerate() {
                if at > 0 {
                    spans.push(Span::new(", ", Ink::Dim));
                }
                spans.push(node(&edge.to));
                spans.extend(edge.when.as_ref().map(|when| Span::new(format!(" if {}", one_line(when, 60)), Ink::Dim)));
            }
            self.wrapped(&spans, &rest, None);
        }
    }

    fn section(&mut self, section: &Section, team: &Projection) {
        self.heading(&section.title);
        let widths = widths(section, self.cols);
        let head = cells(&section.columns, &widths, &[]);
        self.push(vec![Span::new(head, Ink::Dim)], None);
        let numeric: Vec<bool> = (0..widths.len()).map(|at| is_numeric(section, at)).collect();
        for row in &section.rows {
            let member = row.iter().take(2).find_map(|cell| MemberName::parse(cell).ok().filter(|name| team.member(name).is_some()));
            let ink = if row.iter().any(|cell| cell.starts_with("ERROR") || cell == "FAILED") { Ink::Error } else { Ink::Text };
            self.push(vec![Span::new(cells(row, &widths, &numeric), ink)], member);
        }
    }

    fn step(&mut self, step: &TraceStep, utc_offset: i32) {
        // Nobody acts where a run ends; another step without a member is the lead's.
        let nobody = if step.rule.split(" / ").last() == Some("end") { "" } else { "lead" };
        let who = step.who.as_ref().map_or_else(|| nobody.to_owned(), ToString::to_string);
        let name = super::clip::left(&one_line(&who, 12), 12);
        let head = format!("{} {:>4}  {name} ", words::clock(step.at, utc_offset), step.step);
        let took = if step.millis > 0 { format!(" ({})", words::took(step.millis).replace(' ', "")) } else { String::new() };
        let indent = Indent { rest: line(" ".repeat(width(&head)), Ink::Text), first: line(head, Ink::Accent) };
        let (rule, outcome) = (one_line(&step.rule, 200), one_line(&step.outcome, 400));
        let ink = if outcome.starts_with("failed") || step.rule == "fallback" { Ink::Error } else { Ink::Text };
        let spans = [Span::new(format!("[{rule}] "), Ink::Dim), Span::new(outcome, ink), Span::new(took, Ink::Dim)];
        let target = step.who.clone().unwrap_or_else(MemberName::lead);
        self.wrapped(&spans, &indent, Some(&target));
    }
}

fn label(id: &str, state: Option<NodeState>) -> Span {
    let name = if id == "supervisor" { "lead".to_owned() } else { one_line(id, 40) };
    match state {
        Some(NodeState::Running) => Span::new(format!("● {name} acts"), Ink::Strong),
        Some(NodeState::Held) => Span::new(format!("◆ {name} waits"), Ink::Attention),
        Some(NodeState::Failed) => Span::new(format!("✗ {name} failed"), Ink::Error),
        Some(NodeState::Gone) => Span::new(format!("✗ {name} is gone"), Ink::Dim),
        Some(NodeState::Done) => Span::new(format!("✓ {name}"), Ink::Success),
        None => Span::new(name, Ink::Text),
    }
}

/// The shortest way from the start to an end; only the start where there is none.
fn spine(graph: &ShownGraph) -> Vec<&str> {
    let kind = |wanted: &str| graph.nodes.iter().find(|node| node.kind == wanted).map(|node| node.id.as_str());
    let Some(start) = kind("start") else { return Vec::new() };
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        if graph.nodes.iter().any(|node| node.id == at && node.kind == "end") {
            let mut path = vec![at];
            while let Some(step) = before.get(path[path.len() - 1]).filter(|_| path[path.len() - 1] != start) {
                path.push(step);
            }
            path.reverse();
            return path;
        }
        for edge in graph.edges.iter().filter(|edge| edge.from == at) {
            if edge.to != start && !before.contains_key(edge.to.as_str()) {
                before.insert(&edge.to, at);
                queue.push_back(&edge.to);
            }
        }
    }
    vec![start]
}

/// The edges that are not on the way, by where they leave; ways there and back are told once.
fn beside<'g>(graph: &'g ShownGraph, on_spine: &HashSet<(&str, &str)>) -> Vec<(&'g str, &'static str, Vec<&'g ShownEdge>)> {
    let all: HashSet<(&str, &str)> = graph.edges.iter().map(|edge| (edge.from.as_str(), edge.to.as_str())).collect();
    let mut told: HashSet<(&str, &str)> = HashSet::new();
    let mut out = Vec::new();
    for node in &graph.nodes {
        let leaving = |edge: &&ShownEdge| edge.from == node.id;
        let both = |edge: &&ShownEdge| edge.when.is_none() && all.contains(&(edge.to.as_str(), edge.from.as_str()));
        let (mut there_and_back, mut one_way) = (Vec::new(), Vec::new());
        for edge in graph.edges.iter().filter(leaving) {
            let pair = (edge.from.as_str(), edge.to.as_str());
            if told.contains(&pair) {
                continue;
            }
            if both(&edge) {
                told.insert((pair.1, pair.0));
                there_and_back.push(edge);
            } else if !on_spine.contains(&pair) || edge.when.is_some() {
                one_way.push(edge);
            }
        }
        let rows = [("<->", there_and_back), ("→", one_way)];
        out.extend(rows.into_iter().filter(|(_, ways)| !ways.is_empty()).map(|(arrow, ways)| (node.id.as_str(), arrow, ways)));
    }
    out
}

/// Each column as wide as its widest cell, bounded; the last one gets the rest.
fn widths(section: &Section, cols: usize) -> Vec<usize> {
    let count = section.columns.len();
    let mut widths: Vec<usize> = (0..count)
        .map(|at| {
            let cells = section.rows.iter().filter_map(|row| row.get(at)).chain(section.columns.get(at));
            cells.map(|cell| width(cell)).max().unwrap_or(0).min(COLUMN_MAX)
        })
        .collect();
    let used: usize = widths.iter().take(count.saturating_sub(1)).map(|w| w + 2).sum();
    if let Some(last) = widths.last_mut() {
        *last = cols.saturating_sub(used);
    }
    widths
}

fn is_numeric(section: &Section, at: usize) -> bool {
    let mut cells = section.rows.iter().filter_map(|row| row.get(at)).peekable();
    cells.peek().is_some() && cells.all(|cell| cell.parse::<f64>().is_ok()) && at + 1 < section.columns.len()
}

fn cells(row: &[String], widths: &[usize], numeric: &[bool]) -> String {
    let last = widths.len().saturating_sub(1);
    let cell = |(at, text): (usize, &String)| {
        let cols = widths.get(at).copied().unwrap_or(0);
        let text = one_line(text, cols);
        match (at == last, numeric.get(at).copied().unwrap_or(false)) {
            (true, _) => text,
            (false, true) => super::clip::right(&text, cols),
            (false, false) => super::clip::left(&text, cols),
        }
    };
    row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ").trim_end().to_owned()
}
