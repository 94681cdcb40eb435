//! From kept bytes to the lines of one reading: numbered, printable, bounded. Pure.
//!
//! Invariant: whatever is left out of a line is told in the line, and what is left out of a reading
//! shows in its numbers.

use std::collections::VecDeque;

use terminal::printable::printable;
use wire::limits;

use super::index::Stretch;

/// Shown where the rest of a line was dropped.
const CUT: &str = "[…]";

/// Which lines a reading keeps when there are more than fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// The first so many.
    First(usize),
    /// The last so many.
    Last(usize),
}

/// Whether more bytes are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    More,
    Enough,
}

/// One reading of a log.
pub(super) struct Reading {
    from: u64,
    keep: Keep,
    /// Number of the line at hand.
    at: u64,
    line: Line,
    /// Number of the first of `lines`.
    first: u64,
    lines: VecDeque<String>,
    bytes: usize,
}

/// A line under way: its beginning and its end.
struct Line {
    begins: bool,
    empty: bool,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    omitted: u64,
}

impl Reading {
    /// Of a stretch, from this line on.
    pub(super) fn new(stretch: &Stretch, from: u64, keep: Keep) -> Self {
        Self {
            from,
            keep,
            at: stretch.line,
            line: Line::new(stretch.begins),
            first: from.max(stretch.line),
            lines: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Takes the next bytes of the stretch.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Flow {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.extend(&bytes[..end]);
            bytes = &bytes[end + 1..];
            if self.end_line("") == Flow::Enough {
                return Flow::Enough;
            }
        }
        self.extend(bytes);
        Flow::More
    }

    /// The number of the first line, and the lines. `cut` says that the output went on after the
    /// stretch.
    pub(super) fn finish(mut self, flow: Flow, cut: bool) -> (u64, Vec<String>) {
        if flow == Flow::More && !self.line.empty {
            let _ = self.end_line(if cut { CUT } else { "" });
        }
        (self.first, self.lines.into())
    }

    fn extend(&mut self, bytes: &[u8]) {
        if self.from <= self.at {
            self.line.push(bytes);
        } else {
            self.line.empty &= bytes.is_empty();
        }
    }

    fn end_line(&mut self, mark: &str) -> Flow {
        let line = std::mem::replace(&mut self.line, Line::new(true));
        self.at += 1;
        if self.at <= self.from {
            return Flow::More;
        }
        let mut shown = line.shown();
        shown.push_str(mark);
        let over = limits::LOG_BYTES < self.bytes + shown.len();
        match self.keep {
            Keep::First(count) => {
                if over || count <= self.lines.len() {
                    return Flow::Enough;
                }
                self.add(shown);
                if self.lines.len() < count {
                    Flow::More
                } else {
                    Flow::Enough
                }
            }
            Keep::Last(count) => {
                self.add(shown);
                while count < self.lines.len() || limits::LOG_BYTES < self.bytes {
                    let gone = self.lines.pop_front().unwrap_or_default();
                    self.bytes -= gone.len();
                    self.first += 1;
                }
                Flow::More
            }
        }
    }

    fn add(&mut self, shown: String) {
        self.bytes += shown.len();
        self.lines.push_back(shown);
    }
}

impl Line {
    fn new(begins: bool) -> Self {
        Self {
            begins,
            empty: true,
            head: Vec::new(),
            tail: VecDeque::new(),
            omitted: 0,
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.empty &= bytes.is_empty();
        let half = limits::LOG_LINE_BYTES / 2;
        let (head, tail) = bytes.split_at(bytes.len().min(half - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(tail);
        let over = self.tail.len().saturating_sub(half);
        self.tail.drain(..over);
        self.omitted += over as u64;
    }

    fn shown(mut self) -> String {
        let mut shown = String::new();
        if !self.begins {
            shown.push_str(CUT);
        }
        let tail: Vec<u8> = self.tail.into();
        if self.omitted == 0 {
            self.head.extend(tail);
            shown.push_str(&printable(&self.head));
        } else {
            let (head, tail) = (printable(&self.head), printable(&tail));
            let omitted = self.omitted;
            shown.push_str(&format!("{head}[… {omitted} bytes left out …]{tail}"));
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, from: u64, keep: Keep) -> (u64, Vec<String>) {
        let stretch = Stretch {
            bytes: 0..0,
            line: 0,
            begins: true,
            cut: false,
        };
        let mut reading = Reading::new(&stretch, from, keep);
        let mut flow = Flow::More;
        for piece in text.as_bytes().chunks(3) {
            if flow == Flow::More {
                flow = reading.push(piece);
            }
        }
        reading.finish(flow, false)
    }

    fn lines(given: &[&str]) -> Vec<String> {
        given.iter().map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn lines_are_taken_from_a_number_on_or_from_the_end() {
        let text = "a\nbb\n\nccc\nd";
        assert_eq!(read(text, 1, Keep::First(2)), (1, lines(&["bb", ""])));
        assert_eq!(read(text, 0, Keep::Last(2)), (3, lines(&["ccc", "d"])));
        assert_eq!(read(text, 9, Keep::First(2)), (9, Vec::new()));
        assert_eq!(read("", 0, Keep::Last(2)), (0, Vec::new()));
    }

    #[test]
    fn a_reading_stays_within_its_bytes_and_its_numbers_tell() {
        let text = format!("{}\n", "x".repeat(1_000)).repeat(400);
        let (from, first) = read(&text, 0, Keep::First(2_000));
        assert_eq!((from, first.len()), (0, limits::LOG_BYTES / 1_000));
        let (from, last) = read(&text, 0, Keep::Last(2_000));
        assert_eq!(last.len(), limits::LOG_BYTES / 1_000);
        assert_eq!(from + last.len() as u64, 400);
    }

    #[test]
    fn a_very_long_line_says_what_it_leaves_out() {
        let text = format!("begin{}end\n", "x".repeat(limits::LOG_LINE_BYTES));
        let (_, shown) = read(&text, 0, Keep::First(1));
        assert!(shown[0].starts_with("beginx") && shown[0].ends_with("xend"));
        assert!(shown[0].contains("[… 8 bytes left out …]"), "{}", shown[0]);
    }
}
