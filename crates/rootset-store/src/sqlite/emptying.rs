//! Emptying the write-ahead log so that nothing that was removed can come back from it, whatever happens to the power.
//!
//! A checkpoint moves pages into the database and truncates the log, but does not make the truncation durable: a log that
//! comes back after a power cut holds everything that was erased. And what is truncated is not overwritten. So:
//!
//! 1. A checkpoint moves every page into the database, which is synced. Nobody needs the log any more.
//! 2. What lies in pages of the database and no row uses is cleared ([`super::unused`]).
//! 3. A transaction of one page begins the log anew. What lies behind its frames bears another salt: neither readers nor
//!    recovery look at it, in whatever order the rest arrives on the disk.
//! 4. That rest is overwritten and synced while a transaction keeps other programs from writing.
//! 5. The log is truncated and synced.
//!
//! SQLite has its locks on the database and on the shared index, none on the log: it may be opened and closed here.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use rootset_model::limits::WRITE_WAIT_MS;

use super::connection::Connection;
use super::migrate::SCHEMA_VERSION;
use super::own_file::OwnFile;
use crate::error::StoreError;

/// Readers of this very moment are not worth waiting a minute for: the answer says so and somebody retries.
const READERS_WAIT: Duration = Duration::from_millis(200);
/// The head of the log, and of each frame before its page.
const HEAD_BYTES: u64 = 32;
const FRAME_HEAD_BYTES: u64 = 24;

/// Empties the log for good; `false` while a reader still needs it. The caller holds the write lock.
pub fn erase(connection: &mut Connection, log: &Path, database: Option<&OwnFile>) -> Result<bool, StoreError> {
    if size(log) > 0 {
        if !checkpoint(connection, "RESTART")? {
            return Ok(false);
        }
        if let Some(database) = database {
            connection.command("BEGIN IMMEDIATE")?;
            let cleared = database.clear_unused();
            connection.command("ROLLBACK")?;
            cleared.map_err(|error| StoreError::Io(error.to_string()))?;
        }
        // A change after that: pages that others read before are not written again.
        begin_anew(connection)?;
        connection.command("BEGIN IMMEDIATE")?;
        let overwritten = overwrite_rest(log);
        connection.command("ROLLBACK")?;
        overwritten.map_err(|error| StoreError::of_file(log, &error))?;
    }
    if !checkpoint(connection, "TRUNCATE")? {
        return Ok(false);
    }
    sync(log).map_err(|error| StoreError::of_file(log, &error))?;
    Ok(true)
}

/// Makes the log small, because its room is needed; what was in it may still be on the disk.
pub fn shrink(connection: &mut Connection) -> Result<bool, StoreError> {
    checkpoint(connection, "TRUNCATE")
}

fn checkpoint(connection: &mut Connection, mode: &str) -> Result<bool, StoreError> {
    connection.raw.busy_timeout(READERS_WAIT)?;
    let busy = connection.pragma(&format!("PRAGMA wal_checkpoint({mode})"));
    connection.raw.busy_timeout(Duration::from_millis(WRITE_WAIT_MS))?;
    Ok(busy? == 0)
}

/// Writes the first page as it is. Frames behind it that an earlier transaction left are dead then, also those of a commit
/// that failed after it was written.
pub fn begin_anew(connection: &mut Connection) -> Result<(), StoreError> {
    connection.command("BEGIN IMMEDIATE")?;
    let rewritten = connection
        .check_schema()
        .and_then(|()| Ok(connection.raw.execute_batch(&format!("PRAGMA user_version = {SCHEMA_VERSION}"))?))
        .and_then(|()| connection.command("COMMIT"));
    if rewritten.is_err() && !connection.raw.is_autocommit() {
        connection.command("ROLLBACK")?;
    }
    rewritten
}

fn size(log: &Path) -> u64 {
    std::fs::metadata(log).map_or(0, |it| it.len())
}

fn overwrite_rest(log: &Path) -> std::io::Result<()> {
    const ZEROS: &[u8] = &[0; 64 * 1024];
    let mut file = OpenOptions::new().read(true).write(true).open(log)?;
    let end = file.metadata()?.len();
    let mut from = end_of_frames(&mut file, end)?;
    file.seek(SeekFrom::Start(from))?;
    while from < end {
        let bytes = (end - from).min(ZEROS.len() as u64);
        file.write_all(&ZEROS[..bytes as usize])?;
        from += bytes;
    }
    file.sync_data()
}

/// Where the frames end that bear the salt of the log's head.
fn end_of_frames(file: &mut File, end: u64) -> std::io::Result<u64> {
    let mut head = [0; HEAD_BYTES as usize];
    file.seek(SeekFrom::Start(0))?;
    if let Err(error) = file.read_exact(&mut head) {
        return if error.kind() == ErrorKind::UnexpectedEof { Ok(0) } else { Err(error) };
    }
    let page_bytes = u64::from(u32::from_be_bytes([head[8], head[9], head[10], head[11]]));
    let mut at = HEAD_BYTES;
    while at + FRAME_HEAD_BYTES + page_bytes <= end {
        let mut frame = [0; FRAME_HEAD_BYTES as usize];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut frame)?;
        if frame[8..16] != head[16..24] {
            break;
        }
        at += FRAME_HEAD_BYTES + page_bytes;
    }
    Ok(at)
}

/// The truncation, that is: what was cut off must not come back.
fn sync(log: &Path) -> std::io::Result<()> {
    match File::open(log) {
        Ok(file) => file.sync_all(),
        // Nobody has written since it was removed.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(folder: &Path) -> (Connection, std::path::PathBuf) {
        let path = folder.join("x.db");
        let raw = rusqlite::Connection::open(&path).unwrap();
        raw.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).unwrap();
        raw.execute_batch(&format!("PRAGMA user_version = {SCHEMA_VERSION}; CREATE TABLE notes (text TEXT)")).unwrap();
        (Connection::new(raw).unwrap(), folder.join("x.db-wal"))
    }

    fn write(connection: &Connection, text: &str) {
        for _ in 0..20 {
            connection.raw.execute("INSERT INTO notes VALUES (?1)", [text.repeat(100)]).unwrap();
        }
    }

    fn holds(log: &Path, text: &str) -> bool {
        super::super::own_file::contains(&mut File::open(log).unwrap(), &[text.as_bytes().to_vec()]).unwrap()
    }

    #[test]
    fn log_is_overwritten_before_it_is_cut_off_and_nothing_else_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let (mut connection, log) = database(folder.path());
        write(&connection, "a secret of the log ");
        assert!(checkpoint(&mut connection, "RESTART").unwrap());
        begin_anew(&mut connection).unwrap();
        assert!(holds(&log, "a secret of the log "), "a new beginning alone leaves it there");
        let length = size(&log);
        overwrite_rest(&log).unwrap();
        assert!(!holds(&log, "a secret of the log ") && size(&log) == length);
        // The frames of the new beginning are untouched: a reader that knows nothing of this finds all rows.
        let rows = |path: &Path| -> i64 {
            let other = rusqlite::Connection::open(path).unwrap();
            other.query_row("SELECT COUNT(*) FROM notes", [], |row| row.get(0)).unwrap()
        };
        assert_eq!(rows(&folder.path().join("x.db")), 20);
        write(&connection, "another text ");
        assert!(erase(&mut connection, &log, None).unwrap());
        assert_eq!((size(&log), rows(&folder.path().join("x.db"))), (0, 40));
    }

    #[test]
    fn log_that_a_reader_needs_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (mut connection, log) = database(folder.path());
        write(&connection, "a text ");
        let reader = rusqlite::Connection::open(folder.path().join("x.db")).unwrap();
        reader.execute_batch("BEGIN; SELECT COUNT(*) FROM notes").unwrap();
        write(&connection, "a later text ");
        assert!(!erase(&mut connection, &log, None).unwrap());
        let rows: i64 = reader.query_row("SELECT COUNT(*) FROM notes", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 20);
        drop(reader);
        assert!(erase(&mut connection, &log, None).unwrap());
    }
}
