//! What the screen looks like. Every snapshot is looked at by a person before it is kept.

use super::harness::{Screen, member_name, options, permission, plan, request_id};
use signoff::app::StateOptions;
use signoff::app::msg::{LiveKind, Msg};
use signoff::domain::settings::Wall;
use signoff::domain::{Activity, Answer, Digest, MemberStatus, Party, Request, RequestState, Task, TaskId, Verdict};

fn busy(width: u16, height: u16) -> Screen {
    let mut screen = Screen::new(width, height);
    screen.busy_team();
    screen
}

const SIZES: [(u16, u16); 4] = [(20, 6), (80, 24), (120, 40), (200, 60)];

fn at_all_sizes(name: &str, make: impl Fn(u16, u16) -> Screen) {
    for (width, height) in SIZES {
        let mut screen = make(width, height);
        insta::assert_snapshot!(format!("{name}_{width}x{height}"), screen.screen());
    }
}

#[test]
fn a_busy_team_with_an_approval_waiting() {
    at_all_sizes("busy", |w, h| {
        let mut screen = busy(w, h);
        screen.press("2");
        screen.state.roster.selected = Some(member_name("bob"));
        screen
    });
}

#[test]
fn the_first_run_greets_and_names_the_key_that_starts() {
    at_all_sizes("greeting", |w, h| {
        let mut screen = Screen::new(w, h);
        screen.open_team();
        screen.member("lead", "plans", MemberStatus::Idle, Activity::Nothing { since: super::harness::START });
        screen.press("3");
        screen
    });
}

#[test]
fn a_weak_sandbox_is_told_at_any_width_for_as_long_as_the_team_runs() {
    for wall in [Wall::Reduced, Wall::Unavailable, Wall::Absent] {
        for (width, height) in [(80, 24), (120, 40)] {
            let mut screen = busy(width, height);
            screen.open_behind(wall);
            insta::assert_snapshot!(format!("wall_{}_{width}x{height}", format!("{wall:?}").to_lowercase()), screen.screen());
        }
        for width in [20, 24, 30, 40, 50, 60, 70, 90, 110, 200] {
            let mut screen = busy(width, 12);
            screen.open_behind(wall);
            let edge = screen.screen().lines().next().unwrap_or_default().to_owned();
            let badge: String = wall.badge().unwrap().chars().take(usize::from(width) - 4).collect();
            assert!(edge.contains(badge.trim_end()), "{width}: {edge}");
        }
    }
}

#[test]
fn nothing_at_all() {
    at_all_sizes("empty", Screen::new);
}

#[test]
fn a_plan_is_open_with_the_difference_to_its_rejected_version() {
    at_all_sizes("plan_diff", |w, h| {
        let mut screen = busy(w, h);
        let old = plan(1, "bob", "Migrate db", "# Plan\n\n1. add column `total`\n2. backfill\n");
        let verdict = Verdict::Reject { feedback: Some("backfill in batches, please".into()) };
        let answer = Answer { by: Party::Human, at: screen.now, digest: Digest::of(&old.body), verdict };
        screen.request(Request { state: RequestState::Rejected, answer: Some(answer), ..old });
        let body = "# Plan\n\n1. add column `total`\n2. backfill in batches of 1,000\n3. verify the sums\n";
        screen.request(Request { previous: Some(request_id(1)), ..plan(2, "bob", "Migrate db, second try", body) });
        screen.press("2 Enter");
        screen
    });
}

#[test]
fn a_permission_shows_the_exact_rule() {
    at_all_sizes("permission", |w, h| {
        let mut screen = busy(w, h);
        screen.request(permission(2, "alice", "cargo publish --dry-run && rm -rf target"));
        screen.press("2 j Enter");
        screen
    });
}

#[test]
fn a_task_is_open_with_its_blockers_and_history() {
    at_all_sizes("task", |w, h| {
        let mut screen = busy(w, h);
        let mut task = Task::new(TaskId(5), "Publish docs");
        task.description = "Write the *guide* and publish it:\n\n- guide\n- reference".into();
        task.blocked_by = vec![TaskId(3), TaskId(4)];
        let now = screen.now;
        task.note(now, Party::lead(), "added after the review");
        screen.task(task);
        screen.press("3 G k Enter");
        screen
    });
}

#[test]
fn the_help_is_made_from_the_keymap() {
    at_all_sizes("help", |w, h| {
        let mut screen = busy(w, h);
        screen.press("?");
        screen
    });
}

#[test]
fn the_palette_finds_actions_by_name() {
    at_all_sizes("palette", |w, h| {
        let mut screen = busy(w, h);
        screen.press(":");
        screen.type_str("task");
        screen
    });
}

#[test]
fn leaving_shows_who_still_stops() {
    at_all_sizes("quitting", |w, h| {
        let mut screen = busy(w, h);
        screen.press("q");
        screen
    });
}

#[test]
fn what_needs_the_person_is_one_list() {
    at_all_sizes("needs", |w, h| {
        let mut screen = busy(w, h);
        screen.member("dave", "ops", MemberStatus::Failed, Activity::Failed { reason: "401 from the provider".into() });
        screen.press("w");
        screen
    });
}

#[test]
fn u4_wide_combining_and_right_to_left_text_stay_aligned() {
    at_all_sizes("scripts", |w, h| {
        let mut screen = busy(w, h);
        screen.task(Task::new(TaskId(7), "重构订单模块并补充测试用例以及文档说明和更多内容"));
        screen.task(Task::new(TaskId(8), "Ship 👩‍👩‍👧‍👦 family 🇩🇪 flags 🚀 e\u{301}te\u{301}"));
        screen.task(Task::new(TaskId(9), "اختبار الطلبات ובדיקות"));
        screen.message("lead", "carol", "日本語のメッセージです。とても長いので切られます。");
        screen.answer_said("carol", "한국어 답변 — с кириллицей — 🚀🚀🚀\n\n| 表 | 数 |\n|---|---|\n| あ | 1 |\n| bb | 22 |\n");
        screen.request(plan(2, "carol", "データベース移行の計画", "計画"));
        screen.press("3");
        screen.state.roster.selected = Some(member_name("carol"));
        screen
    });
}

#[test]
fn two_hundred_members_and_five_thousand_tasks() {
    at_all_sizes("crowd", |w, h| {
        let mut screen = Screen::new(w, h);
        screen.open_team();
        let idle = || Activity::Nothing { since: super::harness::START };
        screen.member("lead", "plans", MemberStatus::Idle, idle());
        for n in 1..200 {
            screen.member(&format!("worker-{n}"), "coder", MemberStatus::Idle, idle());
        }
        for id in 1..=5_000 {
            screen.task(Task::new(TaskId(id), format!("Task number {id}")));
        }
        screen.press("1 G 3 G");
        screen
    });
}

#[test]
fn an_answer_streams_below_what_is_done() {
    at_all_sizes("streaming", |w, h| {
        let mut screen = busy(w, h);
        screen.press("1 j j 5 z");
        let text = "## Next\n\nI will **check** the `audit` table:\n\n```sql\nselect count(*) from audit;\n```\n\nThen the".to_owned();
        screen.send(Msg::Live { name: member_name("bob"), kind: LiveKind::Text, text, reset: true });
        screen
    });
}

#[test]
fn a_message_is_written_at_the_lower_edge() {
    at_all_sizes("prompt", |w, h| {
        let mut screen = busy(w, h);
        screen.press("i");
        screen.type_str("Fix the totals: ");
        screen.send(Msg::Paste("line\n".repeat(10_000)));
        screen
    });
}

#[test]
fn a_teammate_is_spawned_by_a_form() {
    at_all_sizes("spawn", |w, h| {
        let mut screen = busy(w, h);
        screen.press("n");
        screen.type_str("dave");
        screen.press("Enter");
        screen.type_str("release manager");
        screen
    });
}

#[test]
fn u5_ascii_signs_where_the_locale_asks_for_them() {
    at_all_sizes("ascii", |w, h| {
        let mut screen = Screen::with(w, h, StateOptions { ascii: true, ..options() });
        screen.busy_team();
        let text = screen.screen();
        assert!(text.is_ascii(), "{text}");
        screen
    });
}

#[test]
fn a_scripted_model_is_labelled_and_a_second_screen_says_so() {
    at_all_sizes("scripted", |w, h| {
        let mut screen = Screen::with(w, h, StateOptions { scripted: true, is_runner: false, ..options() });
        screen.member("lead", "plans", MemberStatus::Idle, Activity::Nothing { since: super::harness::START });
        screen
    });
}

#[test]
fn a_long_refusal_is_wrapped_above_the_footer() {
    at_all_sizes("refusal", |w, h| {
        let mut screen = busy(w, h);
        screen.press("1 j x");
        let refusal = signoff::domain::Refusal::UnknownMember {
            name: "alice".into(),
            nearest: Some("alicia".into()),
            roster: "lead (working), alicia (idle), bob (waiting_approval), carol (idle)".into(),
        };
        screen.send(Msg::Replied { token: 1, result: Err(refusal) });
        screen
    });
}

#[test]
fn what_was_spent_stands_by_member_model_and_task() {
    at_all_sizes("costs", |w, h| {
        let mut screen = busy(w, h);
        screen.spend("alice", 1_234_567, Some(1.25));
        screen.spend("carol", 400, None);
        screen.press("$");
        screen
    });
}

#[test]
fn a_message_is_open_in_full() {
    at_all_sizes("message", |w, h| {
        let mut screen = busy(w, h);
        screen.message(
            "lead",
            "bob",
            "Please take the **migration** first:\n\n- keep the old table\n- count the rows before and after\n\n`audit` may wait.",
        );
        screen.state.roster.selected = Some(member_name("bob"));
        screen.press("4 G Enter");
        screen
    });
}

#[test]
fn a_transcript_is_open_and_searched() {
    at_all_sizes("transcript", |w, h| {
        let mut screen = busy(w, h);
        for n in 1..=30 {
            screen.answer_said("alice", &format!("Step {n}: the totals of order {n} are right."));
        }
        screen.state.roster.selected = Some(member_name("alice"));
        screen.press("v /");
        screen.type_str("order 12 ");
        screen.press("Enter");
        screen
    });
}

#[test]
fn a_team_that_was_left_shows_who_was_cut_off_who_waits_and_who_was_idle() {
    use signoff::domain::member::{LEFT_WAITING, RESTED};
    at_all_sizes("reopened", |w, h| {
        let mut screen = busy(w, h);
        let nothing = || Activity::Nothing { since: super::harness::START };
        for (name, reason) in [("alice", "the app ended while it was at work"), ("bob", LEFT_WAITING), ("carol", RESTED)] {
            screen.member_left(name, MemberStatus::Interrupted, nothing(), reason);
        }
        screen.press("1");
        screen
    });
}
