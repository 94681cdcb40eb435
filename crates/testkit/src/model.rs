//! A model server for coding CLIs in tests: it speaks the APIs that they speak and says what a test has written down.
//!
//! Invariant: it listens on loopback alone and knows no model. What it answers follows from the rules and from the
//! request, so that a test can say what it expects; what it was asked is kept, so that a test can see what reached it.

mod chat;
mod dialect;
mod gemini;
mod http;
mod messages;
mod responses;
mod script;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use dialect::{Dialect, Turn};
use http::{Request, Stream};
use script::{Conversation, Reply};
pub use script::{Rule, Step};

/// A running server. It ends with the value.
pub struct Model {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// What a client asked in a turn of its conversation. Requests for titles and the like are not kept.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The word of the rule that answered, if one did.
    pub word: Option<String>,
    /// What the tools answered since the prompt, as the model would read it.
    pub results: Vec<String>,
    /// The request.
    pub body: Value,
}

#[derive(Default)]
struct Shared {
    rules: Vec<Rule>,
    asked: Mutex<Vec<Asked>>,
    broken_off: AtomicUsize,
    turns: AtomicUsize,
    over: AtomicBool,
}

impl Model {
    /// Starts it on a port that is free.
    pub fn start(rules: Vec<Rule>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            rules,
            ..Shared::default()
        });
        let there = shared.clone();
        std::thread::spawn(move || there.accept(&listener));
        Self { address, shared }
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap().clone()
    }

    /// What the tools answered to the last request that brought answers.
    pub fn results(&self) -> Vec<String> {
        let asked = self.asked();
        let last = asked.iter().rev().find(|it| !it.results.is_empty());
        last.map(|it| it.results.clone()).unwrap_or_default()
    }

    /// How many answers their client did not hear to the end.
    pub fn broken_off(&self) -> usize {
        self.shared.broken_off.load(Ordering::SeqCst)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // Whoever waits for a connection notices by this one; when it fails the process is at its end anyway.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn accept(self: Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming() {
            if self.over.load(Ordering::SeqCst) {
                return;
            }
            let (Ok(stream), there) = (stream, self.clone()) else {
                continue;
            };
            // A client that goes away is no failure of the server.
            std::thread::spawn(move || there.converse(Stream::new(stream)));
        }
    }

    /// Answers one connection's requests until it ends.
    fn converse(&self, mut stream: Stream) -> io::Result<()> {
        while let Some(request) = stream.request()? {
            match dialect::of(&request) {
                Some(dialect) => self.answer(dialect, &request, &mut stream)?,
                None => stream.json(200, &other(&request))?,
            }
        }
        Ok(())
    }

    fn answer(
        &self,
        dialect: &dyn Dialect,
        request: &Request,
        stream: &mut Stream,
    ) -> io::Result<()> {
        let body = request.json();
        let conversation = dialect.read(&body);
        let reply = self.reply(&conversation, &body);
        let turn = Turn {
            number: self.turns.fetch_add(1, Ordering::SeqCst) + 1,
            model: body["model"].as_str().unwrap_or("fake-model").to_owned(),
        };
        if !dialect.streams(request, &body) {
            return stream.json(200, &dialect.whole(&turn, &reply));
        }
        let told = tell(dialect, &turn, &reply, stream);
        if told.is_err() {
            self.broken_off.fetch_add(1, Ordering::SeqCst);
        }
        told
    }

    fn reply(&self, conversation: &Conversation, body: &Value) -> Reply {
        if let Some(reply) = conversation.aside() {
            return reply;
        }
        let (word, results, reply) = conversation.turn(&self.rules);
        self.asked.lock().unwrap().push(Asked {
            word,
            results,
            body: body.clone(),
        });
        reply
    }
}

fn tell(dialect: &dyn Dialect, turn: &Turn, reply: &Reply, stream: &mut Stream) -> io::Result<()> {
    stream.begin_events()?;
    stream.events(&dialect.open(turn, reply))?;
    if let Reply::Say { pieces, pause } = reply {
        for piece in pieces {
            stream.events(&[dialect.piece(turn, piece)])?;
            if !pause.is_zero() {
                std::thread::sleep(*pause);
            }
        }
    }
    stream.events(&dialect.close(turn, reply))?;
    stream.end_events()
}

/// Whatever else clients ask of such a server: which models there are, how many tokens a text has.
fn other(request: &Request) -> Value {
    let model = json!({"id": "fake-model", "object": "model", "type": "model", "owned_by": "test",
        "context_length": 200_000, "max_model_len": 200_000});
    match request.path.rsplit('/').next() {
        Some("models") => json!({"object": "list", "data": [model], "models": []}),
        Some("count_tokens") => json!({"input_tokens": 1}),
        Some(last) if last.ends_with(":countTokens") => json!({"totalTokens": 1}),
        Some(_) | None => model,
    }
}
