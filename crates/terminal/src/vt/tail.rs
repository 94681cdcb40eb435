//! The last output of a program, from which an engine can be made anew.
//!
//! It begins at a safe point whenever it was cut: at an ESC, which begins a sequence wherever it
//! comes, or after a line's end.

use memchr::memchr2;

/// The most bytes kept.
const LIMIT: usize = 64 * 1024;
/// What is left after a cut: cutting is rare, and then costs a copy of this.
const AFTER_CUT: usize = LIMIT / 2;

/// At most [`LIMIT`] bytes.
#[derive(Debug, Default)]
pub(super) struct Tail(Vec<u8>);

impl Tail {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.0.len() + bytes.len() <= LIMIT {
            self.0.extend_from_slice(bytes);
            return;
        }
        let bytes = &bytes[bytes.len().saturating_sub(AFTER_CUT)..];
        let old = self.0.len().saturating_sub(AFTER_CUT - bytes.len());
        self.0.drain(..old);
        self.0.extend_from_slice(bytes);
        let cut =
            memchr2(0x1b, b'\n', &self.0).map_or(0, |at| at + usize::from(self.0[at] == b'\n'));
        self.0.drain(..cut);
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_bounded_and_begins_at_a_safe_point() {
        let mut tail = Tail::default();
        for n in 0..20_000 {
            tail.push(format!("line {n}\r\n").as_bytes());
            assert!(tail.bytes().len() <= LIMIT);
        }
        assert!(tail.bytes().starts_with(b"line "));
        assert!(tail.bytes().ends_with(b"line 19999\r\n"));
        tail.push(&[b'x'; 3 * LIMIT]);
        assert_eq!(tail.bytes(), [b'x'; AFTER_CUT]);
    }
}
