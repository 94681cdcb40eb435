//! What the server asks about jobs, and what becomes of them.

use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::task::spawn_local;
use wire::bash::{EndedBy, ProcessState, RunAction, RunDetails};
use wire::runner::{Answer, Call, JobEnd, Outlast, Program};
use wire::{JobId, Kind, Refusal};

use super::{Hub, milliseconds_since_1970};
use crate::jobs::{self, Asker, Order, Orders, Over, Phase, Purpose, Work};
use crate::tasks::{CallId, Report, Reports};

/// Conditions as they are asked for.
struct Polling {
    interval: Duration,
    timeout: Duration,
    within: Option<Duration>,
}

impl Hub {
    /// A call about jobs.
    pub(super) fn job_call(&mut self, call: CallId, asked: Call) {
        match asked {
            Call::Background { job, program } => self.background(call, job, program),
            Call::Until {
                job,
                program,
                interval,
                timeout,
                within,
            } => {
                let polling = Polling {
                    interval,
                    timeout,
                    within,
                };
                self.until(call, job, program, &polling);
            }
            Call::Jobs => {
                let jobs = self.jobs.list();
                self.reply(call, Ok(Answer::Jobs { jobs }));
            }
            Call::Log { job, part } => {
                let read = self.jobs.get(job).and_then(|it| it.read(part));
                self.reply(call, read.map(|it| Answer::Log(Box::new(it))));
            }
            Call::WaitJob { job, timeout } => self.wait_job(call, job, timeout),
            Call::StopJob { job } => self.stop_job(call, job),
            // The others are not about jobs, and never come here.
            Call::Open { .. }
            | Call::Run { .. }
            | Call::Act { .. }
            | Call::List
            | Call::Watch { .. }
            | Call::Unwatch { .. }
            | Call::TakeOver { .. }
            | Call::Release { .. }
            | Call::End => {}
        }
    }

    fn background(&mut self, call: CallId, job: JobId, program: Program) {
        let asker = Asker::Starter(call);
        if let Some(work) = self.work(call, job, program, (Purpose::Command, asker)) {
            // It runs until it ends or is stopped; only plain commands that become jobs have a time.
            spawn_local(jobs::command(work, None));
        }
    }

    /// A plain command that may become a job.
    pub(super) fn run_outlasting(
        &mut self,
        call: CallId,
        program: Program,
        timeout: Duration,
        outlast: Outlast,
    ) {
        let Outlast { job, after } = outlast;
        let asker = Asker::Plain(call);
        if let Some(work) = self.work(call, job, program, (Purpose::Command, asker)) {
            spawn_local(jobs::command(work, Some(timeout)));
            // A command that is to end by then is waited for.
            if after < timeout {
                self.remind(job, after);
            }
        }
    }

    fn until(&mut self, call: CallId, job: JobId, program: Program, polling: &Polling) {
        let asker = Asker::Poller(call);
        if let Some(work) = self.work(call, job, program, (Purpose::Until, asker)) {
            spawn_local(jobs::until(work, polling.interval, polling.timeout));
            if let Some(within) = polling.within.filter(|it| *it < polling.timeout) {
                self.remind(job, within);
            }
        }
    }

    fn wait_job(&mut self, call: CallId, job: JobId, timeout: Duration) {
        let phases = match self.jobs.get(job) {
            Ok(entry) => entry.phases(),
            Err(refusal) => return self.reply(call, Err(refusal)),
        };
        self.job_waits.insert(call, job);
        let cancelled = self.cancellable(call);
        let reports = self.reports.clone();
        spawn_local(reach(
            (call, job),
            (phases, Phase::Over),
            Some(timeout),
            cancelled,
            reports,
        ));
    }

    fn stop_job(&mut self, call: CallId, job: JobId) {
        let phases = match self.jobs.get(job) {
            Ok(entry) => {
                entry.tell(Order::Stop);
                entry.phases()
            }
            Err(refusal) => return self.reply(call, Err(refusal)),
        };
        let cancelled = self.cancellable(call);
        let reports = self.reports.clone();
        spawn_local(reach(
            (call, job),
            (phases, Phase::Gone),
            None,
            cancelled,
            reports,
        ));
    }

    /// Ends what the caller of a call alone wanted. Says whether its answer comes of itself.
    pub(super) fn cancel_job(&mut self, call: CallId) -> bool {
        if self.jobs.cancel(call) {
            return true;
        }
        let waited = self.job_waits.remove(&call);
        let entry = waited.and_then(|job| self.jobs.get(job).ok());
        match entry.filter(|it| it.is_until()) {
            Some(entry) => {
                entry.tell(Order::Cancel);
                true
            }
            None => false,
        }
    }

    pub(super) fn job_started(&mut self, job: JobId) {
        let Some(entry) = self.jobs.find(job) else {
            return;
        };
        if let Some(call) = entry.answer_starter() {
            let known = entry.known();
            self.reply(call, Ok(Answer::Job(Box::new(known))));
        }
    }

    pub(super) fn job_not_started(&mut self, job: JobId, refusal: Refusal) {
        self.commands -= 1;
        let asker = self.jobs.find(job).map(jobs::Entry::answer);
        self.jobs.remove(job);
        if let Some(call) = asker.and_then(Asker::call) {
            self.reply(call, Err(refusal));
        }
    }

    pub(super) fn job_over(&mut self, job: JobId, over: Over) {
        let Some(entry) = self.jobs.find(job) else {
            return;
        };
        entry.over(&over, milliseconds_since_1970());
        let (asker, known) = (entry.answer(), entry.known());
        match asker {
            Asker::Nobody => {}
            Asker::Starter(call) | Asker::Poller(call) => {
                self.reply(call, Ok(Answer::Job(Box::new(known))));
            }
            Asker::Plain(call) => {
                // It never was a job: nothing of it is remembered.
                self.jobs.remove(job);
                let details = run_details(over, known.command);
                self.reply(call, Ok(Answer::Run(Box::new(details))));
            }
        }
        self.jobs.forget_old();
    }

    pub(super) fn job_gone(&mut self, job: JobId) {
        self.commands -= 1;
        if let Some(entry) = self.jobs.find(job) {
            entry.gone();
        }
    }

    /// The call of a job may last no longer.
    pub(super) fn job_late(&mut self, job: JobId) {
        let Some(entry) = self.jobs.find(job) else {
            return;
        };
        if let Some(call) = entry.answer().call() {
            let known = entry.known();
            self.reply(call, Ok(Answer::Job(Box::new(known))));
        }
    }

    pub(super) fn job_reached(&mut self, call: CallId, job: JobId) {
        self.job_waits.remove(&call);
        let known = self.jobs.get(job).map(jobs::Entry::known);
        self.reply(call, known.map(|it| Answer::Job(Box::new(it))));
    }

    /// What a job's task needs; a refusal is told at once.
    fn work(
        &mut self,
        call: CallId,
        job: JobId,
        program: Program,
        (purpose, asker): (Purpose, Asker),
    ) -> Option<Work> {
        let added = if self.ending.is_some() {
            Err(super::calls::closed())
        } else if self.jobs.find(job).is_some() {
            Err(Refusal::new(Kind::Internal, "the id of the job is taken"))
        } else {
            let now = milliseconds_since_1970();
            self.jobs.add(job, &program, purpose, (asker, now))
        };
        match added {
            Ok((log, own)) => {
                self.commands += 1;
                let end = self.stop.subscribe();
                Some(Work {
                    job,
                    start: self.starter.captured(&program),
                    program,
                    log,
                    orders: Orders { own, end },
                    reports: self.reports.clone(),
                })
            }
            Err(refusal) => {
                self.reply(call, Err(refusal));
                None
            }
        }
    }

    fn remind(&self, job: JobId, after: Duration) {
        let reports = self.reports.clone();
        spawn_local(async move {
            tokio::time::sleep(after).await;
            let _ = reports.send(Report::JobLate(job));
        });
    }
}

/// Waits until a job has come so far; tells the hub, whatever ended the wait.
async fn reach(
    (call, job): (CallId, JobId),
    (mut phases, wanted): (watch::Receiver<Phase>, Phase),
    timeout: Option<Duration>,
    cancelled: oneshot::Receiver<()>,
    reports: Reports,
) {
    let late = async {
        match timeout {
            Some(timeout) => tokio::time::sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        // Fails when the job is forgotten, which comes after its end.
        _ = phases.wait_for(|phase| wanted <= *phase) => {}
        () = late => {}
        _ = cancelled => {}
    }
    let _ = reports.send(Report::JobReached(call, job));
}

fn run_details(over: Over, title: String) -> RunDetails {
    let ended_by = match over.end {
        JobEnd::Itself => EndedBy::Program,
        JobEnd::TimedOut => EndedBy::Server,
        JobEnd::Stopped | JobEnd::Cancelled => EndedBy::Close,
    };
    RunDetails {
        action: RunAction::Run,
        process: wire::bash::Process {
            state: ProcessState::Exited,
            program: Some(title),
            exit_code: over.exit_code,
            signal: over.signal,
            ended_by: Some(ended_by),
            background_processes: over.background,
        },
        timed_out: over.end == JobEnd::TimedOut,
        output: over.output,
    }
}
