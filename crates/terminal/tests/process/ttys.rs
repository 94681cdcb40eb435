//! What a terminal's master takes and tells while its program runs.

use crate::support::*;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use terminal::process::Exit;
use terminal::pty::{Reopened, program_name};
use terminal::size::Size;
use terminal::stream::{Read, Write};
use terminal::tty::Consumed;

#[tokio::test]
async fn b01_text_counts_as_consumed_only_when_the_program_has_read_it() {
    let (_dir, gate) = gate();
    let script = format!(
        "stty raw -echo; echo READY; read go <'{}'; dd bs=99 count=1 2>&-; echo :; dd bs=99 count=1 2>&-; echo .",
        gate.display()
    );
    let (_process, master) = begin(sh(&script)).await;
    read_until(&master, "READY").await;
    assert_eq!(master.look().unwrap().consumed, Consumed::Yes);
    write(&master, b"hello").await;
    // Also right after the write, while the bytes are on their way through the kernel.
    for _ in 0..200 {
        assert_eq!(master.look().unwrap().consumed, Consumed::No);
    }
    let _open = open(&gate);
    until(|| master.look().unwrap().consumed == Consumed::Yes).await;
    write(&master, b"\r").await;
    assert_eq!(
        read_until(&master, ".").await.replace('\n', ""),
        "hello:\r."
    );
}

#[tokio::test]
async fn b11_while_the_kernel_edits_lines_nobody_can_tell_what_was_read() {
    let (_process, master) = begin(sh("echo READY; read line")).await;
    read_until(&master, "READY").await;
    let state = master.look().unwrap();
    assert!(state.canonical && state.echo && !state.output_stopped);
    assert_eq!(master.look().unwrap().consumed, Consumed::Unknown);
}

#[tokio::test]
async fn b12_a_program_that_does_not_read_stops_neither_us_nor_other_terminals() {
    let (deaf, master) = begin(sh("stty raw -echo; echo READY; exec sleep 1000")).await;
    read_until(&master, "READY").await;
    let text = vec![b'x'; 1024 * 1024];
    let mut sent = 0;
    while let Write::Bytes(length) = master.try_write(&text[sent..]) {
        sent += length;
        assert!(sent < text.len(), "it has room for everything");
    }
    assert!(sent > 0);
    let (mut other, screen) = begin(sh("read line; echo \"got $line\"")).await;
    write(&screen, b"it\n").await;
    assert!(read_to_exit(&mut other, &screen).await.0.contains("got it"));
    drop(deaf);
}

#[tokio::test]
async fn b15_output_that_is_stopped_with_ctrl_s_is_seen_to_stand_still() {
    let (_process, master) = begin(sh("echo READY; read line; echo on; read line")).await;
    read_until(&master, "READY").await;
    write(&master, b"\x13").await;
    until(|| master.look().unwrap().output_stopped).await;
    write(&master, b"\x11").await;
    until(|| !master.look().unwrap().output_stopped).await;
    write(&master, b"\n").await;
    read_until(&master, "on").await;
}

#[tokio::test]
async fn b51_a_resize_around_the_exit_is_no_error() {
    let size = |n: u16| Size::new(80 + n, 24).unwrap();
    let (mut process, master) = begin(sh(
        "trap 'stty size; exit' WINCH; echo READY; while :; do sleep 0.01; done",
    ))
    .await;
    read_until(&master, "READY").await;
    master.resize(size(0));
    let (output, exit) = read_to_exit(&mut process, &master).await;
    assert_eq!((output.as_str(), exit), ("24 80\r\n", Exit::Code(0)));
    (1..20).for_each(|n| master.resize(size(n)));
}

#[tokio::test]
async fn b56_a_password_prompt_is_canonical_without_echo() {
    let (process, master) = begin(sh("stty -echo; echo READY; read secret")).await;
    read_until(&master, "READY").await;
    let state = master.look().unwrap();
    assert!(state.canonical && !state.echo);
    assert_eq!(state.foreground, Some(process.pid()));
    assert_eq!(program_name(process.pid()).as_deref(), Some("sh"));
}

#[tokio::test]
async fn a_terminal_that_was_let_go_can_be_read_again_when_it_is_reopened() {
    let (_dir, gate) = gate();
    let script = format!(
        "exec 0<&- 1>&- 2>&-; read go <'{}'; echo again >/dev/tty; exec sleep 1000 </dev/tty",
        gate.display()
    );
    let (_process, mut master) = begin(sh(&script)).await;
    let mut buffer = [0; 64];
    assert_eq!(within(master.read(&mut buffer)).await, Read::Closed);
    master = match master.reopened().unwrap() {
        Reopened::No(master) => master,
        Reopened::Yes(_) => panic!("nobody can have"),
    };
    let _open = open(&gate);
    let master = within(async {
        loop {
            match master.reopened().unwrap() {
                Reopened::Yes(master) => return master,
                Reopened::No(still) => master = still,
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
    read_until(&master, "again").await;
}

/// A pipe by name, at which a script waits for a line from the test.
fn gate() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let gate = dir.path().join("gate");
    mknodat(CWD, &gate, FileType::Fifo, Mode::RWXU, 0).unwrap();
    (dir, gate)
}

/// Lets the script go on. Opened for both directions, because that waits for nobody; the line is
/// there for as long as the file is.
fn open(gate: &Path) -> File {
    let mut file = File::options().read(true).write(true).open(gate).unwrap();
    file.write_all(b"\n").unwrap();
    file
}
