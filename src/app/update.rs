//! The one way the screen's state changes: a message comes in, commands go out.

use super::act;
use super::action::Action;
use super::alerts;
use super::msg::{Cmd, Key, LiveKind, Mouse, Msg};
use super::overlay::{DetailKind, confirm, form, palette, prompt, quit};
use super::projection::ToolState;
use super::state::{EditPurpose, State, StatusLevel};
use super::{mouse, verdict, wake};
use crate::domain::event::NoticeLevel;
use crate::domain::{EventRecord, MemberName, Refusal, Reply, TeamCommand, TeamEvent, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// A pause that ends a burst of keys.
const PAUSE: Duration = Duration::from_millis(300);

/// Takes a message in. Costs what the message changes, whatever the size of the team.
pub fn update(state: &mut State, msg: Msg, now: Timestamp) -> Vec<Cmd> {
    let mut cmds = match msg {
        Msg::Event(record) => on_event(state, &record, now),
        Msg::Key(key) => on_key(state, key, now),
        Msg::Paste(text) => on_paste(state, &text),
        Msg::Mouse(event) => on_mouse(state, event, now),
        Msg::Resized { width, height } => {
            state.view.size = (width, height);
            Vec::new()
        }
        Msg::Focused(focused) => {
            state.focused = focused;
            Vec::new()
        }
        Msg::Live { name, kind, text, reset } => on_live(state, &name, kind, &text, reset),
        Msg::Replied { token, result } => on_reply(state, token, result, now),
        Msg::Edited { token, result } => on_edited(state, token, result, now),
        Msg::Transcript { name, entries } => {
            if let Some(detail) = state.detail.as_mut().filter(|d| matches!(&d.kind, DetailKind::Transcript(n) if *n == name)) {
                let live = state.team.member(&name).is_some_and(|view| view.member.status.is_live());
                detail.load(entries, if live { ToolState::Running } else { ToolState::Cut });
            }
            Vec::new()
        }
        Msg::Woken => {
            state.wake_at = None;
            Vec::new()
        }
        // What was on the frame, and since when, was noted while it was drawn.
        Msg::Drawn => Vec::new(),
        Msg::Signal => quit::force(state, now),
    };
    watch(state, &mut cmds);
    if quit::is_over(state, now) && !cmds.contains(&Cmd::Quit) {
        cmds.push(Cmd::Quit);
    }
    alerts::tell(state, now, &mut cmds);
    wake::schedule(state, now, &mut cmds);
    cmds
}

/// Streams the live text of whoever is selected.
fn watch(state: &mut State, cmds: &mut Vec<Cmd>) {
    if state.roster.selected != state.watched
        && let Some(name) = state.roster.selected.clone()
    {
        state.watched = Some(name.clone());
        state.live = super::live::LiveText::of(name.clone());
        state.activity.scroll.follow();
        state.inbox.selected = None;
        cmds.push(Cmd::WatchLive(name));
    }
}

fn on_event(state: &mut State, record: &Arc<EventRecord>, now: Timestamp) -> Vec<Cmd> {
    alerts::notice(state, record, now);
    state.team.apply(record);
    match &record.event {
        TeamEvent::MemberChanged { .. } | TeamEvent::MemberRemoved { .. } => state.roster.sync(&state.team),
        TeamEvent::TaskChanged { task, .. } => state.board.task_changed(task.id, Some(task)),
        TeamEvent::TaskRemoved { id, .. } => state.board.task_changed(*id, None),
        TeamEvent::RequestChanged { request } => {
            let decided = (!request.is_pending()).then_some(&request.id);
            state.approvals.sync(&state.team, decided);
        }
        TeamEvent::AnswerFinished { name, text, .. } => finish_live(state, name, Some(text)),
        TeamEvent::ToolFinished { name, .. } if state.live.kind == LiveKind::Output => finish_live(state, name, None),
        TeamEvent::TurnEnded { name, .. } => finish_live(state, name, None),
        // The greeting says it already.
        TeamEvent::Noticed { text, name: None, .. } if state.team.is_fresh() && state.team.choice.as_ref() == Some(text) => {}
        TeamEvent::Noticed { level: level @ (NoticeLevel::Warning | NoticeLevel::Error), text, name } => {
            let who = name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
            let level = if *level == NoticeLevel::Error { StatusLevel::Error } else { StatusLevel::Hint };
            state.say(level, &format!("{who}{text}"), now);
        }
        _ => {}
    }
    follow_transcript(state, &record.event);
    Vec::new()
}

fn finish_live(state: &mut State, name: &MemberName, answer: Option<&str>) {
    if state.live.name.as_ref() == Some(name) {
        state.live.finish(answer);
    }
}

/// What arrives while a transcript is open is added to it.
fn follow_transcript(state: &mut State, event: &TeamEvent) {
    let Some(detail) = &mut state.detail else { return };
    let DetailKind::Transcript(open) = &detail.kind else { return };
    let Some((name, kind)) = super::projection::feed_of(event) else {
        if let TeamEvent::ToolFinished { name, call, ok, millis, output, .. } = event
            && name == open
        {
            detail.end_tool(call, ToolState::Ended { ok: *ok, millis: *millis }, output);
        }
        return;
    };
    if name == open {
        let at = state.team.member(name).and_then(|view| view.feed.back()).map(|item| item.at).unwrap_or_default();
        detail.push(at, kind);
    }
}

fn on_key(state: &mut State, key: Key, now: Timestamp) -> Vec<Cmd> {
    state.previous_key = state.last_key.replace(now);
    if is_burst(state, key, now) {
        return Vec::new();
    }
    if state.status.as_ref().is_some_and(|s| s.level != StatusLevel::Info) {
        state.status = None;
    }
    if state.confirm.is_some() {
        return confirm::key(state, key, now);
    }
    if state.prompt.is_some() {
        return system_key(state, key).unwrap_or_else(|| prompt::key(state, key, now));
    }
    if state.form.is_some() {
        return system_key(state, key).unwrap_or_else(|| form::key(state, key, now));
    }
    if state.palette.is_some() {
        return system_key(state, key).unwrap_or_else(|| palette::key(state, key, now));
    }
    // While the team stops, the quit key means what the screen says, whatever is open.
    if state.quitting.is_some() && state.options.keymap.action_in(super::keymap::Context::Global, key) == Some(Action::Quit) {
        return quit::quit(state, now);
    }
    match state.lookup(key) {
        Some(action) => act::run(state, action, now),
        None => Vec::new(),
    }
}

/// Whether a letter still belongs to what was typed after a verdict that was not taken.
fn is_burst(state: &mut State, key: Key, now: Timestamp) -> bool {
    let goes_on = key.typed().is_some() && state.burst.is_some_and(|last| now.since(last) < PAUSE);
    state.burst = goes_on.then_some(now);
    goes_on
}

/// The two keys that work even while text is written: redraw and suspend, when the prompt does not use them itself.
fn system_key(state: &State, key: Key) -> Option<Vec<Cmd>> {
    let keymap = &state.options.keymap;
    if key.typed().is_some() || keymap.action(super::keymap::Context::Prompt, key).is_some() {
        return None;
    }
    match keymap.action(super::keymap::Context::Global, key) {
        Some(Action::Clear) => Some(vec![Cmd::Clear]),
        Some(Action::Suspend) => Some(vec![Cmd::Suspend]),
        Some(_) | None => None,
    }
}

/// Pasted text is only ever text: without a field to go to, it goes nowhere.
fn on_paste(state: &mut State, text: &str) -> Vec<Cmd> {
    if state.confirm.is_some() {
        return Vec::new();
    }
    if state.prompt.is_some() {
        prompt::paste(state, text);
    } else if let Some(form) = &mut state.form {
        form.paste(text);
    } else if let Some(palette) = &mut state.palette {
        palette.editor.paste(&super::clip::one_line(text, 200));
    }
    Vec::new()
}

fn on_mouse(state: &mut State, event: Mouse, now: Timestamp) -> Vec<Cmd> {
    let covered = state.confirm.is_some() || state.prompt.is_some() || state.form.is_some() || state.palette.is_some();
    if covered { Vec::new() } else { mouse::act(state, event, now) }
}

fn on_live(state: &mut State, name: &MemberName, kind: LiveKind, text: &str, reset: bool) -> Vec<Cmd> {
    if state.live.name.as_ref() == Some(name) {
        state.live.push(kind, text, reset);
    }
    Vec::new()
}

fn on_reply(state: &mut State, token: u64, result: Result<Reply, Refusal>, now: Timestamp) -> Vec<Cmd> {
    let Some(sent) = state.sent.remove(&token) else { return Vec::new() };
    let then_quit = sent.then_quit;
    match result {
        Err(refusal) => refused(state, sent, &refusal, now),
        Ok(reply) => {
            let words = match reply {
                Reply::Said(text) => text,
                Reply::Spawned(member) => {
                    state.roster.selected = Some(member.name.clone());
                    format!("{} is spawned", member.name)
                }
                Reply::Task(task) => format!("{}: {}", super::words::done(&sent.label, Some(task.id)), task.subject),
                _ => super::words::done(&sent.label, None),
            };
            let waits = if state.team.runner_gone { " (in the files: nobody runs the team until signoff opens)" } else { "" };
            state.say(StatusLevel::Info, &format!("{words}{waits}"), now);
        }
    }
    if then_quit { vec![Cmd::Quit] } else { Vec::new() }
}

/// A refusal is shown where it can be mended: in the form that it came from, if nothing else was opened meanwhile.
fn refused(state: &mut State, sent: super::state::Sent, refusal: &Refusal, now: Timestamp) {
    let free = state.form.is_none() && state.prompt.is_none() && state.confirm.is_none() && state.palette.is_none();
    match sent.form {
        Some(form) if free => state.form = Some(form.refused(refusal.to_string())),
        form => {
            state.form_draft = form.map(|form| *form).or(state.form_draft.take());
            state.say(StatusLevel::Error, &format!("{}: {refusal}", sent.label), now);
        }
    }
}

fn on_edited(state: &mut State, token: u64, result: Result<String, String>, now: Timestamp) -> Vec<Cmd> {
    let Some(purpose) = state.edits.remove(&token) else { return Vec::new() };
    match (purpose, result) {
        (_, Err(why)) => {
            state.say(StatusLevel::Error, &format!("the editor: {why}"), now);
            Vec::new()
        }
        (EditPurpose::Plan { id, digest, before }, Ok(text)) => verdict::edited(state, id, digest, &before, text, now),
        (EditPurpose::Task { id, before }, Ok(text)) => {
            if text.trim() == before.trim() || text.trim().is_empty() {
                return state.hint("nothing was changed", now);
            }
            let (subject, description) = text.trim().split_once('\n').unwrap_or((text.trim(), ""));
            let (subject, description) = (Some(subject.trim().to_owned()), Some(description.trim().to_owned()));
            vec![state.command(format!("editing {id}"), TeamCommand::EditTask { task: id, subject, description })]
        }
    }
}
