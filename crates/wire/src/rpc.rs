//! JSON-RPC 2.0 envelopes and the table of methods: name, params, reply, access.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool::{Access, ToolReply};
use crate::{ChatId, Kind, Refusal, Size, TerminalId};

/// A request, or a notification when it has no id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Always `2.0`.
    pub jsonrpc: Version,
    /// Chosen by the caller; string or number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Value>,
    /// A name of the table.
    pub method: String,
    /// An object, or absent.
    #[serde(default)]
    pub params: Value,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// Always `2.0`.
    pub jsonrpc: Version,
    /// The request's id; null when it could not be read.
    pub id: Value,
    /// What it came to.
    #[serde(flatten)]
    pub result: Outcome,
}

/// Success or refusal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The method's reply.
    Result(Value),
    /// Why there is none.
    Error(ErrorObject),
}

/// An error as JSON-RPC has it: reason and hint lie in `data`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorObject {
    /// An HTTP-like code, or one of JSON-RPC's own.
    pub code: i32,
    /// A stable word.
    pub message: String,
    /// Reason, hint and what else is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// The version of the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Version {
    /// 2.0
    #[default]
    #[serde(rename = "2.0")]
    Two,
}

impl Response {
    /// Wraps what a method came to.
    pub fn new(id: Value, result: Result<Value, Refusal>) -> Self {
        let result = match result {
            Ok(value) => Outcome::Result(value),
            Err(refusal) => Outcome::Error(refusal.into()),
        };
        Self {
            jsonrpc: Version::Two,
            id,
            result,
        }
    }
}

impl From<Refusal> for ErrorObject {
    fn from(refusal: Refusal) -> Self {
        let mut data = serde_json::Map::new();
        if let Some(reason) = refusal.reason {
            data.insert("reason".to_owned(), reason.into());
        }
        if let Some(hint) = refusal.hint {
            data.insert("hint".to_owned(), hint.into());
        }
        if let Some(bytes) = refusal.accepted_bytes {
            data.insert("acceptedBytes".to_owned(), bytes.into());
        }
        Self {
            code: i32::from(refusal.code),
            message: refusal.message.to_string(),
            data: (!data.is_empty()).then_some(Value::Object(data)),
        }
    }
}

/// How a client reads a refusal back. A word that this version does not know becomes `internal`,
/// its code kept.
impl From<ErrorObject> for Refusal {
    fn from(error: ErrorObject) -> Self {
        let kind =
            serde_json::from_value(Value::String(error.message.clone())).unwrap_or(Kind::Internal);
        let data = error.data.unwrap_or_default();
        let text = |key: &str| data.get(key).and_then(Value::as_str).map(str::to_owned);
        Self {
            code: u16::try_from(error.code).unwrap_or(500),
            message: kind,
            reason: text("reason").or(Some(error.message)),
            hint: text("hint"),
            accepted_bytes: data.get("acceptedBytes").and_then(Value::as_u64),
        }
    }
}

macro_rules! methods {
    ($($(#[doc = $doc:literal])* $variant:ident($name:literal, $access:expr): $params:ty => $reply:ty;)*) => {
        /// A call of one of our methods whose params have the right shape.
        #[derive(Clone, Debug)]
        pub enum Call {
            $($(#[doc = $doc])* $variant($params),)*
        }

        impl Call {
            /// Reads the params of the method with this name.
            ///
            /// # Errors
            /// 404 for an unknown method, 400 with the field's name for params that do not fit.
            pub fn parse(method: &str, params: Value) -> Result<Self, Refusal> {
                match method {
                    $($name => crate::read::object(params).map(Self::$variant),)*
                    _ => Err(Refusal::new(Kind::MethodNotFound, format!("no method is named {method:?}"))),
                }
            }

            /// What the caller must have been granted; none for what everyone who is signed in may
            /// do.
            pub fn access(&self) -> Option<Access> {
                match self { $(Self::$variant(_) => $access,)* }
            }
        }

        $(impl Method for $params {
            const NAME: &'static str = $name;
            type Reply = $reply;
        })*
    };
}

/// Ties params to the method's name and reply, for clients.
pub trait Method: Serialize {
    /// The method's name.
    const NAME: &'static str;
    /// What it answers with.
    type Reply: serde::de::DeserializeOwned;
}

methods! {
    /// Who answers: version and process.
    ServerInfo("server.info", None): ServerInfo => ServerInfoReply;
    /// Makes a chat.
    ChatsCreate("chats.create", None): ChatsCreate => ChatReply;
    /// The chat of the terminal that the caller runs in; outside of one a new chat, as
    /// `chats.create` makes it.
    ChatsJoin("chats.join", None): ChatsJoin => ChatReply;
    /// The caller's open chats, newest first.
    ChatsList("chats.list", None): ChatsList => ChatsReply;
    /// Closes a chat and its terminals.
    ChatsClose("chats.close", None): ChatsClose => Empty;
    /// Calls a tool.
    ToolsCall("tools.call", Some(Access::Terminals)): ToolsCall => ToolReply;
    /// Watches a terminal of a chat.
    PanesAttach("panes.attach", Some(Access::Terminals)): PanesAttach => PaneReply;
    /// Stops watching.
    PanesDetach("panes.detach", Some(Access::Terminals)): PanesDetach => Empty;
    /// A person takes the terminal over: from now on binary messages on the channel are typed into
    /// it.
    PanesTakeOver("panes.takeOver", Some(Access::Terminals)): PanesTakeOver => Empty;
    /// Gives the terminal back to the agent.
    PanesRelease("panes.release", Some(Access::Terminals)): PanesRelease => Empty;
}

macro_rules! params {
    ($($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name { $($(#[$fdoc])* pub $field: $type,)* }
    )*};
}

params! {
    /// Params of `server.info`.
    ServerInfo {}
    /// Params of `chats.create`.
    ChatsCreate {
        /// What people call it; default: the folder's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Its folder; default: the caller's working directory, else their home.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<PathBuf>,
        /// The environment that its terminals get; less what looks like a secret. From clients on
        /// the same machine.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        env: Option<Vec<(String, String)>>,
    }
    /// Params of `chats.join`, for the chat that may have to be made.
    ChatsJoin {
        /// What people call it; default: the folder's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Its folder; default: the caller's working directory, else their home.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<PathBuf>,
        /// The environment that its terminals get; less what looks like a secret.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        env: Option<Vec<(String, String)>>,
    }
    /// Params of `chats.list`.
    ChatsList {}
    /// An answer without content.
    Empty {}
}

impl From<ChatsJoin> for ChatsCreate {
    fn from(params: ChatsJoin) -> Self {
        let ChatsJoin { title, folder, env } = params;
        Self { title, folder, env }
    }
}

/// Params of `chats.close`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChatsClose {
    /// Which chat.
    pub chat_id: ChatId,
}

/// Params of `tools.call`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolsCall {
    /// In which chat; default: one per working directory of the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat_id: Option<ChatId>,
    /// The tool.
    pub name: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Value,
    /// The caller's working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// The caller's environment, for a chat that the call makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Vec<(String, String)>>,
    /// A plain command or `until` that still runs after so many milliseconds is answered with its
    /// job's id, and goes on. For transports whose calls may not last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_ms: Option<u64>,
}

/// Params of `panes.attach`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PanesAttach {
    /// Whose terminal.
    pub chat_id: ChatId,
    /// Which terminal.
    pub terminal_id: TerminalId,
    /// Go on from this offset if it is still retained; else, and by default, a keyframe comes
    /// first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
}

macro_rules! on_channel {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name {
            /// From `panes.attach`.
            pub channel: u32,
        }
    )*};
}

on_channel! {
    /// Params of `panes.detach`.
    PanesDetach;
    /// Params of `panes.takeOver`.
    PanesTakeOver;
    /// Params of `panes.release`.
    PanesRelease;
}

/// Reply of `server.info`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerInfoReply {
    /// Of the program.
    pub version: String,
    /// The server's process.
    pub pid: u32,
}

/// A chat as clients see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Chat {
    /// Its id.
    pub id: ChatId,
    /// What people call it.
    pub title: String,
    /// Where its terminals start.
    pub folder: PathBuf,
    /// RFC 3339, UTC.
    pub created: String,
}

/// Reply of `chats.create`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatReply {
    /// The new chat.
    pub chat: Chat,
}

/// Reply of `chats.list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatsReply {
    /// Newest first.
    pub chats: Vec<Chat>,
}

/// Reply of `panes.attach`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaneReply {
    /// Carries the output, and input once the terminal is taken over.
    pub channel: u32,
    /// The terminal's size.
    pub size: Size,
    /// Where output goes on; none when a keyframe comes first.
    pub from: Option<u64>,
}

/// Notifications, in the past tense.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "method", content = "params", rename_all_fields = "camelCase")]
pub enum Notification {
    /// The next `bytes` bytes on the channel repaint a blank terminal of this size.
    #[serde(rename = "pane.repainted")]
    PaneRepainted {
        /// From `panes.attach`.
        channel: u32,
        /// The terminal's size.
        size: Size,
        /// What the keyframe stands for; output goes on from there.
        offset: u64,
        /// Length of the keyframe.
        bytes: u64,
    },
    /// From here on the terminal has another size.
    #[serde(rename = "pane.resized")]
    PaneResized {
        /// From `panes.attach`.
        channel: u32,
        /// The new size.
        size: Size,
    },
    /// The last byte of an exited terminal was sent.
    #[serde(rename = "pane.ended")]
    PaneEnded {
        /// From `panes.attach`.
        channel: u32,
    },
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn refusals_travel_as_json_rpc_errors_and_come_back_whole() {
        let refusal = Refusal::invalid("cols is 0").hint("use 1 to 1000");
        let response = Response::new(json!(1), Err(refusal.clone()));
        let text = serde_json::to_value(&response).unwrap();
        assert_eq!(text["error"]["code"], 400);
        assert_eq!(text["error"]["message"], "invalid_params");
        assert_eq!(text["error"]["data"]["hint"], "use 1 to 1000");
        let Outcome::Error(error) = serde_json::from_value::<Response>(text).unwrap().result else {
            panic!()
        };
        assert_eq!(Refusal::from(error), refusal);
    }

    #[test]
    fn params_are_camel_case_and_checked() {
        assert!(
            Call::parse("chats.create", json!({"titel": "x"}))
                .unwrap_err()
                .to_string()
                .contains("titel")
        );
        let call = Call::parse("chats.close", json!({"chatId": "cs_0000000000000001"})).unwrap();
        assert!(matches!(call, Call::ChatsClose(_)));
        assert_eq!(Call::parse("chats.burn", json!({})).unwrap_err().code, 404);
    }
}
