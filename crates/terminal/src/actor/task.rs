//! What the task of one terminal does, step by step.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};
use wire::bash::{Action, Details, EndedBy};
use wire::limits;

use super::{Answer, Description, News, Request, Watching};
use crate::drain::{Drain, Next, Source};
use crate::machine::{Effect, Exit as Ending, Machine, Ticket};
use crate::process::{Exit, ProcEvent, Process};
use crate::pty::{Master, Reopened, program_name};
use crate::stream::{Read, Write};

/// Read from the terminal before anything else is looked at again: a flood must not starve its
/// readers.
const BATCH_BYTES: usize = 64 * 1024;
/// One read of a terminal gives about this much, whatever the room.
const READ_BYTES: usize = 4096;
/// A terminal that all its processes closed is looked at this often until one opens it again or the
/// program ends.
const REOPEN_EVERY: Duration = Duration::from_millis(100);
/// After the kill, a process that still does not go (as one that hangs in the kernel) is waited for
/// so long.
const KILL_PATIENCE: Duration = Duration::from_secs(5);
/// After a kill that goes past its leash, the leash is given so long to reap.
const REAP_PATIENCE: Duration = Duration::from_secs(1);

thread_local! {
    /// Shared by all terminals of a thread: it is used between two awaits only.
    static BATCH: RefCell<Vec<u8>> = RefCell::new(vec![0; BATCH_BYTES]);
}

/// One terminal: what decides, what runs, and who waits.
pub(super) struct Task {
    machine: Machine,
    process: Process,
    /// None once the exit is published: from then on nobody may keep the kernel's terminal.
    master: Option<Master>,
    title: String,
    news: mpsc::UnboundedSender<News>,
    replies: HashMap<Ticket, oneshot::Sender<Answer>>,
    closing: Option<Closing>,
    close_replies: Vec<oneshot::Sender<Answer>>,
    /// When to look whether a process opened the terminal again; it is closed until then.
    reopen: Option<Instant>,
}

/// How far the end of a terminal has come.
#[derive(Clone, Copy)]
struct Closing {
    by: EndedBy,
    next: Instant,
    step: Step,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Hung up; the kill is next.
    HungUp,
    /// Killed by the leash; a kill that does without it is next.
    Killed,
    /// Killed without the leash; ending that, or giving up, is next.
    Forced,
}

/// What an iteration of the task begins with.
enum Event {
    Request(Option<Request>),
    Read(Read),
    Writable,
    Process(ProcEvent),
    Deadline,
}

impl Task {
    pub(super) fn new(
        machine: Machine,
        process: Process,
        master: Master,
        title: String,
        news: mpsc::UnboundedSender<News>,
    ) -> Self {
        Self {
            machine,
            process,
            master: Some(master),
            title,
            news,
            replies: HashMap::new(),
            closing: None,
            close_replies: Vec::new(),
            reopen: None,
        }
    }

    /// Runs until no process of the terminal is left.
    pub(super) async fn run(mut self, mut inbox: mpsc::Receiver<Request>) {
        let mut first = [0; READ_BYTES];
        loop {
            self.write();
            self.probe();
            self.carry_out();
            let deadline = self.deadline();
            let reading = self.reopen.is_none();
            let writing = reading && !self.machine.pending_write().is_empty();
            let master = self.master.as_ref();
            let event = tokio::select! {
                // Not biased: under a flood of output deadlines and requests have their turn all
                // the same.
                request = inbox.recv() => Event::Request(request),
                read = read(master, &mut first), if reading => Event::Read(read),
                () = writable(master), if writing => Event::Writable,
                event = self.process.next_event() => Event::Process(event),
                () = sleep_to(deadline) => Event::Deadline,
            };
            match event {
                // Without a handle nobody can ever ask for anything: the owner is gone.
                Event::Request(None) => return,
                Event::Request(Some(request)) => self.obey(request),
                Event::Read(Read::Bytes(length)) => self.output(&first[..length]),
                Event::Read(Read::Empty) | Event::Writable => {}
                Event::Read(Read::Closed) => self.reopen = Some(now() + REOPEN_EVERY),
                Event::Process(ProcEvent::Exited(exit)) => self.exited(exit),
                Event::Process(ProcEvent::Gone) => return self.gone(inbox),
                Event::Deadline => self.tick(),
            }
        }
    }

    fn obey(&mut self, request: Request) {
        let now = now();
        match request {
            Request::Opened {
                ticket,
                wait,
                reply,
            } => {
                self.replies.insert(ticket, reply);
                self.machine.opened(now, ticket, wait);
            }
            Request::Act { ticket, act, reply } => {
                self.replies.insert(ticket, reply);
                self.machine.act(now, ticket, act);
            }
            Request::Cancel(ticket) => self.machine.cancel(now, ticket),
            Request::Close { by, reply } => self.close(by, reply),
            // Whoever asked may have gone.
            Request::Describe(reply) => drop(reply.send(self.describe())),
            Request::Watch {
                watcher,
                from,
                reply,
            } => {
                let from = self.machine.watch(watcher, from);
                drop(reply.send(Watching {
                    size: self.machine.size(),
                    from,
                }));
            }
            Request::Unwatch(watcher) => self.machine.unwatch(watcher),
            Request::Took(watcher, bytes) => self.machine.watcher_took(watcher, bytes),
            Request::TakeOver => self.machine.take_over(now),
            Request::Release => self.machine.release(now),
            Request::Keystrokes(bytes) => self.keystrokes(&bytes),
        }
    }

    /// Who has not taken the terminal over only watches.
    fn keystrokes(&mut self, bytes: &[u8]) {
        if self.machine.is_taken_over() {
            self.machine.person_input(now(), bytes);
        }
    }

    /// Feeds what was read, and what else lies ready, to the machine as one batch.
    fn output(&mut self, first: &[u8]) {
        let Some(master) = &self.master else { return };
        let machine = &mut self.machine;
        BATCH.with_borrow_mut(|batch| {
            batch[..first.len()].copy_from_slice(first);
            let mut filled = first.len();
            while filled < batch.len() {
                match master.try_read(&mut batch[filled..]) {
                    Read::Bytes(length) => filled += length,
                    Read::Empty | Read::Closed => break,
                }
            }
            machine.output(now(), &batch[..filled]);
        });
    }

    /// Gives the program its input as far as it takes it, each burst in a write of its own.
    fn write(&mut self) {
        let Some(master) = &self.master else { return };
        while !self.machine.pending_write().is_empty() {
            match master.try_write(self.machine.pending_write()) {
                Write::Bytes(length) => self.machine.written(now(), length),
                Write::Full | Write::Closed => return,
            }
        }
    }

    fn probe(&mut self) {
        if !self.machine.wants_probe() {
            return;
        }
        let tty = self
            .master
            .as_ref()
            .and_then(Master::look)
            .unwrap_or_default();
        self.machine.probed(now(), tty);
        self.write();
    }

    fn carry_out(&mut self) {
        for effect in self.machine.effects() {
            match effect {
                Effect::Reply { ticket, result } => {
                    if let Some(reply) = self.replies.remove(&ticket) {
                        // Whoever asked may have gone.
                        let _ = reply.send(result.map(|details| self.complete(details)));
                    }
                }
                Effect::Resize(size) => {
                    if let Some(master) = &self.master {
                        master.resize(size);
                    }
                }
                Effect::ToWatcher { watcher, feed } => {
                    let _ = self.news.send(News::Feed(watcher, feed));
                }
            }
        }
    }

    /// Adds what only the processes tell.
    fn complete(&self, mut details: Box<Details>) -> Box<Details> {
        details.process.program = Some(self.program());
        if self.master.is_none() {
            let left = self.process.descendants();
            details.process.background_processes = u32::try_from(left).unwrap_or(u32::MAX);
        }
        details
    }

    fn program(&self) -> String {
        let foreground = self.master.as_ref().and_then(Master::foreground);
        foreground
            .and_then(program_name)
            .unwrap_or_else(|| self.title.clone())
    }

    fn describe(&self) -> Description {
        let listed = self.machine.listed(self.program());
        Description {
            listed,
            taken_over: self.machine.is_taken_over(),
        }
    }

    /// The program is reaped: reads what it left in the kernel, then publishes the exit.
    fn exited(&mut self, exit: Exit) {
        let mut drain = Drain::new(Source::Terminal, now());
        while let Some(master) = &self.master {
            let machine = &mut self.machine;
            let next = BATCH.with_borrow_mut(|batch| match master.try_read(batch) {
                Read::Bytes(length) => {
                    machine.output(now(), &batch[..length]);
                    drain.bytes(length, now())
                }
                Read::Empty => drain.empty(now()),
                Read::Closed => drain.closed(),
            });
            if next != Next::Read {
                break;
            }
        }
        let ending = self.ending(exit);
        self.machine.exited(now(), ending);
        self.master = None;
        self.reopen = None;
        let _ = self.news.send(News::Exited(self.machine.id(), ending));
    }

    fn ending(&self, exit: Exit) -> Ending {
        let (code, signal) = match exit {
            Exit::Code(code) => (Some(code), None),
            Exit::Signal(signal) => (None, Some(signal)),
        };
        let ended_by = match (self.closing, signal) {
            (Some(closing), _) => closing.by,
            // Programs do not end themselves with these, and no key of a terminal sends them.
            (None, Some(libc::SIGKILL | libc::SIGTERM | libc::SIGHUP)) => EndedBy::Outside,
            (None, _) => EndedBy::Program,
        };
        Ending {
            code,
            signal,
            ended_by,
        }
    }

    fn close(&mut self, by: EndedBy, reply: oneshot::Sender<Answer>) {
        self.close_replies.push(reply);
        if self.closing.is_none() {
            self.process.hangup();
            self.closing = Some(Closing {
                by,
                next: now() + limits::CLOSE_GRACE,
                step: Step::HungUp,
            });
        }
    }

    fn tick(&mut self) {
        let now = now();
        self.machine.tick(now);
        if self.reopen.is_some_and(|at| at <= now) {
            self.look_again();
        }
        let Some(closing) = &mut self.closing else {
            return;
        };
        if now < closing.next {
            return;
        }
        match closing.step {
            Step::HungUp => {
                self.process.kill();
                *closing = Closing {
                    step: Step::Killed,
                    next: now + KILL_PATIENCE,
                    ..*closing
                };
            }
            // The leash is not heard of: a program may have stopped it.
            Step::Killed => {
                self.process.kill_without_leash();
                *closing = Closing {
                    step: Step::Forced,
                    next: now + REAP_PATIENCE,
                    ..*closing
                };
            }
            Step::Forced => {
                closing.next = now + KILL_PATIENCE;
                self.give_up();
            }
        }
    }

    /// Ends a leash that holds nothing any more. Processes that not even a kill ends are told of in
    /// the answer; the task goes on waiting for them.
    fn give_up(&mut self) {
        if self.process.descendants() == 0 {
            self.process.give_up_leash();
        } else {
            self.process.kill_without_leash();
            self.answer_closes();
        }
    }

    fn look_again(&mut self) {
        self.reopen = None;
        match self.master.take().map(Master::reopened) {
            Some(Ok(Reopened::Yes(master))) => self.master = Some(master),
            Some(Ok(Reopened::No(master))) => {
                self.master = Some(master);
                self.reopen = Some(now() + REOPEN_EVERY);
            }
            // The terminal can be watched no more; the exit of the program will still be seen.
            Some(Err(_)) | None => {}
        }
    }

    fn answer_closes(&mut self) {
        for reply in std::mem::take(&mut self.close_replies) {
            let details = self.complete(Box::new(self.machine.details(Action::Close)));
            let _ = reply.send(Ok(details));
        }
    }

    /// Answers what is still in the box through the owner: its senders find the terminal gone and
    /// ask there.
    fn gone(mut self, inbox: mpsc::Receiver<Request>) {
        self.carry_out();
        self.answer_closes();
        let Self {
            machine,
            news,
            replies,
            ..
        } = self;
        // In this order: who finds its request dropped asks the owner, which knows by then.
        let _ = news.send(News::Gone(machine.id(), Box::new(machine)));
        drop((inbox, replies));
    }

    fn deadline(&self) -> Option<Instant> {
        let closing = self.closing.map(|it| it.next);
        [self.machine.deadline(), closing, self.reopen]
            .into_iter()
            .flatten()
            .min()
    }
}

async fn read(master: Option<&Master>, buffer: &mut [u8]) -> Read {
    match master {
        Some(master) => master.read(buffer).await,
        None => std::future::pending().await,
    }
}

async fn writable(master: Option<&Master>) {
    match master {
        Some(master) => master.writable().await,
        None => std::future::pending().await,
    }
}

fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

async fn sleep_to(deadline: Option<Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
