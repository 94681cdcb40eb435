//! What is typed ahead of a shell's line editor is echoed twice.

use super::*;

const SLEEP: Option<u32> = Some(7);
const LINE: &str = "sleep 3; echo XYZ_done";

/// A shell that runs `sleep 1`, and the call that types a line meanwhile.
fn typed_ahead() -> (Sim, Ticket) {
    let mut sim = Sim::canonical();
    sim.tty.foreground = SLEEP;
    sim.says("$ sleep 1\r\n");
    let call = sim.types(LINE, &["Enter"], present("XYZ_done"));
    sim.says(&format!("{LINE}\r\n"));
    (sim, call)
}

#[test]
fn b37_a_line_typed_ahead_is_still_echo_when_the_shell_repeats_it() {
    let (mut sim, call) = typed_ahead();
    sim.pass(ms(1_000));
    sim.tty = Tty::default();
    sim.says(&format!("$ {LINE}"));
    assert!(sim.answer(call).is_none());
    sim.tty = Sim::canonical().tty;
    sim.says("\r\n");
    sim.pass(ms(3_000));
    assert!(sim.answer(call).is_none());
    sim.says("XYZ_done\r\n$ ");
    let wait = sim.outcome(call);
    assert_eq!(
        (wait.outcome, wait.in_echo, wait.elapsed_ms),
        (Outcome::Matched, false, 4_000)
    );
}

#[test]
fn b37_a_look_that_comes_after_the_line_editor_sees_that_another_program_reads() {
    let (mut sim, call) = typed_ahead();
    sim.tty.foreground = Some(8);
    sim.says(&format!("$ {LINE}\r\n"));
    assert!(sim.answer(call).is_none());
    sim.exits(0);
    assert_eq!(sim.outcome(call).outcome, Outcome::Exited);
}

#[test]
fn b37_a_program_that_says_what_it_reads_behind_its_own_prompt_has_answered() {
    let mut sim = Sim::canonical();
    sim.tty.foreground = SLEEP;
    sim.says("got: a\r\n");
    let call = sim.types("b c", &["Enter"], present("b c"));
    sim.says("b c\r\n");
    assert!(sim.answer(call).is_none());
    sim.says("got: b c\r\n");
    assert_eq!(sim.outcome(call).outcome, Outcome::Matched);
}

#[test]
fn b37_cat_answers_at_once_also_when_its_tty_is_looked_at() {
    let mut sim = Sim::canonical();
    sim.says("$ cat\r\n");
    let call = sim.types("hello", &["Enter"], present("hello"));
    sim.says("hello\r\nhello\r\n");
    let wait = sim.outcome(call);
    assert_eq!((wait.outcome, wait.elapsed_ms), (Outcome::Matched, 0));
}
