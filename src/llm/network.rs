//! The thread that talks to a provider: one for all calls, beside those that do the members' work.
//!
//! A server sends an answer token by token, and a thread that wakes for each of them costs more than all that is done
//! with it. So this one rests for a moment after it has read some of an answer, and reads what came meanwhile in one go.
//! The rest is shorter than the time between two frames: nobody sees it.

use super::ModelError;
use std::future::Future;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// How long tokens gather while an answer streams.
const REST: Duration = Duration::from_millis(20);

/// Starts its thread with the first call, and ends it when it is dropped.
#[derive(Default)]
pub(super) struct Network {
    thread: Mutex<Option<Thread>>,
    pulse: Pulse,
}

struct Thread {
    handle: Handle,
    // Dropping it ends the thread, with all that still runs there.
    _end: oneshot::Sender<()>,
}

/// Set by who reads an answer: its next pieces may gather.
#[derive(Clone, Default)]
pub(super) struct Pulse(Arc<AtomicBool>);

impl Pulse {
    /// A piece of an answer was read.
    pub(super) fn beat(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn rest(&self) {
        if self.0.swap(false, Ordering::Relaxed) {
            std::thread::sleep(REST);
        }
    }
}

/// Something that runs on the network's thread; dropping it cancels it.
pub(super) struct Running<T>(JoinHandle<T>);

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<T> Running<T> {
    /// Waits for its end. [`ModelError::Setup`] when it panicked or the network has ended.
    pub(super) async fn end(&mut self) -> Result<T, ModelError> {
        (&mut self.0).await.map_err(|error| ModelError::Setup(format!("a call to the provider was lost: {error}")))
    }
}

impl Network {
    /// Runs `work` on the thread. [`ModelError::Setup`] when the thread cannot be started.
    pub(super) fn run<F>(&self, work: F) -> Result<Running<F::Output>, ModelError>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let started = match thread.take() {
            Some(running) => running,
            None => start(self.pulse.clone()).map_err(|error| ModelError::Setup(format!("cannot start the network's thread: {error}")))?,
        };
        let running = Running(thread.insert(started).handle.spawn(work));
        Ok(running)
    }

    /// To be beaten by who reads an answer.
    pub(super) fn pulse(&self) -> Pulse {
        self.pulse.clone()
    }
}

fn start(pulse: Pulse) -> io::Result<Thread> {
    // The hook runs when nothing is left to do, so whatever has arrived is read before the rest.
    let runtime = Builder::new_current_thread().enable_all().on_thread_park(move || pulse.rest()).build()?;
    let handle = runtime.handle().clone();
    let (end, ended) = oneshot::channel::<()>();
    std::thread::Builder::new().name("network".into()).spawn(move || {
        let _ = runtime.block_on(ended);
    })?;
    Ok(Thread { handle, _end: end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_runs_on_one_thread_beside_the_callers() {
        let network = Network::default();
        let mut names = Vec::new();
        for _ in 0..2 {
            let here = std::thread::current().id();
            let mut running = network.run(async { std::thread::current().id() }).unwrap();
            let there = running.end().await.unwrap();
            assert_ne!(there, here);
            names.push(there);
        }
        assert_eq!(names[0], names[1]);
    }

    #[tokio::test]
    async fn dropping_the_handle_or_the_network_cancels_the_work() {
        for drop_the_network in [false, true] {
            let network = Network::default();
            let (held, dropped) = oneshot::channel::<()>();
            let running = network.run(async move {
                std::future::pending::<()>().await;
                drop(held);
            });
            if drop_the_network {
                drop(network);
            } else {
                drop(running);
            }
            assert!(dropped.await.is_err(), "the work is gone, with what it held");
        }
    }

    #[test]
    fn a_pulse_makes_one_rest() {
        let pulse = Pulse::default();
        pulse.beat();
        pulse.beat();
        assert!(pulse.0.load(Ordering::Relaxed));
        pulse.rest();
        assert!(!pulse.0.load(Ordering::Relaxed));
    }
}
