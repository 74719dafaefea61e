//! The screen's state: one owner, changed by `update`, read (and its view memory written) by drawing.

use super::action::Action;
use super::keymap::Context;
use super::live::LiveText;
use super::msg::Cmd;
use super::options::StateOptions;
use super::overlay::{Confirm, Detail, Form, Help, NeedsList, Palette, Prompt, ProtocolList, Quitting};
use super::pane::{ActivityPane, ApprovalsPane, BoardPane, InboxPane, RosterPane};
use super::projection::{MemberView, Projection};
use super::view::ViewMemory;
use crate::domain::{MemberName, RequestId, TeamCommand, Timestamp};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

/// A hint in the footer stays this long; an error long enough to be read twice.
pub const HINT_SHOWN: Duration = Duration::from_secs(4);
/// See [`HINT_SHOWN`].
pub const ERROR_SHOWN: Duration = Duration::from_secs(12);
/// Sent texts that can be called back with the up key.
const HISTORY_MAX: usize = 50;

/// The five panes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pane {
    #[default]
    Team,
    Approvals,
    Board,
    Inbox,
    Activity,
}

impl Pane {
    /// In the order of their numbers.
    pub const ALL: [Self; 5] = [Self::Team, Self::Approvals, Self::Board, Self::Inbox, Self::Activity];

    /// Its place in [`Pane::ALL`]; the number on the screen is one more.
    pub const fn index(self) -> usize {
        match self {
            Self::Team => 0,
            Self::Approvals => 1,
            Self::Board => 2,
            Self::Inbox => 3,
            Self::Activity => 4,
        }
    }

    /// Its name on the screen.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Team => "Team",
            Self::Approvals => "Approvals",
            Self::Board => "Board",
            Self::Inbox => "Inbox",
            Self::Activity => "Activity",
        }
    }

    /// Its section of the keymap.
    pub const fn context(self) -> Context {
        match self {
            Self::Team => Context::Roster,
            Self::Approvals => Context::Approvals,
            Self::Board => Context::Board,
            Self::Inbox => Context::Inbox,
            Self::Activity => Context::Activity,
        }
    }
}

/// How much a line in the footer matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusLevel {
    /// Done.
    Info,
    /// Not done, and why.
    Hint,
    /// Refused or failed.
    Error,
}

/// Feedback, written in place of the footer's keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusLine {
    /// Safe to draw.
    pub text: String,
    /// How much it matters.
    pub level: StatusLevel,
    /// When it goes.
    pub until: Timestamp,
}

/// A command that was given and not answered yet.
#[derive(Clone, Debug)]
pub struct Sent {
    /// What it was, for the answer's words.
    pub label: String,
    /// The request it answers.
    pub answers: Option<RequestId>,
    /// Leave when it is answered.
    pub then_quit: bool,
    /// The form it came from, for the case that it is refused.
    pub form: Option<Box<Form>>,
}

/// What an editor session is for.
#[derive(Clone, Debug, PartialEq)]
pub enum EditPurpose {
    /// A plan, to be approved with the edits.
    Plan { id: RequestId, digest: crate::domain::Digest, before: String },
    /// A task's words.
    Task { id: crate::domain::TaskId, before: String },
}

/// What is to be told outside of the window, gathered.
#[derive(Debug, Default)]
pub struct Alerts {
    /// Not told yet.
    pub waiting: Vec<String>,
    /// When something was told last.
    pub last: Option<Timestamp>,
    /// What the window's title tells: how many requests wait, of which team.
    pub titled: Option<(usize, String)>,
}

/// The screen's state.
pub struct State {
    /// What it was told when it opened.
    pub options: StateOptions,
    /// The team.
    pub team: Projection,
    /// Where keys go.
    pub focus: Pane,
    /// Whether the focused pane has the whole screen.
    pub zoom: bool,
    /// The panes.
    pub roster: RosterPane,
    pub approvals: ApprovalsPane,
    pub board: BoardPane,
    pub inbox: InboxPane,
    pub activity: ActivityPane,
    /// What lies over the panes; the first that is there gets the keys, from top to bottom.
    pub confirm: Option<Confirm>,
    pub prompt: Option<Prompt>,
    pub form: Option<Form>,
    pub palette: Option<Palette>,
    pub needs: Option<NeedsList>,
    pub protocols: Option<ProtocolList>,
    pub help: Option<Help>,
    pub detail: Option<Detail>,
    /// The team was asked to stop, and then we leave.
    pub quitting: Option<Quitting>,
    /// Streaming text of the selected member.
    pub live: LiveText,
    /// Feedback in the footer.
    pub status: Option<StatusLine>,
    /// Texts that were sent, oldest first.
    pub history: VecDeque<String>,
    /// What the last frame showed.
    pub view: ViewMemory,
    /// Whether the window has the focus.
    pub focused: bool,
    /// Whether the mouse is captured.
    pub mouse: bool,
    /// A form that was closed without sending.
    pub(super) form_draft: Option<Form>,
    pub(super) sent: HashMap<u64, Sent>,
    pub(super) edits: HashMap<u64, EditPurpose>,
    pub(super) alerts: Alerts,
    pub(super) wake_at: Option<Timestamp>,
    pub(super) watched: Option<MemberName>,
    /// When the last key was pressed, and the one before it.
    pub(super) last_key: Option<Timestamp>,
    pub(super) previous_key: Option<Timestamp>,
    /// The last key of a burst that began with a verdict that was not taken.
    pub(super) burst: Option<Timestamp>,
    next_token: u64,
}

impl State {
    /// A screen without a team yet.
    pub fn new(options: StateOptions) -> Self {
        let mouse = options.mouse;
        Self {
            options,
            team: Projection::default(),
            focus: Pane::default(),
            zoom: false,
            roster: RosterPane::default(),
            approvals: ApprovalsPane::default(),
            board: BoardPane::default(),
            inbox: InboxPane::default(),
            activity: ActivityPane::default(),
            confirm: None,
            prompt: None,
            form: None,
            palette: None,
            needs: None,
            protocols: None,
            help: None,
            detail: None,
            quitting: None,
            live: LiveText::default(),
            status: None,
            history: VecDeque::new(),
            view: ViewMemory::default(),
            focused: true,
            mouse,
            form_draft: None,
            sent: HashMap::new(),
            edits: HashMap::new(),
            alerts: Alerts::default(),
            wake_at: None,
            watched: None,
            last_key: None,
            previous_key: None,
            burst: None,
            next_token: 0,
        }
    }

    /// A token for a command whose outcome comes back.
    pub(super) fn token(&mut self) -> u64 {
        self.next_token += 1;
        self.next_token
    }

    /// Gives a command to the team; `label` says what it was when the answer comes.
    pub(super) fn command(&mut self, label: impl Into<String>, command: TeamCommand) -> Cmd {
        let answers = match &command {
            TeamCommand::Answer { id, .. } => Some(id.clone()),
            _ => None,
        };
        let token = self.token();
        self.sent.insert(token, Sent { label: label.into(), answers, then_quit: false, form: None });
        Cmd::Team { token, command }
    }

    /// Remembers the form that a command came from until it is answered.
    pub(super) fn keep_form(&mut self, cmd: &Cmd, form: Option<Form>) {
        if let Cmd::Team { token, .. } = cmd
            && let Some(sent) = self.sent.get_mut(token)
        {
            sent.form = form.map(Box::new);
        }
    }

    /// Whether an answer to this request is under way.
    pub(super) fn is_answering(&self, id: &RequestId) -> bool {
        self.sent.values().any(|sent| sent.answers.as_ref() == Some(id))
    }

    /// Says in the footer why something was not done.
    pub fn hint(&mut self, text: impl AsRef<str>, now: Timestamp) -> Vec<Cmd> {
        self.say(StatusLevel::Hint, text.as_ref(), now);
        Vec::new()
    }

    /// Writes a line into the footer.
    pub(super) fn say(&mut self, level: StatusLevel, text: &str, now: Timestamp) {
        let shown = match level {
            StatusLevel::Info | StatusLevel::Hint => HINT_SHOWN,
            StatusLevel::Error => ERROR_SHOWN,
        };
        self.status = Some(StatusLine { text: crate::domain::text::one_line(text, 400), level, until: now.plus(shown) });
    }

    /// The selected member.
    pub fn selected_member(&self) -> Option<&MemberView> {
        self.roster.selected.as_ref().and_then(|name| self.team.member(name))
    }

    /// Remembers a text that was sent.
    pub(super) fn remember(&mut self, text: &str) {
        if self.history.back().is_none_or(|last| last != text) {
            super::projection::push_bounded(&mut self.history, text.to_owned(), HISTORY_MAX);
        }
    }

    /// Where a key goes now.
    pub fn context(&self) -> Context {
        if self.prompt.is_some() || self.form.is_some() || self.palette.is_some() {
            Context::Prompt
        } else if self.needs.is_some() || self.protocols.is_some() || self.help.is_some() || self.detail.is_some() {
            Context::Detail
        } else {
            self.focus.context()
        }
    }

    /// The sections of the keymap that keys are looked up in now, the nearest first.
    pub fn contexts(&self) -> Vec<Context> {
        match self.context() {
            Context::Prompt => vec![Context::Prompt],
            // A task that is open takes the board's keys.
            Context::Detail if matches!(self.detail.as_ref().map(|d| &d.kind), Some(super::overlay::DetailKind::Task(_))) => {
                vec![Context::Detail, Context::Board, Context::Global]
            }
            context => vec![context, Context::Global],
        }
    }

    /// What a key does now.
    pub fn lookup(&self, key: super::msg::Key) -> Option<Action> {
        self.contexts().into_iter().find_map(|context| self.options.keymap.action_in(context, key))
    }

    /// The key of an action, as text.
    pub fn key_name(&self, action: Action) -> String {
        self.options.keymap.key_name(action)
    }

    /// The model as it is shown: scripted ones are labelled.
    pub fn model_label(&self) -> String {
        let (model, scripted) =
            if self.team.runner.is_some() { (&self.team.model, self.team.scripted) } else { (&self.options.model, self.options.scripted) };
        match (scripted, model.is_empty()) {
            (true, _) => "scripted model".into(),
            (false, true) => "no model".into(),
            (false, false) => model.clone(),
        }
    }
}
