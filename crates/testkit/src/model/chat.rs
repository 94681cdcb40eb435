//! The chat completions API, as opencode, Copilot and Hermes speak it.

use serde_json::{Value, json};

use super::dialect::{Dialect, Turn, list, texts};
use super::http::Event;
use super::script::{Conversation, Entry, Reply, Tool};

pub(crate) struct Chat;

impl Dialect for Chat {
    fn read(&self, body: &Value) -> Conversation {
        let format = &body["response_format"]["json_schema"]["schema"];
        let tools = list(&body["tools"]).iter();
        Conversation {
            entries: list(&body["messages"]).iter().filter_map(entry).collect(),
            tools: tools.filter_map(|it| tool(&it["function"])).collect(),
            schema: (!format.is_null()).then(|| format.clone()),
        }
    }

    fn open(&self, turn: &Turn, _: &Reply) -> Vec<Event> {
        vec![chunk(
            turn,
            json!({"role": "assistant", "content": ""}),
            Value::Null,
        )]
    }

    fn piece(&self, turn: &Turn, text: &str) -> Event {
        chunk(turn, json!({"content": text}), Value::Null)
    }

    fn close(&self, turn: &Turn, reply: &Reply) -> Vec<Event> {
        let mut events = Vec::new();
        if let Reply::Call { .. } = reply {
            let mut call = message(turn, reply)["tool_calls"][0].take();
            call["index"] = 0.into();
            events.push(chunk(turn, json!({"tool_calls": [call]}), Value::Null));
        }
        events.push(chunk(turn, json!({}), reason(reply)));
        let mut last = answer(turn, "chat.completion.chunk");
        last["choices"] = json!([]);
        last["usage"] = usage();
        events.push((None, last));
        events.push((None, json!("[DONE]")));
        events
    }

    fn whole(&self, turn: &Turn, reply: &Reply) -> Value {
        let mut whole = answer(turn, "chat.completion");
        whole["choices"] =
            json!([{"index": 0, "message": message(turn, reply), "finish_reason": reason(reply)}]);
        whole["usage"] = usage();
        whole
    }
}

fn entry(message: &Value) -> Option<Entry> {
    let text = texts(&message["content"]);
    match message["role"].as_str() {
        Some("user") => Some(Entry::User(text)),
        Some("tool") => Some(Entry::Result(text)),
        Some(_) | None => None,
    }
}

fn tool(function: &Value) -> Option<Tool> {
    Some(Tool {
        space: None,
        name: function["name"].as_str()?.to_owned(),
    })
}

fn message(turn: &Turn, reply: &Reply) -> Value {
    match reply {
        Reply::Say { .. } => json!({"role": "assistant", "content": reply.text()}),
        Reply::Call { tool, arguments } => {
            let function = json!({"name": tool.name, "arguments": arguments.to_string()});
            let call = json!({"id": turn.id("call_"), "type": "function", "function": function});
            json!({"role": "assistant", "content": null, "tool_calls": [call]})
        }
    }
}

fn reason(reply: &Reply) -> Value {
    match reply {
        Reply::Say { .. } => json!("stop"),
        Reply::Call { .. } => json!("tool_calls"),
    }
}

fn chunk(turn: &Turn, delta: Value, reason: Value) -> Event {
    let mut chunk = answer(turn, "chat.completion.chunk");
    chunk["choices"] = json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
    (None, chunk)
}

fn answer(turn: &Turn, object: &str) -> Value {
    json!({"id": turn.id("chatcmpl-"), "object": object, "created": 1, "model": turn.model})
}

fn usage() -> Value {
    json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110,
        "prompt_tokens_details": {"cached_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 0}})
}
