//! Decide and do are different files: machines do no I/O and read no clock, and a foreign crate is named in one place.

use super::{Source, nothing_wrong, sources};

/// What a pure file cannot do.
const IMPURE: &[&str] = &[
    "tokio",
    "rustix",
    "libc",
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "std::os",
    "Instant::now",
    "SystemTime",
    ".await",
    "async fn",
    "getrandom",
];

/// The files of `terminal` that touch the machine. Every other one is pure, a new one too.
const TERMINAL_DOES: &[&str] = &[
    "actor", "cgroup", "leash", "pipes", "process", "pty", "run", "stream",
];

/// Files of other crates that are pure.
const PURE_ELSEWHERE: &[&str] = &[
    "crates/host/src/tools/bash_text.rs",
    "crates/host/src/tools/jobs_text.rs",
    "crates/runner/src/jobs/index.rs",
    "crates/runner/src/jobs/lines.rs",
];

/// A crate of others, and the only place that may name it.
const NAMED_ONCE: &[(&str, &str)] = &[
    ("fux_vt", "crates/terminal/src/vt"),
    ("rusqlite", "crates/host/src/store/sqlite"),
    ("rmcp", "crates/sidestick/src/edge/mcp"),
];

/// Where `unsafe` is allowed: between fork and exec, and at the PTY's own system calls.
const UNSAFE: &[&str] = &["crates/terminal/src/pty", "crates/terminal/src/leash"];

/// What no code contains, tests included.
const NOWHERE: &[&str] = &["#[ignore", "todo!(", "unimplemented!(", "dbg!("];

#[test]
fn pure_files_do_no_io_and_read_no_clock() {
    let sources = sources();
    for path in PURE_ELSEWHERE {
        assert!(
            sources.iter().any(|it| it.path == *path),
            "{path} is listed and not there"
        );
    }
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|it| is_pure(it)) {
        let code = source.code();
        for word in IMPURE {
            if let Some(line) = code.lines().find(|line| has_word(line, word)) {
                complaints.push(format!(
                    "{} is pure and says {word}: {}",
                    source.path,
                    line.trim()
                ));
            }
        }
    }
    nothing_wrong(&complaints);
}

#[test]
fn terminal_waits_for_deadlines_and_never_sleeps() {
    let mut complaints = Vec::new();
    for source in sources().iter().filter(|it| it.is_of("terminal")) {
        for line in source.code().lines() {
            if line.contains("sleep(") {
                complaints.push(format!("{} sleeps: {}", source.path, line.trim()));
            }
            if line.contains("sleep_until(") && !does(source) {
                complaints.push(format!(
                    "{} waits outside an actor: {}",
                    source.path,
                    line.trim()
                ));
            }
        }
    }
    nothing_wrong(&complaints);
}

#[test]
fn a_foreign_crate_that_may_be_exchanged_is_named_in_one_place() {
    let mut complaints = Vec::new();
    for source in sources().iter().filter(|it| !it.path.starts_with("xtask/")) {
        for (word, place) in NAMED_ONCE {
            let here = source.path.starts_with(&format!("{place}.rs"))
                || source.path.starts_with(&format!("{place}/"))
                || source.path.starts_with(&format!("{place}_"));
            if !here
                && source
                    .text
                    .lines()
                    .any(|line| !is_comment(line) && has_word(line, word))
            {
                complaints.push(format!("{} names {word}; only {place}* may", source.path));
            }
        }
    }
    nothing_wrong(&complaints);
}

#[test]
fn unsafe_code_lies_where_the_system_calls_are() {
    let mut complaints = Vec::new();
    for source in sources()
        .iter()
        .filter(|it| !it.path.starts_with("xtask/src/tidy"))
    {
        let named = source
            .text
            .lines()
            .any(|line| !is_comment(line) && has_word(line, "unsafe"));
        let allows = source
            .text
            .lines()
            .any(|line| !is_comment(line) && line.contains("allow(unsafe_code"));
        if (named || allows) && !UNSAFE.iter().any(|it| source.path.starts_with(it)) {
            complaints.push(format!("{} has unsafe code", source.path));
        }
    }
    nothing_wrong(&complaints);
}

#[test]
fn nothing_is_left_undone_or_skipped() {
    let mut complaints = Vec::new();
    for source in sources()
        .iter()
        .filter(|it| !it.path.starts_with("xtask/src/tidy"))
    {
        for word in NOWHERE {
            if source
                .text
                .lines()
                .any(|line| !is_comment(line) && line.contains(word))
            {
                complaints.push(format!("{} contains {word}", source.path));
            }
        }
    }
    nothing_wrong(&complaints);
}

fn is_pure(source: &Source) -> bool {
    if source.is_test() {
        return false;
    }
    source.path.starts_with("crates/wire/src/")
        || source.path.starts_with("crates/terminal/src/") && !does(source)
        || PURE_ELSEWHERE.contains(&source.path.as_str())
}

/// The file belongs to a part of `terminal` that touches the machine.
fn does(source: &Source) -> bool {
    let Some(rest) = source.path.strip_prefix("crates/terminal/src/") else {
        return false;
    };
    let part = rest.split(['/', '.']).next().unwrap_or_default();
    TERMINAL_DOES.contains(&part)
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// The word stands there and is no part of a longer name.
fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(part);
        let after = line[at + word.len()..].chars().next().is_some_and(part);
        !(after || before && word.starts_with(part))
    })
}

#[test]
fn a_word_within_a_longer_name_is_another_word() {
    assert!(has_word("use libc::c_int;", "libc"));
    assert!(!has_word("use mylibc;", "libc"));
    assert!(!has_word("std::fscanf", "std::fs"));
    assert!(has_word("x.await", ".await"));
}
