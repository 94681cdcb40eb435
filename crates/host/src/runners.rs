//! The runners of all chats: finds them after a start of the server, starts them when they are needed, records what
//! they lose when they end.
//!
//! Invariant: at most one connection for each chat. The cell of a chat serializes starting; a dead connection's cell is
//! only removed after the chat's terminals were recorded as lost, so that no new terminal is recorded so by mistake.

mod link;

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::UnixStream;
use tokio::sync::OnceCell;
use tokio::task::JoinSet;
use tracing::{info, warn};
use wire::{ChatId, Kind, Refusal};

pub(crate) use link::{Link, Pending, ViewerEvent, lost};

use crate::clock;
use crate::launcher::Launcher;
use crate::places::SocketPlace;
use crate::store::{Store, StoreError};

type Cell = Arc<OnceCell<Arc<Link>>>;

/// All runners.
pub(crate) struct Runners {
    place: SocketPlace,
    launcher: Arc<dyn Launcher>,
    store: Arc<dyn Store>,
    cells: Mutex<HashMap<ChatId, Cell>>,
}

/// Whether a runner listens on a socket.
enum Found {
    Listening(UnixStream),
    Nobody,
}

impl Runners {
    pub(crate) fn new(
        place: SocketPlace,
        launcher: Arc<dyn Launcher>,
        store: Arc<dyn Store>,
    ) -> Arc<Self> {
        Arc::new(Self {
            place,
            launcher,
            store,
            cells: Mutex::default(),
        })
    }

    /// Connects to every runner that a server before this one left behind.
    pub(crate) async fn adopt(self: &Arc<Self>) -> Result<(), StoreError> {
        let mut looking = JoinSet::new();
        for chat in self.left_behind().await? {
            let this = Arc::clone(self);
            looking.spawn(async move {
                match this.existing(chat).await {
                    Ok(Some(link)) => info!(%chat, pid = link.pid(), "goes on with a runner"),
                    Ok(None) => info!(%chat, "its runner has ended"),
                    Err(refusal) => warn!(%chat, %refusal, "cannot go on with a runner"),
                }
            });
        }
        looking.join_all().await;
        Ok(())
    }

    /// The runner of a chat, started when there is none.
    pub(crate) async fn get(self: &Arc<Self>, chat: ChatId) -> Result<Arc<Link>, Refusal> {
        loop {
            let cell = Arc::clone(self.lock().entry(chat).or_default());
            let link = cell.get_or_try_init(|| self.start(chat)).await?;
            if link.is_open() {
                return Ok(Arc::clone(link));
            }
            link.buried().await;
        }
    }

    /// The runner of a chat, if one lives.
    pub(crate) async fn existing(
        self: &Arc<Self>,
        chat: ChatId,
    ) -> Result<Option<Arc<Link>>, Refusal> {
        let cell = Arc::clone(self.lock().entry(chat).or_default());
        let found = cell.get_or_try_init(|| async {
            let found = self.find(chat).await.map_err(Some)?;
            let Found::Listening(stream) = found else {
                return Err(None);
            };
            self.greet(chat, stream).await.map_err(Some)
        });
        match found.await {
            Ok(link) if link.is_open() => Ok(Some(Arc::clone(link))),
            Ok(link) => {
                link.buried().await;
                Ok(None)
            }
            Err(None) => Ok(None),
            Err(Some(refusal)) => Err(refusal),
        }
    }

    /// The chat is closed and its runner has ended: what the runner left on disk may go.
    pub(crate) fn clear(&self, chat: ChatId) {
        self.launcher.clear(chat);
    }

    /// The chat in one of whose programs a process with these ancestors runs.
    pub(crate) fn chat_of(&self, ancestors: &[u32]) -> Option<ChatId> {
        let links: HashMap<u32, ChatId> = self
            .lock()
            .iter()
            .filter_map(|(chat, cell)| {
                cell.get()
                    .filter(|it| it.is_open())
                    .map(|it| (it.pid(), *chat))
            })
            .collect();
        // Nearest first: a runner below another runner's program is the one that is meant.
        ancestors.iter().find_map(|pid| links.get(pid).copied())
    }

    async fn start(self: &Arc<Self>, chat: ChatId) -> Result<Arc<Link>, Refusal> {
        if let Found::Listening(stream) = self.find(chat).await? {
            return self.greet(chat, stream).await;
        }
        let socket = self.place.socket(chat);
        self.launcher
            .launch(chat, &socket)
            .await
            .map_err(|error| no_runner(&error))?;
        let stream = UnixStream::connect(&socket)
            .await
            .map_err(|error| no_runner(&error))?;
        self.greet(chat, stream).await
    }

    /// Looks for a living runner. A dead one's socket is removed, and its terminals are recorded as lost.
    async fn find(&self, chat: ChatId) -> Result<Found, Refusal> {
        let socket = self.place.socket(chat);
        match UnixStream::connect(&socket).await {
            Ok(stream) => Ok(Found::Listening(stream)),
            Err(error) if is_dead(&error) => {
                self.bury(chat, &socket).await;
                Ok(Found::Nobody)
            }
            Err(error) => Err(no_runner(&error)),
        }
    }

    async fn bury(&self, chat: ChatId, socket: &Path) {
        if let Err(error) = std::fs::remove_file(socket)
            && error.kind() != io::ErrorKind::NotFound
        {
            warn!(%chat, %error, "cannot remove a dead runner's socket");
        }
        if let Err(error) = self.store.lose_terminals(chat, clock::now_ms()).await {
            warn!(%chat, %error, "cannot record lost terminals");
        }
    }

    async fn greet(
        self: &Arc<Self>,
        chat: ChatId,
        stream: UnixStream,
    ) -> Result<Arc<Link>, Refusal> {
        let (link, pump) = Link::open(stream, chat, Arc::clone(&self.store)).await?;
        // A host that is gone cleans up nothing: the runner is its successor's.
        let (this, watched) = (Arc::downgrade(self), Arc::clone(&link));
        tokio::spawn(async move {
            pump.await;
            match this.upgrade() {
                Some(this) => this.after(&watched).await,
                None => watched.bury(),
            }
        });
        Ok(link)
    }

    /// Cleans up behind a connection that has ended.
    async fn after(&self, link: &Arc<Link>) {
        let chat = link.chat();
        let socket = self.place.socket(chat);
        match UnixStream::connect(&socket).await {
            Ok(_) => warn!(%chat, "a runner closed its connection and lives on"),
            Err(_) => self.bury(chat, &socket).await,
        }
        let mut cells = self.lock();
        let same = |cell: &Cell| cell.get().is_some_and(|it| Arc::ptr_eq(it, link));
        if cells.get(&chat).is_some_and(same) {
            cells.remove(&chat);
        }
        drop(cells);
        link.bury();
    }

    async fn left_behind(&self) -> Result<Vec<ChatId>, StoreError> {
        let mut chats = self.store.chats_with_live_terminals().await?;
        if let Ok(files) = std::fs::read_dir(self.place.folder()) {
            let names = files.flatten().map(|it| it.file_name());
            chats.extend(names.filter_map(|it| SocketPlace::chat(it.to_str()?)));
        }
        chats.sort_unstable();
        chats.dedup();
        Ok(chats)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ChatId, Cell>> {
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_dead(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound
    )
}

fn no_runner(error: &io::Error) -> Refusal {
    Refusal::new(
        Kind::OutOfResources,
        format!("the chat's runner process does not start: {error}"),
    )
    .hint("look into the server's log, and try again")
}
