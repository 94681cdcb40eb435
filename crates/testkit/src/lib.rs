//! What end-to-end tests need: a temporary home, the real program in it, clients of each kind, and a clean end.
//!
//! Invariant: nothing outlives a [`Home`]. Dropping one kills the server and the runners and fails the test when a
//! process of theirs is left. Tests are the only callers, so that everything here panics instead of returning errors.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

mod client;
mod home;
mod installed;
mod mcp;
mod model;
mod pane;
mod processes;
mod require;

pub use client::{Client, Pending, Reply};
pub use home::{Home, ToolRun};
pub use installed::{Cli, cli};
pub use mcp::Mcp;
pub use model::{Asked, Model, Rule, Step};
pub use pane::Pane;
pub use processes::{Proc, Role};
pub use require::require;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest that a test waits for something that is to happen. Generous, since the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How many times over the long tests run: 1, or `full` under `cargo xtask soak`.
pub fn soak(usual: usize, full: usize) -> usize {
    if std::env::var_os("SIDESTICK_SOAK").is_some() {
        full
    } else {
        usual
    }
}

/// A program of `tests/fixtures/programs`.
pub fn program(name: &str) -> PathBuf {
    let path = root().join("tests/fixtures/programs").join(name);
    assert!(path.is_file(), "{} is not there", path.display());
    path
}

/// The folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap()
        .to_owned()
}

/// Looks again and again until something holds.
///
/// # Panics
/// After [`PATIENCE`], with what was waited for.
#[track_caller]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "never came true: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
