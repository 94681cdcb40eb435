//! Output of a plain command, bounded: its beginning and its end, and a count of what lay between.
//! Pure.

use std::collections::VecDeque;

use wire::bash::RunOutput;

use crate::printable::printable;

/// Keeps the first and the last bytes of a stream.
#[derive(Debug)]
pub struct Kept {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    omitted_bytes: u64,
    omitted_lines: u64,
}

impl Kept {
    /// Keeps at most `bytes`: half from the beginning, half from the end.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let half = bytes / 2;
        Self {
            half,
            head: Vec::new(),
            tail: VecDeque::new(),
            omitted_bytes: 0,
            omitted_lines: 0,
        }
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(head);
        // Of one large piece only the end can stay: the rest need not pass through the queue.
        let (over, rest) = rest.split_at(rest.len().saturating_sub(self.half));
        let pushed_out = (self.tail.len() + rest.len()).saturating_sub(self.half);
        if !over.is_empty() {
            let all: Vec<u8> = self.tail.drain(..).collect();
            self.omit(&all);
            self.omit(over);
        } else if 0 < pushed_out {
            let old: Vec<u8> = self.tail.drain(..pushed_out).collect();
            self.omit(&old);
        }
        self.tail.extend(rest);
    }

    /// What was kept as printable text, with cuts moved to whole characters.
    #[must_use]
    pub fn finish(mut self) -> RunOutput {
        let mut tail: Vec<u8> = std::mem::take(&mut self.tail).into();
        if 0 < self.omitted_bytes {
            let whole = self.head.len() - unfinished(&self.head);
            let cut = self.head.split_off(whole);
            self.omit(&cut);
            let skip = tail
                .iter()
                .take(3)
                .take_while(|byte| is_continuation(**byte))
                .count();
            let cut: Vec<u8> = tail.drain(..skip).collect();
            self.omit(&cut);
        }
        let text = if self.omitted_bytes == 0 {
            self.head.extend(tail);
            printable_lines(&self.head)
        } else {
            let (head, tail) = (printable_lines(&self.head), printable_lines(&tail));
            let (bytes, lines) = (self.omitted_bytes, self.omitted_lines);
            format!("{head}\n[… {bytes} bytes with {lines} newlines left out …]\n{tail}")
        };
        RunOutput {
            text,
            omitted_bytes: self.omitted_bytes,
            omitted_lines: self.omitted_lines,
        }
    }

    fn omit(&mut self, bytes: &[u8]) {
        self.omitted_bytes += bytes.len() as u64;
        self.omitted_lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
    }
}

fn printable_lines(bytes: &[u8]) -> String {
    let lines: Vec<String> = bytes.split(|it| *it == b'\n').map(printable).collect();
    lines.join("\n")
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// Bytes at the end that begin a character and do not finish it.
fn unfinished(bytes: &[u8]) -> usize {
    let Some(back) = bytes
        .iter()
        .rev()
        .take(4)
        .position(|byte| !is_continuation(*byte))
    else {
        return 0;
    };
    let needed = match bytes[bytes.len() - 1 - back] {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => 1,
    };
    if back + 1 < needed { back + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keep(limit: usize, pieces: &[&[u8]]) -> RunOutput {
        let mut kept = Kept::new(limit);
        pieces.iter().for_each(|piece| kept.push(piece));
        kept.finish()
    }

    #[test]
    fn short_output_stays_whole() {
        let output = keep(100, &[b"one\n", b"two\n"]);
        assert_eq!(
            (output.text.as_str(), output.omitted_bytes),
            ("one\ntwo\n", 0)
        );
    }

    #[test]
    fn b36_output_that_would_steer_its_reader_is_made_harmless() {
        let output = keep(100, &[b"\x1b]0;PWN\x07\x1b[2J\xe2\x80\xaex\r\n\x00"]);
        assert_eq!(output.text, "<U+202E>x\n<U+0000>");
    }

    #[test]
    fn the_middle_of_long_output_is_counted() {
        let output = keep(8, &[b"ab\ncdefgh\n", b"i\njklmn"]);
        assert_eq!(
            output.text,
            "ab\nc\n[… 9 bytes with 2 newlines left out …]\nklmn"
        );
        assert_eq!((output.omitted_bytes, output.omitted_lines), (9, 2));
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        let output = keep(8, &["abc\u{2014}defgh\u{2014}xyz".as_bytes()]);
        assert!(!output.text.contains('\u{fffd}'), "{}", output.text);
        assert_eq!(output.omitted_bytes, 17 - 6);
    }

    proptest! {
        #[test]
        fn every_byte_is_kept_or_counted(pieces in prop::collection::vec("[a-z\n]{0,40}", 0..12), limit in 2..64_usize) {
            let parts: Vec<&[u8]> = pieces.iter().map(|it| it.as_bytes()).collect();
            let whole: Vec<u8> = parts.concat();
            let mut kept = Kept::new(limit);
            parts.iter().for_each(|it| kept.push(it));
            let (head, tail) = (kept.head.clone(), Vec::from(kept.tail.clone()));
            prop_assert!(whole.starts_with(&head) && whole.ends_with(&tail));
            prop_assert_eq!(head.len() + tail.len() + kept.omitted_bytes as usize, whole.len());
            let middle = &whole[head.len()..whole.len() - tail.len()];
            prop_assert_eq!(kept.omitted_lines, middle.iter().filter(|it| **it == b'\n').count() as u64);
        }
    }
}
