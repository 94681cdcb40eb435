//! People beside the agent: watching from the start, taking over, coming late.

use serde_json::json;
use testkit::{program, require};

use crate::home;

#[test]
fn b18_a_person_who_takes_over_is_alone_until_they_release() {
    let home = home();
    let client = home.client();
    let id = client.open("cat");
    let pane = client.attach(&id, None);
    let waiting = client.start_bash(
        json!({"action": "type", "terminal_id": id, "text": "agent", "keys": ["Enter"],
        "wait_for": "never", "wait_timeout_ms": 60_000}),
    );
    pane.wait_for("agent\r\nagent");
    pane.take_over();
    let reply = client.bash_answer(waiting).unwrap();
    assert_eq!(reply.outcome(), "interrupted", "{}", reply.text);
    assert_eq!(reply.details["input"]["accepted_bytes"], 6);
    let error = client
        .try_bash(json!({"action": "type", "terminal_id": id, "text": "agent"}))
        .unwrap_err();
    assert_eq!(error["code"], 409, "{error}");
    assert_eq!(error["message"], "taken_over", "{error}");
    pane.type_bytes(b"person\r");
    let reply =
        client.bash(json!({"action": "wait", "terminal_id": id, "wait_for": "person\nperson"}));
    assert!(["matched", "timeout"].contains(&reply.outcome()));
    assert!(
        reply.screen().ends_with("person\nperson"),
        "{}",
        reply.screen()
    );
    pane.release();
    let reply = client.bash(
        json!({"action": "type", "terminal_id": id, "text": "agent again", "keys": ["Enter"],
        "wait_for": "agent again"}),
    );
    assert_eq!(reply.outcome(), "matched");
}

#[test]
fn b52_a_late_viewer_gets_a_picture_and_then_every_byte_after_it() {
    let home = home();
    let client = home.client();
    let id = client.open("bash");
    client.bash(json!({"action": "type", "terminal_id": id, "text": "seq 1 20000; echo end$((1+1))", "keys": ["Enter"], "wait_for": "end2"}));
    let early = client.attach(&id, None);
    early.wait_for("end2");
    assert_eq!(early.repaints(), 1);
    let (begin, _) = early.stream();
    assert!(begin > 100_000, "the picture stands for the offset {begin}");
    client.bash(json!({"action": "type", "terminal_id": id, "text": "echo more$((2+2))", "keys": ["Enter"], "wait_for": "more4"}));
    early.wait_for("more4");
    let late = client.attach(&id, Some(begin));
    late.wait_for("more4");
    assert_eq!(late.repaints(), 0, "what is retained is not painted afresh");
    let until = early.offset().min(late.offset());
    let length = usize::try_from(until - begin).unwrap();
    assert_eq!(early.stream().1[..length], late.stream().1[..length]);
}

#[test]
fn b53_the_size_is_the_terminals_and_viewers_are_told() {
    let home = home();
    let client = home.client();
    let id = client.open("cat");
    let (one, two) = (client.attach(&id, None), client.attach(&id, None));
    client.bash(json!({"action": "resize", "terminal_id": id, "cols": 47, "rows": 19}));
    let size = json!({"cols": 47, "rows": 19});
    for pane in [one, two] {
        testkit::eventually("the viewer knows the new size", || {
            pane.resizes().last() == Some(&size)
        });
    }
    let reply = client.bash(json!({"action": "screen", "terminal_id": id}));
    assert_eq!(reply.details["screen"]["cols"], 47);
}

#[test]
fn b29_no_half_drawn_frame_is_ever_read() {
    if !require("python3") {
        return;
    }
    let home = home();
    let client = home.client();
    let command = format!("python3 {} 100; exec cat", program("frames.py").display());
    let id = client.bash(json!({"action": "open", "command": command, "cols": 20, "rows": 10, "wait_for": "aaaa"})).id();
    let mut whole = 0;
    loop {
        let screen = client
            .bash(json!({"action": "screen", "terminal_id": id}))
            .screen();
        if screen.contains("done") {
            break;
        }
        let letters: std::collections::BTreeSet<char> =
            screen.chars().filter(char::is_ascii_lowercase).collect();
        assert!(letters.len() <= 1, "torn:\n{screen}");
        let cells = screen.chars().filter(char::is_ascii_lowercase).count();
        assert!(cells == 200, "half a frame of {cells} cells:\n{screen}");
        whole += 1;
    }
    assert!(whole > 0);
}

#[test]
fn b54_a_flood_is_not_held_up_by_a_viewer_who_does_not_read() {
    let home = home();
    let client = home.client();
    let id = client.open("bash");
    // The whole connection is not read: attached by hand, and then left alone.
    let lazy = std::os::unix::net::UnixStream::connect(home.socket()).unwrap();
    let attach = json!({"jsonrpc": "2.0", "id": 1, "method": "panes.attach", "params": {"chatId": client.chat, "terminalId": id}});
    let mut out = bytes::BytesMut::new();
    wire::frame::Message::Text(attach.to_string().into()).encode(&mut out);
    std::io::Write::write_all(&mut &lazy, &out).unwrap();
    let reply = client.bash(
        json!({"action": "type", "terminal_id": id, "text": "seq 1 400000; echo end$((1+1))",
        "keys": ["Enter"], "wait_for": "end2", "wait_timeout_ms": 60_000}),
    );
    assert_eq!(reply.outcome(), "matched", "{}", reply.text);
}
