//! A person beside the agents: taking over, typing, resizing.

use super::*;
use wire::Kind;

fn person(sim: &mut Sim, bytes: &str) -> usize {
    let taken = sim.machine.person_input(sim.now, bytes.as_bytes());
    sim.settle();
    taken
}

#[test]
fn b18_taking_over_interrupts_input_at_once_and_counts_what_was_sent() {
    let mut sim = Sim::new();
    sim.reading = Reading::Never;
    sim.room = 4_096;
    let call = sim.types(&"x".repeat(20_000), &["Enter"], present("never"));
    sim.machine.take_over(sim.now);
    sim.settle();
    let details = sim.answer(call).unwrap();
    assert_eq!(details.wait.unwrap().outcome, Outcome::Interrupted);
    let facts = details.input.unwrap();
    assert_eq!((facts.accepted_bytes, facts.unsent_bytes), (4_096, 15_905));
    sim.read();
    person(&mut sim, "ng");
    assert_eq!(sim.writes.last().unwrap(), "ng");
}

#[test]
fn b18_a_call_that_only_waits_for_the_answer_to_its_input_is_interrupted_too() {
    let mut sim = Sim::new();
    let typed = sim.types("x", &[], present("never"));
    let waits = sim.waits(present("later"));
    sim.machine.take_over(sim.now);
    sim.settle();
    assert_eq!(sim.outcome(typed).outcome, Outcome::Interrupted);
    sim.says("later");
    assert_eq!(sim.outcome(waits).outcome, Outcome::Matched);
}

#[test]
fn b18_until_the_release_agents_are_refused_input_but_not_the_screen() {
    let mut sim = Sim::new();
    sim.machine.take_over(sim.now);
    let call = sim.types("x", &[], quiet());
    let (ticket, refused) = sim.answers.pop().unwrap();
    assert_eq!(
        (ticket, refused.unwrap_err().message),
        (call, Kind::TakenOver)
    );
    assert!(sim.writes.is_empty());
    let screen = sim.act(Act::Screen);
    assert!(sim.answer(screen).is_some());
    sim.machine.release(sim.now);
    let call = sim.types("x", &[], quiet());
    assert_eq!(sim.facts(call).accepted_bytes, 1);
}

#[test]
fn b18_keys_of_a_person_never_split_a_burst() {
    let mut sim = Sim::new();
    sim.says("\x1b[?2004h");
    sim.reading = Reading::Never;
    sim.room = 3;
    sim.types("", &["C-S-Right"], quiet());
    sim.types("one\ntwo", &[], quiet());
    sim.machine.take_over(sim.now);
    person(&mut sim, "ng");
    sim.reading = Reading::AtOnce;
    sim.read();
    sim.settle();
    assert_eq!(sim.reads.concat(), "\x1b[1;6Cng");
}

#[test]
fn b18_a_person_who_types_without_taking_over_goes_before_what_agents_have_queued() {
    let mut sim = Sim::new();
    sim.reading = Reading::After(ms(20));
    let call = sim.types("hello", &["Enter"], quiet());
    person(&mut sim, "!");
    assert_eq!(sim.facts(call).accepted_bytes, 6);
    assert_eq!(sim.writes, ["hello", "!", "\r"]);
}

#[test]
fn a_person_s_input_is_bounded_and_ends_with_the_program() {
    let mut sim = Sim::new();
    sim.room = 0;
    let much = "x".repeat(1 << 20);
    assert_eq!(person(&mut sim, &much), much.len());
    assert_eq!(person(&mut sim, &much), much.len());
    assert_eq!(person(&mut sim, "y"), 0);
    sim.exits(0);
    assert_eq!(person(&mut sim, "z"), 0);
    assert!(sim.machine.pending_write().is_empty());
}

#[test]
fn b51_a_resize_after_the_exit_changes_nothing() {
    let mut sim = Sim::new();
    let size = |cols| Size::new(cols, 10).unwrap();
    let call = sim.act(Act::Resize(size(40)));
    assert_eq!(sim.answer(call).unwrap().screen.unwrap().cols, 40);
    sim.exits(0);
    for cols in 1..20 {
        let call = sim.act(Act::Resize(size(cols)));
        assert_eq!(sim.answer(call).unwrap().screen.unwrap().cols, 40);
    }
    assert_eq!(sim.sizes, [size(40)]);
}
