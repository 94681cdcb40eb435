//! Where a process tells what it does: standard error, which is a log file for processes in the background.
//!
//! Arguments, environments and terminal contents are never logged: they may hold secrets.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use tracing::Level;

/// A log beyond this is set aside when the next process starts to write; the one set aside before is dropped.
const LOG_BYTES: u64 = 1 << 20;

/// Starts telling.
pub(crate) fn start(least: Level) {
    // Fails only when it was done before.
    let _ = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_max_level(least)
        .try_init();
}

/// Opens a log for appending, mode 0600.
///
/// # Errors
/// What the system says.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    if std::fs::metadata(path).is_ok_and(|it| LOG_BYTES < it.len()) {
        std::fs::rename(path, path.with_extension("old.log"))?;
    }
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
}

/// Says a sentence to the person, on standard error.
pub(crate) fn say(sentence: &str) {
    // Nobody is there to be told when it fails.
    let _ = writeln!(io::stderr(), "{sentence}");
}
