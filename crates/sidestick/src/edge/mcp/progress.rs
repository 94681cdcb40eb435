//! Tells a client every few seconds that a call is still under way, when it asked to be told.
//!
//! Some clients end a call that says nothing for long.

use std::convert::Infallible;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use serde_json::Value;
use tokio::time::{Instant, interval_at};
use wire::limits::PROGRESS_EVERY;

/// Longest message, in characters.
const MESSAGE_CHARS: usize = 200;
/// What is shown of a marker, in characters.
const MARKER_CHARS: usize = 80;

/// A call's progress.
pub(super) struct Progress {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    what: String,
}

impl Progress {
    /// Of the call with these arguments.
    pub(super) fn new(context: &RequestContext<RoleServer>, tool: &str, arguments: &Value) -> Self {
        let token = context.meta.get_progress_token();
        Self {
            to: token.map(|it| (context.peer.clone(), it)),
            what: what(tool, arguments),
        }
    }

    /// Tells until it is dropped.
    pub(super) async fn tell(&self) -> Infallible {
        let Some((peer, token)) = &self.to else {
            return std::future::pending().await;
        };
        let start = Instant::now();
        let mut times = interval_at(start + PROGRESS_EVERY, PROGRESS_EVERY);
        loop {
            let seconds = times.tick().await.duration_since(start).as_secs();
            #[expect(clippy::cast_precision_loss, reason = "no call lasts for 2^52 seconds")]
            let progress = ProgressNotificationParam::new(token.clone(), seconds as f64)
                .with_message(message(&self.what, seconds));
            // Fails only when the client has gone away.
            let _ = peer.notify_progress(progress).await;
        }
    }
}

fn what(tool: &str, arguments: &Value) -> String {
    let word = |key: &str| arguments.get(key).and_then(Value::as_str);
    let usual = if word("until").is_some() {
        "until"
    } else {
        "command"
    };
    let action = word("action").unwrap_or(usual);
    match word("wait_for").or(word("until")) {
        Some(marker) => {
            let shown: String = marker.chars().take(MARKER_CHARS).collect();
            format!("{tool} {action}: waiting for {shown:?}")
        }
        None => format!("{tool} {action}: waiting"),
    }
}

fn message(what: &str, seconds: u64) -> String {
    let end = format!(" · {seconds} s");
    let room = MESSAGE_CHARS - end.chars().count();
    what.chars().take(room).chain(end.chars()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_says_what_is_waited_for_and_stays_short() {
        let of = |arguments| message(&what("bash", &arguments), 10);
        assert_eq!(
            of(json!({"action": "type", "wait_for": "$ "})),
            "bash type: waiting for \"$ \" · 10 s"
        );
        assert_eq!(
            of(json!({"command": "make"})),
            "bash command: waiting · 10 s"
        );
        assert_eq!(
            of(json!({"until": "test -e x"})),
            "bash until: waiting for \"test -e x\" · 10 s"
        );
        let long = of(json!({"action": "wait", "wait_for": "\u{1b}".repeat(999)}));
        assert!(
            long.chars().count() <= MESSAGE_CHARS && long.ends_with(" · 10 s"),
            "{long}"
        );
    }
}
