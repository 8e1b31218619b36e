//! Copies of a SQLite database: making one while others write, looking into one that came from anywhere, and rebuilding
//! the database itself without the pages it no longer needs.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use rusqlite::OpenFlags;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::config::DbConfig;

use super::connection::Connection;
use super::migrate;
use super::{search, unused};
use crate::driver::SearchIndex;
use crate::error::StoreError;
use crate::failpoints::failpoint;

/// Copies one snapshot into an empty file. All pages in one step: a reader among others, who holds up no writer, and whom
/// no write makes start again. `VACUUM INTO` leaves out free pages, but took 1.4 times as long over 174 MB, and for so
/// long the log of the source cannot be emptied.
pub fn copy(source: &rusqlite::Connection, destination: &Path) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut target = rusqlite::Connection::open_with_flags(destination, flags)?;
    let step = Backup::new(source, &mut target)?.step(-1)?;
    if step != StepResult::Done {
        return Err(StoreError::Busy { waited_ms: 0 });
    }
    failpoint!("backup.copied");
    // A copy is one file that needs no log beside it.
    target.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
    let had_key = remove_signing_key(&target)?;
    drop(target);
    let mut file = File::options().read(true).write(had_key).open(destination);
    if had_key && let Ok(file) = &mut file {
        // Where its row once stood, too.
        unused::clear(file).map_err(|error| crate::backup::trouble(destination, &error))?;
    }
    file.and_then(|file| file.sync_all()).map_err(|error| crate::backup::trouble(destination, &error))?;
    Ok(())
}

/// Whoever holds a copy must not be able to sign receipts in the name of the original. The journal of the change would
/// hold the key once more: it stays in memory. Answers whether there was one.
fn remove_signing_key(copy: &rusqlite::Connection) -> Result<bool, StoreError> {
    copy.query_row("PRAGMA journal_mode = MEMORY", [], |_| Ok(()))?;
    copy.query_row("PRAGMA secure_delete = ON", [], |_| Ok(()))?;
    Ok(copy.execute("DELETE FROM meta WHERE key = 'signing_key'", [])? > 0)
}

/// Opens a file that nobody writes, and that nobody here believes: logs beside it are not looked at, nothing in its
/// schema is run.
pub fn open(path: &Path) -> Result<rusqlite::Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let raw = rusqlite::Connection::open_with_flags(uri(path), flags)?;
    raw.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    raw.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    raw.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    raw.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    raw.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    raw.execute_batch("PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;")?;
    Ok(raw)
}

fn uri(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = String::from("file:");
    for &byte in absolute.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

/// What is in a copy.
#[derive(Debug, Default)]
pub struct Inspected {
    pub schema_version: i64,
    pub ledger_key: Vec<u8>,
    /// Rows per table.
    pub tables: BTreeMap<String, i64>,
    /// What is wrong, in words.
    pub problems: Vec<String>,
}

/// Looks at all of a copy: is it ours, is it whole, is there anything in it that we did not make, how many rows.
pub fn inspect(path: &Path) -> Result<Inspected, StoreError> {
    let mut connection = Connection::new(open(path)?)?;
    let schema_version = migrate::version_of(&mut connection, path)?;
    let mut problems = connection.integrity()?;
    problems.extend(strangers(&connection, schema_version)?);
    let (mut tables, mut ledger_key) = (BTreeMap::new(), Vec::new());
    if problems.is_empty() {
        tables = counts(&connection)?;
        ledger_key =
            connection.raw.query_row("SELECT value FROM meta WHERE key = 'erasure_key'", [], |row| row.get(0))?;
    }
    Ok(Inspected { schema_version, ledger_key, tables, problems })
}

/// Tables, indexes, views and triggers that a database of this version does not have, or has otherwise.
fn strangers(connection: &Connection, schema_version: i64) -> Result<Vec<String>, StoreError> {
    let fresh = migrate::fresh(schema_version)?;
    let wanted: BTreeMap<String, Option<String>> = schema(&fresh)?.into_iter().collect();
    let found = schema(&connection.raw)?;
    let mut problems = Vec::new();
    for (name, sql) in &found {
        let is_known = match wanted.get(name) {
            Some(wanted) => wanted == sql,
            None => search::is_own(name, sql.as_deref()),
        };
        if !is_known {
            problems.push(format!("`{}` in its schema is not ours", name.chars().take(80).collect::<String>()));
        }
    }
    let missing = wanted.keys().filter(|name| !found.iter().any(|(it, _)| it == *name));
    problems.extend(missing.map(|name| format!("`{name}` is missing in its schema")));
    Ok(problems)
}

fn schema(raw: &rusqlite::Connection) -> Result<Vec<(String, Option<String>)>, StoreError> {
    let mut statement =
        raw.prepare("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Rows of every table; full text as one number per index, over all workspaces.
pub fn counts(connection: &Connection) -> Result<BTreeMap<String, i64>, StoreError> {
    let raw = &connection.raw;
    let count = |table: &str| -> Result<i64, StoreError> {
        Ok(raw.query_row(&format!("SELECT COUNT(*) FROM \"{table}\""), [], |row| row.get(0))?)
    };
    let mut tables: BTreeMap<String, i64> =
        SearchIndex::ALL.iter().map(|index| (format!("search_{}", index.as_str()), 0)).collect();
    let mut statement = raw.prepare(
        "SELECT name FROM sqlite_schema
         WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    )?;
    let names: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for name in names {
        match search::index_of(&name) {
            None => drop(tables.insert(name.clone(), count(&name)?)),
            // One shadow table of each full-text table has a row per row.
            Some(index) if name.ends_with("_docsize") => {
                *tables.entry(format!("search_{}", index.as_str())).or_default() += count(&name)?;
            }
            Some(_) => {}
        }
    }
    Ok(tables)
}

/// Rebuilds the file without free pages and dead full-text segments. The caller holds the write lock; the rebuild is
/// SQLite's own transaction, so that a crash leaves the file as it was or as it should be.
pub fn compact(connection: &mut Connection) -> Result<(), StoreError> {
    // A copy of the database passes through here: in a file, not in memory.
    connection.raw.execute_batch("PRAGMA temp_store = FILE")?;
    let before = counts(connection)?;
    failpoint!("defrag.begun");
    search::optimize(connection)?;
    failpoint!("defrag.optimized");
    connection.raw.execute_batch("VACUUM")?;
    failpoint!("defrag.rebuilt");
    let mut problems = connection.integrity()?;
    if counts(connection)? != before {
        problems.push("rows are missing after the rebuild".to_owned());
    }
    if problems.is_empty() { Ok(()) } else { Err(StoreError::Damaged(problems.join("; "))) }
}
