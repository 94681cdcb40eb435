//! The connection to a server: messages in, messages out.

use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use wire::frame::Message;
use wire::limits;
use wire::runner::{FromRunner, Keystrokes, Output, ToRunner};

/// Messages of a server that wait for their turn; a full queue leaves the rest in the socket.
const INBOX: usize = 64;
/// Written in one call at most, in bytes, so that a short answer is not behind a whole flood.
const WRITE_BYTES: usize = 256 * 1024;

/// The last messages of a runner that ends may take so long.
const FINISH: Duration = Duration::from_secs(1);

/// One connection. Dropping it closes the socket.
pub(crate) struct Link {
    /// Tells this connection from earlier ones.
    pub(crate) number: u64,
    outbox: mpsc::UnboundedSender<Message>,
    writer: JoinHandle<()>,
}

/// Where connections put what they give, each marked with its number.
pub(crate) type Sink = mpsc::Sender<(u64, Incoming)>;

/// What a connection gives.
pub(crate) enum Incoming {
    /// A message of the server.
    Message(ToRunner),
    /// A person's keystrokes.
    Keystrokes(Keystrokes),
    /// A call of a newer server that this version does not know; it waits for an answer.
    UnknownCall(u64),
    /// The server is gone, or does not speak our language.
    Lost,
}

impl Link {
    /// Starts the two tasks of a connection. What it gives is marked with its number.
    pub(crate) fn start(number: u64, stream: UnixStream, sink: Sink) -> Self {
        let (reader, writer) = stream.into_split();
        // Not bounded here: answers are as many as calls under way, and output to viewers keeps to
        // their windows.
        let (outbox, queue) = mpsc::unbounded_channel();
        let writer = tokio::task::spawn_local(async move {
            // The end of the connection is told by the reading side.
            let _ = write(writer, queue).await;
        });
        tokio::task::spawn_local(async move {
            // Whatever ended it, there is one thing to do.
            let _ = read(number, reader, &sink).await;
            let _ = sink.send((number, Incoming::Lost)).await;
        });
        Self {
            number,
            outbox,
            writer,
        }
    }

    /// Writes what is queued, unless the server does not take it, and closes the connection.
    pub(crate) async fn finish(self) {
        drop(self.outbox);
        let _ = tokio::time::timeout(FINISH, self.writer).await;
    }

    /// A queue for what a connection gives.
    pub(crate) fn inbox() -> (Sink, mpsc::Receiver<(u64, Incoming)>) {
        mpsc::channel(INBOX)
    }

    /// Sends a message. A lost connection swallows it; its end is told elsewhere.
    pub(crate) fn send(&self, message: &FromRunner) {
        match serde_json::to_vec(message) {
            Ok(text) => drop(self.outbox.send(Message::Text(text.into()))),
            Err(error) => tracing::error!(%error, "a message could not be written"),
        }
    }

    /// Sends output to a viewer, in frames.
    pub(crate) fn send_output(&self, viewer: u64, mut offset: u64, data: &Bytes, advance: Advance) {
        for start in (0..data.len()).step_by(limits::DATA_FRAME_BYTES) {
            let part = data.slice(start..data.len().min(start + limits::DATA_FRAME_BYTES));
            let length = part.len() as u64;
            let _ = self.outbox.send(Message::Binary(
                Output {
                    viewer,
                    offset,
                    data: part,
                }
                .encode(),
            ));
            if advance == Advance::Yes {
                offset += length;
            }
        }
    }
}

/// Whether the offset grows along the bytes: it does in the stream, and stands still in a keyframe.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advance {
    /// Bytes of the stream.
    Yes,
    /// Bytes of a keyframe.
    No,
}

async fn write(
    mut socket: OwnedWriteHalf,
    mut queue: mpsc::UnboundedReceiver<Message>,
) -> io::Result<()> {
    let mut buffer = BytesMut::new();
    while let Some(message) = queue.recv().await {
        message.encode(&mut buffer);
        while buffer.len() < WRITE_BYTES
            && let Ok(message) = queue.try_recv()
        {
            message.encode(&mut buffer);
        }
        socket.write_all(&buffer).await?;
        buffer.clear();
    }
    Ok(())
}

async fn read(number: u64, mut socket: OwnedReadHalf, sink: &Sink) -> io::Result<()> {
    let mut buffer = BytesMut::new();
    loop {
        while let Some(message) =
            Message::decode(&mut buffer, limits::RUNNER_FRAME_BYTES).map_err(io::Error::other)?
        {
            if let Some(incoming) = understand(message)
                && sink.send((number, incoming)).await.is_err()
            {
                return Ok(());
            }
        }
        if socket.read_buf(&mut buffer).await? == 0 {
            return Ok(());
        }
    }
}

/// A message that this version does not know is skipped: a newer server may send it. Only a call
/// is answered.
fn understand(message: Message) -> Option<Incoming> {
    match message {
        Message::Text(text) => match serde_json::from_slice(&text) {
            Ok(message) => Some(Incoming::Message(message)),
            Err(error) => {
                tracing::warn!(%error, "a message was not understood");
                serde_json::from_slice::<Numbered>(&text)
                    .ok()
                    .map(|it| Incoming::UnknownCall(it.id))
            }
        },
        Message::Binary(payload) => Keystrokes::decode(&payload).map(Incoming::Keystrokes),
    }
}

/// What every call has, whatever it asks.
#[derive(serde::Deserialize)]
struct Numbered {
    id: u64,
    #[serde(rename = "call")]
    _call: serde::de::IgnoredAny,
}
