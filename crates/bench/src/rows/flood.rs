//! A hundred megabytes from the PTY to the final screen, beside a bare read of the same and beside tmux.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::{Ours, matched};
use crate::bare::Bare;
use crate::control::{Control, Output};
use crate::options::Options;
use crate::peers::Peers;
use crate::stats::Sorted;
use crate::table::{Bound, Line, short};
use crate::{corpus, cpu};

/// Between two looks at tmux's screen: rare enough to cost it nothing.
const LOOK: Duration = Duration::from_millis(20);

/// Wall time of one pass, and processor time of what read it.
struct Pass {
    wall: Duration,
    cpu: Duration,
}

pub(super) fn row(options: &Options, _: &Peers) -> Result<Vec<Line>> {
    let bytes = options.length.of(100_000_000, 16_000_000);
    let rounds = options.length.of(5, 2);
    let folder = tempfile::tempdir()?;
    let log = corpus::log(folder.path(), bytes)?;
    let redraws = corpus::redraws(folder.path(), &options.recordings, bytes)?;
    let mut lines = compare(options, "lines of a log", &log, rounds)?;
    lines.extend(compare(options, "recorded redraws", &redraws, rounds)?);
    Ok(lines)
}

/// Pours the file each time that a line is typed. The reset is for what recordings leave behind.
pub(super) fn script(file: &Path) -> String {
    format!(
        "echo ready\nwhile read -r n; do cat '{}'; printf '\\033c\\nEND-%s\\n' \"$n\"; done",
        file.display()
    )
}

fn compare(options: &Options, what: &str, file: &Path, rounds: usize) -> Result<Vec<Line>> {
    let script = script(file);
    let mut bare = Bare::start(&["sh", "-c", &script])?;
    let mut ours = Ours::open(options, &script)?;
    let mut tmux = Control::start(&script, Output::Kept)?;
    let megabytes = file.metadata()?.len() as f64 / 1e6;
    let (mut speeds, mut costs) = (Vec::new(), Vec::new());
    let (mut of_bare, mut of_ours, mut of_tmux) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        let a = pour_bare(&mut bare, round)?;
        let b = pour_ours(&mut ours, round)?;
        let c = pour_tmux(&mut tmux, round)?;
        speeds.push(a.as_secs_f64() / b.wall.as_secs_f64());
        costs.push(b.cpu.as_secs_f64() / c.cpu.as_secs_f64());
        of_bare.push(megabytes / a.as_secs_f64());
        of_ours.push(b);
        of_tmux.push(c);
    }
    let wall = |it: &Pass| megabytes / it.wall.as_secs_f64();
    let cpu = |it: &Pass| it.cpu.as_secs_f64() * 1e3;
    Ok(vec![
        Line {
            what: format!("{what}: PTY to final screen, of a bare read"),
            ours: format!("{} MB/s", middle(&of_ours, wall)),
            peer: format!("bare read {} MB/s", short(Sorted::of(of_bare).median())),
            measured: Sorted::of(speeds).median(),
            bound: Bound::AtLeast(0.85),
            unit: " ×",
        },
        Line {
            what: format!("{what}: processor time"),
            ours: format!("{} ms", middle(&of_ours, cpu)),
            peer: format!("tmux {} ms", middle(&of_tmux, cpu)),
            measured: Sorted::of(costs).median(),
            bound: Bound::AtMost(1.0 / 3.0),
            unit: " ×",
        },
    ])
}

fn middle(passes: &[Pass], of: impl Fn(&Pass) -> f64) -> String {
    short(Sorted::of(passes.iter().map(of).collect()).median())
}

fn pour_bare(bare: &mut Bare, round: usize) -> Result<Duration> {
    let start = Instant::now();
    bare.write(&format!("{round}\n"))?;
    bare.drain_until(&format!("END-{round}\r\n"))?;
    Ok(start.elapsed())
}

fn pour_ours(ours: &mut Ours, round: usize) -> Result<Pass> {
    let processes = ours.processes();
    let (start, before) = (Instant::now(), cpu::used(&processes)?);
    let call = ours.line(&round.to_string(), &format!("END-{round}"));
    matched(&ours.mcp.call("bash", &call)?)?;
    Ok(Pass {
        wall: start.elapsed(),
        cpu: cpu::used(&processes)? - before,
    })
}

fn pour_tmux(tmux: &mut Control, round: usize) -> Result<Pass> {
    let (start, before) = (Instant::now(), cpu::used(&[tmux.pid])?);
    tmux.type_line(&round.to_string())?;
    while !tmux.shows(&format!("END-{round}"))? {
        std::thread::sleep(LOOK);
    }
    Ok(Pass {
        wall: start.elapsed(),
        cpu: cpu::used(&[tmux.pid])? - before,
    })
}
