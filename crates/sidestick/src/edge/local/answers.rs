//! The queue of answers of one connection, from its calls to the side that writes.
//!
//! Invariant: while [`BACKLOG`] bytes wait for the client to read, [`Answers::room`] does not return, and with it no
//! further request is read. So a client that only writes cannot make the server hold more and more.

use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use tokio::sync::{mpsc, watch};

/// Bytes of answers that may wait before the next request is read: one message of the largest size.
const BACKLOG: usize = 1 << 20;

/// The end at which answers go in.
#[derive(Clone)]
pub(super) struct Answers {
    queue: mpsc::UnboundedSender<Bytes>,
    waiting: Arc<watch::Sender<usize>>,
}

/// The end at which they come out.
pub(super) struct Queue {
    answers: mpsc::UnboundedReceiver<Bytes>,
    waiting: Arc<watch::Sender<usize>>,
}

/// Both ends of a queue.
pub(super) fn queue() -> (Answers, Queue) {
    let (queue, answers) = mpsc::unbounded_channel();
    let waiting = Arc::new(watch::Sender::new(0));
    let shared = Arc::clone(&waiting);
    let queue = Answers {
        queue,
        waiting: shared,
    };
    (queue, Queue { answers, waiting })
}

impl Answers {
    /// Queues an answer, or the answers of a batch.
    pub(super) fn put(&self, answer: &impl Serialize) {
        // Values serialize, and a closed queue belongs to a connection that has ended.
        if let Ok(text) = serde_json::to_vec(answer) {
            self.waiting.send_modify(|it| *it += text.len());
            let _ = self.queue.send(text.into());
        }
    }

    /// Waits until the client has read enough.
    pub(super) async fn room(&self) {
        // Cannot fail: the sending half is our own.
        let _ = self
            .waiting
            .subscribe()
            .wait_for(|it| *it < BACKLOG)
            .await
            .map(|_| ());
    }
}

impl Queue {
    /// The next answer; none once nobody can queue one.
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        self.answers.recv().await
    }

    /// Says that an answer of this many bytes has been written.
    pub(super) fn written(&self, bytes: usize) {
        self.waiting
            .send_modify(|it| *it = it.saturating_sub(bytes));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn there_is_room_again_once_a_full_queue_was_written() {
        let (answers, mut queue) = queue();
        answers.room().await;
        answers.put(&"x".repeat(BACKLOG));
        let full = tokio::time::timeout(Duration::from_millis(20), answers.room()).await;
        assert!(full.is_err());
        let text = queue.next().await.unwrap();
        queue.written(text.len());
        answers.room().await;
    }
}
