//! The jobs of a chat: running ones, and the newest of those that have ended.
//!
//! A plain command that may outlast its call is here from its start, so that its log is whole when it
//! becomes a job; until then no list shows it.

mod index;
mod lines;
mod log;
mod work;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use tokio::sync::watch;
use wire::jobs::{JobState, LogDetails, LogPart};
use wire::runner::{JobEnd, KnownJob, Program, UntilFacts};
use wire::{JobId, Kind, Refusal, limits};

use crate::tasks::CallId;

pub(crate) use log::Log;
pub(crate) use work::{Orders, Over, Work, command, until};

/// The jobs.
pub(crate) struct Jobs {
    folder: PathBuf,
    /// Oldest first.
    entries: Vec<Entry>,
}

/// One job.
pub(crate) struct Entry {
    known: KnownJob,
    started: Instant,
    log: Log,
    order: watch::Sender<Order>,
    phase: watch::Sender<Phase>,
    asker: Asker,
}

/// Whom a job still has to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// Nobody.
    Nobody,
    /// Who started it: when it runs.
    Starter(CallId),
    /// Who polls: when it is over.
    Poller(CallId),
    /// Who runs a plain command: when it is over. It is no job as long as they wait.
    Plain(CallId),
}

/// What a job is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Nothing.
    GoOn,
    /// To end: its caller cancelled.
    Cancel,
    /// To end.
    Stop,
}

/// How far a job has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// It runs.
    Runs,
    /// It is over; processes that a command left in the background may live.
    Over,
    /// Nothing of it is left.
    Gone,
}

/// What a job is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To run a command.
    Command,
    /// To poll a condition.
    Until,
}

impl Asker {
    /// The call, if somebody waits.
    pub(crate) fn call(self) -> Option<CallId> {
        match self {
            Self::Starter(call) | Self::Poller(call) | Self::Plain(call) => Some(call),
            Self::Nobody => None,
        }
    }
}

impl Jobs {
    /// Logs lie in this folder, which is made for the first of them. What an earlier runner left
    /// there is removed: nobody knows any more what it was.
    pub(crate) fn open(folder: PathBuf) -> Self {
        sweep(&folder);
        Self {
            folder,
            entries: Vec::new(),
        }
    }

    /// Forgets every job and removes the folder.
    pub(crate) fn close(&mut self) {
        self.entries.iter().for_each(|it| it.log.remove());
        self.entries.clear();
        sweep(&self.folder);
    }

    /// Takes a job in that is about to start: where its output goes and what it listens to.
    ///
    /// # Errors
    /// As many run as may, or there is no room for a log.
    pub(crate) fn add(
        &mut self,
        id: JobId,
        program: &Program,
        purpose: Purpose,
        (asker, at_ms): (Asker, i64),
    ) -> Result<(Log, watch::Receiver<Order>), Refusal> {
        let is_job = !matches!(asker, Asker::Plain(_));
        if is_job && limits::RUNNING_JOBS <= self.running() {
            return Err(full());
        }
        let log = Log::create(&self.folder, id).map_err(|error| no_log(&error))?;
        let (order, orders) = watch::channel(Order::GoOn);
        let facts = UntilFacts {
            met: false,
            elapsed_ms: 0,
        };
        self.entries.push(Entry {
            known: KnownJob {
                id,
                command: program.argv.last().cloned().unwrap_or_default(),
                cwd: program.cwd.clone(),
                state: JobState::Running,
                exit_code: None,
                signal: None,
                end: None,
                started_ms: at_ms,
                ended_ms: None,
                until: (purpose == Purpose::Until).then_some(facts),
                background_processes: 0,
            },
            started: Instant::now(),
            log: log.clone(),
            order,
            phase: watch::Sender::new(Phase::Runs),
            asker,
        });
        Ok((log, orders))
    }

    /// A job that is no plain command under way.
    ///
    /// # Errors
    /// 404.
    pub(crate) fn get(&self, id: JobId) -> Result<&Entry, Refusal> {
        let shown = |it: &&Entry| it.known.id == id && it.is_shown();
        self.entries
            .iter()
            .find(shown)
            .ok_or_else(|| Refusal::no_job(id))
    }

    /// Any job, a plain command too.
    pub(crate) fn find(&mut self, id: JobId) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|it| it.known.id == id)
    }

    /// Forgets a job and its log.
    pub(crate) fn remove(&mut self, id: JobId) {
        self.entries.retain(|it| {
            let stays = it.known.id != id;
            if !stays {
                it.log.remove();
            }
            stays
        });
    }

    /// Forgets the oldest ended jobs beyond those that are remembered.
    pub(crate) fn forget_old(&mut self) {
        let ended = |it: &&Entry| it.known.state != JobState::Running;
        let count = self.entries.iter().filter(ended).count();
        let old: Vec<JobId> = self
            .entries
            .iter()
            .filter(ended)
            .take(count.saturating_sub(limits::ENDED_JOBS))
            .map(|it| it.known.id)
            .collect();
        old.into_iter().for_each(|id| self.remove(id));
    }

    /// Running ones, then ended ones, newest first.
    pub(crate) fn list(&self) -> Vec<KnownJob> {
        let shown = self.entries.iter().rev().filter(|it| it.is_shown());
        let mut jobs: Vec<KnownJob> = shown.map(Entry::known).collect();
        jobs.sort_by_key(|it| it.state != JobState::Running);
        jobs
    }

    /// The caller of a call went away: what it alone wanted ends. Says whether that is a job's, whose
    /// end answers it.
    pub(crate) fn cancel(&self, call: CallId) -> bool {
        let of_call = self.entries.iter().find(|it| match it.asker {
            Asker::Poller(of) | Asker::Plain(of) => of == call,
            Asker::Starter(_) | Asker::Nobody => false,
        });
        if let Some(entry) = of_call {
            entry.tell(Order::Cancel);
        }
        of_call.is_some()
    }

    /// The server is gone: what it waited for goes on as jobs.
    pub(crate) fn lose_askers(&mut self) {
        for entry in &mut self.entries {
            entry.asker = Asker::Nobody;
        }
    }

    fn running(&self) -> usize {
        let running = |it: &&Entry| it.known.state == JobState::Running && it.is_shown();
        self.entries.iter().filter(running).count()
    }
}

impl Entry {
    /// The job at this moment.
    pub(crate) fn known(&self) -> KnownJob {
        let mut known = self.known.clone();
        if let Some(until) = known
            .until
            .as_mut()
            .filter(|_| self.known.ended_ms.is_none())
        {
            until.elapsed_ms = milliseconds(self.started);
        }
        known
    }

    /// Polls a condition.
    pub(crate) fn is_until(&self) -> bool {
        self.known.until.is_some()
    }

    /// Lines of its output.
    ///
    /// # Errors
    /// The log cannot be written or read.
    pub(crate) fn read(&self, part: LogPart) -> Result<LogDetails, Refusal> {
        self.log.read(part)
    }

    /// Whom it answers; nobody from now on.
    pub(crate) fn answer(&mut self) -> Asker {
        std::mem::replace(&mut self.asker, Asker::Nobody)
    }

    /// Who started it and waits for no more than that.
    pub(crate) fn answer_starter(&mut self) -> Option<CallId> {
        match self.asker {
            Asker::Starter(_) => self.answer().call(),
            Asker::Poller(_) | Asker::Plain(_) | Asker::Nobody => None,
        }
    }

    /// Tells it to end; an earlier order stays.
    pub(crate) fn tell(&self, order: Order) {
        self.order.send_if_modified(|given| {
            let first = *given == Order::GoOn;
            if first {
                *given = order;
            }
            first
        });
    }

    /// Follows how far it comes.
    pub(crate) fn phases(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    /// It is over.
    pub(crate) fn over(&mut self, over: &Over, at_ms: i64) {
        self.known.state = over.state;
        self.known.exit_code = over.exit_code;
        self.known.signal.clone_from(&over.signal);
        self.known.end = Some(over.end);
        self.known.ended_ms = Some(at_ms);
        self.known.background_processes = over.background;
        if let Some(until) = &mut self.known.until {
            until.met = over.end == JobEnd::Itself;
            until.elapsed_ms = milliseconds(self.started);
        }
        self.phase.send_replace(Phase::Over);
    }

    /// Nothing of it is left.
    pub(crate) fn gone(&mut self) {
        self.known.background_processes = 0;
        self.phase.send_replace(Phase::Gone);
    }

    fn is_shown(&self) -> bool {
        !matches!(self.asker, Asker::Plain(_))
    }
}

fn milliseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn sweep(folder: &Path) {
    match std::fs::remove_dir_all(folder) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!(%error, "the logs of jobs cannot be removed"),
    }
}

fn full() -> Refusal {
    Refusal::new(
        Kind::TooManyJobs,
        format!(
            "this chat has {} running jobs, as many as it may have",
            limits::RUNNING_JOBS
        ),
    )
    .hint("stop one with the tool jobs, action \"stop\"; action \"list\" shows them")
}

fn no_log(error: &io::Error) -> Refusal {
    Refusal::new(
        Kind::OutOfResources,
        format!("no log can be made for the job: {error}"),
    )
    .hint("make room on the disk, and try again")
}
