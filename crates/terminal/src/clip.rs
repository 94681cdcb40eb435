//! What a model reads of a screen: all of it when it is short, else beginning, end and the match.
//!
//! Lengths are UTF-16 units. A cut never lies inside a grapheme cluster, hence never inside a
//! surrogate pair, and each cut is disclosed in the text and counted.

use std::ops::Range;

use unicode_segmentation::GraphemeCursor;
use wire::bash::Observation;
use wire::limits::{EXCERPT_MARKER_UNITS, OBSERVATION_UNITS};

use crate::screen::Row;

/// The excerpt round a match gets this much; beginning and end share what is left.
const EXCERPT_UNITS: usize = 600;

/// The whole of `rows`, blank rows at the end left off.
pub fn whole(rows: &[Row]) -> Observation {
    Observation {
        text: flat(rows),
        ..Observation::default()
    }
}

/// At most [`OBSERVATION_UNITS`] of `rows`, and notices of what was left out. A `marker` in the
/// omitted middle gets an excerpt, unless it is longer than [`EXCERPT_MARKER_UNITS`].
pub fn clip(rows: &[Row], marker: Option<&str>) -> Observation {
    let text = flat(rows);
    if units(&text) <= OBSERVATION_UNITS {
        return Observation {
            text,
            ..Observation::default()
        };
    }
    let shown = ends(&text, OBSERVATION_UNITS / 2);
    if let Some(place) = marker.and_then(|marker| hidden_match(rows, &text, marker, &shown)) {
        let [head, tail] = ends(&text, (OBSERVATION_UNITS - EXCERPT_UNITS) / 2);
        return assemble(&text, merge([head, excerpt(&text, place), tail]));
    }
    assemble(&text, merge(shown))
}

/// Rows apart by newlines, trailing blanks and trailing blank rows trimmed.
fn flat(rows: &[Row]) -> String {
    let used = rows
        .iter()
        .rposition(|row| !row.text.trim_end().is_empty())
        .map_or(0, |at| at + 1);
    let lines: Vec<&str> = rows[..used].iter().map(|row| row.text.trim_end()).collect();
    lines.join("\n")
}

fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The beginning and the end of `text`, each of at most `most` units.
fn ends(text: &str, most: usize) -> [Range<usize>; 2] {
    [
        0..forward(text, 0, most),
        backward(text, text.len(), most)..text.len(),
    ]
}

/// The place of the last match in `text`, if none is wholly within what is shown.
fn hidden_match(
    rows: &[Row],
    text: &str,
    marker: &str,
    shown: &[Range<usize>],
) -> Option<Range<usize>> {
    if marker.is_empty() || units(marker) > EXCERPT_MARKER_UNITS {
        return None;
    }
    let mut last = None;
    for place in places(rows, text, marker) {
        if shown
            .iter()
            .any(|range| range.start <= place.start && place.end <= range.end)
        {
            return None;
        }
        last = Some(place);
    }
    last
}

/// Where the marker lies in the flat text; it may run over the newline of a soft wrap.
fn places(rows: &[Row], text: &str, marker: &str) -> Vec<Range<usize>> {
    let mut joined = String::with_capacity(text.len());
    // Where in `joined` a newline of the flat text was left out.
    let mut seams = Vec::new();
    for (row, line) in rows.iter().zip(text.split('\n')) {
        joined.push_str(line);
        if row.wrapped {
            seams.push(joined.len());
        } else {
            joined.push('\n');
        }
    }
    let marker = marker.trim_end_matches(' ');
    let before = |at: usize| seams.partition_point(|seam| *seam <= at);
    joined
        .match_indices(marker)
        .map(|(at, _)| {
            let end = at + marker.len();
            at + before(at)..end + before(end.saturating_sub(1))
        })
        .filter(|place| place.end <= text.len() && !marker.is_empty())
        .collect()
}

/// What is shown round a match: context on both sides, whole rows where they fit.
fn excerpt(text: &str, place: Range<usize>) -> Range<usize> {
    let spare = EXCERPT_UNITS.saturating_sub(units(&text[place.clone()]));
    backward(text, place.start, spare / 2)..forward(text, place.end, spare - spare / 2)
}

/// The furthest end of a piece that starts at `from` and has at most `most` units: a row's end
/// where that keeps half of it, else a cluster's.
fn forward(text: &str, from: usize, most: usize) -> usize {
    let limit = from + reach(text[from..].chars(), most);
    if limit == text.len() || text[limit..].starts_with('\n') {
        return limit;
    }
    match text[from..limit].rfind('\n').map(|at| from + at) {
        Some(end) if units(&text[from..end]) * 2 >= most => end,
        _ => cluster(text, limit, Side::Before).max(from),
    }
}

/// The furthest start of a piece that ends at `to` and has at most `most` units.
fn backward(text: &str, to: usize, most: usize) -> usize {
    let limit = to - reach(text[..to].chars().rev(), most);
    if limit == 0 || text[..limit].ends_with('\n') {
        return limit;
    }
    match text[limit..to].find('\n').map(|at| limit + at + 1) {
        Some(start) if units(&text[start..to]) * 2 >= most => start,
        _ => cluster(text, limit, Side::After).min(to),
    }
}

/// Bytes of the first characters that make at most `most` units.
fn reach(chars: impl Iterator<Item = char>, most: usize) -> usize {
    let mut left = most;
    let mut bytes = 0;
    for c in chars {
        let Some(rest) = left.checked_sub(c.len_utf16()) else {
            break;
        };
        left = rest;
        bytes += c.len_utf8();
    }
    bytes
}

enum Side {
    Before,
    After,
}

/// The nearest end of a grapheme cluster at or on that side of a character boundary.
fn cluster(text: &str, at: usize, side: Side) -> usize {
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    if cursor.is_boundary(text, 0).unwrap_or(true) {
        return at;
    }
    let found = match side {
        Side::Before => cursor.prev_boundary(text, 0),
        Side::After => cursor.next_boundary(text, 0),
    };
    match (found, side) {
        (Ok(Some(at)), _) => at,
        (_, Side::Before) => 0,
        (_, Side::After) => text.len(),
    }
}

/// Joins ranges that touch or overlap. They come in the order of their starts.
fn merge<const N: usize>(ranges: [Range<usize>; N]) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(N);
    for range in ranges.into_iter().filter(|range| !range.is_empty()) {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// The shown pieces with a notice wherever something lies between them.
fn assemble(text: &str, shown: Vec<Range<usize>>) -> Observation {
    let mut out = Observation::default();
    let mut end = 0;
    for range in shown {
        if end < range.start {
            leave_out(&mut out, &text[end..range.start]);
        }
        out.text.push_str(&text[range.clone()]);
        end = range.end;
    }
    if end < text.len() {
        leave_out(&mut out, &text[end..]);
    }
    out
}

fn leave_out(out: &mut Observation, middle: &str) {
    // The newlines at its ends belong to rows that are shown.
    let inner = middle.strip_prefix('\n').unwrap_or(middle);
    let rows = inner
        .strip_suffix('\n')
        .unwrap_or(inner)
        .split('\n')
        .count();
    let units = units(middle);
    if !out.text.is_empty() {
        out.text.push('\n');
    }
    let noun = if rows == 1 { "row" } else { "rows" };
    out.text
        .push_str(&format!("[… {rows} {noun}, {units} units left out …]\n"));
    out.clipped = true;
    out.omitted_rows += u32::try_from(rows).unwrap_or(u32::MAX);
    out.omitted_units += u32::try_from(units).unwrap_or(u32::MAX);
}

#[cfg(test)]
mod tests;
