use proptest::prelude::*;

use super::*;

const SMALL: Sizes = Sizes {
    head: 32,
    tail: 32,
    block: 8,
};

fn log(pieces: &[Vec<u8>]) -> (tempfile::TempDir, Log) {
    let folder = tempfile::tempdir().unwrap();
    let log = Log::with(folder.path(), JobId::from_random(1), SMALL).unwrap();
    pieces.iter().for_each(|piece| log.append(piece));
    (folder, log)
}

/// What lines there would be if nothing were ever dropped.
fn whole(pieces: &[Vec<u8>]) -> Vec<String> {
    let text = String::from_utf8(pieces.concat()).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn size(folder: &tempfile::TempDir) -> u64 {
    std::fs::read_dir(folder.path())
        .unwrap()
        .map(|it| it.unwrap().metadata().unwrap().len())
        .sum()
}

#[test]
fn the_middle_of_a_long_log_is_dropped_and_counted() {
    let pieces: Vec<Vec<u8>> = (0..1_000).map(|n| format!("{n}\n").into_bytes()).collect();
    let (folder, log) = log(&pieces);
    assert!(size(&folder) <= 64);
    let read = log.read(LogPart::From(0)).unwrap();
    assert_eq!(read.lines[..3], ["0", "1", "2"]);
    let tail = log.read(LogPart::Tail(3)).unwrap();
    assert_eq!(tail.lines, ["997", "998", "999"]);
    assert_eq!((tail.from_line, tail.total_lines), (997, 1_000));
    let middle = log.read(LogPart::From(500)).unwrap();
    assert_eq!(middle.lines[1], (middle.from_line + 1).to_string());
    assert_eq!(
        middle.from_line,
        read.lines.len() as u64 + tail.dropped_lines,
        "what is kept and what was dropped make up the whole"
    );
}

#[test]
fn a_line_whose_middle_was_dropped_shows_either_end() {
    let (_folder, log) = log(&[b"begin".to_vec(), vec![b'x'; 500], b"end".to_vec()]);
    let first = log.read(LogPart::From(0)).unwrap();
    assert!(first.lines[0].starts_with("beginx") && first.lines[0].ends_with("[…]"));
    let last = log.read(LogPart::Tail(1)).unwrap();
    assert!(last.lines[0].starts_with("[…]x") && last.lines[0].ends_with("xend"));
    assert_eq!((last.total_lines, last.dropped_lines), (1, 0));
}

#[test]
fn a_removed_log_leaves_no_file_and_takes_no_more() {
    let (folder, log) = log(&[b"x\n".to_vec()]);
    log.remove();
    log.append(b"y\n");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(
        log.read(LogPart::From(0)).unwrap_err().message,
        Kind::OutOfResources
    );
}

proptest! {
    #[test]
    fn every_kept_line_has_its_own_number(
        pieces in prop::collection::vec("[a-z\n]{0,20}".prop_map(String::into_bytes), 0..20),
        from in 0..100_u64,
        count in 1..50_u64,
    ) {
        let (folder, log) = log(&pieces);
        prop_assert!(size(&folder) <= 64);
        let all = whole(&pieces);
        for part in [LogPart::From(from), LogPart::Tail(count)] {
            let read = log.read(part).unwrap();
            prop_assert_eq!(read.total_lines, all.len() as u64);
            let first = usize::try_from(read.from_line).unwrap();
            for (at, line) in read.lines.iter().enumerate() {
                let right = &all[first + at];
                let matches = match (line.strip_prefix("[…]"), line.strip_suffix("[…]")) {
                    (Some(end), _) => right.ends_with(end),
                    (None, Some(start)) => right.starts_with(start),
                    (None, None) => right == line,
                };
                prop_assert!(matches, "line {} is {right:?}, not {line:?}", first + at);
            }
            if let LogPart::Tail(_) = part {
                prop_assert_eq!(first + read.lines.len(), all.len());
            }
        }
    }

    #[test]
    fn what_is_kept_and_what_was_dropped_make_up_the_whole(
        pieces in prop::collection::vec("[a-z\n]{0,20}".prop_map(String::into_bytes), 0..20),
    ) {
        let (_folder, log) = log(&pieces);
        let (mut at, mut seen) = (0, std::collections::BTreeSet::new());
        loop {
            let read = log.read(LogPart::From(at)).unwrap();
            if read.lines.is_empty() {
                let dropped = read.dropped_lines;
                prop_assert_eq!(seen.len() as u64 + dropped, read.total_lines);
                break;
            }
            seen.extend((read.from_line..).take(read.lines.len()));
            at = read.from_line + read.lines.len() as u64;
        }
    }
}
