//! Plan approval and permissions.

use super::world::{World, member, name};
use signoff::domain::command::{Action, Intent};
use signoff::domain::request::PlanReviewer;
use signoff::domain::settings::{PlanMode, TeamSettings};
use signoff::domain::*;
use signoff::protocol::AgentInput;
use signoff::protocol::core::Loaded;

fn submit(w: &mut World, who: &str, plan: &str) -> Request {
    match w.by(member(who), TeamCommand::SubmitPlan { plan: plan.into() }) {
        Ok(Reply::Request(request)) => Request::clone(&request),
        other => panic!("{other:?}"),
    }
}

fn decide(w: &mut World, by: Party, id: &RequestId, verdict: Verdict) -> Result<Reply, Refusal> {
    let shown = w.core.request(id).unwrap().digest();
    w.by(by, TeamCommand::Answer { id: id.clone(), verdict, shown })
}

fn may_write(w: &mut World, who: &str) -> Result<Reply, Refusal> {
    w.by(
        member(who),
        TeamCommand::Authorize(Intent { tool: "write_file".into(), action: Action::Write { path: "a".into() }, resolved: Vec::new() }),
    )
}

fn working(who: &str) -> World {
    let mut w = World::team(&[who]);
    w.begins(who);
    w
}

#[test]
fn a_pending_plan_blocks_writing_and_an_approval_opens_it() {
    let mut w = working("bob");
    assert!(may_write(&mut w, "bob").is_ok());
    let plan = submit(&mut w, "bob", "1. migrate");
    assert!(matches!(may_write(&mut w, "bob"), Err(Refusal::Gate(_))));
    decide(&mut w, Party::Human, &plan.id, Verdict::approve()).unwrap();
    assert!(may_write(&mut w, "bob").is_ok());
}

#[test]
fn t6_an_approval_wakes_an_idle_member() {
    let mut w = working("bob");
    let plan = submit(&mut w, "bob", "1. migrate");
    w.rests_with("bob", signoff::protocol::turn::Outcome::AwaitsVerdict, "");
    assert_eq!(w.status("bob"), MemberStatus::WaitingApproval);
    decide(&mut w, Party::Human, &plan.id, Verdict::approve()).unwrap();
    assert!(w.told_to("bob").iter().any(|i| matches!(i, AgentInput::Verdict(r) if r.state == RequestState::Approved)));
}

#[test]
fn a6_a_rejection_carries_its_words_and_the_next_plan_names_its_predecessor() {
    let mut w = working("bob");
    let first = submit(&mut w, "bob", "1. drop the table");
    decide(&mut w, Party::Human, &first.id, Verdict::Reject { feedback: Some("too risky".into()) }).unwrap();
    assert!(matches!(may_write(&mut w, "bob"), Err(Refusal::Gate(_))), "still read-only");
    let second = submit(&mut w, "bob", "1. copy the table");
    assert_ne!(first.id, second.id);
    assert_eq!(second.previous, Some(first.id));
}

#[test]
fn approved_with_edits_the_edited_text_is_the_plan() {
    let mut w = working("bob");
    let plan = submit(&mut w, "bob", "1. migrate");
    let edited = Verdict::Approve { note: None, edited: Some("1. back up\n2. migrate".into()), always: false };
    decide(&mut w, Party::Human, &plan.id, edited).unwrap();
    assert_eq!(w.core.request(&plan.id).unwrap().approved_text(), Some("1. back up\n2. migrate"));
    assert_eq!(w.by(member("bob"), TeamCommand::SubmitPlan { plan: "1. back up\n2. migrate".into() }), Ok(Reply::PlanAlreadyApproved));
}

#[test]
fn t8_the_same_plan_again_makes_no_new_request() {
    let mut w = working("bob");
    let plan = submit(&mut w, "bob", "1. migrate");
    assert_eq!(submit(&mut w, "bob", "1. migrate").id, plan.id, "while it is pending");
    decide(&mut w, Party::Human, &plan.id, Verdict::approve()).unwrap();
    assert_eq!(w.by(member("bob"), TeamCommand::SubmitPlan { plan: "1. migrate".into() }), Ok(Reply::PlanAlreadyApproved));
}

#[test]
fn a_newer_version_withdraws_the_older_one() {
    let mut w = working("bob");
    let first = submit(&mut w, "bob", "1. migrate");
    submit(&mut w, "bob", "1. migrate slowly");
    let late = decide(&mut w, Party::Human, &first.id, Verdict::approve()).unwrap_err();
    assert!(late.to_string().contains("withdrawn already"), "{late}");
}

#[test]
fn a_verdict_on_a_text_that_was_not_shown_is_refused() {
    let mut w = working("bob");
    let plan = submit(&mut w, "bob", "1. migrate");
    let shown = Digest::of("1. something else");
    let refusal = w.human(TeamCommand::Answer { id: plan.id.clone(), verdict: Verdict::approve(), shown }).unwrap_err();
    assert!(matches!(refusal, Refusal::Changed { .. }));
    assert!(w.core.request(&plan.id).unwrap().is_pending());
}

#[test]
fn t9_neither_the_lead_nor_the_asker_decides_unless_policy_says_so() {
    let mut w = working("bob");
    let plan = submit(&mut w, "bob", "1. migrate");
    for by in [member("bob"), Party::lead(), Party::System] {
        assert!(matches!(decide(&mut w, by, &plan.id, Verdict::approve()), Err(Refusal::NotYours { .. })));
    }
    let mut w = World::with(TeamSettings { plan_reviewer: PlanReviewer::Lead, ..TeamSettings::default() }, Loaded::default());
    w.spawn("bob");
    w.begins("bob");
    let plan = submit(&mut w, "bob", "1. migrate");
    assert!(decide(&mut w, Party::lead(), &plan.id, Verdict::approve()).is_ok());
}

#[test]
fn t7_exactly_one_decision_per_request() {
    let mut w = working("bob");
    let plan = submit(&mut w, "bob", "1. migrate");
    decide(&mut w, Party::Human, &plan.id, Verdict::reject()).unwrap();
    let second = decide(&mut w, Party::Human, &plan.id, Verdict::approve()).unwrap_err();
    assert!(second.to_string().contains("rejected already by human"), "{second}");
    assert!(may_write(&mut w, "bob").is_err());
}

#[test]
fn require_plan_starts_read_only_and_another_task_needs_another_plan() {
    let mut w = World::new();
    let order = SpawnOrder { name: "bob".into(), role: "coder".into(), require_plan: true, ..SpawnOrder::default() };
    w.human(TeamCommand::Spawn(order)).unwrap();
    w.rests("bob");
    let first = w.task("a", &[]);
    w.begins("bob");
    assert!(matches!(may_write(&mut w, "bob"), Err(Refusal::Gate(_))));
    let plan = submit(&mut w, "bob", "1. do a");
    assert_eq!(plan.task, Some(first));
    decide(&mut w, Party::Human, &plan.id, Verdict::approve()).unwrap();
    assert!(may_write(&mut w, "bob").is_ok());
    w.by(member("bob"), TeamCommand::CompleteTask { task: first }).unwrap();
    w.task("b", &[]);
    w.rests("bob");
    assert!(matches!(may_write(&mut w, "bob"), Err(Refusal::Gate(_))), "bound to the task it was for");
}

#[test]
fn a_member_that_waits_for_a_verdict_does_not_time_out() {
    let mut w = working("bob");
    submit(&mut w, "bob", "1. migrate");
    w.rests_with("bob", signoff::protocol::turn::Outcome::AwaitsVerdict, "");
    w.told_to("bob");
    w.passes(600);
    assert!(!w.told_to("bob").iter().any(|i| matches!(i, AgentInput::End { .. })));
}

#[test]
fn s8_plans_are_denied_at_once_and_listed_when_nobody_is_there() {
    let mut w = World::with(TeamSettings { plans: PlanMode::Deny, ..TeamSettings::default() }, Loaded::default());
    w.spawn("bob");
    w.begins("bob");
    let plan = submit(&mut w, "bob", "1. migrate");
    assert_eq!(plan.state, RequestState::Rejected);
    assert!(w.events.iter().any(|e| matches!(e, TeamEvent::Denied { .. })));
}

#[test]
fn a3_two_requests_wait_in_a_queue_and_none_is_lost() {
    let mut w = World::team(&["bob", "carol"]);
    w.begins("bob");
    w.begins("carol");
    let (one, two) = (submit(&mut w, "bob", "1. x"), submit(&mut w, "carol", "1. y"));
    decide(&mut w, Party::Human, &two.id, Verdict::approve()).unwrap();
    assert!(w.core.request(&one.id).unwrap().is_pending());
    assert!(may_write(&mut w, "carol").is_ok() && may_write(&mut w, "bob").is_err());
}

#[test]
fn a_command_that_no_rule_allows_waits_for_the_person() {
    let mut w = working("bob");
    let intent =
        Intent { tool: "bash".into(), action: Action::Command { command: "cargo test".into(), cwd: "/w".into() }, resolved: Vec::new() };
    w.by(member("bob"), TeamCommand::Authorize(intent)).unwrap();
    let asked = w.core.requests().find(|r| r.kind == RequestKind::Permission).unwrap().clone();
    assert_eq!(w.status("bob"), MemberStatus::WaitingApproval);
    assert!(w.settled.is_empty(), "the tool waits");
    assert!(decide(&mut w, Party::lead(), &asked.id, Verdict::approve()).is_err(), "only the person");
    decide(&mut w, Party::Human, &asked.id, Verdict::approve()).unwrap();
    assert_eq!(w.settled.last().unwrap(), &(asked.id.clone(), Ok(Reply::Authorized)));
}

#[test]
fn t29_a_permission_tells_who_what_where_and_shows_what_cannot_be_seen() {
    let mut w = working("bob");
    let command = "ls\u{202e}\u{200b}\t-l\u{a0}\u{1b}[2K ехе".to_owned();
    let resolved = vec!["runs ls → /usr/bin/ls\nby lead".to_owned()];
    let intent = Intent { tool: "bash".into(), action: Action::Command { command, cwd: "/w\u{7}".into() }, resolved };
    w.by(member("bob"), TeamCommand::Authorize(intent)).unwrap();
    let asked = w.core.requests().find(|r| r.kind == RequestKind::Permission).unwrap().clone();
    let lines: Vec<&str> = asked.body.lines().collect();
    assert_eq!(lines[0], "ls⟨U+202E⟩⟨U+200B⟩⟨U+0009⟩-l⟨U+00A0⟩⟨U+001B⟩[2K ехе");
    assert!(asked.title.contains("⟨U+202E⟩"), "{}", asked.title);
    assert_eq!(lines[2..4], ["in /w⟨U+0007⟩", "by bob with the tool bash"]);
    assert_eq!(lines[4], "runs ls → /usr/bin/ls ⟨U+000A⟩ by lead", "no line can be forged");
    assert_eq!(lines[5], "look twice: letters that are not ASCII: ехе");
    assert!(asked.rule.is_none(), "no rule can be read that cannot be seen");
}

#[test]
fn a_member_that_waits_for_a_permission_does_not_keep_the_team_from_stopping() {
    let mut w = working("bob");
    w.human(TeamCommand::Send { to: "lead".into(), content: "go".into() }).unwrap();
    w.begins("lead");
    for who in ["bob", "lead"] {
        let intent = Intent {
            tool: "bash".into(),
            action: Action::Command { command: "cargo test".into(), cwd: "/w".into() },
            resolved: Vec::new(),
        };
        let by = if who == "lead" { Party::lead() } else { member(who) };
        w.by(by, TeamCommand::Authorize(intent)).unwrap();
    }
    w.human(TeamCommand::StopTeam { now: false }).unwrap();
    let denied = w.settled.iter().filter(|(_, result)| matches!(result, Err(Refusal::Denied(why)) if why.contains("stopping"))).count();
    assert_eq!(denied, 2, "{:?}", w.settled);
    let states: Vec<RequestState> = w.core.requests().filter(|r| r.kind == RequestKind::Permission).map(|r| r.state).collect();
    assert_eq!(states, [RequestState::Withdrawn; 2]);
}

#[test]
fn a_permission_of_a_member_that_is_interrupted_is_withdrawn() {
    let mut w = working("bob");
    let intent =
        Intent { tool: "bash".into(), action: Action::Command { command: "cargo test".into(), cwd: "/w".into() }, resolved: Vec::new() };
    w.by(member("bob"), TeamCommand::Authorize(intent)).unwrap();
    w.human(TeamCommand::Interrupt { target: "bob".into() }).unwrap();
    assert!(w.core.requests().all(|r| !r.is_pending()));
    assert!(matches!(w.settled.last(), Some((_, Err(_)))));
}

#[test]
fn t22_after_a_crash_nobody_works_and_a_pending_plan_can_still_be_answered() {
    let mut before = working("bob");
    let plan = submit(&mut before, "bob", "1. migrate");
    let loaded = Loaded {
        team: Some(before.core.team_config()),
        tasks: vec![],
        requests: before.core.requests().map(|r| Request::clone(r)).collect(),
        ..Loaded::default()
    };
    let mut w = World::with(TeamSettings::default(), loaded);
    assert_eq!(w.status("bob"), MemberStatus::Interrupted);
    assert!(w.core.request(&plan.id).unwrap().is_pending());
    w.started.clear();
    decide(&mut w, Party::Human, &plan.id, Verdict::approve()).unwrap();
    assert_eq!(w.started, [(name("bob"), true)], "its conversation goes on");
    assert!(w.told_to("bob").iter().any(|i| matches!(i, AgentInput::Verdict(_))));
}

#[test]
fn a_verdict_on_the_last_open_work_does_not_look_like_a_board_that_stands_still() {
    for verdict in [Verdict::approve(), Verdict::reject()] {
        let mut w = working("bob");
        w.by(Party::Human, TeamCommand::CreateTask { subject: "migrate".into(), description: String::new(), blocked_by: vec![] }).unwrap();
        w.by(member("bob"), TeamCommand::ClaimTask { task: TaskId(1) }).unwrap();
        let plan = submit(&mut w, "bob", "1. migrate");
        w.rests_with("bob", signoff::protocol::turn::Outcome::AwaitsVerdict, "");
        w.told.clear();
        decide(&mut w, Party::Human, &plan.id, verdict).unwrap();
        let lead = w.told_to("lead");
        assert!(lead.is_empty(), "the lead was woken while bob takes up the verdict: {lead:?}");
    }
}

#[test]
fn words_to_a_resting_lead_are_not_followed_by_an_end_before_it_has_read_them() {
    let mut w = World::team(&[]);
    w.events.clear();
    w.by(Party::Human, TeamCommand::Send { to: "lead".into(), content: "hello".into() }).unwrap();
    assert!(!w.events.iter().any(|e| matches!(e, TeamEvent::Finished { .. })), "{:?}", w.events);
}

#[test]
fn a_member_has_one_open_plan_whatever_task_it_is_for() {
    let mut w = working("bob");
    let first = submit(&mut w, "bob", "1. look around");
    w.human(TeamCommand::CreateTask { subject: "a".into(), description: String::new(), blocked_by: vec![] }).unwrap();
    w.by(member("bob"), TeamCommand::ClaimTask { task: TaskId(1) }).unwrap();
    let second = submit(&mut w, "bob", "1. do a");
    assert!(decide(&mut w, Party::Human, &first.id, Verdict::approve()).is_err(), "the older one is withdrawn");
    assert!(may_write(&mut w, "bob").is_err(), "the newer one still waits");
    decide(&mut w, Party::Human, &second.id, Verdict::approve()).unwrap();
    assert!(may_write(&mut w, "bob").is_ok());
}
