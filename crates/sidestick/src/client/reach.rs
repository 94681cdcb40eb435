//! Joins the running server; starts one in the background when none runs.
//!
//! Two clients may start a server at the same time: one of the two servers takes the lock, the other one ends, and both
//! clients find the one.

use std::ffi::OsStr;
use std::io;
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::net::UnixStream;
use tokio::time::Instant;
use wire::limits::START_TIMEOUT;

use super::Connection;
use crate::paths::Paths;
use crate::{detach, log};

/// A server that another client has started listens within moments.
const AGAIN: Duration = Duration::from_millis(20);

/// A connection to this person's server.
///
/// # Errors
/// The server does not start; the sentence says why.
pub(crate) async fn reach() -> anyhow::Result<Connection> {
    let paths = Paths::find()?;
    if let Some(stream) = join(&paths).await? {
        return Ok(Connection::new(stream));
    }
    let running = start(&paths).await?;
    let deadline = Instant::now() + START_TIMEOUT;
    loop {
        if let Some(stream) = join(&paths).await? {
            return Ok(Connection::new(stream));
        }
        if deadline <= Instant::now() {
            bail!(silent(&paths, running));
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Checks who answers, before anything is sent.
///
/// # Errors
/// It is neither this account nor root.
pub(crate) fn verify(stream: &UnixStream) -> anyhow::Result<()> {
    let about = rustix::net::sockopt::socket_peercred(stream)?;
    trusted(about.uid.as_raw(), rustix::process::getuid().as_raw())
}

async fn join(paths: &Paths) -> anyhow::Result<Option<UnixStream>> {
    match UnixStream::connect(&paths.socket).await {
        Ok(stream) => {
            verify(&stream).with_context(|| paths.socket.display().to_string())?;
            Ok(Some(stream))
        }
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Ok(None),
            _ => Err(error).with_context(|| paths.socket.display().to_string()),
        },
    }
}

/// Starts a server; gives the process of one that runs already, where it is known.
async fn start(paths: &Paths) -> anyhow::Result<Option<u32>> {
    let arguments = ["serve", "--detached"].map(OsStr::new);
    let line = detach::start(&arguments, &paths.server_log)
        .await
        .context("the server does not start")?;
    if line == detach::READY {
        log::say("sidestick: started the server in the background");
        return Ok(None);
    }
    match line.strip_prefix(detach::RUNNING) {
        Some(pid) => Ok(pid.trim().parse().ok()),
        None => bail!("the server does not start: {line}"),
    }
}

fn trusted(server: u32, own: u32) -> anyhow::Result<()> {
    if server == own || server == 0 {
        return Ok(());
    }
    bail!(
        "another account, uid {server}, listens there; nothing was sent to it; set SIDESTICK_HOME to a folder of this account"
    )
}

fn silent(paths: &Paths, pid: Option<u32>) -> String {
    let (lock, socket) = (paths.lock.display(), paths.socket.display());
    match pid {
        Some(pid) => format!(
            "a server, process {pid}, holds {lock} but does not listen on {socket}; run `kill {pid}`, then start again"
        ),
        None => format!(
            "a server holds {lock} but does not listen on {socket}; end the process that the lock names, then start again"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_of_this_account_or_of_root_is_spoken_to() {
        assert!(trusted(1000, 1000).is_ok());
        assert!(trusted(0, 1000).is_ok());
        let error = trusted(1001, 1000).unwrap_err().to_string();
        assert!(error.contains("uid 1001"), "{error}");
        assert!(trusted(1000, 0).is_err());
    }

    #[tokio::test]
    async fn the_kernel_tells_who_is_at_the_other_end() {
        let (one, _other) = UnixStream::pair().unwrap();
        verify(&one).unwrap();
    }
}
