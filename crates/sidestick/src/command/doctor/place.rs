//! Where the instance lies: its folders, the length of its socket's path, its settings.

use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Access, access};
use wire::limits::SOCKET_PATH_BYTES;

use super::report::Finding;
use crate::config::Config;
use crate::paths::Paths;

/// What is known of a folder.
#[derive(Clone, Copy, Debug)]
enum Folder {
    /// It can be made.
    Absent,
    /// It cannot be made or written to.
    Closed,
    /// It is somebody else's.
    Foreign(u32),
    /// It may be written to, and has this mode.
    Open(u32),
}

/// Looks at all of it.
pub(super) fn examine(paths: &Paths) -> Vec<Finding> {
    let mut findings = Vec::new();
    let data = paths.database.parent().unwrap_or(Path::new("/"));
    findings.push(folder("data", data, look(data)));
    if let Some(sockets) = paths.socket.parent() {
        findings.push(folder("sockets", sockets, look(sockets)));
    }
    findings.push(socket(&paths.socket));
    let read = Config::read(&paths.config).map_err(|it| format!("{it:#}"));
    findings.push(config(&paths.config, paths.config.exists(), read.err()));
    findings
}

fn folder(name: &'static str, path: &Path, state: Folder) -> Finding {
    let shown = path.display();
    match state {
        Folder::Absent => Finding::ok(name, format!("{shown} (made at the first start)")),
        Folder::Closed => Finding::problem(
            name,
            format!("{shown} cannot be written to"),
            "give it to this account, or set SIDESTICK_HOME to a folder of its own",
        ),
        Folder::Foreign(owner) => Finding::problem(
            name,
            format!("{shown} belongs to another account, uid {owner}"),
            "set SIDESTICK_HOME to a folder of this account",
        ),
        Folder::Open(mode) if mode & 0o022 != 0 => Finding::problem(
            name,
            format!("{shown} may be written to by others (mode {mode:o})"),
            format!("chmod 700 {shown}"),
        ),
        Folder::Open(mode) if mode & 0o055 != 0 => Finding::note(
            name,
            format!("{shown} may be read by others (mode {mode:o})"),
            format!("chmod 700 {shown}"),
        ),
        Folder::Open(mode) => Finding::ok(name, format!("{shown} (mode {mode:o})")),
    }
}

fn socket(path: &Path) -> Finding {
    const NAME: &str = "socket";
    let length = path.as_os_str().as_bytes().len();
    let text = format!("{} ({length} of {SOCKET_PATH_BYTES} bytes)", path.display());
    if length <= SOCKET_PATH_BYTES {
        Finding::ok(NAME, text)
    } else {
        Finding::ok(
            NAME,
            format!("{text}; a shorter place is chosen at the first start"),
        )
    }
}

fn config(path: &Path, there: bool, error: Option<String>) -> Finding {
    const NAME: &str = "config";
    match error {
        // The error spans lines, with a picture of the place.
        Some(error) => Finding::problem(
            NAME,
            error.lines().map(str::trim).collect::<Vec<_>>().join(" "),
            "the server does not start like this: repair the line, or take the file away",
        ),
        None if there => Finding::ok(NAME, path.display().to_string()),
        None => Finding::ok(
            NAME,
            format!("{} is not there: the defaults hold", path.display()),
        ),
    }
}

fn look(folder: &Path) -> Folder {
    match std::fs::metadata(folder) {
        Ok(about) => judge(
            &about,
            access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok(),
        ),
        Err(_) => {
            let above = folder.ancestors().find(|it| it.exists());
            let writable = above.is_some_and(|it| access(it, Access::WRITE_OK).is_ok());
            if writable {
                Folder::Absent
            } else {
                Folder::Closed
            }
        }
    }
}

fn judge(about: &Metadata, writable: bool) -> Folder {
    if about.uid() != rustix::process::getuid().as_raw() {
        Folder::Foreign(about.uid())
    } else if writable && about.is_dir() {
        Folder::Open(about.mode() & 0o777)
    } else {
        Folder::Closed
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::super::report::Level;
    use super::*;

    #[test]
    fn a_folder_is_judged_by_who_may_enter_it() {
        let level = |state| folder("data", Path::new("/d"), state).level;
        assert_eq!(level(Folder::Absent), Level::Ok);
        assert_eq!(level(Folder::Open(0o700)), Level::Ok);
        assert_eq!(level(Folder::Open(0o755)), Level::Note);
        assert_eq!(level(Folder::Open(0o777)), Level::Problem);
        assert_eq!(level(Folder::Foreign(1)), Level::Problem);
        assert_eq!(level(Folder::Closed), Level::Problem);
    }

    #[test]
    fn looking_at_a_folder_makes_none() {
        let place = tempfile::tempdir().unwrap();
        let absent = place.path().join("a/b");
        assert!(matches!(look(&absent), Folder::Absent));
        assert!(!absent.exists());
        std::fs::set_permissions(place.path(), Permissions::from_mode(0o750)).unwrap();
        assert!(matches!(look(place.path()), Folder::Open(0o750)));
        let file = place.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(matches!(look(&file), Folder::Closed));
    }

    #[test]
    fn a_long_path_is_told_with_its_length() {
        assert!(
            socket(Path::new("/r/server.sock"))
                .text
                .contains("14 of 107")
        );
        let long = format!("/{}", "x".repeat(SOCKET_PATH_BYTES));
        assert!(socket(Path::new(&long)).text.contains("shorter"));
    }

    #[test]
    fn settings_that_cannot_be_read_are_a_problem() {
        let path = Path::new("/c/config.toml");
        assert_eq!(config(path, true, None).level, Level::Ok);
        assert_eq!(config(path, false, None).level, Level::Ok);
        let bad = config(path, true, Some("line 1\n  |\n".to_owned()));
        assert_eq!(bad.level, Level::Problem);
        assert_eq!(bad.text, "line 1 |");
    }
}
