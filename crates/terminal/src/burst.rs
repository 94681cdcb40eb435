//! What a call's input is made of, and the bytes of one burst of it.
//!
//! A burst is given to the program in writes that nothing comes between. Keys are encoded, and a
//! paste is bracketed, by the modes in force when the burst is made, not when the call came.

use std::collections::VecDeque;

use crate::keys;
use crate::stroke::{KeyName, Mods, Stroke};
use crate::vt::Vt;

/// Plain text goes in bursts of at most this many bytes, about what the kernel queues: replies to
/// the program's queries and a person's keys need not wait for the end of a long text.
const TEXT_BURST: usize = 4_096;
const PASTE_START: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// One part of a call's input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// Text as the caller gave it.
    Text(String),
    /// Text with its newlines made into Enter, as far as it is not sent.
    Plain(String),
    /// A key, and what the caller called it.
    Key(Stroke, String),
}

/// A call's input before its first byte is sent.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub items: VecDeque<Item>,
    /// Names that are no key; keys that lose a modifier are found when they are sent.
    pub unknown_keys: Vec<String>,
    /// What a program that echoes would echo; Enter is a newline.
    pub typed: String,
}

/// Bytes that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Burst {
    pub bytes: Vec<u8>,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// May be cut between any two characters.
    Text,
    /// May be cut only if it is closed again.
    Paste,
    /// Means something only as a whole.
    #[default]
    Sequence,
    /// As a sequence, and nothing may reach the program in one read with it: an end of a line
    /// would be taken for part of a paste, a bare Escape for Alt.
    Apart,
}

impl Plan {
    /// Text, then keys.
    pub(crate) fn new(text: &str, names: &[String]) -> Self {
        let mut plan = Self {
            typed: text.to_owned(),
            ..Self::default()
        };
        if !text.is_empty() {
            plan.items.push_back(Item::Text(text.to_owned()));
        }
        for name in names {
            match keys::parse(name) {
                Some(stroke) => plan.key(stroke, name),
                None => {
                    plan.typed.push_str(name);
                    plan.unknown_keys.push(name.clone());
                    plan.items.push_back(Item::Text(name.clone()));
                }
            }
        }
        plan
    }

    fn key(&mut self, stroke: Stroke, name: &str) {
        match stroke.key {
            KeyName::Char(c) if stroke.mods.without(Mods::SHIFT).is_empty() => self.typed.push(c),
            KeyName::Enter | KeyName::KpEnter => self.typed.push('\n'),
            _ => {}
        }
        self.items.push_back(Item::Key(stroke, name.to_owned()));
    }
}

impl Item {
    /// Whether nothing may reach the program in one read with it.
    pub(crate) fn stands_apart(&self, vt: &Vt) -> bool {
        match self {
            Self::Key(stroke, _) => stands_apart(stroke, vt),
            Self::Text(_) | Self::Plain(_) => false,
        }
    }

    /// The burst that is next, and what is left of the item.
    pub(crate) fn burst(self, vt: &Vt) -> (Burst, Option<Self>) {
        match self {
            Self::Key(stroke, _) => {
                let kind = if stands_apart(&stroke, vt) {
                    Kind::Apart
                } else {
                    Kind::Sequence
                };
                (
                    Burst {
                        bytes: vt.encode(&stroke),
                        kind,
                    },
                    None,
                )
            }
            Self::Text(text) if is_multiline(&text) => {
                if vt.modes().bracketed_paste {
                    (
                        Burst {
                            bytes: paste(&text),
                            kind: Kind::Paste,
                        },
                        None,
                    )
                } else {
                    Self::Plain(text.replace("\r\n", "\r").replace('\n', "\r")).burst(vt)
                }
            }
            Self::Text(text) => Self::Plain(text).burst(vt),
            Self::Plain(mut text) => {
                let rest = text.split_off(text.floor_char_boundary(TEXT_BURST));
                let burst = Burst {
                    bytes: text.into_bytes(),
                    kind: Kind::Text,
                };
                (burst, (!rest.is_empty()).then_some(Self::Plain(rest)))
            }
        }
    }

    /// Bytes that it would send now.
    pub(crate) fn length(&self, vt: &Vt) -> usize {
        match self {
            Self::Plain(text) => text.len(),
            Self::Key(stroke, _) => vt.encode(stroke).len(),
            Self::Text(text) if is_multiline(text) && vt.modes().bracketed_paste => {
                paste(text).len()
            }
            Self::Text(text) => text.replace("\r\n", "\n").len(),
        }
    }
}

impl Burst {
    /// What must still follow once `sent` bytes are written and the rest is not wanted any more:
    /// the rest of a character or sequence, and the end of a paste.
    pub(crate) fn tail(&self, sent: usize) -> Vec<u8> {
        if sent == 0 {
            return Vec::new();
        }
        let rest = &self.bytes[sent.min(self.bytes.len())..];
        let continues = |byte: &&u8| **byte & 0xc0 == 0x80;
        let character = rest.iter().take_while(continues).count();
        match self.kind {
            Kind::Sequence | Kind::Apart => rest.to_vec(),
            Kind::Text => rest[..character].to_vec(),
            Kind::Paste if sent < PASTE_START.len() => [&PASTE_START[sent..], PASTE_END].concat(),
            Kind::Paste if rest.len() <= PASTE_END.len() => rest.to_vec(),
            Kind::Paste => [&rest[..character], PASTE_END].concat(),
        }
    }
}

/// Whether a modifier of the stroke is lost: the program's modes have no bytes for it.
pub(crate) fn loses_modifiers(stroke: &Stroke, vt: &Vt) -> bool {
    let bytes = vt.encode(stroke);
    Mods::ALL.into_iter().any(|held| {
        let without = Stroke::with(stroke.key, stroke.mods.without(held));
        stroke.mods.has(held) && vt.encode(&without) == bytes
    })
}

fn stands_apart(stroke: &Stroke, vt: &Vt) -> bool {
    match stroke.key {
        KeyName::Enter | KeyName::KpEnter | KeyName::Escape => true,
        _ => matches!(vt.encode(stroke).as_slice(), b"\r" | b"\n" | b"\x1b"),
    }
}

/// Whether text goes as a paste where the program takes pastes.
pub(crate) fn is_multiline(text: &str) -> bool {
    text.contains('\n')
}

/// The longest line of some text in bytes, its end left out.
pub(crate) fn longest_line(text: &str) -> usize {
    text.split(['\n', '\r']).map(str::len).max().unwrap_or(0)
}

/// Text in the brackets of mode 2004. Without ESC and C1 no text can close them early, however
/// cleverly it is nested.
fn paste(text: &str) -> Vec<u8> {
    let payload: String = text
        .chars()
        .filter(|c| !matches!(c, '\x1b' | '\u{80}'..='\u{9f}'))
        .collect();
    [PASTE_START, payload.as_bytes(), PASTE_END].concat()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn vt(modes: &str) -> Vt {
        let mut vt = Vt::new(crate::size::Size::DEFAULT);
        vt.feed(Instant::now(), modes.as_bytes());
        vt
    }

    fn bursts(plan: Plan, vt: &Vt) -> Vec<String> {
        let mut all = Vec::new();
        for item in plan.items {
            let mut next = Some(item);
            while let Some(item) = next {
                let (burst, rest) = item.burst(vt);
                all.push(String::from_utf8(burst.bytes).unwrap());
                next = rest;
            }
        }
        all
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn b01_text_and_each_key_are_bursts_of_their_own() {
        let plan = Plan::new("hello", &names(&["Down", "Down", "Enter"]));
        assert_eq!(plan.typed, "hello\n");
        assert_eq!(bursts(plan, &vt("")), ["hello", "\x1b[B", "\x1b[B", "\r"]);
    }

    #[test]
    fn b03_brackets_are_sent_only_to_a_program_that_asked_for_them() {
        let plan = || Plan::new("one\ntwo\r\nthree", &[]);
        assert_eq!(bursts(plan(), &vt("")), ["one\rtwo\rthree"]);
        assert_eq!(
            bursts(plan(), &vt("\x1b[?2004h")),
            ["\x1b[200~one\ntwo\r\nthree\x1b[201~"]
        );
        let line = Plan::new("one line", &[]);
        assert_eq!(bursts(line, &vt("\x1b[?2004h")), ["one line"]);
    }

    #[test]
    fn b04_no_payload_leaves_the_paste() {
        for evil in [
            "echo safe\x1b[201~\necho pwned\r",
            "\x1b\x1b[201~[201~\nx",
            "a\u{9b}201~\nx",
            "\x1b\u{9b}\x1b[201~\nx",
        ] {
            let sent = bursts(Plan::new(evil, &[]), &vt("\x1b[?2004h")).concat();
            assert_eq!(sent.matches('\x1b').count(), 2, "{sent:?}");
            assert!(!sent.contains('\u{9b}') && sent.ends_with("\x1b[201~"));
        }
    }

    #[test]
    fn b06_an_unknown_name_is_sent_as_text_and_told() {
        let plan = Plan::new("", &names(&["Ctlr+C", "Enter"]));
        assert_eq!(plan.unknown_keys, ["Ctlr+C"]);
        assert_eq!(bursts(plan, &vt("")), ["Ctlr+C", "\r"]);
    }

    #[test]
    fn a_long_text_is_cut_into_bursts_between_characters() {
        let text = "é".repeat(5_000);
        let all = bursts(Plan::new(&text, &[]), &vt(""));
        assert_eq!(all.len(), 3);
        assert_eq!(all.concat(), text);
    }

    #[test]
    fn b18_a_burst_that_is_cut_short_stays_well_formed() {
        let burst = |text: &str, kind| Burst {
            bytes: text.as_bytes().to_vec(),
            kind,
        };
        let text = burst("aé b", Kind::Text);
        assert_eq!(text.tail(0), b"");
        assert_eq!(text.tail(1), b"");
        assert_eq!(text.tail(2), "é".as_bytes()[1..].to_vec());
        assert_eq!(burst("\x1b[1;5A", Kind::Sequence).tail(2), b"1;5A");
        let paste = Burst {
            bytes: paste("aé\nb"),
            kind: Kind::Paste,
        };
        assert_eq!(paste.tail(3), b"00~\x1b[201~");
        assert_eq!(paste.tail(7), b"\x1b[201~");
        assert_eq!(paste.tail(8), b"\xa9\x1b[201~");
        assert_eq!(paste.tail(paste.bytes.len() - 2), b"1~");
    }

    #[test]
    fn b06_a_modifier_that_the_modes_cannot_express_is_known_to_be_lost() {
        let loses =
            |name: &str, modes: &str| loses_modifiers(&keys::parse(name).unwrap(), &vt(modes));
        for name in ["Cmd+c", "Super+Up", "Ctrl+é", "Ctrl+Shift+p", "S-Enter"] {
            assert!(loses(name, ""), "{name}");
            assert!(!loses(name, "\x1b[>1u"), "{name}");
        }
        for name in [
            "c", "C", "Ctrl+c", "^M", "C-Space", "Alt+X", "S-a", "S-Tab", "C-M-Up", "F13",
        ] {
            assert!(!loses(name, ""), "{name}");
        }
    }

    #[test]
    fn keys_that_end_a_line_and_escape_stand_apart() {
        let vt = vt("");
        let apart =
            |name: &str| Item::Key(keys::parse(name).unwrap(), String::new()).stands_apart(&vt);
        for name in [
            "Enter", "KpEnter", "Ctrl+J", "^M", "Escape", "^[", "S-Enter", "M-Enter",
        ] {
            assert!(apart(name), "{name}");
        }
        for name in ["a", "Up", "Tab", "Ctrl+C", "M-x"] {
            assert!(!apart(name), "{name}");
        }
    }
}
