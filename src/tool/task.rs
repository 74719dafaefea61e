//! Tools for the board.

use super::declared::{Declared, object, read};
use super::reply::{say, task_line, task_of};
use super::{Audience, Effect, Tool, ToolContext, ToolOutcome};
use crate::domain::{Refusal, Reply, Task, TaskId, TaskStatus, TeamCommand};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The tools of this file.
pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    let id = json!({ "type": "integer", "minimum": 1, "description": "The task's number." });
    let ids = |text: &str| json!({ "type": "array", "items": { "type": "integer", "minimum": 1 }, "description": text });
    let status = json!({ "type": "string", "enum": ["pending", "in_progress", "completed"],
        "description": "completed: it is done. in_progress: claim it. pending: give it back to the board." });
    let tool = |name, description, parameters, effect, subject, run| -> Arc<dyn Tool> {
        Arc::new(Declared { name, description, parameters, audience: Audience::All, effect, subject: Some(subject), exact: false, run })
    };
    vec![
        tool(
            "task_create",
            "Put a task on the board. It becomes ready when every task in blockedBy is completed.",
            object(
                json!({
                    "subject": { "type": "string", "minLength": 1, "description": "One line." },
                    "description": { "type": "string", "description": "All that whoever does it needs to know." },
                    "blockedBy": ids("Numbers of tasks that must be completed first."),
                }),
                &["subject"],
            ),
            Effect::Team,
            "subject",
            |arguments, context| Box::pin(create(arguments, context)),
        ),
        tool(
            "task_get",
            "Read one task in full.",
            object(json!({ "task_id": id }), &["task_id"]),
            Effect::Reads,
            "task_id",
            |arguments, context| Box::pin(get(arguments, context)),
        ),
        tool(
            "task_list",
            "List all tasks with status, owner and what they wait for.",
            object(json!({}), &[]),
            Effect::Reads,
            "",
            |_, context| Box::pin(async move { Ok(ToolOutcome::ok(say(&context.team.command(TeamCommand::ListTasks).await?))) }),
        ),
        tool(
            "task_update",
            "Change a task's status or what it waits for.",
            object(
                json!({
                    "task_id": id,
                    "status": status,
                    "addBlockedBy": ids("Tasks it must wait for from now on."),
                    "removeBlockedBy": ids("Tasks it need not wait for any more."),
                }),
                &["task_id"],
            ),
            Effect::Team,
            "task_id",
            |arguments, context| Box::pin(update(arguments, context)),
        ),
        tool(
            "claim_task",
            "Take a ready task, so that nobody else does. You can have one task in progress at a time.",
            object(json!({ "task_id": id }), &["task_id"]),
            Effect::Team,
            "task_id",
            |arguments, context| Box::pin(claim(arguments, context)),
        ),
    ]
}

#[derive(Deserialize)]
struct Create {
    subject: String,
    #[serde(default)]
    description: String,
    #[serde(default, rename = "blockedBy")]
    blocked_by: Vec<TaskId>,
}

async fn create(arguments: Value, context: ToolContext) -> Result<ToolOutcome, Refusal> {
    let Create { subject, description, blocked_by } = read(arguments)?;
    let reply = context.team.command(TeamCommand::CreateTask { subject, description, blocked_by }).await?;
    Ok(ToolOutcome::ok(format!("created {}", said(&reply))))
}

#[derive(Deserialize)]
struct One {
    task_id: TaskId,
}

async fn get(arguments: Value, context: ToolContext) -> Result<ToolOutcome, Refusal> {
    let One { task_id } = read(arguments)?;
    let reply = context.team.command(TeamCommand::GetTask { task: task_id }).await?;
    Ok(ToolOutcome::ok(task_of(&reply).map_or_else(|| say(&reply), |task| in_full(task))))
}

fn in_full(task: &Task) -> String {
    serde_json::to_string(task).unwrap_or_else(|_| task_line(task))
}

async fn claim(arguments: Value, context: ToolContext) -> Result<ToolOutcome, Refusal> {
    let One { task_id } = read(arguments)?;
    let reply = context.team.command(TeamCommand::ClaimTask { task: task_id }).await?;
    Ok(ToolOutcome::ok(format!("claimed {}", said(&reply))))
}

#[derive(Deserialize)]
struct Update {
    task_id: TaskId,
    status: Option<TaskStatus>,
    #[serde(default, rename = "addBlockedBy")]
    add: Vec<TaskId>,
    #[serde(default, rename = "removeBlockedBy")]
    remove: Vec<TaskId>,
}

async fn update(arguments: Value, context: ToolContext) -> Result<ToolOutcome, Refusal> {
    let Update { task_id: task, status, add, remove } = read(arguments)?;
    let edits = !(add.is_empty() && remove.is_empty());
    if !edits && status.is_none() {
        return Err(Refusal::Invalid("nothing to change: give status, addBlockedBy or removeBlockedBy".into()));
    }
    let mut told = Vec::new();
    if edits {
        let reply = context.team.command(TeamCommand::EditBlockers { task, add, remove }).await?;
        told.push(format!("dependencies changed: {}", said(&reply)));
    }
    let Some(status) = status else { return Ok(ToolOutcome::ok(told.join("\n"))) };
    let command = match status {
        TaskStatus::Completed => TeamCommand::CompleteTask { task },
        TaskStatus::InProgress => TeamCommand::ClaimTask { task },
        TaskStatus::Pending => TeamCommand::ReleaseTask { task, note: None },
    };
    match context.team.command(command).await {
        Ok(reply) => told.push(said(&reply)),
        // The first half stays done, so the model must hear of both halves.
        Err(refusal) if edits => return Ok(ToolOutcome::error(format!("{}\nthe status was not changed: {refusal}", told.join("\n")))),
        Err(refusal) => return Err(refusal),
    }
    Ok(ToolOutcome::ok(told.join("\n")))
}

/// A reply in words; a task with what it waits for.
fn said(reply: &Reply) -> String {
    let waiting = task_of(reply).filter(|task| task.status == TaskStatus::Pending && !task.blocked_by.is_empty());
    let waits = waiting.map(|task| {
        let ids: Vec<String> = task.blocked_by.iter().map(ToString::to_string).collect();
        format!(" (blocked by {})", ids.join(", "))
    });
    say(reply) + &waits.unwrap_or_default()
}
