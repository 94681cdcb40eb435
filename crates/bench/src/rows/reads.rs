//! How long a read of the screen takes while a program floods it.

use std::time::Instant;

use anyhow::Result;
use serde_json::json;

use super::{Ours, flood, matched};
use crate::corpus;
use crate::options::Options;
use crate::peers::Peers;
use crate::stats::Sorted;
use crate::table::{Bound, Line, short};

pub(super) fn row(options: &Options, _: &Peers) -> Result<Vec<Line>> {
    let folder = tempfile::tempdir()?;
    let file = corpus::log(folder.path(), options.length.of(100_000_000, 16_000_000))?;
    let mut ours = Ours::open(options, &flood::script(&file))?;
    let screen = json!({"action": "screen", "terminal_id": ours.terminal});
    let mut times = Vec::new();
    for round in 0..options.length.of(5, 2) {
        let call = ours.line(&round.to_string(), &format!("END-{round}"));
        let flood = ours.mcp.begin("bash", &call)?;
        while !ours.mcp.has(flood) {
            let start = Instant::now();
            ours.mcp.call("bash", &screen)?;
            times.push(start.elapsed());
        }
        matched(&ours.mcp.answer(flood)?)?;
    }
    let times = Sorted::millis(&times);
    Ok(vec![Line {
        what: format!(
            "read of the screen during a flood, p99 of {} (median {} ms)",
            times.len(),
            short(times.median())
        ),
        ours: format!("{} ms", short(times.quantile(99))),
        peer: String::new(),
        measured: times.quantile(99),
        bound: Bound::AtMost(10.0),
        unit: " ms",
    }])
}
