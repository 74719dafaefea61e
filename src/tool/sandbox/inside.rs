//! The inner side of the wall: the hidden argument's work.
//!
//! Restricts itself, then either becomes the command or, as the first process of a namespace, starts it and looks after
//! it: takes the exit status of orphans, gives what the command left behind a moment, ends it, and says so. When this
//! process ends, the kernel ends all the rest.

use super::order::{Order, Sockets, Start};
use super::{access, inherited, seccomp};
use crate::tool::guard::{self, STRAY_GRACE};
use crate::tool::tree::Tree;
use rustix::process::Pid;
use rustix::thread::{self, CapabilitySet, CapabilitySets};
use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Exit code when the wall could not be built: the command was not run.
const NO_WALL: i32 = 126;
/// Exit code when the command cannot be started, as shells use it.
const NOT_STARTED: i32 = 127;
/// Set when this process started itself again.
const AGAIN: &str = "SIGNOFF_INSIDE_AGAIN";
/// Variables that name sockets and sessions of the person, which lead nowhere from here.
const OUTSIDE: [&str; 14] = [
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "TMUX",
    "STY",
    "LD_PRELOAD",
];

/// Does what `args` say.
pub(super) fn run(args: Vec<OsString>) -> i32 {
    let order = match Order::parse(args) {
        Ok(order) => order,
        Err(reason) => return complain(NO_WALL, &format!("the sandbox could not be built: {reason}")),
    };
    let command = inherit_nothing(&order).and_then(|command| restrict(&order).map(|()| command));
    let command = match command {
        Ok(command) => command,
        Err(reason) => return complain(NO_WALL, &format!("the sandbox could not be built: {reason}")),
    };
    let Some((program, arguments)) = command.split_first() else { return NOT_STARTED };
    let mut command = Command::new(program);
    command.args(arguments);
    for name in OUTSIDE {
        command.env_remove(name);
    }
    command.env("TMPDIR", &order.tmp).env_remove("TMP").env_remove("TEMP").env_remove(AGAIN);
    let failed = |error: std::io::Error| complain(NOT_STARTED, &format!("cannot start {}: {error}", program.to_string_lossy()));
    match order.start {
        Start::Instead => failed(command.exec()),
        Start::Below => match command.spawn() {
            Ok(child) => look_after(Pid::from_child(&child)),
            Err(error) => failed(error),
        },
    }
}

/// The command, with what closes inherited files before it. A process that stays must not keep them either, since the
/// command can look into it: it starts itself again without them, and returns only when that fails.
fn inherit_nothing(order: &Order) -> Result<Vec<OsString>, String> {
    let numbers = inherited::numbers();
    if numbers.is_empty() {
        return Ok(order.command.clone());
    }
    let mut closing = inherited::closing(&numbers)?;
    match order.start {
        Start::Instead => {
            closing.extend(order.command.iter().cloned());
            Ok(closing)
        }
        Start::Below if std::env::var_os(AGAIN).is_some() => Err(format!("inherited files stay open: {numbers:?}")),
        Start::Below => {
            let ourselves = std::env::current_exe().map_err(|error| format!("this program cannot find itself: {error}"))?;
            closing.push(ourselves.into());
            closing.extend(std::env::args_os().skip(1));
            let Some((shell, arguments)) = closing.split_first() else { return Err("no shell".into()) };
            let error = Command::new(shell).args(arguments).env(AGAIN, "1").exec();
            Err(format!("cannot start {}: {error}", shell.to_string_lossy()))
        }
    }
}

fn restrict(order: &Order) -> Result<(), String> {
    drop_privileges().map_err(|error| format!("privileges: {error}"))?;
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

/// Gives up what an administrator may do, for good: with it much of the rest could be gone around. Others have nothing to
/// give up.
fn drop_privileges() -> rustix::io::Result<()> {
    let none = CapabilitySet::empty();
    thread::set_no_new_privs(true)?;
    for capability in CapabilitySet::all() {
        // Refused without privileges, and for those that the kernel does not know.
        let _ = thread::remove_capability_from_bounding_set(capability);
    }
    let _ = thread::clear_ambient_capability_set();
    thread::set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
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
