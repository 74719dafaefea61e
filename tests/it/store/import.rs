//! Workspaces of the origin programs, imported.

use super::{files, message, name};
use signoff::domain::{Member, MemberStatus, TaskId, TeamConfig};
use signoff::store::import::{Origin, detect, import};
use signoff::store::{Expect, TeamStore};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn workspace(origin: &str) -> (tempfile::TempDir, TeamStore) {
    let dir = tempfile::tempdir().unwrap();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/origin").join(origin), dir.path());
    let store = files(dir.path());
    (dir, store)
}

fn snapshot(root: &Path, folders: &[&str]) -> BTreeMap<PathBuf, Vec<u8>> {
    fn walk(path: &Path, into: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, into);
            } else {
                into.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    let mut all = BTreeMap::new();
    folders.iter().for_each(|folder| walk(&root.join(folder), &mut all));
    all
}

#[test]
fn nothing_is_found_in_an_ordinary_workspace() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("inbox")).unwrap();
    fs::create_dir_all(dir.path().join("tasks")).unwrap();
    fs::write(dir.path().join("tasks/task_1.json"), "{\"id\":1,\"subject\":\"somebody's own\"}").unwrap();
    files(dir.path()).put_team(&TeamConfig::default(), Expect::Absent).unwrap();
    assert_eq!(detect(dir.path()), []);
    assert_eq!(detect(&dir.path().join("nowhere")), []);
}

#[test]
fn a_python_team_comes_over_with_its_members_and_mail() {
    let (dir, store) = workspace("python");
    let before = snapshot(dir.path(), &[".team", ".tasks"]);
    let found = detect(dir.path());
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].origin, found[0].members, found[0].inboxes, found[0].tasks), (Origin::Python, 3, 3, 0));
    let report = import(&found[0], &store).unwrap();
    assert_eq!(report.members, [name("alice"), name("bob"), name("carol")]);
    assert_eq!((report.messages, report.faults.len()), (6, 0));
    let (team, _) = store.team().unwrap().unwrap();
    let statuses: Vec<_> = team.members.iter().map(|member| member.status).collect();
    assert_eq!(statuses, [MemberStatus::Interrupted, MemberStatus::Interrupted, MemberStatus::Shutdown]);
    let mail = store.mail_after(&name("lead"), 0, 10_000).unwrap();
    assert_eq!((mail.messages.len(), mail.messages[0].to.as_str()), (2, "lead"));
    assert_eq!(store.tasks().unwrap().items.len(), 3, "the board is shared");
    let after = snapshot(dir.path(), &[".team", ".tasks"]);
    assert_eq!(before, after, "the originals are only read");
    assert_eq!(detect(dir.path()), [], "once");
}

#[test]
fn a_java_team_comes_over_with_its_board_and_mail() {
    let (dir, store) = workspace("java");
    let before = snapshot(dir.path(), &["inbox", "tasks"]);
    let found = detect(dir.path());
    assert_eq!((found[0].origin, found[0].members, found[0].inboxes, found[0].tasks), (Origin::Java, 2, 2, 1));
    let report = import(&found[0], &store).unwrap();
    assert_eq!((report.tasks.as_slice(), report.messages), (&[TaskId(1)][..], 3));
    let (task, _) = store.task(TaskId(1)).unwrap().unwrap();
    assert_eq!((task.owner, task.extra["blocks"][0].as_u64()), (Some(name("alice")), Some(2)));
    assert_eq!(store.team().unwrap().unwrap().0.members.len(), 2);
    assert_eq!(store.mail_after(&name("alice"), 0, 10_000).unwrap().messages[0].at.0, 1_796_087_540_765);
    assert_eq!(before, snapshot(dir.path(), &["inbox", "tasks"]));
    assert_eq!(detect(dir.path()), []);
}

#[test]
fn what_we_have_already_stays_as_it_is_and_a_second_import_adds_nothing() {
    let (dir, store) = workspace("python");
    let ours = Member { status: MemberStatus::Working, ..Member::new(name("ALICE"), "our own") };
    store.put_team(&TeamConfig { team_name: "ours".into(), members: vec![ours.clone()], ..TeamConfig::default() }, Expect::Absent).unwrap();
    store.deliver(&message("1", "bob", "ours")).unwrap();
    let found = detect(dir.path()).remove(0);
    let report = import(&found, &store).unwrap();
    assert_eq!(report.members, [name("bob"), name("carol")]);
    assert!(report.kept.contains(&"member alice".to_owned()) && report.kept.contains(&"team/inbox/bob.jsonl".to_owned()), "{report:?}");
    let (team, _) = store.team().unwrap().unwrap();
    assert_eq!((team.team_name.as_str(), &team.members[0]), ("ours", &ours));
    assert_eq!(store.mail_after(&name("bob"), 0, 10_000).unwrap().messages.len(), 1);
    let again = import(&found, &store).unwrap();
    assert_eq!((again.members.len(), again.messages), (0, 0));
}

#[test]
fn broken_files_of_others_are_reported_and_the_rest_comes_over() {
    let (dir, store) = workspace("python");
    fs::write(dir.path().join(".team/config.json"), "{\"members\":[{\"name\":\"two words\"},{\"name\":\"dora\"}]}").unwrap();
    fs::write(dir.path().join(".team/inbox/bob.jsonl"), "garbage\n{\"from\":\"lead\",\"content\":\"good\"}\n{\"from\":").unwrap();
    std::os::unix::fs::symlink("/etc/hostname", dir.path().join(".team/inbox/eve.jsonl")).unwrap();
    let report = import(&detect(dir.path())[0], &store).unwrap();
    assert_eq!(report.members, [name("dora")]);
    assert_eq!(report.faults.len(), 4, "{:?}", report.faults);
    assert_eq!(store.mail_after(&name("bob"), 0, 10_000).unwrap().messages[0].content, "good");
    assert_eq!(store.inbox_end(&name("eve")).unwrap(), 0);
}
