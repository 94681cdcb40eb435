//! What outlives a server: chats, and the record of each terminal without its output.
//!
//! Invariant: no type of a database engine appears outside the one file of that engine.

mod migrations;
mod sqlite;

use std::path::PathBuf;
use std::pin::Pin;

use wire::bash::EndedBy;
use wire::{ChatId, TerminalId};

pub use sqlite::Sqlite;

/// An answer under way.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Why the store did not do it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The id is in use; draw another one.
    #[error("the id is taken")]
    IdTaken,
    /// An open chat of this owner has the key; look it up.
    #[error("the key is taken")]
    KeyTaken,
    /// The chat has as many live terminals as it may have.
    #[error("the chat has too many live terminals")]
    Full,
    /// A newer program wrote the database.
    #[error(
        "the database has version {found}, and this program knows versions up to {known}; update sidestick, or set another data folder with SIDESTICK_HOME"
    )]
    Newer {
        /// Of the file.
        found: u32,
        /// Of this program.
        known: u32,
    },
    /// The disk has no room for it, in the engine's words.
    #[error("no space is left for the database: {0}")]
    NoSpace(String),
    /// Anything else, in the engine's words.
    #[error("{0}")]
    Failed(String),
}

/// A chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatRecord {
    /// Its id.
    pub id: ChatId,
    /// What people call it.
    pub title: String,
    /// Where its terminals start.
    pub folder: PathBuf,
    /// The account that it belongs to.
    pub owner: u32,
    /// The working directory whose chat it is; at most one open chat of an owner has it.
    pub key: Option<String>,
    /// The environment of its terminals, without what looks like a secret.
    pub env: Vec<(String, String)>,
    /// Milliseconds since 1970.
    pub created_ms: i64,
    /// Milliseconds since 1970.
    pub closed_ms: Option<i64>,
}

/// A terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalRecord {
    /// Its id.
    pub id: TerminalId,
    /// Whose it is.
    pub chat: ChatId,
    /// What a person would call the program.
    pub program: String,
    /// Milliseconds since 1970.
    pub opened_ms: i64,
    /// None while it lives.
    pub end: Option<End>,
}

/// The end of a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// How it came.
    pub how: Ending,
}

/// How a terminal ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Its program was reaped.
    Reaped {
        /// Exit status; none after a signal.
        exit_code: Option<i32>,
        /// Name of the signal.
        signal: Option<String>,
        /// Who ended it.
        ended_by: EndedBy,
    },
    /// Its runner ended first, and nobody saw its end.
    Lost,
}

/// Keeps records. Every method is atomic.
pub trait Store: Send + Sync {
    /// Adds a chat; [`StoreError::IdTaken`], [`StoreError::KeyTaken`].
    fn add_chat(&self, chat: ChatRecord) -> Answer<'_, ()>;
    /// A chat, open or closed.
    fn chat(&self, id: ChatId) -> Answer<'_, Option<ChatRecord>>;
    /// The open chat of a working directory.
    fn chat_by_key(&self, owner: u32, key: String) -> Answer<'_, Option<ChatRecord>>;
    /// The open chats of an owner, newest first.
    fn open_chats(&self, owner: u32) -> Answer<'_, Vec<ChatRecord>>;
    /// Marks a chat as closed; an earlier mark stays.
    fn close_chat(&self, id: ChatId, at_ms: i64) -> Answer<'_, ()>;
    /// Adds a live terminal unless `most` of the chat live; [`StoreError::IdTaken`], [`StoreError::Full`].
    fn add_terminal(&self, terminal: TerminalRecord, most: usize) -> Answer<'_, ()>;
    /// Takes a terminal back that never came to life.
    fn remove_terminal(&self, id: TerminalId) -> Answer<'_, ()>;
    /// A terminal of this chat.
    fn terminal(&self, chat: ChatId, id: TerminalId) -> Answer<'_, Option<TerminalRecord>>;
    /// Records ends; an earlier record of the same terminal stays.
    fn end_terminals(&self, ends: Vec<(TerminalId, End)>) -> Answer<'_, ()>;
    /// Records every live terminal of a chat as lost.
    fn lose_terminals(&self, chat: ChatId, at_ms: i64) -> Answer<'_, ()>;
    /// Chats that have live terminals.
    fn chats_with_live_terminals(&self) -> Answer<'_, Vec<ChatId>>;
}
