//! Reads arguments and params, and names the field that does not fit.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::Refusal;

/// Reads an object; `null` is one without fields, as some clients send it.
///
/// # Errors
/// 400 with the field's name.
pub(crate) fn object<T: DeserializeOwned>(value: Value) -> Result<T, Refusal> {
    let value = match value {
        Value::Null => Value::Object(Map::new()),
        Value::Object(_) => value,
        _ => return Err(Refusal::invalid("the arguments are not an object")),
    };
    serde_path_to_error::deserialize(value).map_err(|error| {
        let field = error.path().to_string();
        let what = error.into_inner().to_string();
        // A field that does not exist is named by the error itself.
        if field == "." || what.starts_with("unknown field") {
            Refusal::invalid(what)
        } else {
            Refusal::invalid(format!("{field}: {what}"))
        }
    })
}
