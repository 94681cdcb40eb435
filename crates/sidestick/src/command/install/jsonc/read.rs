//! Reads JSON with comments and trailing commas, and keeps where everything lies.

use anyhow::{Context, bail};
use serde_json::Value;

use super::{Kind, Member, Node};

/// Deeper than any settings, and shallow enough for the stack.
const DEPTH: usize = 128;

/// The value that the whole text is.
///
/// # Errors
/// It is no JSON; the sentence names the line.
pub(in super::super) fn read(text: &str) -> anyhow::Result<Node> {
    let mut reader = Reader {
        text,
        at: if text.starts_with('\u{feff}') { 3 } else { 0 },
    };
    let read = reader.whole();
    let line = text[..reader.at.min(text.len())].matches('\n').count() + 1;
    read.with_context(|| format!("line {line}"))
}

/// Where the comma is that comes next, if one does.
pub(super) fn comma_after(text: &str, at: usize) -> Option<usize> {
    let mut reader = Reader { text, at };
    reader.blanks().ok()?;
    (reader.next() == Some(b',')).then_some(reader.at)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn whole(&mut self) -> anyhow::Result<Node> {
        let node = self.value(0)?;
        self.blanks()?;
        if self.at < self.text.len() {
            bail!("something follows the value");
        }
        Ok(node)
    }

    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Goes on if the next byte is this one.
    fn take(&mut self, byte: u8) -> bool {
        let taken = self.next() == Some(byte);
        self.at += usize::from(taken);
        taken
    }

    /// Skips blanks and comments.
    fn blanks(&mut self) -> anyhow::Result<()> {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let end = rest.find("*/").context("a comment does not end")?;
                self.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> anyhow::Result<Node> {
        if DEPTH < depth {
            bail!("it is nested too deep");
        }
        self.blanks()?;
        let start = self.at;
        let kind = match self.next() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(_) => Kind::Scalar(self.scalar()?),
            None => bail!("a value is missing"),
        };
        let span = start..self.at;
        Ok(Node { span, kind })
    }

    fn object(&mut self, depth: usize) -> anyhow::Result<Kind> {
        self.at += 1;
        let mut members = Vec::new();
        loop {
            self.blanks()?;
            if self.take(b'}') {
                return Ok(Kind::Object(members));
            }
            let start = self.at;
            let Value::String(key) = self.scalar()? else {
                bail!("a key is no string");
            };
            self.blanks()?;
            if !self.take(b':') {
                bail!("a colon is missing after \"{key}\"");
            }
            let value = self.value(depth + 1)?;
            members.push(Member { key, start, value });
            self.blanks()?;
            if !self.take(b',') && self.next() != Some(b'}') {
                bail!("a comma is missing");
            }
        }
    }

    fn array(&mut self, depth: usize) -> anyhow::Result<Kind> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.blanks()?;
            if self.take(b']') {
                return Ok(Kind::Array(items));
            }
            items.push(self.value(depth + 1)?);
            self.blanks()?;
            if !self.take(b',') && self.next() != Some(b']') {
                bail!("a comma is missing");
            }
        }
    }

    fn scalar(&mut self) -> anyhow::Result<Value> {
        let rest = self.rest();
        let length = if rest.starts_with('"') {
            string_length(rest).context("a string does not end")?
        } else {
            rest.find(|it: char| !it.is_ascii_alphanumeric() && !"+-.".contains(it))
                .unwrap_or(rest.len())
        };
        let value = serde_json::from_str(&rest[..length]).context("this is no JSON")?;
        self.at += length;
        Ok(value)
    }
}

/// Length of the string that the text begins with, its quotes included.
fn string_length(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}
