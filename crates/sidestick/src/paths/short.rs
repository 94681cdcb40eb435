//! A folder for sockets whose own place has too long a path for a socket address (107 bytes).
//!
//! The choice is written down in the data folder: a later process with another environment must find the same sockets.
//! A folder that someone else could have made is never used: its owner and mode are checked.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use sha2::{Digest, Sha256};

/// The file that holds the choice.
const CHOICE: &str = "sockets";

/// The folder that stands in for `run`, made if need be.
pub(super) fn folder(run: &Path) -> anyhow::Result<PathBuf> {
    let note = run.join(CHOICE);
    if let Ok(chosen) = std::fs::read_to_string(&note) {
        let chosen = PathBuf::from(chosen);
        // After a restart of the machine it may be gone, and its sockets with it; then anyone could make it again.
        if super::create(&chosen).is_ok() && check(&chosen).is_ok() {
            return Ok(chosen);
        }
    }
    let chosen = choose(run)?;
    let text = chosen
        .to_str()
        .context("the temporary folder's name is not UTF-8")?;
    std::fs::write(&note, text).with_context(|| format!("cannot write {}", note.display()))?;
    Ok(chosen)
}

/// The folder that was chosen, should it still be there. Makes nothing.
pub(super) fn chosen(run: &Path) -> Option<PathBuf> {
    let chosen = PathBuf::from(std::fs::read_to_string(run.join(CHOICE)).ok()?);
    check(&chosen).ok().map(|()| chosen)
}

fn choose(run: &Path) -> anyhow::Result<PathBuf> {
    let name = format!("sidestick-{}", hash(run));
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let candidates = runtime
        .into_iter()
        .chain([std::env::temp_dir(), "/tmp".into()])
        .filter(|it| it.is_absolute());
    let mut why = None;
    for folder in candidates
        .map(|it| it.join(&name))
        .filter(|it| super::fits(it))
    {
        match super::create(&folder).and_then(|()| check(&folder)) {
            Ok(()) => return Ok(folder),
            Err(error) => why = Some(error),
        }
    }
    Err(why.unwrap_or_else(|| anyhow::anyhow!("every folder for sockets has too long a path")))
}

/// Ours alone, and no link to somewhere else.
fn check(folder: &Path) -> anyhow::Result<()> {
    let about = std::fs::symlink_metadata(folder)?;
    let ours = about.uid() == rustix::process::getuid().as_raw();
    if !about.is_dir() || !ours || about.mode() & 0o077 != 0 {
        bail!(
            "{} is not a folder that only this account may enter",
            folder.display()
        );
    }
    Ok(())
}

/// Names the instance: 64 bits of the hash of its place and account.
fn hash(run: &Path) -> String {
    let mut hash = Sha256::new();
    hash.update(run.as_os_str().as_bytes());
    hash.update(rustix::process::getuid().as_raw().to_be_bytes());
    hash.finalize()
        .iter()
        .take(8)
        .map(|it| format!("{it:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_choice_is_short_private_and_made_once() {
        let run = tempfile::tempdir().unwrap();
        let chosen = folder(run.path()).unwrap();
        assert!(super::super::fits(&chosen));
        assert_eq!(std::fs::metadata(&chosen).unwrap().mode() & 0o777, 0o700);
        assert_eq!(folder(run.path()).unwrap(), chosen);
        std::fs::remove_dir(chosen).unwrap();
    }

    #[test]
    fn a_folder_that_others_may_enter_or_a_link_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let (open, link) = (place.path().join("open"), place.path().join("link"));
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink(place.path(), &link).unwrap();
        assert!(check(&open).is_err());
        assert!(check(&link).is_err());
    }
}
