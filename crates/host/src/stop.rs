//! A request to end one call early. Unlike dropping the call, it still has an answer: what was sent until then.

use std::sync::Arc;

use tokio::sync::Notify;

/// Shared by a transport, which asks, and the call, which obeys.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Notify>);

impl Stop {
    /// Asks for the end. Remembered when the call does not listen yet.
    pub fn ask(&self) {
        self.0.notify_one();
    }

    /// Waits until the end is asked for.
    pub(crate) async fn asked(&self) {
        self.0.notified().await;
    }
}
