//! The runner: one process per chat that owns the chat's terminals and plain commands, and outlives
//! the server.
//!
//! It knows neither people nor chats' contents: it does what the server at the other end of its
//! socket asks. When the server goes away everything here runs on, and the next server finds it by
//! the socket's name.
//!
//! Invariant: one thread. A runner is small, its terminals wait for programs most of the time, and
//! a leash is started with no lock held by anybody.

mod archive;
mod hub;
mod jobs;
mod link;
mod tasks;

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use rustix::fs::Mode;
use tokio::net::UnixListener;
use tokio::runtime::Builder;
use tokio::task::LocalSet;
use wire::{ChatId, limits};

pub use terminal::process::Containment;

/// What a runner is started with.
#[derive(Debug)]
pub struct Options {
    /// Whose terminals it holds.
    pub chat: ChatId,
    /// Where it listens; the name tells the server which chat it is.
    pub socket: PathBuf,
    /// Where the logs of its jobs lie. The folder is its own: it is emptied at the start, since nobody
    /// can read the logs of an earlier runner, and removed at the end.
    pub jobs: PathBuf,
    /// How processes are held together.
    pub containment: Containment,
    /// The program to execute as the leash of each program.
    pub leash: PathBuf,
    /// It ends after so long without a terminal and without a server.
    pub idle: Duration,
}

impl Options {
    /// The usual runner of a chat: this very program is the leash.
    #[must_use]
    pub fn new(chat: ChatId, socket: PathBuf, jobs: PathBuf) -> Self {
        Self {
            chat,
            socket,
            jobs,
            containment: Containment::detect(),
            leash: PathBuf::from("/proc/self/exe"),
            idle: limits::RUNNER_IDLE,
        }
    }
}

/// Is a runner until it has been idle for long enough or is told to end. Writes the line `ready`
/// once it listens.
///
/// # Errors
/// What the system says when it cannot listen on the socket.
pub fn run(options: Options, ready: impl Write) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, serve(options, ready))
}

async fn serve(options: Options, mut ready: impl Write) -> io::Result<()> {
    // Nobody but this user may connect: the mask is in force when the socket's file is made.
    // Afterwards it is the user's own again, which every program inherits.
    let users = rustix::process::umask(Mode::from_raw_mode(0o077));
    let listener = UnixListener::bind(&options.socket);
    rustix::process::umask(users);
    let listener = listener?;
    // Whoever started us may have gone; there is nobody to tell then.
    let _ = writeln!(ready, "ready").and_then(|()| ready.flush());
    drop(ready);
    let socket = options.socket.clone();
    let (hub, queues) = hub::Hub::new(options);
    hub.serve(listener, queues).await;
    // Another runner of the chat may only start when this name is free.
    std::fs::remove_file(socket)
}
