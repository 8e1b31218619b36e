//! The schema's versions. A migration that has landed is never edited; a fixture database of each is migrated in tests.

use std::path::Path;
use std::time::{Duration, Instant};

use rootset_model::limits::WRITE_WAIT_MS;

use super::connection::Connection;
use crate::error::StoreError;
use crate::migrations::SQLITE;

/// Written into the file's header so that other tools, and we, can tell what the file is. ASCII "Root".
const APPLICATION_ID: i64 = 0x526F_6F74;

/// Between two tries to switch the journal: about as long as another process takes to look at the file.
const SWITCH_RETRY: Duration = Duration::from_millis(2);

/// The version this program reads and writes.
pub const SCHEMA_VERSION: i64 = SQLITE[SQLITE.len() - 1].0;

/// The version of the file, 0 for a new one; refuses files of other programs and of later versions of this one.
///
/// One snapshot: between reads of their own another process may create the tables, and the mixture of before and after
/// looks like somebody else's file.
pub fn version_of(connection: &mut Connection, path: &Path) -> Result<i64, StoreError> {
    connection.command("BEGIN DEFERRED")?;
    let version = version_in_transaction(connection, path);
    connection.command("ROLLBACK")?;
    version
}

fn version_in_transaction(connection: &mut Connection, path: &Path) -> Result<i64, StoreError> {
    let foreign = |detail| StoreError::NotADatabase { path: path.to_owned(), detail };
    let application = connection.pragma("PRAGMA application_id").map_err(|error| match error {
        StoreError::NotADatabase { detail, .. } => foreign(detail),
        other => other,
    })?;
    let version = connection.pragma("PRAGMA user_version")?;
    let is_empty = connection.pragma("SELECT COUNT(*) FROM (SELECT 1 FROM sqlite_schema LIMIT 1)")? == 0;
    match (application, version, is_empty) {
        (0, 0, true) => Ok(0),
        (APPLICATION_ID, found, _) if found > SCHEMA_VERSION => {
            Err(StoreError::SchemaNewer { found, known: SCHEMA_VERSION })
        }
        (APPLICATION_ID, found, _) => Ok(found),
        _ => Err(foreign("it belongs to another program")),
    }
}

/// Brings the file up to date in one transaction. The caller holds the write lock.
pub fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    switch_to_log(connection)?;
    connection.command("BEGIN IMMEDIATE")?;
    let result = run(connection, path).and_then(|()| connection.command("COMMIT"));
    // On a full disk SQLite has rolled back already.
    if result.is_err() && !connection.raw.is_autocommit() {
        connection.command("ROLLBACK")?;
    }
    result?;
    crate::failpoints::failpoint!("migrate.committed");
    Ok(())
}

/// The switch needs the file for itself, and SQLite does not ask its busy handler for it. Nobody writes while we hold the
/// lock, but others may look at the file, or roll back what a killed creator left behind: they are done in a moment.
fn switch_to_log(connection: &mut Connection) -> Result<(), StoreError> {
    let deadline = Instant::now() + Duration::from_millis(WRITE_WAIT_MS);
    loop {
        match connection.pragma_text("PRAGMA journal_mode = WAL") {
            Err(StoreError::Busy { .. }) if Instant::now() < deadline => std::thread::sleep(SWITCH_RETRY),
            Ok(mode) if mode != "wal" => {
                let message =
                    format!("the file system only allows the journal mode `{mode}`, write-ahead logging is needed");
                return Err(StoreError::Engine(message));
            }
            outcome => return outcome.map(drop),
        }
    }
}

fn run(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    // Asked again inside the transaction: another process may have been quicker.
    let found = version_in_transaction(connection, path)?;
    for (_, migration) in SQLITE.iter().filter(|(version, _)| *version > found) {
        connection.raw.execute_batch(migration)?;
        crate::failpoints::failpoint!("migrate.step");
    }
    connection
        .raw
        .execute_batch(&format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};"))?;
    Ok(())
}

/// An empty database of that version in memory, to compare others with.
pub fn fresh(version: i64) -> Result<rusqlite::Connection, StoreError> {
    let connection = rusqlite::Connection::open_in_memory()?;
    for (_, migration) in SQLITE.iter().filter(|(of, _)| *of <= version) {
        connection.execute_batch(migration)?;
    }
    Ok(connection)
}
