//! Logs as bytes: cutting whole lines out of a chunk, and what to do with a tail that a dead writer left. Pure.

use super::{SIZE_MAX, StoreError, Topic};
use std::path::PathBuf;

/// How an unfinished last line is made harmless before the next append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mend {
    /// The log ends with a newline.
    Nothing,
    /// The last line is whole but for its newline (an editor or another program left it out): add that.
    Close,
    /// The last line is a fragment: keep it aside, write blanks over it, then close it. Nothing moves, so that every
    /// offset that a reader holds stays right.
    Blank,
}

/// What to do with `tail`, the bytes after the last newline.
pub(super) fn mend_of(tail: &[u8]) -> Mend {
    if tail.is_empty() {
        return Mend::Nothing;
    }
    let trimmed = tail.trim_ascii();
    let whole = trimmed.is_empty() || (trimmed.starts_with(b"{") && serde_json::from_slice::<serde::de::IgnoredAny>(trimmed).is_ok());
    if whole { Mend::Close } else { Mend::Blank }
}

/// The whole lines of `chunk` that are not blank, and how many bytes they take up with all newlines.
pub(super) fn split(chunk: &[u8]) -> (Vec<Vec<u8>>, usize) {
    let Some(last) = chunk.iter().rposition(|byte| *byte == b'\n') else { return (Vec::new(), 0) };
    let whole = &chunk[..last];
    let lines = whole.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).map(<[u8]>::to_vec);
    (lines.collect(), last + 1)
}

/// The lines as one piece to append. A line that holds a newline or is too long to be read back is refused.
pub(super) fn join(topic: &Topic, lines: &[Vec<u8>]) -> Result<Vec<u8>, StoreError> {
    let mut joined = Vec::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    for line in lines {
        let path = || PathBuf::from(topic.to_string());
        if line.len() >= SIZE_MAX {
            return Err(StoreError::TooLarge { path: path(), size: line.len() as u64, max: SIZE_MAX as u64 });
        }
        if line.contains(&b'\n') {
            let source = std::io::Error::new(std::io::ErrorKind::InvalidInput, "a line holds a newline");
            return Err(StoreError::Io { action: "append to", path: path(), source });
        }
        joined.extend_from_slice(line);
        joined.push(b'\n');
    }
    Ok(joined)
}

/// Whether `suffix` may become part of the name of a log that is moved aside.
pub(super) fn check_suffix(suffix: &str) -> Result<(), StoreError> {
    let fits = !suffix.is_empty() && suffix.len() <= 64 && suffix.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    let refusal = || StoreError::BadName { name: suffix.to_owned(), reason: "is no suffix: use letters, digits, `-` and `_`" };
    fits.then_some(()).ok_or_else(refusal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_is_blanked_and_a_line_without_newline_is_closed() {
        assert_eq!(mend_of(b""), Mend::Nothing);
        assert_eq!(mend_of(b"{\"a\":1}"), Mend::Close);
        assert_eq!(mend_of(b"   "), Mend::Close);
        for fragment in [&b"{\"a\":"[..], b"12", b"\"text\"", b"\xff\xfe", b"{\"a\":1}{"] {
            assert_eq!(mend_of(fragment), Mend::Blank, "{fragment:?}");
        }
    }

    #[test]
    fn blank_lines_are_passed_over_and_a_torn_tail_is_not_counted() {
        let (lines, used) = split(b"a\n\n   \nb\ntorn");
        assert_eq!(lines, [b"a".to_vec(), b"b".to_vec()]);
        assert_eq!(used, 9);
    }
}
