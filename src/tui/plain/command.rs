//! The commands of the linear mode, one a line.

use crate::domain::text::one_line;
use crate::domain::{RequestId, SpawnOrder, TeamCommand, Verdict};

/// What a line asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    Help,
    Status,
    Quit,
    /// A request or a task in full.
    Show(String),
    Answer {
        id: RequestId,
        verdict: Verdict,
    },
    Team(TeamCommand),
}

/// What `help` says, a line each.
pub const HELP: [&str; 14] = [
    "Help: approve ID, then a note if you like: approves a request.",
    "Help: reject ID, then what should change: rejects a request.",
    "Help: show ID: reads a request or a task in full.",
    "Help: status: members, tasks and what waits for you.",
    "Help: say TEXT: writes to the lead.",
    "Help: send NAME TEXT: writes to a member; the name all writes to everybody.",
    "Help: spawn NAME ROLE, then a first instruction if you like: starts a teammate.",
    "Help: shutdown NAME: asks a member to shut down.",
    "Help: stop NAME: ends a member at once.",
    "Help: interrupt NAME: ends what a member does right now.",
    "Help: resume NAME: starts a member again with its conversation; the name all starts everybody who was left.",
    "Help: task add SUBJECT: puts a task on the board.",
    "Help: quit: stops the team and leaves; twice stops it at once.",
    "Help: help: this list.",
];

const WORDS: [&str; 13] =
    ["approve", "reject", "show", "status", "say", "send", "spawn", "shutdown", "stop", "interrupt", "resume", "task", "quit"];

/// Reads a line; a blank one is nothing. The error says what to type instead.
pub fn parse(line: &str) -> Result<Option<Command>, String> {
    let (word, rest) = split(line);
    let command = match word.to_ascii_lowercase().as_str() {
        "" => return Ok(None),
        "help" | "?" => Command::Help,
        "status" => Command::Status,
        "quit" | "exit" => Command::Quit,
        "show" => Command::Show(needed(rest, "show ID")?.to_owned()),
        "approve" => {
            let (id, note) = request(rest, "approve ID, then a note if you like")?;
            Command::Answer { id, verdict: Verdict::Approve { note, edited: None, always: false } }
        }
        "reject" => {
            let (id, feedback) = request(rest, "reject ID, then what should change")?;
            Command::Answer { id, verdict: Verdict::Reject { feedback } }
        }
        _ => Command::Team(team_command(word, rest)?),
    };
    Ok(Some(command))
}

fn team_command(word: &str, rest: &str) -> Result<TeamCommand, String> {
    Ok(match word.to_ascii_lowercase().as_str() {
        "say" => TeamCommand::Send { to: "lead".into(), content: needed(rest, "say TEXT")?.to_owned() },
        "send" => {
            let (to, content) = split(rest);
            let content = needed(content, "send NAME TEXT")?.to_owned();
            if to == "all" { TeamCommand::Broadcast { content } } else { TeamCommand::Send { to: to.to_owned(), content } }
        }
        "spawn" => {
            let (name, rest) = split(rest);
            let (role, prompt) = split(rest);
            let role = needed(role, "spawn NAME ROLE, then a first instruction if you like")?.to_owned();
            TeamCommand::Spawn(SpawnOrder { name: name.to_owned(), role, prompt: optional(prompt), ..SpawnOrder::default() })
        }
        "shutdown" => {
            let (target, reason) = split(needed(rest, "shutdown NAME")?);
            TeamCommand::RequestShutdown { target: target.to_owned(), reason: optional(reason) }
        }
        "stop" => TeamCommand::ForceStop { target: needed(rest, "stop NAME")?.to_owned() },
        "resume" => TeamCommand::Resume { target: needed(rest, "resume NAME, or resume all")?.to_owned() },
        "interrupt" => TeamCommand::Interrupt { target: needed(rest, "interrupt NAME")?.to_owned() },
        "task" => match split(rest) {
            ("add", subject) => {
                let subject = needed(subject, "task add SUBJECT")?.to_owned();
                TeamCommand::CreateTask { subject, description: String::new(), blocked_by: Vec::new() }
            }
            _ => return Err("type: task add SUBJECT".into()),
        },
        unknown => return Err(unknown_word(unknown)),
    })
}

fn unknown_word(word: &str) -> String {
    let shown = one_line(word, 40);
    match crate::domain::names::nearest(word, WORDS) {
        Some(near) => format!("there is no command {shown}; did you mean {near}? Type help for all."),
        None => format!("there is no command {shown}. Type help for all; to write to the lead, type say and the text."),
    }
}

/// The first word, and what follows it.
fn split(line: &str) -> (&str, &str) {
    let line = line.trim();
    line.split_once(char::is_whitespace).map_or((line, ""), |(word, rest)| (word, rest.trim()))
}

fn needed<'a>(rest: &'a str, usage: &str) -> Result<&'a str, String> {
    if rest.is_empty() { Err(format!("something is missing; type: {usage}")) } else { Ok(rest) }
}

fn optional(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn request(rest: &str, usage: &str) -> Result<(RequestId, Option<String>), String> {
    let (id, words) = split(needed(rest, usage)?);
    let parsed = RequestId::parse(id).ok_or_else(|| format!("{} is no request id (8 hex digits); type: {usage}", one_line(id, 40)))?;
    Ok((parsed, optional(words)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn team(line: &str) -> TeamCommand {
        match parse(line).unwrap().unwrap() {
            Command::Team(command) => command,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_command_of_the_help_is_understood() {
        assert_eq!(parse("  ").unwrap(), None);
        assert_eq!(parse("STATUS").unwrap(), Some(Command::Status));
        assert_eq!(team("say  go on, please "), TeamCommand::Send { to: "lead".into(), content: "go on, please".into() });
        assert_eq!(team("send bob hi"), TeamCommand::Send { to: "bob".into(), content: "hi".into() });
        assert_eq!(team("send all hi"), TeamCommand::Broadcast { content: "hi".into() });
        assert_eq!(team("stop bob"), TeamCommand::ForceStop { target: "bob".into() });
        assert_eq!(team("shutdown bob enough"), TeamCommand::RequestShutdown { target: "bob".into(), reason: Some("enough".into()) });
        let TeamCommand::Spawn(order) = team("spawn bob tester write tests") else { panic!() };
        assert_eq!((order.name.as_str(), order.role.as_str(), order.prompt.as_deref()), ("bob", "tester", Some("write tests")));
        let Some(Command::Answer { verdict, .. }) = parse("reject 1a2b3c4d too large").unwrap() else { panic!() };
        assert_eq!(verdict, Verdict::Reject { feedback: Some("too large".into()) });
    }

    #[test]
    fn a_wrong_line_says_what_to_type() {
        assert!(parse("aprove 1").unwrap_err().contains("did you mean approve"));
        assert!(parse("approve yes").unwrap_err().contains("8 hex digits"));
        assert!(parse("send bob").unwrap_err().contains("send NAME TEXT"));
        assert!(parse("task").unwrap_err().contains("task add SUBJECT"));
        assert!(parse("please go on").unwrap_err().contains("say"));
    }
}
