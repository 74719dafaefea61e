//! What a finished control sequence (`ESC [ … X`) means: xterm, VT, rxvt, the Linux console, kitty's level 1.

use super::{character, plain};
use crate::app::msg::{Key, KeyCode};

/// What a sequence stands for.
pub enum Outcome {
    Key(Key),
    /// With column and row from 0.
    Pointer(Pointer, u16, u16),
    Focus(bool),
    PasteBegins,
    /// Three bytes of coordinates follow.
    OldMouse,
    Nothing,
}

/// What the mouse did.
pub enum Pointer {
    Press,
    WheelUp,
    WheelDown,
}

/// Modifiers as terminals count them, minus one.
#[derive(Clone, Copy)]
struct Modifiers(u32);

impl Modifiers {
    const SHIFT: u32 = 1;
    const ALT: u32 = 2;
    const CTRL: u32 = 4;
    /// Super and Hyper: keys with them belong to the window manager.
    const FOREIGN: u32 = 8 | 16;
    const META: u32 = 32;

    fn has(self, bits: u32) -> bool {
        self.0 & bits != 0
    }

    fn on(self, code: KeyCode) -> Outcome {
        if self.has(Self::FOREIGN) {
            return Outcome::Nothing;
        }
        let code = if code == KeyCode::Tab && self.has(Self::SHIFT) { KeyCode::BackTab } else { code };
        let shift = self.has(Self::SHIFT) && code != KeyCode::BackTab;
        Outcome::Key(Key { code, ctrl: self.has(Self::CTRL), alt: self.has(Self::ALT | Self::META), shift })
    }
}

/// Parameters: fields separated by `;`, each with sub-fields separated by `:`.
struct Parameters<'a>(&'a str);

impl Parameters<'_> {
    fn get(&self, field: usize, sub: usize) -> Option<u32> {
        self.0.split(';').nth(field)?.split(':').nth(sub)?.parse().ok()
    }

    fn modifiers(&self) -> Modifiers {
        Modifiers(self.get(1, 0).unwrap_or(1).saturating_sub(1))
    }

    /// Kitty's third kind of event; it is not asked for, but some terminals send it all the same.
    fn is_release(&self) -> bool {
        self.get(1, 1) == Some(3)
    }
}

/// Reads a sequence from the bytes between `ESC [` and its last byte.
pub fn finish(bytes: &[u8], last: u8) -> Outcome {
    let Ok(text) = std::str::from_utf8(bytes) else { return Outcome::Nothing };
    if let Some(text) = text.strip_prefix('<') {
        return mouse(&Parameters(text), last);
    }
    if text == "[" {
        return function_key(u32::from(last).wrapping_sub(u32::from(b'A')).wrapping_add(1));
    }
    // An answer to a question of another program (`?`, `>`, `=`), or with intermediate bytes (blank to `/`).
    if text.starts_with(['?', '>', '=']) || text.contains(|c: char| (' '..='/').contains(&c)) {
        return Outcome::Nothing;
    }
    let parameters = Parameters(text);
    if parameters.is_release() {
        return Outcome::Nothing;
    }
    match last {
        b'M' => Outcome::OldMouse,
        b'I' if text.is_empty() => Outcome::Focus(true),
        b'O' if text.is_empty() => Outcome::Focus(false),
        b'Z' => Outcome::Key(plain(KeyCode::BackTab)),
        b'~' => tilde(&parameters),
        b'u' => unicode(&parameters),
        // `CSI 1 ; 2 R` is Shift-F3 to few and a cursor position to most.
        b'R' => Outcome::Nothing,
        _ => ss3(last).map_or(Outcome::Nothing, |code| parameters.modifiers().on(code)),
    }
}

/// The key of `ESC O x`, and of `ESC [ … x`.
pub fn ss3(last: u8) -> Option<KeyCode> {
    Some(match last {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'M' => KeyCode::Enter,
        b'P' => KeyCode::F(1),
        b'Q' => KeyCode::F(2),
        b'R' => KeyCode::F(3),
        b'S' => KeyCode::F(4),
        _ => return None,
    })
}

fn function_key(number: u32) -> Outcome {
    u8::try_from(number).ok().filter(|n| (1..=24).contains(n)).map_or(Outcome::Nothing, |n| Outcome::Key(plain(KeyCode::F(n))))
}

fn tilde(parameters: &Parameters<'_>) -> Outcome {
    let Some(number) = parameters.get(0, 0) else { return Outcome::Nothing };
    let code = match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => function(number - 10),
        17..=21 => function(number - 11),
        23..=26 => function(number - 12),
        28 | 29 => function(number - 13),
        31..=34 => function(number - 14),
        27 => return other_keys(parameters),
        200 => return Outcome::PasteBegins,
        _ => return Outcome::Nothing,
    };
    parameters.modifiers().on(code)
}

fn function(number: u32) -> KeyCode {
    KeyCode::F(u8::try_from(number).unwrap_or(1))
}

/// xterm's `modifyOtherKeys`: `CSI 27 ; modifiers ; code ~`.
fn other_keys(parameters: &Parameters<'_>) -> Outcome {
    parameters.get(2, 0).and_then(named).map_or(Outcome::Nothing, |code| letter(code, parameters.modifiers()))
}

/// Kitty: `CSI code:shifted:base ; modifiers:event ; text u`.
fn unicode(parameters: &Parameters<'_>) -> Outcome {
    let modifiers = parameters.modifiers();
    let shifted = parameters.get(0, 1).filter(|_| modifiers.has(Modifiers::SHIFT));
    let code = shifted.or(parameters.get(0, 0)).and_then(named);
    code.map_or(Outcome::Nothing, |code| letter(code, modifiers))
}

fn letter(code: KeyCode, modifiers: Modifiers) -> Outcome {
    match code {
        KeyCode::Char(c) if modifiers.has(Modifiers::SHIFT) => {
            let mut upper = c.to_uppercase();
            let c = upper.next().filter(|_| upper.next().is_none()).unwrap_or(c);
            let held = Modifiers(modifiers.0 & !Modifiers::SHIFT);
            match held.on(KeyCode::Char(c)) {
                Outcome::Key(key) => Outcome::Key(Key { shift: character(c).shift, ..key }),
                other => other,
            }
        }
        code => modifiers.on(code),
    }
}

/// The key of a code in kitty's table; `None` for modifiers by themselves, media keys and the like.
fn named(code: u32) -> Option<KeyCode> {
    Some(match code {
        9 => KeyCode::Tab,
        13 | 57414 => KeyCode::Enter,
        27 => KeyCode::Esc,
        8 | 127 => KeyCode::Backspace,
        57376..=57387 => function(code - 57376 + 13),
        57399..=57408 => KeyCode::Char(char::from_digit(code - 57399, 10)?),
        57409 => KeyCode::Char('.'),
        57410 => KeyCode::Char('/'),
        57411 => KeyCode::Char('*'),
        57412 => KeyCode::Char('-'),
        57413 => KeyCode::Char('+'),
        57415 => KeyCode::Char('='),
        57416 => KeyCode::Char(','),
        57417 => KeyCode::Left,
        57418 => KeyCode::Right,
        57419 => KeyCode::Up,
        57420 => KeyCode::Down,
        57421 => KeyCode::PageUp,
        57422 => KeyCode::PageDown,
        57423 => KeyCode::Home,
        57424 => KeyCode::End,
        57425 => KeyCode::Insert,
        57426 => KeyCode::Delete,
        57344..=63743 => return None,
        _ => KeyCode::Char(char::from_u32(code).filter(|c| !c.is_control())?),
    })
}

/// SGR mouse reports: `CSI < button ; column ; row M` (pressed) or `m` (released).
fn mouse(parameters: &Parameters<'_>, last: u8) -> Outcome {
    const WITHOUT_MODIFIERS: u32 = !(4 | 8 | 16);
    let at = |field| parameters.get(field, 0).and_then(|n| u16::try_from(n).ok()).map(|n| n.saturating_sub(1));
    let (Some(button), Some(column), Some(row)) = (parameters.get(0, 0), at(1), at(2)) else { return Outcome::Nothing };
    match (button & WITHOUT_MODIFIERS, last) {
        (0, b'M') => Outcome::Pointer(Pointer::Press, column, row),
        (64, b'M') => Outcome::Pointer(Pointer::WheelUp, column, row),
        (65, b'M') => Outcome::Pointer(Pointer::WheelDown, column, row),
        _ => Outcome::Nothing,
    }
}
