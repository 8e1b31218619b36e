//! The schema on a server, made or changed by one process at a time, under a lock that every writer shares.
//!
//! A migration is one transaction: killed at any point, nothing of it is left. Numbers are those of SQLite's schema: both
//! engines have the same tables.

use tokio_postgres::error::SqlState;

use super::connection::Connection;
use super::durability;
use super::error::{describe, statement_error};
use crate::SCHEMA_VERSION;
use crate::driver::DurabilitySetting;
use crate::error::StoreError;
use crate::migrations::POSTGRES;

/// Held by whoever changes the schema, shared by whoever writes. No workspace has this number.
pub const SCHEMA_LOCK: i64 = 0x526F_6F74_FFFF_FFFF;

/// The first that tells whether a role may be taken on (`pg_has_role … SET`), and the oldest that is worth testing with.
const SERVER_VERSION_MIN: (i64, &str) = (160_000, "16");

/// Brings the schema up to date; refuses later ones. Answers the version that was found, 0 for none.
pub fn migrate(connection: &Connection, place: &str) -> Result<i64, StoreError> {
    let found = version(connection)?;
    if found > SCHEMA_VERSION {
        return Err(StoreError::SchemaNewer { found, known: SCHEMA_VERSION });
    }
    if found == SCHEMA_VERSION {
        return Ok(found);
    }
    connection.command("BEGIN ISOLATION LEVEL READ COMMITTED")?;
    let outcome = change(connection, place).and_then(|found| connection.command("COMMIT").map(|()| found));
    if outcome.is_err() && connection.is_open() {
        // The reason is what the caller should hear of; a connection that is gone has rolled back.
        connection.command("ROLLBACK").ok();
    }
    let found = outcome?;
    crate::failpoints::failpoint!("migrate.committed");
    Ok(found)
}

/// Whether there is nothing to bring up to date, and nothing that this program does not know.
pub fn is_up_to_date(connection: &Connection) -> Result<bool, StoreError> {
    Ok(version(connection)? == SCHEMA_VERSION)
}

/// Refuses servers that are too old; answers what the others promise.
pub fn check_server(connection: &Connection, place: &str) -> Result<Vec<DurabilitySetting>, StoreError> {
    let asked = format!("SELECT current_setting('server_version_num')::BIGINT, {}", durability::COLUMNS);
    let rows = connection.query(&asked, &[])?;
    let unreadable = |_| StoreError::UnreadableValue("the version of the server");
    let row = rows.first().ok_or(StoreError::MissingRow { statement: "server_version" })?;
    let number: i64 = row.try_get(0).map_err(unreadable)?;
    if number >= SERVER_VERSION_MIN.0 {
        durability::settings(row, 1)
    } else {
        Err(StoreError::ServerTooOld {
            place: place.to_owned(),
            found: format!("{}.{}", number / 10_000, number % 10_000),
            wanted: SERVER_VERSION_MIN.1,
        })
    }
}

/// 0 where there is no schema yet.
fn version(connection: &Connection) -> Result<i64, StoreError> {
    if !connection.has_table("schema_version")? {
        return Ok(0);
    }
    let rows = connection.query("SELECT version FROM schema_version", &[])?;
    Ok(rows.first().map_or(0, |row| row.get(0)))
}

/// Answers the version that was found.
fn change(connection: &Connection, place: &str) -> Result<i64, StoreError> {
    connection.command(&format!("SELECT pg_advisory_xact_lock({SCHEMA_LOCK})"))?;
    // Asked again under the lock: another process may have been quicker.
    let found = version(connection)?;
    if (1..SCHEMA_VERSION).contains(&found) {
        // Every transaction reads it as it begins: those that know the old schema end first.
        connection.command("LOCK TABLE schema_version IN ACCESS EXCLUSIVE MODE")?;
    }
    // The first ones make everything.
    for (version, text) in POSTGRES.iter().filter(|(version, _)| *version > found) {
        let done = connection.wait(connection.client.batch_execute(text));
        done.map_err(|error| refusal(&error, place))?;
        crate::failpoints::failpoint!("migrate.step");
        connection.command(&format!("UPDATE schema_version SET version = {version}"))?;
    }
    Ok(found)
}

fn refusal(error: &tokio_postgres::Error, place: &str) -> StoreError {
    match error.code() {
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
            StoreError::RoleLacksRights { place: place.to_owned(), detail: describe(error) }
        }
        Some(&SqlState::DUPLICATE_TABLE) => {
            StoreError::NotADatabase { path: place.into(), detail: "it holds tables of another program" }
        }
        _ => statement_error(error),
    }
}
