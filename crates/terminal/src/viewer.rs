//! What viewers may get of a program's output: everything but what would make them answer or act.
//!
//! The server alone answers queries, so each is taken out whole; so are clipboard writes, and C1
//! characters, which the engine ignores and a browser's terminal would obey. What goes out ends at
//! a safe point: a sequence or character is held back until it is complete, so that a keyframe can
//! be put between any two pieces. Only a string too long to hold goes out in parts.

mod query;

use memchr::memchr3;

use crate::sequence::Place;

/// The longest sequence held back, in bytes; longer strings are passed on in parts.
const LONGEST_HELD: usize = 4096;
const ENQ: u8 = 0x05;
const ESC: u8 = 0x1b;
const SUB: u8 = 0x1a;
/// The first byte of every C1 character in UTF-8; the second is 0x80 to 0x9f.
const C1_LEAD: u8 = 0xc2;
/// What a [`C1_LEAD`] alone is replaced by, as the engine shows it: left as it is, it could become
/// a C1 character with what follows a query taken out after it.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();
const STRING_END: &[u8] = b"\x1b\\";

/// A filter from a program's output to its viewers.
#[derive(Debug, Default)]
pub struct ViewerStream {
    place: Place,
    fate: Fate,
    /// A sequence not yet complete, with anything before it that could not go out alone.
    held: Vec<u8>,
    /// Where in `held` the latest sequence begins.
    start: usize,
    /// How much of `held` is strings that ESC has ended.
    ended_strings: usize,
    /// Whether a lead byte of a C1 character is held back within a sequence.
    lead_held: bool,
    /// Whether the string before was taken out, and its terminator is to follow it.
    swallow_end: bool,
}

/// What becomes of the sequence being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fate {
    /// Not known yet.
    #[default]
    Held,
    /// Passed on as it comes.
    Passed,
    /// Taken out as it comes.
    Dropped,
}

impl ViewerStream {
    /// A filter at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes output and appends what viewers may get to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let read = match self.place {
                Place::Ground => self.text(rest, out),
                Place::Utf8 { .. } => self.character(rest[0], out),
                _ => {
                    self.sequence(rest[0], out);
                    1
                }
            };
            rest = &rest[read..];
        }
    }

    /// Whether what went out so far ends at a safe point: false only inside a long string.
    pub fn safe(&self) -> bool {
        self.fate != Fate::Passed
    }

    /// Text and harmless control sequences, up to what needs a closer look; returns how many bytes
    /// were read.
    fn text(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        let mut from = 0;
        while let Some(at) = memchr3(ESC, ENQ, C1_LEAD, &bytes[from..]).map(|at| from + at) {
            match (bytes[at], bytes.get(at + 1)) {
                (ESC, _) if let Some(length) = query::harmless(&bytes[at..]) => from = at + length,
                (C1_LEAD, Some(0xa0..=0xbf)) => from = at + 2,
                (byte, next) => {
                    out.extend_from_slice(&bytes[..at]);
                    return at + self.stop_at(byte, next.copied(), out);
                }
            }
        }
        self.place = Place::tail_of(&bytes[from..]);
        let pending = match self.place {
            Place::Utf8 { got, .. } => usize::from(got),
            _ => 0,
        };
        let (whole, tail) = bytes.split_at(bytes.len() - pending);
        out.extend_from_slice(whole);
        self.held.extend_from_slice(tail);
        bytes.len()
    }

    /// A byte of text that is not just passed on; returns how many bytes were read.
    fn stop_at(&mut self, byte: u8, next: Option<u8>, out: &mut Vec<u8>) -> usize {
        match (byte, next) {
            (ENQ, _) => 1,
            (C1_LEAD, Some(next)) if is_c1(next) => 2,
            (C1_LEAD, Some(_)) => {
                out.extend_from_slice(REPLACEMENT);
                1
            }
            _ => {
                self.place = Place::Ground.after(byte);
                self.held.push(byte);
                1
            }
        }
    }

    /// A byte after half a character; returns whether it was read.
    fn character(&mut self, byte: u8, out: &mut Vec<u8>) -> usize {
        if !self.place.takes(byte) {
            self.place = Place::Ground;
            if self.held == [C1_LEAD] {
                out.extend_from_slice(REPLACEMENT);
            } else {
                out.extend_from_slice(&self.held);
            }
            self.held.clear();
            return 0;
        }
        self.held.push(byte);
        self.place = self.place.after(byte);
        if self.place == Place::Ground {
            if !matches!(self.held[..], [C1_LEAD, last] if is_c1(last)) {
                out.extend_from_slice(&self.held);
            }
            self.held.clear();
        }
        1
    }

    /// A byte within a sequence.
    fn sequence(&mut self, byte: u8, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.lead_held) {
            if is_c1(byte) {
                return;
            }
            self.keep(C1_LEAD, out);
        }
        let before = self.place;
        let after = before.after(byte);
        self.place = after;
        if byte == ESC {
            self.restart(before, out);
        } else if byte == C1_LEAD {
            self.lead_held = true;
        } else if byte == 0x18 || byte == SUB {
            self.cancel(byte, out);
        } else if byte != ENQ || before.is_string() {
            self.keep(byte, out);
            if after == Place::Ground {
                self.finish(before, out);
            }
        }
    }

    fn keep(&mut self, byte: u8, out: &mut Vec<u8>) {
        match self.fate {
            Fate::Passed => out.push(byte),
            Fate::Dropped if byte < 0x20 && !self.place.is_string() => out.push(byte),
            Fate::Dropped => {}
            Fate::Held => {
                self.held.push(byte);
                if self.held.len() > LONGEST_HELD {
                    self.give_up_holding(out);
                }
            }
        }
    }

    /// Decides by its beginning about a sequence that is too long to hold.
    fn give_up_holding(&mut self, out: &mut Vec<u8>) {
        let may_ask = query::may_ask(&self.held[self.start..]);
        if self.place.is_string() && !may_ask {
            out.append(&mut self.held);
            self.forget();
            self.fate = Fate::Passed;
        } else {
            self.drop_latest(self.place, out);
            self.fate = Fate::Dropped;
        }
    }

    /// ESC: a string is complete by it, any other sequence has come to nothing.
    fn restart(&mut self, before: Place, out: &mut Vec<u8>) {
        let asked = match self.fate {
            Fate::Held => before.is_string() && query::asks(&self.held[self.start..]),
            Fate::Passed => false,
            Fate::Dropped => true,
        };
        if asked && self.fate == Fate::Held {
            self.held.truncate(self.start);
        } else if before.is_string() && self.fate == Fate::Held {
            self.ended_strings = self.held.len();
        }
        self.swallow_end = asked && before.is_string();
        if self.fate == Fate::Passed {
            // The string's end belongs to what already went out.
            out.extend_from_slice(STRING_END);
            self.swallow_end = true;
        }
        self.fate = Fate::Held;
        self.start = self.held.len();
        self.held.push(ESC);
    }

    /// CAN or SUB: the sequence is cancelled, and SUB then shows a character of its own.
    fn cancel(&mut self, byte: u8, out: &mut Vec<u8>) {
        out.append(&mut self.held);
        if self.fate != Fate::Dropped || byte == SUB {
            out.push(byte);
        }
        self.forget();
    }

    /// The latest sequence is complete.
    fn finish(&mut self, before: Place, out: &mut Vec<u8>) {
        if self.fate == Fate::Held {
            let latest = &self.held[self.start..];
            if (self.swallow_end && latest == STRING_END) || query::asks(latest) {
                self.drop_latest(before, out);
            } else {
                out.append(&mut self.held);
            }
        }
        self.forget();
    }

    /// Takes the latest sequence out, but not the controls that execute within it.
    fn drop_latest(&mut self, place: Place, out: &mut Vec<u8>) {
        let strings = &self.held[..self.ended_strings];
        if !strings.is_empty() {
            out.extend_from_slice(strings);
            out.extend_from_slice(STRING_END);
        }
        let until = if place.is_string() {
            self.start
        } else {
            self.held.len()
        };
        let left = &self.held[self.ended_strings..until.max(self.ended_strings)];
        out.extend(left.iter().filter(|&&byte| byte < 0x20 && byte != ESC));
        self.forget();
    }

    fn forget(&mut self) {
        self.held.clear();
        self.fate = Fate::Held;
        self.start = 0;
        self.ended_strings = 0;
        self.swallow_end = false;
    }
}

fn is_c1(second: u8) -> bool {
    (0x80..=0x9f).contains(&second)
}

#[cfg(test)]
mod tests;
