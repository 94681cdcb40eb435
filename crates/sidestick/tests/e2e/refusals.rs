//! Refusals: each with a code, a word, a sentence and, on the command line, an exit status of its own.

use serde_json::{Value, json};
use testkit::{Client, Home};

use crate::home;

/// Arguments, the code, and words of the reason or the hint, with `|` between them.
type Row = (Value, u16, &'static str);

fn of_fields() -> Vec<Row> {
    let wide = "w".repeat(10_001);
    vec![
        (json!({}), 400, "action|command"),
        (json!({"action": "until"}), 400, "until"),
        (json!({"action": "dance"}), 400, "dance"),
        (json!({"action": "open", "comand": "vim"}), 400, "comand"),
        (json!({"command": wide}), 400, "command|script"),
        (
            json!({"command": "true", "timeout_ms": 99}),
            400,
            "timeout_ms",
        ),
        (
            json!({"command": "true", "timeout_ms": 600_001}),
            400,
            "timeout_ms",
        ),
        (json!({"action": "open", "cols": 0}), 400, "cols|1 to 1000"),
        (
            json!({"action": "open", "rows": 1001}),
            400,
            "rows|1 to 1000",
        ),
        (
            json!({"action": "open", "term": "no such/name"}),
            400,
            "term",
        ),
        (json!({"action": "screen"}), 400, "terminal_id"),
        (
            json!({"action": "screen", "terminal_id": "nonsense"}),
            404,
            "nonsense|list",
        ),
    ]
}

/// Of calls that concern a terminal; its id is put in.
fn of_input() -> Vec<Row> {
    let long = "x".repeat(524_289);
    let keys = vec!["a"; 1_001];
    vec![
        (json!({"action": "type"}), 400, "text|keys|wait"),
        (json!({"action": "type", "text": long}), 400, "524288|split"),
        (json!({"action": "keys", "keys": keys}), 400, "1000|split"),
        (json!({"action": "keys", "keys": [""]}), 400, "keys[0]"),
        (json!({"action": "screen", "text": "x"}), 400, "text"),
        (json!({"action": "wait", "keys": ["Enter"]}), 400, "keys"),
        (json!({"action": "resize", "cols": 80}), 400, "cols|rows"),
    ]
}

fn of_waits() -> Vec<Row> {
    let wide = "w".repeat(10_001);
    let both = json!({"action": "wait", "wait_for": "x", "wait_for_exit": true});
    let all =
        json!({"action": "wait", "wait_for": "x", "wait_absent": true, "wait_for_exit": true});
    let nothing = json!({"action": "wait", "wait_absent": true, "wait_for": ""});
    vec![
        (both, 400, "wait_for_exit|wait_for"),
        (all, 400, "wait_for_exit"),
        (nothing, 400, "wait_absent|wait_for"),
        (
            json!({"action": "wait", "wait_absent": true}),
            400,
            "wait_absent|wait_for",
        ),
        (json!({"action": "wait", "wait_for": ""}), 400, "wait_for"),
        (json!({"action": "wait", "wait_for": wide}), 400, "10001"),
        (
            json!({"action": "wait", "wait_timeout_ms": 99}),
            400,
            "wait_timeout_ms",
        ),
        (
            json!({"action": "wait", "wait_timeout_ms": 120_001}),
            400,
            "wait_timeout_ms",
        ),
    ]
}

/// Refuses the call, and looks for the words in what is said.
fn check(client: &Client, (args, code, words): Row) {
    let shown: String = args.to_string().chars().take(200).collect();
    let error = client.try_bash(args).expect_err(&shown);
    assert_eq!(error["code"], code, "{shown}: {error}");
    let said = error.to_string().replace(',', "");
    let missing: Vec<_> = words.split('|').filter(|it| !said.contains(it)).collect();
    assert!(missing.is_empty(), "{shown}: {missing:?} not in {error}");
}

#[test]
fn every_refusal_names_the_field_and_says_what_to_do() {
    let home = home();
    let client = home.client();
    let id = client.open("cat");
    of_fields().into_iter().for_each(|it| check(&client, it));
    for (mut args, code, words) in [of_input(), of_waits()].concat() {
        args["terminal_id"] = id.clone().into();
        check(&client, (args, code, words));
    }
    let unknown = json!({"action": "screen", "terminal_id": "tm_0000000000000001"});
    check(&client, (unknown, 404, "tm_0000000000000001|list"));
    let reply = client.bash(json!({"action": "screen", "terminal_id": id}));
    assert_eq!(reply.screen(), "", "a refused call typed something");
}

#[test]
fn the_command_line_tells_outcomes_apart_by_its_exit_status() {
    let home = home();
    let opened = home.tool(&json!({"action": "open", "command": "cat"}));
    assert_eq!(opened.status, 0, "{opened:?}");
    let id = opened.json()["terminal_id"].as_str().unwrap().to_owned();
    let status = |args: Value| home.tool(&args).status;
    assert_eq!(
        status(json!({"action": "type", "terminal_id": id, "text": "hello", "keys": ["Enter"]})),
        0
    );
    assert_eq!(status(json!({"action": "open", "cols": 0})), 2);
    let late =
        json!({"action": "wait", "terminal_id": id, "wait_for": "never", "wait_timeout_ms": 200});
    assert_eq!(status(late), 3);
    assert_eq!(
        status(json!({"action": "screen", "terminal_id": "tm_0000000000000001"})),
        4
    );
    assert_eq!(home.run(&["tool", "bash", "{not json"]).status, 2);
    let refused = home.tool(&json!({"action": "open", "cols": 0}));
    let error = &refused.json()["error"];
    assert_eq!(error["code"], 400, "{refused:?}");
    assert_eq!(error["message"], "invalid_params");
    assert!(error["reason"].as_str().unwrap().contains("cols"));
    let plain = home.run(&["tool", "bash", r#"{"action":"open","cols":0}"#]);
    assert!(
        plain.err.contains("cols") || plain.out.contains("cols"),
        "{plain:?}"
    );
}

#[test]
fn a_folder_that_is_none_is_refused_by_its_name() {
    let home = home();
    std::fs::write(home.work().join("file"), "").unwrap();
    let client = home.client();
    for (cwd, word) in [("no-such-folder", "no-such-folder"), ("file", "file")] {
        let cwd = home.work().join(cwd);
        for args in [
            json!({"action": "open", "cwd": cwd}),
            json!({"command": "true", "cwd": cwd}),
        ] {
            let error = client.try_bash(args).unwrap_err();
            assert!(
                (400..=404).contains(&error["code"].as_u64().unwrap()),
                "{error}"
            );
            assert!(error.to_string().contains(word), "{error}");
        }
    }
}

#[test]
fn a_folder_without_permission_is_refused_with_a_sentence() {
    let home = home();
    let closed = home.work().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    serve_without_override(&home);
    let client = home.client();
    let error = client
        .try_bash(json!({"action": "open", "cwd": closed}))
        .unwrap_err();
    assert!(
        error.to_string().contains("closed") && error.to_string().contains("permi"),
        "{error}"
    );
    std::fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
}

/// Starts the server so that file modes hold for it too: root without the capabilities that override them.
fn serve_without_override(home: &Home) {
    use std::os::unix::fs::MetadataExt;
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        return;
    }
    let mut command = std::process::Command::new("setpriv");
    command.args(["--bounding-set", "-dac_override,-dac_read_search"]);
    command
        .arg(env!("CARGO_BIN_EXE_sidestick"))
        .args(["serve", "--background"]);
    command
        .env_clear()
        .envs(home.env())
        .current_dir(home.work());
    assert!(command.status().unwrap().success());
}

#[test]
fn a_program_that_is_not_there_is_told() {
    let home = home();
    let client = home.client();
    let reply =
        client.bash(json!({"action": "open", "command": "no-such-program", "wait_for_exit": true}));
    assert_eq!(reply.details["process"]["exit_code"], 127, "{}", reply.text);
    assert!(
        reply.screen().contains("not found") && reply.text.contains("127"),
        "{}",
        reply.text
    );
    let env = json!([
        ["SHELL", "/no/such/shell"],
        ["PATH", "/usr/bin:/bin"],
        ["HOME", home.user()]
    ]);
    let chat = client
        .call("chats.create", json!({"folder": home.work(), "env": env}))
        .unwrap();
    let call =
        json!({"chatId": chat["chat"]["id"], "name": "bash", "arguments": {"action": "open"}});
    let error = client.call("tools.call", call).unwrap_err();
    assert_eq!(error["code"], 404, "{error}");
    assert_eq!(error["message"], "program_not_found", "{error}");
    assert!(error.to_string().contains("/no/such/shell"), "{error}");
}

#[test]
fn a_terminal_of_another_chat_does_not_exist() {
    let home = home();
    let (one, two) = (home.client(), home.client());
    let id = one.open("cat");
    let foreign = two
        .try_bash(json!({"action": "screen", "terminal_id": id}))
        .unwrap_err();
    let never = two
        .try_bash(json!({"action": "screen", "terminal_id": "tm_00000000000000aa"}))
        .unwrap_err();
    let same = foreign.to_string().replace(&id, "ID")
        == never.to_string().replace("tm_00000000000000aa", "ID");
    assert!(same, "{foreign} and {never}");
}
