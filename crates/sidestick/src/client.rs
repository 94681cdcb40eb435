//! The client's side of the Unix socket: requests by number, and a server started when none runs.
//!
//! Dropping a request that is under way cancels it at the server.

mod reach;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host::frames::{Frames, write_queue};
use serde_json::{Value, json};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot};
use wire::frame::Message;
use wire::rpc::{Method, Outcome, Request, Response, Version};
use wire::{Kind, Refusal, limits};

pub(crate) use reach::{reach, verify};

/// Answers may be long: the details of a large screen.
const ANSWER_BYTES: usize = limits::RUNNER_FRAME_BYTES;

/// A connection to the server.
pub(crate) struct Connection {
    out: mpsc::UnboundedSender<Message>,
    state: Arc<Mutex<State>>,
}

struct State {
    open: bool,
    next: u64,
    waiting: HashMap<u64, oneshot::Sender<Outcome>>,
}

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The server says no.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// The connection ended first.
    #[error("the server ended during the call; terminals go on")]
    Gone,
}

/// A request under way.
struct Waiting<'a> {
    connection: &'a Connection,
    id: u64,
    answer: oneshot::Receiver<Outcome>,
}

impl Connection {
    /// Speaks on a stream. Needs a running runtime.
    pub(crate) fn new(stream: UnixStream) -> Self {
        let (from, to) = stream.into_split();
        let (out, mut queue) = mpsc::unbounded_channel();
        let state = State {
            open: true,
            next: 1,
            waiting: HashMap::new(),
        };
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            let mut frames = Frames::new(from, ANSWER_BYTES);
            tokio::select! {
                () = read(&mut frames, &shared) => {}
                // The reading side tells what became of the connection.
                _ = write_queue(to, &mut queue) => {}
            }
            let mut state = lock(&shared);
            state.open = false;
            state.waiting.clear();
        });
        Self { out, state }
    }

    /// Whether the server is still there, as far as is known.
    pub(crate) fn is_open(&self) -> bool {
        lock(&self.state).open
    }

    /// Calls a method and reads its reply.
    ///
    /// # Errors
    /// The server refuses, or goes away.
    pub(crate) async fn ask<M: Method>(&self, params: &M) -> Result<M::Reply, Failure> {
        let params = serde_json::to_value(params).map_err(|error| unreadable(&error))?;
        let value = self.call(M::NAME, params).await?;
        serde_json::from_value(value).map_err(|error| unreadable(&error))
    }

    async fn call(&self, method: &str, params: Value) -> Result<Value, Failure> {
        let mut waiting = self.request(method, params)?;
        match (&mut waiting.answer).await {
            Ok(Outcome::Result(value)) => Ok(value),
            Ok(Outcome::Error(error)) => Err(Failure::Refused(Box::new(error.into()))),
            Err(_) => Err(Failure::Gone),
        }
    }

    fn request(&self, method: &str, params: Value) -> Result<Waiting<'_>, Failure> {
        let (tell, answer) = oneshot::channel();
        let mut state = lock(&self.state);
        if !state.open {
            return Err(Failure::Gone);
        }
        let id = state.next;
        state.next += 1;
        state.waiting.insert(id, tell);
        drop(state);
        self.send(Some(id.into()), method, params)?;
        Ok(Waiting {
            connection: self,
            id,
            answer,
        })
    }

    fn send(&self, id: Option<Value>, method: &str, params: Value) -> Result<(), Failure> {
        let request = Request {
            jsonrpc: Version::Two,
            id,
            method: method.to_owned(),
            params,
        };
        let text = serde_json::to_vec(&request).map_err(|error| unreadable(&error))?;
        if limits::MESSAGE_BYTES < text.len() {
            let refusal = Refusal::new(
                Kind::TooLarge,
                format!("the call has {} bytes, more than 1 MiB", text.len()),
            );
            return Err(Failure::Refused(Box::new(
                refusal.hint("split the text over several calls"),
            )));
        }
        self.out
            .send(Message::Text(text.into()))
            .map_err(|_| Failure::Gone)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let unanswered = lock(&self.connection.state)
            .waiting
            .remove(&self.id)
            .is_some();
        if unanswered {
            // Fails only when the server is gone, and the call with it.
            let _ = self
                .connection
                .send(None, "rpc.cancel", json!({ "id": self.id }));
        }
    }
}

/// A runtime for one client.
///
/// # Errors
/// What the system says.
pub(crate) fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

/// This process's environment, as far as it is text. The server leaves out what looks like a secret.
pub(crate) fn environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// What the caller of a call is told whose server went away.
pub(crate) fn restarted() -> Refusal {
    Refusal::new(
        Kind::ServerRestarted,
        "the server ended during the call; what was sent until then stays sent",
    )
    .hint("terminals go on: look at the screen, then go on from there")
}

async fn read(frames: &mut Frames<tokio::net::unix::OwnedReadHalf>, state: &Mutex<State>) {
    // An error ends the connection like its end does.
    while let Ok(Some(message)) = frames.next().await {
        let Message::Text(text) = message else {
            continue;
        };
        let Ok(response) = serde_json::from_slice::<Response>(&text) else {
            continue;
        };
        let waiting = response
            .id
            .as_u64()
            .and_then(|id| lock(state).waiting.remove(&id));
        if let Some(waiting) = waiting {
            let _ = waiting.send(response.result);
        }
    }
}

fn unreadable(error: &serde_json::Error) -> Failure {
    let reason = format!("a message of another version: {error}");
    Failure::Refused(Box::new(Refusal::new(Kind::Internal, reason)))
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
