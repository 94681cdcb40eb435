//! What `bash` does without a terminal: plain commands, commands in the background, conditions.

use std::sync::Arc;
use std::time::Duration;

use wire::bash::{Condition, RunDetails};
use wire::jobs::{JobDetails, JobState, UntilDetails};
use wire::runner::{Answer, Call, Outlast, Program};
use wire::tool::ToolReply;
use wire::{Refusal, limits};

use super::common::{Surroundings, mixed_up, reply, stoppable};
use super::jobs::shown;
use super::{bash_text, jobs_text};
use crate::ids;
use crate::runners::Link;

/// Runs a command to its end, or to the end of its call.
pub(super) async fn run(
    link: &Arc<Link>,
    program: Program,
    timeout: Option<Duration>,
    around: &Surroundings,
) -> Result<ToolReply, Refusal> {
    // Who can go on waiting for a job need not have it ended for the sake of their call.
    let usual = match around.within {
        Some(_) => limits::RUN_AS_JOB_TIMEOUT,
        None => limits::RUN_TIMEOUT,
    };
    let outlast = match around.within {
        Some(after) => Some(Outlast {
            job: ids::job()?,
            after,
        }),
        None => None,
    };
    let mut pending = link.call(Call::Run {
        program,
        timeout: timeout.unwrap_or(usual),
        outlast,
    });
    match stoppable(&mut pending, &around.stop).await? {
        Answer::Run(details) => reply::<RunDetails>(bash_text::run(&details), &details),
        Answer::Job(job) => reply::<JobDetails>(jobs_text::goes_on(&job), &shown(&job)),
        _ => Err(mixed_up()),
    }
}

/// Starts a command as a job.
pub(super) async fn background(link: &Arc<Link>, program: Program) -> Result<ToolReply, Refusal> {
    let job = ids::job()?;
    match link
        .call(Call::Background { job, program })
        .answer()
        .await?
    {
        Answer::Job(job) => reply::<JobDetails>(jobs_text::started(&job), &shown(&job)),
        _ => Err(mixed_up()),
    }
}

/// Polls a condition until it holds, or to the end of its call.
pub(super) async fn until(
    link: &Arc<Link>,
    program: Program,
    condition: &Condition,
    around: &Surroundings,
) -> Result<ToolReply, Refusal> {
    let mut pending = link.call(Call::Until {
        job: ids::job()?,
        program,
        interval: condition.interval,
        timeout: condition.timeout,
        within: around.within,
    });
    let Answer::Job(job) = stoppable(&mut pending, &around.stop).await? else {
        return Err(mixed_up());
    };
    let details = shown(&job);
    match details.until {
        Some(until) if job.state != JobState::Running => {
            reply::<UntilDetails>(jobs_text::until(&job), &until)
        }
        Some(_) | None => reply::<JobDetails>(jobs_text::goes_on(&job), &details),
    }
}
