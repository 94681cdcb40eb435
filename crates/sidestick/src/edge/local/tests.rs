//! The local edge from a client's side, over a host whose runners never start.

use std::sync::Arc;

use bytes::Bytes;
use host::frames::{Frames, write};
use host::store::Sqlite;
use host::{Caller, Host, Launcher, Launching, Peer, Permission, Settings, SocketPlace, Via};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use wire::ChatId;
use wire::frame::Message;

use super::*;

struct Stuck;

impl Launcher for Stuck {
    fn launch<'a>(&'a self, _: ChatId, _: &'a std::path::Path) -> Launching<'a> {
        Box::pin(std::future::pending())
    }
}

struct Client {
    _folder: TempDir,
    from: Frames<OwnedReadHalf>,
    to: OwnedWriteHalf,
    served: tokio::task::JoinHandle<io::Result<()>>,
}

impl Client {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            version: "9.9.9".to_owned(),
            uid: rustix::process::getuid().as_raw(),
            local: Permission::Allow,
            pass: Vec::new(),
            sockets: SocketPlace::new(folder.path().to_owned()),
        };
        let store = Arc::new(Sqlite::open(&folder.path().join("a.db")).unwrap());
        let host = Host::start(settings, store, Arc::new(Stuck)).await.unwrap();
        let (ours, theirs) = UnixStream::pair().unwrap();
        let peer = Peer {
            uid: rustix::process::getuid().as_raw(),
            pid: None,
            via: Via::Local,
        };
        let (caller, events) = Caller::new(peer);
        let served = tokio::spawn(connection::run(theirs, host, Arc::new(caller), events));
        let (from, to) = ours.into_split();
        Self {
            _folder: folder,
            from: Frames::new(from, 1 << 20),
            to,
            served,
        }
    }

    async fn send(&mut self, text: impl Into<Bytes>) {
        write(&mut self.to, &Message::Text(text.into()))
            .await
            .unwrap();
    }

    async fn json(&mut self) -> Value {
        match self.from.next().await.unwrap() {
            Some(Message::Text(text)) => serde_json::from_slice(&text).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    async fn ask(&mut self, request: Value) -> Value {
        self.send(request.to_string()).await;
        self.json().await
    }
}

#[tokio::test]
async fn a_request_is_answered_with_its_id_and_a_notification_not_at_all() {
    let mut client = Client::new().await;
    client
        .send(json!({"jsonrpc": "2.0", "method": "server.info"}).to_string())
        .await;
    let reply = client
        .ask(json!({"jsonrpc": "2.0", "id": "a", "method": "server.info"}))
        .await;
    assert_eq!(
        (&reply["id"], &reply["result"]["version"]),
        (&json!("a"), &json!("9.9.9"))
    );
}

#[tokio::test]
async fn a_batch_is_answered_together_and_in_order() {
    let mut client = Client::new().await;
    let reply = client
        .ask(json!([
            {"jsonrpc": "2.0", "id": 1, "method": "chats.list"},
            {"jsonrpc": "2.0", "method": "chats.list"},
            {"jsonrpc": "2.0", "id": 2, "method": "chats.burn"},
            7,
        ]))
        .await;
    let shapes: Vec<_> = reply
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (&it["id"], &it["error"]["code"]))
        .collect();
    assert_eq!(
        shapes,
        [
            (&json!(1), &Value::Null),
            (&json!(2), &json!(-32_601)),
            (&Value::Null, &json!(-32_600))
        ]
    );
}

#[tokio::test]
async fn what_is_no_json_is_answered_and_the_connection_goes_on() {
    let mut client = Client::new().await;
    client.send("{").await;
    assert_eq!(client.json().await["error"]["code"], -32_700);
    let reply = client
        .ask(json!({"jsonrpc": "2.0", "id": 1, "method": "chats.close", "params": {"chatId": 3}}))
        .await;
    assert_eq!(reply["error"]["code"], 400);
    assert_eq!(reply["error"]["message"], "invalid_params");
}

#[tokio::test]
async fn a_slow_call_does_not_hold_up_the_next_one() {
    let mut client = Client::new().await;
    let call = json!({"name": "bash", "arguments": {"command": "x"}, "cwd": "/"});
    client
        .send(
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools.call", "params": call}).to_string(),
        )
        .await;
    let reply = client
        .ask(json!({"jsonrpc": "2.0", "id": 2, "method": "server.info"}))
        .await;
    assert_eq!(reply["id"], 2);
    let reply = client
        .ask(json!({"jsonrpc": "2.0", "id": 3, "method": "rpc.cancel", "params": {"id": 9}}))
        .await;
    assert_eq!(reply["result"], json!({}));
}

#[tokio::test]
async fn calls_beyond_the_bound_are_refused_and_not_queued() {
    let mut client = Client::new().await;
    let call = json!({"name": "bash", "arguments": {"command": "x"}, "cwd": "/"});
    for id in 0..256 {
        client
            .send(
                json!({"jsonrpc": "2.0", "id": id, "method": "tools.call", "params": call})
                    .to_string(),
            )
            .await;
    }
    let reply = client
        .ask(json!({"jsonrpc": "2.0", "id": 999, "method": "server.info"}))
        .await;
    assert_eq!(
        (&reply["id"], &reply["error"]["code"]),
        (&json!(999), &json!(429))
    );
}

fn stuck(id: Value) -> Value {
    let call = json!({"name": "bash", "arguments": {"command": "x"}, "cwd": "/"});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools.call", "params": call})
}

#[tokio::test]
async fn a_batch_that_does_not_fit_is_refused_as_a_whole() {
    let mut client = Client::new().await;
    for part in ["a", "b"] {
        let batch: Vec<_> = (0..128)
            .map(|n| stuck(json!(format!("{part}{n}"))))
            .collect();
        client.send(json!(batch).to_string()).await;
    }
    let info = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "server.info"});
    let reply = client.ask(json!([info(1), info(2)])).await;
    for (place, id) in [(0, 1), (1, 2)] {
        assert_eq!(reply[place]["id"], id, "{reply}");
        assert_eq!(reply[place]["error"]["message"], "rate_limited", "{reply}");
    }
    let reply = client
        .ask(json!({"jsonrpc": "2.0", "id": 3, "method": "rpc.cancel", "params": {"id": "a0"}}))
        .await;
    assert_eq!(reply["result"], json!({}), "a cancellation needs no place");
}

#[tokio::test]
async fn a_batch_of_more_parts_than_calls_may_run_has_one_answer() {
    let mut client = Client::new().await;
    let batch: Vec<_> = (0..257)
        .map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "server.info"}))
        .collect();
    let reply = client.ask(json!(batch)).await;
    assert_eq!(reply["id"], Value::Null, "{reply}");
    assert_eq!(reply["error"]["code"], 429, "{reply}");
    assert!(reply["error"]["data"]["hint"].is_string(), "{reply}");
}

#[tokio::test]
async fn a_client_that_does_not_read_is_read_no_more() {
    let mut client = Client::new().await;
    // Each answer repeats the id, and so is as long as the request.
    let request = json!({"jsonrpc": "2.0", "id": "x".repeat(100_000), "method": "rpc.cancel"});
    let message = Bytes::from(request.to_string());
    let mut sent = 0;
    while sent < 200 {
        let one = tokio::time::timeout(
            std::time::Duration::from_secs(1),
            client.send(message.clone()),
        );
        match one.await {
            Ok(()) => sent += 1,
            Err(_) => break,
        }
    }
    assert!(sent < 200, "everything was read");
    for _ in 0..sent {
        assert_eq!(client.json().await["result"], json!({}));
    }
}

#[tokio::test]
async fn an_id_that_is_under_way_cannot_be_used_again() {
    let mut client = Client::new().await;
    client.send(stuck(json!("twice")).to_string()).await;
    let second = json!({"jsonrpc": "2.0", "id": "twice", "method": "server.info"});
    for _ in 0..2 {
        let reply = client.ask(second.clone()).await;
        assert_eq!(reply["error"]["message"], "invalid_params", "{reply}");
        assert_eq!(reply["error"]["code"], 400, "{reply}");
    }
    let reply = client
        .ask(json!({"jsonrpc": "2.0", "id": "other", "method": "server.info"}))
        .await;
    assert_eq!(reply["result"]["version"], "9.9.9", "{reply}");
}

#[tokio::test]
async fn a_message_beyond_its_bound_ends_the_connection_before_it_is_read() {
    let mut client = Client::new().await;
    use tokio::io::AsyncWriteExt;
    client
        .to
        .write_all(&[0x7f, 0xff, 0xff, 0xff, 0])
        .await
        .unwrap();
    let error = client.served.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}

#[tokio::test]
async fn a_client_that_goes_away_ends_its_calls() {
    let mut client = Client::new().await;
    let call = json!({"name": "bash", "arguments": {"command": "x"}, "cwd": "/"});
    client
        .send(
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools.call", "params": call}).to_string(),
        )
        .await;
    drop((client.from, client.to));
    client.served.await.unwrap().unwrap();
}
