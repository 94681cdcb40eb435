//! The store in one SQLite file, mode 0600. One thread owns the connection; callers await its answers.
//!
//! WAL with `synchronous = NORMAL`: a crash of the program loses nothing, a power cut at most the last records, and
//! with them no running program either.

mod rows;
#[cfg(test)]
mod tests;

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, ffi, params};
use tokio::sync::oneshot;
use wire::{ChatId, TerminalId};

use super::migrations::{KNOWN, STEPS};
use super::{Answer, ChatRecord, End, Store, StoreError, TerminalRecord};

/// Another process, such as a backup, may hold the file for a moment.
const BUSY: Duration = Duration::from_secs(5);

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// A store in one file.
pub struct Sqlite {
    jobs: mpsc::Sender<Job>,
}

impl Sqlite {
    /// Opens the file, made when it is not there, and brings it to this program's version.
    ///
    /// # Errors
    /// [`StoreError::Newer`] for a file of a newer program, else what the engine says.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        // The engine would make the file with the mode that the umask leaves.
        OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(path)
            .map_err(|error| unopened(&error, path))?;
        let mut connection = Connection::open(path).map_err(failed)?;
        prepare(&mut connection)?;
        let (jobs, queue) = mpsc::channel::<Job>();
        std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || queue.iter().for_each(|job| job(&mut connection)))
            .map_err(|error| StoreError::Failed(error.to_string()))?;
        Ok(Self { jobs })
    }

    fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Answer<'static, T> {
        let (tell, told) = oneshot::channel();
        // Sent before the first await, so that jobs run in the order in which they were asked for.
        let sent = self.jobs.send(Box::new(move |connection| {
            // Nobody listens when the caller went away; the work is done all the same.
            let _ = tell.send(work(connection));
        }));
        Box::pin(async move {
            let gone = || StoreError::Failed("the store's thread has ended".to_owned());
            sent.map_err(|_| gone())?;
            told.await.map_err(|_| gone())?
        })
    }
}

impl Store for Sqlite {
    fn add_chat(&self, chat: ChatRecord) -> Answer<'_, ()> {
        self.run(move |db| rows::add_chat(db, &chat))
    }

    fn chat(&self, id: ChatId) -> Answer<'_, Option<ChatRecord>> {
        self.run(move |db| rows::chats(db, "id = ?1", params![id.to_string()]).map(first))
    }

    fn chat_by_key(&self, owner: u32, key: String) -> Answer<'_, Option<ChatRecord>> {
        self.run(move |db| {
            let one = "owner = ?1 AND key = ?2 AND closed_ms IS NULL";
            rows::chats(db, one, params![owner, key]).map(first)
        })
    }

    fn open_chats(&self, owner: u32) -> Answer<'_, Vec<ChatRecord>> {
        self.run(move |db| {
            let newest = "owner = ?1 AND closed_ms IS NULL ORDER BY created_ms DESC, rowid DESC";
            rows::chats(db, newest, params![owner])
        })
    }

    fn close_chat(&self, id: ChatId, at_ms: i64) -> Answer<'_, ()> {
        self.run(move |db| {
            let sql = "UPDATE chats SET closed_ms = ?2 WHERE id = ?1 AND closed_ms IS NULL";
            db.execute(sql, params![id.to_string(), at_ms])
                .map_err(failed)?;
            Ok(())
        })
    }

    fn add_terminal(&self, terminal: TerminalRecord, most: usize) -> Answer<'_, ()> {
        self.run(move |db| rows::add_terminal(db, &terminal, most))
    }

    fn remove_terminal(&self, id: TerminalId) -> Answer<'_, ()> {
        self.run(move |db| {
            let sql = "DELETE FROM terminals WHERE id = ?1 AND ended_ms IS NULL";
            db.execute(sql, params![id.to_string()]).map_err(failed)?;
            Ok(())
        })
    }

    fn terminal(&self, chat: ChatId, id: TerminalId) -> Answer<'_, Option<TerminalRecord>> {
        self.run(move |db| rows::terminal(db, chat, id))
    }

    fn end_terminals(&self, ends: Vec<(TerminalId, End)>) -> Answer<'_, ()> {
        self.run(move |db| rows::end_terminals(db, &ends))
    }

    fn lose_terminals(&self, chat: ChatId, at_ms: i64) -> Answer<'_, ()> {
        self.run(move |db| {
            let sql = "UPDATE terminals SET ended_ms = ?2, lost = 1, ended_by = 'server'
                WHERE chat = ?1 AND ended_ms IS NULL";
            db.execute(sql, params![chat.to_string(), at_ms])
                .map_err(failed)?;
            Ok(())
        })
    }

    fn chats_with_live_terminals(&self) -> Answer<'_, Vec<ChatId>> {
        self.run(|db| rows::chats_with_live_terminals(db))
    }
}

fn prepare(db: &mut Connection) -> Result<(), StoreError> {
    db.busy_timeout(BUSY).map_err(failed)?;
    // Looked at before anything is written: a newer file must stay as it is.
    let found: u32 = db
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(failed)?;
    if KNOWN < found {
        return Err(StoreError::Newer {
            found,
            known: KNOWN,
        });
    }
    db.pragma_update(None, "journal_mode", "WAL")
        .map_err(failed)?;
    db.pragma_update(None, "synchronous", "NORMAL")
        .map_err(failed)?;
    db.pragma_update(None, "foreign_keys", true)
        .map_err(failed)?;
    for (version, sql) in (1..=KNOWN).zip(STEPS).skip(found as usize) {
        let change = db.transaction().map_err(failed)?;
        change.execute_batch(sql).map_err(failed)?;
        change
            .pragma_update(None, "user_version", version)
            .map_err(failed)?;
        change.commit().map_err(failed)?;
    }
    Ok(())
}

fn first<T>(rows: Vec<T>) -> Option<T> {
    rows.into_iter().next()
}

fn unopened(error: &std::io::Error, path: &Path) -> StoreError {
    let text = format!("{}: {error}", path.display());
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::NoSpace(text),
        _ => StoreError::Failed(text),
    }
}

#[allow(
    clippy::needless_pass_by_value,
    reason = "the shape that map_err takes"
)]
fn failed(error: rusqlite::Error) -> StoreError {
    // The engine reports a full disk as such, except where it sets up the memory that its connections share.
    let full = error.sqlite_error().is_some_and(|it| {
        it.code == ErrorCode::DiskFull || it.extended_code == ffi::SQLITE_IOERR_SHMSIZE
    });
    if full {
        StoreError::NoSpace(error.to_string())
    } else {
        StoreError::Failed(error.to_string())
    }
}
