//! Calls of protocol tools: made as calls, or written as text by models without tools.

use super::steps::Ended;
use super::{Directive, Engine};
use crate::collaboration::{ArgValue, Said, text_calls};
use crate::domain::MemberName;
use crate::domain::text::one_line;

/// Longest fault that is told to a model, in characters.
const FAULT_MAX: usize = 1_000;

impl Engine {
    pub(super) fn tool_called(&mut self, by: &MemberName, tool: &str, arguments: Vec<(String, ArgValue)>) {
        let said = if by.is_lead() { self.supervisor_tool(tool, arguments) } else { self.agent_tool(by, tool, arguments) };
        let (ok, text, ends_turn) = match said {
            Ok(said) => (true, said.text, said.ends_turn),
            Err(text) => (false, text, false),
        };
        self.out.directives.insert(0, Directive::ToolReply { by: by.clone(), tool: tool.to_owned(), ok, text, ends_turn });
    }

    fn agent_tool(&mut self, by: &MemberName, tool: &str, arguments: Vec<(String, ArgValue)>) -> Result<Said, String> {
        let at = self.at_work(by).map_err(|error| error.to_string())?;
        let offered = self.protocol.agent_tools(&self.team, &self.team.seats[at]);
        let call = super::supervise::offered(&offered, tool)?.check(arguments)?;
        self.team.seats[at].used_tools = true;
        let said = self.protocol.on_agent_tool(&self.team, &self.team.seats[at], &call);
        self.out.changed = true;
        said
    }

    /// Carries out calls that a member without tools wrote as text; returns the rest of its text and the faults.
    pub(super) fn calls_in_text(&mut self, at: usize, ended: &Ended) -> (String, String) {
        let seat = &self.team.seats[at];
        if seat.used_tools || ended.error.is_some() {
            return (ended.output.clone(), String::new());
        }
        let tools = self.protocol.agent_tools(&self.team, seat);
        let (calls, rest) = text_calls(&ended.output, &tools);
        let mut faults: Vec<String> = Vec::new();
        for (tool, arguments) in calls {
            let call = arguments.and_then(|arguments| tool.check(arguments));
            let said = call.and_then(|call| self.protocol.on_agent_tool(&self.team, &self.team.seats[at], &call));
            if let Err(fault) = said {
                faults.push(one_line(&fault, FAULT_MAX));
            }
        }
        (rest, faults.join("\n"))
    }
}
