//! Who watches a terminal, and what each is given next.
//!
//! Keyframes, output, sizes and the exit are one ordered stream for each watcher, read from the
//! same ring: a watcher is a place in it. Nobody waits for a watcher. One that falls behind by more
//! than is kept gets a fresh keyframe, once it has taken all that is under way to it.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use bytes::Bytes;
use wire::limits::{DATA_FRAME_BYTES, VIEWER_WINDOW};

use crate::machine::Exit;
use crate::scrollback::Ring;
use crate::size::Size;
use crate::viewer::ViewerStream;

/// Room for headers of the frames that carry a chunk on.
const HEADER_BYTES: usize = 4 * 1024;
/// Output given to a watcher in one piece, in bytes.
const CHUNK_BYTES: usize = DATA_FRAME_BYTES - HEADER_BYTES;
/// A string that does not end (an image, or a program gone mad) delays a keyframe no longer than
/// this: a watcher had rather see the rest of it as text than nothing at all.
const KEYFRAME_PATIENCE: Duration = Duration::from_millis(500);

/// Names a watcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatcherId(pub u64);

/// What a watcher is given. Offsets count bytes of the viewer stream since the terminal began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Feed {
    /// Repaints a blank terminal of this size; output goes on at `offset`.
    Keyframe {
        offset: u64,
        size: Size,
        bytes: Bytes,
    },
    /// Output from `offset` on, at most 60 KiB.
    Chunk { offset: u64, bytes: Bytes },
    /// The terminal has this size from here on.
    Resized(Size),
    /// The program ended; nothing follows.
    Exited(Exit),
}

/// All watchers of one terminal, and the stream they read.
#[derive(Debug)]
pub(crate) struct Watchers {
    stream: ViewerStream,
    ring: Ring,
    size: Size,
    /// Changes of size, each with its place in the stream.
    sizes: VecDeque<(u64, Size)>,
    /// Changes of size that are no longer kept.
    sizes_gone: u64,
    watchers: BTreeMap<WatcherId, Watcher>,
    scratch: Vec<u8>,
}

#[derive(Debug)]
struct Watcher {
    place: Place,
    /// Changes of size that it knows of, counted from the first.
    sizes: u64,
    under_way: usize,
    told_exit: bool,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    At(u64),
    /// Since when it could have been given one.
    Keyframe(Option<Instant>),
}

impl Watchers {
    pub(crate) fn new(size: Size) -> Self {
        Self {
            stream: ViewerStream::new(),
            ring: Ring::default(),
            size,
            sizes: VecDeque::new(),
            sizes_gone: 0,
            watchers: BTreeMap::new(),
            scratch: Vec::new(),
        }
    }

    /// Takes the program's output.
    pub(crate) fn output(&mut self, bytes: &[u8]) {
        self.scratch.clear();
        self.stream.push(bytes, &mut self.scratch);
        self.ring.push(&self.scratch);
        while self
            .sizes
            .front()
            .is_some_and(|(offset, _)| *offset < self.ring.start())
        {
            self.sizes.pop_front();
            self.sizes_gone += 1;
        }
    }

    pub(crate) fn resized(&mut self, size: Size) {
        if self.size != size {
            self.size = size;
            self.sizes.push_back((self.ring.end(), size));
        }
    }

    /// Begins at `from` if that is kept, else with a keyframe; tells which. A known watcher begins
    /// anew.
    pub(crate) fn watch(&mut self, watcher: WatcherId, from: Option<u64>) -> Option<u64> {
        let kept = from.filter(|at| (self.ring.start()..=self.ring.end()).contains(at));
        let place = kept.map_or(Place::Keyframe(None), Place::At);
        let before = kept.map_or(0, |at| {
            self.sizes.partition_point(|(offset, _)| *offset < at)
        });
        let sizes = self.sizes_gone + before as u64;
        self.watchers.insert(
            watcher,
            Watcher {
                place,
                sizes,
                under_way: 0,
                told_exit: false,
            },
        );
        kept
    }

    pub(crate) fn unwatch(&mut self, watcher: WatcherId) {
        self.watchers.remove(&watcher);
    }

    /// The watcher took so many bytes of keyframes and chunks.
    pub(crate) fn took(&mut self, watcher: WatcherId, bytes: usize) {
        if let Some(watcher) = self.watchers.get_mut(&watcher) {
            watcher.under_way = watcher.under_way.saturating_sub(bytes);
        }
    }

    /// Bytes that a watcher has still to take, given to it or not.
    pub(crate) fn backlog(&self, watcher: WatcherId) -> u64 {
        self.watchers.get(&watcher).map_or(0, |it| match it.place {
            Place::At(offset) => it.under_way as u64 + (self.ring.end() - offset),
            Place::Keyframe(_) => it.under_way as u64,
        })
    }

    /// When [`Watchers::pump`] is due although nothing happens.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let due = |it: &Watcher| match it.place {
            Place::Keyframe(since) => since.map(|since| since + KEYFRAME_PATIENCE),
            Place::At(_) => None,
        };
        self.watchers.values().filter_map(due).min()
    }

    /// Gives each watcher what it has room for.
    pub(crate) fn pump(
        &mut self,
        now: Instant,
        exit: Option<Exit>,
        keyframe: impl Fn() -> Vec<u8>,
    ) -> Vec<(WatcherId, Feed)> {
        let mut feeds = Vec::new();
        let mut painted: Option<Bytes> = None;
        let mut watchers = std::mem::take(&mut self.watchers);
        for (id, watcher) in &mut watchers {
            loop {
                if matches!(watcher.place, Place::At(offset) if offset < self.ring.start()) {
                    watcher.place = Place::Keyframe(None);
                }
                let feed = match watcher.place {
                    Place::At(offset) => self.go_on(watcher, offset, exit),
                    Place::Keyframe(since) => self.may_paint(now, watcher, since).then(|| {
                        let bytes = painted.get_or_insert_with(|| keyframe().into()).clone();
                        self.paint(watcher, bytes)
                    }),
                };
                let Some(feed) = feed else { break };
                feeds.push((*id, feed));
            }
        }
        self.watchers = watchers;
        feeds
    }

    fn may_paint(&self, now: Instant, watcher: &mut Watcher, since: Option<Instant>) -> bool {
        if watcher.under_way > 0 {
            return false;
        }
        let since = since.unwrap_or(now);
        watcher.place = Place::Keyframe(Some(since));
        self.stream.safe() || since + KEYFRAME_PATIENCE <= now
    }

    fn paint(&self, watcher: &mut Watcher, bytes: Bytes) -> Feed {
        let offset = self.ring.end();
        watcher.place = Place::At(offset);
        watcher.sizes = self.sizes_gone + self.sizes.len() as u64;
        watcher.under_way = bytes.len();
        Feed::Keyframe {
            offset,
            size: self.size,
            bytes,
        }
    }

    /// What follows at `offset`, if there is room for it.
    fn go_on(&self, watcher: &mut Watcher, offset: u64, exit: Option<Exit>) -> Option<Feed> {
        let known = watcher.sizes.saturating_sub(self.sizes_gone) as usize;
        let mut most = CHUNK_BYTES.min(VIEWER_WINDOW.saturating_sub(watcher.under_way));
        if let Some((at, size)) = self.sizes.get(known) {
            if *at <= offset {
                watcher.sizes += 1;
                return Some(Feed::Resized(*size));
            }
            most = most.min(usize::try_from(at - offset).unwrap_or(usize::MAX));
        }
        if offset == self.ring.end() {
            let exit = exit.filter(|_| !watcher.told_exit)?;
            watcher.told_exit = true;
            return Some(Feed::Exited(exit));
        }
        let bytes = self
            .ring
            .read(offset, most)
            .filter(|bytes| !bytes.is_empty())?;
        watcher.place = Place::At(offset + bytes.len() as u64);
        watcher.under_way += bytes.len();
        Some(Feed::Chunk { offset, bytes })
    }
}

#[cfg(test)]
mod tests;
