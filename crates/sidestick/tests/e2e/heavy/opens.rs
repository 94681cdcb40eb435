//! A thousand opens that fail leave nothing: no descriptor, no process.

use serde_json::json;
use testkit::{Role, eventually, soak};

use crate::home;

#[test]
fn b49_a_thousand_failing_opens_leak_nothing() {
    let home = home();
    let client = home.client();
    let kept = client.open("cat");
    std::fs::write(home.work().join("file"), "").unwrap();
    let runner = home.live(Role::Runner)[0].pid;
    let server = home.live(Role::Server)[0].pid;
    let descriptors = |pid: u32| {
        std::fs::read_dir(format!("/proc/{pid}/fd"))
            .unwrap()
            .count()
    };
    let before = (descriptors(runner), descriptors(server));
    let total = soak(1_000, 5_000);
    for start in (0..total).step_by(20) {
        let calls: Vec<_> = (start..start + 20)
            .map(|n| {
                let cwd = home
                    .work()
                    .join(if n % 2 == 0 { "no-such-folder" } else { "file" });
                client.start_bash(json!({"action": "open", "command": "cat", "cwd": cwd}))
            })
            .collect();
        for call in calls {
            let error = client.bash_answer(call).unwrap_err();
            assert!(
                (400..=404).contains(&error["code"].as_u64().unwrap()),
                "{error}"
            );
        }
    }
    eventually("no leash but the one that is in use", || {
        home.live(Role::Leash).len() == 1
    });
    eventually("no zombie is left", || home.zombies().is_empty());
    eventually("as many descriptors as before", || {
        (descriptors(runner), descriptors(server)) <= before
    });
    let reply = client.bash(json!({"action": "list"}));
    assert_eq!(
        reply.details["terminals"].as_array().unwrap().len(),
        1,
        "{}",
        reply.text
    );
    assert_eq!(reply.details["terminals"][0]["terminal_id"], kept);
}
