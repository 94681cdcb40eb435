//! The door with a runner in process: what becomes a job, and what a job's id leads to.

use serde_json::{Value, json};
use wire::jobs::JobState;
use wire::runner::{Answer, Call, KnownJob};
use wire::{JobId, Kind, Refusal, limits};

use crate::testing::{Stage, usual};

fn known(id: JobId) -> KnownJob {
    KnownJob {
        id,
        command: "make".to_owned(),
        cwd: "/".into(),
        state: JobState::Running,
        exit_code: None,
        signal: None,
        end: None,
        started_ms: 0,
        ended_ms: None,
        until: None,
        background_processes: 0,
    }
}

fn script(call: &Call) -> Option<Result<Answer, Refusal>> {
    match call {
        Call::Run { outlast, .. } => {
            let id = outlast.map_or(JobId::from_random(1), |it| it.job);
            Some(Ok(Answer::Job(Box::new(known(id)))))
        }
        Call::Background { job, .. } => Some(Ok(Answer::Job(Box::new(known(*job))))),
        call => usual(call),
    }
}

async fn call(stage: &Stage, params: Value) -> Result<Value, Refusal> {
    Ok(stage.call("tools.call", params).await?.value)
}

#[tokio::test]
async fn only_a_call_that_may_not_last_lets_its_command_become_a_job() {
    let mut stage = Stage::new(script).await;
    let chat = stage.chat().await;
    let bash = |arguments: Value, within: Option<u64>| json!({"chatId": chat, "name": "bash", "arguments": arguments, "withinMs": within});
    for (arguments, within, timeout) in [
        (
            json!({"command": "make"}),
            None,
            limits::RUN_TIMEOUT.as_millis(),
        ),
        (
            json!({"command": "make"}),
            Some(500),
            limits::RUN_AS_JOB_TIMEOUT.as_millis(),
        ),
        (
            json!({"command": "make", "timeout_ms": 700}),
            Some(500),
            700,
        ),
    ] {
        let reply = call(&stage, bash(arguments, within)).await.unwrap();
        assert_eq!(reply["details"]["job"]["state"], "running", "{reply}");
        let Call::Run {
            timeout: given,
            outlast,
            ..
        } = stage.told_call().await
        else {
            panic!()
        };
        assert_eq!(given.as_millis(), timeout);
        let after = outlast.map(|it| it.after.as_millis());
        assert_eq!(after, within.map(u128::from));
    }
    let refusal = call(&stage, bash(json!({"command": "make"}), Some(1))).await;
    assert_eq!(refusal.unwrap_err().message, Kind::InvalidParams);
}

#[tokio::test]
async fn a_command_in_the_background_gets_an_id_and_a_sentence() {
    let mut stage = Stage::new(script).await;
    let chat = stage.chat().await;
    let arguments = json!({"command": "make", "run_in_background": true});
    let (text, details) = stage.bash(chat, arguments).await.unwrap();
    let Call::Background { job, program } = stage.told_call().await else {
        panic!()
    };
    assert_eq!(program.argv, ["/bin/sh", "-c", "make"]);
    assert_eq!(details["job"]["id"], job.to_string());
    assert_eq!(details["job"]["started"], "1970-01-01T00:00:00Z");
    assert!(
        text.contains(&job.to_string()) && text.contains("log"),
        "{text}"
    );
}

#[tokio::test]
async fn a_terminal_has_no_log_and_a_chat_without_a_runner_no_job() {
    let stage = Stage::new(script).await;
    let chat = stage.chat().await;
    let log = |job: String| json!({"chatId": chat, "name": "jobs", "arguments": {"action": "log", "job_id": job}});
    let none = call(&stage, log("jb_0000000000000001".to_owned()))
        .await
        .unwrap_err();
    assert_eq!(none.message, Kind::JobNotFound);
    let terminal = stage.open(chat).await;
    let refusal = call(&stage, log(JobId::from(terminal).to_string()))
        .await
        .unwrap_err();
    assert_eq!(refusal.message, Kind::InvalidParams);
    assert!(
        refusal.to_string().contains(&terminal.to_string()),
        "{refusal}"
    );
}
