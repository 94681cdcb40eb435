//! A host over a temporary store, with a runner in process that says what a test tells it to.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use wire::bash::{Action, Details, Observation, Process, ProcessState};
use wire::frame::Message;
use wire::rpc::Call as Rpc;
use wire::runner::{Answer, Call, Exited, FromRunner, ToRunner, VERSION};
use wire::{ChatId, Refusal, TerminalId};

use crate::frames::{Frames, write};
use crate::store::{Sqlite, Store};
use crate::{
    Caller, Host, Launcher, Launching, PaneEvent, Peer, Permission, Reply, Settings, SocketPlace,
    Stop, Via,
};

/// What a fake runner answers to a call; none leaves it unanswered.
pub(crate) type Script = Box<dyn Fn(&Call) -> Option<Result<Answer, Refusal>> + Send + Sync>;

/// Runners in process: one script for all, and a record of what they were told.
pub(crate) struct Fake {
    pub script: Mutex<Script>,
    pub told: mpsc::UnboundedSender<Told>,
    pub version: u32,
    pub pid: u32,
    running: Mutex<Vec<Running>>,
}

struct Running {
    task: tokio::task::JoinHandle<()>,
    say: mpsc::UnboundedSender<Message>,
}

/// What a runner was told.
#[derive(Debug, PartialEq)]
pub(crate) enum Told {
    Message(ToRunner),
    Keystrokes(Vec<u8>),
}

/// A host and what is around it.
pub(crate) struct Stage {
    pub folder: TempDir,
    pub fake: Arc<Fake>,
    pub told: mpsc::UnboundedReceiver<Told>,
    pub store: Arc<dyn Store>,
    host: Option<Arc<Host>>,
    pub caller: Arc<Caller>,
    pub events: mpsc::UnboundedReceiver<PaneEvent>,
}

impl Stage {
    /// With a script for the runner.
    pub(crate) async fn new(
        script: impl Fn(&Call) -> Option<Result<Answer, Refusal>> + Send + Sync + 'static,
    ) -> Self {
        Self::with(script, VERSION, 0).await
    }

    pub(crate) async fn with(
        script: impl Fn(&Call) -> Option<Result<Answer, Refusal>> + Send + Sync + 'static,
        version: u32,
        pid: u32,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (tell, told) = mpsc::unbounded_channel();
        let fake = Arc::new(Fake {
            script: Mutex::new(Box::new(script)),
            told: tell,
            version,
            pid,
            running: Mutex::default(),
        });
        let store: Arc<dyn Store> = Arc::new(Sqlite::open(&folder.path().join("a.db")).unwrap());
        let host = Some(start(folder.path(), &fake, &store).await);
        let (caller, events) = caller(uid());
        Self {
            folder,
            fake,
            told,
            store,
            host,
            caller,
            events,
        }
    }

    /// Another server over the same store and runners, as after a restart.
    pub(crate) async fn restart(&mut self) {
        // First: two servers of one instance never live at the same time.
        self.host = None;
        self.host = Some(start(self.folder.path(), &self.fake, &self.store).await);
        (self.caller, self.events) = caller(uid());
    }

    pub(crate) fn host(&self) -> &Arc<Host> {
        self.host.as_ref().unwrap()
    }

    /// Calls a method.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Result<Reply, Refusal> {
        let call = Rpc::parse(method, params)?;
        self.host().call(&self.caller, call, Stop::default()).await
    }

    /// Calls the tool `bash` in a chat.
    pub(crate) async fn bash(
        &self,
        chat: ChatId,
        arguments: Value,
    ) -> Result<(String, Value), Refusal> {
        let params = json!({"chatId": chat, "name": "bash", "arguments": arguments});
        let reply = self.call("tools.call", params).await?.value;
        Ok((
            reply["text"].as_str().unwrap().to_owned(),
            reply["details"].clone(),
        ))
    }

    /// Makes a chat.
    pub(crate) async fn chat(&self) -> ChatId {
        let params = json!({"folder": self.folder.path(), "env": [["SHELL", "/bin/sh"]]});
        let reply = self.call("chats.create", params).await.unwrap().value;
        reply["chat"]["id"].as_str().unwrap().parse().unwrap()
    }

    /// Opens a terminal.
    pub(crate) async fn open(&self, chat: ChatId) -> TerminalId {
        let (_, details) = self
            .bash(chat, json!({"action": "open", "command": "cat"}))
            .await
            .unwrap();
        details["terminal_id"].as_str().unwrap().parse().unwrap()
    }

    /// The next call that the runner was told, hellos left out.
    pub(crate) async fn told(&mut self) -> Told {
        self.told.recv().await.unwrap()
    }

    /// The next call.
    pub(crate) async fn told_call(&mut self) -> Call {
        match self.told().await {
            Told::Message(ToRunner::Call { call, .. }) => *call,
            other => panic!("{other:?}"),
        }
    }

    /// Lets the runners say something.
    pub(crate) fn say(&self, message: &FromRunner) {
        self.say_message(&text(message));
    }

    pub(crate) fn say_message(&self, message: &Message) {
        for running in self.fake.running.lock().unwrap().iter() {
            let _ = running.say.send(message.clone());
        }
    }

    /// Ends the runners as `kill -9` does: sockets stay as files.
    pub(crate) fn kill(&self) {
        self.fake
            .running
            .lock()
            .unwrap()
            .drain(..)
            .for_each(|it| it.task.abort());
    }
}

impl Launcher for Arc<Fake> {
    fn launch<'a>(&'a self, chat: ChatId, socket: &'a Path) -> Launching<'a> {
        Box::pin(async move {
            let listener = UnixListener::bind(socket)?;
            let (say, said) = mpsc::unbounded_channel();
            let fake = Self::clone(self);
            let task = tokio::spawn(async move { fake.run(chat, listener, said).await });
            self.running.lock().unwrap().push(Running { task, say });
            Ok(())
        })
    }
}

impl Fake {
    async fn run(
        &self,
        chat: ChatId,
        listener: UnixListener,
        mut said: mpsc::UnboundedReceiver<Message>,
    ) {
        let mut stream = listener.accept().await.unwrap().0;
        // A newer connection takes over, as with a real runner.
        loop {
            tokio::select! {
                () = self.serve(chat, &mut stream, &mut said) => {
                    stream = listener.accept().await.unwrap().0;
                }
                accepted = listener.accept() => stream = accepted.unwrap().0,
            }
        }
    }

    async fn serve(
        &self,
        chat: ChatId,
        stream: &mut UnixStream,
        said: &mut mpsc::UnboundedReceiver<Message>,
    ) {
        let (from, mut to) = stream.split();
        let mut frames = Frames::new(from, 1 << 20);
        loop {
            let message = tokio::select! {
                message = frames.next() => message,
                Some(message) = said.recv() => {
                    let _ = write(&mut to, &message).await;
                    continue;
                }
            };
            match message {
                Ok(Some(Message::Text(json))) => {
                    let message = serde_json::from_slice(&json).unwrap();
                    if let Some(answer) = self.answer(chat, &message) {
                        let _ = write(&mut to, &text(&answer)).await;
                    }
                    if !matches!(message, ToRunner::Hello { .. }) {
                        let _ = self.told.send(Told::Message(message));
                    }
                }
                Ok(Some(Message::Binary(payload))) => {
                    let _ = self.told.send(Told::Keystrokes(payload[8..].to_vec()));
                }
                Ok(None) | Err(_) => return,
            }
        }
    }

    fn answer(&self, chat: ChatId, message: &ToRunner) -> Option<FromRunner> {
        match message {
            ToRunner::Hello { .. } => Some(FromRunner::Hello {
                version: self.version,
                chat,
                pid: self.pid,
            }),
            ToRunner::Call { id, call } => {
                let result = (self.script.lock().unwrap())(call)?;
                Some(FromRunner::Reply { id: *id, result })
            }
            ToRunner::Cancel { .. } | ToRunner::Took { .. } | ToRunner::ExitsStored { .. } => None,
        }
    }
}

/// A caller with this account.
pub(crate) fn caller(uid: u32) -> (Arc<Caller>, mpsc::UnboundedReceiver<PaneEvent>) {
    let (caller, events) = Caller::new(Peer {
        uid,
        pid: Some(std::process::id()),
        via: Via::Local,
    });
    (Arc::new(caller), events)
}

/// This process's account.
pub(crate) fn uid() -> u32 {
    rustix::process::getuid().as_raw()
}

/// What a runner usually answers.
pub(crate) fn usual(call: &Call) -> Option<Result<Answer, Refusal>> {
    Some(Ok(match call {
        Call::Open { terminal, .. } => Answer::Details(Box::new(details(*terminal, Action::Open))),
        Call::Act { terminal, .. } => Answer::Details(Box::new(details(*terminal, Action::Screen))),
        Call::List => Answer::Terminals {
            terminals: Vec::new(),
        },
        Call::Watch { .. } => Answer::Watching {
            size: wire::Size { cols: 80, rows: 24 },
            from: Some(0),
        },
        Call::Run { .. }
        | Call::Background { .. }
        | Call::Until { .. }
        | Call::Jobs
        | Call::Log { .. }
        | Call::WaitJob { .. }
        | Call::StopJob { .. }
        | Call::Unwatch { .. }
        | Call::TakeOver { .. }
        | Call::Release { .. }
        | Call::End => Answer::Done,
    }))
}

/// Details of a running terminal.
pub(crate) fn details(terminal_id: TerminalId, action: Action) -> Details {
    Details {
        terminal_id,
        action,
        process: Process {
            state: ProcessState::Running,
            program: Some("cat".to_owned()),
            exit_code: None,
            signal: None,
            ended_by: None,
            background_processes: 0,
        },
        wait: None,
        screen: None,
        input: None,
        observation: Observation::default(),
        supersedes: format!("terminal:{terminal_id}"),
        pane_url: None,
    }
}

/// The exit of a terminal, with code 7.
pub(crate) fn exited(terminal: TerminalId) -> FromRunner {
    FromRunner::Exited(Exited {
        terminal,
        exit_code: Some(7),
        signal: None,
        ended_by: wire::bash::EndedBy::Program,
        at_ms: 1,
    })
}

fn text(message: &FromRunner) -> Message {
    Message::Text(serde_json::to_vec(message).unwrap().into())
}

async fn start(folder: &Path, fake: &Arc<Fake>, store: &Arc<dyn Store>) -> Arc<Host> {
    let settings = Settings {
        version: "0".to_owned(),
        uid: uid(),
        local: Permission::Allow,
        pass: Vec::new(),
        sockets: SocketPlace::new(folder.to_owned()),
    };
    Host::start(settings, Arc::clone(store), Arc::new(Arc::clone(fake)))
        .await
        .unwrap()
}
