//! A program under its leash: started, watched and ended. The only way to start one.
//!
//! [`ProcEvent::Exited`] says that the program itself ended; others that it started may live on.
//! [`ProcEvent::Gone`] says that none of them is left. It comes last, and both come exactly once.

use crate::cgroup::Root;
use crate::leash::message::{Controlling, Launch, Report, Stage, Verb};
use crate::leash::owner::{Heard, Owner};
use crate::pipes::{self, Pipes};
use crate::pty::{self, Master};
use crate::size::Size;
use crate::stream::Stream;
use rustix::io::Errno;
use std::ffi::OsString;
use std::future::pending;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// What a program is started with.
#[derive(Debug, Clone)]
pub struct Start {
    /// The program and its arguments; a name without a slash is looked for in the `PATH` of `env`.
    pub argv: Vec<OsString>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// Its whole environment: nothing is added.
    pub env: Vec<(OsString, OsString)>,
    /// What its standard input, output and error are.
    pub stdio: Stdio,
    /// How its processes are held.
    pub containment: Containment,
    /// The program to execute as the leash: one whose `main` calls [`crate::leash::main`].
    pub leash: PathBuf,
}

/// What the standard input, output and error of a program are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdio {
    /// A terminal of this size.
    Pty(Size),
    /// A pipe each.
    Pipes,
    /// Empty input, and one pipe for output and error.
    Capture,
}

/// How the processes of a program are held together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Containment {
    /// In a cgroup of their own below this one, and by the leash.
    Cgroup(Root),
    /// By the leash.
    Leash,
}

/// Our side of the stdio, apart from the process so that both can be waited for at once.
#[derive(Debug)]
pub enum Io {
    /// The master of the program's terminal.
    Pty(Master),
    /// A pipe each.
    Pipes(Pipes),
    /// Output and error, interleaved as they were written.
    Capture(Stream),
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code, 0 to 255.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

/// What happens to a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcEvent {
    /// It ended and is reaped.
    Exited(Exit),
    /// Nothing that it started is left either, and the leash has ended.
    Gone,
}

/// Why a program could not be started. Nothing of it is left behind.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the working directory does not exist: choose another cwd")]
    NoSuchDirectory,
    #[error(
        "the working directory may not be entered: choose another cwd or change its permissions"
    )]
    DirectoryForbidden,
    #[error("there is no such program, or its interpreter is missing: check the name and PATH")]
    ProgramNotFound,
    #[error("the file may not be executed: it needs the permission and must be a program")]
    ProgramForbidden,
    #[error("the system has no terminal left: close some and try again")]
    NoPtyLeft,
    #[error("no file descriptor is left: close some terminals and try again")]
    NoDescriptorLeft,
    #[error("no process can be made: end some and try again")]
    NoProcessLeft,
    #[error("the program could not be started: {0}")]
    Other(#[source] io::Error),
}

/// A started program. Dropping it ends all of its processes at once.
#[derive(Debug)]
pub struct Process {
    owner: Owner,
    pid: u32,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    Exited,
    /// Without a word about the program: the leash itself was killed.
    Lost,
    Gone,
}

/// Starts a program and waits until it runs. Needs a tokio runtime with I/O enabled. May be given up
/// at any time; what was started by then ends.
///
/// # Errors
/// [`StartError`], by what the caller can do about it.
pub async fn start(start: Start) -> Result<(Process, Io), StartError> {
    let (io, theirs, controlling) = open(start.stdio)?;
    // A group that cannot be made is no reason to refuse: the leash holds the same processes.
    let group = start.containment.root().and_then(|root| root.group().ok());
    let cgroup = group.as_ref().map(|group| group.dir().to_owned());
    let mut owner = Owner::spawn(&start.leash, group).map_err(StartError::of_system)?;
    let Start { argv, cwd, env, .. } = start;
    let launch = Launch {
        controlling,
        argv,
        cwd,
        env,
        cgroup,
    };
    owner
        .launch(&launch.encode(), &theirs)
        .await
        .map_err(StartError::of_system)?;
    drop(theirs);
    match owner.hear().await {
        Heard::Report(Report::Started(pid)) => Ok((
            Process {
                owner,
                pid: pid.unsigned_abs(),
                phase: Phase::Running,
            },
            io,
        )),
        Heard::Report(report) => {
            while owner.hear().await != Heard::Ended {}
            Err(StartError::of_report(report))
        }
        Heard::Ended => Err(StartError::Other(io::Error::other("its leash ended early"))),
    }
}

impl Process {
    /// The number of the program's process, which is also that of its session and process group.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The number of the leash's process.
    #[must_use]
    pub fn leash_pid(&self) -> u32 {
        self.owner.pid().as_raw_nonzero().get().unsigned_abs()
    }

    /// Waits for the next event; for ever after [`ProcEvent::Gone`]. May be given up at any time.
    pub async fn next_event(&mut self) -> ProcEvent {
        loop {
            match self.phase {
                Phase::Gone => return pending().await,
                Phase::Lost => {
                    self.phase = Phase::Gone;
                    return ProcEvent::Gone;
                }
                Phase::Running | Phase::Exited => {}
            }
            let heard = self.owner.hear().await;
            if let Some(event) = self.take(heard) {
                return event;
            }
        }
    }

    /// Asks every process to end: SIGHUP in the program's session, SIGTERM outside of it.
    pub fn hangup(&self) {
        self.owner.ask(Verb::Hangup);
    }

    /// Asks every process to end: SIGTERM, wherever it is.
    pub fn terminate(&self) {
        self.owner.ask(Verb::Terminate);
    }

    /// Ends every process. [`ProcEvent::Gone`] says when that is done; only a process that runs as
    /// somebody else and is in no cgroup of ours can delay it.
    pub fn kill(&self) {
        self.owner.ask(Verb::Kill);
    }

    /// Ends every process without the help of the leash, which a program may keep from working.
    pub fn kill_without_leash(&self) {
        self.owner.kill_all();
    }

    /// Ends the leash, for when nothing lives below it and it still says nothing.
    pub fn give_up_leash(&self) {
        self.owner.kill_leash();
    }

    /// How many processes live, the program's own included while it runs.
    #[must_use]
    pub fn descendants(&self) -> usize {
        match self.phase {
            Phase::Running | Phase::Exited => crate::leash::descendants(self.owner.pid()).len(),
            // Its number may be somebody else's by now.
            Phase::Lost | Phase::Gone => 0,
        }
    }

    fn take(&mut self, heard: Heard) -> Option<ProcEvent> {
        let exit = match heard {
            Heard::Report(Report::Exited(code)) => Exit::Code(code),
            Heard::Report(Report::Signaled(signal)) => Exit::Signal(signal),
            Heard::Report(Report::Started(_) | Report::Failed(..)) => return None,
            Heard::Ended if self.phase == Phase::Running => {
                self.phase = Phase::Lost;
                // The kernel kills the program when its leash dies.
                return Some(ProcEvent::Exited(Exit::Signal(libc::SIGKILL)));
            }
            Heard::Ended => {
                self.phase = Phase::Gone;
                return Some(ProcEvent::Gone);
            }
        };
        self.phase = Phase::Exited;
        Some(ProcEvent::Exited(exit))
    }
}

impl Containment {
    /// The strongest that this machine allows.
    #[must_use]
    pub fn detect() -> Self {
        Root::detect().cloned().map_or(Self::Leash, Self::Cgroup)
    }

    fn root(&self) -> Option<&Root> {
        match self {
            Self::Cgroup(root) => Some(root),
            Self::Leash => None,
        }
    }
}

impl StartError {
    fn of_report(report: Report) -> Self {
        match report {
            Report::Failed(Stage::Directory, errno) => Self::of_directory(errno),
            Report::Failed(Stage::Program, errno) => Self::of_program(errno),
            Report::Failed(Stage::Message, errno) => {
                Self::of_system(io::Error::from_raw_os_error(errno))
            }
            Report::Started(_) | Report::Exited(_) | Report::Signaled(_) => {
                Self::Other(io::Error::other("its leash spoke out of turn"))
            }
        }
    }

    fn of_directory(errno: i32) -> Self {
        match errno {
            libc::ENOENT | libc::ENOTDIR => Self::NoSuchDirectory,
            libc::EACCES | libc::EPERM => Self::DirectoryForbidden,
            _ => Self::of_system(io::Error::from_raw_os_error(errno)),
        }
    }

    fn of_program(errno: i32) -> Self {
        match errno {
            libc::ENOENT | libc::ENOTDIR => Self::ProgramNotFound,
            libc::EACCES | libc::EPERM | libc::ENOEXEC | libc::EISDIR => Self::ProgramForbidden,
            _ => Self::of_system(io::Error::from_raw_os_error(errno)),
        }
    }

    fn of_system(error: io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(Errno::MFILE | Errno::NFILE) => Self::NoDescriptorLeft,
            Some(Errno::AGAIN | Errno::NOMEM) => Self::NoProcessLeft,
            _ => Self::Other(error),
        }
    }

    /// The one error that means something else here: the library says "again" for "no terminal left".
    fn of_terminal(error: io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(Errno::AGAIN | Errno::NOSPC | Errno::NXIO | Errno::IO) => Self::NoPtyLeft,
            _ => Self::of_system(error),
        }
    }
}

fn open(stdio: Stdio) -> Result<(Io, [OwnedFd; 3], Controlling), StartError> {
    match stdio {
        Stdio::Pty(size) => {
            let (master, slave) = pty::open(size).map_err(StartError::of_terminal)?;
            let copy = || slave.try_clone().map_err(StartError::of_system);
            let theirs = [copy()?, copy()?, slave];
            Ok((Io::Pty(master), theirs, Controlling::Terminal))
        }
        Stdio::Pipes => {
            let (ours, theirs) = pipes::pipes().map_err(StartError::of_system)?;
            Ok((Io::Pipes(ours), theirs, Controlling::Nothing))
        }
        Stdio::Capture => {
            let (ours, theirs) = pipes::capture().map_err(StartError::of_system)?;
            Ok((Io::Capture(ours), theirs, Controlling::Nothing))
        }
    }
}
