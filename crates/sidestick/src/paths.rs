//! Where everything lies. `SIDESTICK_HOME` names one folder for all of it; else data and configuration lie in the XDG
//! folders.
//!
//! Sockets and lock lie in the data folder's `run`, not in `XDG_RUNTIME_DIR`: that one differs between a desktop, an
//! ssh and a cron session of the same person, who all must find the same server and its runners.

mod short;

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use etcetera::BaseStrategy;
use host::SocketPlace;
use wire::limits::SOCKET_PATH_BYTES;

/// The server's socket within its folder.
const SOCKET: &str = "server.sock";
/// The runners' sockets' folder within the same.
const RUNNERS: &str = "runners";

/// Files and folders of one instance.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    /// Settings; need not exist.
    pub config: PathBuf,
    /// The store.
    pub database: PathBuf,
    /// Held locked by the running server.
    pub lock: PathBuf,
    /// The server's socket.
    pub socket: PathBuf,
    /// The folder of the runners' sockets.
    pub runners: PathBuf,
    /// The folder of the logs of jobs, one folder in it for each chat.
    pub jobs: PathBuf,
    /// The server's log.
    pub server_log: PathBuf,
    /// The runners' common log.
    pub runners_log: PathBuf,
}

impl Paths {
    /// Finds this person's instance, and makes its folders.
    ///
    /// # Errors
    /// A folder cannot be made, or belongs to someone else.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let (data, config) = roots(|name| std::env::var_os(name).filter(|it| !it.is_empty()))?;
        let run = data.join("run");
        make(&data)?;
        make(&run)?;
        let sockets = if fits(&run) {
            run.clone()
        } else {
            short::folder(&run)?
        };
        make(&sockets.join(RUNNERS))?;
        Ok(Self::at(&data, &config, &sockets))
    }

    /// Tells where everything lies, and makes nothing.
    ///
    /// # Errors
    /// There is no home folder.
    pub(crate) fn look() -> anyhow::Result<Self> {
        let (data, config) = roots(|name| std::env::var_os(name).filter(|it| !it.is_empty()))?;
        let run = data.join("run");
        let chosen = if fits(&run) {
            None
        } else {
            short::chosen(&run)
        };
        Ok(Self::at(&data, &config, &chosen.unwrap_or(run)))
    }

    fn at(data: &Path, config: &Path, sockets: &Path) -> Self {
        Self {
            config: config.join("config.toml"),
            database: data.join("sidestick.db"),
            lock: data.join("run").join("server.lock"),
            socket: sockets.join(SOCKET),
            runners: sockets.join(RUNNERS),
            jobs: data.join("jobs"),
            server_log: data.join("server.log"),
            runners_log: data.join("runners.log"),
        }
    }
}

/// The folders of data and of configuration.
fn roots(env: impl Fn(&str) -> Option<OsString>) -> anyhow::Result<(PathBuf, PathBuf)> {
    if let Some(home) = env("SIDESTICK_HOME") {
        let home = std::path::absolute(home).context("SIDESTICK_HOME")?;
        return Ok((home.clone(), home));
    }
    let xdg =
        etcetera::choose_base_strategy().context("no home folder; set HOME or SIDESTICK_HOME")?;
    Ok((
        xdg.data_dir().join("sidestick"),
        xdg.config_dir().join("sidestick"),
    ))
}

/// Whether every socket in the folder has a path that a socket address can hold.
fn fits(folder: &Path) -> bool {
    let length = folder.as_os_str().as_bytes().len();
    length + 1 + RUNNERS.len() + SocketPlace::NAME_BYTES <= SOCKET_PATH_BYTES
}

/// Makes a folder that only its owner may enter; one that exists stays as it is.
fn make(folder: &Path) -> anyhow::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sidestick_home_moves_data_and_configuration_to_one_folder() {
        let env = |name: &str| (name == "SIDESTICK_HOME").then(|| OsString::from("/srv/x"));
        assert_eq!(
            roots(env).unwrap(),
            (PathBuf::from("/srv/x"), PathBuf::from("/srv/x"))
        );
    }

    #[test]
    fn a_folder_is_too_long_exactly_when_a_runners_socket_in_it_would_be() {
        let longest = SOCKET_PATH_BYTES - "/runners/cs_0123456789abcdef.sock".len();
        assert!(fits(Path::new(&"x".repeat(longest))));
        assert!(!fits(Path::new(&"x".repeat(longest + 1))));
    }
}
