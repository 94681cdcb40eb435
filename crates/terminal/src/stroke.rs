//! One key with its modifiers, as a person would name it.
//!
//! A stroke says nothing about bytes: those depend on the modes in force when it is written.

use std::ops::BitOr;

/// The highest function key with a name of its own.
pub const LAST_FUNCTION_KEY: u8 = 24;

/// A key, without its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyName {
    /// A key that types a character; the unshifted one where [`Mods::SHIFT`] says so.
    Char(char),
    Enter,
    Tab,
    Escape,
    Backspace,
    Delete,
    Insert,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    /// F1 to F24; other numbers encode to nothing.
    F(u8),
    /// A digit of the keypad, 0 to 9; other numbers encode to nothing.
    KpDigit(u8),
    KpEnter,
    KpAdd,
    KpSubtract,
    KpMultiply,
    KpDivide,
    KpDecimal,
}

/// The modifiers held, as a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mods(u8);

impl Mods {
    pub const NONE: Self = Self(0);
    pub const CTRL: Self = Self(1);
    pub const ALT: Self = Self(2);
    pub const SHIFT: Self = Self(4);
    pub const SUPER: Self = Self(8);
    /// Each modifier by itself.
    pub const ALL: [Self; 4] = [Self::CTRL, Self::ALT, Self::SHIFT, Self::SUPER];

    /// Whether every modifier of `other` is held.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These modifiers with `other` released.
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether none is held.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl BitOr for Mods {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// One press of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stroke {
    pub key: KeyName,
    pub mods: Mods,
}

impl Stroke {
    /// The key with no modifier.
    pub fn plain(key: KeyName) -> Self {
        Self {
            key,
            mods: Mods::NONE,
        }
    }

    /// The key with `mods` held.
    pub fn with(key: KeyName, mods: Mods) -> Self {
        Self { key, mods }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_are_a_set() {
        let both = Mods::CTRL | Mods::SHIFT;
        assert!(both.has(Mods::CTRL) && both.has(Mods::SHIFT) && !both.has(Mods::ALT));
        assert_eq!(both.without(Mods::CTRL), Mods::SHIFT);
        assert!(Mods::NONE.is_empty() && !both.is_empty());
    }
}
