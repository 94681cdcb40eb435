//! One MCP session: a chat, and the connection to the server, which may end and be made again.
//!
//! The chat's id outlives the connection, and so do its terminals.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::{Mutex, OnceCell};
use wire::rpc::{ChatsJoin, ToolsCall};
use wire::tool::ToolReply;
use wire::{ChatId, Kind, Refusal, limits};

use crate::client::{self, Connection, Failure};

/// What a client that does not say its name is called.
const NAMELESS: &str = "MCP client";

/// A session.
#[derive(Default)]
pub(super) struct Session {
    chat: OnceCell<ChatId>,
    // Held across the starting of a server on purpose: calls that come meanwhile wait for the same one.
    connection: Mutex<Option<Arc<Connection>>>,
}

impl Session {
    /// Calls a tool in the session's chat, which the first call makes.
    pub(super) async fn call(
        &self,
        client: Option<String>,
        tool: &str,
        arguments: Value,
    ) -> Result<ToolReply, Refusal> {
        let connection = self.connection().await?;
        let chat = self
            .chat
            .get_or_try_init(|| join(&connection, client))
            .await?;
        let params = ToolsCall {
            chat_id: Some(*chat),
            name: tool.to_owned(),
            arguments,
            cwd: std::env::current_dir().ok(),
            env: None,
            within_ms: Some(limits::MCP_CALL_MS),
        };
        match connection.ask(&params).await {
            Ok(reply) => Ok(reply),
            Err(Failure::Refused(refusal)) => Err(*refusal),
            Err(Failure::Gone) => {
                // At once, so that the next call finds it; that this one failed is what its caller hears.
                let _ = self.connection().await;
                Err(client::restarted())
            }
        }
    }

    /// The connection, made again when it has ended.
    async fn connection(&self) -> Result<Arc<Connection>, Refusal> {
        let mut slot = self.connection.lock().await;
        if let Some(connection) = slot.as_ref().filter(|it| it.is_open()) {
            return Ok(Arc::clone(connection));
        }
        let made = client::reach().await.map_err(|error| {
            Refusal::new(Kind::OutOfResources, format!("{error:#}"))
                .hint("run `sidestick serve` to see what is wrong")
        })?;
        let made = Arc::new(made);
        *slot = Some(Arc::clone(&made));
        Ok(made)
    }
}

async fn join(connection: &Connection, client: Option<String>) -> Result<ChatId, Refusal> {
    let folder = std::env::current_dir().ok();
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let params = ChatsJoin {
        title: Some(title(client.as_deref(), folder.as_deref(), home.as_deref())),
        folder,
        env: Some(client::environment()),
    };
    match connection.ask(&params).await {
        Ok(reply) => Ok(reply.chat.id),
        Err(Failure::Refused(refusal)) => Err(*refusal),
        Err(Failure::Gone) => Err(client::restarted()),
    }
}

/// "Claude Code in ~/app".
fn title(client: Option<&str>, folder: Option<&Path>, home: Option<&Path>) -> String {
    let client = client
        .filter(|it| !it.trim().is_empty())
        .unwrap_or(NAMELESS);
    let Some(folder) = folder else {
        return fitting(client);
    };
    let short = home
        .filter(|it| it.parent().is_some())
        .and_then(|home| folder.strip_prefix(home).ok());
    let place = match short {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => folder.display().to_string(),
    };
    fitting(&format!("{client} in {place}"))
}

/// The beginning that fits into a title.
fn fitting(text: &str) -> String {
    let mut units = 0;
    text.chars()
        .take_while(|c| {
            units += c.len_utf16();
            units <= limits::TITLE_UNITS
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_titled_by_client_and_folder() {
        let of = |folder: &str, home: &str| {
            title(
                Some("Claude Code"),
                Some(Path::new(folder)),
                Some(Path::new(home)),
            )
        };
        assert_eq!(of("/home/ada/app", "/home/ada"), "Claude Code in ~/app");
        assert_eq!(of("/home/ada", "/home/ada"), "Claude Code in ~");
        assert_eq!(of("/srv/app", "/home/ada"), "Claude Code in /srv/app");
        assert_eq!(of("/srv", "/"), "Claude Code in /srv");
        assert_eq!(title(None, None, None), "MCP client");
        assert_eq!(
            title(Some(&"x".repeat(999)), None, None).len(),
            limits::TITLE_UNITS
        );
    }
}
