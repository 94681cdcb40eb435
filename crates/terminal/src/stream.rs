//! One non-blocking descriptor: a terminal's master or one end of a pipe.
//!
//! No call here blocks the thread. A read or write that is given up while it waits has moved nothing.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// What a read found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// So many bytes lie at the start of the buffer; never 0.
    Bytes(usize),
    /// Nothing is there now.
    Empty,
    /// Nobody holds the other end, and all it sent has been read.
    Closed,
}

/// What a write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Write {
    /// So many of the bytes were taken; never 0 unless there were none.
    Bytes(usize),
    /// No room now: the program is not reading.
    Full,
    /// Nobody will read any more.
    Closed,
}

/// A non-blocking descriptor that the runtime watches.
#[derive(Debug)]
pub struct Stream {
    watched: AsyncFd<OwnedFd>,
}

impl Stream {
    /// Makes the descriptor non-blocking and has the current runtime watch it.
    ///
    /// # Errors
    /// What the system says when it can watch no more.
    pub(crate) fn new(descriptor: OwnedFd) -> io::Result<Self> {
        fcntl_setfl(&descriptor, fcntl_getfl(&descriptor)? | OFlags::NONBLOCK)?;
        Ok(Self {
            watched: watch(descriptor, Interest::READABLE | Interest::WRITABLE)?,
        })
    }

    /// Reads what is there, without waiting. An unexpected error counts as the end.
    pub fn try_read(&self, buffer: &mut [u8]) -> Read {
        match rustix::io::read(&self.watched, buffer) {
            Ok(0) => Read::Closed,
            Ok(length) => Read::Bytes(length),
            Err(Errno::AGAIN | Errno::INTR) => Read::Empty,
            Err(_) => Read::Closed,
        }
    }

    /// Waits for bytes or the end; never answers [`Read::Empty`].
    pub async fn read(&self, buffer: &mut [u8]) -> Read {
        loop {
            let Ok(mut ready) = self.watched.readable().await else {
                return Read::Closed;
            };
            match self.try_read(buffer) {
                Read::Empty => ready.clear_ready(),
                found => return found,
            }
        }
    }

    /// Waits until a write would be taken, or nobody reads any more.
    pub async fn writable(&self) {
        while let Ok(mut ready) = self.watched.writable().await {
            if ready_now(
                self.as_fd(),
                PollFlags::OUT | PollFlags::HUP | PollFlags::ERR,
            ) {
                return;
            }
            ready.clear_ready();
        }
    }

    /// Writes what is taken now, without waiting.
    pub fn try_write(&self, bytes: &[u8]) -> Write {
        match rustix::io::write(&self.watched, bytes) {
            Ok(length) => Write::Bytes(length),
            Err(Errno::AGAIN | Errno::INTR) => Write::Full,
            Err(_) => Write::Closed,
        }
    }

    /// Waits until some of the bytes are taken or nobody reads; never answers [`Write::Full`].
    pub async fn write(&self, bytes: &[u8]) -> Write {
        loop {
            let Ok(mut ready) = self.watched.writable().await else {
                return Write::Closed;
            };
            match self.try_write(bytes) {
                Write::Full => ready.clear_ready(),
                done => return done,
            }
        }
    }

    /// Whether a read would find bytes now.
    #[must_use]
    pub fn has_bytes(&self) -> bool {
        ready_now(self.as_fd(), PollFlags::IN)
    }

    /// Watches the descriptor anew. A closed end is remembered by the runtime for ever; only this
    /// makes it wait again after somebody opened the other end once more.
    pub(crate) fn watch_again(self) -> io::Result<Self> {
        Ok(Self {
            watched: watch(
                self.watched.into_inner(),
                Interest::READABLE | Interest::WRITABLE,
            )?,
        })
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.watched.as_fd()
    }
}

/// Whether the descriptor shows one of `wanted` at this moment.
pub(crate) fn ready_now(descriptor: BorrowedFd<'_>, wanted: PollFlags) -> bool {
    ready_within(descriptor, wanted, 0)
}

/// Whether the descriptor shows one of `wanted` within so many nanoseconds, under a second. The
/// thread waits.
pub(crate) fn ready_within(descriptor: BorrowedFd<'_>, wanted: PollFlags, limit: i64) -> bool {
    let mut asked = [PollFd::new(&descriptor, wanted)];
    let limit = Timespec {
        tv_sec: 0,
        tv_nsec: limit,
    };
    matches!(poll(&mut asked, Some(&limit)), Ok(1)) && asked[0].revents().intersects(wanted)
}

/// Has the current runtime watch the descriptor.
///
/// # Errors
/// What the system says when it can watch no more.
// The safe constructor is deprecated for types whose descriptor may change or be closed under them;
// an owned descriptor does neither.
#[allow(deprecated)]
pub(crate) fn watch(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(descriptor, interest)
}
