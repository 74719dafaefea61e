//! All processes that one command started, and ending them: TERM, then KILL for those that stay.
//!
//! A process group is not enough: `setsid` leaves it, and a grandchild outlives its parent. So on Linux the tree is read
//! from `/proc`: the group, the session, all descendants by parent, and every process that carries the call's marker in
//! its environment. Elsewhere the group has to do. Signals go through a pidfd after a second look at the start time, so
//! that a number that was used again is not hit.

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::collections::HashSet;
use std::time::Duration;

/// The name of the environment variable that marks every process of one call.
pub(super) const MARKER: &str = "SIGNOFF_CALL";
/// Between two looks at the processes: often enough to return at once, rare enough to cost nothing.
const STEP: Duration = Duration::from_millis(40);
/// How long strays may end by themselves: 20 looks, 10 ms apart.
const SETTLE_LOOKS: usize = 20;
const SETTLE_STEP: Duration = Duration::from_millis(10);
/// Looks after KILL. A killed process is gone within microseconds; one in an uninterruptible call of the kernel never.
const KILL_LOOKS: usize = 25;

/// What belongs to a command.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// The process whose descendants belong to it.
    root: Pid,
    /// Its process group and session.
    group: Pid,
    /// The value of [`MARKER`]; empty = none.
    marker: String,
    /// Whether the root itself is to be ended.
    root_too: bool,
    /// When the root was started, in clock ticks since boot: nothing older belongs to it.
    since: u64,
}

impl Tree {
    /// A command that leads its own group.
    pub(super) fn of(root: Pid, marker: String) -> Self {
        Self { root, group: root, marker, root_too: true, since: proc::started(root) }
    }

    /// Everything below this process, which stays; `group` is its child's.
    pub(super) fn below_us(group: Pid, marker: String) -> Self {
        let root = rustix::process::getpid();
        Self { root, group, marker, root_too: false, since: proc::started(root) }
    }

    /// Ends what a command left behind, after a moment in which it may end by itself (the `tee` of a process substitution
    /// still writes when its command is over). Blocks. Returns how many processes had to be told.
    pub(super) fn end_strays(&self, grace: Duration) -> usize {
        for _ in 0..SETTLE_LOOKS {
            if proc::alive(self).is_some_and(|alive| alive.is_empty()) {
                return 0;
            }
            std::thread::sleep(SETTLE_STEP);
        }
        self.end(grace)
    }

    /// Ends all of it: TERM, after `grace` KILL. Blocks until nothing is left (at most `grace` and a second). Returns how
    /// many processes had to be told.
    pub(super) fn end(&self, grace: Duration) -> usize {
        let mut told = HashSet::new();
        let looks = grace.as_millis() / STEP.as_millis().max(1);
        for _ in 0..=looks {
            if !self.tell(Signal::TERM, &mut told) {
                return told.len();
            }
            std::thread::sleep(STEP);
        }
        for _ in 0..KILL_LOOKS {
            if !self.kill() {
                break;
            }
            std::thread::sleep(STEP);
        }
        told.len()
    }

    /// Sends KILL to what is there now, once. Returns whether there was anything.
    pub(super) fn kill(&self) -> bool {
        let mut told = HashSet::new();
        self.tell(Signal::KILL, &mut told)
    }

    /// Signals every member not told yet. Returns whether any is alive.
    fn tell(&self, signal: Signal, told: &mut HashSet<(i32, u64)>) -> bool {
        let Some(alive) = proc::alive(self) else { return self.tell_group(signal, told) };
        for process in &alive {
            // It would die at once, and the kernel would kill all it carries, without the time to end well.
            if signal == Signal::TERM && process.carrier {
                continue;
            }
            if told.insert((process.pid, process.start)) {
                proc::send(process, signal);
            }
        }
        !alive.is_empty()
    }

    fn tell_group(&self, signal: Signal, told: &mut HashSet<(i32, u64)>) -> bool {
        let alive = test_kill_process_group(self.group).is_ok();
        if alive && told.insert((self.group.as_raw_nonzero().get(), 0)) {
            let _ = kill_process_group(self.group, signal);
        }
        alive
    }
}

#[cfg(target_os = "linux")]
mod proc {
    use super::{MARKER, Tree};
    use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
    use std::collections::HashSet;

    /// A process as `/proc/PID/stat` tells it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Process {
        pub(super) pid: i32,
        parent: i32,
        group: i32,
        session: i32,
        /// In clock ticks since boot: tells two processes of one number apart.
        pub(super) start: u64,
        zombie: bool,
        /// bubblewrap, outside its own sandbox: it ends when what it carries has ended.
        pub(super) carrier: bool,
    }

    /// The living members of the tree; `None` when `/proc` cannot be read.
    pub(super) fn alive(tree: &Tree) -> Option<Vec<Process>> {
        let all: Vec<Process> = all()?.into_iter().filter(|process| process.start >= tree.since).collect();
        let us = rustix::process::getpid().as_raw_nonzero().get();
        let root = tree.root.as_raw_nonzero().get();
        let group = tree.group.as_raw_nonzero().get();
        let marker = format!("{MARKER}={}", tree.marker);
        let mut members: HashSet<i32> = HashSet::from([root]);
        for process in all.iter().filter(|process| process.pid != us) {
            let near = process.group == group || process.session == group;
            if near || (!tree.marker.is_empty() && is_marked(process.pid, &marker)) {
                members.insert(process.pid);
            }
        }
        loop {
            let before = members.len();
            let children = all.iter().filter(|process| members.contains(&process.parent)).map(|process| process.pid);
            let children: Vec<i32> = children.collect();
            members.extend(children);
            if members.len() == before {
                break;
            }
        }
        let keep = |p: &Process| members.contains(&p.pid) && !p.zombie && p.pid != us && (tree.root_too || p.pid != root);
        Some(all.into_iter().filter(keep).collect())
    }

    /// When a process was started; 0 when that cannot be told.
    pub(super) fn started(pid: Pid) -> u64 {
        look(pid.as_raw_nonzero().get()).map_or(0, |process| process.start)
    }

    fn all() -> Option<Vec<Process>> {
        let entries = std::fs::read_dir("/proc").ok()?;
        let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let all: Vec<Process> = numbers.filter_map(look).collect();
        (!all.is_empty()).then_some(all)
    }

    fn look(pid: i32) -> Option<Process> {
        parse(pid, &std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The name stands in brackets and may hold anything, brackets too: the fields are counted from the last one.
    fn parse(pid: i32, stat: &str) -> Option<Process> {
        let fields: Vec<&str> = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<i32>().ok();
        let zombie = matches!(*fields.first()?, "Z" | "X" | "x");
        let start = fields.get(19)?.parse().ok()?;
        let carrier = stat.contains("(bwrap)");
        Some(Process { pid, parent: number(1)?, group: number(2)?, session: number(3)?, start, zombie, carrier })
    }

    fn is_marked(pid: i32, marker: &str) -> bool {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|pair| pair == marker.as_bytes())
    }

    /// Signals a process if it is still the one that was looked at. A stopped one is woken, so that TERM reaches it.
    pub(super) fn send(process: &Process, signal: Signal) {
        let Some(pid) = Pid::from_raw(process.pid) else { return };
        let handle = pidfd_open(pid, PidfdFlags::empty());
        if look(process.pid).is_none_or(|now| now.start != process.start) {
            return;
        }
        match handle {
            Ok(handle) => {
                let _ = pidfd_send_signal(&handle, signal);
                let _ = pidfd_send_signal(&handle, Signal::CONT);
            }
            // Kernels before 5.3, or a sandbox that forbids it.
            Err(_) => {
                let _ = kill_process(pid, signal);
                let _ = kill_process(pid, Signal::CONT);
            }
        }
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn a_process_name_with_brackets_and_blanks_does_not_shift_the_fields() {
            let stat = "42 (a) b (c)) S 7 8 9 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 12345 0 0";
            let process = super::parse(42, stat).unwrap();
            assert_eq!((process.parent, process.group, process.session, process.start, process.zombie), (7, 8, 9, 12345, false));
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod proc {
    use super::Tree;
    use rustix::process::Signal;

    pub(super) struct Process {
        pub(super) pid: i32,
        pub(super) start: u64,
        pub(super) carrier: bool,
    }

    pub(super) fn alive(_tree: &Tree) -> Option<Vec<Process>> {
        None
    }

    pub(super) fn started(_pid: rustix::process::Pid) -> u64 {
        0
    }

    pub(super) fn send(_process: &Process, _signal: Signal) {}
}
