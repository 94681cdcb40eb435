//! Gemini CLI: once it trusts the folder it starts itself anew.

use serde_json::json;

use super::{Connection, Desk, Manners, says};

#[test]
fn gemini_cli_is_talked_to_interrupted_and_left() {
    let Some(desk) = Desk::for_talk("gemini") else {
        return;
    };
    let settings = json!({"security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false},
        "general": {"disableAutoUpdate": true, "enableAutoUpdate": false}});
    desk.settle(".gemini/settings.json", &settings.to_string());
    let url = desk.model.url();
    let env = [
        ("GOOGLE_GEMINI_BASE_URL", url.as_str()),
        ("GEMINI_API_KEY", "fake"),
    ];
    let seat = desk.open(&env, "gemini", "trust the files in this folder");
    seat.keys(&["Enter"], "restarting to apply");
    seat.sees("Type your message");
    seat.converses(&Manners {
        stop: &["Escape"],
        stopped: "Request cancelled",
        connection: Connection::Closed,
        leave: says("/quit"),
    });
}
