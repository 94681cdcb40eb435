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
    start(&paths).await?;
    let deadline = Instant::now() + START_TIMEOUT;
    loop {
        if let Some(stream) = join(&paths).await? {
            return Ok(Connection::new(stream));
        }
        if deadline <= Instant::now() {
            bail!(
                "a server holds {} but does not answer",
                paths.lock.display()
            );
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn join(paths: &Paths) -> anyhow::Result<Option<UnixStream>> {
    match UnixStream::connect(&paths.socket).await {
        Ok(stream) => Ok(Some(stream)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Ok(None),
            _ => Err(error).with_context(|| paths.socket.display().to_string()),
        },
    }
}

async fn start(paths: &Paths) -> anyhow::Result<()> {
    let arguments = ["serve", "--detached"].map(OsStr::new);
    let line = detach::start(&arguments, &paths.server_log)
        .await
        .context("the server does not start")?;
    if line == detach::READY {
        log::say("sidestick: started the server in the background");
    } else if !line.starts_with(detach::RUNNING) {
        bail!("the server does not start: {line}");
    }
    Ok(())
}
