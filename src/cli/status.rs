//! `status`: how far the team is.

use super::error::{CliError, Exit};
use super::history::history;
use super::out::{Form, Out};
use super::read::{board, mention};
use super::session::Session;
use crate::domain::shown::{NodeMark, Section};
use crate::domain::{EventRecord, Member};
use crate::store::TeamStore;
use serde::Serialize;
use std::collections::VecDeque;

/// `status` as one JSON object.
#[derive(Serialize)]
struct Status {
    team: String,
    protocol: String,
    workspace: String,
    running: bool,
    pid: Option<u32>,
    members: usize,
    working: usize,
    waiting: usize,
    ready: usize,
    blocked: usize,
    doing: usize,
    done: usize,
    pending_requests: usize,
    tokens: u64,
    cost: f64,
    cost_is_complete: bool,
    /// Where in the protocol's graph something is to be seen: who acts, waits, failed.
    protocol_marks: Vec<NodeMark>,
    /// What is particular to the protocol, as tables.
    protocol_sections: Vec<Section>,
    /// The last steps of the protocol (`traced`, as in the event log), the oldest first.
    protocol_steps: VecDeque<EventRecord>,
}

/// `status`
pub fn status(session: &Session, form: Form, out: &mut Out) -> Result<Exit, CliError> {
    let store = session.store()?;
    let there = store.team()?;
    let exists = there.is_some();
    let team = there.map(|(team, _)| team).unwrap_or_default();
    mention(out, &TeamStore::team_faults(&team));
    let counts = board(&store, out)?.counts();
    let requests = store.requests()?;
    mention(out, &requests.faults);
    let history = history(&store)?;
    let running = exists && store.is_team_locked()?;
    let live = |wanted: fn(&Member) -> bool| team.members.iter().filter(|member| wanted(member)).count();
    let status = Status {
        workspace: session.workspace.display().to_string(),
        running,
        pid: history.pid.filter(|_| running),
        members: team.members.len(),
        working: live(|m| m.status == crate::domain::MemberStatus::Working),
        waiting: live(|m| m.status == crate::domain::MemberStatus::WaitingApproval),
        ready: counts.ready,
        blocked: counts.blocked,
        doing: counts.doing,
        done: counts.done,
        pending_requests: requests.items.iter().filter(|(request, _)| request.is_pending()).count(),
        tokens: history.spending.total.usage.total(),
        cost: history.spending.total.cost,
        cost_is_complete: !history.spending.total.unpriced,
        protocol_marks: history.acting,
        protocol_sections: history.sections,
        protocol_steps: history.steps,
        team: team.team_name,
        protocol: team.protocol,
    };
    match form {
        Form::Json => out.json(&status)?,
        Form::Table if !exists && counts == crate::domain::board::Counts::default() => {
            out.line(&format!(
                "no team in {} yet: open it with `signoff`, or put a task on the board with `signoff task add`",
                status.workspace
            ))?;
        }
        Form::Table => tell_status(&status, out)?,
    }
    Ok(Exit::Done)
}

fn tell_status(status: &Status, out: &mut Out) -> Result<(), CliError> {
    let by = status.pid.map(|pid| format!(", process {pid}")).unwrap_or_default();
    let runs = if status.running { format!("running{by}") } else { "nobody runs it now".to_owned() };
    let stale = if status.running { "" } else { " (as they were left)" };
    let cost = if status.cost_is_complete {
        format!("${:.2}", status.cost)
    } else {
        format!("at least ${:.2} (some prices are unknown)", status.cost)
    };
    let rows = [
        ("team", format!("{} ({}), {runs}", status.team, status.protocol)),
        ("members", format!("{}: {} working, {} waiting for a decision{stale}", status.members, status.working, status.waiting)),
        ("board", format!("{} ready, {} doing, {} blocked, {} done", status.ready, status.doing, status.blocked, status.done)),
        ("requests", format!("{} to decide", status.pending_requests)),
        ("spent", format!("{} tokens, {cost}", status.tokens)),
    ];
    rows.into_iter().try_for_each(|(name, text)| out.line(&format!("{name:<9} {text}")))
}
