//! The conformance cases, whole and byte by byte.

use super::*;

fn run(case: &cases::Case, split: usize) -> Seen {
    let now = Instant::now();
    let mut vt = Vt::new(size(case.cols, case.rows));
    let mut replies = Vec::new();
    for step in &case.steps {
        match step {
            Step::Output(bytes) => {
                for piece in bytes.chunks(split) {
                    replies.extend(vt.feed(now, piece).replies);
                }
            }
            Step::Resize { cols, rows } => vt.resize(size(*cols, *rows)),
        }
    }
    Seen::of(&mut vt, replies)
}

#[test]
fn every_conformance_case_passes_however_its_bytes_come() {
    let cases = cases::load();
    assert_eq!(cases.len(), 127);
    for split in [usize::MAX, 1] {
        let failures: Vec<_> = cases
            .iter()
            .filter_map(|case| {
                let differences = case.differences(&run(case, split));
                (!differences.is_empty()).then(|| (case.name.clone(), differences))
            })
            .collect();
        assert!(failures.is_empty(), "split {split}: {failures:#?}");
    }
}
