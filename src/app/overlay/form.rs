//! Forms: a new teammate, a new task. Enter goes to the next field and sends from the last one.

use crate::app::action::Action;
use crate::app::editor::Editor;
use crate::app::keymap::Context;
use crate::app::msg::{Cmd, Key};
use crate::app::state::State;
use crate::domain::{MemberName, SpawnOrder, TaskId, TeamCommand, Timestamp};

/// What a form is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormKind {
    /// A new teammate.
    Spawn,
    /// A new task.
    Task,
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub label: &'static str,
    /// Its text; for a switch `yes` or `no`.
    pub editor: Editor,
    /// Whether the space key switches it between yes and no.
    pub is_switch: bool,
}

/// An open form.
#[derive(Clone, Debug)]
pub struct Form {
    /// What it is for.
    pub kind: FormKind,
    /// Its fields.
    pub fields: Vec<Field>,
    /// The field that is written in.
    pub at: usize,
    /// What is wrong with it, in words.
    pub error: Option<String>,
}

impl Form {
    /// An empty form.
    pub fn new(kind: FormKind) -> Self {
        let labels: &[(&'static str, bool)] = match kind {
            FormKind::Spawn => &[("name", false), ("role", false), ("prompt", false), ("plan first", true)],
            FormKind::Task => &[("subject", false), ("description", false), ("waits for", false)],
        };
        let field = |(label, is_switch): &(&'static str, bool)| Field {
            label,
            editor: Editor::new(if *is_switch { "no" } else { "" }),
            is_switch: *is_switch,
        };
        Self { kind, fields: labels.iter().map(field).collect(), at: 0, error: None }
    }

    /// Whether something was written into it.
    pub fn is_touched(&self) -> bool {
        self.fields.iter().any(|field| !field.is_switch && !field.editor.is_blank())
    }

    /// The team refused it: it opens again, with the reason and everything that was written.
    pub fn refused(mut self, why: String) -> Self {
        self.error = Some(why);
        // What the team can refuse: a name, or what a task waits for.
        self.at = match self.kind {
            FormKind::Spawn => 0,
            FormKind::Task => self.fields.len().saturating_sub(1),
        };
        self
    }

    /// Its heading.
    pub const fn title(&self) -> &'static str {
        match self.kind {
            FormKind::Spawn => "New teammate",
            FormKind::Task => "New task",
        }
    }

    /// Puts pasted text into the field that is written in.
    pub fn paste(&mut self, text: &str) {
        if let Some(field) = self.fields.get_mut(self.at).filter(|f| !f.is_switch) {
            field.editor.paste(text);
        }
    }

    fn value(&self, at: usize) -> String {
        self.fields.get(at).map(|f| f.editor.value().trim().to_owned()).unwrap_or_default()
    }

    fn command(&self) -> Result<(String, TeamCommand), (usize, String)> {
        match self.kind {
            FormKind::Spawn => {
                let name = MemberName::parse_teammate(&self.value(0)).map_err(|e| (0, e.to_string()))?;
                if self.value(1).is_empty() {
                    return Err((1, "say in a few words what it is for".into()));
                }
                let order = SpawnOrder {
                    name: name.to_string(),
                    role: self.value(1),
                    prompt: Some(self.value(2)).filter(|text| !text.is_empty()),
                    require_plan: self.value(3) == "yes",
                    model: None,
                };
                Ok((format!("spawning {name}"), TeamCommand::Spawn(order)))
            }
            FormKind::Task => {
                let subject = self.value(0);
                if subject.is_empty() {
                    return Err((0, "a task needs a subject".into()));
                }
                let blocked_by = parse_ids(&self.value(2)).map_err(|e| (2, e))?;
                Ok(("adding the task".into(), TeamCommand::CreateTask { subject, description: self.value(1), blocked_by }))
            }
        }
    }
}

/// `3 #4, 5` as task numbers.
pub fn parse_ids(text: &str) -> Result<Vec<TaskId>, String> {
    let words = text.split([' ', ',', '\n']).filter(|word| !word.is_empty());
    words.map(|word| TaskId::parse(word).ok_or_else(|| format!("{word:?} is no task number: write 3 or #3"))).collect()
}

/// A key while a form is open.
pub fn key(state: &mut State, key: Key, now: Timestamp) -> Vec<Cmd> {
    let action = state.options.keymap.action(Context::Prompt, key);
    let Some(form) = &mut state.form else { return Vec::new() };
    let last = form.fields.len().saturating_sub(1);
    let is_switch = form.fields.get(form.at).is_some_and(|f| f.is_switch);
    match action {
        Some(Action::Cancel) => {
            let kept = form.is_touched();
            form.error = None;
            state.form_draft = state.form.take().filter(|_| kept);
            return state.hint(if kept { "not sent; the form keeps its text for the next time" } else { "not sent" }, now);
        }
        Some(Action::Submit) if form.at >= last => return submit(state),
        Some(Action::Submit | Action::NextField) => form.at = (form.at + 1) % (last + 1),
        Some(Action::PreviousField) => form.at = form.at.checked_sub(1).unwrap_or(last),
        Some(Action::CursorUp) if on_edge(form, Action::CursorUp) => form.at = form.at.saturating_sub(1),
        Some(Action::CursorDown) if on_edge(form, Action::CursorDown) => form.at = (form.at + 1).min(last),
        Some(action) if !is_switch => {
            if form.fields.get_mut(form.at).is_some_and(|field| field.editor.act(action)) {
                form.error = None;
            }
        }
        Some(_) => {}
        None => type_into(form, key),
    }
    Vec::new()
}

fn on_edge(form: &Form, action: Action) -> bool {
    form.fields.get(form.at).is_some_and(|field| match action {
        Action::CursorUp => field.editor.on_first_line(),
        _ => field.editor.on_last_line(),
    })
}

fn type_into(form: &mut Form, key: Key) {
    let (Some(c), Some(field)) = (key.typed(), form.fields.get_mut(form.at)) else { return };
    match (field.is_switch, c) {
        (false, c) => field.editor.insert(c),
        (true, 'y' | 'Y') => field.editor = Editor::new("yes"),
        (true, 'n' | 'N') => field.editor = Editor::new("no"),
        (true, _) => field.editor = Editor::new(if field.editor.value() == "yes" { "no" } else { "yes" }),
    }
    form.error = None;
}

fn submit(state: &mut State) -> Vec<Cmd> {
    let Some(form) = &mut state.form else { return Vec::new() };
    match form.command() {
        Ok((label, command)) => {
            let sent = state.form.take();
            let cmd = state.command(label, command);
            state.keep_form(&cmd, sent);
            vec![cmd]
        }
        Err((at, error)) => {
            (form.at, form.error) = (at, Some(error));
            Vec::new()
        }
    }
}
