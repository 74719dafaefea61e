//! Faults that a review and the simulation found, each as the smallest case: batches that a failing write cuts short,
//! what dead agents leave behind, and the moments between being told something and beginning it.

use super::world::{Counted, World, member, name};
use signoff::domain::settings::{Budget, TeamSettings};
use signoff::domain::*;
use signoff::protocol::core::Loaded;
use signoff::protocol::turn::Outcome;
use signoff::protocol::{AgentInput, AgentReport, Effect, Input, TeamCore, Timer};

fn ask(w: &mut World, who: &str) -> Request {
    match w.human(TeamCommand::RequestShutdown { target: who.into(), reason: None }) {
        Ok(Reply::Request(request)) => Request::clone(&request),
        other => panic!("{other:?}"),
    }
}

fn finishes(w: &World) -> usize {
    w.events.iter().filter(|e| matches!(e, TeamEvent::Finished { .. })).count()
}

#[test]
fn an_end_whose_release_cannot_be_written_is_made_good_by_the_next_input() {
    let mut w = World::team(&["alice"]);
    let task = w.task("a", &[]);
    w.begins("alice");
    w.writes_left = Some(0);
    let report = AgentReport::Ended { failed: true, reason: "boom".into() };
    let _ = w.handle(Input::Report { name: name("alice"), generation: Generation(1), report });
    assert_eq!((w.status("alice"), w.state(task)), (MemberStatus::Failed, TaskStatus::Pending));
}

#[test]
fn a_start_that_cannot_be_written_frees_the_name() {
    let mut w = World::new();
    w.writes_left = Some(0);
    let order = || TeamCommand::Spawn(SpawnOrder { name: "bob".into(), ..SpawnOrder::default() });
    assert!(matches!(w.human(order()), Err(Refusal::Store(_))));
    assert!(!w.status("bob").is_live(), "{:?}", w.status("bob"));
    assert!(w.human(order()).is_ok());
}

#[test]
fn an_agreement_counts_even_when_the_letter_to_the_asker_cannot_be_written() {
    let mut w = World::team(&["alice"]);
    w.begins("alice");
    let request = ask(&mut w, "alice");
    w.told_to("alice");
    w.writes_left = Some(1);
    let yes = TeamCommand::Answer { id: request.id.clone(), verdict: Verdict::approve(), shown: request.digest() };
    assert!(w.by(member("alice"), yes).is_err());
    assert!(w.told_to("alice").iter().any(|i| matches!(i, AgentInput::End { .. })), "it ends all the same");
}

#[test]
fn a_shutdown_whose_letter_cannot_be_written_still_expires() {
    let mut w = World::team(&["alice"]);
    w.begins("alice");
    w.writes_left = Some(1);
    assert!(w.human(TeamCommand::RequestShutdown { target: "alice".into(), reason: None }).is_err());
    let request = w.core.requests().next().unwrap().clone();
    w.passes(31);
    assert_eq!(w.core.request(&request.id).unwrap().state, RequestState::Expired);
}

#[test]
fn an_expiry_that_cannot_be_written_comes_again() {
    let mut w = World::team(&["alice"]);
    w.begins("alice");
    let request = ask(&mut w, "alice");
    w.writes_left = Some(0);
    w.timers.remove(&Timer::Shutdown(request.id.clone()));
    let _ = w.handle(Input::Fired(Timer::Shutdown(request.id.clone())));
    assert!(w.core.request(&request.id).unwrap().is_pending());
    w.passes(31);
    assert_eq!(w.core.request(&request.id).unwrap().state, RequestState::Expired);
}

#[test]
fn an_interrupt_gets_through_when_nothing_can_be_written() {
    let mut w = World::team(&["bob"]);
    w.begins("bob");
    let action = command::Action::Command { command: "make".into(), cwd: "/w".into() };
    w.by(member("bob"), TeamCommand::Authorize(command::Intent { tool: "bash".into(), action, resolved: Vec::new() })).unwrap();
    w.writes_left = Some(0);
    let _ = w.human(TeamCommand::Interrupt { target: "bob".into() });
    assert!(w.told_to("bob").iter().any(|i| matches!(i, AgentInput::Interrupt)));
}

#[test]
fn late_reports_of_an_ended_agent_do_not_bring_it_back() {
    let mut w = World::team(&["bob"]);
    w.ends("bob", true, "a panic");
    for late in [
        AgentReport::Began { cause: "late".into() },
        AgentReport::Rested { outcome: Outcome::Done, text: String::new() },
        AgentReport::Ended { failed: false, reason: "twice".into() },
    ] {
        w.report("bob", late);
        assert_eq!(w.status("bob"), MemberStatus::Failed);
    }
    let task = w.task("a", &[]);
    assert_eq!(w.owner(task), None, "nobody is there to claim it");
}

#[test]
fn a_command_that_a_dead_agent_left_behind_does_not_count() {
    let mut w = World::team(&["bob"]);
    w.ends("bob", false, "done");
    let task = w.task("a", &[]);
    assert!(w.by(member("bob"), TeamCommand::ClaimTask { task }).is_err());
    assert!(w.by(member("nobody"), TeamCommand::Send { to: "lead".into(), content: "hi".into() }).is_err());
    assert!(w.by(Party::Outside("x".into()), TeamCommand::Send { to: "lead".into(), content: "hi".into() }).is_err());
    assert_eq!(w.owner(task), None);
}

#[test]
fn a_member_that_was_told_something_counts_as_at_work_before_it_begins() {
    let mut w = World::team(&["alice", "bob"]);
    w.human(TeamCommand::Send { to: "lead".into(), content: "go".into() }).unwrap();
    w.begins("lead");
    w.rests("lead");
    let ends = finishes(&w);
    w.human(TeamCommand::Send { to: "lead".into(), content: "more".into() }).unwrap();
    w.begins("lead");
    w.human(TeamCommand::Send { to: "bob".into(), content: "you too".into() }).unwrap();
    w.rests("lead");
    assert_eq!(finishes(&w), ends, "bob has not even begun");
    w.begins("bob");
    w.rests("bob");
    assert_eq!(finishes(&w), ends + 1);
}

#[test]
fn a_lead_that_fails_before_it_begins_ends_the_run_too() {
    let mut w = World::new();
    w.human(TeamCommand::Send { to: "lead".into(), content: "go".into() }).unwrap();
    w.ends("lead", true, "the transcript cannot be written");
    assert!(w.finished().is_some_and(|(reason, ok)| !ok && reason.contains("transcript")));
}

#[test]
fn writing_to_a_lead_that_could_not_be_started_starts_it() {
    let mut team = World::new().core.team_config();
    team.members[0].status = MemberStatus::Working;
    let loaded = Loaded { team: Some(team), ..Loaded::default() };
    let (core, _not_carried_out) = TeamCore::open(TeamSettings::default(), loaded, Timestamp(1));
    assert_eq!(core.members()[0].status, MemberStatus::Interrupted);
    let command = TeamCommand::Send { to: "lead".into(), content: "are you there?".into() };
    let effects = core.decide(&Input::Command { by: Party::Human, command }, Timestamp(2), &mut Counted::default()).unwrap();
    assert!(effects.iter().any(|e| matches!(e, Effect::Start { member, resume: true } if member.name.is_lead())));
}

#[test]
fn the_wall_time_of_a_dead_member_does_not_make_it_stopping() {
    let member_budget = Budget { seconds: 100, ..Budget::default() };
    let mut w = World::with(TeamSettings { member_budget, ..TeamSettings::default() }, Loaded::default());
    w.spawn("bob");
    w.ends("bob", false, "done");
    w.passes(200);
    assert_eq!(w.status("bob"), MemberStatus::Shutdown);
}

#[test]
fn force_again_and_again_does_not_put_off_the_end() {
    let mut w = World::team(&["bob"]);
    w.begins("bob");
    for _ in 0..3 {
        w.human(TeamCommand::ForceStop { target: "bob".into() }).unwrap();
        w.passes(1);
    }
    assert_eq!(w.aborted, [name("bob")]);
}

#[test]
fn a_member_that_agreed_and_does_not_end_is_taken_off() {
    let mut w = World::team(&["bob"]);
    w.begins("bob");
    let request = ask(&mut w, "bob");
    let yes = TeamCommand::Answer { id: request.id.clone(), verdict: Verdict::approve(), shown: request.digest() };
    w.by(member("bob"), yes).unwrap();
    w.passes(31);
    assert_eq!(w.aborted, [name("bob")]);
}

#[test]
fn a_stop_of_a_team_that_has_nothing_to_do_ends_and_the_team_can_start_again() {
    let mut w = World::new();
    w.human(TeamCommand::StopTeam { now: false }).unwrap();
    w.ends("lead", false, "");
    assert_eq!(w.finished(), Some(("stopped by human".into(), false)));
    assert!(w.human(TeamCommand::Resume { target: "lead".into() }).is_ok());
}

#[test]
fn who_refused_to_stop_ends_when_it_comes_to_rest() {
    let mut w = World::team(&["bob"]);
    w.task("a", &[]);
    w.begins("bob");
    w.human(TeamCommand::StopTeam { now: false }).unwrap();
    let request = w.core.requests().find(|r| r.is_pending()).unwrap().clone();
    let no = TeamCommand::Answer { id: request.id.clone(), verdict: Verdict::reject(), shown: request.digest() };
    w.by(member("bob"), no).unwrap();
    w.told_to("bob");
    w.rests("bob");
    assert!(w.told_to("bob").iter().any(|i| matches!(i, AgentInput::End { .. })));
}

#[test]
fn a_member_that_is_asked_to_stop_shows_so_whatever_else_is_answered() {
    let mut w = World::team(&["bob"]);
    w.begins("bob");
    let action = command::Action::Command { command: "make".into(), cwd: "/w".into() };
    w.by(member("bob"), TeamCommand::Authorize(command::Intent { tool: "bash".into(), action, resolved: Vec::new() })).unwrap();
    let permission = w.core.requests().next().unwrap().clone();
    ask(&mut w, "bob");
    assert_eq!(w.status("bob"), MemberStatus::Stopping);
    let yes = TeamCommand::Answer { id: permission.id.clone(), verdict: Verdict::approve(), shown: permission.digest() };
    w.human(yes).unwrap();
    assert_eq!(w.status("bob"), MemberStatus::Stopping);
}

#[test]
fn the_asker_is_told_when_the_member_ends_without_an_answer() {
    let mut w = World::team(&["bob"]);
    w.begins("bob");
    let request = ask(&mut w, "bob");
    w.ends("bob", true, "boom");
    assert_eq!(w.core.request(&request.id).unwrap().state, RequestState::Approved);
    assert!(w.mail.iter().any(|m| m.to == "human" && m.request_id.as_ref() == Some(&request.id)));
}

#[test]
fn reopening_a_finished_task_leaves_its_owners_present_task_alone() {
    let mut w = World::team(&["bob"]);
    let first = w.task("a", &[]);
    w.by(member("bob"), TeamCommand::CompleteTask { task: first }).unwrap();
    let second = w.task("b", &[]);
    w.rests("bob");
    w.human(TeamCommand::ReleaseTask { task: first, note: None }).unwrap();
    assert_eq!(w.core.member(&name("bob")).unwrap().task, Some(second));
}

#[test]
fn a_task_is_not_edited_into_one_without_a_subject() {
    let mut w = World::new();
    let task = w.task("a", &[]);
    let edit = TeamCommand::EditTask { task, subject: Some("  ".into()), description: None };
    assert!(matches!(w.human(edit), Err(Refusal::Invalid(_))));
}

#[test]
fn a_finished_task_in_a_circle_holds_nobody_up() {
    let mut board = Board::default();
    let waits = |id, on: &[u64], status| {
        let blocked_by = on.iter().map(|n| TaskId(*n)).collect();
        std::sync::Arc::new(Task { blocked_by, status, ..Task::new(TaskId(id), "t") })
    };
    board.insert(waits(1, &[2], TaskStatus::Pending));
    board.insert(waits(2, &[3], TaskStatus::Pending));
    board.insert(waits(3, &[1], TaskStatus::Completed));
    assert_eq!(board.stuck(TaskId(1)), None);
    assert!(board.is_ready(TaskId(2)));
}
