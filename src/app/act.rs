//! What each action does.

use super::action::Action;
use super::available::{current_task, is_available, is_filtered};
use super::msg::Cmd;
use super::overlay::{
    Confirm, ConfirmAction, Detail, DetailKind, Form, FormKind, Help, NeedsList, Palette, Prompt, ProtocolList, Purpose, needs, protocols,
    quit,
};
use super::reading::{Way, find};
use super::state::{EditPurpose, Pane, State};
use super::verdict;
use crate::domain::settings::PlanMode;
use crate::domain::{MemberName, TaskId, TeamCommand, Timestamp};
use std::sync::Arc;

/// Runs an action that is no movement.
pub fn run(state: &mut State, action: Action, now: Timestamp) -> Vec<Cmd> {
    match action {
        Action::Quit => quit::quit(state, now),
        Action::Approve => verdict::approve(state, now),
        Action::ApproveNote => verdict::approve_with_note(state, now),
        Action::ApproveAlways => verdict::approve_always(state, now),
        Action::Reject => verdict::reject(state, now),
        Action::EditPlan => verdict::edit(state, now),
        Action::Shutdown | Action::StopNow | Action::Interrupt | Action::Resume => member(state, action, now),
        Action::WriteLead | Action::WriteMember | Action::Broadcast => write(state, action, now),
        Action::CompleteTask | Action::ReleaseTask | Action::DeleteTask | Action::RepairTask | Action::EditTask | Action::EditBlockers => {
            task(state, action, now)
        }
        Action::Open | Action::Transcript | Action::Trace => open(state, action, now),
        Action::Copy => copy(state, now),
        Action::Clear => vec![Cmd::Clear],
        Action::Suspend => vec![Cmd::Suspend],
        Action::Mouse => {
            state.mouse = !state.mouse;
            let words = if state.mouse { "the mouse is captured" } else { "the mouse is the terminal's: select text as usual" };
            state.hint(words, now);
            vec![Cmd::Mouse(state.mouse)]
        }
        Action::PlansAsk => plans(state, PlanMode::Ask),
        Action::PlansAuto => plans(state, PlanMode::Auto),
        Action::PlansDeny => plans(state, PlanMode::Deny),
        Action::NextMatch => find(state, Way::Forward, now),
        Action::PreviousMatch => find(state, Way::Back, now),
        other => layout(state, other, now),
    }
}

/// Actions that only change what is seen.
fn layout(state: &mut State, action: Action, now: Timestamp) -> Vec<Cmd> {
    match action {
        Action::NextPane => focus(state, Pane::ALL[(state.focus.index() + 1) % Pane::ALL.len()]),
        Action::PreviousPane => focus(state, Pane::ALL[(state.focus.index() + Pane::ALL.len() - 1) % Pane::ALL.len()]),
        Action::FocusTeam => focus(state, Pane::Team),
        Action::FocusApprovals => focus(state, Pane::Approvals),
        Action::FocusBoard => focus(state, Pane::Board),
        Action::FocusInbox => focus(state, Pane::Inbox),
        Action::FocusActivity => focus(state, Pane::Activity),
        Action::Zoom => state.zoom = !state.zoom,
        Action::Back => back(state),
        Action::Close => close(state),
        Action::Help => {
            state.view.detail = super::view::DetailLines::default();
            state.help = Some(Help::default());
        }
        Action::Palette => state.palette = Some(Palette::default()),
        Action::NeedsYou => {
            if needs::list(&state.team).is_empty() {
                return state.hint("nothing needs you", now);
            }
            state.needs = Some(NeedsList::default());
        }
        Action::Spawn => open_form(state, FormKind::Spawn),
        Action::NewTask => open_form(state, FormKind::Task),
        Action::Search => state.prompt = Some(Prompt::new(Purpose::Search, "")),
        Action::SetProtocol if !is_available(state, action) => {
            return state.hint("members are at work: the protocol changes only while the team is idle", now);
        }
        Action::EndRun => return vec![state.command("ending the run", TeamCommand::EndRun)],
        Action::SetProtocol => state.protocols = Some(ProtocolList::at_own(state)),
        Action::Filter if state.focus == Pane::Activity => {
            let cmds = open(state, Action::Transcript, now);
            // What is typed next is a word to search for and must not run as keys.
            if state.detail.is_some() {
                state.prompt = Some(Prompt::new(Purpose::Search, ""));
            }
            return cmds;
        }
        Action::Filter => {
            let text = match state.focus {
                Pane::Team => state.roster.filter.as_ref(),
                Pane::Approvals => state.approvals.filter.as_ref(),
                Pane::Board => state.board.filter(),
                Pane::Inbox | Pane::Activity => state.inbox.filter.as_ref(),
            };
            let text = text.map(|filter| filter.text().to_owned()).unwrap_or_default();
            state.prompt = Some(Prompt::new(Purpose::Filter(state.focus), &text));
        }
        // Editing actions mean something in a prompt only, and never get here from one.
        _ => {}
    }
    Vec::new()
}

/// A form, with what was written into it before it was closed without sending.
fn open_form(state: &mut State, kind: FormKind) {
    let draft = state.form_draft.take().filter(|form| form.kind == kind);
    state.form = Some(draft.unwrap_or_else(|| Form::new(kind)));
}

fn focus(state: &mut State, pane: Pane) {
    close_all(state);
    state.focus = pane;
}

fn close_all(state: &mut State) {
    (state.detail, state.help, state.needs, state.protocols) = (None, None, None, None);
    state.view.detail = super::view::DetailLines::default();
}

fn close(state: &mut State) {
    if state.needs.take().is_none() && state.protocols.take().is_none() && state.help.take().is_none() {
        state.detail = None;
    }
    state.view.detail = super::view::DetailLines::default();
}

fn back(state: &mut State) {
    let filtered = is_filtered(state);
    if state.quitting.is_some_and(|q| q.forced.is_none()) {
        state.quitting = None;
    } else if filtered {
        super::update::set_filter(state, state.focus, "");
        state.activity.scroll.follow();
    } else {
        state.zoom = false;
    }
}

fn member(state: &mut State, action: Action, now: Timestamp) -> Vec<Cmd> {
    let Some(view) = state.selected_member() else { return state.hint("nobody is selected: 1 goes to the team", now) };
    let (name, status) = (view.member.name.clone(), view.member.status);
    let target = name.to_string();
    if !is_available(state, action) {
        let why = match action {
            Action::Shutdown if name.is_lead() => "the lead ends with the team: q stops everybody".to_owned(),
            Action::Interrupt => format!("{name} is {}: there is no turn to interrupt", status.word()),
            Action::Resume => format!("{name} is {}: nothing to resume", status.word()),
            _ => format!("{name} is {}: {} starts it again", status.word(), state.key_name(Action::Resume)),
        };
        return state.hint(why, now);
    }
    match action {
        Action::StopNow => {
            let question = format!("Stop {name} now? Its model call is cancelled and its commands are killed.");
            state.confirm = Some(Confirm { question, action: ConfirmAction::Stop(target) });
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

fn write(state: &mut State, action: Action, now: Timestamp) -> Vec<Cmd> {
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

fn task(state: &mut State, action: Action, now: Timestamp) -> Vec<Cmd> {
    let Some(task) = current_task(state).cloned() else { return state.hint("no task is selected: 3 goes to the board", now) };
    let id = task.id;
    if !is_available(state, action) {
        let why = match action {
            Action::CompleteTask => format!("{id} is done already"),
            Action::ReleaseTask => format!("{id} has no owner who could give it back"),
            _ => format!("{id} needs no repair"),
        };
        return state.hint(why, now);
    }
    match action {
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
fn works_on(state: &State, task: &crate::domain::Task) -> bool {
    let owner = task.owner.as_ref().filter(|_| task.status == crate::domain::TaskStatus::InProgress);
    owner.and_then(|name| state.team.member(name)).is_some_and(|view| view.member.status.is_live())
}

fn delete_question(state: &State, id: TaskId, subject: &str) -> String {
    let waiting = state.team.board.dependants(id).count();
    let warning = match waiting {
        0 => String::new(),
        1 => " One task waits for it.".into(),
        n => format!(" {n} tasks wait for it."),
    };
    format!("Delete {id} {}?{warning}", super::clip::one_line(subject, 60))
}

fn open(state: &mut State, action: Action, now: Timestamp) -> Vec<Cmd> {
    if state.protocols.is_some() {
        return protocols::choose(state);
    }
    if state.needs.is_some() {
        let chosen = state.needs.and_then(|list| needs::list(&state.team).into_iter().nth(list.at));
        if let Some(need) = chosen {
            needs::jump(state, need.target);
        }
        return Vec::new();
    }
    if let Some(detail) = state.detail.as_ref().filter(|_| action == Action::Open) {
        let target = state.view.detail.targets.get(detail.at).cloned().flatten().filter(|_| matches!(detail.kind, DetailKind::Trace));
        let Some(name) = target else { return Vec::new() };
        state.roster.selected = Some(name.clone());
        return show(state, DetailKind::Transcript(name), now);
    }
    let transcript = action == Action::Transcript || matches!(state.focus, Pane::Team | Pane::Activity);
    let kind = match (action, state.focus) {
        (Action::Trace, _) => Some(DetailKind::Trace),
        _ if transcript => state.roster.selected.clone().map(DetailKind::Transcript),
        (_, Pane::Approvals) => state.approvals.selected.clone().map(DetailKind::Request),
        (_, Pane::Board) => state.board.index().and(state.board.selected).map(DetailKind::Task),
        _ => selected_message(state).map(DetailKind::Message),
    };
    let Some(kind) = kind else { return state.hint("nothing is selected here", now) };
    show(state, kind, now)
}

/// Opens something in full.
pub fn show(state: &mut State, kind: DetailKind, now: Timestamp) -> Vec<Cmd> {
    close_all(state);
    let mut detail = Detail::new(kind, now);
    let mut cmds = Vec::new();
    match &detail.kind {
        DetailKind::Request(_) => state.approvals.choice = super::view::Choice::Person,
        DetailKind::Transcript(name) => {
            cmds.push(Cmd::LoadTranscript(name.clone()));
            let known: Vec<_> = state.team.member(name).into_iter().flat_map(|view| view.feed.iter().cloned()).collect();
            known.into_iter().for_each(|item| detail.push(item.at, item.kind));
        }
        DetailKind::Task(_) | DetailKind::Message(_) | DetailKind::Trace => {}
    }
    state.detail = Some(detail);
    cmds
}

fn selected_message(state: &mut State) -> Option<Arc<crate::domain::Envelope>> {
    let view = state.roster.selected.as_ref().and_then(|name| state.team.member(name))?;
    let list = state.inbox.list(view);
    let at = state.inbox.index(&list)?;
    list.get(at).cloned()
}

fn copy(state: &mut State, now: Timestamp) -> Vec<Cmd> {
    let text = copied(state).unwrap_or_default();
    let text = crate::domain::text::sanitise(&text).into_owned();
    if text.is_empty() {
        return state.hint("nothing is selected that could be copied", now);
    }
    state.hint("copied (where the terminal allows it)", now);
    vec![Cmd::Copy(text)]
}

fn copied(state: &mut State) -> Option<String> {
    let kind = state.detail.as_ref().map(|d| d.kind.clone());
    match (kind, state.focus) {
        (Some(DetailKind::Request(id)), _) => state.team.requests.get(&id).map(|r| r.body.clone()),
        (Some(DetailKind::Task(id)), _) => state.team.board.get(id).map(|t| format!("{} {}\n\n{}", t.id, t.subject, t.description)),
        (Some(DetailKind::Message(message)), _) => Some(message.content.clone()),
        (Some(DetailKind::Trace), _) => Some(state.view.detail.lines.iter().map(|l| super::rich::plain(l) + "\n").collect()),
        (None, Pane::Approvals) => state.approvals.selected.as_ref().and_then(|id| state.team.requests.get(id)).map(|r| r.body.clone()),
        (None, Pane::Board) => current_task(state).map(|t| format!("{} {}\n\n{}", t.id, t.subject, t.description)),
        (None, Pane::Inbox) => selected_message(state).map(|m| m.content.clone()),
        (Some(DetailKind::Transcript(_)) | None, _) => last_answer(state),
    }
}

fn last_answer(state: &State) -> Option<String> {
    state.selected_member()?.feed.iter().rev().find_map(|item| match &item.kind {
        super::projection::FeedKind::Answer { text, .. } if !text.is_empty() => Some(text.clone()),
        _ => None,
    })
}

fn plans(state: &mut State, mode: PlanMode) -> Vec<Cmd> {
    let question = match mode {
        PlanMode::Ask => return vec![state.command("plans wait for you", TeamCommand::SetPlanMode { mode })],
        PlanMode::Auto => "Approve every plan at once, without asking you?",
        PlanMode::Deny => "Reject every plan at once, without asking you?",
    };
    state.confirm = Some(Confirm { question: question.into(), action: ConfirmAction::Plans(mode) });
    Vec::new()
}
