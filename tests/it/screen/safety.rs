//! Nothing is approved by a slip: the rules of verdicts, one test each, and random schedules.

use super::harness::{Screen, member_name, permission, plan, request_id};
use signoff::app::Pane;
use signoff::app::msg::{Cmd, Mouse, Msg};
use signoff::domain::{
    Activity, Answer, Digest, MemberStatus, Party, Refusal, Request, RequestId, RequestState, TaskId, TeamCommand, Verdict,
};
use std::collections::HashSet;

fn team() -> Screen {
    let mut screen = Screen::new(80, 20);
    screen.open_team();
    for name in ["lead", "bob", "carol"] {
        let activity = Activity::Nothing { since: screen.now };
        screen.member(name, "coder", MemberStatus::Idle, activity);
    }
    screen
}

fn decide(screen: &mut Screen, request: Request, verdict: Verdict) {
    let answer = Answer { by: Party::Human, at: screen.now, digest: request.digest(), verdict };
    let state = if answer.verdict.is_approval() { RequestState::Approved } else { RequestState::Rejected };
    screen.request(Request { state, answer: Some(answer), ..request });
}

fn answers(screen: &mut Screen) -> Vec<(RequestId, Verdict, Digest)> {
    let answer = |command| match command {
        TeamCommand::Answer { id, verdict, shown } => Some((id, verdict, shown)),
        _ => None,
    };
    screen.commands().into_iter().filter_map(answer).collect()
}

#[test]
fn a1_an_arriving_request_moves_neither_focus_nor_selection() {
    let mut screen = team();
    screen.press("3");
    screen.request(plan(1, "bob", "first", "one"));
    screen.press("2 j");
    screen.press("3");
    let selected = screen.state.approvals.selected.clone();
    for n in 2..20 {
        screen.request(plan(n, "carol", "later", "body"));
        assert_eq!(screen.state.focus, Pane::Board);
        assert_eq!(screen.state.approvals.selected, selected);
    }
}

#[test]
fn a1_a_request_that_came_up_by_itself_is_not_approved_by_a_key_that_was_on_its_way() {
    let mut screen = team();
    screen.draw();
    screen.request(plan(1, "bob", "Migrate", "drop everything"));
    screen.draw();
    screen.wait(100);
    screen.press_blind("a");
    assert!(answers(&mut screen).is_empty());
    assert!(screen.screen().contains("only just come up"), "the hint stands in place");
}

#[test]
fn it_takes_a_verdict_half_a_second_later_with_a_quiet_keyboard() {
    let mut screen = team();
    screen.request(plan(1, "bob", "Migrate", "drop everything"));
    screen.draw();
    screen.wait(300);
    screen.press_blind("j");
    screen.wait(250);
    screen.press_blind("a");
    assert!(answers(&mut screen).is_empty(), "a key 250 ms before");
    screen.wait(299);
    screen.press_blind("a");
    assert!(answers(&mut screen).is_empty(), "and 299 ms before");
    screen.wait(300);
    screen.press_blind("a");
    assert_eq!(answers(&mut screen), [(request_id(1), Verdict::approve(), Digest::of("drop everything"))]);
}

#[test]
fn a_request_that_was_never_drawn_cannot_be_decided() {
    let mut screen = team();
    screen.draw();
    screen.request(plan(1, "bob", "Migrate", "body"));
    screen.wait(60_000);
    screen.press_blind("a");
    assert!(answers(&mut screen).is_empty());
}

#[test]
fn a_request_whose_pane_is_not_on_the_screen_cannot_be_decided() {
    let mut screen = team();
    screen.request(plan(1, "bob", "Migrate", "body"));
    screen.press("3 z a");
    assert!(answers(&mut screen).is_empty());
    screen.press("z a");
    assert_eq!(answers(&mut screen).len(), 1);
}

#[test]
fn the_next_of_a_queue_has_to_be_seen_too() {
    let mut screen = team();
    screen.request(plan(1, "bob", "one", "1"));
    screen.request(plan(2, "carol", "two", "2"));
    screen.press("a");
    assert_eq!(answers(&mut screen).len(), 1);
    decide(&mut screen, plan(1, "bob", "one", "1"), Verdict::approve());
    screen.draw();
    screen.press_blind("a");
    assert!(answers(&mut screen).is_empty(), "a doubled key must not hit the next one");
    screen.press("a");
    assert_eq!(answers(&mut screen)[0].0, request_id(2));
}

#[test]
fn a_second_press_does_not_answer_twice_while_the_first_is_on_its_way() {
    let mut screen = team();
    screen.request(plan(1, "bob", "one", "1"));
    screen.press("a");
    screen.press("a");
    assert_eq!(answers(&mut screen).len(), 1);
    assert!(screen.screen().contains("on its way"));
}

#[test]
fn a_selection_that_was_left_and_came_back_by_itself_is_no_choice() {
    let mut screen = team();
    let (one, two) = (plan(1, "bob", "one", "1"), plan(2, "carol", "two", "2"));
    screen.request(one);
    screen.request(two.clone());
    screen.press("2 j k");
    screen.draw();
    screen.wait(1_000);
    screen.press_blind("j");
    decide(&mut screen, two, Verdict::reject());
    screen.wait(70);
    screen.press_blind("a");
    assert!(answers(&mut screen).is_empty(), "the person had gone on to the other one");
    screen.wait(400);
    screen.press_blind("a");
    assert_eq!(answers(&mut screen).len(), 1);
}

#[test]
fn a_text_that_changes_under_the_eyes_counts_as_new() {
    let mut screen = team();
    screen.request(plan(1, "bob", "one", "safe"));
    screen.press("2 Enter");
    screen.request(plan(1, "bob", "one", "dangerous"));
    screen.draw();
    screen.wait(200);
    screen.press_blind("a");
    assert!(answers(&mut screen).is_empty());
    screen.press("a");
    assert_eq!(answers(&mut screen)[0].2, Digest::of("dangerous"));
}

#[test]
fn pasted_text_never_decides() {
    let mut screen = team();
    screen.request(plan(1, "bob", "one", "1"));
    screen.press("2");
    for text in ["a", "aaa\n", "y", "r\n"] {
        screen.wait(1_000);
        screen.send(Msg::Paste(text.into()));
    }
    assert!(screen.commands().is_empty());
    screen.request(permission(2, "carol", "cargo publish"));
    screen.press("j P");
    screen.send(Msg::Paste("y".into()));
    assert!(screen.commands().is_empty());
    screen.press("y");
    let verdict = Verdict::Approve { note: None, edited: None, always: true };
    assert_eq!(answers(&mut screen)[0].1, verdict);
}

#[test]
fn the_mouse_never_decides() {
    let mut screen = team();
    screen.request(plan(1, "bob", "one", "1"));
    for row in 0..20 {
        for column in (0..80).step_by(3) {
            screen.wait(1_000);
            screen.draw();
            screen.send(Msg::Mouse(Mouse::Click { column, row }));
            screen.send(Msg::Mouse(Mouse::DoubleClick { column, row }));
            screen.state.detail = None;
        }
    }
    assert!(screen.commands().is_empty());
}

#[test]
fn keys_typed_into_a_prompt_never_act_as_commands() {
    let mut screen = team();
    screen.request(plan(1, "bob", "one", "1"));
    screen.press("i");
    screen.type_str("a A r s S x q d c y n ? : / 1 2 3");
    assert!(screen.commands().is_empty());
    screen.press("Enter");
    let content = "a A r s S x q d c y n ? : / 1 2 3".to_owned();
    assert_eq!(screen.commands(), [TeamCommand::Send { to: "lead".into(), content }]);
}

#[test]
fn a8_enter_sends_the_feedback_that_was_typed_and_switching_the_verdict_asks() {
    let mut screen = team();
    screen.request(plan(1, "bob", "one", "1"));
    screen.press("r");
    screen.type_str("smaller steps");
    screen.press("C-t");
    assert!(screen.screen().contains("other verdict"));
    screen.press("Enter");
    assert!(answers(&mut screen).is_empty(), "Enter is no yes to the question");
    screen.press("Enter");
    let verdict = Verdict::Reject { feedback: Some("smaller steps".into()) };
    assert_eq!(answers(&mut screen)[0].1, verdict);
}

#[test]
fn switching_the_verdict_with_a_yes_turns_feedback_into_a_note() {
    let mut screen = team();
    screen.request(plan(1, "bob", "one", "1"));
    screen.press("r");
    screen.type_str("fine");
    screen.press("C-t y Enter");
    let verdict = Verdict::Approve { note: Some("fine".into()), edited: None, always: false };
    assert_eq!(answers(&mut screen)[0].1, verdict);
}

#[test]
fn the_edited_text_is_approved_and_an_unchanged_one_is_not() {
    let mut screen = team();
    screen.request(plan(1, "bob", "one", "step 1\n"));
    let cmds = screen.press("e");
    let Some(Cmd::Edit { token, text, .. }) = cmds.iter().find(|c| matches!(c, Cmd::Edit { .. })) else { panic!("no editor") };
    assert_eq!(text, "step 1\n");
    screen.send(Msg::Edited { token: *token, result: Ok("step 1\n".into()) });
    assert!(answers(&mut screen).is_empty());
    let cmds = screen.press("e");
    let Some(Cmd::Edit { token, .. }) = cmds.iter().find(|c| matches!(c, Cmd::Edit { .. })) else { panic!("no editor") };
    screen.send(Msg::Edited { token: *token, result: Ok("step 2\n".into()) });
    let verdict = Verdict::Approve { note: None, edited: Some("step 2\n".into()), always: false };
    assert_eq!(answers(&mut screen), [(request_id(1), verdict, Digest::of("step 1\n"))]);
}

#[test]
fn a_refusal_is_shown_in_words_and_in_place() {
    let mut screen = team();
    screen.request(plan(1, "bob", "one", "1"));
    let cmds = screen.press("a");
    let token = cmds.iter().find_map(|c| if let Cmd::Team { token, .. } = c { Some(*token) } else { None }).unwrap();
    screen.send(Msg::Replied { token, result: Err(Refusal::Changed { id: request_id(1) }) });
    assert!(screen.screen().contains("then decide"), "{}", screen.screen());
}

#[test]
fn the_rule_that_always_would_add_is_shown_whole_before_it_is_given() {
    let mut screen = team();
    let rule = format!("cargo run --release -- {} --end-of-rule", "--flag value ".repeat(12).trim());
    screen.request(Request { rule: Some(rule), ..permission(1, "bob", "cargo run") });
    screen.press("P");
    let text = screen.screen();
    assert!(text.contains("--end-of-rule") && text.contains("y yes"), "{text}");
}

#[test]
fn stopping_and_deleting_ask_once() {
    let mut screen = team();
    screen.task(signoff::domain::Task::new(TaskId(1), "x"));
    screen.press("1 j S");
    assert!(screen.commands().is_empty());
    screen.press("n S y");
    assert_eq!(screen.commands(), [TeamCommand::ForceStop { target: "bob".into() }]);
    screen.press("3 d");
    assert!(screen.commands().is_empty());
    screen.press("y");
    assert_eq!(screen.commands(), [TeamCommand::DeleteTask { task: TaskId(1) }]);
}

/// A small generator, so that a failing seed can be run again.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// A model of what a person could know: which request the frames showed as selected, since when, and when keys came.
#[test]
fn no_random_schedule_approves_what_was_not_seen() {
    let mut approvals = 0;
    // Ten thousand with `SIGNOFF_FULL=1`.
    let seeds = if std::env::var_os("SIGNOFF_FULL").is_some() { 10_000 } else { 1_000u64 };
    let options = super::harness::options();
    for seed in 1..=seeds {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let mut screen = Screen::with(60, 16, options.clone());
        let activity = Activity::Nothing { since: screen.now };
        screen.member("bob", "coder", MemberStatus::Idle, activity);
        let mut open: Vec<Request> = Vec::new();
        let mut chosen: HashSet<RequestId> = HashSet::new();
        let mut seen: Option<(RequestId, i64)> = None;
        let mut last_key = i64::MIN;
        for step in 0..40u32 {
            screen.wait(random.below(400));
            match random.below(10) {
                0 => {
                    let request = plan(step + 1, if random.below(2) == 0 { "bob" } else { "carol" }, "title", &format!("body {step}"));
                    open.push(request.clone());
                    screen.request(request);
                }
                1 if !open.is_empty() => {
                    let at = usize::try_from(random.below(open.len() as u64)).unwrap();
                    let request = open.remove(at);
                    decide(&mut screen, request, Verdict::reject());
                }
                2..=5 => {
                    screen.draw();
                    let shown = screen.state.view.shown.as_ref().map(|s| s.id.clone());
                    seen = match (seen, shown) {
                        (Some((old, since)), Some(id)) if old == id => Some((old, since)),
                        (_, Some(id)) => Some((id, screen.now.0)),
                        (_, None) => None,
                    };
                }
                _ => {
                    let keys = ["a", "j", "k", "Tab", "1", "2", "a", "3", "x", "a"];
                    let key = keys[usize::try_from(random.below(10)).unwrap()];
                    let before = screen.state.approvals.selected.clone();
                    screen.press_blind(key);
                    let moved = screen.state.approvals.selected.clone();
                    if moved != before {
                        chosen.extend(moved);
                    }
                    for (id, verdict, digest) in answers(&mut screen) {
                        approvals += 1;
                        assert!(verdict.is_approval());
                        let (shown, since) = seen.clone().unwrap_or_else(|| panic!("seed {seed}: nothing was on the screen"));
                        assert_eq!(id, shown, "seed {seed}: another one was drawn");
                        let request = open.iter().find(|r| r.id == id).unwrap_or_else(|| panic!("seed {seed}: decided already"));
                        assert_eq!(digest, request.digest());
                        let settled = screen.now.0 - since >= 500 && screen.now.0.saturating_sub(last_key) >= 300;
                        assert!(chosen.contains(&id) || settled, "seed {seed}: approved by a slip");
                        open.retain(|r| r.id != id);
                    }
                    last_key = screen.now.0;
                }
            }
            // What the person chose once is only theirs while it stays selected.
            chosen.retain(|id| screen.state.approvals.selected.as_ref() == Some(id));
        }
    }
    assert!(approvals > 100, "the schedules must reach approvals at all: {approvals}");
}

#[test]
fn quitting_asks_the_team_first_and_twice_means_now() {
    let mut screen = team();
    let cmds = screen.press("q");
    assert!(!cmds.contains(&Cmd::Quit));
    assert_eq!(screen.commands(), [TeamCommand::StopTeam { now: false }]);
    assert!(screen.screen().contains("Waiting for 3 to stop"));
    let cmds = screen.press("q");
    assert_eq!(screen.commands(), [TeamCommand::StopTeam { now: true }]);
    let token = cmds.iter().find_map(|c| if let Cmd::Team { token, .. } = c { Some(*token) } else { None }).unwrap();
    let cmds = screen.send(Msg::Replied { token, result: Ok(signoff::domain::Reply::Done) });
    assert!(cmds.contains(&Cmd::Quit));
}

#[test]
fn it_leaves_when_the_last_member_has_stopped() {
    let mut screen = team();
    screen.press("q");
    let mut left = false;
    for name in ["carol", "bob", "lead"] {
        assert!(!left);
        let mut member = signoff::domain::Member::new(member_name(name), "coder");
        member.status = MemberStatus::Shutdown;
        let cmds = screen.event(signoff::domain::TeamEvent::MemberChanged { member: std::sync::Arc::new(member), why: None });
        left = cmds.contains(&Cmd::Quit);
    }
    assert!(left);
}

#[test]
fn a_second_screen_just_leaves() {
    let options = signoff::app::StateOptions { is_runner: false, ..super::harness::options() };
    let mut screen = Screen::with(80, 24, options);
    screen.busy_team();
    let cmds = screen.press("q");
    assert!(cmds.contains(&Cmd::Quit));
    assert!(screen.commands().is_empty());
}
