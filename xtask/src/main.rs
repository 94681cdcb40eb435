//! Tasks of developers: `cargo xtask test` is what continuous integration runs, `cargo xtask soak` runs the long tests longer.
//!
//! Invariant: `cargo build` needs nothing of this; it starts ordinary tools in order and tells what each step took.
// A task runner talks to the person who started it.
#![allow(clippy::print_stdout)]

mod clis;
mod needs;
mod steps;
#[cfg(test)]
mod tidy;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask TASK

  test   formatting, lints, documentation, every test
  soak   the long tests at their full length: 50 kills of the server, 10,000 exits
  help   this text

CI=true turns every skipped test into a failure.";

fn main() -> ExitCode {
    let task = std::env::args().nth(1).unwrap_or_default();
    let result = match task.as_str() {
        "test" => steps::test(),
        "soak" => steps::soak(),
        "" | "help" | "--help" | "-h" => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        other => Err(anyhow::anyhow!("{other:?} is no task\n\n{HELP}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("\nxtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
