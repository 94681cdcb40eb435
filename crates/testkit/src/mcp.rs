//! An MCP client on standard input and output: one JSON text a line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longer than any wait that a tool allows.
const ANSWER: Duration = Duration::from_secs(180);

/// A running `sidestick mcp`.
pub struct Mcp {
    child: Child,
    stdin: ChildStdin,
    got: Arc<(Mutex<Vec<Value>>, Condvar)>,
    next: u64,
}

impl Mcp {
    /// Starts the command; nothing is said yet.
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let got: Arc<(Mutex<Vec<Value>>, Condvar)> = Arc::default();
        let there = got.clone();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let value =
                    serde_json::from_str(&line).unwrap_or_else(|_| json!({"garbage": line}));
                there.0.lock().unwrap().push(value);
                there.1.notify_all();
            }
        });
        Self {
            child,
            stdin,
            got,
            next: 1,
        }
    }

    /// The first exchange; what the server says of itself.
    #[track_caller]
    pub fn initialize(&mut self) -> Value {
        let params = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "testkit", "version": "1"},
        });
        let answer = self.call("initialize", params);
        self.notify("notifications/initialized", json!({}));
        answer["result"].clone()
    }

    /// Sends a request; its id.
    pub fn start_call(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The whole answer to a request.
    #[track_caller]
    pub fn answer(&self, id: u64) -> Value {
        self.wait_for(|it| it["id"] == id && it.get("method").is_none())
    }

    /// A request and its whole answer.
    #[track_caller]
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.start_call(method, params);
        self.answer(id)
    }

    /// Calls the tool `bash`; the result.
    #[track_caller]
    pub fn bash(&mut self, args: Value) -> Value {
        let id = self.start_bash(args);
        self.answer(id)["result"].clone()
    }

    /// Starts a call of the tool `bash`.
    pub fn start_bash(&mut self, args: Value) -> u64 {
        self.start_call("tools/call", json!({"name": "bash", "arguments": args}))
    }

    /// The first message that is as wanted, when it has come.
    #[track_caller]
    pub fn wait_for(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + ANSWER;
        let mut got = self.got.0.lock().unwrap();
        loop {
            if let Some(found) = got.iter().find(|it| wanted(it)) {
                return found.clone();
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "no such message among {got:#?}");
            got = self.got.1.wait_timeout(got, left).unwrap().0;
        }
    }

    /// Everything that has come so far.
    pub fn got(&self) -> Vec<Value> {
        self.got.0.lock().unwrap().clone()
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    fn send(&mut self, value: &Value) {
        let line = format!("{value}\n");
        self.stdin.write_all(line.as_bytes()).unwrap();
        self.stdin.flush().unwrap();
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        // It may have ended by itself; what counts is that it is gone before its home is.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
