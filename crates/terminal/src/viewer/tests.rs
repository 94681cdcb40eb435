use proptest::prelude::*;

use super::*;

fn pieces(pieces: &[&[u8]]) -> Vec<u8> {
    let mut stream = ViewerStream::new();
    let mut out = Vec::new();
    for piece in pieces {
        stream.push(piece, &mut out);
    }
    out
}

fn whole(bytes: &[u8]) -> Vec<u8> {
    pieces(&[bytes])
}

const QUERIES: &[&[u8]] = &[
    b"\x1b[c",
    b"\x1b[0c",
    b"\x1b[>c",
    b"\x1b[=c",
    b"\x1b[5n",
    b"\x1b[6n",
    b"\x1b[?6n",
    b"\x1b[?996n",
    b"\x1b[>q",
    b"\x1b[>0q",
    b"\x1b[?2026$p",
    b"\x1b[4$p",
    b"\x1bP$qm\x1b\\",
    b"\x1bP+q544e\x1b\\",
    b"\x1b]4;1;?\x07",
    b"\x1b]10;?\x1b\\",
    b"\x1b]11;?\x07",
    b"\x1b]12;?\x1b\\",
    b"\x1b]10;?;?\x07",
    b"\x1b[14t",
    b"\x1b[16t",
    b"\x1b[18t",
    b"\x1b[21t",
    b"\x1b[?u",
    b"\x1b[1;1;1;1;5;5*y",
    b"\x05",
    b"\x1b]52;c;aGk=\x07",
    b"\x1b]52;c;?\x1b\\",
    b"\x1bZ",
    b"\x1b[?4m",
    b"\xc2\x9b",
    b"\x1b_Gi=1,a=q;AAAA\x1b\\",
    b"\x1b[?1;1;0S",
    b"\x1b]21;foreground=?\x1b\\",
];

const HARMLESS: &[&[u8]] = &[
    b"plain\r\n",
    b"\x1b[31m",
    b"\x1b[2;3H",
    b"\x1b[?2026h",
    b"\x1b[?2026l",
    b"\x1b]2;a;?\x07",
    b"\x1b]8;;http://x\x1b\\",
    b"\x1b]4;1;#ff0000\x07",
    b"\x1b[22;0t",
    b"\x1b[23t",
    b"\x1b[8;4;10t",
    b"\x1b[>4;1m",
    b"\x1b[>1u",
    b"\x1b[<u",
    b"\x1b[u",
    b"\x1b[s",
    b"\x1bPq#0~\x1b\\",
    b"\x1b(0",
    b"\x1b7",
    b"\x1b[4 q",
    b"\x1b[!p",
    "é─漢🎉".as_bytes(),
    b"\x1b[2\r;3H",
    b"\x1b[?1049h",
    b"\xe4\xbdA",
    b"\x1b[2\x1b[1;3H",
    b"\x1b]2;foo\x18bar",
    b"\x1b[>9;9z",
    b"\x1bPzfoo\x1b\\",
    b"\x1b_Gi=1;AAAA\x1b\\",
];

#[test]
fn b23_every_query_is_taken_out_whole() {
    for query in QUERIES {
        let stream = [b"a".as_slice(), query, b"b"].concat();
        assert_eq!(whole(&stream), b"ab", "{}", query.escape_ascii());
    }
}

#[test]
fn bytes_without_a_query_come_out_unchanged() {
    for bytes in HARMLESS {
        assert_eq!(whole(bytes), *bytes, "{}", bytes.escape_ascii());
    }
}

#[test]
fn half_a_sequence_or_character_is_held_back_until_it_is_complete() {
    for (half, rest) in [
        (&b"x\x1b[3"[..], &b"1m"[..]),
        (b"x\xe2\x94", b"\x80"),
        (b"x\x1b]2;t", b"\x07"),
    ] {
        let mut stream = ViewerStream::new();
        let mut out = Vec::new();
        stream.push(half, &mut out);
        assert_eq!(out, b"x");
        assert!(stream.safe());
        stream.push(rest, &mut out);
        assert_eq!(out, [half, rest].concat());
    }
}

#[test]
fn a_long_string_goes_out_in_parts_and_is_unsafe_until_it_ends() {
    let mut stream = ViewerStream::new();
    let mut out = Vec::new();
    let long = [b"\x1bPq".as_slice(), &[b'~'; 6000]].concat();
    stream.push(&long, &mut out);
    assert_eq!(out, long);
    assert!(!stream.safe());
    stream.push(b"\x1b\\end", &mut out);
    assert!(stream.safe());
    assert_eq!(out, [long.as_slice(), b"\x1b\\end"].concat());
}

#[test]
fn a_query_too_long_to_hold_is_still_taken_out() {
    let long = [b"a\x1b]4;1;".as_slice(), &[b'x'; 6000], b";2;?\x1b\\b"].concat();
    assert_eq!(whole(&long), b"ab");
    let endless = [b"a\x1b[".as_slice(), &[b'0'; 6000], b"6n\rb"].concat();
    assert_eq!(whole(&endless), b"a\rb");
}

#[test]
fn controls_within_a_query_still_reach_the_viewer() {
    assert_eq!(whole(b"abc\x1b[6\r\nnx"), b"abc\r\nx");
}

#[test]
fn b23_taking_a_query_out_joins_no_halves_to_another() {
    assert_eq!(whole(b"\xc2\x1b[6n\x9b6n"), b"\xef\xbf\xbd\x9b6n");
    assert_eq!(pieces(&[b"\xc2", b"\x1b[6n\x9b6n"]), b"\xef\xbf\xbd\x9b6n");
    assert_eq!(whole(b"\x1b[\x1b[6n6n"), b"6n");
}

#[test]
fn a_string_that_a_query_ends_keeps_its_effect() {
    assert_eq!(whole(b"\x1b]2;title\x1b[6nx"), b"\x1b]2;title\x1b\\x");
}

fn fragment() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::sample::select(QUERIES).prop_map(<[u8]>::to_vec),
        prop::sample::select(HARMLESS).prop_map(<[u8]>::to_vec),
        prop::collection::vec(any::<u8>(), 0..6),
        (1usize..3000).prop_map(|n| [b"\x1bP".as_slice(), &vec![b'z'; n]].concat()),
        prop::sample::select(vec![
            &b"\x1b"[..],
            b"\x1b[",
            b"\x1b]",
            b"\x1bP",
            b"\xc2",
            b"\x18",
            b"\x1a",
            b"\x1b\\"
        ])
        .prop_map(<[u8]>::to_vec),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_split_gives_the_same_output(
        fragments in prop::collection::vec(fragment(), 0..12),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let bytes = fragments.concat();
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        let split: Vec<&[u8]> = at.windows(2).map(|w| &bytes[w[0]..w[1]]).collect();
        prop_assert_eq!(pieces(&split), whole(&bytes));
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(pieces(&single), whole(&bytes));
    }

    #[test]
    fn b23_no_mix_of_sequences_leaves_a_query_behind(fragments in prop::collection::vec(fragment(), 0..12)) {
        // CAN at the end, so that nothing is held back.
        let out = whole(&[fragments.concat(), b"\x18".to_vec()].concat());
        prop_assert_eq!(whole(&out), out);
    }

    #[test]
    fn text_comes_out_unchanged(text in "[ -~\u{a0}-\u{2fff}\u{1f300}-\u{1f6ff}]{0,200}") {
        prop_assert_eq!(whole(text.as_bytes()), text.as_bytes());
    }
}
