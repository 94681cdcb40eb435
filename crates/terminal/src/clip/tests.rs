use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;

fn rows(lines: &[String]) -> Vec<Row> {
    lines
        .iter()
        .map(|text| Row {
            text: text.clone(),
            wrapped: false,
        })
        .collect()
}

fn numbered(count: usize, width: usize) -> Vec<Row> {
    rows(
        &(0..count)
            .map(|n| format!("{n:04} {}", "x".repeat(width - 5)))
            .collect::<Vec<_>>(),
    )
}

/// The pieces between notices.
fn pieces(observation: &Observation) -> Vec<String> {
    let mut pieces = vec![Vec::new()];
    for line in observation.text.split('\n') {
        if line.starts_with("[… ") && line.ends_with(" left out …]") {
            pieces.push(Vec::new());
        } else if let Some(piece) = pieces.last_mut() {
            piece.push(line);
        }
    }
    pieces.iter().map(|piece| piece.join("\n")).collect()
}

#[test]
fn a_short_screen_is_shown_whole_without_its_blank_end() {
    let short = rows(&[
        "top  ".into(),
        String::new(),
        "end".into(),
        "   ".into(),
        String::new(),
    ]);
    let observation = clip(&short, Some("end"));
    assert_eq!(observation.text, "top\n\nend");
    assert_eq!(
        (
            observation.clipped,
            observation.omitted_rows,
            observation.omitted_units
        ),
        (false, 0, 0)
    );
}

#[test]
fn b33_a_large_screen_keeps_beginning_and_end_and_says_what_is_missing() {
    let observation = clip(&numbered(100, 100), None);
    let shown = pieces(&observation);
    assert_eq!(shown.len(), 2);
    assert!(shown[0].starts_with("0000 x") && shown[1].trim_end().ends_with('x'));
    assert!(observation.text.contains("0099 x"));
    // Nine rows of 101 units fit into a thousand at each end.
    assert_eq!(observation.omitted_rows, 82);
    assert!(
        observation
            .text
            .contains("\n[… 82 rows, 8283 units left out …]\n0091 ")
    );
    assert!(observation.clipped);
}

#[test]
fn a_match_in_the_omitted_middle_gets_an_excerpt() {
    let observation = clip(&numbered(100, 100), Some("0050 xxx"));
    let shown = pieces(&observation);
    assert_eq!(shown.len(), 3, "{}", observation.text);
    assert!(shown[1].contains("0050 xxx"));
    assert!(shown.iter().map(|piece| units(piece)).sum::<usize>() <= OBSERVATION_UNITS);
}

#[test]
fn a_match_that_is_shown_or_too_long_gets_no_excerpt() {
    for marker in [
        "0001 x".to_owned(),
        "0099".to_owned(),
        "none".to_owned(),
        "x".repeat(501),
    ] {
        let mut screen = numbered(100, 100);
        screen[50].text = "x".repeat(900);
        let observation = clip(&screen, Some(&marker));
        assert_eq!(pieces(&observation).len(), 2, "{marker}");
    }
}

#[test]
fn an_excerpt_follows_a_match_over_a_soft_wrap() {
    let mut screen = numbered(100, 100);
    screen[50] = Row {
        text: format!("{}needle in ", "x".repeat(90)),
        wrapped: true,
    };
    screen[51].text = "the hay".into();
    // The blank at the end of the wrapped row is trimmed from what is shown, and with it from
    // what is sought.
    let observation = clip(&screen, Some("needle in"));
    assert!(
        pieces(&observation)[1].contains("needle in\nthe hay"),
        "{}",
        observation.text
    );
}

#[test]
fn a_cluster_larger_than_the_limit_is_left_out_whole() {
    let monster = format!("a{}", "\u{301}".repeat(5_000));
    let observation = clip(&rows(&[monster]), None);
    assert!(observation.clipped);
    assert!(
        observation
            .text
            .starts_with("[… 1 row, 5001 units left out …]")
    );
}

fn line() -> impl Strategy<Value = String> {
    let cluster = prop_oneof![
        3 => Just("word ".to_owned()),
        2 => Just("ab".to_owned()),
        1 => Just("你好".to_owned()),
        1 => Just("👩‍👩‍👧‍👦".to_owned()),
        1 => Just("🇩🇪".to_owned()),
        1 => Just("e\u{301}".to_owned()),
        1 => Just("𝒳".to_owned()),
    ];
    prop::collection::vec(cluster, 0..50).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_clip_is_bounded_whole_in_its_clusters_and_counts_what_it_omits(
        lines in prop::collection::vec(line(), 1..40),
        pick in 0..40_usize,
    ) {
        let screen = rows(&lines);
        let marker = lines[pick % lines.len()].trim_end().chars().take(20).collect::<String>();
        let observation = clip(&screen, Some(&marker));
        let text = flat(&screen);
        if !observation.clipped {
            prop_assert_eq!(observation.text, text);
            return Ok(());
        }
        let shown = pieces(&observation);
        let total: usize = shown.iter().map(|piece| units(piece)).sum();
        prop_assert!(total <= OBSERVATION_UNITS);
        prop_assert_eq!(total + observation.omitted_units as usize, units(&text));
        let starts: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).collect();
        for piece in shown.iter().filter(|piece| !piece.is_empty()) {
            let fits = text.match_indices(piece.as_str()).any(|(at, _)| {
                let end = at + piece.len();
                starts.binary_search(&at).is_ok()
                    && (end == text.len() || starts.binary_search(&end).is_ok())
            });
            prop_assert!(fits, "{:?} cuts a cluster", piece);
        }
        if !marker.is_empty() && text.contains(&marker) {
            prop_assert!(shown.iter().any(|piece| piece.contains(&marker)), "{marker:?} is not shown");
        }
    }
}
