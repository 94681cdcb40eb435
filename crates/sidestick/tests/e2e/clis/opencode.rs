//! opencode: the first Escape only asks for the second.

use serde_json::json;

use super::{Connection, Desk, Manners, says};

#[test]
fn opencode_is_talked_to_interrupted_and_left() {
    let Some(desk) = Desk::for_talk("opencode") else {
        return;
    };
    let limit = json!({"context": 200_000, "output": 8_000});
    let model = json!({"name": "Fake", "tool_call": true, "limit": limit});
    let options = json!({"baseURL": format!("{}/v1", desk.model.url()), "apiKey": "fake"});
    let provider = json!({"npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": options,
        "models": {"fake-model": model}});
    let settings = json!({"autoupdate": false, "share": "disabled", "snapshot": false, "model": "fake/fake-model",
        "small_model": "fake/fake-model", "provider": {"fake": provider}});
    desk.settle(".config/opencode/opencode.json", &settings.to_string());
    let seat = desk.open(
        &[("OPENCODE_DISABLE_MODELS_FETCH", "1")],
        "opencode",
        "Ask anything",
    );
    seat.converses(&Manners {
        stop: &["Escape", "Escape"],
        stopped: "· interrupted",
        connection: Connection::Closed,
        leave: says("/exit"),
    });
}
