//! End to end: the real binary, real terminals, real programs in them. One test binary, so that it links once.
//!
//! Each test has a home of its own and leaves no process behind; [`testkit::Home`] sees to both. Tests under `heavy`
//! run one after the other.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

mod cases;
mod clis;
mod commands;
mod ends;
mod heavy;
mod jobs;
mod mcp;
mod people;
mod programs;
mod prompts;
mod queries;
mod readme;
mod refusals;
mod restarts;
mod scarcity;
mod setup;

use testkit::Home;

/// A fresh home for the binary under test.
fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_sidestick"))
}
