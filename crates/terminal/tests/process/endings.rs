//! "Closed" means that no process is left, whatever it did to stay.

use crate::support::*;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use terminal::process::{Containment, Exit, ProcEvent, Process, Start};
use terminal::pty::Master;

/// Ways in which processes stay behind when only their terminal is closed. Each says when it is done.
const STAYERS: [(&str, &str); 9] = [
    ("a background process", "sleep 1000 & echo READY; wait"),
    (
        "a disowned one",
        "sleep 1000 & disown; echo READY; exec sleep 1000",
    ),
    (
        "one in another session",
        "setsid sleep 1000 & echo READY; wait",
    ),
    (
        "one that nohup started in its own group",
        "set -m; nohup sleep 1000 & echo READY; wait",
    ),
    (
        "a grandchild without its parent",
        "trap '' HUP; ( (sleep 1000 &) & ); echo READY",
    ),
    (
        "a stopped job",
        "set -m; sleep 1000 & kill -STOP $!; echo READY; exec sleep 1000",
    ),
    (
        "one that ignores",
        "trap '' HUP TERM; sleep 1000 & echo READY; while :; do wait; done",
    ),
    (
        "a daemon",
        "trap '' HUP TERM; setsid sh -c 'sleep 1000; :' & echo READY",
    ),
    (
        "a tree",
        "for i in 1 2 3 4 5; do (sleep 1000 & setsid sleep 1000 & wait) & done; echo READY; wait",
    ),
];

/// Of those, how many do what they are asked and end with the hang-up.
const OBEDIENT: std::ops::Range<usize> = 0..3;

#[tokio::test]
async fn b48_whatever_stays_behind_is_ended_by_the_leash() {
    nothing_stays(&Containment::Leash).await;
}

#[tokio::test]
async fn b48_whatever_stays_behind_is_ended_by_the_cgroup() {
    for containment in containments() {
        nothing_stays(&containment).await;
    }
    // Tests beside this one may hold groups for a moment.
    until(|| groups() == 0).await;
}

async fn nothing_stays(containment: &Containment) {
    for (name, script) in STAYERS {
        let (process, _master, mark) = stayer(script, containment.clone()).await;
        // A process shows neither while it is being made or executed.
        until(|| carriers(&mark) > 0 && process.descendants() > 0).await;
        process.hangup();
        process.kill();
        gone(process).await;
        assert_eq!(carriers(&mark), 0, "{name} is left");
    }
}

#[tokio::test]
async fn b48_a_hang_up_alone_ends_those_that_do_not_resist() {
    for (name, script) in &STAYERS[OBEDIENT] {
        let (process, _master, mark) = stayer(script, Containment::Leash).await;
        // A shell that has forked but not executed yet still has its own way with signals.
        until(|| executed(&mark)).await;
        process.hangup();
        gone(process).await;
        assert_eq!(carriers(&mark), 0, "{name} is left");
    }
}

#[tokio::test]
async fn b48_a_job_that_was_stopped_with_ctrl_z_sees_the_hang_up() {
    let mark = new_mark();
    let start = marked(program(["bash", "--norc", "--noprofile", "-i"]), &mark);
    let (process, master) = begin(start).await;
    write(&master, b"sleep 1000\n").await;
    until(|| executed(&mark)).await;
    write(&master, b"\x1a").await;
    read_until(&master, "Stopped").await;
    process.hangup();
    gone(process).await;
    assert_eq!(carriers(&mark), 0);
}

#[tokio::test]
async fn a_process_that_forks_all_the_time_cannot_outrun_the_kill() {
    let script =
        "f() { (f) & (f) & exit; }; trap '' HUP TERM; (while :; do (:) & done) & echo READY; wait";
    for containment in containments() {
        let (process, _master, mark) = stayer(script, containment).await;
        process.kill();
        gone(process).await;
        assert_eq!(carriers(&mark), 0);
    }
}

#[tokio::test]
async fn b48_a_program_that_stops_its_leash_is_ended_all_the_same() {
    for containment in containments() {
        let (process, _master, mark) = stopper("sleep 1000", containment).await;
        process.hangup();
        process.kill();
        gone(process).await;
        assert_eq!(carriers(&mark), 0);
    }
}

#[tokio::test]
async fn b48_a_leash_that_is_kept_stopped_is_done_without() {
    let script = "trap '' HUP TERM; while :; do kill -STOP $PPID; done";
    for containment in containments() {
        let (process, _master, mark) = stopper(script, containment).await;
        process.kill_without_leash();
        until(|| carriers(&mark) == 0).await;
        gone(process).await;
    }
}

#[tokio::test]
async fn b48_a_stopped_leash_that_holds_nothing_is_ended_itself() {
    let (mut process, _master, _) = stopper("exit", Containment::Leash).await;
    until(|| process.descendants() == 0).await;
    process.give_up_leash();
    let killed = ProcEvent::Exited(Exit::Signal(9));
    assert_eq!(within(process.next_event()).await, killed);
    gone(process).await;
}

#[tokio::test]
async fn b48_a_dropped_process_ends_although_its_leash_was_stopped() {
    let (process, _master, mark) = stopper("exec sleep 1000", Containment::Leash).await;
    drop(process);
    until(|| carriers(&mark) == 0).await;
}

#[tokio::test]
async fn a_dropped_process_ends_with_all_that_it_started() {
    let (process, _master, mark) =
        stayer("setsid sleep 1000 & echo READY; wait", Containment::Leash).await;
    drop(process);
    until(|| carriers(&mark) == 0).await;
}

#[tokio::test]
async fn the_program_is_in_its_own_cgroup_and_the_leash_is_not() {
    for containment in containments() {
        let held = matches!(containment, Containment::Cgroup(_));
        let (process, _master, _) = stayer("echo READY; exec sleep 1000", containment).await;
        let ours = format!("/sidestick-{}-", std::process::id());
        assert_eq!(cgroup_of(process.pid()).contains(&ours), held);
        assert!(!cgroup_of(process.leash_pid()).contains(&ours));
        process.kill();
        gone(process).await;
    }
}

#[tokio::test]
async fn everything_ends_when_its_owner_is_killed() {
    const NAME: &str = "endings::everything_ends_when_its_owner_is_killed";
    const MARK: &str = "SIDESTICK_TEST_OWNER";
    if is_again() {
        let mark = std::env::var(MARK).unwrap();
        let script = "(trap '' HUP TERM; setsid sleep 1000) & setsid sleep 1000 & echo READY; wait";
        let start = Start {
            containment: Containment::detect(),
            ..marked(sh(script), &mark)
        };
        let (mut process, master) = begin(start).await;
        read_until(&master, "READY").await;
        println!("\nOWNER READY");
        process.next_event().await;
        return;
    }
    let mark = new_mark();
    let mut owner = again(NAME)
        .env(MARK, &mark)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    assert!(
        lines
            .map_while(Result::ok)
            .any(|line| line == "OWNER READY")
    );
    assert!(carriers(&mark) > 0);
    owner.kill().unwrap();
    owner.wait().unwrap();
    until(|| carriers(&mark) == 0).await;
}

async fn stayer(script: &str, containment: Containment) -> (Process, Master, String) {
    let mark = new_mark();
    let start = Start {
        containment,
        ..marked(program(["bash", "-c", script]), &mark)
    };
    let (process, master) = begin(start).await;
    read_until(&master, "READY").await;
    (process, master, mark)
}

/// A program that has stopped its leash and goes on with `script`.
async fn stopper(script: &str, containment: Containment) -> (Process, Master, String) {
    let script = format!("echo READY; read; kill -STOP $PPID; {script}");
    let (process, master, mark) = stayer(&script, containment).await;
    write(&master, b"\n").await;
    until(|| is_stopped(process.leash_pid())).await;
    (process, master, mark)
}

async fn gone(mut process: Process) {
    while within(process.next_event()).await != ProcEvent::Gone {}
}

/// Whether a program of the mark is `sleep` by now.
fn executed(mark: &str) -> bool {
    carriers_named(mark, "sleep") > 0
}

fn is_stopped(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    status.lines().any(|line| line.starts_with("State:\tT"))
}

fn cgroup_of(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap()
}
