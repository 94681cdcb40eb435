//! Where the bytes of a log lie in its file, and which line begins where. Pure.
//!
//! The beginning of the output stays. After it comes a ring of blocks: a new block takes the place of
//! the oldest. Newlines are counted when bytes arrive, so that line numbers stay true whatever was
//! dropped.

use std::collections::VecDeque;
use std::ops::Range;

/// Sizes of a log, in bytes. Both parts are whole blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) head: u64,
    pub(super) tail: u64,
    pub(super) block: u64,
}

/// The table of contents of a log.
#[derive(Debug)]
pub(super) struct Index {
    sizes: Sizes,
    /// Bytes so far, dropped ones too.
    total: u64,
    newlines: u64,
    /// The last byte so far is a newline, or there is none.
    at_line_start: bool,
    /// The blocks of the beginning.
    head: Vec<Block>,
    /// What follows the beginning, once something does.
    after_head: Option<Block>,
    /// The blocks of the ring, oldest first; consecutive up to the newest.
    ring: VecDeque<Block>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    /// Position of its first byte in the output.
    start: u64,
    /// Newlines before it.
    newlines: u64,
    /// A line begins with its first byte.
    at_line_start: bool,
}

/// A part of the output that is kept whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// Positions in the output.
    pub(super) bytes: Range<u64>,
    /// Number of the line at its first byte.
    pub(super) line: u64,
    /// That line begins there, and not before.
    pub(super) begins: bool,
    /// The output goes on after it, and what follows was dropped.
    pub(super) cut: bool,
}

impl Index {
    pub(super) fn new(sizes: Sizes) -> Self {
        Self {
            sizes,
            total: 0,
            newlines: 0,
            at_line_start: true,
            head: Vec::new(),
            after_head: None,
            ring: VecDeque::new(),
        }
    }

    /// Takes the next bytes of the output in, up to the end of a block: how many, and where in the
    /// file they go.
    pub(super) fn take(&mut self, bytes: &[u8]) -> (usize, u64) {
        let into = self.total % self.sizes.block;
        if into == 0 {
            self.begin_block();
        }
        let room = usize::try_from(self.sizes.block - into).unwrap_or(usize::MAX);
        let length = bytes.len().min(room);
        let taken = &bytes[..length];
        let place = self.place(self.total);
        self.total += length as u64;
        self.newlines += taken.iter().filter(|byte| **byte == b'\n').count() as u64;
        if let Some(last) = taken.last() {
            self.at_line_start = *last == b'\n';
        }
        (length, place)
    }

    /// Where a byte of the output lies in the file.
    pub(super) fn place(&self, position: u64) -> u64 {
        let Sizes { head, tail, .. } = self.sizes;
        match position.checked_sub(head) {
            None => position,
            Some(after) => head + after % tail,
        }
    }

    /// Bytes from a position that lie side by side in the file.
    pub(super) fn side_by_side(&self, position: u64) -> u64 {
        self.sizes.block - position % self.sizes.block
    }

    /// Lines so far, one without its newline included.
    pub(super) fn lines(&self) -> u64 {
        self.newlines + u64::from(!self.at_line_start)
    }

    /// Lines of which nothing is kept.
    pub(super) fn dropped(&self) -> u64 {
        self.gap()
            .map_or(0, |gap| gap.tail.newlines.saturating_sub(gap.first_missing))
    }

    /// The kept stretch that shows this line or, when it was dropped, what comes after it. It starts
    /// at the nearest block before the line, so that little has to be skipped.
    pub(super) fn at_line(&self, line: u64) -> Stretch {
        match self.gap() {
            Some(gap) if line < gap.first_missing => {
                self.stretch(&self.head, line, self.sizes.head, true)
            }
            Some(_) => self.at_line_of_tail(line),
            None => {
                let blocks = self.head.iter().chain(&self.ring);
                self.stretch(blocks, line, self.total, false)
            }
        }
    }

    /// The same, when the end of the output matters more: of a line whose middle was dropped the end
    /// is shown.
    pub(super) fn at_line_of_tail(&self, line: u64) -> Stretch {
        match self.gap() {
            Some(_) => self.stretch(self.ring.iter(), line, self.total, false),
            None => self.at_line(line),
        }
    }

    /// The first line of which something is kept at the end of the output.
    pub(super) fn first_of_tail(&self) -> u64 {
        self.gap().map_or(0, |gap| gap.tail.newlines)
    }

    fn begin_block(&mut self) {
        let block = Block {
            start: self.total,
            newlines: self.newlines,
            at_line_start: self.at_line_start,
        };
        if self.total < self.sizes.head {
            self.head.push(block);
            return;
        }
        self.after_head.get_or_insert(block);
        if self.sizes.tail / self.sizes.block <= self.ring.len() as u64 {
            self.ring.pop_front();
        }
        self.ring.push_back(block);
    }

    /// What was dropped, if something was.
    fn gap(&self) -> Option<Gap> {
        let (after, tail) = (self.after_head?, *self.ring.front()?);
        (after.start < tail.start).then_some(Gap {
            first_missing: after.newlines + u64::from(!after.at_line_start),
            tail,
        })
    }

    fn stretch<'a>(
        &self,
        blocks: impl IntoIterator<Item = &'a Block>,
        line: u64,
        end: u64,
        cut: bool,
    ) -> Stretch {
        let mut blocks = blocks.into_iter();
        // An empty log has no block.
        let mut from = blocks.next().copied().unwrap_or(Block {
            start: end,
            newlines: self.newlines,
            at_line_start: true,
        });
        let before = |it: &&Block| it.newlines < line || it.newlines == line && it.at_line_start;
        from = blocks.take_while(before).last().copied().unwrap_or(from);
        Stretch {
            bytes: from.start..end,
            line: from.newlines,
            begins: from.at_line_start,
            cut,
        }
    }
}

/// The two sides of what was dropped.
struct Gap {
    /// The first line of which the beginning of the log has nothing.
    first_missing: u64,
    /// The first block after the gap.
    tail: Block,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes {
        head: 8,
        tail: 8,
        block: 4,
    };

    fn index(text: &str) -> Index {
        let mut index = Index::new(SIZES);
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let (taken, _) = index.take(rest);
            rest = &rest[taken..];
        }
        index
    }

    #[test]
    fn nothing_is_dropped_while_it_fits() {
        let index = index("a\nb\nc\nd\ne\nf\ng\nh");
        assert_eq!((index.lines(), index.dropped()), (8, 0));
        assert_eq!(index.at_line(5).bytes, 8..15);
        assert_eq!(index.at_line(5).line, 4);
    }

    #[test]
    fn a_new_block_takes_the_place_of_the_oldest_after_the_beginning() {
        let index = index("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n");
        assert_eq!(index.place(16), 8);
        assert_eq!((index.lines(), index.dropped()), (10, 2));
        assert_eq!(index.at_line(3).bytes, 4..8);
        assert_eq!(index.at_line(4).bytes, 12..20, "e is gone, g comes next");
        assert_eq!(index.first_of_tail(), 6);
    }

    #[test]
    fn a_line_of_which_a_part_is_kept_is_not_dropped() {
        let index = index("aaaa\nbbbbbbbbbbbbbbbbbbbb\nc");
        let (head, tail) = (index.at_line(1), index.at_line(2));
        assert!(head.cut && head.bytes.end == 8);
        assert!(!tail.begins && tail.line == 1, "{tail:?}");
        assert_eq!((index.lines(), index.dropped()), (3, 0));
    }
}
