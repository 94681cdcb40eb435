//! Who calls, and what they may reach: a scope is made from a caller and a chat of theirs, and from nothing else.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::mpsc;
use wire::{ChatId, Kind, Refusal};

use crate::panes::{PaneEvent, Panes};
use crate::store::ChatRecord;
use crate::turns::Turns;

/// How a caller reached us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// A Unix socket of this machine; the kernel vouches for uid and pid.
    Local,
}

/// The other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The account.
    pub uid: u32,
    /// The process, where the kernel tells it.
    pub pid: Option<u32>,
    /// How it reached us.
    pub via: Via,
}

/// One connection of a client. Dropping it ends its watching.
pub struct Caller {
    peer: Peer,
    panes: Arc<Panes>,
    turns: Turns,
}

impl Caller {
    /// Makes the caller of a connection, and the queue of what its panes show.
    ///
    /// The queue holds at most [`wire::limits::VIEWER_WINDOW`] and one keyframe for each pane, since a runner sends
    /// no more before [`Self::took`].
    pub fn new(peer: Peer) -> (Self, mpsc::UnboundedReceiver<PaneEvent>) {
        let (events, queue) = mpsc::unbounded_channel();
        (
            Self {
                peer,
                panes: Arc::new(Panes::new(events)),
                turns: Turns::default(),
            },
            queue,
        )
    }

    /// Output on a channel has left for the client: that many bytes, without channel numbers.
    pub fn took(&self, channel: u32, bytes: u64) {
        self.panes.took(channel, bytes);
    }

    /// A person typed on a channel. Ignored unless the terminal is taken over there.
    pub fn typed(&self, channel: u32, data: Bytes) {
        self.panes.typed(channel, data);
    }

    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    pub(crate) fn panes(&self) -> &Arc<Panes> {
        &self.panes
    }

    pub(crate) fn turns(&self) -> &Turns {
        &self.turns
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.panes.close();
    }
}

/// A chat that a caller may use.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    chat: Arc<ChatRecord>,
}

impl Scope {
    /// Lets the caller into their own chat; root gets into every one.
    ///
    /// # Errors
    /// A chat of someone else reads like one that never was; a closed one of the caller's own reads as closed.
    pub(crate) fn of(
        peer: &Peer,
        asked: ChatId,
        chat: Option<ChatRecord>,
    ) -> Result<Self, Refusal> {
        let mine = chat.filter(|it| it.owner == peer.uid || peer.uid == 0);
        let Some(chat) = mine else {
            return Err(
                Refusal::new(Kind::ChatNotFound, format!("there is no chat {asked}"))
                    .hint("list the chats with `sidestick chat list`"),
            );
        };
        if chat.closed_ms.is_some() {
            return Err(
                Refusal::new(Kind::ChatClosed, format!("the chat {asked} was closed"))
                    .hint("make another one with `sidestick chat create`"),
            );
        }
        Ok(Self {
            chat: Arc::new(chat),
        })
    }

    pub(crate) fn chat(&self) -> &ChatRecord {
        &self.chat
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(uid: u32, chat: Option<ChatRecord>) -> Result<Scope, Refusal> {
        let peer = Peer {
            uid,
            pid: None,
            via: Via::Local,
        };
        Scope::of(&peer, ChatId::from_random(1), chat)
    }

    fn chat(closed_ms: Option<i64>) -> ChatRecord {
        ChatRecord {
            id: ChatId::from_random(1),
            title: String::new(),
            folder: "/".into(),
            owner: 1000,
            key: None,
            env: Vec::new(),
            created_ms: 0,
            closed_ms,
        }
    }

    #[test]
    fn a_foreign_chat_reads_like_one_that_never_was() {
        let foreign = open(1001, Some(chat(None))).unwrap_err();
        assert_eq!(foreign, open(1001, None).unwrap_err());
        assert_eq!(foreign, open(1001, Some(chat(Some(3)))).unwrap_err());
        assert_eq!(foreign.message, Kind::ChatNotFound);
    }

    #[test]
    fn owners_and_root_get_in_until_it_is_closed() {
        assert!(open(1000, Some(chat(None))).is_ok());
        assert!(open(0, Some(chat(None))).is_ok());
        assert_eq!(open(1000, Some(chat(Some(3)))).unwrap_err().code, 410);
    }
}
