//! The coding CLIs that people use, offline: each is driven in a terminal of ours, and each calls our tools.
//!
//! Surprise: a screen that can be read is no proof that a program reads already. What it is asked first, it is asked
//! when it has come to rest, as an agent would that looks before it answers.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod hermes;
mod opencode;
mod over_mcp;

use std::path::Path;

use serde_json::{Value, json};
use testkit::{Cli, Client, Home, Model, Reply, Rule, Step, cli, eventually};

/// The longest wait for anything of a CLI: some need a quarter of a minute to draw their first screen.
const LONG_MS: u64 = 110_000;

/// What the model answers, and no prompt contains.
const ANSWER: &str = "pineapple juice";

/// A home, an installed CLI, and the model that it asks.
struct Desk {
    home: Home,
    model: Model,
    cli: Cli,
}

/// A CLI in a terminal.
struct Seat<'a> {
    desk: &'a Desk,
    client: Client,
    id: String,
}

/// How a CLI is told to stop and to end, and what it says then.
struct Manners {
    stop: &'static [&'static str],
    stopped: &'static str,
    connection: Connection,
    leave: Value,
}

/// What becomes of the connection to the model when an answer is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Connection {
    Closed,
    /// It may be read to its end, though nothing of it is shown.
    Ignored,
}

impl Desk {
    /// None when the CLI is not installed.
    #[track_caller]
    fn of(name: &str, rules: Vec<Rule>) -> Option<Self> {
        let cli = cli(name)?;
        Some(Self {
            home: crate::home(),
            model: Model::start(rules),
            cli,
        })
    }

    /// With the prompts of [`Seat::converses`].
    #[track_caller]
    fn for_talk(name: &str) -> Option<Self> {
        let slowly = Rule::new("TRICKLE", [Step::Slowly("drip".to_owned())]);
        Self::of(name, vec![Rule::say("ORCHARD", ANSWER), slowly])
    }

    /// Writes a file below the person's home directory.
    fn settle(&self, path: &str, text: &str) {
        write(&self.home.user().join(path), text);
    }

    /// Opens it in a terminal, with these variables, and waits for a text.
    #[track_caller]
    fn open(&self, env: &[(&str, &str)], command: &str, wait_for: &str) -> Seat<'_> {
        let client = self.home.client();
        let set: Vec<String> = env
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        // Some unpack libraries there and leave them.
        let temporary = self.home.path().join("tmp");
        std::fs::create_dir_all(&temporary).unwrap();
        let command = format!(
            "env PATH='{}' TMPDIR='{}' {} {command}",
            self.cli.path(),
            temporary.display(),
            set.join(" ")
        );
        let reply = client.bash(
            json!({"action": "open", "command": command, "wait_for": wait_for,
            "wait_timeout_ms": LONG_MS}),
        );
        assert_eq!(reply.outcome(), "matched", "{}", reply.text);
        let id = reply.id();
        let seat = Seat {
            desk: self,
            client,
            id,
        };
        seat.rests();
        seat
    }
}

impl Seat<'_> {
    #[track_caller]
    fn bash(&self, mut args: Value) -> Reply {
        args["terminal_id"] = self.id.as_str().into();
        args["wait_timeout_ms"] = LONG_MS.into();
        self.client.bash(args)
    }

    /// Waits until nothing moves any more.
    fn rests(&self) {
        let reply = self.bash(json!({"action": "wait"}));
        assert_eq!(reply.outcome(), "quiet", "{}", reply.text);
    }

    /// Waits for a text and then for rest.
    #[track_caller]
    fn sees(&self, text: &str) {
        let reply = self.bash(json!({"action": "wait", "wait_for": text}));
        assert_eq!(reply.outcome(), "matched", "{}", reply.text);
        self.rests();
    }

    /// Presses keys, waits for a text and then for rest.
    #[track_caller]
    fn keys(&self, keys: &[&str], wait_for: &str) {
        let reply = self.bash(json!({"action": "keys", "keys": keys, "wait_for": wait_for}));
        assert_eq!(reply.outcome(), "matched", "{}", reply.text);
        self.rests();
    }

    /// One call: a prompt, Enter, and the wait for a text of the answer.
    #[track_caller]
    fn asks(&self, prompt: &str, wait_for: &str) {
        let reply = self.bash(
            json!({"action": "type", "text": prompt, "keys": ["Enter"], "wait_for": wait_for}),
        );
        assert_eq!(reply.outcome(), "matched", "{}", reply.text);
        let wait = &reply.details["wait"];
        assert_eq!(
            (&wait["in_echo"], &wait["marker_was_visible"]),
            (&json!(false), &json!(false))
        );
    }

    /// A prompt and its answer, a slow answer that is interrupted, and the end.
    #[track_caller]
    fn converses(&self, manners: &Manners) {
        let model = &self.desk.model;
        self.asks("tell me of the ORCHARD", ANSWER);
        let asked = model.asked();
        assert!(
            asked
                .iter()
                .any(|it| it.body.to_string().contains("tell me of the ORCHARD")),
            "the prompt reached the model whole"
        );
        self.rests();
        self.asks("now let it TRICKLE", "drip3");
        // It rests afterwards although the model talks on: so the answer has ended for whoever looks.
        self.keys(manners.stop, manners.stopped);
        if manners.connection == Connection::Closed {
            eventually("the client hears no more", || model.broken_off() > 0);
        }
        let mut leave = manners.leave.clone();
        leave["wait_for_exit"] = true.into();
        let reply = self.bash(leave);
        assert_eq!(reply.outcome(), "exited", "{}", reply.text);
        let process = &reply.details["process"];
        assert_eq!(process["ended_by"], "program", "{}", reply.text);
        assert_eq!(process["exit_code"], 0, "{}", reply.text);
        assert!(reply.text.contains("exited with code 0"), "{}", reply.text);
    }
}

/// A command of the CLI's own.
fn says(command: &str) -> Value {
    json!({"action": "type", "text": command, "keys": ["Enter"]})
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
