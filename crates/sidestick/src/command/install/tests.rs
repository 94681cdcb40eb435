use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;

use super::client::{Client, Scope, Setting, Surroundings};
use super::entry::{self, Standing, put, snippet, standing, take};

fn around(vars: &[(&str, &str)]) -> Surroundings {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), OsString::from(value));
    let mut all: BTreeMap<_, _> = vars.iter().map(own).collect();
    all.insert("HOME".to_owned(), "/home/u".into());
    Surroundings {
        vars: all,
        folder: "/project".into(),
    }
}

fn settings(client: Client) -> Vec<Setting> {
    client.settings(Path::new("/opt/sidestick"), &around(&[]))
}

/// Puts our entry in, looks whether that was right, and takes it out: the text is as before.
#[track_caller]
fn there_and_back(client: Client, before: &str) -> String {
    let settings = settings(client);
    assert_eq!(
        standing(client, before, &settings).unwrap(),
        Standing::Absent
    );
    let text = put(client, before, &settings).unwrap();
    assert_eq!(standing(client, &text, &settings).unwrap(), Standing::Right);
    assert_eq!(take(client, &text).unwrap(), before, "{text}");
    text
}

#[test]
fn each_client_gets_its_own_kind_of_entry() {
    let golden = |client| snippet(client, &settings(client)).unwrap();
    assert_eq!(
        golden(Client::Claude),
        r#"{
  "mcpServers": {
    "sidestick": {
      "type": "stdio",
      "command": "/opt/sidestick",
      "args": ["mcp"]
    }
  }
}
"#
    );
    assert_eq!(
        golden(Client::Gemini),
        r#"{
  "mcpServers": {
    "sidestick": {
      "command": "/opt/sidestick",
      "args": ["mcp"]
    }
  }
}
"#
    );
    assert_eq!(
        golden(Client::Opencode),
        r#"{
  "mcp": {
    "sidestick": {
      "type": "local",
      "command": ["/opt/sidestick", "mcp"],
      "enabled": true,
      "timeout": 180000
    }
  }
}
"#
    );
    assert_eq!(
        golden(Client::Copilot),
        r#"{
  "mcpServers": {
    "sidestick": {
      "type": "local",
      "command": "/opt/sidestick",
      "args": ["mcp"],
      "tools": ["*"],
      "timeout": 180000
    }
  }
}
"#
    );
    assert_eq!(
        golden(Client::Codex),
        "[mcp_servers.sidestick]\ncommand = \"/opt/sidestick\"\nargs = [\"mcp\"]\ntool_timeout_sec = 180\n"
    );
}

#[test]
fn an_absent_and_an_empty_file_hold_nothing_again_afterwards() {
    for client in Client::ALL {
        let settings = settings(client);
        for before in ["", "\n"] {
            let text = put(client, before, &settings).unwrap();
            let rest = take(client, &text).unwrap();
            assert!(entry::is_empty(client, &rest), "{rest}");
        }
    }
}

#[test]
fn other_servers_and_comments_stay_byte_for_byte() {
    for client in [Client::Claude, Client::Gemini, Client::Copilot] {
        let text = there_and_back(
            client,
            "{\n  \"z\": 1,\n  \"mcpServers\": {\n    \"a\": { \"command\": \"b\" } // mine\n  },\n  \"b\": [1,2]\n}\n",
        );
        assert!(
            text.contains("\"a\": { \"command\": \"b\" }, // mine\n    \"sidestick\""),
            "{text}"
        );
    }
    there_and_back(
        Client::Opencode,
        "{\n\t// theme\n\t\"theme\": \"x\",\n\t\"mcp\": {\n\t\t\"a\": {},\n\t},\n}\n",
    );
    for before in [
        "model = \"x\" # best\n\n[mcp_servers.a]\ncommand = \"b\"\n\n# the end\n",
        "# only a comment\n",
        "[mcp_servers]\na = { command = \"b\" }\n",
        "mcp_servers = { a = { command = \"b\" } }\n",
        "mcp_servers.a.command = \"b\"\n",
    ] {
        there_and_back(Client::Codex, before);
    }
}

#[test]
fn an_outdated_entry_is_brought_up_to_date_and_what_a_person_added_stays() {
    let settings = |client: Client| client.settings(Path::new("/opt/sidestick"), &around(&[]));
    let old = "[mcp_servers.sidestick] # terminals\ncommand = \"/old\" # here\nargs = [\"mcp\"]\nenabled = true\ntool_timeout_sec = 60\n\n[mcp_servers.sidestick.env]\nA = \"1\"\n\n[mcp_servers.b]\ncommand = \"b\"\n";
    let new = put(Client::Codex, old, &settings(Client::Codex)).unwrap();
    assert_eq!(
        new,
        old.replace("/old", "/opt/sidestick").replace("60", "180")
    );
    assert_eq!(
        take(Client::Codex, &new).unwrap(),
        "\n[mcp_servers.b]\ncommand = \"b\"\n"
    );
    let old = "{\"mcp\": {\"sidestick\": {\"type\": \"local\", \"command\": [\"/old\", \"mcp\"], \"enabled\": true, \"timeout\": 900000, \"x\": 1}}}";
    let new = put(Client::Opencode, old, &settings(Client::Opencode)).unwrap();
    assert_eq!(new, old.replace("/old", "/opt/sidestick"));
}

#[test]
fn a_limit_of_time_is_raised_and_never_lowered() {
    let of = |timeout: u64| {
        let text = snippet(Client::Claude, &settings(Client::Claude)).unwrap();
        text.replace(
            "\"type\"",
            &format!("\"timeout\": {timeout},\n      \"type\""),
        )
    };
    let standing = |text: &str| standing(Client::Claude, text, &settings(Client::Claude)).unwrap();
    assert_eq!(standing(&of(5_000)), Standing::Outdated);
    assert_eq!(standing(&of(600_000)), Standing::Right);
    let raised = put(Client::Claude, &of(5_000), &settings(Client::Claude)).unwrap();
    assert_eq!(raised, of(180_000));
}

#[test]
fn the_clients_server_joins_the_instance_that_installed_it() {
    let around = around(&[("SIDESTICK_HOME", "/srv/x"), ("XDG_DATA_HOME", "")]);
    for (client, expected) in [
        (Client::Codex, "env = { SIDESTICK_HOME = \"/srv/x\" }\n"),
        (
            Client::Opencode,
            "\"environment\": {\n        \"SIDESTICK_HOME\": \"/srv/x\"\n      }",
        ),
        (
            Client::Claude,
            "\"env\": {\n        \"SIDESTICK_HOME\": \"/srv/x\"\n      }",
        ),
    ] {
        let settings = client.settings(Path::new("/opt/sidestick"), &around);
        let text = snippet(client, &settings).unwrap();
        assert!(text.contains(expected), "{text}");
        // An entry of another instance is brought over to this one.
        let other = text.replace("/srv/x", "/srv/y");
        assert_eq!(put(client, &other, &settings).unwrap(), text);
    }
}

#[test]
fn a_text_that_cannot_be_understood_or_means_another_server_is_refused() {
    for (client, text) in [
        (Client::Claude, "{\"mcpServers\": {"),
        (Client::Claude, "{\"mcpServers\": []}"),
        (Client::Codex, "mcp_servers = 1\n"),
        (Client::Codex, "[mcp_servers\n"),
        (
            Client::Codex,
            "[mcp_servers.sidestick]\nurl = \"https://x\"\n",
        ),
        (Client::Opencode, "mcp:\n  x: 1\n"),
    ] {
        let settings = settings(client);
        assert!(put(client, text, &settings).is_err(), "{text}");
    }
}

#[test]
fn each_clients_own_variable_moves_its_file() {
    let around = around(&[
        ("CODEX_HOME", "/c"),
        ("COPILOT_HOME", "/p"),
        ("CLAUDE_CONFIG_DIR", "/l"),
        ("GEMINI_CLI_HOME", "/g"),
        ("XDG_CONFIG_HOME", "/x"),
    ]);
    let first = |client: Client, scope, around| {
        let files = client.files(scope, around).unwrap();
        files[0].display().to_string()
    };
    let plain = super::tests::around(&[]);
    for (client, moved, usual, project) in [
        (
            Client::Claude,
            "/l/.claude.json",
            "/home/u/.claude.json",
            "/project/.mcp.json",
        ),
        (
            Client::Codex,
            "/c/config.toml",
            "/home/u/.codex/config.toml",
            "/project/.codex/config.toml",
        ),
        (
            Client::Gemini,
            "/g/.gemini/settings.json",
            "/home/u/.gemini/settings.json",
            "/project/.gemini/settings.json",
        ),
        (
            Client::Opencode,
            "/x/opencode/opencode.json",
            "/home/u/.config/opencode/opencode.json",
            "/project/opencode.json",
        ),
        (
            Client::Copilot,
            "/p/mcp-config.json",
            "/home/u/.copilot/mcp-config.json",
            "/project/.github/mcp.json",
        ),
    ] {
        assert_eq!(first(client, Scope::User, &around), moved);
        assert_eq!(first(client, Scope::User, &plain), usual);
        assert_eq!(first(client, Scope::Project, &plain), project);
    }
}

#[test]
fn what_is_printed_for_json_clients_is_plain_json() {
    for client in Client::ALL {
        let text = snippet(client, &settings(client)).unwrap();
        if client.program() != "codex" {
            serde_json::from_str::<Value>(&text).unwrap();
        }
    }
}
