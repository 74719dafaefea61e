//! What keys do to members and tasks.

use crate::app::action::Action;
use crate::app::available::{current_task, is_available, is_somebody_left};
use crate::app::clip::one_line;
use crate::app::msg::Cmd;
use crate::app::overlay::{Confirm, ConfirmAction, Prompt, Purpose};
use crate::app::state::{EditPurpose, State};
use crate::domain::{Activity, MemberName, Task, TaskId, TaskStatus, TeamCommand, Timestamp};

/// Asks, stops, interrupts or resumes the selected member.
pub fn member(state: &mut State, action: Action, now: Timestamp) -> Vec<Cmd> {
    let Some(view) = state.selected_member() else { return state.hint("nobody is selected: 1 goes to the team", now) };
    let (name, status) = (view.member.name.clone(), view.member.status);
    let waits_for_verdict = matches!(view.activity, Activity::Approval { .. });
    let target = name.to_string();
    if !is_available(state, action) {
        let why = match action {
            Action::Shutdown if name.is_lead() => "the lead ends with the team: q stops everybody".to_owned(),
            Action::Interrupt => format!("{name} is {}: there is no turn to interrupt", status.spoken()),
            Action::Resume if is_somebody_left(state) => {
                format!("{name} is {}: resume_all ({}) starts who is not", status.spoken(), state.key_name(Action::Palette))
            }
            Action::Resume => format!("{name} is {}: nothing to resume", status.spoken()),
            _ => format!("{name} is {}: {} starts it again", status.spoken(), state.key_name(Action::Resume)),
        };
        return state.hint(why, now);
    }
    match action {
        Action::StopNow => {
            let question = format!("Stop {name} now? Its model call is cancelled and its commands are killed.");
            state.confirm = Some(Confirm { question, action: ConfirmAction::Stop(target) });
            Vec::new()
        }
        Action::Shutdown if waits_for_verdict => {
            let question = format!("{name} waits for your decision. Ask it to shut down and withdraw its request?");
            state.confirm = Some(Confirm { question, action: ConfirmAction::Shutdown(target) });
            Vec::new()
        }
        Action::Shutdown => {
            let label = format!("asking {name} to shut down");
            vec![state.command(label, TeamCommand::RequestShutdown { target, reason: None })]
        }
        Action::Interrupt => vec![state.command(format!("interrupting {name}"), TeamCommand::Interrupt { target })],
        _ => vec![state.command(format!("resuming {name}"), TeamCommand::Resume { target })],
    }
}

/// Opens the prompt for a message.
pub fn write(state: &mut State, action: Action, now: Timestamp) -> Vec<Cmd> {
    let purpose = match action {
        Action::WriteLead => Purpose::Message(MemberName::lead()),
        Action::Broadcast => Purpose::Broadcast,
        _ => match &state.roster.selected {
            Some(name) => Purpose::Message(name.clone()),
            None => return state.hint("nobody is selected: 1 goes to the team", now),
        },
    };
    state.prompt = Some(Prompt::new(purpose, ""));
    Vec::new()
}

/// Changes the selected task.
pub fn task(state: &mut State, action: Action, now: Timestamp) -> Vec<Cmd> {
    let Some(task) = current_task(state).cloned() else { return state.hint("no task is selected: 3 goes to the board", now) };
    let id = task.id;
    let is_blocked = !state.team.board.blockers(id).is_empty();
    if !is_available(state, action) {
        let why = match action {
            Action::CompleteTask => format!("{id} is done already"),
            Action::ReleaseTask => format!("{id} has no owner who could give it back"),
            _ => format!("{id} needs no repair"),
        };
        return state.hint(why, now);
    }
    match action {
        Action::CompleteTask if is_blocked => {
            let question = format!("{id} waits for other tasks. Mark it as done all the same?");
            state.confirm = Some(Confirm { question, action: ConfirmAction::Complete(id) });
            Vec::new()
        }
        Action::CompleteTask if works_on(state, &task) => {
            let owner = task.owner.as_ref().map_or("somebody", |name| name.as_str());
            let question = format!("{owner} works on {id}. Mark it as done all the same?");
            state.confirm = Some(Confirm { question, action: ConfirmAction::Complete(id) });
            Vec::new()
        }
        Action::CompleteTask => vec![state.command(format!("completing {id}"), TeamCommand::CompleteTask { task: id })],
        Action::ReleaseTask => vec![state.command(format!("releasing {id}"), TeamCommand::ReleaseTask { task: id, note: None })],
        Action::RepairTask => vec![state.command(format!("repairing {id}"), TeamCommand::RepairTask { task: id })],
        Action::DeleteTask => {
            let question = delete_question(state, id, &task.subject);
            state.confirm = Some(Confirm { question, action: ConfirmAction::Delete(id) });
            Vec::new()
        }
        Action::EditTask => {
            let token = state.token();
            let text = format!("{}\n\n{}", task.subject, task.description);
            state.edits.insert(token, EditPurpose::Task { id, before: text.clone() });
            vec![Cmd::Edit { token, text, name: format!("task-{}.md", id.0) }]
        }
        _ => {
            let ids = task.blocked_by.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            state.prompt = Some(Prompt::new(Purpose::Blockers(id), &ids));
            Vec::new()
        }
    }
}

/// Whether a live member has the task in progress.
fn works_on(state: &State, task: &Task) -> bool {
    let owner = task.owner.as_ref().filter(|_| task.status == TaskStatus::InProgress);
    owner.and_then(|name| state.team.member(name)).is_some_and(|view| view.member.status.is_live())
}

fn delete_question(state: &State, id: TaskId, subject: &str) -> String {
    let waiting = state.team.board.waiting_for(id).count();
    let warning = match waiting {
        0 => String::new(),
        1 => " One task waits for it.".into(),
        n => format!(" {n} tasks wait for it."),
    };
    format!("Delete {id} {}?{warning}", one_line(subject, 60))
}
