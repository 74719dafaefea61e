//! Commands that change the team from another shell. They write into the files; the process that runs the team acts on
//! it. Where none does, the output says so.

use super::args::{ApproveArgs, RejectArgs, SendArgs, ShutdownArgs, SpawnArgs, TaskCommand};
use super::error::{CliError, Exit};
use super::out::{Form, Out};
use super::read;
use super::session::Session;
use crate::domain::{Party, Refusal, Reply, Request, RequestId, SpawnOrder, TaskId, TeamCommand, Verdict};
use crate::runtime::Team as _;
use crate::runtime::remote::{RemoteTeam, Runner};
use serde::Serialize;
use std::io::Read as _;
use std::sync::Arc;

/// A message from standard input is cut off here, in bytes.
const TEXT_MAX: u64 = 1 << 20;

/// The team of a session, through its files.
fn remote(session: &Session) -> Result<RemoteTeam, CliError> {
    Ok(RemoteTeam::new(session.store()?, session.team_settings()))
}

/// Gives a command as the person.
async fn give(team: &RemoteTeam, command: TeamCommand) -> Result<Reply, CliError> {
    Ok(team.command(Party::Human, command).await?)
}

/// Says it when nobody is there to act on what was written.
fn mention_nobody(team: &RemoteTeam, out: &mut Out) -> Result<(), CliError> {
    if team.runner()? == Runner::Nobody {
        out.say("nobody runs this team now; it will be taken up when signoff opens");
    }
    Ok(())
}

/// A task's number as people write it.
///
/// # Errors
/// A fault of usage, when it is no number.
pub fn task_id(text: &str) -> Result<TaskId, CliError> {
    TaskId::parse(text.trim()).ok_or_else(|| CliError::Usage(format!("{text:?} is no task number: write 3 or #3")))
}

fn request_id(text: &str) -> Result<RequestId, CliError> {
    Ok(RequestId::parse(text.trim()).ok_or_else(|| Refusal::UnknownRequest(text.chars().take(40).collect()))?)
}

/// The text itself, or standard input where it is `-`.
///
/// # Errors
/// When standard input cannot be read.
pub fn text(argument: &str) -> Result<String, CliError> {
    if argument != "-" {
        return Ok(argument.to_owned());
    }
    let mut text = String::new();
    std::io::stdin().take(TEXT_MAX).read_to_string(&mut text).map_err(CliError::io("read standard input"))?;
    Ok(text)
}

/// What came of a command: in words, or as the thing itself.
fn report(form: Form, words: &str, value: &impl Serialize, out: &mut Out) -> Result<(), CliError> {
    match form {
        Form::Json => out.json(value),
        Form::Table => out.line(words),
    }
}

/// `task …`
pub async fn task(session: &Session, command: &TaskCommand, out: &mut Out) -> Result<Exit, CliError> {
    let (command, verb, json) = match command {
        TaskCommand::List(args) => return read::tasks(session, Form::of(args.json), out),
        TaskCommand::Show { number, json } => return read::task(session, task_id(number)?, Form::of(*json), out),
        TaskCommand::Add { subject, description, blocked_by, json } => {
            let blocked_by = blocked_by.iter().map(|number| task_id(number)).collect::<Result<_, _>>()?;
            let command = TeamCommand::CreateTask { subject: subject.clone(), description: text(description)?, blocked_by };
            (command, "is on the board", *json)
        }
        TaskCommand::Done { number, json } => (TeamCommand::CompleteTask { task: task_id(number)? }, "is done", *json),
        TaskCommand::Release { number, note, json } => {
            (TeamCommand::ReleaseTask { task: task_id(number)?, note: note.clone() }, "is back on the board", *json)
        }
        TaskCommand::Delete { number, json } => {
            let id = task_id(number)?;
            let reply = give(&remote(session)?, TeamCommand::DeleteTask { task: id }).await?;
            let words = if let Reply::Said(words) = reply { words } else { format!("task {id} is deleted") };
            report(Form::of(*json), &words, &serde_json::json!({ "deleted": id }), out)?;
            return Ok(Exit::Done);
        }
    };
    if let Reply::Task(task) = give(&remote(session)?, command).await? {
        report(Form::of(json), &format!("task {} {verb}", task.id), &*task, out)?;
    }
    Ok(Exit::Done)
}

/// `send`
pub async fn send(session: &Session, args: &SendArgs, out: &mut Out) -> Result<Exit, CliError> {
    let team = remote(session)?;
    let content = text(&args.text)?;
    if let Reply::Sent(names) = give(&team, TeamCommand::Send { to: args.name.clone(), content }).await? {
        let told: Vec<String> = names.iter().map(ToString::to_string).collect();
        report(Form::of(args.json), &format!("sent to {}", told.join(", ")), &serde_json::json!({ "sent": told }), out)?;
    }
    mention_nobody(&team, out)?;
    Ok(Exit::Done)
}

/// `approve`
pub async fn approve(session: &Session, args: &ApproveArgs, out: &mut Out) -> Result<Exit, CliError> {
    let verdict = Verdict::Approve { note: args.note.clone(), edited: None, always: args.always };
    let team = remote(session)?;
    let request = find(&team, &args.id).await?;
    if let Some(digest) = &args.digest {
        check_digest(&request, digest)?;
    }
    answer(&team, &request, verdict, Form::of(args.json), out).await
}

/// `reject`
pub async fn reject(session: &Session, args: &RejectArgs, out: &mut Out) -> Result<Exit, CliError> {
    let team = remote(session)?;
    let request = find(&team, &args.id).await?;
    answer(&team, &request, Verdict::Reject { feedback: args.feedback.clone() }, Form::of(args.json), out).await
}

/// A request as its file holds it now.
async fn find(team: &RemoteTeam, id: &str) -> Result<Arc<Request>, CliError> {
    let id = request_id(id)?;
    match give(team, TeamCommand::GetRequest { id: id.clone() }).await? {
        Reply::Request(request) => Ok(request),
        _ => Err(CliError::Failed(format!("request {id} cannot be read"))),
    }
}

/// Whether the text is the one that was read. One that was decided meanwhile says so by itself, which tells more.
fn check_digest(request: &Request, read: &str) -> Result<(), CliError> {
    let read = read.trim().to_ascii_lowercase();
    if read.is_empty() || !read.chars().all(|c| c.is_ascii_hexdigit()) {
        return Err(CliError::Usage(format!("--digest takes the hex digits that `signoff requests {} --json` shows", request.id)));
    }
    if request.is_pending() && !request.digest().as_str().starts_with(&read) {
        return Err(Refusal::Changed { id: request.id.clone() }.into());
    }
    Ok(())
}

/// Answers the text that stands in the file.
async fn answer(team: &RemoteTeam, request: &Request, verdict: Verdict, form: Form, out: &mut Out) -> Result<Exit, CliError> {
    let command = TeamCommand::Answer { id: request.id.clone(), verdict, shown: request.digest() };
    if let Reply::Request(request) = give(team, command).await? {
        report(form, &decided(&request), &*request, out)?;
    }
    mention_nobody(team, out)?;
    Ok(Exit::Done)
}

fn decided(request: &Request) -> String {
    let title = crate::domain::text::one_line(&request.title, 120);
    format!("{} {} {} of {}: {title}", request.state.word(), request.kind.word(), request.id, request.target)
}

/// `spawn`
pub async fn spawn(session: &Session, args: &SpawnArgs, out: &mut Out) -> Result<Exit, CliError> {
    let team = remote(session)?;
    let order = SpawnOrder {
        name: args.name.clone(),
        role: args.role.clone(),
        prompt: args.prompt.clone(),
        require_plan: args.require_plan,
        model: None,
    };
    if let Reply::Spawned(member) = give(&team, TeamCommand::Spawn(order)).await? {
        let words = format!("{} ({}) is asked for", member.name, crate::domain::text::one_line(&member.role, 80));
        report(Form::of(args.json), &words, &member, out)?;
    }
    mention_nobody(&team, out)?;
    Ok(Exit::Done)
}

/// `shutdown`
pub async fn shutdown(session: &Session, args: &ShutdownArgs, out: &mut Out) -> Result<Exit, CliError> {
    let team = remote(session)?;
    let target = args.name.clone();
    let command =
        if args.now { TeamCommand::ForceStop { target } } else { TeamCommand::RequestShutdown { target, reason: args.reason.clone() } };
    if let Reply::Request(request) = give(&team, command).await? {
        let how = if request.force { "is stopped now" } else { "is asked to shut down" };
        report(Form::of(args.json), &format!("{} {how} (request {})", request.target, request.id), &*request, out)?;
    }
    mention_nobody(&team, out)?;
    Ok(Exit::Done)
}
