//! The bounded file of one job's output.
//!
//! Written by the runner's one thread without waiting: what is written is at most the same few
//! megabytes of the page cache again and again. Dropping a log removes its file.

use std::cell::RefCell;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use wire::jobs::{LogDetails, LogPart};
use wire::{JobId, Kind, Refusal, limits};

use super::index::{Index, Sizes};
use super::lines::{Flow, Keep, Reading};

/// The sizes of every log.
const SIZES: Sizes = Sizes {
    head: limits::JOB_LOG_HEAD_BYTES,
    tail: limits::JOB_LOG_TAIL_BYTES,
    block: limits::JOB_LOG_BLOCK_BYTES,
};
/// Read from the file at once, in bytes.
const READ_BYTES: usize = 64 * 1024;

/// A log that the job's task writes and the hub reads. Both are on one thread, and neither holds it
/// while it waits.
#[derive(Clone, Debug)]
pub(crate) struct Log(Rc<RefCell<Option<Inner>>>);

#[derive(Debug)]
struct Inner {
    job: JobId,
    path: PathBuf,
    file: File,
    index: Index,
    /// Why nothing more is written.
    failed: Option<String>,
}

impl Log {
    /// Makes the file, and its folder when it is the first.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn create(folder: &Path, job: JobId) -> io::Result<Self> {
        Self::with(folder, job, SIZES)
    }

    fn with(folder: &Path, job: JobId, sizes: Sizes) -> io::Result<Self> {
        let mut made = DirBuilder::new();
        made.recursive(true).mode(0o700).create(folder)?;
        let path = folder.join(format!("{job}.log"));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let file = options.open(&path)?;
        Ok(Self(Rc::new(RefCell::new(Some(Inner {
            job,
            path,
            file,
            index: Index::new(sizes),
            failed: None,
        })))))
    }

    /// Adds output. What cannot be written is told to whoever reads the log.
    pub(crate) fn append(&self, bytes: &[u8]) {
        if let Some(inner) = self.0.borrow_mut().as_mut() {
            inner.append(bytes);
        }
    }

    /// Reads lines.
    ///
    /// # Errors
    /// The file could not be written or read.
    pub(crate) fn read(&self, part: LogPart) -> Result<LogDetails, Refusal> {
        match self.0.borrow().as_ref() {
            Some(inner) => inner.details(part),
            None => Err(broken("it was removed")),
        }
    }

    /// Removes the file; what is still written is dropped.
    pub(crate) fn remove(&self) {
        self.0.borrow_mut().take();
    }
}

impl Inner {
    fn append(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && self.failed.is_none() {
            let (taken, place) = self.index.take(bytes);
            if let Err(error) = self.file.write_all_at(&bytes[..taken], place) {
                tracing::warn!(job = %self.job, %error, "a log cannot be written");
                self.failed = Some(error.to_string());
            }
            bytes = &bytes[taken..];
        }
    }

    fn details(&self, part: LogPart) -> Result<LogDetails, Refusal> {
        if let Some(error) = &self.failed {
            return Err(broken(error));
        }
        let total = self.index.lines();
        let most = usize::try_from(limits::LOG_LINES).unwrap_or(usize::MAX);
        let (from, keep) = match part {
            LogPart::From(line) => (line.min(total), Keep::First(most)),
            LogPart::Tail(count) => {
                let from = total.saturating_sub(count).max(self.index.first_of_tail());
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                (from, Keep::Last(count.min(most)))
            }
        };
        let (from_line, lines) = self
            .lines(from, keep)
            .map_err(|error| broken(&error.to_string()))?;
        Ok(LogDetails {
            job_id: self.job,
            from_line,
            lines,
            total_lines: total,
            dropped_lines: self.index.dropped(),
            supersedes: format!("job:{}", self.job),
        })
    }

    fn lines(&self, from: u64, keep: Keep) -> io::Result<(u64, Vec<String>)> {
        let stretch = match keep {
            Keep::First(_) => self.index.at_line(from),
            Keep::Last(_) => self.index.at_line_of_tail(from),
        };
        let mut reading = Reading::new(&stretch, from, keep);
        let (mut at, mut flow) = (stretch.bytes.start, Flow::More);
        let mut buffer = vec![0; READ_BYTES];
        while at < stretch.bytes.end && flow == Flow::More {
            let length = self.index.side_by_side(at).min(stretch.bytes.end - at);
            let length = usize::try_from(length).map_or(READ_BYTES, |it| it.min(READ_BYTES));
            let piece = &mut buffer[..length];
            self.file.read_exact_at(piece, self.index.place(at))?;
            flow = reading.push(piece);
            at += length as u64;
        }
        Ok(reading.finish(flow, stretch.cut))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The folder may have been removed as a whole.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn broken(why: &str) -> Refusal {
    Refusal::new(
        Kind::OutOfResources,
        format!("the log of this job cannot be read or written: {why}"),
    )
    .hint("look for space on the disk; the job itself goes on")
}

#[cfg(test)]
mod tests;
