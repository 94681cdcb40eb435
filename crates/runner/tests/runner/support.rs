//! A runner in a thread, and what a server says to it without being one.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::BytesMut;
use runner::{Containment, Options};
use wire::bash::{Until, Wait};
use wire::frame::Message;
use wire::runner::{Answer, Call, FromRunner, Program, ToRunner, VERSION};
use wire::{ChatId, Refusal, Size, TerminalId, limits};

pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A runner in a thread of its own.
pub(crate) struct Running {
    pub(crate) folder: tempfile::TempDir,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Running {
    pub(crate) fn start(idle: Duration) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), idle)
    }

    pub(crate) fn start_in(folder: tempfile::TempDir, idle: Duration) -> Self {
        let options = Options {
            chat: ChatId::from_random(7),
            socket: folder.path().join("runner.sock"),
            jobs: folder.path().join("jobs"),
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

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("runner.sock")
    }

    pub(crate) fn connect(&self) -> Server {
        let mut server = Server::connect(&self.socket());
        server.send(&ToRunner::Hello { version: VERSION });
        let FromRunner::Hello { version, .. } = server.hear().unwrap() else {
            panic!("no hello")
        };
        assert_eq!(version, VERSION);
        server
    }

    /// Waits until the runner has ended of itself.
    pub(crate) fn ended(mut self) {
        self.thread.take().unwrap().join().unwrap().unwrap();
        assert!(
            !self.socket().exists(),
            "the name is free for the next runner"
        );
    }
}

/// What a server does, without being one.
pub(crate) struct Server {
    stream: UnixStream,
    buffer: BytesMut,
    pub(crate) calls: u64,
}

impl Server {
    pub(crate) fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            stream,
            buffer: BytesMut::new(),
            calls: 0,
        }
    }

    pub(crate) fn send(&mut self, message: &ToRunner) {
        self.send_text(&serde_json::to_string(message).unwrap());
    }

    pub(crate) fn send_text(&mut self, text: &str) {
        let mut out = BytesMut::new();
        Message::Text(text.to_owned().into()).encode(&mut out);
        self.stream.write_all(&out).unwrap();
    }

    /// The next message; none at the end of the connection.
    pub(crate) fn hear(&mut self) -> Option<FromRunner> {
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

    pub(crate) fn call(&mut self, call: Call) -> Result<Answer, Refusal> {
        let id = self.start(call);
        self.answer(id)
    }

    /// Sends a call; its number.
    pub(crate) fn start(&mut self, call: Call) -> u64 {
        self.calls += 1;
        self.send(&ToRunner::Call {
            id: self.calls,
            call: Box::new(call),
        });
        self.calls
    }

    /// The answer to a call that was started last; earlier answers are skipped.
    pub(crate) fn answer(&mut self, wanted: u64) -> Result<Answer, Refusal> {
        loop {
            match self.hear().expect("an answer") {
                FromRunner::Reply { id, result } if id == wanted => return result,
                _ => {}
            }
        }
    }

    pub(crate) fn open(&mut self, id: u64, command: &str, until: Until) -> TerminalId {
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

    pub(crate) fn heard_exit_of(&mut self, wanted: TerminalId) {
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

pub(crate) fn shell(command: &str) -> Program {
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
pub(crate) fn leash() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests
        .ancestors()
        .nth(2)
        .unwrap()
        .join("examples/runner-leash")
}
