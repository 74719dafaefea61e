//! The typed facade: compare-and-swap loops, claims, requests, mail, logs. Over both backends where it matters.

use super::{files, message, name, request};
use signoff::domain::event::EVENT_VERSION;
use signoff::domain::request::PlanReviewer;
use signoff::domain::{
    ChatMessage, EventRecord, Generation, MemberName, Party, Refusal, Request, RequestKind, RequestState, Task, TaskId, TaskStatus,
    TeamEvent, Timestamp, TranscriptEntry, Verdict,
};
use signoff::store::{Expect, MemoryBackend, PutOf, StoreError, TeamStore, UpdateError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const AT: Timestamp = Timestamp(1_760_000_000_000);

fn on_each(check: impl Fn(&TeamStore)) {
    check(&TeamStore::new(Arc::new(MemoryBackend::new())));
    let dir = tempfile::tempdir().unwrap();
    check(&files(dir.path()));
}

fn add(store: &TeamStore, subject: &str, blockers: &[u64]) -> TaskId {
    let make = |id| Task { blocked_by: blockers.iter().copied().map(TaskId).collect(), ..Task::new(id, subject) };
    store.create_task(make).unwrap().0.id
}

fn complete(store: &TeamStore, id: TaskId) {
    store.update_task(id, |task| Ok(Task { status: TaskStatus::Completed, ..task.clone() })).unwrap();
}

fn plan(id: &str) -> Request {
    Request {
        id: request(id),
        kind: RequestKind::Plan,
        asker: Party::Member(name("bob")),
        target: name("bob"),
        generation: Generation::default(),
        title: "Migrate".into(),
        body: "1. migrate".into(),
        task: None,
        previous: None,
        rule: None,
        created: AT,
        deadline: None,
        force: false,
        state: RequestState::Pending,
        answer: None,
        ended: None,
        extra: Default::default(),
    }
}

fn refusal<T: std::fmt::Debug>(result: Result<T, UpdateError>) -> Refusal {
    match result {
        Err(UpdateError::Refused(refusal)) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn new_tasks_get_the_number_after_the_highest() {
    on_each(|store| {
        assert_eq!((add(store, "one", &[]), add(store, "two", &[])), (TaskId(1), TaskId(2)));
        store.put_task(&Task::new(TaskId(40), "far"), Expect::Absent).unwrap();
        assert_eq!(add(store, "next", &[]), TaskId(41));
        let (_, revision) = store.task(TaskId(1)).unwrap().unwrap();
        store.delete_task(TaskId(1), revision).unwrap();
        assert_eq!(add(store, "a hole is not filled", &[]), TaskId(42));
        let numbers: Vec<u64> = store.tasks().unwrap().items.iter().map(|(task, _)| task.id.0).collect();
        assert_eq!(numbers, [2, 40, 41, 42]);
    });
}

#[test]
fn an_update_runs_its_rule_again_on_what_somebody_else_wrote() {
    on_each(|store| {
        let id = add(store, "a", &[]);
        let runs = AtomicU32::new(0);
        let (task, _) = store
            .update_task(id, |task| {
                if runs.fetch_add(1, Ordering::SeqCst) == 0 {
                    store.update_task(id, |task| Ok(Task { description: "quicker".into(), ..task.clone() })).unwrap();
                }
                Ok(Task { subject: "b".into(), ..task.clone() })
            })
            .unwrap();
        assert_eq!((task.subject.as_str(), task.description.as_str()), ("b", "quicker"));
        assert_eq!(runs.into_inner(), 2);
    });
}

#[test]
fn an_update_that_changes_nothing_writes_nothing_and_a_missing_task_is_refused() {
    on_each(|store| {
        let id = add(store, "a", &[]);
        let before = store.task(id).unwrap().unwrap().1;
        let told = Arc::new(AtomicBool::new(false));
        let flag = told.clone();
        let guard = store.watch(move |_| flag.store(true, Ordering::SeqCst)).unwrap();
        assert_eq!(store.update_task(id, |task| Ok(task.clone())).unwrap().1, before);
        std::thread::sleep(std::time::Duration::from_millis(60));
        assert!(!told.load(Ordering::SeqCst), "nothing was written");
        drop(guard);
        assert_eq!(refusal(store.update_task(TaskId(9), |task| Ok(task.clone()))), Refusal::UnknownTask(TaskId(9)));
        let odd = store.put_task(&Task::new(id, "x"), Expect::Absent).unwrap();
        assert!(matches!(odd, PutOf::Lost(Some((there, _))) if there.subject == "a"));
    });
}

#[test]
fn a_claim_is_refused_for_exactly_the_right_reason() {
    on_each(|store| {
        let (bob, eve) = (name("bob"), name("eve"));
        let first = add(store, "first", &[]);
        let second = add(store, "second", &[first.0]);
        let gone = add(store, "waits for nobody", &[99]);
        assert_eq!(refusal(store.claim(second, &bob, AT)), Refusal::Blocked { task: second, blockers: "#1".into() });
        assert_eq!(refusal(store.claim(gone, &bob, AT)), Refusal::Blocked { task: gone, blockers: "missing #99".into() });
        let (claimed, _) = store.claim(first, &bob, AT).unwrap();
        assert_eq!((claimed.status, claimed.owner.as_ref()), (TaskStatus::InProgress, Some(&bob)));
        assert_eq!(refusal(store.claim(first, &eve, AT)), Refusal::Owned { task: first, owner: bob.clone() });
        complete(store, first);
        assert_eq!(refusal(store.claim(first, &eve, AT)), Refusal::Finished(first));
        assert_eq!(refusal(store.claim(TaskId(77), &eve, AT)), Refusal::UnknownTask(TaskId(77)));
        store.claim(second, &eve, AT).unwrap();
        assert_eq!(store.task(second).unwrap().unwrap().0.owner, Some(eve));
    });
}

#[test]
fn of_many_answers_at_once_one_counts_and_the_others_learn_which() {
    on_each(|store| {
        store.put_request(&plan("0a1b2c3d"), Expect::Absent).unwrap();
        let verdicts = [Verdict::approve(), Verdict::reject()];
        let wins: usize = std::thread::scope(|scope| {
            let answer = |n: usize| {
                let verdict = verdicts[n % 2].clone();
                let rule = |r: &Request| r.answered(&Party::Human, verdict.clone(), &r.digest(), PlanReviewer::Human, AT);
                match store.update_request(&request("0a1b2c3d"), rule) {
                    Ok(_) => 1,
                    Err(UpdateError::Refused(Refusal::AlreadyDecided { by, .. })) => {
                        assert_eq!(by, Some(Party::Human));
                        0
                    }
                    Err(other) => panic!("{other}"),
                }
            };
            let threads: Vec<_> = (0..16).map(|n| scope.spawn(move || answer(n))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(wins, 1);
        let unknown = store.update_request(&request("ffffffff"), |r| Ok(r.clone()));
        assert_eq!(refusal(unknown), Refusal::UnknownRequest("ffffffff".into()));
        assert_eq!(store.requests().unwrap().items.len(), 1);
    });
}

#[test]
fn mail_goes_to_the_inbox_of_its_receiver_only() {
    on_each(|store| {
        let end = store.deliver(&message("1", "bob", "for bob")).unwrap();
        store.deliver(&message("2", "human", "for you")).unwrap();
        assert_eq!(store.inbox_end(&name("bob")).unwrap(), end);
        assert_eq!(store.mail_after(&name("bob"), 0, 1000).unwrap().messages, [message("1", "bob", "for bob")]);
        assert_eq!(store.human_mail_after(0, 1000).unwrap().messages.len(), 1);
        assert!(store.mail_after(&name("eve"), 0, 1000).unwrap().messages.is_empty());
        for odd in ["", "all", "system", "../../etc/passwd", "two words"] {
            assert!(matches!(store.deliver(&message("3", odd, "x")), Err(StoreError::BadName { .. })), "{odd}");
        }
        store.archive_inbox(&name("bob"), Generation(1)).unwrap();
        assert_eq!(store.inbox_end(&name("bob")).unwrap(), 0);
    });
}

fn event(seq: u64) -> EventRecord {
    EventRecord { v: EVENT_VERSION, seq, at: AT, event: TeamEvent::ProtocolChanged { name: "swarm".into() } }
}

#[test]
fn the_end_of_a_long_event_log_is_found_without_reading_it_all() {
    on_each(|store| {
        assert!(store.recent_events(1000).unwrap().records.is_empty());
        store.append_events(&(1..=500).map(event).collect::<Vec<_>>()).unwrap();
        let recent = store.recent_events(1000).unwrap();
        assert_eq!(recent.records.last().unwrap().seq, 500);
        assert!(recent.records.len() < 20);
        assert_eq!(recent.faults, []);
        assert_eq!(store.events_after(0, usize::MAX).unwrap().records.len(), 500);
        assert_eq!(store.events_after(recent.next, 1000).unwrap().records, []);
    });
}

#[test]
fn a_transcript_comes_back_whole_around_bad_lines() {
    let memory = MemoryBackend::new();
    let store = TeamStore::new(Arc::new(memory.clone()));
    let bob: MemberName = name("bob");
    let entry = |text: &str| TranscriptEntry::Message { at: AT, message: ChatMessage::user(text) };
    store.append_transcript(&bob, &[entry("one"), entry("two")]).unwrap();
    memory.append_raw(&signoff::store::Topic::Transcript(bob.clone()), b"garbage\n{\"entry\":\"from the future\"}\n{\"entry\":\"mess");
    store.append_transcript(&bob, &[entry("three")]).unwrap();
    let (entries, faults) = store.transcript(&bob).unwrap();
    assert_eq!(entries, [entry("one"), entry("two"), entry("three")]);
    assert_eq!(faults.len(), 2);
}
