//! One function for each kind of bytes that others write and we read. The tests and the fuzz targets call the same ones:
//! any input is taken without a panic, in bounded time, and what was understood survives being written again.

use signoff::config::{LoadInput, TrustBook, UserFile, load};
use signoff::domain::*;
use signoff::llm::scripted::ScriptedModel;
use signoff::llm::{ChatRequest, recorded};
use signoff::protocol::{format, replay};
use signoff::store::{Backend, Expect, Key, MemoryBackend, TeamStore, Topic};
use std::path::Path;
use std::sync::Arc;

/// What an entry point does with bytes.
pub type Entry = fn(&[u8]);

/// All of them by name; the name is that of the fuzz target, too.
pub const ALL: [(&str, Entry); 10] = [
    ("inbox", inbox),
    ("task", task),
    ("request", request),
    ("team", team),
    ("events", events),
    ("transcript", transcript),
    ("user_config", user_config),
    ("workspace_config", workspace_config),
    ("script", script),
    ("stream", stream),
];

fn bob() -> MemberName {
    MemberName::parse("bob").expect("a name")
}

fn store() -> (MemoryBackend, TeamStore) {
    let memory = MemoryBackend::new();
    (memory.clone(), TeamStore::new(Arc::new(memory)))
}

fn log(topic: Topic, bytes: &[u8]) -> TeamStore {
    let (memory, store) = store();
    memory.append_raw(&topic, bytes);
    // Whoever writes next closes what is open.
    memory.append(&topic, &[b"{}".to_vec()]).expect("memory takes it");
    store
}

pub fn inbox(bytes: &[u8]) {
    let store = log(Topic::Inbox(bob()), bytes);
    let mut offset = 0;
    loop {
        let mail = store.mail_after(&bob(), offset, 4096).expect("memory reads");
        assert!(mail.next >= offset, "reading goes on");
        for message in &mail.messages {
            let line = serde_json::to_vec(message).expect("what was read can be written");
            let again: Envelope = serde_json::from_slice(&line).expect("and read");
            assert_eq!((&again.from, &again.content, &again.request_id), (&message.from, &message.content, &message.request_id));
        }
        let _ = format::mails(&mail.messages);
        if mail.next == offset {
            return;
        }
        offset = mail.next;
    }
}

fn entity(key: &Key, bytes: &[u8]) -> TeamStore {
    let (memory, store) = store();
    memory.put(key, Expect::Absent, bytes).expect("memory takes it");
    store
}

pub fn task(bytes: &[u8]) {
    let store = entity(&Key::Task(TaskId(3)), bytes);
    let loaded = store.tasks().expect("memory reads");
    assert_eq!(loaded.items.len() + usize::from(loaded.items.is_empty()), 1);
    assert!(!(loaded.items.is_empty() && loaded.faults.is_empty()), "what cannot be read is said");
    let mut board = Board::default();
    loaded.items.iter().for_each(|(task, _)| drop(board.insert(Arc::new(task.clone()))));
    let _ = (board.ready().count(), board.counts(), board.blockers(TaskId(3)), board.next_id());
    for (task, revision) in loaded.items {
        store.put_task(&task, Expect::At(revision)).expect("memory takes it");
        let (again, _) = store.task(TaskId(3)).expect("what was read can be read again").expect("it is there");
        assert_eq!(again, task);
    }
}

pub fn request(bytes: &[u8]) {
    let id = RequestId::parse("0a1b2c3d").expect("an id");
    let store = entity(&Key::Request(id.clone()), bytes);
    let loaded = store.requests().expect("memory reads");
    assert!(!(loaded.items.is_empty() && loaded.faults.is_empty()), "what cannot be read is said");
    for (request, revision) in loaded.items {
        let _ = (request.digest(), request.is_pending(), request.approved_text());
        store.put_request(&request, Expect::At(revision)).expect("memory takes it");
        assert_eq!(store.request(&id).expect("it can be read again").map(|(again, _)| again), Some(request));
    }
}

pub fn team(bytes: &[u8]) {
    let store = entity(&Key::Team, bytes);
    let Ok(Some((team, revision))) = store.team() else { return };
    assert_eq!(TeamStore::team_faults(&team).len(), team.unread.len(), "every entry that cannot be read is said");
    store.put_team(&team, Expect::At(revision)).expect("memory takes it");
    let (again, _) = store.team().expect("what was read can be read again").expect("it is there");
    assert_eq!(again, team);
}

pub fn events(bytes: &[u8]) {
    let store = log(Topic::Events, bytes);
    let read = store.events_after(0, usize::MAX).expect("memory reads");
    let mut projection = signoff::app::Projection::default();
    for record in read.records {
        projection.apply(&record);
    }
    store.recent_events(100).expect("memory reads");
    store.team_of_events(4096).expect("memory reads");
}

pub fn transcript(bytes: &[u8]) {
    let store = log(Topic::Transcript(bob()), bytes);
    let (entries, _) = store.transcript(&bob()).expect("memory reads");
    let replayed = replay::replay(&entries);
    let _ = replay::is_unfinished(&replayed.messages);
    let (repaired, _) = replay::repair(replayed.messages);
    let (again, repairs) = replay::repair(repaired.clone());
    assert_eq!((again, repairs), (repaired, Vec::<String>::new()), "what was repaired is whole");
}

fn load_from(user: UserFile, workspace: &Path) {
    let trust = TrustBook::default();
    let env = signoff::config::Env::new();
    let flags = signoff::config::Flags::default();
    let protocols: Vec<&str> = signoff::collaboration::names().collect();
    let loaded = load(LoadInput { user_file: user, workspace, env: &env, flags, trust: &trust, protocols: &protocols });
    if let Err(error) = loaded {
        assert!(error.to_string().contains("config.toml"), "the file is named: {error}");
    }
}

pub fn user_config(bytes: &[u8]) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("config.toml");
    std::fs::write(&path, bytes).expect("a file");
    load_from(UserFile::Named(path), dir.path());
}

pub fn workspace_config(bytes: &[u8]) {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(dir.path().join(".signoff")).expect("a folder");
    std::fs::write(dir.path().join(".signoff/config.toml"), bytes).expect("a file");
    load_from(UserFile::None, dir.path());
}

pub fn script(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Err(error) = ScriptedModel::from_str(&text, "script.toml") {
        assert!(error.to_string().contains("script.toml"), "the file is named: {error}");
    }
}

pub fn stream(bytes: &[u8]) {
    let request = ChatRequest { member: bob(), model: "m".into(), messages: Arc::default(), tools: Arc::default() };
    let whole = recorded::read(bytes, usize::MAX, &request);
    let pieces = recorded::read(bytes, 7, &request);
    assert_eq!((&pieces.answer.text, pieces.done), (&whole.answer.text, whole.done), "however the network cuts it");
    assert!(whole.answer.calls.iter().all(|call| !call.id.to_string().is_empty()), "no call without an id");
}
