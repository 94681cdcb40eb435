//! What a job does, each in a task of its own: runs a command, or polls a condition. What it comes to
//! goes to the hub.

use std::time::Duration;

use terminal::kept::Kept;
use terminal::process::{Exit, Start, StartError};
use terminal::run::{Command, Ran, Stopped};
use tokio::sync::watch;
use tokio::time::Instant;
use wire::bash::RunOutput;
use wire::jobs::JobState;
use wire::runner::{JobEnd, Program};
use wire::{JobId, limits, signal};

use super::{Log, Order};
use crate::tasks::{Report, Reports, refusal};

/// What every job needs.
pub(crate) struct Work {
    pub(crate) job: JobId,
    pub(crate) start: Start,
    pub(crate) program: Program,
    pub(crate) log: Log,
    pub(crate) orders: Orders,
    pub(crate) reports: Reports,
}

/// What a job listens to.
pub(crate) struct Orders {
    /// Orders to it alone.
    pub(crate) own: watch::Receiver<Order>,
    /// The end of the chat.
    pub(crate) end: watch::Receiver<bool>,
}

/// How a job ended.
#[derive(Debug)]
pub(crate) struct Over {
    pub(crate) state: JobState,
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<String>,
    pub(crate) end: JobEnd,
    /// Processes that a command left in the background.
    pub(crate) background: u32,
    /// Beginning and end of what it wrote, for whoever waits for a plain command.
    pub(crate) output: RunOutput,
}

/// How a poll ended.
enum Poll {
    Met,
    NotMet,
    Over(JobEnd),
}

/// Runs a command to its end, which comes at its time if it has one, and on until nothing of it is left.
pub(crate) async fn command(mut work: Work, timeout: Option<Duration>) {
    let Some(mut command) = work.first().await else {
        return;
    };
    let (log, mut kept) = (work.log.clone(), Kept::new(limits::RUN_OUTPUT_BYTES));
    let mut take = |bytes: &[u8]| {
        log.append(bytes);
        kept.push(bytes);
    };
    let stop = async {
        work.orders.stop().await;
    };
    let ran = command.finish(timeout, stop, &mut take).await;
    let end = match ran.stopped {
        None => JobEnd::Itself,
        Some(Stopped::TimedOut) => JobEnd::TimedOut,
        Some(Stopped::Asked) => work.orders.given(),
    };
    if ran.stopped.is_some() {
        // The shell was asked to end together with all that it started; those get the same time.
        command.gone(&mut take).await;
    }
    let mut over = Over::of_command(ran, end);
    over.background = u32::try_from(command.descendants()).unwrap_or(u32::MAX);
    over.output = kept.finish();
    work.report(Report::JobOver(work.job, Box::new(over)));
    let mut take = |bytes: &[u8]| log.append(bytes);
    tokio::select! {
        () = command.gone(&mut take) => {}
        _ = work.orders.stop() => {
            command.terminate();
            command.gone(&mut take).await;
        }
    }
    work.report(Report::JobGone(work.job));
}

/// Polls a condition until it holds, its time is over, or it is told to end.
pub(crate) async fn until(mut work: Work, interval: Duration, timeout: Duration) {
    let deadline = Instant::now() + timeout;
    let Some(first) = work.first().await else {
        return;
    };
    let mut poll = Some(first);
    let end = loop {
        let found = match poll.take() {
            Some(poll) => work.poll(poll, deadline).await,
            None => Poll::NotMet,
        };
        match found {
            Poll::Met => break JobEnd::Itself,
            Poll::Over(end) => break end,
            Poll::NotMet => {}
        }
        if let Some(end) = work.pause(interval, deadline).await {
            break end;
        }
        match Command::start(work.start.clone()).await {
            Ok(next) => poll = Some(next),
            // What cannot be started now may be so later; the log says why nothing was found.
            Err(error) => work.log.append(format!("[{error}]\n").as_bytes()),
        }
    };
    work.report(Report::JobOver(work.job, Box::new(Over::of_until(end))));
    work.report(Report::JobGone(work.job));
}

impl Work {
    /// Starts the program for the first time, and tells what came of it.
    async fn first(&self) -> Option<Command> {
        match Command::start(self.start.clone()).await {
            Ok(command) => {
                self.report(Report::JobStarted(self.job));
                Some(command)
            }
            Err(error) => {
                self.not_started(&error);
                None
            }
        }
    }

    /// One poll. What it leaves in the background ends with it.
    async fn poll(&mut self, mut poll: Command, deadline: Instant) -> Poll {
        let log = self.log.clone();
        let mut take = |bytes: &[u8]| log.append(bytes);
        let never = std::future::pending();
        let ran = tokio::select! {
            ran = poll.finish(None, never, &mut take) => ran,
            () = tokio::time::sleep_until(deadline) => return Poll::Over(JobEnd::TimedOut),
            end = self.orders.stop() => {
                poll.terminate();
                poll.gone(&mut take).await;
                return Poll::Over(end);
            }
        };
        if ran.exit == Exit::Code(0) {
            Poll::Met
        } else {
            Poll::NotMet
        }
    }

    /// Between two polls; the end if it comes first.
    async fn pause(&mut self, interval: Duration, deadline: Instant) -> Option<JobEnd> {
        let next = Instant::now() + interval;
        tokio::select! {
            () = tokio::time::sleep_until(next.min(deadline)) => {}
            end = self.orders.stop() => return Some(end),
        }
        (deadline <= next).then_some(JobEnd::TimedOut)
    }

    fn not_started(&self, error: &StartError) {
        let refusal = refusal(error, &self.program);
        self.report(Report::JobNotStarted(self.job, refusal));
    }

    fn report(&self, report: Report) {
        // Fails only when the hub is gone, and the process about to end.
        let _ = self.reports.send(report);
    }
}

impl Orders {
    /// Waits for the order to end.
    async fn stop(&mut self) -> JobEnd {
        tokio::select! {
            () = told(&mut self.own, |order| *order != Order::GoOn) => {}
            () = told(&mut self.end, |end| *end) => {}
        }
        self.given()
    }

    /// Why it was told to end.
    fn given(&self) -> JobEnd {
        match *self.own.borrow() {
            Order::Cancel => JobEnd::Cancelled,
            Order::Stop | Order::GoOn => JobEnd::Stopped,
        }
    }
}

/// Waits for a word. One that can no longer come is waited for for ever: the job was forgotten, and
/// goes on.
async fn told<T>(word: &mut watch::Receiver<T>, wanted: impl FnMut(&T) -> bool) {
    if word.wait_for(wanted).await.is_err() {
        std::future::pending::<()>().await;
    }
}

impl Over {
    fn of_command(ran: Ran, end: JobEnd) -> Self {
        let (exit_code, signal) = match ran.exit {
            Exit::Code(code) => (Some(code), None),
            Exit::Signal(number) => (None, Some(signal::name(number))),
        };
        let state = match end {
            JobEnd::Itself => JobState::Exited,
            JobEnd::TimedOut | JobEnd::Stopped | JobEnd::Cancelled => JobState::Stopped,
        };
        Self {
            state,
            exit_code,
            signal,
            end,
            background: 0,
            output: RunOutput::default(),
        }
    }

    fn of_until(end: JobEnd) -> Self {
        let state = match end {
            JobEnd::Itself | JobEnd::TimedOut => JobState::Exited,
            JobEnd::Stopped | JobEnd::Cancelled => JobState::Stopped,
        };
        Self {
            state,
            exit_code: (end == JobEnd::Itself).then_some(0),
            signal: None,
            end,
            background: 0,
            output: RunOutput::default(),
        }
    }
}
