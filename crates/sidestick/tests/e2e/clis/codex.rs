//! Codex: it tells a paste by the clock, and so Enter has to keep its distance.

use super::{Connection, Desk, Manners, says};

impl Desk {
    /// What makes Codex ask our model and nobody else.
    pub(super) fn settle_codex(&self) {
        let url = self.model.url();
        self.settle(
            ".codex/config.toml",
            &format!(
                "model = \"fake-model\"\nmodel_provider = \"fake\"\n\n[model_providers.fake]\nname = \"Fake\"\n\
                 base_url = \"{url}/v1\"\nenv_key = \"FAKE_KEY\"\nwire_api = \"responses\"\n"
            ),
        );
    }
}

#[test]
fn b01_codex_is_talked_to_interrupted_and_left() {
    let Some(desk) = Desk::for_talk("codex") else {
        return;
    };
    desk.settle_codex();
    let seat = desk.open(
        &[("FAKE_KEY", "fake")],
        "codex --no-daemon",
        "? for shortcuts",
    );
    seat.converses(&Manners {
        stop: &["Escape"],
        stopped: "Conversation interrupted",
        connection: Connection::Closed,
        leave: says("/exit"),
    });
}
