//! What a leash does to itself with system calls that have no safe wrapper: descriptors and signals.
//!
//! The child events are blocked as signals and read as a descriptor, so that one poll waits for them
//! and for the owner, and none is lost between looking and sleeping.
#![allow(unsafe_code)]

use rustix::io::{Errno, read};
use std::os::fd::{FromRawFd, OwnedFd};

/// Signals that people send to end a program. They are meant for what the leash holds, not for it.
const ENDINGS: [libc::c_int; 6] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
];

/// Closes every descriptor above standard error. Called first, when nothing here has opened one.
pub fn close_inherited() {
    // SAFETY: no value of this process owns a descriptor above 2 yet, so that none is closed twice.
    unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) };
}

/// Ignores the signals by which people end programs.
pub(super) fn ignore_endings() {
    for signal in ENDINGS {
        // SAFETY: to ignore a signal refers to no code.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// A descriptor that becomes readable when a child ends.
///
/// # Errors
/// The errno of the system call, as when no descriptor is left.
pub(super) fn child_events() -> Result<OwnedFd, Errno> {
    // SAFETY: the set is initialised before it is read, the process has one thread, and the
    // descriptor that comes back is owned by nothing else.
    unsafe {
        let mut children = std::mem::zeroed();
        libc::sigemptyset(&raw mut children);
        libc::sigaddset(&raw mut children, libc::SIGCHLD);
        // An inherited "ignore" would let the kernel reap, and every exit code would be lost.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const children, std::ptr::null_mut());
        let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
        match libc::signalfd(-1, &raw const children, flags) {
            -1 => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}

/// Empties the descriptor; what has ended is asked of the kernel afterwards.
pub(super) fn drain(children: &OwnedFd) {
    let mut events = [0; 1024];
    while matches!(read(children, &mut events[..]), Ok(length) if length > 0) {}
}
