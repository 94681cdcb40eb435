//! What a screen shows as a whole: its rows, its cursor, and a number for all of it.

use std::hash::{DefaultHasher, Hash, Hasher};

use fux_vt::{Attributes, CellRef, Mode, Screen};

use super::reading::Line;
use crate::screen::{Cursor, Row};

/// A frame, kept while the screen goes on.
pub(super) struct Frame {
    pub(super) lines: Vec<Line>,
    pub(super) seen: Seen,
}

/// What is seen beside the lines.
#[derive(Clone, Copy, Hash)]
pub(super) struct Seen {
    pub(super) cursor: Cursor,
    reversed: bool,
    size: (u16, u16),
}

/// What is seen now beside the lines.
pub(super) fn seen(screen: &Screen) -> Seen {
    let (row, col) = screen.cursor_position();
    Seen {
        cursor: Cursor {
            row,
            col,
            visible: screen.mode(Mode::ShowCursor),
        },
        reversed: screen.mode(Mode::ReverseVideo),
        size: screen.size().into(),
    }
}

/// The rows for a reader. The last goes on nowhere, whatever the engine remembers of it.
pub(super) fn rows(lines: &[Line]) -> Vec<Row> {
    let mut rows: Vec<Row> = lines
        .iter()
        .map(|line| Row {
            wrapped: line.wrapped,
            text: line.reading.text().to_owned(),
        })
        .collect();
    if let Some(last) = rows.last_mut() {
        last.wrapped = false;
    }
    rows
}

/// The rows for a model.
pub(super) fn model_rows(lines: &[Line]) -> Vec<String> {
    let text = |line: &Line| line.reading.model().to_owned();
    lines.iter().map(text).collect()
}

/// How many cells hold concealed text.
pub(super) fn concealed(lines: &[Line]) -> usize {
    lines.iter().map(|line| line.reading.concealed()).sum()
}

/// A hash that is equal for equal displays.
pub(super) fn fingerprint(lines: &[Line], seen: Seen) -> u64 {
    let mut hasher = DefaultHasher::new();
    seen.hash(&mut hasher);
    for line in lines {
        (line.rendition, line.reading.hash()).hash(&mut hasher);
    }
    hasher.finish()
}

/// Columns up to the last cell that is not a plain blank.
pub(super) fn width(row: &fux_vt::Row<'_>) -> usize {
    let plain = Attributes::default();
    let blank = |cell: &CellRef<'_>| {
        !cell.has_contents() && !cell.is_wide_continuation() && cell.attributes() == plain
    };
    row.len() - row.cells().rev().take_while(blank).count()
}
