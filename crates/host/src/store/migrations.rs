//! The steps from an empty database to the present one. A step that was released is never edited, only followed.

/// Step n leads from version n to n + 1; the version is kept in `user_version`.
pub(super) const STEPS: [&str; 1] = ["
    CREATE TABLE chats (
        id TEXT PRIMARY KEY,
        title TEXT NOT NULL,
        folder TEXT NOT NULL,
        owner INTEGER NOT NULL,
        key TEXT,
        env TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        closed_ms INTEGER
    ) STRICT;
    CREATE UNIQUE INDEX chats_by_key ON chats (owner, key) WHERE closed_ms IS NULL AND key IS NOT NULL;
    CREATE TABLE terminals (
        id TEXT PRIMARY KEY,
        chat TEXT NOT NULL REFERENCES chats (id),
        program TEXT NOT NULL,
        opened_ms INTEGER NOT NULL,
        ended_ms INTEGER,
        lost INTEGER NOT NULL DEFAULT 0,
        exit_code INTEGER,
        signal TEXT,
        ended_by TEXT
    ) STRICT;
    CREATE INDEX terminals_by_chat ON terminals (chat, ended_ms);
"];

/// The version that this program writes.
pub(super) const KNOWN: u32 = STEPS.len() as u32;
