//! The VT engine behind a narrow door: bytes in, a screen and replies out.
//!
//! Only this file and those under `vt/` name the engine's crate. The surprise: while a program
//! draws a synchronized update, everything read here is the last complete frame, but the modes
//! that say how input is written are always the ones in force now.

#[cfg(any(test, feature = "testing"))]
pub mod cases;
mod encode;
mod frame;
mod keyframe;
mod lines;
mod probe;
mod reading;
mod replies;
mod tail;
mod title;

use std::alloc::{Layout, handle_alloc_error};
use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use fux_vt::{
    CellSize, Feature, Graphics, Identity, Mode, MouseProtocolEncoding, MouseProtocolMode, Options,
    Parser, Stop,
};

use memchr::memmem;
use wire::limits;

use self::frame::{Frame, Seen};
use self::lines::LineCount;
use self::reading::{Line, Reader};
use self::replies::Answers;
use self::tail::Tail;
use crate::screen::{Cursor, Lines, Modes, Mouse, MouseEncoding, Row};
use crate::sequence::Place;
use crate::size::Size;
use crate::stroke::Stroke;

/// The engine's room for what scrolls away: 8 bytes a cell, and 24 bytes a row at 80 columns.
/// Shorter rows cost more a unit, so that fewer units are kept; the memory never exceeds the room.
const SCROLLBACK_BYTES: usize = limits::SCROLLBACK_UNITS * 8 + limits::SCROLLBACK_UNITS / 80 * 24;
/// How programs end a synchronized update; there are rarer ways, which take longer to find.
const UPDATE_END: &[u8] = b"\x1b[?2026l";
/// A cell's size in pixels, for programs that ask: nobody knows the viewers' fonts.
const CELL: (u16, u16) = (8, 16);
const IDENTITY: Identity = Identity {
    name: "sidestick",
    version: env!("CARGO_PKG_VERSION"),
};
const FEATURES: [Feature; 9] = [
    Feature::Events,
    Feature::ExtendedReplies,
    Feature::SizeReports,
    Feature::ColorSchemeUpdates,
    Feature::KittyKeyboard,
    Feature::Reflow,
    Feature::Hyperlinks,
    Feature::SettingReports,
    Feature::Palette,
];

/// One terminal's screen.
pub struct Vt {
    size: Size,
    parser: Parser,
    answers: Answers,
    place: Place,
    tail: Tail,
    lines: LineCount,
    reader: Reader,
    update: Option<Update>,
    rebuilt: u64,
    #[cfg(test)]
    panics_next: bool,
}

/// What came of a piece of output.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fed {
    /// What to write to the program, in the order it asked.
    pub replies: Vec<u8>,
    /// Whether it rang the bell.
    pub bell: bool,
    /// The last text it wanted on the clipboard. It is never put there.
    pub clipboard: Option<Clipboard>,
}

/// A clipboard write (`OSC 52`), captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clipboard {
    /// Which selection, as the program named it: `c`, `p`, … or nothing.
    pub selection: String,
    /// The text in base64 as it came, at most 64 KiB of it.
    pub data: Vec<u8>,
}

/// A synchronized update that did not end with the piece of output it began in.
struct Update {
    since: Instant,
    shown: Frame,
}

impl Vt {
    /// A blank terminal.
    pub fn new(size: Size) -> Self {
        Self {
            size,
            parser: engine(size),
            answers: Answers::default(),
            place: Place::Ground,
            tail: Tail::default(),
            lines: LineCount::default(),
            reader: Reader::default(),
            update: None,
            rebuilt: 0,
            #[cfg(test)]
            panics_next: false,
        }
    }

    /// Takes a program's output. An engine that panics is made anew from the output kept, and the
    /// piece it panicked on is lost.
    pub fn feed(&mut self, now: Instant, bytes: &[u8]) -> Fed {
        self.tick(now);
        self.place = self.place.after_all(bytes);
        if catch_unwind(AssertUnwindSafe(|| self.run(now, bytes))).is_ok() {
            self.tail.push(bytes);
        } else {
            self.rebuild();
        }
        self.lines.follow(self.parser.screen());
        self.answers.take()
    }

    /// Ends a synchronized update that was open for [`limits::SYNC_UPDATE`].
    pub fn tick(&mut self, now: Instant) {
        if self.deadline().is_some_and(|deadline| now >= deadline) {
            self.update = None;
            // A resize to the same size changes nothing but this: it ends the update, wherever in
            // a sequence the program is.
            self.resize_engine(self.size);
        }
    }

    /// When [`Vt::tick`] is due.
    pub fn deadline(&self) -> Option<Instant> {
        self.update
            .as_ref()
            .map(|update| update.since + limits::SYNC_UPDATE)
    }

    /// Takes the new size; an open update ends, since it was drawn for the old one.
    pub fn resize(&mut self, size: Size) {
        self.size = size;
        self.update = None;
        self.resize_engine(size);
        self.lines.follow(self.parser.screen());
    }

    pub fn size(&self) -> Size {
        self.size
    }

    /// The viewport of the last complete frame.
    pub fn rows(&self) -> Vec<Row> {
        frame::rows(&self.shown())
    }

    /// The viewport as a model may read it: what would hide or reorder text
    /// is spelled out, and concealed cells are marked.
    pub fn model_rows(&self) -> Vec<String> {
        frame::model_rows(&self.shown())
    }

    /// How many cells of the viewport a program concealed; [`Vt::model_rows`] marks each.
    pub fn concealed_cells(&self) -> usize {
        frame::concealed(&self.shown())
    }

    /// The cursor of the last complete frame.
    pub fn cursor(&self) -> Cursor {
        self.seen().cursor
    }

    /// A number that is equal for equal displays: text, attributes and cursor of the last complete
    /// frame. Only good within one run of the process.
    pub fn fingerprint(&self) -> u64 {
        frame::fingerprint(&self.shown(), self.seen())
    }

    /// The window title, at most [`limits::TITLE_UNITS`] UTF-16 units and free of controls.
    pub fn title(&self) -> &str {
        self.answers.title.text()
    }

    pub fn alternate_screen(&self) -> bool {
        self.parser.screen().mode(Mode::AlternateScreen)
    }

    /// The modes in force now, within an update too.
    pub fn modes(&self) -> Modes {
        let screen = self.parser.screen();
        Modes {
            application_cursor_keys: screen.mode(Mode::ApplicationCursor),
            application_keypad: screen.mode(Mode::ApplicationKeypad),
            bracketed_paste: screen.mode(Mode::BracketedPaste),
            focus_reporting: screen.mode(Mode::FocusReporting),
            mouse: mouse(screen.mouse_protocol_mode()),
            mouse_encoding: mouse_encoding(screen.mouse_protocol_encoding()),
            kitty_flags: screen.kitty_keyboard_flags(),
        }
    }

    /// The bytes of `stroke` in the modes in force now.
    pub fn encode(&self, stroke: &Stroke) -> Vec<u8> {
        encode::bytes(stroke, self.parser.screen().key_mode())
    }

    /// Whether a synchronized update is open, and what is read here is the frame before it.
    pub fn frame_open(&self) -> bool {
        self.update.is_some()
    }

    /// Whether half an escape sequence or half a character is pending.
    pub fn mid_sequence(&self) -> bool {
        self.place != Place::Ground
    }

    /// Bytes that make a blank terminal of this size show what this one shows and behave as it
    /// does, with at most [`limits::SCROLLBACK_UNITS`] of what scrolled away. They ask nothing. Within an
    /// update they repaint what is drawn of it so far.
    pub fn keyframe(&self) -> Vec<u8> {
        let write = || keyframe::write(&self.parser, self.title(), limits::SCROLLBACK_UNITS);
        // A blank screen is what a viewer gets of an engine that cannot be read.
        catch_unwind(AssertUnwindSafe(write)).unwrap_or_else(|_| keyframe::BLANK.to_vec())
    }

    /// Which lines are kept. A reset or a resize may renumber, never to smaller totals.
    pub fn lines(&self) -> Lines {
        self.lines.lines(self.parser.screen())
    }

    /// How often the engine was made anew after a panic.
    pub fn rebuilt(&self) -> u64 {
        self.rebuilt
    }

    fn seen(&self) -> Seen {
        match &self.update {
            Some(update) => update.shown.seen,
            None => frame::seen(self.parser.screen()),
        }
    }

    /// The rows of the last complete frame.
    fn shown(&self) -> Vec<Line> {
        match &self.update {
            Some(update) => update.shown.lines.clone(),
            None => self.reader.lines(self.parser.screen()),
        }
    }

    fn run(&mut self, now: Instant, bytes: &[u8]) {
        #[cfg(test)]
        assert!(
            !std::mem::take(&mut self.panics_next),
            "asked for by a test"
        );
        let mut rest = bytes;
        // An error says that room was refused for something, and that every byte was read.
        while let Ok(Some((read, stop))) = self.parser.process_until_stop(rest, &mut self.answers) {
            rest = &rest[read..];
            match stop {
                Stop::Begun => self.begin_update(now, rest),
                Stop::Ended => self.update = None,
                Stop::Budget => {}
            }
            if rest.is_empty() && !self.parser.has_work_left() {
                break;
            }
        }
    }

    /// Keeps the frame before the update, but only if it does not end within `rest`: most do, and
    /// then nobody can read in between.
    fn begin_update(&mut self, now: Instant, rest: &[u8]) {
        let ends = memmem::find(rest, UPDATE_END).is_some()
            || self.parser.frame_scan().end(rest).is_some();
        if !ends {
            let screen = self.parser.screen();
            let shown = Frame {
                lines: self.reader.lines(screen),
                seen: frame::seen(screen),
            };
            self.update = Some(Update { since: now, shown });
        }
    }

    fn resize_engine(&mut self, size: Size) {
        match catch_unwind(AssertUnwindSafe(|| self.parser.resize(engine_size(size)))) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "a resize was refused room"),
            Err(_) => self.rebuild(),
        }
    }

    fn rebuild(&mut self) {
        self.rebuilt += 1;
        self.update = None;
        self.parser = engine(self.size);
        self.reader = Reader::default();
        let mut silent = Answers::default();
        let parser = &mut self.parser;
        let tail = self.tail.bytes();
        if catch_unwind(AssertUnwindSafe(|| parser.process_with(tail, &mut silent))).is_err() {
            self.parser = engine(self.size);
            self.tail = Tail::default();
        }
        self.place = Place::Ground.after_all(self.tail.bytes());
        tracing::error!(
            times = self.rebuilt,
            "the terminal engine panicked and was made anew"
        );
    }
}

/// A blank engine. Its size is within its bounds, so that only memory can be missing, which ends
/// this process wherever it allocates.
fn engine(size: Size) -> Parser {
    let options = FEATURES
        .into_iter()
        .collect::<Options>()
        .with_identity(Some(IDENTITY));
    let mut parser = Parser::with_options(engine_size(size), SCROLLBACK_BYTES, options)
        .unwrap_or_else(|_| handle_alloc_error(Layout::new::<Parser>()));
    parser.set_host_palette(replies::PALETTE.map(|colour| Some(colour.into())));
    if let Some(cell) = CellSize::new(CELL.0, CELL.1) {
        parser.set_host_graphics(Graphics::Cell(cell));
    }
    parser
}

fn engine_size(size: Size) -> fux_vt::Size {
    let clamp = |n: u16| {
        NonZeroU16::new(n.clamp(*limits::SIZE.start(), *limits::SIZE.end()))
            .unwrap_or(NonZeroU16::MIN)
    };
    fux_vt::Size::from((clamp(size.rows), clamp(size.cols)))
}

fn mouse(mode: MouseProtocolMode) -> Mouse {
    match mode {
        MouseProtocolMode::None => Mouse::Off,
        MouseProtocolMode::Press => Mouse::Press,
        MouseProtocolMode::PressRelease | MouseProtocolMode::Highlight => Mouse::Click,
        MouseProtocolMode::ButtonMotion => Mouse::Drag,
        MouseProtocolMode::AnyMotion => Mouse::Motion,
    }
}

fn mouse_encoding(encoding: MouseProtocolEncoding) -> MouseEncoding {
    match encoding {
        MouseProtocolEncoding::Default => MouseEncoding::Default,
        MouseProtocolEncoding::Utf8 => MouseEncoding::Utf8,
        MouseProtocolEncoding::Sgr => MouseEncoding::Sgr,
        MouseProtocolEncoding::Urxvt => MouseEncoding::Urxvt,
    }
}

#[cfg(test)]
mod tests;
