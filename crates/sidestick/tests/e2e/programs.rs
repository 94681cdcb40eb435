//! Real programs, driven through the tool as an agent would drive them.

use serde_json::json;
use testkit::{eventually, require};

use crate::home;

#[test]
fn bash_answers_a_command_with_more_than_its_echo() {
    let home = home();
    let client = home.client();
    let id = client.open("bash");
    let reply = client.bash(
        json!({"action": "type", "terminal_id": id, "text": "echo answer=$((6*7))",
        "keys": ["Enter"], "wait_for": "answer=42"}),
    );
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    assert_eq!(reply.details["wait"]["in_echo"], false);
    assert_eq!(reply.details["process"]["program"], "bash");
    let reply = client.bash(
        json!({"action": "type", "terminal_id": id, "text": "exit 3", "keys": ["Enter"],
        "wait_for_exit": true}),
    );
    assert_eq!(reply.outcome(), "exited");
    assert_eq!(reply.details["process"]["exit_code"], 3);
    assert_eq!(reply.details["process"]["ended_by"], "program");
}

#[test]
fn b20_fish_is_at_its_prompt_at_once_though_nobody_watches() {
    if !require("fish") {
        return;
    }
    let home = home();
    let config = home.user().join(".config/fish");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(
        config.join("config.fish"),
        "set -g fish_greeting\nfunction fish_prompt; echo -n 'fish-is-ready> '; end\n",
    )
    .unwrap();
    let client = home.client();
    let reply =
        client.bash(json!({"action": "open", "command": "fish", "wait_for": "fish-is-ready>"}));
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    // A fish that nobody answers waits 10 seconds; the bound leaves room for a busy machine.
    assert!(
        reply.details["wait"]["elapsed_ms"].as_u64().unwrap() < 5_000,
        "{reply:#?}"
    );
    let reply = client.bash(
        json!({"action": "type", "terminal_id": reply.id(), "text": "math '6*7+100'",
        "keys": ["Enter"], "wait_for": "142"}),
    );
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
}

#[test]
fn b10_vim_takes_escape_and_the_keys_after_it_as_keys_of_their_own() {
    if !require("vim") {
        return;
    }
    let home = home();
    let client = home.client();
    let id = client.open("vim -u NONE -N notes.txt");
    client.bash(json!({"action": "keys", "terminal_id": id, "keys": ["i", "o", "n", "e", "Enter", "t", "w", "o", "Enter", "t", "h", "r", "e", "e", "Escape"]}));
    // Read as Alt+k, the first pair would insert a letter or beep instead of moving up.
    let keys = [
        "Escape", "k", "k", "A", "!", "Escape", "j", "A", "?", "Escape",
    ];
    client.bash(json!({"action": "keys", "terminal_id": id, "keys": keys, "wait_for": "one!"}));
    let reply = client.bash(
        json!({"action": "type", "terminal_id": id, "text": ":wq", "keys": ["Enter"],
        "wait_for_exit": true}),
    );
    assert_eq!(reply.outcome(), "exited", "{reply:#?}");
    let text = std::fs::read_to_string(home.work().join("notes.txt")).unwrap();
    assert_eq!(text, "one!\ntwo?\nthree\n");
}

#[test]
fn b07_less_moves_by_arrows_while_it_asks_for_application_keys() {
    if !require("less") {
        return;
    }
    let home = home();
    let lines: String = (1..=500).map(|n| format!("line-{n:03}\n")).collect();
    std::fs::write(home.work().join("long.txt"), lines).unwrap();
    let client = home.client();
    let reply = client.bash(
        json!({"action": "open", "command": "less long.txt", "rows": 11, "wait_for": "line-010"}),
    );
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    assert_eq!(reply.details["screen"]["alternate_screen"], true);
    assert_eq!(
        reply.details["screen"]["modes"]["application_cursor_keys"],
        true
    );
    let id = reply.id();
    let reply = client.bash(
        json!({"action": "keys", "terminal_id": id, "keys": ["Down", "Down", "Down", "Up"],
        "wait_for": "line-012"}),
    );
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    let reply = client.bash(
        json!({"action": "keys", "terminal_id": id, "keys": ["End"], "wait_for": "line-500"}),
    );
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    let reply = client
        .bash(json!({"action": "keys", "terminal_id": id, "keys": ["q"], "wait_for_exit": true}));
    assert_eq!(reply.details["process"]["exit_code"], 0, "{reply:#?}");
}

#[test]
fn htop_shows_its_meters_and_ends_by_a_function_key() {
    if !require("htop") {
        return;
    }
    let home = home();
    let client = home.client();
    let reply = client
        .bash(json!({"action": "open", "command": "htop", "cols": 120, "wait_for": "F10Quit"}));
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    assert!(reply.screen().contains("Tasks:"), "{}", reply.screen());
    let id = reply.id();
    let reply = client
        .bash(json!({"action": "keys", "terminal_id": id, "keys": ["F6"], "wait_for": "Sort by"}));
    assert_eq!(reply.outcome(), "matched", "{}", reply.screen());
    let reply = client.bash(json!({"action": "keys", "terminal_id": id, "keys": ["Escape", "F10"], "wait_for_exit": true}));
    assert_eq!(reply.outcome(), "exited", "{reply:#?}");
}

#[test]
fn b42_the_python_prompt_gets_only_what_was_typed() {
    if !require("python3") {
        return;
    }
    let home = home();
    let client = home.client();
    let reply = client.bash(json!({"action": "open", "command": "python3 -q", "wait_for": ">>>"}));
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    let id = reply.id();
    let reply = client.bash(json!({"action": "type", "terminal_id": id, "text": "for i in range(2): print('n', i * 21)\n",
        "keys": ["Enter"], "wait_for": "n 21"}));
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    let reply = client.bash(json!({"action": "type", "terminal_id": id, "text": "print(len(open('/proc/self/cmdline').read()) > 0)",
        "keys": ["Enter"], "wait_for": "True"}));
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    assert!(!reply.screen().contains("Error"), "{}", reply.screen());
    let reply = client.bash(
        json!({"action": "keys", "terminal_id": id, "keys": ["Ctrl+D"], "wait_for_exit": true}),
    );
    assert_eq!(reply.details["process"]["exit_code"], 0, "{reply:#?}");
}

#[test]
fn the_node_prompt_answers_and_ends() {
    if !require("node") {
        return;
    }
    let home = home();
    let client = home.client();
    let reply = client.bash(json!({"action": "open", "command": "node", "wait_for": "> "}));
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    let id = reply.id();
    let reply = client.bash(
        json!({"action": "type", "terminal_id": id, "text": "[6, 7].reduce((a, b) => a * b) + 1000",
        "keys": ["Enter"], "wait_for": "1042"}),
    );
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    let reply = client.bash(
        json!({"action": "type", "terminal_id": id, "text": ".exit", "keys": ["Enter"],
        "wait_for_exit": true}),
    );
    assert_eq!(reply.details["process"]["exit_code"], 0, "{reply:#?}");
}

#[test]
fn tmux_runs_inside_and_its_server_goes_with_the_terminal() {
    if !require("tmux") {
        return;
    }
    let home = home();
    let client = home.client();
    let socket = home.work().join("tmux.sock");
    let command = format!("tmux -S {} -f /dev/null new-session bash", socket.display());
    let reply = client.bash(json!({"action": "open", "command": command, "wait_for": "[0]"}));
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    let id = reply.id();
    let reply = client.bash(
        json!({"action": "type", "terminal_id": id, "text": "echo inside=$((40+2))",
        "keys": ["Enter"], "wait_for": "inside=42"}),
    );
    assert_eq!(reply.outcome(), "matched", "{}", reply.screen());
    let reply = client.bash(
        json!({"action": "keys", "terminal_id": id, "keys": ["Ctrl+B", "%"], "wait_for": "│"}),
    );
    assert_eq!(reply.outcome(), "matched", "{}", reply.screen());
    client.bash(json!({"action": "close", "terminal_id": id}));
    eventually("the tmux server is gone", || {
        !home
            .processes()
            .iter()
            .any(|it| it.argv[0].contains("tmux"))
    });
}

#[test]
fn fzf_narrows_its_list_and_gives_the_choice() {
    if !require("fzf") {
        return;
    }
    let home = home();
    let client = home.client();
    let command = "printf 'apple\\nbanana\\ncherry\\n' | fzf > choice.txt";
    let reply = client.bash(json!({"action": "open", "command": command, "wait_for": "3/3"}));
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    let id = reply.id();
    let reply =
        client.bash(json!({"action": "type", "terminal_id": id, "text": "nan", "wait_for": "1/3"}));
    assert_eq!(reply.outcome(), "matched", "{}", reply.screen());
    let reply = client.bash(
        json!({"action": "keys", "terminal_id": id, "keys": ["Enter"], "wait_for_exit": true}),
    );
    assert_eq!(reply.outcome(), "exited", "{reply:#?}");
    assert_eq!(
        std::fs::read_to_string(home.work().join("choice.txt")).unwrap(),
        "banana\n"
    );
}

#[test]
fn a_whiptail_menu_is_walked_by_arrows() {
    if !require("whiptail") {
        return;
    }
    let home = home();
    let client = home.client();
    let command = "whiptail --menu 'Pick one' 15 40 4 a first b second c third 2> choice.txt";
    let reply = client.bash(json!({"action": "open", "command": command, "wait_for": "third"}));
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    let id = reply.id();
    let reply = client.bash(
        json!({"action": "keys", "terminal_id": id, "keys": ["Down", "Down", "Up", "Enter"],
        "wait_for_exit": true}),
    );
    assert_eq!(reply.outcome(), "exited", "{}", reply.screen());
    assert_eq!(
        std::fs::read_to_string(home.work().join("choice.txt")).unwrap(),
        "b"
    );
}

#[test]
fn b12_cat_takes_a_megabyte_in_two_calls() {
    let home = home();
    let client = home.client();
    let id = client.open("cat > big.txt");
    // Lines shorter than the kernel's limit, each of its own kind, so that a lost or doubled piece shows.
    let all: String = (0..16_384)
        .map(|n| format!("{n:07} {:>55}\n", n * 37))
        .collect();
    assert_eq!(all.len(), 1 << 20);
    let (first, second) = all.split_at(all.len() / 2);
    for half in [first, second] {
        let reply = client.bash(
            json!({"action": "type", "terminal_id": id, "text": half, "wait_timeout_ms": 120_000}),
        );
        assert_eq!(
            reply.details["input"]["accepted_bytes"],
            half.len(),
            "{}",
            reply.text
        );
        assert_eq!(reply.details["input"]["unsent_bytes"], 0);
        assert_eq!(reply.details["input"]["multiline_without_paste_mode"], true);
    }
    let reply = client.bash(
        json!({"action": "keys", "terminal_id": id, "keys": ["Ctrl+D"], "wait_for_exit": true,
        "wait_timeout_ms": 60_000}),
    );
    assert_eq!(reply.outcome(), "exited", "{reply:#?}");
    assert!(
        std::fs::read_to_string(home.work().join("big.txt")).unwrap() == all,
        "other text arrived"
    );
}

#[test]
fn b12_a_program_that_never_reads_harms_no_other_terminal() {
    let home = home();
    let client = home.client();
    let deaf = client.open("stty raw -echo; exec sleep 1000");
    let other = client.open("bash");
    let text = "x".repeat(500_000);
    let typing = client.start_bash(
        json!({"action": "type", "terminal_id": deaf, "text": text, "wait_timeout_ms": 3_000}),
    );
    let reply = client.bash(
        json!({"action": "type", "terminal_id": other, "text": "echo $((1+1))2", "keys": ["Enter"],
        "wait_for": "22"}),
    );
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    let reply = client.bash_answer(typing).unwrap();
    let accepted = reply.details["input"]["accepted_bytes"].as_u64().unwrap();
    let unsent = reply.details["input"]["unsent_bytes"].as_u64().unwrap();
    assert_eq!(accepted + unsent, 500_000, "{}", reply.text);
    assert!(unsent > 400_000, "{}", reply.text);
    let reply = client.bash(json!({"action": "close", "terminal_id": deaf}));
    assert_eq!(reply.details["process"]["state"], "exited");
}
