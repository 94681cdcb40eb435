//! The coding CLIs that tests drive, each at one version, in `target/clis/NAME`.
//!
//! Surprise: they are installed while the tests are compiled, since the network is slow where the processor is busy.
//! What cannot be installed is told, and its tests are skipped; with `CI=true` the task fails.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;

use anyhow::{Context, Result, bail};

use crate::needs::{is_ci, which};

/// Written when all of a CLI is there: a change of the table installs it anew.
const STAMP: &str = "installed";
/// The oldest Node that the CLIs run on, and the one that they get where it is older.
const NODE_MAJOR: u32 = 20;
const NODE: &str = "node@24";

struct Cli {
    name: &'static str,
    source: Source,
}

/// Where it comes from: a package and its version.
enum Source {
    Npm(&'static str),
    PyPi(&'static str),
}

const CLIS: &[Cli] = &[
    Cli {
        name: "claude",
        source: Source::Npm("@anthropic-ai/claude-code@2.1.332"),
    },
    Cli {
        name: "codex",
        source: Source::Npm("@openai/codex@0.171.0"),
    },
    Cli {
        name: "opencode",
        source: Source::Npm("opencode-ai@1.18.33"),
    },
    Cli {
        name: "gemini",
        source: Source::Npm("@google/gemini-cli@0.61.0"),
    },
    Cli {
        name: "copilot",
        source: Source::Npm("@github/copilot@1.0.102"),
    },
    Cli {
        name: "hermes",
        source: Source::PyPi("hermes-agent==0.19.0"),
    },
];

/// An installation under way.
pub(crate) struct Installing(JoinHandle<Vec<String>>);

/// Begins to install what is missing.
pub(crate) fn begin() -> Installing {
    Installing(std::thread::spawn(|| {
        let failed = CLIS.iter().filter_map(|cli| provide(cli).err());
        failed.map(|error| format!("{error:#}")).collect()
    }))
}

impl Installing {
    /// Waits for its end.
    pub(crate) fn finish(self) -> Result<()> {
        let Ok(complaints) = self.0.join() else {
            bail!("the installation of the coding CLIs has crashed");
        };
        for complaint in &complaints {
            println!("missing: {complaint}; its tests are skipped");
        }
        if !complaints.is_empty() && is_ci() {
            bail!("CI=true: nothing may be skipped");
        }
        Ok(())
    }
}

fn provide(cli: &Cli) -> Result<()> {
    let folder = folder(cli.name);
    let wanted = cli.source.wanted();
    if std::fs::read_to_string(folder.join(STAMP)).is_ok_and(|it| it == wanted) {
        return Ok(());
    }
    // Half of an installation is worse than none; there may be none yet.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    for command in cli.source.commands(&folder) {
        run(cli.name, command)?;
    }
    std::fs::write(folder.join(STAMP), wanted)?;
    Ok(())
}

impl Source {
    fn wanted(&self) -> String {
        match self {
            Self::Npm(package) | Self::PyPi(package) => format!("{package}\n"),
        }
    }

    fn commands(&self, folder: &Path) -> Vec<Command> {
        match self {
            Self::Npm(package) => {
                let mut npm = Command::new("npm");
                npm.args([
                    "install",
                    "--no-audit",
                    "--no-fund",
                    "--no-save",
                    "--prefix",
                ]);
                npm.arg(folder).arg(package).args(newer_node());
                vec![npm]
            }
            Self::PyPi(package) => {
                let mut venv = Command::new("python3");
                venv.args(["-m", "venv"]).arg(folder);
                let mut pip = Command::new(folder.join("bin/pip"));
                // Compiling all of it takes longer than the tests, which run a part of it.
                pip.args(["install", "--quiet", "--no-compile", package]);
                vec![venv, pip]
            }
        }
    }
}

fn newer_node() -> Option<&'static str> {
    let output = Command::new("node").arg("--version").output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    let major: u32 = version
        .trim_start_matches('v')
        .split('.')
        .next()?
        .parse()
        .ok()?;
    (major < NODE_MAJOR).then_some(NODE)
}

fn run(name: &str, mut command: Command) -> Result<()> {
    let program = PathBuf::from(command.get_program());
    if program.is_relative() && which(&program.to_string_lossy()).is_none() {
        bail!("{name} needs {}", program.display());
    }
    let output = command
        .stdin(Stdio::null())
        .output()
        .context(name.to_owned())?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let last = text.lines().rev().find(|it| !it.trim().is_empty());
        bail!(
            "{name} is not installed ({}): {}",
            output.status,
            last.unwrap_or_default()
        );
    }
    Ok(())
}

/// The same for every target directory, since hundreds of megabytes need not lie there twice.
fn folder(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    root.unwrap_or(Path::new("."))
        .join("target/clis")
        .join(name)
}
