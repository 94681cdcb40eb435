//! Which rows would not rest before a deadline, so that a caller sees why its wait timed out.
//!
//! Rows are compared only in the last moments of a wait, and only when output comes: a silent
//! terminal is never rendered for it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use wire::limits::QUIET;

use crate::screen::Row;
use crate::vt::Vt;
use crate::wait::Waiter;

/// A spinner turns within this.
const WATCHED: Duration = QUIET;

/// The rows that changed before a deadline.
#[derive(Debug, Default)]
pub(super) struct Restless {
    last: Option<Vec<Row>>,
    changed: BTreeSet<u16>,
}

impl Restless {
    /// Notes the screen before the first output that counts. True: it is to be compared after.
    pub(super) fn before(&mut self, now: Instant, waiter: &Waiter, vt: &Vt) {
        if self.last.is_none() && waiter.ends() <= now + WATCHED {
            self.last = Some(vt.rows());
        }
    }

    pub(super) fn after(&mut self, vt: &Vt) {
        let Some(last) = &mut self.last else { return };
        let rows = vt.rows();
        for (at, row) in (0..).zip(&rows) {
            if last.get(usize::from(at)) != Some(row) {
                self.changed.insert(at);
            }
        }
        *last = rows;
    }

    pub(super) fn rows(&self) -> Vec<u16> {
        self.changed.iter().copied().collect()
    }
}
