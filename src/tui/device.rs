//! The terminal device, opened a second time for ourselves and without blocking.
//!
//! An own open file means that `O_NONBLOCK` stays ours: set on standard input it would also hold for the shell and for
//! every other program on that terminal. All writes go here, so a stalled terminal (Ctrl-S, a dead link) never stops the
//! runtime. Unix only.

use super::TuiError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, QueueSelector, Termios, isatty, tcflush, tcgetattr, tcgetwinsize, tcsetattr, ttyname};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long one wait for a stalled terminal lasts.
const WAIT_STEP: Duration = Duration::from_millis(50);

/// An open terminal device.
#[derive(Debug)]
pub struct Device {
    fd: OwnedFd,
    path: PathBuf,
}

impl Device {
    /// Opens the terminal that standard output is connected to.
    ///
    /// # Errors
    /// [`TuiError::NoTerminal`] when standard output is none, [`TuiError::Open`] when it cannot be opened.
    pub fn open() -> Result<Self, TuiError> {
        if !isatty(io::stdout()) {
            return Err(TuiError::NoTerminal);
        }
        let mut last = TuiError::NoTerminal;
        for path in candidates() {
            match open(&path, OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()) {
                Ok(fd) => return Ok(Self { fd, path }),
                Err(source) => last = TuiError::Open { path, source: source.into() },
            }
        }
        Err(last)
    }

    /// The same terminal, blocking: for a child process that takes it over.
    pub fn reopen(&self) -> io::Result<File> {
        File::options().read(true).write(true).open(&self.path)
    }

    /// Columns and rows; `None` where the terminal does not tell (a serial line, a detached container).
    pub fn size(&self) -> Option<(u16, u16)> {
        let size = tcgetwinsize(&self.fd).ok()?;
        (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
    }

    /// Reads what is there; `WouldBlock` when there is nothing, 0 after a hang-up.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(&self.fd, buffer)?)
    }

    /// Writes what fits now.
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(&self.fd, bytes)?)
    }

    /// Writes all of it, waiting at most `patience` for a terminal that takes nothing. Errors and the rest are dropped:
    /// this is for the way out, where nothing better can be done.
    pub fn write_patiently(&self, mut bytes: &[u8], patience: Duration) {
        let mut left = patience;
        while !bytes.is_empty() {
            match rustix::io::write(&self.fd, bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if !left.is_zero() => {
                    left = left.saturating_sub(WAIT_STEP);
                    self.wait_writable();
                }
                Err(_) => return,
            }
        }
    }

    fn wait_writable(&self) {
        let step = Timespec { tv_sec: 0, tv_nsec: i64::from(WAIT_STEP.subsec_nanos()) };
        // A failed poll only makes the wait shorter; the number of waits is bounded all the same.
        let _ = poll(&mut [PollFd::new(&self.fd, PollFlags::OUT)], Some(&step));
    }

    /// The line settings.
    pub fn attributes(&self) -> io::Result<Termios> {
        Ok(tcgetattr(&self.fd)?)
    }

    /// Sets the line settings at once: keys typed ahead stay, and a stalled terminal is not waited for.
    pub fn set_attributes(&self, attributes: &Termios) -> io::Result<()> {
        Ok(tcsetattr(&self.fd, OptionalActions::Now, attributes)?)
    }

    /// Forgets what was typed and not read.
    pub fn discard_input(&self) {
        // Only cosmetic: reports of the mouse would be echoed by the shell.
        let _ = tcflush(&self.fd, QueueSelector::IFlush);
    }
}

impl AsRawFd for Device {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// `/dev/tty` first, because the named device may belong to another user (`su`) or another mount namespace (containers);
/// the named device first on macOS, whose kqueue does not take `/dev/tty`.
fn candidates() -> Vec<PathBuf> {
    let named = ttyname(io::stdout(), Vec::new()).ok().map(|name| Path::new(OsStr::from_bytes(name.as_bytes())).to_owned());
    let mut paths: Vec<PathBuf> = named.into_iter().collect();
    paths.push("/dev/tty".into());
    if !cfg!(target_os = "macos") {
        paths.reverse();
    }
    paths
}
