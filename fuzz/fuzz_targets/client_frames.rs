//! What a client may send on the server's socket: frames, JSON-RPC in them, and data on channels.
#![no_main]

use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use wire::Refusal;
use wire::frame::{self, Message};
use wire::limits::MESSAGE_BYTES;
use wire::rpc::{Call, ErrorObject, Request, Response};

fuzz_target!(|data: &[u8]| {
    let mut buffer = BytesMut::from(data);
    while let Ok(Some(message)) = Message::decode(&mut buffer, MESSAGE_BYTES) {
        let mut again = BytesMut::new();
        message.encode(&mut again);
        assert_eq!(
            Message::decode(&mut again, MESSAGE_BYTES),
            Ok(Some(message.clone()))
        );
        match message {
            Message::Text(text) => request(&text),
            Message::Binary(payload) => {
                if let Some((channel, data)) = frame::channel(&payload) {
                    let parts: Vec<Message> = frame::data(channel, &data).collect();
                    assert!(parts.len() <= payload.len() / 65_000 + 1);
                }
            }
        }
    }
});

fn request(text: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(text) else {
        return;
    };
    if let Ok(response) = serde_json::from_value::<Response>(value.clone()) {
        let again = serde_json::to_value(&response).unwrap();
        assert_eq!(
            serde_json::from_value::<Response>(again).ok(),
            Some(response)
        );
    }
    let Ok(request) = serde_json::from_value::<Request>(value) else {
        return;
    };
    match Call::parse(&request.method, request.params) {
        Ok(call) => drop(call.access()),
        Err(refusal) => {
            let code = refusal.code;
            let back = Refusal::from(ErrorObject::from(refusal));
            assert_eq!(back.code, code);
        }
    }
}
