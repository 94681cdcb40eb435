//! From a program's write to whoever waits for it: a bare read, and a wait on a terminal in this process.
//!
//! Only what the terminal adds is measured: no socket lies between.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use terminal::actor::{self, Terminal};
use terminal::machine::{Machine, Ticket};
use terminal::process::{Containment, Io, Start, Stdio, start};
use tokio::sync::mpsc;
use tokio::task::LocalSet;
use wire::bash::{Act, Details, Until, Wait};
use wire::{Size, TerminalId};

use super::{COLS, ROWS};
use crate::bare::Bare;
use crate::options::Options;
use crate::peers::Peers;
use crate::stamp;
use crate::stats::Sorted;
use crate::table::{Bound, Line, short};

/// Lines of one turn.
const TURN: usize = 50;
/// A wait that is not met by then hangs.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn row(options: &Options, _: &Peers) -> Result<Vec<Line>> {
    let own = std::env::current_exe()?;
    let turns = options.length.of(40, 4);
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..turns {
        bare.extend(bare_turn(&own)?);
        ours.extend(our_turn(&own, &options.sidestick)?);
    }
    let [bare, ours] = [bare, ours].map(Sorted::of);
    let line = |percent, most| Line {
        what: format!("wake of a waiter, p{percent} of {}", ours.len()),
        ours: format!("{} µs", short(ours.quantile(percent))),
        peer: format!("bare read {} µs", short(bare.quantile(percent))),
        measured: ours.quantile(percent) / bare.quantile(percent),
        bound: Bound::AtMost(most),
        unit: " ×",
    };
    Ok(vec![line(50, 3.0), line(99, 5.0)])
}

fn bare_turn(own: &Path) -> Result<Vec<f64>> {
    let program = own.to_str().context("the path is no text")?;
    let mut bare = Bare::start(&[program, stamp::WORD])?;
    let mut times = Vec::new();
    while times.len() < TURN {
        let read = bare.read()?;
        let now = stamp::now();
        if let Some((number, at)) = stamp::last(&String::from_utf8_lossy(read))
            && number > 0
        {
            times.push(micros(now - at));
        }
    }
    Ok(times)
}

fn our_turn(own: &Path, leash: &Path) -> Result<Vec<f64>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    LocalSet::new().block_on(&runtime, waits(own, leash))
}

async fn waits(own: &Path, leash: &Path) -> Result<Vec<f64>> {
    let size = Size {
        cols: COLS,
        rows: ROWS,
    };
    let (process, io) = start(Start {
        argv: vec![own.into(), stamp::WORD.into()],
        cwd: "/".into(),
        env: Vec::new(),
        stdio: Stdio::Pty(size),
        containment: Containment::Leash,
        leash: leash.to_owned(),
    })
    .await?;
    let Io::Pty(master) = io else {
        bail!("there is no terminal")
    };
    let machine = Machine::new(TerminalId::from_random(1), size, Instant::now());
    let (news, _keep) = mpsc::unbounded_channel();
    let terminal = actor::spawn(machine, process, master, String::new(), news);
    let mut times = Vec::new();
    let mut next = 1;
    while times.len() < TURN {
        let details = wait_for(&terminal, next).await?;
        let now = stamp::now();
        let text = &details.observation.text;
        let (number, at) = stamp::last(text).context("no stamp on the screen")?;
        let late = details.wait.as_ref().is_none_or(|it| it.marker_was_visible);
        // One that was there before the wait woke nobody.
        if number == next && !late {
            times.push(micros(now - at));
        }
        ensure!(number >= next, "the wait ended before its line");
        next = number + 1;
    }
    Ok(times)
}

async fn wait_for(terminal: &Terminal, number: u64) -> Result<Box<Details>> {
    let wait = Wait {
        until: Until::Present(format!("@{number} ")),
        timeout: Some(PATIENCE),
    };
    let answer = terminal.act(Ticket(number), Act::Wait(wait)).await;
    answer
        .ok()
        .context("the terminal has gone")?
        .map_err(|refusal| anyhow::anyhow!("{refusal}"))
}

fn micros(nanos: i64) -> f64 {
    nanos as f64 / 1e3
}
