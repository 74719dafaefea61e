//! Files that this process was started with beside the three usual ones, and getting rid of them.
//!
//! A terminal or a parent that leaves files open to its children would hand them to every command, past every path.
//! They can only be closed by number, which safe Rust does not do; a shell does. Usually there are none.

use std::ffi::OsString;
use std::path::Path;

/// Shells that close files of any number.
const SHELLS: [&str; 4] = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"];
/// `O_CLOEXEC` as `/proc` shows it: such files do not reach a command.
const CLOSED_ON_EXEC: u32 = 0o2_000_000;

/// The numbers of files that a command would inherit.
pub(super) fn numbers() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc/self/fdinfo").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|number| *number > 2 && is_inherited(*number)).collect()
}

fn is_inherited(number: u32) -> bool {
    let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap_or_default();
    let flags = text.lines().find_map(|line| u32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
    flags.is_some_and(|flags| flags & CLOSED_ON_EXEC == 0)
}

/// The argv that closes `numbers` and then becomes what is appended to it.
pub(super) fn closing(numbers: &[u32]) -> Result<Vec<OsString>, String> {
    let shell = SHELLS.iter().find(|shell| Path::new(shell).is_file());
    let shell = shell.ok_or("this program was started with files open that commands would inherit, and no bash to close them was found")?;
    let closes: Vec<String> = numbers.iter().map(|number| format!("{number}>&-")).collect();
    let script = format!("exec {}; exec \"$@\"", closes.join(" "));
    Ok(vec![shell.into(), "-c".into(), script.into(), "signoff".into()])
}
