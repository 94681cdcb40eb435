//! A plain command, without a terminal: run to its end, its output kept within bounds.
//!
//! What it left in the background lives on in [`Remainder`], whose output is read and dropped so
//! that none of those processes stalls or dies of a full or closed pipe.

use std::future::Future;
use std::time::{Duration, Instant};

use wire::bash::RunOutput;
use wire::limits;

use crate::drain::{Drain, Next, Source};
use crate::kept::Kept;
use crate::process::{Exit, Io, ProcEvent, Process, Start, StartError, Stdio, start};
use crate::stream::{Read, Stream};

/// One read of a pipe.
const READ_BYTES: usize = 16 * 1024;

/// How a plain command ended.
#[derive(Debug)]
pub struct Ran {
    /// How the shell ended; after a time-out or a cancel by our signal.
    pub exit: Exit,
    /// Why we ended it, if we did.
    pub stopped: Option<Stopped>,
    /// Beginning and end of what it wrote.
    pub output: RunOutput,
    /// Processes that it left in the background.
    pub background: usize,
}

/// Why a command was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Its time was over.
    TimedOut,
    /// Its caller went away.
    Cancelled,
}

/// Processes that a plain command left behind. Dropping it ends them.
#[derive(Debug)]
pub struct Remainder {
    process: Process,
    output: Option<Stream>,
}

/// Runs a command until it ends, its time is over, or `cancelled` resolves. `start.stdio` is set to
/// capture.
///
/// # Errors
/// [`StartError`] when it could not be started.
pub async fn run(
    mut command: Start,
    timeout: Duration,
    cancelled: impl Future<Output = ()>,
) -> Result<(Ran, Remainder), StartError> {
    command.stdio = Stdio::Capture;
    let (process, io) = start(command).await?;
    let Io::Capture(output) = io else {
        return Err(StartError::Other(std::io::Error::other(
            "a captured command has one pipe",
        )));
    };
    let mut run = Running {
        process,
        output: Some(output),
        kept: Kept::new(limits::RUN_OUTPUT_BYTES),
    };
    let (exit, stopped) = run.finish(timeout, cancelled).await;
    run.drain().await;
    let ran = Ran {
        exit,
        stopped,
        output: run.kept.finish(),
        background: run.process.descendants(),
    };
    Ok((
        ran,
        Remainder {
            process: run.process,
            output: run.output,
        },
    ))
}

impl Remainder {
    /// Waits until no process is left; drops what they write.
    pub async fn gone(mut self) {
        let mut buffer = vec![0; 1024];
        loop {
            tokio::select! {
                event = self.process.next_event() => if event == ProcEvent::Gone { return },
                read = read(self.output.as_ref(), &mut buffer) => if read == Read::Closed { self.output = None },
            }
        }
    }
}

struct Running {
    process: Process,
    output: Option<Stream>,
    kept: Kept,
}

impl Running {
    /// Until the shell itself has ended. A command that is to end gets SIGHUP first and SIGKILL
    /// after the grace.
    async fn finish(
        &mut self,
        timeout: Duration,
        cancelled: impl Future<Output = ()>,
    ) -> (Exit, Option<Stopped>) {
        let mut buffer = vec![0; READ_BYTES];
        let mut deadline = now() + timeout;
        let mut stopped = None;
        let mut cancelled = std::pin::pin!(cancelled);
        loop {
            let stop = tokio::select! {
                event = self.process.next_event() => match event {
                    ProcEvent::Exited(exit) => return (exit, stopped),
                    ProcEvent::Gone => continue,
                },
                read = read(self.output.as_ref(), &mut buffer) => {
                    self.take(read, &buffer);
                    continue;
                }
                () = &mut cancelled, if stopped.is_none() => Stopped::Cancelled,
                () = tokio::time::sleep_until(deadline.into()) => Stopped::TimedOut,
            };
            if stopped.is_none() {
                stopped = Some(stop);
                self.process.hangup();
            } else {
                self.process.kill();
            }
            deadline = now() + limits::CLOSE_GRACE;
        }
    }

    /// What the command wrote last is still in the pipe.
    async fn drain(&mut self) {
        let mut drain = Drain::new(Source::Pipe, now());
        let mut buffer = vec![0; READ_BYTES];
        while let Some(output) = &self.output {
            let found = output.try_read(&mut buffer);
            let next = match found {
                Read::Bytes(length) => drain.bytes(length, now()),
                Read::Empty => drain.empty(now()),
                Read::Closed => drain.closed(),
            };
            self.take(found, &buffer);
            match next {
                // A background process that floods the pipe must not keep other terminals from
                // their turn.
                Next::Read => tokio::task::yield_now().await,
                Next::Done => return,
                Next::Wait(until) => self.read_until(until, &mut drain).await,
            }
        }
    }

    async fn read_until(&mut self, until: Instant, drain: &mut Drain) {
        let mut buffer = vec![0; READ_BYTES];
        tokio::select! {
            found = read(self.output.as_ref(), &mut buffer) => {
                if let Read::Bytes(length) = found {
                    drain.bytes(length, now());
                }
                self.take(found, &buffer);
            }
            () = tokio::time::sleep_until(until.into()) => {}
        }
    }

    fn take(&mut self, found: Read, buffer: &[u8]) {
        match found {
            Read::Bytes(length) => self.kept.push(&buffer[..length]),
            Read::Empty => {}
            Read::Closed => self.output = None,
        }
    }
}

async fn read(output: Option<&Stream>, buffer: &mut [u8]) -> Read {
    match output {
        Some(output) => output.read(buffer).await,
        None => std::future::pending().await,
    }
}

fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
