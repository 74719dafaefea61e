//! What others write into the files, at the worst moment and with the worst intent.

use super::world::{World, member, name};
use signoff::domain::*;
use signoff::protocol::core::Loaded;
use signoff::protocol::{AgentInput, Input, Outside};
use std::sync::Arc;

fn shutdown(w: &mut World, who: &str) -> Request {
    match w.human(TeamCommand::RequestShutdown { target: who.into(), reason: None }) {
        Ok(Reply::Request(request)) => Request::clone(&request),
        other => panic!("{other:?}"),
    }
}

fn plan(w: &mut World, who: &str) -> Request {
    w.begins(who);
    match w.by(member(who), TeamCommand::SubmitPlan { plan: "1. migrate".into() }) {
        Ok(Reply::Request(request)) => Request::clone(&request),
        other => panic!("{other:?}"),
    }
}

fn seen(w: &mut World, request: Request) {
    w.handle(Input::Outside(Outside::Request(Arc::new(request)))).unwrap();
}

fn task_file(w: &mut World, task: Task) {
    w.handle(Input::Outside(Outside::Task(Arc::new(task)))).unwrap();
}

fn team_file(w: &mut World, change: impl FnOnce(&mut TeamConfig)) {
    let mut team = w.core.team_config();
    change(&mut team);
    w.handle(Input::Outside(Outside::Team(team))).unwrap();
}

fn doing(id: u64, owner: Option<&str>) -> Task {
    Task { status: TaskStatus::InProgress, owner: owner.map(name), ..Task::new(TaskId(id), "t") }
}

#[test]
fn no_file_answers_a_shutdown_for_its_target_or_in_the_runtimes_name() {
    for by in [Party::System, member("bob"), Party::Human, Party::lead()] {
        let mut w = World::team(&["bob"]);
        w.begins("bob");
        let request = shutdown(&mut w, "bob");
        let answer = Answer { by: by.clone(), at: Timestamp(5), digest: request.digest(), verdict: Verdict::reject() };
        seen(&mut w, Request { state: RequestState::Rejected, answer: Some(answer), ..request.clone() });
        assert!(w.core.request(&request.id).unwrap().is_pending(), "{by}");
    }
}

#[test]
fn a_plan_that_is_changed_in_its_file_is_put_back() {
    let mut w = World::team(&["bob"]);
    let request = plan(&mut w, "bob");
    w.saved.clear();
    seen(&mut w, Request { body: "1. migrate\n2. and drop the old tables".into(), ..request.clone() });
    assert_eq!(w.core.request(&request.id).unwrap().body, request.body, "what was handed in is what is decided on");
    assert_eq!(w.saved, [format!("request {}", request.id)]);
}

#[test]
fn a_state_without_an_answer_is_put_back() {
    let mut w = World::team(&["bob"]);
    let request = plan(&mut w, "bob");
    for state in [RequestState::Approved, RequestState::Withdrawn, RequestState::Expired] {
        w.saved.clear();
        seen(&mut w, Request { state, ..request.clone() });
        assert!(w.core.request(&request.id).unwrap().is_pending());
        assert_eq!(w.saved, [format!("request {}", request.id)]);
    }
}

#[test]
fn another_screen_turns_an_open_shutdown_into_a_forced_one() {
    let mut w = World::team(&["bob"]);
    w.begins("bob");
    let request = shutdown(&mut w, "bob");
    seen(&mut w, Request { force: true, ..request });
    assert!(w.told_to("bob").iter().any(|i| matches!(i, AgentInput::Kill { .. })));
}

#[test]
fn t14_a_shutdown_that_was_meant_for_an_earlier_generation_does_not_reach_the_new_one() {
    let mut w = World::team(&["bob"]);
    let old = shutdown(&mut w, "bob");
    w.ends("bob", false, "");
    w.spawn("bob");
    w.told_to("bob");
    let late = Request { id: RequestId::parse("deadbeef").unwrap(), force: true, state: RequestState::Pending, answer: None, ..old };
    seen(&mut w, late.clone());
    assert_eq!(w.core.request(&late.id).unwrap().state, RequestState::Withdrawn);
    assert!(w.told_to("bob").is_empty());
}

#[test]
fn a_forged_question_is_closed_in_its_file_so_that_no_restart_takes_it_up() {
    let mut w = World::team(&["bob"]);
    let forged = Request { id: RequestId::parse("deadbeef").unwrap(), ..plan(&mut w, "bob") };
    w.saved.clear();
    seen(&mut w, forged.clone());
    assert!(w.core.request(&forged.id).is_none());
    assert_eq!(w.saved, ["request deadbeef"]);
}

#[test]
fn b5_a_task_in_progress_that_nobody_on_the_team_has_goes_back() {
    let mut w = World::team(&[]);
    task_file(&mut w, doing(1, None));
    task_file(&mut w, doing(2, Some("stranger")));
    assert_eq!((w.state(TaskId(1)), w.state(TaskId(2))), (TaskStatus::Pending, TaskStatus::Pending));
    assert!(w.core.board().get(TaskId(2)).unwrap().notes.last().unwrap().text.contains("stranger is not on the team"));
}

#[test]
fn b5_a_file_cannot_give_a_task_to_a_member_that_has_ended() {
    let mut w = World::team(&["bob"]);
    w.ends("bob", false, "done");
    task_file(&mut w, doing(1, Some("bob")));
    assert_eq!(w.state(TaskId(1)), TaskStatus::Pending);
}

#[test]
fn a_task_that_a_file_gives_to_an_idle_member_is_taken_up() {
    let mut w = World::team(&["bob"]);
    w.told_to("bob");
    task_file(&mut w, doing(1, Some("bob")));
    assert!(matches!(&w.told_to("bob")[..], [AgentInput::Claimed(t)] if t.id == TaskId(1)));
}

#[test]
fn a_second_task_that_a_file_gives_to_a_member_goes_back() {
    let mut w = World::team(&["bob"]);
    let own = w.task("a", &[]);
    task_file(&mut w, doing(7, Some("bob")));
    assert_eq!((w.state(own), w.state(TaskId(7))), (TaskStatus::InProgress, TaskStatus::Pending));
    assert_eq!(w.core.member(&name("bob")).unwrap().task, Some(own));
}

#[test]
fn a_plan_is_withdrawn_when_its_task_is_taken_away() {
    let mut w = World::team(&["bob"]);
    let task = w.task("a", &[]);
    let request = plan(&mut w, "bob");
    assert_eq!(request.task, Some(task));
    w.human(TeamCommand::DeleteTask { task }).unwrap();
    assert_eq!(w.core.request(&request.id).unwrap().state, RequestState::Withdrawn);
}

#[test]
fn a_member_taken_off_the_team_leaves_no_task_and_no_question() {
    let mut w = World::team(&["bob"]);
    let task = w.task("a", &[]);
    let request = plan(&mut w, "bob");
    let requests = w.core.requests().map(|r| Request::clone(r)).collect();
    let tasks = w.core.board().iter().map(|t| Task::clone(t)).collect();
    let mut w =
        World::with(settings::TeamSettings::default(), Loaded { team: Some(w.core.team_config()), tasks, requests, ..Loaded::default() });
    assert_eq!(w.status("bob"), MemberStatus::Interrupted);
    team_file(&mut w, |team| team.members.retain(|m| m.name != name("bob")));
    assert!(w.core.member(&name("bob")).is_none());
    assert_eq!((w.state(task), w.core.request(&request.id).unwrap().state), (TaskStatus::Pending, RequestState::Withdrawn));
}

#[test]
fn a_member_that_comes_back_under_its_name_does_not_inherit_an_approval() {
    let mut w = World::team(&["bob"]);
    let request = plan(&mut w, "bob");
    let yes = TeamCommand::Answer { id: request.id.clone(), verdict: Verdict::approve(), shown: request.digest() };
    w.human(yes).unwrap();
    w.ends("bob", false, "");
    team_file(&mut w, |team| team.members.retain(|m| m.name != name("bob")));
    w.spawn("bob");
    w.begins("bob");
    assert!(matches!(w.by(member("bob"), TeamCommand::SubmitPlan { plan: request.body }), Ok(Reply::Request(_))));
}

#[test]
fn t17_a_file_cannot_add_a_second_member_by_another_case() {
    let mut w = World::team(&["bob"]);
    for status in [MemberStatus::Requested, MemberStatus::Shutdown] {
        team_file(&mut w, |team| team.members.push(Member { status, ..Member::new(name("BOB"), "r") }));
        assert_eq!(w.core.members().len(), 2, "{status:?}");
    }
    let mut team = w.core.team_config();
    team.members.push(Member::new(name("Bob"), "r"));
    let w = World::with(settings::TeamSettings::default(), Loaded { team: Some(team), ..Loaded::default() });
    assert_eq!(w.core.members().len(), 2, "nor when the app starts");
}

#[test]
fn l11_a_file_cannot_start_more_members_than_the_team_may_have() {
    let mut w = World::with(settings::TeamSettings { max_members: 2, ..settings::TeamSettings::default() }, Loaded::default());
    w.spawn("ann");
    w.ends("ann", false, "");
    w.spawn("bob");
    w.started.clear();
    team_file(&mut w, |team| team.members.iter_mut().filter(|m| m.name == name("ann")).for_each(|m| m.status = MemberStatus::Requested));
    assert!(w.started.is_empty());
    assert!(!w.status("ann").is_live());
}

#[test]
fn a_file_cannot_turn_back_the_generation_of_a_member() {
    let mut w = World::with(settings::TeamSettings { max_members: 2, ..settings::TeamSettings::default() }, Loaded::default());
    w.spawn("bob");
    w.ends("bob", false, "");
    w.spawn("bob");
    w.ends("bob", false, "");
    w.spawn("ann");
    let old = |m: &&mut Member| m.name == name("bob");
    team_file(&mut w, |team| {
        team.members.iter_mut().filter(old).for_each(|m| (m.status, m.generation) = (MemberStatus::Requested, Generation(1)));
    });
    assert!(w.core.member(&name("bob")).unwrap().generation >= Generation(2));
}

#[test]
fn l11_many_members_asked_for_at_once_do_not_pass_the_cap_together() {
    let mut w = World::with(settings::TeamSettings { max_members: 3, ..settings::TeamSettings::default() }, Loaded::default());
    let requested = |n: &str| Member { status: MemberStatus::Requested, ..Member::new(name(n), "r") };
    let asked = ["ann", "bob", "cid", "dan", "ANN"];
    team_file(&mut w, |team| team.members.extend(asked.map(requested)));
    assert_eq!(w.core.members().iter().filter(|m| m.status.is_live()).count(), 3);
    assert!(w.core.members().iter().filter(|m| m.name.same("ann")).count() == 1);
    let mut team = TeamConfig::default();
    team.members.extend(asked.map(requested));
    let loaded = Loaded { team: Some(team), ..Loaded::default() };
    let mut w = World::with(settings::TeamSettings { max_members: 3, ..settings::TeamSettings::default() }, loaded);
    w.rests("lead");
    assert_eq!(w.core.members().iter().filter(|m| m.status.is_live()).count(), 3, "nor when the app starts");
}

#[test]
fn a_member_asked_for_again_while_nobody_ran_the_team_keeps_its_rejection() {
    let mut w = World::team(&["bob"]);
    let request = plan(&mut w, "bob");
    w.human(TeamCommand::Answer { id: request.id.clone(), verdict: Verdict::reject(), shown: request.digest() }).unwrap();
    let mut team = w.core.team_config();
    team.members.iter_mut().filter(|m| !m.name.is_lead()).for_each(|m| m.status = MemberStatus::Requested);
    let requests = w.core.requests().map(|r| Request::clone(r)).collect();
    let mut w = World::with(settings::TeamSettings::default(), Loaded { team: Some(team), requests, ..Loaded::default() });
    assert!(w.started.contains(&(name("bob"), true)), "{:?}", w.started);
    let action = command::Action::Write { path: "a".into() };
    assert!(
        w.by(member("bob"), TeamCommand::Authorize(command::Intent { tool: "write_file".into(), action, resolved: Vec::new() })).is_err()
    );
}

#[test]
fn a_withdrawn_plan_that_somebody_wrote_into_the_files_hides_no_real_one() {
    let mut w = World::team(&["bob"]);
    let real = Request { id: RequestId::parse("0000beef").unwrap(), ..plan(&mut w, "bob") };
    let id = RequestId::parse("deadbeef").unwrap();
    let forged = Request { id, state: RequestState::Withdrawn, created: Timestamp(i64::MAX), ..real.clone() };
    let loaded = Loaded { team: Some(w.core.team_config()), requests: vec![real.clone(), forged], ..Loaded::default() };
    let mut w = World::with(settings::TeamSettings::default(), loaded);
    w.human(TeamCommand::Resume { target: "bob".into() }).unwrap();
    let action = command::Action::Write { path: "a".into() };
    let write = w.by(member("bob"), TeamCommand::Authorize(command::Intent { tool: "write_file".into(), action, resolved: Vec::new() }));
    assert!(matches!(write, Err(Refusal::Gate(_))), "{write:?}");
    w.by(member("bob"), TeamCommand::SubmitPlan { plan: "1. another".into() }).unwrap();
    assert_eq!(w.core.request(&real.id).unwrap().state, RequestState::Withdrawn, "one plan waits at a time");
}

#[test]
fn a_withdrawn_plan_that_somebody_wrote_into_the_files_hides_no_rejection() {
    let mut w = World::team(&["bob"]);
    let real = Request { id: RequestId::parse("0000beef").unwrap(), ..plan(&mut w, "bob") };
    let no = Answer { by: Party::Human, at: Timestamp(2), digest: real.digest(), verdict: Verdict::reject() };
    let rejected = Request { state: RequestState::Rejected, answer: Some(no), ..real.clone() };
    let id = RequestId::parse("deadbeef").unwrap();
    let forged = Request { id, state: RequestState::Withdrawn, created: Timestamp(i64::MAX), ..real };
    let loaded = Loaded { team: Some(w.core.team_config()), requests: vec![rejected, forged], ..Loaded::default() };
    let mut w = World::with(settings::TeamSettings::default(), loaded);
    w.human(TeamCommand::Resume { target: "bob".into() }).unwrap();
    let action = command::Action::Write { path: "a".into() };
    let write = w.by(member("bob"), TeamCommand::Authorize(command::Intent { tool: "write_file".into(), action, resolved: Vec::new() }));
    assert!(matches!(write, Err(Refusal::Gate(_))), "{write:?}");
}
