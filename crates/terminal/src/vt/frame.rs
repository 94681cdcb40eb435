//! What a screen shows, read off its cells.
//!
//! Text for a model differs from text for a machine: a concealed cell is marked, and characters
//! that would reorder or hide text are spelled out, because a model reads what a person cannot see.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};

use fux_vt::{Attributes, Mode, Screen};

use crate::screen::{Cursor, Row};

/// Stands for a cell that holds text the program concealed (SGR 8).
const CONCEALED: char = '·';

/// Everything read of one frame.
pub(super) struct Frame {
    pub(super) rows: Vec<Row>,
    pub(super) model_rows: Vec<String>,
    pub(super) concealed: usize,
    pub(super) cursor: Cursor,
    pub(super) fingerprint: u64,
}

impl Frame {
    pub(super) fn of(screen: &Screen) -> Self {
        Self {
            rows: rows(screen),
            model_rows: model_rows(screen),
            concealed: concealed(screen),
            cursor: cursor(screen),
            fingerprint: fingerprint(screen),
        }
    }
}

/// The viewport. The last row goes on nowhere, whatever the engine remembers of it.
pub(super) fn rows(screen: &Screen) -> Vec<Row> {
    let count = screen.size().rows();
    let read = |row: fux_vt::Row<'_>| {
        let mut text = String::with_capacity(row.len());
        for cell in row.cells().filter(|cell| !cell.is_wide_continuation()) {
            text.push_str(cell.shown());
        }
        text.truncate(text.trim_end_matches(' ').len());
        Row {
            text,
            wrapped: row.continues(),
        }
    };
    let window = screen.window();
    let mut rows: Vec<Row> = (0..count).filter_map(|y| window.row(y)).map(read).collect();
    if let Some(last) = rows.last_mut() {
        last.wrapped = false;
    }
    rows
}

/// The viewport for a model.
pub(super) fn model_rows(screen: &Screen) -> Vec<String> {
    let window = screen.window();
    let read = |row: fux_vt::Row<'_>| {
        let mut text = String::with_capacity(row.len());
        for cell in row.cells().filter(|cell| !cell.is_wide_continuation()) {
            if cell.attributes().hidden() && cell.shown() != " " {
                text.push(CONCEALED);
            } else {
                push_visible(cell.shown(), &mut text);
            }
        }
        text.truncate(text.trim_end_matches(' ').len());
        text
    };
    (0..window.rows())
        .filter_map(|y| window.row(y))
        .map(read)
        .collect()
}

/// How many cells hold concealed text.
pub(super) fn concealed(screen: &Screen) -> usize {
    let window = screen.window();
    let rows = (0..window.rows()).filter_map(|y| window.row(y));
    rows.flat_map(|row| row.cells())
        .filter(|cell| cell.attributes().hidden() && cell.shown() != " ")
        .count()
}

pub(super) fn cursor(screen: &Screen) -> Cursor {
    let (row, col) = screen.cursor_position();
    Cursor {
        row,
        col,
        visible: screen.mode(Mode::ShowCursor),
    }
}

/// A hash that is equal for equal displays. A blank and a space look the same, and so they count.
pub(super) fn fingerprint(screen: &Screen) -> u64 {
    let mut hasher = DefaultHasher::new();
    let window = screen.window();
    let cursor = cursor(screen);
    (cursor.row, cursor.col, cursor.visible).hash(&mut hasher);
    screen.mode(Mode::ReverseVideo).hash(&mut hasher);
    (window.rows(), window.cols()).hash(&mut hasher);
    for row in (0..window.rows()).filter_map(|y| window.row(y)) {
        row.rendition().hash(&mut hasher);
        let mut attributes = Attributes::default();
        let mut blanks = 0_usize;
        for cell in row.cells().filter(|cell| !cell.is_wide_continuation()) {
            let changed = cell.attributes() != attributes;
            if cell.shown() == " " && !changed && attributes == Attributes::default() {
                blanks += 1;
                continue;
            }
            // Blanks count only when something follows them on the row.
            std::mem::take(&mut blanks).hash(&mut hasher);
            if changed {
                attributes = cell.attributes();
                attributes.hash(&mut hasher);
            }
            cell.shown().hash(&mut hasher);
        }
        hasher.write_u8(b'\n');
    }
    hasher.finish()
}

/// Whether a character changes how others are shown, or hides in them, and shows nothing itself.
/// Joiners and variation selectors are not among them: emoji are made of them.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn push_visible(cluster: &str, out: &mut String) {
    for c in cluster.chars() {
        if is_invisible(c) || c.is_control() {
            // Writing to a string cannot fail.
            let _ = write!(out, "<U+{:04X}>", u32::from(c));
        } else {
            out.push(c);
        }
    }
}
