//! What every backend must do, run over each of them.

use super::{inbox, name, request, task, until};
use signoff::store::{Backend, Change, Durability, Expect, FileBackend, Key, KeyKind, MemoryBackend, Put, Revision, StoreError, Topic};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Puts bytes at a log's end as a writer that was killed leaves them.
type Tear = Box<dyn Fn(&Topic, &[u8])>;

struct Subject {
    backend: Arc<dyn Backend>,
    tear: Tear,
    _dir: Option<tempfile::TempDir>,
}

fn path_of(root: &Path, topic: &Topic) -> PathBuf {
    root.join(topic.to_string())
}

fn subjects() -> Vec<(&'static str, Subject)> {
    let memory = MemoryBackend::new();
    let twin = memory.clone();
    let memory = Subject { backend: Arc::new(memory), tear: Box::new(move |topic, bytes| twin.append_raw(topic, bytes)), _dir: None };
    let of_files = |durability| {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_owned();
        let backend = Arc::new(FileBackend::open(&root, durability).unwrap());
        let tear = move |topic: &Topic, bytes: &[u8]| {
            let path = path_of(&root, topic);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let mut all = std::fs::read(&path).unwrap_or_default();
            all.extend_from_slice(bytes);
            std::fs::write(path, all).unwrap();
        };
        Subject { backend, tear: Box::new(tear), _dir: Some(dir) }
    };
    vec![("memory", memory), ("files, synced", of_files(Durability::Synced)), ("files, buffered", of_files(Durability::Buffered))]
}

fn on_each(check: impl Fn(&Subject)) {
    for (title, subject) in subjects() {
        println!("on {title}");
        check(&subject);
    }
}

fn lines(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn applied(put: Put) -> Revision {
    match put {
        Put::Applied(revision) => revision,
        Put::Lost(there) => panic!("lost to {there:?}"),
    }
}

#[test]
fn an_empty_store_has_nothing_and_says_so_without_errors() {
    on_each(|s| {
        assert_eq!(s.backend.get(&task(1)).unwrap(), None);
        assert_eq!(s.backend.list(KeyKind::Tasks).unwrap(), []);
        assert!(s.backend.load(KeyKind::Requests).unwrap().is_empty());
        assert_eq!(s.backend.end(&inbox("bob")).unwrap(), 0);
        assert_eq!(s.backend.read_after(&inbox("bob"), 0, 100).unwrap().lines.len(), 0);
        s.backend.archive(&inbox("bob"), "g1").unwrap();
        assert_eq!(s.backend.delete(&task(1), Revision(7)).unwrap(), Put::Lost(None));
    });
}

#[test]
fn a_put_applies_only_on_what_it_expects_and_tells_what_is_there() {
    on_each(|s| {
        let first = applied(s.backend.put(&task(1), Expect::Absent, b"one").unwrap());
        let Put::Lost(Some(there)) = s.backend.put(&task(1), Expect::Absent, b"two").unwrap() else { panic!("created twice") };
        assert_eq!((there.bytes.as_slice(), there.revision), (&b"one"[..], first));
        let second = applied(s.backend.put(&task(1), Expect::At(first), b"two").unwrap());
        assert_ne!(first, second);
        let Put::Lost(Some(there)) = s.backend.put(&task(1), Expect::At(first), b"three").unwrap() else { panic!("an update was lost") };
        assert_eq!((there.bytes.as_slice(), there.revision), (&b"two"[..], second));
        assert_eq!(s.backend.put(&task(2), Expect::At(first), b"x").unwrap(), Put::Lost(None));
        assert_eq!(s.backend.get(&task(2)).unwrap(), None, "a lost put changes nothing");
    });
}

#[test]
fn a_revision_is_a_property_of_the_bytes() {
    on_each(|s| {
        let one = applied(s.backend.put(&task(1), Expect::Absent, b"same").unwrap());
        let two = applied(s.backend.put(&Key::Team, Expect::Absent, b"same").unwrap());
        assert_eq!(one, two);
        assert_eq!(one, Revision::of(b"same"));
        assert_eq!(s.backend.get(&Key::Team).unwrap().unwrap().revision, one);
    });
}

#[test]
fn a_delete_needs_the_right_revision() {
    on_each(|s| {
        let revision = applied(s.backend.put(&task(1), Expect::Absent, b"one").unwrap());
        assert!(matches!(s.backend.delete(&task(1), Revision(1)).unwrap(), Put::Lost(Some(_))));
        assert_eq!(s.backend.delete(&task(1), revision).unwrap(), Put::Applied(revision));
        assert_eq!(s.backend.get(&task(1)).unwrap(), None);
        applied(s.backend.put(&task(1), Expect::Absent, b"again").unwrap());
    });
}

#[test]
fn lists_are_in_order_of_numbers_and_hold_one_kind() {
    on_each(|s| {
        for number in [10, 9, 100, 1] {
            applied(s.backend.put(&task(number), Expect::Absent, b"{}").unwrap());
        }
        let id = request("0a1b2c3d");
        applied(s.backend.put(&Key::Request(id.clone()), Expect::Absent, b"{}").unwrap());
        applied(s.backend.put(&Key::Memory(name("market")), Expect::Absent, b"{}").unwrap());
        assert_eq!(s.backend.list(KeyKind::Tasks).unwrap(), [task(1), task(9), task(10), task(100)]);
        assert_eq!(s.backend.list(KeyKind::Requests).unwrap(), [Key::Request(id)]);
        let loaded = s.backend.load(KeyKind::Tasks).unwrap();
        assert_eq!(loaded.len(), 4);
        assert!(loaded.iter().all(|(_, stored)| stored.as_ref().unwrap().bytes == b"{}"));
    });
}

#[test]
fn memory_may_not_take_the_teams_own_file() {
    on_each(|s| {
        let odd = s.backend.put(&Key::Memory(name("config")), Expect::Absent, b"{}");
        assert!(matches!(odd, Err(StoreError::BadName { .. })), "{odd:?}");
        assert_eq!(s.backend.get(&Key::Team).unwrap(), None);
    });
}

#[test]
fn lines_come_back_in_order_from_any_offset() {
    on_each(|s| {
        let topic = inbox("bob");
        let first = s.backend.append(&topic, &lines(&["{\"n\":1}", "{\"n\":2}"])).unwrap();
        assert_eq!(first, 16);
        let second = s.backend.append(&topic, &lines(&["{\"n\":3}"])).unwrap();
        assert_eq!(s.backend.end(&topic).unwrap(), second);
        let all = s.backend.read_after(&topic, 0, usize::MAX).unwrap();
        assert_eq!((all.lines, all.next), (lines(&["{\"n\":1}", "{\"n\":2}", "{\"n\":3}"]), second));
        let rest = s.backend.read_after(&topic, first, 1000).unwrap();
        assert_eq!(rest.lines, lines(&["{\"n\":3}"]));
        let none = s.backend.read_after(&topic, second, 1000).unwrap();
        assert_eq!((none.lines.len(), none.next), (0, second));
    });
}

#[test]
fn a_small_page_still_holds_one_line_and_pages_add_up() {
    on_each(|s| {
        let topic = Topic::HumanInbox;
        let texts: Vec<String> = (0..200).map(|n| format!("{{\"n\":{n},\"text\":\"{}\"}}", "x".repeat(n))).collect();
        let all: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
        s.backend.append(&topic, &all).unwrap();
        for size in [1, 10, 100, 1000] {
            let (mut seen, mut offset) = (Vec::new(), 0);
            loop {
                let page = s.backend.read_after(&topic, offset, size).unwrap();
                if page.lines.is_empty() {
                    break;
                }
                seen.extend(page.lines);
                offset = page.next;
            }
            assert_eq!(seen, all, "in pages of {size}");
        }
    });
}

#[test]
fn s1_a_torn_tail_is_not_read_and_does_no_harm_to_the_next_line() {
    on_each(|s| {
        let topic = inbox("bob");
        let first = s.backend.append(&topic, &lines(&["{\"n\":1}"])).unwrap();
        (s.tear)(&topic, b"{\"n\":2,\"te");
        let read = s.backend.read_after(&topic, 0, 1000).unwrap();
        assert_eq!((read.lines.len(), read.next), (1, first));
        assert_eq!(s.backend.end(&topic).unwrap(), first, "a new generation must not begin inside a torn line");
        let end = s.backend.append(&topic, &lines(&["{\"n\":3}"])).unwrap();
        let read = s.backend.read_after(&topic, first, 1000).unwrap();
        assert_eq!((read.lines, read.next), (lines(&["{\"n\":3}"]), end));
        let paged = s.backend.read_after(&topic, first, 1).unwrap();
        assert_eq!(paged.lines, lines(&["{\"n\":3}"]), "what was blanked is passed over, however small the page");
    });
}

#[test]
fn a_last_line_that_only_lacks_its_newline_is_kept() {
    on_each(|s| {
        let topic = inbox("bob");
        (s.tear)(&topic, b"{\"n\":1}");
        s.backend.append(&topic, &lines(&["{\"n\":2}"])).unwrap();
        assert_eq!(s.backend.read_after(&topic, 0, 1000).unwrap().lines, lines(&["{\"n\":1}", "{\"n\":2}"]));
    });
}

#[test]
fn an_offset_beyond_the_end_means_that_the_log_was_begun_anew() {
    on_each(|s| {
        let end = s.backend.append(&inbox("bob"), &lines(&["{\"n\":1}"])).unwrap();
        let read = s.backend.read_after(&inbox("bob"), 4000, 1000).unwrap();
        assert_eq!((read.lines.len(), read.next), (1, end));
    });
}

#[test]
fn a_line_that_could_not_be_read_back_is_refused() {
    on_each(|s| {
        assert!(s.backend.append(&inbox("bob"), &lines(&["a\nb"])).is_err());
        let long = vec![vec![b'x'; signoff::store::SIZE_MAX]];
        assert!(matches!(s.backend.append(&inbox("bob"), &long), Err(StoreError::TooLarge { .. })));
        let large = vec![b'x'; signoff::store::SIZE_MAX + 1];
        assert!(matches!(s.backend.put(&task(1), Expect::Absent, &large), Err(StoreError::TooLarge { .. })));
        assert_eq!(s.backend.end(&inbox("bob")).unwrap(), 0);
        assert_eq!(s.backend.end(&inbox("bob")).unwrap(), s.backend.append(&inbox("bob"), &[]).unwrap());
    });
}

#[test]
fn an_archived_log_is_out_of_sight_and_the_next_one_is_new() {
    on_each(|s| {
        let topic = inbox("bob");
        for generation in ["g1", "g2", "g2"] {
            s.backend.append(&topic, &lines(&["{\"n\":1}"])).unwrap();
            s.backend.archive(&topic, generation).unwrap();
            assert_eq!(s.backend.end(&topic).unwrap(), 0);
        }
        assert_eq!(s.backend.append(&topic, &lines(&["{\"n\":2}"])).unwrap(), 8);
        assert!(s.backend.archive(&topic, "../../x").is_err());
    });
}

#[test]
fn the_team_is_run_by_one_at_a_time() {
    on_each(|s| {
        let held = s.backend.lock_team().unwrap().expect("free at first");
        assert!(s.backend.lock_team().unwrap().is_none());
        assert!(s.backend.is_team_locked().unwrap());
        drop(held);
        assert!(!s.backend.is_team_locked().unwrap());
        assert!(s.backend.lock_team().unwrap().is_some());
    });
}

#[test]
fn every_write_is_told_to_watchers_until_they_let_go() {
    on_each(|s| {
        let seen: Arc<Mutex<Vec<Change>>> = Arc::default();
        let sink = seen.clone();
        let guard = s.backend.watch(Box::new(move |change| sink.lock().unwrap().push(change))).unwrap();
        let revision = applied(s.backend.put(&task(3), Expect::Absent, b"{}").unwrap());
        s.backend.append(&inbox("bob"), &lines(&["{}"])).unwrap();
        s.backend.append(&Topic::Events, &lines(&["{}"])).unwrap();
        applied(s.backend.put(&Key::Team, Expect::Absent, b"{}").unwrap());
        let wanted = [Change::Key(task(3)), Change::Topic(inbox("bob")), Change::Topic(Topic::Events), Change::Key(Key::Team)];
        for change in &wanted {
            until(Duration::from_secs(2), &format!("{change:?}"), || seen.lock().unwrap().contains(change));
        }
        seen.lock().unwrap().clear();
        s.backend.delete(&task(3), revision).unwrap();
        until(Duration::from_secs(2), "the removal", || seen.lock().unwrap().contains(&Change::Key(task(3))));
        drop(guard);
        seen.lock().unwrap().clear();
        let second = s.backend.watch(Box::new(|_| {})).unwrap();
        applied(s.backend.put(&task(4), Expect::Absent, b"{}").unwrap());
        std::thread::sleep(Duration::from_millis(60));
        assert!(seen.lock().unwrap().is_empty(), "a dropped watch tells nothing");
        drop(second);
    });
}
