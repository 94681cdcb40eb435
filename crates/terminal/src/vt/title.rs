//! A terminal's title, and the stack programs put it on.
//!
//! A title is a program's word shown to people and models: it holds no control and no bidi
//! character, and is short.

use unicode_segmentation::UnicodeSegmentation;

use wire::limits;

use wire::visible::is_invisible;

/// How many titles the stack holds; one more drops the oldest.
const DEEPEST: usize = 10;

#[derive(Debug, Default)]
pub(super) struct Title {
    text: String,
    stack: Vec<String>,
}

impl Title {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn set(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let clean: String = text
            .chars()
            .filter(|&c| !c.is_control() && !is_invisible(c))
            .collect();
        self.text = cut(&clean).to_owned();
    }

    /// `CSI 22 t`.
    pub(super) fn save(&mut self) {
        if self.stack.len() == DEEPEST {
            self.stack.remove(0);
        }
        self.stack.push(self.text.clone());
    }

    /// `CSI 23 t`; nothing when none was saved.
    pub(super) fn restore(&mut self) {
        if let Some(text) = self.stack.pop() {
            self.text = text;
        }
    }
}

/// At most [`limits::TITLE_UNITS`], cut between grapheme clusters.
fn cut(text: &str) -> &str {
    let mut units = 0;
    for (at, cluster) in text.grapheme_indices(true) {
        units += cluster.encode_utf16().count();
        if units > limits::TITLE_UNITS {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b36_a_title_is_short_and_free_of_controls() {
        let mut title = Title::default();
        title.set("a\u{1b}\u{202e}b\u{9b}\n".as_bytes());
        assert_eq!(title.text(), "ab");
        title.set("👩‍👩‍👧‍👦".repeat(100).as_bytes());
        assert_eq!(title.text(), "👩‍👩‍👧‍👦".repeat(limits::TITLE_UNITS / 11));
    }

    #[test]
    fn the_stack_is_bounded_and_an_empty_one_changes_nothing() {
        let mut title = Title::default();
        for n in 0..100 {
            title.set(format!("{n}").as_bytes());
            title.save();
        }
        assert_eq!(title.stack.len(), DEEPEST);
        for _ in 0..100 {
            title.restore();
        }
        assert_eq!(title.text(), "90");
    }
}
