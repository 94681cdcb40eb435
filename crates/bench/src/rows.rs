//! The rows of the table, one file each.

mod answer;
mod cold;
mod flood;
mod idle;
mod reads;
mod wake;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use testkit::{Home, Role};

use crate::mcp::Mcp;
use crate::options::Options;
use crate::peers::Peers;
use crate::table::Line;

/// Columns of every terminal that is measured.
pub(crate) const COLS: u16 = 120;
/// Its rows.
pub(crate) const ROWS: u16 = 40;

/// Measures one row.
type Row = fn(&Options, &Peers) -> Result<Vec<Line>>;

/// All of them, the quick ones first.
pub(crate) const ALL: &[(&str, Row)] = &[
    ("cold", cold::row),
    ("answer", answer::row),
    ("wake", wake::row),
    ("flood", flood::row),
    ("reads", reads::row),
    ("idle", idle::row),
];

/// One terminal of ours behind `sidestick mcp`, as an agent has it. Fields end in this order.
struct Ours {
    mcp: Mcp,
    terminal: String,
    home: Home,
}

impl Ours {
    /// Opens a terminal in which a shell script runs.
    fn open(options: &Options, script: &str) -> Result<Self> {
        let home = home(options)?;
        let mut mcp = Mcp::start(&mut home.command(&["mcp"]))?;
        std::fs::write(home.work().join("script"), script)?;
        let open =
            json!({"action": "open", "command": "exec sh script", "cols": COLS, "rows": ROWS});
        let opened = mcp.call("bash", &open)?;
        let terminal = opened["_meta"]["sidestick/details"]["terminal_id"]
            .as_str()
            .context("no terminal was opened")?
            .to_owned();
        Ok(Self {
            mcp,
            terminal,
            home,
        })
    }

    /// The arguments of one call that types a line and waits for a text.
    fn line(&self, text: &str, wait_for: &str) -> Value {
        json!({
            "action": "type",
            "terminal_id": self.terminal,
            "text": text,
            "keys": ["Enter"],
            "wait_for": wait_for,
            "wait_timeout_ms": 120_000,
        })
    }

    /// Server, runner and leash: all that stands between the program and the client but the client's own edge.
    fn processes(&self) -> Vec<u32> {
        [Role::Server, Role::Runner, Role::Leash]
            .into_iter()
            .flat_map(|role| self.home.live(role))
            .map(|it| it.pid)
            .collect()
    }
}

/// A fresh home for the program under test.
fn home(options: &Options) -> Result<Home> {
    let program = options.sidestick.to_str();
    Ok(Home::new(
        program.context("the path of sidestick is no text")?,
    ))
}

/// Fails unless a call's wait found its text.
fn matched(result: &Value) -> Result<()> {
    let outcome = &result["_meta"]["sidestick/details"]["wait"]["outcome"];
    anyhow::ensure!(outcome == "matched", "the wait ended with {outcome}");
    Ok(())
}
