//! A task: one unit of work, `.tasks/task_N.json`.

use super::{Extra, MemberName, Party, TaskId, Timestamp};
use serde::{Deserialize, Deserializer, Serialize};

/// A task keeps at most this many notes; the oldest go first.
pub const NOTES_MAX: usize = 50;

/// Where a task stands. Whether a pending one is ready is derived by the board, never stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Nobody works on it.
    #[default]
    Pending,
    /// Its owner works on it.
    #[serde(alias = "inProgress", alias = "in-progress")]
    InProgress,
    /// Done.
    #[serde(alias = "done", alias = "complete")]
    Completed,
}

/// Something that happened to a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskNote {
    /// When.
    pub at: Timestamp,
    /// Who did it.
    pub by: Party,
    /// What happened, in words.
    pub text: String,
}

/// A unit of work on the board.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Task {
    /// The number in its file's name.
    pub id: TaskId,
    /// One line.
    pub subject: String,
    /// As long as it needs to be.
    pub description: String,
    /// Where it stands.
    pub status: TaskStatus,
    /// Who works on it or did it.
    pub owner: Option<MemberName>,
    /// Ids that must be completed first.
    #[serde(rename = "blockedBy")]
    pub blocked_by: Vec<TaskId>,
    /// What happened to it, oldest first, at most [`NOTES_MAX`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<TaskNote>,
    /// Fields of other programs.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Task {
    /// A new pending task.
    pub fn new(id: TaskId, subject: impl Into<String>) -> Self {
        Self {
            id,
            subject: subject.into(),
            description: String::new(),
            status: TaskStatus::Pending,
            owner: None,
            blocked_by: Vec::new(),
            notes: Vec::new(),
            extra: Extra::new(),
        }
    }

    /// Adds a note, dropping the oldest beyond [`NOTES_MAX`].
    pub fn note(&mut self, at: Timestamp, by: Party, text: impl Into<String>) {
        self.notes.push(TaskNote { at, by, text: text.into() });
        let surplus = self.notes.len().saturating_sub(NOTES_MAX);
        self.notes.drain(..surplus);
    }
}

/// The file as others may write it: camel or snake case, `taskId`, `owner:""`, numbers as text, missing lists.
#[derive(Deserialize)]
struct Lenient {
    #[serde(alias = "taskId", alias = "task_id", deserialize_with = "one_id")]
    id: TaskId,
    #[serde(default)]
    subject: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    status: TaskStatus,
    #[serde(default)]
    owner: Option<String>,
    #[serde(default, rename = "blockedBy", alias = "blocked_by", deserialize_with = "ids")]
    blocked_by: Vec<TaskId>,
    #[serde(default)]
    notes: Vec<TaskNote>,
    #[serde(flatten)]
    extra: Extra,
}

impl<'de> Deserialize<'de> for Task {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let raw = Lenient::deserialize(d)?;
        let owner = match raw.owner.as_deref().map(str::trim) {
            None | Some("") => None,
            Some(text) => Some(MemberName::parse(text).map_err(serde::de::Error::custom)?),
        };
        Ok(Self {
            id: raw.id,
            subject: raw.subject,
            description: raw.description.unwrap_or_default(),
            status: raw.status,
            owner,
            blocked_by: raw.blocked_by,
            notes: raw.notes,
            extra: raw.extra,
        })
    }
}

fn id_of(value: &serde_json::Value) -> Option<TaskId> {
    match value {
        serde_json::Value::Number(n) => n.as_u64().filter(|n| *n > 0).map(TaskId),
        serde_json::Value::String(text) => TaskId::parse(text),
        _ => None,
    }
}

fn one_id<'de, D: Deserializer<'de>>(d: D) -> Result<TaskId, D::Error> {
    let value = serde_json::Value::deserialize(d)?;
    id_of(&value).ok_or_else(|| serde::de::Error::custom(format!("task id {value} is not a positive whole number")))
}

fn ids<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<TaskId>, D::Error> {
    let values = Option::<Vec<serde_json::Value>>::deserialize(d)?.unwrap_or_default();
    let read =
        |v: &serde_json::Value| id_of(v).ok_or_else(|| serde::de::Error::custom(format!("blockedBy holds {v}, which is no task id")));
    values.iter().map(read).collect()
}
