//! Mail survives a reader that is killed again and again: nothing is lost, nothing is seen twice, because the line that
//! takes messages in also records how far the inbox was read.

use super::{files, message, name, timed, until};
use signoff::domain::{Timestamp, TranscriptEntry};
use signoff::store::TeamStore;
use std::collections::HashMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const ROLE: &str = "SIGNOFF_TEST_READER";
const WRITERS: usize = 8;

/// `SIGNOFF_FULL=1`: 5,000 messages a writer and 100 kills.
fn size() -> (usize, usize) {
    if std::env::var_os("SIGNOFF_FULL").is_some() { (5000, 100) } else { (500, 25) }
}

/// Where the transcript says that reading goes on.
fn resume_offset(store: &TeamStore) -> u64 {
    let (entries, faults) = store.transcript(&name("bob")).unwrap();
    assert_eq!(faults, []);
    let offset = |entry: &TranscriptEntry| match entry {
        TranscriptEntry::Mail { offset, .. } => Some(*offset),
        TranscriptEntry::Started { inbox_offset, .. } => Some(*inbox_offset),
        TranscriptEntry::Message { .. } | TranscriptEntry::Compacted { .. } => None,
    };
    entries.iter().rev().find_map(offset).unwrap_or(0)
}

/// The reader: takes mail in, one small page at a time, until it is killed. Does nothing as a test by itself.
#[test]
fn reader_process() {
    let Ok(workspace) = std::env::var(ROLE) else { return };
    let store = files(Path::new(&workspace));
    let bob = name("bob");
    let mut offset = resume_offset(&store);
    // Should the parent die without killing us, this ends by itself.
    for _ in 0..120_000 {
        let mail = store.mail_after(&bob, offset, 2048).unwrap();
        assert_eq!(mail.faults, []);
        if mail.messages.is_empty() {
            std::thread::sleep(Duration::from_micros(500));
            continue;
        }
        offset = mail.next;
        store.append_transcript(&bob, &[TranscriptEntry::Mail { at: Timestamp(0), offset, messages: mail.messages }]).unwrap();
    }
}

struct Reader(Child);

impl Reader {
    fn spawn(workspace: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "store::resume::reader_process", "--nocapture"]).env(ROLE, workspace).stdout(Stdio::null());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // SIGKILL, in the middle of whatever it does.
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn transcript_size(workspace: &Path) -> u64 {
    std::fs::metadata(workspace.join("team/transcripts/bob.jsonl")).map_or(0, |there| there.len())
}

#[test]
fn t3_eight_writers_and_a_reader_that_is_killed_again_and_again() {
    let dir = tempfile::tempdir().unwrap();
    let (messages, kills) = size();
    let (killed, took) = timed(|| {
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let store = files(dir.path());
                scope.spawn(move || {
                    for n in 0..messages {
                        // Spread the writing over the kills.
                        if n % (messages / kills).max(1) == 0 {
                            std::thread::sleep(Duration::from_millis(20));
                        }
                        store.deliver(&message(&format!("{writer}-{n}"), "bob", &"text ".repeat(n % 40))).unwrap();
                    }
                });
            }
            for _ in 0..kills {
                let reader = Reader::spawn(dir.path());
                let before = transcript_size(dir.path());
                let last = files(dir.path()).inbox_end(&name("bob")).unwrap();
                let finished = || resume_offset(&files(dir.path())) >= last && transcript_size(dir.path()) == before;
                until(Duration::from_secs(20), "progress", || transcript_size(dir.path()) > before || (last > 0 && finished()));
                drop(reader);
            }
        });
        let reader = Reader::spawn(dir.path());
        let store = files(dir.path());
        let end = store.inbox_end(&name("bob")).unwrap();
        until(Duration::from_secs(60), "all mail taken in", || resume_offset(&store) == end);
        drop(reader);
        kills
    });
    let mut seen: HashMap<String, usize> = HashMap::new();
    let (entries, faults) = files(dir.path()).transcript(&name("bob")).unwrap();
    assert_eq!(faults, []);
    for entry in entries {
        let TranscriptEntry::Mail { messages, .. } = entry else { panic!("only mail was taken in") };
        for message in messages {
            *seen.entry(message.id.unwrap().0.to_string()).or_default() += 1;
        }
    }
    println!("{} messages, {killed} kills, {took:?}", seen.len());
    assert_eq!(seen.len(), WRITERS * messages, "none lost");
    assert!(seen.values().all(|times| *times == 1), "none twice");
}
