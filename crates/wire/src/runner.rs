//! What a server and a runner say to each other over their Unix socket, as
//! [`crate::frame::Message`]s.
//!
//! Text messages are the JSON of [`ToRunner`] and [`FromRunner`]. Binary messages are output under
//! way to a viewer ([`Output`]) or a person's keystrokes ([`Keystrokes`]). Fields that a reader
//! does not know are ignored, so that a server speaks with runners of the version before; the first
//! message of each side carries its version.

use std::path::PathBuf;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize};

use crate::bash::{Act, Details, EndedBy, Listed, RunDetails, Wait};
use crate::jobs::{JobState, LogDetails, LogPart};
use crate::{ChatId, JobId, Refusal, Size, TerminalId};

/// Version of the messages. A reader takes its own and the one before.
pub const VERSION: u32 = 1;

/// From server to runner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum ToRunner {
    /// Opens the conversation. A newer connection takes the runner over from an older one.
    Hello {
        /// The server's [`VERSION`].
        version: u32,
    },
    /// A call; its answer carries the same number.
    Call {
        /// Chosen by the server, unique on this connection.
        id: u64,
        /// What to do.
        call: Box<Call>,
    },
    /// The caller of a call went away. Input that was sent stays sent; nothing is closed.
    Cancel {
        /// Which call.
        id: u64,
    },
    /// A viewer took this many bytes of its output; keyframes count too.
    Took {
        /// Which viewer.
        viewer: u64,
        /// Bytes since the last such message.
        bytes: u64,
    },
    /// The server has stored these exits; the runner need not tell them again.
    ExitsStored {
        /// Of which terminals.
        terminals: Vec<TerminalId>,
    },
}

/// What a server asks of a runner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case")]
pub enum Call {
    /// Open a terminal. Answered with [`Answer::Details`].
    Open {
        /// Its id, already in the store.
        terminal: TerminalId,
        /// What runs in it.
        program: Program,
        /// Its size.
        size: Size,
        /// What to wait for before answering.
        wait: Wait,
    },
    /// Run a program without a terminal. Answered with [`Answer::Run`].
    Run {
        /// What runs.
        program: Program,
        /// It is ended after this.
        timeout: Duration,
        /// What becomes of it when its call may last no longer; none leaves the call open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outlast: Option<Outlast>,
    },
    /// Start a program as a job. Answered with [`Answer::Job`] once it runs.
    Background {
        /// Its id.
        job: JobId,
        /// What runs.
        program: Program,
    },
    /// Poll a condition as a job. Answered with [`Answer::Job`] when it is over.
    Until {
        /// Its id.
        job: JobId,
        /// The condition, which holds when this exits with 0.
        program: Program,
        /// From the end of one poll to the start of the next.
        interval: Duration,
        /// The polling ends after this.
        timeout: Duration,
        /// The answer comes after this at the latest; the polling goes on.
        within: Option<Duration>,
    },
    /// All jobs that the runner remembers. Answered with [`Answer::Jobs`].
    Jobs,
    /// Read the output of a job. Answered with [`Answer::Log`].
    Log {
        /// Which job.
        job: JobId,
        /// Which lines.
        part: LogPart,
    },
    /// Wait for the end of a job. Answered with [`Answer::Job`].
    WaitJob {
        /// Which job.
        job: JobId,
        /// The answer comes after this at the latest.
        timeout: Duration,
    },
    /// End a job. Answered with [`Answer::Job`] when nothing of it is left.
    StopJob {
        /// Which job.
        job: JobId,
    },
    /// Act on a terminal. Answered with [`Answer::Details`].
    Act {
        /// Which.
        terminal: TerminalId,
        /// What.
        act: Act,
    },
    /// All terminals that the runner remembers. Answered with [`Answer::Terminals`].
    List,
    /// Let a viewer watch. Answered with [`Answer::Watching`]; output follows it.
    Watch {
        /// Which terminal.
        terminal: TerminalId,
        /// The viewer's number, chosen by the server.
        viewer: u64,
        /// Go on from this offset if it is still retained; none asks for a keyframe.
        from: Option<u64>,
    },
    /// End a viewer's watching. Answered with [`Answer::Done`].
    Unwatch {
        /// Which viewer.
        viewer: u64,
    },
    /// A person takes the terminal over. Answered with [`Answer::Done`].
    TakeOver {
        /// Which terminal.
        terminal: TerminalId,
    },
    /// The person gives it back. Answered with [`Answer::Done`].
    Release {
        /// Which terminal.
        terminal: TerminalId,
    },
    /// Close every terminal, answer when nothing is left, and end.
    End,
}

/// A plain command that outlasts its call goes on as a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outlast {
    /// Its id then.
    pub job: JobId,
    /// How long the call may last.
    pub after: Duration,
}

/// What to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// What a person would call it: the shell command, or the shell.
    pub title: String,
    /// Folder to start in.
    pub cwd: PathBuf,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
}

/// From runner to server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum FromRunner {
    /// The answer to the server's hello.
    Hello {
        /// The runner's [`VERSION`].
        version: u32,
        /// Whose terminals it holds.
        chat: ChatId,
        /// Its process.
        pid: u32,
    },
    /// The answer to a call.
    Reply {
        /// The call's number.
        id: u64,
        /// What came of it.
        result: Result<Answer, Refusal>,
    },
    /// A terminal ended. Told again on the next connection until the server has stored it.
    Exited(Exited),
    /// A viewer is to start afresh from a keyframe of this many bytes, which follow as output.
    Keyframe(Keyframe),
    /// A viewer's terminal has a new size from here on.
    Resized {
        /// Which viewer.
        viewer: u64,
        /// The new size.
        size: Size,
    },
    /// A viewer has got the last byte of an exited terminal.
    Ended {
        /// Which viewer.
        viewer: u64,
    },
}

/// Answers to calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// Of an action on a terminal.
    Details(Box<Details>),
    /// Of a plain command.
    Run(Box<RunDetails>),
    /// All terminals.
    Terminals {
        /// Live ones, then exited ones, newest first.
        terminals: Vec<Known>,
    },
    /// One job.
    Job(Box<KnownJob>),
    /// All jobs.
    Jobs {
        /// Running ones, then ended ones, newest first.
        jobs: Vec<KnownJob>,
    },
    /// A part of a job's output.
    Log(Box<LogDetails>),
    /// The viewer watches. The stream goes on at the offset, or a keyframe comes first.
    Watching {
        /// The terminal's size.
        size: Size,
        /// Where output goes on; none when a keyframe follows.
        from: Option<u64>,
    },
    /// It is done, and there is nothing to tell.
    Done,
}

/// A terminal as its runner knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// What a list shows.
    #[serde(flatten)]
    pub listed: Listed,
    /// Process ids of its leash and its leader, by which a descendant is recognised.
    pub pids: Vec<u32>,
    /// A person drives it.
    pub taken_over: bool,
    /// Where it was started.
    #[serde(default)]
    pub cwd: PathBuf,
    /// When it was started, in milliseconds since 1970.
    #[serde(default)]
    pub started_ms: i64,
    /// When it ended.
    #[serde(default)]
    pub ended_ms: Option<i64>,
    /// Who ended it.
    #[serde(default)]
    pub ended_by: Option<EndedBy>,
}

/// A job as its runner knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownJob {
    /// Its id.
    pub id: JobId,
    /// The shell command, or the condition.
    pub command: String,
    /// Where it was started.
    pub cwd: PathBuf,
    /// Whether it runs.
    pub state: JobState,
    /// Exit status; none while it runs and after a signal.
    pub exit_code: Option<i32>,
    /// A name such as `SIGTERM`.
    pub signal: Option<String>,
    /// Why it ended; none while it runs.
    pub end: Option<JobEnd>,
    /// Milliseconds since 1970.
    pub started_ms: i64,
    /// Milliseconds since 1970.
    pub ended_ms: Option<i64>,
    /// What is special about a condition; none for a command.
    pub until: Option<UntilFacts>,
    /// Processes that outlive a command's shell.
    pub background_processes: u32,
}

/// What a condition has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UntilFacts {
    /// It held.
    pub met: bool,
    /// From its start to its end, or until now.
    pub elapsed_ms: u64,
}

/// Why a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobEnd {
    /// Of itself; a condition held.
    Itself,
    /// Its time was over.
    TimedOut,
    /// The tool `jobs`, or the end of the chat.
    Stopped,
    /// Its caller cancelled the call that waited for it.
    Cancelled,
}

/// The end of a terminal's program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exited {
    /// Which terminal.
    pub terminal: TerminalId,
    /// Exit status; none after a signal.
    pub exit_code: Option<i32>,
    /// A name such as `SIGTERM`.
    pub signal: Option<String>,
    /// Who ended it.
    pub ended_by: EndedBy,
    /// Milliseconds since 1970.
    pub at_ms: i64,
}

/// A fresh start of a viewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keyframe {
    /// Which viewer.
    pub viewer: u64,
    /// The terminal's size.
    pub size: Size,
    /// The offset of the viewers' stream that the keyframe stands for; output goes on from there.
    pub offset: u64,
    /// Length of the keyframe.
    pub bytes: u64,
}

/// Output under way to a viewer: part of an announced keyframe, or of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Which viewer.
    pub viewer: u64,
    /// Offset of the first byte in the viewers' stream; of a keyframe, the offset that it stands
    /// for.
    pub offset: u64,
    /// The bytes.
    pub data: Bytes,
}

/// What a person types into a terminal that they have taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keystrokes {
    /// The viewer who types.
    pub viewer: u64,
    /// The bytes.
    pub data: Bytes,
}

impl Output {
    /// The payload of a binary message.
    pub fn encode(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(16 + self.data.len());
        out.put_u64(self.viewer);
        out.put_u64(self.offset);
        out.put_slice(&self.data);
        out.freeze()
    }

    /// Reads the payload of a binary message; none when it is too short.
    pub fn decode(payload: &Bytes) -> Option<Self> {
        let (viewer, rest) = payload.split_first_chunk::<8>()?;
        let offset = rest.first_chunk::<8>()?;
        Some(Self {
            viewer: u64::from_be_bytes(*viewer),
            offset: u64::from_be_bytes(*offset),
            data: payload.slice(16..),
        })
    }
}

impl Keystrokes {
    /// The payload of a binary message.
    pub fn encode(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(8 + self.data.len());
        out.put_u64(self.viewer);
        out.put_slice(&self.data);
        out.freeze()
    }

    /// Reads the payload of a binary message; none when it is too short.
    pub fn decode(payload: &Bytes) -> Option<Self> {
        let viewer = payload.first_chunk::<8>()?;
        Some(Self {
            viewer: u64::from_be_bytes(*viewer),
            data: payload.slice(8..),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_newer_field_is_ignored() {
        let hello = json!({"message": "hello", "version": 2, "colour": "green"});
        assert_eq!(
            serde_json::from_value::<ToRunner>(hello).unwrap(),
            ToRunner::Hello { version: 2 }
        );
    }

    #[test]
    fn calls_and_replies_read_back_as_they_were_written() {
        let call = ToRunner::Call {
            id: 7,
            call: Box::new(Call::Watch {
                terminal: TerminalId::from_random(1),
                viewer: 3,
                from: Some(9),
            }),
        };
        let text = serde_json::to_string(&call).unwrap();
        assert_eq!(serde_json::from_str::<ToRunner>(&text).unwrap(), call);
        let reply = FromRunner::Reply {
            id: 7,
            result: Err(Refusal::no_terminal("tm_x")),
        };
        let text = serde_json::to_string(&reply).unwrap();
        assert_eq!(serde_json::from_str::<FromRunner>(&text).unwrap(), reply);
    }

    #[test]
    fn binary_messages_read_back_as_they_were_written() {
        let output = Output {
            viewer: 1,
            offset: 2,
            data: Bytes::from_static(b"abc"),
        };
        assert_eq!(Output::decode(&output.encode()), Some(output));
        let keys = Keystrokes {
            viewer: 5,
            data: Bytes::from_static(b"x"),
        };
        assert_eq!(Keystrokes::decode(&keys.encode()), Some(keys));
        assert_eq!(Output::decode(&Bytes::from_static(b"short")), None);
    }
}
