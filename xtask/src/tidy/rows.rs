//! Each known way in which programs that drive terminals broke in the field has a test, or a sentence why not.
//!
//! A test says which rows it covers in its name: `b07_arrows_follow_the_cursor_key_mode`. `tests/not-covered.txt` has
//! one line for each row without a test: `B55: reason`.

use std::collections::{BTreeMap, BTreeSet};

use super::files::function_name;
use super::{nothing_wrong, root, sources};

/// The numbers of the field study; those between them were merged into others.
const ROWS: &[u8] = &[
    1, 2, 3, 4, 6, 7, 8, 10, 11, 12, 13, 15, 16, 18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 30, 31,
    32, 33, 34, 36, 37, 38, 39, 41, 42, 43, 44, 45, 48, 49, 51, 52, 53, 54, 55, 56, 57,
];

/// A reason shorter than this explains nothing.
const REASON_CHARS: usize = 20;

#[test]
fn every_row_of_the_field_study_has_a_test_or_a_reason() {
    let tested = tested();
    let excused = excused();
    let mut complaints = Vec::new();
    for row in ROWS {
        match (tested.contains(row), excused.get(row)) {
            (false, None) => complaints.push(format!(
                "B{row} has no test (a name with b{row:02}_) and no reason"
            )),
            (true, Some(_)) => complaints.push(format!(
                "B{row} has a test: take it out of tests/not-covered.txt"
            )),
            (false, Some(reason)) if reason.chars().count() < REASON_CHARS => {
                complaints.push(format!(
                    "B{row} is not covered because of {reason:?}, which explains nothing"
                ));
            }
            (true, None) | (false, Some(_)) => {}
        }
    }
    let unknown = tested
        .iter()
        .chain(excused.keys())
        .filter(|it| !ROWS.contains(it));
    complaints.extend(unknown.map(|it| format!("B{it} is no row of the field study")));
    nothing_wrong(&complaints);
}

fn tested() -> BTreeSet<u8> {
    let mut rows = BTreeSet::new();
    for source in sources() {
        let mut is_test = false;
        for line in source.text.lines().map(str::trim) {
            if line.starts_with("#[") {
                is_test |= line.contains("test");
            } else if let Some(name) = function_name(line) {
                if is_test {
                    rows.extend(rows_of(name));
                }
                is_test = false;
            } else if !line.starts_with("//") {
                is_test = false;
            }
        }
    }
    rows
}

/// The rows that a test's name begins with; several may follow each other.
fn rows_of(name: &str) -> Vec<u8> {
    name.split('_')
        .map_while(|part| {
            part.strip_prefix('b')
                .filter(|it| it.len() == 2)?
                .parse()
                .ok()
        })
        .collect()
}

fn excused() -> BTreeMap<u8, String> {
    let path = root().join("tests/not-covered.txt");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    text.lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|line| {
            let (row, reason) = line
                .split_once(':')
                .unwrap_or_else(|| panic!("no colon in {line:?}"));
            let row = row.strip_prefix('B').and_then(|it| it.parse().ok());
            (
                row.unwrap_or_else(|| panic!("no row in {line:?}")),
                reason.trim().to_owned(),
            )
        })
        .collect()
}

#[test]
fn a_name_tells_its_rows() {
    assert_eq!(rows_of("b07_arrows"), [7]);
    assert_eq!(rows_of("b07_b08_arrows_b09"), [7, 8]);
    assert!(rows_of("bits_b07").is_empty());
}
