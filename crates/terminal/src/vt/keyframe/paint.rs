//! Cells into bytes, with no more attribute changes than the cells have.
//!
//! Cells are printed side by side, and a terminal joins what belongs to one grapheme cluster; where
//! the screen did not, the cursor is moved in between.

use std::fmt;
use std::io::Write as _;

use fux_vt::keys::encode::OtherKeysLevel;
use fux_vt::{Attributes, CellRef, Hyperlink, LineRendition, Row, SgrForm, continues_cluster};

/// A byte buffer that knows the pen and the open link.
pub(super) struct Painter {
    out: Vec<u8>,
    pen: Option<Attributes>,
    link: Option<u64>,
}

impl Painter {
    /// At a terminal that was just reset.
    pub(super) fn new() -> Self {
        Self {
            out: Vec::new(),
            pen: Some(Attributes::default()),
            link: None,
        }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    pub(super) fn fmt(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a vector cannot fail.
        let _ = self.out.write_fmt(text);
    }

    pub(super) fn pen(&mut self, attributes: Attributes) {
        if self.pen != Some(attributes) {
            self.raw(b"\x1b[0");
            attributes.write_sgr(&mut self.out, SgrForm::Paint { styles: true });
            self.raw(b"m");
            self.pen = Some(attributes);
        }
    }

    /// Another sequence set the pen.
    pub(super) fn forget_pen(&mut self) {
        self.pen = None;
    }

    /// No link and a default pen: what erases and scrolls must find.
    pub(super) fn plain(&mut self) {
        self.cell_link(None);
        self.pen(Attributes::default());
    }

    /// Opens the link that glyphs printed next shall have.
    pub(super) fn link(&mut self, link: Option<(&str, Option<&str>)>) {
        if let Some((uri, id)) = link {
            self.open_link(uri, id);
        }
    }

    /// The first `width` cells of a row, from its first column on.
    pub(super) fn row(&mut self, row: &Row<'_>, width: usize) {
        self.raw(match row.rendition() {
            LineRendition::Single => b"",
            LineRendition::DoubleWidth => b"\x1b#6",
            LineRendition::DoubleHeightTop => b"\x1b#3",
            LineRendition::DoubleHeightBottom => b"\x1b#4",
        });
        let spacer = usize::from(width == row.len() && row.ends_in_spacer());
        let mut before = "";
        let mut joined_by_width = false;
        for (column, cell) in row.cells().enumerate().take(width - spacer) {
            if cell.is_wide_continuation() {
                continue;
            }
            let text = cell.shown();
            let would_join = text
                .chars()
                .next()
                .is_some_and(|c| continues_cluster(before, c));
            if column > 0 && (would_join || joined_by_width) {
                self.fmt(format_args!("\x1b[{}G", column + 1));
            }
            self.cell(cell, row.has_links().then(|| row.link(column)).flatten());
            // A viewer may give a cluster another width; the next cell is then placed anyway.
            joined_by_width = text.chars().nth(1).is_some();
            before = text;
        }
    }

    /// Makes a pending wrap happen with a default pen, since the line it may scroll in is filled
    /// with the pen's colours; the row's first glyph does it, and is printed over afterwards.
    pub(super) fn wrap_plainly(&mut self, next: &Row<'_>) {
        if let Some(first) = next.cell(0)
            && first.attributes() != Attributes::default()
        {
            self.plain();
            self.raw(first.shown().as_bytes());
            self.raw(b"\r");
        }
    }

    pub(super) fn cell(&mut self, cell: CellRef<'_>, link: Option<&Hyperlink>) {
        self.cell_link(link);
        self.pen(cell.attributes());
        self.raw(cell.shown().as_bytes());
    }

    fn cell_link(&mut self, link: Option<&Hyperlink>) {
        let key = link.map(Hyperlink::key);
        if key == self.link {
            return;
        }
        match link {
            Some(link) => self.open_link(link.uri(), link.id()),
            None => self.raw(b"\x1b]8;;\x1b\\"),
        }
        self.link = key;
    }

    fn open_link(&mut self, uri: &str, id: Option<&str>) {
        match id {
            Some(id) => self.fmt(format_args!("\x1b]8;id={id};{uri}\x1b\\")),
            None => self.fmt(format_args!("\x1b]8;;{uri}\x1b\\")),
        }
    }
}

/// The level's number in `CSI > 4 ; level m`.
pub(super) fn other_keys(level: OtherKeysLevel) -> u8 {
    match level {
        OtherKeysLevel::Usual => 1,
        OtherKeysLevel::All => 2,
        OtherKeysLevel::Unmodified => 3,
    }
}
