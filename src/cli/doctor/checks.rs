//! The checks.

use super::{Check, State, is_utf8};
use crate::cli::compose::{self, SCRIPTED};
use crate::cli::out::terminal_size;
use crate::cli::session::{Session, Walls};
use crate::config::{Env, ProviderConfig, env_var, secret};
use crate::domain::settings::Wall;
use crate::llm::discover::{PROBE_TIME, discover, usual_candidates};
use crate::llm::provider;
use crate::tool::sandbox::{self, Surroundings, Tier};
use std::time::Duration;

const TERMINAL: &str = "terminal";
const WORKSPACE: &str = "workspace";
const PROVIDER: &str = "provider";
const SANDBOX: &str = "sandbox";
/// The smallest window in which something can be drawn.
const SIZE_MIN: (u16, u16) = (20, 6);
/// How long a provider may take to list its models.
const LIST_TIME: Duration = Duration::from_secs(8);

pub(super) fn terminal(env: &Env) -> Vec<Check> {
    let term = env_var(env, "TERM").unwrap_or_default();
    let kind = match term {
        "" => Check::bad(TERMINAL, "TERM", State::Warn, "not set", "set TERM, for example to xterm-256color"),
        "dumb" => Check::bad(TERMINAL, "TERM", State::Warn, "dumb: no full screen", "use another terminal, or --plain"),
        other => Check::ok(TERMINAL, "TERM", other),
    };
    let size = match terminal_size() {
        None => Check::bad(
            TERMINAL,
            "size",
            State::Warn,
            "standard output is no terminal",
            "open signoff in a terminal; `signoff run` needs none",
        ),
        Some((width, height)) if width < SIZE_MIN.0 || height < SIZE_MIN.1 => {
            let mend = format!("make the window at least {} by {}", SIZE_MIN.0, SIZE_MIN.1);
            Check::bad(TERMINAL, "size", State::Fail, format!("{width} by {height}"), mend)
        }
        Some((width, height)) => Check::ok(TERMINAL, "size", format!("{width} by {height}")),
    };
    let color = match (env_var(env, "NO_COLOR"), env_var(env, "COLORTERM")) {
        (Some(_), _) => "off (NO_COLOR)",
        (None, Some("truecolor" | "24bit")) => "true colour",
        (None, _) if term.contains("256color") => "256 colours",
        (None, _) => "16 colours",
    };
    let text = if is_utf8(env) {
        Check::ok(TERMINAL, "text", "UTF-8")
    } else {
        Check::bad(TERMINAL, "text", State::Warn, "the locale is not UTF-8: ASCII signs are drawn", "set LANG, for example to C.UTF-8")
    };
    vec![kind, size, Check::ok(TERMINAL, "colours", color), text]
}

pub(super) fn workspace(session: &Session) -> Vec<Check> {
    let dir = &session.workspace;
    let writable = rustix::fs::access(dir, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK);
    let mut checks = vec![match writable {
        Ok(()) => Check::ok(WORKSPACE, "directory", dir.display().to_string()),
        Err(error) => {
            let mend = "choose a directory that you may write to";
            Check::bad(WORKSPACE, "directory", State::Fail, format!("{}: {error}", dir.display()), mend)
        }
    }];
    checks.push(if dir.ancestors().any(|dir| dir.join(".git").exists()) {
        Check::ok(WORKSPACE, "git", "a repository: what the team changes can be seen and undone")
    } else {
        Check::bad(WORKSPACE, "git", State::Warn, "no repository", "run `git init` and commit, so that changes can be seen and undone")
    });
    checks.extend(files(session));
    if let Some(notice) = &session.loaded.untrusted {
        let found = format!("{} is not trusted; left out: {}", notice.file.display(), notice.keys.join(", "));
        checks.push(Check::bad(WORKSPACE, "settings", State::Warn, found, "read it, then run `signoff config trust`"));
    }
    checks
}

/// The team's files: whether they can be read, who runs the team, what is damaged.
fn files(session: &Session) -> Vec<Check> {
    let failed = |error: String| {
        vec![Check::bad(WORKSPACE, "files", State::Fail, error, "mend or move the file that is named; nothing was changed")]
    };
    let looked = || -> Result<Vec<Check>, String> {
        let store = session.store().map_err(|error| error.to_string())?;
        let team = store.team().map_err(|error| error.to_string())?;
        let mut checks = Vec::new();
        checks.push(match &team {
            None => Check::ok(WORKSPACE, "team", "none yet: `signoff` starts one"),
            Some((team, _)) => {
                let elsewhere = store.is_team_locked().map_err(|error| error.to_string())?;
                let runs = if elsewhere { "another process runs it: `signoff` opens a second screen" } else { "nobody runs it now" };
                let name = crate::domain::text::one_line(&team.team_name, 60);
                Check::ok(WORKSPACE, "team", format!("{name}, {} members; {runs}", team.members.len()))
            }
        });
        let tasks = store.tasks().map_err(|error| error.to_string())?;
        let requests = store.requests().map_err(|error| error.to_string())?;
        let members = team.as_ref().map(|(team, _)| crate::store::TeamStore::team_faults(team)).unwrap_or_default();
        let faults: Vec<String> = tasks.faults.iter().chain(&requests.faults).chain(&members).map(ToString::to_string).collect();
        if faults.is_empty() {
            checks.push(Check::ok(
                WORKSPACE,
                "files",
                format!("{} tasks, {} requests, all readable", tasks.items.len(), requests.items.len()),
            ));
        }
        let damaged = |fault: String| Check::bad(WORKSPACE, "files", State::Warn, fault, "mend the file by hand; it was left as it is");
        checks.extend(faults.into_iter().map(damaged));
        Ok(checks)
    };
    looked().unwrap_or_else(failed)
}

pub(super) async fn provider(session: &Session) -> Vec<Check> {
    compose::install_tls();
    let config = &session.loaded.config;
    let mut checks = Vec::new();
    let mut usable = config.provider == SCRIPTED;
    if usable {
        checks.push(Check::ok(PROVIDER, "model", "the scripted model"));
    }
    for (name, provider) in &config.providers {
        let source = secret::source(provider, &session.env);
        let chosen = *name == config.provider;
        if chosen || source.is_some() {
            let check = reach(name, provider, session).await;
            usable |= check.state == State::Ok;
            checks.push(check);
        }
    }
    let found = discover(usual_candidates(), PROBE_TIME).await;
    usable |= found.iter().any(|found| !found.models.is_empty());
    for found in found {
        let models = found.models.len();
        checks.push(Check::ok(PROVIDER, "local", format!("{} at {} with {models} models", found.name, found.base_url)));
    }
    if !usable {
        let mend = "set OPENAI_API_KEY, name a provider in the settings, or start Ollama; until then the scripted model plays";
        checks.push(Check::bad(PROVIDER, "model", State::Warn, "no model that answers", mend));
    }
    checks
}

/// Whether a provider lists its models; says where its key comes from, never the key.
async fn reach(name: &str, provider: &ProviderConfig, session: &Session) -> Check {
    let source = secret::source(provider, &session.env).map_or_else(|| "no key".to_owned(), |source| format!("key from {source}"));
    let place = format!("{name} at {}, {source}", provider.base_url);
    let settings = match compose::settings(name, provider, &session.env).await {
        Ok(settings) => settings,
        Err(error) => return Check::bad(PROVIDER, "server", State::Fail, place, error.to_string()),
    };
    match tokio::time::timeout(LIST_TIME, provider::models(&settings)).await {
        Ok(Ok(models)) => Check::ok(PROVIDER, "server", format!("{place}: answers, {} models", models.len())),
        Ok(Err(error)) => {
            Check::bad(PROVIDER, "server", State::Fail, format!("{place}: {error}"), format!("check providers.{name} and the key"))
        }
        Err(_) => {
            let mend = format!("check the network and providers.{name}.base_url");
            Check::bad(PROVIDER, "server", State::Fail, format!("{place}: no answer within {} s", LIST_TIME.as_secs()), mend)
        }
    }
}

/// What stands between commands and the rest of the machine, found by trying.
pub(super) fn sandbox(session: &Session) -> Check {
    const NAME: &str = "commands";
    let bad = |state, found: String, mend: &str| Check::bad(SANDBOX, NAME, state, found, mend);
    if session.walls == Walls::Declined {
        let found = format!("{} (--unsafe-no-sandbox)", Wall::Absent.words());
        return bad(State::Warn, found, "leave --unsafe-no-sandbox out");
    }
    if !cfg!(target_os = "linux") {
        let found = format!("{} (this system has no sandbox that signoff knows)", Wall::Absent.words());
        return bad(State::Warn, found, "look at what a command does before you allow it, or run signoff in a virtual machine");
    }
    let found = sandbox::detect(&Surroundings::of_process());
    let reasons = found.reasons.join(". ");
    match found.tier {
        Tier::Full => Check::ok(SANDBOX, NAME, format!("{}: {reasons}", Wall::Full.words())),
        Tier::Reduced => {
            let mend = "install the package `bubblewrap`: with the full sandbox your permission rules decide which commands ask";
            bad(State::Warn, format!("{}: {reasons}", Wall::Reduced.words()), mend)
        }
        Tier::None => {
            let mend = "install the package `bubblewrap`; or start with --unsafe-no-sandbox, then every command asks and nothing holds it";
            bad(State::Warn, format!("{}: {reasons}", Wall::Unavailable.words()), mend)
        }
    }
}
