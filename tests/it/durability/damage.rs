//! Every prefix and many single-byte flips of each file that we read: it opens, says what is wrong and where, and loses
//! nothing else. 10,000 flips of each kind with `SIGNOFF_FULL=1`.

use super::mutate::{Dice, flip};
use super::{of, samples, seed};
use crate::support::team::{TestTeam, scripted, settings, store_at};
use serde_json::Value;
use signoff::domain::*;
use signoff::store::{Fault, TeamStore, Topic};
use std::collections::BTreeSet;
use std::path::Path;

const SCRIPT: &str = "format = 1\n[[rule]]\non = \"goal\"\n[[rule.step]]\nsay = \"heard\"\n";

/// A workspace with good files of every kind beside the one that is damaged.
fn workspace() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for folder in [".tasks", "team/inbox", "team/requests", "team/transcripts"] {
        std::fs::create_dir_all(dir.path().join(folder)).unwrap();
    }
    for (path, text) in GOOD {
        std::fs::write(dir.path().join(path), text).unwrap();
    }
    dir
}

const GOOD: [(&str, &str); 6] = [
    (".tasks/task_1.json", r#"{"id":1,"subject":"good one"}"#),
    (
        "team/requests/ffffffff.json",
        r#"{"id":"ffffffff","kind":"shutdown","asker":"human","target":"bob","title":"t","body":"","created":1,"state":"approved"}"#,
    ),
    ("team/inbox/alice.jsonl", samples::INBOX),
    ("team/transcripts/alice.jsonl", samples::TRANSCRIPT),
    ("team/events.jsonl", samples::EVENTS),
    ("team/config.json", samples::TEAM),
];

/// The damaged versions of a sample: every prefix, and flips.
fn versions(sample: &str, flips: usize) -> Vec<Vec<u8>> {
    let bytes = sample.as_bytes();
    let mut dice = Dice::new(seed());
    let prefixes = (0..bytes.len()).map(|length| bytes[..length].to_vec());
    prefixes.chain((0..flips).map(|_| flip(&mut dice, bytes).1)).collect()
}

fn flips() -> usize {
    of(300, 10_000)
}

/// All texts in a document, but those of words with a fixed list: an unknown one has a meaning of its own there.
fn texts(value: &Value, into: &mut BTreeSet<String>) {
    const LISTED: [&str; 3] = ["status", "state", "type"];
    match value {
        // A number written as text becomes a number.
        Value::String(text) if text.parse::<u64>().is_ok() => {}
        Value::String(text) => drop(into.insert(text.clone())),
        Value::Array(list) => list.iter().for_each(|item| texts(item, into)),
        Value::Object(fields) => fields.iter().filter(|(key, _)| !LISTED.contains(&key.as_str())).for_each(|(_, item)| texts(item, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn texts_of(bytes: &[u8]) -> Option<BTreeSet<String>> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    let mut found = BTreeSet::new();
    texts(&value, &mut found);
    Some(found)
}

/// What was in the file before a rewrite is still somewhere in it.
fn assert_kept(before: &[u8], path: &Path) {
    let Some(before) = texts_of(before) else { return };
    let after = texts_of(&std::fs::read(path).unwrap()).unwrap();
    let lost: Vec<_> = before.difference(&after).collect();
    assert!(lost.is_empty(), "a rewrite lost {lost:?}");
}

fn assert_said(faults: &[Fault], place: &str, bytes: &[u8]) {
    let said = faults.iter().any(|fault| fault.place == place && !fault.reason.is_empty());
    assert!(said, "nothing was said of {place}: {:?}", String::from_utf8_lossy(bytes));
}

#[test]
fn a_damaged_task() {
    let dir = workspace();
    let (path, store) = (dir.path().join(".tasks/task_3.json"), store_at(dir.path()));
    for sample in [samples::TASK, samples::TASK_CAMEL] {
        for bytes in versions(sample, flips()) {
            std::fs::write(&path, &bytes).unwrap();
            let loaded = store.tasks().unwrap();
            assert!(loaded.items.iter().any(|(task, _)| task.subject == "good one"), "the other task is there");
            if loaded.items.len() == 1 {
                assert_said(&loaded.faults, ".tasks/task_3.json", &bytes);
                assert!(store.update_task(TaskId(3), |task| Ok(task.clone())).is_err());
                assert_eq!(std::fs::read(&path).unwrap(), bytes, "what cannot be read is not touched");
            } else {
                store.update_task(TaskId(3), |task| Ok(Task { subject: format!("{}!", task.subject), ..task.clone() })).unwrap();
                let lengthened = store.task(TaskId(3)).unwrap().unwrap().0;
                let subject = lengthened.subject.strip_suffix('!').unwrap().to_owned();
                store.update_task(TaskId(3), |task| Ok(Task { subject: subject.clone(), ..task.clone() })).unwrap();
                assert_kept(&bytes, &path);
            }
        }
    }
}

#[test]
fn a_damaged_request() {
    let dir = workspace();
    let (path, store) = (dir.path().join("team/requests/0a1b2c3d.json"), store_at(dir.path()));
    for bytes in versions(samples::REQUEST, flips()) {
        std::fs::write(&path, &bytes).unwrap();
        let loaded = store.requests().unwrap();
        assert!(loaded.items.iter().any(|(request, _)| request.id.as_str() == "ffffffff"), "the other request is there");
        if loaded.items.len() == 1 {
            assert_said(&loaded.faults, "team/requests/0a1b2c3d.json", &bytes);
            assert_eq!(std::fs::read(&path).unwrap(), bytes);
        }
    }
}

#[test]
fn a_damaged_team_file_in_both_shapes() {
    let dir = workspace();
    let (path, store) = (dir.path().join("team/config.json"), store_at(dir.path()));
    for sample in [samples::TEAM, samples::TEAM_UPSTREAM] {
        for bytes in versions(sample, flips()) {
            std::fs::write(&path, &bytes).unwrap();
            match store.team() {
                Ok(team) => {
                    let (team, _) = team.unwrap();
                    assert_eq!(TeamStore::team_faults(&team).len(), team.unread.len());
                    store.update_team(|team| Ok(TeamConfig { protocol: "swarm".into(), ..team.clone() })).unwrap();
                    // Names are the same in any case, and written in lower case.
                    let folded = |texts: BTreeSet<String>| texts.iter().map(|text| text.to_lowercase()).collect::<BTreeSet<_>>();
                    let mut before = folded(texts_of(&bytes).unwrap());
                    before.remove(&team.protocol.to_lowercase());
                    let after = folded(texts_of(&std::fs::read(&path).unwrap()).unwrap());
                    assert!(after.is_superset(&before), "lost {:?}", before.difference(&after).collect::<Vec<_>>());
                }
                Err(error) => {
                    assert!(error.to_string().contains("team/config.json"), "{error}");
                    assert!(store.update_team(|team| Ok(team.clone())).is_err());
                    assert_eq!(std::fs::read(&path).unwrap(), bytes);
                }
            }
        }
    }
}

/// Damages a log, writes one more line, and reads: all lines that were not hit are there, the rest is reported or aside.
fn damaged_log<T: PartialEq + std::fmt::Debug>(topic: &Topic, sample: &str, line: &str, read: impl Fn(&TeamStore) -> (Vec<T>, Vec<Fault>)) {
    let dir = workspace();
    let (path, store) = (dir.path().join(topic.to_string()), store_at(dir.path()));
    let backend = store.backend().clone();
    std::fs::write(&path, format!("{sample}{line}\n")).unwrap();
    let (good, faults) = read(&store);
    assert_eq!(faults, []);
    let whole = sample.lines().count();
    for bytes in versions(sample, flips()) {
        std::fs::write(&path, &bytes).unwrap();
        let aside = dir.path().join(format!("{topic}.torn"));
        let _ = std::fs::remove_file(&aside);
        backend.append(topic, &[line.as_bytes().to_vec()]).unwrap();
        let (items, faults) = read(&store);
        assert_eq!(items.last(), good.last(), "what was written after the damage is there: {:?}", String::from_utf8_lossy(&bytes));
        let hit = sample.bytes().zip(&bytes).position(|(a, b)| a != *b).unwrap_or(bytes.len().min(sample.len()));
        let before = sample.as_bytes()[..hit].iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(items[..before.min(items.len())], good[..before], "lines before the damage are there");
        let is_prefix = sample.as_bytes().starts_with(&bytes);
        let said = !faults.is_empty() || aside.exists();
        // A flip within a text is another text, and a newline within a text cuts one line in two.
        assert!(is_prefix || items.len() > whole || said, "{} of {} lines, and nothing is said", items.len(), whole + 1);
        for fault in &faults {
            assert_eq!(fault.place, topic.to_string());
            assert!(fault.reason.contains("byte"), "it says where: {fault}");
        }
        if is_prefix && !bytes.is_empty() && bytes.last() != Some(&b'\n') {
            let tail = bytes.rsplit(|byte| *byte == b'\n').next().unwrap();
            let kept = std::fs::read(&aside).unwrap_or_default();
            let closed = items.len() == bytes.split(|b| *b == b'\n').count() + 1;
            assert!(closed || kept.starts_with(tail), "a torn line is kept aside");
        }
    }
}

#[test]
fn a_damaged_inbox() {
    let bob = MemberName::parse("bob").unwrap();
    let line = r#"{"id":"m9","type":"message","from":"lead","to":"bob","content":"the last","timestamp":1760000009}"#;
    damaged_log(&Topic::Inbox(bob.clone()), samples::INBOX, line, |store| {
        let mail = store.mail_after(&bob, 0, usize::MAX).unwrap();
        (mail.messages, mail.faults)
    });
}

#[test]
fn an_inbox_that_is_one_array_is_reported_and_mail_goes_on_behind_it() {
    let bob = MemberName::parse("bob").unwrap();
    let dir = workspace();
    std::fs::write(dir.path().join("team/inbox/bob.jsonl"), r#"[{"type":"message","from":"lead","content":"one"}]"#).unwrap();
    let store = store_at(dir.path());
    store.deliver(&Envelope::new(MessageId("x".into()), MessageKind::Message, Party::lead(), "bob", "two", Timestamp(1))).unwrap();
    let mail = store.mail_after(&bob, 0, usize::MAX).unwrap();
    assert_eq!(mail.messages.iter().map(|m| m.content.as_str()).collect::<Vec<_>>(), ["two"]);
    let aside = std::fs::read_to_string(dir.path().join("team/inbox/bob.jsonl.torn")).unwrap();
    assert!(aside.contains("\"one\""), "nothing of it is lost: {aside}");
}

#[test]
fn a_damaged_event_log() {
    let line = r#"{"v":1,"seq":9,"at":1760000000009,"kind":"protocol_changed","name":"swarm"}"#;
    damaged_log(&Topic::Events, samples::EVENTS, line, |store| {
        let events = store.events_after(0, usize::MAX).unwrap();
        (events.records, events.faults)
    });
}

#[test]
fn a_damaged_transcript() {
    let bob = MemberName::parse("bob").unwrap();
    let line = r#"{"entry":"message","at":1760000000009,"message":{"role":"user","text":"go on"}}"#;
    damaged_log(&Topic::Transcript(bob.clone()), samples::TRANSCRIPT, line, |store| store.transcript(&bob).unwrap());
}

#[test]
fn damaged_settings_and_scripts_name_their_file() {
    for (name, entry) in super::entries::ALL {
        if ["user_config", "workspace_config", "script"].contains(&name) {
            let step = of(23, 1);
            let sample = samples::of(name)[0];
            (0..sample.len()).step_by(step).for_each(|length| entry(&sample[..length]));
            let mut dice = Dice::new(seed());
            (0..flips()).for_each(|_| entry(&flip(&mut dice, sample).1));
        }
    }
}

/// Opens a real team on a workspace in which one file is damaged; what it says.
async fn open(path: &str, bytes: &[u8], look: impl AsyncFn(&mut TestTeam)) -> String {
    let dir = workspace();
    std::fs::write(dir.path().join(path), bytes).unwrap();
    let mut team = TestTeam::open(dir.path(), scripted(SCRIPT), settings());
    team.goal("hello").await;
    team.until("an answer", |e| matches!(e, TeamEvent::AnswerFinished { name, .. } if name.is_lead())).await;
    let made = TeamCommand::CreateTask { subject: "a new one".into(), description: String::new(), blocked_by: vec![] };
    team.human(made).await.unwrap_or_else(|refusal| panic!("{path}: {refusal}"));
    look(&mut team).await;
    team.drain();
    let said: Vec<String> = team
        .events
        .iter()
        .filter_map(|record| match &record.event {
            TeamEvent::Noticed { text, .. } => Some(text.clone()),
            _ => None,
        })
        .collect();
    let store = team.store.clone();
    team.close().await;
    assert!(store.tasks().unwrap().items.iter().any(|(task, _)| task.subject == "good one"), "the other task is there");
    said.join("\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_team_opens_over_any_damage_and_says_where_it_is() {
    let kinds = [
        (".tasks/task_3.json", samples::TASK),
        ("team/requests/0a1b2c3d.json", samples::REQUEST),
        ("team/config.json", samples::TEAM),
        ("team/transcripts/lead.jsonl", samples::TRANSCRIPT),
        ("team/inbox/lead.jsonl", samples::INBOX),
        ("team/events.jsonl", samples::EVENTS),
    ];
    for (path, sample) in kinds {
        let all = versions(sample, 40);
        let step = of(all.len() / 5, all.len() / 60).max(1);
        for bytes in all.iter().step_by(step).filter(|bytes| !bytes.is_empty()) {
            let said = open(path, bytes, async |_| ()).await;
            let unreadable = serde_json::from_slice::<Value>(bytes).is_err();
            if path.ends_with(".json") && unreadable {
                assert!(said.contains(path), "nothing was said of {path}: {said}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t19_a_damaged_team_file_is_kept_aside_and_the_roster_comes_back_from_the_event_log() {
    let half = &samples::TEAM.as_bytes()[..100];
    let said = open("team/config.json", half, async |team| {
        let config = team.store.team().unwrap().map(|(team, _)| team);
        let names = config.map(|team| team.members.iter().map(|m| m.name.to_string()).collect::<Vec<_>>());
        assert!(names.is_none_or(|names| names.contains(&"bob".to_owned())), "bob is in the event log");
        let aside = team.dir.join("team/config.json.damaged-1");
        assert_eq!(std::fs::read(&aside).unwrap(), half);
        team.human(TeamCommand::Resume { target: "bob".into() }).await.unwrap();
    })
    .await;
    assert!(said.contains("config.json.damaged-1") && said.contains("bob"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_bad_member_does_not_cost_the_roster_and_stays_in_the_file() {
    let text = r#"{"team_name":"crew","members":[{"name":"lead"},{"name":"two words","role":"x","secret":"kept"},{"name":"bob","status":5},7,{"name":"alice","role":"coder","status":"idle"}]}"#;
    let dir = workspace();
    std::fs::write(dir.path().join("team/config.json"), text).unwrap();
    let mut team = TestTeam::open(dir.path(), scripted(SCRIPT), settings());
    team.until("what is wrong", |e| matches!(e, TeamEvent::Noticed { text, .. } if text.contains("two words"))).await;
    // The person wrote to alice while nobody ran the team: that has started it.
    let twice = team.human(TeamCommand::Resume { target: "alice".into() }).await;
    assert!(matches!(&twice, Err(Refusal::Invalid(why)) if why.contains("alice is running")), "{twice:?}");
    team.spawn("carol", "tester").await;
    let store = team.store.clone();
    team.close().await;
    let (config, _) = store.team().unwrap().unwrap();
    let names: Vec<&str> = config.members.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["lead", "alice", "carol"]);
    assert_eq!(config.unread.len(), 3);
    assert_kept(text.as_bytes(), &dir.path().join("team/config.json"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_whose_entry_breaks_while_the_team_runs_stays_on_it() {
    let dir = workspace();
    let mut team = TestTeam::open(dir.path(), scripted(SCRIPT), settings());
    team.until_status("lead", MemberStatus::Idle).await;
    let broken =
        samples::TEAM.replace("\"require_plan\":true", "\"require_plan\":\"yes\"").replace("\"theme\":\"dark\"", "\"theme\":\"light\"");
    std::fs::write(dir.path().join("team/config.json"), broken).unwrap();
    team.until("what is wrong", |e| matches!(e, TeamEvent::Noticed { text, .. } if text.contains("\"bob\" cannot be read"))).await;
    let Reply::Members(members) = team.human(TeamCommand::ListMembers).await.unwrap() else { panic!("members") };
    assert!(members.iter().any(|(member, _)| member.name.as_str() == "bob"));
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_file_that_becomes_garbage_is_moved_aside_when_the_team_needs_it_and_stops_nobody() {
    let dir = workspace();
    std::fs::write(dir.path().join(".tasks/task_3.json"), r#"{"id":3,"subject":"broken soon"}"#).unwrap();
    let mut team = TestTeam::open(dir.path(), scripted(SCRIPT), settings());
    team.until_status("lead", MemberStatus::Idle).await;
    std::fs::write(dir.path().join(".tasks/task_3.json"), "garbage").unwrap();
    team.human(TeamCommand::CompleteTask { task: TaskId(3) }).await.unwrap();
    assert_eq!(std::fs::read_to_string(dir.path().join(".tasks/task_3.json.damaged-1")).unwrap(), "garbage");
    assert_eq!(team.store.task(TaskId(3)).unwrap().unwrap().0.status, TaskStatus::Completed);
    team.until("what happened", |e| matches!(e, TeamEvent::Noticed { text, .. } if text.contains("damaged-1"))).await;
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_number_that_a_damaged_file_has_is_not_given_to_a_new_task() {
    let said = open(".tasks/task_2.json", b"garbage", async |team| {
        let numbers: Vec<u64> = team.store.tasks().unwrap().items.iter().map(|(task, _)| task.id.0).collect();
        assert_eq!(numbers, [1, 3]);
        assert_eq!(std::fs::read(team.dir.join(".tasks/task_2.json")).unwrap(), b"garbage");
    })
    .await;
    assert!(said.contains(".tasks/task_2.json"), "{said}");
}
