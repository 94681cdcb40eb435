//! Claude Code: its first row trusts nothing and takes no key from the environment.

use serde_json::json;

use super::{Connection, Desk, Manners};

/// Past what it asks of the network when it is new.
const KNOWN: &str = r#"{"hasCompletedOnboarding": true}"#;

impl Desk {
    /// What makes Claude Code ask our model and nobody else.
    pub(super) fn claude_env(&self) -> Vec<(&'static str, String)> {
        self.settle(".claude.json", KNOWN);
        vec![
            ("ANTHROPIC_BASE_URL", self.model.url()),
            ("ANTHROPIC_API_KEY", "sk-ant-fake-key-000000".to_owned()),
            ("DISABLE_TELEMETRY", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
        ]
    }
}

#[test]
fn claude_code_is_talked_to_interrupted_and_left() {
    let Some(desk) = Desk::for_talk("claude") else {
        return;
    };
    let env = desk.claude_env();
    let env: Vec<(&str, &str)> = env
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let seat = desk.open(&env, "claude", "I trust this folder");
    seat.keys(&["Up", "Enter"], "custom API key");
    seat.keys(&["Up", "Enter"], "shift+tab to cycle");
    seat.converses(&Manners {
        stop: &["Escape"],
        stopped: "Interrupted",
        connection: Connection::Closed,
        leave: json!({"action": "keys", "keys": ["Ctrl+C", "Ctrl+C"]}),
    });
}
