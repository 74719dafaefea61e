//! The one list of tools: what is offered to whom, and what a call means.
//!
//! Origin of the aliases: learn-claude-code s09/s10 (the lead queries with `shutdown_response{request_id}` and reviews
//! with `plan_approval{request_id, approve}`), learn-claude-code-4j S10 (camelCase names).

use super::schema::{fit, fit_exactly, plain};
use super::shell::Bash;
use super::shell_settings::ShellSettings;
use super::{Audience, Tool, arguments, files, message, plan, task, team};
use crate::domain::ToolSpec;
use crate::domain::names::nearest;
use crate::domain::text::one_line;
use serde_json::Value;
use std::sync::Arc;

/// All tools.
pub struct Registry {
    entries: Vec<Entry>,
}

struct Entry {
    tool: Arc<dyn Tool>,
    spec: ToolSpec,
}

impl Default for Registry {
    fn default() -> Self {
        Self::standard()
    }
}

impl Registry {
    /// Every tool, with commands started directly (no guard, no sandbox).
    pub fn standard() -> Self {
        Self::with_shell(ShellSettings::default())
    }

    /// Every tool, with commands started as `settings` say.
    pub fn with_shell(settings: ShellSettings) -> Self {
        let mut registry = Self { entries: Vec::new() };
        registry.add(Arc::new(Bash::new(settings)));
        let rest = [files::tools(), task::tools(), message::tools(), plan::tools(), team::tools()];
        rest.into_iter().flatten().for_each(|tool| registry.add(tool));
        registry
    }

    /// Adds a tool; one of the same name is replaced.
    pub fn add(&mut self, tool: Arc<dyn Tool>) {
        let entry = Entry { spec: tool.spec(), tool };
        match self.entries.iter_mut().find(|other| other.spec.name == entry.spec.name) {
            Some(other) => *other = entry,
            None => self.entries.push(entry),
        }
    }

    /// What is offered to the lead or to a teammate ([`Audience::All`]: what both have).
    pub fn offered(&self, audience: Audience) -> Arc<Vec<ToolSpec>> {
        let specs = self.entries.iter().filter(|entry| is_for(entry.tool.audience(), audience));
        Arc::new(specs.map(|entry| entry.spec.clone()).collect())
    }

    /// The tool of that name, in any spelling (`taskCreate`, `Task_Create`) or by an alias.
    pub fn find(&self, name: &str, audience: Audience) -> Option<Arc<dyn Tool>> {
        self.entry(name, audience).filter(|entry| is_for(entry.tool.audience(), audience)).map(|entry| Arc::clone(&entry.tool))
    }

    fn entry(&self, name: &str, audience: Audience) -> Option<&Entry> {
        let wanted = plain(name);
        let wanted = alias(&wanted, audience).unwrap_or(&wanted);
        let fits = |entry: &&Entry| plain(&entry.spec.name) == plain(wanted);
        self.entries.iter().find(fits)
    }

    /// What the call means: the tool, and arguments that fit the schema the model was shown. The error is for the
    /// model and names the fault.
    pub fn prepare(&self, name: &str, raw_arguments: &str, audience: Audience) -> Result<(Arc<dyn Tool>, Value), String> {
        let Some(entry) = self.entry(name, audience) else { return Err(self.unknown(name, audience)) };
        if !is_for(entry.tool.audience(), audience) {
            return Err(format!("{} is for {} only. {}", entry.spec.name, who(entry.tool.audience()), self.names(audience)));
        }
        let fault = |fault: String| format!("{} was not run: {fault}", entry.spec.name);
        let fitting = if entry.tool.is_exact() { fit_exactly } else { fit };
        let arguments = arguments::parse(raw_arguments).and_then(|value| fitting(&entry.spec.parameters, value)).map_err(fault)?;
        Ok((Arc::clone(&entry.tool), arguments))
    }

    fn unknown(&self, name: &str, audience: Audience) -> String {
        let offered = self.offered(audience);
        let hint = nearest(name, offered.iter().map(|spec| spec.name.as_str()));
        let hint = hint.map(|near| format!(" (did you mean {near}?)")).unwrap_or_default();
        format!("there is no tool {:?}{hint}. {}", one_line(name, 64), self.names(audience))
    }

    fn names(&self, audience: Audience) -> String {
        let offered = self.offered(audience);
        let names: Vec<&str> = offered.iter().map(|spec| spec.name.as_str()).collect();
        format!("The tools are: {}", names.join(", "))
    }
}

fn is_for(tool: Audience, member: Audience) -> bool {
    tool == Audience::All || tool == member
}

fn who(audience: Audience) -> &'static str {
    match audience {
        Audience::All => "all",
        Audience::Lead => "the lead",
        Audience::Teammate => "teammates",
    }
}

/// Other names that upstream programs use; `name` is in its plain form.
fn alias(name: &str, audience: Audience) -> Option<&'static str> {
    match (name, audience) {
        ("shutdownresponse", Audience::Lead) => Some("shutdown_check"),
        ("planapproval", Audience::Lead) => Some("plan_review"),
        ("submitplan", Audience::Teammate) => Some("plan_approval"),
        ("shell" | "runbash" | "runcommand" | "execute", _) => Some("bash"),
        ("strreplace" | "replaceinfile", _) => Some("edit_file"),
        ("glob" | "listdir", _) => Some("list_files"),
        ("grep", _) => Some("search"),
        ("createtask", _) => Some("task_create"),
        ("gettask", _) => Some("task_get"),
        ("listtasks", _) => Some("task_list"),
        ("updatetask", _) => Some("task_update"),
        _ => None,
    }
}
