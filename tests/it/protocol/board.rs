//! Board rules through the core.

use super::world::{World, member};
use signoff::domain::*;
use signoff::protocol::AgentInput;

#[test]
fn an_idle_teammate_claims_the_first_ready_task_by_itself() {
    let mut w = World::team(&["alice"]);
    let task = w.task("first", &[]);
    assert_eq!(w.owner(task).as_deref(), Some("alice"));
    assert!(matches!(w.told_to("alice").last(), Some(AgentInput::Claimed(t)) if t.id == task));
}

#[test]
fn the_lead_never_claims() {
    let mut w = World::new();
    let task = w.task("first", &[]);
    assert_eq!(w.owner(task), None);
}

#[test]
fn one_task_in_progress_per_teammate() {
    let mut w = World::team(&["alice"]);
    w.task("first", &[]);
    let second = w.task("second", &[]);
    assert_eq!(w.owner(second), None);
    let refusal = w.by(member("alice"), TeamCommand::ClaimTask { task: second }).unwrap_err();
    assert!(matches!(refusal, Refusal::Busy { .. }), "{refusal}");
}

#[test]
fn b6_the_loser_of_a_claim_learns_the_owner() {
    let mut w = World::team(&["alice", "bob"]);
    let task = w.task("first", &[]);
    let refusal = w.by(member("bob"), TeamCommand::ClaimTask { task }).unwrap_err();
    assert!(refusal.to_string().contains("alice"), "{refusal}");
}

#[test]
fn completing_makes_dependants_ready_at_once() {
    let mut w = World::team(&["alice", "bob"]);
    let first = w.task("first", &[]);
    let second = w.task("second", &[1]);
    assert_eq!(w.owner(second), None);
    w.by(member("alice"), TeamCommand::CompleteTask { task: first }).unwrap();
    assert_eq!(w.owner(second).as_deref(), Some("bob"), "bob was idle and takes it");
}

#[test]
fn only_the_owner_completes_and_an_override_is_noted() {
    let mut w = World::team(&["alice", "bob"]);
    let task = w.task("first", &[]);
    assert!(matches!(w.by(member("bob"), TeamCommand::CompleteTask { task }), Err(Refusal::NotOwner { .. })));
    w.human(TeamCommand::CompleteTask { task }).unwrap();
    let notes = &w.core.board().get(task).unwrap().notes;
    assert!(notes.last().unwrap().text.contains("override"));
    assert!(w.told_to("alice").iter().any(|i| matches!(i, AgentInput::Tell { text, .. } if text.contains("stop working"))));
}

#[test]
fn b1_self_dependency_and_cycles_are_refused_with_the_path() {
    let mut w = World::new();
    let (a, b) = (w.task("a", &[]), w.task("b", &[1]));
    let edit = |task, on| TeamCommand::EditBlockers { task, add: vec![on], remove: vec![] };
    assert_eq!(w.human(edit(a, a)).unwrap_err(), Refusal::Cycle(vec![a, a]));
    assert_eq!(w.human(edit(a, b)).unwrap_err().to_string(), "that would make a circle: #1 → #2 → #1");
}

#[test]
fn b2_an_unknown_blocker_is_refused_and_one_that_vanished_is_repaired_by_one_command() {
    let mut w = World::new();
    w.task("a", &[]);
    let b = w.task("b", &[1]);
    let unknown = TeamCommand::EditBlockers { task: b, add: vec![TaskId(9)], remove: vec![] };
    assert!(matches!(w.human(unknown), Err(Refusal::MissingBlocker { missing: TaskId(9), .. })));
    w.human(TeamCommand::DeleteTask { task: TaskId(1) }).unwrap();
    assert!(w.core.board().stuck(b).is_some());
    w.human(TeamCommand::RepairTask { task: b }).unwrap();
    assert!(w.core.board().is_ready(b));
}

#[test]
fn b3_a_blocked_task_is_neither_claimed_nor_completed() {
    let mut w = World::team(&["alice", "bob"]);
    w.task("a", &[]);
    let b = w.task("b", &[1]);
    assert!(matches!(w.by(member("bob"), TeamCommand::ClaimTask { task: b }), Err(Refusal::Blocked { .. })));
    assert!(w.by(member("bob"), TeamCommand::CompleteTask { task: b }).is_err());
}

#[test]
fn a_dependency_on_a_finished_task_does_not_block() {
    let mut w = World::new();
    let a = w.task("a", &[]);
    w.human(TeamCommand::CompleteTask { task: a }).unwrap();
    let b = w.task("b", &[1]);
    assert!(w.core.board().is_ready(b));
}

#[test]
fn b9_a_member_that_rests_with_its_task_is_nudged_once_then_shown() {
    let mut w = World::team(&["alice"]);
    let task = w.task("a", &[]);
    w.begins("alice");
    w.told_to("alice");
    w.rests("alice");
    assert_eq!(w.told_to("alice").len(), 1, "one nudge");
    w.begins("alice");
    w.rests("alice");
    assert!(w.told_to("alice").is_empty(), "no second one");
    assert!(matches!(w.core.activity(&super::world::name("alice")), Activity::HoldsTask { task: t, .. } if t == task));
    assert_eq!(w.owner(task).as_deref(), Some("alice"));
}

#[test]
fn an_owner_that_fails_gives_its_task_back_with_a_note_and_the_lead_is_told() {
    let mut w = World::team(&["alice"]);
    let task = w.task("a", &[]);
    w.begins("alice");
    w.ends("alice", true, "the provider refused the key (401)");
    assert_eq!(w.state(task), TaskStatus::Pending);
    assert!(w.core.board().get(task).unwrap().notes.last().unwrap().text.contains("401"));
    assert_eq!(w.status("alice"), MemberStatus::Failed);
    assert!(w.mail.iter().any(|m| m.to == "lead" && m.kind == MessageKind::Error));
}

#[test]
fn an_empty_subject_is_refused() {
    let mut w = World::new();
    let made = w.human(TeamCommand::CreateTask { subject: "  ".into(), description: String::new(), blocked_by: vec![] });
    assert!(matches!(made, Err(Refusal::Invalid(_))));
}
