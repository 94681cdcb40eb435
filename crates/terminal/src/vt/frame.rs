//! What a screen shows, read off its cells.
//!
//! Text for a model differs from text for a machine: a concealed cell is marked, and characters
//! that would reorder or hide text are spelled out, because a model reads what a person cannot see.

use std::hash::{DefaultHasher, Hash, Hasher};

use fux_vt::{Attributes, CellRef, Cells, LineRendition, Mode, Screen};
use wire::visible;

use crate::screen::{Cursor, Row};

/// Stands for a cell that holds text the program concealed (SGR 8).
const CONCEALED: char = '·';

/// A line of cells, of a screen or of a frame kept of it.
pub(super) struct Line<C> {
    cells: C,
    wrapped: bool,
    rendition: LineRendition,
}

/// A frame's cells, kept while the screen goes on. Keeping is cheap and reading is not: most frames
/// kept are never read.
pub(super) struct Frame {
    lines: Vec<Line<Cells>>,
    seen: Seen,
}

/// What is seen beside the lines.
#[derive(Clone, Copy, Hash)]
pub(super) struct Seen {
    pub(super) cursor: Cursor,
    reversed: bool,
    size: (u16, u16),
}

impl Frame {
    pub(super) fn of(screen: &Screen) -> Self {
        let keep = |row: fux_vt::Row<'_>| Line {
            // A row that there is no room to keep is kept as blank.
            cells: Cells::try_from_iter(row.cells().take(width(&row))).unwrap_or_default(),
            wrapped: row.continues(),
            rendition: row.rendition(),
        };
        Self {
            lines: viewport(screen).map(keep).collect(),
            seen: seen(screen),
        }
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = Line<impl Iterator<Item = CellRef<'_>>>> {
        self.lines.iter().map(|line| Line {
            cells: line.cells.iter(),
            wrapped: line.wrapped,
            rendition: line.rendition,
        })
    }

    pub(super) fn seen(&self) -> Seen {
        self.seen
    }
}

/// The screen's lines as they are now.
pub(super) fn lines(
    screen: &Screen,
) -> impl Iterator<Item = Line<impl Iterator<Item = CellRef<'_>>>> {
    viewport(screen).map(|row| Line {
        cells: row.cells(),
        wrapped: row.continues(),
        rendition: row.rendition(),
    })
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
pub(super) fn rows<'a, C>(lines: impl Iterator<Item = Line<C>>) -> Vec<Row>
where
    C: Iterator<Item = CellRef<'a>>,
{
    let mut rows: Vec<Row> = lines
        .map(|line| Row {
            wrapped: line.wrapped,
            text: text(line.cells, |cell, out| out.push_str(cell.shown())),
        })
        .collect();
    if let Some(last) = rows.last_mut() {
        last.wrapped = false;
    }
    rows
}

/// The rows for a model.
pub(super) fn model_rows<'a, C>(lines: impl Iterator<Item = Line<C>>) -> Vec<String>
where
    C: Iterator<Item = CellRef<'a>>,
{
    let push = |cell: CellRef<'a>, out: &mut String| {
        if is_concealed(&cell) {
            out.push(CONCEALED);
        } else {
            push_visible(cell.shown(), out);
        }
    };
    lines.map(|line| text(line.cells, push)).collect()
}

/// How many cells hold concealed text.
pub(super) fn concealed<'a, C>(lines: impl Iterator<Item = Line<C>>) -> usize
where
    C: Iterator<Item = CellRef<'a>>,
{
    lines
        .flat_map(|line| line.cells)
        .filter(is_concealed)
        .count()
}

/// A hash that is equal for equal displays. A blank and a space look the same, and so they count.
pub(super) fn fingerprint<'a, C>(lines: impl Iterator<Item = Line<C>>, seen: Seen) -> u64
where
    C: Iterator<Item = CellRef<'a>>,
{
    let mut hasher = DefaultHasher::new();
    seen.hash(&mut hasher);
    for line in lines {
        line.rendition.hash(&mut hasher);
        let mut attributes = Attributes::default();
        let mut blanks = 0_usize;
        for cell in line.cells.filter(|cell| !cell.is_wide_continuation()) {
            let plain = cell.attributes() == Attributes::default();
            if plain && cell.shown() == " " {
                blanks += 1;
                continue;
            }
            // Blanks count only when something follows them on the row.
            std::mem::take(&mut blanks).hash(&mut hasher);
            if cell.attributes() != attributes {
                attributes = cell.attributes();
                attributes.hash(&mut hasher);
            }
            cell.shown().hash(&mut hasher);
        }
        hasher.write_u8(b'\n');
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

fn viewport(screen: &Screen) -> impl Iterator<Item = fux_vt::Row<'_>> {
    let window = screen.window();
    (0..window.rows()).filter_map(move |y| window.row(y))
}

/// Cells as text, each as `push` writes it, without trailing blanks.
fn text<'a>(
    cells: impl Iterator<Item = CellRef<'a>>,
    push: impl Fn(CellRef<'a>, &mut String),
) -> String {
    let mut text = String::new();
    cells
        .filter(|cell| !cell.is_wide_continuation())
        .for_each(|cell| push(cell, &mut text));
    text.truncate(text.trim_end_matches(' ').len());
    text
}

fn is_concealed(cell: &CellRef<'_>) -> bool {
    cell.attributes().hidden() && !cell.is_wide_continuation() && cell.shown() != " "
}

fn push_visible(cluster: &str, out: &mut String) {
    cluster.chars().for_each(|c| visible::push(c, out));
}
