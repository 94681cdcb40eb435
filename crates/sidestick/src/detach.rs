//! Starts this very program again as a process of its own, out of the caller's session, and hears its first line.
//!
//! The program is `/proc/self/exe`, so that a running server starts runners of its own version also when the file was
//! replaced meanwhile.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use wire::limits::START_TIMEOUT;

use crate::{log, paths};

/// The first line of a process that is ready.
pub(crate) const READY: &str = "ready";
/// The first line of a server that finds another one running begins so.
pub(crate) const RUNNING: &str = "running";

/// Names that a process in the background may know. Everything else of the caller's environment, with its secrets,
/// stays out of a process that lives for weeks.
const ENVIRONMENT: [&str; 10] = [
    "HOME",
    "USER",
    "LOGNAME",
    "PATH",
    "LANG",
    "TMPDIR",
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "RUST_BACKTRACE",
];

/// Starts the program with these arguments and waits for its first line.
///
/// # Errors
/// It ends or stays silent before its first line.
pub(crate) async fn start(arguments: &[&OsStr], log: &Path) -> io::Result<String> {
    let mut child = Command::new("/proc/self/exe")
        .arg0("sidestick")
        .args(arguments)
        .current_dir("/")
        .env_clear()
        .envs(environment())
        // Not as the caller has it: the process starts in another folder.
        .envs(paths::inherited()?)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log::open(log)?)
        .spawn()?;
    let Some(out) = child.stdout.take() else {
        return Err(io::Error::other("no pipe to its output"));
    };
    let mut line = String::new();
    let mut out = BufReader::new(out);
    let read = tokio::time::timeout(START_TIMEOUT, out.read_line(&mut line)).await;
    // The child is not waited for: it lives on, and is reaped in the background should it end first.
    match read {
        Err(_) => Err(io::Error::other(format!(
            "it is not ready after {} s",
            START_TIMEOUT.as_secs()
        ))),
        Ok(Err(error)) => Err(error),
        Ok(Ok(0)) => Err(io::Error::other(format!(
            "it ended at once; {} may say why",
            log.display()
        ))),
        Ok(Ok(_)) => Ok(line.trim_end().to_owned()),
    }
}

/// Leaves the caller's session: its hang-up and its keys are not meant for this process. Lets go of its descriptors
/// too: a script that reads a pipe to its end would wait for as long as this process lives. Called first.
pub(crate) fn leave_caller() {
    terminal::leash::close_inherited();
    // Fails only for a process that leads its group already, which has no terminal to lose.
    let _ = rustix::process::setsid();
}

/// Tells the starter, and lets go of the pipe to it, on which it waits no longer.
pub(crate) fn tell(line: &str) {
    let mut out = io::stdout().lock();
    // The starter may have gone away.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    // Later output goes where the log goes; a closed descriptor would be reused by the next file.
    let _ = rustix::stdio::dup2_stdout(rustix::stdio::stderr());
}

fn environment() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| ENVIRONMENT.iter().any(|it| name == it))
}
