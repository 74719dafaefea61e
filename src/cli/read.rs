//! Commands that read the team from another shell: `team`, `inbox`, `requests`, `task list`, `task show`.
//! They read the files, whoever runs the team, and write nothing.

use super::args::{InboxArgs, RequestsArgs};
use super::error::{CliError, Exit};
use super::out::{Align, Form, Out, Table};
use super::session::Session;
use super::words;
use crate::domain::{
    Activity, Board, Envelope, Member, MemberName, Party, Refusal, Request, RequestId, RequestState, Task, TaskId, TaskStatus, TeamConfig,
    Verdict,
};
use crate::store::TeamStore;
use crate::store::team_store::{Fault, Mail};
use serde::Serialize;
use std::sync::Arc;

/// How much of a log is read in one go, in bytes.
const CHUNK: usize = 1 << 20;

/// Tells what cannot be read.
pub(super) fn mention(out: &mut Out, faults: &[Fault]) {
    faults.iter().for_each(|fault| out.say(&format!("warning: {fault}")));
}

fn team(store: &TeamStore, out: &mut Out) -> Result<TeamConfig, CliError> {
    let team = store.team()?.map(|(team, _)| team).unwrap_or_default();
    mention(out, &TeamStore::team_faults(&team));
    Ok(team)
}

pub(super) fn board(store: &TeamStore, out: &mut Out) -> Result<Board, CliError> {
    let loaded = store.tasks()?;
    mention(out, &loaded.faults);
    let mut board = Board::default();
    loaded.items.into_iter().for_each(|(task, _)| drop(board.insert(Arc::new(task))));
    Ok(board)
}

/// A member with what it does.
#[derive(Serialize)]
struct MemberLine<'a> {
    #[serde(flatten)]
    member: &'a Member,
    activity: Option<&'a Activity>,
}

/// `team`
pub fn members(session: &Session, form: Form, out: &mut Out) -> Result<Exit, CliError> {
    let store = session.store()?;
    let team = team(&store, out)?;
    let history = super::history::history(&store)?;
    let mut table = Table::new(&[
        ("name", Align::Left),
        ("role", Align::Left),
        ("status", Align::Left),
        ("gen", Align::Right),
        ("task", Align::Right),
        ("doing", Align::Left),
    ]);
    let is_left = !store.is_team_locked()?;
    if is_left && form == Form::Table && team.members.iter().any(|member| member.status.is_live()) {
        out.say("nobody runs this team now: everybody is shown as the last process left it");
    }
    for member in &team.members {
        let activity = history.activities.get(&member.name).filter(|_| !is_left || !member.status.is_live());
        match form {
            Form::Json => out.json(&MemberLine { member, activity })?,
            Form::Table => {
                let task = member.task.map(|task| task.to_string()).unwrap_or_default();
                let doing = member.reason.clone().or_else(|| activity.map(words::activity)).unwrap_or_default();
                let cells = [
                    member.name.to_string(),
                    member.role.clone(),
                    member.status.word().into(),
                    member.generation.0.to_string(),
                    task,
                    doing,
                ];
                table.row(cells);
            }
        }
    }
    finish(&table, form, "nobody is in the team yet", out)
}

/// Prints the table, or says why there is none.
fn finish(table: &Table, form: Form, empty: &str, out: &mut Out) -> Result<Exit, CliError> {
    match form {
        Form::Json => {}
        Form::Table if table.is_empty() => out.say(empty),
        Form::Table => out.table(table)?,
    }
    Ok(Exit::Done)
}

/// `inbox NAME`
pub fn inbox(session: &Session, args: &InboxArgs, out: &mut Out) -> Result<Exit, CliError> {
    let store = session.store()?;
    let reader = Party::read(args.name.trim());
    let mut messages = Vec::new();
    let mut offset = 0;
    let name = if reader == Party::Human { None } else { Some(known(&team(&store, out)?, &args.name)?) };
    loop {
        let Mail { messages: read, next, faults, .. } = match &name {
            None => store.human_mail_after(offset, CHUNK)?,
            Some(name) => store.mail_after(name, offset, CHUNK)?,
        };
        mention(out, &faults);
        if next == offset {
            break;
        }
        offset = next;
        messages.extend(read);
    }
    let skipped = args.last.map_or(0, |last| messages.len().saturating_sub(last));
    let form = Form::of(args.json);
    let mut table = Table::new(&[("time", Align::Left), ("from", Align::Left), ("type", Align::Left), ("text", Align::Left)]);
    for message in messages.iter().skip(skipped) {
        match form {
            Form::Json => out.json(message)?,
            Form::Table => table.row(cells(message)),
        }
    }
    finish(&table, form, "no mail", out)
}

fn cells(message: &Envelope) -> [String; 4] {
    let kind = serde_json::to_value(message.kind).ok().and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default();
    [words::moment(message.at), message.from.to_string(), kind, message.content.clone()]
}

fn known(team: &TeamConfig, name: &str) -> Result<MemberName, CliError> {
    let found = team.members.iter().find(|member| member.name.same(name.trim())).map(|member| member.name.clone());
    // The lead's inbox may hold mail before there is a team.
    let found = found.or_else(|| MemberName::parse(name.trim()).ok().filter(MemberName::is_lead));
    found.ok_or_else(|| {
        let names: Vec<&str> = team.members.iter().map(|member| member.name.as_str()).collect();
        let nearest = crate::domain::names::nearest(name, names.iter().copied()).map(str::to_owned);
        Refusal::UnknownMember { name: name.chars().take(80).collect(), nearest, roster: names.join(", ") }.into()
    })
}

/// A request with the digest that names exactly this text.
#[derive(Serialize)]
struct RequestLine<'a> {
    #[serde(flatten)]
    request: &'a Request,
    digest: crate::domain::Digest,
}

/// `requests`
pub fn requests(session: &Session, args: &RequestsArgs, out: &mut Out) -> Result<Exit, CliError> {
    let store = session.store()?;
    let form = Form::of(args.json);
    if let Some(id) = &args.id {
        let parsed = RequestId::parse(id).ok_or_else(|| Refusal::UnknownRequest(id.clone()))?;
        let (request, _) = store.request(&parsed)?.ok_or_else(|| Refusal::UnknownRequest(id.clone()))?;
        show_request(&request, form, out)?;
        return Ok(Exit::Done);
    }
    let loaded = store.requests()?;
    mention(out, &loaded.faults);
    let mut list: Vec<&Request> = loaded.items.iter().map(|(request, _)| request).filter(|r| args.all || r.is_pending()).collect();
    list.sort_by_key(|request| request.created);
    let mut table = Table::new(&[
        ("id", Align::Left),
        ("kind", Align::Left),
        ("member", Align::Left),
        ("asked", Align::Left),
        ("state", Align::Left),
        ("title", Align::Left),
    ]);
    for request in list {
        match form {
            Form::Json => out.json(&RequestLine { request, digest: request.digest() })?,
            Form::Table => table.row([
                request.id.to_string(),
                request.kind.word().into(),
                request.target.to_string(),
                words::moment(request.created),
                request.state.word().into(),
                request.title.clone(),
            ]),
        }
    }
    finish(&table, form, "nothing waits for a decision", out)
}

fn show_request(request: &Request, form: Form, out: &mut Out) -> Result<(), CliError> {
    if form == Form::Json {
        return out.json(&RequestLine { request, digest: request.digest() });
    }
    out.line(&format!(
        "{} {} of {}: {}",
        request.kind.word(),
        request.id,
        request.target,
        crate::domain::text::one_line(&request.title, 200)
    ))?;
    let by = request.answer.as_ref().map(|answer| format!(" by {} at {}", answer.by, words::moment(answer.at))).unwrap_or_default();
    out.line(&format!("asked {}, {}{by}, digest {}", words::moment(request.created), request.state.word(), request.digest().as_str()))?;
    if let Some((word, text)) = answer_words(request) {
        text.lines().try_for_each(|line| out.line(&format!("{word}: {line}")))?;
    }
    if let Some(rule) = &request.rule {
        out.line(&format!("--always would add the rule: {rule}"))?;
    }
    out.line("")?;
    let indented = |text: &str, out: &mut Out| text.lines().try_for_each(|line| out.line(&format!("  {line}")));
    indented(&request.body, out)?;
    if let Some(Verdict::Approve { edited: Some(edited), .. }) = request.answer.as_ref().map(|answer| &answer.verdict) {
        out.line("")?;
        out.line("approved in this form:")?;
        indented(edited, out)?;
    }
    if request.state == RequestState::Pending {
        out.say(&format!("decide with `signoff approve {0}` or `signoff reject {0} --feedback …`", request.id));
    }
    Ok(())
}

/// What was said with the answer, or why there is none.
fn answer_words(request: &Request) -> Option<(&'static str, &str)> {
    let said = match request.answer.as_ref().map(|answer| &answer.verdict) {
        Some(Verdict::Approve { note, .. }) => note.as_deref().map(|note| ("note", note)),
        Some(Verdict::Reject { feedback }) => feedback.as_deref().map(|feedback| ("feedback", feedback)),
        None => request.ended.as_deref().map(|why| ("because", why)),
    };
    said.filter(|(_, text)| !text.trim().is_empty())
}

/// A task with what the board derives.
#[derive(Serialize)]
struct TaskLine<'a> {
    #[serde(flatten)]
    task: &'a Task,
    ready: bool,
    waits_for: Vec<TaskId>,
}

/// `task list`
pub fn tasks(session: &Session, form: Form, out: &mut Out) -> Result<Exit, CliError> {
    let board = board(&session.store()?, out)?;
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("state", Align::Left),
        ("owner", Align::Left),
        ("waits for", Align::Left),
        ("task", Align::Left),
    ]);
    for task in board.iter() {
        let blockers = board.blockers(task.id);
        match form {
            Form::Json => out.json(&task_line(&board, task))?,
            Form::Table => {
                let waits = if task.status == TaskStatus::Completed { String::new() } else { crate::domain::board::describe(&blockers) };
                let owner = task.owner.as_ref().map(ToString::to_string).unwrap_or_default();
                table.row([task.id.0.to_string(), state(&board, task).into(), owner, waits, task.subject.clone()]);
            }
        }
    }
    finish(&table, form, "the board is empty: `signoff task add SUBJECT` puts a task on it", out)
}

fn task_line<'a>(board: &Board, task: &'a Task) -> TaskLine<'a> {
    use crate::domain::board::Blocker;
    let waits_for = board.blockers(task.id).into_iter().map(|blocker| match blocker {
        Blocker::Open(id) | Blocker::Missing(id) => id,
    });
    TaskLine { task, ready: board.is_ready(task.id), waits_for: waits_for.collect() }
}

fn state(board: &Board, task: &Task) -> &'static str {
    match task.status {
        TaskStatus::Completed => "done",
        TaskStatus::InProgress => "doing",
        TaskStatus::Pending if board.stuck(task.id).is_some() => "stuck",
        TaskStatus::Pending if board.is_ready(task.id) => "ready",
        TaskStatus::Pending => "blocked",
    }
}

/// `task show`
pub fn task(session: &Session, id: TaskId, form: Form, out: &mut Out) -> Result<Exit, CliError> {
    let board = board(&session.store()?, out)?;
    let task = board.find(id)?;
    if form == Form::Json {
        out.json(&task_line(&board, task))?;
        return Ok(Exit::Done);
    }
    let owner = task.owner.as_ref().map_or_else(|| "nobody".to_owned(), ToString::to_string);
    out.line(&format!("task {id}: {}", crate::domain::text::one_line(&task.subject, 200)))?;
    out.line(&format!("state {}, owner {owner}", state(&board, task)))?;
    let blockers = board.blockers(id);
    if !blockers.is_empty() {
        out.line(&format!("waits for {}", crate::domain::board::describe(&blockers)))?;
    }
    let waiting: Vec<String> = board.dependants(id).map(|task| task.to_string()).collect();
    if !waiting.is_empty() {
        out.line(&format!("waited for by {}", waiting.join(", ")))?;
    }
    if !task.description.trim().is_empty() {
        out.line("")?;
        task.description.lines().try_for_each(|line| out.line(&format!("  {line}")))?;
    }
    if !task.notes.is_empty() {
        out.line("")?;
        let note = |note: &crate::domain::task::TaskNote| {
            format!("{}  {}: {}", words::moment(note.at), note.by, crate::domain::text::one_line(&note.text, 400))
        };
        task.notes.iter().try_for_each(|entry| out.line(&note(entry)))?;
    }
    Ok(Exit::Done)
}
