//! Logs: files that only grow, read from an offset.

use super::dir::{Dir, Landing};
use super::lock::{self, Zone};
use super::{Durability, FileBackend};
use crate::store::lines::{self, Mend};
use crate::store::{Lines, SIZE_MAX, StoreError, Topic};
use rustix::fs::{OFlags, Stat};
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::os::unix::fs::FileExt as _;

/// A longer log is none of ours: looking through it for a line would take minutes. In bytes.
const LOG_MAX: u64 = 1 << 30;
const BLOCK: usize = 64 * 1024;
const ARCHIVE_TRIES: u32 = 10_000;

/// The event log is a view of the entities: it is written at once but not synced.
fn durability(store: &FileBackend, topic: &Topic) -> Durability {
    match topic {
        Topic::Events => Durability::Buffered,
        Topic::Inbox(_) | Topic::HumanInbox | Topic::Transcript(_) => store.0.durability,
    }
}

pub(super) fn append(store: &FileBackend, topic: &Topic, lines: &[Vec<u8>]) -> Result<u64, StoreError> {
    let joined = lines::join(topic, lines)?;
    if joined.is_empty() {
        return end(store, topic);
    }
    let (name, durability) = (topic.file_name(), durability(store, topic));
    let dir = store.make_folder(topic.folder().path())?;
    let _lock = lock::acquire(store, Zone::from(topic))?;
    let (mut file, stat, made) = dir.open_or_make(&name, OFlags::RDWR | OFlags::APPEND)?;
    checked_size(&dir, &name, &stat)?;
    mend(&dir, &name, &mut file)?;
    let start = file.metadata().map_err(|source| dir.io("look at", &name, source))?.len();
    let written = file.write_all(&joined).map_err(|source| dir.io("append to", &name, source)).and_then(|()| match durability {
        Durability::Synced => file.sync_data().map_err(|source| dir.io("sync", &name, source)),
        Durability::Buffered => Ok(()),
    });
    if let Err(error) = written {
        take_back(&file, start, joined.len());
        return Err(error);
    }
    if made {
        dir.sync(durability)?;
    }
    file.stream_position().map_err(|source| dir.io("append to", &name, source))
}

/// An append that failed leaves nothing: whoever is told so will do it again, and the half of it that a full disk took
/// must not count then. Only what can be ours goes. Where this fails, the next append sets the torn line aside.
fn take_back(file: &File, start: u64, length: usize) {
    let ours = file.metadata().is_ok_and(|now| now.len() > start && now.len() - start <= length as u64);
    if ours && let Err(error) = file.set_len(start) {
        tracing::warn!(%error, "what a failed append left in a log could not be taken back");
    }
}

/// Makes a tail without newline harmless. What was there stays readable in `NAME.jsonl.torn`.
fn mend(dir: &Dir, name: &str, file: &mut File) -> Result<(), StoreError> {
    let io = |source| dir.io("mend the torn end of", name, source);
    let size = file.metadata().map_err(io)?.len();
    let start = tail_start(file, size).map_err(io)?;
    let length = usize::try_from(size - start).unwrap_or(usize::MAX);
    if length == 0 {
        return Ok(());
    }
    // A tail of megabytes was never one of our lines: closed, it is read as one that does not parse.
    if length <= SIZE_MAX {
        let mut tail = vec![0; length];
        file.read_exact_at(&mut tail, start).map_err(io)?;
        if lines::mend_of(&tail) == Mend::Blank {
            set_aside(dir, name, &tail)?;
            blank(dir, name, start, length)?;
            tracing::warn!(file = %dir.path().join(name).display(), offset = start, bytes = length, "set a torn last line aside");
        }
    }
    file.write_all(b"\n").map_err(io)
}

fn set_aside(dir: &Dir, name: &str, tail: &[u8]) -> Result<(), StoreError> {
    let aside = format!("{name}.torn");
    let (mut file, ..) = dir.open_or_make(&aside, OFlags::WRONLY | OFlags::APPEND)?;
    let written = file.write_all(&[tail, b"\n"].concat()).and_then(|()| file.sync_data());
    written.map_err(|source| dir.io("set a torn line aside in", &aside, source))
}

/// Writes blanks in place; that needs a handle which does not append.
fn blank(dir: &Dir, name: &str, start: u64, length: usize) -> Result<(), StoreError> {
    let Some((file, _)) = dir.open(name, OFlags::WRONLY)? else { return Ok(()) };
    file.write_all_at(&vec![b' '; length], start).map_err(|source| dir.io("mend the torn end of", name, source))
}

/// The offset after the last newline within the first `size` bytes.
fn tail_start(file: &File, size: u64) -> std::io::Result<u64> {
    let mut block = vec![0; BLOCK.min(usize::try_from(size).unwrap_or(BLOCK))];
    let mut until = size;
    // Nearly always the last byte is the newline: look at that alone first.
    let mut step = 1;
    while until > 0 {
        let length = step.min(until);
        let part = &mut block[..usize::try_from(length).unwrap_or(BLOCK)];
        file.read_exact_at(part, until - length)?;
        if let Some(at) = part.iter().rposition(|byte| *byte == b'\n') {
            return Ok(until - length + at as u64 + 1);
        }
        until -= length;
        step = BLOCK as u64;
    }
    Ok(0)
}

pub(super) fn end(store: &FileBackend, topic: &Topic) -> Result<u64, StoreError> {
    let Some((dir, file, size)) = open(store, topic)? else { return Ok(0) };
    tail_start(&file, size).map_err(|source| dir.io("read", &topic.file_name(), source))
}

fn open(store: &FileBackend, topic: &Topic) -> Result<Option<(Dir, File, u64)>, StoreError> {
    let Some(dir) = store.folder(topic.folder())? else { return Ok(None) };
    let Some((file, stat)) = dir.open(&topic.file_name(), OFlags::RDONLY)? else { return Ok(None) };
    let size = checked_size(&dir, &topic.file_name(), &stat)?;
    Ok(Some((dir, file, size)))
}

fn checked_size(dir: &Dir, name: &str, stat: &Stat) -> Result<u64, StoreError> {
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    if size > LOG_MAX {
        return Err(StoreError::TooLarge { path: dir.path().join(name), size, max: LOG_MAX });
    }
    Ok(size)
}

pub(super) fn read_after(store: &FileBackend, topic: &Topic, offset: u64, max_bytes: usize) -> Result<Lines, StoreError> {
    let Some((dir, file, size)) = open(store, topic)? else { return Ok(Lines::default()) };
    let from = if offset > size { 0 } else { offset };
    read_lines(&file, from, size, max_bytes).map_err(|source| dir.io("read", &topic.file_name(), source))
}

fn read_lines(file: &File, mut from: u64, size: u64, max_bytes: usize) -> std::io::Result<Lines> {
    let mut want = max_bytes.clamp(1, SIZE_MAX);
    loop {
        let rest = usize::try_from(size.saturating_sub(from)).unwrap_or(usize::MAX);
        let mut chunk = vec![0; want.min(rest)];
        let read = fill(file, &mut chunk, from)?;
        let (lines, used) = lines::split(&chunk[..read]);
        if used > 0 && lines.is_empty() {
            from += used as u64;
            continue;
        }
        if used > 0 {
            return Ok(Lines { lines, next: from + used as u64 });
        }
        if read < want {
            return Ok(Lines { lines, next: from });
        }
        if want == SIZE_MAX {
            return cut_line(file, chunk, from, size);
        }
        want = want.saturating_mul(2).clamp(BLOCK.min(SIZE_MAX), SIZE_MAX);
    }
}

/// A line longer than [`SIZE_MAX`]: its head stands for it (which does not parse), and reading goes on after it.
fn cut_line(file: &File, head: Vec<u8>, from: u64, size: u64) -> std::io::Result<Lines> {
    let mut block = vec![0; BLOCK];
    let mut at = from + head.len() as u64;
    while at < size {
        let read = fill(file, &mut block, at)?;
        if let Some(newline) = block[..read].iter().position(|byte| *byte == b'\n') {
            return Ok(Lines { lines: vec![head], next: at + newline as u64 + 1 });
        }
        if read == 0 {
            break;
        }
        at += read as u64;
    }
    Ok(Lines { lines: Vec::new(), next: from })
}

/// Reads until the buffer is full or the file ends.
fn fill(file: &File, buffer: &mut [u8], from: u64) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], from + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

pub(super) fn archive(store: &FileBackend, topic: &Topic, suffix: &str) -> Result<(), StoreError> {
    lines::check_suffix(suffix)?;
    let Some(dir) = store.folder(topic.folder())? else { return Ok(()) };
    let _lock = lock::acquire(store, Zone::from(topic))?;
    let name = topic.file_name();
    if dir.open(&name, OFlags::RDONLY)?.is_none() {
        return Ok(());
    }
    for number in 1..ARCHIVE_TRIES {
        // A member's name holds no dot, so no archive is ever taken for an inbox.
        let more = if number == 1 { String::new() } else { format!(".{number}") };
        if dir.rename_from(&dir, &name, &format!("{}.{suffix}{more}.jsonl", topic.stem()), Landing::New)? {
            return dir.sync(durability(store, topic));
        }
    }
    Err(dir.io("move aside", &name, std::io::ErrorKind::AlreadyExists.into()))
}
