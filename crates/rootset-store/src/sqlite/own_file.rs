//! The database's file as this process reads it beside SQLite: opened once, and closed after the last connection.
//!
//! POSIX locks belong to a process and a file, not to a descriptor: closing any descriptor of the database would take away
//! the locks of every SQLite connection in the process. Another process would then believe itself alone and delete the log
//! that this one still writes. So everything in a process that looks at the same database shares one descriptor.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Weak};

use parking_lot::Mutex;

use super::unused;
use crate::platform;

/// Held by every engine of the database until its connections are closed.
#[derive(Debug)]
pub struct OwnFile {
    file: Mutex<File>,
    may_be_written: bool,
}

/// A path, and what tells its file from one that had the path before.
type Name = (PathBuf, Option<(u64, u64)>);

/// While anybody holds it.
static HELD: LazyLock<Mutex<HashMap<Name, Weak<OwnFile>>>> = LazyLock::new(Mutex::default);

impl OwnFile {
    /// Before the first connection; makes the file where there is none.
    pub fn hold(path: &Path) -> Result<Arc<Self>> {
        // Nobody else in this process opens or makes the file meanwhile.
        let mut held = HELD.lock();
        held.retain(|_, file| file.strong_count() > 0);
        if let Some(file) = held.get(&name_of(path)).and_then(Weak::upgrade) {
            return Ok(file);
        }
        let (file, may_be_written) = open_or_make(path)?;
        let file = Arc::new(Self { file: Mutex::new(file), may_be_written });
        held.insert(name_of(path), Arc::downgrade(&file));
        Ok(file)
    }

    /// Whether this user has the right to.
    pub fn may_be_written(&self) -> bool {
        self.may_be_written
    }

    /// Clears what no row uses, see [`unused`]; nothing where this user may not write.
    pub fn clear_unused(&self) -> Result<()> {
        if self.may_be_written { unused::clear(&mut self.file.lock()).map(drop) } else { Ok(()) }
    }

    pub fn contains(&self, needles: &[Vec<u8>]) -> Result<bool> {
        contains(&mut self.file.lock(), needles)
    }
}

fn name_of(path: &Path) -> Name {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let identity = platform::identity(&path);
    (path, identity)
}

/// What an agent remembers is nobody else's business: a new database is readable by its owner only. SQLite gives its log
/// the same mode.
fn open_or_make(path: &Path) -> Result<(File, bool)> {
    match platform::private_file().read(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        outcome => return outcome.map(|file| (file, true)),
    }
    match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
            File::open(path).map(|file| (file, false))
        }
        outcome => outcome.map(|file| (file, true)),
    }
}

/// Reads a file once in overlapping windows, so that memory does not grow with it.
pub fn contains(file: &mut File, needles: &[Vec<u8>]) -> Result<bool> {
    const WINDOW_BYTES: usize = 1 << 20;
    let overlap = needles.iter().map(Vec::len).max().unwrap_or(0);
    // This kind of match is the one for which the crate has a vectorised search, ten times faster than its automaton.
    let finder = aho_corasick::AhoCorasick::builder()
        .match_kind(aho_corasick::MatchKind::LeftmostFirst)
        .build(needles)
        .map_err(Error::other)?;
    file.seek(SeekFrom::Start(0))?;
    let mut window = vec![0; WINDOW_BYTES + overlap];
    loop {
        let filled = read_full(file, &mut window)?;
        if finder.is_match(&window[..filled]) {
            return Ok(true);
        }
        if filled < window.len() {
            return Ok(false);
        }
        file.seek(SeekFrom::Current(-(overlap as i64)))?;
    }
}

fn read_full(file: &mut File, buffer: &mut [u8]) -> Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}
