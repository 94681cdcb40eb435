//! Recorded starts of real programs: their screens, whatever the split of the bytes.

use std::path::PathBuf;

use proptest::prelude::*;

use super::*;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/vt/startup")
}

/// Every recording of a program's start, by name.
pub(super) fn recordings() -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "raw"))
        .map(|path| {
            (
                path.file_stem().unwrap().to_str().unwrap().to_owned(),
                std::fs::read(&path).unwrap(),
            )
        })
        .collect();
    all.sort();
    assert!(all.len() >= 18);
    all
}

#[test]
fn rows_that_are_remembered_are_as_if_read_anew() {
    let sizes = [(120, 40), (80, 24), (120, 40), (37, 9)].map(|(cols, rows)| Size { cols, rows });
    for (name, bytes) in recordings() {
        let mut vt = Vt::new(sizes[0]);
        for (n, piece) in bytes.chunks(997).enumerate() {
            if n % 20 == 0 {
                vt.resize(sizes[n / 20 % sizes.len()]);
            }
            vt.feed(Instant::now(), piece);
            let screen = vt.parser.screen();
            let anew = Reader::default().lines(screen);
            assert!(vt.reader.lines(screen) == anew, "{name} after {n} pieces");
        }
    }
}

#[test]
fn the_screens_of_recorded_starts() {
    for (name, bytes) in recordings() {
        let vt = fed(120, 40, &bytes);
        let cursor = vt.cursor();
        let screen = format!(
            "title {:?}, cursor {},{}{}, alternate screen {}, update open {}\n{:?}\n{}",
            vt.title(),
            cursor.row,
            cursor.col,
            if cursor.visible { "" } else { " hidden" },
            vt.alternate_screen(),
            vt.frame_open(),
            vt.modes(),
            texts(&vt).join("\n").trim_end(),
        );
        insta::with_settings!({ snapshot_path => "../snapshots", prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name, screen);
        });
    }
}

#[test]
fn no_split_of_a_recording_changes_its_screen() {
    for (name, bytes) in recordings() {
        let whole = fed(120, 40, &bytes);
        for split in [1, 7, 64, 1021] {
            let mut vt = Vt::new(size(120, 40));
            let now = Instant::now();
            for piece in bytes.chunks(split) {
                vt.feed(now, piece);
            }
            assert_eq!(display(&vt), display(&whole), "{name} in pieces of {split}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn b29_no_cut_of_a_recording_shows_half_a_frame(
        which in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>(),
    ) {
        let all = recordings();
        let (_, bytes) = which.get(&all);
        let now = Instant::now();
        let (before, after) = bytes.split_at(cut.index(bytes.len()));
        let mut vt = fed(120, 40, before);
        let open = before.windows(8).rposition(|w| w == b"\x1b[?2026h");
        let closed = before.windows(8).rposition(|w| w == b"\x1b[?2026l");
        prop_assert_eq!(vt.frame_open(), open > closed);
        if let Some(at) = open.filter(|_| open > closed) {
            let complete = fed(120, 40, &before[..at]);
            prop_assert_eq!((vt.rows(), vt.cursor()), (complete.rows(), complete.cursor()));
        }
        vt.feed(now, after);
        prop_assert_eq!(display(&vt), display(&fed(120, 40, bytes)));
    }
}
