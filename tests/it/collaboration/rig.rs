//! Drives one engine by hand: who runs, what was asked, what the trace says.

use signoff::collaboration::{
    ArgValue, CollaborationError, Directive, Engine, EngineConfig, Input, MemberCard, ProtocolConfig, TraceRecord, build,
};
use signoff::domain::{MemberName, Timestamp};

pub fn name(text: &str) -> MemberName {
    MemberName::parse(text).unwrap()
}

pub fn cards(names: &[&str]) -> Vec<MemberCard> {
    names.iter().map(|text| MemberCard::new(name(text), "")).collect()
}

pub struct Rig {
    pub engine: Engine,
    pub now: i64,
    pub last: Vec<Directive>,
    pub trace: Vec<TraceRecord>,
}

impl Rig {
    pub fn new(protocol: &str, names: &[&str]) -> Self {
        Self::with(protocol, cards(names), ProtocolConfig::default(), None)
    }

    pub fn bounded(protocol: &str, names: &[&str], max_turns: u32) -> Self {
        Self::with(protocol, cards(names), ProtocolConfig::default(), Some(max_turns))
    }

    pub fn with(protocol: &str, members: Vec<MemberCard>, config: ProtocolConfig, max_turns: Option<u32>) -> Self {
        let engine = Engine::new(build(protocol, config).unwrap(), members, EngineConfig { max_turns }).unwrap();
        Self { engine, now: 0, last: Vec::new(), trace: Vec::new() }
    }

    pub fn send(&mut self, input: Input) -> Result<(), CollaborationError> {
        self.now += 1_000;
        self.last = self.engine.handle(input, Timestamp(self.now))?;
        let records = self.last.iter().filter_map(|directive| match directive {
            Directive::Trace(record) => Some(record.clone()),
            _ => None,
        });
        self.trace.extend(records);
        Ok(())
    }

    pub fn prompt(mut self, text: &str) -> Self {
        self.send(Input::Prompt(text.into())).unwrap();
        self
    }

    pub fn end(&mut self, who: &str, output: &str) -> &mut Self {
        self.send(Input::ended(&name(who), output)).unwrap();
        self
    }

    pub fn fail(&mut self, who: &str, error: &str) -> &mut Self {
        self.send(Input::failed(&name(who), error)).unwrap();
        self
    }

    pub fn lead(&mut self, text: &str) -> &mut Self {
        self.send(Input::SupervisorAnswered { text: text.into() }).unwrap();
        self
    }

    /// Calls a tool; the reply's text, `Err` when it was refused.
    pub fn call(&mut self, by: &str, tool: &str, arguments: &[(&str, ArgValue)]) -> Result<String, String> {
        let arguments = arguments.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        self.send(Input::ProtocolToolCalled { by: name(by), tool: tool.into(), arguments }).unwrap();
        match self.last.first() {
            Some(Directive::ToolReply { ok: true, text, .. }) => Ok(text.clone()),
            Some(Directive::ToolReply { ok: false, text, .. }) => Err(text.clone()),
            other => panic!("the first directive is not the reply: {other:?}"),
        }
    }

    /// The lead calls a tool and ends its turn.
    pub fn lead_tool(&mut self, tool: &str, arguments: &[(&str, ArgValue)]) -> &mut Self {
        self.call("lead", tool, arguments).unwrap();
        self.lead("done deciding")
    }

    pub fn runs(&self) -> Vec<String> {
        let run = |directive: &Directive| match directive {
            Directive::RunMember { name, .. } => Some(name.to_string()),
            _ => None,
        };
        self.last.iter().filter_map(run).collect()
    }

    pub fn prompt_of(&self, who: &str) -> String {
        let found = self.last.iter().find_map(|directive| match directive {
            Directive::RunMember { name, prompt, .. } if name.as_str() == who => Some(prompt.clone()),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("{who} does not run: {:?}", self.last))
    }

    pub fn tools_of(&self, who: &str) -> Vec<&'static str> {
        let found = self.last.iter().find_map(|directive| match directive {
            Directive::RunMember { name, tools, .. } if name.as_str() == who => Some(tools.iter().map(|tool| tool.name).collect()),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("{who} does not run: {:?}", self.last))
    }

    pub fn asked(&self) -> Option<(String, Vec<&'static str>)> {
        self.last.iter().find_map(|directive| match directive {
            Directive::AskSupervisor { context, tools, .. } => Some((context.clone(), tools.iter().map(|tool| tool.name).collect())),
            _ => None,
        })
    }

    pub fn ended(&self) -> Option<(String, bool, String)> {
        match self.last.last() {
            Some(Directive::Ended { reason, ok, answer }) => Some((reason.clone(), *ok, answer.clone())),
            _ => None,
        }
    }

    /// What the last input led to, in one word a directive: `run bob`, `ask`, `end ok`, `end failed`, `wait`.
    pub fn outcome(&self) -> String {
        let words: Vec<String> = self
            .last
            .iter()
            .filter_map(|directive| match directive {
                Directive::RunMember { name, .. } => Some(format!("run {name}")),
                Directive::AskSupervisor { .. } => Some("ask".into()),
                Directive::Ended { ok, .. } => Some(if *ok { "end ok".into() } else { "end failed".into() }),
                Directive::ToolReply { .. } | Directive::Trace(_) | Directive::Snapshot => None,
            })
            .collect();
        if words.is_empty() { "wait".into() } else { words.join(", ") }
    }

    pub fn traced(&self, text: &str) -> bool {
        self.trace.iter().any(|record| record.rule.contains(text) || record.outcome.contains(text))
    }

    /// Puts the run away and takes it out again, as a restart does.
    pub fn restart(&mut self, config: ProtocolConfig) {
        let snapshot = self.engine.snapshot();
        let text = serde_json::to_string(&snapshot).unwrap();
        let back = serde_json::from_str(&text).unwrap();
        assert_eq!(snapshot, back, "a snapshot survives its file");
        self.engine = Engine::restore(build(back.protocol(), config).unwrap(), back).unwrap();
    }
}

pub fn list(items: &[&str]) -> ArgValue {
    items.to_vec().into()
}

pub fn tasks(items: &[(&str, Option<&str>)]) -> ArgValue {
    let one = |(task, agent): &(&str, Option<&str>)| match agent {
        Some(agent) => ArgValue::from([("task", (*task).into()), ("agent", (*agent).into())]),
        None => ArgValue::from([("task", (*task).into())]),
    };
    ArgValue::List(items.iter().map(one).collect())
}
