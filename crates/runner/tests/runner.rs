//! A runner at the other end of its socket, on real programs.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::BytesMut;
use runner::{Containment, Options};
use wire::bash::{Act, Action, Until, Wait};
use wire::frame::Message;
use wire::runner::{Answer, Call, FromRunner, Program, ToRunner, VERSION};
use wire::{ChatId, Kind, Refusal, Size, TerminalId, limits};

const PATIENCE: Duration = Duration::from_secs(60);

/// A runner in a thread of its own.
struct Running {
    folder: tempfile::TempDir,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Running {
    fn start(idle: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = Options {
            chat: ChatId::from_random(7),
            socket: folder.path().join("runner.sock"),
            containment: Containment::Leash,
            leash: leash(),
            idle,
        };
        let (mut told, ready) = UnixStream::pair().unwrap();
        let thread = std::thread::spawn(move || runner::run(options, ready));
        std::io::Read::read_exact(&mut told, &mut [0; 6]).unwrap();
        Self {
            folder,
            thread: Some(thread),
        }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("runner.sock")
    }

    fn connect(&self) -> Server {
        let mut server = Server::connect(&self.socket());
        server.send(&ToRunner::Hello { version: VERSION });
        let FromRunner::Hello { version, .. } = server.hear().unwrap() else {
            panic!("no hello")
        };
        assert_eq!(version, VERSION);
        server
    }

    /// Waits until the runner has ended of itself.
    fn ended(mut self) {
        self.thread.take().unwrap().join().unwrap().unwrap();
        assert!(
            !self.socket().exists(),
            "the name is free for the next runner"
        );
    }
}

/// What a server does, without being one.
struct Server {
    stream: UnixStream,
    buffer: BytesMut,
    calls: u64,
}

impl Server {
    fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            stream,
            buffer: BytesMut::new(),
            calls: 0,
        }
    }

    fn send(&mut self, message: &ToRunner) {
        let mut out = BytesMut::new();
        Message::Text(serde_json::to_vec(message).unwrap().into()).encode(&mut out);
        self.stream.write_all(&out).unwrap();
    }

    /// The next message; none at the end of the connection.
    fn hear(&mut self) -> Option<FromRunner> {
        loop {
            match Message::decode(&mut self.buffer, limits::RUNNER_FRAME_BYTES).unwrap() {
                Some(Message::Text(text)) => return Some(serde_json::from_slice(&text).unwrap()),
                Some(Message::Binary(_)) => continue,
                None => {}
            }
            let mut bytes = [0; 4096];
            match std::io::Read::read(&mut self.stream, &mut bytes).unwrap() {
                0 => return None,
                length => self.buffer.extend_from_slice(&bytes[..length]),
            }
        }
    }

    fn call(&mut self, call: Call) -> Result<Answer, Refusal> {
        self.calls += 1;
        self.send(&ToRunner::Call {
            id: self.calls,
            call: Box::new(call),
        });
        loop {
            match self.hear().expect("an answer") {
                FromRunner::Reply { id, result } if id == self.calls => return result,
                _ => {}
            }
        }
    }

    fn open(&mut self, id: u64, command: &str, until: Until) -> TerminalId {
        let terminal = TerminalId::from_random(id);
        let wait = Wait {
            until,
            timeout: Some(Duration::from_secs(30)),
        };
        let size = Size { cols: 80, rows: 24 };
        self.call(Call::Open {
            terminal,
            program: shell(command),
            size,
            wait,
        })
        .unwrap();
        terminal
    }

    fn heard_exit_of(&mut self, wanted: TerminalId) {
        loop {
            match self.hear().expect("an exit") {
                FromRunner::Exited(exited) if exited.terminal == wanted => {
                    assert_eq!(exited.exit_code, Some(3));
                    return;
                }
                _ => {}
            }
        }
    }
}

#[test]
fn a_runner_without_terminals_and_server_ends_when_it_has_been_idle() {
    let runner = Running::start(Duration::from_millis(300));
    let server = runner.connect();
    drop(server);
    runner.ended();
}

#[test]
fn a_terminal_keeps_its_runner_alive_and_the_end_of_it_lets_it_go() {
    let runner = Running::start(Duration::from_millis(200));
    let mut server = runner.connect();
    let id = server.open(1, "read line; exit 3", Until::Quiet);
    drop(server);
    // Far longer than the idle time, seen from the terminal's side: it answers a later server.
    let mut server = runner.connect();
    let wait = Wait {
        until: Until::Exit,
        timeout: None,
    };
    let act = Act::Input {
        action: Action::Keys,
        text: String::new(),
        keys: vec!["Enter".into()],
        wait,
    };
    let Answer::Details(details) = server.call(Call::Act { terminal: id, act }).unwrap() else {
        panic!()
    };
    assert_eq!(details.process.exit_code, Some(3));
    drop(server);
    runner.ended();
}

#[test]
fn an_exit_is_told_to_each_new_server_until_one_has_stored_it() {
    let runner = Running::start(PATIENCE);
    let mut server = runner.connect();
    let id = server.open(1, "exit 3", Until::Exit);
    drop(server);
    for _ in 0..2 {
        runner.connect().heard_exit_of(id);
    }
    let mut server = runner.connect();
    server.heard_exit_of(id);
    server.send(&ToRunner::ExitsStored {
        terminals: vec![id],
    });
    server.call(Call::List).unwrap();
    drop(server);
    let mut server = runner.connect();
    let Answer::Terminals { terminals } = server.call(Call::List).unwrap() else {
        panic!()
    };
    // The list is the first that this server hears: no exit came before it.
    assert_eq!(server.calls, 1);
    assert_eq!(terminals.len(), 1, "the final screen is still there");
    assert_eq!(server.call(Call::End), Ok(Answer::Done));
    runner.ended();
}

#[test]
fn the_end_leaves_no_process_behind() {
    let runner = Running::start(PATIENCE);
    let mut server = runner.connect();
    let marker = runner.folder.path().join("alive");
    let command = format!(
        "(trap '' HUP; setsid sleep 300) & touch {}; sleep 300",
        marker.display()
    );
    server.open(1, &command, Until::Quiet);
    let program = shell("(setsid sleep 300) & echo started");
    let Answer::Run(run) = server
        .call(Call::Run {
            program,
            timeout: PATIENCE,
        })
        .unwrap()
    else {
        panic!()
    };
    assert_eq!(run.output.text, "started\n");
    assert_eq!(run.process.background_processes, 1);
    let Answer::Terminals { terminals } = server.call(Call::List).unwrap() else {
        panic!()
    };
    let pids: Vec<u32> = terminals.iter().flat_map(|it| it.pids.clone()).collect();
    assert_eq!(pids.len(), 2);
    assert_eq!(server.call(Call::End), Ok(Answer::Done));
    for pid in pids {
        assert!(
            !Path::new(&format!("/proc/{pid}")).exists(),
            "{pid} is left"
        );
    }
    runner.ended();
}

#[test]
fn a_newer_connection_takes_over_and_an_unknown_version_is_turned_away() {
    let runner = Running::start(PATIENCE);
    let mut first = runner.connect();
    let mut second = runner.connect();
    assert_eq!(first.hear(), None);
    second.call(Call::List).unwrap();
    let mut foreign = Server::connect(&runner.socket());
    foreign.send(&ToRunner::Hello {
        version: VERSION + 7,
    });
    assert!(matches!(foreign.hear(), Some(FromRunner::Hello { .. })));
    assert_eq!(foreign.hear(), None);
    let mut last = runner.connect();
    last.call(Call::End).unwrap();
    runner.ended();
}

#[test]
fn a_plain_command_is_ended_at_its_time_with_all_it_started() {
    let runner = Running::start(PATIENCE);
    let mut server = runner.connect();
    let program = shell("echo before; sleep 300 & wait");
    let timeout = Duration::from_millis(500);
    let Answer::Run(run) = server.call(Call::Run { program, timeout }).unwrap() else {
        panic!()
    };
    assert!(run.timed_out);
    assert_eq!(run.output.text, "before\n");
    assert_eq!(server.call(Call::End), Ok(Answer::Done));
    runner.ended();
}

#[test]
fn what_cannot_be_started_is_refused_with_what_to_do() {
    let runner = Running::start(PATIENCE);
    let mut server = runner.connect();
    let mut nowhere = shell("true");
    nowhere.cwd = "/nowhere/at/all".into();
    let mut no_shell = shell("true");
    no_shell.argv[0] = "/nowhere/sh".into();
    for (program, kind) in [
        (nowhere, Kind::InvalidParams),
        (no_shell, Kind::ProgramNotFound),
    ] {
        let wait = Wait {
            until: Until::Quiet,
            timeout: None,
        };
        let (terminal, size) = (TerminalId::from_random(1), Size { cols: 80, rows: 24 });
        let refusal = server
            .call(Call::Open {
                terminal,
                program,
                size,
                wait,
            })
            .unwrap_err();
        assert_eq!(refusal.message, kind);
        assert!(refusal.hint.is_some(), "{refusal}");
    }
    server.call(Call::End).unwrap();
    runner.ended();
}

fn shell(command: &str) -> Program {
    Program {
        argv: ["/bin/sh", "-c", command].map(str::to_owned).to_vec(),
        title: command.to_owned(),
        cwd: "/".into(),
        env: vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("TERM".into(), "xterm-256color".into()),
        ],
    }
}

/// The example that is a leash and nothing else lies beside the tests.
fn leash() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests
        .ancestors()
        .nth(2)
        .unwrap()
        .join("examples/runner-leash")
}
