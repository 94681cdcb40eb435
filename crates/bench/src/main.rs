//! Measures Sidestick beside its peers, in one run and by turns, and fails when a bound is missed.
//!
//! Started by `cargo xtask bench`, which builds the product and installs the peers. Absolute figures depend on the
//! machine; so every bound but three is a ratio to a peer or to a bare read, measured a moment before or after.
// A benchmark talks to the person who started it.
#![allow(clippy::print_stdout)]

mod bare;
mod control;
mod corpus;
mod cpu;
mod mcp;
mod options;
mod peers;
mod rows;
mod stamp;
mod stats;
mod table;

use std::process::ExitCode;

use options::Options;
use peers::Peers;
use table::Line;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(stamp::WORD) {
        return stamp::run();
    }
    match run() {
        Ok(lines) if lines.iter().all(Line::holds) => ExitCode::SUCCESS,
        Ok(_) => {
            println!("\nbench: a bound is missed");
            ExitCode::FAILURE
        }
        Err(error) => {
            println!("\nbench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<Vec<Line>> {
    let options = Options::read(std::env::args().skip(1))?;
    let peers = Peers::find(&options)?;
    println!("{}", table::head(&peers));
    let mut lines = Vec::new();
    for (name, row) in rows::ALL {
        if options.only.as_ref().is_none_or(|it| it == name) {
            println!("{name} …");
            lines.extend(row(&options, &peers)?);
        }
    }
    println!("\n{}", table::render(&lines));
    Ok(lines)
}
