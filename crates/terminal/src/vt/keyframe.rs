//! A screen back into bytes: what repaints a blank terminal and makes it behave the same.
//!
//! The order carries it: whatever bends where printing goes (margins, origin, insertion, character
//! sets) is set only after everything is painted, and the pen last of all. Not in it, since no
//! program was seen to miss it: protected cells, saved modes (XTSAVE), the alternate screen's
//! content while the main screen is shown, and the cluster that a combining mark would join if it
//! were the very next output.

mod paint;

use fux_vt::{Attributes, Mode, MouseProtocolEncoding, MouseProtocolMode, Parser, Row, Screen};

use self::paint::Painter;
use super::frame::width;
use super::probe::{self, Charset, Charsets, OfScreen, Probed, SHIFTS, Saved};

/// A reset: what every keyframe begins with.
pub(super) const BLANK: &[u8] = b"\x1bc";
/// The most bytes of what scrolled away: lines in many colours take twenty times their text, and a
/// viewer waits for all of it.
const HISTORY_BYTES: usize = 512 * 1024;
/// About what a change of the pen takes, in bytes.
const COST_OF_PEN: usize = 20;
/// Columns between the tab stops a terminal starts with.
const TAB: u16 = 8;
/// The cursor shape of a terminal that was told none.
const SHAPE_OF_ITS_OWN: u16 = 7;

/// Modes that a reset leaves off, and what sets them.
const OFF_AT_FIRST: [(Mode, &str); 14] = [
    (Mode::Insert, "\x1b[4h"),
    (Mode::NewLine, "\x1b[20h"),
    (Mode::ApplicationCursor, "\x1b[?1h"),
    (Mode::SmoothScroll, "\x1b[?4h"),
    (Mode::ReverseVideo, "\x1b[?5h"),
    (Mode::MoreFix, "\x1b[?41h"),
    (Mode::ReverseWrap, "\x1b[?45h"),
    (Mode::ApplicationKeypad, "\x1b="),
    (Mode::BackarrowSendsBackspace, "\x1b[?67h"),
    (Mode::FocusReporting, "\x1b[?1004h"),
    (Mode::AlternateScroll, "\x1b[?1007h"),
    (Mode::ExtendedReverseWrap, "\x1b[?1045h"),
    (Mode::BracketedPaste, "\x1b[?2004h"),
    (Mode::ColorSchemeUpdates, "\x1b[?2031h"),
];
/// Modes that a reset leaves on, and what resets them.
const ON_AT_FIRST: [(Mode, &str); 2] = [
    (Mode::ShowCursor, "\x1b[?25l"),
    (Mode::Autowrap, "\x1b[?7l"),
];

/// The bytes, with at most `units` UTF-16 units of what scrolled away.
pub(super) fn write(parser: &Parser, title: &str, units: usize) -> Vec<u8> {
    let screen = parser.screen();
    let probed = probe::probe(parser);
    let mut out = Painter::new();
    out.raw(BLANK);
    colours(screen, &mut out);
    main_screen(screen, units, &mut out);
    if let Some(main) = &probed.main {
        alternate_screen(screen, main, &mut out);
    }
    tab_stops(screen, &probed, &mut out);
    let saved = &probed.shown.saved;
    save_cursor(saved, screen.window().row(saved.position.0), &mut out);
    cursor(screen, &mut out);
    modes(screen, &mut out);
    keyboard(&probed.shown, &mut out);
    if !title.is_empty() {
        out.fmt(format_args!("\x1b]2;{title}\x1b\\"));
    }
    charsets(&probed.charsets, &mut out);
    out.link(screen.hyperlink());
    out.pen(screen.attributes());
    out.into_bytes()
}

/// The colours the program changed.
fn colours(screen: &Screen, out: &mut Painter) {
    if !screen.colors_changed() {
        return;
    }
    for index in 0..=u8::MAX {
        if let Some(c) = screen.palette_color(index) {
            out.fmt(format_args!(
                "\x1b]4;{index};#{:02x}{:02x}{:02x}\x1b\\",
                c.r, c.g, c.b
            ));
        }
    }
    for number in 10..=19 {
        if let Some(c) = screen.dynamic_color(number) {
            out.fmt(format_args!(
                "\x1b]{number};#{:02x}{:02x}{:02x}\x1b\\",
                c.r, c.g, c.b
            ));
        }
    }
}

/// What scrolled away and the main screen, as lines, so that both end up where they belong and
/// soft-wrapped lines stay soft.
fn main_screen(screen: &Screen, units: usize, out: &mut Painter) {
    let rows: Vec<Row<'_>> = screen.main_rows().collect();
    let top = rows.len().saturating_sub(usize::from(screen.size().rows()));
    let from = oldest_within(&rows[..top], units);
    let last = last_to_paint(&rows, from, top);
    lines(&rows[from..last], out);
    if from < top {
        for _ in last..rows.len() {
            out.raw(b"\r\n");
        }
    }
}

/// Rows one under the other, a soft-wrapped one running over into the next.
fn lines(rows: &[Row<'_>], out: &mut Painter) {
    let mut goes_on = false;
    for (at, row) in rows.iter().enumerate() {
        let is_last = at + 1 == rows.len();
        let wraps = row.continues() && !is_last;
        if goes_on {
            out.wrap_plainly(row);
        }
        // A wrap becomes real only by a cell in the next row.
        let least = usize::from(goes_on);
        out.row(
            row,
            if wraps {
                row.len()
            } else {
                width(row).max(least)
            },
        );
        if !wraps {
            out.plain();
            if !is_last {
                out.raw(b"\r\n");
            }
        }
        goes_on = wraps;
    }
    out.plain();
}

/// The first row to paint of those that scrolled away: as many as fit both bounds.
fn oldest_within(history: &[Row<'_>], units: usize) -> usize {
    let (mut used, mut bytes) = (0, 0);
    let fits = |row: &&Row<'_>| {
        let mut pen = Attributes::default();
        for cell in row.cells().take(width(row)) {
            used += cell.contents().encode_utf16().count();
            bytes += cell.shown().len();
            if cell.attributes() != pen {
                pen = cell.attributes();
                bytes += COST_OF_PEN;
            }
        }
        used <= units && bytes <= HISTORY_BYTES
    };
    history.len() - history.iter().rev().take_while(fits).count()
}

/// One past the last row to paint: rows that are blank need none, but for one that a wrapped line
/// goes on in.
fn last_to_paint(rows: &[Row<'_>], from: usize, top: usize) -> usize {
    let painted = |at: &usize| *at < top || width(&rows[*at]) > 0;
    let last = (from..rows.len())
        .rev()
        .find(painted)
        .map_or(from, |at| at + 1);
    let goes_on = last > from && rows[last - 1].continues();
    (last + usize::from(goes_on)).min(rows.len())
}

fn alternate_screen(screen: &Screen, main: &OfScreen, out: &mut Painter) {
    keyboard(main, out);
    let top = screen
        .main_rows()
        .len()
        .saturating_sub(usize::from(screen.size().rows()));
    let row = screen
        .main_rows()
        .nth(top + usize::from(main.saved.position.0));
    save_cursor(&main.saved, row, out);
    // Entering saves the cursor too; it must save the same.
    restore_to_save(&main.saved, out);
    out.raw(b"\x1b[?1049h");
    undo_saved(&main.saved, out);
    // Entering filled the screen with the saved pen's colours.
    out.raw(b"\x1b[2J");
    let rows: Vec<Row<'_>> = screen.alternate_rows().collect();
    out.raw(b"\x1b[H");
    lines(&rows[..last_to_paint(&rows, 0, 0)], out);
}

fn restore_to_save(saved: &Saved, out: &mut Painter) {
    if saved.is_default() {
        out.raw(b"\x1b[H");
    } else {
        out.raw(b"\x1b8");
    }
}

fn undo_saved(saved: &Saved, out: &mut Painter) {
    out.forget_pen();
    out.plain();
    if saved.origin {
        out.raw(b"\x1b[?6l");
    }
    reset_charsets(&saved.charsets, out);
}

fn tab_stops(screen: &Screen, probed: &Probed, out: &mut Painter) {
    let last = screen.size().cols() - 1;
    let usual = (1..).map(|n| n * TAB).take_while(|&stop| stop < last);
    if usual.eq(probed.tabs.iter().copied()) {
        return;
    }
    out.raw(b"\x1b[3g");
    for stop in &probed.tabs {
        out.fmt(format_args!("\x1b[{}G\x1bH", stop + 1));
    }
}

/// Makes the state to save, saves it, and undoes it.
fn save_cursor(saved: &Saved, row: Option<Row<'_>>, out: &mut Painter) {
    if saved.is_default() {
        return;
    }
    if saved.origin {
        out.raw(b"\x1b[?6h");
    }
    place(
        row.filter(|_| saved.pending_wrap),
        saved.position,
        (0, 0),
        out,
    );
    charsets(&saved.charsets, out);
    out.pen(saved.pen);
    out.raw(b"\x1b7");
    undo_saved(saved, out);
}

/// Margins, origin mode and the cursor within them.
fn cursor(screen: &Screen, out: &mut Painter) {
    let (top, bottom) = screen.scroll_region();
    if (top, bottom) != (0, screen.size().rows() - 1) {
        out.fmt(format_args!("\x1b[{};{}r", top + 1, bottom + 1));
    }
    let mut left = 0;
    if screen.mode(Mode::LeftRightMargins) {
        let (first, last) = screen.left_right_margins();
        left = first;
        out.fmt(format_args!("\x1b[?69h\x1b[{};{}s", first + 1, last + 1));
    }
    let origin = screen.mode(Mode::Origin);
    if origin {
        out.raw(b"\x1b[?6h");
    }
    let home = if origin { (top, left) } else { (0, 0) };
    let at = screen.cursor_position();
    place(
        screen.window().row(at.0).filter(|_| screen.pending_wrap()),
        at,
        home,
        out,
    );
}

/// Puts the cursor at `(row, column)`, counted from `home`. No sequence makes a wrap pending, so
/// for that the glyph at the cursor is printed again, read off the row given.
fn place(pending_on: Option<Row<'_>>, at: (u16, u16), home: (u16, u16), out: &mut Painter) {
    let (y, mut x) = at;
    let cell = |x: u16| pending_on.as_ref().and_then(|row| row.cell(usize::from(x)));
    if cell(x).is_some_and(|cell| cell.is_wide_continuation()) {
        x = x.saturating_sub(1);
    }
    let (row, col) = (y.saturating_sub(home.0) + 1, x.saturating_sub(home.1) + 1);
    out.fmt(format_args!("\x1b[{row};{col}H"));
    if let Some(cell) = cell(x) {
        out.cell(
            cell,
            pending_on.as_ref().and_then(|row| row.link(usize::from(x))),
        );
        out.plain();
    }
}

fn modes(screen: &Screen, out: &mut Painter) {
    for (mode, set) in OFF_AT_FIRST {
        if screen.mode(mode) {
            out.raw(set.as_bytes());
        }
    }
    for (mode, reset) in ON_AT_FIRST {
        if !screen.mode(mode) {
            out.raw(reset.as_bytes());
        }
    }
    out.raw(match screen.mouse_protocol_mode() {
        MouseProtocolMode::None => b"",
        MouseProtocolMode::Press => b"\x1b[?9h",
        MouseProtocolMode::PressRelease => b"\x1b[?1000h",
        MouseProtocolMode::Highlight => b"\x1b[?1001h",
        MouseProtocolMode::ButtonMotion => b"\x1b[?1002h",
        MouseProtocolMode::AnyMotion => b"\x1b[?1003h",
    });
    out.raw(match screen.mouse_protocol_encoding() {
        MouseProtocolEncoding::Default => b"",
        MouseProtocolEncoding::Utf8 => b"\x1b[?1005h",
        MouseProtocolEncoding::Sgr => b"\x1b[?1006h",
        MouseProtocolEncoding::Urxvt => b"\x1b[?1015h",
    });
    if let Some(level) = screen.modify_other_keys() {
        out.fmt(format_args!("\x1b[>4;{}m", paint::other_keys(level)));
    }
    let shape = screen.cursor_shape().number();
    if shape != SHAPE_OF_ITS_OWN {
        out.fmt(format_args!("\x1b[{shape} q"));
    }
}

fn keyboard(of: &OfScreen, out: &mut Painter) {
    for flags in &of.keyboard {
        out.fmt(format_args!("\x1b[>{flags}u"));
    }
}

fn charsets(charsets: &Charsets, out: &mut Painter) {
    for (n, (&set, usual)) in charsets.sets.iter().zip(Charsets::DEFAULT.sets).enumerate() {
        if set != usual {
            designate(n, set, out);
        }
    }
    if charsets.used != 0 {
        out.raw(SHIFTS[charsets.used]);
    }
}

fn reset_charsets(charsets: &Charsets, out: &mut Painter) {
    for (n, (&set, usual)) in charsets.sets.iter().zip(Charsets::DEFAULT.sets).enumerate() {
        if set != usual {
            designate(n, usual, out);
        }
    }
    if charsets.used != 0 {
        out.raw(SHIFTS[0]);
    }
}

fn designate(n: usize, set: Charset, out: &mut Painter) {
    let name = match set {
        Charset::Ascii => 'B',
        Charset::Graphics => '0',
        Charset::Supplemental => '<',
    };
    out.fmt(format_args!("\x1b{}{name}", ['(', ')', '*', '+'][n]));
}
