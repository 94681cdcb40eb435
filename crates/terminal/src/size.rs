//! The size of a terminal in character cells.
//!
//! A `Size` that came from [`Size::new`] is within bounds, so that no other code checks for zero;
//! the largest still fits the memory the engine may use.

/// The smallest number of columns or rows.
pub const LEAST: u16 = 1;
/// The largest number of columns or rows: more than any real screen shows, and a million cells.
pub const MOST: u16 = 1000;

/// Columns and rows, each from [`LEAST`] to [`MOST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    /// The width.
    pub cols: u16,
    /// The height.
    pub rows: u16,
}

impl Size {
    /// What a terminal gets when its opener names no size.
    pub const DEFAULT: Self = Self {
        cols: 100,
        rows: 30,
    };

    /// The size, or `None` when either number is out of bounds.
    pub fn new(cols: u16, rows: u16) -> Option<Self> {
        let fits = |n: u16| (LEAST..=MOST).contains(&n);
        (fits(cols) && fits(rows)).then_some(Self { cols, rows })
    }
}

impl Default for Size {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_from_one_to_a_thousand_each_way() {
        assert!(Size::new(1, 1000).is_some());
        for (cols, rows) in [(0, 1), (1, 0), (1001, 1), (1, 1001)] {
            assert_eq!(Size::new(cols, rows), None);
        }
    }
}
