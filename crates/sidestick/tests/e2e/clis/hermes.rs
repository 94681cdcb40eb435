//! Hermes: Escape means nothing to it, Ctrl+C interrupts. It may go on to hear what it shows no more.

use super::{Connection, Desk, Manners, says};

#[test]
fn hermes_is_talked_to_interrupted_and_left() {
    let Some(desk) = Desk::for_talk("hermes") else {
        return;
    };
    let url = desk.model.url();
    desk.settle(
        ".hermes/config.yaml",
        &format!(
            "model:\n  default: fake-model\n  provider: custom\n  base_url: {url}/v1\n  api_key: fake\n  \
             context_length: 200000\n"
        ),
    );
    let seat = desk.open(&[], "hermes", "Type your message or /help");
    seat.converses(&Manners {
        stop: &["Ctrl+C"],
        stopped: "Interrupted during API call",
        connection: Connection::Ignored,
        leave: says("/quit"),
    });
}
