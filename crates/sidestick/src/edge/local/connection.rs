//! One connection: reads messages, hands calls to the door, writes what comes back.
//!
//! Answers go before pane events, which the host releases only once the answer that names their channel is queued.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use host::frames::Frames;
use host::{Caller, Held, Host, PaneEvent, Stop};
use serde::Serialize;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use wire::frame::{self, Message};
use wire::rpc::{Call, Request, Response};
use wire::{Kind, Refusal, limits};

use super::super::jsonrpc::{self, Incoming, Item, Known};

/// Calls of one connection that run at the same time.
const CALLS: usize = 256;
/// The one method that is the transport's own.
const CANCEL: &str = "rpc.cancel";

/// Serves one connection to its end.
pub(super) async fn run(
    stream: UnixStream,
    host: Arc<Host>,
    caller: Arc<Caller>,
    events: mpsc::UnboundedReceiver<PaneEvent>,
) -> io::Result<()> {
    let (from, to) = stream.into_split();
    let (answers, queue) = mpsc::unbounded_channel();
    let mut reader = Reader {
        host,
        caller: Arc::clone(&caller),
        answers,
        under_way: Arc::default(),
        calls: JoinSet::new(),
    };
    // Whichever side ends first ends the connection; dropping the reader cancels its calls.
    tokio::select! {
        ended = reader.read(from) => ended,
        ended = write(to, &caller, queue, events) => ended,
    }
}

struct Reader {
    host: Arc<Host>,
    caller: Arc<Caller>,
    answers: mpsc::UnboundedSender<Bytes>,
    under_way: Arc<Mutex<HashMap<String, Stop>>>,
    calls: JoinSet<()>,
}

/// A part of a text, at work.
enum Work<F> {
    Answered(Box<Response>),
    Calling {
        id: Option<Value>,
        known: Known,
        call: F,
    },
    Nothing,
}

impl Reader {
    async fn read(&mut self, from: OwnedReadHalf) -> io::Result<()> {
        let mut frames = Frames::new(from, limits::MESSAGE_BYTES + 4);
        while let Some(message) = frames.next().await? {
            // Finished calls are let go, so that the set stays as small as what runs.
            while self.calls.try_join_next().is_some() {}
            match message {
                Message::Text(text) => self.text(&text),
                Message::Binary(payload) => {
                    if let Some((channel, data)) = frame::channel(&payload) {
                        self.caller.typed(channel, data);
                    }
                }
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &[u8]) {
        let answers = self.answers.clone();
        match jsonrpc::read(text) {
            Incoming::One(item) => {
                let work = self.begin(item);
                self.calls.spawn(async move {
                    if let Some((response, held)) = finish(work).await {
                        send(&answers, &response);
                        drop(held);
                    }
                });
            }
            Incoming::Batch(items) => {
                let works: Vec<_> = items.into_iter().map(|it| self.begin(it)).collect();
                self.calls.spawn(async move {
                    let mut running = JoinSet::new();
                    for (place, work) in works.into_iter().enumerate() {
                        running.spawn(async move { (place, finish(work).await) });
                    }
                    let mut done = running.join_all().await;
                    done.sort_by_key(|(place, _)| *place);
                    let (responses, held): (Vec<Response>, Vec<Option<Held>>) =
                        done.into_iter().filter_map(|(_, it)| it).unzip();
                    if !responses.is_empty() {
                        send(&answers, &responses);
                    }
                    drop(held);
                });
            }
        }
    }

    /// Hands a part to the door at once: the door keeps the order of arrival.
    fn begin(
        &self,
        item: Item,
    ) -> Work<impl Future<Output = (Result<Value, Refusal>, Option<Held>)> + Send + 'static> {
        let request = match item {
            Item::Bad(response) => return Work::Answered(response),
            Item::Request(request) => request,
        };
        if request.method == CANCEL {
            return self.cancel(request);
        }
        let Request {
            id, method, params, ..
        } = request;
        let parsed = Call::parse(&method, params);
        let known = match &parsed {
            Err(refusal) if refusal.message == Kind::MethodNotFound => Known::No,
            Ok(_) | Err(_) => Known::Yes,
        };
        let stop = Stop::default();
        let entry = self.enter(id.as_ref(), &stop);
        let started =
            parsed.and_then(|call| Ok((self.host.call(&self.caller, call, stop), entry?)));
        let call = async move {
            match started {
                Ok((call, _entry)) => match call.await {
                    Ok(reply) => (Ok(reply.value), reply.held),
                    Err(refusal) => (Err(refusal), None),
                },
                Err(refusal) => (Err(refusal), None),
            }
        };
        Work::Calling { id, known, call }
    }

    fn cancel<F>(&self, request: Request) -> Work<F> {
        let key = request.params.get("id").map(Value::to_string);
        let table = self
            .under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(stop) = key.and_then(|it| table.get(&it)) {
            stop.ask();
        }
        match request.id {
            Some(id) => Work::Answered(Box::new(Response::new(
                id,
                Ok(Value::Object(serde_json::Map::new())),
            ))),
            None => Work::Nothing,
        }
    }

    fn enter(&self, id: Option<&Value>, stop: &Stop) -> Result<Entry, Refusal> {
        if CALLS <= self.calls.len() {
            return Err(Refusal::new(
                Kind::RateLimited,
                format!("{CALLS} calls of this connection are under way"),
            )
            .hint("wait for one of them"));
        }
        let key = id.map(Value::to_string);
        if let Some(key) = &key {
            let mut table = self
                .under_way
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            table.insert(key.clone(), stop.clone());
        }
        Ok(Entry {
            key,
            table: Arc::clone(&self.under_way),
        })
    }
}

/// A call's place in the table of those that can be cancelled.
struct Entry {
    key: Option<String>,
    table: Arc<Mutex<HashMap<String, Stop>>>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let Some(key) = &self.key {
            self.table
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .remove(key);
        }
    }
}

/// The answer to a part; none for notifications.
async fn finish(
    work: Work<impl Future<Output = (Result<Value, Refusal>, Option<Held>)>>,
) -> Option<(Response, Option<Held>)> {
    match work {
        Work::Answered(response) => Some((*response, None)),
        Work::Nothing => None,
        Work::Calling { id, known, call } => {
            let (result, held) = call.await;
            Some((jsonrpc::answer(id?, known, result), held))
        }
    }
}

fn send(answers: &mpsc::UnboundedSender<Bytes>, response: &impl Serialize) {
    // Values serialize, and a closed queue belongs to a connection that has ended.
    if let Ok(text) = serde_json::to_vec(response) {
        let _ = answers.send(text.into());
    }
}

async fn write(
    mut to: OwnedWriteHalf,
    caller: &Caller,
    mut answers: mpsc::UnboundedReceiver<Bytes>,
    mut events: mpsc::UnboundedReceiver<PaneEvent>,
) -> io::Result<()> {
    loop {
        tokio::select! {
            biased;
            Some(text) = answers.recv() => put(&mut to, &Message::Text(text)).await?,
            Some(event) = events.recv() => match event {
                PaneEvent::Notification(it) => put(&mut to, &notification(&it)?).await?,
                PaneEvent::Data { channel, data } => {
                    for message in frame::data(channel, &data) {
                        put(&mut to, &message).await?;
                    }
                    caller.took(channel, data.len() as u64);
                }
            },
            else => return Ok(()),
        }
    }
}

fn notification(it: &wire::rpc::Notification) -> io::Result<Message> {
    let mut text = serde_json::to_value(it)?;
    text["jsonrpc"] = "2.0".into();
    Ok(Message::Text(serde_json::to_vec(&text)?.into()))
}

async fn put(to: &mut OwnedWriteHalf, message: &Message) -> io::Result<()> {
    let mut out = BytesMut::new();
    message.encode(&mut out);
    to.write_all(&out).await
}
