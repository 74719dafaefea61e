//! What a first look at the screen must not stumble over: cut reasons, lost words, keys that are offered but do nothing.

use super::harness::{START, Screen, member_name, options, permission, plan, request_id};
use signoff::app::Keymap;
use signoff::app::StateOptions;
use signoff::app::msg::Msg;
use signoff::domain::event::NoticeLevel;
use signoff::domain::{
    Activity, Answer, Digest, Generation, Member, MemberStatus, Party, Refusal, Request, RequestState, Task, TaskId, TaskStatus,
    TeamCommand, TeamEvent, Verdict,
};
use std::sync::Arc;

fn busy(width: u16, height: u16) -> Screen {
    let mut screen = Screen::new(width, height);
    screen.busy_team();
    screen
}

fn last_row(screen: &mut Screen) -> String {
    screen.screen().lines().last().unwrap_or_default().to_owned()
}

#[test]
fn the_greeting_says_why_this_model_answers_and_nothing_else_in_its_place() {
    for choice in [Some("No key is set; ollama answers here."), None] {
        let mut screen = Screen::new(120, 40);
        screen.open_as(signoff::domain::settings::Wall::Full, choice);
        screen.event(TeamEvent::Noticed { level: NoticeLevel::Info, text: "something else".into(), name: None });
        if let Some(choice) = choice {
            screen.event(TeamEvent::Noticed { level: NoticeLevel::Warning, text: choice.into(), name: None });
        }
        let text = screen.screen();
        assert_eq!(text.matches("ollama answers here").count(), usize::from(choice.is_some()), "once: {text}");
        let row = text.lines().find(|line| line.contains("model  ")).unwrap_or_default();
        assert_eq!(row.contains("ollama answers here"), choice.is_some(), "{text}");
        assert!(!row.contains("something else"), "{text}");
    }
}

#[test]
fn the_reason_of_the_end_stays_in_the_header_at_eighty_columns() {
    let mut screen = busy(80, 24);
    screen.member("lead", "plans", MemberStatus::Idle, Activity::Nothing { since: START });
    screen.member("alice", "coder", MemberStatus::Idle, Activity::Nothing { since: START });
    screen.event(TeamEvent::Finished { reason: "all 9 tasks are completed".into(), ok: true });
    assert!(screen.screen().contains("finished: all 9 tasks are completed"), "{}", screen.screen());
}

#[test]
fn mail_is_wrapped_and_the_newest_is_whole() {
    let mut screen = busy(120, 40);
    for n in 0..20 {
        screen.message("bob", "lead", &format!("Message {n}: the audit table has more rows than the migration may touch at once."));
    }
    screen.state.roster.selected = Some(member_name("lead"));
    let text = screen.screen();
    assert!(text.contains("Message 19: the") && text.contains("touch at once."), "{text}");
    screen.press("4 g");
    assert!(screen.screen().contains("Message 0: the"), "{}", screen.screen());
    screen.press("j");
    let text = screen.screen();
    assert!(text.contains("▸bob → lead  Message 1: the"), "{text}");
}

#[test]
fn a_click_on_any_line_of_a_message_selects_it() {
    let mut screen = busy(80, 24);
    screen.message("bob", "lead", "One: a text that surely needs more than one line of the inbox.");
    screen.message("bob", "lead", "Two.");
    screen.state.roster.selected = Some(member_name("lead"));
    screen.draw();
    let area = screen.state.view.panes[signoff::app::Pane::Inbox.index()];
    screen.send(Msg::Mouse(signoff::app::msg::Mouse::Click { column: area.x + 2, row: area.y + 1 }));
    assert!(screen.state.inbox.selected.as_ref().is_some_and(|m| m.content.starts_with("One")));
}

#[test]
fn a_long_reason_of_a_member_that_ended_is_readable_in_full() {
    let mut screen = busy(80, 24);
    let reason = "shut down on request: the lead had no more work for the migration, and the budget was nearly spent";
    let mut member = Member::new(member_name("bob"), "migrations");
    (member.status, member.reason) = (MemberStatus::Shutdown, Some(reason.into()));
    screen.event(TeamEvent::MemberChanged { member: Arc::new(member), why: None });
    screen.press("1 j j Enter");
    let text = screen.screen().replace("│\n│ ", " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(reason), "{text}");
    assert!(!text.contains("shut down: shut down"), "said twice: {text}");
}

#[test]
fn the_end_of_an_ordinary_turn_is_no_news_but_a_cut_one_is() {
    let mut screen = busy(120, 40);
    let name = member_name("bob");
    screen.state.roster.selected = Some(name.clone());
    screen.event(TeamEvent::TurnStarted { name: name.clone(), generation: Generation::default(), cause: "mail".into() });
    screen.event(TeamEvent::TurnEnded { name: name.clone(), outcome: "done for now".into() });
    assert!(!screen.screen().contains("turn ended"), "{}", screen.screen());
    screen.event(TeamEvent::TurnEnded { name, outcome: "stopped after 50 rounds without an end".into() });
    assert!(screen.screen().contains("turn ended: stopped after 50 rounds"), "{}", screen.screen());
}

#[test]
fn the_footer_never_offers_a_verdict_on_a_request_that_is_not_on_the_screen() {
    let mut screen = busy(80, 24);
    screen.press("2 Enter");
    assert!(last_row(&mut screen).contains("a approve"));
    for key in ["?", "Esc Esc T"] {
        screen.wait(2_000);
        screen.draw();
        key.split(' ').for_each(|key| drop(screen.press_blind(key)));
        let (state, style, now) = (&mut screen.state, &screen.style, screen.now);
        screen.terminal.draw(|frame| signoff::tui::view::draw(frame, state, style, now)).unwrap();
        let frame: String = screen.terminal.backend().buffer().content.iter().map(|cell| cell.symbol()).collect();
        assert!(!frame.contains("a approve"), "after {key}: {frame}");
    }
}

#[test]
fn a_form_that_the_team_refuses_opens_again_with_its_words_and_the_whole_reason() {
    let mut screen = busy(80, 24);
    screen.press("t");
    screen.type_str("Write the changelog");
    screen.press("Enter Enter");
    screen.type_str("99");
    screen.press("Enter");
    assert_eq!(screen.commands().len(), 1);
    let refusal = Refusal::Invalid("task #7 cannot wait for #99, since there is no such task on the board of this team".into());
    screen.send(Msg::Replied { token: 1, result: Err(refusal) });
    let text = screen.screen();
    assert!(text.contains("Write the changelog") && text.contains("no such task on the board") && text.contains("this team"), "{text}");
}

#[test]
fn a_form_that_is_closed_keeps_its_words_for_the_next_time() {
    let mut screen = busy(80, 24);
    screen.press("n");
    screen.type_str("dave");
    screen.press("Esc");
    assert!(!screen.screen().contains("New teammate"));
    screen.press("n");
    assert!(screen.screen().contains("dave"), "{}", screen.screen());
}

#[test]
fn completing_what_somebody_works_on_asks_once() {
    let mut screen = busy(80, 24);
    screen.press("3 j j c");
    assert!(screen.commands().is_empty());
    assert!(screen.screen().contains("alice works on #3"), "{}", screen.screen());
    screen.press("n j c");
    assert_eq!(screen.commands(), [TeamCommand::CompleteTask { task: TaskId(4) }], "nobody works on #4");
}

#[test]
fn the_first_key_is_in_sight_however_long_the_news_about_the_model_is() {
    for (width, height) in [(60, 16), (80, 24), (120, 40)] {
        let mut screen = Screen::with(width, height, StateOptions { scripted: true, ..options() });
        screen.open_team();
        screen.event(TeamEvent::Noticed { level: NoticeLevel::Info, text: "no key is set ".repeat(20), name: None });
        let why = Some("resumed".to_owned());
        screen.event(TeamEvent::MemberChanged { member: Arc::new(Member::new(member_name("lead"), "lead")), why });
        assert!(screen.screen().contains("i tells the lead"), "{width}x{height}:\n{}", screen.screen());
    }
}

#[test]
fn lines_of_decided_requests_stand_below_those_of_pending_ones() {
    let mut screen = busy(120, 40);
    let old = plan(1, "bob", "Migrate db", "# Plan");
    let answer = Answer { by: Party::Human, at: screen.now, digest: Digest::of(&old.body), verdict: Verdict::reject() };
    screen.request(Request { state: RequestState::Rejected, answer: Some(answer), ..old });
    screen.request(permission(2, "alice", "cargo publish"));
    let text = screen.screen();
    let pane = |word: &str| text.lines().find(|l| l.contains(word)).and_then(|l| l.split('│').nth(1)).unwrap();
    let column = |name: &str, word: &str| pane(word).split(name).next().unwrap().chars().count();
    assert_eq!(column("bob", "rejected "), column("alice", "permit "), "{text}");
}

#[test]
fn an_unchanged_step_of_a_revised_plan_is_not_shown_as_gone_and_new() {
    let mut screen = busy(120, 40);
    let old = plan(1, "bob", "A", "# A\n\n1. copy\n2. read the new table\n3. run\n\nRisk: none.");
    let answer = Answer { by: Party::Human, at: screen.now, digest: Digest::of(&old.body), verdict: Verdict::reject() };
    screen.request(Request { state: RequestState::Rejected, answer: Some(answer), ..old });
    let body = "# B\n\nYou said no.\nWait.\n\n1. copy it beside\n2. read the new table\n3. run all";
    screen.request(Request { previous: Some(request_id(1)), ..plan(2, "bob", "B", body) });
    screen.press("2 Enter");
    let text = screen.screen();
    assert!(!text.contains("- 2. read") && !text.contains("+ 2. read"), "{text}");
}

#[test]
fn the_readme_lists_the_keys_that_the_keymap_has() {
    let readme = include_str!("../../../README.md");
    let table = readme.split("## Keys").nth(1).and_then(|rest| rest.split("Keys are data").next()).unwrap();
    let keymap = Keymap::default();
    let known: Vec<String> = keymap.bindings().iter().flat_map(|b| b.keys.iter().map(ToString::to_string)).collect();
    let listed: Vec<&str> = table.split('`').skip(1).step_by(2).collect();
    for key in listed.iter().filter(|key| !matches!(**key, "Ctrl-P" | "$EDITOR")) {
        assert!(known.iter().any(|k| k == key), "the README lists {key}, the keymap does not have it");
    }
    // What everybody needs stands in the footer; each of those keys is in the README, too.
    for binding in keymap.bindings().iter().filter(|b| b.rank.is_some() && b.context != signoff::app::Context::Prompt) {
        let key = binding.keys.first().map(ToString::to_string).unwrap_or_default();
        assert!(listed.contains(&key.as_str()), "{key} ({}) is not in the README", binding.action.name());
    }
}

#[test]
fn the_readme_opens_with_a_real_screen() {
    let readme = include_str!("../../../README.md");
    let picture = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let rows: Vec<&str> = picture.lines().collect();
    assert!(rows.len() >= 24 && picture.contains("waiting for you") && picture.contains("a approve"), "{picture}");
    for row in &rows {
        assert_eq!(unicode_width::UnicodeWidthStr::width(*row), 110, "{row}");
    }
}

#[test]
fn a_task_with_many_words_stays_on_its_line() {
    let mut screen = busy(80, 24);
    let mut task = Task::new(TaskId(3), "word ".repeat(60));
    task.status = TaskStatus::InProgress;
    screen.task(task);
    let rows = screen.screen().lines().filter(|row| row.contains("word word")).count();
    assert_eq!(rows, 1);
}

#[test]
fn words_that_follow_a_verdict_that_came_too_soon_are_not_taken_as_commands() {
    let mut screen = busy(80, 24);
    screen.request(plan(2, "carol", "Another", "# Another"));
    screen.draw();
    screen.press_blind("r");
    for key in ["n", "o", "S", "d", "q"] {
        screen.wait(120);
        screen.press_blind(key);
    }
    assert!(screen.commands().is_empty());
    let text = screen.screen();
    assert!(text.contains("look at it, then press again"), "{text}");
    assert!(!text.contains("New teammate") && !text.contains("Waiting for"), "{text}");
    screen.wait(1_000);
    screen.press("n");
    assert!(screen.screen().contains("New teammate"), "after a pause keys work again");
}
