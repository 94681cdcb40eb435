//! Tasks of developers: `cargo xtask test` is what continuous integration runs, `cargo xtask soak` runs the long tests longer,
//! `bench` measures and `fuzz` looks for what nobody thought of.
//!
//! Invariant: `cargo build` needs nothing of this; it starts ordinary tools in order and tells what each step took.
// A task runner talks to the person who started it.
#![allow(clippy::print_stdout)]

mod bench;
mod clis;
mod fuzz;
mod needs;
mod steps;
#[cfg(test)]
mod tidy;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask TASK

  test   formatting, lints, documentation, every test
  soak   the long tests at their full length: 50 kills of the server, 10,000 exits
  bench  Sidestick beside its peers, in one run; [--quick] [--only ROW]
  fuzz   every fuzz target; [--seconds N] each, default 60
  help   this text

CI=true turns every skipped test into a failure.";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (task, args) = args
        .split_first()
        .map_or(("", &args[..]), |(task, args)| (task.as_str(), args));
    let result = match task {
        "test" => steps::test(),
        "soak" => steps::soak(),
        "bench" => bench::bench(args),
        "fuzz" => fuzz::fuzz(args),
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
