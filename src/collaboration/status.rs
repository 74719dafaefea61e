//! How a member's output is judged: shared by every protocol with a supervisor.
//!
//! Members end with `{"result": …, "status": …}`. Only that field tells a failure; words in prose ("0 failed") do not.

use super::{ArgValue, Judgement, Report};
use crate::domain::text::one_line;

/// Added to the instruction of members that shall report this way.
pub const STATUS_RULE: &str =
    "End your answer with one JSON object: {\"result\": \"what you did, and where it is\", \"status\": \"done\" or \"failed\"}.\n";

const BAD: [&str; 6] = ["failed", "failure", "fail", "error", "blocked", "aborted"];

/// The result that the status object names, else the text as it is.
pub fn result_of(raw: &str) -> String {
    let object = ArgValue::find_object(raw, "status");
    match object.as_ref().and_then(|object| object.get("result")) {
        Some(ArgValue::Text(text)) if !text.trim().is_empty() => text.trim().to_owned(),
        Some(ArgValue::Text(_) | ArgValue::Null) | None => raw.trim().to_owned(),
        Some(other) => other.to_string(),
    }
}

/// Failed by an error, an empty output, or the status it gave itself; otherwise done.
pub fn judge(report: &Report<'_>) -> Judgement {
    if let Some(error) = report.error {
        return Judgement::Failed(error.to_owned());
    }
    if report.output.trim().is_empty() {
        return Judgement::Failed("empty output".to_owned());
    }
    let object = ArgValue::find_object(report.raw, "status");
    let status = object.as_ref().and_then(|object| object.get("status")).map(|value| value.to_string().trim().to_lowercase());
    match status {
        Some(status) if BAD.contains(&status.as_str()) => Judgement::Failed(format!("status {status}: {}", one_line(report.output, 200))),
        Some(_) | None => Judgement::Done,
    }
}
