//! What fuzzing begins with: recordings and conformance cases for the terminal, a message of each kind for the codecs.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::bench::root;

/// Of a recording: the beginning, which has the queries and the first screen.
const RECORDED: usize = 24 * 1024;
/// Scripts put before a recording: none, and one that does a little of everything.
const SCRIPTS: &[&[u8]] = &[
    &[],
    &[
        13, 0, 0, 1, 200, 0, 2, 250, 0, 5, 3, 4, 3, 200, 0, 36, 80, 24, 7, 9, 0, 67, 255, 0, 8, 0,
        0, 12, 0, 9, 10, 0, 0, 12, 4, 4, 11, 0, 0, 131, 255, 0, 229, 65, 5, 9, 1, 0, 14, 0, 0,
    ],
];

/// Writes the seeds of a target into its corpus; what fuzzing has found there stays.
pub(super) fn write(target: &str) -> Result<()> {
    let corpus = root().join("fuzz/corpus").join(target);
    fs::create_dir_all(&corpus)?;
    let seeds = match target {
        "vt_machine" => terminal()?,
        "tool_arguments" => lines(target)?,
        "runner_frames" => lines(target)?.iter().map(|it| framed(&[64], it)).collect(),
        _ => lines(target)?.iter().map(|it| framed(&[], it)).collect(),
    };
    for (n, seed) in seeds.iter().enumerate() {
        fs::write(corpus.join(format!("seed-{n}")), seed)?;
    }
    Ok(())
}

fn terminal() -> Result<Vec<Vec<u8>>> {
    let fixtures = root().join("tests/fixtures/vt");
    let mut seeds = Vec::new();
    for entry in fs::read_dir(fixtures.join("startup"))? {
        let mut recording = fs::read(entry?.path())?;
        recording.truncate(RECORDED);
        seeds.extend(SCRIPTS.iter().map(|script| scripted(script, &recording)));
    }
    let cases: Value = serde_json::from_slice(&fs::read(fixtures.join("cases.json"))?)?;
    for case in cases.as_array().context("cases.json is no list")? {
        let steps = case["steps"].as_array().cloned().unwrap_or_default();
        let input: String = steps.iter().filter_map(|it| it["in"].as_str()).collect();
        seeds.push(scripted(&[], &unescaped(&input)));
    }
    Ok(seeds)
}

/// The length of the script, the script, the output.
fn scripted(script: &[u8], output: &[u8]) -> Vec<u8> {
    let length = u8::try_from(script.len()).unwrap_or(u8::MAX);
    [&[length], script, output].concat()
}

/// Cases write controls as `\e`, `\r`, `\n` and `\xNN`; what else there is may stay: these are seeds.
fn unescaped(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let (value, length) = match (byte, after) {
            (b'\\', [b'e', ..]) => (0x1b, 1),
            (b'\\', [b'r', ..]) => (b'\r', 1),
            (b'\\', [b'n', ..]) => (b'\n', 1),
            (b'\\', [b'x', a, b, ..]) => (hex(*a) << 4 | hex(*b), 3),
            _ => (byte, 0),
        };
        out.push(value);
        rest = &rest[length..];
    }
    out
}

fn hex(digit: u8) -> u8 {
    char::from(digit)
        .to_digit(16)
        .map_or(0, |it| it.try_into().unwrap_or(0))
}

fn lines(target: &str) -> Result<Vec<Vec<u8>>> {
    let path = root().join(format!("fuzz/seeds/{target}.jsonl"));
    let text = read(&path)?;
    Ok(text.lines().map(|it| it.as_bytes().to_vec()).collect())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("{}", path.display()))
}

/// A text message on the stream, after what the target reads first.
fn framed(head: &[u8], text: &[u8]) -> Vec<u8> {
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes();
    [head, &length, &[0], text].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_become_bytes_and_messages_get_their_head() {
        assert_eq!(unescaped(r"a\e[1m\x9b\r"), b"a\x1b[1m\x9b\r");
        assert_eq!(framed(&[9], b"{}"), b"\x09\0\0\0\x02\0{}");
        assert_eq!(scripted(&[1, 2], b"x"), b"\x02\x01\x02x");
    }

    #[test]
    fn each_target_has_seeds() {
        assert!(terminal().unwrap().len() > 100);
        for target in ["tool_arguments", "runner_frames", "client_frames"] {
            assert!(lines(target).unwrap().len() > 5, "{target}");
        }
    }
}
