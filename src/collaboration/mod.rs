//! Collaboration protocols: given what happened, who acts next and why. Pure; imports `domain` and std only.
//!
//! Deliberately absent: tokio, files, JSON libraries, the model, the screen. Time comes in with each input. Origin: the
//! `TeamProtocol` lifecycle of Solon AI; exact retries, held steps, resume and the graph of `none` are ours.
//!
//! # Architecture
//!
//! ```text
//!   Input ──▶ Engine (common rules) ──▶ Vec<Directive>        the driver knows no protocol
//!                │  asks                                       
//!                ▼
//!       CollaborationProtocol (one small file each)   ◀── registry (the one list)
//! ```
//! The [`Engine`] owns everything that is the same for all: registration order, reading the supervisor's decision by
//! tool or by text, the retry and the fallback with its reason, `max_turns`, errors in the trace, the loop detector,
//! held steps, snapshots, nested teams, members that leave. A protocol answers four phases of questions and keeps a
//! small memory.
//!
//! | phase | methods |
//! |---|---|
//! | build | [`graph`](CollaborationProtocol::graph), [`check`](CollaborationProtocol::check), [`reset`](CollaborationProtocol::reset) |
//! | member at work | `agent_tools`, `agent_instruction`, `agent_prompt`, `on_agent_tool`, `agent_output`, `on_agent_end` |
//! | supervisor | `should_run_supervisor`, `supervisor_tools`, `supervisor_instruction`, `supervisor_context`, `on_supervisor_tool`, `read_decision`, `may_route`, `resolve_route`, `on_route`, `may_finish`, `fallback` |
//! | shown | `view`: small tables for the person |
//! | end | `on_finished` |
//!
//! # Adding a protocol
//!
//! 1. Write `src/collaboration/my_protocol.rs`: a `memory!` struct for what must survive a restart, a struct that holds
//!    it, and `impl CollaborationProtocol`. The methods without a default are `name`, `graph`, `reset`, `save`, `load`
//!    and `should_run_supervisor`; the rest defaults to what `hierarchical` needs.
//! 2. Add `mod my_protocol;` below and one `Entry` in `registry.rs`: name, summary, graph, rules, tools, constructor.
//! 3. Add a row to the table test in `tests/it/collaboration/` ((state, input) → decision). The simulation and the
//!    lifecycle tests run over the registry and pick the new name up by themselves.
//!
//! Rules a protocol must keep: never route to a member that is busy or gone (ask `team`); answer `Step::Wait` only while
//! somebody is at work; put the rule into every [`Route`]; errors for a model are `Err(text)` that says what to do; no
//! clock, no randomness, no hash-map order. Each piece of work of its own gets `Route::work`, so that ten small tasks
//! with the output "done" are not taken for a loop.
//!
//! # Driving the engine
//!
//! `Prompt` starts a run (empty: go on after a restore). For each [`Directive`]: run the member and answer with
//! `MemberEnded`; ask the lead and answer with `SupervisorAnswered`; hand a `ToolReply` to the model (and end its turn if it
//! says so); write the trace; save `engine.snapshot()` and `engine.keepsake()`. `Ended` is always the last one. A decision made by tool takes
//! effect when the supervisor's turn ends, so a closing remark is never read as a second decision.

mod a2a;
mod autonomous;
mod bid;
mod blackboard;
mod contract_net;
mod custom;
mod dashboard;
mod decision;
mod engine;
mod error;
mod graph;
pub mod grouping;
mod hierarchical;
mod loops;
mod market_based;
mod memory;
mod none;
mod phases;
pub mod registry;
mod seat;
mod sequential;
mod show;
mod status;
mod swarm;
mod sync;
mod team;
mod tools;
mod value;

pub use custom::Custom;
pub use decision::{Decision, FINISH_MARKER, mentions, read_text};
pub use engine::{Directive, Engine, EngineConfig, EngineSnapshot, Input, TraceRecord};
pub use error::CollaborationError;
pub use graph::{Condition, Edge, Graph, Node, NodeKind};
pub use loops::{LoopRecord, similarity};
pub use market_based::Choice;
pub use memory::Remember;
pub use phases::{Ending, FinishVerdict, Judgement, Report, Route, Said, Step};
pub use phases::{answer_or_last, fall_back_to_last, goal_and};
pub use registry::{ProtocolConfig, ProtocolInfo, build, describe, is_tool, names};
pub use seat::{MemberCard, Seat, SeatState, TeamSpec};
pub use team::Team;
pub use tools::{Call, FINISH, Param, ParamKind, ProtocolTool, ROUTE_TO, TextCall, text_calls, text_form};
pub use value::ArgValue;

use crate::domain::Section;

/// A run ends after so many turns, unless the configuration or the protocol's own work needs another number.
pub const DEFAULT_MAX_TURNS: u32 = 8;

/// A collaboration protocol. All methods are pure: no clock, no randomness, no I/O. See the module's page for the phases.
pub trait CollaborationProtocol: Send {
    // ---- build ----

    /// The name in the registry.
    fn name(&self) -> &'static str;
    /// The graph it builds over a team.
    fn graph(&self, team: &Team) -> Graph;
    /// Whether it can work with this team. By default an empty team is refused.
    fn check(&self, team: &Team) -> Result<(), CollaborationError> {
        if team.seats.is_empty() { Err(CollaborationError::EmptyTeam { protocol: self.name() }) } else { Ok(()) }
    }
    /// Forgets the last run: a new prompt came.
    fn reset(&mut self, team: &Team);
    /// What must survive a restart.
    fn save(&self) -> ArgValue;
    /// Takes that back; `false` when it is of another shape.
    fn load(&mut self, memory: &ArgValue) -> bool;
    /// What must survive the run itself, kept in `team/NAME.json`.
    fn keepsake(&self) -> Option<(&'static str, ArgValue)> {
        None
    }
    /// Whether the engine chooses who acts. Otherwise it only records.
    fn is_driven(&self) -> bool {
        true
    }
    /// Whether idle members claim ready tasks from the board by themselves.
    fn members_claim_by_themselves(&self) -> bool {
        false
    }
    /// Whether there is a supervisor that can be told of a loop.
    fn has_supervisor(&self) -> bool {
        true
    }
    /// How many turns a run may take when the configuration does not say.
    fn own_turns(&self, _team: &Team) -> u32 {
        DEFAULT_MAX_TURNS
    }

    // ---- member at work ----

    /// Tools offered to a member now.
    fn agent_tools(&self, _team: &Team, _who: &Seat) -> Vec<ProtocolTool> {
        Vec::new()
    }
    /// Added to a member's standing instructions.
    fn agent_instruction(&self, _team: &Team, _who: &Seat) -> String {
        String::new()
    }
    /// The prompt of a member for a step. Returns a new text and cannot change any memory.
    fn agent_prompt(&self, team: &Team, _who: &Seat, route: &Route) -> String {
        goal_and(team, &route.instruction)
    }
    /// A member called a tool that was offered to it. The error is told to its model.
    fn on_agent_tool(&mut self, _team: &Team, _who: &Seat, call: &Call) -> Result<Said, String> {
        Err(format!("{} does nothing here", call.tool))
    }
    /// The output as it is kept and passed on.
    fn agent_output(&self, _team: &Team, _who: &Seat, raw: &str) -> String {
        status::result_of(raw)
    }
    /// A member's run ended.
    fn on_agent_end(&mut self, _team: &Team, _who: &Seat, report: &Report<'_>) -> Judgement {
        status::judge(report)
    }

    // ---- supervisor ----

    /// Who acts next: [`Step::Supervisor`] lets the supervisor decide, anything else is the protocol's rule.
    fn should_run_supervisor(&mut self, team: &Team) -> Step;
    /// Tools offered to the supervisor now.
    fn supervisor_tools(&self, _team: &Team) -> Vec<ProtocolTool> {
        vec![ROUTE_TO, FINISH]
    }
    /// What the supervisor shall do.
    fn supervisor_instruction(&self, _team: &Team) -> String {
        phases::SUPERVISOR_RULES.to_owned()
    }
    /// What the supervisor is shown.
    fn supervisor_context(&self, team: &Team) -> String {
        dashboard::show(team)
    }
    /// The supervisor called a tool other than `route_to` and `finish`.
    fn on_supervisor_tool(&mut self, _team: &Team, call: &Call) -> Result<Said, String> {
        Err(format!("{} does nothing here", call.tool))
    }
    /// Reads a decision from the supervisor's text.
    fn read_decision(&mut self, team: &Team, text: &str) -> Result<Decision, String> {
        decision::read_text(text, team)
    }
    /// Whether the supervisor may choose this member now.
    fn may_route(&self, _team: &Team, _who: &Seat) -> Result<(), String> {
        Ok(())
    }
    /// What comes of the supervisor's choice. By default just that.
    fn resolve_route(&mut self, _team: &Team, route: Route) -> Step {
        Step::Route(vec![route])
    }
    /// A member is about to act. A warning goes to the trace and to the supervisor.
    fn on_route(&mut self, _team: &Team, _who: &Seat, _route: &Route) -> Option<String> {
        None
    }
    /// Whether the run may end now. By default once a member has acted.
    fn may_finish(&self, team: &Team) -> FinishVerdict {
        if team.has_acted() { FinishVerdict::Allowed } else { FinishVerdict::Refused("no member has acted yet: route to one first".into()) }
    }
    /// Who acts when the supervisor's answers cannot be used: the last or first member, with the reason in its rule.
    fn fallback(&mut self, team: &Team, reason: &str) -> Step {
        fall_back_to_last(team, reason)
    }

    // ---- what is shown ----

    /// What is particular to it, as small tables; for people, not for models.
    fn view(&self, _team: &Team) -> Vec<Section> {
        Vec::new()
    }

    // ---- end ----

    /// The run's answer. Called once for every run that ends, failed ones included.
    fn on_finished(&mut self, team: &Team, ending: &Ending) -> String {
        answer_or_last(team, ending)
    }
}
