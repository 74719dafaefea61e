//! A program on a pseudo-terminal, as a person would run it: its output is read and drawn all the time, and tests wait
//! for what is on the screen. Every wait has a deadline; nothing sleeps for luck.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may panic, and measures time")]

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Long enough for a busy machine; a test that fails takes no longer.
pub const DEADLINE: Duration = Duration::from_secs(20);

struct Picture {
    parser: vt100::Parser<Events>,
    raw: Vec<u8>,
    /// The reader ends with its next read, and so lets go of the terminal.
    leaving: bool,
    /// Nothing is read for now.
    stalled: bool,
}

/// What a terminal does beside drawing cells.
#[derive(Default, Clone)]
pub struct Events {
    /// How often the bell rang.
    pub bells: usize,
    /// The last title.
    pub title: String,
    /// What was put on the clipboard, as base64.
    pub copied: Vec<String>,
}

impl vt100::Callbacks for Events {
    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.bells += 1;
    }

    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.title = String::from_utf8_lossy(title).into_owned();
    }

    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8], data: &[u8]) {
        self.copied.push(String::from_utf8_lossy(data).into_owned());
    }
}

/// A program on a pseudo-terminal. Dropping it kills the program.
pub struct Pty {
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    shared: Arc<(Mutex<Picture>, Condvar)>,
    // Held open, so that line settings can be read after the program's end.
    slave: Option<std::fs::File>,
}

fn cells(n: u16) -> NonZeroU16 {
    NonZeroU16::new(n.max(1)).unwrap()
}

fn size(cols: u16, rows: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

impl Pty {
    /// Starts `command` at a size in cells. The terminal calls itself `xterm-256color`, and nothing else is told of it.
    pub fn spawn(mut command: CommandBuilder, cols: u16, rows: u16) -> Self {
        let pair = native_pty_system().openpty(size(cols, rows)).unwrap();
        command.env("TERM", "xterm-256color");
        for name in ["TMUX", "VTE_VERSION", "TERM_PROGRAM", "VISUAL", "NO_COLOR"] {
            command.env_remove(name);
        }
        let tty = pair.master.tty_name().unwrap();
        // Tests that lead a session of their own must not get this terminal as theirs.
        let no_ctty = i32::try_from(rustix::fs::OFlags::NOCTTY.bits()).unwrap();
        let slave = std::fs::OpenOptions::new().read(true).custom_flags(no_ctty).open(&tty).unwrap();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let parser = vt100::Parser::new_with_callbacks(cells(rows), cells(cols), 0, Events::default());
        let shared = Arc::new((Mutex::new(Picture { parser, raw: Vec::new(), leaving: false, stalled: false }), Condvar::new()));
        let reader = pair.master.try_clone_reader().unwrap();
        std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || read(reader, &shared)
        });
        let writer = pair.master.take_writer().unwrap();
        Self { master: pair.master, writer, child, shared, slave: Some(slave) }
    }

    fn lock(&self) -> MutexGuard<'_, Picture> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, look: impl FnOnce(&Picture) -> T) -> T {
        look(&self.lock())
    }

    fn wait_until<T>(&self, what: &str, mut look: impl FnMut(&Picture) -> Option<T>) -> T {
        let until = Instant::now() + DEADLINE;
        let mut picture = self.lock();
        loop {
            if let Some(found) = look(&picture) {
                return found;
            }
            let left = until.saturating_duration_since(Instant::now());
            let shown = picture.parser.screen().contents();
            assert!(!left.is_zero(), "waited in vain for {what}; on the screen:\n{shown}");
            picture = self.shared.1.wait_timeout(picture, left.min(Duration::from_millis(50))).unwrap().0;
        }
    }

    /// Waits until the screen is as wanted; its text then.
    pub fn wait_for(&self, what: &str, mut wanted: impl FnMut(&vt100::Screen) -> bool) -> String {
        self.wait_until(what, |picture| {
            let screen = picture.parser.screen();
            wanted(screen).then(|| screen.contents())
        })
    }

    /// Waits until `text` is on the screen; all text then.
    pub fn wait_for_text(&self, text: &str) -> String {
        self.wait_for(text, |screen| screen.contents().contains(text))
    }

    /// Waits until the raw output after `from` contains `bytes`; the position after them.
    pub fn wait_for_bytes(&self, from: usize, bytes: &[u8]) -> usize {
        self.wait_until(&format!("{:?}", String::from_utf8_lossy(bytes)), |picture| {
            find(&picture.raw[from.min(picture.raw.len())..], bytes).map(|at| from + at + bytes.len())
        })
    }

    /// What is on the screen now.
    pub fn contents(&self) -> String {
        self.with(|picture| picture.parser.screen().contents())
    }

    /// Title, bells, clipboard.
    pub fn events(&self) -> Events {
        self.with(|picture| picture.parser.callbacks().clone())
    }

    /// Everything the program wrote.
    pub fn raw(&self) -> Vec<u8> {
        self.with(|picture| picture.raw.clone())
    }

    /// How many bytes the program wrote.
    pub fn written(&self) -> usize {
        self.with(|picture| picture.raw.len())
    }

    /// Types.
    pub fn send(&mut self, keys: impl AsRef<[u8]>) {
        self.writer.write_all(keys.as_ref()).unwrap();
        self.writer.flush().unwrap();
    }

    /// Another size; 0 is passed on to the program.
    pub fn resize(&self, cols: u16, rows: u16) {
        self.lock().parser.set_size(cells(rows), cells(cols));
        self.master.resize(size(cols, rows)).unwrap();
    }

    /// Sends a signal to the program itself.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.process_id().unwrap()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    /// The program's process number.
    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Whether keys are echoed and lines edited by the system: the state before and after a screen.
    pub fn is_cooked(&self) -> bool {
        use rustix::termios::{LocalModes, tcgetattr};
        let slave = self.slave.as_ref().map(|slave| tcgetattr(slave).unwrap());
        slave.unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    /// Waits for the program's end, and for the last of its output.
    pub fn wait_exit(&mut self) -> ExitStatus {
        let until = Instant::now() + DEADLINE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < until, "the program did not end; on the screen:\n{}", self.contents());
            std::thread::sleep(Duration::from_millis(5));
        };
        self.wait_quiet(Duration::from_millis(50));
        status
    }

    /// Waits until the screen's text is as wanted, or the program has ended; whether it still runs.
    pub fn wait_exit_or(&mut self, mut wanted: impl FnMut(&str) -> bool) -> bool {
        let until = Instant::now() + DEADLINE;
        loop {
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            let text = self.contents();
            if wanted(&text) {
                return true;
            }
            assert!(Instant::now() < until, "neither came:\n{text}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Kills the program, without a chance to tidy up.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.child.wait().unwrap();
    }

    /// Waits until nothing was written for `time`.
    pub fn wait_quiet(&self, time: Duration) {
        let until = Instant::now() + DEADLINE;
        let mut before = self.written();
        let mut since = Instant::now();
        while since.elapsed() < time {
            assert!(Instant::now() < until, "the program does not stop writing");
            std::thread::sleep(Duration::from_millis(5));
            let now = self.written();
            if now != before {
                before = now;
                since = Instant::now();
            }
        }
    }

    /// Closes our end of the terminal, as a closed window or a cut connection does. `key` must make the program write
    /// something: that lets the reader go.
    pub fn hang_up(mut self, key: &str) -> Hung {
        self.lock().leaving = true;
        self.send(key);
        self.wait_until("the reader to end", |picture| (!picture.leaving).then_some(()));
        self.slave = None;
        let child = std::mem::replace(&mut self.child, Box::new(Nobody));
        Hung { child }
    }

    /// Reads nothing from now on, as a terminal after Ctrl-S: the program's writes fill up and then wait.
    pub fn stall(&self) {
        self.lock().stalled = true;
    }

    /// Every mode that a screen sets is undone, in the raw output and in the line settings.
    pub fn assert_restored(&self) {
        let raw = self.raw();
        for (mode, name) in [
            ("?1049", "alternate screen"),
            ("?2004", "bracketed paste"),
            ("?1004", "focus reports"),
            ("?1000", "mouse clicks"),
            ("?1002", "mouse drags"),
            ("?1003", "mouse motion"),
            ("?1006", "mouse coordinates"),
            ("?2026", "synchronised update"),
        ] {
            let on = rfind(&raw, format!("\x1b[{mode}h").as_bytes());
            let off = rfind(&raw, format!("\x1b[{mode}l").as_bytes());
            assert!(on.is_none() || off > on, "{name} is still on");
        }
        let (pushed, popped) = (count(&raw, b"\x1b[>1u"), count(&raw, b"\x1b[<1u"));
        assert_eq!(pushed, popped, "keyboard modes are pushed and popped as often");
        assert_eq!(count(&raw, b"\x1b[22;2t"), count(&raw, b"\x1b[23;2t"), "titles are saved and restored as often");
        assert!(rfind(&raw, b"\x1b[?25h") > rfind(&raw, b"\x1b[?25l"), "the cursor is hidden");
        assert!(self.is_cooked(), "the line settings are not restored");
        self.with(|picture| {
            let screen = picture.parser.screen();
            assert!(!screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste());
        });
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        self.lock().stalled = false;
        self.shared.1.notify_all();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program whose terminal is gone.
pub struct Hung {
    child: Box<dyn Child + Send + Sync>,
}

impl Hung {
    /// Waits for its end.
    pub fn wait_exit(mut self) -> ExitStatus {
        let until = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            if Instant::now() > until {
                let _ = self.child.kill();
                panic!("the program did not end after its terminal was closed");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[derive(Debug)]
struct Nobody;

impl Child for Nobody {
    fn try_wait(&mut self) -> std::io::Result<Option<ExitStatus>> {
        Ok(Some(ExitStatus::with_exit_code(0)))
    }

    fn wait(&mut self) -> std::io::Result<ExitStatus> {
        Ok(ExitStatus::with_exit_code(0))
    }

    fn process_id(&self) -> Option<u32> {
        None
    }
}

impl portable_pty::ChildKiller for Nobody {
    fn kill(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    fn clone_killer(&self) -> Box<dyn portable_pty::ChildKiller + Send + Sync> {
        Box::new(Self)
    }
}

fn read(mut reader: Box<dyn Read + Send>, shared: &(Mutex<Picture>, Condvar)) {
    let mut buffer = [0; 16 * 1024];
    let mut waiting = Vec::new();
    loop {
        let count = reader.read(&mut buffer).unwrap_or(0);
        let picture = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut picture = shared.1.wait_while(picture, |picture| picture.stalled).unwrap_or_else(PoisonError::into_inner);
        picture.raw.extend_from_slice(&buffer[..count]);
        waiting.extend_from_slice(&buffer[..count]);
        let kept = waiting.len() - drawn(&mut picture.parser, &waiting);
        waiting.drain(..waiting.len() - kept);
        shared.1.notify_all();
        if count == 0 || picture.leaving {
            drop(reader);
            picture.leaving = false;
            return;
        }
    }
}

/// Draws the bytes, but for the beginning of a `\u{fffd}` at their end; how many were drawn. A terminal shows that sign one
/// column wide, this parser skips it: another one of the same size stands for it.
fn drawn(parser: &mut vt100::Parser<Events>, bytes: &[u8]) -> usize {
    let sign = "\u{fffd}".as_bytes();
    let partial = (1..sign.len()).rev().find(|n| bytes.ends_with(&sign[..*n])).unwrap_or(0);
    let whole = &bytes[..bytes.len() - partial];
    let mut rest = whole;
    while let Some(at) = find(rest, sign) {
        parser.process(&rest[..at]);
        parser.process("\u{25a1}".as_bytes());
        rest = &rest[at + sign.len()..];
    }
    parser.process(rest);
    whole.len()
}

/// Where `needle` begins first.
pub fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// Where `needle` begins last.
pub fn rfind(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).rposition(|window| window == needle)
}

/// How often `needle` occurs.
pub fn count(haystack: &[u8], needle: &[u8]) -> usize {
    haystack.windows(needle.len()).filter(|window| *window == needle).count()
}
