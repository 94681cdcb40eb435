//! A JSON-RPC client on the server's Unix socket: quicker than a process for each call, and able to have many under way.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use serde_json::{Value, json};
use wire::frame::{self, Message};

use crate::pane::Stream;
use crate::{Home, Pane};

/// Longer than any wait that a tool allows.
const ANSWER: Duration = Duration::from_secs(180);
/// Longest message that the server sends.
const LONGEST: usize = 32 << 20;

/// A connection with a chat.
pub struct Client {
    out: Mutex<UnixStream>,
    shared: Arc<Shared>,
    next: AtomicU64,
    /// The chat that calls go to.
    pub chat: String,
}

/// What the reading thread and the callers share.
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
pub(crate) struct State {
    answers: HashMap<u64, Value>,
    pub(crate) panes: HashMap<u32, Stream>,
    pub(crate) closed: bool,
}

/// A call under way.
#[derive(Clone, Copy, Debug)]
pub struct Pending(u64);

/// What a tool answered.
#[derive(Clone, Debug)]
pub struct Reply {
    /// What a model reads.
    pub text: String,
    /// The structured details.
    pub details: Value,
}

impl Pending {
    /// The request's number, by which it can be cancelled.
    pub fn id(self) -> u64 {
        self.0
    }
}

impl Client {
    /// Connects and makes a chat in the home's working folder.
    pub(crate) fn connect(home: &Home) -> Self {
        let mut client = Self::bare(home);
        let params = json!({"folder": home.work(), "env": home.env(), "title": "test"});
        let made = client.call("chats.create", params).unwrap();
        client.chat = made["chat"]["id"].as_str().unwrap().to_owned();
        client
    }

    /// Connects again after the server was restarted, for the same chat.
    pub fn again(&self, home: &Home) -> Self {
        home.serve();
        let mut client = Self::bare(home);
        client.chat.clone_from(&self.chat);
        client
    }

    fn bare(home: &Home) -> Self {
        let stream = UnixStream::connect(home.socket()).unwrap();
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let (reader, there) = (stream.try_clone().unwrap(), shared.clone());
        std::thread::spawn(move || there.read(reader));
        Self {
            out: Mutex::new(stream),
            shared,
            next: AtomicU64::new(1),
            chat: String::new(),
        }
    }

    /// Sends a request and goes on.
    pub fn start(&self, method: &str, params: Value) -> Pending {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        Pending(id)
    }

    /// Sends any text.
    pub fn send(&self, text: &Value) {
        self.write(&Message::Text(text.to_string().into()));
    }

    /// Sends bytes on a channel that was taken over.
    pub fn type_on(&self, channel: u32, bytes: &[u8]) {
        frame::data(channel, bytes).for_each(|message| self.write(&message));
    }

    fn write(&self, message: &Message) {
        let mut out = BytesMut::new();
        message.encode(&mut out);
        // A server that was killed meanwhile shows itself by the answer that does not come.
        let _ = self.out.lock().unwrap().write_all(&out);
    }

    /// Waits for the answer to a request: its result, or its error.
    ///
    /// # Errors
    /// What the server answered, or null when the connection ended first.
    #[track_caller]
    pub fn answer(&self, pending: Pending) -> Result<Value, Value> {
        let mut answer = None;
        self.wait_until("the server answers", |state| {
            answer = state.answers.remove(&pending.0);
            answer.is_some() || state.closed
        });
        let mut answer = answer.ok_or(Value::Null)?;
        match answer.get_mut("error") {
            Some(error) => Err(error.take()),
            None => Ok(answer["result"].take()),
        }
    }

    /// A request and its answer.
    ///
    /// # Errors
    /// As [`Self::answer`].
    #[track_caller]
    pub fn call(&self, method: &str, params: Value) -> Result<Value, Value> {
        self.answer(self.start(method, params))
    }

    /// Starts a call of `bash`.
    pub fn start_bash(&self, args: Value) -> Pending {
        self.start(
            "tools.call",
            json!({"chatId": self.chat, "name": "bash", "arguments": args}),
        )
    }

    /// The answer to [`Self::start_bash`].
    ///
    /// # Errors
    /// The refusal.
    #[track_caller]
    pub fn bash_answer(&self, pending: Pending) -> Result<Reply, Value> {
        let mut answer = self.answer(pending)?;
        Ok(Reply {
            text: answer["text"].as_str().unwrap().to_owned(),
            details: answer["details"].take(),
        })
    }

    /// A call of `bash` that may be refused.
    ///
    /// # Errors
    /// The refusal.
    #[track_caller]
    pub fn try_bash(&self, args: Value) -> Result<Reply, Value> {
        self.bash_answer(self.start_bash(args))
    }

    /// A call of `bash` that has to succeed.
    #[track_caller]
    pub fn bash(&self, args: Value) -> Reply {
        let shown = args.to_string().chars().take(300).collect::<String>();
        self.try_bash(args)
            .unwrap_or_else(|error| panic!("{shown}: {error}"))
    }

    /// Opens a terminal; its id.
    #[track_caller]
    pub fn open(&self, command: &str) -> String {
        self.bash(json!({"action": "open", "command": command}))
            .id()
    }

    /// Watches a terminal, from an offset or from a keyframe.
    #[track_caller]
    pub fn attach(&self, terminal: &str, from: Option<u64>) -> Pane<'_> {
        let mut params = json!({"chatId": self.chat, "terminalId": terminal});
        if let Some(from) = from {
            params["from"] = from.into();
        }
        let reply = self.call("panes.attach", params).unwrap();
        let channel = u32::try_from(reply["channel"].as_u64().unwrap()).unwrap();
        let mut state = self.state();
        state
            .panes
            .entry(channel)
            .or_default()
            .start_at(reply["from"].as_u64());
        drop(state);
        Pane::new(self, channel)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap()
    }

    /// Waits until the state is as wanted.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, mut holds: impl FnMut(&mut State) -> bool) {
        let end = Instant::now() + ANSWER;
        let mut state = self.state();
        while !holds(&mut state) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "never came true: {what}");
            state = self.shared.changed.wait_timeout(state, left).unwrap().0;
        }
    }
}

impl Reply {
    /// The terminal that it is about.
    #[track_caller]
    pub fn id(&self) -> String {
        self.details["terminal_id"]
            .as_str()
            .unwrap_or_else(|| panic!("no terminal: {self:?}"))
            .to_owned()
    }

    /// How the wait ended.
    #[track_caller]
    pub fn outcome(&self) -> &str {
        self.details["wait"]["outcome"]
            .as_str()
            .unwrap_or_else(|| panic!("no wait: {self:?}"))
    }

    /// The viewport as one text.
    pub fn screen(&self) -> String {
        let lines = self.details["screen"]["lines"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        lines
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join("\n")
            .trim_end()
            .to_owned()
    }
}

impl Shared {
    /// Sorts what arrives until the connection ends.
    fn read(&self, mut stream: UnixStream) {
        let (mut buffer, mut part) = (BytesMut::new(), vec![0; 65_536]);
        while let Ok(n @ 1..) = stream.read(&mut part) {
            buffer.extend_from_slice(&part[..n]);
            let mut state = self.state.lock().unwrap();
            while let Some(message) = Message::decode(&mut buffer, LONGEST).unwrap() {
                state.take(&message);
            }
            drop(state);
            self.changed.notify_all();
        }
        self.state.lock().unwrap().closed = true;
        self.changed.notify_all();
    }
}

impl State {
    fn take(&mut self, message: &Message) {
        match message {
            Message::Text(text) => {
                let value: Value = serde_json::from_slice(text).unwrap();
                if let Some(id) = value["id"].as_u64() {
                    self.answers.insert(id, value);
                } else if let Some(channel) = value["params"]["channel"].as_u64() {
                    let pane = self
                        .panes
                        .entry(u32::try_from(channel).unwrap())
                        .or_default();
                    pane.notified(&value);
                }
            }
            Message::Binary(payload) => {
                let (channel, data) = frame::channel(payload).unwrap();
                self.panes.entry(channel).or_default().push(&data);
            }
        }
    }
}
