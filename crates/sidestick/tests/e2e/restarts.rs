//! A server that is killed loses nothing; a runner that is killed harms its own chat alone.

use serde_json::json;
use testkit::{Role, eventually};

use crate::home;

#[test]
fn terminals_outlive_the_server_and_keep_their_names() {
    let home = home();
    let client = home.client();
    let id = client.open("bash");
    client.bash(json!({"action": "type", "terminal_id": id, "text": "x=kept", "keys": ["Enter"]}));
    let runners = pids(&home);
    home.kill_server();
    let client = client.again(&home);
    let reply = client.bash(json!({"action": "type", "terminal_id": id, "text": "echo $x-$((1+1))", "keys": ["Enter"], "wait_for": "kept-2"}));
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    assert_eq!(pids(&home), runners, "the same runner goes on");
}

fn pids(home: &testkit::Home) -> Vec<u32> {
    home.live(Role::Runner).iter().map(|it| it.pid).collect()
}

#[test]
fn an_exit_while_no_server_runs_is_told_by_the_next() {
    let home = home();
    let client = home.client();
    let id = client.open("until [ -e go ]; do sleep 0.05; done; echo bye; exit 9");
    home.kill_server();
    std::fs::write(home.work().join("go"), "").unwrap();
    eventually("the program has ended", || {
        home.live(Role::Leash).is_empty()
    });
    let client = client.again(&home);
    let reply = client.bash(json!({"action": "wait", "terminal_id": id, "wait_for_exit": true}));
    assert_eq!(reply.details["process"]["exit_code"], 9, "{reply:#?}");
    assert!(reply.screen().contains("bye"));
}

#[test]
fn a_killed_runner_is_told_to_its_chat_and_harms_no_other() {
    let home = home();
    let (one, two) = (home.client(), home.client());
    let doomed = one.open("exec sleep 800");
    let before = home.live(Role::Runner);
    let safe = two.open("cat");
    let waiting = one.start_bash(json!({"action": "wait", "terminal_id": doomed, "wait_for": "never", "wait_timeout_ms": 60_000}));
    // The wait has reached the runner once a later call of the same connection was answered.
    one.bash(json!({"action": "list"}));
    before.iter().for_each(testkit::Proc::kill);
    let error = one.bash_answer(waiting).unwrap_err();
    assert_eq!(error["code"], 503, "{error}");
    assert_eq!(error["message"], "runner_lost", "{error}");
    eventually("its programs are gone too", || {
        !home
            .processes()
            .iter()
            .any(|it| it.argv.get(1).is_some_and(|it| it == "800"))
    });
    let reply = two.bash(json!({"action": "type", "terminal_id": safe, "text": "untouched", "keys": ["Enter"], "wait_for": "untouched"}));
    assert_eq!(reply.outcome(), "matched");
    let fresh = one.open("cat");
    let reply = one.bash(json!({"action": "type", "terminal_id": fresh, "text": "anew", "keys": ["Enter"], "wait_for": "anew"}));
    assert_eq!(reply.outcome(), "matched");
}

#[test]
fn whoever_removes_the_sockets_gets_no_second_server_and_is_told_what_to_do() {
    let home = home();
    home.serve();
    let server = home.live(Role::Server)[0].pid;
    std::fs::remove_dir_all(home.path().join("run")).unwrap();
    let run = home.tool(&json!({"action": "list"}));
    assert_ne!(run.status, 0, "{run:?}");
    assert!(run.err.contains(&format!("kill {server}")), "{run:?}");
    assert_eq!(home.live(Role::Server).len(), 1);
}

#[test]
fn a_relative_home_is_one_place_for_a_command_and_its_server() {
    let home = home();
    let mut command = home.command(&["tool", "bash", r#"{"action":"list"}"#, "--json"]);
    let output = command
        .env("SIDESTICK_HOME", "../relative")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(home.path().join("relative/sidestick.db").exists());
}
