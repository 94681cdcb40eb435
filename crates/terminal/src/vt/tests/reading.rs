//! What is read from a screen, and what the engine answers to queries.

use super::*;

const TICK: std::time::Duration = std::time::Duration::from_millis(1);

fn replies(bytes: &[u8]) -> String {
    Vt::new(Size::DEFAULT)
        .feed(Instant::now(), bytes)
        .replies
        .escape_ascii()
        .to_string()
}

#[test]
fn b19_a_position_report_is_of_the_byte_that_asked_and_each_is_answered_once() {
    assert_eq!(replies(b"AB\x1b[6nCD\x1b[6n"), "\\x1b[1;3R\\x1b[1;5R");
    let now = Instant::now();
    let mut vt = Vt::new(Size::DEFAULT);
    assert_eq!(vt.feed(now, b"AB\x1b[").replies, b"");
    assert_eq!(vt.feed(now, b"6n").replies, b"\x1b[1;3R");
    assert_eq!(replies(&b"\x1b[6n".repeat(500)), "\\x1b[1;1R".repeat(500));
}

#[test]
fn b20_every_query_is_answered_without_a_viewer() {
    let version = env!("CARGO_PKG_VERSION");
    let cases: [(&[u8], String); 12] = [
        (b"\x1b[c", "\\x1b[?62;6;21;22;28c".into()),
        (b"\x1b[>c", "\\x1b[>1;100;0c".into()),
        (b"\x1b[=c", "\\x1bP!|00000000\\x1b\\\\".into()),
        (b"\x1b[5n", "\\x1b[0n".into()),
        (b"\x1b[>q", format!("\\x1bP>|sidestick {version}\\x1b\\\\")),
        (b"\x1b[?2026$p", "\\x1b[?2026;2$y".into()),
        (b"\x1bP$qm\x1b\\", "\\x1bP1$r0m\\x1b\\\\".into()),
        (b"\x1bP$qfree text\x1b\\", "\\x1bP0$r\\x1b\\\\".into()),
        (b"\x1bP+q544e\x1b\\", "\\x1bP0+r\\x1b\\\\".into()),
        (
            b"\x1b[14t\x1b[16t\x1b[18t",
            "\\x1b[4;480;800t\\x1b[6;16;8t\\x1b[8;30;100t".into(),
        ),
        (b"\x1b[?u", "\\x1b[?0u".into()),
        (b"\x1b[?996n", "\\x1b[?997;1n".into()),
    ];
    for (query, answer) in cases {
        assert_eq!(replies(query), answer);
    }
    assert_eq!(
        replies(b"\x1b[21t\x1b]52;c;?\x07"),
        "",
        "a title or clipboard is never told"
    );
}

#[test]
fn b21_colours_are_told_with_the_terminator_of_the_question() {
    assert_eq!(
        replies(b"\x1b]11;?\x1b\\"),
        "\\x1b]11;rgb:1e1e/1e1e/1e1e\\x1b\\\\"
    );
    assert_eq!(
        replies(b"\x1b]10;?\x07"),
        "\\x1b]10;rgb:e5e5/e5e5/e5e5\\x07"
    );
    assert_eq!(
        replies(b"\x1b]12;?\x07"),
        "\\x1b]12;rgb:e5e5/e5e5/e5e5\\x07"
    );
    assert_eq!(
        replies(b"\x1b]4;1;?\x07"),
        "\\x1b]4;1;rgb:cdcd/0000/0000\\x07"
    );
    assert_eq!(
        replies(b"\x1b]11;#102030\x07\x1b]11;?\x07"),
        "\\x1b]11;rgb:1010/2020/3030\\x07"
    );
}

#[test]
fn b20_an_open_update_delays_no_answer() {
    assert_eq!(replies(b"\x1b[?2026hx\x1b[6n"), "\\x1b[1;2R");
}

#[test]
fn b25_a_character_split_over_two_reads_is_whole() {
    let now = Instant::now();
    let mut vt = Vt::new(Size::DEFAULT);
    vt.feed(now, b"cleanup \xe2");
    assert!(vt.mid_sequence());
    assert_eq!(vt.rows()[0].text, "cleanup");
    vt.feed(now, b"\x80\x94 end");
    assert!(!vt.mid_sequence());
    assert_eq!(vt.rows()[0].text, "cleanup — end");
}

/// Widths: a grapheme cluster is one cell, two columns when it is shown as an emoji or is wide.
#[test]
fn b28_a_cluster_is_one_cell_of_one_or_two_columns() {
    let cases = [
        ("❤️", 2),
        ("👩‍👩‍👧‍👦", 2),
        ("e\u{301}", 1),
        ("🇩🇪", 2),
        ("🗂️", 2),
        ("👍🏽", 2),
        ("漢", 2),
        ("±", 1),
    ];
    for (cluster, width) in cases {
        let vt = fed(20, 2, format!("{cluster}|").as_bytes());
        assert_eq!(vt.rows()[0].text, format!("{cluster}|"));
        assert_eq!(vt.cursor().col, width + 1, "{cluster}");
    }
}

#[test]
fn b29_an_open_update_shows_the_last_complete_frame() {
    let now = Instant::now();
    let mut vt = fed(20, 3, b"before");
    let shown = display(&vt);
    vt.feed(now, b"\x1b[?2026h\x1b[2J\x1b[Haf");
    assert!(vt.frame_open());
    assert_eq!(display(&vt), shown);
    vt.feed(now, b"ter\x1b[?2026l!");
    assert!(!vt.frame_open());
    assert_eq!(texts(&vt), ["after!", "", ""]);
}

#[test]
fn b29_updates_within_one_piece_are_never_open() {
    let vt = fed(20, 3, b"\x1b[?2026ha\x1b[?2026l\x1b[?2026hb\x1b[?2026l");
    assert!(!vt.frame_open());
    assert_eq!(vt.rows()[0].text, "ab");
}

#[test]
fn b30_an_update_left_open_ends_after_its_limit() {
    let start = Instant::now();
    let mut vt = Vt::new(size(20, 3));
    vt.feed(start, b"\x1b[?2026hhi \x1b[");
    assert_eq!(vt.deadline(), Some(start + limits::SYNC_UPDATE));
    vt.tick(start + limits::SYNC_UPDATE - TICK);
    assert_eq!(vt.rows()[0].text, "");
    vt.tick(start + limits::SYNC_UPDATE);
    assert_eq!(
        (vt.rows()[0].text.as_str(), vt.frame_open(), vt.deadline()),
        ("hi", false, None)
    );
    // The sequence it ended in the middle of goes on, and a next update is one again.
    vt.feed(start + limits::SYNC_UPDATE, b"31mred\x1b[?2026hmore");
    assert_eq!(
        (vt.rows()[0].text.as_str(), vt.frame_open()),
        ("hi red", true)
    );
}

#[test]
fn b30_output_that_comes_after_the_limit_ends_the_update_too() {
    let start = Instant::now();
    let mut vt = Vt::new(size(20, 3));
    vt.feed(start, b"\x1b[?2026hhi");
    vt.feed(start + limits::SYNC_UPDATE, b"!");
    assert_eq!(
        (vt.rows()[0].text.as_str(), vt.frame_open()),
        ("hi!", false)
    );
}

#[test]
fn b36_a_model_reads_printable_cells_only() {
    let mut vt = Vt::new(size(40, 2));
    let fed = vt.feed(
        Instant::now(),
        "\x1b]52;c;aGk=\x07\x1b]8;;http://x\x1b\\t\x1b]8;;\x1b\\ a\u{202e}b \x1b[8mhid den\x1b[m!"
            .as_bytes(),
    );
    let clipboard = fed.clipboard.unwrap();
    assert_eq!(
        (clipboard.selection.as_str(), clipboard.data.as_slice()),
        ("c", &b"aGk="[..])
    );
    assert_eq!(fed.replies, b"");
    assert_eq!(vt.model_rows()[0], "t a<U+202E>b ··· ···!");
    assert_eq!(vt.concealed_cells(), 6);
}

#[test]
fn a_wrapped_row_says_so_and_a_wide_character_comes_once() {
    let vt = fed(5, 3, "abcdefg\r\n漢字".as_bytes());
    let row = |text: &str, wrapped| Row {
        text: text.into(),
        wrapped,
    };
    assert_eq!(
        vt.rows(),
        [row("abcde", true), row("fg", false), row("漢字", false)]
    );
}

#[test]
fn equal_displays_have_equal_fingerprints_and_others_do_not() {
    let of = |bytes: &[u8]| fed(10, 3, bytes).fingerprint();
    assert_eq!(of(b"ab"), of(b"\x1b[1;2Hb\x1b[1;1Ha\x1b[C"));
    assert_eq!(of(b"a   \x1b[1;2H"), of(b"a"));
    for other in [
        &b"ac"[..],
        b"\x1b[1mab",
        b"a\x1b[1mb",
        b"ab\x1b[D",
        b"ab\x1b[?25l",
        b" ab\x1b[1;3H",
        b"ab\x1b[41m\x1b[K",
    ] {
        assert_ne!(of(b"ab"), of(other), "{other:?}");
    }
}

#[test]
fn the_bell_is_told_once_a_piece() {
    let mut vt = Vt::new(Size::DEFAULT);
    assert!(vt.feed(Instant::now(), b"\x07\x07").bell);
    assert!(!vt.feed(Instant::now(), b"\x1b]2;t\x07").bell);
}
