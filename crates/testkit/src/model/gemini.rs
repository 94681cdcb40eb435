//! The Gemini API, as Gemini CLI speaks it.

use serde_json::{Value, json};

use super::dialect::{Dialect, Turn, list, texts};
use super::http::{Event, Request};
use super::script::{Conversation, Entry, Reply, Tool};

pub(crate) struct Gemini;

impl Dialect for Gemini {
    fn read(&self, body: &Value) -> Conversation {
        let users = list(&body["contents"])
            .iter()
            .filter(|it| it["role"] == "user");
        let config = &body["generationConfig"];
        let schema = [&config["responseJsonSchema"], &config["responseSchema"]];
        let offers = list(&body["tools"]).iter();
        Conversation {
            entries: users.flat_map(|it| list(&it["parts"])).map(entry).collect(),
            tools: offers
                .flat_map(|it| list(&it["functionDeclarations"]))
                .filter_map(tool)
                .collect(),
            schema: schema.into_iter().find(|it| !it.is_null()).cloned(),
        }
    }

    fn streams(&self, request: &Request, _: &Value) -> bool {
        request.path.ends_with(":streamGenerateContent")
    }

    fn open(&self, _: &Turn, _: &Reply) -> Vec<Event> {
        Vec::new()
    }

    fn piece(&self, turn: &Turn, text: &str) -> Event {
        (None, answer(turn, json!([{"text": text}])))
    }

    fn close(&self, turn: &Turn, reply: &Reply) -> Vec<Event> {
        let parts = match reply {
            Reply::Say { .. } => json!([{"text": ""}]),
            Reply::Call { .. } => parts(reply),
        };
        vec![(None, ended(answer(turn, parts)))]
    }

    fn whole(&self, turn: &Turn, reply: &Reply) -> Value {
        ended(answer(turn, parts(reply)))
    }
}

fn entry(part: &Value) -> Entry {
    let response = &part["functionResponse"]["response"];
    if response.is_null() {
        return Entry::User(texts(&part["text"]));
    }
    let output = response["output"].as_str();
    Entry::Result(output.map_or_else(|| response.to_string(), str::to_owned))
}

fn tool(function: &Value) -> Option<Tool> {
    Some(Tool {
        space: None,
        name: function["name"].as_str()?.to_owned(),
    })
}

fn parts(reply: &Reply) -> Value {
    match reply {
        Reply::Say { .. } => json!([{"text": reply.text()}]),
        Reply::Call { tool, arguments } => {
            json!([{"functionCall": {"name": tool.name, "args": arguments}, "thoughtSignature": "ZmFrZQ=="}])
        }
    }
}

fn answer(turn: &Turn, parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
        "modelVersion": turn.model, "responseId": turn.id("resp-")})
}

fn ended(mut answer: Value) -> Value {
    answer["candidates"][0]["finishReason"] = "STOP".into();
    answer["usageMetadata"] =
        json!({"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110});
    answer
}
