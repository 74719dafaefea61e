//! What other processes write into the files.

use super::world::{World, member, name};
use signoff::domain::*;
use signoff::protocol::{AgentInput, Input, Outside};
use std::sync::Arc;

fn plan(w: &mut World, who: &str) -> Arc<Request> {
    w.begins(who);
    match w.by(member(who), TeamCommand::SubmitPlan { plan: "1. migrate".into() }) {
        Ok(Reply::Request(request)) => request,
        other => panic!("{other:?}"),
    }
}

fn seen(w: &mut World, request: Request) {
    w.handle(Input::Outside(Outside::Request(Arc::new(request)))).unwrap();
}

fn answered(request: &Request, by: Party, digest: Digest) -> Request {
    let answer = Answer { by, at: Timestamp(5), digest, verdict: Verdict::approve() };
    Request { state: RequestState::Approved, answer: Some(answer), ..request.clone() }
}

#[test]
fn an_approval_from_the_command_line_counts() {
    let mut w = World::team(&["bob"]);
    let request = plan(&mut w, "bob");
    let file = answered(&request, Party::Human, request.digest());
    seen(&mut w, file);
    assert_eq!(w.core.request(&request.id).unwrap().state, RequestState::Approved);
    assert!(w.told_to("bob").iter().any(|i| matches!(i, AgentInput::Verdict(_))));
}

#[test]
fn an_answer_by_the_wrong_party_or_on_another_text_does_not() {
    let mut w = World::team(&["bob"]);
    let request = plan(&mut w, "bob");
    for file in [answered(&request, member("bob"), request.digest()), answered(&request, Party::Human, Digest::of("x"))] {
        seen(&mut w, file);
        assert!(w.core.request(&request.id).unwrap().is_pending());
    }
    assert!(w.events.iter().any(|e| matches!(e, TeamEvent::Noticed { text, .. } if text.contains("not taken"))));
}

#[test]
fn a_decided_request_cannot_be_decided_again_through_its_file() {
    let mut w = World::team(&["bob"]);
    let request = plan(&mut w, "bob");
    w.human(TeamCommand::Answer { id: request.id.clone(), verdict: Verdict::reject(), shown: request.digest() }).unwrap();
    seen(&mut w, answered(&request, Party::Human, request.digest()));
    assert_eq!(w.core.request(&request.id).unwrap().state, RequestState::Rejected);
}

#[test]
fn a_new_request_file_can_only_be_the_persons_shutdown() {
    let mut w = World::team(&["bob"]);
    let mut forged = Request::clone(&plan(&mut w, "bob"));
    forged.id = RequestId::parse("deadbeef").unwrap();
    forged.kind = RequestKind::Permission;
    seen(&mut w, forged.clone());
    assert!(w.core.request(&forged.id).is_none());
    let shutdown = Request { kind: RequestKind::Shutdown, asker: Party::Human, ..forged };
    seen(&mut w, shutdown.clone());
    assert!(w.core.request(&shutdown.id).is_some());
    assert_eq!(w.status("bob"), MemberStatus::Stopping);
}

#[test]
fn a_forced_shutdown_from_another_shell_kills() {
    let mut w = World::team(&["bob"]);
    let base = Request::clone(&plan(&mut w, "bob"));
    seen(
        &mut w,
        Request { id: RequestId::parse("deadbeef").unwrap(), kind: RequestKind::Shutdown, asker: Party::Human, force: true, ..base },
    );
    assert!(w.told_to("bob").iter().any(|i| matches!(i, AgentInput::Kill { .. })));
}

#[test]
fn a_task_written_by_an_editor_appears_and_is_claimed() {
    let mut w = World::team(&["bob"]);
    w.handle(Input::Outside(Outside::Task(Arc::new(Task::new(TaskId(7), "from outside"))))).unwrap();
    assert_eq!(w.owner(TaskId(7)).as_deref(), Some("bob"));
}

#[test]
fn a_task_deleted_by_an_editor_goes_and_its_owner_is_told() {
    let mut w = World::team(&["bob"]);
    let task = w.task("a", &[]);
    w.told_to("bob");
    w.handle(Input::Outside(Outside::TaskGone(task))).unwrap();
    assert!(w.core.board().get(task).is_none());
    assert!(w.told_to("bob").iter().any(|i| matches!(i, AgentInput::Tell { .. })));
}

#[test]
fn a_requested_member_in_the_teams_file_is_spawned() {
    let mut w = World::new();
    let mut team = w.core.team_config();
    team.members.push(Member { status: MemberStatus::Requested, ..Member::new(name("dave"), "tester") });
    w.handle(Input::Outside(Outside::Team(team))).unwrap();
    assert!(w.started.contains(&(name("dave"), false)));
}

#[test]
fn a_member_written_as_working_is_not_believed() {
    let mut w = World::new();
    let mut team = w.core.team_config();
    team.members.push(Member { status: MemberStatus::Working, ..Member::new(name("ghost"), "tester") });
    w.handle(Input::Outside(Outside::Team(team))).unwrap();
    assert_eq!(w.status("ghost"), MemberStatus::Interrupted);
    assert!(!w.started.iter().any(|(n, _)| *n == name("ghost")));
}

#[test]
fn a_running_member_cannot_be_edited_away() {
    let mut w = World::team(&["bob"]);
    let mut team = w.core.team_config();
    team.members.retain(|m| m.name != name("bob"));
    w.handle(Input::Outside(Outside::Team(team))).unwrap();
    assert_eq!(w.status("bob"), MemberStatus::Idle);
}

#[test]
fn mail_written_from_another_shell_wakes() {
    let mut w = World::team(&["bob"]);
    w.told_to("bob");
    let message = Envelope::new(MessageId("x".into()), MessageKind::Message, Party::Human, "bob", "hi", Timestamp(1));
    w.handle(Input::Outside(Outside::Mail(name("bob"), vec![Arc::new(message)]))).unwrap();
    assert!(w.told_to("bob").iter().any(|i| matches!(i, AgentInput::Mail)));
}
