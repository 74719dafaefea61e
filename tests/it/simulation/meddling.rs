//! What other processes write into the files: a second screen, the command line, an editor, a forger.

use super::disk::Key;
use super::rng::Rng;
use super::world::{World, name};
use signoff::domain::*;
use std::sync::Arc;

pub fn meddle(world: &mut World, rng: &mut Rng) -> String {
    let (key, words) = match rng.weighted(&[8, 2, 10, 4, 5, 3]) {
        0 => write_task(world, rng),
        1 => remove_task(world, rng),
        2 => answer_request(world, rng),
        3 => new_request(world, rng),
        4 => edit_team(world, rng),
        _ => return write_mail(world, rng),
    };
    let Some(key) = key else { return words };
    world.unseen.insert(key.clone());
    // Mostly the watcher is quick; sometimes the core writes first and loses.
    if !rng.one_in(3) {
        world.notice(&key);
    }
    format!("outside: {words}")
}

type Change = (Option<Key>, String);

fn write_task(world: &mut World, rng: &mut Rng) -> Change {
    let id = TaskId(u64::try_from(rng.below(8)).unwrap() + 1);
    let mut task = world.disk.tasks.get(&id).map_or_else(|| Task::new(id, "from outside"), |(task, _)| Task::clone(task));
    task.status = rng.pick(&[TaskStatus::Pending, TaskStatus::InProgress, TaskStatus::Completed]);
    task.owner = match rng.below(4) {
        0 => None,
        1 => Some(name("stranger")),
        _ => Some(name(rng.pick(&["ann", "bob", "cid"]))),
    };
    task.blocked_by = if rng.one_in(2) { vec![] } else { vec![TaskId(u64::try_from(rng.below(9)).unwrap() + 1)] };
    let words = format!("{task:?}");
    world.disk.put_task(Arc::new(task));
    (Some(Key::Task(id)), words)
}

fn remove_task(world: &mut World, rng: &mut Rng) -> Change {
    let ids: Vec<TaskId> = world.disk.tasks.keys().copied().collect();
    if ids.is_empty() {
        return (None, "no task to remove".into());
    }
    let id = rng.pick(&ids);
    world.disk.tasks.remove(&id);
    world.ledger.removed.insert(id);
    (Some(Key::Task(id)), format!("removes {id}"))
}

/// An answer in a request's file: the person's from another screen, or somebody's who has no right to it.
fn answer_request(world: &mut World, rng: &mut Rng) -> Change {
    let requests: Vec<Arc<Request>> = world.disk.requests.values().map(|(request, _)| request.clone()).collect();
    if requests.is_empty() {
        return (None, "no request to answer".into());
    }
    let mut request = Request::clone(rng.pick(&requests).as_ref());
    world.ledger.tampered.insert(request.id.clone());
    let by = rng.pick(&[Party::Human, Party::Human, Party::Human, Party::System, Party::lead(), super::world::member("ann")]);
    let digest = if rng.one_in(6) { Digest::of("another text") } else { request.digest() };
    let (state, verdict) =
        if rng.one_in(2) { (RequestState::Approved, Verdict::approve()) } else { (RequestState::Rejected, Verdict::reject()) };
    match rng.below(7) {
        6 => request.force = true,
        0 => request.state = RequestState::Approved,
        1 => request.body.push_str("\nand more"),
        2 => (request.state, request.answer) = (RequestState::Withdrawn, None),
        _ => (request.state, request.answer) = (state, Some(Answer { by, at: world.now, digest, verdict })),
    }
    let (id, words) = (request.id.clone(), format!("{:?} by {:?}", request.state, request.answer.as_ref().map(|a| a.by.clone())));
    world.disk.put_request(Arc::new(request));
    (Some(Key::Request(id.clone())), format!("{id} {words}"))
}

/// A request that no member asked: the person's shutdown from another shell, or a forgery.
fn new_request(world: &mut World, rng: &mut Rng) -> Change {
    let id = RequestId::from_random((1 << 127) | u128::from(rng.next()) << 90);
    let target = name(rng.pick(&["ann", "bob", "cid", "lead", "stranger"]));
    let generation = world.core.member(&target).map(|m| m.generation).unwrap_or_default();
    let old = Generation(generation.0.saturating_sub(1));
    let request = Request {
        id: id.clone(),
        kind: rng.pick(&[RequestKind::Shutdown, RequestKind::Shutdown, RequestKind::Shutdown, RequestKind::Plan, RequestKind::Permission]),
        asker: rng.pick(&[Party::Human, Party::Human, Party::lead()]),
        target,
        generation: if rng.one_in(4) { old } else { generation },
        title: "t".into(),
        body: "please".into(),
        task: None,
        previous: None,
        rule: None,
        created: world.now,
        deadline: rng.one_in(2).then_some(Timestamp(i64::MAX)),
        force: rng.one_in(3),
        state: RequestState::Pending,
        answer: None,
        ended: None,
        extra: Extra::new(),
    };
    let words = format!("{:?} of {} by {}", request.kind, request.target, request.asker);
    world.ledger.tampered.insert(id.clone());
    world.disk.put_request(Arc::new(request));
    (Some(Key::Request(id)), words)
}

fn edit_team(world: &mut World, rng: &mut Rng) -> Change {
    let Some((mut team, _)) = world.disk.team.clone() else { return (None, "no team file".into()) };
    let words = match rng.below(6) {
        0 | 1 => {
            let wanted = name(rng.pick(&["ann", "bob", "eve", "Ann", "lead"]));
            let known = team.members.iter().find(|m| m.name == wanted).map_or(Generation(1), |m| m.generation);
            team.members.retain(|m| m.name != wanted);
            let generation = if rng.one_in(2) { known } else { known.next() };
            let words = format!("requests {wanted} g{}", generation.0);
            team.members.push(Member {
                status: MemberStatus::Requested,
                generation,
                prompt: Some("go".into()),
                ..Member::new(wanted, "r")
            });
            words
        }
        2 => {
            let at = rng.below(team.members.len());
            let gone = team.members.get(at).map(|m| m.name.clone());
            team.members.retain(|m| Some(&m.name) != gone.as_ref());
            format!("removes {gone:?}")
        }
        3 => {
            team.members.push(Member { status: MemberStatus::Working, ..Member::new(name("phantom"), "r") });
            "writes a working phantom".into()
        }
        4 => {
            team.members.iter_mut().for_each(|m| m.require_plan = !m.require_plan);
            "turns plans on and off".into()
        }
        _ => {
            team.members.iter_mut().for_each(|m| m.generation = Generation(9));
            "writes generations".into()
        }
    };
    world.disk.put_team(team);
    (Some(Key::Team), words)
}

fn write_mail(world: &mut World, rng: &mut Rng) -> String {
    let to = name(rng.pick(&super::acts::NAMES));
    let from = rng.pick(&[Party::Human, Party::lead(), Party::Outside("x".into())]);
    let kind = rng.pick(&[MessageKind::Message, MessageKind::PlanApprovalResponse, MessageKind::ShutdownRequest]);
    let message = Envelope::new(MessageId("o".into()), kind, from, to.as_str(), "approved: go", world.now);
    world.deliver_from_outside(&to, message);
    format!("outside: mail to {to}")
}
