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
use std::io::Read as _;

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

/// `task …`
pub async fn task(session: &Session, command: &TaskCommand, out: &mut Out) -> Result<Exit, CliError> {
    let (command, verb) = match command {
        TaskCommand::List(args) => return read::tasks(session, Form::of(args.json), out),
        TaskCommand::Show { number, json } => return read::task(session, task_id(number)?, Form::of(*json), out),
        TaskCommand::Add { subject, description, blocked_by } => {
            let blocked_by = blocked_by.iter().map(|number| task_id(number)).collect::<Result<_, _>>()?;
            let command = TeamCommand::CreateTask { subject: subject.clone(), description: text(description)?, blocked_by };
            (command, "is on the board")
        }
        TaskCommand::Done { number } => (TeamCommand::CompleteTask { task: task_id(number)? }, "is done"),
        TaskCommand::Release { number, note } => {
            (TeamCommand::ReleaseTask { task: task_id(number)?, note: note.clone() }, "is back on the board")
        }
        TaskCommand::Delete { number } => {
            let id = task_id(number)?;
            let reply = give(&remote(session)?, TeamCommand::DeleteTask { task: id }).await?;
            let words = if let Reply::Said(words) = reply { words } else { format!("task {id} is deleted") };
            out.line(&words)?;
            return Ok(Exit::Done);
        }
    };
    if let Reply::Task(task) = give(&remote(session)?, command).await? {
        out.line(&format!("task {} {verb}", task.id))?;
    }
    Ok(Exit::Done)
}

/// `send`
pub async fn send(session: &Session, args: &SendArgs, out: &mut Out) -> Result<Exit, CliError> {
    let team = remote(session)?;
    let content = text(&args.text)?;
    if let Reply::Sent(names) = give(&team, TeamCommand::Send { to: args.name.clone(), content }).await? {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        out.line(&format!("sent to {}", names.join(", ")))?;
    }
    mention_nobody(&team, out)?;
    Ok(Exit::Done)
}

/// `approve`
pub async fn approve(session: &Session, args: &ApproveArgs, out: &mut Out) -> Result<Exit, CliError> {
    let verdict = Verdict::Approve { note: args.note.clone(), edited: None, always: args.always };
    answer(session, &args.id, verdict, args.digest.as_deref(), out).await
}

/// `reject`
pub async fn reject(session: &Session, args: &RejectArgs, out: &mut Out) -> Result<Exit, CliError> {
    answer(session, &args.id, Verdict::Reject { feedback: args.feedback.clone() }, None, out).await
}

/// Answers what stands in the file now; with a digest only if it is the text that was read.
async fn answer(session: &Session, id: &str, verdict: Verdict, read: Option<&str>, out: &mut Out) -> Result<Exit, CliError> {
    let team = remote(session)?;
    let id = request_id(id)?;
    let Reply::Request(request) = give(&team, TeamCommand::GetRequest { id: id.clone() }).await? else {
        return Err(CliError::Failed(format!("request {id} cannot be read")));
    };
    let shown = request.digest();
    if read.is_some_and(|digest| digest.is_empty() || !shown.as_str().starts_with(&digest.to_ascii_lowercase())) {
        return Err(Refusal::Changed { id }.into());
    }
    if let Reply::Request(request) = give(&team, TeamCommand::Answer { id, verdict, shown }).await? {
        out.line(&decided(&request))?;
    }
    mention_nobody(&team, out)?;
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
        out.line(&format!("{} ({}) is asked for", member.name, crate::domain::text::one_line(&member.role, 80)))?;
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
        out.line(&format!("{} {how} (request {})", request.target, request.id))?;
    }
    mention_nobody(&team, out)?;
    Ok(Exit::Done)
}
