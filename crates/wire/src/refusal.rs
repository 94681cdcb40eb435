//! The one error that a client sees: an HTTP-like code, a stable word, and sentences a person can
//! act on.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::visible;

/// A stable word for what went wrong. Programs decide by it; people read [`Refusal::reason`] and
/// [`Refusal::hint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// 400: an argument is wrong; nothing was opened, sent or changed.
    InvalidParams,
    /// 401: no valid credential came with the call.
    Unauthorized,
    /// 403: the caller may not do this.
    Forbidden,
    /// 404: no such terminal in the caller's scope.
    TerminalNotFound,
    /// 404: no such job in the caller's scope.
    JobNotFound,
    /// 404: no such chat of the caller.
    ChatNotFound,
    /// 404: no such method or tool.
    MethodNotFound,
    /// 404: the program, or the shell that should run it, is not there.
    ProgramNotFound,
    /// 409: a person drives this terminal; input of an agent waits for the release.
    TakenOver,
    /// 409: the chat has as many live terminals as it may have.
    TooManyTerminals,
    /// 409: the chat has as many running jobs as it may have.
    TooManyJobs,
    /// 410: the chat was closed.
    ChatClosed,
    /// 413: more bytes than one call may carry.
    TooLarge,
    /// 429: too many calls in too short a time.
    RateLimited,
    /// 500: a bug of ours; the reason names an entry of the log.
    Internal,
    /// 503: the machine has no PTY, descriptor, process or memory left.
    OutOfResources,
    /// 503: the server ended during the call; terminals of chats go on.
    ServerRestarted,
    /// 503: the chat's runner process ended, and its terminals with it.
    RunnerLost,
}

/// Why a call was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refusal {
    /// An HTTP status code.
    pub code: u16,
    /// The stable word.
    pub message: Kind,
    /// What is wrong with this call; names the field.
    pub reason: Option<String>,
    /// What to do next.
    pub hint: Option<String>,
    /// Bytes of input that the program had been given before the call ended, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_bytes: Option<u64>,
}

impl Kind {
    /// The HTTP status that belongs to the word.
    pub const fn code(self) -> u16 {
        match self {
            Self::InvalidParams => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::TerminalNotFound | Self::JobNotFound | Self::ChatNotFound => 404,
            Self::MethodNotFound | Self::ProgramNotFound => 404,
            Self::TakenOver | Self::TooManyTerminals | Self::TooManyJobs => 409,
            Self::ChatClosed => 410,
            Self::TooLarge => 413,
            Self::RateLimited => 429,
            Self::Internal => 500,
            Self::OutOfResources | Self::ServerRestarted | Self::RunnerLost => 503,
        }
    }
}

impl Refusal {
    /// A refusal whose reason is a sentence about this very call.
    pub fn new(kind: Kind, reason: impl Into<String>) -> Self {
        Self {
            code: kind.code(),
            message: kind,
            reason: Some(reason.into()),
            hint: None,
            accepted_bytes: None,
        }
    }

    /// Shorthand for the commonest kind.
    pub fn invalid(reason: impl Into<String>) -> Self {
        Self::new(Kind::InvalidParams, reason)
    }

    /// A terminal that does not exist for this caller. A foreign id and one that never was read the
    /// same.
    pub fn no_terminal(id: impl fmt::Display) -> Self {
        Self::new(
            Kind::TerminalNotFound,
            format!("there is no terminal {id} in this chat"),
        )
        .hint("list the terminals with action \"list\", or open one with action \"open\"")
    }

    /// A job that does not exist for this caller. A foreign id, one that never was and one that is
    /// remembered no more read the same.
    pub fn no_job(id: impl fmt::Display) -> Self {
        Self::new(
            Kind::JobNotFound,
            format!("there is no job {id} in this chat"),
        )
        .hint("list the jobs with the tool jobs, action \"list\"; old ones are forgotten")
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The word is the serde name, so that there is one spelling of it.
        self.serialize(f)
    }
}

/// The sentence that a model or a person reads: reason, then hint, on one line.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Some(reason) => f.write_str(&visible::line(reason))?,
            None => write!(f, "{}", self.message)?,
        }
        match &self.hint {
            Some(hint) => write!(f, "; {}", visible::line(hint)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_reads_as_reason_and_hint_and_serializes_flat() {
        let refusal = Refusal::no_terminal("tm_0123456789abcdef");
        assert!(refusal.to_string().contains("; list the terminals"));
        let json = serde_json::to_value(&refusal).unwrap();
        assert_eq!(json["code"], 404);
        assert_eq!(json["message"], "terminal_not_found");
        assert_eq!(serde_json::from_value::<Refusal>(json).unwrap(), refusal);
    }
}
