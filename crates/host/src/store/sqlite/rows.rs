//! Between records and rows of SQLite. Words of enums are their serde names, so that there is one spelling of each.

use std::path::PathBuf;

use rusqlite::types::Type;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, Row, params};
use wire::bash::EndedBy;
use wire::{ChatId, TerminalId};

use super::failed;
use crate::store::{ChatRecord, End, Ending, StoreError, TerminalRecord};

pub(super) fn add_chat(db: &Connection, chat: &ChatRecord) -> Result<(), StoreError> {
    let env = serde_json::to_string(&chat.env).map_err(|it| StoreError::Failed(it.to_string()))?;
    let Some(folder) = chat.folder.to_str() else {
        return Err(StoreError::Failed(
            "the folder's name is not UTF-8".to_owned(),
        ));
    };
    let sql = "INSERT INTO chats (id, title, folder, owner, key, env, created_ms, closed_ms)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let id = chat.id.to_string();
    db.execute(
        sql,
        params![
            id,
            chat.title,
            folder,
            chat.owner,
            chat.key,
            env,
            chat.created_ms,
            chat.closed_ms
        ],
    )
    .map_err(|error| taken(error, StoreError::KeyTaken))?;
    Ok(())
}

pub(super) fn chats(
    db: &Connection,
    condition: &str,
    values: impl Params,
) -> Result<Vec<ChatRecord>, StoreError> {
    let sql = format!(
        "SELECT id, title, folder, owner, key, env, created_ms, closed_ms FROM chats WHERE {condition}"
    );
    let mut query = db.prepare_cached(&sql).map_err(failed)?;
    let rows = query.query_map(values, chat).map_err(failed)?;
    rows.collect::<Result<_, _>>().map_err(failed)
}

pub(super) fn add_terminal(
    db: &mut Connection,
    terminal: &TerminalRecord,
    most: usize,
) -> Result<(), StoreError> {
    let change = db.transaction().map_err(failed)?;
    let chat = terminal.chat.to_string();
    let count = "SELECT count(*) FROM terminals WHERE chat = ?1 AND ended_ms IS NULL";
    let live: u32 = change
        .query_row(count, params![chat], |row| row.get(0))
        .map_err(failed)?;
    if most <= live as usize {
        return Err(StoreError::Full);
    }
    let sql = "INSERT INTO terminals (id, chat, program, opened_ms) VALUES (?1, ?2, ?3, ?4)";
    change
        .execute(
            sql,
            params![
                terminal.id.to_string(),
                chat,
                terminal.program,
                terminal.opened_ms
            ],
        )
        .map_err(|error| taken(error, StoreError::IdTaken))?;
    change.commit().map_err(failed)
}

pub(super) fn terminal(
    db: &Connection,
    chat: ChatId,
    id: TerminalId,
) -> Result<Option<TerminalRecord>, StoreError> {
    let sql = "SELECT program, opened_ms, ended_ms, lost, exit_code, signal, ended_by
        FROM terminals WHERE id = ?1 AND chat = ?2";
    db.query_row(sql, params![id.to_string(), chat.to_string()], |row| {
        Ok(TerminalRecord {
            id,
            chat,
            program: row.get(0)?,
            opened_ms: row.get(1)?,
            end: end(row)?,
        })
    })
    .optional()
    .map_err(failed)
}

pub(super) fn end_terminals(
    db: &mut Connection,
    ends: &[(TerminalId, End)],
) -> Result<(), StoreError> {
    let change = db.transaction().map_err(failed)?;
    let sql =
        "UPDATE terminals SET ended_ms = ?2, lost = ?3, exit_code = ?4, signal = ?5, ended_by = ?6
        WHERE id = ?1 AND (ended_ms IS NULL OR lost = 1)";
    for (id, end) in ends {
        let id = id.to_string();
        match &end.how {
            Ending::Reaped {
                exit_code,
                signal,
                ended_by,
            } => change.execute(
                sql,
                params![id, end.at_ms, false, exit_code, signal, word(*ended_by)],
            ),
            Ending::Lost => change.execute(
                sql,
                params![
                    id,
                    end.at_ms,
                    true,
                    None::<i32>,
                    None::<String>,
                    word(EndedBy::Server)
                ],
            ),
        }
        .map_err(failed)?;
    }
    change.commit().map_err(failed)
}

pub(super) fn chats_with_live_terminals(db: &Connection) -> Result<Vec<ChatId>, StoreError> {
    let sql = "SELECT DISTINCT chat FROM terminals WHERE ended_ms IS NULL";
    let mut query = db.prepare(sql).map_err(failed)?;
    let rows = query.query_map([], |row| parsed(row, 0)).map_err(failed)?;
    rows.collect::<Result<_, _>>().map_err(failed)
}

fn chat(row: &Row<'_>) -> rusqlite::Result<ChatRecord> {
    let env: String = row.get(5)?;
    Ok(ChatRecord {
        id: parsed(row, 0)?,
        title: row.get(1)?,
        folder: PathBuf::from(row.get::<_, String>(2)?),
        owner: row.get(3)?,
        key: row.get(4)?,
        env: serde_json::from_str(&env).map_err(|error| unreadable(5, error))?,
        created_ms: row.get(6)?,
        closed_ms: row.get(7)?,
    })
}

fn end(row: &Row<'_>) -> rusqlite::Result<Option<End>> {
    let Some(at_ms) = row.get(2)? else {
        return Ok(None);
    };
    let how = if row.get(3)? {
        Ending::Lost
    } else {
        let ended_by: String = row.get(6)?;
        Ending::Reaped {
            exit_code: row.get(4)?,
            signal: row.get(5)?,
            ended_by: serde_json::from_value(ended_by.into())
                .map_err(|error| unreadable(6, error))?,
        }
    };
    Ok(Some(End { at_ms, how }))
}

fn parsed<T: std::str::FromStr<Err = wire::BadId>>(
    row: &Row<'_>,
    at: usize,
) -> rusqlite::Result<T> {
    let text: String = row.get(at)?;
    text.parse().map_err(|error| unreadable(at, error))
}

fn unreadable(at: usize, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(at, Type::Text, Box::new(error))
}

fn word(ended_by: EndedBy) -> &'static str {
    match ended_by {
        EndedBy::Program => "program",
        EndedBy::Close => "close",
        EndedBy::Outside => "outside",
        EndedBy::Server => "server",
    }
}

/// Tells a primary key that is in use from the other unique index of the table.
fn taken(error: rusqlite::Error, otherwise: StoreError) -> StoreError {
    let rusqlite::Error::SqliteFailure(code, _) = &error else {
        return failed(error);
    };
    match (code.code, code.extended_code) {
        (ErrorCode::ConstraintViolation, rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY) => {
            StoreError::IdTaken
        }
        (ErrorCode::ConstraintViolation, rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE) => otherwise,
        _ => failed(error),
    }
}
