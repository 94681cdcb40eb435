//! The tool `jobs`: flat arguments on the wire, a checked [`JobsCall`] inside, and its answers.
//!
//! A terminal is a job too, by the same digits: `tm_…` and `jb_…`. It has a screen and no log.

mod check;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{JobId, TerminalId};

/// What to do with jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobsAction {
    /// Running and recent jobs of this chat.
    List,
    /// Lines of a job's output.
    Log,
    /// Wait until the job has ended.
    Wait,
    /// End the job; nothing of it is left afterwards.
    Stop,
}

/// The arguments as they come over any transport.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobsArgs {
    /// What to do.
    pub action: JobsAction,
    /// The job to act on, from the tool `bash` or from `list`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    /// First line of `log`, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_line: Option<u64>,
    /// With `log` the last lines, default 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 2_000))]
    pub tail: Option<u64>,
    /// Deadline of `wait`, default 15,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100, max = 120_000))]
    pub wait_timeout_ms: Option<u64>,
    /// Accepted and ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A checked call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobsCall {
    /// All jobs.
    List,
    /// Lines of a job's output.
    Log {
        /// Which job.
        job: JobId,
        /// Which lines.
        part: LogPart,
    },
    /// Wait for the end of a job.
    Wait {
        /// Which job.
        job: JobId,
        /// The answer comes after this at the latest.
        timeout: Duration,
    },
    /// End a job.
    Stop {
        /// Which job.
        job: JobId,
    },
}

/// Which lines of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogPart {
    /// From this line on, at most [`crate::limits::LOG_LINES`].
    From(u64),
    /// The last so many.
    Tail(u64),
}

/// Whether a job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// It runs.
    Running,
    /// It ended of itself; a condition held, or its time was over.
    Exited,
    /// It was ended.
    Stopped,
}

/// A job as clients see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// The shell command, or the condition.
    pub command: String,
    /// Where it was started.
    pub cwd: String,
    /// Whether it runs.
    pub state: JobState,
    /// Exit status; `null` while it runs and after a signal.
    pub exit_code: Option<i32>,
    /// A name such as `SIGTERM`.
    pub signal: Option<String>,
    /// RFC 3339, UTC.
    pub started: String,
    /// RFC 3339, UTC.
    pub ended: Option<String>,
    /// Set when it is a terminal.
    pub terminal_id: Option<TerminalId>,
}

/// What `wait`, `stop` and a command in the background answer with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobDetails {
    /// The job.
    pub job: Job,
    /// Beside it what has come of a condition.
    #[serde(flatten)]
    pub until: Option<UntilDetails>,
}

/// What `until` answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UntilDetails {
    /// The condition held.
    pub met: bool,
    /// From the start of the polling to its end, or until now.
    pub elapsed_ms: u64,
    /// The job that polled.
    pub job_id: JobId,
}

/// What `list` answers with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobList {
    /// Running ones, then ended ones, newest first.
    pub jobs: Vec<Job>,
}

/// What `log` answers with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogDetails {
    /// The job.
    pub job_id: JobId,
    /// Number of the first line, counted from 0.
    pub from_line: u64,
    /// The lines, printable, without their newlines.
    pub lines: Vec<String>,
    /// Lines of the job so far, the one that has no newline yet included.
    pub total_lines: u64,
    /// Lines in the middle that are kept no more.
    pub dropped_lines: u64,
    /// Older readings that this one replaces: `job:ID`.
    pub supersedes: String,
}
