//! The table of all keys.

use super::setting::Setting;
use super::values::{Config, ProviderConfig};
use crate::domain::settings::NestedTeam;
use crate::domain::usage::Price;
use std::path::Path;
use toml::Value;

/// Whether a workspace's file may set a key before the workspace is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It changes looks, names or waits; nothing that spends, sends, runs or decides.
    Open,
    /// Only after the person trusted the file.
    Guarded,
}

/// A key that exists.
pub struct Field {
    /// Its parts; `*` stands for any name.
    pub path: &'static [&'static str],
    /// Who may set it.
    pub trust: Trust,
    /// What fits, in words.
    pub expected: &'static str,
    fault: fn(&Value) -> Option<String>,
    set: fn(&mut Config, &[String], &Value, &Path) -> Option<()>,
    get: fn(&mut Config, &[String]) -> Value,
    names: fn(&Config) -> Vec<Vec<String>>,
}

impl Field {
    /// Whether `path` is this key; then the names at its `*`.
    pub fn matches(&self, path: &[String]) -> Option<Vec<String>> {
        let fits = self.path.len() == path.len() && self.path.iter().zip(path).all(|(own, part)| *own == "*" || own == part);
        fits.then(|| self.path.iter().zip(path).filter(|(own, _)| **own == "*").map(|(_, part)| part.clone()).collect())
    }

    /// Whether `path` leads to this key without being it.
    pub fn is_below(&self, path: &[String]) -> bool {
        self.path.len() > path.len() && self.path.iter().zip(path).all(|(own, part)| *own == "*" || own == part)
    }

    /// Sets the value; `None` when it does not fit.
    pub fn set(&self, config: &mut Config, names: &[String], value: &Value, base: &Path) -> Option<()> {
        (self.set)(config, names, value, base)
    }

    /// What is wrong with a value that does not fit, as far as can be told from inside of it.
    pub fn fault(&self, value: &Value) -> Option<String> {
        (self.fault)(value)
    }

    /// Each key of this kind that the settings have, with its value.
    pub fn values(&self, config: &Config) -> Vec<(Vec<String>, Value)> {
        let mut scratch = config.clone();
        let all = (self.names)(config).into_iter();
        all.map(|names| (self.with(&names), (self.get)(&mut scratch, &names))).collect()
    }

    fn with(&self, names: &[String]) -> Vec<String> {
        let mut names = names.iter();
        self.path.iter().map(|part| if *part == "*" { names.next().cloned().unwrap_or_default() } else { (*part).to_owned() }).collect()
    }
}

fn only(_: &Config) -> Vec<Vec<String>> {
    vec![Vec::new()]
}

fn one<'a>(keys: impl Iterator<Item = &'a String>) -> Vec<Vec<String>> {
    keys.map(|name| vec![name.clone()]).collect()
}

fn provider<'c>(config: &'c mut Config, names: &[String]) -> &'c mut ProviderConfig {
    config.providers.entry(names.concat()).or_default()
}

fn nested<'c>(config: &'c mut Config, names: &[String]) -> &'c mut NestedTeam {
    config.team.teams.entry(names.concat()).or_default()
}

fn price<'c>(config: &'c mut Config, names: &[String]) -> &'c mut Price {
    config.team.prices.entry(names.concat()).or_insert(Price { input: 0.0, output: 0.0, cached: None })
}

fn key<'c>(config: &'c mut Config, names: &[String]) -> &'c mut Vec<String> {
    let [context, action] = names else { return config.screen.keys.entry(String::new()).or_default().entry(String::new()).or_default() };
    config.screen.keys.entry(context.clone()).or_default().entry(action.clone()).or_default()
}

fn keys(config: &Config) -> Vec<Vec<String>> {
    let actions = config.screen.keys.iter();
    actions.flat_map(|(context, actions)| actions.keys().map(|action| vec![context.clone(), action.clone()])).collect()
}

/// The fault finder of the place's own type.
const fn fault<T: Setting>(_: for<'c> fn(&'c mut Config, &[String]) -> &'c mut T) -> fn(&Value) -> Option<String> {
    T::fault
}

/// The expected words of the place's own type.
const fn expected<T: Setting>(_: for<'c> fn(&'c mut Config, &[String]) -> &'c mut T) -> &'static str {
    T::EXPECTED
}

macro_rules! fields {
    ($($path:expr, $trust:ident, $names:expr, |$config:ident, $n:pat_param| $place:expr;)*) => {
        &[$(Field {
            path: &$path,
            trust: Trust::$trust,
            expected: expected(|$config, $n| $place),
            fault: fault(|$config, $n| $place),
            set: |$config, $n, value, base| { *$place = Setting::read(value, base)?; Some(()) },
            get: |$config, $n| Setting::write($place),
            names: $names,
        }),*]
    };
}

/// All keys, in the order in which they are shown.
pub static FIELDS: &[Field] = fields! {
    ["model", "provider"], Guarded, only, |c, _| &mut c.provider;
    ["model", "name"], Open, only, |c, _| &mut c.model;
    ["model", "script"], Guarded, only, |c, _| &mut c.script;
    ["model", "context_window"], Open, only, |c, _| &mut c.team.context_window;
    ["model", "context_reserve"], Open, only, |c, _| &mut c.team.context_reserve;
    ["providers", "*", "base_url"], Guarded, |c| one(c.providers.keys()), |c, n| &mut provider(c, n).base_url;
    ["providers", "*", "api_key_env"], Guarded, |c| one(c.providers.keys()), |c, n| &mut provider(c, n).api_key_env;
    ["providers", "*", "api_key_cmd"], Guarded, |c| one(c.providers.keys()), |c, n| &mut provider(c, n).api_key_cmd;
    ["providers", "*", "model"], Guarded, |c| one(c.providers.keys()), |c, n| &mut provider(c, n).model;
    ["providers", "*", "first_byte_timeout"], Guarded, |c| one(c.providers.keys()), |c, n| &mut provider(c, n).first_byte_timeout;
    ["providers", "*", "idle_timeout"], Guarded, |c| one(c.providers.keys()), |c, n| &mut provider(c, n).idle_timeout;
    ["providers", "*", "max_tries"], Guarded, |c| one(c.providers.keys()), |c, n| &mut provider(c, n).max_tries;
    ["providers", "*", "send_reasoning"], Guarded, |c| one(c.providers.keys()), |c, n| &mut provider(c, n).send_reasoning;
    ["providers", "*", "system_role"], Guarded, |c| one(c.providers.keys()), |c, n| &mut provider(c, n).system_role;
    ["providers", "*", "context_window"], Guarded, |c| one(c.providers.keys()), |c, n| &mut provider(c, n).context_window;
    ["providers", "*", "headers"], Guarded, |c| one(c.providers.keys()), |c, n| &mut provider(c, n).headers;
    ["providers", "*", "extra_body"], Guarded, |c| one(c.providers.keys()), |c, n| &mut provider(c, n).extra_body;
    ["team", "name"], Open, only, |c, _| &mut c.team.name;
    ["team", "protocol"], Open, only, |c, _| &mut c.team.protocol;
    ["team", "max_turns"], Guarded, only, |c, _| &mut c.team.max_turns;
    ["team", "teams", "*", "protocol"], Guarded, |c| one(c.team.teams.keys()), |c, n| &mut nested(c, n).protocol;
    ["team", "teams", "*", "members"], Guarded, |c| one(c.team.teams.keys()), |c, n| &mut nested(c, n).members;
    ["team", "teams", "*", "max_turns"], Guarded, |c| one(c.team.teams.keys()), |c, n| &mut nested(c, n).max_turns;
    ["team", "market", "choice"], Open, only, |c, _| &mut c.market_choice;
    ["team", "graph", "nodes"], Open, only, |c, _| &mut c.graph.nodes;
    ["team", "graph", "edges"], Open, only, |c, _| &mut c.graph.edges;
    ["team", "plans"], Guarded, only, |c, _| &mut c.team.plans;
    ["team", "plan_reviewer"], Guarded, only, |c, _| &mut c.team.plan_reviewer;
    ["team", "require_plan"], Guarded, only, |c, _| &mut c.team.require_plan;
    ["team", "models", "*"], Guarded, |c| one(c.team.models.keys()), |c, n| c.team.models.entry(n.concat()).or_default();
    ["team", "fallback_models", "*"], Guarded, |c| one(c.team.fallback_models.keys()), |c, n| c.team.fallback_models.entry(n.concat()).or_default();
    ["limits", "idle_timeout"], Open, only, |c, _| &mut c.team.idle_timeout;
    ["limits", "poll_interval"], Open, only, |c, _| &mut c.team.poll_interval;
    ["limits", "shutdown_grace"], Open, only, |c, _| &mut c.team.shutdown_grace;
    ["limits", "round_cap"], Guarded, only, |c, _| &mut c.team.round_cap;
    ["limits", "max_members"], Guarded, only, |c, _| &mut c.team.max_members;
    ["limits", "output_limit"], Open, only, |c, _| &mut c.team.output_limit;
    ["limits", "command_timeout"], Open, only, |c, _| &mut c.team.command_timeout;
    ["permissions", "commands"], Guarded, only, |c, _| &mut c.team.permissions.commands;
    ["permissions", "edits"], Guarded, only, |c, _| &mut c.team.permissions.edits;
    ["permissions", "allow"], Guarded, only, |c, _| &mut c.team.permissions.allow;
    ["permissions", "ask"], Guarded, only, |c, _| &mut c.team.permissions.ask;
    ["permissions", "deny"], Guarded, only, |c, _| &mut c.team.permissions.deny;
    ["permissions", "unattended"], Guarded, only, |c, _| &mut c.team.permissions.unattended;
    ["permissions", "redact"], Guarded, only, |c, _| &mut c.team.permissions.redact;
    ["budget", "tokens"], Guarded, only, |c, _| &mut c.team.budget.tokens;
    ["budget", "cost"], Guarded, only, |c, _| &mut c.team.budget.cost;
    ["budget", "turns"], Guarded, only, |c, _| &mut c.team.budget.turns;
    ["budget", "seconds"], Guarded, only, |c, _| &mut c.team.budget.seconds;
    ["budget", "member", "tokens"], Guarded, only, |c, _| &mut c.team.member_budget.tokens;
    ["budget", "member", "cost"], Guarded, only, |c, _| &mut c.team.member_budget.cost;
    ["budget", "member", "turns"], Guarded, only, |c, _| &mut c.team.member_budget.turns;
    ["budget", "member", "seconds"], Guarded, only, |c, _| &mut c.team.member_budget.seconds;
    ["prices", "*", "input"], Guarded, |c| one(c.team.prices.keys()), |c, n| &mut price(c, n).input;
    ["prices", "*", "output"], Guarded, |c| one(c.team.prices.keys()), |c, n| &mut price(c, n).output;
    ["prices", "*", "cached"], Guarded, |c| one(c.team.prices.keys()), |c, n| &mut price(c, n).cached;
    ["screen", "theme"], Open, only, |c, _| &mut c.screen.theme;
    ["screen", "mouse"], Open, only, |c, _| &mut c.screen.mouse;
    ["screen", "color"], Open, only, |c, _| &mut c.screen.color;
    ["screen", "ascii"], Open, only, |c, _| &mut c.screen.ascii;
    ["screen", "plain"], Open, only, |c, _| &mut c.screen.plain;
    ["screen", "notify"], Open, only, |c, _| &mut c.screen.notify;
    ["screen", "keymap"], Guarded, only, |c, _| &mut c.screen.keymap;
    ["screen", "keys", "*", "*"], Guarded, keys, |c, n| key(c, n);
    ["store", "fsync"], Guarded, only, |c, _| &mut c.fsync;
    ["log", "level"], Guarded, only, |c, _| &mut c.log;
};

/// The key at `path`, with the names at its `*`.
pub fn find(path: &[String]) -> Option<(&'static Field, Vec<String>)> {
    FIELDS.iter().find_map(|field| field.matches(path).map(|names| (field, names)))
}

/// A key as TOML writes it: parts with other characters than letters, digits, `_` and `-` in quotes.
pub fn dotted<S: AsRef<str>>(path: &[S]) -> String {
    let part = |part: &S| {
        let text = part.as_ref();
        let bare = !text.is_empty() && (text == "*" || text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
        if bare { text.to_owned() } else { Value::from(text).to_string() }
    };
    path.iter().map(part).collect::<Vec<_>>().join(".")
}
