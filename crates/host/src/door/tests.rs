//! The door with a runner in process: chats, terminals and what becomes of them.

use serde_json::{Value, json};
use wire::runner::{Answer, Call, ToRunner};
use wire::{ChatId, Kind, Refusal, limits};

use crate::testing::{Stage, Told, caller, exited, uid, usual};
use crate::{Stop, ancestors};

async fn chat_of_folder(stage: &Stage) -> Result<(), Refusal> {
    let params =
        json!({"name": "bash", "arguments": {"action": "list"}, "cwd": stage.folder.path()});
    stage.call("tools.call", params).await.map(drop)
}

async fn chats(stage: &Stage) -> Vec<Value> {
    let reply = stage.call("chats.list", json!({})).await.unwrap().value;
    reply["chats"].as_array().unwrap().clone()
}

#[tokio::test]
async fn callers_of_one_folder_share_one_chat_also_when_they_come_at_the_same_time() {
    let stage = Stage::new(usual).await;
    let (first, second) = tokio::join!(chat_of_folder(&stage), chat_of_folder(&stage));
    first.unwrap();
    second.unwrap();
    assert_eq!(chats(&stage).await.len(), 1);
    assert_eq!(
        chats(&stage).await[0]["folder"],
        json!(stage.folder.path().canonicalize().unwrap())
    );
}

#[tokio::test]
async fn a_call_that_cannot_be_carried_out_makes_no_chat() {
    let stage = Stage::new(usual).await;
    let params =
        json!({"name": "bash", "arguments": {"action": "resize"}, "cwd": stage.folder.path()});
    assert_eq!(
        stage.call("tools.call", params).await.unwrap_err().code,
        400
    );
    assert!(chats(&stage).await.is_empty());
}

#[tokio::test]
async fn another_account_is_refused_at_the_door() {
    let stage = Stage::new(usual).await;
    let (stranger, _events) = caller(uid() + 1);
    let call = wire::rpc::Call::parse("chats.list", json!({})).unwrap();
    let refusal = stage
        .host()
        .call(&stranger, call, Stop::default())
        .await
        .unwrap_err();
    assert_eq!(refusal.message, Kind::Forbidden);
}

#[tokio::test]
async fn a_program_gets_the_chats_environment_without_secrets_and_runs_through_the_shell() {
    let mut stage = Stage::new(usual).await;
    let env = json!([["SHELL", "/bin/sh"], ["GH_TOKEN", "x"], ["LANG", "C"]]);
    let made = stage
        .call("chats.create", json!({"folder": "/", "env": env}))
        .await
        .unwrap()
        .value;
    let chat: ChatId = made["chat"]["id"].as_str().unwrap().parse().unwrap();
    stage
        .bash(
            chat,
            json!({"action": "open", "command": "vim x", "cwd": "usr"}),
        )
        .await
        .unwrap();
    let Call::Open { program, size, .. } = stage.told_call().await else {
        panic!()
    };
    assert_eq!(program.argv, ["/bin/sh", "-c", "vim x"]);
    assert_eq!(program.cwd.to_str(), Some("/usr"));
    assert_eq!(
        (size.cols, size.rows),
        (limits::DEFAULT_COLS, limits::DEFAULT_ROWS)
    );
    let names: Vec<&str> = program.env.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["SHELL", "LANG", "TERM"]);
}

#[tokio::test]
async fn a_refused_opening_leaves_no_terminal_behind_and_takes_no_place() {
    let stage = Stage::new(|call| match call {
        Call::Open { .. } => Some(Err(Refusal::new(Kind::OutOfResources, "no PTY is left"))),
        other => usual(other),
    })
    .await;
    let chat = stage.chat().await;
    for _ in 0..=limits::LIVE_TERMINALS {
        let refusal = stage
            .bash(chat, json!({"action": "open"}))
            .await
            .unwrap_err();
        assert_eq!(refusal.message, Kind::OutOfResources);
    }
    assert!(
        stage
            .store
            .chats_with_live_terminals()
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn a_chat_has_at_most_64_live_terminals_and_an_exit_frees_a_place() {
    let mut stage = Stage::new(usual).await;
    let chat = stage.chat().await;
    let first = stage.open(chat).await;
    for _ in 1..limits::LIVE_TERMINALS {
        stage.open(chat).await;
    }
    let refusal = stage
        .bash(chat, json!({"action": "open"}))
        .await
        .unwrap_err();
    assert_eq!(
        (refusal.code, refusal.message),
        (409, Kind::TooManyTerminals)
    );
    stage.say(&exited(first));
    loop {
        if let Told::Message(ToRunner::ExitsStored { terminals }) = stage.told().await {
            assert_eq!(terminals, [first]);
            break;
        }
    }
    stage.open(chat).await;
}

#[tokio::test]
async fn a_terminal_of_another_chat_reads_like_one_that_never_was() {
    let stage = Stage::new(usual).await;
    let (mine, other) = (stage.chat().await, stage.chat().await);
    let terminal = stage.open(other).await;
    let ask = |id: String| json!({"action": "screen", "terminal_id": id});
    let foreign = stage
        .bash(mine, ask(terminal.to_string()))
        .await
        .unwrap_err();
    let never = stage
        .bash(mine, ask("tm_0000000000000001".to_owned()))
        .await
        .unwrap_err();
    let same = foreign
        .to_string()
        .replace(&terminal.to_string(), "tm_0000000000000001");
    assert_eq!(same, never.to_string());
}

#[tokio::test]
async fn a_running_call_hears_that_its_runner_died_and_later_ones_that_the_terminal_was_lost() {
    let mut stage = Stage::new(|call| match call {
        Call::Act { .. } => None,
        other => usual(other),
    })
    .await;
    let chat = stage.chat().await;
    let terminal = stage.open(chat).await;
    stage.told_call().await;
    let ask = json!({"action": "type", "terminal_id": terminal, "text": "abc"});
    let params = json!({"chatId": chat, "name": "bash", "arguments": ask});
    let call = wire::rpc::Call::parse("tools.call", params).unwrap();
    let running = tokio::spawn(stage.host().call(&stage.caller, call, Stop::default()));
    stage.told_call().await;
    stage.kill();
    assert_eq!(
        running.await.unwrap().unwrap_err().message,
        Kind::RunnerLost
    );
    let (text, details) = stage.bash(chat, ask.clone()).await.unwrap();
    assert!(
        text.contains("it was lost: its runner process ended unexpectedly"),
        "{text}"
    );
    assert_eq!(details["process"]["ended_by"], "server");
    assert_eq!(details["input"]["unsent_bytes"], 3);
    // Another terminal gets a new runner, though the dead one's socket is still a file.
    stage.open(chat).await;
}

#[tokio::test]
async fn a_terminal_whose_screen_expired_says_so_and_is_never_unknown() {
    let mut stage = Stage::new(|call| match call {
        Call::Act { terminal, .. } => Some(Err(Refusal::no_terminal(terminal))),
        other => usual(other),
    })
    .await;
    let chat = stage.chat().await;
    let terminal = stage.open(chat).await;
    stage.say(&exited(terminal));
    while !matches!(
        stage.told().await,
        Told::Message(ToRunner::ExitsStored { .. })
    ) {}
    let (text, details) = stage
        .bash(chat, json!({"action": "screen", "terminal_id": terminal}))
        .await
        .unwrap();
    assert!(
        text.contains("exited with code 7") && text.contains("its screen has expired"),
        "{text}"
    );
    assert_eq!(
        (&details["screen"], &details["process"]["exit_code"]),
        (&Value::Null, &json!(7))
    );
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_at_the_runner() {
    let mut stage = Stage::new(|call| match call {
        Call::Act { .. } => None,
        other => usual(other),
    })
    .await;
    let chat = stage.chat().await;
    let terminal = stage.open(chat).await;
    stage.told_call().await;
    let params = json!({"chatId": chat, "name": "bash", "arguments": {"action": "wait", "terminal_id": terminal}});
    let call = wire::rpc::Call::parse("tools.call", params).unwrap();
    let running = tokio::spawn(stage.host().call(&stage.caller, call, Stop::default()));
    let Told::Message(ToRunner::Call { id, .. }) = stage.told().await else {
        panic!()
    };
    running.abort();
    assert_eq!(stage.told().await, Told::Message(ToRunner::Cancel { id }));
}

#[tokio::test]
async fn a_call_that_is_asked_to_stop_is_cancelled_and_still_answers() {
    let mut stage = Stage::new(|call| match call {
        Call::Act { .. } => None,
        other => usual(other),
    })
    .await;
    let chat = stage.chat().await;
    let terminal = stage.open(chat).await;
    stage.told_call().await;
    let params = json!({"chatId": chat, "name": "bash", "arguments": {"action": "wait", "terminal_id": terminal}});
    let call = wire::rpc::Call::parse("tools.call", params).unwrap();
    let stop = Stop::default();
    let running = tokio::spawn(stage.host().call(&stage.caller, call, stop.clone()));
    let Told::Message(ToRunner::Call { id, .. }) = stage.told().await else {
        panic!()
    };
    stop.ask();
    assert_eq!(stage.told().await, Told::Message(ToRunner::Cancel { id }));
    let answer = Answer::Details(Box::new(crate::testing::details(
        terminal,
        wire::bash::Action::Wait,
    )));
    stage.say(&wire::runner::FromRunner::Reply {
        id,
        result: Ok(answer),
    });
    assert!(running.await.unwrap().is_ok());
}

#[tokio::test]
async fn calls_to_one_terminal_reach_the_runner_in_the_order_of_calling() {
    let mut stage = Stage::new(usual).await;
    let chat = stage.chat().await;
    let terminal = stage.open(chat).await;
    stage.told_call().await;
    let calls: Vec<_> = (0..20)
        .map(|n| {
            let arguments =
                json!({"action": "type", "terminal_id": terminal, "text": n.to_string()});
            let params = json!({"chatId": chat, "name": "bash", "arguments": arguments});
            let call = wire::rpc::Call::parse("tools.call", params).unwrap();
            stage.host().call(&stage.caller, call, Stop::default())
        })
        .collect();
    // Polled in the opposite order.
    let running: Vec<_> = calls.into_iter().rev().map(tokio::spawn).collect();
    for n in 0..20 {
        let Call::Act {
            act: wire::bash::Act::Input { text, .. },
            ..
        } = stage.told_call().await
        else {
            panic!()
        };
        assert_eq!(text, n.to_string());
    }
    for call in running {
        call.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_restarted_server_goes_on_with_the_runner_and_its_terminals() {
    let mut stage = Stage::new(usual).await;
    let chat = stage.chat().await;
    let terminal = stage.open(chat).await;
    stage.restart().await;
    let (text, _) = stage
        .bash(chat, json!({"action": "screen", "terminal_id": terminal}))
        .await
        .unwrap();
    assert!(text.contains("running"), "{text}");
}

#[tokio::test]
async fn a_restarted_server_removes_a_dead_runners_socket_and_records_its_terminals_as_lost() {
    let mut stage = Stage::new(usual).await;
    let chat = stage.chat().await;
    let terminal = stage.open(chat).await;
    let socket = stage.folder.path().join(format!("{chat}.sock"));
    std::fs::remove_file(&socket).unwrap();
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    stage.restart().await;
    assert!(!socket.exists());
    let (text, _) = stage
        .bash(chat, json!({"action": "screen", "terminal_id": terminal}))
        .await
        .unwrap();
    assert!(text.contains("it was lost"), "{text}");
}

#[tokio::test]
async fn a_runner_of_an_unknown_version_is_refused_with_both_versions() {
    let stage = Stage::with(usual, 77, 0).await;
    let chat = stage.chat().await;
    let refusal = stage
        .bash(chat, json!({"action": "open"}))
        .await
        .unwrap_err();
    assert!(
        refusal
            .to_string()
            .contains("it speaks version 77, and this server 1"),
        "{refusal}"
    );
}

#[tokio::test]
async fn a_caller_inside_a_terminal_joins_that_terminals_chat() {
    let parent = ancestors::of(std::process::id())[1];
    let stage = Stage::with(usual, wire::runner::VERSION, parent).await;
    let chat = stage.chat().await;
    stage.open(chat).await;
    let joined = stage
        .call("chats.join", json!({"folder": "/"}))
        .await
        .unwrap()
        .value;
    assert_eq!(joined["chat"]["id"], json!(chat));
    chat_of_folder(&stage).await.unwrap();
    assert_eq!(chats(&stage).await.len(), 1);
}

#[tokio::test]
async fn a_caller_outside_of_every_terminal_gets_a_chat_of_its_own() {
    let stage = Stage::new(usual).await;
    let chat = stage.chat().await;
    stage.open(chat).await;
    let joined = stage
        .call("chats.join", json!({"folder": "/", "title": "A in /"}))
        .await
        .unwrap()
        .value;
    assert_ne!(joined["chat"]["id"], json!(chat));
    assert_eq!(joined["chat"]["title"], "A in /");
}

#[tokio::test]
async fn a_closed_chat_ends_its_runner_and_answers_that_it_is_closed() {
    let mut stage = Stage::new(usual).await;
    let chat = stage.chat().await;
    stage.open(chat).await;
    stage.told_call().await;
    stage
        .call("chats.close", json!({"chatId": chat}))
        .await
        .unwrap();
    assert_eq!(stage.told_call().await, Call::End);
    let refusal = stage
        .bash(chat, json!({"action": "list"}))
        .await
        .unwrap_err();
    assert_eq!((refusal.code, refusal.message), (410, Kind::ChatClosed));
    assert!(chats(&stage).await.is_empty());
}

#[tokio::test]
async fn an_opening_whose_runner_dies_leaves_no_live_record() {
    let mut stage = Stage::new(|call| match call {
        Call::Open { .. } => None,
        other => usual(other),
    })
    .await;
    let chat = stage.chat().await;
    let params = json!({"chatId": chat, "name": "bash", "arguments": {"action": "open"}});
    let call = wire::rpc::Call::parse("tools.call", params).unwrap();
    let opening = tokio::spawn(stage.host().call(&stage.caller, call, Stop::default()));
    stage.told_call().await;
    stage.kill();
    assert_eq!(
        opening.await.unwrap().unwrap_err().message,
        Kind::RunnerLost
    );
    assert!(
        stage
            .store
            .chats_with_live_terminals()
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn a_terminal_that_its_runner_does_not_know_is_lost_and_no_longer_live() {
    let stage = Stage::new(|call| match call {
        Call::Act { terminal, .. } => Some(Err(Refusal::no_terminal(terminal))),
        other => usual(other),
    })
    .await;
    let chat = stage.chat().await;
    let terminal = stage.open(chat).await;
    let ask = json!({"action": "screen", "terminal_id": terminal});
    let (text, _) = stage.bash(chat, ask).await.unwrap();
    assert!(text.contains("it was lost"), "{text}");
    assert!(
        stage
            .store
            .chats_with_live_terminals()
            .await
            .unwrap()
            .is_empty()
    );
}
