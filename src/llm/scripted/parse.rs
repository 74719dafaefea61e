//! From TOML to a [`Script`]. A fault is told with file, line, key and the nearest right word.

use super::fill;
use super::script::{Audience, Call, Condition, Fault, Pace, Rule, Script, Step, Trigger, WaitFor};
use super::words::{maybe_wait, words};
use crate::domain::conversation::FinishReason;
use crate::domain::names::nearest;
use crate::domain::{Digest, TokenUsage};
use crate::llm::ModelError;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::time::Duration;
use toml::Spanned;

/// The version of the format.
const FORMAT: u32 = 1;
/// `goto = "end"` ends a rule.
const END: &str = "end";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScript {
    #[serde(default = "first_format")]
    format: u32,
    #[serde(default, rename = "about")]
    _about: String,
    #[serde(default)]
    idle: Option<String>,
    #[serde(default)]
    waiting: Option<String>,
    #[serde(default)]
    context_window: Option<u64>,
    #[serde(default)]
    stream: Pace,
    #[serde(default, rename = "rule")]
    rules: Vec<Spanned<RawRule>>,
}

fn first_format() -> u32 {
    FORMAT
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    #[serde(default)]
    name: String,
    #[serde(default, rename = "for", deserialize_with = "words")]
    members: Vec<String>,
    on: OneOrMore,
    #[serde(default)]
    when: Condition,
    #[serde(default)]
    max: Option<u32>,
    #[serde(default)]
    clears: Option<bool>,
    #[serde(default)]
    again: bool,
    #[serde(default, rename = "step")]
    steps: Vec<Spanned<RawStep>>,
}

/// One trigger or a list: a list is read as texts first, so that a wrong word is told with the right ones.
struct OneOrMore(Vec<Trigger>);

impl<'de> Deserialize<'de> for OneOrMore {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        use serde::de::IntoDeserializer;
        let read = |word: &String| Trigger::deserialize(IntoDeserializer::<D::Error>::into_deserializer(word.as_str()));
        words(d)?.iter().map(read).collect::<Result<_, _>>().map(Self)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    #[serde(default)]
    label: Option<String>,
    #[serde(default, rename = "if")]
    condition: Condition,
    #[serde(default, rename = "else")]
    otherwise: Option<String>,
    #[serde(default)]
    wait_for: Option<WaitFor>,
    #[serde(default)]
    say: String,
    #[serde(default)]
    think: String,
    #[serde(default)]
    tool: Option<String>,
    #[serde(default)]
    args: Option<Map<String, Value>>,
    #[serde(default)]
    calls: Vec<Call>,
    #[serde(default)]
    finish: Option<FinishReason>,
    #[serde(default)]
    tokens_per_second: Option<f64>,
    #[serde(default, deserialize_with = "maybe_wait")]
    pause: Option<Duration>,
    #[serde(default)]
    usage: Option<TokenUsage>,
    #[serde(default)]
    error: Option<Fault>,
    #[serde(default)]
    retry: u32,
    #[serde(default)]
    repeat: u32,
    #[serde(default)]
    until: Option<Condition>,
    #[serde(default)]
    goto: Option<String>,
}

/// Where a fault is.
struct Source<'a> {
    text: &'a str,
    origin: &'a str,
}

impl Source<'_> {
    fn fault(&self, at: usize, what: &str) -> ModelError {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        ModelError::Setup(format!("{}:{line}: {what}", self.origin))
    }

    fn toml_fault(&self, error: &toml::de::Error) -> ModelError {
        let at = error.span().map_or(0, |span| span.start);
        let message = error.message().trim().replace('\n', " ");
        self.fault(at, &format!("{message}{}", suggestion(&message)))
    }
}

/// What a wrong word was meant to be; two letters changed places count as near, however short it is.
fn meant<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let letters = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    let wanted = letters(wrong);
    known.clone().into_iter().find(|word| letters(word) == wanted).or_else(|| nearest(wrong, known))
}

/// serde names the wrong word first and then the right ones, all in backquotes.
fn suggestion(message: &str) -> String {
    if !message.starts_with("unknown ") {
        return String::new();
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let Some(wrong) = quoted.next() else { return String::new() };
    meant(wrong, quoted).map(|right| format!("; did you mean `{right}`?")).unwrap_or_default()
}

/// Reads a script. `origin` is the file's name for messages.
pub(super) fn parse(text: &str, origin: &str) -> Result<Script, ModelError> {
    let source = Source { text, origin };
    let raw: RawScript = toml::from_str(text).map_err(|error| source.toml_fault(&error))?;
    if raw.format != FORMAT {
        return Err(source.fault(0, &format!("`format = {}` is not known; this version reads format = {FORMAT}", raw.format)));
    }
    check_rate(raw.stream.tokens_per_second).map_err(|what| source.fault(0, &format!("[stream]: {what}")))?;
    let rules = raw.rules.into_iter().enumerate().map(|(number, rule)| rule_of(&source, number + 1, rule)).collect::<Result<_, _>>()?;
    Ok(Script {
        idle: raw.idle.unwrap_or_else(|| "There is nothing more for me to do.".into()),
        waiting: raw.waiting.unwrap_or_else(|| "I wait for the decision on my plan.".into()),
        context_window: raw.context_window.unwrap_or(200_000),
        pace: raw.stream,
        rules,
        digest: Digest::of(text).as_str()[..4].to_owned(),
    })
}

fn check_rate(rate: f64) -> Result<(), String> {
    if rate.is_finite() && rate >= 0.0 {
        return Ok(());
    }
    Err(format!("`tokens_per_second = {rate}` is not a number from 0 on (0 = at once)"))
}

fn rule_of(source: &Source<'_>, number: usize, rule: Spanned<RawRule>) -> Result<Rule, ModelError> {
    let at = rule.span().start;
    let raw = rule.into_inner();
    let title = if raw.name.is_empty() { format!("rule {number}") } else { format!("rule {:?}", raw.name) };
    let fault = |what: &str| source.fault(at, &format!("{title}: {what}"));
    if raw.on.0.is_empty() {
        return Err(fault("`on` is empty: name at least one trigger, such as \"goal\" or \"claimed\""));
    }
    if raw.steps.is_empty() {
        return Err(fault("has no [[rule.step]]"));
    }
    let labels: Vec<Option<String>> = raw.steps.iter().map(|step| step.as_ref().label.clone()).collect();
    for (index, label) in labels.iter().enumerate() {
        if label.as_deref() == Some(END) || (label.is_some() && labels[..index].contains(label)) {
            let at = raw.steps[index].span().start;
            let label = label.as_deref().unwrap_or_default();
            return Err(source.fault(at, &format!("{title}, step {}: the label {label:?} is taken; choose another", index + 1)));
        }
    }
    let steps = raw.steps.into_iter().enumerate().map(|(index, step)| {
        let at = step.span().start;
        step_of(step.into_inner(), &labels).map_err(|what| source.fault(at, &format!("{title}, step {}: {what}", index + 1)))
    });
    Ok(Rule {
        audience: audience_of(raw.members),
        clears: raw.clears.unwrap_or_else(|| raw.on.0.contains(&Trigger::Claimed)),
        on: raw.on.0,
        when: raw.when,
        max: raw.max,
        again: raw.again,
        steps: steps.collect::<Result<_, _>>()?,
    })
}

fn audience_of(members: Vec<String>) -> Audience {
    match members.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] | ["default" | "teammates"] => Audience::Teammates,
        ["all"] => Audience::All,
        _ => Audience::Named(members),
    }
}

fn step_of(raw: RawStep, labels: &[Option<String>]) -> Result<Step, String> {
    let target = |key: &str, label: Option<&String>| match label {
        None => Ok(None),
        Some(label) if label == END => Ok(Some(labels.len())),
        Some(label) => match labels.iter().position(|l| l.as_ref() == Some(label)) {
            Some(index) => Ok(Some(index)),
            None => Err(no_label(key, label, labels)),
        },
    };
    let (goto, otherwise) = (target("goto", raw.goto.as_ref())?, target("else", raw.otherwise.as_ref())?);
    let calls = calls_of(raw.tool, raw.args, raw.calls)?;
    for (key, text) in [("say", &raw.say), ("think", &raw.think)] {
        fill::check(text).map_err(|what| format!("`{key}`: {what}"))?;
    }
    raw.tokens_per_second.map_or(Ok(()), check_rate)?;
    if raw.until.is_some() && raw.repeat < 2 {
        return Err("`until` ends a repetition: give `repeat` a number from 2 on".into());
    }
    Ok(Step {
        condition: raw.condition,
        otherwise,
        wait_for: raw.wait_for,
        say: raw.say,
        think: raw.think,
        calls,
        finish: raw.finish,
        tokens_per_second: raw.tokens_per_second,
        pause: raw.pause,
        usage: raw.usage,
        error: raw.error,
        retry: raw.retry,
        repeat: raw.repeat,
        until: raw.until,
        goto,
    })
}

fn no_label(key: &str, label: &str, labels: &[Option<String>]) -> String {
    let known = labels.iter().flatten().map(String::as_str).chain([END]);
    let hint = meant(label, known).map(|l| format!("; did you mean {l:?}?")).unwrap_or_default();
    format!("`{key} = {label:?}`: no step of this rule has that label{hint}")
}

fn calls_of(tool: Option<String>, args: Option<Map<String, Value>>, calls: Vec<Call>) -> Result<Vec<Call>, String> {
    let calls = match (tool, args) {
        (Some(_), _) if !calls.is_empty() => return Err("use `tool` with `args` for one call, or `calls` for several, not both".into()),
        (Some(tool), args) => vec![Call { tool, args: args.unwrap_or_default() }],
        (None, Some(_)) => return Err("`args` without `tool`".into()),
        (None, None) => calls,
    };
    let fits = |name: &str| (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    match calls.iter().find(|call| !fits(&call.tool)) {
        Some(call) => Err(format!("{:?} is no tool name: 1 to 64 letters, digits, `_` or `-`", call.tool)),
        None => Ok(calls),
    }
}
