//! Themes: every role, no colour where none is wanted, mistakes in words.

use super::harness::{Screen, options};
use ratatui::style::Color;
use signoff::app::{ColorMode, StateOptions};
use signoff::tui::style::{Role, Style};

#[test]
fn u12_without_colours_nothing_is_coloured_and_states_are_still_told() {
    for theme in ["dark", "light", "mono"] {
        let style = Style::new(theme, ColorMode::Mono, false);
        for role in Role::ALL {
            let look = style.of(*role);
            assert_eq!((look.fg, look.bg), (None, None), "{theme}: {}", role.name());
        }
    }
    let mut screen = Screen::with(100, 30, StateOptions { color: ColorMode::Mono, ..options() });
    screen.busy_team();
    let text = screen.screen();
    let plain = |cell: &ratatui::buffer::Cell| cell.fg == Color::Reset && cell.bg == Color::Reset;
    assert!(screen.terminal.backend().buffer().content().iter().all(plain));
    for word in ["working", "waits: plan", "idle", "done", "doing", "ready", "blocked", "stuck"] {
        assert!(text.contains(word), "{word}");
    }
}

#[test]
fn bundled_themes_use_the_terminal_s_own_sixteen_colours() {
    for theme in ["dark", "light"] {
        let style = Style::new(theme, ColorMode::Themed, false);
        for role in Role::ALL {
            assert!(!matches!(style.of(*role).fg, Some(Color::Rgb(..) | Color::Indexed(_))), "{theme}: {}", role.name());
        }
        assert_ne!(style.of(Role::Attention), style.of(Role::Text), "{theme} was read");
        assert_ne!(style.of(Role::Error), style.of(Role::Success));
    }
}

#[test]
fn a_user_s_theme_changes_role_by_role_and_mistakes_are_named() {
    let of = |text: &str| Style::from_theme(text, "my.toml", ColorMode::Themed, false);
    let style = of("[roles]\naccent = { fg = \"#ff8800\" }").unwrap();
    assert_eq!(style.of(Role::Accent).fg, Some(Color::Rgb(255, 136, 0)));
    assert_eq!(style.of(Role::Error), Style::new("dark", ColorMode::Themed, false).of(Role::Error));
    assert!(of("[roles]\nacent = {}").unwrap_err().to_string().contains("did you mean accent?"));
    assert!(of("[roles]\naccent = { fg = \"reddish\" }").unwrap_err().to_string().contains("my.toml: accent"));
}
