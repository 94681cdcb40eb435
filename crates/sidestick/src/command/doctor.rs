//! `sidestick doctor`: looks at the machine, the instance and the clients, and says what is wrong and what to do.
//!
//! Invariant: it starts no server and changes nothing, so that it can be run when everything is broken. Each check
//! gathers first and judges in a function of its own, which tests call with any facts.

mod clients;
mod machine;
mod place;
mod report;
mod server;
mod session;

use std::process::ExitCode;

use clap::Args;

use super::install::Surroundings;
use crate::cli::{block_on, print};
use crate::paths::Paths;
use report::{Finding, Report};

/// How to print.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints what was found; succeeds when there is no problem.
pub(crate) fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let report = Report::new(block_on(examine())?);
    print(&if options.json {
        serde_json::to_string_pretty(&report)?
    } else {
        report.to_string()
    });
    Ok(if report.ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn examine() -> anyhow::Result<Vec<Finding>> {
    let around = Surroundings::of_process()?;
    let mut findings = machine::examine(&around);
    findings.extend(session::examine(&around));
    match Paths::look() {
        Ok(paths) => {
            findings.extend(place::examine(&paths));
            findings.extend(server::examine(&paths).await);
        }
        Err(error) => findings.push(Finding::problem(
            "folders",
            format!("{error:#}"),
            "set HOME to your home folder",
        )),
    }
    findings.extend(clients::examine(&around).await);
    Ok(findings)
}
