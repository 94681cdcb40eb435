//! What was measured and what was asked for, as a table that a README can hold.

use std::fmt::Write as _;
use std::fs::read_to_string;

use crate::peers::Peers;

/// One figure with its bound.
pub(crate) struct Line {
    /// What was measured.
    pub(crate) what: String,
    /// Of Sidestick, with its unit.
    pub(crate) ours: String,
    /// Of the peer, with its name and unit; empty without one.
    pub(crate) peer: String,
    /// The figure that is held against the bound.
    pub(crate) measured: f64,
    /// The bound.
    pub(crate) bound: Bound,
    /// Its unit: ` ms`, ` ×` …
    pub(crate) unit: &'static str,
}

/// What a figure must keep to.
#[derive(Clone, Copy)]
pub(crate) enum Bound {
    /// It may not be more.
    AtMost(f64),
    /// It may not be less.
    AtLeast(f64),
}

impl Line {
    /// Whether the figure keeps to its bound. What is no number does not.
    pub(crate) fn holds(&self) -> bool {
        match self.bound {
            Bound::AtMost(most) => self.measured <= most,
            Bound::AtLeast(least) => self.measured >= least,
        }
    }
}

/// The machine and the peers.
pub(crate) fn head(peers: &Peers) -> String {
    let info = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|it| it.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |it| it.1);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let load = read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    format!(
        "machine: {cores} × {model}, Linux {}, load {load}\npeers: {}, {}",
        kernel.trim(),
        peers.tmux,
        peers.libtmux_mcp
    )
}

/// The table.
pub(crate) fn render(lines: &[Line]) -> String {
    let mut out = String::from(
        "| what | Sidestick | peer | measured | asked for | |\n|---|---|---|---|---|---|\n",
    );
    for line in lines {
        let (sign, limit) = match line.bound {
            Bound::AtMost(limit) => ("≤", limit),
            Bound::AtLeast(limit) => ("≥", limit),
        };
        let unit = line.unit;
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "| {} | {} | {} | {}{unit} | {sign} {}{unit} | {} |",
            line.what,
            line.ours,
            line.peer,
            short(line.measured),
            short(limit),
            if line.holds() { "yes" } else { "**no**" }
        );
    }
    out
}

/// Three digits that count, at most two after the point.
pub(crate) fn short(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else if value >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(measured: f64, bound: Bound) -> Line {
        Line {
            what: "a".into(),
            ours: "b".into(),
            peer: String::new(),
            measured,
            bound,
            unit: " ms",
        }
    }

    #[test]
    fn a_figure_holds_up_to_its_bound_and_no_figure_never_does() {
        assert!(line(1.0, Bound::AtMost(1.0)).holds());
        assert!(!line(1.1, Bound::AtMost(1.0)).holds());
        assert!(!line(0.8, Bound::AtLeast(0.85)).holds());
        assert!(!line(f64::NAN, Bound::AtMost(1.0)).holds());
        assert!(!line(f64::NAN, Bound::AtLeast(1.0)).holds());
    }

    #[test]
    fn a_missed_bound_is_seen_in_the_table() {
        let table = render(&[line(2.0, Bound::AtMost(1.0))]);
        assert!(
            table.ends_with("| a | b |  | 2.00 ms | ≤ 1.00 ms | **no** |\n"),
            "{table}"
        );
    }
}
