//! What a terminal costs its runner: idle, and with its whole scrollback.

use serde_json::json;
use testkit::{Home, Role};

use crate::home;

/// Private memory of an idle 80×24 terminal beyond the first, in KiB.
const IDLE: u64 = 300;
/// Private memory that a full scrollback adds, in KiB.
const FULL: u64 = 4_096;

fn private(home: &Home) -> u64 {
    let runner = home.live(Role::Runner)[0].pid;
    let text = std::fs::read_to_string(format!("/proc/{runner}/smaps_rollup")).unwrap();
    text.lines()
        .filter(|line| line.starts_with("Private_"))
        .map(|line| {
            line.split_whitespace()
                .nth(1)
                .unwrap()
                .parse::<u64>()
                .unwrap()
        })
        .sum()
}

#[test]
fn an_idle_terminal_costs_its_runner_little() {
    let home = home();
    let client = home.client();
    let open = || client.bash(json!({"action": "open", "command": "cat", "cols": 80, "rows": 24}));
    open();
    let one = private(&home);
    (0..20).for_each(|_| drop(open()));
    let each = (private(&home).saturating_sub(one)) / 20;
    println!("an idle terminal: {each} KiB; the runner with one: {one} KiB");
    assert!(each <= IDLE, "{each} KiB");
}

#[test]
fn a_full_scrollback_stays_within_its_bound() {
    let home = home();
    let client = home.client();
    let reply = client.bash(json!({"action": "open", "command": "bash", "cols": 80, "rows": 24}));
    let before = private(&home);
    // 79 columns a line, four times as many as are kept.
    let text = "for i in $(seq 13200); do printf '%079d\\n' $i; done; echo end$((1+1))";
    let reply = client.bash(
        json!({"action": "type", "terminal_id": reply.id(), "text": text, "keys": ["Enter"],
        "wait_for": "end2", "wait_timeout_ms": 60_000}),
    );
    assert_eq!(reply.outcome(), "matched", "{}", reply.text);
    let added = private(&home).saturating_sub(before);
    println!("a full scrollback: {added} KiB");
    assert!(added <= FULL, "{added} KiB");
}
