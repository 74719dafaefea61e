//! The blackboard's one tool, for members and supervisor alike.

use super::{Param, ParamKind, ProtocolTool};

/// Reads and writes the blackboard.
pub const SYNC: ProtocolTool = ProtocolTool {
    name: "sync_to_blackboard",
    description: "Share your result, new todos, completed todos (by id or exact text) and state (key: value) with the team.",
    params: &[
        Param::optional("result", ParamKind::Text, "what you found out or did"),
        Param::optional("todo", ParamKind::TextList, "what still has to be done"),
        Param::optional("completed_todo", ParamKind::TextList, "ids or exact texts of todos that are done"),
        Param::optional(
            "state",
            ParamKind::Object,
            "facts by key, or {key: {value, version}} to write only over the version you read; a key that changed since is refused",
        ),
    ],
};
