//! Jobs: commands in the background, conditions, their logs, and what becomes of them when the server is killed.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Client, Home, Pending, Proc, Reply, Role, eventually, soak};

use crate::home;

/// A log's bound and what the file system may round it to.
const LOG_BYTES: u64 = 16 << 20;
/// What output of any length may add to the runner's own memory, in KiB.
const RUNNER_KIB: u64 = 8 * 1024;

fn start(client: &Client, args: Value) -> Pending {
    let params = json!({"chatId": client.chat, "name": "jobs", "arguments": args});
    client.start("tools.call", params)
}

#[track_caller]
fn jobs(client: &Client, args: Value) -> Reply {
    let shown = args.to_string();
    let answer = client.bash_answer(start(client, args));
    answer.unwrap_or_else(|error| panic!("{shown}: {error}"))
}

#[track_caller]
fn background(client: &Client, command: &str) -> String {
    let reply = client.bash(json!({"command": command, "run_in_background": true}));
    assert_eq!(reply.details["job"]["state"], "running", "{reply:#?}");
    let id = reply.details["job"]["id"].as_str().unwrap().to_owned();
    assert!(reply.text.contains(&id), "{}", reply.text);
    id
}

#[track_caller]
fn ended(client: &Client, job: &str) -> Value {
    let reply = jobs(
        client,
        json!({"action": "wait", "job_id": job, "wait_timeout_ms": 120_000}),
    );
    assert_ne!(reply.details["job"]["state"], "running", "{reply:#?}");
    reply.details["job"].clone()
}

fn log(client: &Client, job: &str, tail: u64) -> Value {
    jobs(
        client,
        json!({"action": "log", "job_id": job, "tail": tail}),
    )
    .details
}

fn runs(home: &Home, argument: &str) -> bool {
    home.processes().iter().any(|it| {
        !it.zombie && it.argv.len() > 1 && it.argv[0] == "sleep" && it.argv[1] == argument
    })
}

fn private_kib(home: &Home) -> u64 {
    let runner = home.live(Role::Runner)[0].pid;
    let text = std::fs::read_to_string(format!("/proc/{runner}/smaps_rollup")).unwrap();
    let sizes = text.lines().filter(|it| it.starts_with("Private_"));
    sizes
        .filter_map(|it| it.split_whitespace().nth(1)?.parse::<u64>().ok())
        .sum()
}

fn disk_bytes(home: &Home, chat: &str) -> u64 {
    let entries = std::fs::read_dir(home.path().join("jobs").join(chat)).unwrap();
    entries
        .map(|it| it.unwrap().metadata().unwrap().len())
        .sum()
}

#[test]
fn a_command_in_the_background_is_listed_read_and_waited_for() {
    let home = home();
    let client = home.client();
    let terminal = client.open("cat");
    let job = background(&client, "echo out; echo err >&2; exit 7");
    let end = ended(&client, &job);
    assert_eq!(
        (&end["state"], &end["exit_code"]),
        (&json!("exited"), &json!(7))
    );
    let log = log(&client, &job, 200);
    assert_eq!(log["lines"], json!(["out", "err"]));
    assert_eq!(log["supersedes"], format!("job:{job}"));
    let list = jobs(&client, json!({"action": "list"}));
    let listed = list.details["jobs"].as_array().unwrap();
    assert_eq!(listed[0]["terminal_id"], terminal, "{listed:#?}");
    assert_eq!(listed[0]["id"], terminal.replace("tm_", "jb_"));
    assert_eq!(listed[1]["id"], job);
    assert_eq!(listed[1]["cwd"], home.work().display().to_string());
}

#[test]
fn a_terminal_is_a_job_that_has_a_screen_in_place_of_a_log() {
    let home = home();
    let client = home.client();
    let terminal = client.open("cat");
    let job = terminal.replace("tm_", "jb_");
    let error = client
        .bash_answer(start(&client, json!({"action": "log", "job_id": job})))
        .unwrap_err();
    assert!(
        error.to_string().contains("action \\\"screen\\\""),
        "{error}"
    );
    let wait = json!({"action": "wait", "job_id": job, "wait_timeout_ms": 100});
    assert_eq!(jobs(&client, wait).details["job"]["state"], "running");
    let stopped = jobs(&client, json!({"action": "stop", "job_id": job}));
    assert_eq!(stopped.details["job"]["state"], "stopped", "{stopped:#?}");
    assert_eq!(stopped.details["job"]["terminal_id"], terminal);
}

#[test]
fn b48_stopping_a_job_leaves_no_process() {
    let home = home();
    let client = home.client();
    let job = background(
        &client,
        "trap '' HUP TERM; (setsid sleep 621 &); setsid sh -c \"trap '' TERM; sleep 622 & wait; sleep 623\" & sleep 624; sleep 625",
    );
    let all = ["621", "622", "624"];
    eventually("all are up", || all.iter().all(|it| runs(&home, it)));
    let stopped = jobs(&client, json!({"action": "stop", "job_id": job}));
    assert_eq!(stopped.details["job"]["state"], "stopped", "{stopped:#?}");
    let left: Vec<_> = (621..=625)
        .filter(|it| runs(&home, &it.to_string()))
        .collect();
    assert!(left.is_empty(), "stopped, and there are left: {left:?}");
}

#[test]
fn a_condition_is_met_times_out_is_stopped_or_is_cancelled() {
    let home = home();
    let client = home.client();
    let until = |condition: &str, timeout: u64| {
        client.start_bash(json!({"until": condition, "interval_ms": 200, "timeout_ms": timeout}))
    };
    let job = || {
        let mut id = None;
        eventually("it is listed", || {
            let list = jobs(&client, json!({"action": "list"})).details;
            let all = list["jobs"].as_array().unwrap();
            let running = all.iter().find(|it| it["state"] == "running");
            id = running.and_then(|it| it["id"].as_str().map(str::to_owned));
            id.is_some()
        });
        id.unwrap()
    };
    let met = until("test -e go", 60_000);
    let id = job();
    std::fs::write(home.work().join("go"), "").unwrap();
    let met = client.bash_answer(met).unwrap();
    assert_eq!(
        (&met.details["met"], &met.details["job_id"]),
        (&json!(true), &json!(id))
    );
    assert!(met.text.starts_with("Met after"), "{}", met.text);
    let late = client.bash_answer(until("false", 700)).unwrap();
    assert_eq!(late.details["met"], false, "{late:#?}");
    assert!(700 <= late.details["elapsed_ms"].as_u64().unwrap());
    assert!(late.text.starts_with("Timed out"), "{}", late.text);
    let stopped = until("sleep 631", 60_000);
    jobs(&client, json!({"action": "stop", "job_id": job()}));
    let stopped = client.bash_answer(stopped).unwrap();
    assert!(stopped.text.starts_with("Stopped"), "{}", stopped.text);
    let cancelled = client.start(
        "tools.call",
        json!({"chatId": client.chat, "name": "bash", "arguments": {"until": "sleep 632"}}),
    );
    let id = job();
    client
        .send(&json!({"jsonrpc": "2.0", "method": "rpc.cancel", "params": {"id": cancelled.id()}}));
    let cancelled = client.bash_answer(cancelled).unwrap();
    assert!(
        cancelled.text.starts_with("Cancelled"),
        "{}",
        cancelled.text
    );
    assert_eq!(ended(&client, &id)["state"], "stopped");
    eventually("its poll is gone", || !runs(&home, "632"));
}

#[test]
fn what_outlasts_its_call_goes_on_as_a_job() {
    let home = home();
    let client = home.client();
    let within = |arguments: Value| {
        let params =
            json!({"chatId": client.chat, "name": "bash", "withinMs": 400, "arguments": arguments});
        client
            .bash_answer(client.start("tools.call", params))
            .unwrap()
    };
    let quick = within(json!({"command": "echo quick"}));
    assert_eq!(quick.details["output"]["text"], "quick\n", "{quick:#?}");
    let command = "echo first; until test -e go; do sleep 0.05; done; echo last";
    let running = within(json!({"command": command}));
    assert!(running.text.contains("still running"), "{}", running.text);
    let id = running.details["job"]["id"].as_str().unwrap().to_owned();
    let polling = within(json!({"until": "test -e go", "interval_ms": 200}));
    assert!(polling.text.contains("still running"), "{}", polling.text);
    assert_eq!(polling.details["met"], false);
    std::fs::write(home.work().join("go"), "").unwrap();
    assert_eq!(ended(&client, &id)["exit_code"], 0);
    assert_eq!(log(&client, &id, 9)["lines"], json!(["first", "last"]));
    let polling = polling.details["job_id"].as_str().unwrap();
    let met = jobs(
        &client,
        json!({"action": "wait", "job_id": polling, "wait_timeout_ms": 60_000}),
    );
    assert_eq!(met.details["met"], true, "{met:#?}");
    assert_eq!(
        jobs(&client, json!({"action": "list"})).details["jobs"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn jobs_outlive_a_killed_server() {
    outlive(Home::kill_server);
}

#[test]
fn jobs_outlive_a_server_that_is_told_to_end() {
    outlive(|home| {
        let server = home.live(Role::Server)[0].pid.to_string();
        let told = std::process::Command::new("kill").arg(&server).status();
        assert!(told.unwrap().success());
        eventually("the server has ended", || {
            home.live(Role::Server).is_empty()
        });
    });
}

fn outlive(end: impl Fn(&Home)) {
    let home = home();
    let client = home.client();
    let job = background(
        &client,
        "echo before; until test -e go; do sleep 0.05; done; echo after",
    );
    let condition = client.start_bash(json!({"until": "test -e go", "interval_ms": 200}));
    eventually("both run", || {
        jobs(&client, json!({"action": "list"})).details["jobs"]
            .as_array()
            .unwrap()
            .len()
            == 2
    });
    end(&home);
    assert_eq!(client.bash_answer(condition).unwrap_err(), Value::Null);
    let client = client.again(&home);
    let list = jobs(&client, json!({"action": "list"})).details;
    let running: Vec<_> = list["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["state"])
        .collect();
    assert_eq!(running, ["running", "running"], "{list:#}");
    std::fs::write(home.work().join("go"), "").unwrap();
    for listed in list["jobs"].as_array().unwrap() {
        let end = ended(&client, listed["id"].as_str().unwrap());
        assert_eq!(end["exit_code"], 0, "{end:#}");
    }
    assert_eq!(log(&client, &job, 9)["lines"], json!(["before", "after"]));
}

#[test]
fn a_flood_of_output_is_bounded_on_disk_and_in_memory_and_keeps_its_line_numbers() {
    let home = home();
    let client = home.client();
    // The first job is what a runner costs anyway.
    ended(&client, &background(&client, "true"));
    let before = private_kib(&home);
    let lines = soak(3_000_000, 10_000_000) as u64;
    let started = Instant::now();
    // Each line has 100 bytes and is its own number.
    let job = background(&client, &format!("seq -f %099.0f 0 {}", lines - 1));
    let end = loop {
        let wait = json!({"action": "wait", "job_id": job, "wait_timeout_ms": 1_000});
        let reply = jobs(&client, wait).details;
        assert!(disk_bytes(&home, &client.chat) <= LOG_BYTES);
        if reply["job"]["state"] != "running" {
            break reply;
        }
        assert!(
            started.elapsed() < Duration::from_secs(600),
            "the flood does not end"
        );
    };
    assert_eq!(end["job"]["exit_code"], 0, "{end:#}");
    let added = private_kib(&home).saturating_sub(before);
    println!(
        "{} MB in {:?}: {added} KiB more",
        lines / 10_000,
        started.elapsed()
    );
    assert!(added <= RUNNER_KIB, "{added} KiB");
    let last = log(&client, &job, 3);
    assert_eq!(last["total_lines"], lines);
    assert_eq!(last["from_line"], lines - 3);
    assert_eq!(number(&last["lines"][2]), lines - 1);
    let dropped = last["dropped_lines"].as_u64().unwrap();
    assert!(lines - LOG_BYTES / 100 <= dropped, "{dropped}");
    let middle = json!({"action": "log", "job_id": job, "from_line": lines / 2});
    let middle = jobs(&client, middle);
    let first = middle.details["from_line"].as_u64().unwrap();
    assert!(
        lines / 2 < first && middle.text.contains("dropped"),
        "{first}"
    );
    let shown = middle.details["lines"].as_array().unwrap();
    assert_eq!(
        number(&shown[shown.len() - 1]),
        first + shown.len() as u64 - 1
    );
    assert!(serde_json::to_string(&shown).unwrap().len() < 300_000);
}

fn number(line: &Value) -> u64 {
    line.as_str().unwrap().parse().unwrap()
}

#[test]
fn the_logs_go_with_their_chat() {
    let home = home();
    let client = home.client();
    let folder = home.path().join("jobs").join(&client.chat);
    background(&client, "sleep 641");
    assert!(folder.is_dir());
    home.live(Role::Runner).iter().for_each(Proc::kill);
    eventually("its program is gone", || !runs(&home, "641"));
    let fresh = background(&client, "echo new");
    ended(&client, &fresh);
    assert_eq!(
        std::fs::read_dir(&folder).unwrap().count(),
        1,
        "old logs were swept"
    );
    let closed = home.run(&["chat", "close", &client.chat]);
    assert_eq!(closed.status, 0, "{closed:?}");
    assert!(!folder.exists());
}

#[test]
fn the_command_line_tells_by_its_status_how_a_condition_ended() {
    let home = home();
    assert_eq!(home.tool(&json!({"until": "true"})).status, 0);
    let late = home.tool(&json!({"until": "false", "timeout_ms": 300}));
    assert_eq!((late.status, &late.json()["met"]), (3, &json!(false)));
    let run = |arguments: Value| home.run(&["tool", "jobs", &arguments.to_string(), "--json"]);
    let started = home.tool(&json!({"command": "sleep 651", "run_in_background": true}));
    let id = started.json()["job"]["id"].clone();
    let wait = run(json!({"action": "wait", "job_id": id, "wait_timeout_ms": 100}));
    assert_eq!(wait.status, 3, "{wait:?}");
    assert_eq!(run(json!({"action": "stop", "job_id": id})).status, 0);
    assert_eq!(
        run(json!({"action": "stop", "job_id": "jb_0000000000000001"})).status,
        4
    );
    assert_eq!(run(json!({"action": "stop"})).status, 2);
    let refused = home.tool(&json!({"action": "until", "command": "true"}));
    assert_eq!(refused.status, 2);
    assert!(refused.out.contains("leave action out"), "{refused:?}");
}

#[test]
fn a_cancelled_condition_of_an_mcp_client_stops_polling() {
    let home = home();
    let mut mcp = home.mcp();
    mcp.initialize();
    let call = mcp.start_bash(json!({"until": "sleep 661"}));
    eventually("it polls", || runs(&home, "661"));
    mcp.notify("notifications/cancelled", json!({"requestId": call}));
    eventually("the poll is gone", || !runs(&home, "661"));
    let list = json!({"name": "jobs", "arguments": {"action": "list"}});
    let list = mcp.call("tools/call", list)["result"].clone();
    let job = &list["_meta"]["sidestick/details"]["jobs"][0];
    assert_eq!(job["state"], "stopped", "{list:#}");
    let text = list["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("sleep 661"), "{text}");
}
