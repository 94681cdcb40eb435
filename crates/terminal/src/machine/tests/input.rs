//! What the program is given, and when.

use super::*;

#[test]
fn b01_a_program_never_reads_text_and_enter_at_once() {
    for delay in [0, 1, 7, 60, 95] {
        let mut sim = Sim::new();
        sim.reading = Reading::After(ms(delay));
        let call = sim.types("hello", &["Enter"], quiet());
        let facts = sim.facts(call);
        assert_eq!(sim.reads, ["hello", "\r"]);
        assert!(!facts.unconsumed_before_key);
        assert_eq!((facts.accepted_bytes, facts.unsent_bytes), (6, 0));
    }
}

#[test]
fn b01_a_program_that_reads_at_once_gets_enter_without_delay() {
    let mut sim = Sim::new();
    sim.types("hello", &["Enter"], quiet());
    assert_eq!(sim.reads, ["hello", "\r"]);
    assert_eq!(sim.now, sim.began);
}

#[test]
fn b01_a_key_is_held_no_longer_than_its_bound_and_that_is_told() {
    let mut sim = Sim::new();
    sim.reading = Reading::Never;
    let call = sim.types("hello", &["Enter"], quiet());
    sim.pass(ms(99));
    assert_eq!(sim.writes, ["hello"]);
    sim.pass(ms(1));
    assert_eq!(sim.writes, ["hello", "\r"]);
    assert!(sim.facts(call).unconsumed_before_key);
}

#[test]
fn b01_enter_waits_for_the_text_of_an_earlier_call_too() {
    let mut sim = Sim::new();
    sim.reading = Reading::After(ms(20));
    sim.types("hello", &[], quiet());
    sim.types("", &["Enter"], quiet());
    sim.pass(ms(50));
    assert_eq!(sim.reads, ["hello", "\r"]);
}

#[test]
fn b01_nothing_is_held_while_the_kernel_edits_lines() {
    let mut sim = Sim::canonical();
    sim.reading = Reading::Never;
    let call = sim.types("hello", &["Enter", "Escape", "x"], quiet());
    assert_eq!(sim.writes, ["hello", "\r", "\x1b", "x"]);
    assert_eq!(sim.now, sim.began);
    assert!(!sim.facts(call).unconsumed_before_key);
}

#[test]
fn b02_what_follows_a_paste_comes_in_another_read() {
    let mut sim = Sim::new();
    sim.says("\x1b[?2004h");
    sim.reading = Reading::After(ms(30));
    let call = sim.types("one\ntwo", &["Down", "Enter"], quiet());
    assert!(!sim.facts(call).multiline_without_paste_mode);
    assert_eq!(sim.reads, ["\x1b[200~one\ntwo\x1b[201~", "\x1b[B", "\r"]);
}

#[test]
fn b03_newlines_become_enter_for_a_program_that_takes_no_paste() {
    let mut sim = Sim::new();
    let call = sim.types("one\ntwo", &[], quiet());
    assert_eq!(sim.writes, ["one\rtwo"]);
    assert!(sim.facts(call).multiline_without_paste_mode);
}

#[test]
fn b04_a_paste_cannot_be_left_by_its_payload() {
    let mut sim = Sim::new();
    sim.says("\x1b[?2004h");
    sim.types(
        "echo safe\x1b[201~\necho pwned\x1b\x1b[201~[201~",
        &[],
        quiet(),
    );
    assert_eq!(
        sim.writes,
        ["\x1b[200~echo safe[201~\necho pwned[201~[201~\x1b[201~"]
    );
}

#[test]
fn b06_unknown_names_are_sent_as_text_and_listed() {
    let mut sim = Sim::new();
    let call = sim.types("", &["Ctlr+C", "^C"], quiet());
    assert_eq!(sim.facts(call).unknown_keys, ["Ctlr+C"]);
    assert_eq!(sim.writes, ["Ctlr+C", "\x03"]);
}

#[test]
fn b07_arrows_follow_the_cursor_key_mode_of_the_moment_they_are_sent_in() {
    let mut sim = Sim::new();
    sim.reading = Reading::After(ms(10));
    sim.types("", &["Up", "Enter", "Home"], quiet());
    sim.says("\x1b[?1h");
    sim.pass(ms(30));
    sim.types("", &["Up"], quiet());
    sim.says("\x1b[?1l");
    sim.types("", &["Up"], quiet());
    assert_eq!(sim.writes, ["\x1b[A", "\r", "\x1bOH", "\x1bOA", "\x1b[A"]);
}

#[test]
fn b08_arrows_are_csi_sequences_until_a_program_asks_for_others() {
    let mut sim = Sim::new();
    sim.types("", &["Up", "Home", "C-Right", "Shift+Tab"], quiet());
    assert_eq!(sim.writes, ["\x1b[A", "\x1b[H", "\x1b[1;5C", "\x1b[Z"]);
}

#[test]
fn b10_a_bare_escape_and_what_follows_it_come_in_reads_of_their_own() {
    let mut sim = Sim::new();
    sim.reading = Reading::After(ms(15));
    sim.types("", &["i", "Escape", "j", "j"], quiet());
    sim.pass(ms(100));
    assert_eq!(sim.reads, ["i", "\x1b", "jj"]);
}

#[test]
fn b11_a_line_that_the_kernel_would_cut_is_told() {
    let long = "x".repeat(10_000);
    for (mut sim, text, risk) in [
        (Sim::canonical(), long.as_str(), true),
        (Sim::canonical(), &long[..4_095], false),
        (Sim::new(), long.as_str(), false),
    ] {
        let call = sim.types(text, &["Enter"], quiet());
        assert_eq!(sim.facts(call).truncation_risk, risk);
    }
}

#[test]
fn b12_input_that_the_program_does_not_read_is_counted_at_the_deadline() {
    let mut sim = Sim::new();
    sim.reading = Reading::Never;
    sim.room = 20_000;
    let call = sim.types(
        &"x".repeat(500_000),
        &["Enter"],
        within(2_000, present("never")),
    );
    let (details, took) = sim.finish(call);
    assert_eq!(
        (details.wait.unwrap().outcome, took),
        (Outcome::Timeout, 2_000)
    );
    let facts = details.input.unwrap();
    assert_eq!(
        (facts.accepted_bytes, facts.unsent_bytes),
        (20_000, 480_001)
    );
    assert_eq!(
        sim.machine.pending_write(),
        b"",
        "what was given up is not sent later"
    );
}

#[test]
fn b12_without_a_timeout_the_default_deadline_holds_and_others_go_on_after_it() {
    let mut sim = Sim::new();
    sim.reading = Reading::Never;
    sim.room = 10;
    let stuck = sim.types("0123456789abc", &["Enter"], quiet());
    let (details, took) = sim.finish(stuck);
    assert_eq!(
        (details.wait.unwrap().outcome, took),
        (Outcome::Timeout, 15_000)
    );
    let facts = details.input.unwrap();
    assert_eq!((facts.accepted_bytes, facts.unsent_bytes), (10, 4));
    sim.room = 100;
    let next = sim.types("y", &[], quiet());
    assert_eq!(sim.facts(next).accepted_bytes, 1);
}

#[test]
fn b12_a_paste_that_is_given_up_is_still_closed() {
    let mut sim = Sim::new();
    sim.says("\x1b[?2004h");
    sim.reading = Reading::Never;
    sim.room = 10;
    let call = sim.types("one\ntwo\nthree", &[], within(1_000, quiet()));
    let facts = sim.facts(call);
    assert_eq!((facts.accepted_bytes, facts.unsent_bytes), (10, 15));
    sim.room = 100;
    sim.machine.tick(sim.now);
    sim.settle();
    assert_eq!(sim.writes, ["\x1b[200~one\n", "\x1b[201~"]);
}

#[test]
fn b15_output_stopped_by_a_key_is_told() {
    let mut sim = Sim::new();
    let call = sim.types("", &["Ctrl+S"], quiet());
    assert_eq!(sim.writes, ["\x13"]);
    sim.tty.output_stopped = true;
    assert!(sim.facts(call).output_stopped);
}

#[test]
fn b16_keys_are_kitty_s_once_the_program_pushed_its_protocol() {
    let mut sim = Sim::new();
    sim.says("\x1b[>1u");
    sim.types("", &["Escape", "Enter", "Ctrl+I"], quiet());
    assert_eq!(sim.writes, ["\x1b[27u", "\r", "\x1b[105;5u"]);
    sim.says("\x1b[<u");
    sim.types("", &["Escape"], quiet());
    assert_eq!(sim.writes[3], "\x1b");
}

#[test]
fn b19_queries_are_answered_before_input_that_waits() {
    let mut sim = Sim::new();
    sim.reading = Reading::After(ms(50));
    sim.types("hello", &["Enter"], quiet());
    sim.says("AB\x1b[6n");
    assert_eq!(sim.writes, ["hello", "\x1b[1;3R"]);
    sim.pass(ms(200));
    assert_eq!(sim.writes.last().unwrap(), "\r");
}

#[test]
fn b24_a_late_reply_is_dropped_when_another_program_has_come_to_the_front() {
    for (then, replies) in [(Some(7), 1), (Some(8), 0), (None, 0)] {
        let mut sim = Sim::new();
        sim.tty.foreground = Some(7);
        sim.reading = Reading::Never;
        sim.room = 3;
        sim.types("hello", &[], quiet());
        sim.says("\x1b]11;?\x07");
        sim.tty.foreground = then;
        sim.reading = Reading::AtOnce;
        sim.read();
        sim.room = 1_000;
        sim.settle();
        assert_eq!(sim.reads.concat().matches("rgb:").count(), replies);
        sim.says("\x1b[c");
        assert!(
            sim.writes.last().unwrap().starts_with("\x1b[?"),
            "the next one is answered"
        );
    }
}

#[test]
fn two_calls_go_one_after_the_other() {
    let mut sim = Sim::new();
    sim.reading = Reading::After(ms(5));
    let first = sim.types("first", &["Enter"], present("never"));
    let second = sim.types("second", &["Enter"], quiet());
    assert_eq!(sim.facts(second).accepted_bytes, 7);
    assert_eq!(sim.reads, ["first", "\r", "second", "\r"]);
    assert!(
        sim.answer(first).is_none(),
        "the first goes on waiting while the second is done"
    );
}

#[test]
fn b56_hidden_input_is_told_of_what_was_typed_and_of_what_is_asked_for() {
    let mut sim = Sim::canonical();
    let asks = sim.types("sudo -k true", &["Enter"], present("assword:"));
    sim.tty.echo = false;
    sim.says("sudo -k true\r\nPassword: ");
    assert!(sim.facts(asks).input_hidden);
    let types = sim.types("secret", &["Enter"], quiet());
    sim.tty.echo = true;
    assert!(sim.facts(types).input_hidden);
    let after = sim.types("echo", &["Enter"], quiet());
    assert!(!sim.facts(after).input_hidden);
    let mut line_editor = Sim::new();
    let call = line_editor.types("x", &[], quiet());
    assert!(!line_editor.facts(call).input_hidden);
}

#[test]
fn cancelling_stops_the_rest_of_that_call_only() {
    let mut sim = Sim::new();
    sim.reading = Reading::Never;
    sim.room = 3;
    let first = sim.types("aé你好", &["Enter"], for_exit());
    let second = sim.types("b", &[], quiet());
    sim.machine.cancel(sim.now, first);
    sim.settle();
    let details = sim.finish(first).0;
    assert_eq!(details.wait.unwrap().outcome, Outcome::Interrupted);
    let facts = details.input.unwrap();
    assert_eq!((facts.accepted_bytes, facts.unsent_bytes), (3, 7));
    sim.reading = Reading::AtOnce;
    sim.read();
    sim.settle();
    assert_eq!(sim.facts(second).accepted_bytes, 1);
    assert_eq!(sim.writes, ["aé", "b"]);
}

#[test]
fn b01_a_program_that_knows_a_paste_by_the_clock_gets_enter_when_it_has_drawn_and_is_still() {
    let mut sim = Sim::new();
    sim.says("\x1b[?2004h\x1b[>5u");
    sim.types("hello", &["Enter", "Enter"], quiet());
    sim.pass(ms(50));
    sim.says("hello");
    sim.pass(ms(149));
    assert_eq!(sim.writes, ["hello"]);
    sim.pass(ms(1));
    assert_eq!(
        sim.writes,
        ["hello", "\r", "\r"],
        "a key after a key needs no rest"
    );
}

#[test]
fn b01_no_key_rests_longer_than_a_second_before_a_program_that_is_never_still_or_silent() {
    for says in ["*", ""] {
        let mut sim = Sim::new();
        sim.says("\x1b[?2004h\x1b[>5u");
        sim.types("hello", &["Enter"], present("never"));
        for _ in 0..99 {
            sim.pass(ms(10));
            sim.says(says);
        }
        assert_eq!(sim.writes, ["hello"]);
        sim.pass(ms(10));
        assert_eq!(sim.writes, ["hello", "\r"]);
    }
}

#[test]
fn b06_a_key_without_its_modifier_is_told_by_the_name_that_was_given() {
    let mut sim = Sim::new();
    let call = sim.types("", &["Cmd+c", "Ctrl+é", "Ctrl+c"], quiet());
    assert_eq!(sim.facts(call).unknown_keys, ["Cmd+c", "Ctrl+é"]);
    assert_eq!(sim.writes, ["c", "é", "\x03"]);
}
