//! What a person runs before anything else: setting up clients, `doctor`, completions, manual pages.

use serde_json::{Value, json};
use testkit::{Home, Role, ToolRun};

use crate::home;

/// Runs that have to succeed.
#[track_caller]
fn done(home: &Home, args: &[&str]) -> ToolRun {
    let run = home.run(args);
    assert_eq!(run.status, 0, "{args:?}: {run:?}");
    run
}

fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|it| it["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {report:#}"))
}

#[test]
fn each_client_is_set_up_once_and_taken_out_without_a_trace() {
    let home = home();
    let files = [
        ("claude", ".claude.json"),
        ("codex", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json"),
        ("opencode", ".config/opencode/opencode.json"),
        ("copilot", ".copilot/mcp-config.json"),
    ];
    for (client, file) in files {
        let file = home.user().join(file);
        let first = done(&home, &["mcp", "install", client]);
        assert!(first.out.contains(&file.display().to_string()), "{first:?}");
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(env!("CARGO_BIN_EXE_sidestick")), "{text}");
        let again = done(&home, &["mcp", "install", client]);
        assert!(again.out.starts_with("already installed"), "{again:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        let printed = done(&home, &["mcp", "install", client, "--print"]);
        assert_eq!(printed.out, text);
        done(&home, &["mcp", "uninstall", client]);
        assert!(!file.exists());
        let nothing = done(&home, &["mcp", "uninstall", client]);
        assert!(nothing.out.contains("nothing to do"), "{nothing:?}");
    }
    assert!(home.live(Role::Server).is_empty());
}

#[test]
fn a_projects_file_is_written_into_the_working_folder() {
    let home = home();
    done(&home, &["mcp", "install", "claude", "--scope", "project"]);
    let text = std::fs::read_to_string(home.work().join(".mcp.json")).unwrap();
    let entry = &serde_json::from_str::<Value>(&text).unwrap()["mcpServers"]["sidestick"];
    assert_eq!(entry["args"], json!(["mcp"]));
    assert!(!home.user().join(".claude.json").exists());
}

#[test]
fn a_file_that_is_broken_stays_and_what_to_paste_is_printed() {
    let home = home();
    let file = home.user().join(".claude.json");
    let broken = "{\"mcpServers\": {";
    std::fs::write(&file, broken).unwrap();
    let run = home.run(&["mcp", "install", "claude"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.err.contains("\"sidestick\": {"), "{run:?}");
    assert!(run.err.contains("line 1"), "{run:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), broken);
}

#[test]
fn the_doctor_looks_at_everything_and_starts_nothing() {
    let home = home();
    let before = std::fs::read_dir(home.path()).unwrap().count();
    let report = home.run(&["doctor", "--json"]).json();
    for name in [
        "terminals",
        "containment",
        "namespaces",
        "landlock",
        "shell",
        "terminfo",
        "locale",
        "data",
        "sockets",
        "socket",
        "config",
        "server",
        "runners",
        "claude",
        "codex",
        "gemini",
        "opencode",
        "copilot",
        "hermes",
    ] {
        let check = check(&report, name);
        let advised = check["advice"].is_string();
        assert_eq!(advised, check["level"] != "ok", "{check}");
    }
    assert_eq!(check(&report, "terminals")["level"], "ok");
    assert!(home.live(Role::Server).is_empty());
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), before);
}

#[test]
fn the_doctor_finds_server_runner_and_a_misspelt_setting() {
    let home = home();
    let client = home.client();
    client.open("cat");
    let report = home.run(&["doctor", "--json"]);
    assert_eq!(report.status, 0, "{report:?}");
    let server = home.live(Role::Server)[0].pid.to_string();
    let report = report.json();
    let text = |name| check(&report, name)["text"].as_str().unwrap().to_owned();
    assert!(text("server").contains(&server), "{report:#}");
    assert!(text("runners").contains(&client.chat), "{report:#}");
    std::fs::write(home.path().join("config.toml"), "[permision]\n").unwrap();
    let run = home.run(&["doctor"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.out.contains("PROBLEM  config"), "{run:?}");
    assert!(run.out.trim_end().ends_with("1 problem"), "{run:?}");
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    let home = home();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = done(&home, &["completions", shell]).out;
        assert!(
            text.contains("uninstall") && text.contains("doctor"),
            "{shell}"
        );
    }
    let page = done(&home, &["man"]).out;
    assert!(page.contains(".TH sidestick 1"), "{page}");
    let folder = home.path().join("man");
    done(&home, &["man", "--out", &folder.display().to_string()]);
    for page in [
        "sidestick",
        "sidestick-mcp-install",
        "sidestick-chat-create",
    ] {
        assert!(folder.join(format!("{page}.1")).is_file(), "{page}");
    }
    assert!(!folder.join("sidestick-runner.1").exists());
}
