//! `sidestick chat`: make, list and close chats.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use wire::rpc::{ChatsClose, ChatsCreate, ChatsList};
use wire::{ChatId, visible};

use crate::cli::{block_on, print};
use crate::client;

/// Prints the id of a new chat and nothing else.
pub(crate) fn create(title: Option<String>, dir: Option<PathBuf>) -> anyhow::Result<ExitCode> {
    let here = std::env::current_dir().context("the working directory is gone")?;
    let folder = Some(dir.map_or_else(|| here.clone(), |it| here.join(it)));
    let env = Some(client::environment());
    let params = ChatsCreate { title, folder, env };
    let reply = block_on(async { Ok(client::reach().await?.ask(&params).await?) })?;
    print(&reply.chat.id.to_string());
    Ok(ExitCode::SUCCESS)
}

/// One line for each chat.
pub(crate) fn list() -> anyhow::Result<ExitCode> {
    let reply = block_on(async { Ok(client::reach().await?.ask(&ChatsList {}).await?) })?;
    for chat in reply.chats {
        print(&format!(
            "{}  {}  {}  {}",
            chat.id,
            chat.created,
            visible::line(&chat.folder.display().to_string()),
            visible::line(&chat.title)
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// The list as JSON.
pub(crate) fn list_json() -> anyhow::Result<ExitCode> {
    let reply = block_on(async { Ok(client::reach().await?.ask(&ChatsList {}).await?) })?;
    print(&serde_json::to_string(&reply)?);
    Ok(ExitCode::SUCCESS)
}

/// Done when the chat's terminals are gone.
pub(crate) fn close(chat_id: ChatId) -> anyhow::Result<ExitCode> {
    block_on(async { Ok(client::reach().await?.ask(&ChatsClose { chat_id }).await?) })?;
    Ok(ExitCode::SUCCESS)
}
