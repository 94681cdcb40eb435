//! `sidestick mcp`: the tools for MCP clients, on standard input and output. The only module that names the SDK.
//!
//! Invariant: what the model reads goes into `content`, and the complete snapshot into `_meta`; never into
//! `structuredContent`, which some clients hand to the model in place of the bounded text.

mod progress;
mod session;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, MetaObject, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::io::stdio_pipes;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::Value;
use tracing::Level;
use wire::Refusal;
use wire::tool::{ToolReply, ToolSpec, tool_specs};

use crate::{client, log};
use progress::Progress;
use session::Session;

/// Where the structured details lie in a result's `_meta`.
const DETAILS: &str = "sidestick/details";

/// What a model is told before it sees the tools.
const INSTRUCTIONS: &str = "Sidestick drives real terminals: open a program with the tool bash, type into it, wait for \
text on its screen, read the screen. Terminals live on between calls and after this session; a person can watch them \
and take them over. Close those that you no longer need.";

/// Serves one client until it closes standard input.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    log::start(Level::WARN);
    let runtime = client::runtime()?;
    let ended = runtime.block_on(async {
        let service = Server::default()
            .serve(stdio_pipes())
            .await
            .context("the MCP client")?;
        service.waiting().await.context("the MCP client")?;
        anyhow::Ok(())
    });
    // Not dropped: a read of standard input may block a thread of it for ever.
    runtime.shutdown_background();
    ended.map(|()| ExitCode::SUCCESS)
}

/// Answers a client. It joins the server at the first call and not before, so that `initialize` waits for nothing.
#[derive(Default)]
struct Server {
    session: Arc<Session>,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(
                Implementation::new("sidestick", env!("CARGO_PKG_VERSION")).with_title("Sidestick"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(
            tool_specs().into_iter().map(tool).collect(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let client = context.client_info().map(|it| it.title.unwrap_or(it.name));
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let progress = Progress::new(&context, &request.name, &arguments);
        let result = tokio::select! {
            result = self.session.call(client, &request.name, arguments) => result,
            never = progress.tell() => match never {},
            // Dropping the call cancels it at the server; the client expects no answer.
            () = context.ct.cancelled() => Err(Refusal::invalid("the call was cancelled")),
        };
        Ok(answer(result).into())
    }
}

fn tool(spec: ToolSpec) -> Tool {
    let schema = match spec.input_schema {
        Value::Object(schema) => schema,
        _ => serde_json::Map::new(),
    };
    let annotations = ToolAnnotations::with_title(spec.title)
        .read_only(false)
        .destructive(true)
        .idempotent(false)
        .open_world(true);
    Tool::new(spec.name, spec.description, schema)
        .with_title(spec.title)
        .with_annotations(annotations)
}

fn answer(result: Result<ToolReply, Refusal>) -> CallToolResult {
    match result {
        Ok(reply) => {
            let mut meta = MetaObject::new();
            meta.0.insert(DETAILS.to_owned(), reply.details);
            CallToolResult::success(vec![ContentBlock::text(reply.text)]).with_meta(Some(meta))
        }
        Err(refusal) => {
            let text = format!("{} {}: {refusal}", refusal.code, refusal.message);
            let mut meta = MetaObject::new();
            meta.0
                .insert(DETAILS.to_owned(), serde_json::json!({ "error": refusal }));
            CallToolResult::error(vec![ContentBlock::text(text)]).with_meta(Some(meta))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn details_go_into_meta_and_never_into_structured_content() {
        let reply = ToolReply {
            text: "seen".to_owned(),
            details: json!({"action": "screen"}),
        };
        let result = serde_json::to_value(answer(Ok(reply))).unwrap();
        assert_eq!(result["content"][0]["text"], "seen");
        assert_eq!(result["_meta"][DETAILS]["action"], "screen");
        assert!(result.get("structuredContent").is_none());
        assert_ne!(result["isError"], true);
    }

    #[test]
    fn a_refusal_is_an_error_whose_text_says_what_to_do() {
        let result = serde_json::to_value(answer(Err(Refusal::no_terminal("tm_x")))).unwrap();
        assert_eq!(result["isError"], true);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(
            text.starts_with("404 terminal_not_found: ") && text.contains("list the terminals"),
            "{text}"
        );
    }

    #[test]
    fn tools_are_listed_without_an_output_schema() {
        for spec in tool_specs() {
            let tool = serde_json::to_value(tool(spec)).unwrap();
            assert!(tool.get("outputSchema").is_none());
            assert_eq!(tool["annotations"]["readOnlyHint"], false);
            assert_eq!(tool["inputSchema"]["type"], "object");
        }
    }
}
