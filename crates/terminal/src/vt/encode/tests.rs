use std::time::Instant;

use super::*;
use crate::size::Size;
use crate::vt::Vt;

const CTRL: Mods = Mods::CTRL;
const ALT: Mods = Mods::ALT;
const SHIFT: Mods = Mods::SHIFT;

fn in_mode(setup: &[u8], key: KeyName, mods: Mods) -> String {
    let mut vt = Vt::new(Size::DEFAULT);
    vt.feed(Instant::now(), setup);
    vt.encode(&Stroke::with(key, mods))
        .escape_ascii()
        .to_string()
}

fn plain(key: KeyName, mods: Mods) -> String {
    in_mode(b"", key, mods)
}

#[test]
fn b07_arrows_follow_the_cursor_key_mode() {
    assert_eq!(plain(KeyName::Up, Mods::NONE), "\\x1b[A");
    assert_eq!(in_mode(b"\x1b[?1h", KeyName::Up, Mods::NONE), "\\x1bOA");
    assert_eq!(in_mode(b"\x1b[?1h", KeyName::Home, Mods::NONE), "\\x1bOH");
    assert_eq!(
        in_mode(b"\x1b[?1h\x1b[?1l", KeyName::End, Mods::NONE),
        "\\x1b[F"
    );
    assert_eq!(in_mode(b"\x1b[?1h", KeyName::Up, SHIFT), "\\x1b[1;2A");
    assert_eq!(plain(KeyName::Right, CTRL | SHIFT), "\\x1b[1;6C");
}

#[test]
fn every_key_has_its_legacy_bytes() {
    let cases = [
        (KeyName::Enter, Mods::NONE, "\\r"),
        (KeyName::Tab, SHIFT, "\\x1b[Z"),
        (KeyName::Escape, Mods::NONE, "\\x1b"),
        (KeyName::Backspace, Mods::NONE, "\\x7f"),
        (KeyName::Delete, Mods::NONE, "\\x1b[3~"),
        (KeyName::PageUp, ALT, "\\x1b[5;3~"),
        (KeyName::F(1), Mods::NONE, "\\x1bOP"),
        (KeyName::F(5), Mods::NONE, "\\x1b[15~"),
        (KeyName::F(13), Mods::NONE, "\\x1b[1;2P"),
        (KeyName::F(13), CTRL, "\\x1b[1;6P"),
        (KeyName::F(24), Mods::NONE, "\\x1b[24;2~"),
        (KeyName::F(25), Mods::NONE, ""),
        (KeyName::Char('c'), CTRL, "\\x03"),
        (KeyName::Char('x'), ALT, "\\x1bx"),
        (KeyName::Char('a'), SHIFT, "A"),
        (KeyName::Char('é'), Mods::NONE, "\\xc3\\xa9"),
        (KeyName::Char(' '), CTRL, "\\x00"),
        (KeyName::KpDigit(5), Mods::NONE, "5"),
        (KeyName::KpEnter, Mods::NONE, "\\r"),
    ];
    for (key, mods, bytes) in cases {
        assert_eq!(plain(key, mods), bytes, "{key:?} {mods:?}");
    }
}

#[test]
fn keypad_keys_follow_the_keypad_mode() {
    assert_eq!(
        in_mode(b"\x1b=", KeyName::KpDigit(5), Mods::NONE),
        "\\x1bOu"
    );
    assert_eq!(in_mode(b"\x1b=", KeyName::KpEnter, Mods::NONE), "\\x1bOM");
    assert_eq!(in_mode(b"\x1b=\x1b>", KeyName::KpEnter, Mods::NONE), "\\r");
}

#[test]
fn b16_keys_follow_the_kitty_flags_a_program_pushed_and_popped() {
    assert_eq!(
        in_mode(b"\x1b[>1u", KeyName::Escape, Mods::NONE),
        "\\x1b[27u"
    );
    assert_eq!(in_mode(b"\x1b[>1u", KeyName::Enter, Mods::NONE), "\\r");
    assert_eq!(
        in_mode(b"\x1b[>1u", KeyName::Char('i'), CTRL),
        "\\x1b[105;5u"
    );
    assert_eq!(
        in_mode(b"\x1b[>1u", KeyName::Char('A'), CTRL),
        "\\x1b[97;6u"
    );
    assert_eq!(
        in_mode(b"\x1b[>1u", KeyName::Char('k'), Mods::SUPER),
        "\\x1b[107;9u"
    );
    assert_eq!(
        in_mode(b"\x1b[>1u", KeyName::F(13), Mods::NONE),
        "\\x1b[57376u"
    );
    assert_eq!(in_mode(b"\x1b[>1u", KeyName::Char('A'), Mods::NONE), "A");
    assert_eq!(
        in_mode(b"\x1b[>1u\x1b[<u", KeyName::Escape, Mods::NONE),
        "\\x1b"
    );
    // Each screen has a stack of its own.
    assert_eq!(
        in_mode(b"\x1b[>1u\x1b[?1049h", KeyName::Escape, Mods::NONE),
        "\\x1b"
    );
    assert_eq!(
        in_mode(
            b"\x1b[>1u\x1b[?1049h\x1b[?1049l",
            KeyName::Escape,
            Mods::NONE
        ),
        "\\x1b[27u"
    );
}
