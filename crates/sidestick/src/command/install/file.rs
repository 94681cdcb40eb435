//! Reads and replaces a client's file. A reader finds the old text or the new one, never a part.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::client::Scope;

/// What a file holds; `None` when it is not there.
///
/// # Errors
/// It cannot be read, or is no text.
pub(super) fn read(path: &Path) -> anyhow::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Replaces a file, or makes it with its folders. It keeps its mode, its owner, and the link that leads to it.
///
/// # Errors
/// What the system says; the old file is still there then.
pub(super) fn write(path: &Path, text: &str, scope: Scope) -> anyhow::Result<()> {
    replace(path, text, scope).with_context(|| format!("cannot write {}", path.display()))
}

/// Removes a file that holds nothing any more. One behind a link is emptied to `rest` instead.
///
/// # Errors
/// What the system says.
pub(super) fn clear(path: &Path, rest: &str, scope: Scope) -> anyhow::Result<()> {
    if fs::symlink_metadata(path)?.is_symlink() {
        return write(path, rest, scope);
    }
    fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))
}

fn replace(path: &Path, text: &str, scope: Scope) -> anyhow::Result<()> {
    let path = target(path)?;
    let folder = path.parent().context("it lies in no folder")?;
    fs::create_dir_all(folder)?;
    let old = fs::metadata(&path).ok();
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    // A person's own settings may hold keys; a project's are there to be read.
    let mode = old.as_ref().map_or(
        match scope {
            Scope::User => 0o600,
            Scope::Project => 0o644,
        },
        |it| it.mode() & 0o7777,
    );
    if let Some(old) = &old {
        let new = file.as_file().metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            std::os::unix::fs::fchown(file.as_file(), Some(old.uid()), Some(old.gid()))?;
        }
    }
    file.as_file()
        .set_permissions(Permissions::from_mode(mode))?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}

/// The file itself, when the path is a link.
fn target(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.to_owned()),
        found => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_its_mode_and_the_link_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, "new", Scope::User).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(read(&file).unwrap().unwrap(), "new");
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o640);
        clear(&link, "{}\n", Scope::User).unwrap();
        assert_eq!(read(&file).unwrap().unwrap(), "{}\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_new_file_of_a_person_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/file");
        assert_eq!(read(&path).unwrap(), None);
        write(&path, "new", Scope::User).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        clear(&path, "", Scope::User).unwrap();
        assert!(!path.exists());
    }
}
