//! `sidestick runner`: the process of one chat. Started by the server, not by people.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use tracing::Level;
use wire::ChatId;

use crate::{detach, log};

/// What the server tells a runner.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Whose terminals it holds.
    #[arg(long)]
    chat: ChatId,
    /// Where it listens.
    #[arg(long)]
    socket: PathBuf,
    /// Where the logs of its jobs lie; the folder is its own.
    #[arg(long)]
    jobs: PathBuf,
}

/// Is a runner until it has nothing left to do.
pub(crate) fn run(options: Options) -> anyhow::Result<ExitCode> {
    detach::leave_caller();
    log::start(Level::INFO);
    let ready = Ready;
    let options = runner::Options::new(options.chat, options.socket, options.jobs);
    runner::run(options, ready)?;
    Ok(ExitCode::SUCCESS)
}

/// Passes the line `ready` on, and then lets go of the pipe.
struct Ready;

impl std::io::Write for Ready {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        std::io::stdout().write(line)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stdout().flush()
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        // Else the server's end of the pipe would stay open for as long as the runner lives.
        let _ = rustix::stdio::dup2_stdout(rustix::stdio::stderr());
    }
}
