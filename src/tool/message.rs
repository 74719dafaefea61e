//! Tools for mail. The sender of a message is set by the runtime; a tool cannot choose it.

use super::declared::{Declared, object, read};
use super::reply::say;
use super::{Audience, Effect, Tool, ToolContext, ToolOutcome};
use crate::domain::{Refusal, TeamCommand};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The tools of this file.
pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    let content = json!({ "type": "string", "minLength": 1, "description": "Plain text." });
    vec![
        Arc::new(Declared {
            name: "send_message",
            description: "Write to one member of the team, or to `human`. It is read at the receiver's next step.",
            parameters: object(
                json!({ "to": { "type": "string", "minLength": 1, "description": "A member's name, or human." }, "content": content }),
                &["to", "content"],
            ),
            audience: Audience::All,
            effect: Effect::Team,
            subject: Some("to"),
            exact: false,
            run: |arguments, context| Box::pin(send(arguments, context)),
        }),
        Arc::new(Declared {
            name: "read_inbox",
            description: "Read mail that arrived since you last looked. Mail is also given to you between steps by itself.",
            parameters: object(json!({}), &[]),
            audience: Audience::All,
            effect: Effect::Reads,
            subject: None,
            exact: false,
            run: |_, context| Box::pin(inbox(context)),
        }),
        Arc::new(Declared {
            name: "broadcast",
            description: "Write to every live teammate. Prefer send_message: each reader spends tokens on it.",
            parameters: object(json!({ "content": content }), &["content"]),
            audience: Audience::Lead,
            effect: Effect::Team,
            subject: Some("content"),
            exact: false,
            run: |arguments, context| Box::pin(broadcast(arguments, context)),
        }),
    ]
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    to: String,
    content: String,
}

async fn send(arguments: Value, context: ToolContext) -> Result<ToolOutcome, Refusal> {
    let Message { to, content } = read(arguments)?;
    Ok(ToolOutcome::ok(say(&context.team.command(TeamCommand::Send { to, content }).await?)))
}

async fn broadcast(arguments: Value, context: ToolContext) -> Result<ToolOutcome, Refusal> {
    let Message { content, .. } = read(arguments)?;
    Ok(ToolOutcome::ok(say(&context.team.command(TeamCommand::Broadcast { content }).await?)))
}

async fn inbox(context: ToolContext) -> Result<ToolOutcome, Refusal> {
    let mail = context.team.take_mail().await?;
    Ok(ToolOutcome::ok(if mail.trim().is_empty() { "no new mail".into() } else { mail }))
}
