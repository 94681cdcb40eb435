//! Changes one table of a TOML text and leaves every other byte as it was. Pure.
//!
//! A new table goes to the end of the text and is cut out again by its lines. The editor of the library would move
//! comments that stand at the end: it holds them for the head of the table that follows.

use std::ops::Range;

use anyhow::Context;
use serde_json::Value;
use toml_edit::{Document, DocumentMut, InlineTable, Item, TableLike};

/// The text with this table, which it does not have.
///
/// # Errors
/// The text is no TOML, or its tables are of a kind that takes none.
pub(super) fn add(
    text: &str,
    path: [&str; 2],
    members: &[(String, Value)],
) -> anyhow::Result<String> {
    let [group, name] = path;
    let mut added = text.to_owned();
    if !added.is_empty() {
        added.push_str(if added.ends_with('\n') { "\n" } else { "\n\n" });
    }
    added.push_str(&format!("[{group}.{name}]\n"));
    for (key, value) in members {
        added.push_str(&format!("{key} = {}\n", written(value)));
    }
    if added.parse::<DocumentMut>().is_ok() {
        return Ok(added);
    }
    // The group is written inline, on one line.
    let mut document: DocumentMut = text.parse()?;
    let inline: InlineTable = members.iter().map(|(key, it)| (key, written(it))).collect();
    let servers = document.get_mut(group).and_then(Item::as_table_like_mut);
    servers
        .with_context(|| format!("{group} is no table"))?
        .insert(name, Item::Value(inline.into()));
    Ok(document.to_string())
}

/// The text with this member of the table set.
///
/// # Errors
/// The text is no TOML, or there is no such table.
pub(super) fn set(
    text: &str,
    path: [&str; 2],
    member: &[String],
    value: &Value,
) -> anyhow::Result<String> {
    let mut document: DocumentMut = text.parse()?;
    let (key, outer) = member.split_last().context("nothing to set")?;
    let mut at = document.as_item_mut();
    for step in path.into_iter().chain(outer.iter().map(String::as_str)) {
        let table = at.as_table_like_mut();
        let table = table.with_context(|| format!("{step} is in no table"))?;
        if !table.contains_key(step) {
            table.insert(step, Item::Value(InlineTable::new().into()));
        }
        at = table.get_mut(step).context("no table")?;
    }
    let table = at.as_table_like_mut();
    put(
        table.with_context(|| format!("{key} is in no table"))?,
        key,
        value,
    );
    Ok(document.to_string())
}

/// The text without this table and the tables in it.
///
/// # Errors
/// The text is no TOML.
pub(super) fn remove(text: &str, path: [&str; 2]) -> anyhow::Result<String> {
    let [group, name] = path;
    let document = Document::parse(text)?;
    let item = document.get(group).and_then(|it| it.get(name));
    let mut blocks = Vec::new();
    if let Some(table) = item.and_then(Item::as_table).filter(|it| !it.is_dotted()) {
        gather(table, &mut blocks);
    }
    if blocks.is_empty() {
        let mut document: DocumentMut = text.parse()?;
        let servers = document.get_mut(group).and_then(Item::as_table_like_mut);
        servers.and_then(|it| it.remove(name));
        return Ok(document.to_string());
    }
    blocks.sort_by_key(|it| it.start);
    Ok(blocks
        .into_iter()
        .rev()
        .fold(text.to_owned(), |text, block| without_lines(&text, block)))
}

/// From the head of each table to its last value.
fn gather(table: &toml_edit::Table, blocks: &mut Vec<Range<usize>>) {
    let mut inner = Vec::new();
    let mut end = table.span().map_or(0, |it| it.end);
    for (_, item) in table.iter() {
        match item {
            Item::Table(it) if !it.is_dotted() => inner.push(it),
            Item::ArrayOfTables(many) => inner.extend(many.iter()),
            other => end = end.max(last(other)),
        }
    }
    if let Some(head) = table.span().filter(|_| !table.is_implicit()) {
        blocks.push(head.start..end.max(head.end));
    }
    inner.into_iter().for_each(|it| gather(it, blocks));
}

/// Where the last value of an item ends.
fn last(item: &Item) -> usize {
    let own = item.span().map_or(0, |it| it.end);
    let dotted = item.as_table().into_iter().flat_map(toml_edit::Table::iter);
    dotted.map(|(_, it)| last(it)).fold(own, usize::max)
}

/// Takes out whole lines, and one empty line before them, which `add` put there.
fn without_lines(text: &str, block: Range<usize>) -> String {
    let line = text[..block.start].rfind('\n').map_or(0, |it| it + 1);
    let end = text[block.end..]
        .find('\n')
        .map_or(text.len(), |it| block.end + it + 1);
    let before = &text[..line];
    let before = before
        .strip_suffix("\n\n")
        .map_or(before, |it| &before[..=it.len()]);
    [before, &text[end..]].concat()
}

/// Sets a member and keeps the comment behind it.
fn put(table: &mut dyn TableLike, key: &str, value: &Value) {
    let mut new = written(value);
    if let Some(Item::Value(old)) = table.get_mut(key) {
        *new.decor_mut() = old.decor().clone();
        *old = new;
    } else {
        table.insert(key, Item::Value(new));
    }
}

fn written(value: &Value) -> toml_edit::Value {
    match value {
        Value::Null => "".into(),
        Value::Bool(it) => (*it).into(),
        Value::Number(it) => match it.as_i64() {
            Some(whole) => whole.into(),
            None => it.as_f64().unwrap_or_default().into(),
        },
        Value::String(it) => it.as_str().into(),
        Value::Array(items) => items
            .iter()
            .map(written)
            .collect::<toml_edit::Array>()
            .into(),
        Value::Object(members) => members
            .iter()
            .map(|(key, it)| (key, written(it)))
            .collect::<InlineTable>()
            .into(),
    }
}
