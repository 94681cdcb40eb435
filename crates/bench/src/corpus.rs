//! What is poured into terminals: lines of a log, and the redraws of recorded programs.
//!
//! Queries are taken out of the recordings: nobody is there who would read the replies.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use terminal::viewer::ViewerStream;

/// Put before each recording, so that none inherits the modes of the one before.
const RESET: &[u8] = b"\x1bc";

/// Writes a log of so many bytes; its place.
pub(crate) fn log(folder: &Path, bytes: usize) -> Result<PathBuf> {
    let mut text = Vec::with_capacity(bytes + 100);
    for n in 0_u64.. {
        if text.len() >= bytes {
            break;
        }
        let (a, b) = (n.wrapping_mul(2_654_435_761) % 1_000, n % 7);
        let line = format!(
            "2026-01-01T00:00:{:02}.{a:03}Z INFO worker-{b} request {n} done in {a} us\n",
            n % 60
        );
        text.extend_from_slice(line.as_bytes());
    }
    write(folder, "log", &text)
}

/// Writes the recordings again and again, until there are so many bytes; the place.
pub(crate) fn redraws(folder: &Path, recordings: &Path, bytes: usize) -> Result<PathBuf> {
    let once = all(recordings)?;
    let mut text = Vec::with_capacity(bytes + once.len());
    while text.len() < bytes {
        text.extend_from_slice(&once);
    }
    write(folder, "redraws", &text)
}

fn all(folder: &Path) -> Result<Vec<u8>> {
    let mut names: Vec<PathBuf> = fs::read_dir(folder)
        .with_context(|| format!("{}", folder.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    names.sort();
    let mut text = Vec::new();
    for name in names {
        text.extend_from_slice(RESET);
        ViewerStream::new().push(&fs::read(name)?, &mut text);
    }
    ensure!(text.len() > 100_000, "there are no recordings");
    Ok(text)
}

fn write(folder: &Path, name: &str, text: &[u8]) -> Result<PathBuf> {
    let path = folder.join(name);
    fs::write(&path, text)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_redraws_ask_nothing() {
        let recordings = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/fixtures/vt/startup"
        );
        let text = all(Path::new(recordings)).unwrap();
        for query in ["\x1b[c", "\x1b[6n", "\x1b[>0q", "\x1b[?u", "\x1b]11;?"] {
            let found = text.windows(query.len()).any(|it| it == query.as_bytes());
            assert!(!found, "{query:?}");
        }
    }
}
