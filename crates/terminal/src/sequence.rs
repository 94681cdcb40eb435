//! Where a byte stream stands within an escape sequence or a UTF-8 character.
//!
//! It reads bytes as the engine does, which is not as an 8-bit terminal would: C1 bytes start
//! nothing, a string ends only at ESC (an OSC at BEL too), and ESC begins anew wherever it comes.

use memchr::memrchr;

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;

/// The bytes of the longest UTF-8 character but its last: what can be pending at most.
const LONGEST_PENDING: usize = 3;

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// Text: nothing is pending.
    #[default]
    Ground,
    /// A character of which `got` bytes were read and `left` are missing.
    Utf8 {
        got: u8,
        left: u8,
        low: u8,
        high: u8,
    },
    /// After ESC; `bare` while no intermediate byte followed it.
    Escape { bare: bool },
    /// A control sequence.
    Csi,
    /// An operating system command, which BEL ends too.
    Osc,
    /// A device control string.
    Dcs,
    /// An APC, PM or SOS string.
    OtherString,
}

impl Place {
    /// Where the stream stands after `byte`.
    pub(crate) fn after(self, byte: u8) -> Self {
        match self {
            Self::Ground => Self::text(byte),
            Self::Utf8 { .. } if !self.takes(byte) => Self::text(byte),
            Self::Utf8 { left: 1, .. } => Self::Ground,
            Self::Utf8 { got, left, .. } => Self::Utf8 {
                got: got + 1,
                left: left - 1,
                low: 0x80,
                high: 0xbf,
            },
            _ if byte == ESC => Self::Escape { bare: true },
            _ if byte == CAN || byte == SUB => Self::Ground,
            Self::Escape { bare } => Self::after_escape(bare, byte),
            Self::Csi if (0x40..=0x7e).contains(&byte) => Self::Ground,
            Self::Osc if byte == BEL => Self::Ground,
            Self::Csi | Self::Osc | Self::Dcs | Self::OtherString => self,
        }
    }

    /// Whether a pending character goes on with `byte`; every sequence takes every byte.
    pub(crate) fn takes(self, byte: u8) -> bool {
        match self {
            Self::Utf8 { low, high, .. } => (low..=high).contains(&byte),
            Self::Ground
            | Self::Escape { .. }
            | Self::Csi
            | Self::Osc
            | Self::Dcs
            | Self::OtherString => true,
        }
    }

    /// Whether this is within a string, whose bytes are a payload and execute nothing.
    pub(crate) fn is_string(self) -> bool {
        matches!(self, Self::Osc | Self::Dcs | Self::OtherString)
    }

    /// Where the stream stands after `bytes`, looking only at those that can still matter.
    pub(crate) fn after_all(self, bytes: &[u8]) -> Self {
        let (mut place, rest) = match memrchr(ESC, bytes) {
            Some(at) => (Self::Ground, &bytes[at..]),
            None => (self, bytes),
        };
        for (at, &byte) in rest.iter().enumerate() {
            if place == Self::Ground && byte != ESC {
                return Self::tail_of(&rest[at..]);
            }
            place = place.after(byte);
        }
        place
    }

    /// Where the stream stands after text without ESC that began in the ground state.
    pub(crate) fn tail_of(text: &[u8]) -> Self {
        let tail = &text[text.len().saturating_sub(LONGEST_PENDING)..];
        tail.iter()
            .fold(Self::Ground, |place, &byte| place.after(byte))
    }

    fn text(byte: u8) -> Self {
        let (left, low, high) = match byte {
            ESC => return Self::Escape { bare: true },
            0xc2..=0xdf => (1, 0x80, 0xbf),
            0xe0 => (2, 0xa0, 0xbf),
            0xed => (2, 0x80, 0x9f),
            0xe1..=0xef => (2, 0x80, 0xbf),
            0xf0 => (3, 0x90, 0xbf),
            0xf1..=0xf3 => (3, 0x80, 0xbf),
            0xf4 => (3, 0x80, 0x8f),
            _ => return Self::Ground,
        };
        Self::Utf8 {
            got: 1,
            left,
            low,
            high,
        }
    }

    fn after_escape(bare: bool, byte: u8) -> Self {
        match byte {
            0x20..=0x2f => Self::Escape { bare: false },
            b'[' if bare => Self::Csi,
            b']' if bare => Self::Osc,
            b'P' if bare => Self::Dcs,
            b'X' | b'^' | b'_' if bare => Self::OtherString,
            0x30..=0x7e => Self::Ground,
            _ => Self::Escape { bare },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn after(bytes: &[u8]) -> Place {
        Place::Ground.after_all(bytes)
    }

    #[test]
    fn half_a_sequence_or_character_is_pending_and_a_whole_one_is_not() {
        for half in [
            &b"a\x1b"[..],
            b"\x1b[3",
            b"\x1b]2;t",
            b"\x1bP$q",
            b"\xe2\x94",
            b"\x1b(",
            b"\x1b]2;t\x1b",
        ] {
            assert_ne!(after(half), Place::Ground, "{half:?}");
        }
        for whole in [
            &b"a"[..],
            b"\x1b[3m",
            b"\x1b]2;t\x07",
            b"\x1bPq\x1b\\",
            "─".as_bytes(),
            b"\xe2\x94A",
            b"\x1b[3\x18",
        ] {
            assert_eq!(after(whole), Place::Ground, "{whole:?}");
        }
    }

    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let bytes = prop_oneof![
            Just(ESC),
            Just(BEL),
            Just(CAN),
            Just(b'['),
            Just(b']'),
            Just(b'P'),
            Just(b'm'),
            Just(0xe2),
            Just(0x94),
            Just(0x80),
            Just(0xc2),
            any::<u8>(),
        ];
        prop::collection::vec(bytes, 0..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_short_cut_agrees_with_reading_every_byte(bytes in stream(), cut in 0usize..60) {
            let cut = cut.min(bytes.len());
            let slow = bytes.iter().fold(Place::Ground, |place, &byte| place.after(byte));
            prop_assert_eq!(after(&bytes[..cut]).after_all(&bytes[cut..]), slow);
        }
    }
}
