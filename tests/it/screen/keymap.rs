//! One table feeds keys, footer, help and palette; users override it field by field.

use super::harness::Screen;
use signoff::app::msg::{Key, KeyCode};
use signoff::app::{Action, Context, Keymap};

#[test]
fn every_action_stands_in_the_keymap_with_a_description() {
    let keymap = Keymap::default();
    for action in Action::ALL {
        let binding = keymap.binding(*action).unwrap_or_else(|| panic!("{} has no entry", action.name()));
        assert!(!binding.desc.is_empty(), "{} has no description", action.name());
    }
}

#[test]
fn the_keys_of_the_design_do_what_it_says() {
    let keymap = Keymap::default();
    let table = [
        ("a", Action::Approve),
        ("A", Action::ApproveNote),
        ("r", Action::Reject),
        ("e", Action::EditPlan),
        ("s", Action::Shutdown),
        ("S", Action::StopNow),
        ("i", Action::WriteLead),
        ("m", Action::WriteMember),
        ("b", Action::Broadcast),
        ("n", Action::Spawn),
        ("t", Action::NewTask),
        ("x", Action::Interrupt),
        ("c", Action::CompleteTask),
        ("u", Action::ReleaseTask),
        ("d", Action::DeleteTask),
        ("/", Action::Filter),
        (":", Action::Palette),
        ("C-p", Action::Palette),
        ("?", Action::Help),
        ("q", Action::Quit),
        ("z", Action::Zoom),
        ("Tab", Action::NextPane),
        ("S-Tab", Action::PreviousPane),
        ("5", Action::FocusActivity),
        ("g", Action::Top),
        ("G", Action::Bottom),
        ("PgUp", Action::PageUp),
        ("Enter", Action::Open),
    ];
    for (key, action) in table {
        assert_eq!(keymap.action(Context::Board, Key::parse(key).unwrap()), Some(action), "{key}");
    }
}

#[test]
fn a_key_is_the_same_however_the_terminal_reports_it() {
    let shifted = Key { code: KeyCode::Char('G'), ctrl: false, alt: false, shift: true };
    assert_eq!(shifted.normal(), Key::parse("G").unwrap());
    let tab = Key { code: KeyCode::Tab, ctrl: false, alt: false, shift: true };
    assert_eq!(tab.normal(), Key::parse("S-Tab").unwrap());
    for name in ["q", "C-p", "A-Enter", "S-Tab", "PgUp", "Space", "F5", "Esc"] {
        assert_eq!(Key::parse(name).unwrap().to_string(), name);
    }
}

#[test]
fn a_user_overrides_field_by_field() {
    let keymap = Keymap::with_overrides("[global.quit]\nkeys = [\"Q\"]\n", "keymap.toml").unwrap();
    assert_eq!(keymap.action(Context::Global, Key::parse("Q").unwrap()), Some(Action::Quit));
    assert_eq!(keymap.action(Context::Global, Key::parse("q").unwrap()), None);
    assert!(keymap.binding(Action::Quit).unwrap().desc.contains("Quit"), "the words stay");
}

#[test]
fn mistakes_name_the_line_and_what_was_perhaps_meant() {
    let error = |text: &str| Keymap::with_overrides(text, "my.toml").unwrap_err().to_string();
    assert!(
        error("[global]\naprove = { keys = [\"a\"] }")
            .contains("my.toml:2: there is no action \"aprove\" in [global]; did you mean approve?")
    );
    assert!(error("[globl]\nquit = { keys = [\"q\"] }").contains("did you mean global?"));
    assert!(error("[global]\nquit = { keys = [\"Entr\"] }").contains("did you mean Enter?"));
    assert!(error("[global]\ncomplete_task = { keys = [\"c\"] }").contains("it belongs into [board]"));
    let conflict = error("[global]\nquit = { keys = [\"a\"] }");
    assert!(conflict.contains("both") && conflict.contains("approve") && conflict.contains("quit"), "{conflict}");
    assert!(error("[global]\nquit = { key = [\"q\"] }").contains("unknown field"));
}

#[test]
fn help_and_palette_read_the_user_s_keymap() {
    let keymap = Keymap::with_overrides("[global]\nhelp = { keys = [\"F1\"], desc = \"Show me the way\" }", "k").unwrap();
    let options = signoff::app::StateOptions { keymap, ..super::harness::options() };
    let mut screen = Screen::with(100, 30, options);
    assert!(screen.screen().contains("F1 help"));
    screen.press("F1");
    screen.press("G");
    screen.press("g PgDn");
    assert!(
        (0..8).any(|_| {
            screen.press("PgDn");
            screen.screen().contains("Show me the way")
        }) || {
            screen.press("g");
            screen.screen().contains("Show me the way")
        }
    );
    screen.press("Esc :");
    screen.type_str("help");
    assert!(screen.screen().contains("Show me the way"));
}

#[test]
fn the_footer_shows_only_keys_that_work_now() {
    let mut screen = Screen::new(200, 30);
    screen.open_team();
    let footer = |screen: &mut Screen| screen.screen().lines().last().unwrap().to_owned();
    assert!(!footer(&mut screen).contains("approve"));
    screen.busy_team();
    assert!(footer(&mut screen).contains("a approve"));
    screen.press("3");
    assert!(!footer(&mut screen).contains("c complete"), "the first task is done already");
    screen.press("j j");
    assert!(footer(&mut screen).contains("c complete"));
    screen.press("G");
    assert!(footer(&mut screen).contains("f repair"));
}

#[test]
fn the_palette_knows_a_name_with_its_underscore() {
    let mut screen = super::harness::Screen::new(80, 24);
    screen.busy_team();
    screen.press(":");
    screen.type_str("set_protocol");
    assert!(!screen.screen().contains("No action has that name"), "{}", screen.screen());
    assert!(screen.screen().contains("how the team works") || screen.screen().contains("protocol"), "{}", screen.screen());
}

#[test]
fn the_palette_runs_any_action_by_name() {
    let mut screen = Screen::new(80, 24);
    screen.busy_team();
    screen.press("C-p");
    screen.type_str("zoom");
    screen.press("Enter");
    assert!(screen.state.zoom);
}
