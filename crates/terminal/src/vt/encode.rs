//! A stroke as the program on the screen asked for its keys.
//!
//! The engine encodes what it was told by a terminal that speaks kitty's protocol; here its words
//! are made up from the stroke, so that a program that pushed the protocol's flags learns of every
//! modifier.

use fux_vt::keys::encode::{KeyMode, key_bytes};
use fux_vt::keys::{Direction, Function, Key, KeyPress, Keystroke, Kitty, Modifiers};

use crate::stroke::{KeyName, LAST_FUNCTION_KEY, Mods, Stroke};

/// Kitty's number for the keypad's 0; the other digits follow it.
const KEYPAD_0: u32 = 57_399;
const KEYPAD_DECIMAL: u32 = 57_409;
const KEYPAD_DIVIDE: u32 = 57_410;
const KEYPAD_MULTIPLY: u32 = 57_411;
const KEYPAD_SUBTRACT: u32 = 57_412;
const KEYPAD_ADD: u32 = 57_413;
const KEYPAD_ENTER: u32 = 57_414;
/// xterm's function keys; those after them are the same keys with Shift.
const ROW_OF_FUNCTION_KEYS: u8 = 12;

/// The bytes of `stroke` in `mode`; none for a function or keypad key that does not exist.
pub(super) fn bytes(stroke: &Stroke, mode: KeyMode) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(stroke) = keystroke(stroke, mode) {
        key_bytes(stroke, mode, &mut out);
    }
    out
}

fn keystroke(stroke: &Stroke, mode: KeyMode) -> Option<Keystroke> {
    let (mut name, mut mods) = (stroke.key, stroke.mods);
    if let (KeyName::F(n @ 13..=LAST_FUNCTION_KEY), KeyMode::Legacy { .. }) = (name, mode) {
        name = KeyName::F(n - ROW_OF_FUNCTION_KEYS);
        mods = mods | Mods::SHIFT;
    }
    if let KeyName::Char(c) = name
        && c.is_ascii_uppercase()
    {
        mods = mods | Mods::SHIFT;
    }
    let press = KeyPress::new(key(name)?, modifiers(mods));
    let code = match name {
        KeyName::Char(c) => Some(u32::from(c.to_ascii_lowercase())),
        _ => keypad_code(name),
    };
    Some(Keystroke {
        press,
        kitty: Some(Kitty {
            code,
            mods: bits(mods),
            ..Kitty::default()
        }),
    })
}

fn key(name: KeyName) -> Option<Key> {
    Some(match name {
        KeyName::Char(c) => Key::Char(c),
        KeyName::Enter | KeyName::KpEnter => Key::Enter,
        KeyName::Tab => Key::Tab,
        KeyName::Escape => Key::Escape,
        KeyName::Backspace => Key::Backspace,
        KeyName::Delete => Key::Delete,
        KeyName::Insert => Key::Insert,
        KeyName::Up => Key::Arrow(Direction::Up),
        KeyName::Down => Key::Arrow(Direction::Down),
        KeyName::Left => Key::Arrow(Direction::Left),
        KeyName::Right => Key::Arrow(Direction::Right),
        KeyName::Home => Key::Home,
        KeyName::End => Key::End,
        KeyName::PageUp => Key::PageUp,
        KeyName::PageDown => Key::PageDown,
        KeyName::F(n) => Key::F(Function::new(n).filter(|_| n <= LAST_FUNCTION_KEY)?),
        KeyName::KpDigit(n) => Key::Char(char::from_digit(u32::from(n), 10)?),
        KeyName::KpAdd => Key::Char('+'),
        KeyName::KpSubtract => Key::Char('-'),
        KeyName::KpMultiply => Key::Char('*'),
        KeyName::KpDivide => Key::Char('/'),
        KeyName::KpDecimal => Key::Char('.'),
    })
}

fn keypad_code(name: KeyName) -> Option<u32> {
    match name {
        KeyName::KpDigit(n) => Some(KEYPAD_0 + u32::from(n)),
        KeyName::KpDecimal => Some(KEYPAD_DECIMAL),
        KeyName::KpDivide => Some(KEYPAD_DIVIDE),
        KeyName::KpMultiply => Some(KEYPAD_MULTIPLY),
        KeyName::KpSubtract => Some(KEYPAD_SUBTRACT),
        KeyName::KpAdd => Some(KEYPAD_ADD),
        KeyName::KpEnter => Some(KEYPAD_ENTER),
        _ => None,
    }
}

fn modifiers(mods: Mods) -> Modifiers {
    Modifiers {
        ctrl: mods.has(Mods::CTRL),
        alt: mods.has(Mods::ALT),
        shift: mods.has(Mods::SHIFT),
    }
}

/// The protocol's bits: Shift 1, Alt 2, Ctrl 4, Super 8.
fn bits(mods: Mods) -> u8 {
    u8::from(mods.has(Mods::SHIFT))
        | u8::from(mods.has(Mods::ALT)) << 1
        | u8::from(mods.has(Mods::CTRL)) << 2
        | u8::from(mods.has(Mods::SUPER)) << 3
}

#[cfg(test)]
mod tests;
