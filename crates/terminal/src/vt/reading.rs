//! The rows of a screen as readers get them. Each is read off its cells once and then remembered until it changes:
//! a screen is looked at after every piece of output that somebody waits for, and most of its rows stay.
//!
//! Text for a model differs from text for a machine: a concealed cell is marked, and characters
//! that would reorder or hide text are spelled out, because a model reads what a person cannot see.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock};

use fux_vt::{Attributes, CellRef, LineRendition, Mode, Row, RowId, Screen};
use wire::visible;

/// Stands for a cell that holds text the program concealed (SGR 8).
const CONCEALED: char = '·';

/// Most rows of most screens.
static BLANK: LazyLock<Arc<Reading>> = LazyLock::new(|| Arc::new(Reading::of([].into_iter())));

/// What a row's cells say.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reading {
    text: String,
    /// What a model reads, where that is something else.
    model: Option<String>,
    concealed: usize,
    hash: u64,
}

/// A row of a screen, or of a frame kept of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) reading: Arc<Reading>,
    /// It goes on in the next.
    pub(super) wrapped: bool,
    pub(super) rendition: LineRendition,
}

/// What was read last.
#[derive(Default)]
pub(super) struct Reader(RefCell<Last>);

#[derive(Default)]
struct Last {
    /// Of the screen, and which of the two it is.
    version: Option<(u64, bool)>,
    /// Name and version of each row.
    rows: Vec<(RowId, u64)>,
    lines: Vec<Line>,
}

impl Reader {
    /// The rows of the viewport.
    pub(super) fn lines(&self, screen: &Screen) -> Vec<Line> {
        let version = Some((screen.version(), screen.mode(Mode::AlternateScreen)));
        let last = self.0.take();
        let now = if last.version == version {
            last
        } else {
            Last {
                version,
                ..last.read_on(screen)
            }
        };
        let lines = now.lines.clone();
        self.0.replace(now);
        lines
    }
}

impl Last {
    /// The screen's rows, of which only those are read that are new here.
    fn read_on(self, screen: &Screen) -> Self {
        let mut now = Self::default();
        // Rows mostly follow each other as before, if further up.
        let mut next = 0;
        for row in viewport(screen) {
            let key = (row.id(), row.version());
            let at = if self.rows.get(next) == Some(&key) {
                Some(next)
            } else {
                self.rows.iter().position(|it| *it == key)
            };
            let known = at.and_then(|at| self.lines.get(at));
            now.rows.push(key);
            now.lines.push(Line {
                reading: known.map_or_else(|| read(&row), |line| Arc::clone(&line.reading)),
                wrapped: row.continues(),
                rendition: row.rendition(),
            });
            next = at.map_or(next, |at| at + 1);
        }
        now
    }
}

impl Reading {
    /// Its text, trailing blanks trimmed, a wide character once.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The same as a model may read it.
    pub(super) fn model(&self) -> &str {
        self.model.as_ref().unwrap_or(&self.text)
    }

    /// How many cells hold concealed text.
    pub(super) fn concealed(&self) -> usize {
        self.concealed
    }

    /// Equal for rows that look the same. A blank and a space do, and so they count.
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    /// Reads cells, of which the last is none that looks blank.
    fn of<'a>(cells: impl ExactSizeIterator<Item = CellRef<'a>>) -> Self {
        let mut hasher = DefaultHasher::new();
        cells.len().hash(&mut hasher);
        let mut text = String::with_capacity(cells.len());
        let (mut model, mut concealed) = (None, 0);
        let mut attributes = Attributes::default();
        for (col, cell) in cells.enumerate() {
            if cell.is_wide_continuation() {
                continue;
            }
            if cell.attributes() != attributes {
                attributes = cell.attributes();
                (col, attributes).hash(&mut hasher);
            }
            let shown = cell.shown();
            let hidden = attributes.hidden() && shown != " ";
            if hidden || is_steering(shown) {
                model.get_or_insert_with(|| text.clone());
            }
            match &mut model {
                Some(model) if hidden => model.push(CONCEALED),
                Some(model) => shown.chars().for_each(|c| visible::push(c, model)),
                None => {}
            }
            concealed += usize::from(hidden);
            text.push_str(shown);
        }
        text.hash(&mut hasher);
        trim(&mut text);
        model.as_mut().map(trim);
        Self {
            text,
            model,
            concealed,
            hash: hasher.finish(),
        }
    }
}

/// The rows of the viewport, from the top.
fn viewport(screen: &Screen) -> impl Iterator<Item = Row<'_>> {
    let window = screen.window();
    (0..window.rows()).filter_map(move |y| window.row(y))
}

fn read(row: &Row<'_>) -> Arc<Reading> {
    let plain = Attributes::default();
    let blank = |cell: &CellRef<'_>| {
        !cell.is_wide_continuation() && cell.shown() == " " && cell.attributes() == plain
    };
    let width = row.len() - row.cells().rev().take_while(blank).count();
    if width == 0 {
        return Arc::clone(&BLANK);
    }
    Arc::new(Reading::of(row.cells().take(width)))
}

/// Whether a cell's text is spelled out for a model.
fn is_steering(shown: &str) -> bool {
    match shown.as_bytes() {
        [byte] => byte.is_ascii_control(),
        _ => shown
            .chars()
            .any(|c| c.is_control() || visible::is_invisible(c)),
    }
}

fn trim(text: &mut String) {
    text.truncate(text.trim_end_matches(' ').len());
}
