//! The Responses API, as Codex speaks it.

use serde_json::{Value, json};

use super::dialect::{Dialect, Turn, list, texts};
use super::http::Event;
use super::script::{Conversation, Entry, Reply, Tool};

pub(crate) struct Responses;

impl Dialect for Responses {
    fn read(&self, body: &Value) -> Conversation {
        let input = list(&body["input"]);
        let format = &body["text"]["format"];
        // Some models get their tools as an item of the input.
        let more = input.iter().filter(|it| it["type"] == "additional_tools");
        let tools = more.flat_map(|it| list(&it["tools"]));
        Conversation {
            entries: input.iter().filter_map(entry).collect(),
            tools: list(&body["tools"])
                .iter()
                .chain(tools)
                .flat_map(tools_of)
                .collect(),
            schema: (format["type"] == "json_schema").then(|| format["schema"].clone()),
        }
    }

    fn open(&self, turn: &Turn, reply: &Reply) -> Vec<Event> {
        let mut events = vec![event(
            "response.created",
            json!({"response": response(turn, "in_progress")}),
        )];
        if let Reply::Say { .. } = reply {
            let mut item = item(turn, reply);
            item["content"] = json!([]);
            item["status"] = "in_progress".into();
            events.push(event(
                "response.output_item.added",
                json!({"output_index": 0, "item": item}),
            ));
            let part = json!({"type": "output_text", "text": "", "annotations": []});
            events.push(of_text(
                turn,
                "response.content_part.added",
                json!({"part": part}),
            ));
        }
        events
    }

    fn piece(&self, turn: &Turn, text: &str) -> Event {
        of_text(turn, "response.output_text.delta", json!({"delta": text}))
    }

    fn close(&self, turn: &Turn, reply: &Reply) -> Vec<Event> {
        let item = item(turn, reply);
        let data = json!({"output_index": 0, "item": item});
        let before = match reply {
            Reply::Say { .. } => of_text(
                turn,
                "response.output_text.done",
                json!({"text": reply.text()}),
            ),
            Reply::Call { .. } => event("response.output_item.added", data.clone()),
        };
        let whole = self.whole(turn, reply);
        vec![
            before,
            event("response.output_item.done", data),
            event("response.completed", json!({"response": whole})),
        ]
    }

    fn whole(&self, turn: &Turn, reply: &Reply) -> Value {
        let mut response = response(turn, "completed");
        response["output"] = json!([item(turn, reply)]);
        response["end_turn"] = matches!(reply, Reply::Say { .. }).into();
        response["usage"] = json!({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 110});
        response
    }
}

fn entry(item: &Value) -> Option<Entry> {
    let kind = item["type"].as_str().unwrap_or("message");
    if kind == "message" && item["role"] == "user" {
        return Some(Entry::User(texts(&item["content"])));
    }
    kind.ends_with("_output")
        .then(|| Entry::Result(texts(&item["output"])))
}

fn tools_of(tool: &Value) -> Vec<Tool> {
    let name = |it: &Value| {
        it["name"]
            .as_str()
            .or(it["type"].as_str())
            .unwrap_or_default()
            .to_owned()
    };
    if tool["type"] != "namespace" {
        return vec![Tool {
            space: None,
            name: name(tool),
        }];
    }
    let inner = list(&tool["tools"]).iter();
    inner
        .map(|it| Tool {
            space: Some(name(tool)),
            name: name(it),
        })
        .collect()
}

fn response(turn: &Turn, status: &str) -> Value {
    json!({"id": turn.id("resp_"), "object": "response", "created_at": 1, "status": status,
        "model": turn.model, "output": []})
}

fn item(turn: &Turn, reply: &Reply) -> Value {
    match reply {
        Reply::Say { .. } => {
            let part = json!({"type": "output_text", "text": reply.text(), "annotations": []});
            json!({"type": "message", "id": turn.id("msg_"), "role": "assistant", "status": "completed", "content": [part]})
        }
        Reply::Call { tool, arguments } => {
            let mut item = json!({"type": "function_call", "id": turn.id("fc_"), "call_id": turn.id("call_"),
                "name": tool.name, "arguments": arguments.to_string(), "status": "completed"});
            if let Some(space) = &tool.space {
                item["namespace"] = space.as_str().into();
            }
            item
        }
    }
}

/// An event about the one text of the reply.
fn of_text(turn: &Turn, name: &'static str, mut data: Value) -> Event {
    data["item_id"] = turn.id("msg_").into();
    data["output_index"] = 0.into();
    data["content_index"] = 0.into();
    event(name, data)
}

fn event(name: &'static str, mut data: Value) -> Event {
    data["type"] = name.into();
    (Some(name), data)
}
