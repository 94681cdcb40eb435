//! A terminal on simulated time, and what it does.

use std::time::{Duration, Instant};

use wire::bash::{Act, Action, Details, EndedBy, InputFacts, Outcome, Until, Wait, WaitFacts};
use wire::{Refusal, TerminalId};

use super::*;
use crate::tty::Consumed;

mod ahead;
mod input;
mod person;
mod splits;
mod viewers;
mod waits;

/// When the program reads what it was given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    AtOnce,
    /// So long after the first unread byte came.
    After(Duration),
    Never,
}

/// A machine, and around it a program and an actor that take no time of their own.
struct Sim {
    now: Instant,
    began: Instant,
    machine: Machine,
    reading: Reading,
    tty: Tty,
    /// What the kernel still takes before the program reads.
    room: usize,
    unread: Vec<u8>,
    unread_since: Instant,
    /// What each read of the program got.
    reads: Vec<String>,
    writes: Vec<String>,
    probes: usize,
    answers: Vec<(Ticket, Result<Box<Details>, Refusal>)>,
    feeds: Vec<(WatcherId, Feed)>,
    sizes: Vec<Size>,
    tickets: u64,
}

impl Sim {
    /// A program in raw mode that reads at once.
    fn new() -> Self {
        Self::sized(80, 24)
    }

    fn sized(cols: u16, rows: u16) -> Self {
        let now = Instant::now();
        let size = Size::new(cols, rows).unwrap();
        Self {
            now,
            began: now,
            machine: Machine::new(TerminalId::from_random(1), size, now),
            reading: Reading::AtOnce,
            tty: Tty::default(),
            room: usize::MAX,
            unread: Vec::new(),
            unread_since: now,
            reads: Vec::new(),
            writes: Vec::new(),
            probes: 0,
            answers: Vec::new(),
            feeds: Vec::new(),
            sizes: Vec::new(),
            tickets: 0,
        }
    }

    /// A program that reads lines, with the kernel's echo.
    fn canonical() -> Self {
        let mut sim = Self::new();
        sim.tty = Tty {
            canonical: true,
            echo: true,
            ..Tty::default()
        };
        sim
    }

    fn says(&mut self, output: &str) {
        self.machine.output(self.now, output.as_bytes());
        self.settle();
    }

    fn act(&mut self, act: Act) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.machine.act(self.now, ticket, act);
        self.settle();
        ticket
    }

    fn types(&mut self, text: &str, keys: &[&str], wait: Wait) -> Ticket {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        let action = if text.is_empty() {
            Action::Keys
        } else {
            Action::Type
        };
        self.act(Act::Input {
            action,
            text: text.into(),
            keys,
            wait,
        })
    }

    fn waits(&mut self, wait: Wait) -> Ticket {
        self.act(Act::Wait(wait))
    }

    fn opens(&mut self, wait: Wait) -> Ticket {
        self.tickets += 1;
        self.machine.opened(self.now, Ticket(self.tickets), wait);
        self.settle();
        Ticket(self.tickets)
    }

    fn exits(&mut self, code: i32) {
        let exit = Exit {
            code: Some(code),
            signal: None,
            ended_by: EndedBy::Program,
        };
        self.machine.exited(self.now, exit);
        self.settle();
    }

    /// Does what an actor does between two things that happen.
    fn settle(&mut self) {
        loop {
            let pending = self.machine.pending_write();
            let n = pending.len().min(self.room);
            if n > 0 {
                let bytes = pending[..n].to_vec();
                self.take(&bytes);
                self.machine.written(self.now, n);
            } else if self.machine.wants_probe() {
                self.probes += 1;
                let consumed = match (self.tty.canonical, self.unread.is_empty()) {
                    (true, _) => Consumed::Unknown,
                    (false, true) => Consumed::Yes,
                    (false, false) => Consumed::No,
                };
                self.machine.probed(
                    self.now,
                    Tty {
                        consumed,
                        ..self.tty
                    },
                );
            } else {
                break;
            }
        }
        for effect in self.machine.effects() {
            match effect {
                Effect::Reply { ticket, result } => self.answers.push((ticket, result)),
                Effect::Resize(size) => self.sizes.push(size),
                Effect::ToWatcher { watcher, feed } => self.feeds.push((watcher, feed)),
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.unread.is_empty() {
            self.unread_since = self.now;
        }
        self.room -= bytes.len();
        self.writes.push(String::from_utf8_lossy(bytes).into());
        self.unread.extend_from_slice(bytes);
        if self.reading == Reading::AtOnce {
            self.read();
        }
    }

    fn read(&mut self) {
        let bytes = std::mem::take(&mut self.unread);
        self.room += bytes.len();
        self.reads.push(String::from_utf8_lossy(&bytes).into());
    }

    fn read_due(&self) -> Option<Instant> {
        match self.reading {
            Reading::After(time) if !self.unread.is_empty() => Some(self.unread_since + time),
            _ => None,
        }
    }

    /// Lets time pass, and everything that falls due in it.
    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let due = self.machine.deadline().map(|at| at.max(self.now));
            let next = [due, self.read_due()].into_iter().flatten().min();
            let Some(at) = next.filter(|at| *at <= end) else {
                break;
            };
            assert!(self.probes < 100_000, "the machine is busy with nothing");
            self.probes += 1;
            self.now = at;
            if self.read_due().is_some_and(|due| due <= at) {
                self.read();
            }
            self.machine.tick(at);
            self.settle();
        }
        self.now = end;
    }

    /// The answer to a call, if it has come; it can be taken once.
    fn answer(&mut self, ticket: Ticket) -> Option<Details> {
        let at = self.answers.iter().position(|(it, _)| *it == ticket)?;
        Some(*self.answers.remove(at).1.unwrap())
    }

    #[track_caller]
    fn outcome(&mut self, ticket: Ticket) -> WaitFacts {
        self.answer(ticket)
            .expect("it is answered")
            .wait
            .expect("it waited")
    }

    /// Waits for the answer and says how long it took.
    #[track_caller]
    fn finish(&mut self, ticket: Ticket) -> (Details, u64) {
        for _ in 0..200_000 {
            if let Some(details) = self.answer(ticket) {
                let took = details.wait.as_ref().map_or(0, |wait| wait.elapsed_ms);
                return (details, took);
            }
            self.pass(Duration::from_millis(1));
        }
        panic!("it is never answered");
    }

    fn facts(&mut self, ticket: Ticket) -> InputFacts {
        self.finish(ticket).0.input.expect("it had input")
    }
}

fn quiet() -> Wait {
    Wait {
        until: Until::Quiet,
        timeout: None,
    }
}

fn for_exit() -> Wait {
    Wait {
        until: Until::Exit,
        timeout: None,
    }
}

fn present(text: &str) -> Wait {
    Wait {
        until: Until::Present(text.into()),
        timeout: None,
    }
}

fn absent(text: &str) -> Wait {
    Wait {
        until: Until::Absent(text.into()),
        timeout: None,
    }
}

fn within(ms: u64, wait: Wait) -> Wait {
    Wait {
        timeout: Some(Duration::from_millis(ms)),
        ..wait
    }
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}
