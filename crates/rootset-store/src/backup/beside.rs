//! The erasure ledger beside the backups: a copy of every note, so that a restore into a new database knows what was
//! erased after the backup was made.
//!
//! One file per database in a folder of backups, named after a fingerprint of the key, because databases may share a
//! folder. It holds ids and keyed hashes, like the ledger itself, and neither text nor the key: that is in the database
//! and in its backups, so the file alone does not let anybody try out what a hash may stand for.
//!
//! The file only grows. Its first line says how long it is and what its lines hash to, one after the other, and is
//! written last: what an interrupted write left behind that is no part of the ledger. Anything else that does not fit is
//! damage, and never taken for an empty ledger.

mod keeping;

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rootset_model::WorkspaceKey;
use rootset_model::limits::WRITE_WAIT_MS;
use serde::{Deserialize, Serialize};

use super::folder::{create_private_file, sync_folder, trouble};
use super::rows::{self, Cell};
use super::tables::{Table, by_name};
use crate::error::StoreError;
use crate::sqlite::lock::{WriteGuard, WriteLock};

const FORMAT: u32 = 1;
/// One sector holds the first line, so that it is written whole or not at all.
const HEAD_BYTES: usize = 256;
/// A note is a few hundred bytes; names of workspaces and actors are bounded.
const LINE_BYTES_MAX: u64 = 16 << 10;
const CONTEXT: &str = "rootset 2026-11-16 name of the erasure ledger of a database";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    format: u32,
    lines: u64,
    /// The length of the file, this line included.
    bytes: u64,
    /// Of each line and the hash before it.
    blake3: String,
}

/// A row of the ledger, with the number and name of its workspace in the database that wrote it. A workspace that is gone
/// may have lost its name.
#[derive(Debug)]
pub(crate) struct Note {
    pub table: &'static Table,
    pub number: WorkspaceKey,
    pub workspace: String,
    pub cells: Vec<Cell>,
}

#[derive(Clone, Debug)]
pub(crate) struct LedgerFile {
    pub path: PathBuf,
}

/// What is in the way of reading a ledger.
#[derive(Debug)]
pub(crate) enum Unread {
    Damaged(String),
    /// Whoever was given the notes failed.
    Failed(StoreError),
}

impl From<StoreError> for Unread {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

impl LedgerFile {
    pub fn of(folder: &Path, key: &[u8]) -> Self {
        let name: String = blake3::derive_key(CONTEXT, key)[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        Self { path: folder.join(format!("erasures-{name}.ledger")) }
    }

    pub fn exists(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok()
    }

    /// Only one process at a time changes the file.
    pub fn lock(&self) -> Result<WriteGuard, StoreError> {
        WriteLock::beside(&self.path).acquire(Duration::from_millis(WRITE_WAIT_MS))
    }

    /// Reads every note and checks the whole file.
    pub fn each(&self, each: &mut dyn FnMut(Note) -> Result<(), StoreError>) -> Result<(), Unread> {
        let damaged = Unread::Damaged;
        let cannot = |error: std::io::Error| damaged(format!("it cannot be read: {error}"));
        let mut file = self.open(OpenOptions::new().read(true)).map_err(damaged)?;
        let head = read_head(&mut file).map_err(damaged)?;
        let mut reader = BufReader::new(file.take(head.bytes - HEAD_BYTES as u64));
        let mut chain = Chain::default();
        let mut line = Vec::new();
        loop {
            line.clear();
            if reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line).map_err(cannot)? == 0 {
                break;
            }
            chain.add(&line);
            let number = chain.lines;
            let note = parse(&line).map_err(|problem| damaged(format!("line {number}: {problem}")))?;
            each(note)?;
        }
        if chain.lines != head.lines || chain.hash.to_hex().as_str() != head.blake3 {
            return Err(damaged("its lines are not those that its first line names".to_owned()));
        }
        Ok(())
    }

    /// Adds notes at the end of an intact file and makes them durable. The caller holds the lock.
    pub fn append(&self, notes: &mut dyn FnMut(&mut Notes) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let problem = |detail: String| StoreError::LedgerDamaged { path: self.path.clone(), problem: detail };
        let mut file = self.open(OpenOptions::new().read(true).write(true)).map_err(problem)?;
        let head = read_head(&mut file).map_err(problem)?;
        let hash = blake3::Hash::from_hex(&head.blake3).map_err(|_| problem(NOT_A_HEAD.to_owned()))?;
        let at = |error: std::io::Error| trouble(&self.path, &error);
        // Left behind by a write that did not come to its end.
        file.set_len(head.bytes).map_err(at)?;
        let chain = Chain { lines: head.lines, hash };
        self.write(file, chain, head.bytes, notes)
    }

    /// Writes a file that did not exist, whole or not at all. The caller holds the lock.
    pub fn create(&self, notes: &mut dyn FnMut(&mut Notes) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let at = |error: std::io::Error| trouble(&self.path, &error);
        let new = LedgerFile { path: self.path.with_extension("ledger-new") };
        match fs::remove_file(&new.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(at(error)),
            _ => {}
        }
        let mut file = create_private_file(&new.path)?;
        file.write_all(&[b' '; HEAD_BYTES]).map_err(at)?;
        new.write(file, Chain::default(), HEAD_BYTES as u64, notes)?;
        fs::rename(&new.path, &self.path).map_err(at)?;
        self.sync_folder()
    }

    /// Puts a damaged file aside, so that a new one can take its place. The caller holds the lock.
    pub fn put_aside(&self) -> Result<(), StoreError> {
        let aside = self.path.with_extension("ledger-damaged");
        fs::rename(&self.path, &aside).map_err(|error| trouble(&self.path, &error))?;
        self.sync_folder()
    }

    fn sync_folder(&self) -> Result<(), StoreError> {
        self.path.parent().map_or(Ok(()), sync_folder)
    }

    fn open(&self, options: &OpenOptions) -> Result<File, String> {
        match fs::symlink_metadata(&self.path) {
            Ok(found) if found.is_file() => {}
            Ok(_) => return Err("it is not an ordinary file".to_owned()),
            Err(error) => return Err(format!("it cannot be opened: {error}")),
        }
        options.open(&self.path).map_err(|error| format!("it cannot be opened: {error}"))
    }

    /// The lines first, then the first line: each on the disk before the next.
    fn write(
        &self,
        mut file: File,
        chain: Chain,
        bytes: u64,
        notes: &mut dyn FnMut(&mut Notes) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let at = |error: std::io::Error| trouble(&self.path, &error);
        file.seek(SeekFrom::Start(bytes)).map_err(at)?;
        let mut added = Notes { path: self.path.clone(), out: BufWriter::new(file), chain, bytes };
        notes(&mut added)?;
        let Notes { out, chain, bytes, .. } = added;
        let mut file = out.into_inner().map_err(|error| at(error.into_error()))?;
        file.sync_all().map_err(at)?;
        let head = Head { format: FORMAT, lines: chain.lines, bytes, blake3: chain.hash.to_hex().to_string() };
        let mut line = serde_json::to_vec(&head).expect("numbers and a hash always serialise");
        line.resize(HEAD_BYTES - 1, b' ');
        line.push(b'\n');
        file.seek(SeekFrom::Start(0)).map_err(at)?;
        file.write_all(&line).map_err(at)?;
        file.sync_all().map_err(at)
    }
}

/// Where notes are written.
#[derive(Debug)]
pub(crate) struct Notes {
    path: PathBuf,
    out: BufWriter<File>,
    chain: Chain,
    bytes: u64,
}

impl Notes {
    pub fn add(&mut self, note: &Note) -> Result<(), StoreError> {
        let row = rows::to_json(note.table, Some(&note.workspace), &note.cells);
        let line = format!("{} {} {row}\n", note.table.name, note.number.0);
        self.chain.add(line.as_bytes());
        self.bytes += line.len() as u64;
        self.out.write_all(line.as_bytes()).map_err(|error| trouble(&self.path, &error))
    }
}

#[derive(Debug)]
struct Chain {
    lines: u64,
    hash: blake3::Hash,
}

impl Default for Chain {
    fn default() -> Self {
        Self { lines: 0, hash: blake3::hash(&[]) }
    }
}

impl Chain {
    fn add(&mut self, line: &[u8]) {
        self.lines += 1;
        self.hash = blake3::Hasher::new().update(self.hash.as_bytes()).update(line).finalize();
    }
}

const NOT_A_HEAD: &str = "its first line cannot be read";

/// The first line, of a file that is at least as long as it says.
fn read_head(file: &mut File) -> Result<Head, String> {
    let mut line = [0; HEAD_BYTES];
    file.read_exact(&mut line).map_err(|_| NOT_A_HEAD.to_owned())?;
    let any: serde_json::Value = serde_json::from_slice(&line).map_err(|_| NOT_A_HEAD.to_owned())?;
    match any.get("format").and_then(serde_json::Value::as_u64) {
        Some(format) if format == u64::from(FORMAT) => {}
        Some(format) => return Err(format!("it has format {format}, this program reads {FORMAT}")),
        None => return Err(NOT_A_HEAD.to_owned()),
    }
    let head: Head = serde_json::from_value(any).map_err(|_| NOT_A_HEAD.to_owned())?;
    let length = file.metadata().map_err(|error| format!("it cannot be read: {error}"))?.len();
    if head.bytes < HEAD_BYTES as u64 || head.bytes > length {
        return Err(format!("it has {length} bytes, and its first line names {}", head.bytes));
    }
    Ok(head)
}

/// `erasures 2 {"workspace": "acme", …}`.
fn parse(line: &[u8]) -> Result<Note, String> {
    let malformed = || "it is not a note".to_owned();
    let text = std::str::from_utf8(line).ok().and_then(|line| line.strip_suffix('\n')).ok_or_else(malformed)?;
    let (table, rest) = text.split_once(' ').ok_or_else(malformed)?;
    let (number, row) = rest.split_once(' ').ok_or_else(malformed)?;
    let table = by_name(table).filter(|it| LEDGER_TABLES.contains(&it.name)).ok_or_else(malformed)?;
    let number = number.parse().map_err(|_| malformed())?;
    let (workspace, cells) = rows::from_json(table, row.as_bytes(), true)?;
    Ok(Note { table, number: WorkspaceKey(number), workspace, cells })
}

/// The tables that the ledger consists of.
const LEDGER_TABLES: [&str; 2] = ["erasures", "erased_contents"];

#[cfg(test)]
mod tests {
    use super::*;

    fn note(number: u8) -> Note {
        let table = by_name("erased_contents").expect("a table of the ledger");
        let cells = vec![Cell::Blob(vec![number; 32]), Cell::Blob(vec![number; 16]), Cell::Blob(vec![9; 16])];
        Note { table, number: WorkspaceKey(1), workspace: "home".to_owned(), cells }
    }

    fn add(numbers: std::ops::Range<u8>) -> impl FnMut(&mut Notes) -> Result<(), StoreError> {
        move |notes| numbers.clone().try_for_each(|number| notes.add(&note(number)))
    }

    /// The notes that are read, or why they are not.
    fn read(file: &LedgerFile) -> Result<Vec<u8>, String> {
        let mut found = Vec::new();
        let outcome = file.each(&mut |note| {
            let Cell::Blob(hash) = &note.cells[0] else { panic!("{note:?}") };
            found.push(hash[0]);
            Ok(())
        });
        match outcome {
            Ok(()) => Ok(found),
            Err(Unread::Damaged(problem)) => Err(problem),
            Err(Unread::Failed(error)) => panic!("{error}"),
        }
    }

    fn ledger(folder: &Path) -> LedgerFile {
        let file = LedgerFile::of(folder, &[7; 32]);
        file.create(&mut add(0..2)).expect("a new ledger");
        file.append(&mut add(2..3)).expect("one more note");
        file
    }

    #[test]
    fn notes_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(read(&ledger(folder.path())), Ok(vec![0, 1, 2]));
    }

    #[test]
    fn no_change_of_a_byte_and_no_lost_end_is_taken_for_a_ledger() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = ledger(folder.path());
        let bytes = fs::read(&file.path).expect("its bytes");
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 0x10;
            fs::write(&file.path, &changed).expect("written");
            assert!(read(&file).is_err(), "byte {place} changed: {:?}", read(&file));
            fs::write(&file.path, &bytes[..place]).expect("written");
            assert!(read(&file).is_err(), "cut off at {place}");
        }
    }

    #[test]
    fn what_an_interrupted_write_left_behind_is_not_read_and_does_not_stay() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = ledger(folder.path());
        let mut bytes = fs::read(&file.path).expect("its bytes");
        bytes.extend_from_slice(b"erased_contents 1 {\"workspace\": \"def");
        fs::write(&file.path, &bytes).expect("written");
        assert_eq!(read(&file), Ok(vec![0, 1, 2]));
        file.append(&mut add(3..4)).expect("appended");
        assert_eq!(read(&file), Ok(vec![0, 1, 2, 3]));
    }

    #[test]
    fn a_write_that_fails_changes_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = ledger(folder.path());
        let mut fail = |notes: &mut Notes| notes.add(&note(9)).and(Err(StoreError::DiskFull));
        assert!(file.append(&mut fail).is_err());
        assert_eq!(read(&file), Ok(vec![0, 1, 2]));
        let other = LedgerFile::of(folder.path(), &[8; 32]);
        assert!(other.create(&mut fail).is_err());
        assert!(!other.exists(), "databases have files of their own");
    }
}
