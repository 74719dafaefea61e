//! May this command run, may this file be written? Pure: rules and an action in, a decision out.
//!
//! A command is split into simple commands by a shell grammar: those in lists, pipes, groups, functions and substitutions,
//! and those that `xargs`, `env`, `sh -c`, `find -exec` and the like are told to run. Every one of them must be allowed, with
//! the variables that are set for it, and one that is denied denies all. A part that is not known before it runs (`$x`) is
//! covered by a `*` only. What cannot be read with certainty is asked about. Rules guard against mistakes; against malice only a sandbox does, because a program that may run can
//! run others.
//!
//! The order: deny rules · `ask` rules · rules given for this session · allow rules · the default for commands. With the
//! default `allow` and neither `deny` nor `ask` rules everything runs: there is nothing to be uncertain about.

mod fragments;
mod part;
mod pattern;
mod split;
mod syntax;
mod unsure;
mod word;
mod wrappers;

use super::files::place;
use crate::domain::command::Action;
use crate::domain::settings::{Access, Permissions, Wall};
use crate::domain::text::{is_safe, one_line};
pub use fragments::fragments;
pub use part::{Part, Unsure};
pub use pattern::Pattern;
pub use split::split;
use std::path::Path;
pub use word::{Piece, Word};

/// Longest command that can be allowed for the session, in characters: the rule is shown word for word.
const RULE_MAX: usize = 2_000;

/// Why nothing runs where no sandbox works.
const NO_WALL: &str = "no sandbox works on this system, so commands are refused: the person can install the package `bubblewrap` \
                       (`signoff doctor` tells more), or start with --unsafe-no-sandbox";

/// What is decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyDecision {
    /// It may be done.
    Allow,
    /// The person must be asked. `rule`: what "always for this session" would add to the session's rules, word for word;
    /// `None` when there is no such rule.
    Ask { rule: Option<String> },
    /// It may not be done; the reason is for the model and the person.
    Deny(String),
}

/// Decides on `action`. `session_rules` are the rules of [`PolicyDecision::Ask`] that the person took over.
pub fn decide(permissions: &Permissions, session_rules: &[String], action: &Action) -> PolicyDecision {
    let decision = match action {
        Action::Command { command, cwd } => behind(permissions.wall, decide_command(permissions, session_rules, command, cwd)),
        Action::Write { path } => decide_write(permissions, session_rules, path),
    };
    match decision {
        PolicyDecision::Ask { .. } if permissions.unattended => {
            PolicyDecision::Deny("it needs a permission, and nobody is there to give it".into())
        }
        decision => decision,
    }
}

/// What the wall around commands makes of a decision: without a full one no rule lets a command run unasked, neither one
/// from the settings nor one given for this session.
fn behind(wall: Wall, decision: PolicyDecision) -> PolicyDecision {
    match (wall, decision) {
        (Wall::Full | Wall::Bundled, decision) => decision,
        (_, denied @ PolicyDecision::Deny(_)) => denied,
        (Wall::Reduced | Wall::Absent, PolicyDecision::Allow | PolicyDecision::Ask { .. }) => PolicyDecision::Ask { rule: None },
        (Wall::Unavailable, PolicyDecision::Allow | PolicyDecision::Ask { .. }) => PolicyDecision::Deny(NO_WALL.into()),
    }
}

fn decide_command(permissions: &Permissions, session: &[String], command: &str, cwd: &str) -> PolicyDecision {
    let fragments = fragments(command);
    if let Some(rule) = first_hit(&permissions.deny, &fragments, command) {
        return PolicyDecision::Deny(format!("the rule {:?} forbids it", one_line(rule, 200)));
    }
    if first_hit(&permissions.ask, &fragments, command).is_some() {
        return PolicyDecision::Ask { rule: None };
    }
    let parts = split(command);
    let rule = rule_for(command, &parts);
    if rule.as_ref().is_some_and(|rule| session.contains(rule)) {
        return PolicyDecision::Allow;
    }
    if permissions.commands == Access::Allow && permissions.deny.is_empty() && permissions.ask.is_empty() {
        return PolicyDecision::Allow;
    }
    let allowed = parts.as_ref().is_ok_and(|parts| {
        // A rule of this session stands for one command word for word: a `*` in it is not meant as one.
        let exact = session.iter().map(|rule| Pattern::parse(rule)).filter(|rule| !rule.has_stars());
        let rules: Vec<Pattern> = permissions.allow.iter().map(|rule| Pattern::parse(rule)).chain(exact).collect();
        let may_run = |part: &Part| {
            permissions.commands == Access::Allow || part.words.is_empty() || rules.iter().any(|rule| rule.covers(&part.words))
        };
        parts.iter().all(may_run) && (permissions.edits == Access::Allow || nothing_written(parts)) && writes_inside(parts, cwd)
    });
    match (allowed, permissions.commands) {
        (true, _) => PolicyDecision::Allow,
        (false, Access::Allow | Access::Ask) => PolicyDecision::Ask { rule },
        (false, Access::Deny) => PolicyDecision::Deny(match parts {
            Ok(_) => "no rule allows this command".into(),
            Err(unsure) => format!("no rule can allow this command: it holds {unsure}"),
        }),
    }
}

/// The first rule that hits any of the fragments. A rule with operators in it (`curl * | sh`) is held against the whole.
fn first_hit<'a>(rules: &'a [String], fragments: &[Vec<String>], command: &str) -> Option<&'a str> {
    let hits = |rule: &&String| {
        let pattern = Pattern::parse(rule);
        fragments.iter().any(|words| pattern.matches(words)) || (pattern.has_operators() && pattern::within(rule, command))
    };
    rules.iter().find(hits).map(String::as_str)
}

/// The rule that stands for exactly this command.
fn rule_for(command: &str, parts: &Result<Vec<Part>, Unsure>) -> Option<String> {
    if !command.chars().all(is_safe) || command.chars().count() > RULE_MAX {
        return None;
    }
    match parts.as_deref() {
        Ok([part]) if part.writes.is_empty() => {
            let known: Option<Vec<String>> = part.words.iter().map(Word::known).collect();
            Some(known.map_or_else(|| whole(command), |words| pattern::literal(&words)))
        }
        Ok(_) | Err(_) => Some(whole(command)),
    }
}

fn whole(command: &str) -> String {
    command.replace('*', "\\*")
}

fn nothing_written(parts: &[Part]) -> bool {
    parts.iter().flat_map(|part| &part.writes).all(|target| is_nowhere(target))
}

/// Whether every redirection goes to a file inside the workspace that may be written.
fn writes_inside(parts: &[Part], cwd: &str) -> bool {
    let moves = parts.iter().any(|part| part.words.iter().any(|word| matches!(word.known().as_deref(), Some("cd" | "pushd" | "popd"))));
    let fits =
        |target: &String| is_nowhere(target) || (!moves && inside(target, cwd).is_some_and(|path| place::check_write(&path).is_ok()));
    parts.iter().flat_map(|part| &part.writes).all(fits)
}

fn is_nowhere(target: &str) -> bool {
    matches!(target, "/dev/null" | "/dev/stdout" | "/dev/stderr")
}

fn inside(target: &str, cwd: &str) -> Option<std::path::PathBuf> {
    if target.starts_with('~') {
        return None;
    }
    let path = Path::new(target);
    let relative = if path.is_absolute() { path.strip_prefix(cwd).ok()? } else { path };
    place::normal(relative)
}

fn decide_write(permissions: &Permissions, session: &[String], path: &str) -> PolicyDecision {
    let relative = if path.starts_with('/') { None } else { place::normal(Path::new(path)) };
    let Some(relative) = relative else { return PolicyDecision::Deny(format!("{} is outside the workspace", one_line(path, 200))) };
    if let Err(error) = place::check_write(&relative) {
        return PolicyDecision::Deny(error.to_string());
    }
    let rule = format!("write:{}", relative.display());
    match permissions.edits {
        Access::Deny => PolicyDecision::Deny("writing files is not allowed here".into()),
        Access::Allow => PolicyDecision::Allow,
        Access::Ask if session.contains(&rule) => PolicyDecision::Allow,
        Access::Ask => PolicyDecision::Ask { rule: rule.chars().all(is_safe).then_some(rule) },
    }
}
