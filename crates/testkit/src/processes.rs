//! The processes of one home, found in `/proc`: every one whose environment or arguments name it, and their families.
//!
//! So a program is found even when everything that started it is gone, which is just what a test looks for.

use std::collections::BTreeSet;
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

/// Every process that names the folder, its descendants, and leashes of programs that name it. By their ids.
///
/// A leash has an environment of its own; it is known by the runner above it or the program below it.
pub(crate) fn of(home: &Path) -> Vec<Proc> {
    let needle = home.to_str().unwrap().as_bytes();
    let all = everyone(needle);
    let mut ours: BTreeSet<u32> = all.iter().filter(|it| it.1).map(|it| it.0.pid).collect();
    let above = |it: &&(Proc, bool)| it.1;
    ours.extend(
        all.iter()
            .filter(above)
            .map(|it| it.0.parent)
            .filter(|parent| {
                all.iter()
                    .any(|it| it.0.pid == *parent && it.0.role == Role::Leash)
            }),
    );
    loop {
        let below = all
            .iter()
            .filter(|it| ours.contains(&it.0.parent))
            .map(|it| it.0.pid);
        let below: Vec<u32> = below.filter(|it| !ours.contains(it)).collect();
        if below.is_empty() {
            break;
        }
        ours.extend(below);
    }
    let mut found: Vec<Proc> = all.into_iter().map(|it| it.0).collect();
    found.retain(|it| ours.contains(&it.pid));
    found
}

/// Whether the process of that id is still the same one.
pub(crate) fn lives(proc: &Proc) -> bool {
    look(proc.pid, b"").is_some_and(|it| it.0.argv == proc.argv && !it.0.zombie)
}

/// All processes of the machine by their ids, and whether each names what is looked for.
fn everyone(needle: &[u8]) -> Vec<(Proc, bool)> {
    let mut found: Vec<(Proc, bool)> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid| look(pid, needle))
        .collect();
    found.sort_by_key(|it| it.0.pid);
    found
}

/// Reads one process; none when it has just gone.
fn look(pid: u32, needle: &[u8]) -> Option<(Proc, bool)> {
    let read = |file: &str| std::fs::read(format!("/proc/{pid}/{file}"));
    let (arguments, environment) = (read("cmdline").ok()?, read("environ").unwrap_or_default());
    let names =
        |text: &[u8]| !needle.is_empty() && text.windows(needle.len()).any(|it| it == needle);
    let named = names(&arguments) || names(&environment);
    let argv: Vec<String> = arguments
        .split(|it| *it == 0)
        .map(|it| String::from_utf8_lossy(it).into_owned())
        .collect();
    let stat = String::from_utf8_lossy(&read("stat").ok()?).into_owned();
    // The name in brackets may hold anything, brackets and blanks too.
    let mut after = stat.rsplit_once(')')?.1.split_whitespace();
    let zombie = after.next()? == "Z";
    let parent = after.next()?.parse().ok()?;
    Some((
        Proc {
            pid,
            parent,
            role: role(&argv),
            argv,
            zombie,
        },
        named,
    ))
}

fn role(argv: &[String]) -> Role {
    match argv.get(1).map(String::as_str) {
        Some("serve") if !argv.iter().any(|it| it == "--background") => Role::Server,
        Some("runner") => Role::Runner,
        Some("leash") => Role::Leash,
        _ => Role::Other,
    }
}
