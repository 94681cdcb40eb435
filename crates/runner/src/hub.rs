//! The hub: the one owner of all that a runner holds. It routes; terminals and tasks do.

mod calls;
mod jobs;
mod viewers;

use std::collections::HashMap;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use terminal::actor::{News, Terminal};
use terminal::machine::{Exit, Machine, Ticket};
use terminal::watchers::WatcherId;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot, watch};
use wire::runner::{Answer, Exited, FromRunner, ToRunner, VERSION};
use wire::{ChatId, JobId, Kind, Refusal, TerminalId, signal};

use crate::Options;
use crate::archive::{About, Archive};
use crate::jobs::Jobs;
use crate::link::{Incoming, Link, Sink};
use crate::tasks::{CallId, Report, Reports, Starter};

/// Pause after a connection could not be accepted, as when no descriptor is left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What a runner holds.
pub(crate) struct Hub {
    chat: ChatId,
    idle: Duration,
    starter: Starter,
    terminals: HashMap<TerminalId, Live>,
    archive: Archive,
    /// Terminals being started; they count as live.
    opening: usize,
    /// Plain commands and jobs that run, or whose background processes do.
    commands: usize,
    jobs: Jobs,
    /// Calls that wait for a job.
    job_waits: HashMap<CallId, JobId>,
    link: Option<Link>,
    links: u64,
    calls: HashMap<CallId, oneshot::Sender<()>>,
    viewers: HashMap<WatcherId, Viewer>,
    /// Exits that no server has stored yet.
    exits: Vec<Exited>,
    next_ticket: u64,
    next_watcher: u64,
    /// The call that ends the runner once nothing is left.
    ending: Option<CallId>,
    /// Turns true when the runner is to end: plain commands and what they left behind listen.
    stop: watch::Sender<bool>,
    news: mpsc::UnboundedSender<News>,
    reports: Reports,
}

struct Live {
    terminal: Terminal,
    about: About,
}

struct Viewer {
    /// The server's number of the viewer.
    number: u64,
    terminal: TerminalId,
}

/// The receiving ends of the hub's queues. Answers and output are as many as calls and windows
/// allow.
pub(crate) struct Queues {
    news: mpsc::UnboundedReceiver<News>,
    reports: mpsc::UnboundedReceiver<Report>,
    incoming: mpsc::Receiver<(u64, Incoming)>,
    sink: Sink,
}

impl Hub {
    pub(crate) fn new(options: Options) -> (Self, Queues) {
        let (news, news_queue) = mpsc::unbounded_channel();
        let (reports, report_queue) = mpsc::unbounded_channel();
        let (sink, incoming) = Link::inbox();
        let hub = Self {
            chat: options.chat,
            idle: options.idle,
            starter: Starter {
                containment: options.containment,
                leash: options.leash,
            },
            terminals: HashMap::new(),
            archive: Archive::default(),
            opening: 0,
            commands: 0,
            jobs: Jobs::open(options.jobs),
            job_waits: HashMap::new(),
            link: None,
            links: 0,
            calls: HashMap::new(),
            viewers: HashMap::new(),
            exits: Vec::new(),
            next_ticket: 0,
            next_watcher: 0,
            ending: None,
            stop: watch::Sender::new(false),
            news,
            reports,
        };
        (
            hub,
            Queues {
                news: news_queue,
                reports: report_queue,
                incoming,
                sink,
            },
        )
    }

    /// Serves until the runner is told to end, or is idle for too long.
    pub(crate) async fn serve(mut self, listener: UnixListener, mut queues: Queues) {
        loop {
            if let Some(call) = self.ending
                && self.is_empty()
            {
                return self.end(call).await;
            }
            tokio::select! {
                // News first: a terminal that has gone is in the archive before its calls are tried
                // again.
                biased;
                Some(news) = queues.news.recv() => self.hear(news),
                Some(report) = queues.reports.recv() => self.conclude(report),
                Some((link, incoming)) = queues.incoming.recv() => self.receive(link, incoming).await,
                accepted = listener.accept() => self.accept(accepted.map(|(stream, _)| stream), &queues.sink).await,
                () = tokio::time::sleep(self.idle), if self.is_idle() => return self.jobs.close(),
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.link.is_none() && self.is_empty()
    }

    fn is_empty(&self) -> bool {
        self.terminals.is_empty() && self.opening == 0 && self.commands == 0
    }

    /// Tells the server that nothing is left, and sees that it is told before the process ends.
    async fn end(mut self, call: CallId) {
        self.jobs.close();
        self.reply(call, Ok(Answer::Done));
        if let Some(link) = self.link.take() {
            link.finish().await;
        }
    }

    fn hear(&mut self, news: News) {
        match news {
            News::Feed(watcher, feed) => self.forward(watcher, feed),
            News::Exited(id, exit) => self.exited(id, exit),
            News::Gone(id, machine) => self.gone(id, machine),
        }
    }

    fn exited(&mut self, terminal: TerminalId, exit: Exit) {
        let exited = Exited {
            terminal,
            exit_code: exit.code,
            signal: exit.signal.map(signal::name),
            ended_by: exit.ended_by,
            at_ms: milliseconds_since_1970(),
        };
        if let Some(live) = self.terminals.get_mut(&terminal) {
            live.about.ended_ms = Some(exited.at_ms);
            live.about.ended_by = Some(exited.ended_by);
        }
        self.send(&FromRunner::Exited(exited.clone()));
        self.exits.push(exited);
    }

    fn gone(&mut self, id: TerminalId, machine: Box<Machine>) {
        if let Some(live) = self.terminals.remove(&id) {
            self.archive.add(machine, live.about);
        }
    }

    /// A new connection is the server's: an older one is of a server that is gone, or hangs.
    async fn accept(&mut self, accepted: io::Result<UnixStream>, sink: &Sink) {
        let stream = match accepted {
            Ok(stream) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                return tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        };
        if !is_trusted(&stream) {
            return;
        }
        self.lose_link().await;
        self.links += 1;
        self.link = Some(Link::start(self.links, stream, sink.clone()));
    }

    /// The server of the current connection is gone: nobody waits for its calls and viewers any
    /// more.
    async fn lose_link(&mut self) {
        self.link = None;
        self.jobs.lose_askers();
        self.job_waits.clear();
        self.calls.clear();
        for (watcher, viewer) in std::mem::take(&mut self.viewers) {
            self.unwatch(watcher, viewer.terminal).await;
        }
    }

    async fn receive(&mut self, link: u64, incoming: Incoming) {
        if self.link.as_ref().is_none_or(|it| it.number != link) {
            return;
        }
        match incoming {
            Incoming::Lost => self.lose_link().await,
            Incoming::Keystrokes(keys) => self.keystrokes(keys).await,
            Incoming::UnknownCall(id) => self.reply(CallId { link, id }, Err(unknown_call())),
            Incoming::Message(ToRunner::Hello { version }) => self.hello(version).await,
            Incoming::Message(ToRunner::Call { id, call }) => {
                self.call(CallId { link, id }, *call).await;
            }
            Incoming::Message(ToRunner::Cancel { id }) => self.cancel(CallId { link, id }),
            Incoming::Message(ToRunner::Took { viewer, bytes }) => self.took(viewer, bytes).await,
            Incoming::Message(ToRunner::ExitsStored { terminals }) => {
                self.exits.retain(|it| !terminals.contains(&it.terminal));
            }
        }
    }

    /// A server of another version than ours or the next cannot be spoken to; it is told ours all
    /// the same.
    async fn hello(&mut self, version: u32) {
        self.send(&FromRunner::Hello {
            version: VERSION,
            chat: self.chat,
            pid: std::process::id(),
        });
        if !(VERSION..=VERSION + 1).contains(&version) {
            tracing::warn!(version, "a server of another version");
            return self.lose_link().await;
        }
        for exited in &self.exits {
            self.send(&FromRunner::Exited(exited.clone()));
        }
    }

    fn send(&self, message: &FromRunner) {
        if let Some(link) = &self.link {
            link.send(message);
        }
    }

    fn reply(&mut self, call: CallId, result: Result<Answer, Refusal>) {
        self.calls.remove(&call);
        if self.link.as_ref().is_some_and(|it| it.number == call.link) {
            self.send(&FromRunner::Reply {
                id: call.id,
                result,
            });
        }
    }

    fn ticket(&mut self) -> Ticket {
        self.next_ticket += 1;
        Ticket(self.next_ticket)
    }
}

/// Only this user, and root, may be the server.
fn is_trusted(stream: &UnixStream) -> bool {
    let ours = rustix::process::geteuid().as_raw();
    stream
        .peer_cred()
        .is_ok_and(|peer| peer.uid() == ours || peer.uid() == 0)
}

pub(crate) fn unknown_call() -> Refusal {
    Refusal::new(
        Kind::MethodNotFound,
        "this chat's runner was started by an older version, which does not know the call",
    )
    .hint("close the chat's terminals and make a new chat to get the new version")
}

fn milliseconds_since_1970() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
