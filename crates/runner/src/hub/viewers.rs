//! Viewers: what they are sent, what they took, and what their people type.

use terminal::machine::Effect;
use terminal::watchers::{Feed, WatcherId};
use wire::runner::{Answer, FromRunner, Keyframe, Keystrokes};
use wire::{Refusal, TerminalId};

use super::{Hub, Viewer};
use crate::link::Advance;

impl Hub {
    /// Output waits behind the answer: it is forwarded by this very task.
    pub(super) async fn watch(
        &mut self,
        id: TerminalId,
        number: u64,
        from: Option<u64>,
    ) -> Result<Answer, Refusal> {
        self.next_watcher += 1;
        let watcher = WatcherId(self.next_watcher);
        let gone = || Refusal::no_terminal(id);
        let (size, from) = if let Some(live) = self.terminals.get(&id) {
            // A terminal that goes away in this moment is in the archive when the caller asks
            // again.
            let watching = live
                .terminal
                .watch(watcher, from)
                .await
                .map_err(|_| gone())?;
            (watching.size, watching.from)
        } else if let Some(whole) = self.archive.whole(id) {
            (whole.machine.size(), whole.machine.watch(watcher, from))
        } else {
            return Err(gone());
        };
        self.viewers.insert(
            watcher,
            Viewer {
                number,
                terminal: id,
            },
        );
        Ok(Answer::Watching { size, from })
    }

    pub(super) async fn unwatch_viewer(&mut self, number: u64) {
        let Some((watcher, terminal)) = self.find(number) else {
            return;
        };
        self.viewers.remove(&watcher);
        self.unwatch(watcher, terminal).await;
    }

    pub(super) async fn unwatch(&mut self, watcher: WatcherId, id: TerminalId) {
        if let Some(live) = self.terminals.get(&id) {
            live.terminal.unwatch(watcher).await;
        } else if let Some(whole) = self.archive.whole(id) {
            whole.machine.unwatch(watcher);
        }
    }

    pub(super) async fn took(&mut self, number: u64, bytes: u64) {
        let Some((watcher, id)) = self.find(number) else {
            return;
        };
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        if let Some(live) = self.terminals.get(&id) {
            live.terminal.took(watcher, bytes).await;
        } else if let Some(whole) = self.archive.whole(id) {
            whole.machine.watcher_took(watcher, bytes);
            self.forward_archived(id);
        }
    }

    /// Typed into the terminal that the viewer shows; the terminal drops it unless it was taken
    /// over.
    pub(super) async fn keystrokes(&mut self, keys: Keystrokes) {
        let Some((_, id)) = self.find(keys.viewer) else {
            return;
        };
        if let Some(live) = self.terminals.get(&id) {
            live.terminal.keystrokes(keys.data.to_vec()).await;
        }
    }

    pub(super) fn forward(&mut self, watcher: WatcherId, feed: Feed) {
        let (Some(viewer), Some(link)) = (self.viewers.get(&watcher), &self.link) else {
            return;
        };
        let viewer = viewer.number;
        match feed {
            Feed::Keyframe {
                offset,
                size,
                bytes,
            } => {
                let length = bytes.len() as u64;
                link.send(&FromRunner::Keyframe(Keyframe {
                    viewer,
                    size,
                    offset,
                    bytes: length,
                }));
                link.send_output(viewer, offset, &bytes, Advance::No);
            }
            Feed::Chunk { offset, bytes } => link.send_output(viewer, offset, &bytes, Advance::Yes),
            Feed::Resized(size) => link.send(&FromRunner::Resized { viewer, size }),
            Feed::Exited(_) => link.send(&FromRunner::Ended { viewer }),
        }
    }

    /// An exited terminal has no task that would carry its effects out.
    pub(super) fn forward_archived(&mut self, id: TerminalId) {
        let effects = self
            .archive
            .whole(id)
            .map(|it| it.machine.effects())
            .unwrap_or_default();
        for effect in effects {
            if let Effect::ToWatcher { watcher, feed } = effect {
                self.forward(watcher, feed);
            }
        }
    }

    fn find(&self, number: u64) -> Option<(WatcherId, TerminalId)> {
        let (watcher, viewer) = self
            .viewers
            .iter()
            .find(|(_, viewer)| viewer.number == number)?;
        Some((*watcher, viewer.terminal))
    }
}
