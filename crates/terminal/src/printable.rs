//! A line of output as text: control sequences are left out, and what would hide or steer is named. Pure.
//!
//! A log, or the output of a plain command, has no screen to draw on: colours and cursor movements
//! mean nothing in it.

use wire::visible;

use crate::sequence::Place;

const ESC: u8 = 0x1b;

/// Makes one line printable. Bytes that are no UTF-8 become U+FFFD; tabs stay; a carriage return at
/// the end belongs to the newline.
#[must_use]
pub fn printable(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut shown = String::with_capacity(line.len());
    for c in String::from_utf8_lossy(&without_sequences(line)).chars() {
        match c {
            '\t' => shown.push(c),
            _ => visible::push(c, &mut shown),
        }
    }
    shown
}

fn without_sequences(line: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(line.len());
    let mut place = Place::Ground;
    for &byte in line {
        let before = place;
        place = place.after(byte);
        let is_text = matches!(before, Place::Ground | Place::Utf8 { .. });
        if is_text && byte != ESC {
            kept.push(byte);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn b36_colours_and_titles_are_left_out_of_a_log() {
        let line = b"\x1b[1;31merror\x1b[0m: \x1b]0;title\x07gone\r";
        assert_eq!(printable(line), "error: gone");
    }

    #[test]
    fn what_hides_or_steers_is_named() {
        let line = "10%\r20%\u{7}\u{202e}x\ty".as_bytes();
        assert_eq!(printable(line), "10%<U+000D>20%<U+0007><U+202E>x\ty");
        assert_eq!(printable(b"a\xffb"), "a\u{fffd}b");
    }

    proptest! {
        #[test]
        fn any_bytes_become_printable(line in proptest::collection::vec(any::<u8>(), 0..64)) {
            let shown = printable(&line);
            prop_assert!(shown.chars().all(|c| c == '\t' || !c.is_control()), "{shown:?}");
        }

        #[test]
        fn plain_text_stays_as_it_is(line in "[a-zA-Z0-9 äöü你-]{0,40}") {
            prop_assert_eq!(printable(line.as_bytes()), line);
        }
    }
}
