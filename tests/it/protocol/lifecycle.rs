//! The life of a request as a table: every state, everything that can be done to it, and what comes of it. And the gate
//! that plans open and close.

use super::world::{World, member};
use signoff::domain::command::{Action, Intent};
use signoff::domain::request::PlanReviewer;
use signoff::domain::settings::TeamSettings;
use signoff::domain::*;
use signoff::protocol::core::Loaded;

const STATES: [RequestState; 5] =
    [RequestState::Pending, RequestState::Approved, RequestState::Rejected, RequestState::Withdrawn, RequestState::Expired];

fn request(kind: RequestKind, state: RequestState) -> Request {
    let mut request = Request {
        id: RequestId::parse("0000abcd").unwrap(),
        kind,
        asker: Party::lead(),
        target: MemberName::parse("bob").unwrap(),
        generation: Generation(1),
        title: "t".into(),
        body: "the text".into(),
        task: None,
        previous: None,
        rule: None,
        created: Timestamp(1),
        deadline: None,
        force: false,
        state,
        answer: None,
        ended: None,
        extra: Extra::new(),
    };
    if let RequestState::Approved | RequestState::Rejected = state {
        let verdict = if state == RequestState::Approved { Verdict::approve() } else { Verdict::reject() };
        request.answer = Some(Answer { by: Party::Human, at: Timestamp(2), digest: request.digest(), verdict });
    }
    request
}

fn decider(kind: RequestKind) -> Party {
    match kind {
        RequestKind::Shutdown => member("bob"),
        RequestKind::Plan | RequestKind::Permission => Party::Human,
    }
}

#[test]
fn a_request_leaves_pending_once_and_nothing_else_moves_it() {
    for kind in [RequestKind::Shutdown, RequestKind::Plan, RequestKind::Permission] {
        for state in STATES {
            let before = request(kind, state);
            let open = state == RequestState::Pending;
            for (verdict, after) in [(Verdict::approve(), RequestState::Approved), (Verdict::reject(), RequestState::Rejected)] {
                let outcome = before.answered(&decider(kind), verdict, &before.digest(), PlanReviewer::Human, Timestamp(9));
                match outcome {
                    Ok(decided) => assert!(open && decided.state == after && decided.answer.is_some(), "{kind:?} {state:?}"),
                    Err(Refusal::AlreadyDecided { state: told, .. }) => assert!(!open && told == state),
                    Err(other) => panic!("{kind:?} {state:?}: {other}"),
                }
            }
            for end in [RequestState::Withdrawn, RequestState::Expired] {
                let outcome = before.closed(end, "why");
                assert_eq!(outcome.is_ok_and(|r| r.state == end && r.answer.is_none()), open, "{kind:?} {state:?} {end:?}");
            }
        }
    }
}

#[test]
fn an_answer_names_who_when_and_on_which_text() {
    let before = request(RequestKind::Plan, RequestState::Pending);
    let decided = before.answered(&Party::Human, Verdict::approve(), &before.digest(), PlanReviewer::Human, Timestamp(9)).unwrap();
    let answer = decided.answer.unwrap();
    assert_eq!((answer.by, answer.at, answer.digest), (Party::Human, Timestamp(9), Digest::of("the text")));
}

#[test]
fn only_a_plan_is_approved_with_edits_and_never_with_an_empty_text() {
    let edited = |text: &str| Verdict::Approve { note: None, edited: Some(text.into()), always: false };
    for (kind, text, fits) in [
        (RequestKind::Plan, "1. better", true),
        (RequestKind::Plan, " \n", false),
        (RequestKind::Permission, "rm -rf /", false),
        (RequestKind::Shutdown, "later", false),
    ] {
        let before = request(kind, RequestState::Pending);
        let outcome = before.answered(&decider(kind), edited(text), &before.digest(), PlanReviewer::Human, Timestamp(9));
        assert_eq!(outcome.is_ok(), fits, "{kind:?} {text:?}: what is approved is what runs");
    }
}

fn submit(w: &mut World, plan: &str) -> Reply {
    w.by(member("bob"), TeamCommand::SubmitPlan { plan: plan.into() }).unwrap()
}

fn decide(w: &mut World, verdict: Verdict) {
    let request = w.core.requests().find(|r| r.is_pending()).unwrap().clone();
    w.human(TeamCommand::Answer { id: request.id.clone(), verdict, shown: request.digest() }).unwrap();
}

fn may_write(w: &mut World) -> bool {
    let intent = Intent { tool: "write_file".into(), action: Action::Write { path: "a".into() }, resolved: Vec::new() };
    w.by(member("bob"), TeamCommand::Authorize(intent)).is_ok()
}

fn with_plans_required() -> World {
    let mut w = World::with(TeamSettings { require_plan: true, ..TeamSettings::default() }, Loaded::default());
    w.spawn("bob");
    w
}

#[test]
fn claiming_is_no_way_around_a_rejection() {
    let mut w = World::team(&["bob"]);
    let task = w.task("a", &[]);
    w.begins("bob");
    submit(&mut w, "1. drop it");
    decide(&mut w, Verdict::reject());
    w.by(member("bob"), TeamCommand::ReleaseTask { task, note: None }).unwrap();
    w.by(member("bob"), TeamCommand::ClaimTask { task }).unwrap();
    assert!(!may_write(&mut w));
}

#[test]
fn a_plan_that_was_approved_before_the_task_was_claimed_does_not_open_the_task() {
    let mut w = with_plans_required();
    w.begins("bob");
    submit(&mut w, "1. look around");
    let task = w.task("a", &[]);
    w.by(member("bob"), TeamCommand::ClaimTask { task }).unwrap();
    decide(&mut w, Verdict::approve());
    assert!(!may_write(&mut w), "it was for other work");
    submit(&mut w, "1. do a");
    decide(&mut w, Verdict::approve());
    assert!(may_write(&mut w));
}

#[test]
fn between_two_tasks_nothing_is_changed_where_every_task_needs_a_plan() {
    let mut w = with_plans_required();
    let task = w.task("a", &[]);
    w.begins("bob");
    submit(&mut w, "1. do a");
    decide(&mut w, Verdict::approve());
    w.by(member("bob"), TeamCommand::CompleteTask { task }).unwrap();
    assert!(!may_write(&mut w));
}

#[test]
fn t8_a_task_that_is_taken_up_again_keeps_its_approved_plan() {
    let mut w = with_plans_required();
    let task = w.task("a", &[]);
    w.begins("bob");
    submit(&mut w, "1. do a");
    decide(&mut w, Verdict::approve());
    w.by(member("bob"), TeamCommand::ReleaseTask { task, note: None }).unwrap();
    w.by(member("bob"), TeamCommand::ClaimTask { task }).unwrap();
    assert_eq!(submit(&mut w, "1. do a"), Reply::PlanAlreadyApproved);
    assert!(may_write(&mut w), "told to go on, and able to");
}

#[test]
fn a_member_can_be_put_under_plans_while_it_runs() {
    let mut w = World::team(&["bob"]);
    w.begins("bob");
    assert!(may_write(&mut w));
    let mut team = w.core.team_config();
    team.members.iter_mut().filter(|m| !m.name.is_lead()).for_each(|m| m.require_plan = true);
    w.handle(signoff::protocol::Input::Outside(signoff::protocol::Outside::Team(team))).unwrap();
    assert!(!may_write(&mut w));
}

#[test]
fn a_permission_that_its_member_does_not_wait_for_any_more_is_withdrawn() {
    let mut w = World::team(&["bob"]);
    w.begins("bob");
    let action = Action::Command { command: "make".into(), cwd: "/w".into() };
    w.by(member("bob"), TeamCommand::Authorize(Intent { tool: "bash".into(), action, resolved: Vec::new() })).unwrap();
    w.rests("bob");
    assert!(w.core.requests().all(|r| r.state == RequestState::Withdrawn));
}

#[test]
fn once_is_once_and_always_is_for_the_session() {
    let ask = |w: &mut World| {
        let action = Action::Command { command: "make test".into(), cwd: "/w".into() };
        w.by(member("bob"), TeamCommand::Authorize(Intent { tool: "bash".into(), action, resolved: Vec::new() })).unwrap();
        w.core.requests().any(|r| r.is_pending())
    };
    let mut w = World::team(&["bob"]);
    w.begins("bob");
    assert!(ask(&mut w));
    decide(&mut w, Verdict::approve());
    assert!(ask(&mut w), "the next time the person is asked again");
    decide(&mut w, Verdict::Approve { note: None, edited: None, always: true });
    assert!(!ask(&mut w));
}
