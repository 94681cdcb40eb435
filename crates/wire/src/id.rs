//! Names of things, unique across machines: a prefix and 64 random bits as 16 hex digits.
//!
//! An id is checked when it is parsed and trusted afterwards. The random bits come from the caller,
//! since this crate neither reads a clock nor asks the kernel for randomness.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The text is not an id of the wanted kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not an id; one looks like {prefix}0123456789abcdef")]
pub struct BadId {
    given: String,
    prefix: &'static str,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(u64);

        impl $name {
            /// What each id of this kind begins with.
            pub const PREFIX: &'static str = $prefix;

            /// Makes an id from 64 bits that the caller drew at random.
            pub const fn from_random(bits: u64) -> Self {
                Self(bits)
            }

            /// The bits that it was made from.
            pub const fn bits(self) -> u64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{:016x}", $prefix, self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                parse($prefix, text).map(Self)
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadId;

            fn try_from(text: String) -> Result<Self, BadId> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.to_string()
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": concat!("^", $prefix, "[0-9a-f]{16}$") })
            }
        }
    )*};
}

ids! {
    /// A chat: the folder, the people and agents in it, and its terminals.
    ChatId = "cs_";
    /// A terminal: one process and its screen.
    TerminalId = "tm_";
    /// A job: a command in the background, a condition that is polled, or a terminal.
    JobId = "jb_";
}

/// A terminal is a job too, by the same digits.
impl From<TerminalId> for JobId {
    fn from(terminal: TerminalId) -> Self {
        Self(terminal.0)
    }
}

fn parse(prefix: &'static str, text: &str) -> Result<u64, BadId> {
    let bad = || BadId {
        given: text.chars().take(64).collect(),
        prefix,
    };
    let hex = text.strip_prefix(prefix).ok_or_else(bad)?;
    let lower = hex
        .bytes()
        .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if hex.len() != 16 || !lower {
        return Err(bad());
    }
    u64::from_str_radix(hex, 16).map_err(|_| bad())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_as_itself() {
        let id = TerminalId::from_random(0x0123_4567_89ab_cdef);
        assert_eq!(id.to_string(), "tm_0123456789abcdef");
        assert_eq!("tm_0123456789abcdef".parse(), Ok(id));
    }

    #[test]
    fn another_kind_case_or_length_is_no_id() {
        for text in [
            "cs_0123456789abcdef",
            "tm_0123456789ABCDEF",
            "tm_123",
            "tm_+123456789abcdef",
            "",
        ] {
            assert!(text.parse::<TerminalId>().is_err(), "{text}");
        }
    }
}
