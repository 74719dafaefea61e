//! One member as a task: it takes in mail, asks the model, runs tools, and tells the supervisor what it does.
//!
//! What follows what is decided by the turn machine in `protocol`; this room only carries it out. The agent owns its
//! conversation; nobody else writes its transcript.

mod calling;
mod compact;
mod intake;
mod keeping;
mod port;
mod tools;

use super::clock;
use super::env::RuntimeEnv;
use super::inbound::Inbound;
use crate::domain::event::NoticeLevel;
use crate::domain::{Activity, ChatMessage, Generation, Member, ToolSpec, TranscriptEntry};
use crate::protocol::turn::{Outcome, Turn, TurnEffect, TurnInput};
use crate::protocol::{AgentInput, AgentReport, compaction, format, replay};
use crate::tool::{Audience, shell::Jobs};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// What an agent needs to start.
pub struct Seat {
    /// Who it is.
    pub member: Arc<Member>,
    /// The team's name.
    pub team: String,
    /// The collaboration protocol's name.
    pub protocol: String,
    /// Keep the conversation of its transcript.
    pub resume: bool,
    /// Where its inbox ended when it was started, in bytes: a new generation reads on from there. Measured before
    /// anybody could write to it.
    pub inbox_end: u64,
    /// What everybody shares.
    pub env: Arc<RuntimeEnv>,
    /// To the supervisor.
    pub up: mpsc::UnboundedSender<Inbound>,
    /// From the supervisor.
    pub down: mpsc::Receiver<AgentInput>,
}

/// How long the end of an agent waits for its background commands: TERM, two seconds, KILL.
const JOBS_GRACE: Duration = Duration::from_millis(2_400);

/// How an agent ended.
struct End {
    failed: bool,
    reason: String,
}

pub(super) struct Agent {
    member: Arc<Member>,
    team: String,
    env: Arc<RuntimeEnv>,
    up: mpsc::UnboundedSender<Inbound>,
    down: mpsc::Receiver<AgentInput>,
    queue: VecDeque<AgentInput>,
    seen: u64,
    mail: bool,
    offset: u64,
    /// Where the inbox ended when it was started, in bytes.
    inbox_end: u64,
    system: String,
    messages: Vec<ChatMessage>,
    tools: Arc<Vec<ToolSpec>>,
    offered: Arc<Vec<ToolSpec>>,
    audience: Audience,
    model: String,
    /// Tokens of the conversation, from the server's last count on; 0 = not counted.
    context: u64,
    /// No compaction before the conversation is longer than this, in tokens.
    floor: u64,
    last_text: String,
    /// What turns said that went over into the next one without a rest.
    said: Vec<String>,
    port: Arc<port::AgentPort>,
    jobs: Arc<Jobs>,
}

/// What a turn came to.
enum TurnEnd {
    Rest(Outcome),
    End(End),
}

/// Runs a member until it ends. The report of the end is the last thing it sends.
pub async fn run(seat: Seat) {
    let mut agent = Agent::new(seat.member, seat.team, &seat.protocol, seat.env, seat.up, seat.down);
    let end = match agent.load(seat.resume, seat.inbox_end).await {
        Ok(()) => agent.live().await,
        Err(reason) => End { failed: true, reason },
    };
    agent.jobs.kill_all();
    // Its commands end before it is told that it has ended.
    let _ = tokio::time::timeout(JOBS_GRACE, agent.jobs.settled()).await;
    agent.env.live.remove(&agent.member.name);
    agent.tell(AgentReport::Ended { failed: end.failed, reason: end.reason });
}

impl Agent {
    fn new(
        member: Arc<Member>,
        team: String,
        protocol: &str,
        env: Arc<RuntimeEnv>,
        up: mpsc::UnboundedSender<Inbound>,
        down: mpsc::Receiver<AgentInput>,
    ) -> Self {
        let audience = if member.name.is_lead() { Audience::Lead } else { Audience::Teammate };
        let template = if member.name.is_lead() { &env.prompts.lead } else { &env.prompts.teammate };
        let mut system = env.fill(template, &member, &team, protocol);
        if let Some(instructions) = &env.instructions {
            system.push_str("\n\nInstructions of this workspace (AGENTS.md):\n");
            system.push_str(instructions);
        }
        let port = Arc::new(port::AgentPort {
            name: member.name.clone(),
            generation: member.generation,
            up: up.clone(),
            live: env.live.clone(),
            redacts: env.settings.permissions.redact,
        });
        Self {
            model: member.model.clone().unwrap_or_else(|| env.model_name.clone()),
            tools: env.tools.offered(audience),
            offered: Arc::default(),
            audience,
            system,
            port,
            jobs: Arc::new(Jobs::default()),
            queue: VecDeque::new(),
            seen: 0,
            mail: false,
            offset: 0,
            inbox_end: 0,
            messages: Vec::new(),
            context: 0,
            floor: 0,
            last_text: String::new(),
            said: Vec::new(),
            member,
            team,
            env,
            up,
            down,
        }
    }

    /// Takes up the conversation on disk, or marks the beginning of a new one.
    async fn load(&mut self, resume: bool, inbox_end: u64) -> Result<(), String> {
        let name = &self.member.name;
        self.inbox_end = inbox_end;
        if resume {
            let (entries, faults) = self.env.store.transcript(name).map_err(|e| e.to_string())?;
            let replayed = replay::replay(&entries);
            if replayed.generation == Some(self.member.generation) {
                for repair in faults.iter().map(ToString::to_string).chain(replayed.repairs) {
                    self.notice(NoticeLevel::Info, format!("transcript of {name}: {repair}"));
                }
                self.offset = replayed.inbox_offset;
                self.messages = replayed.messages;
                self.first_words();
                return Ok(());
            }
        }
        // A lead that never ran reads the mail that waits for it; a teammate's new generation never sees the old one's.
        self.offset = if resume && (name.is_lead() || self.member.generation == Generation::default()) { 0 } else { inbox_end };
        if resume {
            self.first_words();
        }
        self.keep(TranscriptEntry::Started { at: clock::now(), generation: self.member.generation, inbox_offset: self.offset }).await
    }

    /// A member that was cut off before its first instruction reached the transcript is told it now.
    fn first_words(&mut self) {
        if let Some(text) = self.member.prompt.clone().filter(|_| self.messages.is_empty()) {
            self.queue.push_front(AgentInput::Tell { text, cause: "prompt" });
        }
    }

    async fn live(&mut self) -> End {
        let mut outcome = Outcome::Done;
        loop {
            match self.take_in().await {
                Ok(intake) => {
                    if let Some(end) = intake.end {
                        return end;
                    }
                    if intake.interrupted {
                        outcome = Outcome::Interrupted;
                    }
                    if let Some(cause) = intake.cause {
                        self.tell(AgentReport::Began { cause });
                        match self.turn().await {
                            TurnEnd::Rest(rested) => outcome = rested,
                            TurnEnd::End(end) => return end,
                        }
                        continue;
                    }
                }
                Err(reason) => return End { failed: true, reason },
            }
            if self.poll_down() {
                continue;
            }
            let text = self.take_words();
            self.tell(AgentReport::Rested { outcome: outcome.clone(), text });
            match self.down.recv().await {
                Some(input) => self.queue_input(input),
                None => return End { failed: false, reason: "the app ended".into() },
            }
        }
    }

    /// One turn: from something new in the conversation to rest or end.
    async fn turn(&mut self) -> TurnEnd {
        let before = std::mem::take(&mut self.last_text);
        self.said.extend((!before.is_empty()).then_some(before));
        let mut turn = Turn::new(self.env.settings.round_cap);
        let mut effects: VecDeque<TurnEffect> = turn.handle(TurnInput::Begin).into();
        while let Some(effect) = effects.pop_front() {
            let next = match effect {
                TurnEffect::Append(message) => match self.append(message).await {
                    Ok(()) => continue,
                    Err(reason) => return TurnEnd::End(End { failed: true, reason }),
                },
                TurnEffect::Rest(outcome) => {
                    if outcome == Outcome::Interrupted {
                        self.jobs.kill_all();
                    }
                    return TurnEnd::Rest(outcome);
                }
                TurnEffect::End { reason } => return TurnEnd::End(End { failed: false, reason }),
                TurnEffect::Fail { reason } => return TurnEnd::End(End { failed: true, reason }),
                TurnEffect::Compact => match self.compact().await {
                    Ok(()) => continue,
                    Err(input) => {
                        // The call that was to follow does not.
                        effects.clear();
                        turn.handle(input)
                    }
                },
                TurnEffect::Call => match self.call_model().await {
                    Ok(input) => turn.handle(input),
                    Err(end) => return TurnEnd::End(end),
                },
                TurnEffect::Run(call) => self.run_tool(&mut turn, call).await,
            };
            effects.extend(next);
        }
        TurnEnd::Rest(Outcome::Done)
    }

    /// Adds to the conversation and its transcript.
    async fn append(&mut self, message: ChatMessage) -> Result<(), String> {
        if let ChatMessage::Assistant { text, .. } = &message
            && !text.trim().is_empty()
        {
            self.last_text.clone_from(text);
        }
        self.keep(TranscriptEntry::Message { at: clock::now(), message: message.clone() }).await?;
        self.push(message);
        Ok(())
    }

    fn push(&mut self, message: ChatMessage) {
        if self.context > 0 {
            self.context = self.context.saturating_add(compaction::tokens_of(message.size()));
        }
        self.messages.push(message);
    }

    /// What was said since the last rest: all of it, where mail made one turn go over into the next.
    fn take_words(&mut self) -> String {
        let last = std::mem::take(&mut self.last_text);
        let mut said = std::mem::take(&mut self.said);
        said.extend((!last.is_empty()).then_some(last));
        said.join("\n\n")
    }

    fn tell(&self, report: AgentReport) {
        let _ =
            self.up.send(Inbound::Report { name: self.member.name.clone(), generation: self.member.generation, report, seen: self.seen });
    }

    fn doing(&self, activity: Activity) {
        self.tell(AgentReport::Doing(activity));
    }

    fn notice(&self, level: NoticeLevel, text: String) {
        self.tell(AgentReport::Noticed { level, text });
    }

    /// The conversation as it goes to the model. One that starts without an introduction (after compaction, after an
    /// upstream transcript) gets the identity as its first message.
    fn conversation(&self) -> Vec<ChatMessage> {
        let mut all = Vec::with_capacity(self.messages.len() + 2);
        all.push(ChatMessage::System { text: self.system.clone() });
        let known = matches!(self.messages.first(), Some(ChatMessage::User { text }) if text.starts_with("<identity>"));
        if !known {
            all.push(ChatMessage::user(format::identity(&self.member, &self.team)));
        }
        all.extend(self.messages.iter().cloned());
        all
    }
}
