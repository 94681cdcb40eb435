//! Keeps the calls to one terminal in the order in which a connection made them, until the runner has them.
//!
//! Calls of one connection run side by side, and each looks things up before it reaches the runner. A later call that
//! looks up faster must not overtake an earlier one: its keys would arrive before the other's text.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::sync::{Mutex as Lane, OwnedMutexGuard};
use wire::TerminalId;

/// Lanes that nobody stands in are swept out when this many are known.
const SWEEP: usize = 256;

/// A lane for each terminal.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<HashMap<TerminalId, Arc<Lane<()>>>>);

/// A place in a lane. Dropping it gives the place up.
#[derive(Default)]
pub(crate) enum Turn {
    /// Calls that have no order, and turns that have come.
    #[default]
    Free,
    /// Its turn, until it is dropped.
    Come {
        #[expect(dead_code, reason = "held, not read")]
        guard: OwnedMutexGuard<()>,
    },
    /// Others come first.
    Waiting(Pin<Box<dyn Future<Output = OwnedMutexGuard<()>> + Send>>),
}

impl Turns {
    /// Takes the next place. Called when the call arrives, before anything is awaited.
    pub(crate) fn take(&self, terminal: TerminalId) -> Turn {
        let mut lanes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if SWEEP <= lanes.len() {
            lanes.retain(|_, lane| 1 < Arc::strong_count(lane));
        }
        let lane = Arc::clone(lanes.entry(terminal).or_default());
        drop(lanes);
        let mut place = Box::pin(lane.lock_owned());
        // The first poll takes the place in the lane's queue, which is served in order.
        match place.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(guard) => Turn::Come { guard },
            Poll::Pending => Turn::Waiting(place),
        }
    }
}

impl Turn {
    /// Waits until every earlier turn of the terminal was dropped.
    pub(crate) async fn come(&mut self) {
        if let Self::Waiting(place) = self {
            let guard = place.as_mut().await;
            *self = Self::Come { guard };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn has_come(turn: &mut Turn) -> bool {
        tokio::select! {
            biased;
            () = turn.come() => true,
            () = tokio::task::yield_now() => false,
        }
    }

    #[tokio::test]
    async fn turns_of_one_terminal_come_in_order_and_other_terminals_do_not_wait() {
        let turns = Turns::default();
        let (one, other) = (TerminalId::from_random(1), TerminalId::from_random(2));
        let (mut first, mut second) = (turns.take(one), turns.take(one));
        assert!(has_come(&mut first).await);
        assert!(!has_come(&mut second).await);
        assert!(has_come(&mut turns.take(other)).await);
        drop(first);
        assert!(has_come(&mut second).await);
    }

    #[tokio::test]
    async fn a_turn_that_is_given_up_does_not_let_the_next_one_overtake() {
        let turns = Turns::default();
        let id = TerminalId::from_random(1);
        let (mut first, second, mut third) = (turns.take(id), turns.take(id), turns.take(id));
        assert!(has_come(&mut first).await);
        drop(second);
        assert!(!has_come(&mut third).await);
        drop(first);
        assert!(has_come(&mut third).await);
    }

    #[test]
    fn lanes_that_nobody_stands_in_do_not_gather() {
        let turns = Turns::default();
        for n in 0..10_000 {
            drop(turns.take(TerminalId::from_random(n)));
        }
        assert!(turns.0.lock().unwrap().len() <= SWEEP);
    }
}
