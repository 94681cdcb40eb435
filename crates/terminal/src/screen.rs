//! What can be read off a screen, in words that no VT engine owns.
//!
//! Rows and columns count from zero.

/// One row of the viewport.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Its text, trailing blanks trimmed, a wide character once with no filler after it.
    pub text: String,
    /// Whether the line was soft-wrapped and goes on in the next row.
    pub wrapped: bool,
}

/// Where the cursor stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cursor {
    pub row: u16,
    /// At most the last column: a pending wrap does not move it past the edge.
    pub col: u16,
    pub visible: bool,
}

/// Which mouse events the program asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mouse {
    /// None.
    #[default]
    Off,
    /// Presses only (mode 9).
    Press,
    /// Presses and releases (mode 1000).
    Click,
    /// And motion while a button is held (mode 1002).
    Drag,
    /// And all motion (mode 1003).
    Motion,
}

impl Mouse {
    /// The word for it in results.
    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Press => "press",
            Self::Click => "click",
            Self::Drag => "drag",
            Self::Motion => "motion",
        }
    }
}

/// How mouse positions are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MouseEncoding {
    #[default]
    Default,
    Utf8,
    Sgr,
    Urxvt,
}

/// The modes that say how input must be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    pub application_cursor_keys: bool,
    pub application_keypad: bool,
    pub bracketed_paste: bool,
    pub focus_reporting: bool,
    pub mouse: Mouse,
    pub mouse_encoding: MouseEncoding,
    /// The kitty keyboard flags in force on the shown screen; 0 is the legacy protocol.
    pub kitty_flags: u8,
}

/// Absolute numbers of the lines a terminal has shown; the first it ever showed is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// The oldest line still kept.
    pub first: u64,
    /// One past the newest: the lines kept are `first..total`.
    pub total: u64,
    /// Lines let go to stay within the limit; always equal to `first`.
    pub dropped: u64,
}
