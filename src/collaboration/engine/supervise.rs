//! The supervisor: asked, answering by tool or by text, and what happens when the answer cannot be used.

use super::{CollaborationError, Directive, Engine, Question};
use crate::collaboration::{ArgValue, Decision, FinishVerdict, ProtocolTool, Route, Said, Step, text_calls, text_form};
use crate::collaboration::{Ending, FINISH, ROUTE_TO};

/// An answer that cannot be used is asked for so many times more before the fallback.
const RETRIES: u32 = 1;

/// The tool of this name among those offered; the error names what is offered.
pub(super) fn offered<'a>(tools: &'a [ProtocolTool], name: &str) -> Result<&'a ProtocolTool, String> {
    tools.iter().find(|tool| tool.name == name).ok_or_else(|| {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
        let list = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        format!("{name} is not offered to you now; offered: {list}")
    })
}

impl Engine {
    /// Asks the supervisor; keeps the count of unusable answers of an open question.
    pub(super) fn ask(&mut self) {
        let tries = self.question.as_ref().map_or(0, |question| question.tries);
        self.question = Some(Question { asked: self.now, tries, decided: None, acted: false, interrupted: false });
        let tools = self.protocol.supervisor_tools(&self.team);
        let mut context = self.protocol.supervisor_context(&self.team);
        if let Some(notice) = self.team.notice.take() {
            context = format!("NOTE: {notice}\n\n{context}");
        }
        let instruction = self.protocol.supervisor_instruction(&self.team) + &text_form(&tools);
        self.out.changed = true;
        let question = Directive::AskSupervisor { team: Vec::new(), context, tools, instruction };
        self.children.ask_or_queue(None, question, &mut self.out.directives);
    }

    /// After a restore: what was decided by tool holds, otherwise the question is asked again.
    pub(super) fn resume_question(&mut self) {
        let decided = self.question.as_mut().and_then(|question| question.decided.take());
        self.question = None;
        match decided {
            Some(decision) => self.decide(decision, "tool, before the restart", 0),
            None => self.ask(),
        }
    }

    fn question(&mut self) -> Result<&mut Question, CollaborationError> {
        self.running()?;
        self.question.as_mut().filter(|question| !question.interrupted).ok_or(CollaborationError::NotAsked)
    }

    pub(super) fn supervisor_failed(&mut self, error: &str) -> Result<(), CollaborationError> {
        self.question()?;
        self.children.answered(&mut self.out.directives);
        self.unusable(&format!("the supervisor failed: {error}"));
        Ok(())
    }

    pub(super) fn answered(&mut self, text: &str) -> Result<(), CollaborationError> {
        let asked = self.question()?.asked;
        self.children.answered(&mut self.out.directives);
        let took = u64::try_from(self.now.since(asked).as_millis()).unwrap_or(u64::MAX);
        let by_tool = self.question.as_mut().and_then(|question| question.decided.take());
        if let Some(decision) = by_tool {
            self.decide(decision, "tool", took);
            return Ok(());
        }
        let (rest, faults) = self.supervisor_calls(text);
        if let Some(decision) = self.question.as_mut().and_then(|question| question.decided.take()) {
            self.decide(decision, "call in text", took);
            return Ok(());
        }
        match self.protocol.read_decision(&self.team, &rest) {
            Ok(decision) => self.decide(decision, "text", took),
            Err(why) if faults.is_empty() => self.undecided(&why),
            Err(_) => self.undecided(&faults),
        }
        Ok(())
    }

    /// Carries out calls that a supervisor without tools wrote as text; returns the rest and the faults.
    fn supervisor_calls(&mut self, text: &str) -> (String, String) {
        let tools = self.protocol.supervisor_tools(&self.team);
        let (calls, rest) = text_calls(text, &tools);
        let mut faults: Vec<String> = Vec::new();
        for (tool, arguments) in calls {
            if let Err(fault) = arguments.and_then(|arguments| self.supervisor_tool(tool.name, arguments)) {
                faults.push(fault);
            }
        }
        (rest, faults.join("; "))
    }

    /// No decision in the answer: the rule may go on where tools were used, otherwise the answer is unusable.
    fn undecided(&mut self, why: &str) {
        if self.question.as_ref().is_some_and(|question| question.acted) {
            match self.protocol.should_run_supervisor(&self.team) {
                Step::Supervisor => {}
                step @ (Step::Route(_) | Step::Wait | Step::End(_)) => {
                    self.trace(None, "supervisor", "used a tool; the rule goes on");
                    self.question = None;
                    self.advance(step);
                    return;
                }
            }
        }
        self.unusable(why);
    }

    /// Asked once more, then the fallback, with the reason in the trace both times.
    fn unusable(&mut self, why: &str) {
        let tries = self.question.as_ref().map_or(0, |question| question.tries);
        if tries < RETRIES {
            self.trace(None, "supervisor, asked again", why);
            self.team.notice = Some(format!("Your last answer could not be used: {why}"));
            if let Some(question) = self.question.as_mut() {
                question.tries += 1;
            }
            self.ask();
            return;
        }
        self.trace(None, "fallback", why);
        self.question = None;
        let step = self.protocol.fallback(&self.team, why);
        self.advance(step);
    }

    fn decide(&mut self, decision: Decision, how: &str, took: u64) {
        let step = match decision {
            Decision::ByRule => {
                self.question = None;
                self.protocol.should_run_supervisor(&self.team)
            }
            Decision::Finish { answer } => match self.protocol.may_finish(&self.team) {
                FinishVerdict::Allowed => Step::End(Ending { answer: Some(answer), ..Ending::new("finished by the supervisor", true) }),
                FinishVerdict::Instead(route) => Step::Route(vec![route]),
                FinishVerdict::Refused(why) => return self.unusable(&format!("finish refused: {why}")),
            },
            Decision::Route { who, instruction, how: read } => match self.may_route(who.as_str()) {
                Err(why) => return self.unusable(&why),
                Ok(()) => {
                    let rule = if read.is_empty() { format!("supervisor, {how}") } else { format!("supervisor, {how}: {read}") };
                    self.protocol.resolve_route(&self.team, Route::new(&who, instruction, rule))
                }
            },
        };
        let outcome = match &step {
            Step::Route(routes) => routes.iter().take(4).map(|route| route.who.as_str()).collect::<Vec<_>>().join(", "),
            Step::Supervisor => "asked again".into(),
            Step::Wait => "waits".into(),
            Step::End(ending) => ending.reason.clone(),
        };
        self.team.step += 1;
        let record = super::TraceRecord::new(self.team.step, None, &format!("supervisor, {how}"), &outcome);
        self.record(super::TraceRecord { duration_ms: took, ..record });
        self.question = None;
        self.advance(step);
    }

    fn may_route(&self, name: &str) -> Result<(), String> {
        let seat = self.team.find(name)?;
        if seat.is_busy() {
            return Err(format!("{} is at work", seat.name()));
        }
        self.protocol.may_route(&self.team, seat)
    }

    /// A tool call of the supervisor; a decision is kept until its turn ends.
    pub(super) fn supervisor_tool(&mut self, tool: &str, arguments: Vec<(String, ArgValue)>) -> Result<Said, String> {
        let Ok(question) = self.question() else {
            return Err(format!("{tool}: it is not your turn to decide; you are asked when it is"));
        };
        if let Some(decision) = &question.decided {
            return Err(format!("you decided already in this turn ({}): end your turn", in_words(decision)));
        }
        let tools = self.protocol.supervisor_tools(&self.team);
        let call = offered(&tools, tool)?.check(arguments)?;
        let said = if tool == ROUTE_TO.name {
            self.may_route(call.text("agent"))?;
            let who = self.team.find(call.text("agent"))?.name().clone();
            let text = format!("{who} goes next; end your turn");
            Said::decided(text, Decision::Route { who, instruction: call.text("instruction").to_owned(), how: String::new() })
        } else if tool == FINISH.name {
            self.finish_called(call.text("answer"))?
        } else {
            self.protocol.on_supervisor_tool(&self.team, &call)?
        };
        self.out.changed = true;
        if let Some(question) = self.question.as_mut() {
            question.acted = true;
            question.decided.clone_from(&said.decision);
        }
        Ok(said)
    }

    fn finish_called(&self, answer: &str) -> Result<Said, String> {
        let decision = Decision::Finish { answer: answer.to_owned() };
        match self.protocol.may_finish(&self.team) {
            FinishVerdict::Allowed => Ok(Said::decided("the run ends when you end your turn", decision)),
            FinishVerdict::Instead(route) => Ok(Said::decided(format!("not finished: {}; end your turn", route.rule), decision)),
            FinishVerdict::Refused(why) => Err(format!("not finished: {why}")),
        }
    }
}

fn in_words(decision: &Decision) -> String {
    match decision {
        Decision::Route { who, .. } => format!("{who} goes next"),
        Decision::Finish { .. } => "finish".into(),
        Decision::ByRule => "the rule goes on".into(),
    }
}
