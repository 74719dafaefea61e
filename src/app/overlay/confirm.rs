//! A question that one key answers: asked once before something that cannot be taken back. `y` is yes; paste and mouse
//! never answer.

use crate::app::msg::{Cmd, Key, KeyCode};
use crate::app::state::State;
use crate::domain::settings::PlanMode;
use crate::domain::{Digest, RequestId, TaskId, TeamCommand, Timestamp, Verdict};

/// A question.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirm {
    /// In words, without the keys.
    pub question: String,
    /// What yes means.
    pub action: ConfirmAction,
}

/// What a yes does.
#[derive(Clone, Debug, PartialEq)]
pub enum ConfirmAction {
    /// End a member now.
    Stop(String),
    /// Ask a member to shut down that waits for a decision.
    Shutdown(String),
    /// Complete a task that waits for others, or that somebody works on.
    Complete(TaskId),
    /// Take a task off the board.
    Delete(TaskId),
    /// Permit by rule, for the session.
    Always { id: RequestId, digest: Digest },
    /// Change how plans are decided.
    Plans(PlanMode),
}

/// A key while the question stands.
pub fn key(state: &mut State, key: Key, now: Timestamp) -> Vec<Cmd> {
    match (key.code, key.ctrl) {
        (KeyCode::Char('y' | 'Y'), false) => {
            let Some(confirm) = state.confirm.take() else { return Vec::new() };
            vec![carry_out(state, confirm.action)]
        }
        (KeyCode::Char('n' | 'N'), false) | (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => {
            state.confirm = None;
            state.hint("not done", now)
        }
        _ => Vec::new(),
    }
}

fn carry_out(state: &mut State, action: ConfirmAction) -> Cmd {
    match action {
        ConfirmAction::Shutdown(target) => {
            state.command(format!("asking {target} to shut down"), TeamCommand::RequestShutdown { target, reason: None })
        }
        ConfirmAction::Stop(target) => state.command(format!("stopping {target}"), TeamCommand::ForceStop { target }),
        ConfirmAction::Complete(task) => state.command(format!("completing {task}"), TeamCommand::CompleteTask { task }),
        ConfirmAction::Delete(task) => state.command(format!("deleting {task}"), TeamCommand::DeleteTask { task }),
        ConfirmAction::Always { id, digest } => {
            let verdict = Verdict::Approve { note: None, edited: None, always: true };
            state.command("permitting", TeamCommand::Answer { id, verdict, shown: digest })
        }
        ConfirmAction::Plans(mode) => state.command("changing how plans are decided", TeamCommand::SetPlanMode { mode }),
    }
}
