//! The person's editor on a private temporary file. The terminal must have been given back before.

use super::device::Device;
use crate::domain::text::one_line;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Stdio;
use tokio::process::Command;

/// Longer texts are not taken back: no plan is that long, and a mistake is.
const TEXT_MAX: u64 = 4 * 1024 * 1024;

/// `$VISUAL`, else `$EDITOR`, else `vi`; blank ones do not count.
pub fn command(env: impl Fn(&str) -> Option<String>) -> String {
    let set = |name| env(name).filter(|value| !value.trim().is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".into())
}

/// Opens `text` under the file name `name` and waits for the end of the editor, which has the terminal meanwhile.
/// Dropping the future kills the editor.
///
/// # Errors
/// Words for the person: the editor is missing or failed, or the file is gone, too long or no text. The caller's text is
/// unchanged then.
pub async fn edit(editor: String, text: String, name: String, device: &Device) -> Result<String, String> {
    let shown = one_line(&editor, 80);
    let words = shell_words::split(&editor).map_err(|error| format!("$EDITOR ({shown}) cannot be read: {error}"))?;
    let [program, arguments @ ..] = words.as_slice() else { return Err("$EDITOR is blank: set it to your editor".into()) };
    let folder = tempfile::Builder::new().prefix("signoff-").tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let path = folder.path().join(file_name(&name));
    write_private(&path, &text).map_err(|error| format!("cannot write the text for the editor: {error}"))?;
    let terminal = || device.reopen().map(Stdio::from).map_err(|error| format!("no terminal for the editor: {error}"));
    let status = Command::new(program)
        .args(arguments)
        .arg(&path)
        .stdin(terminal()?)
        .stdout(terminal()?)
        .stderr(terminal()?)
        .kill_on_drop(true)
        .status()
        .await
        .map_err(|error| format!("cannot start the editor {shown}: {error}; set $EDITOR to another one"))?;
    if !status.success() {
        return Err(format!("nothing was changed: the editor {shown} ended with {status}"));
    }
    let edited = read_back(&path)?;
    Ok(without_added_newline(&text, edited))
}

/// Most editors end the last line; that alone is no edit.
fn without_added_newline(before: &str, mut edited: String) -> String {
    if !before.ends_with('\n') && edited.ends_with('\n') {
        edited.pop();
    }
    edited
}

/// A name without any part of a path; editors choose their syntax by its end.
fn file_name(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '-' };
    let name: String = name.trim_start_matches('.').chars().take(64).map(kept).collect();
    if name.is_empty() { "text.md".into() } else { name }
}

fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(text.as_bytes())
}

fn read_back(path: &Path) -> Result<String, String> {
    let file = fs::File::open(path).map_err(|error| format!("the edited text is gone: {error}"))?;
    let mut bytes = Vec::new();
    file.take(TEXT_MAX + 1).read_to_end(&mut bytes).map_err(|error| format!("the edited text cannot be read: {error}"))?;
    if bytes.len() as u64 > TEXT_MAX {
        return Err(format!("nothing was changed: the edited text is longer than {} MiB", TEXT_MAX / 1024 / 1024));
    }
    String::from_utf8(bytes).map_err(|error| format!("the edited text is not UTF-8: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visual_comes_before_editor_and_blank_ones_do_not_count() {
        let env = |visual: &'static str, editor: &'static str| {
            command(move |name| Some(if name == "VISUAL" { visual } else { editor }.to_owned()))
        };
        assert_eq!(env("code -w", "nano"), "code -w");
        assert_eq!(env(" ", "nano"), "nano");
        assert_eq!(env("", ""), "vi");
    }

    #[test]
    fn a_file_name_cannot_leave_its_folder() {
        assert_eq!(file_name("../../etc/passwd"), "-..-etc-passwd");
        assert_eq!(file_name(""), "text.md");
        assert_eq!(file_name("plan-bob.md"), "plan-bob.md");
    }
}
