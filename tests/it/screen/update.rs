//! What keys and events do: panes, prompts, wakes, notifications, reading.

use super::harness::{START, Screen, member_name, plan, request_id};
use signoff::app::Pane;
use signoff::app::msg::{Cmd, LiveKind, Msg};
use signoff::domain::event::TaskChange;
use signoff::domain::{
    Activity, ChatMessage, MemberStatus, Party, RequestKind, SpawnOrder, Task, TaskId, TeamCommand, TeamEvent, Timestamp, TranscriptEntry,
};
use std::sync::Arc;
use std::time::Duration;

fn wakes(cmds: &[Cmd]) -> Vec<Option<Timestamp>> {
    cmds.iter().filter_map(|cmd| if let Cmd::Wake(at) = cmd { Some(*at) } else { None }).collect()
}

fn busy() -> Screen {
    let mut screen = Screen::new(100, 30);
    screen.busy_team();
    screen.cmds.clear();
    screen
}

#[test]
fn selecting_a_member_drives_inbox_activity_and_the_live_stream() {
    let mut screen = busy();
    let cmds = screen.press("1 j j");
    assert!(cmds.contains(&Cmd::WatchLive(member_name("bob"))));
    let text = screen.screen();
    assert!(text.contains("Inbox: bob") && text.contains("Activity: bob") && text.contains("Mind the audit"));
}

#[test]
fn an_idle_team_wakes_nobody() {
    let mut screen = Screen::new(100, 30);
    screen.open_team();
    screen.member("lead", "plans", MemberStatus::Idle, Activity::Nothing { since: START });
    let activity = Activity::Mail { since: START };
    screen.member("bob", "coder", MemberStatus::Idle, activity);
    screen.request(plan(1, "bob", "t", "b"));
    assert!(wakes(&screen.cmds).into_iter().all(|at| at.is_none()), "{:?}", screen.cmds);
    screen.wait(3_600_000);
    assert!(wakes(&screen.send(Msg::Woken)).is_empty());
}

#[test]
fn a_working_member_wakes_the_screen_once_a_second_and_then_once_a_minute() {
    let mut screen = Screen::new(100, 30);
    screen.member("lead", "plans", MemberStatus::Working, Activity::Model { since: START });
    assert_eq!(wakes(&screen.cmds).last(), Some(&Some(Timestamp(START.0 + 1_000))));
    for _ in 0..50 {
        let cmds = screen.send(Msg::Live { name: member_name("lead"), kind: LiveKind::Text, text: "x".into(), reset: false });
        assert!(wakes(&cmds).is_empty(), "a wake that is set is not set again");
    }
    screen.wait(1_000);
    assert_eq!(wakes(&screen.send(Msg::Woken)), [Some(Timestamp(START.0 + 2_000))]);
    screen.wait(120_500);
    assert_eq!(wakes(&screen.send(Msg::Woken)), [Some(Timestamp(START.0 + 180_000))]);
    screen.cmds.clear();
    screen.member("lead", "plans", MemberStatus::Idle, Activity::Nothing { since: START });
    assert_eq!(wakes(&screen.cmds).last(), Some(&None), "nobody works: the wake is taken back");
}

#[test]
fn hints_go_away_by_themselves() {
    let mut screen = Screen::new(100, 30);
    let cmds = screen.press("w");
    assert!(screen.screen().contains("nothing needs you"));
    let at = wakes(&cmds).pop().flatten().unwrap();
    screen.now = at;
    screen.send(Msg::Woken);
    assert!(!screen.screen().contains("nothing needs you"));
}

#[test]
fn u13_transitions_are_notified_together_and_only_without_the_focus() {
    let notes = |cmds: &[Cmd]| cmds.iter().filter(|c| matches!(c, Cmd::Notify { .. })).count();
    let mut screen = busy();
    screen.request(plan(5, "bob", "t", "b"));
    assert_eq!(notes(&screen.cmds), 0, "the person is looking");
    screen.send(Msg::Focused(false));
    for n in 10..20 {
        screen.request(plan(n, "carol", "t", "b"));
    }
    assert_eq!(notes(&screen.cmds), 1);
    screen.wait(2_000);
    let cmds = screen.send(Msg::Woken);
    assert!(cmds.iter().any(|c| matches!(c, Cmd::Notify { body, .. } if body.starts_with("9 things"))), "{cmds:?}");
    screen.cmds.clear();
    screen.wait(60_000);
    screen.request(plan(10, "carol", "t", "b"));
    assert_eq!(notes(&screen.cmds), 0, "seen before: no transition");
}

#[test]
fn the_title_counts_what_waits() {
    let mut screen = busy();
    screen.request(plan(5, "bob", "t", "b"));
    assert!(screen.cmds.contains(&Cmd::Title("(2) signoff: my-team".into())), "{:?}", screen.cmds);
}

#[test]
fn messages_go_to_the_lead_to_the_selected_member_or_to_all() {
    let mut screen = busy();
    screen.press("i");
    screen.type_str("plan it");
    screen.press("A-Enter");
    screen.type_str("well");
    screen.press("Enter j m");
    screen.type_str("hello");
    screen.press("Enter b");
    screen.type_str("all of you");
    screen.press("Enter");
    let send = |to: &str, content: &str| TeamCommand::Send { to: to.into(), content: content.into() };
    let all = TeamCommand::Broadcast { content: "all of you".into() };
    assert_eq!(screen.commands(), [send("lead", "plan it\nwell"), send("alice", "hello"), all]);
}

#[test]
fn a_text_that_was_not_sent_comes_back_with_the_up_key() {
    let mut screen = busy();
    screen.press("i");
    screen.type_str("half a thought");
    screen.press("Esc i Up");
    assert_eq!(screen.state.prompt.as_ref().unwrap().editor.value(), "half a thought");
    assert!(screen.commands().is_empty());
}

#[test]
fn forms_spawn_teammates_and_add_tasks() {
    let mut screen = busy();
    screen.press("n");
    screen.type_str("lead");
    screen.press("Enter");
    screen.type_str("boss");
    screen.press("Enter Enter Enter");
    assert!(screen.screen().contains("reserved"), "{}", screen.screen());
    for _ in 0..4 {
        screen.press("Backspace");
    }
    screen.type_str("dave");
    screen.press("Enter Enter");
    screen.type_str("help bob");
    screen.press("Enter Space Enter");
    let order = SpawnOrder { name: "dave".into(), role: "boss".into(), prompt: Some("help bob".into()), require_plan: true, model: None };
    assert_eq!(screen.commands(), [TeamCommand::Spawn(order)]);
    screen.press("t");
    screen.type_str("Write the changelog");
    screen.press("Enter Enter");
    screen.type_str("3, #4");
    screen.press("Enter");
    let subject = "Write the changelog".to_owned();
    let expected = TeamCommand::CreateTask { subject, description: String::new(), blocked_by: vec![TaskId(3), TaskId(4)] };
    assert_eq!(screen.commands(), [expected]);
}

#[test]
fn b11_the_board_s_keys_act_on_the_selected_task() {
    let mut screen = busy();
    // alice works on it: completing it for her asks once.
    screen.press("3 j j c y u G f");
    let id = TaskId(3);
    assert_eq!(
        screen.commands(),
        [
            TeamCommand::CompleteTask { task: id },
            TeamCommand::ReleaseTask { task: id, note: None },
            TeamCommand::RepairTask { task: TaskId(6) }
        ]
    );
    screen.press("B C-u");
    screen.type_str("4");
    screen.press("Enter");
    assert_eq!(screen.commands(), [TeamCommand::EditBlockers { task: TaskId(6), add: vec![TaskId(4)], remove: vec![TaskId(99)] }]);
}

#[test]
fn member_keys_ask_stop_interrupt_and_resume() {
    let mut screen = busy();
    screen.press("1 j s x");
    let target = || "alice".to_owned();
    let asked = TeamCommand::RequestShutdown { target: target(), reason: None };
    assert_eq!(screen.commands(), [asked, TeamCommand::Interrupt { target: target() }]);
    screen.member("alice", "coder", MemberStatus::Interrupted, Activity::Starting);
    screen.press("R");
    assert_eq!(screen.commands(), [TeamCommand::Resume { target: target() }]);
    screen.press("k s");
    assert!(screen.commands().is_empty());
    assert!(screen.screen().contains("the lead ends with the team"));
}

#[test]
fn a_filter_narrows_while_it_is_typed_and_escape_clears_it() {
    let mut screen = busy();
    screen.press("3 /");
    screen.type_str("docs");
    screen.press("Enter");
    assert_eq!(screen.state.board.list(), [TaskId(5)]);
    screen.task(Task::new(TaskId(20), "More docs"));
    assert_eq!(screen.state.board.list(), [TaskId(5), TaskId(20)], "new tasks are filtered as they come");
    screen.press("Esc");
    assert_eq!(screen.state.board.list().len(), 7);
}

#[test]
fn rows_keep_their_place_when_states_change_and_tasks_arrive() {
    let mut screen = busy();
    for id in 100..300 {
        screen.task(Task::new(TaskId(id), format!("task {id}")));
    }
    screen.press("3 G");
    let (top, selected) = (screen.state.board.list()[screen.state.board.top], screen.state.board.selected);
    screen.task(Task::new(TaskId(50), "in between"));
    let mut task = Task::new(TaskId(299), "task 299");
    task.status = signoff::domain::TaskStatus::Completed;
    screen.event(TeamEvent::TaskChanged { task: Arc::new(task), change: TaskChange::Completed, by: Party::Human });
    screen.draw();
    assert_eq!((screen.state.board.list()[screen.state.board.top], screen.state.board.selected), (top, selected));
}

#[test]
fn activity_stays_with_its_text_while_more_arrives() {
    let mut screen = busy();
    for n in 0..100 {
        screen.answer_said("bob", &format!("answer number {n}"));
    }
    screen.press("1 j j 5 k k k k k k k k k k");
    let before = screen.screen();
    let shown: Vec<&str> = before.lines().filter(|l| l.contains("answer number")).collect();
    for n in 100..150 {
        screen.answer_said("bob", &format!("answer number {n}"));
    }
    let after = screen.screen();
    assert_eq!(after.lines().filter(|l| l.contains("answer number")).collect::<Vec<_>>(), shown);
    assert!(after.contains("↓ 50 new"), "{after}");
    screen.press("G");
    assert!(screen.screen().contains("answer number 149"));
    screen.press("g");
    assert!(screen.screen().contains("read_file"));
    screen.press("PgDn PgDn PgUp PgUp");
    assert!(screen.screen().contains("read_file"));
}

#[test]
fn a_word_that_is_searched_for_in_the_activity_runs_no_keys() {
    let mut screen = busy();
    screen.press("1 j j 5 /");
    screen.type_str("sku S x d c q");
    assert!(screen.commands().is_empty(), "{:?}", screen.commands());
    assert!(screen.screen().contains("sku S x d c q"), "{}", screen.screen());
    screen.press("Enter");
    assert!(screen.commands().is_empty());
}

#[test]
fn u8_a_long_transcript_opens_scrolls_and_is_searched() {
    let mut screen = busy();
    screen.press("1 j j");
    let cmds = screen.press("v");
    assert!(cmds.contains(&Cmd::LoadTranscript(member_name("bob"))));
    let entry = |n: usize| TranscriptEntry::Message {
        at: START,
        message: ChatMessage::Assistant { text: format!("line {n}"), reasoning: None, calls: vec![] },
    };
    let entries: Vec<_> = (0..50_000).map(entry).collect();
    screen.send(Msg::Transcript { name: member_name("bob"), entries });
    assert!(screen.screen().contains("line 49999"));
    screen.press("g");
    assert!(screen.screen().contains("line 0"));
    screen.press("/");
    screen.type_str("line 4321");
    screen.press("Enter");
    assert!(screen.screen().contains("line 4321"));
    screen.answer_said("bob", "something new");
    assert!(screen.screen().contains("↓ 1 new"));
    screen.press("G");
    assert!(screen.screen().contains("something new"));
}

#[test]
fn the_stream_is_not_shown_twice_when_its_answer_is_finished() {
    let mut screen = busy();
    screen.press("1 j j");
    let live = |text: &str, reset| Msg::Live { name: member_name("bob"), kind: LiveKind::Text, text: text.into(), reset };
    screen.send(live("Working on the unique ", true));
    assert!(screen.screen().contains("the unique"));
    screen.answer_said("bob", "Working on the unique thing");
    screen.send(live("Working on the unique thing", true));
    assert_eq!(screen.screen().matches("the unique").count(), 1, "{}", screen.screen());
    screen.send(live("Another answer", true));
    assert!(screen.screen().contains("Another answer"));
}

#[test]
fn u14_what_needs_the_person_can_be_jumped_to() {
    let mut screen = busy();
    screen.press("3 w Enter");
    assert_eq!(screen.state.focus, Pane::Approvals);
    screen.press("w j Enter");
    assert_eq!((screen.state.focus, screen.state.board.selected), (Pane::Board, Some(TaskId(6))));
}

#[test]
fn panes_are_reached_by_tab_and_number_and_zoomed() {
    let mut screen = busy();
    for pane in [Pane::Approvals, Pane::Board, Pane::Inbox, Pane::Activity, Pane::Team] {
        screen.press("Tab");
        assert_eq!(screen.state.focus, pane);
    }
    screen.press("S-Tab z");
    assert_eq!(screen.state.focus, Pane::Activity);
    assert!(!screen.screen().contains("Board"));
    screen.press("Esc");
    assert!(screen.screen().contains("Board"));
}

#[test]
fn copying_goes_through_the_terminal_and_is_clean() {
    let mut screen = busy();
    let cmds = screen.press("3 j y");
    assert!(cmds.iter().any(|c| matches!(c, Cmd::Copy(text) if text.starts_with("#2 Draw the data model"))));
    assert!(screen.press("M").contains(&Cmd::Mouse(false)));
    assert!(screen.press("C-l").contains(&Cmd::Clear));
    assert!(screen.press("C-z").contains(&Cmd::Suspend));
}

#[test]
fn a_signal_stops_the_team_now_and_leaves_even_if_nobody_answers() {
    let mut screen = busy();
    screen.send(Msg::Signal);
    assert_eq!(screen.commands(), [TeamCommand::StopTeam { now: true }]);
    screen.wait(4_000);
    assert!(screen.send(Msg::Woken).contains(&Cmd::Quit));
}

#[test]
fn a_member_that_holds_a_task_while_idle_is_pointed_out() {
    let mut screen = busy();
    screen.member("carol", "docs", MemberStatus::Idle, Activity::HoldsTask { task: TaskId(5), since: START });
    assert!(screen.screen().contains("◆ carol holds #5"));
    screen.press("w");
    assert!(screen.screen().contains("carol is idle and still holds #5"));
}

#[test]
fn plans_are_approved_by_themselves_only_after_a_question() {
    let mut screen = busy();
    screen.press(":");
    screen.type_str("plans auto");
    screen.press("Enter");
    assert!(screen.commands().is_empty());
    screen.press("y");
    assert_eq!(screen.commands(), [TeamCommand::SetPlanMode { mode: signoff::domain::settings::PlanMode::Auto }]);
}

#[test]
fn t21_why_a_member_does_not_work_is_told_in_words_of_its_own() {
    let since = START;
    let states = [
        (MemberStatus::Idle, Activity::Nothing { since }, "idle"),
        (MemberStatus::Idle, Activity::Mail { since }, "mail"),
        (MemberStatus::Idle, Activity::HoldsTask { task: TaskId(3), since }, "holds #3"),
        (MemberStatus::WaitingApproval, Activity::Approval { request: request_id(1), request_kind: RequestKind::Plan, since }, "plan"),
        (MemberStatus::Working, Activity::RateLimit { until: since.plus(Duration::from_secs(40)) }, "limit"),
        (MemberStatus::Shutdown, Activity::Stopped { reason: "done".into() }, "shut down"),
        (MemberStatus::Failed, Activity::Failed { reason: "401".into() }, "failed"),
    ];
    let mut rows = std::collections::BTreeSet::new();
    for (status, activity, words) in states {
        let mut screen = Screen::new(80, 24);
        screen.member("bob", "coder", status, activity.clone());
        let row = screen.screen().lines().find(|line| line.contains("bob ")).unwrap().chars().take(28).collect::<String>();
        assert!(row.contains(words), "{activity:?}: {row}");
        rows.insert(row);
    }
    assert_eq!(rows.len(), 7, "{rows:?}");
}

#[test]
fn completing_what_waits_for_others_and_ending_who_waits_for_a_verdict_ask_once() {
    let mut screen = Screen::new(100, 30);
    screen.member("bob", "coder", MemberStatus::Idle, Activity::Nothing { since: START });
    screen.task(Task::new(TaskId(1), "first"));
    screen.task(Task { blocked_by: vec![TaskId(1)], ..Task::new(TaskId(2), "second") });
    screen.press("3 G c");
    assert!(screen.commands().is_empty() && screen.screen().contains("waits for other tasks"), "{}", screen.screen());
    screen.press("y");
    assert_eq!(screen.commands(), [TeamCommand::CompleteTask { task: TaskId(2) }]);
    let activity = Activity::Approval { request: request_id(1), request_kind: RequestKind::Plan, since: START };
    screen.member("bob", "coder", MemberStatus::WaitingApproval, activity);
    screen.cmds.clear();
    screen.press("1 G s");
    assert!(screen.commands().is_empty() && screen.screen().contains("withdraw its request"), "{}", screen.screen());
    screen.press("y");
    assert_eq!(screen.commands(), [TeamCommand::RequestShutdown { target: "bob".into(), reason: None }]);
}
