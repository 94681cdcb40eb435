//! The end of the viewer stream, kept so that a viewer can go on exactly where it was.
//!
//! A ring of pieces, each with its place in the stream. Pieces end where the stream can be cut
//! safely, and old ones go whole. What begins within a string too long to hold is not safe to begin
//! with, which is why a viewer without a place of its own begins with a keyframe instead.

use std::collections::VecDeque;

use bytes::Bytes;
use wire::limits::SCROLLBACK_UNITS;

/// Small pieces are joined up to this size: a keystroke's echo is not worth its own allocation.
const PIECE_BYTES: usize = 4_096;

/// The last bytes of a stream, at most [`SCROLLBACK_UNITS`] UTF-16 units of them.
#[derive(Debug, Default)]
pub struct Ring {
    pieces: VecDeque<Piece>,
    start: u64,
    end: u64,
    units: usize,
}

#[derive(Debug)]
struct Piece {
    offset: u64,
    bytes: Vec<u8>,
    units: usize,
}

impl Ring {
    /// Appends a piece that ends at a safe point.
    pub fn push(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let units = units(bytes);
        match self.pieces.back_mut() {
            Some(last) if last.bytes.len() + bytes.len() <= PIECE_BYTES => {
                last.bytes.extend_from_slice(bytes);
                last.units += units;
            }
            _ => {
                self.pieces.push_back(Piece {
                    offset: self.end,
                    bytes: bytes.to_vec(),
                    units,
                });
            }
        }
        self.end += bytes.len() as u64;
        self.units += units;
        while self.units > SCROLLBACK_UNITS {
            let Some(oldest) = self.pieces.pop_front() else {
                break;
            };
            self.units -= oldest.units;
            self.start = oldest.offset + oldest.bytes.len() as u64;
        }
    }

    /// Where the oldest kept byte stands in the stream.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// How long the stream is.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// At most `most` bytes from `offset` on, in one piece; empty at the end. `None`: they are not
    /// kept any more, or not there yet.
    pub fn read(&self, offset: u64, most: usize) -> Option<Bytes> {
        if offset < self.start || self.end < offset {
            return None;
        }
        let at = self.pieces.partition_point(|piece| piece.offset <= offset);
        let mut out = Vec::new();
        for piece in self.pieces.range(at.saturating_sub(1)..) {
            let from = offset.saturating_sub(piece.offset) as usize;
            let take = (piece.bytes.len() - from).min(most - out.len());
            out.extend_from_slice(&piece.bytes[from..from + take]);
            if out.len() == most {
                break;
            }
        }
        Some(out.into())
    }
}

/// UTF-16 units of bytes: each byte that begins a character is one, or two for one beyond the
/// basic plane. Right also when a character is cut.
fn units(bytes: &[u8]) -> usize {
    let begins = bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
    begins + bytes.iter().filter(|byte| **byte >= 0xf0).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b52_any_kept_place_can_be_read_on_from() {
        let mut ring = Ring::default();
        let mut all = Vec::new();
        for n in 0..3_000_u32 {
            let piece = format!("line {n}\r\n");
            ring.push(piece.as_bytes());
            all.extend_from_slice(piece.as_bytes());
        }
        for offset in [0, 1, 4_095, 4_096, 4_097, all.len() - 1, all.len()] {
            let read = ring.read(offset as u64, usize::MAX).unwrap();
            assert_eq!(read, all[offset..]);
            assert_eq!(
                ring.read(offset as u64, 7).unwrap(),
                all[offset..(offset + 7).min(all.len())]
            );
        }
        assert_eq!(ring.read(all.len() as u64 + 1, 1), None);
    }

    #[test]
    fn b34_what_is_kept_is_bounded_in_units_and_its_place_is_known() {
        let mut ring = Ring::default();
        let piece = "𝒳é\n".repeat(1_000);
        for _ in 0..1_000 {
            ring.push(piece.as_bytes());
        }
        assert_eq!(ring.end(), 1_000 * piece.len() as u64);
        assert!(ring.units <= SCROLLBACK_UNITS && ring.units > SCROLLBACK_UNITS - 8_000);
        assert_eq!(ring.start() % piece.len() as u64, 0);
        assert_eq!(ring.read(ring.start() - 1, 1), None);
        let kept = ring.read(ring.start(), usize::MAX).unwrap();
        assert_eq!(
            std::str::from_utf8(&kept).unwrap().encode_utf16().count(),
            ring.units
        );
    }
}
