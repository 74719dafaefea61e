//! The projection: a fold of events that can be run again, bounded, and cheap for each event.

use super::harness::{Screen, member_name, plan, request_id};
use signoff::domain::board::Stuck;
use signoff::domain::event::TaskChange;
use signoff::domain::{Activity, Generation, Member, MemberStatus, Party, Request, RequestState, Task, TaskId, TaskStatus, TeamEvent};
use std::sync::Arc;

#[test]
fn an_entity_seen_twice_does_no_harm() {
    let mut screen = Screen::new(80, 24);
    for _ in 0..2 {
        screen.open_team();
        screen.member("lead", "plans", MemberStatus::Working, Activity::Starting);
        screen.task(Task::new(TaskId(1), "x"));
        screen.request(plan(1, "lead", "t", "b"));
    }
    let team = &screen.state.team;
    assert_eq!((team.order().len(), team.board.len(), team.requests.pending_len()), (1, 1, 1));
    assert_eq!((team.counts.working, team.counts.live), (1, 1));
}

#[test]
fn u15_the_lead_stands_first_and_nobody_changes_places() {
    let mut screen = Screen::new(80, 24);
    for name in ["zoe", "alice", "lead", "bob"] {
        screen.member(name, "r", MemberStatus::Idle, Activity::Starting);
    }
    screen.member("zoe", "r", MemberStatus::Failed, Activity::Failed { reason: "x".into() });
    let names: Vec<&str> = screen.state.team.order().iter().map(|n| n.as_str()).collect();
    assert_eq!(names, ["lead", "zoe", "alice", "bob"]);
}

#[test]
fn a_new_generation_never_shows_the_old_one_s_mail() {
    let mut screen = Screen::new(80, 24);
    screen.member("bob", "r", MemberStatus::Idle, Activity::Starting);
    screen.message("lead", "bob", "for the first bob");
    let mut member = Member::new(member_name("bob"), "r");
    member.generation = Generation(2);
    screen.event(TeamEvent::MemberChanged { member: Arc::new(member), why: None });
    assert!(screen.state.team.member(&member_name("bob")).unwrap().inbox.is_empty());
}

#[test]
fn an_unknown_price_is_shown_as_unknown() {
    let mut screen = Screen::new(120, 24);
    screen.busy_team();
    screen.spend("lead", 1_000, None);
    assert!(screen.screen().contains("$0.42+?"), "{}", screen.screen());
}

#[test]
fn a_missing_blocker_and_a_circle_are_found_and_forgotten_again() {
    let mut screen = Screen::new(80, 24);
    let blocked = |id: u64, by: &[u64]| Task { blocked_by: by.iter().map(|n| TaskId(*n)).collect(), ..Task::new(TaskId(id), "t") };
    screen.task(blocked(1, &[9]));
    assert_eq!(screen.state.team.stuck(TaskId(1)), Some(&Stuck::Missing(vec![TaskId(9)])));
    screen.task(Task::new(TaskId(9), "here it is"));
    assert_eq!(screen.state.team.stuck(TaskId(1)), None);
    screen.task(blocked(2, &[3]));
    screen.task(blocked(3, &[2]));
    assert!(matches!(screen.state.team.stuck(TaskId(2)), Some(Stuck::Cycle(_))));
    assert!(matches!(screen.state.team.stuck(TaskId(3)), Some(Stuck::Cycle(_))));
    screen.task(blocked(2, &[]));
    assert_eq!(screen.state.team.stuck_tasks().count(), 0);
}

#[test]
fn a7_a_decided_plan_stays_readable_below_the_queue() {
    let mut screen = Screen::new(80, 24);
    screen.member("bob", "r", MemberStatus::Idle, Activity::Starting);
    screen.request(plan(1, "bob", "first", "b"));
    screen.request(Request { state: RequestState::Expired, ended: Some("nobody answered".into()), ..plan(1, "bob", "first", "b") });
    assert_eq!(screen.state.team.requests.pending_len(), 0);
    screen.press("2 j Enter");
    assert!(screen.screen().contains("nobody answered"));
    assert_eq!(screen.state.team.requests.get(&request_id(1)).unwrap().state, RequestState::Expired);
}

#[test]
fn an_event_costs_the_same_on_a_large_board() {
    let fill = |tasks: u64| {
        let mut screen = Screen::new(80, 24);
        for id in 1..=tasks {
            let blocked_by = if id > 1 { vec![TaskId(id - 1)] } else { Vec::new() };
            screen.task(Task { blocked_by, ..Task::new(TaskId(id), "t") });
        }
        screen
    };
    let cost = |screen: &mut Screen, id: u64| {
        let begin = cpu_nanos();
        for n in 0..500 {
            let status = if n % 2 == 0 { TaskStatus::InProgress } else { TaskStatus::Pending };
            let task = Task { status, owner: Some(member_name("bob")), ..Task::new(TaskId(id), "t") };
            let event = TeamEvent::TaskChanged { task: Arc::new(task), change: TaskChange::Edited, by: Party::Human };
            screen.event(event);
            screen.draw();
        }
        cpu_nanos() - begin
    };
    let small = cost(&mut fill(50), 25);
    let large = cost(&mut fill(10_000), 5_000);
    assert!(large < small * 4 + 50_000_000, "50 tasks: {small} ns, 10,000 tasks: {large} ns");
}

fn cpu_nanos() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0)
}
