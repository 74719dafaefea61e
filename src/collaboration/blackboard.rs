//! `blackboard`: members work over shared results, todos and versioned state; the supervisor decides who goes next.
//!
//! A key that changed since its writer read it is not overwritten: the stale write is reported with what is there now, and
//! the writer may write again. Todos complete by id or exact text, and their text is never read as a route. Origin: Solon AI
//! `BlackboardProtocol`; versions and ids are ours.

use super::decision::without;
use super::hierarchical::{ask_when_idle, warn_of_overuse};
use super::memory::memory;
use super::sync::SYNC;
use super::{
    ArgValue, Call, CollaborationProtocol, Decision, FINISH, FinishVerdict, Graph, Judgement, ProtocolTool, ROUTE_TO, Remember, Report,
    Route, Said, Seat, Step, Team, dashboard, fall_back_to_last, goal_and, read_text, status,
};
use crate::domain::Section;
use crate::domain::text::one_line;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// So many todos may be open at one time.
pub const TODOS_MAX: usize = 64;
/// So many keys the state may have.
pub const KEYS_MAX: usize = 256;
/// Longest text of one entry, in characters.
const ENTRY_MAX: usize = 4_000;
/// The supervisor's name on the blackboard.
const LEAD: &str = "lead";

memory! {
    /// A fact.
    struct Cell {
        value: String,
        version: u32,
        by: String,
    }
}

memory! {
    /// Something to do.
    struct Todo {
        id: u32,
        text: String,
        done_by: Option<String>,
    }
}

memory! {
    /// The blackboard.
    struct Memory {
        results: BTreeMap<String, String>,
        todos: Vec<Todo>,
        next: u32,
        state: BTreeMap<String, Cell>,
        seen: BTreeMap<String, BTreeMap<String, u32>>,
    }
}

/// The blackboard and its rules.
#[derive(Clone, Debug, Default)]
pub struct Blackboard {
    memory: Memory,
}

impl Blackboard {
    fn sync(&mut self, by: &str, call: &Call) -> Result<Said, String> {
        let mut said = Vec::new();
        let mut faults = Vec::new();
        if !call.text("result").is_empty() {
            self.memory.results.insert(by.to_owned(), cut(call.text("result")));
            said.push("result taken".to_owned());
        }
        for item in call.list("todo") {
            self.add_todo(item.to_string().trim()).map_or_else(|fault| faults.push(fault), |line| said.push(line));
        }
        for item in call.list("completed_todo") {
            self.complete(by, item.to_string().trim()).map_or_else(|fault| faults.push(fault), |line| said.push(line));
        }
        for (key, value) in call.object("state") {
            self.write(by, key, value).map_or_else(|fault| faults.push(fault), |line| said.push(line));
        }
        let nothing = said.is_empty();
        let text = [said, faults].concat().join("\n");
        match (nothing, text.is_empty()) {
            (_, true) => Err("nothing to share: give result, todo, completed_todo or state".into()),
            (true, false) => Err(text),
            (false, false) => Ok(Said::noted(text)),
        }
    }

    fn open(&self) -> impl Iterator<Item = &Todo> {
        self.memory.todos.iter().filter(|todo| todo.done_by.is_none())
    }

    fn add_todo(&mut self, text: &str) -> Result<String, String> {
        if text.is_empty() {
            return Err("a todo without words was not taken".into());
        }
        if let Some(todo) = self.open().find(|todo| todo.text == text) {
            return Err(format!("that is todo {} already", todo.id));
        }
        if self.open().count() >= TODOS_MAX {
            return Err(format!("{TODOS_MAX} todos are open already; {:?} was not taken", one_line(text, 80)));
        }
        // Done todos are history; only so many are kept.
        if self.memory.todos.len() >= 2 * TODOS_MAX {
            let done = self.memory.todos.iter().position(|todo| todo.done_by.is_some());
            done.map(|at| self.memory.todos.remove(at));
        }
        self.memory.next += 1;
        self.memory.todos.push(Todo { id: self.memory.next, text: cut(text), done_by: None });
        Ok(format!("todo {} taken", self.memory.next))
    }

    fn complete(&mut self, by: &str, wanted: &str) -> Result<String, String> {
        let id = wanted.trim_start_matches(['#', 'T', 't']).parse::<u32>().ok();
        let open: Vec<String> = self.open().map(|todo| todo.id.to_string()).collect();
        let found = self.memory.todos.iter_mut().find(|todo| todo.text == wanted || Some(todo.id) == id);
        match found {
            Some(Todo { id, done_by: Some(who), .. }) => Err(format!("todo {id} was completed by {who} already")),
            Some(todo) => {
                todo.done_by = Some(by.to_owned());
                Ok(format!("todo {} completed", todo.id))
            }
            None => Err(format!("there is no todo {:?}; open ids: {}", one_line(wanted, 80), open.join(", "))),
        }
    }

    fn write(&mut self, by: &str, key: &str, given: &ArgValue) -> Result<String, String> {
        if self.memory.state.len() >= KEYS_MAX && !self.memory.state.contains_key(key) {
            return Err(format!("{KEYS_MAX} keys are in use; {:?} was not written", one_line(key, 80)));
        }
        // `{value, version}` names the version that was read; otherwise it is what the writer was shown last.
        let (value, read) = match (given.get("value"), given.get("version").and_then(ArgValue::as_number)) {
            (Some(value), Some(version)) => (value, Some(version as u32)),
            (Some(_) | None, _) => (given, None),
        };
        let seen = self.memory.seen.entry(by.to_owned()).or_default();
        let cell = self.memory.state.entry(key.to_owned()).or_default();
        let own = read.is_none() && cell.by == by;
        let known = read.unwrap_or_else(|| seen.get(key).copied().unwrap_or(0));
        if cell.version != known && !own {
            seen.insert(key.to_owned(), cell.version);
            return Err(format!(
                "stale write: {key} is at version {} by {} (you saw {known}): {:?}. Not written; write again if yours still holds",
                cell.version,
                cell.by,
                one_line(&cell.value, 200)
            ));
        }
        *cell = Cell { value: cut(&value.to_string()), version: cell.version + 1, by: by.to_owned() };
        seen.insert(key.to_owned(), cell.version);
        Ok(format!("{key} is at version {}", cell.version))
    }

    fn look(&mut self, who: &str) {
        let versions = self.memory.state.iter().map(|(key, cell)| (key.clone(), cell.version)).collect();
        self.memory.seen.insert(who.to_owned(), versions);
    }

    fn show(&self) -> String {
        let mut out = String::from("## Blackboard\n");
        for (key, cell) in &self.memory.state {
            let _ = writeln!(out, "- {key} (v{} by {}): {}", cell.version, cell.by, cell.value);
        }
        for (name, result) in &self.memory.results {
            let _ = writeln!(out, "- result of {name}: {}", one_line(result, 1_000));
        }
        for todo in &self.memory.todos {
            let mark = todo.done_by.as_ref().map(|who| format!("done by {who}")).unwrap_or_else(|| "open".into());
            let _ = writeln!(out, "- todo {} ({mark}): {}", todo.id, todo.text);
        }
        out
    }
}

fn cut(text: &str) -> String {
    text.chars().take(ENTRY_MAX).collect()
}

impl CollaborationProtocol for Blackboard {
    fn name(&self) -> &'static str {
        "blackboard"
    }

    fn graph(&self, team: &Team) -> Graph {
        Graph::star(team.live().map(Seat::name))
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

    fn agent_tools(&self, _team: &Team, _who: &Seat) -> Vec<ProtocolTool> {
        vec![SYNC]
    }

    fn agent_instruction(&self, _team: &Team, _who: &Seat) -> String {
        format!("Share results, todos and facts with sync_to_blackboard before you end.\n{}", status::STATUS_RULE)
    }

    fn agent_prompt(&self, team: &Team, _who: &Seat, route: &Route) -> String {
        format!("{}\n\n{}", goal_and(team, &route.instruction), self.show())
    }

    fn on_agent_tool(&mut self, _team: &Team, who: &Seat, call: &Call) -> Result<Said, String> {
        self.sync(who.name().as_str(), call)
    }

    fn on_agent_end(&mut self, _team: &Team, who: &Seat, report: &Report<'_>) -> Judgement {
        self.memory.seen.remove(who.name().as_str());
        let judgement = status::judge(report);
        if judgement == Judgement::Done {
            let key = who.name().to_string();
            self.memory.results.insert(key, cut(report.output));
        }
        judgement
    }

    fn should_run_supervisor(&mut self, team: &Team) -> Step {
        self.look(LEAD);
        ask_when_idle(team)
    }

    fn supervisor_tools(&self, _team: &Team) -> Vec<ProtocolTool> {
        vec![SYNC, ROUTE_TO, FINISH]
    }

    fn supervisor_context(&self, team: &Team) -> String {
        format!("{}\n{}", dashboard::show(team), self.show())
    }

    fn on_supervisor_tool(&mut self, _team: &Team, call: &Call) -> Result<Said, String> {
        self.sync(LEAD, call)
    }

    /// Todos are taken out first: a name in a todo is not a route.
    fn read_decision(&mut self, team: &Team, text: &str) -> Result<Decision, String> {
        let bare = self.memory.todos.iter().fold(text.to_owned(), |text, todo| without(&text, &todo.text));
        match read_text(&bare, team)? {
            Decision::Route { who, how, .. } => Ok(Decision::Route { who, instruction: text.trim().to_owned(), how }),
            other @ (Decision::Finish { .. } | Decision::ByRule) => Ok(other),
        }
    }

    fn on_route(&mut self, _team: &Team, who: &Seat, _route: &Route) -> Option<String> {
        self.look(who.name().as_str());
        warn_of_overuse(who)
    }

    fn may_finish(&self, team: &Team) -> FinishVerdict {
        if !team.has_acted() {
            return FinishVerdict::Refused("no member has acted yet: route to one first".into());
        }
        let open: Vec<String> = self.open().take(10).map(|todo| format!("{} ({})", todo.id, one_line(&todo.text, 60))).collect();
        if !open.is_empty() {
            return FinishVerdict::Refused(format!("open todos: {}", open.join(", ")));
        }
        match team.in_error() {
            Some(seat) => FinishVerdict::Refused(format!("{} failed: {}", seat.name(), one_line(seat.error.as_deref().unwrap_or(""), 200))),
            None => FinishVerdict::Allowed,
        }
    }

    fn view(&self, _team: &Team) -> Vec<Section> {
        let key = |(key, cell): (&String, &Cell)| [key.clone(), cell.version.to_string(), cell.by.clone(), cell.value.clone()];
        let todo = |todo: &Todo| {
            let state = todo.done_by.as_ref().map_or_else(|| "open".to_owned(), |who| format!("done by {who}"));
            [todo.id.to_string(), state, todo.text.clone()]
        };
        let (open, done): (Vec<&Todo>, Vec<&Todo>) = self.memory.todos.iter().partition(|todo| todo.done_by.is_none());
        let result = |(name, text): (&String, &String)| [name.clone(), text.clone()];
        vec![
            Section::new("Blackboard", &["key", "version", "writer", "value"]).with(self.memory.state.iter().map(key)),
            Section::new(format!("Todos ({} open)", open.len()), &["id", "state", "what"]).with(open.into_iter().chain(done).map(todo)),
            Section::new("Results", &["member", "result"]).with(self.memory.results.iter().map(result)),
        ]
    }

    /// A member in error goes first.
    fn fallback(&mut self, team: &Team, reason: &str) -> Step {
        match team.in_error() {
            Some(seat) => Step::Route(vec![Route::new(seat.name(), reason, format!("fallback to the member in error: {reason}"))]),
            None => fall_back_to_last(team, reason),
        }
    }
}
