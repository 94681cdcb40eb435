//! The steps of each task, in the order in which they are cheapest to fail.
//!
//! Every step builds with the same flags, so that none throws away what another has compiled. Standard input is closed
//! for all of them: a tool that asks a question fails instead of waiting.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{clis, needs};

/// Everything that a change must pass.
pub(crate) fn test() -> Result<()> {
    let start = Instant::now();
    let mut took = Vec::new();
    needs::provide()?;
    took.push(("needs", start.elapsed()));
    let installing = clis::begin();
    for (name, command) in [
        ("format", cargo(&["fmt", "--all", "--check"])),
        (
            "lints",
            cargo(&[
                "clippy",
                "--locked",
                "--workspace",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ]),
        ),
        ("docs", docs()),
        ("build tests", nextest(&["--no-run"], "ci")),
    ] {
        took.push((name, step(name, command)?));
    }
    let waiting = Instant::now();
    installing.finish()?;
    took.push(("coding CLIs", waiting.elapsed()));
    took.push(("tests", step("tests", nextest(&[], "ci"))?));
    println!("\nxtask: all passed in {}", seconds(start.elapsed()));
    for (name, time) in took {
        println!("  {name:<12} {:>8}", seconds(time));
    }
    Ok(())
}

/// The long tests at full length. They are the same tests; a variable scales them.
pub(crate) fn soak() -> Result<()> {
    needs::provide()?;
    let mut command = nextest(&["--no-capture", "-E", "test(/^heavy::/)"], "soak");
    command.env("SIDESTICK_SOAK", "1");
    let took = step("soak", command)?;
    println!("\nxtask: soak passed in {}", seconds(took));
    Ok(())
}

fn docs() -> Command {
    let mut command = cargo(&[
        "doc",
        "--locked",
        "--workspace",
        "--no-deps",
        "--document-private-items",
    ]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    command
}

fn nextest(args: &[&str], profile: &str) -> Command {
    let mut command = cargo(&[
        "nextest",
        "run",
        "--locked",
        "--workspace",
        "--profile",
        profile,
    ]);
    command.args(args);
    command
}

/// The cargo that runs this task, so that a toolchain chosen on its command line holds for the steps too.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args);
    command
}

/// Runs a command to its end, and tells its name before and its time after.
pub(crate) fn step(name: &str, mut command: Command) -> Result<Duration> {
    println!("\n== {name}: {}", shown(&command));
    let start = Instant::now();
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("{name}: {} does not start", shown(&command)))?;
    let took = start.elapsed();
    if !status.success() {
        bail!("{name} failed after {} ({status})", seconds(took));
    }
    println!("== {name}: {}", seconds(took));
    Ok(took)
}

fn shown(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let mut text = program
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    for arg in command.get_args() {
        text.push(' ');
        text.push_str(&arg.to_string_lossy());
    }
    text
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
