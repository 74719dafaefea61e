//! Which tier works here: found by running a command in it that does what it may and tries what it may not.
//!
//! Versions and settings of the kernel say little: user namespaces may be shut by AppArmor, `/proc` may be masked in a
//! container, Landlock may be compiled in and off.

use super::prepared::Prepared;
use super::{Detection, LIMIT, SandboxPolicy, Surroundings, Tier};
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The oldest version with every option that is used.
const OLDEST: (u32, u32) = (0, 5);
/// How often, and how long apart, a trial is looked at: 10 s in all.
const LOOKS: usize = 5000;
const STEP: Duration = Duration::from_millis(2);
/// Bytes of what a failed trial said that are kept.
const WORDS: usize = 600;
/// Ends with 0 when it could do what it may; what it may not do is looked at from outside.
const TRIAL: &str = "echo no >\"$1/stolen\"; echo no >team/forged; echo no >.git/hook; echo yes >notes && cat notes && /usr/bin/env true";

/// Tries the tiers, strongest first.
pub(super) fn detect(surroundings: &Surroundings) -> Detection {
    let mut reasons = Vec::new();
    let held = format!("stronger ones were held back by {LIMIT}");
    match bubblewrap(surroundings) {
        Ok(_) | Err(_) if surroundings.strongest != Tier::Full => reasons.push(held),
        Ok((path, version)) => {
            let found = Detection { tier: Tier::Full, reasons: Vec::new(), bubblewrap: Some(path.clone()) };
            match trial(surroundings, &found) {
                Ok(landlock) => {
                    let what = format!("bubblewrap {version} ({}), seccomp, {}", path.display(), landlock_words(landlock));
                    return Detection { reasons: vec![what], ..found };
                }
                Err(why) => reasons.push(format!("bubblewrap {version} is there, but a trial failed: {why}{}", hint(&why))),
            }
        }
        Err(why) => reasons.push(why),
    }
    if surroundings.strongest == Tier::None {
        return Detection { tier: Tier::None, reasons, bubblewrap: None };
    }
    let found = Detection { tier: Tier::Reduced, reasons: Vec::new(), bubblewrap: None };
    match trial(surroundings, &found) {
        Ok(landlock) => {
            reasons.insert(0, format!("seccomp, {}; no network, no new entries at the top of the workspace", landlock_words(landlock)));
            if landlock < 6 {
                reasons.push("this kernel does not keep commands from signalling other processes of yours (Linux 6.12 does)".into());
            }
            Detection { reasons, ..found }
        }
        Err(why) => {
            reasons.push(format!("a trial with Landlock and seccomp alone failed: {why}"));
            Detection { tier: Tier::None, reasons, bubblewrap: None }
        }
    }
}

fn landlock_words(version: u32) -> String {
    if version == 0 { "no Landlock in this kernel".into() } else { format!("Landlock {version}") }
}

/// What to do about the usual cause.
fn hint(why: &str) -> &'static str {
    let forbidden = ["uid map", "creating new namespace", "No permissions to create", "Operation not permitted", "Permission denied"];
    if forbidden.iter().any(|words| why.contains(words)) {
        "; user namespaces seem to be shut: on Ubuntu 24.04 and later install the package apparmor-profiles or allow them for bwrap, \
         elsewhere look at kernel.unprivileged_userns_clone and user.max_user_namespaces"
    } else {
        ""
    }
}

fn bubblewrap(surroundings: &Surroundings) -> Result<(PathBuf, String), String> {
    let path = surroundings.bubblewrap.iter().find(|path| path.is_absolute() && path.is_file());
    let path = path.ok_or("bubblewrap is not installed: install the package `bubblewrap` for the full sandbox")?;
    let output = Command::new(path).arg("--version").stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", path.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.split_whitespace().last().unwrap_or_default().to_owned();
    if parts(&version) < OLDEST {
        return Err(format!("bubblewrap {version:?} is too old: 0.5 or newer is needed"));
    }
    Ok((path.clone(), version))
}

fn parts(version: &str) -> (u32, u32) {
    let mut numbers = version.split('.').map(|part| part.parse().unwrap_or_default());
    (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default())
}

/// Runs the trial. Returns the version of Landlock that is enforced.
fn trial(surroundings: &Surroundings, found: &Detection) -> Result<u32, String> {
    let folder = tempfile::Builder::new().prefix("signoff-trial-").tempdir().map_err(|error| error.to_string())?;
    let root = folder.path().canonicalize().map_err(|error| error.to_string())?;
    let (workspace, outside) = (root.join("work"), root.join("outside"));
    for path in [&workspace, &outside] {
        std::fs::create_dir(path).map_err(|error| error.to_string())?;
    }
    std::fs::write(workspace.join("notes"), "").map_err(|error| error.to_string())?;
    let prepared = Prepared::new(SandboxPolicy::new(&workspace), surroundings.clone(), detect);
    let mut argv = prepared.wrapper_of(found).map_err(|error| error.to_string())?;
    // The report is asked for just before the command.
    let end = argv.len().saturating_sub(1);
    argv.insert(end, "report".into());
    let (program, arguments) = argv.split_first().ok_or("nothing to run")?;
    let mut command = Command::new(program);
    command.args(arguments).args(["/bin/sh", "-c", TRIAL, "sh"]).arg(&outside).current_dir(&workspace);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| error.to_string())?;
    let (success, said) = wait(child)?;
    if outside.join("stolen").exists() || workspace.join("team/forged").exists() || workspace.join(".git/hook").exists() {
        return Err("a forbidden write went through".into());
    }
    let notes = std::fs::read_to_string(workspace.join("notes")).unwrap_or_default();
    if !success || notes != "yes\n" {
        return Err(crate::domain::text::one_line(said.trim(), WORDS));
    }
    let version = said.lines().find_map(|line| line.strip_prefix("landlock ")?.trim().parse().ok());
    version.ok_or_else(|| "it did not say what is enforced".into())
}

/// Waits with a deadline. Returns success, and what was said on standard error.
fn wait(mut child: Child) -> Result<(bool, String), String> {
    for _ in 0..LOOKS {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            let mut said = Vec::new();
            let pipe = child.stderr.take().ok_or("nothing to read")?;
            let _ = pipe.take(WORDS as u64 * 8).read_to_end(&mut said);
            return Ok((status.success(), String::from_utf8_lossy(&said).into_owned()));
        }
        std::thread::sleep(STEP);
    }
    let _ = child.kill();
    let _ = child.wait();
    Err("it hung".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(parts("0.10.0") > parts("0.9.0") && parts("0.8.0") >= OLDEST && parts("0.4.1") < OLDEST && parts("") < OLDEST);
    }
}
