//! The size of a terminal in character cells.
//!
//! It is the contract's own type: what a caller asked for is what the engine and the PTY get.

pub use wire::Size;

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
