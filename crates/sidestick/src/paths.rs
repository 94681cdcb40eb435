//! Where everything lies. `SIDESTICK_HOME` names one folder for all of it; else data and configuration lie in the XDG
//! folders.
//!
//! Sockets and lock lie in the data folder's `run`, not in `XDG_RUNTIME_DIR`: that one differs between a desktop, an
//! ssh and a cron session of the same person, who all must find the same server and its runners.

mod short;

use std::ffi::OsString;
use std::fs::{DirBuilder, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use etcetera::BaseStrategy;
use host::SocketPlace;
use wire::limits::SOCKET_PATH_BYTES;

/// Names the folder of everything.
const HOME: &str = "SIDESTICK_HOME";
/// The server's socket within its folder.
const SOCKET: &str = "server.sock";
/// The runners' sockets' folder within the same.
const RUNNERS: &str = "runners";
/// The bit of folders such as `/tmp`, in which every account has its own things. Never ours to close.
const STICKY: u32 = 0o1000;

/// Files and folders of one instance.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    /// Settings; need not exist.
    pub config: PathBuf,
    /// The store.
    pub database: PathBuf,
    /// Held locked by the running server. Beside the store, which it protects: whoever empties `run` must not be able
    /// to start a second server on the same store.
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
            lock: data.join("server.lock"),
            socket: sockets.join(SOCKET),
            runners: sockets.join(RUNNERS),
            jobs: data.join("jobs"),
            server_log: data.join("server.log"),
            runners_log: data.join("runners.log"),
        }
    }
}

/// What `SIDESTICK_HOME` names, for a process that works in another folder: absolute, and none where it names none.
///
/// # Errors
/// It is relative to a working directory that is gone.
pub(crate) fn inherited() -> std::io::Result<Option<(OsString, OsString)>> {
    let home = home(std::env::var_os(HOME))?;
    Ok(home.map(|it| (HOME.into(), it.into())))
}

/// The folder that the variable's value names; an empty value names none.
fn home(value: Option<OsString>) -> std::io::Result<Option<PathBuf>> {
    value
        .filter(|it| !it.is_empty())
        .map(std::path::absolute)
        .transpose()
}

/// The folders of data and of configuration.
fn roots(env: impl Fn(&str) -> Option<OsString>) -> anyhow::Result<(PathBuf, PathBuf)> {
    if let Some(home) = home(env(HOME))? {
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

/// Makes a folder that only its owner may enter. One that exists must be ours; if others may write to it, they no
/// longer may afterwards.
fn make(folder: &Path) -> anyhow::Result<()> {
    create(folder)?;
    let shown = folder.display();
    let about = std::fs::metadata(folder).with_context(|| format!("cannot look at {shown}"))?;
    if about.uid() != rustix::process::getuid().as_raw() {
        bail!(
            "{shown} belongs to another account, uid {}; set {HOME} to a folder of this account",
            about.uid()
        );
    }
    if about.mode() & STICKY != 0 {
        bail!("{shown} is a folder that all accounts share; set {HOME} to a folder in it");
    }
    if about.mode() & 0o022 != 0 {
        std::fs::set_permissions(folder, Permissions::from_mode(0o700)).with_context(|| {
            format!("others may write to {shown}; run `chmod 700 {shown}`, or set {HOME}")
        })?;
    }
    Ok(())
}

/// Makes a folder that only its owner may enter; one that exists stays as it is.
fn create(folder: &Path) -> anyhow::Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| match obstacle(folder) {
        Some(sentence) => anyhow::anyhow!("{sentence}; move it away, or set {HOME} to a folder"),
        None => anyhow::anyhow!("cannot make the folder {}: {error}", folder.display()),
    })
}

/// What stands where a folder should be.
fn obstacle(folder: &Path) -> Option<String> {
    let there = |it: &&Path| it.symlink_metadata().is_ok();
    let at = folder.ancestors().find(there)?;
    match at.metadata() {
        Ok(about) if about.is_dir() => None,
        Ok(_) => Some(format!("{} is no folder", at.display())),
        Err(_) => Some(format!(
            "{} is no folder, but a link to nothing",
            at.display()
        )),
    }
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

    #[test]
    fn a_relative_home_is_made_absolute_and_an_empty_one_is_none() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(home(Some("x/y".into())).unwrap(), Some(here.join("x/y")));
        assert_eq!(home(Some("".into())).unwrap(), None);
        assert_eq!(home(None).unwrap(), None);
    }

    #[test]
    fn a_folder_of_ours_that_others_may_write_to_is_closed() {
        let place = tempfile::tempdir().unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o7777;
        for (name, before, after) in [
            ("a", 0o777, 0o700),
            ("b", 0o770, 0o700),
            ("c", 0o755, 0o755),
        ] {
            let folder = place.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            std::fs::set_permissions(&folder, Permissions::from_mode(before)).unwrap();
            make(&folder).unwrap();
            assert_eq!(mode(&folder), after, "{name}");
        }
    }

    #[test]
    fn a_folder_of_another_account_or_of_all_is_refused_with_what_to_do() {
        let place = tempfile::tempdir().unwrap();
        let shared = place.path().join("shared");
        std::fs::create_dir(&shared).unwrap();
        std::fs::set_permissions(&shared, Permissions::from_mode(0o1777)).unwrap();
        let error = make(&shared).unwrap_err().to_string();
        assert!(error.contains("set SIDESTICK_HOME"), "{error}");
        let foreign = place.path().join("foreign");
        std::fs::create_dir(&foreign).unwrap();
        // Only root can give a folder away; anyone else has root's own one.
        let given = std::os::unix::fs::chown(&foreign, Some(4242), None).is_ok();
        let error = make(if given { &foreign } else { Path::new("/") }).unwrap_err();
        assert!(error.to_string().contains("another account"), "{error}");
    }

    #[test]
    fn what_is_no_folder_is_called_so() {
        let place = tempfile::tempdir().unwrap();
        let (file, link) = (place.path().join("file"), place.path().join("link"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(place.path().join("gone"), &link).unwrap();
        for path in [&file, &link, &file.join("below"), &link.join("below")] {
            let error = make(path).unwrap_err().to_string();
            assert!(error.contains("is no folder"), "{error}");
        }
    }

    #[test]
    fn the_lock_lies_beside_the_store_that_it_protects() {
        let paths = Paths::at(Path::new("/d"), Path::new("/c"), Path::new("/d/run"));
        assert_eq!(paths.lock.parent(), paths.database.parent());
    }
}
