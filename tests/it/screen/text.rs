//! Text: the editor, wrapping, Markdown, and untrusted text that stays inert.

use super::harness::{Screen, member_name, plan};
use signoff::app::action::Action;
use signoff::app::clip;
use signoff::app::editor::Editor;
use signoff::app::live::LiveText;
use signoff::app::markdown;
use signoff::app::msg::{LiveKind, Msg};
use signoff::app::rich::{line_width, plain};
use signoff::domain::{Activity, MemberStatus, Task, TaskId};

#[test]
fn u6_a_paste_of_ten_thousand_lines_is_one_sign_and_one_undo() {
    let mut editor = Editor::new("before ");
    let paste = "a line\n".repeat(10_000);
    editor.paste(&paste);
    let (rows, _) = editor.rows(80);
    assert_eq!(rows, ["before [pasted 10,000 lines]"]);
    assert_eq!(editor.value(), format!("before {paste}"));
    editor.act(Action::Undo);
    assert_eq!(editor.value(), "before ");
}

#[test]
fn newlines_inside_a_paste_never_send() {
    let mut screen = Screen::new(80, 24);
    screen.busy_team();
    screen.press("i");
    screen.send(Msg::Paste("one\ntwo\r\nthree\n".into()));
    assert!(screen.commands().is_empty());
    screen.press("Enter");
    assert!(matches!(&screen.commands()[..], [signoff::domain::TeamCommand::Send { content, .. }] if content == "one\ntwo\nthree"));
}

#[test]
fn the_cursor_moves_by_what_a_person_sees_as_one_character() {
    let mut editor = Editor::new("a👩‍👩‍👧‍👦e\u{301}漢");
    for _ in 0..3 {
        editor.act(Action::DeleteLeft);
    }
    assert_eq!(editor.value(), "a");
    editor.act(Action::DeleteLeft);
    editor.act(Action::DeleteLeft);
    assert_eq!(editor.value(), "");
}

#[test]
fn lines_are_edited_with_up_down_home_and_end() {
    let mut editor = Editor::new("漢字\nabcd\nxyz");
    editor.act(Action::CursorUp);
    editor.insert('!');
    assert_eq!(editor.value(), "漢字\nabc!d\nxyz");
    editor.act(Action::CursorUp);
    editor.insert('?');
    assert_eq!(editor.value(), "漢字?\nabc!d\nxyz");
    editor.act(Action::CursorHome);
    editor.act(Action::DeleteToEnd);
    assert_eq!(editor.value(), "\nabc!d\nxyz");
}

#[test]
fn cutting_keeps_graphemes_whole_and_the_width_right() {
    let text = "日本語のテキスト";
    for cols in 0..20 {
        let cut = clip::cut(text, cols);
        assert!(clip::width(&cut) <= cols, "{cols}: {cut}");
    }
    assert_eq!(clip::cut("日本語", 5), "日本…");
    assert_eq!(clip::cut("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
    assert_eq!(clip::one_line("  two\n\n words\t here ", 40), "two words here");
}

#[test]
fn markdown_is_wrapped_by_width_and_never_wider() {
    let text = "# 見出し\n\nA **bold** claim with `code` and [a link](https://example.org/very/long/path/that/does/not/fit) 漢字漢字漢字漢字\n\n- one\n  - two two two two two\n\n> quoted words that go on\n\n```rust\nfn main() { println!(\"long long long line\"); }\n```\n\n| a | b |\n|---|---|\n| 漢 | 1 |\n\n---\n\n1. first\n2. second\n";
    for cols in 1..60 {
        for line in markdown::render(text, cols) {
            // Markers, quotes and wide signs may stick out where there is no room for anything at all.
            assert!(line_width(&line) <= cols.max(12), "{cols}: {:?}", plain(&line));
        }
    }
    let rows: Vec<String> = markdown::render(text, 60).iter().map(|l| plain(l)).collect();
    assert!(rows.contains(&"• one".to_owned()) && rows.contains(&"  • two two two two two".to_owned()), "{rows:#?}");
    assert!(rows.contains(&"2. second".to_owned()));
    assert!(rows.contains(&"│ quoted words that go on".to_owned()));
}

#[test]
fn streaming_text_ends_as_the_finished_answer_would_look() {
    let text = "# Title\n\nA paragraph that is\nbroken by hand.\n\n- item one\n- item two\n\n```rust\nlet a = 1;\n\nlet b = 2;\n```\n\nThe end of *it*.\n";
    let whole: Vec<String> = markdown::render(text, 40).iter().map(|l| plain(l)).collect();
    let mut live = LiveText::of(member_name("bob"));
    for c in text.chars() {
        live.push(LiveKind::Text, &c.to_string(), false);
        live.len(40);
    }
    let lines = live.len(40);
    let streamed: Vec<String> = (0..lines).filter_map(|at| live.line(at)).map(|l| plain(l)).collect();
    assert_eq!(streamed, whole);
}

#[test]
fn a_long_answer_streams_at_a_cost_that_does_not_grow() {
    // 20,000 tokens in 2,400 frames; every frame may lay out at most the unfinished tail.
    let paragraph = "The quick brown fox jumps over the lazy dog, and **then** `it` does so again and again.\n";
    let mut live = LiveText::of(member_name("bob"));
    let start = std::time::Duration::from_millis(cpu_millis());
    for at in 0..2_400 {
        live.push(LiveKind::Text, &paragraph[..36], false);
        if at % 40 == 0 {
            live.push(LiveKind::Text, "\n\n", false);
        }
        live.len(100);
    }
    let spent = std::time::Duration::from_millis(cpu_millis()) - start;
    // Unoptimised code is about ten times slower than what ships; one CPU-second is the limit there.
    assert!(spent.as_secs() < 10, "{spent:?}");
}

/// CPU time of this thread so far, in milliseconds (other tests run beside this one).
fn cpu_millis() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) / 1_000_000
}

const EVIL: &str = "x\x1b[2Jy\x1b]52;c;AAAA\x07z\u{9b}31m\u{202e}drow\u{2066}\u{200b}\rw\x08\x7f\u{e0041}";

#[test]
fn escapes_and_bidirectional_overrides_in_every_field_stay_inert() {
    let mut screen = Screen::new(120, 40);
    screen.busy_team();
    screen.event(signoff::domain::TeamEvent::Opened {
        team: EVIL.into(),
        protocol: EVIL.into(),
        provider: EVIL.into(),
        model: EVIL.into(),
        scripted: false,
        pid: 1,
        wall: signoff::domain::settings::Wall::Full,
        choice: Some(EVIL.into()),
    });
    let tool = Activity::Tool { tool: EVIL.into(), summary: EVIL.into(), since: screen.now };
    screen.member("alice", EVIL, MemberStatus::Working, tool);
    screen.member("dave", EVIL, MemberStatus::Failed, Activity::Failed { reason: EVIL.into() });
    let mut task = Task::new(TaskId(7), EVIL);
    task.description = EVIL.into();
    screen.task(task);
    screen.message("lead", "alice", EVIL);
    screen.answer_said("alice", EVIL);
    screen.tool("alice", EVIL, EVIL, false, 5);
    screen.request(plan(9, "alice", EVIL, EVIL));
    screen.event(signoff::domain::TeamEvent::Noticed { level: signoff::domain::event::NoticeLevel::Error, text: EVIL.into(), name: None });
    screen.event(signoff::domain::TeamEvent::Finished { reason: EVIL.into(), ok: false });
    screen.send(Msg::Live { name: member_name("alice"), kind: LiveKind::Output, text: EVIL.into(), reset: true });
    for keys in ["1 j", "2 j Enter", "Esc 3 G Enter", "Esc 4 Enter", "Esc 5", "v", "Esc w", "Esc T", "Esc :", "Esc i"] {
        screen.press(keys);
        check_cells(&mut screen, keys);
    }
    screen.send(Msg::Paste(EVIL.into()));
    check_cells(&mut screen, "paste");
    for cmd in &screen.cmds {
        if let signoff::app::msg::Cmd::Title(text) | signoff::app::msg::Cmd::Copy(text) = cmd {
            assert!(text.chars().all(signoff::domain::text::is_safe), "{text:?}");
        }
    }
}

fn check_cells(screen: &mut Screen, at: &str) {
    screen.draw();
    for cell in screen.terminal.backend().buffer().content() {
        for c in cell.symbol().chars() {
            assert!(c != '\n' && c != '\t' && signoff::domain::text::is_safe(c), "{at}: {c:?} reached a cell");
        }
    }
}
