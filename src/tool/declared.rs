//! Tools that are one command to the team, declared as data.

use super::output::{bound, clean};
use super::{Audience, Effect, Tool, ToolContext, ToolOutcome};
use crate::domain::command::Intent;
use crate::domain::text::one_line;
use crate::domain::{Refusal, ToolSpec};
use futures::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::Path;

/// What a declared tool does; a refusal is told to the model as an error.
pub(super) type Run = fn(Value, ToolContext) -> BoxFuture<'static, Result<ToolOutcome, Refusal>>;

/// A tool as data. It needs no permission: the team core checks each of its commands.
pub(super) struct Declared {
    pub name: &'static str,
    pub description: &'static str,
    pub parameters: Value,
    pub audience: Audience,
    pub effect: Effect,
    /// The argument that the summary shows, if any.
    pub subject: Option<&'static str>,
    /// Whether an argument that it does not know fails the call.
    pub exact: bool,
    pub run: Run,
}

impl Tool for Declared {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: self.name.into(), description: self.description.into(), parameters: self.parameters.clone() }
    }

    fn audience(&self) -> Audience {
        self.audience
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn is_exact(&self) -> bool {
        self.exact
    }

    fn summary(&self, arguments: &Value) -> String {
        match self.subject.and_then(|key| arguments.get(key)) {
            Some(Value::String(text)) => one_line(text, 120),
            Some(Value::Number(number)) => format!("#{number}"),
            Some(other) => one_line(&other.to_string(), 120),
            None => String::new(),
        }
    }

    fn intent(&self, _arguments: &Value, _workspace: &Path) -> Result<Option<Intent>, String> {
        Ok(None)
    }

    fn run(&self, arguments: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        let limit = context.output_limit;
        let cancel = context.cancel.clone();
        let work = (self.run)(arguments, context);
        Box::pin(async move {
            let outcome = tokio::select! {
                outcome = work => outcome.unwrap_or_else(|refusal| ToolOutcome::error(refusal.to_string())),
                () = cancel.cancelled() => ToolOutcome::error("interrupted: whether the team took note of it is not known"),
            };
            ToolOutcome { content: bound(&clean(outcome.content.as_bytes()), limit), ..outcome }
        })
    }
}

/// The schema of an object.
pub(super) fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// Arguments as a type. They fit the schema already, so this fails only when type and schema disagree.
pub(super) fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, Refusal> {
    serde_json::from_value(arguments).map_err(|fault| Refusal::Invalid(format!("the arguments do not fit: {fault}")))
}
