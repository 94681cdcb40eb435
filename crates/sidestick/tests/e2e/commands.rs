//! The command line beside `tool`: starting the server, chats, two clients at once, a caller inside a terminal.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::json;
use testkit::{Role, eventually};

use crate::home;

#[test]
fn clients_that_start_the_server_at_once_end_up_with_one() {
    let home = home();
    let runs: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|_| scope.spawn(|| home.run(&["chat", "list"])))
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    for run in runs {
        assert_eq!(run.status, 0, "{run:?}");
    }
    eventually("only one server is left", || {
        home.live(Role::Server).len() == 1
    });
}

#[test]
fn the_first_command_starts_the_server_and_says_so() {
    let home = home();
    let first = home.run(&["chat", "create", "--title", "walk"]);
    assert_eq!(first.status, 0, "{first:?}");
    assert!(first.err.contains("start"), "{first:?}");
    assert!(
        first.out.trim().starts_with("cs_") && first.out.trim().len() == 19,
        "{first:?}"
    );
    let list = home.run(&["chat", "list"]);
    assert!(list.err.is_empty(), "{list:?}");
    assert!(
        list.out.contains(first.out.trim()) && list.out.contains("walk"),
        "{list:?}"
    );
}

#[test]
fn a_server_in_the_foreground_says_what_to_type_and_ends_by_a_signal() {
    let home = home();
    let mut command = home.command(&["serve"]);
    let mut server = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(server.stderr.take().unwrap());
    let mut said = String::new();
    stderr.read_line(&mut said).unwrap();
    assert!(said.contains(home.path().to_str().unwrap()), "{said:?}");
    let client = home.client();
    let id = client.open("cat");
    let second = home.run(&["serve"]);
    assert_eq!(second.status, 1, "{second:?}");
    assert!(second.err.contains(&server.id().to_string()), "{second:?}");
    home.live(Role::Server)
        .iter()
        .for_each(testkit::Proc::ask_to_end);
    assert!(server.wait().unwrap().success());
    let client = client.again(&home);
    let reply = client.bash(
        json!({"action": "type", "terminal_id": id, "text": "goes on", "keys": ["Enter"],
        "wait_for": "goes on"}),
    );
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
}

#[test]
fn a_home_whose_path_is_too_long_for_a_socket_works_all_the_same() {
    let home = home();
    let long = home.path().join("x".repeat(80)).join("y".repeat(80));
    let sockets = home.path().join("run-dir");
    std::fs::create_dir(&sockets).unwrap();
    std::fs::set_permissions(&sockets, PermissionsExt::from_mode(0o700)).unwrap();
    let mut command = home.command(&[
        "tool",
        "bash",
        r#"{"action":"open","command":"cat"}"#,
        "--json",
    ]);
    let output = command
        .env("SIDESTICK_HOME", &long)
        .env("XDG_RUNTIME_DIR", &sockets)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let reply: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(reply["process"]["state"], "running", "{reply}");
}

#[test]
fn arguments_come_from_standard_input_too() {
    let home = home();
    let run = home.run_with_input(
        &["tool", "bash", "-", "--json"],
        r#"{"command":"echo from stdin"}"#,
    );
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(run.json()["output"]["text"], "from stdin\n");
}

#[test]
fn one_folder_is_one_chat_on_the_command_line() {
    let home = home();
    let id = home
        .tool(&json!({"action": "open", "command": "cat"}))
        .json()["terminal_id"]
        .clone();
    let list = home.tool(&json!({"action": "list"})).json();
    assert_eq!(list["terminals"][0]["terminal_id"], id, "{list}");
    let elsewhere = home
        .command(&["tool", "bash", r#"{"action":"list"}"#, "--json"])
        .current_dir("/")
        .output()
        .unwrap();
    let list: serde_json::Value = serde_json::from_slice(&elsewhere.stdout).unwrap();
    assert_eq!(list["terminals"], json!([]));
}

#[test]
fn a_command_inside_one_of_our_terminals_joins_its_chat() {
    let home = home();
    let client = home.client();
    let id = client.open("bash");
    let inside = format!(
        "cd / && SIDESTICK_HOME={} {} tool bash '{{\"action\":\"list\"}}' --json > {}/list.json; echo done$((1+1))",
        home.path().display(),
        env!("CARGO_BIN_EXE_sidestick"),
        home.work().display()
    );
    let reply = client.bash(json!({"action": "type", "terminal_id": id, "text": inside, "keys": ["Enter"], "wait_for": "done2"}));
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    let list: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(home.work().join("list.json")).unwrap())
            .unwrap();
    assert_eq!(list["terminals"][0]["terminal_id"], id, "{list}");
}

#[test]
fn secrets_and_our_own_variables_stay_out_of_terminals() {
    let home = home();
    let mut command = home.command(&["tool", "bash", r#"{"command":"env"}"#, "--json"]);
    let secrets = [
        ("API_TOKEN", "s1"),
        ("MY_SECRET", "s2"),
        ("db_password", "s3"),
        ("AWS_ACCESS_KEY", "s4"),
    ];
    let output = command
        .envs(secrets)
        .env("HARMLESS", "kept")
        .output()
        .unwrap();
    let reply: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let env = reply["output"]["text"].as_str().unwrap();
    assert!(env.contains("HARMLESS=kept"), "{env}");
    for name in [
        "API_TOKEN",
        "MY_SECRET",
        "db_password",
        "AWS_ACCESS_KEY",
        "SIDESTICK_",
    ] {
        assert!(!env.contains(name), "{name} in {env}");
    }
}

#[test]
fn closing_a_chat_closes_its_terminals() {
    let home = home();
    let client = home.client();
    let id = client.open("exec sleep 700");
    let closed = home.run(&["chat", "close", &client.chat]);
    assert_eq!(closed.status, 0, "{closed:?}");
    eventually("its program is gone", || {
        !home
            .processes()
            .iter()
            .any(|it| it.argv.get(1).is_some_and(|it| it == "700"))
    });
    let error = client
        .try_bash(json!({"action": "screen", "terminal_id": id}))
        .unwrap_err();
    assert!(
        [404, 410].contains(&error["code"].as_u64().unwrap()),
        "{error}"
    );
}
