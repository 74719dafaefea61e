//! The inner side of the wall: the hidden argument's work.
//!
//! Restricts itself, then either becomes the command or, as the first process of a namespace, starts it and looks after
//! it: takes the exit status of orphans, gives what the command left behind a moment, ends it, and says so. When this
//! process ends, the kernel ends all the rest.

use super::order::{Order, Sockets, Start};
use super::{access, seccomp};
use crate::tool::guard::{self, STRAY_GRACE};
use crate::tool::tree::Tree;
use rustix::process::Pid;
use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Exit code when the wall could not be built: the command was not run.
const NO_WALL: i32 = 126;
/// Exit code when the command cannot be started, as shells use it.
const NOT_STARTED: i32 = 127;
/// Variables that name sockets and sessions of the person, which lead nowhere from here.
const OUTSIDE: [&str; 14] = [
    "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY",
    "WAYLAND_DISPLAY", "XAUTHORITY", "DOCKER_HOST", "CONTAINER_HOST", "TMUX", "STY", "LD_PRELOAD",
];

/// Does what `args` say.
pub(super) fn run(args: Vec<OsString>) -> i32 {
    let order = match Order::parse(args) {
        Ok(order) => order,
        Err(reason) => return complain(NO_WALL, &format!("the sandbox could not be built: {reason}")),
    };
    if let Err(reason) = restrict(&order) {
        return complain(NO_WALL, &format!("the sandbox could not be built: {reason}"));
    }
    let Some((program, arguments)) = order.command.split_first() else { return NOT_STARTED };
    let mut command = Command::new(program);
    command.args(arguments);
    for name in OUTSIDE {
        command.env_remove(name);
    }
    command.env("TMPDIR", &order.tmp).env_remove("TMP").env_remove("TEMP");
    let failed = |error: std::io::Error| complain(NOT_STARTED, &format!("cannot start {}: {error}", program.to_string_lossy()));
    match order.start {
        Start::Instead => failed(command.exec()),
        Start::Below => match command.spawn() {
            Ok(child) => look_after(Pid::from_child(&child)),
            Err(error) => failed(error),
        },
    }
}

fn restrict(order: &Order) -> Result<(), String> {
    let files = access::restrict(order).map_err(|error| format!("Landlock: {error}"))?;
    let unix = match order.sockets {
        Sockets::Own => true,
        Sockets::Host => files.scoped,
        Sockets::Pairs => false,
    };
    seccomp::restrict(order.sockets, unix).map_err(|error| format!("seccomp: {error}"))?;
    if order.report {
        let _ = writeln!(std::io::stderr(), "landlock {}", files.version);
    }
    Ok(())
}

fn complain(code: i32, text: &str) -> i32 {
    let _ = writeln!(std::io::stderr(), "signoff: {text}");
    code
}

/// Waits for the command as the first process of its namespace.
fn look_after(child: Pid) -> i32 {
    let tree = Tree::below_us(child, String::new());
    let (send, ended) = std::sync::mpsc::channel();
    guard::reap(child, move |status| {
        let _ = send.send(status);
    });
    let Ok(status) = ended.recv() else { return NOT_STARTED };
    let strays = tree.end_strays(STRAY_GRACE);
    if strays > 0 {
        let _ = writeln!(std::io::stderr(), "{}", guard::strays_ended(strays));
    }
    let signal = status.terminating_signal().map(|number| 128 + number);
    signal.or(status.exit_status()).unwrap_or(1)
}
