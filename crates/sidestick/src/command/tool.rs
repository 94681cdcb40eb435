//! `sidestick tool NAME JSON`: prints what a model would read, or the structured result.

use std::io::Read;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use serde_json::{Value, json};
use wire::rpc::ToolsCall;
use wire::tool::ToolReply;
use wire::{ChatId, Refusal, limits};

use crate::cli::{block_on, print};
use crate::client::{self, Failure};
use crate::log;

/// Which tool, with what.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The tool, such as `bash`.
    name: String,
    /// Its arguments as JSON, or `-` to read them from standard input.
    arguments: String,
    /// In which chat; default: the one of the working directory.
    #[arg(long)]
    chat: Option<ChatId>,
    /// Print the structured result, also of a refusal.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Done = 0,
    Failed = 1,
    Refused = 2,
    TimedOut = 3,
    NotFound = 4,
}

/// Calls the tool.
pub(crate) fn run(options: Options) -> anyhow::Result<ExitCode> {
    let text = read(&options.arguments)?;
    let result = match serde_json::from_str::<Value>(&text) {
        Ok(arguments) => call(&options, &arguments)?.map(|reply| (reply, arguments)),
        Err(error) => Err(
            Refusal::invalid(format!("the arguments are not JSON: {error}"))
                .hint("quote them for the shell: '{\"action\":\"list\"}'"),
        ),
    };
    let status = match result {
        Ok((reply, arguments)) => {
            print(&if options.json {
                reply.details.to_string()
            } else {
                reply.text.clone()
            });
            status_of_reply(&reply, &arguments)
        }
        Err(refusal) => {
            if options.json {
                print(&json!({ "error": refusal }).to_string());
            } else {
                log::say(&format!("sidestick: {refusal}"));
            }
            status_of_refusal(&refusal)
        }
    };
    Ok(ExitCode::from(status as u8))
}

fn call(options: &Options, arguments: &Value) -> anyhow::Result<Result<ToolReply, Refusal>> {
    let params = ToolsCall {
        chat_id: options.chat,
        name: options.name.clone(),
        arguments: arguments.clone(),
        cwd: Some(std::env::current_dir().context("the working directory is gone")?),
        env: Some(client::environment()),
        within_ms: None,
    };
    block_on(async {
        match client::reach().await?.ask(&params).await {
            Ok(reply) => Ok(Ok(reply)),
            Err(Failure::Refused(refusal)) => Ok(Err(*refusal)),
            Err(Failure::Gone) => Ok(Err(client::restarted())),
        }
    })
}

fn read(argument: &str) -> anyhow::Result<String> {
    if argument != "-" {
        return Ok(argument.to_owned());
    }
    let mut text = String::new();
    // One byte more than a message may have tells a longer input from one that just fits.
    let most = limits::MESSAGE_BYTES as u64 + 1;
    std::io::stdin()
        .lock()
        .take(most)
        .read_to_string(&mut text)
        .context("standard input")?;
    anyhow::ensure!(
        text.len() <= limits::MESSAGE_BYTES,
        "the arguments are longer than 1 MiB; split them"
    );
    Ok(text)
}

fn status_of_refusal(refusal: &Refusal) -> Status {
    match refusal.code {
        400 => Status::Refused,
        404 | 410 => Status::NotFound,
        _ => Status::Failed,
    }
}

fn status_of_reply(reply: &ToolReply, arguments: &Value) -> Status {
    let waits = arguments["action"] == "wait";
    let timed_out = reply.details["timed_out"] == true
        // Of `until`.
        || reply.details["met"] == false
        || waits && reply.details["job"]["state"] == "running"
        || reply.details["wait"]["outcome"] == "timeout" && !settles(arguments);
    if timed_out {
        Status::TimedOut
    } else {
        Status::Done
    }
}

/// Whether the caller set neither a condition nor a deadline: then output that goes on is no failure.
fn settles(arguments: &Value) -> bool {
    let input = ["open", "type", "keys"]
        .iter()
        .any(|it| arguments["action"] == *it);
    input
        && arguments["wait_for"].is_null()
        && arguments["wait_timeout_ms"].is_null()
        && arguments["wait_for_exit"] != true
}

#[cfg(test)]
mod tests {
    use wire::Kind;

    use super::*;

    fn status(details: Value, arguments: Value) -> Status {
        status_of_reply(
            &ToolReply {
                text: String::new(),
                details,
            },
            &arguments,
        )
    }

    #[test]
    fn a_timeout_counts_unless_the_call_only_settled() {
        let timeout = json!({"wait": {"outcome": "timeout", "settled": false}});
        assert_eq!(
            status(timeout.clone(), json!({"action": "type", "text": "x"})),
            Status::Done
        );
        for more in [
            json!({"action": "type", "wait_for": "x"}),
            json!({"action": "open", "wait_for_exit": true}),
            json!({"action": "keys", "wait_timeout_ms": 500}),
            json!({"action": "wait"}),
        ] {
            assert_eq!(status(timeout.clone(), more), Status::TimedOut);
        }
        assert_eq!(
            status(json!({"timed_out": true}), json!({"command": "x"})),
            Status::TimedOut
        );
        assert_eq!(
            status(json!({"met": false}), json!({"until": "false"})),
            Status::TimedOut
        );
        let running = json!({"job": {"state": "running"}});
        assert_eq!(
            status(running.clone(), json!({"action": "wait"})),
            Status::TimedOut
        );
        assert_eq!(
            status(running, json!({"command": "x", "run_in_background": true})),
            Status::Done
        );
        assert_eq!(
            status(json!({"met": true}), json!({"until": "true"})),
            Status::Done
        );
        assert_eq!(
            status(json!({"wait": null}), json!({"action": "screen"})),
            Status::Done
        );
    }

    #[test]
    fn refusals_have_the_status_of_their_kind() {
        let of = |kind| status_of_refusal(&Refusal::new(kind, "x"));
        assert_eq!(of(Kind::InvalidParams), Status::Refused);
        assert_eq!(of(Kind::TerminalNotFound), Status::NotFound);
        assert_eq!(of(Kind::ChatClosed), Status::NotFound);
        assert_eq!(of(Kind::TakenOver), Status::Failed);
        assert_eq!(of(Kind::ServerRestarted), Status::Failed);
    }
}
