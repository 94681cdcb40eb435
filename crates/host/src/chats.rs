//! Chats: made, listed, closed, and found for a caller who names none.
//!
//! Who names no chat gets the one of the terminal that they run in, else the one of their working directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tracing::warn;
use wire::rpc::{Chat, ChatsCreate};
use wire::runner::Call;
use wire::{ChatId, Kind, Refusal, limits};

use crate::caller::Scope;
use crate::runners::Runners;
use crate::store::{ChatRecord, Store, StoreError};
use crate::{Peer, account, ancestors, clock, environment, ids};

/// A runner closes its terminals within seconds; one that does not is left to its idle end.
const END_TIMEOUT: Duration = Duration::from_secs(30);

/// The chats of all users.
pub(crate) struct Chats {
    store: Arc<dyn Store>,
    runners: Arc<Runners>,
    pass: Vec<String>,
}

/// What a chat is made of.
struct Draft {
    title: Option<String>,
    folder: PathBuf,
    key: Option<String>,
    env: Vec<(String, String)>,
}

impl Chats {
    pub(crate) fn new(store: Arc<dyn Store>, runners: Arc<Runners>, pass: Vec<String>) -> Self {
        Self {
            store,
            runners,
            pass,
        }
    }

    /// A chat of the caller's.
    pub(crate) async fn scope(&self, peer: &Peer, id: ChatId) -> Result<Scope, Refusal> {
        Scope::of(peer, id, self.store.chat(id).await.map_err(broken)?)
    }

    /// The chat for a call that names none.
    pub(crate) async fn scope_of_folder(
        &self,
        peer: &Peer,
        cwd: Option<PathBuf>,
        env: Option<Vec<(String, String)>>,
    ) -> Result<Scope, Refusal> {
        if let Some(scope) = self.surrounding(peer).await? {
            return Ok(scope);
        }
        let folder = folder(cwd, peer.uid)?;
        let Some(key) = folder.to_str().map(str::to_owned) else {
            return Err(Refusal::invalid(
                "the working directory's name is not UTF-8",
            ));
        };
        // Two callers may make the chat of one folder at the same time; the loser takes the winner's.
        for _ in 0..ids::DRAWS {
            let found = self
                .store
                .chat_by_key(peer.uid, key.clone())
                .await
                .map_err(broken)?;
            if let Some(chat) = found {
                return Scope::of(peer, chat.id, Some(chat));
            }
            let draft = Draft {
                title: None,
                folder: folder.clone(),
                key: Some(key.clone()),
                env: env.clone().unwrap_or_default(),
            };
            if let Some(chat) = self.add(peer, draft).await? {
                return Scope::of(peer, chat.id, Some(chat));
            }
        }
        Err(ids::exhausted())
    }

    /// The chat of the terminal that the caller runs in, else a new one.
    pub(crate) async fn join(&self, peer: &Peer, params: ChatsCreate) -> Result<Chat, Refusal> {
        match self.surrounding(peer).await? {
            Some(scope) => Ok(shown(scope.chat())),
            None => self.create(peer, params).await,
        }
    }

    pub(crate) async fn create(&self, peer: &Peer, params: ChatsCreate) -> Result<Chat, Refusal> {
        let folder = folder(params.folder, peer.uid)?;
        let draft = Draft {
            title: params.title,
            folder,
            key: None,
            env: params.env.unwrap_or_default(),
        };
        let made = self.add(peer, draft).await?;
        made.map(|chat| shown(&chat)).ok_or_else(ids::exhausted)
    }

    pub(crate) async fn list(&self, peer: &Peer) -> Result<Vec<Chat>, Refusal> {
        let chats = self.store.open_chats(peer.uid).await.map_err(broken)?;
        Ok(chats.iter().map(shown).collect())
    }

    /// Closes a chat; its terminals are gone when this is done.
    pub(crate) async fn close(&self, peer: &Peer, id: ChatId) -> Result<(), Refusal> {
        self.scope(peer, id).await?;
        // First, so that no terminal is opened meanwhile.
        self.store
            .close_chat(id, clock::now_ms())
            .await
            .map_err(broken)?;
        let Some(link) = self.runners.existing(id).await? else {
            self.runners.clear(id);
            return Ok(());
        };
        let mut ending = link.call(Call::End);
        // A runner may end before its answer is read; both mean that nothing is left.
        if tokio::time::timeout(END_TIMEOUT, ending.answer())
            .await
            .is_err()
        {
            warn!(chat = %id, "a runner does not end");
            return Ok(());
        }
        self.runners.clear(id);
        Ok(())
    }

    async fn surrounding(&self, peer: &Peer) -> Result<Option<Scope>, Refusal> {
        let chain = peer.pid.map(ancestors::of).unwrap_or_default();
        let Some(id) = self.runners.chat_of(&chain) else {
            return Ok(None);
        };
        let chat = self.store.chat(id).await.map_err(broken)?;
        // A foreign or closed chat around the caller is no reason to refuse: they get one of their own.
        Ok(Scope::of(peer, id, chat).ok())
    }

    /// Adds a chat; none when its key was taken meanwhile.
    async fn add(&self, peer: &Peer, draft: Draft) -> Result<Option<ChatRecord>, Refusal> {
        for _ in 0..ids::DRAWS {
            let chat = ChatRecord {
                id: ids::chat()?,
                title: title(draft.title.as_deref(), &draft.folder)?,
                folder: draft.folder.clone(),
                owner: peer.uid,
                key: draft.key.clone(),
                env: environment::filter(draft.env.clone(), &self.pass),
                created_ms: clock::now_ms(),
                closed_ms: None,
            };
            match self.store.add_chat(chat.clone()).await {
                Ok(()) => return Ok(Some(chat)),
                Err(StoreError::IdTaken) => {}
                Err(StoreError::KeyTaken) => return Ok(None),
                Err(error) => return Err(broken(error)),
            }
        }
        Err(ids::exhausted())
    }
}

/// What a caller hears of a store that does not work; the log has the cause, under the id that the caller is told.
pub(crate) fn broken(error: StoreError) -> Refusal {
    let id = ids::fault();
    tracing::error!(%id, %error, "the store failed");
    match error {
        StoreError::NoSpace(_) => Refusal::new(
            Kind::OutOfResources,
            format!("the disk of the server's data folder is full (fault {id})"),
        )
        .hint("free space on it, then try again; nothing was recorded"),
        StoreError::IdTaken
        | StoreError::KeyTaken
        | StoreError::Full
        | StoreError::Newer { .. }
        | StoreError::Failed(_) => {
            Refusal::new(Kind::Internal, format!("the store failed (fault {id})"))
                .hint(format!("look for {id} in the server's log"))
        }
    }
}

/// An absolute folder that exists; without one the account's home.
fn folder(given: Option<PathBuf>, uid: u32) -> Result<PathBuf, Refusal> {
    let Some(given) = given else {
        return Ok(account::find(uid).map_or_else(|| PathBuf::from("/"), |it| it.home));
    };
    if !given.is_absolute() {
        return Err(Refusal::invalid(format!(
            "the folder {} is not absolute",
            given.display()
        )));
    }
    match given.canonicalize() {
        Ok(path) if path.is_dir() => Ok(path),
        Ok(path) => Err(Refusal::invalid(format!(
            "{} is not a folder",
            path.display()
        ))),
        Err(error) => Err(
            Refusal::invalid(format!("the folder {}: {error}", given.display()))
                .hint("name a folder that exists"),
        ),
    }
}

fn title(given: Option<&str>, folder: &Path) -> Result<String, Refusal> {
    let title = given
        .map(str::trim)
        .filter(|it| !it.is_empty())
        .map(str::to_owned);
    let title = title.unwrap_or_else(|| {
        let name = folder.file_name().unwrap_or(folder.as_os_str());
        name.to_string_lossy().into_owned()
    });
    let units = title.encode_utf16().count();
    if limits::TITLE_UNITS < units {
        return Err(Refusal::invalid(format!(
            "title has {units} units, more than {}",
            limits::TITLE_UNITS
        )));
    }
    Ok(title
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect())
}

fn shown(chat: &ChatRecord) -> Chat {
    Chat {
        id: chat.id,
        title: chat.title.clone(),
        folder: chat.folder.clone(),
        created: clock::rfc3339(chat.created_ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_says_what_to_free_and_any_other_failure_where_to_look() {
        let full = broken(StoreError::NoSpace("13".to_owned()));
        assert_eq!((full.code, full.message), (503, Kind::OutOfResources));
        assert!(full.hint.unwrap().contains("free space"));
        let failed = || broken(StoreError::Failed("malformed".to_owned()));
        let (one, other) = (failed(), failed());
        assert_eq!((one.code, one.message), (500, Kind::Internal));
        assert_ne!(one.reason, other.reason);
        let reason = one.reason.unwrap();
        let id = reason.split_once("fault ").unwrap().1.trim_end_matches(')');
        assert!(one.hint.unwrap().contains(id), "{reason}");
    }
}
