//! The program `sidestick`: commands, configuration, and the transports that lead to the host.
//!
//! Being a leash comes first, before any thread or runtime exists: a leash is one small single-threaded process for
//! each running program.

mod cli;
mod client;
mod command;
mod config;
mod detach;
mod edge;
mod launcher;
mod log;
mod paths;
mod serve;

use std::process::ExitCode;

fn main() -> ExitCode {
    if terminal::leash::requested() {
        return terminal::leash::main();
    }
    cli::run()
}
