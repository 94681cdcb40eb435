//! One connection to a runner: calls by number, exits into the store, output to viewers.
//!
//! Dropping a [`Pending`] tells the runner that its caller went away. When the connection ends, every pending call
//! answers `runner_lost`.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot, watch};
use tracing::warn;
use wire::frame::Message;
use wire::runner::{Answer, Call, Exited, FromRunner, Keystrokes, Output, ToRunner, VERSION};
use wire::{ChatId, Kind, Refusal, Size, limits};

use crate::frames::{Frames, write, write_queue};
use crate::store::{End, Ending, Store};

/// A runner that listens answers its first message at once; one that does not is stuck.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);

/// What a runner tells about one viewer.
#[derive(Debug)]
pub(crate) enum ViewerEvent {
    Keyframe { size: Size, offset: u64, bytes: u64 },
    Data(Bytes),
    Resized(Size),
    Ended,
}

/// Takes what a runner tells about one viewer; never waits.
pub(crate) type ViewerSink = Box<dyn Fn(ViewerEvent) + Send>;

/// A connection to a runner.
pub(crate) struct Link {
    chat: ChatId,
    pid: u32,
    out: mpsc::UnboundedSender<Message>,
    state: Mutex<State>,
    buried: watch::Sender<bool>,
}

struct State {
    open: bool,
    next: u64,
    calls: HashMap<u64, oneshot::Sender<Result<Answer, Refusal>>>,
    viewers: HashMap<u64, ViewerSink>,
}

/// A call under way. Dropping it cancels the call.
pub(crate) struct Pending {
    link: Arc<Link>,
    id: u64,
    answer: oneshot::Receiver<Result<Answer, Refusal>>,
    answered: bool,
}

/// What is said to the callers of a runner that ended.
pub(crate) fn lost() -> Refusal {
    Refusal::new(
        Kind::RunnerLost,
        "the chat's runner process ended, and its terminals with it",
    )
    .hint("open a new terminal; it gets a new runner")
}

impl Link {
    /// Exchanges hellos. The returned future moves messages and is done when the connection has ended.
    pub(crate) async fn open(
        stream: UnixStream,
        chat: ChatId,
        store: Arc<dyn Store>,
    ) -> Result<(Arc<Self>, impl Future<Output = ()> + Send + use<>), Refusal> {
        let (from, mut to) = stream.into_split();
        let mut frames = Frames::new(from, limits::RUNNER_FRAME_BYTES);
        let greeting = async {
            write(&mut to, &text(&ToRunner::Hello { version: VERSION })).await?;
            frames.next().await
        };
        let hello = tokio::time::timeout(HELLO_TIMEOUT, greeting)
            .await
            .unwrap_or_else(|_| {
                Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "it does not answer",
                ))
            })
            .map_err(|error| unfit(&error.to_string()))?;
        let pid = check_hello(hello, chat)?;
        let (out, mut queue) = mpsc::unbounded_channel();
        let state = State {
            open: true,
            next: 1,
            calls: HashMap::new(),
            viewers: HashMap::new(),
        };
        let (state, buried) = (Mutex::new(state), watch::Sender::new(false));
        let link = Arc::new(Self {
            chat,
            pid,
            out,
            state,
            buried,
        });
        let pumped = Arc::clone(&link);
        let pump = async move {
            let ended = tokio::select! {
                ended = read(&pumped, &mut frames, &store) => ended,
                ended = write_queue(to, &mut queue) => ended,
            };
            if let Err(error) = ended {
                warn!(chat = %pumped.chat, %error, "the connection to a runner broke");
            }
            pumped.shut();
        };
        Ok((link, pump))
    }

    pub(crate) fn chat(&self) -> ChatId {
        self.chat
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) fn is_open(&self) -> bool {
        self.lock().open
    }

    /// Sends a call; the order of sending is the order in which the runner takes calls.
    pub(crate) fn call(self: &Arc<Self>, call: Call) -> Pending {
        let (tell, answer) = oneshot::channel();
        let id = self.number(Some(tell));
        self.send(&ToRunner::Call {
            id,
            call: Box::new(call),
        });
        Pending {
            link: Arc::clone(self),
            id,
            answer,
            answered: false,
        }
    }

    /// Sends a call whose answer interests nobody.
    pub(crate) fn tell(&self, call: Call) {
        let id = self.number(None);
        self.send(&ToRunner::Call {
            id,
            call: Box::new(call),
        });
    }

    /// Gives a new viewer its number; its events go to the sink until [`Self::forget_viewer`].
    pub(crate) fn add_viewer(&self, sink: ViewerSink) -> u64 {
        let id = self.number(None);
        self.lock().viewers.insert(id, sink);
        id
    }

    pub(crate) fn forget_viewer(&self, viewer: u64) {
        self.lock().viewers.remove(&viewer);
    }

    pub(crate) fn took(&self, viewer: u64, bytes: u64) {
        self.send(&ToRunner::Took { viewer, bytes });
    }

    pub(crate) fn typed(&self, viewer: u64, data: Bytes) {
        // Fails only on a connection that has ended.
        let _ = self
            .out
            .send(Message::Binary(Keystrokes { viewer, data }.encode()));
    }

    /// Marks the clean-up behind the ended connection as done.
    pub(super) fn bury(&self) {
        self.buried.send_replace(true);
    }

    /// Waits for the clean-up behind the ended connection.
    pub(super) async fn buried(&self) {
        let _ = self.buried.subscribe().wait_for(|it| *it).await;
    }

    fn number(&self, tell: Option<oneshot::Sender<Result<Answer, Refusal>>>) -> u64 {
        let mut state = self.lock();
        let id = state.next;
        state.next += 1;
        // On an ended connection the sender is dropped here, and the call answers `runner_lost`.
        if let Some(tell) = tell.filter(|_| state.open) {
            state.calls.insert(id, tell);
        }
        id
    }

    fn send(&self, message: &ToRunner) {
        // Fails only on a connection that has ended; its calls were answered then.
        let _ = self.out.send(text(message));
    }

    fn take(self: &Arc<Self>, message: FromRunner, store: &Arc<dyn Store>) {
        match message {
            FromRunner::Hello { .. } => {}
            FromRunner::Reply { id, result } => {
                let waiting = self.lock().calls.remove(&id);
                if let Some(waiting) = waiting {
                    let _ = waiting.send(result);
                }
            }
            FromRunner::Exited(exited) => self.record(exited, store),
            FromRunner::Keyframe(it) => self.show(
                it.viewer,
                ViewerEvent::Keyframe {
                    size: it.size,
                    offset: it.offset,
                    bytes: it.bytes,
                },
            ),
            FromRunner::Resized { viewer, size } => self.show(viewer, ViewerEvent::Resized(size)),
            FromRunner::Ended { viewer } => self.show(viewer, ViewerEvent::Ended),
        }
    }

    fn show(&self, viewer: u64, event: ViewerEvent) {
        if let Some(sink) = self.lock().viewers.get(&viewer) {
            sink(event);
        }
    }

    fn record(self: &Arc<Self>, exited: Exited, store: &Arc<dyn Store>) {
        let Exited {
            terminal,
            exit_code,
            signal,
            ended_by,
            at_ms,
        } = exited;
        let end = End {
            at_ms,
            how: Ending::Reaped {
                exit_code,
                signal,
                ended_by,
            },
        };
        let (link, store) = (Arc::clone(self), Arc::clone(store));
        tokio::spawn(async move {
            match store.end_terminals(vec![(terminal, end)]).await {
                Ok(()) => link.send(&ToRunner::ExitsStored {
                    terminals: vec![terminal],
                }),
                // The runner keeps it and tells it again to the next connection.
                Err(error) => warn!(%terminal, %error, "cannot record an exit"),
            }
        });
    }

    fn shut(&self) {
        let mut state = self.lock();
        state.open = false;
        // Dropping the senders answers their calls.
        let (calls, viewers) = (
            std::mem::take(&mut state.calls),
            std::mem::take(&mut state.viewers),
        );
        drop(state);
        drop(calls);
        viewers
            .into_values()
            .for_each(|sink| sink(ViewerEvent::Ended));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pending {
    /// Waits for the answer.
    pub(crate) async fn answer(&mut self) -> Result<Answer, Refusal> {
        let answer = (&mut self.answer).await;
        self.answered = true;
        answer.unwrap_or_else(|_| Err(lost()))
    }

    /// Asks the runner to cut the call short; it still answers.
    pub(crate) fn cancel(&self) {
        self.link.send(&ToRunner::Cancel { id: self.id });
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.answered {
            self.link.lock().calls.remove(&self.id);
            self.cancel();
        }
    }
}

async fn read(
    link: &Arc<Link>,
    frames: &mut Frames<tokio::net::unix::OwnedReadHalf>,
    store: &Arc<dyn Store>,
) -> io::Result<()> {
    while let Some(message) = frames.next().await? {
        match message {
            Message::Text(json) => match serde_json::from_slice(&json) {
                Ok(message) => link.take(message, store),
                // A newer runner may say things that this server does not know.
                Err(error) => warn!(chat = %link.chat, %error, "ignores a message of a runner"),
            },
            Message::Binary(payload) => {
                if let Some(Output { viewer, data, .. }) = Output::decode(&payload) {
                    link.show(viewer, ViewerEvent::Data(data));
                }
            }
        }
    }
    Ok(())
}

fn text(message: &ToRunner) -> Message {
    // Serializing these types cannot fail: they hold no map with keys other than strings.
    Message::Text(serde_json::to_vec(message).unwrap_or_default().into())
}

fn check_hello(hello: Option<Message>, expected: ChatId) -> Result<u32, Refusal> {
    let Some(Message::Text(json)) = hello else {
        return Err(unfit("it says no hello"));
    };
    match serde_json::from_slice(&json) {
        Ok(FromRunner::Hello { version, chat, pid }) => {
            if version != VERSION && version + 1 != VERSION {
                return Err(unfit(&format!(
                    "it speaks version {version}, and this server {VERSION}"
                )));
            }
            if chat != expected {
                return Err(unfit(&format!(
                    "it serves {chat} on the socket of {expected}"
                )));
            }
            Ok(pid)
        }
        Ok(_) | Err(_) => Err(unfit("it says no hello")),
    }
}

fn unfit(why: &str) -> Refusal {
    Refusal::new(
        Kind::OutOfResources,
        format!("the chat's runner process cannot be used: {why}"),
    )
    .hint("close the chat with `sidestick chat close` and make another one")
}
