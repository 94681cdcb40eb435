//! From [`BashArgs`] to [`BashCall`]: every refusal that needs no terminal to be looked at.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{Act, Action, BashArgs, BashCall, Condition, Open, Size, Until, Wait};
use crate::{Refusal, TerminalId, limits};

/// The fields that an action may carry beside `action` and `description`.
const WAIT_FIELDS: [&str; 4] = [
    "wait_for",
    "wait_absent",
    "wait_for_exit",
    "wait_timeout_ms",
];

impl BashCall {
    /// Checks a call whole, before its first effect.
    ///
    /// # Errors
    /// 400 `invalid_params` with a sentence that names the fields, 404 for a malformed terminal id.
    pub fn check(args: BashArgs) -> Result<Self, Refusal> {
        refuse_stray_fields(&args)?;
        let Some(action) = args.action else {
            return run(args);
        };
        Ok(match action {
            Action::List => Self::List,
            Action::Open => Self::Open(Open {
                wait: wait(&args)?,
                size: Size {
                    cols: side("cols", args.cols)?.unwrap_or(limits::DEFAULT_COLS),
                    rows: side("rows", args.rows)?.unwrap_or(limits::DEFAULT_ROWS),
                },
                term: term(args.term)?,
                command: args.command.map(|it| command("command", it)).transpose()?,
                cwd: args.cwd.map(PathBuf::from),
            }),
            _ => Self::Act {
                terminal: terminal(&args)?,
                act: act(action, args)?,
            },
        })
    }
}

fn act(action: Action, args: BashArgs) -> Result<Act, Refusal> {
    Ok(match action {
        Action::Type | Action::Keys => input(action, args)?,
        Action::Wait => Act::Wait(wait(&args)?),
        Action::Resize => match (side("cols", args.cols)?, side("rows", args.rows)?) {
            (Some(cols), Some(rows)) => Act::Resize(Size { cols, rows }),
            _ => return Err(Refusal::invalid("resize needs both cols and rows")),
        },
        Action::Close => Act::Close,
        Action::Screen | Action::Open | Action::List => Act::Screen,
    })
}

/// Reads an action. `until` is none, though models like to write it as one: they are told what to
/// do.
pub(super) fn action<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Action>, D::Error> {
    let word = Value::deserialize(from)?;
    if word == "until" {
        return Err(serde::de::Error::custom(
            "until is no action: leave action out and give the condition as until",
        ));
    }
    Deserialize::deserialize(word).map_err(serde::de::Error::custom)
}

/// A call without an action: a condition, else a command.
fn run(args: BashArgs) -> Result<BashCall, Refusal> {
    let cwd = args.cwd.map(PathBuf::from);
    if let Some(text) = args.until {
        return Ok(BashCall::Until(Condition {
            command: command("until", text)?,
            cwd,
            interval: duration(
                "interval_ms",
                args.interval_ms,
                limits::UNTIL_INTERVAL_MS,
                "choose an interval in that range",
            )?
            .unwrap_or(limits::UNTIL_INTERVAL),
            timeout: duration(
                "timeout_ms",
                args.timeout_ms,
                limits::UNTIL_TIMEOUT_MS,
                "poll for at most a day",
            )?
            .unwrap_or(limits::UNTIL_TIMEOUT),
        }));
    }
    let Some(text) = args.command else {
        return Err(Refusal::invalid("neither action nor command is given")
            .hint("give command to run it to its end, until to poll a condition, or an action such as \"open\" to drive a terminal"));
    };
    let command = command("command", text)?;
    if args.run_in_background == Some(true) {
        return Ok(BashCall::Background { command, cwd });
    }
    let timeout = duration(
        "timeout_ms",
        args.timeout_ms,
        limits::RUN_TIMEOUT_MS,
        "use run_in_background for a command that runs longer",
    )?;
    Ok(BashCall::Run {
        command,
        cwd,
        timeout,
    })
}

fn input(action: Action, args: BashArgs) -> Result<Act, Refusal> {
    let wait = wait(&args)?;
    let text = args.text.unwrap_or_default();
    let keys = args.keys.unwrap_or_default();
    if text.is_empty() && keys.is_empty() {
        return Err(Refusal::invalid(match action {
            Action::Type => "type needs text or keys, and both are empty",
            _ => "keys needs at least one key",
        })
        .hint("use action \"wait\" to wait without input, or \"screen\" to look"));
    }
    if text.len() > limits::TEXT_BYTES {
        let reason = format!(
            "text has {} bytes, more than {}",
            text.len(),
            limits::TEXT_BYTES
        );
        return Err(Refusal::invalid(reason).hint("split it over several calls; nothing was sent"));
    }
    if keys.len() > limits::KEYS {
        let reason = format!(
            "keys has {} entries, more than {}",
            keys.len(),
            limits::KEYS
        );
        return Err(
            Refusal::invalid(reason).hint("split them over several calls; nothing was sent")
        );
    }
    if let Some(empty) = keys.iter().position(String::is_empty) {
        return Err(Refusal::invalid(format!("keys[{empty}] is empty")));
    }
    Ok(Act::Input {
        action,
        text,
        keys,
        wait,
    })
}

/// Reads the wait fields.
fn wait(args: &BashArgs) -> Result<Wait, Refusal> {
    let (absent, exit) = (
        args.wait_absent == Some(true),
        args.wait_for_exit == Some(true),
    );
    let until = match &args.wait_for {
        Some(_) if exit => return Err(conflict("wait_for_exit", "wait_for")),
        _ if exit && absent => return Err(conflict("wait_for_exit", "wait_absent")),
        None if absent => return Err(Refusal::invalid("wait_absent needs a non-empty wait_for")),
        Some(text) if text.is_empty() && absent => {
            return Err(Refusal::invalid("wait_absent needs a non-empty wait_for"));
        }
        Some(text) => {
            let units = text.encode_utf16().count();
            if !limits::WAIT_FOR_UNITS.contains(&units) {
                return Err(Refusal::invalid(format!(
                    "wait_for has {units} units, outside 1 to 10,000"
                )));
            }
            if absent {
                Until::Absent(text.clone())
            } else {
                Until::Present(text.clone())
            }
        }
        None if exit => Until::Exit,
        None => Until::Quiet,
    };
    let timeout = duration(
        "wait_timeout_ms",
        args.wait_timeout_ms,
        limits::WAIT_TIMEOUT_MS,
        "wait again with action \"wait\" for more than two minutes",
    )?;
    Ok(Wait { until, timeout })
}

fn conflict(one: &str, other: &str) -> Refusal {
    Refusal::invalid(format!("{one} cannot accompany {other}"))
        .hint("wait for the text first, then for the exit with action \"wait\"")
}

fn terminal(args: &BashArgs) -> Result<TerminalId, Refusal> {
    let Some(text) = &args.terminal_id else {
        return Err(Refusal::invalid("terminal_id is missing")
            .hint("take it from the answer of action \"open\" or \"list\""));
    };
    // A malformed id reads like one that never was: it tells nothing about other chats.
    text.parse()
        .map_err(|_| Refusal::no_terminal(text.chars().take(64).collect::<String>()))
}

fn command(field: &str, text: String) -> Result<String, Refusal> {
    let chars = text.chars().count();
    if chars > limits::COMMAND_CHARS {
        let reason = format!(
            "{field} has {chars} characters, more than {}",
            limits::COMMAND_CHARS
        );
        return Err(Refusal::invalid(reason).hint("put it into a script file and run that"));
    }
    if text.contains('\0') {
        return Err(Refusal::invalid(format!("{field} contains a zero byte")));
    }
    if text.trim().is_empty() {
        return Err(Refusal::invalid(format!("{field} is empty"))
            .hint("leave it out with action \"open\" for a shell"));
    }
    Ok(text)
}

fn term(given: Option<String>) -> Result<String, Refusal> {
    let Some(term) = given else {
        return Ok(limits::DEFAULT_TERM.to_owned());
    };
    let plain = |c: char| c.is_ascii_alphanumeric();
    let good = term.starts_with(plain)
        && term.len() <= limits::TERM_CHARS
        && term.chars().all(|c| plain(c) || "._+-".contains(c));
    if good {
        Ok(term)
    } else {
        Err(Refusal::invalid(format!(
            "term {term:?} is no terminal name"
        )))
    }
}

/// A number of milliseconds in its range.
pub(crate) fn duration(
    field: &str,
    given: Option<u64>,
    range: RangeInclusive<u64>,
    hint: &str,
) -> Result<Option<Duration>, Refusal> {
    match given {
        None => Ok(None),
        Some(ms) if range.contains(&ms) => Ok(Some(Duration::from_millis(ms))),
        Some(ms) => {
            let (least, most) = (range.start(), thousands(*range.end()));
            let reason = format!("{field} is {ms}, outside {least} to {most}");
            Err(Refusal::invalid(reason).hint(hint))
        }
    }
}

/// A number as people read it: 120,000.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut groups: Vec<&str> = vec![&digits[..first]];
    groups.extend(
        (first..digits.len())
            .step_by(3)
            .map(|at| &digits[at..at + 3]),
    );
    groups.retain(|it| !it.is_empty());
    groups.join(",")
}

fn side(field: &str, given: Option<u64>) -> Result<Option<u16>, Refusal> {
    let Some(n) = given else { return Ok(None) };
    match u16::try_from(n) {
        Ok(n) if limits::SIZE.contains(&n) => Ok(Some(n)),
        _ => Err(Refusal::invalid(format!(
            "{field} is {n}, outside 1 to 1000"
        ))),
    }
}

/// A field that means nothing to the action is refused rather than dropped: its writer expected
/// something of it.
fn refuse_stray_fields(args: &BashArgs) -> Result<(), Refusal> {
    let (name, allowed) = fields(args);
    let stray: Vec<&str> = given(args)
        .into_iter()
        .filter(|field| {
            let word = if WAIT_FIELDS.contains(field) {
                "wait"
            } else {
                field
            };
            !allowed.contains(&word)
        })
        .collect();
    if stray.is_empty() {
        return Ok(());
    }
    let takes: Vec<&str> = allowed
        .iter()
        .flat_map(|word| {
            if *word == "wait" {
                WAIT_FIELDS.to_vec()
            } else {
                vec![*word]
            }
        })
        .collect();
    let hint = if takes.is_empty() {
        "it takes no field".to_owned()
    } else {
        format!("it takes {}", takes.join(", "))
    };
    Err(Refusal::invalid(format!("{name} does not take {}", stray.join(", "))).hint(hint))
}

/// What the call is called, and the fields that mean something to it.
fn fields(args: &BashArgs) -> (&'static str, &'static [&'static str]) {
    match args.action {
        None if args.until.is_some() => ("until", &["until", "cwd", "interval_ms", "timeout_ms"]),
        None if args.run_in_background == Some(true) => (
            "a command in the background",
            &["command", "cwd", "run_in_background"],
        ),
        None => (
            "a plain command",
            &["command", "cwd", "timeout_ms", "run_in_background"],
        ),
        Some(Action::Open) => ("open", &["command", "cwd", "cols", "rows", "term", "wait"]),
        Some(Action::Type) => ("type", &["terminal_id", "text", "keys", "wait"]),
        Some(Action::Keys) => ("keys", &["terminal_id", "keys", "wait"]),
        Some(Action::Wait) => ("wait", &["terminal_id", "wait"]),
        Some(Action::Resize) => ("resize", &["terminal_id", "cols", "rows"]),
        Some(Action::Screen) => ("screen", &["terminal_id"]),
        Some(Action::Close) => ("close", &["terminal_id"]),
        Some(Action::List) => ("list", &[]),
    }
}

fn given(args: &BashArgs) -> Vec<&'static str> {
    [
        ("terminal_id", args.terminal_id.is_some()),
        ("command", args.command.is_some()),
        ("cwd", args.cwd.is_some()),
        ("timeout_ms", args.timeout_ms.is_some()),
        ("run_in_background", args.run_in_background.is_some()),
        ("until", args.until.is_some()),
        ("interval_ms", args.interval_ms.is_some()),
        ("cols", args.cols.is_some()),
        ("rows", args.rows.is_some()),
        ("term", args.term.is_some()),
        ("text", args.text.is_some()),
        ("keys", args.keys.is_some()),
        ("wait_for", args.wait_for.is_some()),
        ("wait_absent", args.wait_absent.is_some()),
        ("wait_for_exit", args.wait_for_exit.is_some()),
        ("wait_timeout_ms", args.wait_timeout_ms.is_some()),
    ]
    .into_iter()
    .filter_map(|(name, given)| given.then_some(name))
    .collect()
}
