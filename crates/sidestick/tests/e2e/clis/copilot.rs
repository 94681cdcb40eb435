//! GitHub Copilot: a menu opens at a slash, and Enter must not come before it.

use super::{Connection, Desk, Manners, says};

#[test]
fn copilot_is_talked_to_interrupted_and_left() {
    let Some(desk) = Desk::for_talk("copilot") else {
        return;
    };
    let url = format!("{}/v1", desk.model.url());
    let env = [
        ("COPILOT_OFFLINE", "true"),
        ("COPILOT_PROVIDER_BASE_URL", url.as_str()),
        ("COPILOT_PROVIDER_API_KEY", "fake"),
        ("COPILOT_MODEL", "fake-model"),
    ];
    let seat = desk.open(&env, "copilot", "Do you trust the files");
    seat.keys(&["Enter"], "/ commands");
    seat.converses(&Manners {
        stop: &["Escape", "Escape"],
        stopped: "cancelled by user",
        connection: Connection::Closed,
        leave: says("/exit"),
    });
}
