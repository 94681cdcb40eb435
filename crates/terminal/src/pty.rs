//! The master of a pseudo-terminal and what it tells about the program at the other end.
//!
//! The slave is opened for a moment at most: as long as anybody holds it, the end of the program's
//! output cannot be seen.

use crate::size::Size;
use crate::stream::{Stream, ready_now, ready_within};
use crate::tty::{Consumed, Tty};
use rustix::event::PollFlags;
use rustix::fs::OFlags;
use rustix::io::ioctl_fionread;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{InputModes, LocalModes, Winsize, tcgetattr, tcgetpgrp, tcsetwinsize};
use std::io;
use std::ops::Deref;
use std::os::fd::{AsFd, OwnedFd};

/// A program's write that found room is over by then, in nanoseconds. So long, and only when output
/// seems to be stopped, a look at the terminal takes.
const WRITE_PASSES: i64 = 5_000_000;

/// The master side. Reads and writes are those of [`Stream`].
#[derive(Debug)]
pub struct Master {
    stream: Stream,
}

/// Whether somebody holds the terminal again after it was closed.
#[derive(Debug)]
pub enum Reopened {
    /// A program opened the terminal by its name: there may be more to read.
    Yes(Master),
    /// Nobody did.
    No(Master),
}

/// A new terminal of this size: its master and its slave.
///
/// # Errors
/// `EAGAIN` when the system has no terminal left, else what the system says.
pub(crate) fn open(size: Size) -> io::Result<(Master, OwnedFd)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let slave = ioctl_tiocgptpeer(&master, flags)?;
    tcsetwinsize(&master, winsize(size))?;
    Ok((
        Master {
            stream: Stream::new(master)?,
        },
        slave,
    ))
}

impl Master {
    /// Tells the program its new size. After its exit there is nobody to tell, which is no error.
    pub fn resize(&self, size: Size) {
        let _ = tcsetwinsize(self, winsize(size));
    }

    /// How the terminal stands now; `None` when it cannot be asked any more.
    #[must_use]
    pub fn look(&self) -> Option<Tty> {
        let attributes = tcgetattr(self).ok()?;
        let canonical = attributes.local_modes.contains(LocalModes::ICANON);
        let slave = self.peek();
        Some(Tty {
            canonical,
            echo: attributes.local_modes.contains(LocalModes::ECHO),
            consumed: match &slave {
                Some(slave) if !canonical => consumed(slave),
                _ => Consumed::Unknown,
            },
            output_stopped: attributes.input_modes.contains(InputModes::IXON)
                && slave.is_some_and(|it| self.output_stopped(&it)),
            foreground: self.foreground(),
        })
    }

    /// The foreground process group, which is also the process number of its leader.
    #[must_use]
    pub fn foreground(&self) -> Option<u32> {
        let group = tcgetpgrp(self).ok()?;
        u32::try_from(group.as_raw_nonzero().get()).ok()
    }

    /// After [`Read::Closed`](crate::stream::Read::Closed) and before the program's exit: whether a
    /// process opened the terminal again, and the master to go on with.
    ///
    /// # Errors
    /// What the system says when it can watch no more.
    pub fn reopened(self) -> io::Result<Reopened> {
        if ready_now(self.as_fd(), PollFlags::HUP) {
            return Ok(Reopened::No(self));
        }
        Ok(Reopened::Yes(Self {
            stream: self.stream.watch_again()?,
        }))
    }

    /// A stopped terminal has no room for the program's output although none of it waits to be
    /// read. It looks the same for the moment in which the program writes, which passes.
    fn output_stopped(&self, slave: &OwnedFd) -> bool {
        !ready_now(slave.as_fd(), PollFlags::OUT)
            && !self.stream.has_bytes()
            && !ready_within(slave.as_fd(), PollFlags::OUT, WRITE_PASSES)
    }

    fn peek(&self) -> Option<OwnedFd> {
        let momentary = OpenptFlags::from_bits_retain(OFlags::NONBLOCK.bits());
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC | momentary;
        ioctl_tiocgptpeer(self, flags).ok()
    }
}

impl Deref for Master {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        &self.stream
    }
}

impl AsFd for Master {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// The name of a process as the kernel keeps it, at most 15 bytes; `None` when it is gone.
#[must_use]
pub fn program_name(pid: u32) -> Option<String> {
    let name = std::fs::read(format!("/proc/{pid}/comm")).ok()?;
    Some(String::from_utf8_lossy(name.trim_ascii_end()).into_owned())
}

/// Whether the program has read what was written to the master.
fn consumed(slave: &OwnedFd) -> Consumed {
    // First the poll: it waits for bytes that are still on their way inside the kernel, which the
    // count alone does not see.
    if ready_now(slave.as_fd(), PollFlags::IN) {
        return Consumed::No;
    }
    match ioctl_fionread(slave) {
        Ok(0) => Consumed::Yes,
        Ok(_) => Consumed::No,
        Err(_) => Consumed::Unknown,
    }
}

fn winsize(size: Size) -> Winsize {
    Winsize {
        ws_row: size.rows,
        ws_col: size.cols,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}
