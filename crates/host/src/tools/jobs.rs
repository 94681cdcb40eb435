//! The tool `jobs` above the runner. A terminal is a job too: what is asked of one goes the way of terminals.

use std::cmp::Reverse;
use std::sync::Arc;

use wire::bash::{Act, EndedBy, ProcessState, Until, Wait};
use wire::jobs::{Job, JobDetails, JobList, JobState, JobsCall, LogDetails, LogPart, UntilDetails};
use wire::runner::{Answer, Call, Known, KnownJob};
use wire::tool::ToolReply;
use wire::{JobId, Kind, Refusal, TerminalId, limits};

use super::common::{Surroundings, mixed_up, reply, stoppable};
use super::jobs_text;
use crate::caller::Scope;
use crate::chats::broken;
use crate::clock;
use crate::runners::{Link, Runners, lost};
use crate::stop::Stop;
use crate::store::{Ending, Store, TerminalRecord};

/// The tool.
pub(crate) struct Jobs {
    store: Arc<dyn Store>,
    runners: Arc<Runners>,
}

impl Jobs {
    pub(crate) fn new(store: Arc<dyn Store>, runners: Arc<Runners>) -> Self {
        Self { store, runners }
    }

    /// Carries a checked call out.
    pub(crate) async fn call(
        &self,
        scope: &Scope,
        call: JobsCall,
        around: &Surroundings,
    ) -> Result<ToolReply, Refusal> {
        let stop = &around.stop;
        match call {
            JobsCall::List => {
                let list = self.list(scope).await?;
                reply::<JobList>(jobs_text::list(&list), &list)
            }
            JobsCall::Log { job, part } => self.log(scope, job, part).await,
            JobsCall::Wait { job, timeout } => {
                if let Some(record) = self.terminal(scope, job).await? {
                    let wait = Wait {
                        until: Until::Exit,
                        timeout: Some(timeout),
                    };
                    let job = self.act(scope, &record, Act::Wait(wait), stop).await?;
                    return waited(&job, jobs_text::waited(&job.job));
                }
                let known = self
                    .ask(scope, job, Call::WaitJob { job, timeout }, stop)
                    .await?;
                waited(&shown(&known), jobs_text::waited_for(&known))
            }
            JobsCall::Stop { job } => {
                if let Some(record) = self.terminal(scope, job).await? {
                    let job = self.act(scope, &record, Act::Close, stop).await?;
                    return waited(&job, jobs_text::stopped(&job.job));
                }
                let known = self.ask(scope, job, Call::StopJob { job }, stop).await?;
                let details = shown(&known);
                waited(&details, jobs_text::stopped(&details.job))
            }
        }
    }

    async fn list(&self, scope: &Scope) -> Result<JobList, Refusal> {
        let Some(link) = self.runners.existing(scope.chat().id).await? else {
            return Ok(JobList::default());
        };
        let Answer::Jobs { jobs } = link.call(Call::Jobs).answer().await? else {
            return Err(mixed_up());
        };
        let terminals = terminals(&link).await?;
        let mut all: Vec<(i64, Job)> = jobs.iter().map(|it| (it.started_ms, job(it))).collect();
        all.extend(
            terminals
                .iter()
                .map(|it| (it.started_ms, job_of_terminal(it))),
        );
        all.sort_by_key(|(started, it)| (it.state != JobState::Running, Reverse(*started)));
        let mut ended = 0;
        all.retain(|(_, it)| {
            ended += usize::from(it.state != JobState::Running);
            ended <= limits::ENDED_JOBS
        });
        Ok(JobList {
            jobs: all.into_iter().map(|(_, it)| it).collect(),
        })
    }

    async fn log(&self, scope: &Scope, job: JobId, part: LogPart) -> Result<ToolReply, Refusal> {
        if let Some(record) = self.terminal(scope, job).await? {
            return Err(no_log(&record));
        }
        let Some(link) = self.runners.existing(scope.chat().id).await? else {
            return Err(Refusal::no_job(job));
        };
        match link.call(Call::Log { job, part }).answer().await? {
            Answer::Log(log) => reply::<LogDetails>(jobs_text::log(&log, part), &log),
            _ => Err(mixed_up()),
        }
    }

    /// Asks the runner about a job of its own.
    async fn ask(
        &self,
        scope: &Scope,
        job: JobId,
        call: Call,
        stop: &Stop,
    ) -> Result<Box<KnownJob>, Refusal> {
        let Some(link) = self.runners.existing(scope.chat().id).await? else {
            return Err(Refusal::no_job(job));
        };
        match stoppable(&mut link.call(call), stop).await? {
            Answer::Job(job) => Ok(job),
            _ => Err(mixed_up()),
        }
    }

    /// The terminal that has the job's digits.
    async fn terminal(&self, scope: &Scope, job: JobId) -> Result<Option<TerminalRecord>, Refusal> {
        let terminal = TerminalId::from_random(job.bits());
        let found = self.store.terminal(scope.chat().id, terminal).await;
        found.map_err(broken)
    }

    /// Acts on a terminal, and tells what job it is then.
    async fn act(
        &self,
        scope: &Scope,
        record: &TerminalRecord,
        act: Act,
        stop: &Stop,
    ) -> Result<JobDetails, Refusal> {
        let terminal = record.id;
        if let Some(link) = self.runners.existing(scope.chat().id).await? {
            let mut pending = link.call(Call::Act { terminal, act });
            match stoppable(&mut pending, stop).await {
                Ok(_) => {}
                Err(refusal) if refusal.message == Kind::TerminalNotFound => {}
                Err(refusal) => return Err(refusal),
            }
            let known = terminals(&link).await?;
            if let Some(known) = known.iter().find(|it| it.listed.terminal_id == terminal) {
                return Ok(JobDetails {
                    job: job_of_terminal(known),
                    until: None,
                });
            }
        }
        // Its end may have been recorded since the record was read.
        let record = self.terminal(scope, terminal.into()).await?;
        let recorded = record.and_then(|it| job_of_record(&it, scope));
        let job = recorded.ok_or_else(lost)?;
        Ok(JobDetails { job, until: None })
    }
}

/// A job as clients see it, with what has come of its condition.
pub(super) fn shown(known: &KnownJob) -> JobDetails {
    JobDetails {
        job: job(known),
        until: known.until.map(|it| UntilDetails {
            met: it.met,
            elapsed_ms: it.elapsed_ms,
            job_id: known.id,
        }),
    }
}

fn waited(details: &JobDetails, text: String) -> Result<ToolReply, Refusal> {
    reply::<JobDetails>(text, details)
}

fn job(known: &KnownJob) -> Job {
    Job {
        id: known.id,
        command: known.command.clone(),
        cwd: known.cwd.display().to_string(),
        state: known.state,
        exit_code: known.exit_code,
        signal: known.signal.clone(),
        started: clock::rfc3339(known.started_ms),
        ended: known.ended_ms.map(clock::rfc3339),
        terminal_id: None,
    }
}

fn job_of_terminal(known: &Known) -> Job {
    let listed = &known.listed;
    let state = match listed.state {
        ProcessState::Running => JobState::Running,
        ProcessState::Exited => ended(known.ended_by),
    };
    Job {
        id: listed.terminal_id.into(),
        command: listed.program.clone().unwrap_or_default(),
        cwd: known.cwd.display().to_string(),
        state,
        exit_code: listed.exit_code,
        signal: listed.signal.clone(),
        started: clock::rfc3339(known.started_ms),
        ended: known.ended_ms.map(clock::rfc3339),
        terminal_id: Some(listed.terminal_id),
    }
}

/// From what the store keeps of a terminal that has ended; none while it lives.
fn job_of_record(record: &TerminalRecord, scope: &Scope) -> Option<Job> {
    let end = record.end.as_ref()?;
    let (exit_code, signal, by) = match &end.how {
        Ending::Reaped {
            exit_code,
            signal,
            ended_by,
        } => (*exit_code, signal.clone(), *ended_by),
        Ending::Lost => (None, None, EndedBy::Server),
    };
    Some(Job {
        id: record.id.into(),
        command: record.program.clone(),
        // The record has no folder; most terminals start in the chat's.
        cwd: scope.chat().folder.display().to_string(),
        state: ended(Some(by)),
        exit_code,
        signal,
        started: clock::rfc3339(record.opened_ms),
        ended: Some(clock::rfc3339(end.at_ms)),
        terminal_id: Some(record.id),
    })
}

fn ended(by: Option<EndedBy>) -> JobState {
    match by {
        Some(EndedBy::Close | EndedBy::Server) => JobState::Stopped,
        Some(EndedBy::Program | EndedBy::Outside) | None => JobState::Exited,
    }
}

async fn terminals(link: &Arc<Link>) -> Result<Vec<Known>, Refusal> {
    match link.call(Call::List).answer().await? {
        Answer::Terminals { terminals } => Ok(terminals),
        _ => Err(mixed_up()),
    }
}

fn no_log(record: &TerminalRecord) -> Refusal {
    let job = JobId::from(record.id);
    Refusal::invalid(format!(
        "{job} is a terminal, which has a screen and no log"
    ))
    .hint(format!(
        "use the tool bash, action \"screen\", with terminal_id {}",
        record.id
    ))
}
