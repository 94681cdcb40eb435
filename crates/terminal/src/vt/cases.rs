//! Conformance cases: what a terminal shows, answers and remembers after given bytes.
//!
//! They are read from `tests/fixtures/vt/cases.json` and name no engine, so that the same cases
//! judge the engine alone and a whole terminal with a program behind a PTY.

use std::path::Path;

use serde_json::Value;

use super::Vt;
use crate::screen::{Cursor, Modes, MouseEncoding};

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    pub cols: u16,
    pub rows: u16,
    pub steps: Vec<Step>,
    /// Any of these will do.
    expected: Vec<Value>,
}

/// One thing done to the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Output(Vec<u8>),
    Resize { cols: u16, rows: u16 },
}

/// What is compared; the replies are all that were given, in order.
#[derive(Clone, Debug)]
pub struct Seen {
    pub rows: Vec<String>,
    pub cursor: Cursor,
    pub modes: Modes,
    pub alternate_screen: bool,
    pub frame_open: bool,
    pub title: String,
    pub replies: Vec<u8>,
}

/// All cases.
///
/// # Panics
///
/// When the file is missing or malformed: then no test can say anything.
#[allow(clippy::panic, clippy::expect_used)]
pub fn load() -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/vt/cases.json");
    let text = std::fs::read_to_string(path).expect("the conformance cases are readable");
    let cases: Vec<Value> = serde_json::from_str(&text).expect("the conformance cases are JSON");
    cases
        .iter()
        .map(|case| parse(case).unwrap_or_else(|| panic!("malformed: {case}")))
        .collect()
}

impl Seen {
    /// Reads a terminal; an open update counts as open, but its text is read after it timed out,
    /// since a terminal that shows it at once and one that holds it back are both right.
    pub fn of(vt: &mut Vt, replies: Vec<u8>) -> Self {
        let (modes, frame_open) = (vt.modes(), vt.frame_open());
        if let Some(deadline) = vt.deadline() {
            vt.tick(deadline);
        }
        Self {
            rows: vt.rows().into_iter().map(|row| row.text).collect(),
            cursor: vt.cursor(),
            modes,
            alternate_screen: vt.alternate_screen(),
            frame_open,
            title: vt.title().to_owned(),
            replies,
        }
    }
}

impl Case {
    /// Every way in which `seen` differs from what is expected; none when it is right.
    pub fn differences(&self, seen: &Seen) -> Vec<String> {
        let all: Vec<_> = self
            .expected
            .iter()
            .map(|one| differences(one, seen))
            .collect();
        let right = all.iter().any(Vec::is_empty);
        if right {
            Vec::new()
        } else {
            all.into_iter().next().unwrap_or_default()
        }
    }
}

fn parse(case: &Value) -> Option<Case> {
    let mut steps = Vec::new();
    for step in case["steps"].as_array()? {
        if let Some(size) = step["resize"].as_array() {
            let (cols, rows) = (number(&size[0])?, number(&size[1])?);
            steps.push(Step::Resize { cols, rows });
        } else {
            let times = step["repeat"].as_u64().unwrap_or(1);
            let output = unescape(step["in"].as_str()?)?;
            steps.extend((0..times).map(|_| Step::Output(output.clone())));
        }
    }
    let mut expected = vec![case["expect"].clone()];
    expected.extend(case["expect_any"].as_array().into_iter().flatten().cloned());
    Some(Case {
        name: case["name"].as_str()?.to_owned(),
        cols: number(&case["cols"])?,
        rows: number(&case["rows"])?,
        steps,
        expected,
    })
}

fn number(value: &Value) -> Option<u16> {
    u16::try_from(value.as_u64()?).ok()
}

/// `\e`, `\r`, `\n`, `\t`, `\\` and `\xNN` are bytes; all else is UTF-8.
fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        out.push(match chars.next()? {
            'e' => 0x1b,
            'r' => b'\r',
            'n' => b'\n',
            't' => b'\t',
            '\\' => b'\\',
            'x' => {
                let digits: String = chars.by_ref().take(2).collect();
                u8::from_str_radix(&digits, 16).ok()?
            }
            _ => return None,
        });
    }
    Some(out)
}

fn differences(expected: &Value, seen: &Seen) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(rows) = expected["text"].as_array() {
        all.extend(rows_differ(rows, &seen.rows));
    }
    if let Some(cursor) = expected["cursor"].as_array() {
        let want = (number(&cursor[0]), number(&cursor[1]));
        let got = (Some(seen.cursor.row), Some(seen.cursor.col));
        if want != got {
            all.push(format!("cursor: want {want:?} got {got:?}"));
        }
    }
    if let Some(replies) = expected["replies"].as_array() {
        all.extend(replies_differ(replies, &seen.replies));
    }
    for (name, want) in expected["modes"].as_object().into_iter().flatten() {
        let got = mode(name, seen);
        if got.as_ref() != Some(want) {
            all.push(format!("{name}: want {want} got {got:?}"));
        }
    }
    all
}

fn rows_differ(want: &[Value], got: &[String]) -> Option<String> {
    let want = |y: usize| {
        want.get(y)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .trim_end_matches(' ')
    };
    let differs = (0..got.len()).find(|&y| want(y) != got[y])?;
    Some(format!(
        "row {differs}: want {:?} got {:?}",
        want(differs),
        got[differs]
    ))
}

/// Each alternative is all the replies; a `*` in it stands for anything.
fn replies_differ(alternatives: &[Value], got: &[u8]) -> Option<String> {
    let matches = |alternative: &Value| {
        let text = alternative.as_str()?;
        let Some((before, after)) = text.split_once('*') else {
            return Some(unescape(text)? == got);
        };
        let (before, after) = (unescape(before)?, unescape(after)?);
        let long_enough = got.len() >= before.len() + after.len();
        Some(long_enough && got.starts_with(&before) && got.ends_with(&after))
    };
    let found = alternatives
        .iter()
        .any(|alternative| matches(alternative) == Some(true));
    (!found).then(|| format!("replies: want {alternatives:?} got {}", got.escape_ascii()))
}

fn mode(name: &str, seen: &Seen) -> Option<Value> {
    let modes = &seen.modes;
    Some(match name {
        "app_cursor" => modes.application_cursor_keys.into(),
        "app_keypad" => modes.application_keypad.into(),
        "bracketed_paste" => modes.bracketed_paste.into(),
        "focus" => modes.focus_reporting.into(),
        "mouse" => mouse_number(modes.mouse.word())?.into(),
        "mouse_enc" => match modes.mouse_encoding {
            MouseEncoding::Default => "default".into(),
            MouseEncoding::Utf8 => "utf8".into(),
            MouseEncoding::Sgr => "sgr".into(),
            MouseEncoding::Urxvt => "urxvt".into(),
        },
        "kitty" => modes.kitty_flags.into(),
        "alt" => seen.alternate_screen.into(),
        "cursor_visible" => seen.cursor.visible.into(),
        "sync" => seen.frame_open.into(),
        "title" => seen.title.clone().into(),
        _ => return None,
    })
}

fn mouse_number(word: &str) -> Option<u16> {
    match word {
        "off" => Some(0),
        "press" => Some(9),
        "click" => Some(1000),
        "drag" => Some(1002),
        "motion" => Some(1003),
        _ => None,
    }
}
