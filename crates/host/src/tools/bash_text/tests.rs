//! What a model reads, as it is, for each kind of answer.

use insta::assert_snapshot;
use wire::bash::{Cursor, Listed, Modes, Observation, RunAction, RunOutput};
use wire::{Size, TerminalId};

use super::*;

fn screen() -> Screen {
    Screen {
        cols: 80,
        rows: 24,
        cursor: Cursor {
            row: 1,
            col: 2,
            visible: true,
        },
        title: String::new(),
        alternate_screen: false,
        frame_open: false,
        lines: vec![
            "first".to_owned(),
            String::new(),
            "third".to_owned(),
            String::new(),
        ],
        modes: Modes::default(),
    }
}

fn running() -> Process {
    Process {
        state: ProcessState::Running,
        program: Some("cat".to_owned()),
        exit_code: None,
        signal: None,
        ended_by: None,
        background_processes: 0,
    }
}

fn exited(exit_code: Option<i32>, signal: Option<&str>, by: EndedBy) -> Process {
    Process {
        state: ProcessState::Exited,
        exit_code,
        signal: signal.map(str::to_owned),
        ended_by: Some(by),
        ..running()
    }
}

fn facts(outcome: Outcome) -> WaitFacts {
    WaitFacts {
        outcome,
        elapsed_ms: 12,
        marker_was_visible: false,
        in_echo: false,
        settled: true,
        changing_rows: Vec::new(),
    }
}

fn details(action: Action, process: Process) -> Details {
    let id = TerminalId::from_random(1);
    Details {
        terminal_id: id,
        action,
        process,
        wait: None,
        screen: Some(screen()),
        input: None,
        observation: Observation {
            text: "first\n\nthird".to_owned(),
            ..Observation::default()
        },
        supersedes: format!("terminal:{id}"),
        pane_url: None,
    }
}

fn waited(facts: WaitFacts, until: Until) -> String {
    let wait = Wait {
        until,
        timeout: None,
    };
    terminal(
        &Details {
            wait: Some(facts),
            ..details(Action::Type, running())
        },
        Some(&wait),
    )
}

fn restless() -> WaitFacts {
    WaitFacts {
        settled: false,
        changing_rows: (0..10).collect(),
        ..facts(Outcome::Timeout)
    }
}

/// The lines between the status and the screen.
fn head(text: &str) -> String {
    let lines = text.lines().skip(1).take_while(|it| !it.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

fn notices(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|it| it.strip_prefix("Notice: "))
        .collect()
}

#[test]
fn a_match_reads_as_status_wait_and_screen() {
    let titled = Screen {
        title: "notes \"x\"".to_owned(),
        ..screen()
    };
    let details = Details {
        wait: Some(facts(Outcome::Matched)),
        screen: Some(titled),
        ..details(Action::Type, running())
    };
    let wait = Wait {
        until: Until::Present("third".to_owned()),
        timeout: None,
    };
    assert_snapshot!(terminal(&details, Some(&wait)), @r#"
    tm_0000000000000001 · 80×24 · cat · running · title "notes \"x\""
    Wait: matched after 12 ms.

    first

    third
    "#);
}

#[test]
fn every_outcome_says_what_it_proves() {
    let present = || Until::Present("x".to_owned());
    let visible = |outcome| WaitFacts {
        marker_was_visible: true,
        ..facts(outcome)
    };
    let echoed = WaitFacts {
        in_echo: true,
        ..facts(Outcome::Matched)
    };
    let lines = [
        waited(visible(Outcome::Matched), present()),
        waited(echoed, present()),
        waited(visible(Outcome::Vanished), Until::Absent("x".to_owned())),
        waited(facts(Outcome::Vanished), Until::Absent("x".to_owned())),
        waited(facts(Outcome::Quiet), Until::Quiet),
        waited(facts(Outcome::Exited), present()),
        waited(facts(Outcome::Timeout), Until::Exit),
        waited(restless(), Until::Quiet),
        waited(facts(Outcome::Interrupted), present()),
    ]
    .map(|text| head(&text));
    assert_snapshot!(lines.join("\n\n"), @r"
    Wait: matched after 12 ms.
    Notice: the text was on the screen before this call, so the match proves no new response.

    Wait: matched after 12 ms.
    Notice: the text was seen only in the echo of your own input.

    Wait: vanished after 12 ms.

    Wait: vanished after 12 ms.
    Notice: the text was not on the screen before this call, so its absence proves nothing.

    Wait: quiet after 12 ms.

    Wait: exited after 12 ms.
    Notice: the program ended before the condition was seen.

    Wait: timeout after 12 ms: the condition was not seen; still running.

    Wait: timeout after 12 ms: the output did not rest.
    Notice: rows 0, 1, 2, 3, 4, 5, 6, 7 and 2 more (counted from 0) kept changing.

    Wait: interrupted after 12 ms.
    ");
}

#[test]
fn every_flag_of_the_input_has_one_sentence() {
    let input = InputFacts {
        accepted_bytes: 5,
        unsent_bytes: 7,
        unconsumed_before_key: true,
        unknown_keys: vec!["Ctlr+C".to_owned(), "Entr".to_owned()],
        multiline_without_paste_mode: true,
        truncation_risk: true,
        input_hidden: true,
        output_stopped: true,
        display_changed: false,
    };
    let text = terminal(
        &Details {
            input: Some(input),
            ..details(Action::Type, running())
        },
        None,
    );
    assert_snapshot!(text, @r"
    tm_0000000000000001 · 80×24 · cat · running
    Notice: 5 bytes were sent and 7 were not: the program is not reading, or the call was cut short.
    Notice: no such key here, sent as text or without a modifier: Ctlr+C, Entr.
    Notice: a key was sent before the program had read the text, so they may have merged.
    Notice: the program takes no bracketed paste, so each newline acted as Enter.
    Notice: a line is longer than the 4,095 bytes that the terminal keeps of one line.
    Notice: input is or was hidden, as for a password: let the person type secrets.
    Notice: output is stopped by Ctrl+S: send Ctrl+Q to let it go on.
    Notice: the display did not change: the effect is not confirmed.

    first

    third
    ");
}

#[test]
fn an_exit_tells_how_and_by_whom() {
    let of = |process| terminal(&details(Action::Wait, process), None);
    let first = |text: &str| text.lines().next().unwrap().to_owned();
    let lines = [
        exited(Some(0), None, EndedBy::Program),
        exited(None, Some("SIGSEGV"), EndedBy::Program),
        exited(None, Some("SIGHUP"), EndedBy::Close),
        exited(None, Some("SIGTERM"), EndedBy::Outside),
        exited(None, None, EndedBy::Server),
    ]
    .map(|it| first(&of(it)));
    assert_snapshot!(lines.join("\n"), @r"
    tm_0000000000000001 · 80×24 · cat · exited with code 0
    tm_0000000000000001 · 80×24 · cat · ended by SIGSEGV
    tm_0000000000000001 · 80×24 · cat · ended by SIGHUP (closed)
    tm_0000000000000001 · 80×24 · cat · ended by SIGTERM (from outside)
    tm_0000000000000001 · 80×24 · cat · ended (with its runner)
    ");
    let left = Process {
        background_processes: 2,
        ..exited(Some(127), None, EndedBy::Program)
    };
    assert_eq!(
        notices(&of(left)),
        [
            "exit code 127: the shell found no such program.",
            "2 background processes are still running."
        ]
    );
}

#[test]
fn an_open_frame_is_told_and_screen_shows_the_whole_viewport() {
    let drawing = Screen {
        frame_open: true,
        ..screen()
    };
    let clipped = Observation {
        text: "first".to_owned(),
        clipped: true,
        omitted_rows: 2,
        omitted_units: 9,
    };
    let details = Details {
        screen: Some(drawing),
        observation: clipped,
        ..details(Action::Screen, running())
    };
    assert_snapshot!(terminal(&details, None), @r"
    tm_0000000000000001 · 80×24 · cat · running
    Notice: the program is drawing; this is its last complete frame.

    first

    third
    ");
}

#[test]
fn an_expired_screen_and_a_lost_terminal_are_told_apart() {
    let tail = Details {
        screen: None,
        ..details(Action::Screen, exited(Some(1), None, EndedBy::Program))
    };
    assert_snapshot!(terminal(&tail, None), @r"
    tm_0000000000000001 · cat · exited with code 1
    Notice: its screen has expired; only the end of it is kept.

    first

    third
    ");
    let lost = Details {
        screen: None,
        ..details(Action::Screen, exited(None, None, EndedBy::Server))
    };
    assert_snapshot!(archived(&lost, "vim notes.txt", &Ending::Lost), @r"
    tm_0000000000000001 · vim notes.txt · ended (with its runner)
    Notice: it was lost: its runner process ended unexpectedly, and the terminal and its screen with it.
    ");
}

#[test]
fn a_plain_command_tells_its_end_before_its_output() {
    let of = |process, timed_out, output| {
        run(&RunDetails {
            action: RunAction::Run,
            process,
            timed_out,
            output,
        })
    };
    let output = RunOutput {
        text: "one\ntwo\n".to_owned(),
        omitted_bytes: 900,
        omitted_lines: 30,
    };
    assert_snapshot!(of(exited(Some(3), None, EndedBy::Program), false, output), @r"
    Exit code 3.
    Notice: 900 bytes (30 lines) in the middle of the output were left out.

    one
    two
    ");
    let silent = of(
        exited(None, Some("SIGKILL"), EndedBy::Server),
        true,
        RunOutput::default(),
    );
    assert_snapshot!(silent, @r"
    The command was ended at its timeout. No output.
    Notice: open a terminal for a program that runs longer.
    ");
}

#[test]
fn a_list_has_one_line_for_each_terminal() {
    let Size { cols, rows } = Size {
        cols: 100,
        rows: 30,
    };
    let listed = |id, state, exit_code| Listed {
        terminal_id: TerminalId::from_random(id),
        program: Some("vim".to_owned()),
        state,
        cols,
        rows,
        title: "t".to_owned(),
        exit_code,
        signal: None,
    };
    let terminals = vec![
        listed(2, ProcessState::Running, None),
        listed(1, ProcessState::Exited, Some(0)),
    ];
    assert_snapshot!(list(&TerminalList { terminals }), @r#"
    tm_0000000000000002 · 100×30 · vim · running · title "t"
    tm_0000000000000001 · 100×30 · vim · exited with code 0 · title "t"
    "#);
    assert_eq!(list(&TerminalList::default()), "No terminals.");
}

#[test]
fn a_script_is_named_by_its_beginning_in_one_printable_line() {
    assert_eq!(named("vim notes.txt"), "vim notes.txt");
    assert_eq!(
        named("set -e\n\n  make\x1b[31m all\r\n"),
        "set -e make [31m all"
    );
    let name = named(&format!("env {}", "SOME=thing ".repeat(100)));
    assert_eq!(name.chars().count(), NAME_CHARS + 1);
    assert!(
        name.starts_with("env SOME=thing") && name.ends_with('…'),
        "{name}"
    );
}
