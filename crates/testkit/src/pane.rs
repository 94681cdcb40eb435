//! What a viewer of a terminal has got: keyframes apart from the stream, every byte at its offset.

use serde_json::{Value, json};

use crate::Client;

/// A terminal that is watched.
pub struct Pane<'a> {
    client: &'a Client,
    /// Its channel on the connection.
    pub channel: u32,
}

/// The bytes of one channel so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    /// Bytes of the stream since the last start.
    data: Vec<u8>,
    /// The last keyframe, as far as it has come.
    keyframe: Vec<u8>,
    /// Bytes of the keyframe that have yet to come.
    keyframe_left: usize,
    /// Offset of the first byte of `data`.
    begin: u64,
    repaints: usize,
    resizes: Vec<Value>,
    ended: bool,
}

impl Stream {
    /// Live bytes that were there before the answer keep their place.
    pub(crate) fn start_at(&mut self, from: Option<u64>) {
        if self.repaints == 0
            && let Some(from) = from
        {
            self.begin = from;
        }
    }

    pub(crate) fn notified(&mut self, notification: &Value) {
        let params = &notification["params"];
        match notification["method"].as_str() {
            Some("pane.repainted") => {
                self.repaints += 1;
                self.keyframe.clear();
                self.data.clear();
                self.keyframe_left = usize::try_from(params["bytes"].as_u64().unwrap()).unwrap();
                self.begin = params["offset"].as_u64().unwrap();
            }
            Some("pane.resized") => self.resizes.push(params["size"].clone()),
            Some("pane.ended") => self.ended = true,
            _ => {}
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let (keyframe, live) = bytes.split_at(self.keyframe_left.min(bytes.len()));
        self.keyframe.extend_from_slice(keyframe);
        self.keyframe_left -= keyframe.len();
        self.data.extend_from_slice(live);
    }

    fn offset(&self) -> u64 {
        self.begin + self.data.len() as u64
    }
}

impl<'a> Pane<'a> {
    pub(crate) fn new(client: &'a Client, channel: u32) -> Self {
        Self { client, channel }
    }

    /// Waits until these bytes have come, in the keyframe or in the stream.
    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        let needle = text.as_bytes();
        let has = |all: &[u8]| all.windows(needle.len()).any(|it| it == needle);
        self.until(text, |it| {
            has(&it.data) || it.keyframe_left == 0 && has(&it.keyframe)
        });
    }

    /// Waits until the terminal's last byte has come, or the connection has ended.
    #[track_caller]
    pub fn wait_end(&self) {
        let channel = self.channel;
        self.client.wait_until("the stream ends", |state| {
            state.closed || state.panes.get(&channel).is_some_and(|it| it.ended)
        });
    }

    /// The stream since the last keyframe, and its first byte's offset.
    pub fn stream(&self) -> (u64, Vec<u8>) {
        self.with(|it| (it.begin, it.data.clone()))
    }

    /// The last keyframe.
    pub fn keyframe(&self) -> Vec<u8> {
        self.with(|it| it.keyframe.clone())
    }

    /// Where the stream goes on.
    pub fn offset(&self) -> u64 {
        self.with(Stream::offset)
    }

    /// How often it started afresh from a keyframe.
    pub fn repaints(&self) -> usize {
        self.with(|it| it.repaints)
    }

    /// Sizes that were told.
    pub fn resizes(&self) -> Vec<Value> {
        self.with(|it| it.resizes.clone())
    }

    /// The last byte has come.
    pub fn ended(&self) -> bool {
        self.with(|it| it.ended)
    }

    /// A person takes the terminal over.
    #[track_caller]
    pub fn take_over(&self) {
        self.client
            .call("panes.takeOver", json!({"channel": self.channel}))
            .unwrap();
    }

    /// The person gives it back.
    #[track_caller]
    pub fn release(&self) {
        self.client
            .call("panes.release", json!({"channel": self.channel}))
            .unwrap();
    }

    /// What the person types.
    pub fn type_bytes(&self, bytes: &[u8]) {
        self.client.type_on(self.channel, bytes);
    }

    /// Stops watching.
    #[track_caller]
    pub fn detach(&self) {
        self.client
            .call("panes.detach", json!({"channel": self.channel}))
            .unwrap();
    }

    #[track_caller]
    fn until(&self, what: &str, mut holds: impl FnMut(&Stream) -> bool) {
        let channel = self.channel;
        self.client.wait_until(what, |state| {
            state.panes.get(&channel).is_some_and(&mut holds)
        });
    }

    fn with<T>(&self, look: impl FnOnce(&Stream) -> T) -> T {
        look(self.client.state().panes.entry(self.channel).or_default())
    }
}
