//! An MCP client without a thread of its own: what it measures is the server's time, not that of a hand-over.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// A server on pipes.
pub(crate) struct Mcp {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: u64,
    /// Answers that came while another was waited for.
    early: HashMap<u64, Value>,
}

impl Mcp {
    /// Starts the command and says hello.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("{command:?}"))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let mut mcp = Self {
            child,
            stdin: stdin.context("no pipe")?,
            stdout: BufReader::new(stdout.context("no pipe")?),
            next: 0,
            early: HashMap::new(),
        };
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        });
        let id = mcp.request("initialize", &hello)?;
        mcp.answer(id)?;
        mcp.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(mcp)
    }

    /// Starts a call of a tool; its number.
    pub(crate) fn begin(&mut self, tool: &str, arguments: &Value) -> Result<u64> {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool. What refuses is an error.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        let id = self.begin(tool, arguments)?;
        self.answer(id)
    }

    /// Whether the answer to a call came while another was waited for.
    pub(crate) fn has(&self, id: u64) -> bool {
        self.early.contains_key(&id)
    }

    /// The result of a call.
    pub(crate) fn answer(&mut self, id: u64) -> Result<Value> {
        loop {
            if let Some(found) = self.early.remove(&id) {
                return result(found);
            }
            let mut line = String::new();
            if self.stdout.read_line(&mut line)? == 0 {
                bail!("the server has ended");
            }
            let message: Value = serde_json::from_str(&line).context("no JSON")?;
            if let Some(id) = message["id"].as_u64()
                && message.get("method").is_none()
            {
                self.early.insert(id, message);
            }
        }
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<u64> {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        Ok(id)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let line = format!("{message}\n");
        Ok(self.stdin.write_all(line.as_bytes())?)
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        // It may have ended by itself; what counts is that it is gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// All text that a model would read of a result.
pub(crate) fn text(result: &Value) -> String {
    let parts = result["content"].as_array().cloned().unwrap_or_default();
    let texts: Vec<&str> = parts.iter().filter_map(|it| it["text"].as_str()).collect();
    texts.join("\n")
}

fn result(mut message: Value) -> Result<Value> {
    if message["error"].is_object() {
        bail!("{}", message["error"]);
    }
    let result = message["result"].take();
    if result["isError"] == true {
        bail!("{}", text(&result));
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_an_error_and_a_result_is_not() {
        let refused = json!({"result": {"isError": true, "content": [{"text": "no"}]}});
        assert_eq!(result(refused).unwrap_err().to_string(), "no");
        assert!(result(json!({"error": {"code": 1}})).is_err());
        let done = result(json!({"result": {"content": [{"text": "a"}, {"text": "b"}]}}));
        assert_eq!(text(&done.unwrap()), "a\nb");
    }
}
