//! Prompts: passwords, shells that are not ready yet, and lines that the kernel cuts.

use serde_json::json;
use testkit::{program, require};

use crate::home;

#[test]
fn b56_a_hidden_shell_prompt_is_told_and_never_shown() {
    let home = home();
    let client = home.client();
    let command = "read -s -p 'secret: ' x; echo; echo length=${#x}; exec cat";
    let reply = client.bash(json!({"action": "open", "command": command, "wait_for": "secret:"}));
    let id = reply.id();
    let reply = client.bash(
        json!({"action": "type", "terminal_id": id, "text": "tr0ub4dor", "keys": ["Enter"],
        "wait_for": "length=9"}),
    );
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    assert!(!reply.screen().contains("tr0ub4dor"), "{}", reply.screen());
}

#[test]
fn b56_getpass_is_known_by_its_terminal_mode() {
    if !require("python3") {
        return;
    }
    let home = home();
    let client = home.client();
    let command =
        "python3 -c 'import getpass; print(\"length\", len(getpass.getpass()))'; exec cat";
    let reply = client.bash(json!({"action": "open", "command": command, "wait_for": "Password:"}));
    let id = reply.id();
    let reply = client.bash(
        json!({"action": "type", "terminal_id": id, "text": "tr0ub4dor", "keys": ["Enter"],
        "wait_for": "length 9"}),
    );
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    assert_eq!(
        reply.details["input"]["input_hidden"], true,
        "{}",
        reply.text
    );
    assert!(!reply.screen().contains("tr0ub4dor"), "{}", reply.screen());
}

#[test]
fn b13_nothing_typed_at_once_after_open_is_lost() {
    if !require("python3") {
        return;
    }
    let home = home();
    let client = home.client();
    let command = program("late_reader.sh").display().to_string();
    let reply = client.bash(json!({"action": "open", "command": command}));
    let id = reply.id();
    assert!(
        reply.screen().contains("ready>"),
        "open answered before the program was ready: {reply:#?}"
    );
    let reply = client.bash(
        json!({"action": "type", "terminal_id": id, "text": "first words", "keys": ["Enter"],
        "wait_for": "got [first words]"}),
    );
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
}

#[test]
fn b13_a_shell_that_is_slow_to_start_gets_its_first_line_whole() {
    let home = home();
    let script = "sleep 1\nstty sane\nPS1='$ '\n";
    std::fs::write(home.user().join(".bashrc"), script).unwrap();
    let client = home.client();
    let id = client.open("bash");
    let reply = client.bash(json!({"action": "type", "terminal_id": id, "text": "echo whole=$((4+4))", "keys": ["Enter"],
        "wait_for": "whole=8"}));
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
}

#[test]
fn b11_a_line_longer_than_the_kernel_keeps_is_a_told_risk() {
    let home = home();
    let client = home.client();
    let id = client.open("cat > line.txt");
    let reply = client.bash(
        json!({"action": "type", "terminal_id": id, "text": "x".repeat(10_000), "keys": ["Enter"]}),
    );
    assert_eq!(
        reply.details["input"]["truncation_risk"], true,
        "{}",
        reply.text
    );
    let reply = client
        .bash(json!({"action": "type", "terminal_id": id, "text": "short", "keys": ["Enter"]}));
    assert_eq!(
        reply.details["input"]["truncation_risk"], false,
        "{}",
        reply.text
    );
}

#[test]
fn b15_stopped_output_is_told_and_goes_on_after_ctrl_q() {
    let home = home();
    let client = home.client();
    let id = client.open("stty ixon; exec cat");
    let reply = client.bash(json!({"action": "keys", "terminal_id": id, "keys": ["Ctrl+S"]}));
    assert_eq!(
        reply.details["input"]["output_stopped"], true,
        "{}",
        reply.text
    );
    let reply = client
        .bash(json!({"action": "type", "terminal_id": id, "text": "hello", "keys": ["Enter"]}));
    assert_eq!(
        reply.details["input"]["output_stopped"], true,
        "{}",
        reply.text
    );
    assert!(reply.text.contains("Ctrl+Q"), "{}", reply.text);
    let reply = client.bash(
        json!({"action": "keys", "terminal_id": id, "keys": ["Ctrl+Q"], "wait_for": "hello"}),
    );
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    assert_eq!(
        reply.details["input"]["output_stopped"], false,
        "{}",
        reply.text
    );
}
