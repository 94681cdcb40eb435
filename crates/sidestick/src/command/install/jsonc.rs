//! Changes single members of a JSON text and leaves every other byte as it was: order, indentation, comments.
//!
//! Comments and trailing commas are understood, since several clients allow them in their settings. Pure: text in,
//! text out.

mod read;

use std::ops::Range;

use anyhow::bail;
use serde_json::Value;

pub(super) use read::read;

/// Indentation of a text that shows none of its own.
const INDENT: &str = "  ";

/// A value and where it lies in the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub span: Range<usize>,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Scalar(Value),
}

/// `"key": value`
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    pub key: String,
    /// Where the key begins.
    pub start: usize,
    pub value: Node,
}

impl Node {
    /// The member with this path.
    pub(super) fn get(&self, path: &[&str]) -> Option<&Self> {
        let Some((key, rest)) = path.split_first() else {
            return Some(self);
        };
        let Kind::Object(members) = &self.kind else {
            return None;
        };
        // Of two members with one name the last one counts, as for every reader.
        let member = members.iter().rev().find(|it| it.key == *key)?;
        member.value.get(rest)
    }

    /// What it says, without place and comments.
    pub(super) fn value(&self) -> Value {
        match &self.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::Array(items) => items.iter().map(Self::value).collect(),
            Kind::Object(members) => members
                .iter()
                .map(|it| (it.key.clone(), it.value.value()))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        }
    }
}

/// The text with this member set; objects on the way to it are made.
///
/// # Errors
/// It is no JSON, or something on the way is no object.
pub(super) fn set(text: &str, path: &[&str], value: &Value) -> anyhow::Result<String> {
    let root = read(text)?;
    if let Some(old) = root.get(path) {
        if old.value() == *value {
            return Ok(text.to_owned());
        }
        let rendered = render(text, value, line_indent(text, old.span.start));
        return Ok(replaced(text, old.span.clone(), &rendered));
    }
    let known = (0..path.len())
        .rev()
        .find(|&length| root.get(&path[..length]).is_some())
        .unwrap_or(0);
    let (at, rest) = path.split_at(known);
    let (Some(object), Some((key, inner))) = (root.get(at), rest.split_first()) else {
        bail!("nothing to set");
    };
    let Kind::Object(members) = &object.kind else {
        bail!("\"{}\" is no object", at.join("."));
    };
    let value = inner.iter().rev().fold(
        value.clone(),
        |value, key| serde_json::json!({ *key: value }),
    );
    Ok(inserted(text, object, members, key, &value))
}

/// The text without this member, and without the objects around it that are empty then. Only the outermost object
/// stays in any case.
///
/// # Errors
/// It is no JSON.
pub(super) fn remove(text: &str, path: &[&str]) -> anyhow::Result<String> {
    let root = read(text)?;
    let (Some((key, outer)), Some(_)) = (path.split_last(), root.get(path)) else {
        return Ok(text.to_owned());
    };
    let Some(object) = root.get(outer) else {
        return Ok(text.to_owned());
    };
    let Kind::Object(members) = &object.kind else {
        return Ok(text.to_owned());
    };
    let Some(at) = members.iter().rposition(|it| it.key == *key) else {
        return Ok(text.to_owned());
    };
    let text = without(text, object, members, at);
    let empty = matches!(read(&text)?.get(outer), Some(it) if text[it.span.clone()] == *"{}");
    if empty && !outer.is_empty() {
        return remove(&text, outer);
    }
    Ok(text)
}

fn inserted(text: &str, object: &Node, members: &[Member], key: &str, value: &Value) -> String {
    let Range { start, end } = object.span;
    let (inside, close) = (start + 1, end - 1);
    let key = Value::from(key);
    // The place behind the last thing in the object, be it a comment.
    let tail = inside + text[inside..close].trim_end().len();
    let Some(last) = members.last() else {
        let outer = line_indent(text, start);
        let indent = format!("{outer}{}", unit(text));
        let member = format!("{key}: {}", render(text, value, &indent));
        let comments = &text[inside..tail];
        let full = format!("{comments}\n{indent}{member}\n{outer}");
        return replaced(text, inside..close, &full);
    };
    let trailing = read::comma_after(text, last.value.span.end);
    let (before, after) = if trailing.is_some() {
        ("", ",")
    } else {
        (",", "")
    };
    let spread = text[start..end].contains('\n');
    let member = if spread {
        let indent = line_indent(text, members.first().map_or(start, |it| it.start));
        format!("\n{indent}{key}: {}", render(text, value, indent))
    } else {
        format!(" {key}: {value}")
    };
    let whole = replaced(text, tail..tail, &format!("{member}{after}"));
    replaced(&whole, last.value.span.end..last.value.span.end, before)
}

fn without(text: &str, object: &Node, members: &[Member], at: usize) -> String {
    let member = &members[at];
    let start = text[..member.start].trim_end().len();
    let end = member.value.span.end;
    if let Some(comma) = read::comma_after(text, end) {
        // What stands between value and comma can only be blanks and comments of this member.
        return replaced(text, start..comma + 1, "");
    }
    if let Some(previous) = at.checked_sub(1) {
        let cut = replaced(text, start..end, "");
        return match read::comma_after(text, members[previous].value.span.end) {
            Some(comma) => replaced(&cut, comma..comma + 1, ""),
            None => cut,
        };
    }
    let close = object.span.end - 1;
    let blank = text[end..close].trim().is_empty() && start == object.span.start + 1;
    let end = if blank { close } else { end };
    replaced(text, start..end, "")
}

fn replaced(text: &str, range: Range<usize>, with: &str) -> String {
    [&text[..range.start], with, &text[range.end..]].concat()
}

/// The value over several lines, for a member that is indented so.
fn render(text: &str, value: &Value, indent: &str) -> String {
    let unit = unit(text);
    match value {
        Value::Object(members) if !members.is_empty() => {
            let deeper = format!("{indent}{unit}");
            let members: Vec<_> = members
                .iter()
                .map(|(key, value)| {
                    let key = Value::from(key.as_str());
                    format!("{deeper}{key}: {}", render(text, value, &deeper))
                })
                .collect();
            format!("{{\n{}\n{indent}}}", members.join(",\n"))
        }
        Value::Array(items) if !items.is_empty() => {
            let items: Vec<_> = items.iter().map(|it| render(text, it, indent)).collect();
            format!("[{}]", items.join(", "))
        }
        plain => plain.to_string(),
    }
}

/// The blanks that the line of this place begins with.
fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start().len()]
}

/// One step of the text's own indentation.
fn unit(text: &str) -> &str {
    let mut indents = text.lines().skip(1).map(|line| {
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        &line[..blanks]
    });
    indents.find(|it| !it.is_empty()).unwrap_or(INDENT)
}

#[cfg(test)]
mod tests;
