//! `cargo xtask bench`: builds the product as it is shipped, installs the peers, and measures all of them in one run.
//!
//! The measuring is a program of its own (`crates/bench`), so that a task is compiled without what a terminal needs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::needs;
use crate::steps::{cargo, step};

/// The peer from PyPI. A change installs it anew.
const LIBTMUX_MCP: &str = "libtmux-mcp==0.1.0a22";

/// Measures; the arguments are `--quick` and `--only ROW`.
pub(crate) fn bench(args: &[String]) -> Result<()> {
    needs::provide()?;
    let build = [
        "build",
        "--release",
        "--locked",
        "--package",
        "sidestick",
        "--package",
        "bench",
    ];
    step("build", cargo(&build))?;
    let python = python()?;
    let release = target().join("release");
    let mut bench = Command::new(release.join("bench"));
    bench.arg("--sidestick").arg(release.join("sidestick"));
    bench.arg("--python").arg(python);
    bench
        .arg("--recordings")
        .arg(root().join("tests/fixtures/vt/startup"));
    step("bench", {
        bench.args(args);
        bench
    })?;
    Ok(())
}

/// The folder of the workspace.
pub(crate) fn root() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}

/// Where cargo puts what it builds.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A Python environment with the peer. The version is in its name, so that no other is taken for it.
fn python() -> Result<PathBuf> {
    let folder = target().join("peers").join(LIBTMUX_MCP);
    if folder.join("bin/libtmux-mcp").exists() {
        return Ok(folder);
    }
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(&folder);
    if let Err(error) = step("python", venv) {
        bail!("{error:#}: on Debian, apt-get install python3-venv");
    }
    let mut pip = Command::new(folder.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]);
    step("libtmux-mcp", {
        pip.arg(LIBTMUX_MCP);
        pip
    })?;
    Ok(folder)
}
