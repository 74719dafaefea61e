//! The end of the process that runs the team, told when it happens and without asking again and again.

use tokio::sync::oneshot;

/// The process that is watched.
#[derive(Default)]
pub(super) struct Watched {
    pid: Option<u32>,
    end: Option<End>,
}

/// The news of an end. Dropping it ends the watching.
struct End {
    told: oneshot::Receiver<()>,
    _kept: Option<std::io::PipeWriter>,
}

impl Watched {
    /// Watches this process from now on; nothing changes when it is watched already. Where a process cannot be watched (another
    /// system, another process namespace), its end is never told.
    pub fn follow(&mut self, pid: Option<u32>) {
        if pid != self.pid {
            *self = Self { pid, end: pid.and_then(watch) };
        }
    }

    /// Waits for its end, which is told once. Cancel safe.
    pub async fn ended(&mut self) -> u32 {
        let (Some(pid), Some(end)) = (self.pid, &mut self.end) else { return std::future::pending().await };
        let ended = (&mut end.told).await.is_ok();
        self.end = None;
        if ended { pid } else { std::future::pending().await }
    }
}

#[cfg(target_os = "linux")]
fn watch(pid: u32) -> Option<End> {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    let (tell, told) = oneshot::channel();
    let handle = match pidfd_open(Pid::from_raw(i32::try_from(pid).ok()?)?, PidfdFlags::empty()) {
        Ok(handle) => handle,
        Err(error) => {
            let _ = (error == rustix::io::Errno::SRCH).then(|| tell.send(()));
            return Some(End { told, _kept: None });
        }
    };
    let (left, kept) = std::io::pipe().ok()?;
    // A thread of its own that sleeps until then: the runtime's pool for blocking work would wait for it at the end.
    let wait = move || {
        let mut either = [PollFd::new(&handle, PollFlags::IN), PollFd::new(&left, PollFlags::IN)];
        while poll(&mut either, None) == Err(rustix::io::Errno::INTR) {}
        if !either[0].revents().is_empty() {
            let _ = tell.send(());
        }
    };
    std::thread::Builder::new().name("runner".into()).stack_size(64 * 1024).spawn(wait).ok()?;
    Some(End { told, _kept: Some(kept) })
}

#[cfg(not(target_os = "linux"))]
fn watch(_: u32) -> Option<End> {
    None
}
