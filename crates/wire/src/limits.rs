//! Every number of the contract, once. A limit fails closed and every cut is disclosed in the
//! answer.

use std::time::Duration;

/// Text of one `type` call, in bytes; more is refused with the advice to split it.
pub const TEXT_BYTES: usize = 524_288;
/// Keys of one call; more is refused with the advice to split them.
pub const KEYS: usize = 1_000;
/// Length of `wait_for`, in UTF-16 units.
pub const WAIT_FOR_UNITS: std::ops::RangeInclusive<usize> = 1..=10_000;
/// Length of `command`, in characters.
pub const COMMAND_CHARS: usize = 10_000;
/// Columns and rows of a terminal.
pub const SIZE: std::ops::RangeInclusive<u16> = 1..=1_000;
/// Columns of a terminal whose opener named none.
pub const DEFAULT_COLS: u16 = 100;
/// Rows of a terminal whose opener named none.
pub const DEFAULT_ROWS: u16 = 30;
/// Length of a TERM value, in characters.
pub const TERM_CHARS: usize = 64;
/// TERM of a terminal whose opener named none: what the VT engine conforms to.
pub const DEFAULT_TERM: &str = "xterm-256color";

/// Bounds of `wait_timeout_ms`.
pub const WAIT_TIMEOUT_MS: std::ops::RangeInclusive<u64> = 100..=120_000;
/// Deadline of a wait whose caller named none.
pub const WAIT_TIMEOUT: Duration = Duration::from_millis(15_000);
/// Bounds of `timeout_ms` of a plain command.
pub const RUN_TIMEOUT_MS: std::ops::RangeInclusive<u64> = 100..=600_000;
/// Time a plain command gets when its caller named none.
pub const RUN_TIMEOUT: Duration = Duration::from_millis(120_000);
/// Output of a plain command that is kept, in bytes: half from its beginning, half from its end.
pub const RUN_OUTPUT_BYTES: usize = 32_768;

/// Bounds of `timeout_ms` of `until`: up to a day.
pub const UNTIL_TIMEOUT_MS: std::ops::RangeInclusive<u64> = 100..=86_400_000;
/// Time that `until` gets when its caller named none.
pub const UNTIL_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// Bounds of `interval_ms`, from the end of one poll to the start of the next.
pub const UNTIL_INTERVAL_MS: std::ops::RangeInclusive<u64> = 200..=60_000;
/// Time between two polls when the caller named none.
pub const UNTIL_INTERVAL: Duration = Duration::from_millis(2_000);
/// The longest that a call over MCP lasts: clients end one that lasts longer. What still runs then
/// goes on as a job.
pub const MCP_CALL_MS: u64 = 120_000;
/// Time that a plain command gets in all when it may go on as a job and its caller named none.
pub const RUN_AS_JOB_TIMEOUT: Duration = Duration::from_millis(86_400_000);

/// Jobs of one chat that run at the same time, plain commands that may become jobs not counted.
pub const RUNNING_JOBS: usize = 64;
/// Ended jobs that a chat remembers; older ones go, and their logs with them.
pub const ENDED_JOBS: usize = 64;
/// What is kept of a job's output from its beginning, in bytes.
pub const JOB_LOG_HEAD_BYTES: u64 = 8 << 20;
/// What is kept of a job's output at its end, in bytes; whole blocks of [`JOB_LOG_BLOCK_BYTES`].
pub const JOB_LOG_TAIL_BYTES: u64 = 8 << 20;
/// Output is let go of in blocks of this size, in bytes, and lines are counted for each.
pub const JOB_LOG_BLOCK_BYTES: u64 = 64 * 1024;
/// Lines of one reading of a log.
pub const LOG_LINES: u64 = 2_000;
/// Lines of a reading whose caller named none.
pub const LOG_TAIL: u64 = 200;
/// Text of one reading of a log, in bytes.
pub const LOG_BYTES: usize = 256 * 1024;
/// What is shown of one line of a log, in bytes: half from its beginning, half from its end.
pub const LOG_LINE_BYTES: usize = 16 * 1024;

/// Silence that ends an explicit wait without a condition.
pub const QUIET: Duration = Duration::from_millis(500);
/// Silence after output that ends the settling of an input call without a condition and a timeout.
pub const SETTLE_QUIET: Duration = Duration::from_millis(120);
/// Silence without any output that ends the settling of an input call.
pub const SETTLE_SILENT: Duration = Duration::from_millis(400);
/// The longest that an input call settles.
pub const SETTLE_CAP: Duration = Duration::from_millis(1_500);
/// The longest that a key is held back for the program to read what was written before it.
pub const CONSUME_BOUND: Duration = Duration::from_millis(100);
/// After this an open synchronized update (mode 2026) is shown as it is.
pub const SYNC_UPDATE: Duration = Duration::from_millis(150);
/// Longest line that the kernel's canonical mode keeps, in bytes (Linux: 4,096 with the newline).
pub const CANONICAL_LINE_BYTES: usize = 4_095;

/// Screen text of an automatic observation, in UTF-16 units.
pub const OBSERVATION_UNITS: usize = 2_000;
/// Longest marker that gets an excerpt when it lies in the omitted middle, in UTF-16 units.
pub const EXCERPT_MARKER_UNITS: usize = 500;
/// Scrollback of a live terminal, in UTF-16 units.
pub const SCROLLBACK_UNITS: usize = 262_144;
/// Length of the description that models read, in UTF-16 units.
pub const DESCRIPTION_UNITS: usize = 1_500;
/// Length of a title, in UTF-16 units.
pub const TITLE_UNITS: usize = 256;

/// Exits of a chat whose final screen stays at full detail.
pub const ARCHIVED_SCREENS: usize = 16;
/// Older exits of a chat whose last [`OBSERVATION_UNITS`] stay in the runner's memory.
pub const ARCHIVED_TAILS: usize = 256;
/// Terminals of one chat that live at the same time; a slot is free again when no process of it is
/// left.
pub const LIVE_TERMINALS: usize = 64;
/// From hang-up to SIGKILL.
pub const CLOSE_GRACE: Duration = Duration::from_secs(5);
/// Output that is still read after the exit while a background process goes on printing, in bytes.
pub const DRAIN_BYTES: usize = 1 << 20;
/// Time for which output is still read after the exit while a background process goes on printing.
pub const DRAIN_TIME: Duration = Duration::from_secs(1);
/// Silence that ends the reading of pipes after the exit.
pub const PIPE_QUIET: Duration = Duration::from_millis(200);
/// A runner without terminals and without a server ends after this.
pub const RUNNER_IDLE: Duration = Duration::from_secs(15 * 60);

/// Output under way to one viewer, in bytes; beyond it the viewer gets a fresh keyframe once it has
/// caught up.
pub const VIEWER_WINDOW: usize = 256 * 1024;
/// A data frame, its channel number included, in bytes.
pub const DATA_FRAME_BYTES: usize = 64 * 1024;
/// A JSON message or one binary frame from a client, in bytes, without the channel number.
pub const MESSAGE_BYTES: usize = 1 << 20;
/// A frame between server and runner, in bytes: room for a keyframe with its whole scrollback.
pub const RUNNER_FRAME_BYTES: usize = 16 << 20;
/// Longest path of a Unix socket, in bytes, its terminating zero left out.
pub const SOCKET_PATH_BYTES: usize = 107;
/// Time that a client waits for a server that it started to answer.
pub const START_TIMEOUT: Duration = Duration::from_secs(10);
/// Progress notifications of a long call come this far apart.
pub const PROGRESS_EVERY: Duration = Duration::from_secs(5);
