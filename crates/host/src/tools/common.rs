//! What the tools have in common: what surrounds a call, the program it starts, the runner's answer, the reply.

use std::path::PathBuf;
use std::time::Duration;

use wire::runner::{Answer, Program};
use wire::tool::ToolReply;
use wire::{Kind, Refusal};

use crate::caller::Scope;
use crate::environment::{self, Under};
use crate::runners::Pending;
use crate::stop::Stop;

/// What surrounds a call and is not in its arguments.
pub(crate) struct Surroundings {
    /// The caller's working directory.
    pub cwd: Option<PathBuf>,
    /// The account's shell.
    pub shell: Option<String>,
    /// Ends the call early.
    pub stop: Stop,
    /// What still runs after this goes on as a job.
    pub within: Option<Duration>,
}

/// Waits for the answer; when the end is asked for, the runner is told to answer at once.
pub(super) async fn stoppable(pending: &mut Pending, stop: &Stop) -> Result<Answer, Refusal> {
    tokio::select! {
        biased;
        answer = pending.answer() => return answer,
        () = stop.asked() => {}
    }
    pending.cancel();
    pending.answer().await
}

pub(super) fn program(
    scope: &Scope,
    around: &Surroundings,
    cwd: Option<PathBuf>,
    command: Option<&str>,
    under: Under<'_>,
) -> Program {
    let chat = scope.chat();
    let shell = environment::shell(&chat.env, around.shell.clone());
    let base = around.cwd.as_ref().unwrap_or(&chat.folder);
    Program {
        title: environment::title(&shell, command),
        argv: environment::argv(shell, command),
        // A relative folder is meant from where the caller stands; joining leaves an absolute one as it is.
        cwd: cwd.map_or_else(|| base.clone(), |it| base.join(it)),
        env: environment::of_program(&chat.env, under),
    }
}

pub(super) fn reply<T: serde::Serialize>(text: String, details: &T) -> Result<ToolReply, Refusal> {
    match serde_json::to_value(details) {
        Ok(details) => Ok(ToolReply { text, details }),
        Err(error) => Err(Refusal::new(
            Kind::Internal,
            format!("the details have no JSON: {error}"),
        )),
    }
}

pub(super) fn mixed_up() -> Refusal {
    Refusal::new(
        Kind::Internal,
        "the runner gave another answer than asked for",
    )
}
