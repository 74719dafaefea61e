//! The toy: a screen that shows what it was told, and does what single keys say.

use futures::future::BoxFuture;
use ratatui::Frame;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use signoff::app::msg::{Cmd, KeyCode, Msg};
use signoff::domain::event::{EVENT_VERSION, NoticeLevel};
use signoff::domain::{EventRecord, MemberName, Party, Refusal, Reply, TeamCommand, TeamEvent, Timestamp, TranscriptEntry};
use signoff::runtime::live::LiveKind;
use signoff::runtime::{LiveBoard, Team};
use signoff::tui::{Ended, Options, Screen, TranscriptSource, run};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;

pub const SWITCH: &str = "SIGNOFF_TOY";
pub const ARGUMENTS: [&str; 4] = ["terminal::child::the_toy_runs_in_a_child", "--exact", "--nocapture", "--test-threads=1"];

/// Settings of the toy, by environment variable.
pub const OPENER: &str = "SIGNOFF_TOY_OPENER";
pub const LOG: &str = "SIGNOFF_TOY_LOG";
pub const SIGNALS: &str = "SIGNOFF_TOY_SIGNALS";

#[test]
fn the_toy_runs_in_a_child() {
    if std::env::var(SWITCH).is_err() {
        return;
    }
    if let Ok(path) = std::env::var(LOG) {
        let file = Mutex::new(std::fs::File::create(path).unwrap());
        tracing_subscriber::fmt().with_writer(file).with_ansi(false).init();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let options = Options {
        transcripts: Some(Arc::new(NoTranscripts)),
        signal_grace: Duration::from_millis(300),
        ..Options::detect(|name| std::env::var(name).ok())
    };
    let ended = runtime.block_on(run(&mut Toy::default(), open(), options));
    if std::env::var(LOG).is_err() {
        // Where the terminal is gone, `println!` would be another panic; where it is stalled, it would block.
        let _ = writeln!(std::io::stdout(), "ended: {ended:?}");
    }
    std::process::exit(match ended {
        Ok(Ended::Quit) => 0,
        Ok(Ended::Signal(number)) => 128 + number,
        Ok(Ended::HangUp) => 129,
        Err(_) => 1,
    });
}

async fn open() -> Result<Arc<dyn Team>, String> {
    match std::env::var(OPENER).as_deref() {
        Ok("fail") => Err("the workspace is locked by another program".into()),
        Ok("block") => {
            std::thread::sleep(Duration::from_secs(1));
            Ok(Arc::new(ToyTeam::default()))
        }
        Ok(gate) => {
            while !Path::new(gate).exists() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            Ok(Arc::new(ToyTeam::default()))
        }
        Err(_) => Ok(Arc::new(ToyTeam::default())),
    }
}

struct NoTranscripts;

impl TranscriptSource for NoTranscripts {
    fn load(&self, name: &MemberName) -> Result<Vec<TranscriptEntry>, String> {
        Err(format!("{name} has none"))
    }
}

#[derive(Default)]
struct ToyTeam {
    readers: Mutex<Vec<mpsc::UnboundedSender<Arc<EventRecord>>>>,
    live: Arc<LiveBoard>,
}

impl ToyTeam {
    fn tell(&self, count: u64) {
        for seq in 1..=count {
            let event = TeamEvent::Noticed { level: NoticeLevel::Info, text: format!("event {seq}"), name: None };
            let record = Arc::new(EventRecord { v: EVENT_VERSION, seq, at: Timestamp(0), event });
            self.readers.lock().unwrap().retain(|reader| reader.send(Arc::clone(&record)).is_ok());
        }
    }
}

impl Team for ToyTeam {
    fn command(&self, _: Party, command: TeamCommand) -> BoxFuture<'_, Result<Reply, Refusal>> {
        match &command {
            TeamCommand::Send { content, .. } if content == "flood" => self.tell(20_000),
            TeamCommand::Send { content, .. } if content == "panic" => return Box::pin(async { panic!("a task of the team broke") }),
            TeamCommand::Broadcast { content } => self.live.push(&MemberName::lead(), LiveKind::Text, content),
            _ => {}
        }
        Box::pin(async { Ok(Reply::Said("carried out".into())) })
    }

    fn subscribe(&self) -> mpsc::UnboundedReceiver<Arc<EventRecord>> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.readers.lock().unwrap().push(sender);
        receiver
    }

    fn live(&self) -> Arc<LiveBoard> {
        Arc::clone(&self.live)
    }

    fn is_runner(&self) -> bool {
        true
    }
}

#[derive(Default)]
struct Toy {
    size: (u16, u16),
    typed: String,
    pasted: String,
    pointer: String,
    focus: String,
    events: u64,
    last: String,
    live: String,
    reply: String,
    edited: String,
    woken: u64,
    frames: u64,
    attached: bool,
}

impl Toy {
    fn key(&mut self, code: KeyCode, ctrl: bool, now: Timestamp) -> Vec<Cmd> {
        let send = |content: &str| Cmd::Team { token: 7, command: TeamCommand::Send { to: "lead".into(), content: content.into() } };
        match code {
            KeyCode::Char('c') if ctrl => self.typed.push_str("<ctrl-c>"),
            KeyCode::Char('q') => return vec![Cmd::Quit],
            KeyCode::Char('Q') => return vec![send("last words"), Cmd::Quit],
            KeyCode::Char('P') => panic!("the screen broke"),
            KeyCode::Char('t') => {
                let _ = std::thread::Builder::new().name("worker".into()).spawn(|| panic!("a worker broke")).unwrap().join();
                self.typed.push_str("<survived>");
            }
            KeyCode::Char('e') => return vec![Cmd::Edit { token: 3, text: "first".into(), name: "plan.md".into() }],
            KeyCode::Char('z') => return vec![Cmd::Suspend],
            KeyCode::Char('M') => return vec![Cmd::Mouse(true)],
            KeyCode::Char('O') => return vec![Cmd::Mouse(false)],
            KeyCode::Char('C') => return vec![Cmd::Copy("hello".into())],
            KeyCode::Char('B') => return vec![Cmd::Copy("x".repeat(500_000))],
            KeyCode::Char('N') => return vec![Cmd::Notify { title: "bob".into(), body: "waits".into() }],
            KeyCode::Char('T') => return vec![Cmd::Title("toy \x1b]0\x07(1)".into())],
            KeyCode::Char('W') => return vec![Cmd::Wake(Some(now.plus(Duration::from_millis(50))))],
            KeyCode::Char('L') => return vec![Cmd::WatchLive(MemberName::lead())],
            KeyCode::Char('X') => return vec![Cmd::LoadTranscript(MemberName::lead())],
            KeyCode::Char('R') => return vec![Cmd::Clear],
            KeyCode::Char('1') => return vec![send("flood")],
            KeyCode::Char('2') => {
                let command = TeamCommand::Broadcast { content: "streamed words".into() };
                return vec![Cmd::Team { token: 8, command }];
            }
            KeyCode::Char('3') => return vec![send("panic")],
            KeyCode::Char('4') => return vec![send("hello")],
            KeyCode::Char(c) => self.typed.push(c),
            other => self.typed.push_str(&format!("<{other:?}>")),
        }
        Vec::new()
    }
}

impl Screen for Toy {
    fn update(&mut self, msg: Msg, now: Timestamp) -> Vec<Cmd> {
        match msg {
            Msg::Key(key) => return self.key(key.code, key.ctrl, now),
            Msg::Paste(text) => self.pasted = format!("{} lines {} bytes", text.lines().count(), text.len()),
            Msg::Mouse(mouse) => self.pointer = format!("{mouse:?}"),
            Msg::Focused(focus) => self.focus = format!("{focus}"),
            Msg::Resized { width, height } => self.size = (width, height),
            Msg::Event(record) => {
                self.events += 1;
                if let TeamEvent::Noticed { text, .. } = &record.event {
                    self.last = text.clone();
                }
            }
            Msg::Live { text, reset, .. } => {
                if reset {
                    self.live.clear();
                }
                self.live.push_str(&text);
            }
            Msg::Replied { token, result } => self.reply = format!("{token} {result:?}"),
            Msg::Edited { token, result } => self.edited = format!("{token} {result:?}"),
            Msg::Transcript { name, entries } => self.reply = format!("transcript of {name}: {}", entries.len()),
            Msg::Woken => self.woken += 1,
            Msg::Drawn => self.frames += 1,
            Msg::Signal if std::env::var(SIGNALS).is_ok() => self.typed.push_str("<signal>"),
            Msg::Signal => return vec![Cmd::Quit],
        }
        Vec::new()
    }

    fn draw(&mut self, frame: &mut Frame<'_>, _: Timestamp) {
        let lines = [
            format!("toy {}x{}", self.size.0, self.size.1),
            format!("typed {}", self.typed),
            format!("pasted {}", self.pasted),
            format!("mouse {} focus {}", self.pointer, self.focus),
            format!("events {} {}", self.events, self.last),
            format!("live {}", self.live),
            format!("reply {}", self.reply),
            format!("edited {}", self.edited),
            format!("woken {} frames {} attached {}", self.woken, self.frames, self.attached),
        ];
        frame.render_widget(Paragraph::new(lines.map(Line::from).to_vec()), frame.area());
    }

    fn attached(&mut self, is_runner: bool, _: Timestamp) -> Vec<Cmd> {
        self.attached = is_runner;
        Vec::new()
    }
}
