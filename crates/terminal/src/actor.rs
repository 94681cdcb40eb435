//! The task that owns one terminal: it carries out what the [`Machine`] decides. Everyone else
//! holds a [`Terminal`].
//!
//! The task ends when no process of the terminal is left. Its machine, with the final screen, goes
//! to the owner then ([`News::Gone`]), which answers for it from there on.

mod task;

use tokio::sync::{mpsc, oneshot};
use wire::bash::{Act, Details, EndedBy, Listed, Wait};
use wire::{Refusal, TerminalId};

use crate::machine::{Exit, Machine, Ticket};
use crate::process::Process;
use crate::pty::Master;
use crate::size::Size;
use crate::watchers::{Feed, WatcherId};
use task::Task;

/// Requests under way to one terminal; a full box makes callers wait their turn.
const MAILBOX: usize = 64;

/// What a call on a terminal comes to.
pub type Answer = Result<Box<Details>, Refusal>;

/// A handle to one terminal; cheap to clone.
#[derive(Clone, Debug)]
pub struct Terminal {
    inbox: mpsc::Sender<Request>,
    pids: [u32; 2],
}

/// What terminals tell their owner, unasked.
#[derive(Debug)]
pub enum News {
    /// For a viewer.
    Feed(WatcherId, Feed),
    /// The program ended; its last bytes are on the final screen.
    Exited(TerminalId, Exit),
    /// No process is left, and the task has ended.
    Gone(TerminalId, Box<Machine>),
}

/// The terminal's task has ended; its machine is with the owner.
#[derive(Debug, PartialEq, Eq)]
pub struct Gone;

/// What a list shows of a terminal, and who drives it.
#[derive(Debug)]
pub struct Description {
    /// For the list.
    pub listed: Listed,
    /// A person has taken the terminal over.
    pub taken_over: bool,
}

/// How a viewer's watching begins.
#[derive(Debug)]
pub struct Watching {
    /// The terminal's size.
    pub size: Size,
    /// Where output goes on; none when a keyframe comes first.
    pub from: Option<u64>,
}

/// What is asked of a terminal.
#[derive(Debug)]
enum Request {
    Opened {
        ticket: Ticket,
        wait: Wait,
        reply: oneshot::Sender<Answer>,
    },
    Act {
        ticket: Ticket,
        act: Act,
        reply: oneshot::Sender<Answer>,
    },
    Cancel(Ticket),
    Close {
        by: EndedBy,
        reply: oneshot::Sender<Answer>,
    },
    Describe(oneshot::Sender<Description>),
    Watch {
        watcher: WatcherId,
        from: Option<u64>,
        reply: oneshot::Sender<Watching>,
    },
    Unwatch(WatcherId),
    Took(WatcherId, usize),
    TakeOver,
    Release,
    Keystrokes(Vec<u8>),
}

/// Starts the task of a terminal whose program runs. Needs a [`tokio::task::LocalSet`] or its like.
pub fn spawn(
    machine: Machine,
    process: Process,
    master: Master,
    title: String,
    news: mpsc::UnboundedSender<News>,
) -> Terminal {
    let (sender, inbox) = mpsc::channel(MAILBOX);
    let pids = [process.leash_pid(), process.pid()];
    tokio::task::spawn_local(Task::new(machine, process, master, title, news).run(inbox));
    Terminal {
        inbox: sender,
        pids,
    }
}

impl Terminal {
    /// Process numbers of the leash and of the program.
    #[must_use]
    pub fn pids(&self) -> [u32; 2] {
        self.pids
    }

    /// Waits for a fresh terminal to be ready.
    ///
    /// # Errors
    /// The terminal has gone meanwhile.
    pub async fn opened(&self, ticket: Ticket, wait: Wait) -> Result<Answer, Gone> {
        self.ask(|reply| Request::Opened {
            ticket,
            wait,
            reply,
        })
        .await
    }

    /// Carries out an action other than `close`.
    ///
    /// # Errors
    /// The terminal has gone meanwhile.
    pub async fn act(&self, ticket: Ticket, act: Act) -> Result<Answer, Gone> {
        self.ask(|reply| Request::Act { ticket, act, reply }).await
    }

    /// Ends the terminal and answers when no process of it is left.
    ///
    /// # Errors
    /// The terminal has gone meanwhile.
    pub async fn close(&self, by: EndedBy) -> Result<Answer, Gone> {
        self.ask(|reply| Request::Close { by, reply }).await
    }

    /// Ends a call early; it is answered with what was sent until then. Nothing happens to a call
    /// that is over.
    pub async fn cancel(&self, ticket: Ticket) {
        self.tell(Request::Cancel(ticket)).await;
    }

    /// What a list shows of it.
    ///
    /// # Errors
    /// The terminal has gone meanwhile.
    pub async fn describe(&self) -> Result<Description, Gone> {
        self.ask(Request::Describe).await
    }

    /// Begins a viewer's watching; what it gets comes as [`News::Feed`].
    ///
    /// # Errors
    /// The terminal has gone meanwhile.
    pub async fn watch(&self, watcher: WatcherId, from: Option<u64>) -> Result<Watching, Gone> {
        self.ask(|reply| Request::Watch {
            watcher,
            from,
            reply,
        })
        .await
    }

    /// Ends a viewer's watching.
    pub async fn unwatch(&self, watcher: WatcherId) {
        self.tell(Request::Unwatch(watcher)).await;
    }

    /// A viewer took so many bytes.
    pub async fn took(&self, watcher: WatcherId, bytes: usize) {
        self.tell(Request::Took(watcher, bytes)).await;
    }

    /// A person takes the terminal over.
    pub async fn take_over(&self) {
        self.tell(Request::TakeOver).await;
    }

    /// The person gives it back.
    pub async fn release(&self) {
        self.tell(Request::Release).await;
    }

    /// What the person types.
    pub async fn keystrokes(&self, bytes: Vec<u8>) {
        self.tell(Request::Keystrokes(bytes)).await;
    }

    async fn ask<T>(&self, request: impl FnOnce(oneshot::Sender<T>) -> Request) -> Result<T, Gone> {
        let (reply, answer) = oneshot::channel();
        self.inbox.send(request(reply)).await.map_err(|_| Gone)?;
        answer.await.map_err(|_| Gone)
    }

    /// A terminal that has gone needs not be told anything.
    async fn tell(&self, request: Request) {
        let _ = self.inbox.send(request).await;
    }
}
