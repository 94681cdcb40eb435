//! The lock that makes a server the only one of its instance. The kernel frees it when the process ends, however.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Held for as long as the server lives.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock; inside, an error is the holder's process, where it is known.
    ///
    /// # Errors
    /// What the system says about the file.
    pub(super) fn take(path: &Path) -> io::Result<Result<Self, Option<u32>>> {
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                file.set_len(0)?;
                file.rewind()?;
                writeln!(file, "{}", std::process::id())?;
                Ok(Ok(Self { _file: file }))
            }
            Err(Errno::WOULDBLOCK) => {
                let mut holder = String::new();
                file.read_to_string(&mut holder)?;
                Ok(Err(holder.trim().parse().ok()))
            }
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_taker_learns_the_holder_and_gets_the_lock_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.lock");
        let held = Lock::take(&path).unwrap().unwrap();
        assert_eq!(
            Lock::take(&path).unwrap().unwrap_err(),
            Some(std::process::id())
        );
        drop(held);
        assert!(Lock::take(&path).unwrap().is_ok());
    }
}
