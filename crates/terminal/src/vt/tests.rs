use std::time::Instant;

use super::cases::{self, Seen, Step};
use super::*;

mod bounds;
mod conformance;
mod keyframes;
mod reading;
mod recordings;

fn size(cols: u16, rows: u16) -> Size {
    Size::new(cols, rows).unwrap()
}

fn fed(cols: u16, rows: u16, bytes: &[u8]) -> Vt {
    let mut vt = Vt::new(size(cols, rows));
    vt.feed(Instant::now(), bytes);
    vt
}

fn texts(vt: &Vt) -> Vec<String> {
    vt.rows().into_iter().map(|row| row.text).collect()
}

/// Everything two terminals must agree on to be taken for the same.
fn display(vt: &Vt) -> (Vec<Row>, Cursor, Modes, bool, String, u64) {
    (
        vt.rows(),
        vt.cursor(),
        vt.modes(),
        vt.alternate_screen(),
        vt.title().to_owned(),
        vt.fingerprint(),
    )
}
