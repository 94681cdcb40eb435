//! The tools, one file each: a checked call becomes calls to the chat's runner, and their answers become a reply.

mod archived;
mod bash;
mod bash_text;
mod commands;
mod common;
mod jobs;
mod jobs_text;

use std::sync::Arc;

use serde_json::Value;
use wire::bash::BashCall;
use wire::jobs::JobsCall;
use wire::tool::{ToolCall, ToolReply};
use wire::{Refusal, TerminalId};

use crate::caller::Scope;
use crate::runners::Runners;
use crate::store::{Store, TerminalRecord};
use crate::turns::Turn;
use bash::Bash;
use jobs::Jobs;

pub(crate) use common::Surroundings;

/// All tools.
pub(crate) struct Tools {
    bash: Bash,
    jobs: Jobs,
}

/// A call that was checked whole, before its first effect.
pub(crate) enum Checked {
    Bash(BashCall),
    Jobs(JobsCall),
}

impl Checked {
    /// Checks a call.
    ///
    /// # Errors
    /// 404 for an unknown tool, 400 for arguments that do not fit.
    pub(crate) fn new(name: &str, arguments: Value) -> Result<Self, Refusal> {
        Ok(match ToolCall::parse(name, arguments)? {
            ToolCall::Bash(args) => Self::Bash(BashCall::check(args)?),
            ToolCall::Jobs(args) => Self::Jobs(JobsCall::check(args)?),
        })
    }
}

impl Tools {
    pub(crate) fn new(store: Arc<dyn Store>, runners: Arc<Runners>) -> Self {
        Self {
            jobs: Jobs::new(Arc::clone(&store), Arc::clone(&runners)),
            bash: Bash::new(store, runners),
        }
    }

    /// Carries a checked call out.
    pub(crate) async fn call(
        &self,
        scope: &Scope,
        call: Checked,
        around: Surroundings,
        turn: Turn,
    ) -> Result<ToolReply, Refusal> {
        match call {
            Checked::Bash(call) => self.bash.call(scope, call, around, turn).await,
            Checked::Jobs(call) => self.jobs.call(scope, call, &around).await,
        }
    }

    /// The record of a terminal of this chat.
    pub(crate) async fn known(
        &self,
        scope: &Scope,
        id: TerminalId,
    ) -> Result<TerminalRecord, Refusal> {
        self.bash.known(scope, id).await
    }
}
