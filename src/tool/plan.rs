//! Tools for plans, shutdown answers and idling.
//!
//! Origin: learn-claude-code s10. Ours: an answer names the digest of what it answers, so it counts for that text only.

use super::declared::{Declared, object, read};
use super::reply::{request_line, request_of, say, words};
use super::team::request;
use super::{Audience, Control, Effect, Tool, ToolContext, ToolOutcome};
use crate::domain::{Refusal, Request, RequestKind, RequestState, TeamCommand, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The tools of this file.
pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    let id = json!({ "type": "string", "minLength": 1, "description": "The request's id, 8 hex digits." });
    let approve = json!({ "type": "boolean", "description": "true: yes. false: no." });
    let tool = |name, description, parameters, audience, subject, run| -> Arc<dyn Tool> {
        Arc::new(Declared { name, description, parameters, audience, effect: Effect::Team, subject: Some(subject), exact: false, run })
    };
    vec![
        tool(
            "plan_approval",
            "Hand in a plan before you change anything; you are woken with the verdict. Until then you can only read.",
            object(json!({ "plan": { "type": "string", "minLength": 1, "description": "What you will do, step by step." } }), &["plan"]),
            Audience::Teammate,
            "plan",
            |arguments, context| Box::pin(submit(arguments, context)),
        ),
        tool(
            "plan_review",
            "Approve or reject a teammate's plan.",
            object(
                json!({ "request_id": id, "approve": approve, "feedback": { "type": "string", "description": "What to change, or a note." } }),
                &["request_id", "approve"],
            ),
            Audience::Lead,
            "request_id",
            |arguments, context| Box::pin(review(arguments, context)),
        ),
        tool(
            "shutdown_response",
            "Answer a shutdown request: approve to end your work now, or reject with the reason why you must go on.",
            object(json!({ "request_id": id, "approve": approve, "reason": { "type": "string" } }), &["request_id", "approve"]),
            Audience::Teammate,
            "request_id",
            |arguments, context| Box::pin(answer_shutdown(arguments, context)),
        ),
        tool(
            "idle",
            "Say that you have nothing to do now. You are woken by mail or by a ready task.",
            object(json!({}), &[]),
            Audience::Teammate,
            "",
            |_, _| {
                Box::pin(async {
                    Ok(ToolOutcome { control: Control::Idle, ..ToolOutcome::ok("idle until there is mail or a ready task") })
                })
            },
        ),
    ]
}

#[derive(Deserialize)]
struct Submit {
    plan: String,
}

async fn submit(arguments: Value, context: ToolContext) -> Result<ToolOutcome, Refusal> {
    let Submit { plan } = read(arguments)?;
    let reply = context.team.command(TeamCommand::SubmitPlan { plan }).await?;
    Ok(request_of(&reply).map_or_else(|| ToolOutcome::ok(say(&reply)), |request| submitted(request)))
}

/// A plan may be decided at once, where plans are approved or denied without asking.
fn submitted(request: &Request) -> ToolOutcome {
    let said = request.answer.as_ref().and_then(|answer| words(&answer.verdict)).map(|text| format!(": {text}")).unwrap_or_default();
    let id = &request.id;
    match request.state {
        RequestState::Pending => ToolOutcome {
            control: Control::AwaitVerdict,
            ..ToolOutcome::ok(format!("plan submitted as request {id}: wait for the verdict, which is sent to you"))
        },
        RequestState::Approved => ToolOutcome::ok(match request.approved_text().filter(|text| *text != request.body) {
            Some(edited) => format!("plan {id} approved with changes{said}. The plan is now:\n{edited}"),
            None => format!("plan {id} approved{said}: go on with it"),
        }),
        RequestState::Rejected => ToolOutcome::error(format!("plan {id} rejected{said}: change it and submit it again")),
        RequestState::Withdrawn | RequestState::Expired => ToolOutcome::error(request_line(request)),
    }
}

#[derive(Deserialize)]
struct Decide {
    request_id: String,
    approve: bool,
    #[serde(alias = "reason")]
    feedback: Option<String>,
}

impl Decide {
    fn verdict(&self) -> Verdict {
        let words = self.feedback.clone().filter(|text| !text.trim().is_empty());
        if self.approve { Verdict::Approve { note: words, edited: None, always: false } } else { Verdict::Reject { feedback: words } }
    }
}

async fn review(arguments: Value, context: ToolContext) -> Result<ToolOutcome, Refusal> {
    let decide: Decide = read(arguments)?;
    let answered = answer(&decide, RequestKind::Plan, &context).await?;
    Ok(ToolOutcome::ok(answered))
}

async fn answer_shutdown(arguments: Value, context: ToolContext) -> Result<ToolOutcome, Refusal> {
    let decide: Decide = read(arguments)?;
    let answered = answer(&decide, RequestKind::Shutdown, &context).await?;
    let reason = decide.feedback.unwrap_or_default();
    let control = if decide.approve { Control::Shutdown { reason } } else { Control::Continue };
    Ok(ToolOutcome { control, ..ToolOutcome::ok(answered) })
}

async fn answer(decide: &Decide, kind: RequestKind, context: &ToolContext) -> Result<String, Refusal> {
    let request = request(context, &decide.request_id).await?;
    if request.kind != kind {
        return Err(Refusal::Invalid(format!("{} is a {} request, not a {} request", request.id, request.kind.word(), kind.word())));
    }
    let command = TeamCommand::Answer { id: request.id.clone(), verdict: decide.verdict(), shown: request.digest() };
    let reply = context.team.command(command).await?;
    Ok(request_of(&reply).map_or_else(|| say(&reply), |request| request_line(request)))
}
