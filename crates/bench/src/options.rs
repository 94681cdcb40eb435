//! What one run measures, and how long.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

/// The arguments of a run.
pub(crate) struct Options {
    /// The program under test.
    pub(crate) sidestick: PathBuf,
    /// The Python environment with the peer from PyPI.
    pub(crate) python: PathBuf,
    /// Recorded start-ups of terminal programs.
    pub(crate) recordings: PathBuf,
    /// How often and how much.
    pub(crate) length: Length,
    /// One row alone.
    pub(crate) only: Option<String>,
}

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// Enough for figures that are worth being told.
    Full,
    /// Enough to see that everything works.
    Quick,
}

impl Length {
    /// One of two, by the length of the run.
    pub(crate) fn of<T>(self, full: T, quick: T) -> T {
        match self {
            Self::Full => full,
            Self::Quick => quick,
        }
    }
}

impl Options {
    /// Reads `--sidestick PATH --python DIR --recordings DIR [--quick] [--only ROW]`.
    pub(crate) fn read(args: impl Iterator<Item = String>) -> Result<Self> {
        let (mut sidestick, mut python, mut recordings) = (None, None, None);
        let (mut length, mut only) = (Length::Full, None);
        let mut args = args;
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("{arg} needs a value"));
            match arg.as_str() {
                "--sidestick" => sidestick = Some(PathBuf::from(value()?)),
                "--python" => python = Some(PathBuf::from(value()?)),
                "--recordings" => recordings = Some(PathBuf::from(value()?)),
                "--only" => only = Some(value()?),
                "--quick" => length = Length::Quick,
                _ => bail!("{arg:?} is no argument"),
            }
        }
        let missing = "run `cargo xtask bench`, which gives all paths";
        Ok(Self {
            sidestick: sidestick.context(missing)?,
            python: python.context(missing)?,
            recordings: recordings.context(missing)?,
            length,
            only,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &str) -> Result<Options> {
        Options::read(args.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn all_paths_are_needed_and_the_rest_is_not() {
        let options = read("--sidestick a --python b --recordings c --quick").unwrap();
        assert!(options.length == Length::Quick && options.only.is_none());
        assert!(read("--sidestick a --python b").is_err());
        assert!(read("--sidestick a --python b --recordings c --fast").is_err());
    }
}
