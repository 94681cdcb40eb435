//! Text and the Enter after it never reach a program in one read, however fast it reads and however busy the machine is.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use testkit::{Client, program, require, soak};

use crate::home;

/// Milliseconds that each reader waits before each read.
const SPEEDS: [&str; 4] = ["0", "1", "3", "10"];
/// Rounds for each of them: 4,000 altogether.
const ROUNDS: usize = 1_000;
/// Of a thousand rounds, those in which a program may be too slow for the bound of 100 ms and the answer says so.
const DISCLOSED: usize = 10;

#[test]
fn b01_b02_text_and_enter_are_never_one_read_under_load() {
    if !require("python3") {
        return;
    }
    let home = home();
    let client = home.client();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::black_box((0..10_000_u64).sum::<u64>());
                }
            });
        }
        let readers: Vec<_> = SPEEDS
            .iter()
            .map(|speed| scope.spawn(|| drive(&client, speed, soak(ROUNDS, 10 * ROUNDS))))
            .collect();
        let results: Vec<_> = readers
            .into_iter()
            .map(std::thread::ScopedJoinHandle::join)
            .collect();
        stop.store(true, Ordering::Relaxed);
        results.into_iter().for_each(Result::unwrap);
    });
}

/// Types into one reader again and again. The program itself counts what came in one read.
fn drive(client: &Client, speed: &str, rounds: usize) {
    let paste = if speed == "1" { "paste" } else { "" };
    let command = format!("python3 {} {speed} {paste}", program("chunks.py").display());
    let id = client
        .bash(json!({"action": "open", "command": command, "wait_for": "ready"}))
        .id();
    let (mut disclosed, mut last) = (0, String::new());
    for round in 1..=rounds {
        // Every tenth text has two lines: a paste where the program takes pastes.
        let text = if round % 10 == 0 {
            format!("two\n{round}")
        } else {
            format!("word{round}")
        };
        let text = if paste.is_empty() {
            text.replace('\n', " ")
        } else {
            text
        };
        let reply = client.bash(
            json!({"action": "type", "terminal_id": id, "text": text, "keys": ["Enter"],
            "wait_for": format!("{round} submits,"), "wait_timeout_ms": 5_000}),
        );
        disclosed += usize::from(reply.details["input"]["unconsumed_before_key"] == true);
        if reply.outcome() != "matched" {
            // A merged Enter is never counted as a submit; it is put right by one more.
            assert!(
                disclosed > 0,
                "reader of {speed} ms, round {round}: {}",
                reply.text
            );
            client.bash(json!({"action": "keys", "terminal_id": id, "keys": ["Enter"], "wait_for": format!("{round} submits,")}));
        }
        last = reply.screen();
    }
    let merged: usize = last
        .split(", ")
        .find_map(|it| it.strip_suffix(" merged"))
        .and_then(|it| it.parse().ok())
        .unwrap();
    println!("reader of {speed} ms: {rounds} rounds, {merged} merged, {disclosed} disclosed");
    assert!(
        merged <= disclosed,
        "reader of {speed} ms: {merged} merged, only {disclosed} disclosed"
    );
    assert!(
        disclosed <= DISCLOSED * rounds / 1_000,
        "reader of {speed} ms: the bound was hit {disclosed} times"
    );
}

#[test]
fn b01_a_program_that_first_reads_after_sixty_milliseconds_gets_two_reads() {
    if !require("python3") {
        return;
    }
    let home = home();
    let client = home.client();
    let command = format!("python3 {} 60", program("chunks.py").display());
    let id = client
        .bash(json!({"action": "open", "command": command, "wait_for": "ready"}))
        .id();
    let mut disclosed = 0;
    for round in 1..=20 {
        let reply = client.bash(json!({"action": "type", "terminal_id": id, "text": format!("w{round}"), "keys": ["Enter"],
            "wait_for": format!("last=w{round};"), "wait_timeout_ms": 5_000}));
        disclosed += u32::from(reply.details["input"]["unconsumed_before_key"] == true);
        if reply.outcome() != "matched" {
            assert!(disclosed > 0, "round {round}: {}", reply.text);
            client.bash(json!({"action": "keys", "terminal_id": id, "keys": ["Enter"]}));
        }
    }
    assert!(
        disclosed <= 2,
        "the bound was hit {disclosed} times in 20 rounds"
    );
}
