//! The command line: what can be typed, and what each command's end is as an exit status.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand};
use wire::ChatId;

use crate::command::{chat, completions, doctor, install, runner, tool};
use crate::edge::mcp;
use crate::{client, log, serve};

const EXAMPLES: &str = "Examples:
  sidestick tool bash '{\"action\":\"open\",\"command\":\"htop\"}'
  sidestick tool bash '{\"action\":\"type\",\"terminal_id\":\"tm_…\",\"text\":\"ls\",\"keys\":[\"Enter\"]}'
  sidestick tool bash '{\"action\":\"list\"}'
  sidestick mcp install claude
  sidestick doctor

Everything lies in one folder when SIDESTICK_HOME names one; else under the XDG folders.";

const TOOL_EXAMPLES: &str =
    "Exit status: 0 done, 2 the arguments were refused, 3 a timeout, 4 not found, 1 anything else.

Examples:
  sidestick tool bash '{\"command\":\"make test\",\"timeout_ms\":300000}'
  sidestick tool bash '{\"action\":\"open\",\"command\":\"vim notes.txt\"}'
  echo '{\"action\":\"screen\",\"terminal_id\":\"tm_…\"}' | sidestick tool bash -";

const MCP_EXAMPLES: &str = "Examples:
  sidestick mcp install claude
  sidestick mcp install codex --print
  sidestick mcp uninstall gemini --scope project";

const COMPLETIONS_EXAMPLES: &str = "Examples:
  sidestick completions bash > ~/.local/share/bash-completion/completions/sidestick
  sidestick completions fish > ~/.config/fish/completions/sidestick.fish";

/// Live terminals that agents drive and people watch and take over.
#[derive(Debug, Parser)]
#[command(name = "sidestick", version, about, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server. Other commands start one in the background when none runs.
    Serve(Serve),
    /// Make, list and close chats: a folder and its terminals.
    #[command(subcommand)]
    Chat(Chat),
    /// Call a tool.
    #[command(after_help = TOOL_EXAMPLES)]
    Tool(tool::Options),
    /// Be an MCP server on standard input and output, or set up a client to start it.
    #[command(after_help = MCP_EXAMPLES)]
    Mcp {
        #[command(subcommand)]
        command: Option<Mcp>,
    },
    /// Look at this machine and say what is wrong and what to do. Starts and changes nothing.
    Doctor(doctor::Options),
    /// Print what a shell needs to complete commands.
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(completions::Options),
    /// Print the manual page, or write one for each command.
    Man(completions::Pages),
    #[command(hide = true)]
    Runner(runner::Options),
}

#[derive(Debug, Args)]
struct Serve {
    /// Go on in the background; return when the server answers.
    #[arg(long)]
    background: bool,
    /// Is the background server itself, started by `--background`.
    #[arg(long, hide = true, conflicts_with = "background")]
    detached: bool,
}

#[derive(Debug, Subcommand)]
enum Mcp {
    /// Set up a coding CLI so that it starts `sidestick mcp`.
    Install(install::Install),
    /// Take that out of its settings again.
    Uninstall(install::Uninstall),
}

#[derive(Debug, Subcommand)]
enum Chat {
    /// Make a chat and print its id, and nothing else.
    Create {
        /// What people call it; default: the folder's name.
        #[arg(long)]
        title: Option<String>,
        /// Its folder; default: this one.
        #[arg(long)]
        dir: Option<PathBuf>,
    },
    /// List the open chats, newest first.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Close a chat and its terminals.
    Close {
        /// Which chat.
        id: ChatId,
    },
}

/// Reads the arguments and does what they say.
pub(crate) fn run() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Serve(options) => serve(&options),
        Command::Runner(options) => runner::run(options),
        Command::Mcp { command: None } => mcp::run(),
        Command::Mcp {
            command: Some(Mcp::Install(options)),
        } => install::install(&options),
        Command::Mcp {
            command: Some(Mcp::Uninstall(options)),
        } => install::uninstall(&options),
        Command::Doctor(options) => doctor::run(&options),
        Command::Completions(options) => completions::run(&options, Cli::command()),
        Command::Man(pages) => completions::man(&pages, Cli::command()),
        Command::Tool(options) => tool::run(options),
        Command::Chat(Chat::Create { title, dir }) => chat::create(title, dir),
        Command::Chat(Chat::List { json: true }) => chat::list_json(),
        Command::Chat(Chat::List { json: false }) => chat::list(),
        Command::Chat(Chat::Close { id }) => chat::close(id),
    };
    done.unwrap_or_else(|error| {
        log::say(&format!("sidestick: {error:#}"));
        ExitCode::FAILURE
    })
}

fn serve(options: &Serve) -> anyhow::Result<ExitCode> {
    match (options.background, options.detached) {
        (true, _) => serve::in_background(),
        (false, true) => serve::detached(),
        (false, false) => serve::in_foreground(),
    }
}

/// Prints a result. A reader that has gone away, as `head` does, is no failure of ours.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out
        .write_all(text.as_bytes())
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush());
}

/// Runs a client command on a runtime of its own.
pub(crate) fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    client::runtime()?.block_on(work)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_malformed_chat_id_is_refused_with_an_example() {
        let error = Cli::try_parse_from(["sidestick", "chat", "close", "x"]).unwrap_err();
        assert!(error.to_string().contains("cs_0123456789abcdef"), "{error}");
    }
}
