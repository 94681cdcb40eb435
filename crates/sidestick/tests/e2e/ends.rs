//! Ends: exits while others hold the terminal, closing everything, resizing what is gone.

use serde_json::json;
use testkit::eventually;

use crate::home;

#[test]
fn b45_a_background_process_does_not_delay_the_exit() {
    let home = home();
    let client = home.client();
    // The program must not end before the other ignores the hang-up that this brings.
    let command = "(trap '' HUP; echo > deaf; exec sleep 600) & until [ -e deaf ]; do :; done; echo main-done";
    let reply = client.bash(json!({"action": "open", "command": command, "wait_for_exit": true}));
    assert_eq!(reply.outcome(), "exited", "{reply:#?}");
    assert!(reply.screen().contains("main-done"));
    assert!(
        reply.details["process"]["background_processes"]
            .as_u64()
            .unwrap()
            >= 1,
        "{}",
        reply.text
    );
    assert!(
        reply.details["wait"]["elapsed_ms"].as_u64().unwrap() < 10_000,
        "{}",
        reply.text
    );
    client.bash(json!({"action": "close", "terminal_id": reply.id()}));
    eventually("the background process is gone", || !runs(&home, "600"));
}

#[test]
fn b48_closing_leaves_nothing_that_the_program_started() {
    let home = home();
    let client = home.client();
    let command = "(sleep 601 &); setsid sleep 602 & nohup sleep 603 >/dev/null 2>&1 & \
        (trap '' HUP TERM; sleep 604) & (setsid sh -c 'sleep 605 & exec sleep 606' &); echo up; exec sleep 607";
    let reply = client.bash(json!({"action": "open", "command": command, "wait_for": "up"}));
    let all = ["601", "602", "603", "604", "605", "606", "607"];
    eventually("all are up", || all.iter().all(|it| runs(&home, it)));
    let reply = client.bash(json!({"action": "close", "terminal_id": reply.id()}));
    assert_eq!(
        reply.details["process"]["state"], "exited",
        "{}",
        reply.text
    );
    assert_eq!(
        reply.details["process"]["ended_by"], "close",
        "{}",
        reply.text
    );
    let left: Vec<_> = all.iter().filter(|it| runs(&home, it)).collect();
    assert!(
        left.is_empty(),
        "closed, and there are left: sleep {left:?}"
    );
}

fn runs(home: &testkit::Home, argument: &str) -> bool {
    home.processes().iter().any(|it| {
        !it.zombie && it.argv.len() > 1 && it.argv[0] == "sleep" && it.argv[1] == argument
    })
}

#[test]
fn b51_resizing_around_the_exit_is_harmless() {
    let home = home();
    let client = home.client();
    let id = client.open("sleep 0.3; exit 4");
    let resizes: Vec<_> = (0..40_u64)
        .map(|n| {
            client.start_bash(
                json!({"action": "resize", "terminal_id": id, "cols": 60 + n, "rows": 20}),
            )
        })
        .collect();
    resizes
        .into_iter()
        .for_each(|it| drop(client.bash_answer(it).unwrap()));
    let reply = client.bash(json!({"action": "wait", "terminal_id": id, "wait_for_exit": true}));
    assert_eq!(reply.details["process"]["exit_code"], 4, "{}", reply.text);
    for _ in 0..5 {
        let reply =
            client.bash(json!({"action": "resize", "terminal_id": id, "cols": 50, "rows": 20}));
        assert_eq!(
            reply.details["process"]["state"], "exited",
            "{}",
            reply.text
        );
    }
}

#[test]
fn b44_the_last_line_of_a_program_that_ends_at_once_is_on_its_screen() {
    let home = home();
    let client = home.client();
    for _ in 0..20 {
        let command = "printf '%20000s' x; echo; echo LAST";
        let reply =
            client.bash(json!({"action": "open", "command": command, "wait_for_exit": true}));
        assert_eq!(reply.outcome(), "exited");
        assert!(reply.screen().ends_with("LAST"), "{}", reply.screen());
    }
}

#[test]
fn a_signal_is_told_by_its_name_and_by_who_sent_it() {
    let home = home();
    let client = home.client();
    let reply =
        client.bash(json!({"action": "open", "command": "kill -TERM $$", "wait_for_exit": true}));
    assert_eq!(
        reply.details["process"]["signal"], "SIGTERM",
        "{}",
        reply.text
    );
    assert_eq!(reply.details["process"]["exit_code"], json!(null));
    let id = client.open("exec sleep 500");
    let sleeper = home
        .processes()
        .into_iter()
        .find(|it| it.argv.get(1).is_some_and(|it| it == "500"))
        .unwrap();
    sleeper.kill();
    let reply = client.bash(json!({"action": "wait", "terminal_id": id, "wait_for_exit": true}));
    assert_eq!(
        reply.details["process"]["signal"], "SIGKILL",
        "{}",
        reply.text
    );
    let reply = client.bash(json!({"action": "list"}));
    let states: Vec<_> = reply.details["terminals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["state"].clone())
        .collect();
    assert_eq!(states, ["exited", "exited"]);
}

#[test]
fn a_plain_command_gives_code_and_both_outputs_interleaved() {
    let home = home();
    let client = home.client();
    let reply = client.bash(json!({"command": "echo one; echo two >&2; echo three; exit 5"}));
    assert_eq!(reply.details["process"]["exit_code"], 5);
    assert_eq!(reply.details["output"]["text"], "one\ntwo\nthree\n");
    let reply = client.bash(json!({"command": "sleep 60", "timeout_ms": 300}));
    assert_eq!(reply.details["timed_out"], true, "{}", reply.text);
    let reply = client.bash(json!({"command": "seq 1 100000"}));
    let text = reply.details["output"]["text"].as_str().unwrap();
    assert!(
        text.starts_with("1\n2\n") && text.trim_end().ends_with("100000"),
        "{}",
        reply.text
    );
    assert!(reply.details["output"]["omitted_bytes"].as_u64().unwrap() > 500_000);
}
