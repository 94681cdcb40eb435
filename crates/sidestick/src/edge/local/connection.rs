//! One connection: reads messages, hands calls to the door, writes what comes back.
//!
//! Answers go before pane events, which the host releases only once the answer that names their channel is queued.
//! Whatever a client sends, at most [`CALLS`] of its calls, or their answers before they are queued, are held.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::BytesMut;
use host::frames::Frames;
use host::{Caller, Held, Host, PaneEvent, Stop};
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinSet;
use wire::frame::{self, Message};
use wire::rpc::{Call, Request, Response};
use wire::{Kind, Refusal, limits};

use super::super::jsonrpc::{self, Incoming, Item, Known};
use super::answers::{self, Answers, Queue};

/// Calls of one connection that run at the same time, and parts of one batch.
const CALLS: u32 = 256;
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
    let (answers, queue) = answers::queue();
    let mut reader = Reader {
        host,
        caller: Arc::clone(&caller),
        answers,
        under_way: Arc::default(),
        places: Arc::new(Semaphore::new(CALLS as usize)),
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
    answers: Answers,
    under_way: Arc<Mutex<HashMap<String, Stop>>>,
    places: Arc<Semaphore>,
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
        loop {
            self.answers.room().await;
            let Some(message) = frames.next().await? else {
                return Ok(());
            };
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
    }

    fn text(&mut self, text: &[u8]) {
        match jsonrpc::read(text, CALLS as usize) {
            Incoming::One(item) => self.one(item),
            Incoming::Batch(items) => self.batch(items),
        }
    }

    fn one(&mut self, item: Item) {
        // A cancellation needs no place: it is what makes one.
        let places = u32::from(matches!(&item, Item::Request(it) if it.method != CANCEL));
        let Some(place) = self.places(places) else {
            if let Some(response) = refused(item) {
                self.answers.put(&response);
            }
            return;
        };
        let answers = self.answers.clone();
        match self.begin(item) {
            Work::Answered(response) => answers.put(&response),
            Work::Nothing => {}
            work @ Work::Calling { .. } => {
                self.calls.spawn(async move {
                    if let Some((response, held)) = finish(work).await {
                        answers.put(&response);
                        drop(held);
                    }
                    drop(place);
                });
            }
        }
    }

    fn batch(&mut self, items: Vec<Item>) {
        let answers = self.answers.clone();
        let places = u32::try_from(items.len()).ok();
        let Some(places) = places.and_then(|it| self.places(it)) else {
            let responses: Vec<_> = items.into_iter().filter_map(refused).collect();
            if !responses.is_empty() {
                answers.put(&responses);
            }
            return;
        };
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
                answers.put(&responses);
            }
            drop(held);
            // Kept until the last answer is there: what has ended is held in memory until then.
            drop(places);
        });
    }

    /// Places for this many calls; none when not all of them are free.
    fn places(&self, number: u32) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_many_owned(number).ok()
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
        let started = parsed.and_then(|call| {
            let entry = self.enter(id.as_ref(), &stop)?;
            Ok((self.host.call(&self.caller, call, stop), entry))
        });
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

    /// Enters a call among those that can be cancelled, which takes an id that no other one has.
    fn enter(&self, id: Option<&Value>, stop: &Stop) -> Result<Entry, Refusal> {
        let key = id.map(Value::to_string);
        if let Some(key) = &key {
            let mut table = self
                .under_way
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if table.contains_key(key) {
                return Err(Refusal::invalid(format!(
                    "a call with the id {key} is under way on this connection"
                ))
                .hint("give each request an id of its own"));
            }
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

/// The answer to a part for which there is no place.
fn refused(item: Item) -> Option<Response> {
    match item {
        Item::Bad(response) => Some(*response),
        Item::Request(request) => {
            let refusal = Refusal::new(
                Kind::RateLimited,
                format!("{CALLS} calls of this connection may be under way, and this is more"),
            );
            let refusal = refusal.hint("wait for an answer, then send it again");
            Some(Response::new(request.id?, Err(refusal)))
        }
    }
}

async fn write(
    mut to: OwnedWriteHalf,
    caller: &Caller,
    mut answers: Queue,
    mut events: mpsc::UnboundedReceiver<PaneEvent>,
) -> io::Result<()> {
    loop {
        tokio::select! {
            biased;
            Some(text) = answers.next() => {
                let bytes = text.len();
                put(&mut to, &Message::Text(text)).await?;
                answers.written(bytes);
            }
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
