//! Reads JSON-RPC 2.0 texts: requests, notifications, batches. Pure.

use serde_json::{Value, json};
use wire::rpc::{ErrorObject, Outcome, Request, Response, Version};
use wire::{Kind, Refusal};

/// The text is no JSON.
const PARSE_ERROR: i32 = -32_700;
/// The JSON is no request.
const INVALID_REQUEST: i32 = -32_600;
/// The protocol's own name for an unknown method.
const METHOD_NOT_FOUND: i32 = -32_601;

/// What a text holds.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    /// One request, answered by one response.
    One(Item),
    /// Several, answered together.
    Batch(Vec<Item>),
}

/// One part of a text.
#[derive(Debug, PartialEq)]
pub(super) enum Item {
    /// To be carried out.
    Request(Request),
    /// No request; this is its answer.
    Bad(Box<Response>),
}

/// Reads a text. A batch of more than `most` parts is refused by one answer, since one for each part would be many
/// times as long as the text.
pub(super) fn read(text: &[u8], most: usize) -> Incoming {
    match serde_json::from_slice::<Value>(text) {
        Err(error) => Incoming::One(bad(Value::Null, PARSE_ERROR, &error.to_string())),
        Ok(Value::Array(parts)) if parts.is_empty() => {
            Incoming::One(bad(Value::Null, INVALID_REQUEST, "the batch is empty"))
        }
        Ok(Value::Array(parts)) if most < parts.len() => Incoming::One(too_many(parts.len(), most)),
        Ok(Value::Array(parts)) => Incoming::Batch(parts.into_iter().map(item).collect()),
        Ok(value) => Incoming::One(item(value)),
    }
}

/// Wraps what a call came to. An unknown method has the protocol's own code.
pub(super) fn answer(id: Value, known_method: Known, result: Result<Value, Refusal>) -> Response {
    let mut response = Response::new(id, result);
    if let (Known::No, Outcome::Error(error)) = (known_method, &mut response.result) {
        error.code = METHOD_NOT_FOUND;
    }
    response
}

/// Whether the table has the method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Yes,
    No,
}

fn item(value: Value) -> Item {
    let id = value
        .get("id")
        .filter(|it| it.is_string() || it.is_number())
        .cloned();
    let id = id.unwrap_or_default();
    match serde_json::from_value::<Request>(value) {
        Ok(request) if !matches!(request.id, None | Some(Value::String(_) | Value::Number(_))) => {
            bad(id, INVALID_REQUEST, "id is neither a string nor a number")
        }
        Ok(request) if !matches!(request.params, Value::Null | Value::Object(_)) => {
            bad(id, INVALID_REQUEST, "params is not an object")
        }
        Ok(request) => Item::Request(request),
        Err(error) => bad(id, INVALID_REQUEST, &error.to_string()),
    }
}

fn too_many(parts: usize, most: usize) -> Item {
    let reason = format!("the batch has {parts} parts, more than {most}");
    let refusal = Refusal::new(Kind::RateLimited, reason).hint("send several smaller batches");
    Item::Bad(Box::new(Response::new(Value::Null, Err(refusal))))
}

fn bad(id: Value, code: i32, reason: &str) -> Item {
    let message = if code == PARSE_ERROR {
        "parse_error"
    } else {
        "invalid_request"
    };
    let error = ErrorObject {
        code,
        message: message.to_owned(),
        data: Some(json!({ "reason": reason })),
    };
    Item::Bad(Box::new(Response {
        jsonrpc: Version::Two,
        id,
        result: Outcome::Error(error),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> (i32, Value) {
        match read(text.as_bytes(), 3) {
            Incoming::One(Item::Bad(response)) => match response.result {
                Outcome::Error(error) => (error.code, response.id),
                Outcome::Result(_) => panic!("{text}"),
            },
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn what_is_no_json_and_what_is_no_request_are_told_apart() {
        assert_eq!(code("{"), (PARSE_ERROR, Value::Null));
        assert_eq!(code("[]"), (INVALID_REQUEST, Value::Null));
        assert_eq!(code("7"), (INVALID_REQUEST, Value::Null));
        assert_eq!(
            code(r#"{"jsonrpc":"1.0","id":3,"method":"x"}"#),
            (INVALID_REQUEST, json!(3))
        );
        assert_eq!(
            code(r#"{"jsonrpc":"2.0","id":4,"method":"x","params":[1]}"#),
            (INVALID_REQUEST, json!(4))
        );
        assert_eq!(
            code(r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#),
            (INVALID_REQUEST, Value::Null)
        );
    }

    #[test]
    fn a_batch_of_too_many_parts_has_one_answer() {
        assert_eq!(code("[7,7,7,7]"), (429, Value::Null));
    }

    #[test]
    fn a_batch_keeps_its_order_and_its_bad_parts() {
        let text = r#"[{"jsonrpc":"2.0","id":1,"method":"a"},7,{"jsonrpc":"2.0","method":"b"}]"#;
        let Incoming::Batch(items) = read(text.as_bytes(), 3) else {
            panic!()
        };
        let [Item::Request(first), Item::Bad(_), Item::Request(last)] = items.as_slice() else {
            panic!()
        };
        assert_eq!((first.id.clone(), last.id.clone()), (Some(json!(1)), None));
    }
}
