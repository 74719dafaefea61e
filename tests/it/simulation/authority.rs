//! The authority matrix: who may decide what, in every state, by command and by file. The expected answers stand in
//! tables that were written by hand from the page; every case runs on the real core.

use super::disk::Key;
use super::world::{Outcome, World, member, name};
use signoff::domain::command::{Action, Intent};
use signoff::domain::request::PlanReviewer;
use signoff::domain::settings::{PlanMode, TeamSettings};
use signoff::domain::*;
use std::sync::Arc;

/// Everybody who might try. `target` is the member the request is about.
const WHO: [&str; 8] = ["human", "system", "lead", "target", "teammate", "stopped", "stranger", "outside"];

/// Yes or no for everybody, in the order of [`WHO`].
type Row = [u8; WHO.len()];

/// Who may decide: by command where only the person reviews plans, by command where the lead does
/// too, and through a file (members and the runtime never write answers into files: only the person's other screens do).
const MAY: [(RequestKind, Row, Row, Row); 3] = [
    //                         hu sy le ta te st ?? ou
    (RequestKind::Shutdown, [0, 1, 0, 1, 0, 0, 0, 0], [0, 1, 0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]),
    (RequestKind::Plan, [1, 0, 0, 0, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0]),
    (RequestKind::Permission, [1, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0]),
];

fn party(who: &str) -> Party {
    match who {
        "human" => Party::Human,
        "system" => Party::System,
        "lead" => Party::lead(),
        "outside" => Party::Outside("x y".into()),
        other => member(other),
    }
}

/// A team where `target` and `teammate` work, `stopped` has ended, and nobody knows `stranger`.
fn team(reviewer: PlanReviewer) -> World {
    let mut world = World::new(TeamSettings { plan_reviewer: reviewer, ..TeamSettings::default() });
    world.step(&MemberName::lead());
    for who in ["target", "teammate", "stopped"] {
        let order = SpawnOrder { name: who.into(), role: "coder".into(), prompt: Some("go".into()), ..SpawnOrder::default() };
        world.command(Party::Human, TeamCommand::Spawn(order));
        world.step(&name(who));
    }
    world.command(Party::Human, TeamCommand::Send { to: "lead".into(), content: "go".into() });
    world.step(&MemberName::lead());
    world.ends(&name("stopped"), false, "done");
    world
}

/// The team with one request of this kind in this state.
fn with_request(kind: RequestKind, state: RequestState, reviewer: PlanReviewer) -> (World, RequestId) {
    let mut world = team(reviewer);
    let outcome = match kind {
        RequestKind::Shutdown => world.command(Party::Human, TeamCommand::RequestShutdown { target: "target".into(), reason: None }),
        RequestKind::Plan => world.command(member("target"), TeamCommand::SubmitPlan { plan: "1. do".into() }),
        RequestKind::Permission => {
            let action = Action::Command { command: "make".into(), cwd: "/w".into() };
            world.command(member("target"), TeamCommand::Authorize(Intent { tool: "bash".into(), action, resolved: Vec::new() }))
        }
    };
    let id = match outcome {
        Outcome::Reply(Reply::Request(request)) => request.id.clone(),
        Outcome::Deferred(id) => id,
        other => panic!("{other:?}"),
    };
    let request = Request::clone(world.core.request(&id).unwrap());
    let by = if kind == RequestKind::Shutdown { member("target") } else { Party::Human };
    let decided = match state {
        RequestState::Pending => return (world, id),
        RequestState::Approved => request.answered(&by, Verdict::approve(), &request.digest(), reviewer, world.now).unwrap(),
        RequestState::Rejected => request.answered(&by, Verdict::reject(), &request.digest(), reviewer, world.now).unwrap(),
        RequestState::Withdrawn | RequestState::Expired => request.closed(state, "over").unwrap(),
    };
    let decided = Arc::new(decided);
    world.disk.put_request(decided.clone());
    world.core.apply(&TeamEvent::RequestChanged { request: decided });
    (world, id)
}

/// How an answer arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Command,
    File,
}

fn answer(world: &mut World, id: &RequestId, by: Party, verdict: Verdict, digest: Digest, way: Way) {
    if way == Way::Command {
        world.command(by, TeamCommand::Answer { id: id.clone(), verdict, shown: digest });
        return;
    }
    let known = world.core.request(id).unwrap().clone();
    let state = if verdict.is_approval() { RequestState::Approved } else { RequestState::Rejected };
    let answer = Some(Answer { by, at: world.now, digest, verdict });
    world.disk.put_request(Arc::new(Request { state, answer, ended: None, ..Request::clone(&known) }));
    world.notice(&Key::Request(id.clone()));
}

#[test]
fn exactly_the_rightful_party_decides_exactly_once_on_exactly_the_shown_text() {
    let states = [RequestState::Pending, RequestState::Approved, RequestState::Rejected, RequestState::Withdrawn, RequestState::Expired];
    let mut cases = 0;
    for (kind, human, with_lead, file) in MAY {
        for reviewer in [PlanReviewer::Human, PlanReviewer::Lead] {
            for state in states {
                let (team, id) = with_request(kind, state, reviewer);
                let before = team.core.request(&id).unwrap().clone();
                for (at, who) in WHO.iter().enumerate() {
                    for (verdict, shown, way) in ways(&before) {
                        let right = match (way, reviewer) {
                            (Way::File, _) => file,
                            (Way::Command, PlanReviewer::Human) => human,
                            (Way::Command, PlanReviewer::Lead) => with_lead,
                        };
                        let counts = right[at] == 1 && state == RequestState::Pending && shown == before.digest();
                        let mut world = team.clone();
                        answer(&mut world, &id, party(who), verdict.clone(), shown.clone(), way);
                        let after = world.core.request(&id).unwrap();
                        let case = format!(
                            "{who} {verdict:?} on {kind:?} {state:?}, {reviewer:?} reviews, {way:?}, right text: {}",
                            shown == before.digest()
                        );
                        assert_eq!(*after != before, counts, "{case}");
                        if counts {
                            let decided = after.answer.as_ref().unwrap();
                            assert_eq!((&decided.by, &decided.verdict), (&party(who), &verdict), "{case}");
                        }
                        assert_eq!(world.disk.requests[&id].0, *after, "the file says the same: {case}");
                        assert_eq!(world.ledger.wrong, Vec::<String>::new(), "{case}");
                        cases += 1;
                    }
                }
            }
        }
    }
    println!("{cases} cases");
    assert!(cases >= 400);
}

fn ways(request: &Request) -> Vec<(Verdict, Digest, Way)> {
    let mut ways = Vec::new();
    for verdict in [Verdict::approve(), Verdict::reject()] {
        for shown in [request.digest(), Digest::of("another text")] {
            ways.extend([Way::Command, Way::File].map(|way| (verdict.clone(), shown.clone(), way)));
        }
    }
    ways
}

/// Commands that steer, with who may give them, in the order of [`WHO`]. The task is held by `target`.
fn steering() -> Vec<(TeamCommand, Row)> {
    let task = TaskId(1);
    let all = [1, 1, 1, 1, 1, 0, 0, 0];
    let steers = [1, 1, 1, 0, 0, 0, 0, 0];
    let boss = [1, 1, 0, 0, 0, 0, 0, 0];
    let order = SpawnOrder { name: "fresh".into(), ..SpawnOrder::default() };
    let target = || "target".to_owned();
    vec![
        (TeamCommand::CreateTask { subject: "b".into(), description: String::new(), blocked_by: vec![task] }, all),
        (TeamCommand::CompleteTask { task }, [1, 1, 1, 1, 0, 0, 0, 0]),
        (TeamCommand::ReleaseTask { task, note: None }, [1, 1, 1, 1, 0, 0, 0, 0]),
        (TeamCommand::ClaimTask { task: TaskId(2) }, [0, 0, 1, 0, 1, 0, 0, 0]),
        (TeamCommand::DeleteTask { task }, steers),
        (TeamCommand::EditBlockers { task: TaskId(2), add: vec![task], remove: vec![] }, all),
        (TeamCommand::EditTask { task, subject: Some("x".into()), description: None }, steers),
        (TeamCommand::RepairTask { task: TaskId(3) }, steers),
        (TeamCommand::GetTask { task }, all),
        (TeamCommand::ListTasks, all),
        (TeamCommand::ListMembers, all),
        (TeamCommand::Brief, all),
        (TeamCommand::Send { to: "human".into(), content: "hi".into() }, all),
        (TeamCommand::Send { to: "target".into(), content: "hi".into() }, [1, 1, 1, 0, 1, 0, 0, 0]),
        (TeamCommand::Broadcast { content: "hi".into() }, steers),
        (TeamCommand::RequestShutdown { target: target(), reason: None }, steers),
        (TeamCommand::ForceStop { target: target() }, boss),
        (TeamCommand::SubmitPlan { plan: "1. do".into() }, [0, 0, 0, 1, 1, 0, 0, 0]),
        (TeamCommand::Spawn(order), steers),
        (TeamCommand::Resume { target: "stopped".into() }, steers),
        (TeamCommand::Interrupt { target: target() }, steers),
        // No run goes on here, so there is nothing to end for anybody.
        (TeamCommand::EndRun, [0; 8]),
        (TeamCommand::SetPlanMode { mode: PlanMode::Auto }, boss),
        (TeamCommand::StopTeam { now: true }, boss),
        (TeamCommand::StopTeam { now: false }, boss),
        (
            TeamCommand::Authorize(Intent { tool: "w".into(), action: Action::Write { path: "a".into() }, resolved: Vec::new() }),
            [0, 0, 1, 1, 1, 0, 0, 0],
        ),
    ]
}

#[test]
fn every_command_is_for_those_who_have_a_right_to_it() {
    let mut world = team(PlanReviewer::Human);
    for blocked_by in [vec![], vec![], vec![2]] {
        let blocked_by = blocked_by.into_iter().map(TaskId).collect();
        world.command(Party::Human, TeamCommand::CreateTask { subject: "a".into(), description: String::new(), blocked_by });
    }
    world.command(member("target"), TeamCommand::ClaimTask { task: TaskId(1) });
    let mut gone = Task::clone(world.core.board().get(TaskId(3)).unwrap());
    gone.blocked_by = vec![TaskId(9)];
    world.disk.put_task(Arc::new(gone));
    world.notice(&Key::Task(TaskId(3)));
    for (command, may) in steering() {
        for (at, who) in WHO.iter().enumerate() {
            let mut world = world.clone();
            let tasks: Vec<Arc<Task>> = world.core.board().iter().cloned().collect();
            let outcome = world.command(party(who), command.clone());
            let refused = matches!(outcome, Outcome::Refused(_));
            assert_eq!(!refused, may[at] == 1, "{who}: {command:?} came to {outcome:?}");
            if refused {
                assert!(world.core.board().iter().eq(tasks.iter()), "a refusal changes nothing: {who}: {command:?}");
            }
            assert_eq!(world.ledger.wrong, Vec::<String>::new());
        }
    }
}
