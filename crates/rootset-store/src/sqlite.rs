//! The embedded engine: one SQLite file that many processes share.
//!
//! One writing connection per process behind the fair lock of [`lock`]; reading connections in a small pool, so that a
//! reader never waits for a writer. WAL with `synchronous = FULL`: what `write` has acknowledged survives a power cut.
//! On a full disk the log makes room first, then [`reserve`]; what was erased leaves the log for good ([`emptying`]).

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rootset_model::limits::WRITE_WAIT_MS;
use rusqlite::OpenFlags;
use rusqlite::config::DbConfig;

use crate::driver::{Engine, Sizes, Tenant, Wall, Work};
use crate::error::StoreError;
use crate::failpoints::{LogAfterErasure, disk_room_bytes, log_after_erasure};

pub(crate) mod archive;
mod connection;
mod emptying;
mod error;
pub(crate) mod lock;
mod log;
mod migrate;
mod obstacle;
mod own_file;
mod pages;
mod reserve;
pub(crate) mod salvage;
mod search;
mod unused;
mod wal;

use connection::Connection;
use lock::WriteLock;
pub use migrate::SCHEMA_VERSION;
use own_file::OwnFile;
use reserve::Reserve;

/// Older versions can corrupt a WAL that several connections use.
const SQLITE_VERSION_MIN: (i32, &str) = (3_051_003, "3.51.3");
/// Reading connections kept open for the next reader.
const READERS_KEPT_MAX: usize = 8;
/// Pages in the log before a commit moves them into the database: large enough that the cost is spread over many
/// commits, small enough that a log does not outgrow a small database.
const LOG_PAGES_MAX: i64 = 16_000;
/// On a disk with little room the log takes this share of it, but not less than a transaction or two.
const LOG_SHARE_OF_ROOM: u64 = 16;
const LOG_PAGES_MIN: i64 = 64;
const PAGE_BYTES: u64 = 4096;
const READER_CACHE_KIB: i64 = 16 * 1024;
/// A writer touches pages all over the graph; those that it has to read again cost more than the write.
const WRITER_CACHE_KIB: i64 = 64 * 1024;

/// What is done with a database of an older schema before it is changed.
pub type BeforeMigration<'a> = &'a dyn Fn(&rusqlite::Connection) -> Result<(), StoreError>;

pub struct SqliteEngine {
    path: PathBuf,
    is_archive: bool,
    /// Its folder takes no log and holds none: read like a copy, by connections of one transaction each.
    is_shut: bool,
    is_new: bool,
    /// What had to be done to open it.
    notices: Vec<String>,
    /// Since when this process knows of something in the log that is not in the database.
    logged_since: Mutex<Option<Instant>>,
    lock: WriteLock,
    reserve: Reserve,
    has_written: AtomicBool,
    writer: Mutex<Option<Connection>>,
    readers: Mutex<Vec<Connection>>,
    /// Dropped after the connections; `None` of a copy, which nobody locks.
    own_file: Option<Arc<OwnFile>>,
    wall: Wall,
    write_wait: Duration,
}

impl std::fmt::Debug for SqliteEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteEngine").field("path", &self.path).finish_non_exhaustive()
    }
}

impl SqliteEngine {
    /// Opens or creates the file and brings its schema up to date, `before_migration` first where there is something to
    /// lose.
    pub fn open(path: &Path, before_migration: BeforeMigration<'_>) -> Result<Self, StoreError> {
        if rusqlite::version_number() < SQLITE_VERSION_MIN.0 {
            return Err(StoreError::EngineTooOld { found: rusqlite::version(), wanted: SQLITE_VERSION_MIN.1 });
        }
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(StoreError::FolderMissing(folder.to_owned()));
        }
        if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(StoreError::NotADatabase { path: path.to_owned(), detail: "it is a folder" });
        }
        let mut engine = Self::at(path, false);
        engine.own_file = Some(OwnFile::hold(path).map_err(|error| StoreError::of_file(path, &error))?);
        engine.look_at_log()?;
        match engine.prepare(before_migration) {
            // A database that is closed needs some room to be opened.
            Err(StoreError::DiskFull) if engine.reserve.give_up() => engine.prepare(before_migration)?,
            // A log that is there holds what the file does not: without it, the file alone would be old.
            Err(StoreError::ReadOnly) if !engine.log_path().exists() => {
                engine.is_shut = true;
                engine.prepare(before_migration)?;
            }
            outcome => outcome?,
        }
        Ok(engine)
    }

    /// The first connection, and the schema brought up to date.
    fn prepare(&mut self, before_migration: BeforeMigration<'_>) -> Result<(), StoreError> {
        let first = self.bring_up_to_date(before_migration).map_err(|error| self.explain(error))?;
        if !self.is_shut {
            self.readers.lock().push(first);
        }
        Ok(())
    }

    fn bring_up_to_date(&mut self, before_migration: BeforeMigration<'_>) -> Result<Connection, StoreError> {
        let path = self.path.clone();
        let mut first = self.connect()?;
        if migrate::version_of(&mut first, &path)? < SCHEMA_VERSION {
            let _guard = self.lock.acquire(Duration::from_millis(WRITE_WAIT_MS))?;
            // Asked again under the lock: another process may have been quicker.
            let found = migrate::version_of(&mut first, &path)?;
            self.is_new = found == 0;
            if (1..SCHEMA_VERSION).contains(&found) {
                before_migration(&first.raw)?;
                crate::failpoints::failpoint!("migrate.backed_up");
            }
            migrate::migrate(&mut first, &path)?;
        }
        Ok(first)
    }

    /// Opens a copy for reading: no lock, no log, nothing is written.
    pub fn open_archive(path: &Path) -> Result<Self, StoreError> {
        let engine = Self::at(path, true);
        let first = engine.connect()?;
        engine.readers.lock().push(first);
        Ok(engine)
    }

    fn at(path: &Path, is_archive: bool) -> Self {
        Self {
            path: path.to_owned(),
            is_archive,
            is_shut: false,
            is_new: false,
            notices: Vec::new(),
            logged_since: Mutex::new(None),
            lock: WriteLock::beside(path),
            reserve: Reserve::beside(path),
            has_written: AtomicBool::new(false),
            writer: Mutex::new(None),
            readers: Mutex::new(Vec::new()),
            own_file: None,
            wall: crate::time::of_this_machine(),
            write_wait: Duration::from_millis(WRITE_WAIT_MS),
        }
    }

    fn connect(&self) -> Result<Connection, StoreError> {
        // Where somebody who may write has opened it since, there is a log, and SQLite reads both.
        if self.is_archive || (self.is_shut && !self.log_path().exists()) {
            return Connection::new(archive::open(&self.path)?);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_PRIVATE_CACHE;
        let raw = rusqlite::Connection::open_with_flags(&self.path, flags)?;
        // The lock file orders our writers; this covers other programs and the moments of recovery and checkpoint.
        raw.busy_timeout(self.write_wait)?;
        // Partial indexes make SQLite plan by the values bound, and plan again whenever they change. Our plans must not
        // depend on values, and a plan costs more than most of our statements.
        raw.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        // A file may come from elsewhere: nothing that its schema says reaches functions with effects, and nothing writes to
        // the tables behind an index.
        raw.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        raw.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        // Rootset has neither: those that are there were planted.
        raw.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        raw.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        let synchronous = crate::failpoints::synchronous();
        raw.execute_batch(&format!(
            "PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; PRAGMA synchronous = {synchronous};
             PRAGMA temp_store = MEMORY; PRAGMA cache_size = -{READER_CACHE_KIB};
             PRAGMA wal_autocheckpoint = {LOG_PAGES_MAX};"
        ))
        .map_err(|error| self.explain(error.into()))?;
        Connection::new(raw)
    }

    /// The connection that writes, with a log that leaves others some room.
    fn connect_writer(&self) -> Result<Connection, StoreError> {
        let mut fresh = self.connect()?;
        fresh.command(&format!("PRAGMA cache_size = -{WRITER_CACHE_KIB}"))?;
        // Once: a later connection may be there because the room was needed.
        if !self.has_written.swap(true, Ordering::Relaxed) {
            self.reserve.keep();
        }
        Ok(fresh)
    }

    fn limit_log(&self, connection: &mut Connection) -> Result<(), StoreError> {
        let Some(room) = disk_room_bytes(&self.path) else { return Ok(()) };
        let pages = i64::try_from(room / LOG_SHARE_OF_ROOM / PAGE_BYTES).unwrap_or(LOG_PAGES_MAX);
        connection.limit_log(pages.clamp(LOG_PAGES_MIN, LOG_PAGES_MAX))
    }

    /// Makes the log small for the sake of its room. Whoever cannot find out has made none.
    fn shrink_log_under_lock(&self) -> bool {
        let had = std::fs::metadata(self.log_path()).map_or(0, |it| it.len());
        had > 0 && matches!(self.with_reader(emptying::shrink), Ok(true))
    }

    fn with_reader<T>(&self, work: impl FnOnce(&mut Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let pooled = self.readers.lock().pop();
        let mut connection = match pooled {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let result = work(&mut connection);
        let mut readers = self.readers.lock();
        // What is read like a copy is read anew each time: it may not be the same any more.
        if connection.is_usable_after(&result) && readers.len() < READERS_KEPT_MAX && !self.is_shut {
            readers.push(connection);
        }
        result.map_err(|error| self.explain(error))
    }

    /// What changes when somebody writes to the file.
    fn stamp(&self) -> Option<(u64, std::time::SystemTime)> {
        let metadata = std::fs::metadata(&self.path).ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    }

    fn log_path(&self) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push("-wal");
        path.into()
    }
}

impl SqliteEngine {
    fn write_under_lock(&self, writer: &mut Option<Connection>, work: Work<'_>) -> Result<(), StoreError> {
        let connection = match &mut *writer {
            Some(connection) => connection,
            none => none.insert(self.connect_writer().map_err(|error| self.explain(error))?),
        };
        let result = self.limit_log(connection).and_then(|()| connection.write(&self.wall, work));
        if !connection.is_usable_after(&result) {
            *writer = None;
        }
        match result {
            // The frames of a commit that could not be synced may be in the log. Once others take their place, they count
            // for nothing.
            Err(StoreError::CommitInDoubt { cause }) => {
                let is_undone = self.connect_writer().and_then(|mut fresh| emptying::begin_anew(&mut fresh)).is_ok();
                let cause = self.explain(*cause);
                Err(if is_undone { cause } else { StoreError::CommitInDoubt { cause: Box::new(cause) } })
            }
            result => result.map_err(|error| self.explain(error)),
        }
    }
}

impl Engine for SqliteEngine {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn set_wall(&mut self, wall: Wall) {
        self.wall = wall;
    }

    fn server_ahead_ms(&self) -> i64 {
        0
    }

    fn set_write_wait(&mut self, wait: Duration) {
        self.write_wait = wait;
    }

    fn read(&self, _: Tenant, work: Work<'_>) -> Result<(), StoreError> {
        if !self.is_shut {
            return self.with_reader(|connection| connection.read(&self.wall, work));
        }
        let before = self.stamp();
        let result = self.with_reader(|connection| connection.read(&self.wall, work));
        // A copy is not locked: what was read while somebody wrote may be of two times.
        if self.stamp() == before { result } else { Err(StoreError::Busy { waited_ms: 0 }) }
    }

    fn write(&self, _: Tenant, work: Work<'_>) -> Result<(), StoreError> {
        if self.is_shut {
            return Err(StoreError::ReadOnly);
        }
        let wait = self.write_wait;
        let busy = StoreError::Busy { waited_ms: wait.as_millis() as u64 };
        let mut writer = self.writer.try_lock_for(wait).ok_or(busy)?;
        let _guard = self.lock.acquire(wait)?;
        self.logged_since.lock().get_or_insert_with(Instant::now);
        match self.write_under_lock(&mut writer, work) {
            // The log is what has grown: once it is empty, there may be room for what was to be written.
            Err(StoreError::DiskFull) if self.shrink_log_under_lock() => self.write_under_lock(&mut writer, work),
            outcome => outcome,
        }
    }

    /// There is one writer per file anyway.
    fn touch(&self, tenant: Tenant, work: Work<'_>) -> Result<(), StoreError> {
        self.write(tenant, work)
    }

    fn truncate_log(&self) -> Result<bool, StoreError> {
        let wait = Duration::from_millis(WRITE_WAIT_MS);
        let _guard = self.lock.acquire(wait)?;
        let is_empty = match log_after_erasure() {
            LogAfterErasure::Erased => {
                self.with_reader(|connection| emptying::erase(connection, &self.log_path(), self.own_file.as_deref()))?
            }
            LogAfterErasure::Untouched => true,
            LogAfterErasure::CutOff => self.with_reader(emptying::shrink)?,
        };
        if is_empty {
            *self.logged_since.lock() = None;
        }
        Ok(is_empty)
    }

    fn shrink_log(&self) -> Result<bool, StoreError> {
        let _guard = self.lock.acquire(Duration::from_millis(WRITE_WAIT_MS))?;
        let is_empty = self.with_reader(emptying::shrink)?;
        if is_empty {
            *self.logged_since.lock() = None;
        }
        Ok(is_empty)
    }

    fn has_old_log(&self) -> bool {
        self.has_log_from_before(Instant::now())
    }

    fn notices(&self) -> &[String] {
        &self.notices
    }

    fn give_up_reserve(&self) -> bool {
        self.reserve.give_up()
    }

    fn keep_reserve(&self) {
        self.reserve.keep();
    }

    fn sizes(&self) -> Result<Sizes, StoreError> {
        let free_bytes = self.with_reader(|connection| connection.free_bytes())?;
        let size_of = |path: &Path| std::fs::metadata(path).map_or(0, |it| it.len() as i64);
        let disk_free_bytes = fs4::available_space(&self.path).ok().and_then(|bytes| i64::try_from(bytes).ok());
        Ok(Sizes {
            database_bytes: size_of(&self.path),
            log_bytes: size_of(&self.log_path()),
            free_bytes,
            disk_free_bytes,
        })
    }

    fn integrity(&self) -> Result<Vec<String>, StoreError> {
        // FTS5's check trusts what its connection cached of the index before others wrote: a fresh one has cached nothing.
        let mut problems = self.connect()?.integrity()?;
        if !self.is_archive {
            let _guard = self.lock.acquire(Duration::from_millis(WRITE_WAIT_MS))?;
            let log = wal::read(&self.log_path()).map_err(|error| StoreError::of_file(&self.log_path(), &error))?;
            problems.extend(log.damage.map(wal::Damage::in_words));
        }
        Ok(problems)
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn is_new(&self) -> bool {
        self.is_new
    }

    fn copy_to(&self, destination: &Path) -> Result<(), StoreError> {
        self.with_reader(|connection| archive::copy(&connection.raw, destination))
    }

    fn compact(&self) -> Result<(), StoreError> {
        let wait = Duration::from_millis(WRITE_WAIT_MS);
        let busy = StoreError::Busy { waited_ms: WRITE_WAIT_MS };
        // A fresh connection does the work; what the writer has cached of the old file goes with it.
        let mut writer = self.writer.try_lock_for(wait).ok_or(busy)?;
        let _guard = self.lock.acquire(wait)?;
        *writer = None;
        let mut connection = self.connect()?;
        connection.check_schema()?;
        archive::compact(&mut connection).map_err(|error| self.explain(error))
    }

    fn contains_bytes(&self, needles: &[Vec<u8>]) -> Result<Option<bool>, StoreError> {
        let Some(own_file) = &self.own_file else { return Ok(None) };
        if own_file.contains(needles).map_err(|error| StoreError::of_file(&self.path, &error))? {
            return Ok(Some(true));
        }
        // SQLite locks the database and its index of the log, never the log itself: that may be closed.
        let log = self.log_path();
        let in_log = match File::open(&log) {
            Ok(mut file) => own_file::contains(&mut file, needles),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        };
        in_log.map(Some).map_err(|error| StoreError::of_file(&log, &error))
    }

    fn round_trips(&self) -> Option<u64> {
        None
    }

    fn lacks_vectors(&self) -> bool {
        false
    }
}
