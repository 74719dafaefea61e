//! The lead's tools for its team.

use super::declared::{Declared, object, read};
use super::reply::{request_line, request_of, say};
use super::{Audience, Effect, Tool, ToolContext, ToolOutcome};
use crate::domain::{Refusal, Request, RequestId, SpawnOrder, TeamCommand};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

const SPAWN: &str = "spawn_teammate";

/// The tools of this file.
pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    let text = |words: &str| json!({ "type": "string", "minLength": 1, "description": words });
    let lead = |name, description, parameters, effect, subject, run| -> Arc<dyn Tool> {
        // Who asks for a member of a special kind is told that there is none, and gets no ordinary one for it.
        let exact = name == SPAWN;
        Arc::new(Declared { name, description, parameters, audience: Audience::Lead, effect, subject: Some(subject), exact, run })
    };
    vec![
        lead(
            SPAWN,
            "Start one teammate that works on its own. It can be written to, and it takes ready tasks from the board.",
            object(
                json!({
                    "name": text("1 to 64 letters, digits, _ or -; free ignoring case."),
                    "role": text("What it is for, in a few words."),
                    "prompt": text("Its first instruction, with all it needs to know."),
                    "require_plan": { "type": "boolean", "description": "It changes nothing until its plan is approved." },
                    "model": { "type": "string", "description": "A model of its own." },
                }),
                &["name", "role", "prompt"],
            ),
            Effect::Team,
            "name",
            |arguments, context| Box::pin(spawn(arguments, context)),
        ),
        lead(
            "list_teammates",
            "List all members with status, task and what they wait for.",
            object(json!({}), &[]),
            Effect::Reads,
            "",
            |_, context| Box::pin(async move { Ok(ToolOutcome::ok(say(&context.team.command(TeamCommand::ListMembers).await?))) }),
        ),
        lead(
            "shutdown_request",
            "Ask a teammate to end its work. It may refuse with a reason; look with shutdown_check.",
            object(json!({ "teammate": text("Its name."), "reason": { "type": "string" } }), &["teammate"]),
            Effect::Team,
            "teammate",
            |arguments, context| Box::pin(shutdown(arguments, context)),
        ),
        lead(
            "shutdown_check",
            "See where a shutdown request stands.",
            object(json!({ "request_id": text("The id that shutdown_request gave.") }), &["request_id"]),
            Effect::Reads,
            "request_id",
            |arguments, context| Box::pin(check(arguments, context)),
        ),
    ]
}

async fn spawn(arguments: Value, context: ToolContext) -> Result<ToolOutcome, Refusal> {
    let order: SpawnOrder = read(arguments)?;
    let order = SpawnOrder { model: order.model.filter(|model| !model.trim().is_empty()), ..order };
    Ok(ToolOutcome::ok(say(&context.team.command(TeamCommand::Spawn(order)).await?)))
}

#[derive(Deserialize)]
struct Shutdown {
    teammate: String,
    reason: Option<String>,
}

async fn shutdown(arguments: Value, context: ToolContext) -> Result<ToolOutcome, Refusal> {
    let Shutdown { teammate: target, reason } = read(arguments)?;
    let reply = context.team.command(TeamCommand::RequestShutdown { target, reason }).await?;
    Ok(ToolOutcome::ok(say(&reply)))
}

#[derive(Deserialize)]
struct Check {
    request_id: String,
}

async fn check(arguments: Value, context: ToolContext) -> Result<ToolOutcome, Refusal> {
    let Check { request_id } = read(arguments)?;
    let request = request(&context, &request_id).await?;
    Ok(ToolOutcome::ok(request_line(&request)))
}

/// The request of that id; an id that is none is refused as unknown.
pub(super) async fn request(context: &ToolContext, id: &str) -> Result<Arc<Request>, Refusal> {
    let unknown = || Refusal::UnknownRequest(id.chars().take(80).collect());
    let id = RequestId::parse(id.trim()).ok_or_else(unknown)?;
    let reply = context.team.command(TeamCommand::GetRequest { id }).await?;
    request_of(&reply).cloned().ok_or_else(unknown)
}
