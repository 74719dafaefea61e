//! A team's whole world: the real core under a supervisor that does what the runtime's does (decide, carry out in
//! order, bring in what others wrote when a write lost, settle), with files and agents as models.

use super::agent::Agent;
use super::disk::{Disk, Key, Write};
use super::ledger::Ledger;
use signoff::domain::settings::TeamSettings;
use signoff::domain::*;
use signoff::protocol::core::Loaded;
use signoff::protocol::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// As in the runtime.
const RETRIES: usize = 20;
/// Far more consequences than any input of these small teams can have.
const SETTLE_MAX: usize = 2_000;

#[derive(Clone, Default)]
pub struct Counted {
    pub requests: u128,
    pub messages: u128,
}

impl Ids for Counted {
    fn request(&mut self) -> RequestId {
        self.requests += 1;
        RequestId::from_random(self.requests << 96)
    }
    fn message(&mut self) -> MessageId {
        self.messages += 1;
        MessageId(format!("m{}", self.messages).into())
    }
}

/// What came of an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Reply(Reply),
    Refused(Refusal),
    /// The answer comes with this request's.
    Deferred(RequestId),
    Nothing,
}

enum Carried {
    Done,
    Lost(Outside),
    Failed,
    Crashed,
}

#[derive(Clone)]
pub struct World {
    pub core: TeamCore,
    pub settings: TeamSettings,
    pub disk: Disk,
    pub agents: BTreeMap<MemberName, Agent>,
    /// Agents that ended; what they left behind may still arrive.
    pub ghosts: Vec<(MemberName, Generation)>,
    pub timers: BTreeMap<Timer, Timestamp>,
    pub deferred: BTreeMap<RequestId, MemberName>,
    /// Files that others changed and that were not looked at yet.
    pub unseen: BTreeSet<Key>,
    pub now: Timestamp,
    pub ids: Counted,
    pub ledger: Ledger,
    pub crashed: bool,
    /// The last batch and all that followed from it was carried out.
    pub settled: bool,
    known: BTreeMap<Key, u64>,
    team_unsaved: bool,
}

pub fn name(text: &str) -> MemberName {
    MemberName::parse(text).unwrap()
}

pub fn member(text: &str) -> Party {
    Party::Member(name(text))
}

impl World {
    pub fn new(settings: TeamSettings) -> Self {
        let now = Timestamp(1_000_000);
        let (core, effects) = TeamCore::open(settings.clone(), Loaded::default(), now);
        let mut world = Self {
            core,
            settings,
            disk: Disk::default(),
            agents: BTreeMap::new(),
            ghosts: Vec::new(),
            timers: BTreeMap::new(),
            deferred: BTreeMap::new(),
            unseen: BTreeSet::new(),
            now,
            ids: Counted::default(),
            ledger: Ledger::default(),
            crashed: false,
            settled: true,
            known: BTreeMap::new(),
            team_unsaved: false,
        };
        world.begin(effects);
        world
    }

    fn begin(&mut self, effects: Vec<Effect>) {
        let mut outcome = Outcome::Nothing;
        if let Carried::Lost(outside) = self.carry_out(effects, &mut outcome, None) {
            self.take_outside(outside);
        }
        self.settle();
    }

    /// The process dies here and is started again on what the files hold.
    pub fn reopen(&mut self) {
        let lead = MemberName::lead();
        let mail = self.disk.inboxes.get(lead.as_str()).map_or(0, Vec::len);
        let unread = self.disk.offsets.get(&lead).is_some_and(|(_, offset)| mail > *offset);
        let busy: BTreeSet<MemberName> =
            self.agents.iter().filter(|(_, agent)| agent.doing != super::agent::Doing::Resting).map(|(name, _)| name.clone()).collect();
        let in_turn = busy.contains(&lead);
        self.disk.fault = None;
        self.crashed = false;
        self.ghosts.clear();
        self.agents.clear();
        self.timers.clear();
        self.deferred.clear();
        self.unseen.clear();
        self.team_unsaved = false;
        self.known = self.disk.keys().into_iter().filter_map(|key| self.disk.revision_of(&key).map(|r| (key, r))).collect();
        let loaded = Loaded { cut_off: busy, ..self.disk.load(unread || in_turn) };
        let asked = super::invariants::expected_at_start(&loaded);
        let (core, effects) = TeamCore::open(self.settings.clone(), loaded, self.now);
        self.core = core;
        self.ledger.reopened(&self.core, self.now);
        self.begin(effects);
        super::invariants::after_start(self, &asked);
    }

    /// Handles an input as the supervisor does. `agent` is the member whose tool waits for the answer.
    pub fn handle(&mut self, input: &Input, agent: Option<&MemberName>) -> Outcome {
        let mut outcome = Outcome::Nothing;
        for attempt in 0..=RETRIES {
            if attempt == RETRIES {
                self.ledger.wrong("an input lost against others for ever");
            }
            let effects = match self.core.decide(input, self.now, &mut self.ids) {
                Ok(effects) => effects,
                Err(refusal) => {
                    outcome = Outcome::Refused(refusal);
                    break;
                }
            };
            match self.carry_out(effects, &mut outcome, agent) {
                Carried::Done => break,
                Carried::Lost(outside) => self.take_outside(outside),
                Carried::Failed => {
                    self.ledger.reach("a write failed");
                    self.look_again(input);
                    if outcome == Outcome::Nothing {
                        outcome = Outcome::Refused(Refusal::Store("no space left".into()));
                    }
                    break;
                }
                Carried::Crashed => return Outcome::Nothing,
            }
        }
        self.settle();
        outcome
    }

    pub fn command(&mut self, by: Party, command: TeamCommand) -> Outcome {
        let agent = by.member().cloned();
        let expected = super::oracle::expected(self, &by, &command);
        let words = format!("{command:?}");
        let steers = matches!(by, Party::Human | Party::System) || by.is_lead();
        self.ledger.deleting = match &command {
            TeamCommand::DeleteTask { task } if steers => Some(*task),
            _ => None,
        };
        let outcome = self.handle(&Input::Command { by: by.clone(), command }, agent.as_ref());
        self.ledger.deleting = None;
        if let Some(allowed) = expected.filter(|_| self.settled && !self.crashed) {
            let refused = matches!(outcome, Outcome::Refused(_));
            if allowed == refused {
                self.ledger.wrong(format!("{by} gave {words}: by the rules allowed = {allowed}, but it came to {outcome:?}"));
            }
        }
        outcome
    }

    pub fn report(&mut self, name: &MemberName, generation: Generation, report: AgentReport) {
        self.handle(&Input::Report { name: name.clone(), generation, report }, None);
    }

    fn settle(&mut self) {
        self.settled = false;
        for _ in 0..SETTLE_MAX {
            if self.crashed {
                return;
            }
            let effects = self.core.settle(self.now, &mut self.ids);
            if effects.is_empty() {
                self.settled = true;
                return;
            }
            match self.carry_out(effects, &mut Outcome::Nothing, None) {
                Carried::Done => {}
                Carried::Lost(outside) => self.take_outside(outside),
                Carried::Failed | Carried::Crashed => return,
            }
        }
        self.ledger.wrong("consequences do not end");
    }

    fn take_outside(&mut self, outside: Outside) {
        let input = Input::Outside(outside);
        if let Ok(effects) = self.core.decide(&input, self.now, &mut self.ids)
            && !matches!(self.carry_out(effects, &mut Outcome::Nothing, None), Carried::Done)
        {
            self.look_again(&input);
        }
    }

    /// What others wrote could not be taken in: it is looked at again later.
    fn look_again(&mut self, input: &Input) {
        let key = match input {
            Input::Outside(Outside::Task(task)) => Key::Task(task.id),
            Input::Outside(Outside::TaskGone(id)) => Key::Task(*id),
            Input::Outside(Outside::Request(request)) => Key::Request(request.id.clone()),
            Input::Outside(Outside::Team(_)) => Key::Team,
            Input::Outside(Outside::Mail(..)) | Input::Command { .. } | Input::Report { .. } | Input::Fired(_) => return,
        };
        self.unseen.insert(key);
    }

    /// The watcher tells that a file changed.
    pub fn notice(&mut self, key: &Key) {
        self.unseen.remove(key);
        let there = self.disk.revision_of(key);
        match there {
            Some(revision) => self.known.insert(key.clone(), revision),
            None => self.known.remove(key),
        };
        let outside = match key {
            Key::Task(id) => Some(self.disk.tasks.get(id).map_or(Outside::TaskGone(*id), |(task, _)| Outside::Task(task.clone()))),
            Key::Request(id) => self.disk.requests.get(id).map(|(request, _)| Outside::Request(request.clone())),
            Key::Team => self.disk.team.as_ref().map(|(team, _)| Outside::Team(team.clone())),
        };
        if let Some(outside) = outside {
            self.handle(&Input::Outside(outside), None);
        }
    }

    fn carry_out(&mut self, effects: Vec<Effect>, outcome: &mut Outcome, agent: Option<&MemberName>) -> Carried {
        for effect in effects {
            match self.execute(effect, outcome, agent) {
                Carried::Done => {}
                stopped => return stopped,
            }
        }
        Carried::Done
    }

    fn execute(&mut self, effect: Effect, outcome: &mut Outcome, agent: Option<&MemberName>) -> Carried {
        match effect {
            Effect::CreateTask(task) => return self.put(Key::Task(task.id), None, |disk| disk.put_task(task.clone())),
            Effect::SaveTask(task) => {
                let expect = self.known.get(&Key::Task(task.id)).copied();
                return self.put(Key::Task(task.id), expect, |disk| disk.put_task(task.clone()));
            }
            Effect::DeleteTask(id) => {
                let Some(expect) = self.known.get(&Key::Task(id)).copied() else { return Carried::Done };
                return self.put(Key::Task(id), Some(expect), |disk| {
                    disk.tasks.remove(&id);
                });
            }
            Effect::CreateRequest(request) => {
                return self.put(Key::Request(request.id.clone()), None, |disk| disk.put_request(request.clone()));
            }
            Effect::SaveRequest(request) => {
                let key = Key::Request(request.id.clone());
                let expect = self.known.get(&key).copied().filter(|_| self.disk.revision_of(&key).is_some());
                return self.put(key, expect, |disk| disk.put_request(request.clone()));
            }
            Effect::SaveTeam => return self.save_team(),
            Effect::Deliver(message) => match self.disk.write() {
                Write::Done => self.disk.inboxes.entry(message.to.clone()).or_default().push(message),
                Write::Failed => return Carried::Failed,
                Write::Crashed => return self.crash(),
            },
            Effect::Patch { name, patch } => {
                if let Some(event) = self.core.patched(&name, &patch) {
                    self.emit(event);
                }
            }
            Effect::Emit(event) => self.emit(event),
            Effect::Mark(mark) => self.core.mark(mark),
            Effect::Start { member, resume } => self.start(&member, resume),
            Effect::Tell { name, input } => {
                if let Some(agent) = self.agents.get_mut(&name) {
                    agent.tell(input);
                }
            }
            Effect::Abort { name } => {
                self.ledger.reach("taken off by force");
                if let Some(agent) = self.agents.get_mut(&name) {
                    agent.aborted = true;
                }
            }
            Effect::SetTimer { timer, at } => {
                self.timers.insert(timer, at);
            }
            Effect::CancelTimer(timer) => {
                self.timers.remove(&timer);
            }
            Effect::Reply(value) => *outcome = Outcome::Reply(value),
            Effect::Refuse(refusal) => *outcome = Outcome::Refused(refusal),
            Effect::Defer(id) => {
                self.deferred.insert(id.clone(), agent.cloned().unwrap());
                *outcome = Outcome::Deferred(id);
            }
            Effect::Settle { id, result } => self.answer_deferred(&id, &result),
        }
        Carried::Done
    }

    fn answer_deferred(&mut self, id: &RequestId, result: &Result<Reply, Refusal>) {
        let granted = result.is_ok();
        if granted != (self.core.request(id).map(|r| r.state) == Some(RequestState::Approved)) {
            self.ledger.wrong(format!("permission {id} was settled as {result:?} against its request"));
        }
        let waiting = self.deferred.remove(id);
        if waiting.is_some() {
            self.ledger.reach("a waiting tool answered");
        }
        if let Some(agent) = waiting.and_then(|name| self.agents.get_mut(&name)) {
            agent.permission_decided(id);
        }
    }

    fn put(&mut self, key: Key, expect: Option<u64>, change: impl FnOnce(&mut Disk)) -> Carried {
        if self.disk.revision_of(&key) != expect {
            self.ledger.reach("a write lost");
            self.unseen.remove(&key);
            match self.disk.revision_of(&key) {
                Some(revision) => self.known.insert(key.clone(), revision),
                None => self.known.remove(&key),
            };
            return Carried::Lost(match &key {
                Key::Task(id) => self.disk.tasks.get(id).map_or(Outside::TaskGone(*id), |(task, _)| Outside::Task(task.clone())),
                Key::Request(id) => Outside::Request(self.disk.requests[id].0.clone()),
                Key::Team => unreachable!("the team's file has its own way"),
            });
        }
        match self.disk.write() {
            Write::Done => {
                change(&mut self.disk);
                match self.disk.revision_of(&key) {
                    Some(revision) => self.known.insert(key, revision),
                    None => self.known.remove(&key),
                };
                Carried::Done
            }
            Write::Failed => Carried::Failed,
            Write::Crashed => self.crash(),
        }
    }

    fn crash(&mut self) -> Carried {
        self.ledger.reach("died in the middle of a batch");
        self.crashed = true;
        Carried::Crashed
    }

    fn save_team(&mut self) -> Carried {
        match self.disk.write() {
            Write::Done => {}
            Write::Failed => return Carried::Failed,
            Write::Crashed => return self.crash(),
        }
        let lost = self.disk.revision_of(&Key::Team) != self.known.get(&Key::Team).copied();
        let outside = self.disk.team.as_ref().filter(|_| lost).map(|(team, _)| team.clone());
        self.team_unsaved = false;
        self.disk.put_team(self.core.team_config());
        self.unseen.remove(&Key::Team);
        self.known.extend(self.disk.revision_of(&Key::Team).map(|revision| (Key::Team, revision)));
        if let Some(team) = outside {
            self.take_outside(Outside::Team(team));
        }
        Carried::Done
    }

    /// The delayed write of the team's file.
    pub fn flush(&mut self) {
        if self.team_unsaved {
            self.save_team();
            self.settle();
        }
    }

    fn emit(&mut self, event: TeamEvent) {
        super::invariants::before_event(self, &event);
        self.ledger.event(&self.core, &event, &self.settings);
        self.team_unsaved |= matches!(event, TeamEvent::MemberChanged { .. } | TeamEvent::MemberRemoved { .. });
        self.core.apply(&event);
    }

    fn start(&mut self, member: &Member, resume: bool) {
        let inbox = self.disk.inboxes.get(member.name.as_str()).map_or(0, Vec::len);
        let taken_in = self.disk.offsets.get(&member.name).filter(|(generation, _)| resume && *generation == member.generation);
        let offset = taken_in.map_or(if resume && member.name.is_lead() { 0 } else { inbox }, |(_, offset)| *offset);
        self.disk.offsets.insert(member.name.clone(), (member.generation, offset));
        self.ledger.started(member, resume);
        self.ledger.reach(if resume { "resumed" } else { "started" });
        if self.agents.insert(member.name.clone(), Agent::new(member.generation, offset)).is_some() {
            self.ledger.wrong(format!("two agents for {}", member.name));
        }
    }

    /// The timer that is due next fires; time moves to it.
    pub fn fire(&mut self, timer: &Timer) {
        if let Some(at) = self.timers.remove(timer) {
            self.now = self.now.max(at);
            self.handle(&Input::Fired(timer.clone()), None);
        }
    }

    pub fn next_timer(&self) -> Option<Timer> {
        self.timers.iter().min_by_key(|(timer, at)| (**at, (*timer).clone())).map(|(timer, _)| timer.clone())
    }

    pub fn pass(&mut self, millis: u64) {
        self.now = self.now.plus(Duration::from_millis(millis));
    }

    pub fn deliver_from_outside(&mut self, to: &MemberName, message: Envelope) {
        let message = Arc::new(message);
        self.disk.inboxes.entry(to.to_string()).or_default().push(message.clone());
        self.handle(&Input::Outside(Outside::Mail(to.clone(), vec![message])), None);
    }
}
