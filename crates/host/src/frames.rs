//! Reads and writes [`Message`]s on the two halves of a stream. The codec itself is pure and lies in `wire`.

use std::io;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use wire::frame::Message;

/// Messages that are gathered into one write at most.
const GATHERED: usize = 64;

/// Reads messages, each at most `limit` bytes.
pub struct Frames<R> {
    from: R,
    limit: usize,
    buffer: BytesMut,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    /// Reads from a stream.
    pub fn new(from: R, limit: usize) -> Self {
        Self {
            from,
            limit,
            buffer: BytesMut::new(),
        }
    }

    /// The next message; none at the end of the stream. Safe to drop and to call again.
    ///
    /// # Errors
    /// `InvalidData` for a stream that does not keep to the format.
    pub async fn next(&mut self) -> io::Result<Option<Message>> {
        loop {
            let bad = |error| io::Error::new(io::ErrorKind::InvalidData, error);
            if let Some(message) = Message::decode(&mut self.buffer, self.limit).map_err(bad)? {
                return Ok(Some(message));
            }
            if self.from.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }
}

/// Writes one message.
///
/// # Errors
/// What the stream says.
pub async fn write(to: &mut (impl AsyncWrite + Unpin), message: &Message) -> io::Result<()> {
    let mut out = BytesMut::new();
    message.encode(&mut out);
    to.write_all(&out).await
}

/// Writes queued messages until the queue is closed and empty. What lies in the queue together goes out together.
///
/// # Errors
/// What the stream says.
pub async fn write_queue(
    mut to: impl AsyncWrite + Unpin,
    queue: &mut mpsc::UnboundedReceiver<Message>,
) -> io::Result<()> {
    let (mut batch, mut out) = (Vec::new(), BytesMut::new());
    while queue.recv_many(&mut batch, GATHERED).await != 0 {
        batch.drain(..).for_each(|message| message.encode(&mut out));
        to.write_all(&out).await?;
        out.clear();
    }
    Ok(())
}
