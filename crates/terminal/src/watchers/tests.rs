use super::*;

const A: WatcherId = WatcherId(7);

fn size(cols: u16) -> Size {
    Size::new(cols, 24).unwrap()
}

fn pump(watchers: &mut Watchers, now: Instant) -> Vec<Feed> {
    watchers
        .pump(now, None, || b"keyframe".to_vec())
        .into_iter()
        .map(|(_, feed)| feed)
        .collect()
}

#[test]
fn b54_no_more_than_the_window_is_under_way() {
    let now = Instant::now();
    let mut watchers = Watchers::new(size(80));
    watchers.output(&[b'x'; 200_000]);
    watchers.watch(A, Some(0));
    watchers.output(&[b'x'; 60_000]);
    watchers.output(&[b'x'; 2_000]);
    let given = |feeds: &[Feed]| {
        feeds
            .iter()
            .map(|feed| match feed {
                Feed::Chunk { bytes, .. } => bytes.len(),
                _ => 0,
            })
            .sum::<usize>()
    };
    let first = pump(&mut watchers, now);
    assert_eq!(given(&first), 262_000);
    watchers.output(&[b'x'; 100]);
    watchers.output(&[b'x'; 44]);
    assert_eq!(given(&pump(&mut watchers, now)), 144);
    assert_eq!(watchers.backlog(A), VIEWER_WINDOW as u64);
    assert!(pump(&mut watchers, now).is_empty());
}

#[test]
fn b53_sizes_come_between_the_chunks_they_came_between() {
    let now = Instant::now();
    let mut watchers = Watchers::new(size(80));
    watchers.output(b"one");
    watchers.resized(size(40));
    watchers.output(b"two");
    watchers.resized(size(40));
    watchers.watch(A, Some(0));
    let chunk = |offset, text: &'static str| Feed::Chunk {
        offset,
        bytes: text.into(),
    };
    let expected = [chunk(0, "one"), Feed::Resized(size(40)), chunk(3, "two")];
    assert_eq!(pump(&mut watchers, now), expected);
    watchers.watch(A, Some(3));
    assert_eq!(pump(&mut watchers, now), expected[1..]);
    watchers.watch(A, Some(4));
    assert_eq!(pump(&mut watchers, now), [chunk(4, "wo")]);
}

#[test]
fn b57_keyframe_and_output_are_one_ordered_stream() {
    let now = Instant::now();
    let mut watchers = Watchers::new(size(80));
    watchers.output(b"before\x1b[1");
    watchers.watch(A, None);
    let keyframe = Feed::Keyframe {
        offset: 6,
        size: size(80),
        bytes: "keyframe".into(),
    };
    assert_eq!(pump(&mut watchers, now), [keyframe]);
    watchers.output(b";31mafter");
    let chunk = Feed::Chunk {
        offset: 6,
        bytes: "\x1b[1;31mafter".into(),
    };
    assert_eq!(pump(&mut watchers, now), [chunk]);
}

#[test]
fn b52_old_sizes_are_forgotten_with_the_output_they_stood_in() {
    let now = Instant::now();
    let mut watchers = Watchers::new(size(80));
    for cols in 1..=900 {
        watchers.resized(size(cols));
        watchers.output(&[b'x'; 4_096]);
    }
    assert!(watchers.sizes.len() <= 65, "{}", watchers.sizes.len());
    let start = watchers.ring.start();
    watchers.watch(A, Some(start));
    let feeds = pump(&mut watchers, now);
    let cols: Vec<u16> = feeds
        .iter()
        .filter_map(|feed| match feed {
            Feed::Resized(size) => Some(size.cols),
            _ => None,
        })
        .collect();
    assert_eq!(cols.last(), Some(&900));
    assert!(cols.windows(2).all(|pair| pair[0] + 1 == pair[1]));
}
