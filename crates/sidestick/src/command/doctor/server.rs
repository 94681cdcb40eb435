//! The server and the runners of this instance, as far as they run. None is started.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::timeout;
use wire::rpc::{ServerInfo, ServerInfoReply};

use super::report::Finding;
use crate::client::{self, Connection};
use crate::paths::Paths;

/// A server answers within milliseconds; one that is stopped never does.
const ANSWER: Duration = Duration::from_secs(3);

/// What became of the question to the server.
#[derive(Debug)]
enum Answer {
    /// Nobody listens.
    None,
    /// It listens, and that went wrong.
    Failed(String),
    /// It said who it is; and whether its program is still the one on the disk.
    Known(ServerInfoReply, Program),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    OnDisk,
    Replaced,
}

/// Looks at both.
pub(super) async fn examine(paths: &Paths) -> Vec<Finding> {
    let answer = timeout(ANSWER, ask(&paths.socket)).await;
    let silent = || Answer::Failed(format!("it says nothing for {} s", ANSWER.as_secs()));
    vec![
        server(answer.unwrap_or_else(|_| silent())),
        runners(&chats(&paths.runners)),
    ]
}

fn server(answer: Answer) -> Finding {
    const NAME: &str = "server";
    let own = env!("CARGO_PKG_VERSION");
    let restart = |pid: u32| {
        format!("end it with `kill {pid}`: terminals go on, and the next command starts a new one")
    };
    match answer {
        Answer::None => Finding::ok(NAME, "none runs: the first command starts one"),
        Answer::Failed(why) => Finding::problem(
            NAME,
            format!("one listens but does not answer: {why}"),
            "look into server.log in the data folder, and end the process that server.lock names",
        ),
        Answer::Known(it, _) if it.version != own => Finding::note(
            NAME,
            format!(
                "version {}, process {}; this program is {own}",
                it.version, it.pid
            ),
            restart(it.pid),
        ),
        Answer::Known(it, Program::Replaced) => Finding::note(
            NAME,
            format!(
                "version {own}, process {}; its file was replaced since",
                it.pid
            ),
            restart(it.pid),
        ),
        Answer::Known(it, Program::OnDisk) => {
            Finding::ok(NAME, format!("version {own}, process {}", it.pid))
        }
    }
}

fn runners(chats: &[String]) -> Finding {
    const NAME: &str = "runners";
    match chats.len() {
        0 => Finding::ok(NAME, "none runs"),
        1 => Finding::ok(NAME, format!("1 runs, for {}", chats.join(", "))),
        more => Finding::ok(NAME, format!("{more} run, for {}", chats.join(", "))),
    }
}

async fn ask(socket: &Path) -> Answer {
    let stream = match UnixStream::connect(socket).await {
        Ok(stream) => stream,
        Err(error) => {
            return match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Answer::None,
                // Its path is too long for a socket, so that nobody can listen there.
                io::ErrorKind::InvalidInput => Answer::None,
                _ => Answer::Failed(error.to_string()),
            };
        }
    };
    if let Err(error) = client::verify(&stream) {
        return Answer::Failed(error.to_string());
    }
    match Connection::new(stream).ask(&ServerInfo {}).await {
        Ok(reply) => {
            let program = program(reply.pid);
            Answer::Known(reply, program)
        }
        Err(error) => Answer::Failed(error.to_string()),
    }
}

fn program(pid: u32) -> Program {
    match std::fs::read_link(format!("/proc/{pid}/exe")) {
        Ok(file) if file.to_string_lossy().ends_with(" (deleted)") => Program::Replaced,
        Ok(_) | Err(_) => Program::OnDisk,
    }
}

/// The chats whose runners run. A runner that is asked takes the asker for its server, so that they are only looked at.
fn chats(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = entries.filter_map(|it| std::fs::read(it.path().join("cmdline")).ok());
    let mut chats: Vec<_> = lines.filter_map(|line| chat(&line, folder)).collect();
    chats.sort();
    chats
}

/// The chat of a runner's command line.
fn chat(line: &[u8], folder: &Path) -> Option<String> {
    let line = String::from_utf8_lossy(line);
    let words: Vec<_> = line.split('\0').collect();
    let after = |name: &str| {
        let at = words.iter().position(|it| *it == name)?;
        words.get(at + 1)
    };
    let ours = *words.get(1)? == "runner" && Path::new(after("--socket")?).starts_with(folder);
    ours.then(|| after("--chat").map(|it| (*it).to_owned()))?
}

#[cfg(test)]
mod tests {
    use super::super::report::Level;
    use super::*;

    fn known(version: &str) -> ServerInfoReply {
        ServerInfoReply {
            version: version.to_owned(),
            pid: 7,
        }
    }

    #[test]
    fn a_server_of_another_version_is_noted_with_how_to_end_it() {
        let own = env!("CARGO_PKG_VERSION");
        assert_eq!(server(Answer::None).level, Level::Ok);
        assert_eq!(
            server(Answer::Known(known(own), Program::OnDisk)).level,
            Level::Ok
        );
        for old in [
            Answer::Known(known("0.0.1"), Program::OnDisk),
            Answer::Known(known(own), Program::Replaced),
        ] {
            let finding = server(old);
            assert_eq!(finding.level, Level::Note);
            assert!(finding.advice.unwrap().contains("kill 7"));
        }
        let silent = server(Answer::Failed("silence".to_owned()));
        assert_eq!(silent.level, Level::Problem);
    }

    #[test]
    fn runners_are_known_by_their_command_line_and_this_instances_folder() {
        let line = b"sidestick\0runner\0--chat\0cs_1\0--socket\0/d/runners/cs_1.sock\0";
        assert_eq!(chat(line, Path::new("/d/runners")).unwrap(), "cs_1");
        assert_eq!(chat(line, Path::new("/e/runners")), None);
        assert_eq!(chat(b"sidestick\0serve\0", Path::new("/d")), None);
        assert_eq!(chat(b"", Path::new("/d")), None);
        assert_eq!(runners(&["cs_1".to_owned()]).text, "1 runs, for cs_1");
    }
}
