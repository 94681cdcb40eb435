//! What two hundred terminals cost in which nothing happens.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;
use testkit::Role;

use super::home;
use crate::cpu;
use crate::options::Options;
use crate::peers::Peers;
use crate::table::{Bound, Line};

/// Chats, each with a runner of its own.
const CHATS: usize = 25;
/// Terminals in each.
const EACH: usize = 8;
/// What starting them all leaves to be done is not counted.
const REST: Duration = Duration::from_secs(3);

pub(super) fn row(options: &Options, _: &Peers) -> Result<Vec<Line>> {
    let home = home(options)?;
    let open = json!({"action": "open", "command": "echo ready; exec cat", "wait_for": "ready"});
    let mut clients = Vec::new();
    for _ in 0..CHATS {
        let client = home.client();
        for _ in 0..EACH {
            client.bash(open.clone());
        }
        clients.push(client);
    }
    let processes: Vec<u32> = [Role::Server, Role::Runner, Role::Leash]
        .into_iter()
        .flat_map(|role| home.live(role))
        .map(|it| it.pid)
        .collect();
    ensure!(
        processes.len() == 1 + CHATS + CHATS * EACH,
        "{} processes hold the terminals",
        processes.len()
    );
    std::thread::sleep(REST);
    let (start, before) = (Instant::now(), cpu::used(&processes)?);
    std::thread::sleep(
        options
            .length
            .of(Duration::from_secs(30), Duration::from_secs(5)),
    );
    let used = cpu::used(&processes)? - before;
    let percent = 100.0 * used.as_secs_f64() / start.elapsed().as_secs_f64();
    Ok(vec![Line {
        what: format!("{} idle terminals in {CHATS} chats", CHATS * EACH),
        ours: format!("{} ms in {} s", used.as_millis(), start.elapsed().as_secs()),
        peer: String::new(),
        measured: percent,
        bound: Bound::AtMost(1.0),
        unit: " % of a core",
    }])
}
