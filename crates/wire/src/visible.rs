//! Makes what hides or steers visible in text that a model or a person reads.
//!
//! Names of programs, titles, folders and arguments come from anybody. Shown as they are they could
//! move a cursor, turn a line round or pass for another line.

use std::fmt::Write as _;

/// Whether a character changes how others are shown, or hides in them, and shows nothing itself.
/// Joiners and variation selectors are not among them: emoji are made of them.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Appends a character; one that hides or steers by its number, such as `<U+202E>`.
pub fn push(c: char, out: &mut String) {
    if c.is_control() || is_invisible(c) {
        // Writing to a string cannot fail.
        let _ = write!(out, "<U+{:04X}>", u32::from(c));
    } else {
        out.push(c);
    }
}

/// The text on one line: line breaks are made visible too.
pub fn line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    text.chars().for_each(|c| push(c, &mut shown));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_or_steers_is_named_and_the_rest_stays() {
        assert_eq!(
            line("a\n\u{1b}[31mb\u{202e}c"),
            "a<U+000A><U+001B>[31mb<U+202E>c"
        );
        assert_eq!(
            line("naïve 你好 👩\u{200d}👧 ❤\u{fe0f}"),
            "naïve 你好 👩\u{200d}👧 ❤\u{fe0f}"
        );
    }
}
