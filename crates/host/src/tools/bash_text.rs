//! What the model reads of an answer: a status line, the wait, notices, then the screen. Pure.
//!
//! Invariant: one short sentence for each fact that changes what the next step should be, and none for anything else.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use wire::bash::{
    Action, Details, EndedBy, InputFacts, Outcome, Process, ProcessState, RunDetails, Screen,
    TerminalList, Until, Wait, WaitFacts,
};
use wire::visible;

use crate::store::Ending;

/// Exit status by which a shell says that it found no such program.
const NOT_FOUND: i32 = 127;
/// Rows that are named one by one before the rest is only counted.
const NAMED_ROWS: usize = 8;

/// An ended program is named by its command, which may be a whole script.
const NAME_CHARS: usize = 80;

/// The text for an action on a terminal. `wait` is what was waited for.
pub(super) fn terminal(details: &Details, wait: Option<&Wait>) -> String {
    let mut text = status(details, details.process.program.as_deref());
    if let Some(facts) = &details.wait {
        line(&mut text, &outcome(facts, wait, &details.process));
    }
    let mut notices = Vec::new();
    if let Some(facts) = &details.wait {
        wait_notices(facts, wait, &mut notices);
    }
    if let Some(input) = &details.input {
        input_notices(input, details.process.state, &mut notices);
    }
    process_notices(&details.process, &mut notices);
    match &details.screen {
        Some(screen) => screen_notices(screen, &mut notices),
        None => notices.push("its screen has expired; only the end of it is kept".to_owned()),
    }
    finish(text, &notices, &shown(details))
}

/// The text for a terminal of which only the record is left.
pub(super) fn archived(details: &Details, program: &str, how: &Ending) -> String {
    let mut text = status(details, Some(program));
    let notice = match how {
        Ending::Reaped { .. } => {
            "its screen has expired: newer exits have pushed it out, or its runner has ended"
        }
        Ending::Lost => {
            "it was lost: its runner process ended unexpectedly, and the terminal and its screen with it"
        }
    };
    let mut notices = vec![notice.to_owned()];
    if details.input.is_some() {
        notices.push("nothing was sent".to_owned());
    }
    if let Some(facts) = &details.wait {
        line(&mut text, &outcome(facts, None, &details.process));
    }
    finish(text, &notices, "")
}

/// The text for a plain command.
pub(super) fn run(details: &RunDetails) -> String {
    let mut text = match (
        details.timed_out,
        details.process.exit_code,
        &details.process.signal,
    ) {
        (true, _, _) => "The command was ended at its timeout.".to_owned(),
        (false, Some(code), _) => format!("Exit code {code}."),
        (false, None, Some(signal)) => format!("Ended by {signal}."),
        (false, None, None) => "The command has ended.".to_owned(),
    };
    let mut notices = Vec::new();
    if details.timed_out {
        notices.push("open a terminal for a program that runs longer".to_owned());
    } else {
        process_notices(&details.process, &mut notices);
    }
    let output = &details.output;
    if output.omitted_bytes != 0 {
        notices.push(format!(
            "{} bytes ({} lines) in the middle of the output were left out",
            output.omitted_bytes, output.omitted_lines
        ));
    }
    if output.text.is_empty() {
        text.push_str(" No output.");
    }
    finish(text, &notices, output.text.trim_end_matches('\n'))
}

/// The text for a list.
pub(super) fn list(list: &TerminalList) -> String {
    if list.terminals.is_empty() {
        return "No terminals.".to_owned();
    }
    let lines = list.terminals.iter().map(|it| {
        let end = (it.exit_code, it.signal.as_deref());
        let mut text = format!(
            "{} · {}×{} · {} · {}",
            it.terminal_id,
            it.cols,
            it.rows,
            named(it.program.as_deref().unwrap_or("?")),
            state(it.state, end, None)
        );
        append_title(&mut text, &it.title);
        text
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn status(details: &Details, program: Option<&str>) -> String {
    let process = &details.process;
    let mut text = details.terminal_id.to_string();
    if let Some(screen) = &details.screen {
        let _ = write!(text, " · {}×{}", screen.cols, screen.rows);
    }
    if let Some(program) = program {
        let _ = write!(text, " · {}", named(program));
    }
    let end = (process.exit_code, process.signal.as_deref());
    let _ = write!(text, " · {}", state(process.state, end, process.ended_by));
    if let Some(screen) = &details.screen {
        append_title(&mut text, &screen.title);
    }
    text
}

/// A program's name or command within one short line.
fn named(program: &str) -> String {
    let words: Vec<&str> = program
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    let line = visible::line(&words.join(" "));
    match line.char_indices().nth(NAME_CHARS) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line,
    }
}

fn state(state: ProcessState, end: (Option<i32>, Option<&str>), by: Option<EndedBy>) -> String {
    if state == ProcessState::Running {
        return "running".to_owned();
    }
    let how = match end {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("ended by {signal}"),
        (None, None) => "ended".to_owned(),
    };
    match by {
        None | Some(EndedBy::Program) => how,
        Some(EndedBy::Close) => format!("{how} (closed)"),
        Some(EndedBy::Outside) => format!("{how} (from outside)"),
        Some(EndedBy::Server) => format!("{how} (with its runner)"),
    }
}

fn append_title(text: &mut String, title: &str) {
    if !title.is_empty() {
        let _ = write!(text, " · title {title:?}");
    }
}

fn outcome(facts: &WaitFacts, wait: Option<&Wait>, process: &Process) -> String {
    let asked = wait.is_some_and(|it| it.until != Until::Quiet);
    let running = process.state == ProcessState::Running;
    let (word, meaning) = match facts.outcome {
        Outcome::Matched => ("matched", ""),
        Outcome::Vanished => ("vanished", ""),
        Outcome::Quiet => ("quiet", ""),
        Outcome::Exited => ("exited", ""),
        Outcome::Timeout if asked && running => {
            ("timeout", ": the condition was not seen; still running")
        }
        Outcome::Timeout if asked => ("timeout", ": the condition was not seen"),
        Outcome::Timeout => ("timeout", ": the output did not rest"),
        Outcome::Interrupted => ("interrupted", ""),
    };
    format!("Wait: {word} after {} ms{meaning}.", facts.elapsed_ms)
}

fn wait_notices(facts: &WaitFacts, wait: Option<&Wait>, notices: &mut Vec<String>) {
    match facts.outcome {
        Outcome::Matched if facts.marker_was_visible => notices.push(
            "the text was on the screen before this call, so the match proves no new response"
                .to_owned(),
        ),
        Outcome::Vanished if !facts.marker_was_visible => notices.push(
            "the text was not on the screen before this call, so its absence proves nothing"
                .to_owned(),
        ),
        Outcome::Exited if wait.is_some_and(|it| is_text(&it.until)) => {
            notices.push("the program ended before the condition was seen".to_owned());
        }
        Outcome::Matched
        | Outcome::Vanished
        | Outcome::Exited
        | Outcome::Quiet
        | Outcome::Timeout
        | Outcome::Interrupted => {}
    }
    if facts.in_echo {
        notices.push("the text was seen only in the echo of your own input".to_owned());
    }
    if !facts.changing_rows.is_empty() {
        let named = facts
            .changing_rows
            .iter()
            .take(NAMED_ROWS)
            .map(u16::to_string);
        let rest = facts.changing_rows.len().saturating_sub(NAMED_ROWS);
        let more = if rest == 0 {
            String::new()
        } else {
            format!(" and {rest} more")
        };
        let named = named.collect::<Vec<_>>().join(", ");
        notices.push(format!("rows {named}{more} (counted from 0) kept changing"));
    }
}

fn input_notices(input: &InputFacts, state: ProcessState, notices: &mut Vec<String>) {
    if input.unsent_bytes != 0 {
        let (taken, left) = (input.accepted_bytes, input.unsent_bytes);
        notices.push(match state {
            ProcessState::Running => format!(
                "{taken} bytes were sent and {left} were not: the program is not reading, or the call was cut short"
            ),
            ProcessState::Exited => format!("{left} bytes were not sent: the program has ended"),
        });
    }
    if !input.unknown_keys.is_empty() {
        let names = input.unknown_keys.join(", ");
        notices.push(format!(
            "no such key here, sent as text or without a modifier: {names}"
        ));
    }
    let flags = [
        (
            input.unconsumed_before_key,
            "a key was sent before the program had read the text, so they may have merged",
        ),
        (
            input.multiline_without_paste_mode,
            "the program takes no bracketed paste, so each newline acted as Enter",
        ),
        (
            input.truncation_risk,
            "a line is longer than the 4,095 bytes that the terminal keeps of one line",
        ),
        (
            input.input_hidden,
            "input is or was hidden, as for a password: let the person type secrets",
        ),
        (
            input.output_stopped,
            "output is stopped by Ctrl+S: send Ctrl+Q to let it go on",
        ),
        (
            !input.display_changed && state == ProcessState::Running,
            "the display did not change: the effect is not confirmed",
        ),
    ];
    notices.extend(
        flags
            .iter()
            .filter(|(set, _)| *set)
            .map(|(_, text)| (*text).to_owned()),
    );
}

fn process_notices(process: &Process, notices: &mut Vec<String>) {
    if process.exit_code == Some(NOT_FOUND) {
        notices.push("exit code 127: the shell found no such program".to_owned());
    }
    if process.state == ProcessState::Exited && process.background_processes != 0 {
        notices.push(format!(
            "{} background {} still running",
            process.background_processes,
            if process.background_processes == 1 {
                "process is"
            } else {
                "processes are"
            }
        ));
    }
}

fn screen_notices(screen: &Screen, notices: &mut Vec<String>) {
    if screen.frame_open {
        notices.push("the program is drawing; this is its last complete frame".to_owned());
    }
}

fn is_text(until: &Until) -> bool {
    matches!(until, Until::Present(_) | Until::Absent(_))
}

/// The screen as the model gets it: all of it for `screen`, else the bounded observation.
fn shown(details: &Details) -> String {
    match (&details.screen, details.action) {
        (Some(screen), Action::Screen) if details.observation.clipped => {
            screen.lines.join("\n").trim_end().to_owned()
        }
        _ => details.observation.text.clone(),
    }
}

fn line(text: &mut String, more: &str) {
    text.push('\n');
    text.push_str(more);
}

fn finish(mut text: String, notices: &[String], body: &str) -> String {
    for notice in notices {
        line(&mut text, &format!("Notice: {notice}."));
    }
    if !body.is_empty() {
        line(&mut text, "");
        line(&mut text, body);
    }
    text
}
