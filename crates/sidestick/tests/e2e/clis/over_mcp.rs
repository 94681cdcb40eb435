//! The other way round: coding CLIs call our tool over MCP, and only its text reaches their model.

use std::process::{Command, Output, Stdio};

use serde_json::json;
use testkit::{Rule, Step, require};

use super::{Desk, write};

/// Of screen text, in UTF-16 units; more is left out.
const SCREEN_UNITS: usize = 2_000;
/// Room for what stands around the screen.
const AROUND_UNITS: usize = 600;

/// Calls of our tool in a turn.
const CALLS: usize = 5;
/// Words of the tool's whole name, however a client puts them together.
const TOOL: &[&str] = &["sidestick", "bash"];

impl Desk {
    /// None when the CLI or vim is not installed. The model begins with these steps.
    #[track_caller]
    fn for_tools(name: &str, first: &[Step]) -> Option<Self> {
        let call = |arguments| Step::Call(TOOL, arguments);
        let steps = vec![
            call(json!({"action": "open", "command": "less long.txt", "cols": 120, "rows": 50})),
            call(json!({"action": "open", "command": "vim -u NONE -N notes.txt"})),
            call(
                json!({"action": "type", "terminal_id": "$terminal", "text": "iwritten over mcp", "keys": ["Escape"]}),
            ),
            call(
                json!({"action": "type", "terminal_id": "$terminal", "text": ":wq", "keys": ["Enter"],
                "wait_for_exit": true}),
            ),
            call(json!({"command": "cat notes.txt"})),
            Step::Say("It is written.".to_owned()),
        ];
        if !require("vim") || !require("less") {
            return None;
        }
        let desk = Self::of(
            name,
            vec![Rule::new("NOTEBOOK", [first.to_vec(), steps].concat())],
        )?;
        let long: String = (0..200).map(|n| format!("{n:0>100}\n")).collect();
        write(&desk.home.work().join("long.txt"), &long);
        Some(desk)
    }

    /// Writes the client's configuration as a person would have it written.
    fn install(&self, client: &str) {
        let run = self.home.run(&["mcp", "install", client]);
        assert_eq!(run.status, 0, "{run:?}");
    }

    /// Runs the CLI to its end with a prompt.
    fn run(&self, argv: &[&str], env: &[(&str, &str)]) -> Output {
        let home = self.home.env();
        let home = home
            .into_iter()
            .filter(|(name, _)| name != "SIDESTICK_HOME");
        Command::new("env")
            .args(argv)
            .env_clear()
            .envs(home)
            .envs(env.iter().copied())
            .env("PATH", self.cli.path())
            .current_dir(self.home.work())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// The file is written, and what reached the model is text within its bounds.
    #[track_caller]
    fn wrote(&self, output: &Output) {
        let results = self.model.results();
        assert!(results.len() >= CALLS, "{output:#?} {results:#?}");
        let results = &results[results.len() - CALLS..];
        let text = std::fs::read_to_string(self.home.work().join("notes.txt")).unwrap_or_default();
        assert_eq!(text, "written over mcp\n", "{results:#?}");
        for result in results {
            let units = result.encode_utf16().count();
            assert!(
                units <= SCREEN_UNITS + AROUND_UNITS,
                "{units} units: {result}"
            );
            for word in [
                "structuredContent",
                "sidestick/details",
                "alternate_screen",
                "\u{1b}",
            ] {
                assert!(!result.contains(word), "{word}: {result}");
            }
        }
        assert!(results[0].contains("left out"), "{}", results[0]);
        assert!(results[2].contains("written over mcp"), "{}", results[2]);
        assert!(results[3].contains("exited with code 0"), "{}", results[3]);
        assert!(results[4].contains("written over mcp"), "{}", results[4]);
        assert!(
            String::from_utf8_lossy(&output.stdout).contains("It is written."),
            "{output:#?}"
        );
    }
}

#[test]
fn claude_code_writes_a_file_by_vim_over_mcp() {
    // It names the tools of others only when it is asked for them.
    let search = json!({"query": "select:mcp__sidestick__bash", "max_results": 1});
    let Some(desk) = Desk::for_tools("claude", &[Step::Call(&["ToolSearch"], search)]) else {
        return;
    };
    let env = desk.claude_env();
    desk.install("claude");
    let env: Vec<(&str, &str)> = env
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let argv = [
        "claude",
        "-p",
        "write into the NOTEBOOK",
        "--allowedTools",
        "mcp__sidestick__bash",
    ];
    desk.wrote(&desk.run(&argv, &env));
}

#[test]
fn codex_writes_a_file_by_vim_over_mcp() {
    let Some(desk) = Desk::for_tools("codex", &[]) else {
        return;
    };
    desk.settle_codex();
    desk.install("codex");
    let argv = [
        "codex",
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "write into the NOTEBOOK",
    ];
    desk.wrote(&desk.run(&argv, &[("FAKE_KEY", "fake")]));
}
