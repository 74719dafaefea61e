//! The prompt: one text, written at the lower edge. Nothing that is typed or pasted into it acts as a command; only
//! Enter sends. A note or feedback that was written is what Enter sends: changing the verdict asks first.

use super::form::parse_ids;
use crate::app::action::Action;
use crate::app::editor::Editor;
use crate::app::keymap::Context;
use crate::app::msg::{Cmd, Key, KeyCode};
use crate::app::state::{Pane, State};
use crate::domain::{Digest, MemberName, RequestId, TaskId, TeamCommand, Timestamp, Verdict};

/// What a text is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Purpose {
    /// Mail to a member.
    Message(MemberName),
    /// Mail to all.
    Broadcast,
    /// A note with an approval.
    Note { id: RequestId, digest: Digest },
    /// Feedback with a rejection.
    Feedback { id: RequestId, digest: Digest },
    /// A filter; takes effect while it is typed.
    Filter(Pane),
    /// A search in what is open.
    Search,
    /// The ids a task waits for.
    Blockers(TaskId),
}

/// Whether the verdict is being switched while words are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Switch {
    /// No.
    #[default]
    No,
    /// Asked: `y` switches.
    Asked,
}

/// A text being written.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// What for.
    pub purpose: Purpose,
    /// The text.
    pub editor: Editor,
    /// Whether the verdict is being switched.
    pub switch: Switch,
    recalled: usize,
}

impl Prompt {
    /// A prompt that begins with `text`.
    pub fn new(purpose: Purpose, text: &str) -> Self {
        Self { purpose, editor: Editor::new(text), switch: Switch::No, recalled: 0 }
    }

    /// What it asks for.
    pub fn title(&self) -> String {
        match &self.purpose {
            Purpose::Message(name) => format!("to {name}"),
            Purpose::Broadcast => "to all".into(),
            Purpose::Note { id, .. } => format!("approve {id} with a note"),
            Purpose::Feedback { id, .. } => format!("reject {id} with feedback"),
            Purpose::Filter(pane) => format!("filter {}", pane.title().to_lowercase()),
            Purpose::Search => "search".into(),
            Purpose::Blockers(id) => format!("{id} waits for"),
        }
    }
}

/// A key while a text is being written.
pub fn key(state: &mut State, key: Key, now: Timestamp) -> Vec<Cmd> {
    let action = state.options.keymap.action(Context::Prompt, key);
    let Some(prompt) = &mut state.prompt else { return Vec::new() };
    if prompt.switch == Switch::Asked {
        prompt.switch = Switch::No;
        if matches!(key.code, KeyCode::Char('y' | 'Y')) && !key.ctrl {
            switch_verdict(prompt);
        }
        return Vec::new();
    }
    match action {
        Some(Action::Submit) => return submit(state, now),
        Some(Action::Cancel) => return cancel(state, now),
        Some(Action::SwitchVerdict) if prompt.editor.is_blank() => switch_verdict(prompt),
        Some(Action::SwitchVerdict) => {
            if matches!(prompt.purpose, Purpose::Note { .. } | Purpose::Feedback { .. }) {
                prompt.switch = Switch::Asked;
            }
        }
        Some(Action::CursorUp) if prompt.editor.on_first_line() => recall(state, Recall::Older),
        Some(Action::CursorDown) if prompt.editor.on_last_line() => recall(state, Recall::Newer),
        Some(action) => {
            prompt.editor.act(action);
        }
        None => {
            if let Some(c) = key.typed() {
                prompt.editor.insert(c);
            }
        }
    }
    changed(state);
    Vec::new()
}

/// Text was pasted into the prompt.
pub fn paste(state: &mut State, text: &str) {
    if let Some(prompt) = &mut state.prompt {
        prompt.switch = Switch::No;
        prompt.editor.paste(text);
    }
    changed(state);
}

fn switch_verdict(prompt: &mut Prompt) {
    prompt.purpose = match prompt.purpose.clone() {
        Purpose::Note { id, digest } => Purpose::Feedback { id, digest },
        Purpose::Feedback { id, digest } => Purpose::Note { id, digest },
        other => other,
    };
}

/// Filters take effect while they are typed.
fn changed(state: &mut State) {
    if let Some(Prompt { purpose: Purpose::Filter(pane), editor, .. }) = &state.prompt {
        let (pane, text) = (*pane, editor.value());
        crate::app::pane::moves::set_filter(state, pane, &text);
    }
}

#[derive(Clone, Copy)]
enum Recall {
    Older,
    Newer,
}

fn recall(state: &mut State, way: Recall) {
    let Some(prompt) = &mut state.prompt else { return };
    if !matches!(prompt.purpose, Purpose::Message(_) | Purpose::Broadcast | Purpose::Feedback { .. } | Purpose::Note { .. }) {
        return;
    }
    let at = match way {
        Recall::Older => (prompt.recalled + 1).min(state.history.len()),
        Recall::Newer => prompt.recalled.saturating_sub(1),
    };
    if at == prompt.recalled {
        return;
    }
    prompt.recalled = at;
    let text = state.history.iter().rev().nth(at.wrapping_sub(1)).cloned().unwrap_or_default();
    prompt.editor.set(&text);
}

fn cancel(state: &mut State, now: Timestamp) -> Vec<Cmd> {
    let Some(prompt) = state.prompt.take() else { return Vec::new() };
    match prompt.purpose {
        Purpose::Filter(pane) => crate::app::pane::moves::set_filter(state, pane, ""),
        Purpose::Message(_) | Purpose::Broadcast | Purpose::Note { .. } | Purpose::Feedback { .. } if !prompt.editor.is_blank() => {
            state.remember(&prompt.editor.value());
            return state.hint("not sent; the up key brings the text back", now);
        }
        Purpose::Message(_)
        | Purpose::Broadcast
        | Purpose::Note { .. }
        | Purpose::Feedback { .. }
        | Purpose::Search
        | Purpose::Blockers(_) => {}
    }
    Vec::new()
}

fn submit(state: &mut State, now: Timestamp) -> Vec<Cmd> {
    let Some(prompt) = state.prompt.take() else { return Vec::new() };
    let text = prompt.editor.value();
    let words = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    match prompt.purpose {
        Purpose::Message(to) => match words {
            Some(content) => {
                state.remember(&content);
                vec![state.command(format!("writing to {to}"), TeamCommand::Send { to: to.to_string(), content })]
            }
            None => state.hint("nothing was written, nothing was sent", now),
        },
        Purpose::Broadcast => match words {
            Some(content) => {
                state.remember(&content);
                vec![state.command("writing to all", TeamCommand::Broadcast { content })]
            }
            None => state.hint("nothing was written, nothing was sent", now),
        },
        Purpose::Note { id, digest } => {
            words.iter().for_each(|text| state.remember(text));
            let verdict = Verdict::Approve { note: words, edited: None, always: false };
            vec![state.command(format!("approving {id}"), TeamCommand::Answer { id, verdict, shown: digest })]
        }
        Purpose::Feedback { id, digest } => {
            words.iter().for_each(|text| state.remember(text));
            vec![state.command(
                format!("rejecting {id}"),
                TeamCommand::Answer { id, verdict: Verdict::Reject { feedback: words }, shown: digest },
            )]
        }
        Purpose::Filter(_) => Vec::new(),
        Purpose::Search => crate::app::reading::search(state, &text, now),
        Purpose::Blockers(task) => blockers(state, task, &text, now),
    }
}

fn blockers(state: &mut State, task: TaskId, text: &str, now: Timestamp) -> Vec<Cmd> {
    let wanted = match parse_ids(text) {
        Ok(ids) => ids,
        Err(error) => return state.hint(error, now),
    };
    let present = state.team.board.get(task).map(|t| t.blocked_by.clone()).unwrap_or_default();
    let add: Vec<TaskId> = wanted.iter().filter(|id| !present.contains(id)).copied().collect();
    let remove: Vec<TaskId> = present.into_iter().filter(|id| !wanted.contains(id)).collect();
    if add.is_empty() && remove.is_empty() {
        return state.hint("nothing changed", now);
    }
    vec![state.command(format!("changing what {task} waits for"), TeamCommand::EditBlockers { task, add, remove })]
}
