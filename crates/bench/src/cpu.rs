//! Processor time of other processes, in nanoseconds: ticks of `stat` are too coarse for what is nearly idle.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// What all threads of these processes have used so far. Those that have ended count no more.
pub(crate) fn used(pids: &[u32]) -> Result<Duration> {
    pids.iter().map(|pid| of_one(*pid)).sum()
}

fn of_one(pid: u32) -> Result<Duration> {
    let folder = format!("/proc/{pid}/task");
    let mut sum = Duration::ZERO;
    for thread in fs::read_dir(&folder).with_context(|| format!("process {pid} has ended"))? {
        let file = thread?.path().join("schedstat");
        let text =
            fs::read_to_string(&file).with_context(|| format!("{} is missing", file.display()))?;
        let nanos = text.split(' ').next().and_then(|it| it.parse().ok());
        sum += Duration::from_nanos(nanos.context("schedstat has no number")?);
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted() {
        let own = [std::process::id()];
        let before = used(&own).unwrap();
        let end = std::time::Instant::now() + Duration::from_secs(30);
        let mut n = 0_u64;
        // The kernel counts what ran when it looks, some milliseconds apart.
        while used(&own).unwrap() == before && std::time::Instant::now() < end {
            n = std::hint::black_box(n + 1);
        }
        assert!(used(&own).unwrap() > before);
        assert!(used(&[0]).is_err());
    }
}
