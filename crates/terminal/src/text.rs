//! A screen as text to look for a marker in.
//!
//! A marker matches on physical rows, and on rows joined where a line soft-wrapped. Rows come with
//! their trailing blanks trimmed, yet a marker such as `"$ "` ends in one: it is looked for in rows
//! that are filled up again.

use unicode_segmentation::UnicodeSegmentation;

use crate::screen::Row;

/// The text of one moment's viewport.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScreenText {
    /// Soft-wrapped rows joined, other rows apart by a newline.
    joined: String,
    /// The same with its lines filled up with blanks.
    filled: String,
    /// Every row apart by a newline; empty when no row is wrapped, since it is `joined` then.
    physical: String,
}

impl ScreenText {
    /// Reads `rows` of a screen with `cols` columns.
    pub(crate) fn new(rows: &[Row], cols: u16) -> Self {
        let mut text = Self::default();
        let any_wrapped = rows.iter().any(|row| row.wrapped);
        for (at, row) in rows.iter().enumerate() {
            text.joined.push_str(&row.text);
            text.filled.push_str(&row.text);
            if any_wrapped {
                text.physical.push_str(&row.text);
                text.physical.push('\n');
            }
            let blanks = usize::from(cols).saturating_sub(width(&row.text));
            if row.wrapped {
                // Blanks before a seam are text, but for the cell that a wide character left free.
                let free = rows.get(at + 1).is_some_and(|next| starts_wide(&next.text));
                let blanks = if free && blanks == 1 { 0 } else { blanks };
                text.joined.extend(std::iter::repeat_n(' ', blanks));
                text.filled.extend(std::iter::repeat_n(' ', blanks));
            } else {
                text.joined.push('\n');
                text.filled.extend(std::iter::repeat_n(' ', blanks));
                text.filled.push('\n');
            }
        }
        text
    }

    /// Whether the marker is on the screen.
    pub(crate) fn has(&self, marker: &str) -> bool {
        self.lines_for(marker).contains(marker) || self.physical.contains(marker)
    }

    /// The text in which this marker's places are to be sought.
    pub(crate) fn lines_for(&self, marker: &str) -> &str {
        if marker.ends_with(' ') && !self.joined.contains(marker) {
            &self.filled
        } else {
            &self.joined
        }
    }
}

/// Cells of a text, near enough to tell how many blanks fill its row. What is off by a cell for a
/// rare character costs a match that runs over a seam beside it, and nothing else.
fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.graphemes(true)
        .map(|cluster| if starts_wide(cluster) { 2 } else { 1 })
        .sum()
}

fn starts_wide(text: &str) -> bool {
    let mut chars = text.chars();
    let wide = |c: char| {
        matches!(c,
            '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}'
            | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}'
            | '\u{ffe0}'..='\u{ffe6}' | '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f300}'..='\u{1f64f}'
            | '\u{1f680}'..='\u{1f6ff}' | '\u{1f900}'..='\u{1f9ff}' | '\u{20000}'..='\u{3fffd}')
    };
    chars.next().is_some_and(wide) || chars.next() == Some('\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(rows: &[(&str, bool)], cols: u16) -> ScreenText {
        let rows: Vec<Row> = rows
            .iter()
            .map(|(text, wrapped)| Row {
                text: (*text).into(),
                wrapped: *wrapped,
            })
            .collect();
        ScreenText::new(&rows, cols)
    }

    #[test]
    fn b32_a_marker_matches_across_a_soft_wrap_and_not_across_a_line_end() {
        let wrapped = screen(
            &[("No sourcebook tools", true), ("are available yet.", false)],
            20,
        );
        assert!(wrapped.has("sourcebook tools are available"));
        assert!(wrapped.has("tools\nare"));
        let wide = screen(&[("abc你", true), ("好 d", false)], 6);
        assert!(wide.has("你好 d"));
        let apart = screen(
            &[
                ("No sourcebook tools", false),
                ("are available yet.", false),
            ],
            20,
        );
        assert!(!apart.has("tools are"));
        assert!(apart.has("tools\nare"));
    }

    #[test]
    fn a_marker_may_end_in_the_blank_that_a_prompt_ends_in() {
        let shell = screen(&[("ls $", false), ("$", false)], 10);
        assert!(shell.has("$ "));
        assert!(!shell.has("$  x"));
        assert!(!screen(&[("0123456789", false)], 10).has("9 "));
    }
}
