//! What the origin programs left in a workspace: found, and copied into our places. The originals are only read.
//!
//! - Python (learn-claude-code): `.team/config.json`, `.team/inbox/*.jsonl`; its `.tasks/` is ours, too.
//! - Java (learn-claude-code-4j): `inbox/*.jsonl` and `tasks/` at the root; its `team/config.json` is where ours is, and is
//!   read as it is (the first change of the team writes it in our form).
//!
//! What we have already is never overwritten. What was imported is remembered in `team/imported.json`, so that mail which
//! was read and moved aside does not come back. Deliberately absent: asking the person.

use super::files::Dir;
use super::place::member_of;
use super::{Expect, Fault, Key, KeyKind, PutOf, StoreError, TeamStore, Topic, UpdateError};
use crate::domain::{Envelope, Member, MemberName, MemberStatus, Task, TaskId, TeamConfig};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Which program left its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// learn-claude-code (Python).
    Python,
    /// learn-claude-code-4j (Java).
    Java,
}

impl Origin {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Python, Self::Java];

    /// The word in `team/imported.json` and on the screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Java => "java",
        }
    }

    fn config_folder(self) -> &'static str {
        match self {
            Self::Python => ".team",
            Self::Java => "team",
        }
    }

    fn inbox_folder(self) -> &'static str {
        match self {
            Self::Python => ".team/inbox",
            Self::Java => "inbox",
        }
    }
}

/// Files of another program that were not imported yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Whose.
    pub origin: Origin,
    /// Where.
    pub workspace: PathBuf,
    /// How many members its configuration names.
    pub members: usize,
    /// How many inboxes there are.
    pub inboxes: usize,
    /// How many tasks would be copied; 0 where the board is shared.
    pub tasks: usize,
}

/// What was copied, and what was not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportReport {
    /// Members that are new to our team.
    pub members: Vec<MemberName>,
    /// Messages copied.
    pub messages: usize,
    /// Tasks copied.
    pub tasks: Vec<TaskId>,
    /// Ours that stayed as they were, by place.
    pub kept: Vec<String>,
    /// What could not be read.
    pub faults: Vec<Fault>,
}

/// What of which program lies in this workspace and was not imported yet. What cannot be read is not found.
pub fn detect(workspace: &Path) -> Vec<Found> {
    let Ok(root) = Dir::root(workspace) else { return Vec::new() };
    let done = read_json(&root, "team", "imported.json").ok().flatten().unwrap_or_default();
    let is_done = |origin: &Origin| done.get(origin.word()).is_some();
    Origin::ALL.into_iter().filter(|origin| !is_done(origin)).filter_map(|origin| scan(&root, origin)).collect()
}

fn scan(root: &Dir, origin: Origin) -> Option<Found> {
    let config = read_json(root, origin.config_folder(), "config.json").ok().flatten();
    let tasks = if origin == Origin::Java { task_files(root) } else { Vec::new() };
    let names = names(root, origin.inbox_folder());
    let inboxes = names.iter().filter(|name| member_of(name, ".jsonl").is_some()).count();
    let sign = match origin {
        Origin::Python => config.is_some() || inboxes > 0,
        // Folders called `inbox` and `tasks` may be anybody's: the program's own words must be there.
        Origin::Java => {
            let shape = config.as_ref().is_some_and(|config| config.get("teammates").is_some() || config.get("teamName").is_some());
            shape || tasks.iter().any(|(_, name)| is_java_task(root, name))
        }
    };
    let members = config.as_ref().map_or(0, |config| members_of(config).len());
    sign.then(|| Found { origin, workspace: root.path().to_owned(), members, inboxes, tasks: tasks.len() })
}

fn is_java_task(root: &Dir, name: &str) -> bool {
    read_json(root, "tasks", name).ok().flatten().is_some_and(|task| task.get("taskId").is_some())
}

fn names(root: &Dir, folder: &str) -> Vec<String> {
    let mut names = root.descend(folder).ok().flatten().and_then(|dir| dir.names().ok()).unwrap_or_default();
    names.sort_unstable();
    names
}

fn task_files(root: &Dir) -> Vec<(TaskId, String)> {
    let id = |name: &String| match KeyKind::Tasks.key_of(name)? {
        Key::Task(id) => Some(id),
        Key::Team | Key::Request(_) | Key::Memory(_) => None,
    };
    names(root, "tasks").into_iter().filter_map(|name| Some((id(&name)?, name))).collect()
}

fn read(root: &Dir, folder: &str, name: &str) -> Result<Option<Vec<u8>>, String> {
    let dir = root.descend(folder).map_err(|error| error.to_string())?;
    dir.map_or(Ok(None), |dir| dir.read(name)).map_err(|error| error.to_string())
}

fn read_json(root: &Dir, folder: &str, name: &str) -> Result<Option<Value>, String> {
    let parse = |bytes: Vec<u8>| serde_json::from_slice(&bytes).map_err(|error| format!("does not parse ({error})"));
    read(root, folder, name)?.map(parse).transpose()
}

fn members_of(config: &Value) -> Vec<Value> {
    let list = config.get("members").or_else(|| config.get("teammates")).and_then(Value::as_array);
    list.cloned().unwrap_or_default()
}

/// Copies what was found into our places. May be called again after a failure: nothing is copied twice.
pub fn import(found: &Found, store: &TeamStore) -> Result<ImportReport, StoreError> {
    let root = Dir::root(&found.workspace)?;
    let mut report = ImportReport::default();
    match found.origin {
        Origin::Python => import_members(&root, store, &mut report)?,
        Origin::Java => {
            report.kept.push(Key::Team.to_string());
            import_tasks(&root, store, &mut report)?;
        }
    }
    import_mail(&root, found.origin, store, &mut report)?;
    remember(found.origin, store)?;
    Ok(report)
}

fn import_members(root: &Dir, store: &TeamStore, report: &mut ImportReport) -> Result<(), StoreError> {
    const PLACE: &str = ".team/config.json";
    let config = match read_json(root, ".team", "config.json") {
        Ok(Some(config)) => config,
        Ok(None) => return Ok(()),
        Err(reason) => {
            report.faults.push(Fault::new(PLACE, reason));
            return Ok(());
        }
    };
    let mut members = Vec::new();
    for value in members_of(&config) {
        match serde_json::from_value::<Member>(value) {
            Ok(member) => members.push(interrupted(member)),
            Err(error) => report.faults.push(Fault::new(PLACE, format_args!("a member cannot be read: {error}"))),
        }
    }
    let before = store.team()?.map(|(team, _)| team);
    let update = store.update_team(|ours| Ok(merged(ours, before.is_none(), &config, &members)));
    update.map_err(|error| match error {
        UpdateError::Store(error) => error,
        UpdateError::Refused(refusal) => StoreError::Corrupt { path: Key::Team.to_string().into(), reason: refusal.to_string() },
    })?;
    for member in members {
        let had = before.as_ref().is_some_and(|team| team.members.iter().any(|ours| ours.name.same(member.name.as_str())));
        if had {
            report.kept.push(format!("member {}", member.name));
        } else {
            report.members.push(member.name);
        }
    }
    Ok(())
}

/// Nothing of another program's team runs here.
fn interrupted(member: Member) -> Member {
    if !member.status.is_live() {
        return member;
    }
    Member { status: MemberStatus::Interrupted, reason: Some("imported; was at work in another program".into()), ..member }
}

fn merged(ours: &TeamConfig, fresh: bool, config: &Value, members: &[Member]) -> TeamConfig {
    let mut team = ours.clone();
    let name = config.get("team_name").or_else(|| config.get("teamName")).and_then(Value::as_str);
    if let Some(name) = name.filter(|_| fresh) {
        team.team_name = name.to_owned();
    }
    for member in members {
        if !team.members.iter().any(|ours| ours.name.same(member.name.as_str())) {
            team.members.push(member.clone());
        }
    }
    team
}

fn import_tasks(root: &Dir, store: &TeamStore, report: &mut ImportReport) -> Result<(), StoreError> {
    for (id, name) in task_files(root) {
        let place = format!("tasks/{name}");
        let read = read(root, "tasks", &name).and_then(|bytes| {
            let parse = |bytes: Vec<u8>| serde_json::from_slice::<Task>(&bytes).map_err(|error| format!("does not parse ({error})"));
            bytes.map(parse).transpose()
        });
        let task = match read {
            Ok(Some(task)) => Task { id, ..task },
            Ok(None) => continue,
            Err(reason) => {
                report.faults.push(Fault::new(place, reason));
                continue;
            }
        };
        match store.put_task(&task, Expect::Absent) {
            Ok(PutOf::Applied(_)) => report.tasks.push(id),
            Ok(PutOf::Lost(_)) | Err(StoreError::Corrupt { .. }) => report.kept.push(Key::Task(id).to_string()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn import_mail(root: &Dir, origin: Origin, store: &TeamStore, report: &mut ImportReport) -> Result<(), StoreError> {
    let folder = origin.inbox_folder();
    for file in names(root, folder) {
        let Some(name) = member_of(&file, ".jsonl") else { continue };
        let topic = Topic::Inbox(name.clone());
        if store.inbox_end(&name)? > 0 {
            report.kept.push(topic.to_string());
            continue;
        }
        let place = format!("{folder}/{file}");
        let bytes = match read(root, folder, &file) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(reason) => {
                report.faults.push(Fault::new(place, reason));
                continue;
            }
        };
        let messages = messages(&bytes, &name, &place, report);
        // All of an inbox in one append: after a failure it is either there or not.
        store.write_lines(&topic, &messages)?;
        report.messages += messages.len();
    }
    Ok(())
}

fn messages(bytes: &[u8], name: &MemberName, place: &str, report: &mut ImportReport) -> Vec<Envelope> {
    let mut messages = Vec::new();
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty()) {
        match serde_json::from_slice::<Envelope>(line) {
            Ok(message) => messages.push(Envelope { to: name.to_string(), ..message }),
            Err(error) => report.faults.push(Fault::new(place, format_args!("line {} does not parse ({error})", number + 1))),
        }
    }
    messages
}

fn remember(origin: Origin, store: &TeamStore) -> Result<(), StoreError> {
    let Ok(name) = MemberName::parse("imported") else { return Ok(()) };
    for _ in 0..8 {
        let there = store.memory(&name)?;
        let expect = there.as_ref().map_or(Expect::Absent, |(_, revision)| Expect::At(*revision));
        let mut memory = there.map_or_else(|| json!({}), |(value, _)| value);
        if let Some(fields) = memory.as_object_mut() {
            fields.insert(origin.word().to_owned(), true.into());
        }
        if let PutOf::Applied(_) = store.put_memory(&name, &memory, expect)? {
            return Ok(());
        }
    }
    Err(StoreError::Contended { place: "team/imported.json".into(), tries: 8 })
}
