//! The shutdown handshake.

use super::world::{World, member, name};
use signoff::domain::*;
use signoff::protocol::{AgentInput, Timer};

fn ask(w: &mut World, who: &str) -> Request {
    match w.human(TeamCommand::RequestShutdown { target: who.into(), reason: None }) {
        Ok(Reply::Request(request)) => Request::clone(&request),
        other => panic!("{other:?}"),
    }
}

fn answer(w: &mut World, by: Party, id: &RequestId, verdict: Verdict) -> Result<Reply, Refusal> {
    let shown = w.core.request(id).unwrap().digest();
    w.by(by, TeamCommand::Answer { id: id.clone(), verdict, shown })
}

#[test]
fn t11_an_idle_member_is_answered_for_by_the_runtime_through_the_same_request() {
    let mut w = World::team(&["alice"]);
    let request = ask(&mut w, "alice");
    let now = w.core.request(&request.id).unwrap();
    assert_eq!(now.state, RequestState::Approved);
    assert_eq!(now.answer.as_ref().unwrap().by, Party::System);
    let told = w.told_to("alice");
    assert!(
        matches!(told.last(), Some(AgentInput::End { .. })) && !told.iter().skip(1).any(|i| matches!(i, AgentInput::Mail)),
        "not woken for the letter: {told:?}"
    );
    w.ends("alice", false, "told to");
    assert_eq!(w.status("alice"), MemberStatus::Shutdown);
}

#[test]
fn a_working_member_is_asked_shows_as_stopping_and_may_refuse() {
    let mut w = World::team(&["alice"]);
    w.begins("alice");
    let request = ask(&mut w, "alice");
    assert_eq!(w.status("alice"), MemberStatus::Stopping);
    assert!(w.mail.iter().any(|m| m.to == "alice" && m.kind == MessageKind::ShutdownRequest && m.request_id.as_ref() == Some(&request.id)));
    let no = Verdict::Reject { feedback: Some("two tests left".into()) };
    answer(&mut w, member("alice"), &request.id, no).unwrap();
    assert_eq!(w.status("alice"), MemberStatus::Working);
    assert!(w.mail.iter().any(|m| m.to == "human" && m.content.contains("two tests left")), "the asker sees the reason");
}

#[test]
fn t12_agreeing_ends_the_member_and_its_task_goes_back() {
    let mut w = World::team(&["alice"]);
    let task = w.task("a", &[]);
    w.begins("alice");
    let request = ask(&mut w, "alice");
    answer(&mut w, member("alice"), &request.id, Verdict::approve()).unwrap();
    let refused = w.by(member("alice"), TeamCommand::Authorize(touch()));
    assert!(matches!(refused, Err(Refusal::Gate(_))), "no further tool starts: {refused:?}");
    w.ends("alice", false, "agreed");
    assert_eq!((w.status("alice"), w.state(task)), (MemberStatus::Shutdown, TaskStatus::Pending));
}

fn touch() -> command::Intent {
    command::Intent { tool: "write_file".into(), action: command::Action::Write { path: "a".into() }, resolved: Vec::new() }
}

#[test]
fn without_an_answer_the_request_expires_and_the_person_may_force() {
    let mut w = World::team(&["alice"]);
    w.begins("alice");
    let request = ask(&mut w, "alice");
    w.passes(31);
    assert_eq!(w.core.request(&request.id).unwrap().state, RequestState::Expired);
    assert_eq!(w.status("alice"), MemberStatus::Working);
    w.human(TeamCommand::ForceStop { target: "alice".into() }).unwrap();
    assert!(w.told_to("alice").iter().any(|i| matches!(i, AgentInput::Kill { .. })));
    w.passes(3);
    assert_eq!(w.aborted, [name("alice")], "an agent that does not come back is taken off");
}

#[test]
fn asking_twice_is_one_request() {
    let mut w = World::team(&["alice"]);
    w.begins("alice");
    assert_eq!(ask(&mut w, "alice").id, ask(&mut w, "alice").id);
}

#[test]
fn a_member_cannot_answer_for_another_and_the_asker_not_for_the_target() {
    let mut w = World::team(&["alice", "bob"]);
    w.begins("alice");
    let request = ask(&mut w, "alice");
    for by in [member("bob"), Party::lead(), Party::Human] {
        let refusal = answer(&mut w, by, &request.id, Verdict::approve()).unwrap_err();
        assert!(matches!(refusal, Refusal::NotYours { .. }), "{refusal}");
    }
}

#[test]
fn the_second_answer_is_told_who_decided() {
    let mut w = World::team(&["alice"]);
    w.begins("alice");
    let request = ask(&mut w, "alice");
    answer(&mut w, member("alice"), &request.id, Verdict::reject()).unwrap();
    let second = answer(&mut w, member("alice"), &request.id, Verdict::approve()).unwrap_err();
    assert!(second.to_string().contains("rejected already by alice"), "{second}");
}

#[test]
fn the_lead_is_not_asked_alone() {
    let mut w = World::new();
    assert!(w.human(TeamCommand::RequestShutdown { target: "lead".into(), reason: None }).is_err());
}

#[test]
fn t14_a_name_can_be_spawned_again_with_a_new_generation() {
    let mut w = World::team(&["bob"]);
    ask(&mut w, "bob");
    w.ends("bob", false, "");
    w.spawn("bob");
    assert_eq!(w.core.member(&name("bob")).unwrap().generation, Generation(2));
    assert_eq!(w.status("bob"), MemberStatus::Idle);
}

#[test]
fn t17_a_name_in_another_case_is_refused_while_it_is_taken() {
    let mut w = World::team(&["bob"]);
    let order = |n: &str| TeamCommand::Spawn(SpawnOrder { name: n.into(), ..SpawnOrder::default() });
    for wrong in ["bob", "BOB", "Bob "] {
        assert!(matches!(w.human(order(wrong)), Err(Refusal::NameTaken { .. })), "{wrong}");
    }
    for wrong in ["", "a b", "../x", "lead", "human", "all", "-x", "ü"] {
        assert!(matches!(w.human(order(wrong)), Err(Refusal::Name(_))), "{wrong}");
    }
}

#[test]
fn an_idle_teammate_shuts_down_after_the_timeout_and_the_lead_does_not() {
    let mut w = World::team(&["alice"]);
    w.passes(61);
    assert!(w.told_to("alice").iter().any(|i| matches!(i, AgentInput::End { .. })));
    assert!(!w.told_to("lead").iter().any(|i| matches!(i, AgentInput::End { .. })));
    assert!(!w.timers.keys().any(|t| matches!(t, Timer::Idle(n, _) if n.is_lead())));
}

#[test]
fn stopping_the_team_asks_everybody_and_ends_the_run() {
    let mut w = World::team(&["alice", "bob"]);
    w.begins("bob");
    w.human(TeamCommand::StopTeam { now: false }).unwrap();
    assert!(w.finished().is_none());
    w.ends("alice", false, "");
    w.ends("lead", false, "");
    w.rests("bob");
    w.ends("bob", false, "");
    assert_eq!(w.finished(), Some(("stopped by human".into(), false)));
}

#[test]
fn nobody_leaves_for_boredom_while_somebody_works() {
    let mut w = World::team(&["alice"]);
    w.begins("lead");
    w.told_to("alice");
    w.passes(600);
    assert!(w.told_to("alice").is_empty());
    w.rests("lead");
    w.passes(61);
    assert!(w.told_to("alice").iter().any(|i| matches!(i, AgentInput::End { .. })));
}
