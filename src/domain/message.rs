//! Mail: one line of a member's inbox. Both upstream dialects are read, ours is written.

use super::{Extra, MessageId, Party, RequestId, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a message is for. The kind of a line in a file gives no authority by itself: requests are decided by their
/// own files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// From one to one.
    #[default]
    Message,
    /// From one to all.
    Broadcast,
    /// Asks the receiver to shut down.
    ShutdownRequest,
    /// Answers that.
    ShutdownResponse,
    /// Submits a plan.
    PlanApprovalRequest,
    /// Answers that. (Upstream also submits plans under this name; then it carries a `plan` and no `approve`.)
    PlanApprovalResponse,
    /// Upstream's note that a member has nothing to do. Not sent by us.
    IdleNotification,
    /// A member's result for the lead.
    Result,
    /// A member's failure for the lead.
    Error,
    /// A word this version does not know.
    #[serde(other)]
    Other,
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// The writer's id; lines of upstream programs have none.
    pub id: Option<MessageId>,
    /// What it is for.
    pub kind: MessageKind,
    /// Set by the runtime. A line in a file can claim anything.
    pub from: Party,
    /// The receiver's name; empty in upstream lines (the file's name tells).
    pub to: String,
    /// Plain text; data, never a command.
    pub content: String,
    /// When it was written.
    pub at: Timestamp,
    /// The request it belongs to.
    pub request_id: Option<RequestId>,
    /// Fields of other programs, and ours that are rare (`plan`, `approve`, `feedback`, `reason`).
    pub extra: Extra,
}

impl Envelope {
    /// A plain message.
    pub fn new(id: MessageId, kind: MessageKind, from: Party, to: &str, content: impl Into<String>, at: Timestamp) -> Self {
        Self { id: Some(id), kind, from, to: to.to_owned(), content: content.into(), at, request_id: None, extra: Extra::new() }
    }

    /// Binds the message to a request.
    #[must_use]
    pub fn about(mut self, request: RequestId) -> Self {
        self.request_id = Some(request);
        self
    }
}

/// The names of a line's own fields, and of the nests.
const FIELDS: [&str; 8] = ["id", "type", "from", "to", "content", "timestamp", "extra", "metadata"];

#[derive(Serialize, Deserialize)]
struct Wire {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<MessageId>,
    #[serde(rename = "type", default)]
    kind: MessageKind,
    from: Party,
    #[serde(default)]
    to: String,
    #[serde(default)]
    content: serde_json::Value,
    #[serde(default)]
    timestamp: f64,
    #[serde(flatten)]
    extra: Extra,
}

impl Serialize for Envelope {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut extra = self.extra.clone();
        if let Some(id) = &self.request_id {
            extra.insert("request_id".into(), id.as_str().into());
        }
        Wire {
            id: self.id.clone(),
            kind: self.kind,
            from: self.from.clone(),
            to: self.to.clone(),
            content: self.content.clone().into(),
            timestamp: self.at.as_seconds(),
            extra,
        }
        .serialize(s)
    }
}

impl<'de> Deserialize<'de> for Envelope {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let mut wire = Wire::deserialize(d)?;
        for nest in ["extra", "metadata"] {
            if let Some(serde_json::Value::Object(inner)) = wire.extra.remove(nest) {
                // A nested field never passes for one of the message's own: it would stand twice in the line, and the line
                // could not be read again.
                let (own, free): (Extra, Extra) = inner.into_iter().partition(|(key, _)| FIELDS.contains(&key.as_str()));
                free.into_iter().for_each(|(key, value)| {
                    wire.extra.entry(key).or_insert(value);
                });
                if !own.is_empty() {
                    wire.extra.insert(nest.to_owned(), own.into());
                }
            }
        }
        let id = ["request_id", "requestId"].iter().find_map(|key| wire.extra.remove(*key));
        let request_id = id.as_ref().and_then(serde_json::Value::as_str).and_then(RequestId::parse);
        if let (None, Some(odd)) = (&request_id, id) {
            wire.extra.insert("request_id".into(), odd);
        }
        let content = match wire.content {
            serde_json::Value::String(text) => text,
            serde_json::Value::Null => String::new(),
            other => other.to_string(),
        };
        Ok(Self {
            id: wire.id,
            kind: wire.kind,
            from: wire.from,
            to: wire.to,
            content,
            at: Timestamp::from_number(wire.timestamp),
            request_id,
            extra: wire.extra,
        })
    }
}
