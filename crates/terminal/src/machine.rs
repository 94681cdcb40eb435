//! What a terminal does about each thing that happens to it.
//!
//! The machine never waits and never reads a clock: whoever drives it says what happened and when,
//! carries out its [`Effect`]s, writes [`Machine::pending_write`] when the program takes input,
//! looks at the terminal when [`Machine::wants_probe`], and comes back by [`Machine::deadline`].
//! It renders the screen only when a call or a watcher is given it.

mod calls;
mod restless;

use std::fmt;
use std::time::Instant;

use wire::bash::{Action, Details, EndedBy, Listed, Observation, Process, Screen};
use wire::limits::SYNC_UPDATE;
use wire::{Refusal, TerminalId};

use crate::answer;
use crate::input::{Input, Progress};
use crate::machine::calls::Calls;
use crate::screen::Lines;
use crate::size::Size;
use crate::tty::Tty;
use crate::vt::Vt;
use crate::wait::Moment;
use crate::watchers::{Feed, WatcherId, Watchers};

/// Names a call until its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// How a program ended: either a code or the number of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub ended_by: EndedBy,
}

/// What is to be done, in this order.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// A call is over.
    Reply {
        ticket: Ticket,
        result: Result<Box<Details>, Refusal>,
    },
    /// The program is to be told its new size.
    Resize(Size),
    /// A watcher is given something.
    ToWatcher { watcher: WatcherId, feed: Feed },
}

/// One terminal: its screen, its input, its callers and its watchers.
pub struct Machine {
    id: TerminalId,
    vt: Vt,
    input: Input,
    calls: Calls,
    watchers: Watchers,
    now: Instant,
    last_output: Instant,
    outputs: u64,
    version: u64,
    exit: Option<Exit>,
    driver: Driver,
    effects: Vec<Effect>,
}

/// Whose input the program gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Driver {
    Agents,
    Person,
}

impl Machine {
    /// A terminal whose program has just been started.
    pub fn new(id: TerminalId, size: Size, now: Instant) -> Self {
        Self {
            id,
            vt: Vt::new(size),
            input: Input::default(),
            calls: Calls::default(),
            watchers: Watchers::new(size),
            now,
            last_output: now,
            outputs: 0,
            version: 0,
            exit: None,
            driver: Driver::Agents,
            effects: Vec::new(),
        }
    }

    pub fn id(&self) -> TerminalId {
        self.id
    }

    /// Bytes were read from the program.
    pub fn output(&mut self, now: Instant, bytes: &[u8]) {
        if self.exit.is_some() || bytes.is_empty() {
            return;
        }
        self.calls.before_output(now, &self.vt);
        let fed = self.vt.feed(now, bytes);
        self.input.reply(now, &fed.replies);
        self.input.output(now);
        self.watchers.output(bytes);
        self.last_output = now;
        self.outputs += 1;
        self.version += 1;
        self.calls.after_output(&self.vt);
        self.advance(now);
    }

    /// What the program is to be given next, in a write of its own. Empty: nothing now.
    pub fn pending_write(&self) -> &[u8] {
        self.input.pending()
    }

    /// The program's terminal took the first `n` bytes of [`Machine::pending_write`].
    pub fn written(&mut self, now: Instant, n: usize) {
        self.input.written(n);
        self.advance(now);
    }

    /// Whether the terminal is to be looked at now, for [`Machine::probed`].
    pub fn wants_probe(&self) -> bool {
        self.input.wants_probe() || self.calls.want_look()
    }

    /// What a look at the terminal showed.
    pub fn probed(&mut self, now: Instant, tty: Tty) {
        self.input.probed(now, tty);
        self.calls.looked(tty, &mut self.effects);
        self.advance(now);
    }

    /// The program was reaped, and all that it wrote was given to [`Machine::output`]. The screen
    /// is frozen.
    pub fn exited(&mut self, now: Instant, exit: Exit) {
        if self.exit.is_some() {
            return;
        }
        // An update that nobody will end any more is shown as far as it came.
        self.vt.tick(now + SYNC_UPDATE);
        self.exit = Some(exit);
        self.version += 1;
        let moment = self.moment(now);
        self.calls.give_up_input(&moment, &mut self.input, &self.vt);
        self.input.end();
        self.advance(now);
        self.calls.looked_enough(&mut self.effects);
    }

    /// Does what has fallen due; safe to call at any time.
    pub fn tick(&mut self, now: Instant) {
        let open = self.vt.frame_open();
        self.vt.tick(now);
        if open != self.vt.frame_open() {
            self.version += 1;
        }
        self.input.tick(now);
        self.calls.tick(now, &mut self.effects);
        self.advance(now);
    }

    /// When [`Machine::tick`] has something to do. It may lie in the past: then at once.
    pub fn deadline(&self) -> Option<Instant> {
        let moment = self.moment(self.now);
        [
            self.vt.deadline().filter(|_| self.exit.is_none()),
            self.input.deadline(),
            self.calls.deadline(&moment),
            self.watchers.deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// A person drives the terminal from now on. Input calls under way are answered with what the
    /// program was given of them.
    pub fn take_over(&mut self, now: Instant) {
        self.driver = Driver::Person;
        let moment = self.moment(now);
        for waiter in self.calls.with_input() {
            self.interrupt(&moment, waiter);
        }
        self.advance(now);
    }

    /// Agents may give input again.
    pub fn release(&mut self, now: Instant) {
        self.driver = Driver::Agents;
        self.advance(now);
    }

    pub fn is_taken_over(&self) -> bool {
        self.driver == Driver::Person
    }

    /// What a person types. Returns how many bytes were taken: all, or none when the program has
    /// not read a mebibyte already, or has ended.
    pub fn person_input(&mut self, now: Instant, bytes: &[u8]) -> usize {
        if self.exit.is_some() {
            return 0;
        }
        let taken = self.input.person(bytes);
        self.advance(now);
        taken
    }

    /// Changes the size for a person. After the exit nothing happens.
    pub fn resize(&mut self, now: Instant, size: Size) {
        if self.exit.is_none() {
            self.vt.resize(size);
            self.watchers.resized(size);
            self.version += 1;
            self.effects.push(Effect::Resize(size));
        }
        self.advance(now);
    }

    /// Begins to feed a watcher: from that place of the viewer stream if it is still kept, else,
    /// and for `None`, with a keyframe. Returns the place, or `None` for a keyframe.
    pub fn watch(&mut self, watcher: WatcherId, from: Option<u64>) -> Option<u64> {
        let kept = self.watchers.watch(watcher, from);
        self.advance(self.now);
        kept
    }

    pub fn unwatch(&mut self, watcher: WatcherId) {
        self.watchers.unwatch(watcher);
    }

    /// A watcher took so many bytes of what it was given.
    pub fn watcher_took(&mut self, watcher: WatcherId, bytes: usize) {
        self.watchers.took(watcher, bytes);
        self.advance(self.now);
    }

    /// Bytes of output that a watcher has still to take, in bytes. Whoever owns the terminal alone
    /// may have it read no further while this is large.
    pub fn backlog(&self, watcher: WatcherId) -> u64 {
        self.watchers.backlog(watcher)
    }

    /// What is to be done now.
    pub fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// An answer without a wait, such as that of `close`.
    pub fn details(&self, action: Action) -> Details {
        answer::details(self.id, &self.vt, self.exit, action, None)
    }

    /// A line of a list, under this name of the program.
    pub fn listed(&self, program: String) -> Listed {
        let Size { cols, rows } = self.size();
        let process = self.process();
        Listed {
            terminal_id: self.id,
            program: Some(program),
            state: process.state,
            cols,
            rows,
            title: self.title().to_owned(),
            exit_code: process.exit_code,
            signal: process.signal,
        }
    }

    /// The complete snapshot of the screen.
    pub fn screen(&self) -> Screen {
        answer::screen(&self.vt)
    }

    /// What a model may read of the screen, within the bounds of an automatic observation.
    pub fn observation(&self) -> Observation {
        answer::observation(&self.vt)
    }

    /// The state of the program, but for its name.
    pub fn process(&self) -> Process {
        answer::process(self.exit)
    }

    pub fn exit(&self) -> Option<Exit> {
        self.exit
    }

    pub fn size(&self) -> Size {
        self.vt.size()
    }

    pub fn title(&self) -> &str {
        self.vt.title()
    }

    /// Absolute numbers of the lines that the screen keeps.
    pub fn lines(&self) -> Lines {
        self.vt.lines()
    }

    /// Bytes that repaint a blank terminal of this size.
    pub fn keyframe(&self) -> Vec<u8> {
        self.vt.keyframe()
    }

    /// Goes on as far as possible without anything happening outside.
    fn advance(&mut self, now: Instant) {
        self.now = now;
        let moment = self.moment(now);
        for progress in self.input.advance(now, &self.vt) {
            match progress {
                Progress::Begins(ticket) => self.calls.begin(ticket, &self.vt, self.input.tty()),
                Progress::Done(ticket, facts) => self.calls.sent(&moment, ticket, facts),
            }
        }
        if self
            .calls
            .give_up_late_input(&moment, &mut self.input, &self.vt)
        {
            // What was behind it in the queue has its turn.
            return self.advance(now);
        }
        for (waiter, verdict) in self.calls.judge(&moment, &self.vt) {
            self.conclude(&moment, waiter, verdict);
        }
        for (watcher, feed) in self.watchers.pump(now, self.exit, || self.vt.keyframe()) {
            self.effects.push(Effect::ToWatcher { watcher, feed });
        }
    }

    fn moment(&self, now: Instant) -> Moment {
        Moment {
            now,
            outputs: self.outputs,
            last_output: self.last_output,
            calm: !self.vt.frame_open() && !self.vt.mid_sequence(),
            exited: self.exit.is_some(),
            version: self.version,
        }
    }
}

/// Its bytes would tell nothing.
impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine")
            .field("id", &self.id)
            .field("exit", &self.exit)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
