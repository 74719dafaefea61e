//! The guard: a small process between the app and each command, so that nothing the command started survives, even when
//! the app is killed with KILL.
//!
//! The app starts its own program again with the hidden argument [`ARGUMENT`], followed by the command's argv; `main` hands
//! what follows to [`run_guard`] before it does anything else (no runtime, no terminal, no log) and exits with its result.
//! The guard's standard input is a pipe that only the app holds: when it closes, by will or because the app died, the
//! guard ends all it started (TERM, after [`GRACE`] KILL). It makes itself the parent of orphans (child subreaper), so that
//! `setsid`, double forks and a cleared environment do not get away. When the command ends by itself, strays are ended
//! too, and the guard ends the way the command did: same exit code, or same signal.
//!
//! The command itself is started through a second step of the same program (`--leaf`) that leaves the terminal's session
//! and asks for KILL should the guard die, and then becomes the command: without `unsafe`, which a hook between fork
//! and exec would need. Standard output and error are passed on untouched; standard input is empty.

use super::tree::{MARKER, Tree};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The hidden argument of the program: `signoff --exec-guard PROGRAM ARGUMENT…`.
pub const ARGUMENT: &str = "--exec-guard";
const LEAF: &str = "--leaf";
/// From TERM to KILL when a command is stopped.
pub const GRACE: Duration = Duration::from_secs(2);
/// From TERM to KILL for what a command left behind: it is over, nobody should wait long for its strays.
pub const STRAY_GRACE: Duration = Duration::from_millis(400);
/// Exit code when the command cannot be started, as shells use it.
const NOT_STARTED: i32 = 127;

/// The argv before a command that runs it under the guard, from this very program.
pub fn launcher() -> Vec<OsString> {
    vec![ourselves(), ARGUMENT.into()]
}

fn ourselves() -> OsString {
    // Still this program when its file was replaced by an update.
    if cfg!(target_os = "linux") {
        return "/proc/self/exe".into();
    }
    std::env::current_exe().map_or_else(|_| "signoff".into(), OsString::from)
}

/// Runs the command in `args` (what followed [`ARGUMENT`]) under the guard; returns the exit code for the process. Must be
/// called on the main thread of an otherwise idle process.
pub fn run_guard(args: impl IntoIterator<Item = OsString>) -> i32 {
    run_guard_as(&launcher(), args)
}

/// As [`run_guard`], with the argv before `--leaf` that starts this program's guard again.
pub fn run_guard_as(again: &[OsString], args: impl IntoIterator<Item = OsString>) -> i32 {
    let args: Vec<OsString> = args.into_iter().collect();
    match args.split_first() {
        Some((first, rest)) if first == LEAF => leaf(rest),
        Some(_) => guard(again, &args),
        None => complain("no command was given"),
    }
}

fn complain(text: &str) -> i32 {
    let _ = writeln!(std::io::stderr(), "signoff: {text}");
    NOT_STARTED
}

enum Notice {
    /// The pipe from the app closed.
    Cut,
    /// The command ended.
    Ended(WaitStatus),
}

fn guard(again: &[OsString], args: &[OsString]) -> i32 {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let Some((program, before)) = again.split_first() else { return complain("the guard does not know itself") };
    let ourselves = rustix::process::getpid().as_raw_nonzero().to_string();
    let child = Command::new(program).args(before).arg(LEAF).arg(ourselves).args(args).stdin(Stdio::null()).spawn();
    let child = match child {
        Ok(child) => Pid::from_child(&child),
        Err(error) => return complain(&format!("cannot start the command: {error}")),
    };
    let tree = Tree::below_us(child, std::env::var(MARKER).unwrap_or_default());
    let (send, notices) = mpsc::channel();
    watch_pipe(send.clone());
    reap(child, move |status| {
        let _ = send.send(Notice::Ended(status));
    });
    match notices.recv() {
        Ok(Notice::Ended(status)) => {
            let strays = tree.end_strays(STRAY_GRACE);
            if strays > 0 {
                let _ = writeln!(std::io::stderr(), "{}", strays_ended(strays));
            }
            end_like(status)
        }
        Ok(Notice::Cut) | Err(_) => {
            tree.end(GRACE);
            128 + Signal::TERM.as_raw()
        }
    }
}

/// What is told when a command left processes behind.
pub(super) fn strays_ended(count: usize) -> String {
    format!("[{count} process(es) that the command left running were ended; use run_in_background to keep one]")
}

fn watch_pipe(send: mpsc::Sender<Notice>) {
    std::thread::spawn(move || {
        let mut byte = [0];
        while std::io::stdin().read(&mut byte).is_ok_and(|count| count > 0) {}
        let _ = send.send(Notice::Cut);
    });
}

/// Takes the exit status of every child, orphans too, so that none stays a zombie; hands on that of `child`.
pub(super) fn reap(child: Pid, ended: impl Fn(WaitStatus) + Send + 'static) {
    std::thread::spawn(move || {
        loop {
            match rustix::process::wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) if pid == child => ended(status),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
    });
}

/// The exit code of the command; a command that died of a signal is imitated.
fn end_like(status: WaitStatus) -> i32 {
    let Some(number) = status.terminating_signal() else { return status.exit_status().unwrap_or(1) };
    if let Some(signal) = Signal::from_named_raw(number) {
        let nothing = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
        let _ = rustix::process::setrlimit(rustix::process::Resource::Core, nothing);
        let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
    }
    128 + number
}

/// Becomes the command.
fn leaf(args: &[OsString]) -> i32 {
    let Some((guard, [program, rest @ ..])) = args.split_first() else { return complain("no command was given") };
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    {
        let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
        // The guard may have died before the wish was known.
        let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().to_string());
        if parent.is_none_or(|parent| guard != parent.as_str()) {
            return complain("the guard is gone: not started");
        }
    }
    let error = Command::new(program).args(rest).exec();
    complain(&format!("cannot start {}: {error}", program.to_string_lossy()))
}
