//! One table for every tool. The agent, MCP clients, JSON-RPC and the command line read it; none repeats it.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Refusal;
use crate::bash::BashArgs;
use crate::jobs::JobsArgs;

/// What a caller must have been granted before a tool runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Drive the terminals of a chat.
    Terminals,
}

/// A tool as models and clients see it.
#[derive(Clone, Debug, Serialize)]
pub struct ToolSpec {
    /// The stable name.
    pub name: &'static str,
    /// A title for people.
    pub title: &'static str,
    /// What the model reads; at most [`crate::limits::DESCRIPTION_UNITS`].
    pub description: String,
    /// JSON Schema of the arguments, whole, without `$ref`.
    pub input_schema: Value,
    /// What the caller must have been granted.
    #[serde(skip)]
    pub access: Access,
}

/// What a tool answers with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolReply {
    /// What the model reads.
    pub text: String,
    /// The structured details, for user interfaces and programs.
    pub details: Value,
}

macro_rules! tools {
    ($($(#[doc = $doc:literal])* $variant:ident($name:literal, $title:literal, $access:expr): $args:ty;)*) => {
        /// A call to one of our tools whose arguments have the right shape.
        #[derive(Clone, Debug)]
        pub enum ToolCall {
            $(#[doc = $title] $variant($args),)*
        }

        impl ToolCall {
            /// Reads the arguments of the tool with this name.
            ///
            /// # Errors
            /// 404 for an unknown tool, 400 with the field's name for arguments that do not fit.
            pub fn parse(name: &str, args: Value) -> Result<Self, Refusal> {
                match name {
                    $($name => crate::read::object::<$args>(args).map(Self::$variant),)*
                    _ => Err(Refusal::new(crate::Kind::MethodNotFound, format!("no tool is named {name:?}"))
                        .hint(concat!("the tools are" $(, " ", $name)*))),
                }
            }

            /// What the caller must have been granted.
            pub fn access(&self) -> Access {
                match self { $(Self::$variant(_) => $access,)* }
            }
        }

        /// Every tool, in the order of the table.
        pub fn tool_specs() -> Vec<ToolSpec> {
            vec![$(ToolSpec {
                name: $name,
                title: $title,
                description: [$($doc.trim()),*].join("\n"),
                input_schema: schema::<$args>(),
                access: $access,
            },)*]
        }
    };
}

tools! {
    /// Drives live terminals, and runs plain commands.
    ///
    /// Without `action`: runs `command` to its end with no terminal; returns exit code and output. With `run_in_background` it becomes a job at once (tool `jobs`); `until` polls a shell condition and answers when it succeeds.
    /// With `action`: `open` a program in a terminal, then `type` text and keys, press `keys`, `wait`, read the `screen`, `resize`, `close`, `list`.
    ///
    /// - `type` does not press Enter: add `keys: ["Enter"]`. Put `wait_for` into the same call, so that no answer is missed.
    /// - Match response or status text, not the echo of your own input; matching is literal and case-sensitive.
    /// - Choose a distinct marker for each request; `marker_was_visible` means that the match proves nothing new.
    /// - Batch keys whose order is known; look at the screen when the next choice depends on it.
    /// - Confirm a selection on the screen before the next prompt.
    /// - Quiet is not done, and exit is not success: read the screen.
    /// - A timeout means only that the condition was not seen; `wait` again instead of polling `screen`.
    /// - Unknown key names are sent as literal text and reported in `unknown_keys`.
    /// - Observations keep at most 2,000 units of the screen; `screen` returns all of it. Each replaces older ones of the same terminal.
    /// - `taken_over` means that a person is driving: wait until they release the terminal.
    Bash("bash", "Terminal", Access::Terminals): BashArgs;
    /// Looks after what runs in the background: commands started with `run_in_background`, conditions given to `until`, plain commands that outlasted their call, and terminals.
    ///
    /// - `list`: running and recent jobs; a terminal has a `terminal_id`.
    /// - `log`: output of a job, by `from_line` (counted from 0) or the last `tail` lines. Line numbers stay true when the middle of a long log was dropped.
    /// - `wait`: until the job has ended, at most `wait_timeout_ms`; still running is no failure, wait again. Cancelling the wait for an `until` stops it.
    /// - `stop`: ends all processes of the job, and answers when none is left.
    ///
    /// Exit is not success: look at the exit code and the log. Stop what is no longer needed.
    Jobs("jobs", "Jobs", Access::Terminals): JobsArgs;
}

/// Inlined, since models and some clients do not follow `$ref`.
fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|it| {
        it.inline_subschemas = true;
        it.meta_schema = None;
    });
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.remove("description");
    }
    plain(&mut schema);
    schema
}

/// Optional fields are told by their absence from `required`; a `null` beside the type only confuses models.
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.remove("default");
            let format = map.get("format").and_then(Value::as_str);
            if format.is_some_and(|it| it.starts_with("uint")) {
                map.remove("format");
            }
            if let Some(Value::String(about)) = map.get_mut("description") {
                // Where the source breaks a line says nothing.
                *about = about.replace('\n', " ");
            }
            without_null_type(map);
            without_null_part(map);
            cases_as_enum(map);
            map.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

fn without_null_type(map: &mut Map<String, Value>) {
    let Some(Value::Array(kinds)) = map.get_mut("type") else {
        return;
    };
    kinds.retain(|it| it != "null");
    if let [only] = kinds.as_slice() {
        let only = only.clone();
        map.insert("type".to_owned(), only);
    }
}

fn without_null_part(map: &mut Map<String, Value>) {
    let Some(Value::Array(parts)) = map.get_mut("anyOf") else {
        return;
    };
    parts.retain(|it| it["type"] != "null");
    if parts.len() == 1
        && let Some(Value::Object(only)) = parts.pop()
    {
        map.remove("anyOf");
        let about = map.remove("description");
        map.extend(only);
        map.extend(about.map(|it| ("description".to_owned(), it)));
    }
}

/// Words with a sentence each become one enum; the sentences go into its description.
fn cases_as_enum(map: &mut Map<String, Value>) {
    let Some(Value::Array(cases)) = map.remove("oneOf") else {
        return;
    };
    let words: Vec<Value> = cases
        .iter()
        .filter_map(|it| it.get("const").cloned())
        .collect();
    let note = |it: &Value| {
        let (word, about) = (it["const"].as_str()?, it["description"].as_str()?);
        Some(format!("{word}: {about}"))
    };
    let notes: Vec<String> = cases.iter().filter_map(note).collect();
    map.insert("type".to_owned(), "string".into());
    map.insert("enum".to_owned(), Value::Array(words));
    let about = map
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let about = format!("{about} {}", notes.join(" "));
    map.insert("description".to_owned(), about.trim().into());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_committed_tools_json_is_what_the_table_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tools.json");
        let now = serde_json::to_string_pretty(&tool_specs()).unwrap() + "\n";
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(path, &now).unwrap();
        }
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            committed == now,
            "run the test with UPDATE_GOLDEN=1 and review the change of tools.json"
        );
    }

    #[test]
    fn models_get_a_short_description_and_a_flat_schema() {
        for spec in tool_specs() {
            let units = spec.description.encode_utf16().count();
            assert!(
                units <= crate::limits::DESCRIPTION_UNITS,
                "{} has {units} units",
                spec.name
            );
            let schema = spec.input_schema.to_string();
            for word in ["$ref", "oneOf", "anyOf", "null"] {
                assert!(!schema.contains(word), "{}: {word} in {schema}", spec.name);
            }
        }
    }

    #[test]
    fn an_unknown_field_is_refused_by_its_name() {
        let refusal =
            ToolCall::parse("bash", json!({"action": "open", "comand": "vim"})).unwrap_err();
        assert!(refusal.to_string().contains("`comand`"), "{refusal}");
        for (args, field) in [
            (json!({"cols": "80"}), "cols: "),
            (json!({"keys": "Enter"}), "keys: "),
            (json!({"keys": [1]}), "keys[0]: "),
            (json!({"rows": -1}), "rows: "),
            (json!({"terminal_id": 5}), "terminal_id: "),
        ] {
            let refusal = ToolCall::parse("bash", args).unwrap_err();
            assert!(refusal.to_string().starts_with(field), "{refusal}");
        }
        let refusal = ToolCall::parse("bash", json!({"action": "until"})).unwrap_err();
        assert!(
            refusal.to_string().contains("leave action out"),
            "{refusal}"
        );
        let refusal = ToolCall::parse("bash", json!({"action": "burn"})).unwrap_err();
        assert!(
            refusal.to_string().contains("unknown variant `burn`"),
            "{refusal}"
        );
        assert_eq!(ToolCall::parse("bsh", json!({})).unwrap_err().code, 404);
    }
}
