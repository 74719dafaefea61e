//! Every size, every overlay, random keys: no panic.

use super::harness::{Screen, permission, plan};
use signoff::app::msg::{Cmd, Key, KeyCode, LiveKind, Mouse, Msg};

#[test]
fn every_size_draws_without_a_panic() {
    let mut screen = Screen::new(50, 20);
    screen.busy_team();
    screen.request(plan(2, "alice", "計画 👩‍👩‍👧‍👦", "計画の本文 ".repeat(50).as_str()));
    let openings = [
        "1",
        "2 Enter",
        "Esc 3",
        "Enter",
        "Esc 4 Enter",
        "Esc 5",
        "v",
        "Esc ?",
        "Esc w",
        "Esc :",
        "Esc i",
        "Esc n",
        "Esc t",
        "Esc / b",
        "Esc z",
        "z q",
    ];
    for keys in openings {
        screen.press(keys);
        for width in 0..=50 {
            for height in 0..=20 {
                screen.resize(width, height);
            }
        }
    }
}

#[test]
fn random_keys_at_random_sizes_never_panic() {
    for seed in 1..=40u64 {
        let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = move |n: u64| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x % n
        };
        let mut screen = Screen::new(80, 24);
        screen.busy_team();
        for step in 0..300u32 {
            screen.wait(next(700));
            let msg = match next(12) {
                0 => Msg::Resized { width: next(120) as u16, height: next(50) as u16 },
                1 => Msg::Paste("漢字 paste\n".repeat(next(30) as usize)),
                2 => Msg::Mouse(Mouse::DoubleClick { column: next(80) as u16, row: next(24) as u16 }),
                3 => Msg::Mouse(Mouse::ScrollUp { column: next(80) as u16, row: next(24) as u16 }),
                4 => Msg::Live {
                    name: super::harness::member_name("bob"),
                    kind: LiveKind::Text,
                    text: "text ".repeat(9),
                    reset: next(5) == 0,
                },
                5 => Msg::Woken,
                _ => Msg::Key(random_key(next(128), next(16))),
            };
            if let Msg::Resized { width, height } = msg {
                screen.terminal.backend_mut().resize(width, height);
            }
            for cmd in screen.send(msg) {
                match cmd {
                    Cmd::Edit { token, .. } => {
                        screen.send(Msg::Edited { token, result: Ok("edited".into()) });
                    }
                    Cmd::Team { token, .. } => {
                        screen.send(Msg::Replied { token, result: Ok(signoff::domain::Reply::Done) });
                    }
                    Cmd::LoadTranscript(name) => {
                        screen.send(Msg::Transcript { name, entries: Vec::new() });
                    }
                    _ => {}
                }
            }
            if next(20) == 0 {
                screen.request(permission(100 + step, "alice", "ls"));
            }
            screen.draw();
        }
    }
}

fn random_key(code: u64, modifiers: u64) -> Key {
    let named = [
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Tab,
        KeyCode::BackTab,
        KeyCode::Backspace,
        KeyCode::Delete,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::PageUp,
        KeyCode::PageDown,
    ];
    let code = match u8::try_from(code) {
        Ok(byte) if (32..127).contains(&byte) => KeyCode::Char(byte.into()),
        _ => named[(code % 14) as usize],
    };
    Key { code, ctrl: modifiers == 1, alt: modifiers == 2, shift: modifiers == 3 }
}
