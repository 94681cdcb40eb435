//! One idea a file: a head that says which, at most so many lines, and functions that fit on a screen.

use super::{Source, nothing_wrong, sources};

/// Lines of a file, its tests included.
const FILE_LINES: usize = 500;
/// Lines of a function, from its first to its closing brace.
const FUNCTION_LINES: usize = 50;

#[test]
fn every_file_says_what_it_is_and_stays_short() {
    let mut complaints = Vec::new();
    for source in sources() {
        let lines = source.text.lines().count();
        if lines > FILE_LINES {
            complaints.push(format!(
                "{} has {lines} lines, more than {FILE_LINES}",
                source.path
            ));
        }
        let head = source
            .text
            .lines()
            .take_while(|line| line.starts_with("//!"))
            .count();
        // The head of tests that outgrew their file is that file's.
        if head == 0 && !source.path.ends_with("/tests.rs") {
            complaints.push(format!(
                "{} does not begin with //! and what it is",
                source.path
            ));
        }
    }
    nothing_wrong(&complaints);
}

#[test]
fn every_function_fits_on_a_screen() {
    let mut complaints = Vec::new();
    for source in sources() {
        for (name, lines) in functions(&source) {
            if lines > FUNCTION_LINES {
                complaints.push(format!(
                    "{}: {name} has {lines} lines, more than {FUNCTION_LINES}",
                    source.path
                ));
            }
        }
    }
    nothing_wrong(&complaints);
}

/// Name and length of each function. rustfmt puts the closing brace under the first letter of the signature.
fn functions(source: &Source) -> Vec<(String, usize)> {
    let lines: Vec<&str> = source.text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else {
            continue;
        };
        let indent = &line[..line.len() - line.trim_start().len()];
        let ends = |it: &&str| {
            let same = it
                .strip_prefix(indent)
                .is_some_and(|rest| !rest.starts_with(' '));
            same && (it.trim() == "}" || it.ends_with(';') || it.ends_with(" }"))
        };
        let length = lines[at..].iter().position(ends);
        found.push((name.to_owned(), length.map_or(1, |it| it + 1)));
    }
    found
}

/// The name that a line declares a function by.
pub(super) fn function_name(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    loop {
        if let Some(name) = rest.strip_prefix("fn ") {
            return name
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .next();
        }
        let (word, after) = rest.split_once(' ')?;
        if !(word.starts_with("pub") || ["async", "const", "unsafe", "in"].contains(&word)) {
            return None;
        }
        rest = after;
    }
}

#[test]
fn a_function_is_found_whatever_stands_before_its_name() {
    assert_eq!(
        function_name("    pub(crate) async fn open(&self) {"),
        Some("open")
    );
    assert_eq!(function_name("fn main() {"), Some("main"));
    assert_eq!(function_name("let it = fn_of(x);"), None);
}
