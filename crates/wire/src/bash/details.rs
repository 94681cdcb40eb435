//! The structured details of an answer, exactly these names. Absent parts are `null`; rows and
//! columns count from 0.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Action;
use crate::TerminalId;

/// What an action on a terminal answers with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Details {
    /// Which terminal.
    pub terminal_id: TerminalId,
    /// What was asked.
    pub action: Action,
    /// The program.
    pub process: Process,
    /// How the wait ended, if the action waits.
    pub wait: Option<WaitFacts>,
    /// The complete snapshot; none when it has expired after the exit.
    pub screen: Option<Screen>,
    /// What became of the input, if there was any.
    pub input: Option<InputFacts>,
    /// What the model reads of the screen.
    pub observation: Observation,
    /// Older observations that this one replaces: `terminal:ID`.
    pub supersedes: String,
    /// Where a person can watch.
    pub pane_url: Option<String>,
}

/// Whether the program still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProcessState {
    /// It runs.
    Running,
    /// It was reaped, and its last bytes are on the final screen.
    Exited,
}

/// Who ended a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// It ended of itself.
    Program,
    /// The action `close`.
    Close,
    /// A signal from elsewhere.
    Outside,
    /// The server or its runner.
    Server,
}

/// The program of a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Process {
    /// Whether it runs.
    pub state: ProcessState,
    /// Name of the foreground group's leader, as the kernel knows it.
    pub program: Option<String>,
    /// Exit status; `null` while it runs and after a signal.
    pub exit_code: Option<i32>,
    /// A name such as `SIGTERM`.
    pub signal: Option<String>,
    /// Who ended it.
    pub ended_by: Option<EndedBy>,
    /// Processes that outlive the program.
    pub background_processes: u32,
}

/// How a wait ended. None of these proves that a task is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// `wait_for` is on the screen.
    Matched,
    /// `wait_for` is no longer on the screen.
    Vanished,
    /// The output rests.
    Quiet,
    /// The program ended.
    Exited,
    /// The condition was not seen by the deadline.
    Timeout,
    /// Cancelled, or a person took over.
    Interrupted,
}

/// The end of a wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaitFacts {
    /// How it ended.
    pub outcome: Outcome,
    /// From the call to its answer.
    pub elapsed_ms: u64,
    /// The marker was on the screen before the first byte of the call's own input.
    pub marker_was_visible: bool,
    /// The marker lies only in the echo of the call's own input.
    pub in_echo: bool,
    /// The output rested before the answer.
    pub settled: bool,
    /// Rows that still changed at the deadline.
    pub changing_rows: Vec<u16>,
}

/// A complete snapshot of the viewport.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Screen {
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
    /// The cursor.
    pub cursor: Cursor,
    /// The title that the program set, at most 256 units.
    pub title: String,
    /// The program shows its alternate screen.
    pub alternate_screen: bool,
    /// The program is amid a synchronized update; this is the last complete frame.
    pub frame_open: bool,
    /// Every viewport row, trailing blanks trimmed, a wide character once.
    pub lines: Vec<String>,
    /// Modes that the program set.
    pub modes: Modes,
}

/// The cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cursor {
    /// From the top, 0-based.
    pub row: u16,
    /// From the left, 0-based.
    pub col: u16,
    /// The program shows it.
    pub visible: bool,
}

/// Which mouse events the program asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mouse {
    /// None.
    #[default]
    Off,
    /// Presses (mode 9).
    Press,
    /// Presses and releases (mode 1000).
    Click,
    /// Also motion with a button held (mode 1002).
    Drag,
    /// All motion (mode 1003).
    Motion,
}

/// Modes that decide what input means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Modes {
    /// DECCKM: arrows are SS3 sequences.
    pub application_cursor_keys: bool,
    /// DECKPAM.
    pub application_keypad: bool,
    /// Mode 2004.
    pub bracketed_paste: bool,
    /// Mouse reporting.
    pub mouse: Mouse,
    /// Flags of the kitty keyboard protocol.
    pub kitty_flags: u8,
}

/// What became of a call's input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InputFacts {
    /// Bytes that the terminal took.
    pub accepted_bytes: u64,
    /// Bytes that it did not take: the program is not reading, or the call was cut short.
    pub unsent_bytes: u64,
    /// A key was sent although the program had not read what came before it.
    pub unconsumed_before_key: bool,
    /// Names that are no key, sent as literal text, and keys sent without a modifier that the
    /// program's modes cannot express.
    pub unknown_keys: Vec<String>,
    /// Newlines became Enter, since the program takes no bracketed paste.
    pub multiline_without_paste_mode: bool,
    /// A line longer than the kernel keeps in canonical mode was sent.
    pub truncation_risk: bool,
    /// The program hides its input, as for a password.
    pub input_hidden: bool,
    /// Output is stopped by Ctrl+S.
    pub output_stopped: bool,
    /// The viewport differs from the one before the input.
    pub display_changed: bool,
}

/// What the model reads of a screen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    /// Printable cells only.
    pub text: String,
    /// Something was left out.
    pub clipped: bool,
    /// Rows left out.
    pub omitted_rows: u32,
    /// UTF-16 units left out.
    pub omitted_units: u32,
}

/// What a plain command answers with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunDetails {
    /// Always `run`.
    pub action: RunAction,
    /// The command's shell.
    pub process: Process,
    /// It was ended at its deadline.
    pub timed_out: bool,
    /// Standard output and error, interleaved as read.
    pub output: RunOutput,
}

/// The word that tells a plain command's answer from a terminal's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunAction {
    /// A plain command.
    Run,
}

/// Output with its middle left out when it is long.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunOutput {
    /// Beginning and end.
    pub text: String,
    /// Bytes left out between them.
    pub omitted_bytes: u64,
    /// Newlines left out between them.
    pub omitted_lines: u64,
}

/// The answer of `list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalList {
    /// Live ones, then exited ones, newest first.
    pub terminals: Vec<Listed>,
}

/// One terminal of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Listed {
    /// Its id.
    pub terminal_id: TerminalId,
    /// The foreground program while it runs, then the command.
    pub program: Option<String>,
    /// Whether it runs.
    pub state: ProcessState,
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
    /// The title that the program set.
    pub title: String,
    /// Exit status.
    pub exit_code: Option<i32>,
    /// A name such as `SIGTERM`.
    pub signal: Option<String>,
}
