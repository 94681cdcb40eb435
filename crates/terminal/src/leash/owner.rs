//! The owner's end of a leash: starts it, speaks to it, and waits for its end.
//!
//! Dropping the owner closes the socket, whereupon the leash kills everything below it. The leash is
//! then still reaped, so that an owner which gives up in the middle leaves no zombie behind.

use super::message::{REPORT_BYTES, Report, Verb};
use crate::cgroup::Group;
use crate::stream::watch;
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    send, sendmsg, socketpair,
};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid,
};
use std::collections::VecDeque;
use std::future::pending;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// What comes from a leash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    Report(Report),
    /// The leash has ended and is reaped.
    Ended,
}

/// A running leash and the connection to it.
#[derive(Debug)]
pub(crate) struct Owner {
    pid: Pid,
    socket: AsyncFd<OwnedFd>,
    /// Set when the leash said its last word.
    silent: bool,
    inbox: VecDeque<u8>,
    unreaped: Unreaped,
}

/// A leash that is reaped when it ends, whoever waits for that.
#[derive(Debug)]
struct Unreaped {
    remains: Option<Remains>,
}

/// What has to be cleaned up when a leash ends.
#[derive(Debug)]
struct Remains {
    leash: AsyncFd<OwnedFd>,
    group: Option<Group>,
}

impl Owner {
    /// Starts `program` as a leash. `group` is removed when the leash has ended.
    ///
    /// # Errors
    /// What the system says; nothing is left behind then.
    pub(crate) fn spawn(program: &Path, group: Option<Group>) -> io::Result<Self> {
        let (kind, flags) = (SocketType::STREAM, SocketFlags::CLOEXEC);
        let (ours, theirs) = socketpair(AddressFamily::UNIX, kind, flags, None)?;
        rustix::io::ioctl_fionbio(&ours, true)?;
        let socket = watch(ours, Interest::READABLE | Interest::WRITABLE)?;
        let mut command = Command::new(program);
        command
            .arg(super::ARGUMENT)
            .env_clear()
            .stdin(Stdio::from(theirs));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn()?;
        // The command holds the leash's end, whose closing is how its death is heard of.
        drop(command);
        let pid = Pid::from_child(&child);
        let remains = Remains {
            leash: watch_end(child)?,
            group,
        };
        let unreaped = Unreaped {
            remains: Some(remains),
        };
        Ok(Self {
            pid,
            socket,
            silent: false,
            inbox: VecDeque::new(),
            unreaped,
        })
    }

    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// Sends the body of a launch, with the program's stdio beside its length.
    ///
    /// # Errors
    /// `EPIPE` when the leash is gone, else what the system says.
    pub(crate) async fn launch(&self, body: &[u8], stdio: &[OwnedFd; 3]) -> io::Result<()> {
        let length = u32::try_from(body.len())
            .map_err(|_| Errno::TOOBIG)?
            .to_le_bytes();
        let descriptors = stdio.each_ref().map(|descriptor| descriptor.as_fd());
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        // A new socket has room for four bytes: it takes them whole.
        sendmsg(
            &self.socket,
            &[IoSlice::new(&length)],
            &mut control,
            SendFlags::NOSIGNAL,
        )?;
        let mut rest = body;
        while !rest.is_empty() {
            let mut ready = self.socket.writable().await?;
            match retry_on_intr(|| send(&self.socket, rest, SendFlags::NOSIGNAL)) {
                Ok(sent) => rest = &rest[sent..],
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    /// Asks the leash for something. One that is gone has nothing left to do it to; one that a
    /// program stopped is woken, since it would hear nothing.
    pub(crate) fn ask(&self, verb: Verb) {
        self.unreaped.signal(Signal::CONT);
        let _ = send(&self.socket, &[verb.encode()], SendFlags::NOSIGNAL);
    }

    /// Ends every process below the leash without its help, then lets it go on to reap them.
    pub(crate) fn kill_all(&self) {
        self.unreaped.kill_group();
        if self.unreaped.remains.is_some() {
            super::family::kill(self.pid);
        }
        self.unreaped.signal(Signal::CONT);
    }

    /// Ends the leash itself, and with it the program. Whatever else lives escapes.
    pub(crate) fn kill_leash(&self) {
        self.unreaped.signal(Signal::KILL);
    }

    /// The next report, or the end, after which there is nothing more. May be given up at any time.
    pub(crate) async fn hear(&mut self) -> Heard {
        loop {
            if let Some(report) = self.next_report() {
                return Heard::Report(report);
            }
            if self.silent {
                self.unreaped.reap().await;
                return Heard::Ended;
            }
            self.receive().await;
        }
    }

    /// Takes in what the leash said. It holds its end until it ends, so that the end of the stream
    /// is the end of the leash.
    async fn receive(&mut self) {
        let Ok(mut ready) = self.socket.readable().await else {
            self.silent = true;
            return;
        };
        let mut bytes = [0; 64];
        match retry_on_intr(|| rustix::io::read(&self.socket, &mut bytes)) {
            Err(Errno::AGAIN) => ready.clear_ready(),
            Ok(0) | Err(_) => self.silent = true,
            Ok(length) => self.inbox.extend(&bytes[..length]),
        }
    }

    fn next_report(&mut self) -> Option<Report> {
        if self.inbox.len() < REPORT_BYTES {
            return None;
        }
        let mut report = [0; REPORT_BYTES];
        self.inbox
            .drain(..REPORT_BYTES)
            .zip(&mut report)
            .for_each(|(byte, slot)| *slot = byte);
        Report::decode(report)
    }
}

impl Unreaped {
    /// One that has ended, or runs as somebody else, gets no signal: neither can be helped here.
    fn signal(&self, signal: Signal) {
        if let Some(remains) = &self.remains {
            let _ = pidfd_send_signal(remains.leash.as_fd(), signal);
        }
    }

    fn kill_group(&self) {
        if let Some(group) = self.remains.as_ref().and_then(|it| it.group.as_ref()) {
            group.kill();
        }
    }

    /// Waits for the end of the leash and cleans up after it; for ever when that has been done.
    async fn reap(&mut self) {
        match &mut self.remains {
            Some(remains) => remains.clean_up().await,
            None => pending().await,
        }
        self.remains = None;
    }
}

impl Remains {
    /// May be given up while it waits, and called again.
    async fn clean_up(&mut self) {
        let code = loop {
            // A descriptor that cannot be watched any more belongs to a runtime that is ending.
            let Ok(mut ready) = self.leash.readable().await else {
                return pending().await;
            };
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
            match retry_on_intr(|| waitid(WaitId::PidFd(self.leash.as_fd()), options)) {
                Ok(None) => ready.clear_ready(),
                Ok(Some(status)) => break status.exit_status(),
                Err(_) => break None,
            }
        };
        match (self.group.take(), code) {
            (Some(group), Some(_)) => group.remove(),
            // A leash that was killed has left its work undone.
            (Some(group), None) => group.kill_and_remove(),
            (None, _) => {}
        }
    }
}

impl Drop for Unreaped {
    fn drop(&mut self) {
        // The socket is closed by now, which a stopped leash would not notice.
        self.signal(Signal::CONT);
        // Without a runtime the whole process is about to end, and its zombies with it.
        if let (Some(mut remains), Ok(runtime)) =
            (self.remains.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(async move { remains.clean_up().await });
        }
    }
}

/// The descriptor that tells when the leash ends. Without one it is ended again at once.
fn watch_end(mut child: Child) -> io::Result<AsyncFd<OwnedFd>> {
    let opened = pidfd_open(Pid::from_child(&child), PidfdFlags::NONBLOCK);
    let watched = opened
        .map_err(io::Error::from)
        .and_then(|leash| watch(leash, Interest::READABLE));
    if watched.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    watched
}
