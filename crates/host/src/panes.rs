//! The panes of one connection: each is a viewer of a terminal, on a channel of its own.
//!
//! Channels count up from 1 and are never reused on their connection, so that late output of a closed pane cannot be
//! taken for another's. Output of a pane is held back until its channel's number has been told.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::mpsc;
use wire::rpc::{Notification, PaneReply, PanesAttach};
use wire::runner::{Answer, Call};
use wire::{Kind, Refusal, TerminalId};

use crate::runners::{Link, ViewerEvent};

/// Panes of one connection: far more than a person looks at, few enough to bound what is queued for it.
const PANES: usize = 128;

/// What a transport hands on to its client, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaneEvent {
    /// A JSON notification.
    Notification(Notification),
    /// Output on a channel.
    Data {
        /// The pane's channel.
        channel: u32,
        /// The bytes.
        data: Bytes,
    },
}

/// Output that waits behind the answer which names its channel. Dropping it lets the output go.
#[derive(Debug)]
pub struct Held(Arc<Outlet>);

/// The panes of one connection.
pub(crate) struct Panes {
    events: mpsc::UnboundedSender<PaneEvent>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    last: u32,
    closed: bool,
    open: HashMap<u32, Pane>,
}

struct Pane {
    link: Arc<Link>,
    viewer: u64,
    terminal: TerminalId,
    driving: Driving,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Driving {
    Agent,
    Person,
}

#[derive(Debug)]
struct Outlet {
    channel: u32,
    events: mpsc::UnboundedSender<PaneEvent>,
    held: Mutex<Option<Vec<PaneEvent>>>,
}

impl Panes {
    pub(crate) fn new(events: mpsc::UnboundedSender<PaneEvent>) -> Self {
        Self {
            events,
            table: Mutex::default(),
        }
    }

    /// Watches a terminal.
    pub(crate) async fn attach(
        &self,
        link: Arc<Link>,
        params: PanesAttach,
    ) -> Result<(PaneReply, Held), Refusal> {
        let (terminal, from) = (params.terminal_id, params.from);
        let channel = self.next_channel()?;
        let outlet = self.outlet(channel);
        let held = Held(Arc::clone(&outlet));
        let viewer = link.add_viewer(Box::new(move |event| outlet.take(event)));
        // In the table before the first await: a call that is dropped half-way leaves nothing behind.
        let pane = Pane {
            link: Arc::clone(&link),
            viewer,
            terminal,
            driving: Driving::Agent,
        };
        self.insert(channel, pane);
        let watching = link
            .call(Call::Watch {
                terminal,
                viewer,
                from,
            })
            .answer()
            .await;
        let refusal = match watching {
            Ok(Answer::Watching { size, from }) => {
                return Ok((
                    PaneReply {
                        channel,
                        size,
                        from,
                    },
                    held,
                ));
            }
            Ok(_) => Refusal::new(
                Kind::Internal,
                "the runner gave another answer than asked for",
            ),
            Err(refusal) => refusal,
        };
        self.detach(channel);
        Err(refusal)
    }

    /// Ends a pane; a channel that is not open is left alone.
    pub(crate) fn detach(&self, channel: u32) {
        let pane = self.lock().open.remove(&channel);
        if let Some(pane) = pane {
            pane.end();
        }
    }

    /// A person takes the terminal over on this channel.
    pub(crate) async fn take_over(&self, channel: u32) -> Result<(), Refusal> {
        let (link, terminal) = self.find(channel)?;
        link.call(Call::TakeOver { terminal }).answer().await?;
        self.drive(channel, Driving::Person);
        Ok(())
    }

    /// The person gives it back.
    pub(crate) async fn release(&self, channel: u32) -> Result<(), Refusal> {
        let (link, terminal) = self.find(channel)?;
        self.drive(channel, Driving::Agent);
        link.call(Call::Release { terminal }).answer().await?;
        Ok(())
    }

    pub(crate) fn took(&self, channel: u32, bytes: u64) {
        if let Some(pane) = self.lock().open.get(&channel) {
            pane.link.took(pane.viewer, bytes);
        }
    }

    pub(crate) fn typed(&self, channel: u32, data: Bytes) {
        let table = self.lock();
        let pane = table
            .open
            .get(&channel)
            .filter(|it| it.driving == Driving::Person);
        if let Some(pane) = pane {
            pane.link.typed(pane.viewer, data);
        }
    }

    /// Ends every pane, and every one that an attach under way would still open.
    pub(crate) fn close(&self) {
        let mut table = self.lock();
        table.closed = true;
        let open = std::mem::take(&mut table.open);
        drop(table);
        open.into_values().for_each(Pane::end);
    }

    fn outlet(&self, channel: u32) -> Arc<Outlet> {
        let (events, held) = (self.events.clone(), Mutex::new(Some(Vec::new())));
        Arc::new(Outlet {
            channel,
            events,
            held,
        })
    }

    fn next_channel(&self) -> Result<u32, Refusal> {
        let mut table = self.lock();
        if PANES <= table.open.len() {
            return Err(Refusal::new(
                Kind::OutOfResources,
                format!("this connection watches {PANES} terminals already"),
            )
            .hint("detach from one with panes.detach"));
        }
        table.last += 1;
        Ok(table.last)
    }

    fn insert(&self, channel: u32, pane: Pane) {
        let mut table = self.lock();
        if table.closed {
            drop(table);
            pane.end();
        } else {
            table.open.insert(channel, pane);
        }
    }

    fn find(&self, channel: u32) -> Result<(Arc<Link>, TerminalId), Refusal> {
        let table = self.lock();
        let pane = table.open.get(&channel).ok_or_else(|| {
            Refusal::invalid(format!("channel {channel} is not open on this connection"))
                .hint("take it from the answer of panes.attach")
        })?;
        Ok((Arc::clone(&pane.link), pane.terminal))
    }

    fn drive(&self, channel: u32, driving: Driving) {
        if let Some(pane) = self.lock().open.get_mut(&channel) {
            pane.driving = driving;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pane {
    fn end(self) {
        // A person who goes away no longer drives: the agent would wait for them for ever.
        if self.driving == Driving::Person {
            self.link.tell(Call::Release {
                terminal: self.terminal,
            });
        }
        self.link.forget_viewer(self.viewer);
        self.link.tell(Call::Unwatch {
            viewer: self.viewer,
        });
    }
}

impl Outlet {
    fn take(&self, event: ViewerEvent) {
        let channel = self.channel;
        let event = match event {
            ViewerEvent::Data(data) => PaneEvent::Data { channel, data },
            ViewerEvent::Keyframe {
                size,
                offset,
                bytes,
            } => PaneEvent::Notification(Notification::PaneRepainted {
                channel,
                size,
                offset,
                bytes,
            }),
            ViewerEvent::Resized(size) => {
                PaneEvent::Notification(Notification::PaneResized { channel, size })
            }
            ViewerEvent::Ended => PaneEvent::Notification(Notification::PaneEnded { channel }),
        };
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match held.as_mut() {
            Some(waiting) => waiting.push(event),
            // Fails only when the connection is gone.
            None => drop(self.events.send(event)),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut held = self.0.held.lock().unwrap_or_else(PoisonError::into_inner);
        for event in held.take().unwrap_or_default() {
            let _ = self.0.events.send(event);
        }
    }
}
