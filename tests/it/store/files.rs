//! Files of others: broken, foreign, dangerous.

use super::{files, inbox, message, name, request, task, timed};
use signoff::domain::{MemberStatus, RequestId, TaskId, TaskStatus};
use signoff::store::{Backend as _, Durability, Expect, FileBackend, Key, KeyKind, Put, StoreError};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

fn workspace() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for folder in [".tasks", "team/inbox", "team/requests", "team/transcripts"] {
        fs::create_dir_all(dir.path().join(folder)).unwrap();
    }
    dir
}

fn write(root: &Path, path: &str, text: &str) {
    fs::write(root.join(path), text).unwrap();
}

#[test]
fn a_workspace_that_does_not_exist_is_a_clear_error_and_is_not_made() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("nowhere");
    let error = FileBackend::open(&path, Durability::Buffered).err().unwrap();
    assert!(error.to_string().starts_with("open the workspace "), "{error}");
    assert!(!path.exists());
}

#[test]
fn opening_and_reading_write_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = files(dir.path());
    assert!(store.tasks().unwrap().items.is_empty());
    assert!(store.team().unwrap().is_none());
    assert_eq!(store.inbox_end(&name("bob")).unwrap(), 0);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn names_in_the_task_folder_that_are_not_canonical_are_ignored() {
    let dir = workspace();
    for file in ["task_01.json", "task_0.json", "task_x.json", "notes.txt", "task_1.json.bak", "task_2.json~", ".task_3.json.swp"] {
        write(dir.path(), &format!(".tasks/{file}"), "{\"id\":1,\"subject\":\"no\"}");
    }
    write(dir.path(), ".tasks/task_4.json", "{\"id\":4,\"subject\":\"yes\"}");
    let loaded = files(dir.path()).tasks().unwrap();
    assert_eq!(loaded.items.iter().map(|(task, _)| task.id.0).collect::<Vec<_>>(), [4]);
    assert_eq!(loaded.faults, []);
}

#[test]
fn broken_tasks_are_reported_and_neither_blank_the_rest_nor_are_overwritten() {
    let dir = workspace();
    let broken = [("2", "{\"id\":2,\"subj"), ("3", ""), ("4", "[]"), ("5", "{\"id\":5,\"status\":\"sideways\"}"), ("6", "\u{0}\u{0}\u{0}")];
    for (number, text) in broken {
        write(dir.path(), &format!(".tasks/task_{number}.json"), text);
    }
    write(dir.path(), ".tasks/task_1.json", "\u{feff}{\"id\":1,\"subject\":\"good\",\"owner\":\"\",\"priority\":9}");
    let store = files(dir.path());
    let loaded = store.tasks().unwrap();
    assert_eq!(loaded.items.len(), 1);
    assert_eq!(loaded.faults.len(), broken.len());
    assert_eq!(loaded.faults[0].place, ".tasks/task_2.json");
    assert!(matches!(store.task(TaskId(2)), Err(StoreError::Corrupt { .. })));
    assert!(store.update_task(TaskId(2), |task| Ok(task.clone())).is_err());
    assert!(
        store.put_task(&loaded.items[0].0.clone(), Expect::Absent).is_ok_and(|put| matches!(put, signoff::store::PutOf::Lost(Some(_))))
    );
    let (created, _) = store.create_task(|id| signoff::domain::Task::new(id, "new")).unwrap();
    assert_eq!(created.id, TaskId(7), "numbers of broken files are taken");
    for (number, text) in broken {
        assert_eq!(fs::read_to_string(dir.path().join(format!(".tasks/task_{number}.json"))).unwrap(), text);
    }
}

#[test]
fn a_broken_team_or_request_is_kept_as_it_is() {
    let dir = workspace();
    write(dir.path(), "team/config.json", "{\"team_name\":");
    write(dir.path(), "team/requests/0a1b2c3d.json", "{}");
    let store = files(dir.path());
    assert!(matches!(store.team(), Err(StoreError::Corrupt { .. })));
    assert!(store.update_team(|team| Ok(team.clone())).is_err());
    assert!(store.put_team(&signoff::domain::TeamConfig::default(), Expect::Absent).is_err());
    assert_eq!(fs::read_to_string(dir.path().join("team/config.json")).unwrap(), "{\"team_name\":");
    assert_eq!(store.requests().unwrap().faults[0].place, "team/requests/0a1b2c3d.json");
    assert!(store.request(&request("0a1b2c3d")).is_err());
}

#[test]
fn a_task_whose_number_differs_from_its_file_is_used_under_the_files_number() {
    let dir = workspace();
    write(dir.path(), ".tasks/task_3.json", "{\"id\":33,\"subject\":\"odd\"}");
    let store = files(dir.path());
    let loaded = store.tasks().unwrap();
    assert_eq!(loaded.items[0].0.id, TaskId(3));
    assert_eq!(loaded.faults.len(), 1);
    store.claim(TaskId(3), &name("bob"), signoff::domain::Timestamp(0)).unwrap();
    assert!(store.tasks().unwrap().faults.is_empty(), "the next write mends it");
    assert!(!dir.path().join(".tasks/task_33.json").exists());
}

#[test]
fn unknown_fields_survive_a_rewrite() {
    let dir = workspace();
    write(dir.path(), ".tasks/task_1.json", "{\"id\":1,\"subject\":\"s\",\"blocks\":[2],\"x\":{\"deep\":[1,2.5,null]}}");
    write(dir.path(), "team/config.json", "{\"teamName\":\"t\",\"theme\":\"dark\",\"teammates\":[{\"name\":\"alice\",\"pet\":\"cat\"}]}");
    let store = files(dir.path());
    store.claim(TaskId(1), &name("bob"), signoff::domain::Timestamp(0)).unwrap();
    store.update_team(|team| Ok(signoff::domain::TeamConfig { protocol: "swarm".into(), ..team.clone() })).unwrap();
    let read = |path: &str| serde_json::from_slice::<serde_json::Value>(&fs::read(dir.path().join(path)).unwrap()).unwrap();
    let task = read(".tasks/task_1.json");
    assert_eq!((&task["blocks"][0], &task["x"]["deep"][1], &task["owner"]), (&2.into(), &2.5.into(), &"bob".into()));
    let team = read("team/config.json");
    assert_eq!((&team["team_name"], &team["theme"], &team["members"][0]["pet"]), (&"t".into(), &"dark".into(), &"cat".into()));
}

#[test]
fn both_origins_tasks_configs_and_mail_are_read_as_they_are() {
    let dir = workspace();
    let origin = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/origin");
    let copy = |from: &str, to: &str| fs::copy(origin.join(from), dir.path().join(to)).unwrap();
    copy("python/.tasks/task_1.json", ".tasks/task_1.json");
    copy("python/.tasks/task_2.json", ".tasks/task_2.json");
    copy("java/tasks/task_1.json", ".tasks/task_3.json");
    copy("java/inbox/alice.jsonl", "team/inbox/alice.jsonl");
    copy("python/.team/inbox/bob.jsonl", "team/inbox/bob.jsonl");
    let store = files(dir.path());
    let tasks = store.tasks().unwrap();
    assert_eq!(tasks.items.len(), 3);
    assert_eq!(tasks.items[2].0.status, TaskStatus::InProgress);
    for config in ["python/.team/config.json", "java/team/config.json"] {
        copy(config, "team/config.json");
        let (team, _) = store.team().unwrap().unwrap();
        assert_eq!(team.members[0].status, MemberStatus::Working);
    }
    let alice = store.mail_after(&name("alice"), 0, 10_000).unwrap();
    assert_eq!(alice.faults, []);
    assert_eq!(alice.messages[0].request_id, RequestId::parse("26234548"));
    assert_eq!((alice.messages[0].to.as_str(), alice.messages[0].at.0), ("alice", 1_796_087_540_765));
    let bob = store.mail_after(&name("bob"), 0, 10_000).unwrap();
    assert_eq!(bob.messages[1].extra["feedback"], "too risky");
}

#[test]
fn a_nested_field_that_is_called_like_one_of_the_messages_own_does_not_spoil_the_line_it_is_written_to() {
    let line = r#"{"from":"lead","content":"own","metadata":{"content":"nested","from":"human","plan":"x"}}"#;
    let message: signoff::domain::Envelope = serde_json::from_str(line).unwrap();
    let again: signoff::domain::Envelope = serde_json::from_str(&serde_json::to_string(&message).unwrap()).unwrap();
    assert_eq!(again, message);
    assert_eq!((again.content.as_str(), &again.extra["plan"], &again.extra["metadata"]["content"]), ("own", &"x".into(), &"nested".into()));
    assert!(again.from.is_lead());
}

#[test]
fn garbage_in_an_inbox_is_reported_once_and_passed_over() {
    let dir = workspace();
    let store = files(dir.path());
    store.deliver(&message("1", "bob", "first")).unwrap();
    let path = dir.path().join("team/inbox/bob.jsonl");
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_slice(b"not json \x1b[2J\n\xff\xfe\n\n{\"type\":\"message\",\"from\":\"lead\",\"content\":\"cut");
    fs::write(&path, bytes).unwrap();
    store.deliver(&message("2", "bob", "second")).unwrap();
    let mail = store.mail_after(&name("bob"), 0, 10_000).unwrap();
    assert_eq!(mail.messages.iter().map(|m| m.content.as_str()).collect::<Vec<_>>(), ["first", "second"]);
    assert_eq!(mail.faults.len(), 2);
    assert!(!mail.faults[0].reason.contains('\u{1b}'));
    assert_eq!(store.mail_after(&name("bob"), mail.next, 10_000).unwrap().faults, []);
    let aside = fs::read_to_string(dir.path().join("team/inbox/bob.jsonl.torn")).unwrap();
    assert!(aside.ends_with("\"cut\n"), "{aside}");
}

#[test]
fn an_inbox_that_another_program_emptied_is_read_from_its_beginning() {
    let dir = workspace();
    let store = files(dir.path());
    let end = store.deliver(&message("1", "bob", "a long first message that makes an offset")).unwrap();
    write(dir.path(), "team/inbox/bob.jsonl", "");
    store.deliver(&message("2", "bob", "x")).unwrap();
    let mail = store.mail_after(&name("bob"), end, 10_000).unwrap();
    assert_eq!(mail.messages.len(), 1);
    assert_eq!(mail.faults.len(), 1, "and that is said");
}

#[test]
fn a_line_too_long_to_be_read_is_reported_and_what_follows_is_read() {
    let dir = workspace();
    let store = files(dir.path());
    let mut text = "x".repeat(signoff::store::SIZE_MAX + 100_000);
    text.push_str("\n{\"type\":\"message\",\"from\":\"lead\",\"content\":\"after\"}\n");
    write(dir.path(), "team/inbox/bob.jsonl", &text);
    let first = store.mail_after(&name("bob"), 0, 1000).unwrap();
    assert_eq!((first.messages.len(), first.faults.len()), (0, 1));
    let second = store.mail_after(&name("bob"), first.next, 1000).unwrap();
    assert_eq!(second.messages[0].content, "after");
}

#[test]
fn an_oversize_entity_is_refused() {
    let dir = workspace();
    write(dir.path(), ".tasks/task_1.json", &" ".repeat(signoff::store::SIZE_MAX + 1));
    let store = files(dir.path());
    assert!(matches!(store.task(TaskId(1)), Err(StoreError::TooLarge { .. })));
    assert_eq!(store.tasks().unwrap().faults.len(), 1);
}

#[test]
fn links_fifos_and_folders_in_place_of_files_are_refused_for_reading_and_writing() {
    let dir = workspace();
    let secret = dir.path().join("secret.json");
    write(dir.path(), "secret.json", "{\"id\":1,\"subject\":\"secret\"}\n");
    symlink(&secret, dir.path().join(".tasks/task_1.json")).unwrap();
    symlink(dir.path().join("nothing"), dir.path().join(".tasks/task_2.json")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        dir.path().join(".tasks/task_3.json"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    fs::create_dir(dir.path().join(".tasks/task_4.json")).unwrap();
    symlink(&secret, dir.path().join("team/inbox/bob.jsonl")).unwrap();
    let backend = FileBackend::open(dir.path(), Durability::Buffered).unwrap();
    for number in 1..=4 {
        let refused = |result: Result<(), StoreError>| assert!(matches!(result, Err(StoreError::NotPlain { .. })), "{number}: {result:?}");
        refused(backend.get(&task(number)).map(drop));
        refused(backend.put(&task(number), Expect::Absent, b"{}").map(drop));
    }
    assert_eq!(backend.load(KeyKind::Tasks).unwrap().iter().filter(|(_, read)| read.is_err()).count(), 4);
    assert!(matches!(backend.append(&inbox("bob"), &[b"{}".to_vec()]), Err(StoreError::NotPlain { .. })));
    assert!(matches!(backend.read_after(&inbox("bob"), 0, 100), Err(StoreError::NotPlain { .. })));
    assert_eq!(fs::read_to_string(&secret).unwrap(), "{\"id\":1,\"subject\":\"secret\"}\n");
    assert!(!dir.path().join("nothing").exists());
}

#[test]
fn a_folder_that_is_a_link_is_refused() {
    for folder in [".tasks", "team", "team/inbox"] {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = dir.path().join(folder);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(outside.path(), &path).unwrap();
        let backend = FileBackend::open(dir.path(), Durability::Buffered).unwrap();
        let key = if folder == ".tasks" { task(1) } else { Key::Team };
        let result = match folder {
            "team/inbox" => backend.append(&inbox("bob"), &[b"{}".to_vec()]).map(drop),
            _ => backend.put(&key, Expect::Absent, b"{}").map(drop),
        };
        assert!(matches!(result, Err(StoreError::NotPlain { expected: "directory", .. })), "{folder}: {result:?}");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_removed_lock_file_or_task_folder_does_not_stop_the_board() {
    let dir = workspace();
    let backend = FileBackend::open(dir.path(), Durability::Buffered).unwrap();
    backend.put(&task(1), Expect::Absent, b"{}").unwrap();
    fs::remove_file(dir.path().join(".tasks/.lock")).unwrap();
    assert!(matches!(backend.put(&task(2), Expect::Absent, b"{}").unwrap(), Put::Applied(_)));
    fs::remove_dir_all(dir.path().join(".tasks")).unwrap();
    fs::remove_dir_all(dir.path().join("team")).unwrap();
    assert!(matches!(backend.put(&task(1), Expect::Absent, b"{}").unwrap(), Put::Applied(_)));
    assert_eq!(backend.list(KeyKind::Tasks).unwrap(), [task(1)]);
}

#[test]
fn no_temporary_file_stays_behind_and_none_is_made_in_a_watched_folder() {
    let dir = workspace();
    let backend = FileBackend::open(dir.path(), Durability::Synced).unwrap();
    let Put::Applied(revision) = backend.put(&task(1), Expect::Absent, b"{}").unwrap() else { panic!() };
    backend.put(&task(1), Expect::Absent, b"lost").unwrap();
    backend.put(&task(1), Expect::At(revision), b"{ }").unwrap();
    assert_eq!(fs::read_dir(dir.path().join("team/tmp")).unwrap().count(), 0);
    let mut names: Vec<_> = fs::read_dir(dir.path().join(".tasks")).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [".lock", "task_1.json"]);
}

#[test]
fn the_lock_of_the_team_holds_against_other_handles_and_names_its_process() {
    let dir = workspace();
    let (one, two) = (files(dir.path()), files(dir.path()));
    let held = one.lock_team().unwrap().unwrap();
    assert!(two.lock_team().unwrap().is_none());
    assert_eq!(fs::read_to_string(dir.path().join("team/.lock")).unwrap().trim(), std::process::id().to_string());
    drop(held);
    assert!(two.lock_team().unwrap().is_some());
}

#[test]
fn a_command_that_a_member_starts_does_not_inherit_the_teams_lock() {
    let dir = workspace();
    let store = files(dir.path());
    let held = store.lock_team().unwrap().unwrap();
    let mut child = std::process::Command::new("/bin/sleep").arg("30").spawn().unwrap();
    drop(held);
    let free = store.lock_team().unwrap().is_some();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(free);
}

#[test]
fn ten_thousand_tasks_load_quickly() {
    let dir = workspace();
    for number in 1..=10_000 {
        let text =
            format!("{{\"id\":{number},\"subject\":\"Task {number}\",\"description\":\"{}\",\"blockedBy\":[]}}", "words ".repeat(30));
        write(dir.path(), &format!(".tasks/task_{number}.json"), &text);
    }
    let backend = FileBackend::open(dir.path(), Durability::Buffered).unwrap();
    let (loaded, bytes) = timed(|| backend.load(KeyKind::Tasks).unwrap());
    let (tasks, typed) = timed(|| files(dir.path()).tasks().unwrap());
    println!("10,000 tasks: {bytes:?} as bytes, {typed:?} parsed (debug build)");
    assert_eq!((loaded.len(), tasks.items.len()), (10_000, 10_000));
    assert!(typed.as_secs() < 5, "{typed:?}");
}

#[test]
fn who_only_looks_for_a_moment_does_not_make_an_opener_think_that_a_team_runs() {
    let dir = tempfile::tempdir().unwrap();
    let open = || FileBackend::open(dir.path(), Durability::Buffered).unwrap();
    let held = open().lock_team().unwrap().unwrap();
    let (tx, rx) = std::sync::mpsc::channel();
    let opener = std::thread::spawn({
        let store = open();
        move || {
            tx.send(()).unwrap();
            store.lock_team().unwrap().is_some()
        }
    });
    rx.recv().unwrap();
    drop(held);
    assert!(opener.join().unwrap());
}
