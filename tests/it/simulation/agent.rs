//! A member's agent as a model: it takes in what it is told at boundaries, works, asks, rests and ends as the runtime's
//! does, and otherwise does whatever the test wants.

use super::world::{Outcome, World};
use signoff::domain::*;
use signoff::protocol::turn::Outcome as Rest;
use signoff::protocol::{AgentInput, AgentReport};
use std::collections::VecDeque;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Nothing; it listens.
    Resting,
    /// Between two steps of a turn.
    Working,
    /// A tool waits for the person's permission.
    Asking(RequestId),
    /// It agreed to end and has not ended yet.
    Agreed,
}

#[derive(Clone, Debug)]
pub struct Agent {
    pub generation: Generation,
    pub doing: Doing,
    pub queue: VecDeque<AgentInput>,
    pub told: u64,
    pub seen: u64,
    pub offset: usize,
    /// Shutdown requests that it has read and not answered.
    pub asked: Vec<RequestId>,
    /// It has said that it rests since it was last told anything.
    pub reported: bool,
    pub outcome: Rest,
    pub aborted: bool,
}

impl Agent {
    pub fn new(generation: Generation, offset: usize) -> Self {
        Self {
            generation,
            doing: Doing::Resting,
            queue: VecDeque::new(),
            told: 0,
            seen: 0,
            offset,
            asked: Vec::new(),
            reported: false,
            outcome: Rest::Done,
            aborted: false,
        }
    }

    pub fn tell(&mut self, input: AgentInput) {
        self.queue.push_back(input);
        self.told += 1;
    }

    pub fn permission_decided(&mut self, id: &RequestId) {
        if self.doing == Doing::Asking(id.clone()) {
            self.doing = Doing::Working;
        }
    }

    /// Whether it is told to end, or interrupted, and sees it even in the middle of a tool.
    pub fn has_urgent(&self) -> bool {
        self.queue.iter().any(|i| matches!(i, AgentInput::Kill { .. } | AgentInput::Interrupt))
    }

    /// Whether it rests and everybody knows.
    pub fn is_done(&self) -> bool {
        self.doing == Doing::Resting && self.queue.is_empty() && self.reported && !self.aborted
    }

    pub fn is_ending(&self) -> bool {
        self.doing == Doing::Agreed || self.queue.iter().any(|i| matches!(i, AgentInput::Kill { .. } | AgentInput::End { .. }))
    }

    /// Whether there is something for it to do that it has not begun.
    pub fn is_called(&self, inbox: usize) -> bool {
        self.queue.iter().any(|input| match input {
            AgentInput::Mail | AgentInput::Unread => inbox > self.offset,
            AgentInput::Tell { .. } | AgentInput::Claimed(_) | AgentInput::Verdict(_) => true,
            AgentInput::GoOn { task, .. } => task.is_some(),
            AgentInput::Offered(_)
            | AgentInput::GoalTaken { .. }
            | AgentInput::Interrupt
            | AgentInput::End { .. }
            | AgentInput::Kill { .. } => false,
        })
    }
}

/// What came in at a boundary.
#[derive(Default)]
struct Intake {
    new: bool,
    interrupted: bool,
    end: Option<String>,
}

impl World {
    fn take_in(&mut self, name: &MemberName) -> Intake {
        let mut intake = Intake::default();
        let Some(agent) = self.agents.get_mut(name) else { return intake };
        let inbox = self.disk.inboxes.get(name.as_str()).map(Vec::as_slice).unwrap_or_default();
        if agent.queue.iter().any(|i| matches!(i, AgentInput::Mail | AgentInput::Unread)) && inbox.len() > agent.offset {
            let shutdown = |m: &&std::sync::Arc<Envelope>| m.kind == MessageKind::ShutdownRequest;
            agent.asked.extend(inbox[agent.offset..].iter().filter(shutdown).filter_map(|m| m.request_id.clone()));
            agent.offset = inbox.len();
            self.disk.offsets.insert(name.clone(), (agent.generation, agent.offset));
            intake.new = true;
        }
        while let Some(input) = agent.queue.pop_front() {
            agent.seen += 1;
            match input {
                AgentInput::Mail | AgentInput::Unread | AgentInput::GoalTaken { .. } | AgentInput::Offered(_) => {}
                AgentInput::Tell { .. } | AgentInput::Claimed(_) | AgentInput::Verdict(_) => intake.new = true,
                AgentInput::GoOn { task, .. } => intake.new |= task.is_some(),
                AgentInput::Interrupt => intake.interrupted = true,
                AgentInput::End { reason } | AgentInput::Kill { reason } => {
                    intake.end = Some(reason);
                    break;
                }
            }
        }
        intake
    }

    /// One step of an agent that does what it should: it takes in what waits, and says what it does.
    pub fn step(&mut self, who: &MemberName) {
        let Some(agent) = self.agents.get_mut(who) else { return };
        if agent.aborted {
            return self.ends(who, false, "stopped by force");
        }
        match agent.doing.clone() {
            Doing::Resting => self.listen(who),
            Doing::Working => self.boundary(who),
            Doing::Asking(_) if agent.has_urgent() => {
                agent.doing = Doing::Working;
                self.boundary(who);
            }
            Doing::Asking(_) => {}
            Doing::Agreed => self.ends(who, false, "agreed"),
        }
    }

    fn listen(&mut self, who: &MemberName) {
        let intake = self.take_in(who);
        if let Some(reason) = intake.end {
            return self.ends(who, false, &reason);
        }
        let Some(agent) = self.agents.get_mut(who) else { return };
        if intake.interrupted {
            agent.outcome = Rest::Interrupted;
        }
        let generation = agent.generation;
        if intake.new {
            agent.doing = Doing::Working;
            agent.reported = false;
            self.report(who, generation, AgentReport::Began { cause: "told".into() });
        } else {
            agent.reported = true;
            let (outcome, seen, told) = (agent.outcome.clone(), agent.seen, agent.told);
            // More is under way to it: the runtime drops such a report.
            if seen == told {
                self.report(who, generation, AgentReport::Rested { outcome, text: "an answer".into() });
            }
        }
    }

    fn boundary(&mut self, who: &MemberName) {
        let intake = self.take_in(who);
        if let Some(reason) = intake.end {
            self.ends(who, false, &reason);
        } else if intake.interrupted {
            self.rests(who, Rest::Interrupted);
        }
    }

    /// The turn ends.
    pub fn rests(&mut self, who: &MemberName, outcome: Rest) {
        let Some(agent) = self.agents.get_mut(who).filter(|agent| agent.doing == Doing::Working) else { return };
        agent.doing = Doing::Resting;
        agent.outcome = outcome;
        agent.reported = false;
        self.listen(who);
    }

    /// The agent is gone: by itself, by a fault, by force.
    pub fn ends(&mut self, who: &MemberName, failed: bool, reason: &str) {
        let Some(agent) = self.agents.remove(who) else { return };
        self.ghosts.push((who.clone(), agent.generation));
        self.report(who, agent.generation, AgentReport::Ended { failed, reason: reason.to_owned() });
    }

    /// A tool call of a working agent, with what the runtime makes of its outcome.
    pub fn tool(&mut self, who: &MemberName, command: TeamCommand) -> Outcome {
        if self.agents.get(who).is_none_or(|agent| agent.doing != Doing::Working) {
            return Outcome::Nothing;
        }
        let (submits, answers) = match &command {
            TeamCommand::SubmitPlan { .. } => (true, None),
            TeamCommand::Answer { id, verdict, .. } => (false, Some((id.clone(), verdict.is_approval()))),
            _ => (false, None),
        };
        let outcome = self.command(Party::Member(who.clone()), command);
        let Some(agent) = self.agents.get_mut(who) else { return outcome };
        match &outcome {
            Outcome::Deferred(id) => agent.doing = Doing::Asking(id.clone()),
            Outcome::Reply(Reply::Request(request)) if submits && request.is_pending() => self.rests(who, Rest::AwaitsVerdict),
            Outcome::Reply(_) => {
                if let Some((id, agreed)) = answers {
                    let mine = agent.asked.contains(&id);
                    agent.asked.retain(|asked| *asked != id);
                    if mine && agreed {
                        agent.doing = Doing::Agreed;
                    }
                }
            }
            Outcome::Refused(_) | Outcome::Nothing => {}
        }
        outcome
    }
}
