//! MCP over standard input and output, as the coding clients speak it.

use serde_json::{Value, json};
use testkit::{Role, eventually};

use crate::home;

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn the_tool_is_described_shortly_and_promises_no_structured_content() {
    let home = home();
    let mut mcp = home.mcp();
    let server = mcp.initialize();
    assert_eq!(server["serverInfo"]["name"], "sidestick", "{server:#}");
    assert!(
        home.live(Role::Server).is_empty(),
        "saying hello starts no server"
    );
    let listed = mcp.call("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let bash = tools.iter().find(|it| it["name"] == "bash").unwrap();
    let units = bash["description"].as_str().unwrap().encode_utf16().count();
    assert!((1..=1_500).contains(&units), "{units} units");
    assert!(
        bash.get("outputSchema").is_none_or(Value::is_null),
        "{bash:#}"
    );
    assert_eq!(bash["inputSchema"]["type"], "object");
    assert!(!bash["inputSchema"].to_string().contains("$ref"));
}

#[test]
fn the_model_reads_text_and_the_details_lie_beside_it() {
    let home = home();
    let mut mcp = home.mcp();
    mcp.initialize();
    let result = mcp.bash(json!({"action": "open", "command": "cat"}));
    assert!(
        result.get("structuredContent").is_none_or(Value::is_null),
        "{result:#}"
    );
    let id = result["_meta"]["sidestick/details"]["terminal_id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(text(&result).contains(&id), "{result:#}");
    let result = mcp.bash(json!({"action": "type", "terminal_id": id, "text": "over mcp", "keys": ["Enter"], "wait_for": "over mcp"}));
    assert_eq!(
        result["_meta"]["sidestick/details"]["wait"]["outcome"],
        "matched"
    );
    assert!(text(&result).contains("over mcp"));
}

#[test]
fn a_refusal_is_an_error_result_with_a_sentence() {
    let home = home();
    let mut mcp = home.mcp();
    mcp.initialize();
    let result = mcp.bash(json!({"action": "open", "cols": 0}));
    assert_eq!(result["isError"], true, "{result:#}");
    assert!(text(&result).contains("cols"), "{result:#}");
    let result = mcp.bash(json!({"action": "screen", "terminal_id": "tm_0000000000000001"}));
    assert_eq!(result["isError"], true, "{result:#}");
    assert!(text(&result).contains("list"), "{result:#}");
}

#[test]
fn progress_is_told_while_a_wait_runs_and_other_calls_are_answered() {
    let home = home();
    let mut mcp = home.mcp();
    mcp.initialize();
    let id = mcp.bash(json!({"action": "open", "command": "cat"}))["_meta"]["sidestick/details"]["terminal_id"].clone();
    let wait =
        json!({"action": "wait", "terminal_id": id, "wait_for": "never", "wait_timeout_ms": 7_000});
    let params = json!({"name": "bash", "arguments": wait, "_meta": {"progressToken": "p1"}});
    let call = mcp.start_call("tools/call", params);
    let list = mcp.bash(json!({"action": "list"}));
    assert!(text(&list).contains(id.as_str().unwrap()), "{list:#}");
    let progress = mcp.wait_for(|it| it["method"] == "notifications/progress");
    assert_eq!(progress["params"]["progressToken"], "p1", "{progress:#}");
    let message = progress["params"]["message"].as_str().unwrap_or_default();
    assert!(message.chars().count() <= 200, "{message}");
    assert_eq!(
        mcp.answer(call)["result"]["_meta"]["sidestick/details"]["wait"]["outcome"],
        "timeout"
    );
}

#[test]
fn a_cancelled_wait_ends_and_the_program_goes_on() {
    let home = home();
    let mut mcp = home.mcp();
    mcp.initialize();
    let id = mcp.bash(json!({"action": "open", "command": "cat"}))["_meta"]["sidestick/details"]["terminal_id"].clone();
    let call = mcp.start_bash(json!({"action": "wait", "terminal_id": id, "wait_for": "never", "wait_timeout_ms": 120_000}));
    mcp.notify(
        "notifications/cancelled",
        json!({"requestId": call, "reason": "changed my mind"}),
    );
    // Input to one terminal keeps its order: this is answered only because the wait is out of the way or never was in it.
    let result = mcp.bash(json!({"action": "type", "terminal_id": id, "text": "still here", "keys": ["Enter"], "wait_for": "still here"}));
    assert_eq!(
        result["_meta"]["sidestick/details"]["process"]["state"], "running",
        "{result:#}"
    );
    assert_eq!(
        result["_meta"]["sidestick/details"]["wait"]["outcome"], "matched",
        "{result:#}"
    );
}

#[test]
fn a_server_that_dies_during_a_call_is_told_and_the_terminal_is_still_there() {
    let home = home();
    let mut mcp = home.mcp();
    mcp.initialize();
    let id = mcp.bash(json!({"action": "open", "command": "cat"}))["_meta"]["sidestick/details"]["terminal_id"].clone();
    let call = mcp.start_bash(json!({"action": "wait", "terminal_id": id, "wait_for": "never", "wait_timeout_ms": 120_000}));
    let listed = mcp.bash(json!({"action": "list"}));
    assert_ne!(listed["isError"], true);
    home.kill_server();
    let result = mcp.answer(call)["result"].clone();
    assert_eq!(result["isError"], true, "{result:#}");
    assert!(
        text(&result).contains("restart") || result.to_string().contains("server_restarted"),
        "{result:#}"
    );
    let result = mcp.bash(json!({"action": "type", "terminal_id": id, "text": "back again", "keys": ["Enter"], "wait_for": "back again"}));
    assert_eq!(
        result["_meta"]["sidestick/details"]["wait"]["outcome"], "matched",
        "{result:#}"
    );
}

#[test]
fn each_session_is_a_chat_named_after_its_client() {
    let home = home();
    let mut mcp = home.mcp();
    mcp.initialize();
    mcp.bash(json!({"command": "true"}));
    eventually("the chat is listed", || {
        home.run(&["chat", "list"]).out.contains("testkit")
    });
}

#[test]
fn an_mcp_server_inside_one_of_our_terminals_joins_its_chat() {
    let home = home();
    let client = home.client();
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": {"name": "inner", "version": "1"}}});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}});
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "bash", "arguments": {"action": "list"}}});
    std::fs::write(
        home.work().join("in.jsonl"),
        format!("{hello}\n{ready}\n{list}\n"),
    )
    .unwrap();
    let command = format!(
        "cd / && (cat {work}/in.jsonl; sleep 5) | SIDESTICK_HOME={} {} mcp > {work}/out.jsonl; exec cat",
        home.path().display(),
        env!("CARGO_BIN_EXE_sidestick"),
        work = home.work().display()
    );
    let id = client.open(&command);
    let output = home.work().join("out.jsonl");
    eventually("the inner call is answered", || {
        std::fs::read_to_string(&output)
            .unwrap_or_default()
            .contains("\"id\":2")
    });
    assert!(std::fs::read_to_string(&output).unwrap().contains(&id));
}
