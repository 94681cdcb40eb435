//! Reads what a program left behind: from its exit until its last byte is known to be here. Pure.
//!
//! A terminal's non-blocking read flushes the kernel's queue first, so that "nothing" after the exit
//! means that all the program wrote has come. A pipe held open by somebody else never says so.

use std::time::{Duration, Instant};

/// How long a drain takes at most, whoever keeps writing.
pub const DRAIN_LIMIT: Duration = Duration::from_secs(1);

/// How much a drain takes from a terminal, in bytes. A background process that keeps printing could
/// delay the exit for ever; the program's own last bytes are far fewer.
pub const DRAIN_BYTES: usize = 1024 * 1024;

/// How long a pipe must be silent to count as read.
pub const PIPE_SILENCE: Duration = Duration::from_millis(200);

/// Where the bytes come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The master of a terminal.
    Terminal,
    /// A pipe.
    Pipe,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Read again at once.
    Read,
    /// Read when there is something, at the latest then.
    Wait(Instant),
    /// All is here, or the bound is reached.
    Done,
}

/// One source between the exit of its program and its end.
#[derive(Debug, Clone)]
pub struct Drain {
    source: Source,
    deadline: Instant,
    bytes: usize,
    silent_at: Instant,
}

impl Drain {
    /// Begins when the program's exit is known. The first thing to do is to read.
    #[must_use]
    pub fn new(source: Source, now: Instant) -> Self {
        Self {
            source,
            deadline: now + DRAIN_LIMIT,
            bytes: 0,
            silent_at: now + PIPE_SILENCE,
        }
    }

    /// A read gave so many bytes.
    pub fn bytes(&mut self, length: usize, now: Instant) -> Next {
        self.bytes = self.bytes.saturating_add(length);
        self.silent_at = now + PIPE_SILENCE;
        let full = self.source == Source::Terminal && self.bytes >= DRAIN_BYTES;
        if full || now >= self.deadline {
            Next::Done
        } else {
            Next::Read
        }
    }

    /// A read found nothing.
    #[must_use]
    pub fn empty(&self, now: Instant) -> Next {
        let until = self.silent_at.min(self.deadline);
        match self.source {
            Source::Terminal => Next::Done,
            Source::Pipe if now >= until => Next::Done,
            Source::Pipe => Next::Wait(until),
        }
    }

    /// A read found the other end closed.
    #[must_use]
    pub fn closed(&self) -> Next {
        Next::Done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_terminal_is_read_until_there_is_nothing() {
        let start = Instant::now();
        let mut drain = Drain::new(Source::Terminal, start);
        assert_eq!(drain.bytes(4096, start), Next::Read);
        assert_eq!(drain.bytes(1, start + 999 * MS), Next::Read);
        assert_eq!(drain.empty(start), Next::Done);
        assert_eq!(drain.closed(), Next::Done);
    }

    #[test]
    fn b45_a_background_printer_does_not_delay_the_exit_of_its_terminal() {
        let start = Instant::now();
        let mut slow = Drain::new(Source::Terminal, start);
        assert_eq!(slow.bytes(1, start + DRAIN_LIMIT), Next::Done);
        let mut fast = Drain::new(Source::Terminal, start);
        assert_eq!(fast.bytes(DRAIN_BYTES - 1, start), Next::Read);
        assert_eq!(fast.bytes(1, start), Next::Done);
    }

    #[test]
    fn a_pipe_is_read_until_it_is_silent_for_a_while() {
        let start = Instant::now();
        let mut drain = Drain::new(Source::Pipe, start);
        assert_eq!(drain.empty(start), Next::Wait(start + 200 * MS));
        assert_eq!(drain.bytes(DRAIN_BYTES, start + 150 * MS), Next::Read);
        assert_eq!(drain.empty(start + 151 * MS), Next::Wait(start + 350 * MS));
        assert_eq!(drain.empty(start + 350 * MS), Next::Done);
    }

    #[test]
    fn b45_a_pipe_that_never_falls_silent_is_left_after_a_second() {
        let start = Instant::now();
        let mut drain = Drain::new(Source::Pipe, start);
        assert_eq!(drain.bytes(1, start + 900 * MS), Next::Read);
        assert_eq!(
            drain.empty(start + 900 * MS),
            Next::Wait(start + DRAIN_LIMIT)
        );
        assert_eq!(drain.bytes(1, start + DRAIN_LIMIT), Next::Done);
    }
}
