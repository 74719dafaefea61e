//! A headless screen: `press`, `type_str`, `screen`, with a clock that only the test moves.
#![expect(clippy::unwrap_used, reason = "a wrong name in a test is a bug of that test")]

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use signoff::app::msg::{Cmd, Key, Msg};
use signoff::app::{ColorMode, State, StateOptions, update};
use signoff::domain::event::{EVENT_VERSION, TaskChange};
use signoff::domain::settings::Wall;
use signoff::domain::{
    Activity, CallId, Envelope, EventRecord, Generation, Member, MemberName, MemberStatus, MessageId, MessageKind, Party, Request,
    RequestId, RequestKind, RequestState, Task, TaskId, TaskStatus, TeamCommand, TeamEvent, Timestamp, TokenUsage,
};
use signoff::tui::style::Style;
use signoff::tui::view;
use std::sync::Arc;
use std::time::Duration;

/// 2025-10-09 12:00 UTC.
pub const START: Timestamp = Timestamp(1_760_011_200_000);

pub struct Screen {
    pub state: State,
    pub now: Timestamp,
    pub style: Style,
    pub terminal: Terminal<TestBackend>,
    /// Every command since the last `take`.
    pub cmds: Vec<Cmd>,
    seq: u64,
}

impl Screen {
    pub fn new(width: u16, height: u16) -> Self {
        Self::with(width, height, options())
    }

    pub fn with(width: u16, height: u16, options: StateOptions) -> Self {
        let style = Style::new("dark", options.color, options.ascii);
        let terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let mut screen = Self { state: State::new(options), now: START, style, terminal, cmds: Vec::new(), seq: 0 };
        screen.draw();
        screen
    }

    pub fn send(&mut self, msg: Msg) -> Vec<Cmd> {
        let cmds = update(&mut self.state, msg, self.now);
        self.cmds.extend(cmds.iter().cloned());
        cmds
    }

    pub fn event(&mut self, event: TeamEvent) -> Vec<Cmd> {
        self.seq += 1;
        self.send(Msg::Event(Arc::new(EventRecord { v: EVENT_VERSION, seq: self.seq, at: self.now, event })))
    }

    /// Presses a key by its name, without drawing before or after.
    pub fn press_blind(&mut self, key: &str) -> Vec<Cmd> {
        self.send(Msg::Key(Key::parse(key).unwrap()))
    }

    /// Presses keys by name, as a person does: after looking, one second apart.
    pub fn press(&mut self, keys: &str) -> Vec<Cmd> {
        let mut cmds = Vec::new();
        for key in keys.split(' ') {
            self.draw();
            self.wait(1_000);
            self.draw();
            cmds.extend(self.press_blind(key));
        }
        self.draw();
        cmds
    }

    pub fn type_str(&mut self, text: &str) {
        for c in text.chars() {
            self.send(Msg::Key(Key::char(c)));
        }
        self.draw();
    }

    pub fn wait(&mut self, millis: u64) {
        self.now = self.now.plus(Duration::from_millis(millis));
    }

    pub fn draw(&mut self) {
        let (state, style, now) = (&mut self.state, &self.style, self.now);
        self.terminal.draw(|frame| view::draw(frame, state, style, now)).unwrap();
        self.send(Msg::Drawn);
    }

    pub fn resize(&mut self, width: u16, height: u16) {
        self.terminal.backend_mut().resize(width, height);
        self.send(Msg::Resized { width, height });
        self.draw();
    }

    /// The cells as text, trailing blanks cut.
    pub fn screen(&mut self) -> String {
        self.draw();
        let buffer = self.terminal.backend().buffer();
        let area = buffer.area;
        let mut out = String::new();
        for y in 0..area.height {
            let mut row = String::new();
            let mut skip = 0;
            for x in 0..area.width {
                let symbol = buffer[(x, y)].symbol();
                if skip == 0 {
                    row.push_str(symbol);
                    skip = unicode_width::UnicodeWidthStr::width(symbol).saturating_sub(1);
                } else {
                    skip -= 1;
                }
            }
            out.push_str(row.trim_end());
            out.push('\n');
        }
        out
    }

    /// The team commands since the last look.
    pub fn commands(&mut self) -> Vec<TeamCommand> {
        let commands = self.cmds.iter().filter_map(|cmd| match cmd {
            Cmd::Team { command, .. } => Some(command.clone()),
            _ => None,
        });
        let commands = commands.collect();
        self.cmds.clear();
        commands
    }

    pub fn open_team(&mut self) {
        self.open_behind(Wall::Full);
    }

    pub fn open_behind(&mut self, wall: Wall) {
        self.open_as(wall, None);
    }

    pub fn open_as(&mut self, wall: Wall, choice: Option<&str>) {
        let choice = choice.map(str::to_owned);
        self.event(TeamEvent::Opened {
            team: "my-team".into(),
            protocol: "autonomous".into(),
            provider: "api.openai.com".into(),
            model: "gpt-5-mini".into(),
            scripted: false,
            pid: 7,
            wall,
            choice,
        });
    }

    pub fn member(&mut self, name: &str, role: &str, status: MemberStatus, activity: Activity) {
        self.member_with(name, role, status, activity, None);
    }

    pub fn member_with(&mut self, name: &str, role: &str, status: MemberStatus, activity: Activity, task: Option<u64>) {
        let mut member = Member::new(member_name(name), role);
        member.status = status;
        member.task = task.map(TaskId);
        self.event(TeamEvent::MemberChanged { member: Arc::new(member), why: None });
        self.event(TeamEvent::ActivityChanged { name: member_name(name), activity });
    }

    /// A member that does not run, with the reason.
    pub fn member_left(&mut self, name: &str, status: MemberStatus, activity: Activity, reason: &str) {
        let member = Member { status, reason: Some(reason.into()), ..Member::new(member_name(name), "coder") };
        self.event(TeamEvent::MemberChanged { member: Arc::new(member), why: None });
        self.event(TeamEvent::ActivityChanged { name: member_name(name), activity });
    }

    pub fn task(&mut self, task: Task) {
        self.event(TeamEvent::TaskChanged { task: Arc::new(task), change: TaskChange::Created, by: Party::lead() });
    }

    pub fn message(&mut self, from: &str, to: &str, content: &str) {
        let id = MessageId(format!("m{}", self.seq).into());
        let message = Envelope::new(id, MessageKind::Message, Party::read(from), to, content, self.now);
        self.event(TeamEvent::MessageSent { message: Arc::new(message) });
    }

    pub fn request(&mut self, request: Request) {
        self.event(TeamEvent::RequestChanged { request: Arc::new(request) });
    }

    pub fn answer_said(&mut self, name: &str, text: &str) {
        self.event(TeamEvent::AnswerFinished { name: member_name(name), text: text.into(), reasoning: None });
    }

    pub fn tool(&mut self, name: &str, tool: &str, summary: &str, ok: bool, millis: u64) {
        let call = CallId::new(format!("c{}", self.seq));
        let name = member_name(name);
        self.event(TeamEvent::ToolStarted { name: name.clone(), call: call.clone(), tool: tool.into(), summary: summary.into() });
        self.event(TeamEvent::ToolFinished { name, call, tool: tool.into(), ok, millis, output: "output".into() });
    }

    pub fn spend(&mut self, name: &str, input: u64, cost: Option<f64>) {
        let usage = TokenUsage { input, output: 1_000, ..TokenUsage::default() };
        let (name, model) = (member_name(name), "gpt-5-mini".into());
        self.event(TeamEvent::UsageAdded { name, model, usage, cost, task: Some(TaskId(3)), context: input, window: 128_000 });
    }

    /// The team of the design's picture.
    pub fn busy_team(&mut self) {
        let now = self.now;
        let before = |secs: i64| Timestamp(now.0 - secs * 1000);
        self.open_team();
        self.member("lead", "plans and reviews", MemberStatus::Working, Activity::Model { since: before(4) });
        let tool = Activity::Tool { tool: "bash".into(), summary: "cargo test --all".into(), since: before(75) };
        self.member_with("alice", "coder", MemberStatus::Working, tool, Some(3));
        let waits = Activity::Approval { request: request_id(1), request_kind: RequestKind::Plan, since: before(120) };
        self.member("bob", "migrations", MemberStatus::WaitingApproval, waits);
        self.member("carol", "docs", MemberStatus::Idle, Activity::Nothing { since: before(600) });
        for (id, subject, status, owner, blocked_by) in tasks() {
            let mut task = Task::new(TaskId(id), subject);
            (task.status, task.owner) = (status, owner.map(member_name));
            task.blocked_by = blocked_by.iter().map(|id| TaskId(*id)).collect();
            self.task(task);
        }
        self.message("lead", "bob", "Please take the database migration and hand in a plan first.");
        self.message("human", "bob", "Mind the audit table: it is large.");
        self.message("lead", "alice", "Refactor the order module.");
        self.tool("bob", "read_file", "db/schema.sql", true, 12);
        self.tool("bob", "bash", "cargo test --package orders --quiet", true, 3_140);
        self.answer_said("bob", "The migration needs **two steps**:\n\n1. add the column\n2. backfill in batches");
        self.spend("lead", 30_000, Some(0.30));
        self.spend("bob", 9_000, Some(0.12));
        self.request(plan(1, "bob", "Migrate db", "# Plan\n\n1. add column `total`\n2. backfill\n"));
    }
}

type TaskRow = (u64, &'static str, TaskStatus, Option<&'static str>, Vec<u64>);

fn tasks() -> Vec<TaskRow> {
    vec![
        (1, "Read the code", TaskStatus::Completed, Some("carol"), vec![]),
        (2, "Draw the data model", TaskStatus::Completed, Some("bob"), vec![1]),
        (3, "Refactor the order module", TaskStatus::InProgress, Some("alice"), vec![2]),
        (4, "Add tests for totals", TaskStatus::Pending, None, vec![2]),
        (5, "Publish docs", TaskStatus::Pending, None, vec![3, 4]),
        (6, "Remove the old importer", TaskStatus::Pending, None, vec![99]),
    ]
}

pub fn options() -> StateOptions {
    StateOptions {
        provider: "api.openai.com".into(),
        model: "gpt-5-mini".into(),
        workspace: "~/work/shop".into(),
        sandbox: "commands may write inside the workspace only".into(),
        color: ColorMode::Themed,
        ..StateOptions::default()
    }
}

pub fn member_name(text: &str) -> MemberName {
    MemberName::parse(text).unwrap()
}

pub fn request_id(number: u32) -> RequestId {
    RequestId::parse(&format!("{number:08x}")).unwrap()
}

pub fn plan(number: u32, target: &str, title: &str, body: &str) -> Request {
    Request {
        id: request_id(number),
        kind: RequestKind::Plan,
        asker: Party::read(target),
        target: member_name(target),
        generation: Generation::default(),
        title: title.into(),
        body: body.into(),
        task: Some(TaskId(2)),
        previous: None,
        rule: None,
        created: START,
        deadline: None,
        force: false,
        state: RequestState::Pending,
        answer: None,
        ended: None,
        extra: Default::default(),
    }
}

pub fn permission(number: u32, target: &str, command: &str) -> Request {
    let request = plan(number, target, command, command);
    Request { kind: RequestKind::Permission, rule: Some("cargo publish *".into()), task: None, ..request }
}
