//! The clients that can be set up: where each keeps its MCP servers, and what its entry of ours says.
//!
//! Limits of time are only ever raised. Claude Code and Gemini CLI wait longer than any call by default, so that an
//! entry of theirs has none; to write one would shorten it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use serde_json::{Value, json};

/// The name of our entry in every client.
const NAME: &str = "sidestick";
/// Seconds that a client has to wait for an answer: the longest wait of a call, two minutes, and one more.
const PATIENCE_S: u64 = 180;
/// They say where the instance lies. Some clients start servers without them, which would then make an instance of
/// their own.
const PLACES: [&str; 3] = ["SIDESTICK_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"];

/// A coding CLI that speaks MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// opencode
    Opencode,
    /// GitHub Copilot CLI
    Copilot,
}

/// For whom a client is set up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// For you, in every folder.
    #[default]
    User,
    /// For whoever works in this folder.
    Project,
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Toml,
}

/// What the process finds around itself, handed in so that tests can say it.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    pub vars: BTreeMap<String, OsString>,
    pub folder: PathBuf,
}

/// One member of our entry.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setting {
    pub path: Vec<String>,
    pub value: Value,
    pub rule: Rule,
}

/// When what is there already is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// When it is the same.
    Same,
    /// When there is any.
    Any,
    /// When it is a number that is not smaller.
    AtLeast,
    /// When it is not there, or a number that is not smaller.
    NotBelow,
}

impl Surroundings {
    /// Those of this process.
    ///
    /// # Errors
    /// The working directory is gone.
    pub(crate) fn of_process() -> anyhow::Result<Self> {
        Ok(Self {
            vars: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
                .collect(),
            folder: std::env::current_dir().context("the working directory is gone")?,
        })
    }

    /// A variable that names a folder; an empty one names none.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        let value = self.vars.get(name).filter(|it| !it.is_empty())?;
        Some(self.folder.join(value))
    }

    fn home(&self) -> anyhow::Result<PathBuf> {
        self.path("HOME").context("no home folder; set HOME")
    }
}

impl Client {
    /// Every one.
    pub(crate) const ALL: [Self; 5] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Copilot,
    ];

    /// What people call it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Opencode => "opencode",
            Self::Copilot => "GitHub Copilot CLI",
        }
    }

    /// The command that starts it.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Copilot => "copilot",
        }
    }

    pub(super) fn format(self) -> Format {
        match self {
            Self::Codex => Format::Toml,
            Self::Claude | Self::Gemini | Self::Opencode | Self::Copilot => Format::Json,
        }
    }

    /// Where our entry lies in the file.
    pub(super) fn path(self) -> [&'static str; 2] {
        match self {
            Self::Codex => ["mcp_servers", NAME],
            Self::Opencode => ["mcp", NAME],
            Self::Claude | Self::Gemini | Self::Copilot => ["mcpServers", NAME],
        }
    }

    /// The files that it reads; the first one is made when none is there.
    ///
    /// # Errors
    /// There is no home folder.
    pub(super) fn files(self, scope: Scope, around: &Surroundings) -> anyhow::Result<Vec<PathBuf>> {
        let project = |names: &[&str]| names.iter().map(|it| around.folder.join(it)).collect();
        Ok(match (self, scope) {
            (Self::Claude, Scope::User) => {
                let own = around.path("CLAUDE_CONFIG_DIR");
                vec![own.map_or_else(|| around.home(), Ok)?.join(".claude.json")]
            }
            (Self::Claude, Scope::Project) => project(&[".mcp.json"]),
            (Self::Codex, Scope::User) => {
                vec![own_folder(around, "CODEX_HOME", ".codex")?.join("config.toml")]
            }
            (Self::Codex, Scope::Project) => project(&[".codex/config.toml"]),
            (Self::Gemini, Scope::User) => {
                let own = around.path("GEMINI_CLI_HOME");
                vec![
                    own.map_or_else(|| around.home(), Ok)?
                        .join(".gemini/settings.json"),
                ]
            }
            (Self::Gemini, Scope::Project) => project(&[".gemini/settings.json"]),
            (Self::Opencode, Scope::User) => {
                let folder = own_folder(around, "XDG_CONFIG_HOME", ".config")?.join("opencode");
                vec![folder.join("opencode.json"), folder.join("opencode.jsonc")]
            }
            (Self::Opencode, Scope::Project) => project(&["opencode.json", "opencode.jsonc"]),
            (Self::Copilot, Scope::User) => {
                vec![own_folder(around, "COPILOT_HOME", ".copilot")?.join("mcp-config.json")]
            }
            // It reads `.mcp.json` as well, which is Claude Code's, with entries of another kind.
            (Self::Copilot, Scope::Project) => project(&[".github/mcp.json"]),
        })
    }

    /// What our entry says.
    pub(super) fn settings(self, program: &Path, around: &Surroundings) -> Vec<Setting> {
        let program = program.to_string_lossy();
        let same = |key: &str, value: Value| Setting::new(&[key], value, Rule::Same);
        let command = [
            same("command", json!(program)),
            same("args", json!(["mcp"])),
        ];
        let milliseconds = |rule| Setting::new(&["timeout"], json!(PATIENCE_S * 1000), rule);
        let mut settings = Vec::new();
        match self {
            Self::Claude => {
                settings.push(same("type", json!("stdio")));
                settings.extend(command);
                settings.push(milliseconds(Rule::NotBelow));
            }
            Self::Gemini => {
                settings.extend(command);
                settings.push(milliseconds(Rule::NotBelow));
            }
            Self::Codex => {
                settings.extend(command);
                let seconds = json!(PATIENCE_S);
                settings.push(Setting::new(&["tool_timeout_sec"], seconds, Rule::AtLeast));
            }
            Self::Opencode => {
                settings.push(same("type", json!("local")));
                settings.push(same("command", json!([program, "mcp"])));
                settings.push(same("enabled", json!(true)));
                settings.push(milliseconds(Rule::AtLeast));
            }
            Self::Copilot => {
                settings.push(same("type", json!("local")));
                settings.extend(command);
                settings.push(Setting::new(&["tools"], json!(["*"]), Rule::Any));
                settings.push(milliseconds(Rule::AtLeast));
            }
        }
        settings.extend(self.places(around));
        settings
    }

    fn places(self, around: &Surroundings) -> impl Iterator<Item = Setting> {
        let group = match self {
            Self::Opencode => "environment",
            Self::Claude | Self::Codex | Self::Gemini | Self::Copilot => "env",
        };
        let named = PLACES
            .into_iter()
            .filter_map(|name| Some((name, around.path(name)?)));
        named.map(move |(name, path)| {
            Setting::new(&[group, name], json!(path.to_string_lossy()), Rule::Same)
        })
    }

    /// What has to be done before the client starts our server.
    pub(super) fn next(self, scope: Scope) -> String {
        let title = self.title();
        match (self, scope) {
            (Self::Gemini, Scope::User) => {
                format!(
                    "Restart {title} where it runs; it starts servers in folders that you trust."
                )
            }
            (Self::Claude | Self::Codex | Self::Opencode | Self::Copilot, Scope::User) => {
                format!("Restart {title} where it runs: it reads the file when it starts.")
            }
            (Self::Claude, Scope::Project) => {
                format!(
                    "Restart {title} in this folder; it asks once whether you trust the server."
                )
            }
            (Self::Codex | Self::Gemini | Self::Opencode | Self::Copilot, Scope::Project) => {
                format!(
                    "Restart {title} in this folder; it reads the file where you trust the folder."
                )
            }
        }
    }
}

impl Setting {
    fn new(path: &[&str], value: Value, rule: Rule) -> Self {
        let path = path.iter().map(|&it| it.to_owned()).collect();
        Self { path, value, rule }
    }

    /// Whether an entry says it.
    pub(super) fn holds_in(&self, entry: &Value) -> bool {
        let found = self.path.iter().try_fold(entry, |at, key| at.get(key));
        let enough = |it: &Value| it.as_f64() >= self.value.as_f64() && it.is_number();
        match (self.rule, found) {
            (Rule::Same, found) => found == Some(&self.value),
            (Rule::Any, found) => found.is_some(),
            (Rule::AtLeast, found) => found.is_some_and(enough),
            (Rule::NotBelow, found) => found.is_none_or(enough),
        }
    }

    /// Whether a new entry has it.
    pub(super) fn is_written(&self) -> bool {
        match self.rule {
            Rule::Same | Rule::Any | Rule::AtLeast => true,
            Rule::NotBelow => false,
        }
    }
}

/// The folder that a variable names, else the one of this name at home.
fn own_folder(around: &Surroundings, variable: &str, usual: &str) -> anyhow::Result<PathBuf> {
    match around.path(variable) {
        Some(folder) => Ok(folder),
        None => Ok(around.home()?.join(usual)),
    }
}
