//! Background commands of one member. They outlive the turn that started them, never the member.

use super::process::{Ending, Running};
use super::{TeamPort, ToolError, output};
use crate::domain::text::one_line;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Most background commands of one member at a time: more than that is a mistake in a loop.
pub const JOBS_MAX: usize = 16;
/// Characters of output that the note of a job's end carries.
const NOTE_MAX: usize = 4_000;

/// A background command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobInfo {
    /// Its number, from 1.
    pub id: u64,
    /// The command on one line.
    pub command: String,
    /// Its process, where it is known.
    pub pid: Option<u32>,
}

/// The member's background commands. Dropping it ends them all.
#[derive(Default)]
pub struct Jobs {
    tracker: TaskTracker,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    last: u64,
    running: BTreeMap<u64, (JobInfo, CancellationToken)>,
}

impl Jobs {
    /// How many run.
    pub fn count(&self) -> usize {
        self.locked(|shared| shared.running.len())
    }

    /// Which run, oldest first.
    pub fn list(&self) -> Vec<JobInfo> {
        self.locked(|shared| shared.running.values().map(|(info, _)| info.clone()).collect())
    }

    /// Ends one (TERM, KILL after 2 s), without waiting. `false`: there is none of that number.
    pub fn kill(&self, id: u64) -> bool {
        self.locked(|shared| shared.running.get(&id).map(|(_, cancel)| cancel.cancel())).is_some()
    }

    /// Ends all (TERM, KILL after 2 s), without waiting; nobody is told of their end. See [`Jobs::settled`].
    pub fn kill_all(&self) {
        self.locked(|shared| shared.running.values().for_each(|(_, cancel)| cancel.cancel()));
    }

    /// Waits until none runs. Returns at the latest about 3 s after [`Jobs::kill_all`].
    pub async fn settled(&self) {
        self.tracker.close();
        self.tracker.wait().await;
        self.tracker.reopen();
    }

    /// Looks after a command that was started; tells `team` when it ends by itself or by its time-out.
    pub(super) fn adopt(
        &self,
        running: Running,
        command: &str,
        timeout: Option<Duration>,
        team: Arc<dyn TeamPort>,
    ) -> Result<JobInfo, ToolError> {
        let cancel = CancellationToken::new();
        let info = self.register(command, running.id(), cancel.clone())?;
        let shared = Arc::clone(&self.shared);
        let told = info.clone();
        self.tracker.spawn(async move {
            let _entry = Entry { shared, id: told.id };
            let mut capture = output::Capture::new(NOTE_MAX);
            let ending = running.drive(timeout, &cancel, &mut |piece| capture.push(piece)).await;
            if !cancel.is_cancelled() {
                team.notify_later(note(&told, &ending, timeout, capture.finish().trim_end()));
            }
        });
        Ok(info)
    }

    fn register(&self, command: &str, pid: Option<u32>, cancel: CancellationToken) -> Result<JobInfo, ToolError> {
        self.locked(|shared| {
            if shared.running.len() >= JOBS_MAX {
                return Err(ToolError::TooManyJobs { max: JOBS_MAX });
            }
            shared.last += 1;
            let info = JobInfo { id: shared.last, command: one_line(command, 200), pid };
            shared.running.insert(info.id, (info.clone(), cancel));
            Ok(info)
        })
    }

    fn locked<T>(&self, work: impl FnOnce(&mut Shared) -> T) -> T {
        work(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.kill_all();
    }
}

/// Takes a job off the list when its task ends, even by a panic.
struct Entry {
    shared: Arc<Mutex<Shared>>,
    id: u64,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).running.remove(&self.id);
    }
}

fn note(job: &JobInfo, ending: &Ending, timeout: Option<Duration>, output: &str) -> String {
    let how = super::shell::how(ending, timeout).unwrap_or_else(|| "done, exit code 0".into());
    let output = if output.trim().is_empty() { "(no output)" } else { output };
    format!("background job {} (`{}`) ended: {how}\n{output}", job.id, job.command)
}
