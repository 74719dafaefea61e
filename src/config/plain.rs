//! Small files that a setting names. A workspace may name one too (a theme), so it is a plain file of bounded length or
//! none: a device would fill the memory, and a FIFO would never answer.

use std::io::{Error, ErrorKind, Read as _};
use std::path::Path;

/// A longer file is none of these, in bytes.
const LENGTH_MAX: u64 = 1 << 20;

/// The text of a plain file, or of one behind a link.
///
/// # Errors
/// When it cannot be read, is no plain file, is too long, or is not UTF-8.
pub fn read_plain(path: &Path) -> std::io::Result<String> {
    let refused = |why: &str| Err(Error::new(ErrorKind::InvalidInput, why.to_owned()));
    if !std::fs::metadata(path)?.is_file() {
        return refused("it is not a plain file");
    }
    let mut text = String::new();
    std::fs::File::open(path)?.take(LENGTH_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LENGTH_MAX {
        return refused("it is longer than 1 MiB");
    }
    Ok(text)
}
