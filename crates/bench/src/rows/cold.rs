//! The first `sidestick tool` call where nothing runs yet: server, chat, runner and program are started by it.

use std::time::Instant;

use anyhow::{Result, ensure};

use super::home;
use crate::control::tmux;
use crate::options::Options;
use crate::peers::{Peers, said};
use crate::stats::Sorted;
use crate::table::{Bound, Line, short};

pub(super) fn row(options: &Options, _: &Peers) -> Result<Vec<Line>> {
    let (mut ours, mut peer) = (Vec::new(), Vec::new());
    let socket = format!("sidestick-bench-cold-{}", std::process::id());
    for _ in 0..options.length.of(20, 5) {
        let home = home(options)?;
        let start = Instant::now();
        let run = home.run(&["tool", "bash", r#"{"command":"echo here"}"#]);
        ours.push(start.elapsed());
        ensure!(run.status == 0 && run.out.contains("here"), "{run:?}");
        drop(home);
        let start = Instant::now();
        said(tmux(&socket).args(["new-session", "-d", "cat"]))?;
        peer.push(start.elapsed());
        said(tmux(&socket).arg("kill-server"))?;
    }
    let (ours, peer) = (Sorted::millis(&ours), Sorted::millis(&peer));
    Ok(vec![Line {
        what: format!(
            "cold start: first `sidestick tool` call, median of {} (worst {} ms)",
            ours.len(),
            short(ours.quantile(100))
        ),
        ours: format!("{} ms", short(ours.median())),
        peer: format!("tmux new-session {} ms", short(peer.median())),
        measured: ours.median(),
        bound: Bound::AtMost(150.0),
        unit: " ms",
    }])
}
