//! The stream between server and runner: any bytes, in any pieces. What is read is written again and read back the same.
#![no_main]

use bytes::{Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wire::frame::Message;
use wire::limits::RUNNER_FRAME_BYTES;
use wire::runner::{FromRunner, Keystrokes, Output, ToRunner};

fuzz_target!(|data: &[u8]| {
    let Some((&piece, data)) = data.split_first() else {
        return;
    };
    let whole = messages(data, data.len().max(1));
    assert_eq!(
        messages(data, usize::from(piece).max(1)),
        whole,
        "where it was cut matters"
    );
    for message in whole {
        match message {
            Message::Text(text) => {
                round_trip::<ToRunner>(&text);
                round_trip::<FromRunner>(&text);
            }
            Message::Binary(payload) => {
                if let Some(output) = Output::decode(&payload) {
                    assert_eq!(output.encode(), payload);
                }
                if let Some(keys) = Keystrokes::decode(&payload) {
                    assert_eq!(keys.encode(), payload);
                }
            }
        }
    }
});

/// All messages until the end or a fault, read in pieces of this size.
fn messages(data: &[u8], piece: usize) -> Vec<Message> {
    let (mut buffer, mut found) = (BytesMut::new(), Vec::new());
    for part in data.chunks(piece) {
        buffer.extend_from_slice(part);
        loop {
            match Message::decode(&mut buffer, RUNNER_FRAME_BYTES) {
                Ok(Some(message)) => found.push(message),
                Ok(None) => break,
                Err(_) => return found,
            }
        }
    }
    found
}

fn round_trip<T: Serialize + DeserializeOwned + PartialEq>(text: &Bytes) {
    let Ok(message) = serde_json::from_slice::<T>(text) else {
        return;
    };
    let again = serde_json::to_vec(&message).unwrap();
    assert!(serde_json::from_slice::<T>(&again).is_ok_and(|it| it == message));
}
