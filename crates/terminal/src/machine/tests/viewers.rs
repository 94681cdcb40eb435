//! What watchers are given, painted on screens of their own.

use super::*;

const A: WatcherId = WatcherId(1);
const B: WatcherId = WatcherId(2);

fn watch(sim: &mut Sim, watcher: WatcherId, from: Option<u64>) {
    sim.machine.watch(watcher, from);
    sim.settle();
}

fn took(sim: &mut Sim, watcher: WatcherId, bytes: usize) {
    sim.machine.watcher_took(watcher, bytes);
    sim.settle();
}

/// Takes what a watcher was given and paints it on a screen of its own.
#[derive(Default)]
struct Viewer {
    vt: Option<Vt>,
    offset: u64,
    taken: usize,
    keyframes: usize,
    exit: Option<Exit>,
}

impl Viewer {
    fn take(&mut self, sim: &mut Sim, watcher: WatcherId) {
        let now = sim.now;
        for (_, feed) in sim.feeds.extract_if(.., |(id, _)| *id == watcher) {
            match feed {
                Feed::Keyframe {
                    offset,
                    size,
                    bytes,
                } => {
                    let mut vt = Vt::new(size);
                    vt.feed(now, &bytes);
                    self.vt = Some(vt);
                    self.offset = offset;
                    self.taken += bytes.len();
                    self.keyframes += 1;
                }
                Feed::Chunk { offset, bytes } => {
                    assert_eq!(offset, self.offset, "chunks follow each other");
                    assert!(bytes.len() <= 60 * 1024 && !bytes.is_empty());
                    self.vt
                        .as_mut()
                        .expect("a keyframe came first")
                        .feed(now, &bytes);
                    self.offset += bytes.len() as u64;
                    self.taken += bytes.len();
                }
                Feed::Resized(size) => self.vt.as_mut().unwrap().resize(size),
                Feed::Exited(exit) => self.exit = Some(exit),
            }
        }
    }

    #[track_caller]
    fn sees_what_is_there(&self, sim: &Sim) {
        let vt = self.vt.as_ref().unwrap();
        assert_eq!(vt.size(), sim.machine.size());
        assert_eq!(vt.rows(), sim.machine.vt.rows());
        assert_eq!(vt.cursor(), sim.machine.vt.cursor());
        assert_eq!(vt.modes(), sim.machine.vt.modes());
    }
}

#[test]
fn b52_a_late_watcher_sees_the_screen_and_goes_on_from_exactly_there() {
    let mut sim = Sim::new();
    for n in 0..8_000 {
        sim.says(&format!("\x1b[3{}mline {n}\x1b[m\r\n", n % 8));
    }
    sim.says("\x1b[?1h\x1b[?2004h\x1b[5;10Hhere");
    let mut viewer = Viewer::default();
    watch(&mut sim, A, None);
    viewer.take(&mut sim, A);
    viewer.sees_what_is_there(&sim);
    sim.says(" and on\x1b[2;3");
    sim.says("Hthere");
    let taken = std::mem::take(&mut viewer.taken);
    took(&mut sim, A, taken);
    viewer.take(&mut sim, A);
    viewer.sees_what_is_there(&sim);
    assert_eq!(viewer.keyframes, 1);
}

#[test]
fn b52_a_watcher_that_comes_back_gets_what_it_missed_and_no_more() {
    let mut sim = Sim::new();
    watch(&mut sim, A, None);
    let mut viewer = Viewer::default();
    sim.says("one\r\n");
    viewer.take(&mut sim, A);
    sim.machine.unwatch(A);
    sim.says("two\r\n");
    assert!(sim.feeds.is_empty());
    watch(&mut sim, B, Some(viewer.offset));
    viewer.take(&mut sim, B);
    viewer.sees_what_is_there(&sim);
    assert_eq!(viewer.keyframes, 1);
    watch(&mut sim, A, Some(viewer.offset + 1));
    assert!(
        matches!(sim.feeds[..], [(A, Feed::Keyframe { .. })]),
        "it was never there"
    );
}

#[test]
fn b52_from_the_very_beginning_every_byte_is_given() {
    let mut sim = Sim::new();
    sim.says("\x1b[31mred\x1b[6n");
    watch(&mut sim, A, Some(0));
    let (_, Feed::Chunk { offset, bytes }) = sim.feeds.remove(0) else {
        panic!()
    };
    assert_eq!(
        (offset, &bytes[..]),
        (0, &b"\x1b[31mred"[..]),
        "but no query"
    );
}

#[test]
fn b53_a_new_size_comes_at_its_place_in_the_stream() {
    let mut sim = Sim::new();
    let mut viewer = Viewer::default();
    watch(&mut sim, A, None);
    sim.says(&"x".repeat(100));
    sim.machine.resize(sim.now, Size::new(40, 10).unwrap());
    sim.says(&"y".repeat(100));
    watch(&mut sim, B, None);
    sim.machine.resize(sim.now, Size::new(60, 12).unwrap());
    sim.says(&"z".repeat(100));
    viewer.take(&mut sim, A);
    viewer.sees_what_is_there(&sim);
    let mut late = Viewer::default();
    late.take(&mut sim, B);
    late.sees_what_is_there(&sim);
    assert_eq!(sim.sizes.len(), 2);
}

#[test]
fn b54_a_watcher_that_does_not_read_holds_up_nobody_and_gets_a_keyframe_later() {
    let mut sim = Sim::new();
    watch(&mut sim, A, None);
    watch(&mut sim, B, None);
    let (mut slow, mut quick) = (Viewer::default(), Viewer::default());
    for n in 0..100 {
        sim.says(&format!("{n} yes\r\n").repeat(1_000));
        quick.take(&mut sim, B);
        let taken = std::mem::take(&mut quick.taken);
        took(&mut sim, B, taken);
    }
    quick.take(&mut sim, B);
    quick.sees_what_is_there(&sim);
    assert_eq!(quick.keyframes, 1);
    slow.take(&mut sim, A);
    assert!(slow.taken <= wire::limits::VIEWER_WINDOW, "{}", slow.taken);
    let taken = std::mem::take(&mut slow.taken);
    took(&mut sim, A, taken - 1);
    slow.take(&mut sim, A);
    assert_eq!(slow.keyframes, 1, "something is still under way to it");
    took(&mut sim, A, 1);
    slow.take(&mut sim, A);
    slow.sees_what_is_there(&sim);
    assert_eq!(slow.keyframes, 2);
}

#[test]
fn b54_a_watcher_that_is_a_little_behind_misses_nothing() {
    let mut sim = Sim::new();
    watch(&mut sim, A, None);
    let mut viewer = Viewer::default();
    for _ in 0..6 {
        sim.says(&"0123456789".repeat(6_000));
    }
    viewer.take(&mut sim, A);
    assert!(sim.machine.backlog(A) > wire::limits::VIEWER_WINDOW as u64);
    while viewer.taken > 0 {
        let taken = std::mem::take(&mut viewer.taken);
        took(&mut sim, A, taken);
        viewer.take(&mut sim, A);
    }
    viewer.sees_what_is_there(&sim);
    assert_eq!((viewer.keyframes, sim.machine.backlog(A)), (1, 0));
}

#[test]
fn b57_a_keyframe_never_waits_for_ever_for_a_string_to_end() {
    let mut sim = Sim::new();
    sim.says("hello");
    sim.says(&format!("\x1b]0;{}", "A".repeat(10_000)));
    watch(&mut sim, A, None);
    assert!(sim.feeds.is_empty(), "within a string it is not safe yet");
    sim.pass(ms(500));
    assert!(matches!(sim.feeds[..], [(A, Feed::Keyframe { .. })]));
}

#[test]
fn b57_a_keyframe_comes_as_soon_as_a_string_ends() {
    let mut sim = Sim::new();
    sim.says(&format!("\x1b]0;{}", "A".repeat(10_000)));
    watch(&mut sim, A, None);
    sim.says("\x07done");
    let mut viewer = Viewer::default();
    viewer.take(&mut sim, A);
    viewer.sees_what_is_there(&sim);
}

#[test]
fn an_exit_follows_the_last_byte_also_for_one_who_comes_later() {
    let mut sim = Sim::new();
    watch(&mut sim, A, None);
    sim.says("bye");
    sim.exits(3);
    watch(&mut sim, B, None);
    for watcher in [A, B] {
        let mut viewer = Viewer::default();
        viewer.take(&mut sim, watcher);
        viewer.sees_what_is_there(&sim);
        assert_eq!(viewer.exit.unwrap().code, Some(3));
    }
}
