//! `sidestick mcp install` and `uninstall`: sets up coding CLIs so that they start `sidestick mcp`.
//!
//! A file that cannot be understood stays as it is, and the person is told what to put into it.

mod client;
mod entry;
mod file;
mod jsonc;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use crate::cli::print;
use crate::log;
use client::Setting;
pub(crate) use client::{Client, Scope, Surroundings};
pub(crate) use entry::Standing;

/// The name under which the program is installed.
const PROGRAM: &str = "sidestick";

/// Which client, for whom.
#[derive(Debug, Args)]
pub(crate) struct Install {
    /// The client to set up.
    client: Client,
    /// For whom: all your folders, or this one.
    #[arg(long, value_enum, default_value_t)]
    scope: Scope,
    /// Print what belongs into the client's file, and change nothing.
    #[arg(long)]
    print: bool,
}

/// Which client, for whom.
#[derive(Debug, Args)]
pub(crate) struct Uninstall {
    /// The client.
    client: Client,
    /// From whose settings: of all your folders, or of this one.
    #[arg(long, value_enum, default_value_t)]
    scope: Scope,
}

/// A client's file as it is.
struct Found {
    path: PathBuf,
    text: Option<String>,
}

/// Writes the entry, or prints it.
pub(crate) fn install(options: &Install) -> anyhow::Result<ExitCode> {
    let (client, scope) = (options.client, options.scope);
    let around = Surroundings::of_process()?;
    let program = program(&around)?;
    let settings = client.settings(&program, &around);
    let snippet = entry::snippet(client, &settings)?;
    let found = find(client, scope, &around, &settings)?;
    if options.print {
        log::say(&format!(
            "{} reads {}:",
            client.title(),
            found.path.display()
        ));
        print(snippet.trim_end());
        return Ok(ExitCode::SUCCESS);
    }
    let by_hand = || {
        format!(
            "{} stays as it is. Put this into it yourself:\n\n{snippet}",
            found.path.display()
        )
    };
    let text = found.text.as_deref().unwrap_or_default();
    let standing = entry::standing(client, text, &settings).with_context(by_hand)?;
    let done = match standing {
        Standing::Right => {
            print(&format!("already installed: {}", found.path.display()));
            return Ok(ExitCode::SUCCESS);
        }
        Standing::Absent => "installed in",
        Standing::Outdated => "brought up to date in",
    };
    let new = entry::put(client, text, &settings).with_context(by_hand)?;
    file::write(&found.path, &new, scope)?;
    print(&format!("{done} {}", found.path.display()));
    print(&format!(
        "{} will start: {} mcp",
        client.title(),
        program.display()
    ));
    print(&client.next(scope));
    Ok(ExitCode::SUCCESS)
}

/// Takes the entry out again.
pub(crate) fn uninstall(options: &Uninstall) -> anyhow::Result<ExitCode> {
    let (client, scope) = (options.client, options.scope);
    let around = Surroundings::of_process()?;
    let found = find(client, scope, &around, &[])?;
    let path = found.path.display();
    let by_hand = || {
        let entry = client.path().join(".");
        format!("{path} stays as it is. Take out {entry} yourself")
    };
    let text = found.text.unwrap_or_default();
    if entry::standing(client, &text, &[]).with_context(by_hand)? == Standing::Absent {
        print(&format!("not installed in {path}: nothing to do"));
        return Ok(ExitCode::SUCCESS);
    }
    let rest = entry::take(client, &text).with_context(by_hand)?;
    if entry::is_empty(client, &rest) {
        file::clear(&found.path, &rest, scope)?;
    } else {
        file::write(&found.path, &rest, scope)?;
    }
    print(&format!("taken out of {path}"));
    print(&client.next(scope));
    Ok(ExitCode::SUCCESS)
}

/// How a client stands with a person, and in which file.
///
/// # Errors
/// Its file cannot be read; the sentence names it.
pub(crate) fn standing(
    client: Client,
    around: &Surroundings,
) -> anyhow::Result<(Standing, PathBuf)> {
    let settings = client.settings(&program(around)?, around);
    let found = find(client, Scope::User, around, &settings)?;
    let text = found.text.as_deref().unwrap_or_default();
    let standing = entry::standing(client, text, &settings);
    Ok((
        standing.with_context(|| found.path.display().to_string())?,
        found.path,
    ))
}

/// The file that has our entry, else the first one that is there, else the one that is to be made.
fn find(
    client: Client,
    scope: Scope,
    around: &Surroundings,
    settings: &[Setting],
) -> anyhow::Result<Found> {
    let mut found = Vec::new();
    for path in client.files(scope, around)? {
        let text = file::read(&path)?;
        found.push(Found { path, text });
    }
    let ours = found.iter().position(|it| {
        let text = it.text.as_deref().unwrap_or_default();
        entry::standing(client, text, settings).is_ok_and(|it| it != Standing::Absent)
    });
    let at = ours
        .or_else(|| found.iter().position(|it| it.text.is_some()))
        .unwrap_or(0);
    if found.is_empty() {
        bail!("{} reads no file", client.title());
    }
    Ok(found.swap_remove(at))
}

/// Where this program lies. A place on PATH that leads to it is better: it stays when a package is updated.
fn program(around: &Surroundings) -> anyhow::Result<PathBuf> {
    let itself = std::env::current_exe().context("where this program lies")?;
    if itself.to_string_lossy().ends_with(" (deleted)") {
        bail!("this program's file was replaced or removed; start the new one");
    }
    let path = around.vars.get("PATH").cloned().unwrap_or_default();
    let leads_here = |it: &PathBuf| is_same(it, &itself);
    Ok(std::env::split_paths(&path)
        .filter(|it| it.is_absolute())
        .map(|it| it.join(PROGRAM))
        .find(leads_here)
        .unwrap_or(itself))
}

fn is_same(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|it| it == other)
}

#[cfg(test)]
mod tests;
