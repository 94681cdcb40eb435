//! Programs without a terminal: pipes for their stdio, standard output and error apart or as one.
//!
//! Every end is closed on exec from the moment it exists, so that no other program inherits one and
//! keeps it open.

use crate::stream::Stream;
use rustix::fs::{Mode, OFlags, open};
use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::os::fd::OwnedFd;

/// Our ends of three pipes. Dropping `stdin` is the program's end of input.
#[derive(Debug)]
pub struct Pipes {
    /// Takes the program's input.
    pub stdin: Stream,
    /// Gives its standard output.
    pub stdout: Stream,
    /// Gives its standard error.
    pub stderr: Stream,
}

/// Three pipes: our ends, and the program's in the order of its descriptors.
///
/// # Errors
/// What the system says, as when no descriptor is left.
pub(crate) fn pipes() -> io::Result<(Pipes, [OwnedFd; 3])> {
    let (input, stdin) = pair()?;
    let (stdout, output) = pair()?;
    let (stderr, errors) = pair()?;
    let ours = Pipes {
        stdin: Stream::new(stdin)?,
        stdout: Stream::new(stdout)?,
        stderr: Stream::new(stderr)?,
    };
    Ok((ours, [input, output, errors]))
}

/// One pipe for standard output and error, in the order in which they were written, and empty input.
///
/// # Errors
/// What the system says, as when no descriptor is left.
pub(crate) fn capture() -> io::Result<(Stream, [OwnedFd; 3])> {
    let (output, stdout) = pair()?;
    let stdin = open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let stderr = stdout.try_clone()?;
    Ok((Stream::new(output)?, [stdin, stdout, stderr]))
}

/// The program's end must block: few programs are ready for a write that is refused. Only ours is
/// made non-blocking, by the stream it becomes.
fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(pipe_with(PipeFlags::CLOEXEC)?)
}
