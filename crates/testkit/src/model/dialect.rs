//! What the APIs have in common: a conversation comes in, a reply goes out whole or in events.

use serde_json::Value;

use super::http::{Event, Request};
use super::script::{Conversation, Reply};
use super::{chat, gemini, messages, responses};

/// One API. Its functions look and say; they do nothing.
pub(crate) trait Dialect: Sync {
    /// What the client has sent, in words that all of them share.
    fn read(&self, body: &Value) -> Conversation;

    /// Whether the client wants events.
    fn streams(&self, request: &Request, body: &Value) -> bool {
        let _ = request;
        body["stream"] == true
    }

    /// Events before the first piece.
    fn open(&self, turn: &Turn, reply: &Reply) -> Vec<Event>;

    /// One piece of what is said.
    fn piece(&self, turn: &Turn, text: &str) -> Event;

    /// Events after the last piece; a call is wholly here.
    fn close(&self, turn: &Turn, reply: &Reply) -> Vec<Event>;

    /// The reply as one value.
    fn whole(&self, turn: &Turn, reply: &Reply) -> Value;
}

/// One answer of the server.
pub(crate) struct Turn {
    /// Counts up, so that ids made of it are unique.
    pub(crate) number: usize,
    /// The model that the client asked for.
    pub(crate) model: String,
}

impl Turn {
    /// An id in the manner of an API.
    pub(crate) fn id(&self, prefix: &str) -> String {
        format!("{prefix}{:012}", self.number)
    }
}

/// The API that a request is for, if it is a turn of a conversation.
pub(crate) fn of(request: &Request) -> Option<&'static dyn Dialect> {
    let path = request.path.as_str();
    if path.ends_with("/chat/completions") {
        Some(&chat::Chat)
    } else if path.ends_with("/messages") {
        Some(&messages::Messages)
    } else if path.ends_with("/responses") {
        Some(&responses::Responses)
    } else if path.ends_with(":streamGenerateContent") || path.ends_with(":generateContent") {
        Some(&gemini::Gemini)
    } else {
        None
    }
}

/// A text, or the texts of a list of parts.
pub(crate) fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<String> = parts.iter().map(|it| texts(&it["text"])).collect();
            texts.join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// A list, or nothing.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
