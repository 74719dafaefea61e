//! A team core with everything around it played by the test: saves succeed, agents are the test itself.

use signoff::domain::settings::TeamSettings;
use signoff::domain::*;
use signoff::protocol::core::Loaded;
use signoff::protocol::turn::Outcome;
use signoff::protocol::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

#[derive(Default)]
pub struct Counted(u128);

impl Ids for Counted {
    fn request(&mut self) -> RequestId {
        self.0 += 1;
        RequestId::from_random(self.0 << 96)
    }
    fn message(&mut self) -> MessageId {
        self.0 += 1;
        MessageId(format!("m{}", self.0).into())
    }
}

pub struct World {
    pub core: TeamCore,
    pub now: Timestamp,
    pub told: Vec<(MemberName, AgentInput)>,
    pub events: Vec<TeamEvent>,
    pub started: Vec<(MemberName, bool)>,
    pub aborted: Vec<MemberName>,
    pub mail: Vec<Arc<Envelope>>,
    pub saved: Vec<String>,
    pub timers: BTreeMap<Timer, Timestamp>,
    pub settled: Vec<(RequestId, Result<Reply, Refusal>)>,
    /// This many writes happen, then one fails.
    pub writes_left: Option<usize>,
    ids: Counted,
}

pub fn name(text: &str) -> MemberName {
    MemberName::parse(text).unwrap()
}

pub fn member(text: &str) -> Party {
    Party::Member(name(text))
}

impl World {
    pub fn new() -> Self {
        Self::with(TeamSettings::default(), Loaded::default())
    }

    pub fn with(settings: TeamSettings, loaded: Loaded) -> Self {
        let now = Timestamp(1_000_000);
        let (core, effects) = TeamCore::open(settings, loaded, now);
        let mut world = Self {
            core,
            now,
            told: Vec::new(),
            events: Vec::new(),
            started: Vec::new(),
            aborted: Vec::new(),
            mail: Vec::new(),
            saved: Vec::new(),
            timers: BTreeMap::new(),
            settled: Vec::new(),
            writes_left: None,
            ids: Counted::default(),
        };
        world.carry_out(effects).expect("opening");
        world.rests("lead");
        world
    }

    /// A world with a lead that rests and these teammates, which rest as well.
    pub fn team(names: &[&str]) -> Self {
        let mut world = Self::new();
        for name in names {
            world.spawn(name);
        }
        world
    }

    pub fn spawn(&mut self, who: &str) {
        let order = SpawnOrder { name: who.into(), role: "coder".into(), ..SpawnOrder::default() };
        self.human(TeamCommand::Spawn(order)).unwrap();
        self.rests(who);
    }

    pub fn handle(&mut self, input: Input) -> Result<Option<Reply>, Refusal> {
        let effects = self.core.decide(&input, self.now, &mut self.ids)?;
        let carried = self.carry_out(effects);
        self.settle();
        Ok(carried?.0)
    }

    fn settle(&mut self) {
        for _ in 0..1_000 {
            let effects = self.core.settle(self.now, &mut self.ids);
            if effects.is_empty() {
                return;
            }
            if self.carry_out(effects).is_err() {
                return;
            }
        }
        panic!("consequences do not end");
    }

    pub fn by(&mut self, by: Party, command: TeamCommand) -> Result<Reply, Refusal> {
        self.handle(Input::Command { by, command }).map(|reply| reply.unwrap_or(Reply::Done))
    }

    pub fn human(&mut self, command: TeamCommand) -> Result<Reply, Refusal> {
        self.by(Party::Human, command)
    }

    pub fn report(&mut self, who: &str, report: AgentReport) {
        let name = name(who);
        let generation = self.core.member(&name).unwrap().generation;
        self.handle(Input::Report { name, generation, report }).unwrap();
    }

    pub fn begins(&mut self, who: &str) {
        self.report(who, AgentReport::Began { cause: "test".into() });
    }

    pub fn rests(&mut self, who: &str) {
        self.rests_with(who, Outcome::Done, "");
    }

    pub fn rests_with(&mut self, who: &str, outcome: Outcome, text: &str) {
        self.report(who, AgentReport::Rested { outcome, text: text.into() });
    }

    pub fn ends(&mut self, who: &str, failed: bool, reason: &str) {
        self.report(who, AgentReport::Ended { failed, reason: reason.into() });
    }

    pub fn task(&mut self, subject: &str, blocked_by: &[u64]) -> TaskId {
        let blocked_by = blocked_by.iter().map(|n| TaskId(*n)).collect();
        let made = self.human(TeamCommand::CreateTask { subject: subject.into(), description: String::new(), blocked_by });
        let Ok(Reply::Task(task)) = made else { panic!("no task: {made:?}") };
        task.id
    }

    pub fn passes(&mut self, seconds: u64) {
        let end = self.now.plus(Duration::from_secs(seconds));
        while let Some((timer, at)) =
            self.timers.iter().filter(|(_, at)| **at <= end).min_by_key(|(_, at)| **at).map(|(t, at)| (t.clone(), *at))
        {
            self.timers.remove(&timer);
            self.now = at;
            self.handle(Input::Fired(timer)).unwrap();
        }
        self.now = end;
    }

    pub fn status(&self, who: &str) -> MemberStatus {
        self.core.member(&name(who)).unwrap().status
    }

    pub fn owner(&self, task: TaskId) -> Option<String> {
        self.core.board().get(task).unwrap().owner.as_ref().map(ToString::to_string)
    }

    pub fn state(&self, task: TaskId) -> TaskStatus {
        self.core.board().get(task).unwrap().status
    }

    pub fn told_to(&mut self, who: &str) -> Vec<AgentInput> {
        let name = name(who);
        let (to, rest) = std::mem::take(&mut self.told).into_iter().partition(|(to, _)| *to == name);
        self.told = rest;
        let to: Vec<(MemberName, AgentInput)> = to;
        to.into_iter().map(|(_, input)| input).collect()
    }

    pub fn finished(&self) -> Option<(String, bool)> {
        self.events.iter().rev().find_map(|e| match e {
            TeamEvent::Finished { reason, ok } => Some((reason.clone(), *ok)),
            _ => None,
        })
    }

    fn carry_out(&mut self, effects: Vec<Effect>) -> Result<(Option<Reply>, ()), Refusal> {
        let mut reply = None;
        for effect in effects {
            let writes = matches!(
                effect,
                Effect::CreateTask(_)
                    | Effect::SaveTask(_)
                    | Effect::DeleteTask(_)
                    | Effect::CreateRequest(_)
                    | Effect::SaveRequest(_)
                    | Effect::SaveTeam
                    | Effect::Deliver(_)
            );
            match self.writes_left {
                Some(0) if writes => {
                    self.writes_left = None;
                    return Err(Refusal::Store("no space left".into()));
                }
                Some(n) if writes => self.writes_left = Some(n - 1),
                Some(_) | None => {}
            }
            match effect {
                Effect::CreateTask(t) | Effect::SaveTask(t) => self.saved.push(format!("task {}", t.id.0)),
                Effect::DeleteTask(id) => self.saved.push(format!("no task {}", id.0)),
                Effect::CreateRequest(r) | Effect::SaveRequest(r) => self.saved.push(format!("request {}", r.id)),
                Effect::SaveTeam => self.saved.push("team".into()),
                Effect::Deliver(message) => self.mail.push(message),
                Effect::Patch { name, patch } => {
                    if let Some(event) = self.core.patched(&name, &patch) {
                        self.core.apply(&event);
                        self.events.push(event);
                    }
                }
                Effect::Emit(event) => {
                    self.core.apply(&event);
                    self.events.push(event);
                }
                Effect::Mark(mark) => self.core.mark(mark),
                Effect::Start { member, resume } => self.started.push((member.name.clone(), resume)),
                Effect::Tell { name, input } => self.told.push((name, input)),
                Effect::Abort { name } => self.aborted.push(name),
                Effect::SetTimer { timer, at } => {
                    self.timers.insert(timer, at);
                }
                Effect::CancelTimer(timer) => {
                    self.timers.remove(&timer);
                }
                Effect::Reply(value) => reply = Some(value),
                Effect::Refuse(refusal) => return Err(refusal),
                Effect::Defer(_) => {}
                Effect::Settle { id, result } => self.settled.push((id, result)),
            }
        }
        Ok((reply, ()))
    }
}
