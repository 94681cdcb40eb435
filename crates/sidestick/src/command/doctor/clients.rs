//! The coding CLIs: where they are, which version, and whether they start `sidestick mcp`.
//!
//! A CLI is asked for its version with a deadline and all of them at once, since some take seconds to start and one
//! that is broken may hang.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;
use tokio::time::timeout;

use super::report::Finding;
use super::session::runs;
use crate::command::install::{self, Client, Standing, Surroundings};

/// How long one may take to say its version.
const ANSWER: Duration = Duration::from_secs(5);
/// Speaks no MCP that we could set up, but is driven in terminals as the others are.
const HERMES: &str = "hermes";

/// What a program said when it was asked for its version.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    Version(String),
    Nothing(String),
}

/// Looks for all of them.
pub(super) async fn examine(around: &Surroundings) -> Vec<Finding> {
    let all = Client::ALL.map(Some).into_iter().chain([None]);
    let asked: Vec<_> = all
        .map(|client| {
            let name = client.map_or(HERMES, Client::program);
            let found = find(name, around);
            let asked = found
                .clone()
                .map(|path| tokio::spawn(async move { version(&path, ANSWER).await }));
            (client, name, found, asked)
        })
        .collect();
    let mut findings = Vec::new();
    for (client, name, found, asked) in asked {
        let said = match asked {
            Some(task) => task.await.ok(),
            None => None,
        };
        let standing = client.map(|it| {
            let standing = install::standing(it, around).map(|(standing, _)| standing);
            standing.map_err(|error| format!("{error:#}"))
        });
        findings.push(judge(name, found.zip(said), standing));
    }
    findings
}

fn judge(
    name: &'static str,
    found: Option<(PathBuf, Said)>,
    standing: Option<Result<Standing, String>>,
) -> Finding {
    let Some((path, said)) = found else {
        return Finding::ok(name, "not on PATH");
    };
    let path = path.display();
    let version = match said {
        Said::Version(version) => version,
        Said::Nothing(why) => {
            return Finding::note(
                name,
                format!("{path} does not say its version: {why}"),
                format!("see what `{name} --version` does"),
            );
        }
    };
    let again = || format!("sidestick mcp install {name}");
    match standing {
        None => Finding::ok(name, format!("{version}, {path}")),
        Some(Ok(Standing::Right)) => {
            Finding::ok(name, format!("{version}, {path}; starts sidestick mcp"))
        }
        Some(Ok(Standing::Absent)) => {
            Finding::ok(name, format!("{version}, {path}; not set up: {}", again()))
        }
        Some(Ok(Standing::Outdated)) => Finding::note(
            name,
            format!("{version}, {path}; its entry of sidestick is not up to date"),
            again(),
        ),
        Some(Err(error)) => Finding::note(
            name,
            format!("{version}, {path}; its settings cannot be read: {error}"),
            "repair the file; what the client itself says may tell more",
        ),
    }
}

/// Where a program lies on PATH.
fn find(name: &str, around: &Surroundings) -> Option<PathBuf> {
    let path = around.vars.get("PATH")?;
    std::env::split_paths(path)
        .map(|it| around.folder.join(it).join(name))
        .find(|it| runs(it))
}

async fn version(program: &Path, patience: Duration) -> Said {
    let mut command = Command::new(program);
    // In a folder without settings of a project, and in a group of its own, that all of it can be ended.
    command
        .arg("--version")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true);
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Said::Nothing(error.to_string()),
    };
    let group = child.id().and_then(|it| Pid::from_raw(it.try_into().ok()?));
    match timeout(patience, child.wait_with_output()).await {
        Ok(Ok(output)) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            number(&text).map_or_else(
                || Said::Nothing("it prints no number".to_owned()),
                Said::Version,
            )
        }
        Ok(Ok(output)) => Said::Nothing(output.status.to_string()),
        Ok(Err(error)) => Said::Nothing(error.to_string()),
        Err(_) => {
            // Fails only when all of it is gone by itself.
            let _ = group.map(|it| kill_process_group(it, Signal::KILL));
            Said::Nothing(format!("it takes longer than {} s", patience.as_secs()))
        }
    }
}

/// The first word that looks like a version.
fn number(text: &str) -> Option<String> {
    let words = text.split(|it: char| it.is_whitespace() || "(),".contains(it));
    let bare = words.map(|it| it.trim_start_matches('v').trim_end_matches('.'));
    bare.filter(|it| it.starts_with(|first: char| first.is_ascii_digit()) && it.contains('.'))
        .map(|it| it.chars().take(40).collect())
        .next()
}

#[cfg(test)]
mod tests {
    use super::super::report::Level;
    use super::*;

    #[test]
    fn versions_are_read_out_of_what_the_clis_print() {
        for (text, version) in [
            ("2.1.332 (Claude Code)\n", "2.1.332"),
            ("codex-cli 0.171.0\n", "0.171.0"),
            (
                "GitHub Copilot CLI 1.0.102.\nRun 'copilot update'",
                "1.0.102",
            ),
            ("Hermes Agent v0.14.2 (2026.11)", "0.14.2"),
        ] {
            assert_eq!(number(text).unwrap(), version);
        }
        assert_eq!(number("no number 7 here"), None);
    }

    #[test]
    fn a_client_is_told_with_how_it_stands() {
        let found = || {
            let said = Said::Version("1.2".to_owned());
            Some((PathBuf::from("/bin/claude"), said))
        };
        let level = |standing| judge("claude", found(), standing).level;
        assert_eq!(level(Some(Ok(Standing::Right))), Level::Ok);
        assert_eq!(level(Some(Ok(Standing::Absent))), Level::Ok);
        assert_eq!(level(Some(Ok(Standing::Outdated))), Level::Note);
        assert_eq!(level(Some(Err("line 1".to_owned()))), Level::Note);
        assert_eq!(level(None), Level::Ok);
        assert_eq!(judge("claude", None, None).text, "not on PATH");
        let silent = Some((PathBuf::from("/bin/claude"), Said::Nothing("x".to_owned())));
        assert_eq!(judge("claude", silent, None).level, Level::Note);
    }

    /// A program that is written by a shell: one that this process wrote could not be started while another thread
    /// starts a program, which inherits the open file for a moment.
    fn script(folder: &Path, text: &str) -> PathBuf {
        let path = folder.join("program");
        let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 755 \"$0\"";
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", write]).arg(&path).arg(text);
        assert!(shell.status().unwrap().success());
        path
    }

    #[tokio::test]
    async fn a_program_that_hangs_is_given_up_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let hangs = script(folder.path(), "sleep 3601 & echo $! > \"$0.child\"; wait");
        let said = version(&hangs, Duration::from_secs(2)).await;
        assert_eq!(said, Said::Nothing("it takes longer than 2 s".to_owned()));
        let child = std::fs::read_to_string(hangs.with_extension("child")).unwrap();
        let line = format!("/proc/{}/cmdline", child.trim());
        testkit::eventually("its child is gone", || {
            !std::fs::read(&line).is_ok_and(|it| it.starts_with(b"sleep"))
        });
    }

    #[tokio::test]
    async fn a_program_that_fails_or_is_not_there_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let fails = script(folder.path(), "echo 1.2.3; exit 3");
        let said = version(&fails, Duration::from_secs(60)).await;
        assert_eq!(said, Said::Nothing("exit status: 3".to_owned()));
        let missing = version(Path::new("/nowhere/x"), Duration::from_secs(60)).await;
        assert!(matches!(missing, Said::Nothing(_)));
    }
}
