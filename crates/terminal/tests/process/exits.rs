//! The end of a program is reported once, truly, and after its last byte can be read.

use crate::support::*;
use std::time::Instant;
use terminal::process::{Exit, Io, ProcEvent, Start, Stdio, start};
use terminal::stream::Read;

#[tokio::test]
async fn the_exit_code_is_reported_and_then_that_nothing_is_left() {
    let (mut process, master) = begin(sh("exit 7")).await;
    assert_eq!(read_to_exit(&mut process, &master).await.1, Exit::Code(7));
    assert_eq!(within(process.next_event()).await, ProcEvent::Gone);
    assert_eq!(process.descendants(), 0);
}

#[tokio::test]
async fn the_signal_that_ends_a_program_is_reported() {
    let (mut process, master) = begin(sh("kill -SEGV $$")).await;
    assert_eq!(
        read_to_exit(&mut process, &master).await.1,
        Exit::Signal(libc::SIGSEGV)
    );
}

#[tokio::test]
async fn a_leash_that_is_killed_takes_its_program_with_it() {
    for containment in containments() {
        let mark = new_mark();
        let start = Start {
            containment,
            ..marked(sh("echo READY; exec sleep 1000"), &mark)
        };
        let (mut process, master) = begin(start).await;
        read_until(&master, "READY").await;
        kill(process.leash_pid());
        let events = [
            within(process.next_event()).await,
            within(process.next_event()).await,
        ];
        assert_eq!(
            events,
            [
                ProcEvent::Exited(Exit::Signal(libc::SIGKILL)),
                ProcEvent::Gone
            ]
        );
        until(|| carriers(&mark) == 0).await;
    }
}

#[test]
fn b44_the_last_line_of_a_fast_program_is_never_lost() {
    if alone("exits::b44_the_last_line_of_a_fast_program_is_never_lost") {
        run(b44(10, 20, "", "exit 3"));
    }
}

#[test]
fn b44_the_last_line_is_not_lost_when_somebody_keeps_the_terminal_open() {
    if alone("exits::b44_the_last_line_is_not_lost_when_somebody_keeps_the_terminal_open") {
        run(async {
            b44(3, 10, "trap '' HUP; sleep 1000 &", "exit 3").await;
            b44(3, 10, "setsid sleep 1000 &", "exit 3").await;
        });
    }
}

#[tokio::test]
async fn b44_the_last_line_is_not_lost_among_what_others_print() {
    let printer = "sh -c 'while echo noise; do :; done'";
    for printer in [
        format!("trap '' HUP; {printer} &"),
        format!("setsid {printer} &"),
    ] {
        let script = format!("{printer}\nprintf '%20000s' x; echo LAST; exit 3");
        let (mut process, master) = begin(sh(&script)).await;
        let (output, exit) = read_to_exit(&mut process, &master).await;
        assert_eq!(exit, Exit::Code(3));
        assert!(output.contains("LAST"));
        process.kill();
        assert_eq!(within(process.next_event()).await, ProcEvent::Gone);
    }
}

/// Rounds of programs that all print at the same time; every one is checked, and nothing is kept.
async fn b44(rounds: usize, at_once: usize, before: &str, after: &str) {
    let script = format!("{before}\nprintf '%20000s' x; echo LAST; {after}");
    one_fast_program(&script).await;
    let held = holdings();
    for _ in 0..rounds {
        let tasks: Vec<_> = (0..at_once)
            .map(|_| tokio::task::spawn_local(one_fast_program_owned(script.clone())))
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    }
    assert_eq!(holdings(), held);
}

async fn one_fast_program_owned(script: String) {
    one_fast_program(&script).await;
}

async fn one_fast_program(script: &str) {
    let (mut process, master) = begin(sh(script)).await;
    let (output, exit) = read_to_exit(&mut process, &master).await;
    assert_eq!(exit, Exit::Code(3));
    assert_eq!(output.len(), 20_006);
    assert!(output.ends_with("xLAST\r\n"));
    process.kill();
    assert_eq!(within(process.next_event()).await, ProcEvent::Gone);
}

fn run(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, work);
}

#[tokio::test]
async fn b45_a_background_process_that_keeps_the_terminal_does_not_delay_the_exit() {
    let (mut process, master) = begin(sh("trap '' HUP; sleep 1000 & echo main-done")).await;
    let started = Instant::now();
    let (output, exit) = read_to_exit(&mut process, &master).await;
    assert_eq!((output.as_str(), exit), ("main-done\r\n", Exit::Code(0)));
    assert!(
        started.elapsed().as_secs() < 30,
        "as long as the sleeper would take"
    );
    assert_eq!(process.descendants(), 1);
    process.kill();
    assert_eq!(within(process.next_event()).await, ProcEvent::Gone);
}

#[tokio::test]
async fn output_and_errors_come_apart_through_pipes_and_end_of_input_is_seen() {
    let script = "cat; echo bad >&2; test -t 0 || exit 4";
    let program = Start {
        stdio: Stdio::Pipes,
        ..sh(script)
    };
    let (mut process, io) = within(start(program)).await.unwrap();
    let Io::Pipes(pipes) = io else {
        panic!("not pipes")
    };
    write(&pipes.stdin, b"in").await;
    drop(pipes.stdin);
    assert_eq!(read_to_end(&pipes.stdout).await, "in");
    assert_eq!(read_to_end(&pipes.stderr).await, "bad\n");
    let exit = ProcEvent::Exited(Exit::Code(4));
    assert_eq!(within(process.next_event()).await, exit);
}

#[tokio::test]
async fn a_captured_program_has_empty_input_and_its_output_and_errors_in_order() {
    let script = "cat; for i in 1 2 3; do echo o$i; echo e$i >&2; done";
    let program = Start {
        stdio: Stdio::Capture,
        ..sh(script)
    };
    let (_process, io) = within(start(program)).await.unwrap();
    let Io::Capture(output) = io else {
        panic!("not a capture")
    };
    assert_eq!(read_to_end(&output).await, "o1\ne1\no2\ne2\no3\ne3\n");
}

async fn read_to_end(stream: &terminal::stream::Stream) -> String {
    let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
    while let Read::Bytes(length) = within(stream.read(&mut buffer)).await {
        seen.extend(&buffer[..length]);
    }
    String::from_utf8(seen).unwrap()
}
