//! One running command: started in its own group, read in arrival order, ended with everything it started.
//!
//! Deliberately absent: what the output means, who asked.

use super::ToolError;
use super::environment::scrubbed;
use super::guard::{GRACE, STRAY_GRACE};
use super::shell_settings::ShellSettings;
use super::tree::{MARKER, Tree};
use rustix::process::Pid;
use std::future::Future;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::process::{Child, ChildStdin, Command};
use tokio_util::sync::CancellationToken;

/// How long output is read on after a command ended: what it wrote itself is in the pipe already; more can only come
/// from a grandchild that holds the pipe open, and that one may do so for ever.
const DRAIN: Duration = Duration::from_millis(200);
/// How much longer than [`GRACE`] the guard may take before it is ended itself.
const GUARD_SLACK: Duration = Duration::from_millis(700);
/// Bytes read at once: a pipe holds no more.
const PIECE: usize = 64 * 1024;

/// Why a command is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// It ended by itself.
    Ended,
    /// It ran too long.
    TimedOut,
    /// It was cancelled.
    Cancelled,
}

/// How a command ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    pub cause: Cause,
    /// Absent when the system lost it, or a process could not be killed.
    pub status: Option<ExitStatus>,
    /// Processes that it left running and that were ended. Under a guard the output tells it instead.
    pub strays: usize,
}

impl Ending {
    /// Whether it ended by itself with exit code 0.
    pub(super) fn is_success(&self) -> bool {
        self.cause == Cause::Ended && self.status.is_some_and(|status| status.success())
    }

    /// The exit code or the signal in words; `None` for exit code 0.
    pub(super) fn words(&self) -> Option<String> {
        let status = match self.status {
            Some(status) if status.success() => return None,
            Some(status) => status,
            None => return Some("its exit status is not known".into()),
        };
        let code = status.code().map(|code| format!("exit code {code}"));
        Some(code.unwrap_or_else(|| format!("killed by signal {}", status.signal().unwrap_or_default())))
    }
}

/// A command that runs. Dropping it ends it, and all it started.
pub(super) struct Running {
    child: Child,
    output: Output,
    /// Held open for the guard; closing it is the order to end.
    lifeline: Option<ChildStdin>,
    guarded: bool,
    tree: Tree,
    over: bool,
}

struct Output {
    pipe: pipe::Receiver,
    open: bool,
    buffer: Vec<u8>,
}

impl Running {
    /// Starts `command` in `directory`.
    pub(super) fn start(command: &str, directory: &Path, settings: &ShellSettings) -> Result<Self, ToolError> {
        let fail = |error: std::io::Error| ToolError::Start { reason: format!("{error} (in {})", directory.display()) };
        let marker = uuid::Uuid::new_v4().to_string();
        let argv = settings.argv(command)?;
        let Some((program, rest)) = argv.split_first() else {
            return Err(ToolError::Start { reason: "no shell is set".into() });
        };
        let (reader, writer) = std::io::pipe().map_err(fail)?;
        let guarded = !settings.launcher.is_empty();
        let mut starter = Command::new(program);
        starter.args(rest).current_dir(directory).env_clear().envs(scrubbed(std::env::vars_os()));
        starter.env(MARKER, &marker).process_group(0);
        starter.stdin(if guarded { Stdio::piped() } else { Stdio::null() });
        starter.stdout(Stdio::from(writer.try_clone().map_err(fail)?)).stderr(Stdio::from(writer));
        let mut child = starter.spawn().map_err(fail)?;
        let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let pid = pid.ok_or_else(|| ToolError::Start { reason: "it was gone at once".into() })?;
        let lifeline = child.stdin.take();
        let tree = Tree::of(pid, marker);
        let pipe = pipe::Receiver::from_owned_fd(OwnedFd::from(reader)).map_err(|error| {
            tree.kill();
            fail(error)
        })?;
        Ok(Self { child, output: Output { pipe, open: true, buffer: vec![0; PIECE] }, lifeline, guarded, tree, over: false })
    }

    /// The process to signal from outside.
    pub(super) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Runs to the end, handing every piece of output to `sink` in order. Ends at the latest about 3 s after `timeout`
    /// or cancellation.
    pub(super) async fn drive(
        mut self,
        timeout: Option<Duration>,
        cancel: &CancellationToken,
        sink: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Ending {
        let child = &mut self.child;
        let over = async {
            tokio::select! {
                status = child.wait() => (Cause::Ended, status.ok()),
                () = cancel.cancelled() => (Cause::Cancelled, None),
                () = after(timeout) => (Cause::TimedOut, None),
            }
        };
        let (cause, status) = self.output.pump(sink, over).await;
        let ending = match cause {
            Cause::Ended => {
                self.output.drain(sink).await;
                let strays = self.output.pump(sink, end_strays(self.tree.clone())).await;
                Ending { cause, status, strays }
            }
            Cause::TimedOut | Cause::Cancelled => Ending { cause, status: self.stop(sink).await, strays: 0 },
        };
        self.output.drain(sink).await;
        self.over = true;
        ending
    }

    /// Ends the command and all it started.
    async fn stop(&mut self, sink: &mut (dyn FnMut(&[u8]) + Send)) -> Option<ExitStatus> {
        self.lifeline = None;
        if self.guarded {
            let _ = self.output.pump(sink, tokio::time::timeout(GRACE + GUARD_SLACK, self.child.wait())).await;
        }
        let grace = if self.guarded { Duration::ZERO } else { GRACE };
        let ended = end(self.tree.clone(), grace);
        self.output.pump(sink, ended).await;
        let status = self.output.pump(sink, tokio::time::timeout(DRAIN, self.child.wait())).await;
        status.ok().and_then(Result::ok)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A guard sees its pipe close and does the rest; without one this is the last chance.
        if !self.over && !self.guarded {
            self.tree.kill();
        }
    }
}

impl Output {
    /// Reads until `until` is done.
    async fn pump<T>(&mut self, sink: &mut (dyn FnMut(&[u8]) + Send), until: impl Future<Output = T>) -> T {
        tokio::pin!(until);
        loop {
            tokio::select! {
                biased;
                done = &mut until => return done,
                count = self.pipe.read(&mut self.buffer), if self.open => self.take(count, sink),
            }
        }
    }

    /// Reads what is there, up to its end or [`DRAIN`].
    async fn drain(&mut self, sink: &mut (dyn FnMut(&[u8]) + Send)) {
        let all = async {
            while self.open {
                let count = self.pipe.read(&mut self.buffer).await;
                self.take(count, sink);
            }
        };
        let _ = tokio::time::timeout(DRAIN, all).await;
    }

    fn take(&mut self, count: std::io::Result<usize>, sink: &mut (dyn FnMut(&[u8]) + Send)) {
        match count {
            Ok(count) if count > 0 => sink(&self.buffer[..count]),
            Ok(_) | Err(_) => self.open = false,
        }
    }
}

async fn after(timeout: Option<Duration>) {
    match timeout {
        Some(timeout) => tokio::time::sleep(timeout).await,
        None => std::future::pending().await,
    }
}

/// Ends a tree without holding up the runtime.
async fn end(tree: Tree, grace: Duration) -> usize {
    tokio::task::spawn_blocking(move || tree.end(grace)).await.unwrap_or_default()
}

async fn end_strays(tree: Tree) -> usize {
    tokio::task::spawn_blocking(move || tree.end_strays(STRAY_GRACE)).await.unwrap_or_default()
}
