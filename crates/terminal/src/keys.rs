//! Names of keys, as people really write them.
//!
//! A name that is no key is no error: the contract sends it as literal text and says so. Names are
//! read without regard to case, but a single character is that very character.

use crate::stroke::{KeyName, LAST_FUNCTION_KEY, Mods, Stroke};

/// Every name of a key, folded as [`fold`] does it.
const NAMES: &[(&str, KeyName)] = &[
    ("enter", KeyName::Enter),
    ("return", KeyName::Enter),
    ("ret", KeyName::Enter),
    ("cr", KeyName::Enter),
    ("tab", KeyName::Tab),
    ("escape", KeyName::Escape),
    ("esc", KeyName::Escape),
    ("space", KeyName::Char(' ')),
    ("spacebar", KeyName::Char(' ')),
    ("spc", KeyName::Char(' ')),
    ("plus", KeyName::Char('+')),
    ("minus", KeyName::Char('-')),
    ("backspace", KeyName::Backspace),
    ("bspace", KeyName::Backspace),
    ("bs", KeyName::Backspace),
    ("delete", KeyName::Delete),
    ("del", KeyName::Delete),
    ("dc", KeyName::Delete),
    ("insert", KeyName::Insert),
    ("ins", KeyName::Insert),
    ("ic", KeyName::Insert),
    ("up", KeyName::Up),
    ("arrowup", KeyName::Up),
    ("uparrow", KeyName::Up),
    ("down", KeyName::Down),
    ("arrowdown", KeyName::Down),
    ("downarrow", KeyName::Down),
    ("left", KeyName::Left),
    ("arrowleft", KeyName::Left),
    ("leftarrow", KeyName::Left),
    ("right", KeyName::Right),
    ("arrowright", KeyName::Right),
    ("rightarrow", KeyName::Right),
    ("home", KeyName::Home),
    ("end", KeyName::End),
    ("pageup", KeyName::PageUp),
    ("pgup", KeyName::PageUp),
    ("ppage", KeyName::PageUp),
    ("prior", KeyName::PageUp),
    ("pagedown", KeyName::PageDown),
    ("pgdn", KeyName::PageDown),
    ("pgdown", KeyName::PageDown),
    ("npage", KeyName::PageDown),
    ("next", KeyName::PageDown),
    ("kpenter", KeyName::KpEnter),
    ("numpadenter", KeyName::KpEnter),
    ("kpadd", KeyName::KpAdd),
    ("kpplus", KeyName::KpAdd),
    ("kp+", KeyName::KpAdd),
    ("numpadadd", KeyName::KpAdd),
    ("kpsubtract", KeyName::KpSubtract),
    ("kpminus", KeyName::KpSubtract),
    ("kp-", KeyName::KpSubtract),
    ("numpadsubtract", KeyName::KpSubtract),
    ("kpmultiply", KeyName::KpMultiply),
    ("kp*", KeyName::KpMultiply),
    ("numpadmultiply", KeyName::KpMultiply),
    ("kpdivide", KeyName::KpDivide),
    ("kp/", KeyName::KpDivide),
    ("numpaddivide", KeyName::KpDivide),
    ("kpdecimal", KeyName::KpDecimal),
    ("kp.", KeyName::KpDecimal),
    ("numpaddecimal", KeyName::KpDecimal),
];

/// Names that stand for a key with a modifier held.
const HELD: &[(&str, KeyName, Mods)] = &[
    ("btab", KeyName::Tab, Mods::SHIFT),
    ("backtab", KeyName::Tab, Mods::SHIFT),
    ("isolefttab", KeyName::Tab, Mods::SHIFT),
    ("lf", KeyName::Char('j'), Mods::CTRL),
    ("linefeed", KeyName::Char('j'), Mods::CTRL),
];

/// What a modifier may be written as before its `+` or `-`. A single letter takes only `-`, since
/// `a+b` is text that somebody may want typed.
const MODIFIERS: &[(&str, Mods)] = &[
    ("ctrl", Mods::CTRL),
    ("control", Mods::CTRL),
    ("ctl", Mods::CTRL),
    ("c", Mods::CTRL),
    ("alt", Mods::ALT),
    ("meta", Mods::ALT),
    ("option", Mods::ALT),
    ("opt", Mods::ALT),
    ("m", Mods::ALT),
    ("a", Mods::ALT),
    ("shift", Mods::SHIFT),
    ("s", Mods::SHIFT),
    ("super", Mods::SUPER),
    ("cmd", Mods::SUPER),
    ("command", Mods::SUPER),
    ("win", Mods::SUPER),
];

/// The key that `name` names, or `None` when it names none and is literal text.
pub fn parse(name: &str) -> Option<Stroke> {
    if let Some(only) = single(name) {
        return Some(character(only, Mods::NONE));
    }
    let bare = name
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'));
    modified(bare.unwrap_or(name), Mods::NONE)
}

/// Reads modifiers from the front until a key is left.
fn modified(name: &str, held: Mods) -> Option<Stroke> {
    if let Some(only) = single(name) {
        return Some(character(only, held));
    }
    if let Some(only) = name.strip_prefix('^').and_then(single) {
        return Some(caret(only, held));
    }
    if let Some(stroke) = named(name, held) {
        return Some(stroke);
    }
    let at = name.find(['+', '-'])?;
    let (word, rest) = (&name[..at], &name[at + 1..]);
    if word.len() == 1 && name[at..].starts_with('+') {
        return None;
    }
    let (_, mods) = MODIFIERS
        .iter()
        .find(|(known, _)| word.eq_ignore_ascii_case(known))?;
    modified(rest, held | *mods)
}

fn named(name: &str, held: Mods) -> Option<Stroke> {
    let folded = fold(name);
    let is = |known: &str| known == folded || known.eq_ignore_ascii_case(name);
    if let Some((_, key)) = NAMES.iter().find(|(known, _)| is(known)) {
        return Some(match key {
            KeyName::Char(c) => character(*c, held),
            key => Stroke::with(*key, held),
        });
    }
    if let Some((_, key, mods)) = HELD.iter().find(|(known, ..)| *known == folded) {
        return Some(Stroke::with(*key, held | *mods));
    }
    numbered(&folded).map(|key| Stroke::with(key, held))
}

/// `f1` to `f24`, `kp0` to `kp9`, `numpad0` to `numpad9`.
fn numbered(folded: &str) -> Option<KeyName> {
    let number = |digits: &str| match digits.as_bytes() {
        [b'0', _, ..] | [] => None,
        bytes if bytes.iter().all(u8::is_ascii_digit) => digits.parse::<u8>().ok(),
        _ => None,
    };
    if let Some(digits) = folded.strip_prefix('f') {
        return number(digits)
            .filter(|n| (1..=LAST_FUNCTION_KEY).contains(n))
            .map(KeyName::F);
    }
    let digits = folded
        .strip_prefix("kp")
        .or_else(|| folded.strip_prefix("numpad"))?;
    number(digits).filter(|n| *n <= 9).map(KeyName::KpDigit)
}

/// A character as a key. A control character is the key that makes it, so that `"\r"` is Enter.
fn character(c: char, held: Mods) -> Stroke {
    let (key, mods) = match c {
        '\r' | '\n' => (KeyName::Enter, held),
        '\t' => (KeyName::Tab, held),
        '\x1b' => (KeyName::Escape, held),
        '\x7f' | '\x08' => (KeyName::Backspace, held),
        '\0' => (KeyName::Char(' '), held | Mods::CTRL),
        '\x01'..='\x1f' => (KeyName::Char(char::from(c as u8 | 0x60)), held | Mods::CTRL),
        // Ctrl+C and Ctrl+c are one key; without Ctrl the case is the character.
        _ if held.has(Mods::CTRL) || held.has(Mods::SHIFT) => (KeyName::Char(lower(c)), held),
        _ => (KeyName::Char(c), held),
    };
    Stroke::with(key, mods)
}

/// `^C` and its kin. `^?` is the byte that Backspace sends; `^@` is made with the space bar.
fn caret(c: char, held: Mods) -> Stroke {
    match c {
        '?' => Stroke::with(KeyName::Backspace, held),
        '@' => Stroke::with(KeyName::Char(' '), held | Mods::CTRL),
        c => character(c, held | Mods::CTRL),
    }
}

/// The only character of `text`, if it has just one.
fn single(text: &str) -> Option<char> {
    let mut chars = text.chars();
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

fn lower(c: char) -> char {
    let mut all = c.to_lowercase();
    match (all.next(), all.next()) {
        (Some(only), None) => only,
        _ => c,
    }
}

/// A name without case, and without what different habits put between its words.
fn fold(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mods(stroke: Stroke) -> String {
        let all = [
            (Mods::CTRL, 'C'),
            (Mods::ALT, 'M'),
            (Mods::SHIFT, 'S'),
            (Mods::SUPER, 'D'),
        ];
        all.iter()
            .filter(|(it, _)| stroke.mods.has(*it))
            .map(|(_, c)| *c)
            .collect()
    }

    #[track_caller]
    fn is(name: &str, key: KeyName, held: &str) {
        let stroke = parse(name).unwrap_or_else(|| panic!("{name:?} is a key"));
        assert_eq!((stroke.key, mods(stroke).as_str()), (key, held), "{name:?}");
    }

    #[test]
    fn b06_the_names_that_people_use_are_keys() {
        for name in ["Enter", "return", "RETURN", "<CR>", "\r", "\n", "<Enter>"] {
            is(name, KeyName::Enter, "");
        }
        for name in [
            "Shift+Tab",
            "BTab",
            "S-Tab",
            "backtab",
            "ISO_Left_Tab",
            "<S-Tab>",
        ] {
            is(name, KeyName::Tab, "S");
        }
        for name in ["PageUp", "PgUp", "PPage", "Page_Up", "page up", "Prior"] {
            is(name, KeyName::PageUp, "");
        }
        for (name, key) in [
            ("DC", KeyName::Delete),
            ("IC", KeyName::Insert),
            ("BSpace", KeyName::Backspace),
            ("ArrowLeft", KeyName::Left),
            ("KP_Enter", KeyName::KpEnter),
            ("KpEnter", KeyName::KpEnter),
            ("KP_5", KeyName::KpDigit(5)),
            ("kp+", KeyName::KpAdd),
            ("KP-", KeyName::KpSubtract),
            ("F1", KeyName::F(1)),
            ("f24", KeyName::F(24)),
            ("Space", KeyName::Char(' ')),
            (" ", KeyName::Char(' ')),
        ] {
            is(name, key, "");
        }
    }

    #[test]
    fn b06_modifiers_are_read_in_every_spelling_and_combination() {
        for name in [
            "Ctrl+C",
            "C-c",
            "^C",
            "^c",
            "ctrl-c",
            "Control+c",
            "C-C",
            "<C-c>",
            "\x03",
        ] {
            is(name, KeyName::Char('c'), "C");
        }
        for name in ["Alt+x", "Meta+x", "M-x", "A-x"] {
            is(name, KeyName::Char('x'), "M");
        }
        is("S-Up", KeyName::Up, "S");
        is("Ctrl+Alt+Shift+Super+F5", KeyName::F(5), "CMSD");
        is("C-M-S-Left", KeyName::Left, "CMS");
        is("Ctrl+Shift+P", KeyName::Char('p'), "CS");
        is("M-^X", KeyName::Char('x'), "CM");
        is("Alt+X", KeyName::Char('X'), "M");
        is("Ctrl+Page-Up", KeyName::PageUp, "C");
    }

    #[test]
    fn b06_signs_that_are_also_separators_work_as_keys() {
        is("+", KeyName::Char('+'), "");
        is("-", KeyName::Char('-'), "");
        is("^", KeyName::Char('^'), "");
        is("Ctrl++", KeyName::Char('+'), "C");
        is("C--", KeyName::Char('-'), "C");
        is("Ctrl+^", KeyName::Char('^'), "C");
        is("^^", KeyName::Char('^'), "C");
        is("^[", KeyName::Char('['), "C");
        is("Ctrl+[", KeyName::Char('['), "C");
        is("C-Space", KeyName::Char(' '), "C");
        is("^@", KeyName::Char(' '), "C");
        is("^?", KeyName::Backspace, "");
        is("<", KeyName::Char('<'), "");
    }

    #[test]
    fn b06_what_names_no_key_is_literal_text() {
        for name in [
            "Ctlr+C", "F0", "F25", "f01", "hello", "a+b", "Ctrl+", "C-", "^Up", "<div>", "kp10", "",
        ] {
            assert_eq!(parse(name), None, "{name:?}");
        }
    }

    #[test]
    fn a_single_character_is_that_character() {
        for c in "aZé你~é🙂".chars() {
            is(&c.to_string(), KeyName::Char(c), "");
        }
    }

    #[test]
    fn no_name_of_the_table_is_shadowed() {
        for (name, key) in NAMES {
            is(name, *key, "");
        }
    }
}
