//! Starts runners: this program again, out of the server's session, so that a runner outlives the server.

use std::io;
use std::path::{Path, PathBuf};

use host::{Launcher, Launching};
use wire::ChatId;

use crate::detach;

/// Starts runners as processes of the server's own account.
pub(crate) struct Processes {
    log: PathBuf,
    jobs: PathBuf,
}

impl Processes {
    /// Runners write to this log, and keep the logs of their jobs in a folder of this one.
    pub(crate) fn new(log: PathBuf, jobs: PathBuf) -> Self {
        Self { log, jobs }
    }

    fn jobs(&self, chat: ChatId) -> PathBuf {
        self.jobs.join(chat.to_string())
    }
}

impl Launcher for Processes {
    fn launch<'a>(&'a self, chat: ChatId, socket: &'a Path) -> Launching<'a> {
        Box::pin(async move {
            let (name, jobs) = (chat.to_string(), self.jobs(chat));
            let arguments = [
                "runner".as_ref(),
                "--chat".as_ref(),
                name.as_ref(),
                "--socket".as_ref(),
                socket.as_os_str(),
                "--jobs".as_ref(),
                jobs.as_os_str(),
            ];
            let line = detach::start(&arguments, &self.log).await?;
            if line == detach::READY {
                Ok(())
            } else {
                Err(io::Error::other(line))
            }
        })
    }

    fn clear(&self, chat: ChatId) {
        // The runner has done so itself, unless it was killed.
        let _ = std::fs::remove_dir_all(self.jobs(chat));
    }
}
