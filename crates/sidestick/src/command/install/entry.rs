//! Puts our entry into the text of a client's file, brings it up to date, and takes it out. Pure.
//!
//! Invariant: nothing but our entry changes. Each new text is read again and compared with the old one; a text that
//! says anything else than it should is not handed out.

use anyhow::{Context, ensure};
use serde_json::Value;

use super::client::{Client, Format, Setting};
use super::{jsonc, table};

/// Members of an entry that leads to a server elsewhere. Clients refuse one that has a command as well.
const ELSEWHERE: [&str; 2] = ["url", "httpUrl"];

/// What a file says about us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// There is no entry.
    Absent,
    /// The entry says something else than it should.
    Outdated,
    /// Nothing is to be done.
    Right,
}

/// How our entry stands in this text.
///
/// # Errors
/// The text cannot be read; the sentence says where.
pub(super) fn standing(
    client: Client,
    text: &str,
    settings: &[Setting],
) -> anyhow::Result<Standing> {
    let value = value(client, text)?;
    Ok(match entry(client, &value) {
        None => Standing::Absent,
        Some(entry) if settings.iter().all(|it| it.holds_in(entry)) => Standing::Right,
        Some(_) => Standing::Outdated,
    })
}

/// The text with our entry as it should be.
///
/// # Errors
/// The text cannot be read, or not be changed without changing more.
pub(super) fn put(client: Client, text: &str, settings: &[Setting]) -> anyhow::Result<String> {
    let old = value(client, text)?;
    let path = client.path();
    let remote =
        entry(client, &old).is_some_and(|it| ELSEWHERE.iter().any(|key| it.get(key).is_some()));
    ensure!(
        !remote,
        "the entry leads to a server elsewhere; take it out first: sidestick mcp uninstall {}",
        client.program()
    );
    let wanted: Vec<_> = match entry(client, &old) {
        None => settings.iter().filter(|it| it.is_written()).collect(),
        Some(entry) => settings.iter().filter(|it| !it.holds_in(entry)).collect(),
    };
    let new = match (client.format(), entry(client, &old)) {
        (Format::Json, _) => wanted
            .iter()
            .try_fold(filled(text).to_owned(), |text, setting| {
                let inner = setting.path.iter().map(String::as_str);
                let path: Vec<_> = path.into_iter().chain(inner).collect();
                jsonc::set(&text, &path, &setting.value)
            })?,
        (Format::Toml, None) => table::add(text, path, &members(&wanted))?,
        (Format::Toml, Some(_)) => wanted.iter().try_fold(text.to_owned(), |text, setting| {
            table::set(&text, path, &setting.path, &setting.value)
        })?,
    };
    ensure!(
        standing(client, &new, settings)? == Standing::Right,
        "the entry is of a kind that cannot be changed in place"
    );
    unchanged(client, old, &new)?;
    Ok(new)
}

/// The text without our entry.
///
/// # Errors
/// As for [`put`].
pub(super) fn take(client: Client, text: &str) -> anyhow::Result<String> {
    let old = value(client, text)?;
    let new = match client.format() {
        Format::Json => jsonc::remove(text, &client.path())?,
        Format::Toml => table::remove(text, client.path())?,
    };
    ensure!(
        entry(client, &value(client, &new)?).is_none(),
        "the entry is of a kind that cannot be taken out"
    );
    unchanged(client, old, &new)?;
    Ok(new)
}

/// Whether a text says nothing at all.
pub(super) fn is_empty(client: Client, text: &str) -> bool {
    match client.format() {
        Format::Json => ["", "{}"].contains(&text.trim()),
        Format::Toml => text.trim().is_empty(),
    }
}

/// Our entry alone, to be pasted.
///
/// # Errors
/// Never for the settings of a client.
pub(super) fn snippet(client: Client, settings: &[Setting]) -> anyhow::Result<String> {
    put(client, "", settings)
}

fn unchanged(client: Client, old: Value, new: &str) -> anyhow::Result<()> {
    let new = value(client, new)?;
    ensure!(
        others(client, old) == others(client, new),
        "our entry cannot be changed without changing others"
    );
    Ok(())
}

/// Everything that is not ours.
fn others(client: Client, mut value: Value) -> Value {
    let [group, name] = client.path();
    let servers = value.get_mut(group).and_then(Value::as_object_mut);
    let empty = servers.is_some_and(|servers| {
        servers.remove(name);
        servers.is_empty()
    });
    // A group without members says what no group says.
    if empty && let Some(all) = value.as_object_mut() {
        all.remove(group);
    }
    value
}

fn entry(client: Client, value: &Value) -> Option<&Value> {
    client.path().iter().try_fold(value, |at, key| at.get(key))
}

fn value(client: Client, text: &str) -> anyhow::Result<Value> {
    match client.format() {
        Format::Json => Ok(jsonc::read(filled(text))?.value()),
        Format::Toml => toml::from_str(text).context("it is no TOML"),
    }
}

/// An empty file stands for one without settings.
fn filled(text: &str) -> &str {
    if text.trim().is_empty() { "{}\n" } else { text }
}

/// The members of a new entry, in their order. Those that lie deeper are gathered under their first key.
fn members(settings: &[&Setting]) -> Vec<(String, Value)> {
    let mut members: Vec<(String, Value)> = Vec::new();
    for setting in settings {
        let Some((key, inner)) = setting.path.split_first() else {
            continue;
        };
        let at = members.iter().position(|(it, _)| it == key);
        let at = at.unwrap_or_else(|| {
            members.push((key.clone(), Value::Null));
            members.len() - 1
        });
        let mut value = &mut members[at].1;
        for key in inner {
            value = &mut value[key.as_str()];
        }
        *value = setting.value.clone();
    }
    members
}
