//! What programs will find: a shell, a description of the terminal, a locale.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use wire::limits::DEFAULT_TERM;

use super::report::Finding;
use crate::command::install::Surroundings;

/// Where descriptions of terminals lie, beside the folders that variables name.
const TERMINFO: [&str; 4] = [
    "/etc/terminfo",
    "/lib/terminfo",
    "/usr/share/terminfo",
    "/usr/local/share/terminfo",
];
/// They say in which encoding programs draw; the first one that is set counts.
const LOCALE: [&str; 3] = ["LC_ALL", "LC_CTYPE", "LANG"];

/// Looks at all of it.
pub(super) fn examine(around: &Surroundings) -> Vec<Finding> {
    let text = |name: &str| {
        let value = around.vars.get(name)?.to_str()?;
        (!value.is_empty()).then_some(value)
    };
    let shell_path = text("SHELL");
    vec![
        shell(shell_path, shell_path.is_some_and(|it| runs(Path::new(it)))),
        description(described(around)),
        locale(LOCALE.iter().find_map(|name| text(name))),
    ]
}

fn shell(path: Option<&str>, runs: bool) -> Finding {
    const NAME: &str = "shell";
    match (path, runs) {
        (Some(path), true) => Finding::ok(NAME, path),
        (Some(path), false) => Finding::problem(
            NAME,
            format!("SHELL is {path}, which cannot be run"),
            "set SHELL to a shell that is there, such as /bin/sh",
        ),
        (None, _) => Finding::ok(NAME, "SHELL is not set: the account's shell is used"),
    }
}

fn description(folder: Option<PathBuf>) -> Finding {
    const NAME: &str = "terminfo";
    match folder {
        Some(folder) => Finding::ok(NAME, format!("{DEFAULT_TERM} in {}", folder.display())),
        None => Finding::note(
            NAME,
            format!("{DEFAULT_TERM} is not described: programs may refuse to draw"),
            "install the package ncurses-base, or whichever holds the terminfo files",
        ),
    }
}

fn locale(value: Option<&str>) -> Finding {
    const NAME: &str = "locale";
    const ADVICE: &str = "set LANG to a locale of UTF-8, such as C.UTF-8";
    match value {
        Some(value) if is_utf8(value) => Finding::ok(NAME, value),
        Some(value) => Finding::note(
            NAME,
            format!("{value} is not UTF-8: programs may draw other signs than they mean"),
            ADVICE,
        ),
        None => Finding::note(
            NAME,
            "none is set: programs may take you to read nothing but ASCII",
            ADVICE,
        ),
    }
}

fn is_utf8(locale: &str) -> bool {
    let name = locale.to_ascii_lowercase();
    name.contains("utf-8") || name.contains("utf8")
}

fn described(around: &Surroundings) -> Option<PathBuf> {
    let own = around.path("TERMINFO");
    let home = around.path("HOME").map(|it| it.join(".terminfo"));
    let folders = own
        .into_iter()
        .chain(home)
        .chain(TERMINFO.map(PathBuf::from));
    let letter = &DEFAULT_TERM[..1];
    // Systems whose files do not tell upper from lower case name the folder by the letter's number.
    let number = format!("{:x}", DEFAULT_TERM.as_bytes()[0]);
    folders.into_iter().find(|folder| {
        [letter, number.as_str()]
            .iter()
            .any(|it| folder.join(it).join(DEFAULT_TERM).exists())
    })
}

/// Whether it is a file that may be run.
pub(super) fn runs(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::super::report::Level;
    use super::*;

    #[test]
    fn a_shell_that_cannot_be_run_is_a_problem_and_none_is_not() {
        assert_eq!(shell(Some("/bin/sh"), true).level, Level::Ok);
        assert_eq!(shell(Some("/bin/gone"), false).level, Level::Problem);
        assert_eq!(shell(None, false).level, Level::Ok);
    }

    #[test]
    fn a_locale_without_utf8_is_noted() {
        for good in ["C.UTF-8", "de_DE.utf8", "en_US.UTF-8@x"] {
            assert_eq!(locale(Some(good)).level, Level::Ok);
        }
        assert_eq!(locale(Some("POSIX")).level, Level::Note);
        assert_eq!(locale(None).level, Level::Note);
    }

    #[test]
    fn a_terminal_without_description_is_noted() {
        assert_eq!(description(None).level, Level::Note);
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("78")).unwrap();
        std::fs::write(folder.path().join("78").join(DEFAULT_TERM), "").unwrap();
        let around = Surroundings {
            vars: [("TERMINFO".to_owned(), folder.path().into())].into(),
            folder: "/".into(),
        };
        assert_eq!(described(&around).unwrap(), folder.path());
    }
}
