//! The store against a real file.

use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;
use wire::bash::EndedBy;

use super::*;
use crate::store::Ending;

fn store() -> (TempDir, Sqlite) {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(&folder.path().join("a.db")).unwrap();
    (folder, store)
}

fn chat(n: u64, key: Option<&str>) -> ChatRecord {
    ChatRecord {
        id: ChatId::from_random(n),
        title: format!("chat {n}"),
        folder: "/tmp".into(),
        owner: 1000,
        key: key.map(str::to_owned),
        env: vec![("LANG".to_owned(), "C.UTF-8".to_owned())],
        created_ms: 5,
        closed_ms: None,
    }
}

fn terminal(n: u64) -> TerminalRecord {
    TerminalRecord {
        id: TerminalId::from_random(n),
        chat: ChatId::from_random(1),
        program: "vim".to_owned(),
        opened_ms: 6,
        end: None,
    }
}

#[tokio::test]
async fn a_full_disk_is_told_from_other_failures() {
    let (_folder, store) = store();
    let full = store.run(|db| {
        // The engine treats the bound like the end of the disk.
        db.execute_batch("PRAGMA max_page_count = 1")
            .map_err(failed)?;
        let sql = "CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(1000000))";
        db.execute_batch(sql).map_err(failed)
    });
    let full = full.await;
    assert!(matches!(full, Err(StoreError::NoSpace(_))), "{full:?}");
    let other = store.run(|db| db.execute_batch("nonsense").map_err(failed));
    let other = other.await;
    assert!(matches!(other, Err(StoreError::Failed(_))), "{other:?}");
    let open = unopened(&ErrorKind::StorageFull.into(), Path::new("/d/a.db"));
    assert!(matches!(open, StoreError::NoSpace(_)), "{open:?}");
}

#[tokio::test]
async fn records_are_there_after_the_file_was_closed_and_opened_again() {
    let (folder, store) = store();
    store.add_chat(chat(1, None)).await.unwrap();
    store.add_terminal(terminal(2), 9).await.unwrap();
    drop(store);
    let store = Sqlite::open(&folder.path().join("a.db")).unwrap();
    assert_eq!(
        store.chat(ChatId::from_random(1)).await.unwrap(),
        Some(chat(1, None))
    );
    let read = store
        .terminal(ChatId::from_random(1), TerminalId::from_random(2))
        .await
        .unwrap();
    assert_eq!(read, Some(terminal(2)));
    assert_eq!(
        store.chats_with_live_terminals().await.unwrap(),
        [ChatId::from_random(1)]
    );
}

#[tokio::test]
async fn a_taken_id_is_told_apart_from_a_taken_key() {
    let (_folder, store) = store();
    store.add_chat(chat(1, Some("/a"))).await.unwrap();
    assert_eq!(
        store.add_chat(chat(1, None)).await,
        Err(StoreError::IdTaken)
    );
    assert_eq!(
        store.add_chat(chat(2, Some("/a"))).await,
        Err(StoreError::KeyTaken)
    );
    store.add_terminal(terminal(2), 9).await.unwrap();
    assert_eq!(
        store.add_terminal(terminal(2), 9).await,
        Err(StoreError::IdTaken)
    );
}

#[tokio::test]
async fn a_closed_chat_frees_its_key_and_leaves_the_list() {
    let (_folder, store) = store();
    store.add_chat(chat(1, Some("/a"))).await.unwrap();
    store.close_chat(ChatId::from_random(1), 8).await.unwrap();
    assert_eq!(
        store.chat_by_key(1000, "/a".to_owned()).await.unwrap(),
        None
    );
    store.add_chat(chat(2, Some("/a"))).await.unwrap();
    let open: Vec<ChatId> = store
        .open_chats(1000)
        .await
        .unwrap()
        .iter()
        .map(|it| it.id)
        .collect();
    assert_eq!(open, [ChatId::from_random(2)]);
    assert!(store.open_chats(1001).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_count_of_live_terminals_is_bounded_and_an_end_frees_a_place() {
    let (_folder, store) = store();
    store.add_chat(chat(1, None)).await.unwrap();
    store.add_terminal(terminal(1), 2).await.unwrap();
    store.add_terminal(terminal(2), 2).await.unwrap();
    assert_eq!(
        store.add_terminal(terminal(3), 2).await,
        Err(StoreError::Full)
    );
    let end = End {
        at_ms: 9,
        how: Ending::Reaped {
            exit_code: Some(3),
            signal: None,
            ended_by: EndedBy::Outside,
        },
    };
    store
        .end_terminals(vec![(TerminalId::from_random(1), end.clone())])
        .await
        .unwrap();
    store.add_terminal(terminal(3), 2).await.unwrap();
    let read = store
        .terminal(ChatId::from_random(1), TerminalId::from_random(1))
        .await
        .unwrap();
    assert_eq!(read.unwrap().end, Some(end));
}

#[tokio::test]
async fn losing_a_chats_terminals_leaves_known_ends_alone() {
    let (_folder, store) = store();
    store.add_chat(chat(1, None)).await.unwrap();
    store.add_terminal(terminal(1), 9).await.unwrap();
    store.add_terminal(terminal(2), 9).await.unwrap();
    let how = Ending::Reaped {
        exit_code: Some(0),
        signal: None,
        ended_by: EndedBy::Program,
    };
    store
        .end_terminals(vec![(TerminalId::from_random(1), End { at_ms: 7, how })])
        .await
        .unwrap();
    store
        .lose_terminals(ChatId::from_random(1), 9)
        .await
        .unwrap();
    let first = store
        .terminal(ChatId::from_random(1), TerminalId::from_random(1))
        .await
        .unwrap();
    assert!(matches!(
        first.unwrap().end.unwrap().how,
        Ending::Reaped { .. }
    ));
    let second = store
        .terminal(ChatId::from_random(1), TerminalId::from_random(2))
        .await
        .unwrap();
    assert_eq!(
        second.unwrap().end,
        Some(End {
            at_ms: 9,
            how: Ending::Lost
        })
    );
}

#[tokio::test]
async fn a_database_of_a_newer_program_is_refused_and_left_as_it_is() {
    let (folder, store) = store();
    drop(store);
    let path = folder.path().join("a.db");
    let raw = Connection::open(&path).unwrap();
    raw.pragma_update(None, "user_version", 99).unwrap();
    drop(raw);
    let error = Sqlite::open(&path).err().unwrap();
    assert_eq!(
        error,
        StoreError::Newer {
            found: 99,
            known: KNOWN
        }
    );
    assert!(error.to_string().contains("update sidestick"));
}

#[test]
fn only_the_owner_may_read_the_file() {
    let (folder, _store) = store();
    let mode = std::fs::metadata(folder.path().join("a.db"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}
