//! A line typed, Enter, and the answer waited for: one call of ours, two commands of tmux, and the calls of libtmux-mcp.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::json;

use super::{Ours, matched};
use crate::control::{Control, Output, tmux};
use crate::mcp::{Mcp, text};
use crate::options::Options;
use crate::peers::{Peers, said};
use crate::stats::Sorted;
use crate::table::{Bound, Line, short};

/// Answers each line at once, with something that the line itself is not.
const SCRIPT: &str = "echo ready\nwhile IFS= read -r l; do echo \"R:$l:ok\"; done";
/// Not counted: caches are cold.
const WARM_UP: usize = 20;
/// libtmux-mcp has a turn at every so manieth round only: it needs a hundred times as long.
const EVERY: usize = 20;

pub(super) fn row(options: &Options, peers: &Peers) -> Result<Vec<Line>> {
    let rounds = options.length.of(1_000, 100) + WARM_UP;
    let mut ours = Ours::open(options, SCRIPT)?;
    let mut control = Control::start(SCRIPT, Output::Told)?;
    let mut library = Library::start(peers)?;
    let (mut a, mut b, mut c) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        a.push(time(|| {
            let call = ours.line(&format!("a{round}"), &format!("R:a{round}:ok"));
            matched(&ours.mcp.call("bash", &call)?)
        })?);
        b.push(time(|| {
            control.type_line(&format!("b{round}"))?;
            control.until_printed(&format!("R:b{round}:ok"))
        })?);
        if round % EVERY == 0 {
            c.push(time(|| library.line(round))?);
        }
    }
    let [a, b] = [a, b].map(|it| Sorted::millis(&it[WARM_UP..]));
    let c = Sorted::millis(&c[1..]);
    Ok(lines(&a, &b, &c))
}

fn lines(ours: &Sorted, tmux: &Sorted, library: &Sorted) -> Vec<Line> {
    let own = format!("{} ms", short(ours.median()));
    let line = |what: &str, peer: String, measured, bound, unit| Line {
        what: format!("type, Enter and `wait_for` in one MCP call, {what}"),
        ours: own.clone(),
        peer,
        measured,
        bound,
        unit,
    };
    vec![
        line(
            &format!(
                "median of {} (p99 {} ms)",
                ours.len(),
                short(ours.quantile(99))
            ),
            String::new(),
            ours.median(),
            Bound::AtMost(1.0),
            " ms",
        ),
        line(
            "against two commands in control mode",
            format!("tmux -C {} ms", short(tmux.median())),
            ours.median() / tmux.median(),
            Bound::AtMost(4.0),
            " ×",
        ),
        line(
            "against `send_keys` and polled `capture_pane`",
            format!("libtmux-mcp {} ms", short(library.median())),
            library.median() / ours.median(),
            Bound::AtLeast(20.0),
            " × faster",
        ),
    ]
}

fn time(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

/// libtmux-mcp with one pane.
struct Library {
    mcp: Mcp,
    socket: String,
    pane: String,
}

impl Library {
    fn start(peers: &Peers) -> Result<Self> {
        let socket = format!("sidestick-bench-mcp-{}", std::process::id());
        said(tmux(&socket).args(["new-session", "-d", "-s", "b", "sh", "-c", SCRIPT]))?;
        let pane = said(tmux(&socket).args(["display-message", "-p", "#{pane_id}"]))?;
        let mut command = Command::new(&peers.libtmux_mcp_program);
        command.env("LIBTMUX_SOCKET", &socket);
        let mcp = Mcp::start(&mut command).context("libtmux-mcp")?;
        Ok(Self { mcp, socket, pane })
    }

    fn line(&mut self, round: usize) -> Result<()> {
        let (pane, socket) = (&self.pane, &self.socket);
        let keys = json!({"keys": format!("c{round}"), "pane_id": pane, "enter": true, "socket_name": socket});
        self.mcp.call("send_keys", &keys)?;
        let wanted = format!("R:c{round}:ok");
        let capture = json!({"pane_id": pane, "socket_name": socket});
        while !text(&self.mcp.call("capture_pane", &capture)?).contains(&wanted) {}
        Ok(())
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // Whatever failed before, no server of ours stays.
        let _ = tmux(&self.socket).arg("kill-server").status();
    }
}
