//! What the person sees of a protocol: its graph, who acts, its tables; and a trace where nobody is chosen by rule, too.

use super::super::Supervisor;
use crate::collaboration::Engine;
use crate::domain::shown::{NodeMark, Section, ShownGraph};
use crate::domain::text::one_line;
use crate::domain::{MemberName, TeamEvent, Timestamp};
use crate::protocol::{AgentReport, Input};
use crate::runtime::clock;
use std::collections::HashMap;
use std::sync::Arc;

/// Longest outcome in the trace, in characters.
const OUTCOME_MAX: usize = 200;

/// What was shown last.
#[derive(Default)]
pub(super) struct Shown {
    graph: Option<Arc<ShownGraph>>,
    marks: Vec<NodeMark>,
    sections: Vec<Section>,
    /// Turns that go on, where the engine chooses nobody: since when, and why.
    turns: HashMap<MemberName, (Timestamp, String)>,
    pub(super) step: u64,
}

impl Supervisor {
    /// Tells what the protocol shows, if it is another thing than before.
    pub(super) fn show_run(&mut self) {
        let Some(engine) = &self.drive.engine else { return };
        let (graph, marks, sections) = look(engine);
        let shown = &mut self.drive.shown;
        let drawn_anew = shown.graph.as_deref() != Some(&graph);
        if !drawn_anew && shown.marks == marks && shown.sections == sections {
            return;
        }
        if drawn_anew {
            shown.graph = Some(Arc::new(graph));
        }
        shown.marks.clone_from(&marks);
        shown.sections.clone_from(&sections);
        let graph = shown.graph.clone().filter(|_| drawn_anew);
        self.emit(TeamEvent::ProtocolShown { graph, marks, sections });
    }

    /// The same, whole, for a screen that starts now.
    pub(in super::super) fn shown(&self) -> Option<TeamEvent> {
        let shown = &self.drive.shown;
        let graph = Some(shown.graph.clone()?);
        Some(TeamEvent::ProtocolShown { graph, marks: shown.marks.clone(), sections: shown.sections.clone() })
    }

    /// Where members choose their work themselves, the trace tells what each turn was for and what came out.
    pub(super) fn trace_undriven(&mut self, input: &Input) {
        let Input::Report { name, generation, report } = input else { return };
        if self.core.member(name).is_none_or(|m| m.generation != *generation) {
            return;
        }
        match report {
            AgentReport::Began { cause } => {
                self.drive.shown.turns.entry(name.clone()).or_insert_with(|| (clock::now(), cause.clone()));
            }
            AgentReport::Rested { outcome, text } if self.core.is_at_rest(name) => {
                let Some((began, cause)) = self.drive.shown.turns.remove(name) else { return };
                let outcome = if text.trim().is_empty() { outcome.words() } else { one_line(text, OUTCOME_MAX) };
                self.trace_turn(name, &cause, outcome, began);
            }
            AgentReport::Ended { reason, .. } => {
                let Some((began, cause)) = self.drive.shown.turns.remove(name) else { return };
                // A member may agree to end without a word: then its status says why.
                let why = if reason.trim().is_empty() { self.why_not(name) } else { one_line(reason, OUTCOME_MAX) };
                self.trace_turn(name, &cause, format!("ended: {why}"), began);
            }
            AgentReport::Rested { .. }
            | AgentReport::Doing(_)
            | AgentReport::Answered { .. }
            | AgentReport::ToolBegan { .. }
            | AgentReport::ToolEnded { .. }
            | AgentReport::Used { .. }
            | AgentReport::Compacted { .. }
            | AgentReport::Noticed { .. } => {}
        }
    }

    fn trace_turn(&mut self, name: &MemberName, rule: &str, outcome: String, began: Timestamp) {
        self.drive.shown.step += 1;
        let millis = u64::try_from(clock::now().since(began).as_millis()).unwrap_or(u64::MAX);
        let (step, who, rule) = (self.drive.shown.step, Some(name.clone()), one_line(rule, OUTCOME_MAX));
        self.emit(TeamEvent::Traced { step, who, rule, outcome, millis });
    }
}

fn look(engine: &Engine) -> (ShownGraph, Vec<NodeMark>, Vec<Section>) {
    let graph = engine.shown_graph();
    let marks = engine.marks(&graph);
    (graph, marks, engine.view())
}
