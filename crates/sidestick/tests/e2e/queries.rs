//! Queries are answered by the server: once, at once, whether or not anybody watches.

use serde_json::json;
use testkit::{program, require};

use crate::home;

fn ask(question: &str, count: u32) -> String {
    let home = home();
    let client = home.client();
    let command = format!(
        "python3 {} '{question}' {count}; exec cat",
        program("query.py").display()
    );
    let reply = client.bash(json!({"action": "open", "command": command, "wait_for": " end"}));
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    reply.screen()
}

#[test]
fn b19_the_cursors_place_is_told_five_hundred_times() {
    if !require("python3") {
        return;
    }
    let screen = ask("AB\\r\\e[6n", 500);
    assert!(screen.contains("[1;1R'"), "{screen}");
}

#[test]
fn b21_the_background_is_told_with_the_terminator_that_asked() {
    if !require("python3") {
        return;
    }
    let screen = ask("\\e]11;?\\a", 1);
    assert!(
        screen.contains("]11;rgb:") && screen.contains("\\x07"),
        "{screen}"
    );
}

#[test]
fn b24_no_answer_is_typed_into_the_shell_afterwards() {
    if !require("python3") {
        return;
    }
    let home = home();
    let client = home.client();
    // Asks as impatient programs do: it does not read, and throws away what came when it leaves. An answer of a second
    // terminal, or one that is given late, lands in the shell.
    let script = "import termios,time,os,tty\na=termios.tcgetattr(0)\ntty.setraw(0)\n\
        os.write(1,b'\\x1b]11;?\\x07\\x1b[c')\ntime.sleep(.3)\ntermios.tcsetattr(0,termios.TCSAFLUSH,a)\n";
    std::fs::write(home.work().join("ask.py"), script).unwrap();
    let id = client.open("bash");
    let panes = [client.attach(&id, None), client.attach(&id, None)];
    for round in 0..5 {
        let text = format!("python3 ask.py; echo asked$(({round}+100))");
        let wait = format!("asked{}", round + 100);
        client.bash(json!({"action": "type", "terminal_id": id, "text": text, "keys": ["Enter"], "wait_for": wait}));
        let text = format!("echo clean$(({round}+100))");
        let wait = format!("clean{}", round + 100);
        let reply = client.bash(json!({"action": "type", "terminal_id": id, "text": text, "keys": ["Enter"], "wait_for": wait}));
        assert_eq!(reply.outcome(), "matched", "{reply:#?}");
        let screen = reply.screen();
        assert!(
            !screen.contains("rgb:") && !screen.contains("not found"),
            "{screen}"
        );
    }
    panes.iter().for_each(|it| it.wait_for("clean104"));
}

#[test]
fn b23_viewers_get_no_query_and_the_prompt_stays_clean() {
    if !require("python3") {
        return;
    }
    let home = home();
    let client = home.client();
    let id = client.open("bash");
    let (one, two) = (client.attach(&id, None), client.attach(&id, None));
    let command = format!(
        "python3 {} '\\e]11;?\\a\\e[c\\e[6n\\e[>q' 5",
        program("query.py").display()
    );
    let reply = client.bash(json!({"action": "type", "terminal_id": id, "text": command, "keys": ["Enter"], "wait_for": " end"}));
    assert_eq!(reply.outcome(), "matched", "{reply:#?}");
    for pane in [&one, &two] {
        pane.wait_for(" end");
        let all = [pane.keyframe(), pane.stream().1].concat();
        for query in [&b"\x1b]11;?"[..], b"\x1b[c", b"\x1b[6n", b"\x1b[>q"] {
            assert!(
                !all.windows(query.len()).any(|it| it == query),
                "{query:?} reached a viewer"
            );
        }
    }
}
