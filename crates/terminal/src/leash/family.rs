//! The descendants of a leash, found in `/proc` and signalled without hitting a stranger.
//!
//! A process number is only a number: before a signal goes out, the process is held by a descriptor
//! and asked again who its parent is. A number that was given to a stranger meanwhile is refused.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::BTreeSet;
use std::fs;

/// How often one kill looks for processes that are not stopped yet before it kills what it knows.
const STOP_ROUNDS: usize = 16;

/// One living process below a leash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) pid: Pid,
    /// The session it belongs to.
    pub(crate) session: i32,
}

/// The living descendants of `root`, without it. A process that forks meanwhile may have more.
pub(crate) fn descendants(root: Pid) -> Vec<Member> {
    let (mut known, mut found) = (BTreeSet::from([number(root)]), Vec::new());
    let mut open = vec![number(root)];
    while let Some(parent) = open.pop() {
        for pid in children(parent) {
            if !known.insert(pid) {
                continue;
            }
            open.push(pid);
            if let Some((stat, pid)) = read_stat(pid).zip(Pid::from_raw(pid))
                && stat.alive
            {
                found.push(Member {
                    pid,
                    session: stat.session,
                });
            }
        }
    }
    found
}

/// Sends to each of `members` the signals that `choose` names, in order, as long as it still descends
/// from `root` by way of the others.
pub(crate) fn signal(root: Pid, members: &[Member], choose: impl Fn(&Member) -> &'static [Signal]) {
    let mut parents = BTreeSet::from([number(root)]);
    parents.extend(members.iter().map(|member| number(member.pid)));
    for member in members {
        let Ok(held) = pidfd_open(member.pid, PidfdFlags::empty()) else {
            continue;
        };
        let Some(stat) = read_stat(number(member.pid)) else {
            continue;
        };
        if parents.contains(&stat.parent) {
            for signal in choose(member) {
                // It may be gone, or run as somebody else: neither can be helped from here.
                let _ = pidfd_send_signal(&held, *signal);
            }
        }
    }
}

/// Stops all before it kills any: a process that forks faster than it is killed stands still.
pub(crate) fn kill(root: Pid) {
    let mut members = descendants(root);
    for _ in 0..STOP_ROUNDS {
        signal(root, &members, |_| &[Signal::STOP]);
        let found = descendants(root);
        let all_known = found.iter().all(|member| members.contains(member));
        members = found;
        if all_known {
            break;
        }
    }
    signal(root, &members, |_| &[Signal::KILL]);
}

fn number(pid: Pid) -> i32 {
    pid.as_raw_nonzero().get()
}

/// A child belongs to the thread that made it, so that all threads are asked.
fn children(parent: i32) -> Vec<i32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{parent}/task")) else {
        return Vec::new();
    };
    threads
        .filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("children")).ok())
        .flat_map(|list| {
            list.split_whitespace()
                .filter_map(|pid| pid.parse().ok())
                .collect::<Vec<_>>()
        })
        .collect()
}

#[derive(Debug, PartialEq, Eq)]
struct Stat {
    alive: bool,
    parent: i32,
    session: i32,
}

fn read_stat(pid: i32) -> Option<Stat> {
    parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The name of a process stands in brackets and may hold brackets and spaces: the last one counts.
fn parse_stat(line: &[u8]) -> Option<Stat> {
    let name_end = line.iter().rposition(|byte| *byte == b')')?;
    let fields = std::str::from_utf8(&line[name_end + 1..]).ok()?;
    let mut fields = fields.split_whitespace();
    let alive = !matches!(fields.next()?, "Z" | "X");
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    Some(Stat {
        alive,
        parent,
        session,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_name_with_brackets_and_spaces_does_not_shift_the_fields() {
        let stat = parse_stat(b"12 (a) Z 1 (b) S 7 12 9 34817 12 4194560").unwrap();
        assert_eq!(
            stat,
            Stat {
                alive: true,
                parent: 7,
                session: 9
            }
        );
        assert!(!parse_stat(b"12 (gone) Z 7 12 9 0").unwrap().alive);
        assert_eq!(parse_stat(b"12 (cut) S 7"), None);
    }

    #[test]
    fn a_grandchild_is_found_and_ended_by_its_signal() {
        let script = "sleep 1000 & read end";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let root = Pid::from_child(&child);
        let members = wait_for_one(root);
        signal(root, &members, |_| &[Signal::KILL]);
        while !descendants(root).is_empty() {
            std::thread::yield_now();
        }
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn a_process_that_descends_from_nobody_here_gets_no_signal() {
        let mut stranger = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_child(&stranger);
        // Not a descendant of process 1 by way of these members: its parent is this test.
        let root = Pid::from_raw(1).unwrap();
        signal(root, &[Member { pid, session: 0 }], |_| &[Signal::KILL]);
        drop(stranger.stdin.take());
        assert_eq!(stranger.wait().unwrap().code(), Some(0));
    }

    fn wait_for_one(root: Pid) -> Vec<Member> {
        loop {
            let members = descendants(root);
            if !members.is_empty() {
                return members;
            }
            std::thread::yield_now();
        }
    }
}
