//! A terminal's machine on simulated time: output in any pieces, any sizes, any calls in between.
//!
//! The first byte says how many of the following ones are the script; the rest is output. So a recording behind a short
//! script is a good beginning. A panic of the VT engine is a finding, though the product would survive it.
#![no_main]

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use terminal::machine::{Effect, Exit, Machine, Ticket};
use terminal::tty::{Consumed, Tty};
use terminal::watchers::{Feed, WatcherId};
use wire::bash::{Act, Action, EndedBy, Until, Wait};
use wire::{Size, TerminalId, limits};

/// Steps between two things that happen: none, and each side of every deadline.
const PAUSES: [u64; 8] = [0, 1, 20, 49, 150, 151, 1_000, 121_000];
/// Keys of each kind, and one that is none.
const KEYS: [&str; 8] = [
    "Enter",
    "Escape",
    "Up",
    "Ctrl+C",
    "Alt+x",
    "F5",
    "Shift+Tab",
    "no key",
];
/// A deadline that comes again so often without anything having happened is a busy loop.
const PATIENCE: usize = 64;

/// The step after which the screen is looked at; after each would be slow.
const CHECKED: u8 = 8;

struct Sim {
    machine: Machine,
    now: Instant,
    tickets: u64,
    open: BTreeSet<Ticket>,
}

fuzz_target!(|data: &[u8]| {
    let Some((&length, rest)) = data.split_first() else {
        return;
    };
    let (script, output) = rest.split_at(usize::from(length).min(rest.len()));
    let mut sim = Sim::new();
    let (mut script, mut output) = (script.iter().copied(), output);
    while let Some(op) = script.next() {
        let (arg, more) = (script.next().unwrap_or(0), script.next().unwrap_or(0));
        sim.step(op, arg, more, &mut output);
        sim.settle(usize::from(arg) + 1);
        if op % 16 == CHECKED {
            sim.check();
        }
    }
    for piece in output.chunks(4_096) {
        sim.machine.output(sim.now, piece);
        sim.settle(usize::MAX);
    }
    sim.check();
    sim.finish();
});

impl Sim {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            machine: Machine::new(TerminalId::from_random(7), Size::DEFAULT, now),
            now,
            tickets: 0,
            open: BTreeSet::new(),
        }
    }

    fn step(&mut self, op: u8, arg: u8, more: u8, output: &mut &[u8]) {
        self.now += Duration::from_millis(PAUSES[usize::from(op >> 5)]);
        let (now, watcher) = (self.now, WatcherId(u64::from(arg % 3)));
        match op % 16 {
            0..=3 => {
                let length = (usize::from(arg) << (op % 4 * 2)).min(output.len());
                let (piece, rest) = output.split_at(length);
                self.machine.output(now, piece);
                *output = rest;
            }
            4 => self.machine.resize(now, size(arg, more)),
            5 | 6 => {
                let act = Act::Input {
                    action: Action::Type,
                    text: text(output, more),
                    keys: vec![KEYS[usize::from(arg % 8)].to_owned(); usize::from(arg >> 6)],
                    wait: wait(arg, output),
                };
                self.act(act);
            }
            7 => self.act(Act::Wait(wait(arg, output))),
            CHECKED => self.act(Act::Screen),
            9 => self
                .machine
                .cancel(now, Ticket(self.tickets.saturating_sub(u64::from(arg % 4)))),
            10 => self.machine.take_over(now),
            11 => self.machine.release(now),
            12 => drop(
                self.machine
                    .person_input(now, text(output, more).as_bytes()),
            ),
            13 => drop(
                self.machine
                    .watch(watcher, (more > 127).then(|| u64::from(more))),
            ),
            14 => self.machine.unwatch(watcher),
            _ => self.exit(arg),
        }
    }

    fn act(&mut self, act: Act) {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.open.insert(ticket);
        self.machine.act(self.now, ticket, act);
    }

    fn exit(&mut self, code: u8) {
        self.settle(usize::MAX);
        let exit = Exit {
            code: Some(i32::from(code)),
            signal: None,
            ended_by: EndedBy::Program,
        };
        self.machine.exited(self.now, exit);
    }

    /// Does what the machine asks for; the program takes at most so many bytes.
    fn settle(&mut self, mut room: usize) {
        for _ in 0..PATIENCE {
            let pending = self.machine.pending_write().len().min(room);
            let looks = self.machine.wants_probe();
            if pending > 0 {
                self.machine.written(self.now, pending);
                room -= pending;
            }
            if looks {
                self.machine.probed(self.now, tty(room));
            }
            if pending == 0 && !looks {
                break;
            }
        }
        self.carry_out();
    }

    /// What holds at any moment.
    fn check(&self) {
        let observed = self.machine.observation().text.encode_utf16().count();
        assert!(observed <= limits::OBSERVATION_UNITS);
        let (screen, size) = (self.machine.screen(), self.machine.size());
        assert_eq!((screen.cols, screen.rows), (size.cols, size.rows));
        assert_eq!(screen.lines.len(), usize::from(size.rows));
        assert!(self.machine.title().encode_utf16().count() <= limits::TITLE_UNITS);
    }

    fn carry_out(&mut self) {
        for effect in self.machine.effects() {
            match effect {
                Effect::Reply { ticket, .. } => {
                    assert!(self.open.remove(&ticket), "{ticket:?} is answered twice");
                }
                Effect::Resize(_) => {}
                Effect::ToWatcher { watcher, feed } => {
                    let (Feed::Keyframe { bytes, .. } | Feed::Chunk { bytes, .. }) = feed else {
                        continue;
                    };
                    self.machine.watcher_took(watcher, bytes.len());
                }
            }
        }
    }

    /// Time passes until nothing is due any more: then every call has been answered.
    fn finish(&mut self) {
        let mut again = 0;
        while let Some(deadline) = self.machine.deadline() {
            again = if deadline <= self.now { again + 1 } else { 0 };
            assert!(again < PATIENCE, "a deadline comes again and again");
            self.now = self.now.max(deadline);
            self.machine.tick(self.now);
            self.settle(usize::MAX);
        }
        let waits_for_ever = std::mem::take(&mut self.open);
        assert!(
            waits_for_ever.is_empty(),
            "{waits_for_ever:?} are never answered"
        );
        let keyframe = self.machine.keyframe();
        let mut copy = Machine::new(self.machine.id(), self.machine.size(), self.now);
        copy.output(self.now, &keyframe);
        assert!(copy.pending_write().is_empty(), "a keyframe asks something");
        self.exit(0);
        self.settle(usize::MAX);
    }
}

fn tty(salt: usize) -> Tty {
    Tty {
        canonical: salt % 3 == 0,
        echo: salt % 5 == 0,
        consumed: if salt % 2 == 0 {
            Consumed::Yes
        } else {
            Consumed::No
        },
        ..Tty::default()
    }
}

fn size(cols: u8, rows: u8) -> Size {
    let of = |n: u8| match n {
        0..=200 => u16::from(n) + 1,
        _ => (u16::from(n) - 200) * 18,
    };
    Size::new(of(cols), of(rows)).unwrap_or_default()
}

/// A piece of what is printed next, so that a wait has something to find.
fn text(output: &[u8], length: u8) -> String {
    let length = usize::from(length).min(output.len());
    String::from_utf8_lossy(&output[..length]).into_owned()
}

fn wait(arg: u8, output: &[u8]) -> Wait {
    let marker = || text(output, arg % 8 + 1);
    let until = match arg % 5 {
        0 => Until::Quiet,
        1 => Until::Exit,
        2 => Until::Absent(marker()),
        _ => Until::Present(marker()),
    };
    let timeout = (arg % 3 != 0 || until == Until::Exit)
        .then(|| Duration::from_millis(u64::from(arg) * 100 + 100));
    Wait { until, timeout }
}
