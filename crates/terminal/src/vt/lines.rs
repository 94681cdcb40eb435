//! Absolute numbers for the lines of the main screen and what scrolled off it.
//!
//! The engine names rows but does not number them, so one row is kept in mind with its number and
//! looked up again after each piece of output. When a piece was so long that even that row is
//! gone, the count goes on from it: then fewer lines are counted than there were.

use fux_vt::{Mode, RowId, Screen};

use crate::screen::Lines;

#[derive(Debug, Default)]
pub(super) struct LineCount {
    anchor: Option<Anchor>,
}

#[derive(Clone, Copy, Debug)]
struct Anchor {
    row: RowId,
    number: u64,
}

impl LineCount {
    /// Looks the anchor up and moves it to the top of the screen. The alternate screen scrolls
    /// nothing away, and hides the anchor from look-up, so nothing is done while it is shown.
    pub(super) fn follow(&mut self, screen: &Screen) {
        if screen.mode(Mode::AlternateScreen) {
            return;
        }
        let first = self.first(screen);
        let above = screen.history_len();
        if let Some(top) = screen.main_rows().nth(above) {
            self.anchor = Some(Anchor {
                row: top.id(),
                number: first + above as u64,
            });
        }
    }

    pub(super) fn lines(&self, screen: &Screen) -> Lines {
        let first = self.first(screen);
        Lines {
            first,
            total: first + screen.main_rows().len() as u64,
            dropped: first,
        }
    }

    /// The number of the oldest row kept.
    fn first(&self, screen: &Screen) -> u64 {
        let Some(Anchor { row, number }) = self.anchor else {
            return 0;
        };
        if screen.mode(Mode::AlternateScreen) {
            let above = screen
                .main_rows()
                .len()
                .saturating_sub(usize::from(screen.size().rows()));
            return number.saturating_sub(above as u64);
        }
        match screen.row_index(row) {
            Some(index) => number.saturating_sub(index as u64),
            None => number + 1,
        }
    }
}
