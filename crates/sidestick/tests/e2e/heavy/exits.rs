//! Programs that print and end at once, by the thousand: no final line is lost, nothing is left.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use testkit::{Client, Home, Role, eventually, soak};

use crate::home;

/// Under way at the same time.
const AT_ONCE: usize = 8;
/// The same for programs whose rest goes only when it is killed, five seconds after the hang-up.
const STUBBORN_AT_ONCE: usize = 48;

#[test]
fn b44_two_thousand_exits_lose_no_final_line() {
    let home = home();
    let client = home.client();
    run(
        &home,
        &client,
        AT_ONCE,
        soak(2_000, 10_000),
        "printf '%20000s' x; echo; echo LAST-N",
    );
}

#[test]
fn b44_b45_final_lines_hold_though_another_process_goes_on_printing() {
    let home = home();
    let client = home.client();
    let command = "(trap '' HUP; while sleep 0.2; do echo noise; done) & printf '%20000s' x; echo; echo LAST-N";
    run(&home, &client, STUBBORN_AT_ONCE, soak(100, 1_000), command);
}

#[test]
fn b44_b48_final_lines_hold_though_a_printer_left_the_session() {
    let home = home();
    let client = home.client();
    let command = "setsid sh -c 'while sleep 0.2; do echo noise; done' & printf '%20000s' x; echo; echo LAST-N";
    run(&home, &client, AT_ONCE, soak(100, 1_000), command);
}

/// Opens so many, closes each, and looks for what is lost or left.
fn run(home: &Home, client: &Client, at_once: usize, count: usize, command: &str) {
    once(client, 0, command);
    eventually("the first is gone", || home.live(Role::Leash).is_empty());
    let runner = home.live(Role::Runner)[0].pid;
    let descriptors = || {
        std::fs::read_dir(format!("/proc/{runner}/fd"))
            .unwrap()
            .count()
    };
    let before = descriptors();
    let (next, lost) = (AtomicUsize::new(1), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n > count {
                        break;
                    }
                    let screen = once(client, n, command);
                    lost.lock().unwrap().extend(screen);
                }
            });
        }
    });
    let lost = lost.into_inner().unwrap();
    assert!(
        lost.is_empty(),
        "{} of {count} lost their last line, such as\n{}",
        lost.len(),
        lost[0]
    );
    eventually("every leash has ended", || {
        home.live(Role::Leash).is_empty()
    });
    eventually("no zombie is left", || home.zombies().is_empty());
    eventually("as many descriptors as before", || descriptors() <= before);
}

/// One program; its screen, when the last line is not on it.
fn once(client: &Client, n: usize, command: &str) -> Option<String> {
    let last = format!("LAST-{n}");
    let command = command.replace("LAST-N", &last);
    let reply = client.bash(
        json!({"action": "open", "command": command, "cols": 80, "rows": 10, "wait_for_exit": true,
        "wait_timeout_ms": 60_000}),
    );
    let fine = reply.outcome() == "exited"
        && reply.details["process"]["exit_code"] == 0
        && reply.screen().lines().any(|it| it == last);
    client.bash(json!({"action": "close", "terminal_id": reply.id()}));
    (!fine).then(|| reply.text.clone())
}
