//! When the machine has nothing left: a refusal that says of what, and running terminals go on.

use std::process::Command;

use serde_json::json;
use testkit::{Role, require};

use crate::home;

#[test]
fn no_pty_left_is_a_refusal_and_passes() {
    // A devpts of its own with room for two, in a mount namespace of its own: nobody else notices.
    let possible = Command::new("unshare")
        .args(["-m", "true"])
        .output()
        .is_ok_and(|it| it.status.success());
    if !possible {
        assert!(
            std::env::var_os("CI").is_none(),
            "CI allows no skipped test: unshare -m failed"
        );
        println!("skipped: no mount namespace can be made here");
        return;
    }
    let home = home();
    let script = format!(
        "mount --make-rprivate / && mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,max=2 devpts /dev/pts && \
         {{ [ -L /dev/ptmx ] || mount --bind /dev/pts/ptmx /dev/ptmx; }} && exec {} serve --background",
        env!("CARGO_BIN_EXE_sidestick")
    );
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-c", &script])
        .env_clear()
        .envs(home.env())
        .current_dir(home.work());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let client = home.client();
    let kept = client.open("cat");
    let second = client.open("cat");
    let error = client
        .try_bash(json!({"action": "open", "command": "cat"}))
        .unwrap_err();
    assert_eq!(error["code"], 503, "{error}");
    assert_eq!(error["message"], "out_of_resources", "{error}");
    let reply = client.bash(json!({"action": "type", "terminal_id": kept, "text": "goes on", "keys": ["Enter"], "wait_for": "goes on"}));
    assert_eq!(reply.outcome(), "matched");
    client.bash(json!({"action": "close", "terminal_id": second}));
    client.open("cat");
}

#[test]
fn no_descriptor_left_is_a_refusal_and_passes() {
    if !require("prlimit") {
        return;
    }
    let home = home();
    let client = home.client();
    let kept = client.open("cat");
    let runner = home.live(Role::Runner)[0].pid;
    let limit = |n: usize| {
        let args = [format!("--pid={runner}"), format!("--nofile={n}:")];
        assert!(
            Command::new("prlimit")
                .args(args)
                .status()
                .unwrap()
                .success()
        );
    };
    let used = std::fs::read_dir(format!("/proc/{runner}/fd"))
        .unwrap()
        .count();
    limit(used + 1);
    let error = client
        .try_bash(json!({"action": "open", "command": "cat"}))
        .unwrap_err();
    assert_eq!(error["code"], 503, "{error}");
    let reply = client.bash(json!({"action": "type", "terminal_id": kept, "text": "goes on", "keys": ["Enter"], "wait_for": "goes on"}));
    assert_eq!(reply.outcome(), "matched");
    limit(1024);
    client.open("cat");
}

#[test]
fn a_sixty_fifth_terminal_of_a_chat_is_refused() {
    let home = home();
    let client = home.client();
    let opens: Vec<_> = (0..64)
        .map(|_| client.start_bash(json!({"action": "open", "command": "cat"})))
        .collect();
    let ids: Vec<String> = opens
        .into_iter()
        .map(|it| client.bash_answer(it).unwrap().id())
        .collect();
    let error = client
        .try_bash(json!({"action": "open", "command": "cat"}))
        .unwrap_err();
    assert_eq!(error["code"], 409, "{error}");
    assert_eq!(error["message"], "too_many_terminals", "{error}");
    client.bash(json!({"action": "close", "terminal_id": ids[0]}));
    client.open("cat");
}
