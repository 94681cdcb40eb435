//! The leash: a small process between a terminal's owner and its program.
//!
//! The leash is the parent of the program and adopts every process that loses its own parent below
//! it. It ends when it has no child left, so that "the leash has ended" means "no process of this
//! terminal is left". When its owner ends, however that happens, it kills all of them.

mod family;
mod launch;
pub(crate) mod message;
pub(crate) mod owner;
mod signals;

pub(crate) use family::descendants;
pub use signals::close_inherited;

use message::{LAUNCH_LIMIT, Launch, Report, Stage, Verb};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, recvmsg, send, sockopt,
};
use rustix::process::{Pid, Signal, WaitOptions, getpid, setsid, wait};
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::ExitCode;

/// The first argument that turns this program into a leash.
pub const ARGUMENT: &str = "leash";

/// How long a kill waits for an end before it looks for processes again, in nanoseconds; twice as
/// long each time. A process that forked while it was being stopped is found by the next look.
const KILL_INTERVAL: i64 = 10_000_000;

/// How often the interval is doubled: to 640 ms. One that may not be killed costs little then.
const KILL_DOUBLINGS: u32 = 6;

/// Whether this process was started to be a leash. Asked before anything else in `main`.
#[must_use]
pub fn requested() -> bool {
    std::env::args_os()
        .nth(1)
        .is_some_and(|argument| argument == ARGUMENT)
}

/// Is a leash until no child is left. Needs a process with one thread and the owner's socket as
/// standard input; without such a socket it ends at once with code 2.
#[must_use]
pub fn main() -> ExitCode {
    let socket = rustix::stdio::stdin();
    if sockopt::socket_domain(socket) != Ok(rustix::net::AddressFamily::UNIX) {
        return ExitCode::from(2);
    }
    match Leash::start() {
        Ok(mut leash) => leash.run(),
        Err((stage, errno)) => {
            report(Report::Failed(stage, errno));
            ExitCode::FAILURE
        }
    }
}

/// What the leash still has to do for its owner.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Duty {
    /// The owner is there and may ask.
    Serve,
    /// The owner asked for the end of all, and is there to be told of the program's.
    Kill,
    /// The owner is gone: everything ends.
    Abandoned,
}

struct Leash {
    leader: Pid,
    children: OwnedFd,
    cgroup: Option<PathBuf>,
    duty: Duty,
    /// How often it has killed all it found.
    kills: u32,
}

impl Leash {
    fn start() -> Result<Self, (Stage, i32)> {
        let failed = |errno: Errno| (Stage::Message, errno.raw_os_error());
        signals::close_inherited();
        // Out of the owner's session and group: signals that are meant for those do not reach it.
        let _ = setsid();
        signals::ignore_endings();
        let _ = rustix::thread::set_name(c"sidestick-leash");
        rustix::process::set_child_subreaper(Some(getpid())).map_err(failed)?;
        let children = signals::child_events().map_err(failed)?;
        let (message, stdio) = receive().map_err(failed)?;
        let launch = Launch::decode(&message).ok_or((Stage::Message, libc::EBADMSG))?;
        drop(message);
        let leader = launch::launch(&launch, stdio)?;
        report(Report::Started(leader.as_raw_nonzero().get()));
        Ok(Self {
            leader,
            children,
            cgroup: launch.cgroup,
            duty: Duty::Serve,
            kills: 0,
        })
    }

    fn run(&mut self) -> ExitCode {
        loop {
            if self.reap() == Children::None {
                self.remove_cgroup();
                return ExitCode::SUCCESS;
            }
            if self.duty != Duty::Serve {
                self.kill();
            }
            self.wait_for_news();
            self.serve();
        }
    }

    /// Reaps whatever has ended. Waiting for any child is right here and only here: this process
    /// has no other waiter, and orphans that it adopted are its children too.
    fn reap(&self) -> Children {
        loop {
            match retry_on_intr(|| wait(WaitOptions::NOHANG)) {
                Ok(Some((pid, status))) if pid == self.leader => {
                    if let Some(code) = status.exit_status() {
                        report(Report::Exited(code));
                    } else if let Some(signal) = status.terminating_signal() {
                        report(Report::Signaled(signal));
                    }
                }
                Ok(Some(_)) => {}
                Ok(None) => return Children::Some,
                Err(_) => return Children::None,
            }
        }
    }

    /// Sleeps until a child ends or the owner speaks; while killing, for a moment at most.
    fn wait_for_news(&self) {
        let owner = rustix::stdio::stdin();
        let mut sources = [
            PollFd::new(&self.children, PollFlags::IN),
            PollFd::new(&owner, PollFlags::IN),
        ];
        // A lost owner stays readable for ever, and there is no more to be heard.
        let heard = if self.duty == Duty::Abandoned { 1 } else { 2 };
        let interval = KILL_INTERVAL << self.kills.min(KILL_DOUBLINGS);
        let moment = Timespec {
            tv_sec: 0,
            tv_nsec: interval,
        };
        let limit = (self.duty != Duty::Serve).then_some(&moment);
        // An interrupted or failing poll is only a look too many.
        let _ = poll(&mut sources[..heard], limit);
        signals::drain(&self.children);
    }

    /// Takes the owner's verbs, or notices that the owner is gone.
    fn serve(&mut self) {
        let mut verbs = [0; 16];
        let (socket, flags) = (rustix::stdio::stdin(), RecvFlags::DONTWAIT);
        if self.duty == Duty::Abandoned {
            return;
        }
        match rustix::net::recv(socket, &mut verbs[..], flags) {
            Ok((_, 0)) => self.duty = Duty::Abandoned,
            Ok((_, length)) => verbs[..length].iter().for_each(|verb| self.obey(*verb)),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => self.duty = Duty::Abandoned,
        }
    }

    fn obey(&mut self, verb: u8) {
        match Verb::decode(verb) {
            Some(Verb::Hangup) => self.hangup(),
            Some(Verb::Terminate) => terminate(),
            Some(Verb::Kill) => self.duty = Duty::Kill,
            None => {}
        }
    }

    /// The session is told that its terminal is gone; who left it is asked to end. A stopped process
    /// would see neither, so that it is woken after it.
    fn hangup(&self) {
        let session = self.leader.as_raw_nonzero().get();
        let members = descendants(getpid());
        family::signal(getpid(), &members, |member| {
            match member.session == session {
                true => &[Signal::HUP, Signal::CONT],
                false => &[Signal::TERM, Signal::CONT],
            }
        });
    }

    fn kill(&mut self) {
        self.kills = self.kills.saturating_add(1);
        if let Some(dir) = &self.cgroup {
            let _ = std::fs::write(dir.join("cgroup.kill"), "1");
        }
        family::kill(getpid());
    }

    /// The owner does this as well; a lost owner cannot.
    fn remove_cgroup(&self) {
        if let Some(dir) = &self.cgroup {
            let _ = std::fs::remove_dir(dir);
        }
    }
}

/// Where there is no terminal, every process is asked in the same way.
fn terminate() {
    let members = descendants(getpid());
    family::signal(getpid(), &members, |_| &[Signal::TERM, Signal::CONT]);
}

#[derive(PartialEq, Eq)]
enum Children {
    Some,
    None,
}

/// A report that cannot be sent has no reader: the owner is gone, which is noticed elsewhere.
fn report(report: Report) {
    let _ = send(
        rustix::stdio::stdin(),
        &report.encode(),
        SendFlags::NOSIGNAL,
    );
}

/// The launch message and the three descriptors that came with its first byte.
fn receive() -> Result<(Vec<u8>, [OwnedFd; 3]), Errno> {
    let mut length = [0; 4];
    let stdio = receive_stdio(&mut length)?;
    let length = usize::try_from(u32::from_le_bytes(length)).map_err(|_| Errno::MSGSIZE)?;
    if length > LAUNCH_LIMIT {
        return Err(Errno::MSGSIZE);
    }
    let mut body = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match retry_on_intr(|| read(rustix::stdio::stdin(), &mut body[filled..]))? {
            0 => return Err(Errno::CONNRESET),
            some => filled += some,
        }
    }
    Ok((body, stdio))
}

fn receive_stdio(length: &mut [u8; 4]) -> Result<[OwnedFd; 3], Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::WAITALL;
    let socket = rustix::stdio::stdin();
    let received =
        retry_on_intr(|| recvmsg(socket, &mut [IoSliceMut::new(length)], &mut control, flags))?;
    if received.bytes != length.len() {
        return Err(Errno::CONNRESET);
    }
    let descriptors = control.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect::<Vec<_>>(),
        _ => Vec::new(),
    });
    descriptors
        .collect::<Vec<_>>()
        .try_into()
        .map_err(|_| Errno::BADMSG)
}
