//! One database for one test, gone with the test.

use std::path::Path;

use rootset_store::{Location, Store};
use tempfile::TempDir;

use crate::engine::TestEngine;
use crate::folder::temporary_folder;
use crate::off_runtime;
use crate::postgres::{self, PostgresDatabase};
use crate::sql::Sql;

/// A database of its own, and a folder for files beside it.
#[derive(Debug)]
pub struct TestDatabase {
    engine: TestEngine,
    location: Location,
    url: String,
    /// Held for its end: it takes the database along.
    _postgres: Option<PostgresDatabase>,
    folder: TempDir,
}

impl TestDatabase {
    /// With the current schema, or a file that is not there yet, on the engine that the run is about.
    pub fn new() -> Self {
        Self::on(TestEngine::chosen())
    }

    /// Without any schema: for tests about the first start.
    pub fn empty() -> Self {
        Self::empty_on(TestEngine::chosen())
    }

    pub fn empty_on(engine: TestEngine) -> Self {
        Self::within(engine, postgres::create_empty)
    }

    /// For tests that need both engines, or one of them whatever the run is about.
    pub fn on(engine: TestEngine) -> Self {
        Self::within(engine, postgres::create_with_schema)
    }

    fn within(engine: TestEngine, create: fn() -> PostgresDatabase) -> Self {
        let postgres = (engine == TestEngine::Postgres).then(|| off_runtime(create));
        let folder = temporary_folder();
        let file = folder.path().join("rootset.db");
        let url = match &postgres {
            Some(database) => database.url.clone(),
            None => file.to_str().expect("temporary folders have plain names").to_owned(),
        };
        let location = Location::parse(&url).expect("a path, or a URL of our own making");
        Self { engine, location, url, _postgres: postgres, folder }
    }

    pub fn engine(&self) -> TestEngine {
        self.engine
    }

    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The location as other programs take it, in `--db` or `ROOTSET_DB`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// For files beside the database; with SQLite, the database is one of them.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A store on it: every call is another process, as far as the database can tell.
    pub fn open(&self) -> Store {
        let store = off_runtime(|| Store::open(&self.location, None));
        store.unwrap_or_else(|error| panic!("`{}`: {error}", self.location))
    }

    pub fn sql(&self) -> Sql {
        Sql::open(&self.location).unwrap_or_else(|error| panic!("`{}`: {error}", self.location))
    }

    /// Holds back every writer until it is dropped; readers go on.
    pub fn hold_writers(&self) -> HeldWriters {
        match &self.location {
            Location::File(path) => {
                let mut lock = path.as_os_str().to_owned();
                lock.push(".lock");
                let lock = std::fs::File::open(lock).expect("a store was opened before");
                lock.lock().expect("nobody holds it for ever");
                HeldWriters { _file: Some(lock), _sql: None }
            }
            Location::Postgres(_) => {
                let sql = self.sql();
                sql.execute_batch("BEGIN; LOCK TABLE memories IN SHARE MODE").expect("nobody holds it for ever");
                HeldWriters { _file: None, _sql: Some(sql) }
            }
        }
    }

    /// Everything that is stored, as bytes: SQLite's file and its log, by their names, or the rows of each of PostgreSQL's
    /// tables.
    pub fn storage(&self) -> Vec<(String, Vec<u8>)> {
        match &self.location {
            Location::File(path) => ["", "-wal"].map(|suffix| file_beside(path, suffix)).into(),
            Location::Postgres(_) => {
                let sql = self.sql();
                let tables = sql.tables().expect("a list of tables").into_iter();
                tables.map(|table| (table.clone(), sql.bytes_of(&table).expect("a readable table"))).collect()
            }
        }
    }

    /// Where these bytes are, see [`Self::storage`].
    pub fn places_with(&self, bytes: &[u8]) -> Vec<String> {
        let finder = aho_corasick::AhoCorasick::new([bytes]).expect("one needle");
        let places = self.storage().into_iter().filter(|(_, stored)| finder.is_match(stored));
        places.map(|(name, _)| name).collect()
    }

    /// Runs statements as nobody else may: without foreign keys, and past every policy about rows.
    pub fn execute_raw(&self, sql: &str) {
        self.sql().execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// See [`TestDatabase::hold_writers`].
#[derive(Debug)]
pub struct HeldWriters {
    _file: Option<std::fs::File>,
    _sql: Option<Sql>,
}

impl Default for TestDatabase {
    fn default() -> Self {
        Self::new()
    }
}

/// A file that is not there is empty.
fn file_beside(path: &Path, suffix: &str) -> (String, Vec<u8>) {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    let name = Path::new(&path).file_name().expect("a file").to_string_lossy().into_owned();
    (name, std::fs::read(path).unwrap_or_default())
}
