//! The programs that are measured beside ours. A missing one ends the run: half a comparison is none.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::options::Options;

/// The peers and their versions.
pub(crate) struct Peers {
    /// `tmux 3.3a`.
    pub(crate) tmux: String,
    /// `libtmux-mcp 0.1.0`.
    pub(crate) libtmux_mcp: String,
    /// The program that serves it.
    pub(crate) libtmux_mcp_program: PathBuf,
}

impl Peers {
    /// Asks each for its version.
    pub(crate) fn find(options: &Options) -> Result<Self> {
        let tmux = said(Command::new("tmux").arg("-V")).context("tmux is missing")?;
        let python = options.python.join("bin/python");
        let ask = "import importlib.metadata as m; print('libtmux-mcp', m.version('libtmux-mcp'))";
        let libtmux_mcp =
            said(Command::new(python).args(["-c", ask])).context("libtmux-mcp is missing")?;
        Ok(Self {
            tmux,
            libtmux_mcp,
            libtmux_mcp_program: options.python.join("bin/libtmux-mcp"),
        })
    }
}

/// What a command prints.
pub(crate) fn said(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    ensure!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
