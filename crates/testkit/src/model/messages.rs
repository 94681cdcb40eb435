//! The Messages API, as Claude Code speaks it.

use serde_json::{Value, json};

use super::dialect::{Dialect, Turn, list, texts};
use super::http::Event;
use super::script::{Conversation, Entry, Reply, Tool};

pub(crate) struct Messages;

impl Dialect for Messages {
    fn read(&self, body: &Value) -> Conversation {
        let users = list(&body["messages"])
            .iter()
            .filter(|it| it["role"] == "user");
        let format = &body["output_config"]["format"]["schema"];
        let tools = list(&body["tools"])
            .iter()
            .filter_map(|it| it["name"].as_str());
        Conversation {
            entries: users.flat_map(|it| entries(&it["content"])).collect(),
            tools: tools.map(tool).collect(),
            schema: (!format.is_null()).then(|| format.clone()),
        }
    }

    fn open(&self, turn: &Turn, reply: &Reply) -> Vec<Event> {
        let mut message = message(turn, reply);
        message["content"] = json!([]);
        message["stop_reason"] = Value::Null;
        let mut block = block(turn, reply);
        match reply {
            Reply::Say { .. } => block["text"] = json!(""),
            Reply::Call { .. } => block["input"] = json!({}),
        }
        vec![
            event("message_start", json!({"message": message})),
            event(
                "content_block_start",
                json!({"index": 0, "content_block": block}),
            ),
        ]
    }

    fn piece(&self, _: &Turn, text: &str) -> Event {
        delta(json!({"type": "text_delta", "text": text}))
    }

    fn close(&self, turn: &Turn, reply: &Reply) -> Vec<Event> {
        let whole = message(turn, reply);
        let stop = json!({"stop_reason": whole["stop_reason"], "stop_sequence": null});
        let mut events = Vec::new();
        if let Reply::Call { arguments, .. } = reply {
            let json = arguments.to_string();
            events.push(delta(
                json!({"type": "input_json_delta", "partial_json": json}),
            ));
        }
        events.push(event("content_block_stop", json!({"index": 0})));
        events.push(event(
            "message_delta",
            json!({"delta": stop, "usage": whole["usage"]}),
        ));
        events.push(event("message_stop", json!({})));
        events
    }

    fn whole(&self, turn: &Turn, reply: &Reply) -> Value {
        message(turn, reply)
    }
}

fn entries(content: &Value) -> Vec<Entry> {
    if let Value::String(text) = content {
        return vec![Entry::User(text.clone())];
    }
    let entry = |part: &Value| match part["type"].as_str() {
        Some("tool_result") => Entry::Result(texts(&part["content"])),
        Some(_) | None => Entry::User(texts(&part["text"])),
    };
    list(content).iter().map(entry).collect()
}

fn tool(name: &str) -> Tool {
    Tool {
        space: None,
        name: name.to_owned(),
    }
}

fn message(turn: &Turn, reply: &Reply) -> Value {
    let stop = match reply {
        Reply::Say { .. } => "end_turn",
        Reply::Call { .. } => "tool_use",
    };
    json!({"id": turn.id("msg_"), "type": "message", "role": "assistant", "model": turn.model,
        "content": [block(turn, reply)], "stop_reason": stop, "stop_sequence": null,
        "usage": {"input_tokens": 100, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}})
}

fn block(turn: &Turn, reply: &Reply) -> Value {
    match reply {
        Reply::Say { .. } => json!({"type": "text", "text": reply.text()}),
        Reply::Call { tool, arguments } => {
            json!({"type": "tool_use", "id": turn.id("toolu_"), "name": tool.name, "input": arguments})
        }
    }
}

fn delta(delta: Value) -> Event {
    event("content_block_delta", json!({"index": 0, "delta": delta}))
}

fn event(name: &'static str, mut data: Value) -> Event {
    data["type"] = name.into();
    (Some(name), data)
}
