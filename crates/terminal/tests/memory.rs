//! How much memory screens take: the only test of its process, since it reads the process's own.

#![allow(clippy::unwrap_used)]

use std::time::Instant;

use terminal::size::Size;
use terminal::vt::Vt;

const KIB: usize = 1024;
/// So many that the pages of the test itself do not count.
const IDLE: usize = 400;
const FULL: usize = 3;

/// Resident memory of this process, in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim()
        .trim_end_matches(" kB")
        .parse::<usize>()
        .unwrap()
        * KIB
}

/// So many terminals, each fed `bytes`, and what each takes.
fn terminals(count: usize, bytes: &[u8]) -> (Vec<Vt>, usize) {
    let before = resident();
    let fed = || {
        let mut vt = Vt::new(Size::new(80, 24).unwrap());
        bytes
            .chunks(4 * KIB)
            .for_each(|piece| drop(vt.feed(Instant::now(), piece)));
        vt
    };
    let made = std::iter::repeat_with(fed).take(count).collect();
    (made, resident().saturating_sub(before) / count)
}

fn coloured(cells: usize) -> Vec<u8> {
    let cell = |n: usize| format!("\x1b[38;2;{};{};{}mx", n % 256, n / 256 % 256, n * 7 % 256);
    (0..cells).map(cell).collect::<String>().into_bytes()
}

#[test]
fn an_idle_screen_takes_kilobytes_and_a_full_one_no_more_than_its_bound() {
    let (idle, each) = terminals(IDLE, b"$ ");
    assert!(each <= 40 * KIB, "an idle screen takes {each} bytes");
    assert_eq!(idle.len(), IDLE);
    let contents = [
        vec![b'x'; 800_000],
        coloured(300_000),
        "漢e\u{301}".repeat(150_000).into_bytes(),
    ];
    // All are kept to the end: memory given back would be taken again unseen.
    let mut all = Vec::new();
    for content in contents {
        let (full, each) = terminals(FULL, &content);
        assert!(
            each >= 1024 * KIB,
            "a full screen was not full: {each} bytes"
        );
        assert!(each <= 2560 * KIB, "a full screen takes {each} bytes");
        all.extend(full);
    }
    assert!(all.iter().all(|vt| vt.lines().dropped > 0));
}
