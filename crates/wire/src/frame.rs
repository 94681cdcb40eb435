//! Messages on a byte stream: 4 bytes of length, big-endian, a byte that tells text from binary,
//! then the payload.
//!
//! A WebSocket gives the same two kinds of messages; over a Unix socket this codec does. Binary
//! messages carry a 4-byte big-endian channel number and data, as they do over a WebSocket.

use bytes::{Buf, BufMut, Bytes, BytesMut};

/// Length and kind.
const HEAD: usize = 5;

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// JSON.
    Text(Bytes),
    /// Terminal data.
    Binary(Bytes),
}

/// The peer does not keep to the format; the connection is of no more use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadFrame {
    /// Longer than the reader takes.
    #[error("a message of {got} bytes is longer than the {limit} that are taken")]
    TooLong {
        /// Announced.
        got: usize,
        /// Taken at most.
        limit: usize,
    },
    /// Neither text nor binary.
    #[error("{0} is no kind of message")]
    UnknownKind(u8),
}

impl Message {
    /// Appends the message to what is to be sent.
    pub fn encode(&self, out: &mut BytesMut) {
        let (kind, payload) = match self {
            Self::Text(payload) => (0, payload),
            Self::Binary(payload) => (1, payload),
        };
        out.reserve(HEAD + payload.len());
        // A payload is bounded far below 4 GiB by the limits of both ends.
        out.put_u32(u32::try_from(payload.len()).unwrap_or(u32::MAX));
        out.put_u8(kind);
        out.put_slice(payload);
    }

    /// Takes one whole message off the front of `buffer`, if there is one.
    ///
    /// # Errors
    /// A length beyond `limit` is refused before its payload is buffered.
    pub fn decode(buffer: &mut BytesMut, limit: usize) -> Result<Option<Self>, BadFrame> {
        let Some(head) = buffer.first_chunk::<HEAD>() else {
            return Ok(None);
        };
        let [a, b, c, d, kind] = *head;
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if limit < length {
            return Err(BadFrame::TooLong { got: length, limit });
        }
        if 1 < kind {
            return Err(BadFrame::UnknownKind(kind));
        }
        if buffer.len() < HEAD + length {
            buffer.reserve(HEAD + length - buffer.len());
            return Ok(None);
        }
        buffer.advance(HEAD);
        let payload = buffer.split_to(length).freeze();
        Ok(Some(if kind == 0 {
            Self::Text(payload)
        } else {
            Self::Binary(payload)
        }))
    }
}

/// Splits a binary message into its channel and data; none under 4 bytes.
pub fn channel(message: &Bytes) -> Option<(u32, Bytes)> {
    let head = message.first_chunk::<4>()?;
    Some((u32::from_be_bytes(*head), message.slice(4..)))
}

/// Data on a channel as binary messages, each at most [`crate::limits::DATA_FRAME_BYTES`] with its
/// channel number.
pub fn data(channel: u32, data: &[u8]) -> impl Iterator<Item = Message> + '_ {
    data.chunks(crate::limits::DATA_FRAME_BYTES - 4)
        .map(move |part| {
            let mut out = BytesMut::with_capacity(4 + part.len());
            out.put_u32(channel);
            out.put_slice(part);
            Message::Binary(out.freeze())
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_oversized_length_is_refused_before_its_payload_arrives() {
        let mut buffer = BytesMut::from(&[0xff, 0xff, 0xff, 0xff, 0][..]);
        assert!(matches!(
            Message::decode(&mut buffer, 1 << 20),
            Err(BadFrame::TooLong { .. })
        ));
    }

    #[test]
    fn data_frames_keep_to_their_size() {
        let bytes = vec![7; 200_000];
        let mut total = 0;
        for message in data(3, &bytes) {
            let Message::Binary(payload) = message else {
                panic!("text")
            };
            assert!(payload.len() <= 65_536);
            let (number, part) = channel(&payload).unwrap();
            assert_eq!(number, 3);
            total += part.len();
        }
        assert_eq!(total, bytes.len());
    }

    proptest! {
        #[test]
        fn messages_survive_any_split(
            payloads in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..300)), 0..8),
            step in 1..40_usize,
        ) {
            let sent: Vec<Message> = payloads
                .into_iter()
                .map(|(text, bytes)| if text { Message::Text(bytes.into()) } else { Message::Binary(bytes.into()) })
                .collect();
            let mut wire = BytesMut::new();
            sent.iter().for_each(|it| it.encode(&mut wire));
            let (mut buffer, mut got) = (BytesMut::new(), Vec::new());
            for part in wire.chunks(step) {
                buffer.extend_from_slice(part);
                while let Some(message) = Message::decode(&mut buffer, 1000).unwrap() {
                    got.push(message);
                }
            }
            prop_assert_eq!(got, sent);
        }
    }
}
