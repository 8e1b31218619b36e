//! Clearing the bytes of pages that no row uses.
//!
//! `secure_delete` clears what is deleted where it stands. But when SQLite moves rows from one page to another, what they
//! leave behind is not cleared: between the pointers of the old page and its first row there can be a whole row that is
//! erased later, somewhere else. Those bytes mean nothing to SQLite, so they can be cleared in the file, and a write that
//! is cut off there does no harm.
//!
//! The caller keeps everybody from writing, has every page moved out of the log, and changes the database afterwards, so
//! that nobody writes a page again that they read before.

use std::fs::File;
use std::io::{Read, Result, Seek, SeekFrom, Write};
use std::ops::Range;

/// So large a file may have pages of other kinds that begin like pages of rows: numbers of pages with a high first byte.
const PAGES_MAX: u64 = 1 << 25;
const FILE_HEAD_BYTES: usize = 100;
/// SQLite locks bytes here, and keeps nothing in their page.
const LOCKED_BYTE: u64 = 1 << 30;
/// Read at once; a multiple of every page size.
const WINDOW_BYTES: usize = 1 << 20;

/// Clears them and makes that durable; answers in how many pages there was something.
pub fn clear(file: &mut File) -> Result<usize> {
    let mut head = [0; FILE_HEAD_BYTES];
    file.seek(SeekFrom::Start(0))?;
    if file.read_exact(&mut head).is_err() {
        return Ok(0);
    }
    let page_bytes = match u16::from_be_bytes([head[16], head[17]]) {
        1 => 1 << 16,
        bytes => usize::from(bytes),
    };
    let length = file.metadata()?.len();
    let moves_pages = head[52..56] != [0; 4];
    if page_bytes < 512 || length / page_bytes as u64 >= PAGES_MAX || moves_pages {
        return Ok(0);
    }
    let usable_bytes = page_bytes - usize::from(head[20]);
    let mut cleared = 0;
    let mut window = vec![0; WINDOW_BYTES];
    let mut at = 0;
    while at < length {
        let filled = (length - at).min(WINDOW_BYTES as u64) as usize;
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut window[..filled])?;
        for (number, page) in window[..filled].chunks_exact(page_bytes).enumerate() {
            let page_at = at + (number * page_bytes) as u64;
            let is_locked = (page_at..page_at + page_bytes as u64).contains(&LOCKED_BYTE);
            let head_at = if page_at == 0 { FILE_HEAD_BYTES } else { 0 };
            let unused = unused(&page[..usable_bytes], head_at).filter(|_| !is_locked);
            if let Some(unused) = unused.filter(|it| page[it.clone()].iter().any(|byte| *byte != 0)) {
                file.seek(SeekFrom::Start(page_at + unused.start as u64))?;
                file.write_all(&vec![0; unused.len()])?;
                cleared += 1;
            }
        }
        at += filled as u64;
    }
    if cleared > 0 {
        file.sync_data()?;
    }
    Ok(cleared)
}

/// The bytes between the pointers of a page and its first row; `None` for a page that has no rows, or is damaged.
fn unused(page: &[u8], head_at: usize) -> Option<Range<usize>> {
    let number = |at: usize| page.get(at..at + 2).map(|it| usize::from(u16::from_be_bytes([it[0], it[1]])));
    let head_bytes = match page.get(head_at)? {
        2 | 5 => 12,
        10 | 13 => 8,
        _ => return None,
    };
    let rows = number(head_at + 3)?;
    let first_row = match number(head_at + 5)? {
        0 => 1 << 16,
        at => at,
    };
    let pointers = head_at + head_bytes;
    let end = pointers + 2 * rows;
    let is_whole = end <= first_row
        && first_row <= page.len()
        && (0..rows).all(|row| number(pointers + 2 * row).is_some_and(|at| (first_row..page.len()).contains(&at)));
    is_whole.then_some(end..first_row)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of a table without row ids, as ours are, come in no order and go in no order.
    fn database(path: &std::path::Path) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(path).expect("a file");
        connection
            .execute_batch(
                "PRAGMA secure_delete = ON;
                 CREATE TABLE rows (key BLOB NOT NULL PRIMARY KEY, number INTEGER, text TEXT) WITHOUT ROWID;",
            )
            .expect("a table");
        for number in 0..2_000_i64 {
            let key = blake3::hash(&number.to_le_bytes());
            let text = format!("erased{number:06}end {}", "x".repeat((number % 97) as usize));
            connection
                .execute("INSERT INTO rows VALUES (?1, ?2, ?3)", rusqlite::params![key.as_bytes(), number, text])
                .expect("a row");
        }
        connection.execute("DELETE FROM rows WHERE number % 3 != 0", []).expect("deleted");
        connection
    }

    /// Numbers of texts that the file still holds and should not.
    fn left(path: &std::path::Path) -> Vec<i64> {
        let bytes = std::fs::read(path).expect("its bytes");
        let found = bytes.windows(15).filter(|it| it.starts_with(b"erased") && it.ends_with(b"end"));
        let numbers = found.filter_map(|it| std::str::from_utf8(&it[6..12]).ok()?.parse::<i64>().ok());
        numbers.filter(|number| number % 3 != 0).collect()
    }

    #[test]
    fn rows_that_were_moved_and_then_erased_leave_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("some.db");
        let connection = database(&path);
        assert!(!left(&path).is_empty(), "without this there is something left");
        let mut file = File::options().read(true).write(true).open(&path).expect("the file");
        assert!(clear(&mut file).expect("cleared") > 0);
        assert_eq!(left(&path), [0_i64; 0]);
        assert_eq!(clear(&mut file).expect("cleared"), 0, "once is enough");
        drop(connection);
        let again = rusqlite::Connection::open(&path).expect("the file");
        let sound: String = again.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("an answer");
        let rows: i64 = again.query_row("SELECT COUNT(*) FROM rows", [], |row| row.get(0)).expect("an answer");
        assert_eq!((sound.as_str(), rows), ("ok", 667));
    }

    #[test]
    fn what_is_no_database_or_damaged_is_left_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("some.db");
        drop(database(&path));
        let whole = std::fs::read(&path).expect("its bytes");
        // The first row of each page is said to be behind the page, or before its pointers.
        for wrong in [[0xFF_u8, 0xFF], [0, 1]] {
            let mut damaged = whole.clone();
            for page in damaged.chunks_exact_mut(4096).skip(1) {
                page[5..7].copy_from_slice(&wrong);
            }
            std::fs::write(&path, &damaged).expect("written");
            let mut file = File::options().read(true).write(true).open(&path).expect("the file");
            clear(&mut file).expect("read");
            assert_eq!(std::fs::read(&path).expect("its bytes")[4096..], damaged[4096..]);
        }
        for other in [&b""[..], b"not a database", &[7; 5000]] {
            std::fs::write(&path, other).expect("written");
            let mut file = File::options().read(true).write(true).open(&path).expect("the file");
            assert_eq!(clear(&mut file).expect("read"), 0);
            assert_eq!(std::fs::read(&path).expect("its bytes"), other);
        }
    }
}
