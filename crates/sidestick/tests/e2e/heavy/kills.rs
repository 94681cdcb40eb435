//! The server is killed again and again while twenty terminals print: no viewer misses a byte.

use std::fmt::Write;
use std::path::Path;

use serde_json::json;
use sha2::{Digest, Sha256};
use testkit::{Client, Pane, Role, eventually, program, require, soak};

use crate::home;

const TERMINALS: usize = 20;

#[test]
fn killing_the_server_amid_output_loses_no_byte_and_no_exit() {
    if !require("python3") {
        return;
    }
    let home = home();
    let mut client = home.client();
    let stop = home.work().join("stop");
    let ids = open_all(&client, &stop);
    let mut streams = vec![Vec::new(); TERMINALS];
    let (kills, mut amid_output) = (soak(10, 50), 0);
    for round in 0..kills {
        let offsets: Vec<u64> = streams.iter().map(|it| it.len() as u64).collect();
        let panes = watch_all(&client, &ids, &streams);
        // Each time at another place in the output.
        let enough = 2_000 + 731 * (round as u64 % 5);
        eventually("the viewers get output", || {
            panes
                .iter()
                .zip(&offsets)
                .all(|(it, at)| it.offset() > at + enough)
        });
        home.kill_server();
        for (stream, pane) in streams.iter_mut().zip(&panes) {
            take(stream, pane);
        }
        amid_output += usize::from(all_print(&home));
        client = client.again(&home);
    }
    let panes = watch_all(&client, &ids, &streams);
    std::fs::write(&stop, "").unwrap();
    panes.iter().for_each(Pane::wait_end);
    for (n, pane) in panes.iter().enumerate() {
        take(&mut streams[n], pane);
        finish(&client, n, &ids[n], &streams[n]);
    }
    println!(
        "{kills} kills, {amid_output} amid output, {} bytes",
        streams.iter().map(Vec::len).sum::<usize>()
    );
    assert!(amid_output > 0, "no kill fell into output");
    assert_eq!(home.live(Role::Runner).len(), 1);
}

/// Starts every printer; the ids of their terminals.
fn open_all(client: &Client, stop: &Path) -> Vec<String> {
    let script = program("printer.py");
    let start = |n: usize| {
        let command = format!(
            "exec python3 {} t{n:02} {} {}",
            script.display(),
            stop.display(),
            n % 7
        );
        client.start_bash(
            json!({"action": "open", "command": command, "wait_for": format!("t{n:02}"),
            "wait_timeout_ms": 60_000}),
        )
    };
    let opens: Vec<_> = (0..TERMINALS).map(start).collect();
    opens
        .into_iter()
        .map(|it| client.bash_answer(it).unwrap().id())
        .collect()
}

/// Watches each terminal from where its stream was broken off.
fn watch_all<'a>(client: &'a Client, ids: &[String], streams: &[Vec<u8>]) -> Vec<Pane<'a>> {
    let pairs = ids.iter().zip(streams);
    pairs
        .map(|(id, got)| client.attach(id, Some(got.len() as u64)))
        .collect()
}

/// Adds what the viewer has got.
fn take(stream: &mut Vec<u8>, pane: &Pane<'_>) {
    let (begin, bytes) = pane.stream();
    assert_eq!(pane.repaints(), 0, "the stream was broken off");
    assert_eq!(begin, stream.len() as u64);
    stream.extend(bytes);
}

/// All programs are at it. None rests longer than a few hundredths of a second, so that a kill now falls into output.
fn all_print(home: &testkit::Home) -> bool {
    let printing = |it: &testkit::Proc| {
        it.role == Role::Other && it.argv.iter().any(|it| it.ends_with("printer.py"))
    };
    home.processes().iter().filter(|it| printing(it)).count() == TERMINALS
}

/// Compares with what the program says it printed.
fn finish(client: &Client, n: usize, id: &str, stream: &[u8]) {
    let reply = client.bash(json!({"action": "wait", "terminal_id": id, "wait_for_exit": true}));
    assert_eq!(
        reply.details["process"]["exit_code"],
        n % 7,
        "{}",
        reply.text
    );
    let text = String::from_utf8_lossy(stream);
    let last = text.trim_end().rsplit(' ').next().unwrap().parse().unwrap();
    assert_eq!(
        Sha256::digest(stream),
        Sha256::digest(expected(n, last)),
        "terminal {n} differs"
    );
}

fn expected(n: usize, last: usize) -> String {
    let mut all = String::new();
    for number in 0..last {
        write!(all, "t{n:02} {number:08} the quick brown fox\r\n").unwrap();
    }
    all + &format!("t{n:02} ended after {last}\r\n")
}
