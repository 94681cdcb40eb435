//! What an engine does not tell, asked of a copy of it.
//!
//! Tab stops, character sets, the saved cursor and the keyboard stack show only in what the engine
//! does with output. So a copy is fed output that makes them show, and thrown away. A copy costs
//! its scrollback; it is made for keyframes only.

use fux_vt::{Attributes, Mode, Parser};

/// CAN ends whatever sequence the original is in the middle of.
const CANCEL: &[u8] = b"\x18";
/// Puts all aside that would bend where a probe prints: margins, origin, insertion, a double line.
const PLAIN_PAGE: &[u8] = b"\x1b[?6l\x1b[?69l\x1b[r\x1b[4l\x1b[?7h\x1b#5";
/// How deep the keyboard stack can be.
const KEYBOARD_STACK: usize = 32;
/// How each of G0 to G3 is called into use.
pub(super) const SHIFTS: [&[u8]; 4] = [b"\x0f", b"\x0e", b"\x1bn", b"\x1bo"];

/// What a copy told about the screen that is shown, and the main screen under it.
pub(super) struct Probed {
    /// Columns of tab stops, left to right.
    pub(super) tabs: Vec<u16>,
    pub(super) charsets: Charsets,
    pub(super) shown: OfScreen,
    /// The main screen's, while the alternate screen is shown.
    pub(super) main: Option<OfScreen>,
}

/// What each screen keeps for itself.
pub(super) struct OfScreen {
    pub(super) saved: Saved,
    /// Kitty keyboard flags, the deepest first.
    pub(super) keyboard: Vec<u8>,
}

/// A saved cursor (DECSC).
#[derive(PartialEq)]
pub(super) struct Saved {
    pub(super) position: (u16, u16),
    pub(super) pending_wrap: bool,
    pub(super) origin: bool,
    pub(super) pen: Attributes,
    pub(super) charsets: Charsets,
}

/// The sets designated G0 to G3, and which of them is in use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Charsets {
    pub(super) sets: [Charset; 4],
    pub(super) used: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charset {
    Ascii,
    Graphics,
    Supplemental,
}

impl Charsets {
    /// As after a reset.
    pub(super) const DEFAULT: Self = Self {
        sets: [
            Charset::Ascii,
            Charset::Ascii,
            Charset::Supplemental,
            Charset::Supplemental,
        ],
        used: 0,
    };
}

impl Saved {
    /// As when nothing was saved.
    pub(super) fn is_default(&self) -> bool {
        self.position == (0, 0)
            && !self.pending_wrap
            && !self.origin
            && self.pen == Attributes::default()
            && self.charsets == Charsets::DEFAULT
    }
}

/// Asks a copy of `parser`.
pub(super) fn probe(parser: &Parser) -> Probed {
    let mut copy = Copy(parser.clone());
    let alternate = parser.screen().mode(Mode::AlternateScreen);
    copy.feed(CANCEL);
    let charsets = copy.charsets();
    let tabs = copy.tabs();
    let shown = copy.of_screen();
    let main = alternate.then(|| {
        copy.feed(b"\x1b[?47l");
        copy.of_screen()
    });
    Probed {
        tabs,
        charsets,
        shown,
        main,
    }
}

struct Copy(Parser);

impl Copy {
    fn feed(&mut self, bytes: &[u8]) {
        // Room refused to a copy spoils no more than a probe.
        let _ = self.0.process(bytes);
    }

    fn of_screen(&mut self) -> OfScreen {
        let keyboard = self.keyboard();
        self.feed(b"\x1b8");
        let screen = self.0.screen();
        let mut saved = Saved {
            position: screen.cursor_position(),
            pending_wrap: screen.pending_wrap(),
            origin: screen.mode(Mode::Origin),
            pen: screen.attributes(),
            charsets: Charsets::DEFAULT,
        };
        saved.charsets = self.charsets();
        OfScreen { saved, keyboard }
    }

    fn keyboard(&mut self) -> Vec<u8> {
        let mut flags = Vec::new();
        for _ in 0..KEYBOARD_STACK {
            flags.push(self.0.screen().kitty_keyboard_flags());
            self.feed(b"\x1b[<u");
        }
        while flags.last() == Some(&0) {
            flags.pop();
        }
        flags.reverse();
        flags
    }

    fn charsets(&mut self) -> Charsets {
        self.feed(PLAIN_PAGE);
        let current = self.charset();
        let sets = SHIFTS.map(|shift| {
            self.feed(shift);
            self.charset()
        });
        let used = sets.iter().position(|&set| set == current).unwrap_or(0);
        Charsets { sets, used }
    }

    /// The set in use: each shows `q` as another character.
    fn charset(&mut self) -> Charset {
        self.feed(b"\x1b[Hq");
        match self.0.screen().cell(0, 0).map(|cell| cell.contents()) {
            Some("─") => Charset::Graphics,
            Some("ñ") => Charset::Supplemental,
            _ => Charset::Ascii,
        }
    }

    fn tabs(&mut self) -> Vec<u16> {
        self.feed(PLAIN_PAGE);
        self.feed(b"\r");
        let last = self.0.screen().size().cols() - 1;
        let mut stops = Vec::new();
        let mut column = 0;
        while column < last {
            self.feed(b"\t");
            column = self.0.screen().cursor_position().1;
            if stops.last().is_some_and(|&stop| stop >= column) {
                break;
            }
            stops.push(column);
        }
        // A tab with no stop ahead goes to the last column, where a stop would change nothing.
        stops.retain(|&stop| stop < last);
        stops
    }
}
