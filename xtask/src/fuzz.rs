//! `cargo xtask fuzz`: every target for so many seconds, all at the same time. A finding fails the task.
//!
//! No nightly compiler is needed: without a sanitizer the pinned one does, when it is told that unstable flags are meant.

mod seeds;

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::bench::root;
use crate::needs::which;
use crate::steps::{cargo, step};

/// When nothing is said.
const SECONDS: u64 = 60;
/// One input may take so long, in seconds; more is a hang.
const TIMEOUT: u64 = 20;
/// Longest input, in bytes: a recorded start-up of a large program.
const LONGEST: usize = 32 * 1024;
/// The targets in `fuzz/fuzz_targets`.
const TARGETS: &[&str] = &[
    "vt_machine",
    "tool_arguments",
    "runner_frames",
    "client_frames",
];

/// Reads `--seconds N` and fuzzes.
pub(crate) fn fuzz(args: &[String]) -> Result<()> {
    let seconds = match args {
        [] => SECONDS,
        [flag, number] if flag == "--seconds" => number.parse().context("--seconds N")?,
        _ => bail!("fuzz takes --seconds N"),
    };
    run(Duration::from_secs(seconds))
}

/// Fuzzes every target for so long.
pub(crate) fn run(time: Duration) -> Result<()> {
    if which("cargo-fuzz").is_none() {
        step("cargo-fuzz", cargo(&["install", "--locked", "cargo-fuzz"]))?;
    }
    step("build fuzz targets", cargo_fuzz(&["build"]))?;
    let mut running = Vec::new();
    for target in TARGETS {
        seeds::write(target)?;
        running.push((target, start(target, time)?));
    }
    let mut found = Vec::new();
    for (target, mut child) in running {
        let status = child.wait()?;
        let log = std::fs::read_to_string(log(target)).unwrap_or_default();
        if status.success() {
            println!("{target}: {}", summary(&log));
        } else {
            println!("{target}:\n{}", tail(&log));
            found.push(*target);
        }
    }
    if !found.is_empty() {
        bail!("fuzzing found something: {}", found.join(" "));
    }
    Ok(())
}

fn start(target: &str, time: Duration) -> Result<Child> {
    let mut command = cargo_fuzz(&["run", target, "--"]);
    command.arg(format!("-max_total_time={}", time.as_secs()));
    command.arg(format!("-timeout={TIMEOUT}"));
    command.arg(format!("-max_len={LONGEST}"));
    command.arg("-print_final_stats=1");
    let dictionary = root().join(format!("fuzz/seeds/{target}.dict"));
    if dictionary.exists() {
        command.arg(format!("-dict={}", dictionary.display()));
    }
    let log = File::create(log(target))?;
    command.stdout(log.try_clone()?).stderr(log);
    command.stdin(Stdio::null()).spawn().context("cargo fuzz")
}

fn cargo_fuzz(args: &[&str]) -> Command {
    let mut command = cargo(&["fuzz", args[0], "--sanitizer", "none"]);
    command.args(&args[1..]);
    // The sanitizer's coverage is an unstable flag.
    command.env("RUSTC_BOOTSTRAP", "1").current_dir(root());
    command
}

fn log(target: &str) -> PathBuf {
    root().join(format!("fuzz/corpus/{target}.log"))
}

/// "1234 executions, coverage 56".
fn summary(log: &str) -> String {
    let runs = number_after(log, "stat::number_of_executed_units:");
    let coverage = number_after(log, " cov:");
    format!(
        "{} executions, {} edges covered, no finding",
        runs.unwrap_or("?"),
        coverage.unwrap_or("?")
    )
}

/// The number behind the last place of a word.
fn number_after<'a>(log: &'a str, word: &str) -> Option<&'a str> {
    log.rsplit_once(word)?.1.split_whitespace().next()
}

/// The last lines: the panic, its place, and the name of the input.
fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(40)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_figures_of_a_log_are_told() {
        let log = "#2 INITED cov: 12 ft: 13\n#9 NEW    cov: 34 ft: 60\nstat::number_of_executed_units: 567\n";
        assert_eq!(summary(log), "567 executions, 34 edges covered, no finding");
    }

    #[test]
    fn every_target_is_built_and_run() {
        let manifest = std::fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
        let built = manifest.matches("[[bin]]").count();
        assert_eq!(built, TARGETS.len());
        for target in TARGETS {
            assert!(
                manifest.contains(&format!("name = \"{target}\"")),
                "{target}"
            );
        }
    }
}
