//! The tool `bash`: flat arguments on the wire, a checked [`BashCall`] inside.
//!
//! Several model APIs refuse `oneOf` at the top of a schema, so [`BashArgs`] is one flat object.
//! [`BashCall::check`] is where impossible combinations end, before anything is opened or sent.

mod check;
mod details;

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use check::duration;
pub use details::{
    Cursor, Details, EndedBy, InputFacts, Listed, Modes, Mouse, Observation, Outcome, Process,
    ProcessState, RunAction, RunDetails, RunOutput, Screen, TerminalList, WaitFacts,
};

use crate::{TerminalId, limits};

/// What to do with a terminal. Without an action, `command` runs to its end with no terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Start a program in a new terminal; returns its `terminal_id` and screen.
    Open,
    /// Send text, then keys.
    Type,
    /// Send named keys in order.
    Keys,
    /// The whole viewport, unclipped.
    Screen,
    /// Only wait.
    Wait,
    /// Change columns and rows.
    Resize,
    /// Hang up; nothing of the program is left afterwards.
    Close,
    /// Live and archived terminals of this chat.
    List,
}

/// The arguments as they come over any transport.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BashArgs {
    /// Leave out to run `command` to its end without a terminal.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "check::action"
    )]
    pub action: Option<Action>,
    /// The terminal to act on, from `open` or `list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub terminal_id: Option<String>,
    /// Shell command. With `open` the default is the user's shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 10_000))]
    pub command: Option<String>,
    /// Folder to start in; default: the caller's working directory, else the chat's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// For a plain command 100 to 600,000, default 120,000: it is ended after this. With `until` up
    /// to 86,400,000, default 3,600,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100, max = 86_400_000))]
    pub timeout_ms: Option<u64>,
    /// Start `command` as a job and return its id at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_in_background: Option<bool>,
    /// Shell condition in place of `command`: polled until it exits with 0. Leave `action` out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 10_000))]
    pub until: Option<String>,
    /// Pause between two polls of `until`, default 2,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 200, max = 60_000))]
    pub interval_ms: Option<u64>,
    /// Columns for `open` (default 100) and `resize`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub cols: Option<u64>,
    /// Rows for `open` (default 30) and `resize`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub rows: Option<u64>,
    /// TERM for `open`, default xterm-256color.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub term: Option<String>,
    /// Text for `type`, sent as it is; it does not press Enter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Named keys, in order, after the text: Enter, Tab, Escape, Up, PageDown, F5, Ctrl+C, Alt+x,
    /// Shift+Tab …
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1000))]
    pub keys: Option<Vec<String>>,
    /// Literal, case-sensitive text to wait for on the screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 10_000))]
    pub wait_for: Option<String>,
    /// Wait until `wait_for` is gone from the screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_absent: Option<bool>,
    /// Wait until the program has ended. Exit does not prove success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_for_exit: Option<bool>,
    /// Deadline of the wait, default 15,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100, max = 120_000))]
    pub wait_timeout_ms: Option<u64>,
    /// Accepted and ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Columns and rows, each 1–1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Size {
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

impl Size {
    /// What a terminal gets when its opener names no size.
    pub const DEFAULT: Self = Self {
        cols: limits::DEFAULT_COLS,
        rows: limits::DEFAULT_ROWS,
    };

    /// The size, or `None` when either number is out of bounds.
    pub fn new(cols: u16, rows: u16) -> Option<Self> {
        let fits = |n: u16| limits::SIZE.contains(&n);
        (fits(cols) && fits(rows)).then_some(Self { cols, rows })
    }
}

impl Default for Size {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What a wait waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// No condition: the output rests.
    Quiet,
    /// The text is on the screen.
    Present(String),
    /// The text is no longer on the screen.
    Absent(String),
    /// The program has ended.
    Exit,
}

/// A condition and its deadline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// The condition.
    pub until: Until,
    /// The caller's own deadline; none means [`crate::limits::WAIT_TIMEOUT`], or settling for an
    /// input call without a condition.
    pub timeout: Option<Duration>,
}

/// A checked call. Every number is in range, and no two fields contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BashCall {
    /// Run a command to its end, without a terminal.
    Run {
        /// For the user's shell.
        command: String,
        /// Folder to start in, if named.
        cwd: Option<PathBuf>,
        /// It is ended after this; none leaves it to the way of the call.
        timeout: Option<Duration>,
    },
    /// Start a command as a job.
    Background {
        /// For the user's shell.
        command: String,
        /// Folder to start in, if named.
        cwd: Option<PathBuf>,
    },
    /// Poll a condition until it holds, as a job.
    Until(Condition),
    /// Open a terminal.
    Open(Open),
    /// Everything that concerns one terminal which exists.
    Act {
        /// Which.
        terminal: TerminalId,
        /// What.
        act: Act,
    },
    /// Live and archived terminals.
    List,
}

/// A condition to be polled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// For the user's shell; it holds when this exits with 0.
    pub command: String,
    /// Folder to start in, if named.
    pub cwd: Option<PathBuf>,
    /// From the end of one poll to the start of the next.
    pub interval: Duration,
    /// The polling ends after this.
    pub timeout: Duration,
}

/// A terminal to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// For the user's shell; none starts the shell itself.
    pub command: Option<String>,
    /// Folder to start in, if named.
    pub cwd: Option<PathBuf>,
    /// Its size.
    pub size: Size,
    /// Its TERM.
    pub term: String,
    /// What to wait for before answering.
    pub wait: Wait,
}

/// What to do with one terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// Text, then keys, then the wait.
    Input {
        /// `type` or `keys`, for the answer.
        action: Action,
        /// Sent first, as it is.
        text: String,
        /// Sent after it, in order.
        keys: Vec<String>,
        /// What to wait for afterwards.
        wait: Wait,
    },
    /// Only wait.
    Wait(Wait),
    /// The whole viewport.
    Screen,
    /// New columns and rows.
    Resize(Size),
    /// Hang up.
    Close,
}

#[cfg(test)]
mod tests;
