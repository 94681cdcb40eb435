//! The processes of one home, found in `/proc`: every one whose environment or arguments name it.
//!
//! So a program is found even when everything that started it is gone, which is just what a test looks for.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

/// A process that was there a moment ago.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proc {
    /// Its id.
    pub pid: u32,
    /// Its parent.
    pub parent: u32,
    /// What it is to us.
    pub role: Role,
    /// Its arguments.
    pub argv: Vec<String>,
    /// It has ended and was not reaped.
    pub zombie: bool,
}

/// What a process is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `sidestick serve`.
    Server,
    /// One chat's runner.
    Runner,
    /// The parent of one program.
    Leash,
    /// A program in a terminal, or a client.
    Other,
}

impl Proc {
    /// Asks it to end, as a service manager does.
    pub fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends it without asking.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid.cast_signed()) {
            // It may have ended by itself meanwhile.
            let _ = kill_process(pid, signal);
        }
    }
}

/// Every process that names the folder, in the order of their ids.
pub(crate) fn of(home: &Path) -> Vec<Proc> {
    let needle = home.to_str().unwrap().as_bytes();
    let mut found: Vec<Proc> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid| look(pid, needle))
        .collect();
    found.sort_by_key(|it| it.pid);
    found
}

/// The children of a process, zombies too: a zombie has neither arguments nor environment to be known by.
pub(crate) fn children(parent: u32) -> Vec<Proc> {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid| look(pid, b""))
        .filter(|it| it.parent == parent)
        .collect()
}

/// Reads one process; none when it is another's or has just gone.
fn look(pid: u32, needle: &[u8]) -> Option<Proc> {
    let read = |file: &str| std::fs::read(format!("/proc/{pid}/{file}"));
    let (arguments, environment) = (read("cmdline").ok()?, read("environ").unwrap_or_default());
    let named =
        |text: &[u8]| needle.is_empty() || text.windows(needle.len()).any(|it| it == needle);
    if !named(&arguments) && !named(&environment) {
        return None;
    }
    let argv: Vec<String> = arguments
        .split(|it| *it == 0)
        .map(|it| String::from_utf8_lossy(it).into_owned())
        .collect();
    let stat = String::from_utf8_lossy(&read("stat").ok()?).into_owned();
    // The name in brackets may hold anything, brackets and blanks too.
    let mut after = stat.rsplit_once(')')?.1.split_whitespace();
    let zombie = after.next()? == "Z";
    Some(Proc {
        pid,
        parent: after.next()?.parse().ok()?,
        role: role(&argv),
        argv,
        zombie,
    })
}

fn role(argv: &[String]) -> Role {
    match argv.get(1).map(String::as_str) {
        Some("serve") if !argv.iter().any(|it| it == "--background") => Role::Server,
        Some("runner") => Role::Runner,
        Some("leash") => Role::Leash,
        _ => Role::Other,
    }
}
