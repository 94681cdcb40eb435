//! No input makes the engine panic, hang or outgrow its memory.

use proptest::prelude::*;

use super::*;

#[test]
fn b26_no_size_and_no_wide_character_makes_the_engine_panic() {
    let mut vt = fed(4, 2, "你".as_bytes());
    for (cols, rows) in [(1, 2), (2, 1), (1, 1), (1000, 1000), (1, 1000), (3, 3)] {
        vt.resize(size(cols, rows));
        vt.feed(
            Instant::now(),
            "\x1b[K你好\x1b[1;1H\x1b[P你\x1b[@".as_bytes(),
        );
    }
    assert_eq!(vt.rebuilt(), 0);
}

#[test]
fn b26_an_engine_that_panics_is_made_anew_from_the_output_kept() {
    let now = Instant::now();
    let mut vt = fed(20, 3, b"kept\r\n");
    vt.panics_next = true;
    vt.feed(now, b"lost");
    vt.feed(now, b"after");
    assert_eq!(vt.rebuilt(), 1);
    assert_eq!(texts(&vt), ["kept", "after", ""]);
}

#[test]
fn lines_are_numbered_absolutely_and_those_let_go_are_counted() {
    let now = Instant::now();
    let mut vt = Vt::new(size(80, 24));
    assert_eq!(
        vt.lines(),
        Lines {
            first: 0,
            total: 24,
            dropped: 0
        }
    );
    let mut printed = 0_u64;
    for _ in 0..100 {
        let piece: String = (0..1000).map(|n| format!("{n}\r\n")).collect();
        vt.feed(now, piece.as_bytes());
        printed += 1000;
        assert_eq!(vt.lines().total, printed + 1);
    }
    let lines = vt.lines();
    assert!(lines.dropped > 0 && lines.first == lines.dropped);
    vt.feed(now, b"\x1b[?1049hother");
    assert_eq!(vt.lines(), lines);
    vt.feed(now, b"\x1b[?1049l\x1b[3J");
    assert_eq!(
        vt.lines(),
        Lines {
            first: printed - 23,
            total: printed + 1,
            dropped: printed - 23
        }
    );
}

#[test]
fn scrollback_keeps_its_units_at_eighty_columns() {
    let mut vt = Vt::new(size(80, 24));
    for _ in 0..5000 {
        vt.feed(Instant::now(), &[b'x'; 80]);
    }
    let kept = vt.lines().total - vt.lines().first - 24;
    assert!(
        kept * 80 > limits::SCROLLBACK_UNITS as u64 * 95 / 100,
        "{kept}"
    );
    let keyframe = vt.keyframe();
    assert!(
        keyframe.len() < limits::SCROLLBACK_UNITS + 4000,
        "{}",
        keyframe.len()
    );
}

#[test]
fn a_keyframe_of_many_colours_is_bounded() {
    let mut vt = Vt::new(size(80, 24));
    for n in 0..2000_usize {
        let line: String = (0..80)
            .map(|x| format!("\x1b[38;2;{};{};{x}mx", n % 256, n / 256))
            .collect();
        vt.feed(Instant::now(), line.as_bytes());
    }
    let length = vt.keyframe().len();
    assert!((300_000..700_000).contains(&length), "{length}");
}

fn output() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        prop::sample::select(vec![
            "你好\u{301}❤️",
            "\x1b[K",
            "\x1b[P",
            "\x1b[@",
            "\x1b[999L",
            "\x1b[2;3r",
            "\x1b[?69h",
            "\x1b[2;3s",
            "\x1b[?6h",
            "\x1b#6",
            "\x1b[999b",
            "\x1b[?1049h",
            "\x1b[?1049l",
            "\x1b[?2026h",
            "\x1bc",
            "\t",
            "\x1b[!p",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn b26_no_output_at_any_size_makes_the_engine_panic(
        steps in prop::collection::vec((output(), 1u16..12, 1u16..6), 1..20),
    ) {
        let mut vt = Vt::new(size(4, 2));
        for (bytes, cols, rows) in steps {
            vt.feed(Instant::now(), &bytes);
            vt.resize(size(cols, rows));
            let _ = (vt.rows(), vt.model_rows(), vt.keyframe(), vt.fingerprint(), vt.lines());
        }
        prop_assert_eq!(vt.rebuilt(), 0);
    }
}
