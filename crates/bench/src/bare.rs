//! A PTY that is only read: what no terminal can be faster than.

use std::os::fd::OwnedFd;
use std::process::{Child, Command};

use anyhow::{Result, bail};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::rows::{COLS, ROWS};

/// A program on a PTY.
pub(crate) struct Bare {
    child: Child,
    master: OwnedFd,
    buffer: Vec<u8>,
}

impl Bare {
    /// Starts a program.
    pub(crate) fn start(argv: &[&str]) -> Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags)?;
        unlockpt(&master)?;
        let size = Winsize {
            ws_row: ROWS,
            ws_col: COLS,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&master, size)?;
        let slave = || ioctl_tiocgptpeer(&master, OpenptFlags::RDWR | OpenptFlags::NOCTTY);
        // It makes itself the leader of the terminal's session, which takes no unsafe code here.
        let child = Command::new("setsid")
            .arg("--ctty")
            .args(argv)
            .stdin(slave()?)
            .stdout(slave()?)
            .stderr(slave()?)
            .spawn()?;
        Ok(Self {
            child,
            master,
            buffer: vec![0; 64 * 1024],
        })
    }

    /// Writes to the program.
    pub(crate) fn write(&self, text: &str) -> Result<()> {
        rustix::io::write(&self.master, text.as_bytes())?;
        Ok(())
    }

    /// What one blocking read gives.
    pub(crate) fn read(&mut self) -> Result<&[u8]> {
        match rustix::io::read(&self.master, &mut self.buffer[..])? {
            0 => bail!("the program has ended"),
            length => Ok(&self.buffer[..length]),
        }
    }

    /// Reads until the text has come.
    pub(crate) fn drain_until(&mut self, text: &str) -> Result<()> {
        let keep = text.len();
        let mut tail = Vec::new();
        loop {
            let piece = self.read()?;
            // The text is short and comes last: the end of each piece is enough, with what came before.
            let from = piece.len().saturating_sub(4 * keep);
            tail.extend_from_slice(&piece[from..]);
            if tail.windows(keep).any(|it| it == text.as_bytes()) {
                return Ok(());
            }
            tail.drain(..tail.len().saturating_sub(keep));
        }
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
