//! The transports. They carry messages to the host's door and back, and know nothing of what they mean.

mod jsonrpc;
pub(crate) mod local;
pub(crate) mod mcp;
