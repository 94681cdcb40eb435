//! How waits end, and what their answers say.

use super::*;

#[test]
fn b31_an_answer_holds_every_byte_that_was_read_before_it() {
    let mut sim = Sim::new();
    let call = sim.waits(present("SENTINEL"));
    for n in 0..500 {
        sim.says(&format!("{n}\r\n"));
    }
    sim.says("SENTINEL\r\n");
    let details = sim.answer(call).unwrap();
    let lines = details.screen.unwrap().lines;
    assert_eq!(lines[21..], ["499", "SENTINEL", ""]);
    assert!(details.observation.text.ends_with("499\nSENTINEL"));
}

#[test]
fn b32_text_that_wraps_softly_matches() {
    let mut sim = Sim::sized(20, 5);
    let call = sim.waits(present("No sourcebook tools are available yet."));
    sim.says("No sourcebook tools are available yet.");
    assert_eq!(sim.outcome(call).outcome, Outcome::Matched);
}

#[test]
fn b33_a_screen_is_the_viewport_and_nothing_above_it() {
    let mut sim = Sim::new();
    for n in 0..1_000 {
        sim.says(&format!("{n}\r\n"));
    }
    let call = sim.act(Act::Screen);
    let details = sim.answer(call).unwrap();
    assert!(details.observation.text.starts_with("977\n") && !details.observation.clipped);
    assert_eq!(details.screen.unwrap().lines.len(), 24);
    assert_eq!(details.wait, None);
}

#[test]
fn b34_lines_are_numbered_from_the_first_that_was_ever_shown() {
    let mut sim = Sim::sized(80, 24);
    for _ in 0..100 {
        sim.says(&"0123456789\r\n".repeat(1_000));
    }
    let lines = sim.machine.lines();
    assert!(lines.first > 0 && lines.dropped == lines.first);
    assert_eq!(lines.total, 100_001);
}

#[test]
fn b37_the_echo_of_a_command_does_not_end_its_wait() {
    let mut sim = Sim::canonical();
    sim.says("$ ");
    let call = sim.types("sleep 4; echo TERMINE", &["Enter"], present("TERMINE"));
    sim.says("sleep 4; echo TERMINE\r\n");
    sim.pass(ms(4_000));
    assert!(sim.answer(call).is_none());
    sim.says("TERMINE\r\n$ ");
    let wait = sim.outcome(call);
    assert_eq!(
        (wait.outcome, wait.in_echo, wait.elapsed_ms),
        (Outcome::Matched, false, 4_000)
    );
}

#[test]
fn b37_echo_alone_is_a_match_at_the_deadline_that_says_so() {
    let mut sim = Sim::canonical();
    let call = sim.types(
        "echo TERMINE",
        &["Enter"],
        within(1_000, present("TERMINE")),
    );
    sim.says("echo TERMINE\r\n");
    let (details, took) = sim.finish(call);
    let wait = details.wait.unwrap();
    assert_eq!(
        (wait.outcome, wait.in_echo, took),
        (Outcome::Matched, true, 1_000)
    );
}

#[test]
fn b37_an_exit_after_nothing_but_echo_is_an_exit() {
    let mut sim = Sim::canonical();
    let call = sim.types("exit # TERMINE", &["Enter"], present("TERMINE"));
    sim.says("exit # TERMINE\r\n");
    sim.exits(0);
    let wait = sim.outcome(call);
    assert_eq!((wait.outcome, wait.in_echo), (Outcome::Exited, false));
}

#[test]
fn b38_an_answer_that_is_quicker_than_the_wait_is_not_missed() {
    let mut sim = Sim::canonical();
    let call = sim.types("x", &["Enter"], present("R:x:ok"));
    sim.says("x\r\nR:x:ok\r\n");
    let wait = sim.outcome(call);
    assert_eq!(
        (wait.outcome, wait.marker_was_visible),
        (Outcome::Matched, false)
    );
    let late = sim.waits(present("R:x:ok"));
    let wait = sim.outcome(late);
    assert_eq!(
        (wait.outcome, wait.marker_was_visible),
        (Outcome::Matched, true)
    );
}

#[test]
fn b39_quiet_is_counted_from_the_last_byte_of_the_input() {
    let mut sim = Sim::new();
    sim.says("$ ");
    sim.pass(ms(60_000));
    let silent = sim.types("x", &[], quiet());
    let (details, took) = sim.finish(silent);
    assert_eq!((details.wait.unwrap().outcome, took), (Outcome::Quiet, 400));
    assert!(!details.input.unwrap().display_changed);
    let answered = sim.types("x", &[], quiet());
    sim.pass(ms(300));
    sim.says("x");
    let (details, took) = sim.finish(answered);
    assert_eq!((details.wait.unwrap().outcome, took), (Outcome::Quiet, 420));
    assert!(details.input.unwrap().display_changed);
}

#[test]
fn b39_a_slow_reader_gets_its_time_to_settle_after_the_last_byte() {
    let mut sim = Sim::new();
    sim.reading = Reading::After(ms(80));
    let call = sim.types("x", &["Enter"], quiet());
    let (_, took) = sim.finish(call);
    assert!((480..=484).contains(&took), "{took}");
}

#[test]
fn quiet_with_a_timeout_of_its_own_and_a_plain_wait_take_half_a_second() {
    let mut sim = Sim::new();
    let call = sim.types("x", &[], within(5_000, quiet()));
    assert_eq!(sim.finish(call).1, 500);
    let call = sim.waits(quiet());
    sim.pass(ms(200));
    sim.says("y");
    assert_eq!(sim.finish(call).1, 700);
}

#[test]
fn b41_every_wait_has_a_deadline() {
    for until in [Until::Present("never".into()), Until::Exit] {
        let mut sim = Sim::new();
        let call = sim.waits(Wait {
            until,
            timeout: None,
        });
        let (details, took) = sim.finish(call);
        let wait = details.wait.unwrap();
        assert_eq!(
            (wait.outcome, wait.settled, took),
            (Outcome::Timeout, true, 15_000)
        );
    }
}

#[test]
fn b41_a_spinner_times_out_and_its_row_is_named() {
    let mut sim = Sim::new();
    sim.says("\x1b[2J\x1b[Htitle\r\n\r\n");
    let settles = sim.types("x", &[], quiet());
    let waits = sim.waits(within(3_000, quiet()));
    for n in 0..40 {
        sim.says(&format!("\x1b[3;1H{}", ["-", "\\", "|", "/"][n % 4]));
        sim.pass(ms(100));
    }
    let (details, took) = sim.finish(settles);
    let wait = details.wait.unwrap();
    assert_eq!(
        (wait.outcome, wait.settled, took),
        (Outcome::Timeout, false, 1_500)
    );
    assert_eq!(wait.changing_rows, [2]);
    let (details, took) = sim.finish(waits);
    let wait = details.wait.unwrap();
    assert_eq!(
        (wait.outcome, wait.settled, took),
        (Outcome::Timeout, false, 3_000)
    );
    assert_eq!(wait.changing_rows, [2]);
}

#[test]
fn b43_an_idle_program_is_quiet_and_is_never_asked_while_it_idles() {
    let mut sim = Sim::new();
    let call = sim.waits(quiet());
    assert_eq!(sim.finish(call).1, 500);
    assert_eq!(sim.machine.deadline(), None);
}

#[test]
fn b13_open_waits_for_the_first_output_and_its_rest() {
    let mut sim = Sim::new();
    let call = sim.opens(quiet());
    sim.pass(ms(1_000));
    sim.says("$ ");
    let (details, took) = sim.finish(call);
    assert_eq!(
        (details.wait.unwrap().outcome, took),
        (Outcome::Quiet, 1_120)
    );
    assert_eq!(details.input, None);
    let mut silent = Sim::new();
    let call = silent.opens(quiet());
    let (details, took) = silent.finish(call);
    assert_eq!(
        (details.wait.unwrap().outcome, took),
        (Outcome::Quiet, 1_500)
    );
}

#[test]
fn b13_output_that_came_before_the_wait_of_open_counts() {
    let mut sim = Sim::new();
    sim.says("$ ");
    let call = sim.opens(quiet());
    assert_eq!(sim.finish(call).1, 120);
    let call = sim.opens(present("$ "));
    let wait = sim.outcome(call);
    assert_eq!(
        (wait.outcome, wait.marker_was_visible),
        (Outcome::Matched, false)
    );
}

#[test]
fn b29_nothing_is_quiet_within_an_update_or_half_a_sequence() {
    let mut sim = Sim::new();
    let call = sim.waits(within(700, quiet()));
    sim.says("half \x1b[3");
    let (details, took) = sim.finish(call);
    assert_eq!(
        (details.wait.unwrap().outcome, took),
        (Outcome::Timeout, 700)
    );
    sim.says("1mred");
    let call = sim.waits(quiet());
    sim.pass(ms(499));
    sim.says("\x1b[?2026h\x1b[2Jnot yet");
    let screen = sim.act(Act::Screen);
    let shown = sim.answer(screen).unwrap();
    assert!(shown.screen.unwrap().frame_open);
    assert_eq!(shown.observation.text, "half red");
    let (details, _) = sim.finish(call);
    assert!(!details.screen.unwrap().frame_open);
}

#[test]
fn b30_an_update_that_is_never_closed_is_shown_all_the_same() {
    let mut sim = Sim::new();
    let call = sim.waits(present("hi"));
    sim.says("\x1b[?2026h");
    sim.says("hi\r\n");
    let (details, took) = sim.finish(call);
    assert_eq!(
        (details.wait.unwrap().outcome, took),
        (Outcome::Matched, 150)
    );
}

#[test]
fn a_marker_split_between_reads_matches() {
    let mut sim = Sim::new();
    let call = sim.waits(present("Select a model"));
    sim.says("Select a \x1b[1mmo");
    assert!(sim.answer(call).is_none());
    sim.says("del\x1b[0m");
    assert_eq!(sim.outcome(call).outcome, Outcome::Matched);
}

#[test]
fn a_marker_that_was_there_before_warns_and_gives_the_program_time() {
    let mut sim = Sim::new();
    sim.says("ready> ");
    let call = sim.types("", &["Enter"], present("ready>"));
    assert!(sim.answer(call).is_none());
    sim.says("\r\nready> ");
    let wait = sim.outcome(call);
    assert_eq!(
        (wait.outcome, wait.marker_was_visible),
        (Outcome::Matched, true)
    );
    let call = sim.types("", &["Enter"], present("ready>"));
    let (details, took) = sim.finish(call);
    assert_eq!(
        (details.wait.unwrap().outcome, took),
        (Outcome::Matched, 400)
    );
}

#[test]
fn a_marker_that_was_there_before_is_answered_in_bounded_time_whatever_the_screen_does() {
    let mut sim = Sim::new();
    sim.says("ready> \x1b[3");
    let call = sim.types("", &["Enter"], present("ready>"));
    let (details, took) = sim.finish(call);
    assert_eq!(
        (details.wait.unwrap().outcome, took),
        (Outcome::Matched, 1_500)
    );
}

#[test]
fn a_marker_vanishes() {
    let mut sim = Sim::new();
    sim.says("Loading");
    let call = sim.types("x", &[], absent("Loading"));
    sim.pass(ms(1_000));
    assert!(sim.answer(call).is_none());
    sim.says("\r\x1b[K");
    let wait = sim.outcome(call);
    assert_eq!(
        (wait.outcome, wait.marker_was_visible),
        (Outcome::Vanished, true)
    );
    let call = sim.waits(absent("Loading"));
    let wait = sim.outcome(call);
    assert_eq!(
        (wait.outcome, wait.marker_was_visible),
        (Outcome::Vanished, false)
    );
}

#[test]
fn an_exit_ends_every_wait_and_the_final_screen_still_matches() {
    let mut sim = Sim::new();
    let never = sim.waits(present("never"));
    let gone = sim.types("x", &["Enter"], for_exit());
    let rest = sim.waits(quiet());
    sim.says("\x1b[?2026hbye");
    sim.exits(7);
    for call in [never, gone, rest] {
        let details = sim.answer(call).unwrap();
        assert_eq!(details.wait.unwrap().outcome, Outcome::Exited);
        assert_eq!(details.process.exit_code, Some(7));
        assert_eq!(details.observation.text, "bye");
    }
    let call = sim.waits(present("bye"));
    assert_eq!(sim.outcome(call).outcome, Outcome::Matched);
    for wait in [present("never"), quiet(), for_exit()] {
        let call = sim.waits(wait);
        assert_eq!(sim.outcome(call).outcome, Outcome::Exited);
    }
    assert_eq!(sim.machine.deadline(), None);
}

#[test]
fn input_after_the_exit_is_answered_and_counted() {
    let mut sim = Sim::new();
    sim.exits(0);
    let call = sim.types("hello", &["Enter"], quiet());
    let details = sim.answer(call).unwrap();
    assert_eq!(details.wait.unwrap().outcome, Outcome::Exited);
    let facts = details.input.unwrap();
    assert_eq!((facts.accepted_bytes, facts.unsent_bytes), (0, 6));
    assert!(sim.writes.is_empty());
}

#[test]
fn a_signal_is_told_by_its_name() {
    let mut sim = Sim::new();
    let exit = Exit {
        code: None,
        signal: Some(15),
        ended_by: EndedBy::Outside,
    };
    sim.machine.exited(sim.now, exit);
    let process = sim.machine.process();
    assert_eq!(
        (process.signal.as_deref(), process.exit_code),
        (Some("SIGTERM"), None)
    );
    assert_eq!(process.ended_by, Some(EndedBy::Outside));
}

#[test]
fn a_wait_for_the_exit_lets_output_pass() {
    let mut sim = Sim::new();
    let call = sim.waits(within(60_000, for_exit()));
    for _ in 0..100 {
        sim.says("tick ");
        sim.pass(ms(100));
    }
    assert!(sim.answer(call).is_none());
    sim.exits(0);
    assert_eq!(sim.outcome(call).outcome, Outcome::Exited);
}
