//! A home of its own for each test: data, sockets, server and runners lie in one temporary folder.

use std::io::Write;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::{Client, Mcp, Proc, Role, eventually, processes};

/// A temporary home, in which the real program runs.
pub struct Home {
    folder: TempDir,
    program: PathBuf,
}

/// What `sidestick tool` came to.
#[derive(Debug)]
pub struct ToolRun {
    /// Exit status.
    pub status: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl ToolRun {
    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Home {
    /// Makes a home for this program. Nothing is started yet.
    pub fn new(program: &str) -> Self {
        // Short, since a socket's address has room for 107 bytes.
        let folder = tempfile::Builder::new()
            .prefix("ss")
            .tempdir_in("/tmp")
            .unwrap();
        let home = Self {
            folder,
            program: program.into(),
        };
        for path in [home.work(), home.user()] {
            std::fs::create_dir(path).unwrap();
        }
        std::fs::write(home.user().join(".bashrc"), "PS1='$ '\n").unwrap();
        home
    }

    /// The folder that `SIDESTICK_HOME` names.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The working directory of the commands.
    pub fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    /// The home directory of the person whose commands they are.
    pub fn user(&self) -> PathBuf {
        self.path().join("user")
    }

    /// The environment of that person: nothing of the developer's own gets into a test.
    pub fn env(&self) -> Vec<(String, String)> {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut env = vec![
            (
                "SIDESTICK_HOME".to_owned(),
                self.path().display().to_string(),
            ),
            ("HOME".to_owned(), self.user().display().to_string()),
            (
                "PATH".to_owned(),
                format!("/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:{path}"),
            ),
        ];
        let fixed = [
            ("USER", "tester"),
            ("LOGNAME", "tester"),
            ("SHELL", "/bin/bash"),
            ("LANG", "C.UTF-8"),
        ];
        env.extend(fixed.map(|(name, value)| (name.to_owned(), value.to_owned())));
        env
    }

    /// `sidestick` with these arguments, ready to be started.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(args)
            .env_clear()
            .envs(self.env())
            .current_dir(self.work())
            .stdin(Stdio::null());
        command
    }

    /// Runs `sidestick` to its end.
    pub fn run(&self, args: &[&str]) -> ToolRun {
        self.run_with_input(args, "")
    }

    /// Runs `sidestick` to its end with this on its standard input.
    pub fn run_with_input(&self, args: &[&str], input: &str) -> ToolRun {
        let mut command = self.command(args);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The program may have refused its arguments without reading.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        ToolRun {
            status: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// `sidestick tool bash ARGS --json`.
    pub fn tool(&self, args: &Value) -> ToolRun {
        self.run(&["tool", "bash", &args.to_string(), "--json"])
    }

    /// A connection to the server, which is started if none runs, with a chat of its own.
    pub fn client(&self) -> Client {
        self.serve();
        Client::connect(self)
    }

    /// An MCP client of a fresh `sidestick mcp`.
    pub fn mcp(&self) -> Mcp {
        Mcp::start(self.command(&["mcp"]))
    }

    /// Starts the server in the background, unless it runs.
    #[track_caller]
    pub fn serve(&self) {
        let run = self.run(&["serve", "--background"]);
        assert_eq!(run.status, 0, "{run:?}");
    }

    /// The server's socket.
    pub fn socket(&self) -> PathBuf {
        let mut found = None;
        eventually("the server has a socket", || {
            found = socket_under(self.path());
            found.is_some()
        });
        found.unwrap()
    }

    /// Every process that belongs to this home.
    pub fn processes(&self) -> Vec<Proc> {
        processes::of(self.path())
    }

    /// Those of one kind that have not ended.
    pub fn live(&self, role: Role) -> Vec<Proc> {
        let mut all = self.processes();
        all.retain(|it| it.role == role && !it.zombie);
        all
    }

    /// Ended processes that nobody has reaped.
    pub fn zombies(&self) -> Vec<Proc> {
        let mut all = self.processes();
        all.retain(|it| it.zombie);
        all
    }

    /// Ends the server as a crash would, and waits until it is gone.
    pub fn kill_server(&self) {
        let servers = self.live(Role::Server);
        servers.iter().for_each(Proc::kill);
        eventually("the server is gone", || {
            self.live(Role::Server)
                .iter()
                .all(|it| !servers.contains(it))
        });
    }

    /// Kills server and runners; what those started has to go by itself. Gives back what has not.
    fn end(&self) -> Vec<Proc> {
        let known = self.processes();
        for role in [Role::Server, Role::Runner] {
            self.live(role).iter().for_each(Proc::kill);
        }
        let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
        loop {
            let mut left = self.processes();
            left.extend(known.iter().filter(|it| processes::lives(it)).cloned());
            left.retain(|it| !it.zombie);
            if left.is_empty() || end < std::time::Instant::now() {
                return left;
            }
            // A server may have started a runner while we looked.
            left.iter()
                .filter(|it| it.role == Role::Runner)
                .for_each(Proc::kill);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let left = self.end();
        left.iter().for_each(Proc::kill);
        if std::thread::panicking() {
            show_logs(self.path());
        } else {
            assert!(left.is_empty(), "left behind: {left:#?}");
        }
    }
}

/// The only socket that is no runner's.
fn socket_under(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    entries.flatten().find_map(|entry| {
        let kind = entry.file_type().ok()?;
        let path = entry.path();
        if kind.is_socket() {
            return Some(path);
        }
        let own = ["runners", "work", "user"]
            .iter()
            .any(|it| path.ends_with(it));
        if kind.is_dir() && !own {
            socket_under(&path)
        } else {
            None
        }
    })
}

/// What server and runners had to say, for whoever reads why a test failed.
fn show_logs(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            show_logs(&path);
        } else if path.extension().is_some_and(|it| it == "log") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let tail: Vec<&str> = text.lines().rev().take(40).collect();
            println!("--- {}", path.display());
            tail.iter().rev().for_each(|line| println!("{line}"));
        }
    }
}
