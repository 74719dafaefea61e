//! Signals as a stream: those that end us, the new size, and waking up after a stop. Unix only.

use super::TuiError;
use rustix::process::{Pid, Signal, getppid, kill_current_process_group};
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;
use tokio::signal::unix::{Signal as Source, SignalKind, signal};

/// A stop that was asked for takes effect within this time, or never (an orphaned process group).
const STOP_WITHIN: Duration = Duration::from_millis(300);

/// What a signal means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// End; the number tells which one.
    End(i32),
    /// The terminal is gone.
    HangUp,
    /// The window has another size.
    Resized,
    /// Somebody wants us to stop for a while.
    Stop,
    /// We were stopped and go on.
    Continued,
}

/// The signals a screen listens to.
pub struct Signals {
    sources: Vec<(Notice, Source)>,
}

impl Signals {
    /// Starts to listen. From now on the process is no longer ended by TERM, INT, QUIT and HUP as such.
    ///
    /// # Errors
    /// When the system refuses a handler.
    pub fn listen() -> Result<Self, TuiError> {
        let kinds = [
            (Notice::HangUp, SignalKind::hangup()),
            (Notice::End(SignalKind::terminate().as_raw_value()), SignalKind::terminate()),
            (Notice::End(SignalKind::interrupt().as_raw_value()), SignalKind::interrupt()),
            (Notice::End(SignalKind::quit().as_raw_value()), SignalKind::quit()),
            (Notice::Stop, SignalKind::from_raw(Signal::TSTP.as_raw())),
            (Notice::Continued, SignalKind::from_raw(Signal::CONT.as_raw())),
            (Notice::Resized, SignalKind::window_change()),
        ];
        let sources = kinds.into_iter().map(|(notice, kind)| signal(kind).map(|source| (notice, source)));
        let sources = sources.collect::<Result<Vec<_>, _>>().map_err(TuiError::io("listen to signals"))?;
        Ok(Self { sources })
    }

    /// The next one. Cancel safe.
    pub async fn next(&mut self) -> Notice {
        poll_fn(|context| {
            for (notice, source) in &mut self.sources {
                if let Poll::Ready(Some(())) = source.poll_recv(context) {
                    return Poll::Ready(*notice);
                }
            }
            Poll::Pending
        })
        .await
    }

    /// Stops the whole job as Ctrl-Z on the terminal would, and comes back when it goes on. The terminal must have been
    /// given back before.
    pub async fn stop_job(&mut self) {
        if !has_shell() {
            return;
        }
        // Not TSTP: that one comes to us, so that the terminal is given back before.
        if let Err(error) = kill_current_process_group(Signal::STOP) {
            tracing::warn!(%error, "cannot suspend");
            return;
        }
        let continued = self.sources.iter_mut().find(|(notice, _)| *notice == Notice::Continued);
        if let Some((_, source)) = continued {
            // The stop may hit another thread first, so this one runs on for a moment. No signal: we were not stopped.
            let _ = tokio::time::timeout(STOP_WITHIN, source.recv()).await;
        }
    }
}

/// Whether a shell can let us go on: our parent is of our session and of another job. The system itself would not stop the
/// others by TSTP (POSIX: an orphaned process group), and by STOP they would stay stopped for ever.
fn has_shell() -> bool {
    let Some(parent) = getppid() else { return false };
    let (Some(ours), Some(theirs)) = (job(None), job(Some(parent))) else { return false };
    ours.session == theirs.session && ours.group != theirs.group
}

/// Where a process belongs. Both are 0 where they are outside our process namespace, as in a container.
#[derive(Debug, PartialEq, Eq)]
struct Job {
    group: i32,
    session: i32,
}

/// The job of a process, or of ourselves.
#[cfg(target_os = "linux")]
fn job(process: Option<Pid>) -> Option<Job> {
    // Not the calls for it: `rustix` takes for granted that no answer is 0.
    let process = process.map_or("self".into(), |pid| pid.as_raw_nonzero().to_string());
    parse(&std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// See `proc_pid_stat(5)`: the name, in parentheses, may contain anything.
#[cfg(target_os = "linux")]
fn parse(stat: &str) -> Option<Job> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(2);
    Some(Job { group: fields.next()?.parse().ok()?, session: fields.next()?.parse().ok()? })
}

#[cfg(not(target_os = "linux"))]
fn job(process: Option<Pid>) -> Option<Job> {
    let raw = |pid: Pid| pid.as_raw_nonzero().get();
    let group = rustix::process::getpgid(process).map(raw).ok()?;
    Some(Job { group, session: rustix::process::getsid(process).map(raw).ok()? })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_job_of_which_nothing_is_known_here_is_read_as_such() {
        assert_eq!(parse("7 (a) R b) S 3 0 0 34816 12 x"), Some(Job { group: 0, session: 0 }));
        assert_eq!(parse("7 (sh) S 3 7 5 34816 12"), Some(Job { group: 7, session: 5 }));
        assert_eq!(parse("7 (sh"), None);
        assert!(job(None).is_some_and(|job| job.group >= 0));
    }
}
