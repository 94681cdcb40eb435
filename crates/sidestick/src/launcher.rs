//! Starts runners: this program again, out of the server's session, so that a runner outlives the server.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use host::{Launcher, Launching};
use wire::ChatId;

use crate::detach;

/// Starts runners as processes of the server's own account.
pub(crate) struct Processes {
    log: PathBuf,
}

impl Processes {
    /// Runners write to this log.
    pub(crate) fn new(log: PathBuf) -> Self {
        Self { log }
    }
}

impl Launcher for Processes {
    fn launch<'a>(&'a self, chat: ChatId, socket: &'a Path) -> Launching<'a> {
        Box::pin(async move {
            let chat = chat.to_string();
            let arguments = ["runner", "--chat", &chat, "--socket"]
                .map(OsStr::new)
                .into_iter()
                .chain([socket.as_os_str()]);
            let line = detach::start(&arguments.collect::<Vec<_>>(), &self.log).await?;
            if line == detach::READY {
                Ok(())
            } else {
                Err(io::Error::other(line))
            }
        })
    }
}
