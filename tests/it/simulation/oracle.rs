//! What the rules allow, written down once more and naively, from the page that defines them: who may decide what, who
//! may give which command, when a member may change anything.

use super::world::World;
use signoff::domain::request::PlanReviewer;
use signoff::domain::*;

/// Who may decide a request. A shutdown: its target, or the runtime for it. A plan: the person, or the lead where policy
/// allows. A permission: the person.
pub fn may_decide(by: &Party, kind: RequestKind, target: &MemberName, reviewer: PlanReviewer) -> bool {
    match (kind, by) {
        (RequestKind::Shutdown, Party::System) => true,
        (RequestKind::Shutdown, Party::Member(name)) => name == target,
        (RequestKind::Plan, Party::Human) => true,
        (RequestKind::Plan, Party::Member(name)) => name.as_str() == "lead" && target.as_str() != "lead" && reviewer == PlanReviewer::Lead,
        (RequestKind::Permission, Party::Human) => true,
        (RequestKind::Shutdown, Party::Human | Party::Outside(_))
        | (RequestKind::Plan, Party::System | Party::Outside(_))
        | (RequestKind::Permission, Party::System | Party::Member(_) | Party::Outside(_)) => false,
    }
}

/// Whether a member's plans keep it read-only; `None` where the page leaves it open.
pub fn read_only(world: &World, who: &MemberName) -> Option<bool> {
    let member = world.core.member(who)?;
    let mut plans: Vec<&Request> = world
        .core
        .requests()
        .map(|r| &**r)
        .filter(|r| r.kind == RequestKind::Plan && r.target == *who && r.generation == member.generation)
        .collect();
    plans.sort_by_key(|r| world.ledger.requests.get(&r.id).map(|entry| entry.order));
    let needed = !who.is_lead() && (world.settings.require_plan || member.require_plan);
    let approved = plans.iter().any(|r| r.state == RequestState::Approved && r.task == member.task);
    if plans.iter().any(|r| r.is_pending()) || plans.last().is_some_and(|r| r.state == RequestState::Rejected) || (needed && !approved) {
        return Some(true);
    }
    let untouched = plans.is_empty() && !needed;
    let granted =
        plans.last().is_some_and(|r| r.state == RequestState::Approved && (!needed || (r.task.is_some() && r.task == member.task)));
    (untouched || granted).then_some(false)
}

fn task(world: &World, id: TaskId) -> Option<&Task> {
    world.core.board().iter().find(|task| task.id == id).map(|task| &**task)
}

pub fn done(world: &World, id: TaskId) -> bool {
    task(world, id).is_some_and(|task| task.status == TaskStatus::Completed)
}

fn unblocked(world: &World, task: &Task) -> bool {
    task.blocked_by.iter().all(|b| done(world, *b))
}

fn holds(world: &World, who: &MemberName) -> bool {
    world.core.board().iter().any(|task| task.status == TaskStatus::InProgress && task.owner.as_ref() == Some(who))
}

/// Whether `to` is reached from `from` along `blockedBy`, over open tasks only or over all.
fn reaches(world: &World, from: TaskId, to: TaskId, open_only: bool) -> bool {
    let mut seen = vec![from];
    let mut at = 0;
    while let Some(id) = seen.get(at).copied() {
        at += 1;
        if id == to {
            return true;
        }
        if open_only && done(world, id) {
            continue;
        }
        for next in task(world, id).map(|t| t.blocked_by.clone()).unwrap_or_default() {
            if !seen.contains(&next) {
                seen.push(next);
            }
        }
    }
    false
}

/// Who gives a command, as far as the rules ask.
struct Giver<'a> {
    by: &'a Party,
    boss: bool,
    steers: bool,
}

/// Whether a command must be carried out (or refused) now; `None` where that cannot be told from outside.
pub fn expected(world: &World, by: &Party, command: &TeamCommand) -> Option<bool> {
    if !world.unseen.is_empty() || world.disk.fault.is_some() {
        return None;
    }
    let runs = |name: &MemberName| world.agents.contains_key(name);
    let boss = matches!(by, Party::Human | Party::System);
    match by {
        Party::Human | Party::System => {}
        Party::Member(name) if runs(name) => {}
        Party::Member(_) | Party::Outside(_) => return Some(false),
    }
    let giver = Giver { by, boss, steers: boss || by.is_lead() };
    on_the_board(world, &giver, command).or_else(|| on_the_team(world, &giver, command))
}

fn words(text: &str) -> bool {
    !text.trim().is_empty()
}

/// Commands on tasks.
fn on_the_board(world: &World, giver: &Giver<'_>, command: &TeamCommand) -> Option<bool> {
    use TeamCommand as C;
    let Giver { by, steers, .. } = *giver;
    let owns = |task: &Task| by.member().is_some() && task.owner.as_ref() == by.member();
    Some(match command {
        C::CreateTask { subject, blocked_by, .. } => {
            let id = world.core.board().next_id();
            words(subject)
                && subject.trim().chars().count() <= 500
                && blocked_by.iter().all(|b| task(world, *b).is_some() && !reaches(world, *b, id, false))
        }
        C::ClaimTask { task: id } => {
            let free = |t: &Task| t.status != TaskStatus::Completed && t.owner.is_none() && unblocked(world, t);
            by.member().is_some_and(|who| !holds(world, who)) && task(world, *id).is_some_and(free)
        }
        C::CompleteTask { task: id } => {
            let closed = by.member().map_or(Some(false), |who| read_only(world, who))?;
            let may = |t: &Task| t.status != TaskStatus::Completed && (owns(t) || steers) && (unblocked(world, t) || *by == Party::Human);
            !closed && task(world, *id).is_some_and(may)
        }
        C::ReleaseTask { task: id, .. } => {
            let held = |t: &Task| t.status != TaskStatus::Pending || t.owner.is_some();
            task(world, *id).is_some_and(|t| (owns(t) || steers) && held(t))
        }
        C::DeleteTask { task: id } => steers && task(world, *id).is_some(),
        C::EditBlockers { task: id, add, .. } => {
            let fits = |b: &TaskId| b != id && task(world, *b).is_some() && !reaches(world, *b, *id, false);
            task(world, *id).is_some() && add.iter().all(fits)
        }
        C::EditTask { task: id, subject, .. } => {
            steers && task(world, *id).is_some() && subject.as_ref().is_none_or(|s| words(s) && s.trim().chars().count() <= 500)
        }
        C::RepairTask { task: id } => {
            let waits = |b: &TaskId| task(world, *b).is_none() || (!done(world, *b) && reaches(world, *b, *id, true));
            let broken = |t: &Task| t.status == TaskStatus::Pending && t.blocked_by.iter().any(waits);
            steers && task(world, *id).is_some_and(broken)
        }
        C::GetTask { task: id } => task(world, *id).is_some(),
        C::ListTasks => true,
        _ => return None,
    })
}

/// Commands on members, mail and requests.
fn on_the_team(world: &World, giver: &Giver<'_>, command: &TeamCommand) -> Option<bool> {
    use TeamCommand as C;
    let Giver { by, boss, steers } = *giver;
    let runs = |name: &MemberName| world.agents.contains_key(name);
    let known = |text: &str| world.core.members().iter().find(|m| m.name.as_str().eq_ignore_ascii_case(text.trim()));
    let room = !world.ledger.stopping && world.agents.len() < world.settings.max_members;
    Some(match command {
        C::ListMembers | C::Brief => true,
        C::Send { to, content } => words(content) && may_send(world, by, to)?,
        C::Broadcast { content } => steers && words(content),
        C::RequestShutdown { target, .. } => {
            steers && known(target).is_some_and(|m| !m.name.is_lead() && (runs(&m.name) || m.status != MemberStatus::Shutdown))
        }
        C::ForceStop { target } => boss && known(target).is_some_and(|m| runs(&m.name) || m.status != MemberStatus::Shutdown),
        C::Answer { id, verdict, shown } => {
            let edits = |r: &Request| match verdict {
                Verdict::Approve { edited: Some(text), .. } => r.kind == RequestKind::Plan && words(text),
                Verdict::Approve { edited: None, .. } | Verdict::Reject { .. } => true,
            };
            let rightful = |r: &Request| may_decide(by, r.kind, &r.target, world.settings.plan_reviewer);
            world.core.request(id).is_some_and(|r| r.is_pending() && rightful(r) && *shown == Digest::of(&r.body) && edits(r))
        }
        C::SubmitPlan { plan } => by.member().is_some_and(|who| !who.is_lead()) && words(plan),
        // Beyond the plans it is the policy's business.
        C::Authorize(_) => !read_only(world, by.member()?).filter(|closed| *closed)?,
        C::GetRequest { id } => world.core.request(id).is_some(),
        C::Spawn(order) => {
            let Ok(name) = MemberName::parse_teammate(order.name.trim()) else { return Some(false) };
            let taken = known(name.as_str()).is_some_and(|m| m.name != name || runs(&m.name));
            steers && !taken && room
        }
        C::Resume { target } => steers && known(target).is_some_and(|m| !runs(&m.name)) && room,
        C::Interrupt { target } => steers && known(target).is_some_and(|m| runs(&m.name)),
        C::SetPlanMode { .. } | C::StopTeam { .. } => boss,
        _ => return None,
    })
}

fn may_send(world: &World, by: &Party, to: &str) -> Option<bool> {
    if to.trim().eq_ignore_ascii_case("human") {
        return Some(true);
    }
    let Some(member) = world.core.members().iter().find(|m| m.name.as_str().eq_ignore_ascii_case(to.trim())) else { return Some(false) };
    if by.member() == Some(&member.name) {
        return Some(false);
    }
    let waits = matches!(member.status, MemberStatus::Interrupted | MemberStatus::Requested);
    Some(world.agents.contains_key(&member.name) || waits || (member.name.is_lead() && !world.ledger.stopping))
}
