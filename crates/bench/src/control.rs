//! tmux in control mode: the quickest way to drive it, since commands and output share one open pipe.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::peers::said;
use crate::rows::{COLS, ROWS};

/// A tmux server of our own with one session of one pane, and a control client.
pub(crate) struct Control {
    socket: String,
    client: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    line: Vec<u8>,
    /// The server's process.
    pub(crate) pid: u32,
}

/// Whether the client is told what panes print.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// At once.
    Told,
    /// Not at all.
    Kept,
}

impl Control {
    /// Starts a server whose pane runs a shell script.
    pub(crate) fn start(script: &str, output: Output) -> Result<Self> {
        let socket = format!("sidestick-bench-{}", std::process::id());
        let (cols, rows) = (COLS.to_string(), ROWS.to_string());
        let mut new = tmux(&socket);
        new.args(["new-session", "-d", "-s", "b", "-x", &cols, "-y", &rows]);
        said(new.args(["sh", "-c", script]))?;
        let pid = said(tmux(&socket).args(["display-message", "-p", "#{pid}"]))?.parse()?;
        let mut attach = tmux(&socket);
        attach.args(["-C", "attach-session", "-t", "b"]);
        if output == Output::Kept {
            attach.args(["-f", "no-output"]);
        }
        attach.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut client = attach.spawn()?;
        let (stdin, stdout) = (client.stdin.take(), client.stdout.take());
        let mut control = Self {
            socket,
            client,
            stdin: stdin.context("no pipe")?,
            stdout: BufReader::new(stdout.context("no pipe")?),
            line: Vec::new(),
            pid,
        };
        // The answer to attaching, which is a block like any other.
        control.block()?;
        Ok(control)
    }

    /// Types a line, text and Enter apart.
    pub(crate) fn type_line(&mut self, text: &str) -> Result<()> {
        let commands = format!("send-keys -t b -l {text}\nsend-keys -t b Enter\n");
        Ok(self.stdin.write_all(commands.as_bytes())?)
    }

    /// Reads until the pane has printed the text.
    pub(crate) fn until_printed(&mut self, text: &str) -> Result<()> {
        let mut seen = Vec::new();
        loop {
            let line = self.next()?;
            if line.starts_with(b"%output") {
                seen.extend_from_slice(line);
                if contains(&seen, text) {
                    return Ok(());
                }
            }
        }
    }

    /// Whether the text is on the pane's screen.
    pub(crate) fn shows(&mut self, text: &str) -> Result<bool> {
        self.stdin.write_all(b"capture-pane -p -t b\n")?;
        // Answers of earlier commands may come first; only a captured screen has lines.
        loop {
            let screen = self.block()?;
            if !screen.is_empty() {
                return Ok(contains(&screen, text));
            }
        }
    }

    /// The lines of the next answer.
    fn block(&mut self) -> Result<Vec<u8>> {
        while !self.next()?.starts_with(b"%begin ") {}
        let mut lines = Vec::new();
        loop {
            let line = self.next()?;
            if line.starts_with(b"%end ") {
                return Ok(lines);
            }
            if line.starts_with(b"%error ") {
                bail!("tmux: {}", String::from_utf8_lossy(&lines));
            }
            lines.extend_from_slice(line);
        }
    }

    fn next(&mut self) -> Result<&[u8]> {
        self.line.clear();
        if self.stdout.read_until(b'\n', &mut self.line)? == 0 {
            bail!("tmux has ended");
        }
        Ok(&self.line)
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        // Whatever failed before, no server of ours stays.
        let _ = tmux(&self.socket).arg("kill-server").status();
        let _ = self.client.kill();
        let _ = self.client.wait();
    }
}

/// tmux on a socket of its own, without anybody's settings.
pub(crate) fn tmux(socket: &str) -> Command {
    let mut command = Command::new("tmux");
    command.args(["-L", socket, "-f", "/dev/null"]);
    command.env_remove("TMUX");
    command
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|it| it == text.as_bytes())
}
