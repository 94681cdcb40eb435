//! A plain command, without a terminal: what it writes goes to a taker, and it can be ended.
//!
//! The end of the shell and the end of all that it started are two things: what it left in the
//! background lives on, and its output must go on being read, so that none of those processes stalls
//! or dies of a full or closed pipe.

use std::future::Future;
use std::time::{Duration, Instant};

use wire::limits;

use crate::drain::{Drain, Next, Source};
use crate::process::{Exit, Io, ProcEvent, Process, Start, StartError, Stdio, start};
use crate::stream::{Read, Stream};

/// One read of a pipe.
const READ_BYTES: usize = 16 * 1024;

/// How the shell of a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// After a time-out or a stop by our signal.
    pub exit: Exit,
    /// Why we ended it, if we did.
    pub stopped: Option<Stopped>,
}

/// Why a command was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Its time was over.
    TimedOut,
    /// Somebody asked for it, or its caller went away.
    Asked,
}

/// A command that was started. Dropping it ends all of its processes at once.
#[derive(Debug)]
pub struct Command {
    process: Process,
    output: Option<Stream>,
    /// When whatever does not end of itself is killed.
    kill_at: Option<Instant>,
    gone: bool,
}

impl Command {
    /// Starts a command. `start.stdio` is set to capture.
    ///
    /// # Errors
    /// [`StartError`] when it could not be started.
    pub async fn start(mut command: Start) -> Result<Self, StartError> {
        command.stdio = Stdio::Capture;
        let (process, io) = start(command).await?;
        let Io::Capture(output) = io else {
            return Err(StartError::Other(std::io::Error::other(
                "a captured command has one pipe",
            )));
        };
        Ok(Self {
            process,
            output: Some(output),
            kill_at: None,
            gone: false,
        })
    }

    /// How many processes of it live.
    #[must_use]
    pub fn descendants(&self) -> usize {
        self.process.descendants()
    }

    /// Until the shell has ended, of itself, at its time if it has one, or because `stop` resolved; and what it
    /// wrote has been taken. A command that is to end gets SIGTERM first and SIGKILL after the
    /// grace.
    pub async fn finish(
        &mut self,
        timeout: Option<Duration>,
        stop: impl Future<Output = ()>,
        take: &mut impl FnMut(&[u8]),
    ) -> Ran {
        let mut buffer = vec![0; READ_BYTES];
        let deadline = timeout.map(|it| now() + it);
        let mut stopped = None;
        let mut stop = std::pin::pin!(stop);
        let exit = loop {
            let wanted = tokio::select! {
                event = self.process.next_event() => match event {
                    ProcEvent::Exited(exit) => break exit,
                    ProcEvent::Gone => continue,
                },
                found = read(self.output.as_ref(), &mut buffer) => {
                    self.take(found, &buffer, take);
                    continue;
                }
                () = &mut stop, if stopped.is_none() => Some(Stopped::Asked),
                () = until(deadline), if stopped.is_none() => Some(Stopped::TimedOut),
                () = until(self.kill_at) => None,
            };
            match wanted {
                Some(why) => {
                    stopped = Some(why);
                    self.terminate();
                }
                None => self.kill(),
            }
        };
        self.drain(take).await;
        Ran { exit, stopped }
    }

    /// Until no process is left; what they write is taken.
    pub async fn gone(&mut self, take: &mut impl FnMut(&[u8])) {
        let mut buffer = vec![0; READ_BYTES];
        while !self.gone {
            tokio::select! {
                event = self.process.next_event() => self.gone = event == ProcEvent::Gone,
                found = read(self.output.as_ref(), &mut buffer) => self.take(found, &buffer, take),
                () = until(self.kill_at) => self.kill(),
            }
        }
    }

    /// Asks every process to end, and kills those that have not done so after the grace.
    /// [`Self::gone`] tells when none is left.
    pub fn terminate(&mut self) {
        if self.kill_at.is_none() {
            self.process.terminate();
            self.kill_at = Some(now() + limits::CLOSE_GRACE);
        }
    }

    fn kill(&mut self) {
        self.process.kill();
        // A kill is repeated by the leash until nothing is left; a second word would change nothing.
        self.kill_at = Some(now() + limits::CLOSE_GRACE);
    }

    /// What the command wrote last is still in the pipe.
    async fn drain(&mut self, take: &mut impl FnMut(&[u8])) {
        let mut drain = Drain::new(Source::Pipe, now());
        let mut buffer = vec![0; READ_BYTES];
        while let Some(output) = &self.output {
            let found = output.try_read(&mut buffer);
            let next = match found {
                Read::Bytes(length) => drain.bytes(length, now()),
                Read::Empty => drain.empty(now()),
                Read::Closed => drain.closed(),
            };
            self.take(found, &buffer, take);
            match next {
                // A background process that floods the pipe must not keep other terminals from
                // their turn.
                Next::Read => tokio::task::yield_now().await,
                Next::Done => return,
                Next::Wait(moment) => self.read_until(moment, &mut drain, take).await,
            }
        }
    }

    async fn read_until(
        &mut self,
        moment: Instant,
        drain: &mut Drain,
        take: &mut impl FnMut(&[u8]),
    ) {
        let mut buffer = vec![0; READ_BYTES];
        tokio::select! {
            found = read(self.output.as_ref(), &mut buffer) => {
                if let Read::Bytes(length) = found {
                    drain.bytes(length, now());
                }
                self.take(found, &buffer, take);
            }
            () = sleep_until(moment) => {}
        }
    }

    fn take(&mut self, found: Read, buffer: &[u8], take: &mut impl FnMut(&[u8])) {
        match found {
            Read::Bytes(length) => take(&buffer[..length]),
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

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

async fn sleep_until(moment: Instant) {
    tokio::time::sleep_until(moment.into()).await;
}

fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
