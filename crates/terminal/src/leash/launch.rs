//! Starts the program of a leash: in a session of its own, with nothing inherited but its stdio.
//!
//! The leash has one thread, so that its child may do what it likes between fork and exec. The child
//! is given the default action for every signal and an empty mask, whatever the leash ignores.
#![allow(unsafe_code)]

use super::message::{Controlling, Launch, Stage};
use rustix::process::Pid;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Signals that a program can have; the two that the C library keeps for itself refuse to be set.
const SIGNALS: std::ops::RangeInclusive<libc::c_int> = 1..=64;

/// Starts the program. The leash keeps none of `stdio`: it would keep the terminal open.
///
/// # Errors
/// The step that failed and its errno; nothing was started then.
pub(super) fn launch(launch: &Launch, stdio: [OwnedFd; 3]) -> Result<Pid, (Stage, i32)> {
    let command = command(launch, stdio).ok_or((Stage::Message, libc::EINVAL))?;
    // Entered here and not in the child, so that a failure is known to be the directory's.
    rustix::process::chdir(&launch.cwd)
        .map_err(|errno| (Stage::Directory, errno.raw_os_error()))?;
    let started = spawn(command)
        .map_err(|error| (Stage::Program, error.raw_os_error().unwrap_or(libc::EINVAL)));
    // The leash may outlive the directory and must not keep its file system busy.
    let _ = rustix::process::chdir("/");
    started
}

fn command(launch: &Launch, stdio: [OwnedFd; 3]) -> Option<Command> {
    let (program, arguments) = launch.argv.split_first()?;
    let [stdin, stdout, stderr] = stdio.map(Stdio::from);
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(launch.env.iter().map(|(name, value)| (name, value)));
    command.stdin(stdin).stdout(stdout).stderr(stderr);
    let controlling = launch.controlling;
    let mut group = launch.cgroup.as_ref().and_then(|dir| open_group(dir));
    // SAFETY: the leash has one thread, so that no lock can be held by a thread the fork left out;
    // the closure makes system calls only.
    unsafe { command.pre_exec(move || prepare(controlling, group.as_mut())) };
    Some(command)
}

/// Takes the command by value: it holds descriptors of the program's stdio, which go with it.
fn spawn(mut command: Command) -> io::Result<Pid> {
    let child = command.spawn()?;
    Ok(Pid::from_child(&child))
}

fn open_group(dir: &std::path::Path) -> Option<File> {
    File::options()
        .write(true)
        .open(dir.join("cgroup.procs"))
        .ok()
}

/// Runs in the child, after its stdio is in place and before the program is executed.
fn prepare(controlling: Controlling, group: Option<&mut File>) -> io::Result<()> {
    if let Some(group) = group {
        // A program outside its cgroup is still held by the leash, which needs no cgroup.
        let _ = group.write_all(b"0");
    }
    rustix::process::setsid()?;
    match controlling {
        Controlling::Terminal => rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?,
        Controlling::Nothing => {}
    }
    // When the leash itself is killed, nobody could tell how the program ended.
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    reset_signals();
    // Marked and not closed: the standard library reports a failing exec through one of them.
    // SAFETY: descriptors above 2 are marked to be closed by the exec, none is closed here.
    unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3,
            u32::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    Ok(())
}

fn reset_signals() {
    // SAFETY: the default action refers to no code, and the set is initialised before it is read.
    unsafe {
        for signal in SIGNALS {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}
