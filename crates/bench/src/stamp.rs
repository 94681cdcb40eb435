//! `bench stamp`: a program that prints what time it is, again and again.
//!
//! Whoever reads a line knows how long the line was on its way: both ends read the same clock of the machine.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// What the first argument says.
pub(crate) const WORD: &str = "stamp";
/// Between two lines: long enough that the reader is asleep again, whatever it had to do.
const PAUSE: Duration = Duration::from_millis(4);

/// Nanoseconds of the monotonic clock.
pub(crate) fn now() -> i64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Prints until nobody reads.
pub(crate) fn run() -> ExitCode {
    let mut out = std::io::stdout().lock();
    for number in 0_u64.. {
        std::thread::sleep(PAUSE);
        let line = format!("@{number} {}\n", now());
        if out.write_all(line.as_bytes()).is_err() {
            break;
        }
    }
    ExitCode::SUCCESS
}

/// The number and the time of the last whole line that is a stamp.
pub(crate) fn last(text: &str) -> Option<(u64, i64)> {
    text.lines().rev().find_map(|line| {
        let (number, nanos) = line.trim().strip_prefix('@')?.split_once(' ')?;
        Some((number.parse().ok()?, nanos.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_stamp_is_read_off_a_screen() {
        assert_eq!(last("@1 10\r\n@2 20\r\n\r\n"), Some((2, 20)));
        assert_eq!(last("nothing"), None);
    }
}
