//! `config.toml`: what a person may set. A key that is not known is refused by its name, since a misspelt one would
//! silently mean nothing.

use std::io;
use std::path::Path;

use anyhow::Context;
use host::Permission;
use serde::Deserialize;

/// The settings.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// `[permission]`
    pub permission: Rules,
    /// `[env]`
    pub env: Env,
}

/// Who may do what.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Rules {
    local: Local,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Local {
    #[default]
    Allow,
    Deny,
}

/// What programs find in their environment.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Env {
    /// Names that pass although they look like secrets.
    pub pass: Vec<String>,
}

impl Config {
    /// Reads the file; without one everything has its default.
    ///
    /// # Errors
    /// The file cannot be read or understood; the sentence names it, the line and the key.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text).with_context(|| path.display().to_string()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| path.display().to_string()),
        }
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        Ok(toml::from_str(text)?)
    }
}

impl Rules {
    /// `permission.local`.
    pub(crate) fn local(&self) -> Permission {
        match self.local {
            Local::Allow => Permission::Allow,
            Local::Deny => Permission::Deny,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_and_the_rest_has_defaults() {
        let config = Config::parse("[permission]\nlocal = \"deny\"\n").unwrap();
        assert_eq!(config.permission.local(), Permission::Deny);
        assert_eq!(
            Config::parse("[env]\npass = [\"GH_TOKEN\"]")
                .unwrap()
                .env
                .pass,
            ["GH_TOKEN"]
        );
        assert_eq!(Config::parse("").unwrap(), Config::default());
        assert_eq!(
            Config::read(Path::new("/nowhere/config.toml")).unwrap(),
            Config::default()
        );
    }

    #[test]
    fn an_unknown_key_or_word_is_refused_by_its_name() {
        for (text, named) in [
            ("[permision]\n", "permision"),
            ("[permission]\nlocla = \"deny\"", "locla"),
            ("[permission]\nlocal = \"maybe\"", "maybe"),
        ] {
            let error = Config::parse(text).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
