//! Tests that hold the house together: floors, file sizes, purity, and a test for each row of the field study.
//!
//! They read the sources as text. A line that begins with `//` is no code, and what follows `#[cfg(test)]` in a file is
//! its tests.

mod files;
mod floors;
mod purity;
mod rows;

use std::path::{Path, PathBuf};

/// Files among the sources that only tests use.
const FOR_TESTS: &[&str] = &[
    "crates/terminal/src/vt/cases.rs",
    "crates/host/src/testing.rs",
];

/// One Rust source file.
pub(crate) struct Source {
    /// From the root, with `/`.
    pub(crate) path: String,
    /// All of it.
    pub(crate) text: String,
}

impl Source {
    /// The part that is shipped: without comments and without tests.
    pub(crate) fn code(&self) -> String {
        if self.is_test() {
            return String::new();
        }
        let body = self
            .text
            .split("\n#[cfg(test)]\nmod tests")
            .next()
            .unwrap_or_default();
        body.lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .map(|line| format!("{line}\n"))
            .collect()
    }

    /// The whole file is tests, or for tests.
    pub(crate) fn is_test(&self) -> bool {
        let file = self.path.rsplit('/').next().unwrap_or_default();
        self.path.contains("/tests/")
            || self.path.contains("/examples/")
            || self.path.starts_with("crates/testkit/")
            || FOR_TESTS.contains(&self.path.as_str())
            || file == "tests.rs"
            || self.text.contains("\n#![cfg(test)]\n")
    }

    /// The file lies in this crate.
    pub(crate) fn is_of(&self, name: &str) -> bool {
        self.path.starts_with(&format!("crates/{name}/"))
    }
}

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// Every Rust file of the workspace, in order.
pub(crate) fn sources() -> Vec<Source> {
    let root = root();
    let mut found = Vec::new();
    for folder in ["crates", "xtask"] {
        walk(&root.join(folder), &mut found);
    }
    found.sort();
    assert!(!found.is_empty(), "no sources under {}", root.display());
    found
        .into_iter()
        .map(|path| Source {
            text: std::fs::read_to_string(&path).unwrap(),
            path: path
                .strip_prefix(&root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned(),
        })
        .collect()
}

/// Fails with all complaints at once, so that one run shows all that is to be done.
#[track_caller]
pub(crate) fn nothing_wrong(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("target") {
                walk(&path, found);
            }
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}
