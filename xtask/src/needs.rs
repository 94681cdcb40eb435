//! Programs that the tests drive: installed where that is possible without a question, else named.
//!
//! A test whose program is missing skips itself and says so; with `CI=true` it fails. So nothing is decided here but
//! what to install.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::steps::{cargo, step};

/// A program and the Debian package that has it.
struct Need {
    program: &'static str,
    package: &'static str,
}

const NEEDS: &[Need] = &[
    // The bundled SQLite is compiled from C.
    Need {
        program: "cc",
        package: "gcc",
    },
    Need {
        program: "bash",
        package: "bash",
    },
    Need {
        program: "fish",
        package: "fish",
    },
    Need {
        program: "vim",
        package: "vim",
    },
    Need {
        program: "less",
        package: "less",
    },
    Need {
        program: "htop",
        package: "htop",
    },
    Need {
        program: "python3",
        package: "python3",
    },
    Need {
        program: "node",
        package: "nodejs",
    },
    Need {
        program: "tmux",
        package: "tmux",
    },
    Need {
        program: "fzf",
        package: "fzf",
    },
    Need {
        program: "whiptail",
        package: "whiptail",
    },
    Need {
        program: "setsid",
        package: "util-linux",
    },
    Need {
        program: "ps",
        package: "procps",
    },
];

/// Installs what is missing, or says what to install.
pub(crate) fn provide() -> Result<()> {
    let missing: Vec<&Need> = NEEDS
        .iter()
        .filter(|it| which(it.program).is_none())
        .collect();
    if !missing.is_empty() {
        let packages: BTreeSet<&str> = missing.iter().map(|it| it.package).collect();
        if which("apt-get").is_some() && is_root() {
            install(&packages)?;
        } else {
            let names: Vec<&str> = missing.iter().map(|it| it.program).collect();
            println!(
                "missing: {}; their tests are skipped (on Debian: apt-get install {})",
                names.join(" "),
                packages.into_iter().collect::<Vec<_>>().join(" ")
            );
            if is_ci() {
                bail!("CI=true: nothing may be skipped");
            }
        }
    }
    if which("cargo-nextest").is_none() {
        step(
            "cargo-nextest",
            cargo(&["install", "--locked", "cargo-nextest"]),
        )?;
    }
    Ok(())
}

fn install(packages: &BTreeSet<&str>) -> Result<()> {
    let apt = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command
            .args(["-qq", "-o", "Dpkg::Use-Pty=0"])
            .args(args)
            .env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    step("package lists", apt(&["update"]))?;
    let mut command = apt(&["install", "--yes", "--no-install-recommends"]);
    command.args(packages);
    step("packages", command)?;
    Ok(())
}

/// The effective user, read from the process's own entry: the standard library has no call for it.
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0)
}

pub(crate) fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|it| it == "true" || it == "1")
}

pub(crate) fn which(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|it| it.join(program))
        .find(|it| is_program(it))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}
