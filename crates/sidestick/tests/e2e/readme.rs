//! The walk-through of README.md, run as it stands there: by command line, and over MCP with the same arguments.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use testkit::{require, root};

use crate::home;

/// Stands in README.md for the id that the first command prints.
const SAMPLE: &str = "tm_0123456789abcdef";

/// The commands between the two marks, without the fence.
fn commands() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (_, rest) = text.split_once("<!-- walk-through -->").unwrap();
    let (block, _) = rest.split_once("<!-- end -->").unwrap();
    block
        .lines()
        .filter(|line| !line.starts_with("```") && !line.trim().is_empty())
        .map(str::to_owned)
        .collect()
}

/// The JSON of a command that calls the tool.
fn arguments(command: &str) -> Option<Value> {
    let json = command
        .strip_prefix("sidestick tool bash '")?
        .strip_suffix('\'')?;
    Some(serde_json::from_str(json).unwrap())
}

#[test]
fn the_readmes_walk_through_works_as_it_stands_there() {
    if !require("vim") {
        return;
    }
    let home = home();
    let commands = commands();
    assert!(commands.len() >= 5, "{commands:#?}");
    let bin = home.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    symlink(env!("CARGO_BIN_EXE_sidestick"), bin.join("sidestick")).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let mut id = SAMPLE.to_owned();
    let mut last = String::new();
    for command in &commands {
        let mut shell = std::process::Command::new("sh");
        shell
            .args(["-c", &command.replace(SAMPLE, &id)])
            .env_clear()
            .envs(home.env())
            .env("PATH", &path);
        let output = shell.current_dir(home.work()).output().unwrap();
        last = String::from_utf8_lossy(&output.stdout).into_owned();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}\n{last}{err}");
        if id == SAMPLE
            && let Some(at) = last.find("tm_")
        {
            id = last[at..at + SAMPLE.len()].to_owned();
        }
    }
    assert_ne!(id, SAMPLE, "no command printed an id");
    assert_eq!(
        last, "bought milk\nand bread\n",
        "the last command shows the file"
    );
}

#[test]
fn the_same_walk_through_works_over_mcp() {
    if !require("vim") {
        return;
    }
    let home = home();
    let mut mcp = home.mcp();
    mcp.initialize();
    let mut id = String::new();
    for mut arguments in commands().iter().filter_map(|it| arguments(it)) {
        if arguments.get("terminal_id").is_some() {
            arguments["terminal_id"] = json!(id);
        }
        let result = mcp.bash(arguments.clone());
        assert_ne!(result["isError"], true, "{arguments}: {result:#}");
        let details = &result["_meta"]["sidestick/details"];
        details["terminal_id"].as_str().unwrap().clone_into(&mut id);
    }
    let text = std::fs::read_to_string(home.work().join("notes.txt")).unwrap();
    assert_eq!(text, "bought milk\nand bread\n");
}
