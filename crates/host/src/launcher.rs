//! How a runner comes to life. The binary knows how to start itself as one; tests answer in process.

use std::io;
use std::path::Path;
use std::pin::Pin;

use wire::ChatId;

/// Under way until the runner listens.
pub type Launching<'a> = Pin<Box<dyn Future<Output = io::Result<()>> + Send + 'a>>;

/// Starts runners.
pub trait Launcher: Send + Sync {
    /// Starts the runner of a chat. Done when it listens on `socket`.
    ///
    /// # Errors
    /// The sentence of the error says why it does not listen.
    fn launch<'a>(&'a self, chat: ChatId, socket: &'a Path) -> Launching<'a>;

    /// The chat is closed and its runner has ended: what the runner left on disk may go.
    fn clear(&self, _chat: ChatId) {}
}
