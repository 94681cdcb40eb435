//! Coding CLIs that `cargo xtask test` installs for the tests, each with all that it needs in a folder of its own.

use std::path::PathBuf;

use crate::require::skipped;
use crate::root;

/// Written into a CLI's folder when all of it is there.
const STAMP: &str = "installed";

/// An installed CLI.
#[derive(Clone, Debug)]
pub struct Cli {
    folder: PathBuf,
}

/// The CLI of that name. Otherwise the test says that it is skipped, and returns.
///
/// # Panics
/// With `CI=true` when it is missing: there nothing may be skipped.
#[track_caller]
pub fn cli(name: &str) -> Option<Cli> {
    let folder = root().join("target/clis").join(name);
    let there = folder.join(STAMP).is_file();
    if !there {
        skipped(&format!("{name} (cargo xtask test installs it)"));
    }
    there.then_some(Cli { folder })
}

impl Cli {
    /// A `PATH` that begins with its programs.
    pub fn path(&self) -> String {
        let own = ["node_modules/.bin", "bin"].map(|it| self.folder.join(it).display().to_string());
        let rest = std::env::var("PATH").unwrap_or_default();
        format!("{}:/usr/local/bin:/usr/bin:/bin:{rest}", own.join(":"))
    }
}
