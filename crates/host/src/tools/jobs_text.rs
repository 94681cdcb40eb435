//! What the model reads about jobs. Pure.
//!
//! Invariant: met, timed out, stopped, cancelled and still running are told apart, and so is every line that is not
//! shown.

use std::fmt::Write as _;

use wire::jobs::{Job, JobList, JobState, LogDetails, LogPart};
use wire::runner::{JobEnd, KnownJob};

use crate::environment;

/// The text for a command that was started in the background.
pub(super) fn started(job: &KnownJob) -> String {
    let text = format!("Started {} · {}", job.id, title(&job.command));
    with_notice(text, HOW_TO_GO_ON)
}

/// The text for a call that ended before its command or condition did.
pub(super) fn goes_on(job: &KnownJob) -> String {
    let what = match job.until {
        Some(_) => "The condition does not hold yet; the polling is",
        None => "The command is",
    };
    let text = format!("{what} still running, and goes on as the job {}.", job.id);
    with_notice(text, HOW_TO_GO_ON)
}

/// The text for a condition that is over.
pub(super) fn until(job: &KnownJob) -> String {
    let mut text = format!("{}\nJob: {}", of_condition(job), job.id);
    if job.end == Some(JobEnd::TimedOut) {
        text = with_notice(
            text,
            "what its polls wrote can be read with the tool jobs, action \"log\"",
        );
    }
    text
}

/// The text for a wait for a job that is no terminal.
pub(super) fn waited_for(known: &KnownJob) -> String {
    let mut text = line(
        (&known.id.to_string(), &known.command),
        &state(known.state, known.exit_code, known.signal.as_deref()),
    );
    if known.state == JobState::Running {
        return with_notice(text, STILL_RUNNING);
    }
    if known.until.is_some() {
        let _ = write!(text, "\n{}", of_condition(known));
    }
    if known.end == Some(JobEnd::TimedOut) && known.until.is_none() {
        text = with_notice(text, "it was ended at its timeout");
    }
    if known.end == Some(JobEnd::Cancelled) && known.until.is_none() {
        text = with_notice(text, "the call that it belonged to was cancelled");
    }
    if known.background_processes != 0 {
        let count = known.background_processes;
        let notice = format!("processes that it left in the background still run: {count}");
        text = with_notice(text, &notice);
    }
    with_notice(text, "read its output with action \"log\"")
}

/// The text for a wait for a terminal.
pub(super) fn waited(job: &Job) -> String {
    let text = of_job(job);
    match job.state {
        JobState::Running => with_notice(text, STILL_RUNNING),
        JobState::Exited | JobState::Stopped => text,
    }
}

/// The text for a job that was ended.
pub(super) fn stopped(job: &Job) -> String {
    with_notice(of_job(job), "nothing of it runs any more")
}

/// The text for a list.
pub(super) fn list(list: &JobList) -> String {
    if list.jobs.is_empty() {
        return "No jobs.".to_owned();
    }
    list.jobs.iter().map(of_job).collect::<Vec<_>>().join("\n")
}

/// The text for lines of a log.
pub(super) fn log(log: &LogDetails, part: LogPart) -> String {
    let (first, total) = (log.from_line, log.total_lines);
    let next = first + log.lines.len() as u64;
    let mut text = match log.lines.last() {
        Some(_) => format!("{} · lines {first} to {} of {total}", log.job_id, next - 1),
        None if total == 0 => format!("{} · no output", log.job_id),
        None => format!("{} · no line {first}; there are {total}", log.job_id),
    };
    let asked = match part {
        LogPart::From(line) => line.min(total),
        LogPart::Tail(count) => total.saturating_sub(count),
    };
    let tail = matches!(part, LogPart::Tail(_));
    if asked < first {
        let notice = format!(
            "lines {asked} to {} are not shown: dropped from the log, or more than one answer holds",
            first - 1
        );
        text = with_notice(text, &notice);
    }
    if next < total && !log.lines.is_empty() && !tail {
        text = with_notice(text, &format!("go on with from_line {next}"));
    }
    if log.dropped_lines != 0 {
        let notice = format!("{} lines in the middle were dropped", log.dropped_lines);
        text = with_notice(text, &notice);
    }
    if !log.lines.is_empty() {
        let _ = write!(text, "\n\n{}", log.lines.join("\n"));
    }
    text
}

/// What to do with a job's id.
const HOW_TO_GO_ON: &str =
    "the tool jobs waits for it (\"wait\"), shows its output (\"log\") and ends it (\"stop\")";
/// What a wait that came to its deadline means.
const STILL_RUNNING: &str = "still running at the deadline of the wait; wait again, or go on";

fn of_condition(job: &KnownJob) -> String {
    let elapsed = job.until.map_or(0, |it| it.elapsed_ms);
    match job.end {
        None => format!("Not met yet, after {elapsed} ms; still running."),
        Some(JobEnd::Itself) => format!("Met after {elapsed} ms."),
        Some(JobEnd::TimedOut) => format!("Timed out after {elapsed} ms: never met."),
        Some(JobEnd::Stopped) => format!("Stopped after {elapsed} ms, before it was met."),
        Some(JobEnd::Cancelled) => format!("Cancelled after {elapsed} ms, before it was met."),
    }
}

fn of_job(job: &Job) -> String {
    let name = match job.terminal_id {
        Some(terminal) => format!("{} · terminal {terminal}", job.id),
        None => job.id.to_string(),
    };
    let state = state(job.state, job.exit_code, job.signal.as_deref());
    line((&name, &job.command), &state)
}

fn line((name, command): (&str, &str), state: &str) -> String {
    format!("{name} · {} · {state}", title(command))
}

fn state(state: JobState, exit_code: Option<i32>, signal: Option<&str>) -> String {
    let word = match state {
        JobState::Running => return "running".to_owned(),
        JobState::Exited => "exited",
        JobState::Stopped => "stopped",
    };
    match (exit_code, signal) {
        (Some(code), _) => format!("{word}, code {code}"),
        (None, Some(signal)) => format!("{word}, by {signal}"),
        (None, None) => word.to_owned(),
    }
}

fn title(command: &str) -> String {
    environment::title("", Some(command))
}

fn with_notice(text: String, notice: &str) -> String {
    format!("{text}\nNotice: {notice}.")
}

#[cfg(test)]
mod tests;
