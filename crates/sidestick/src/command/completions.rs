//! `sidestick completions` and `sidestick man`: what shells and `man` read, made from the command line itself.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::cli::print;

/// Which shell.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The shell that reads it.
    shell: Shell,
}

/// Where pages go.
#[derive(Debug, Args)]
pub(crate) struct Pages {
    /// Write a page for each command into this folder, such as `~/.local/share/man/man1`.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints the completions.
pub(crate) fn run(options: &Options, mut command: Command) -> anyhow::Result<ExitCode> {
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(options.shell, &mut command, name, &mut text);
    print(String::from_utf8_lossy(&text).trim_end());
    Ok(ExitCode::SUCCESS)
}

/// Prints the page of the whole, or writes all pages.
pub(crate) fn man(pages: &Pages, command: Command) -> anyhow::Result<ExitCode> {
    let Some(folder) = &pages.out else {
        let mut page = Vec::new();
        Man::new(visible(command)).render(&mut page)?;
        print(String::from_utf8_lossy(&page).trim_end());
        return Ok(ExitCode::SUCCESS);
    };
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    clap_mangen::generate_to(visible(command), folder)
        .with_context(|| folder.display().to_string())?;
    print(&format!("the pages lie in {}", folder.display()));
    Ok(ExitCode::SUCCESS)
}

/// Without clap's own `help`, which has no page.
fn visible(command: Command) -> Command {
    command.disable_help_subcommand(true)
}
