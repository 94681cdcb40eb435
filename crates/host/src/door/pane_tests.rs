//! Panes through the door: what a viewer gets, when, and who may type.

use bytes::Bytes;
use serde_json::json;
use wire::TerminalId;
use wire::rpc::Notification;
use wire::runner::{Call, FromRunner, Output, ToRunner};

use crate::testing::{Stage, Told, usual};
use crate::{PaneEvent, Reply};

async fn attached() -> (Stage, TerminalId, Reply, u64) {
    let mut stage = Stage::new(usual).await;
    let chat = stage.chat().await;
    let terminal = stage.open(chat).await;
    stage.told_call().await;
    let params = json!({"chatId": chat, "terminalId": terminal});
    let reply = stage.call("panes.attach", params).await.unwrap();
    let Call::Watch { viewer, .. } = stage.told_call().await else {
        panic!()
    };
    (stage, terminal, reply, viewer)
}

fn output(viewer: u64, data: &'static [u8]) -> wire::frame::Message {
    wire::frame::Message::Binary(
        Output {
            viewer,
            offset: 0,
            data: Bytes::from_static(data),
        }
        .encode(),
    )
}

#[tokio::test]
async fn output_waits_until_the_answer_that_names_its_channel_is_under_way() {
    let (mut stage, terminal, reply, viewer) = attached().await;
    stage.say_message(&output(viewer, b"early"));
    // A round trip to the runner: afterwards the output has arrived.
    stage
        .call("panes.takeOver", json!({"channel": 1}))
        .await
        .unwrap();
    assert_eq!(stage.told_call().await, Call::TakeOver { terminal });
    assert!(stage.events.try_recv().is_err());
    assert_eq!(reply.value["channel"], 1);
    drop(reply);
    let expected = PaneEvent::Data {
        channel: 1,
        data: Bytes::from_static(b"early"),
    };
    assert_eq!(stage.events.recv().await, Some(expected));
}

#[tokio::test]
async fn the_runner_hears_what_a_client_took_and_not_before() {
    let (mut stage, _, reply, viewer) = attached().await;
    drop(reply);
    stage.say_message(&output(viewer, b"four"));
    stage.events.recv().await.unwrap();
    stage.caller.took(1, 4);
    assert_eq!(
        stage.told().await,
        Told::Message(ToRunner::Took { viewer, bytes: 4 })
    );
}

#[tokio::test]
async fn only_a_person_who_has_taken_over_types() {
    let (mut stage, terminal, _reply, _) = attached().await;
    stage.caller.typed(1, Bytes::from_static(b"ignored"));
    stage
        .call("panes.takeOver", json!({"channel": 1}))
        .await
        .unwrap();
    assert_eq!(stage.told_call().await, Call::TakeOver { terminal });
    stage.caller.typed(1, Bytes::from_static(b"typed"));
    assert_eq!(stage.told().await, Told::Keystrokes(b"typed".to_vec()));
    stage
        .call("panes.release", json!({"channel": 1}))
        .await
        .unwrap();
    assert_eq!(stage.told_call().await, Call::Release { terminal });
    stage.caller.typed(1, Bytes::from_static(b"ignored"));
    stage
        .call("panes.detach", json!({"channel": 1}))
        .await
        .unwrap();
    assert!(matches!(stage.told_call().await, Call::Unwatch { .. }));
}

#[tokio::test]
async fn a_client_that_goes_away_gives_the_terminal_back_and_stops_watching() {
    let (mut stage, terminal, reply, viewer) = attached().await;
    stage
        .call("panes.takeOver", json!({"channel": 1}))
        .await
        .unwrap();
    stage.told_call().await;
    drop(reply);
    (stage.caller, stage.events) = crate::testing::caller(crate::testing::uid());
    assert_eq!(stage.told_call().await, Call::Release { terminal });
    assert_eq!(stage.told_call().await, Call::Unwatch { viewer });
}

#[tokio::test]
async fn channels_count_up_and_are_never_reused() {
    let (stage, terminal, reply, _) = attached().await;
    assert_eq!(reply.value["channel"], 1);
    stage
        .call("panes.detach", json!({"channel": 1}))
        .await
        .unwrap();
    let chats = stage.call("chats.list", json!({})).await.unwrap().value;
    let params = json!({"chatId": chats["chats"][0]["id"], "terminalId": terminal});
    let again = stage.call("panes.attach", params).await.unwrap();
    assert_eq!(again.value["channel"], 2);
    assert_eq!(
        stage
            .call("panes.takeOver", json!({"channel": 1}))
            .await
            .unwrap_err()
            .code,
        400
    );
}

#[tokio::test]
async fn a_pane_ends_with_its_terminal_and_with_its_runner() {
    let (mut stage, _, reply, viewer) = attached().await;
    drop(reply);
    stage.say(&FromRunner::Ended { viewer });
    let ended = PaneEvent::Notification(Notification::PaneEnded { channel: 1 });
    assert_eq!(stage.events.recv().await, Some(ended.clone()));
    stage.kill();
    assert_eq!(stage.events.recv().await, Some(ended));
}

#[tokio::test]
async fn a_terminal_whose_screen_expired_cannot_be_watched_and_says_why() {
    let stage = Stage::new(|call| match call {
        Call::Watch { terminal, .. } => Some(Err(wire::Refusal::no_terminal(terminal))),
        other => usual(other),
    })
    .await;
    let chat = stage.chat().await;
    let terminal = stage.open(chat).await;
    let params = json!({"chatId": chat, "terminalId": terminal});
    let refusal = stage.call("panes.attach", params).await.unwrap_err();
    assert!(
        refusal.to_string().contains("its screen has expired"),
        "{refusal}"
    );
}
