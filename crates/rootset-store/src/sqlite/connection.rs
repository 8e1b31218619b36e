//! One SQLite connection with its cached statements, and a transaction on it.

use std::collections::HashSet;
use std::rc::Rc;

use rootset_gc::ObservedTime;
use rusqlite::types::{ToSql, ToSqlOutput, Value as SqliteValue, ValueRef};
use rusqlite::vtab::array;

use super::migrate::SCHEMA_VERSION;
use super::search;
use crate::driver::{
    Column, Row, SearchIndex, SearchQuery, SearchRemoval, SearchRow, SearchStatistics, Statement, Tenant, Transaction,
    Value, Wall, Work,
};
use crate::error::StoreError;
use crate::statements::time as time_sql;
use crate::time;
use rootset_model::WorkspaceKey;

/// More than all statements of `sql/` together, so that none is ever prepared twice.
const STATEMENTS_CACHED: usize = 512;

/// The pointer type under which rusqlite's `rarray` takes its values.
const LIST_POINTER: &std::ffi::CStr = c"rarray";

pub struct Connection {
    pub(super) raw: rusqlite::Connection,
    /// Full-text tables known to exist, so that most searches need not ask the schema.
    pub(super) search_tables: HashSet<String>,
    /// Full-text rows that wait for the end of the transaction. FTS5 writes its buffer out whenever a statement opens a
    /// savepoint, which nearly every write does: inserted in between, each row would become a segment of its own.
    pub(super) search_waiting: Vec<WaitingRow>,
    /// The wall clock of this transaction, and what came of a look at it.
    wall: Option<Wall>,
    observed: Option<ObservedTime>,
    /// Pages in the log before a commit of this connection empties it; 0 as it was opened.
    log_pages: i64,
}

pub(super) struct WaitingRow {
    pub workspace: WorkspaceKey,
    pub index: SearchIndex,
    pub row: SearchRow,
}

impl Connection {
    pub fn new(raw: rusqlite::Connection) -> Result<Self, StoreError> {
        raw.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
        array::load_module(&raw)?;
        Ok(Self {
            raw,
            search_tables: HashSet::new(),
            search_waiting: Vec::new(),
            wall: None,
            observed: None,
            log_pages: 0,
        })
    }

    pub fn read(&mut self, wall: &Wall, work: Work<'_>) -> Result<(), StoreError> {
        self.command("BEGIN DEFERRED")?;
        (self.wall, self.observed) = (Some(wall.clone()), None);
        // Nothing was written to the file, but a rollback would take the temporary vocabulary tables with it.
        let result = self.check_schema().and_then(|()| work(self)).and_then(|()| self.command("COMMIT"));
        if result.is_err() {
            if !self.raw.is_autocommit() {
                self.command("ROLLBACK")?;
            }
            self.search_tables.clear();
        }
        result
    }

    pub fn write(&mut self, wall: &Wall, work: Work<'_>) -> Result<(), StoreError> {
        self.command("BEGIN IMMEDIATE")?;
        (self.wall, self.observed) = (Some(wall.clone()), None);
        let result = self
            .check_schema()
            .and_then(|()| self.observe())
            .and_then(|()| work(self))
            .and_then(|()| search::write_waiting(self))
            .and_then(|()| self.command("COMMIT").map_err(after_writing));
        if result.is_err() {
            self.search_waiting.clear();
            if !self.raw.is_autocommit() {
                self.command("ROLLBACK")?;
            }
            // A table created in this transaction is gone with it.
            self.search_tables.clear();
        }
        result
    }

    /// Moves the database's own clock on.
    fn observe(&mut self) -> Result<(), StoreError> {
        let before = time::stored(self)?;
        let now = self.wall.as_ref().map_or(before, |wall| before.at(wall()));
        self.observed = Some(now);
        if now == before { Ok(()) } else { self.execute(&time_sql::OBSERVE, &time::parameters(&now)).map(drop) }
    }

    /// A refusal (not found, conflict, …) leaves the connection as it was. After trouble with the file itself, whatever
    /// state is left dies with the connection and the next caller opens a fresh one.
    pub fn is_usable_after<T>(&self, result: &Result<T, StoreError>) -> bool {
        let is_trouble = matches!(
            result,
            Err(StoreError::Engine(_)
                | StoreError::Damaged(_)
                | StoreError::DiskFull
                | StoreError::Io(_)
                | StoreError::Unopened(_)
                | StoreError::Unwritten(_)
                | StoreError::CommitInDoubt { .. }
                | StoreError::ReadOnly
                | StoreError::NotADatabase { .. }
                | StoreError::Busy { .. }
                | StoreError::SchemaNewer { .. })
        );
        self.raw.is_autocommit() && !is_trouble
    }

    /// Another process may have upgraded the database since this one opened it: this one must not write into a schema
    /// it does not know, nor read from it.
    pub fn check_schema(&mut self) -> Result<(), StoreError> {
        let found = self.pragma("PRAGMA user_version")?;
        if found == SCHEMA_VERSION { Ok(()) } else { Err(StoreError::SchemaNewer { found, known: SCHEMA_VERSION }) }
    }

    /// Sets when commits empty the log, if it is time for another number.
    pub fn limit_log(&mut self, pages: i64) -> Result<(), StoreError> {
        let is_near = |other: i64| pages / 2 < other && other / 2 < pages;
        if self.log_pages == 0 || !is_near(self.log_pages) {
            self.pragma(&format!("PRAGMA wal_autocheckpoint = {pages}"))?;
            self.log_pages = pages;
        }
        Ok(())
    }

    pub fn free_bytes(&mut self) -> Result<i64, StoreError> {
        Ok(self.pragma("PRAGMA freelist_count")? * self.pragma("PRAGMA page_size")?)
    }

    pub fn integrity(&mut self) -> Result<Vec<String>, StoreError> {
        let mut statement = self.raw.prepare("PRAGMA integrity_check(20)")?;
        let lines = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
        let mut problems: Vec<String> = lines.into_iter().filter(|line| line != "ok").collect();
        problems.extend(self.planted()?);
        Ok(problems)
    }

    /// Triggers and views: Rootset makes none. They do nothing here, but they would in another program.
    fn planted(&self) -> Result<Vec<String>, StoreError> {
        let mut statement = self.raw.prepare(
            "SELECT type, name, tbl_name FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY type, name LIMIT 20",
        )?;
        let rows = statement.query_map([], |row| {
            let (kind, name, table) = (row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?);
            Ok(match kind.as_str() {
                "trigger" => format!("the trigger `{name}` on `{table}` is not Rootset's"),
                _ => format!("the view `{name}` is not Rootset's"),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub fn command(&mut self, sql: &str) -> Result<(), StoreError> {
        self.raw.prepare_cached(sql)?.execute([])?;
        Ok(())
    }

    /// For pragmas that answer with a word.
    pub fn pragma_text(&mut self, sql: &str) -> Result<String, StoreError> {
        Ok(self.raw.query_row(sql, [], |row| row.get(0))?)
    }

    pub fn pragma(&mut self, sql: &str) -> Result<i64, StoreError> {
        Ok(self.raw.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    }
}

impl Transaction for Connection {
    fn observed_time(&mut self) -> Result<ObservedTime, StoreError> {
        if let Some(observed) = self.observed {
            return Ok(observed);
        }
        let stored = time::stored(self)?;
        let observed = self.wall.as_ref().map_or(stored, |wall| stored.at(wall()));
        self.observed = Some(observed);
        Ok(observed)
    }

    /// A file has no tenants that could be kept apart: statements name their workspace.
    fn enter(&mut self, _: Tenant) -> Result<(), StoreError> {
        Ok(())
    }

    fn execute(&mut self, statement: &Statement, parameters: &[Value<'_>]) -> Result<usize, StoreError> {
        let mut prepared = self.raw.prepare_cached(statement.sqlite)?;
        Ok(prepared.execute(rusqlite::params_from_iter(parameters.iter().map(Bound)))?)
    }

    fn execute_many(&mut self, statement: &Statement, rows: &[Vec<Value<'_>>]) -> Result<usize, StoreError> {
        let mut prepared = self.raw.prepare_cached(statement.sqlite)?;
        let mut changed = 0;
        for row in rows {
            changed += prepared.execute(rusqlite::params_from_iter(row.iter().map(Bound)))?;
        }
        Ok(changed)
    }

    fn query_many(
        &mut self,
        statement: &Statement,
        rows: &[Vec<Value<'_>>],
        each: &mut dyn FnMut(&dyn Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        rows.iter().try_for_each(|row| self.query(statement, row, each))
    }

    fn query(
        &mut self,
        statement: &Statement,
        parameters: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut prepared = self.raw.prepare_cached(statement.sqlite)?;
        let mut rows = prepared.query(rusqlite::params_from_iter(parameters.iter().map(Bound)))?;
        while let Some(row) = rows.next()? {
            each(&SqliteRow(row))?;
        }
        Ok(())
    }

    fn search_insert(
        &mut self,
        workspace: WorkspaceKey,
        index: SearchIndex,
        rows: Vec<SearchRow>,
    ) -> Result<(), StoreError> {
        let waiting = rows.into_iter().map(|row| WaitingRow { workspace, index, row });
        self.search_waiting.extend(waiting);
        Ok(())
    }

    fn search_delete(
        &mut self,
        workspace: WorkspaceKey,
        index: SearchIndex,
        keys: &[i64],
        removal: SearchRemoval,
    ) -> Result<(), StoreError> {
        search::write_waiting(self)?;
        search::delete(self, workspace, index, keys, removal)
    }

    fn search_compact(
        &mut self,
        workspace: WorkspaceKey,
        index: SearchIndex,
        is_first: bool,
    ) -> Result<bool, StoreError> {
        search::compact(self, workspace, index, is_first)
    }

    fn search_match(
        &mut self,
        workspace: WorkspaceKey,
        index: SearchIndex,
        query: &SearchQuery<'_>,
    ) -> Result<Vec<(i64, f64)>, StoreError> {
        search::write_waiting(self)?;
        search::find(self, workspace, index, query)
    }

    fn search_rows(
        &mut self,
        workspace: WorkspaceKey,
        index: SearchIndex,
        keys: &[i64],
    ) -> Result<Vec<SearchRow>, StoreError> {
        search::write_waiting(self)?;
        search::rows(self, workspace, index, keys)
    }

    fn search_statistics(
        &mut self,
        workspace: WorkspaceKey,
        index: SearchIndex,
        terms: &[String],
    ) -> Result<SearchStatistics, StoreError> {
        search::write_waiting(self)?;
        search::statistics(self, workspace, index, terms)
    }

    fn search_keys(&mut self, workspace: WorkspaceKey, index: SearchIndex) -> Result<Vec<i64>, StoreError> {
        search::write_waiting(self)?;
        search::keys(self, workspace, index)
    }

    fn search_flush(&mut self) -> Result<(), StoreError> {
        search::write_waiting(self)
    }

    fn search_clear(&mut self, workspace: WorkspaceKey) -> Result<(), StoreError> {
        search::write_waiting(self)?;
        search::clear(self, workspace)
    }

    fn search_drop(&mut self, workspace: WorkspaceKey) -> Result<(), StoreError> {
        search::write_waiting(self)?;
        search::drop_indexes(self, workspace)
    }

    fn vectors_insert(&mut self, _: WorkspaceKey, _: &str, _: &[(i64, &[f32])]) -> Result<(), StoreError> {
        Ok(())
    }

    /// The store scans the vectors in memory.
    fn vectors_nearest(
        &mut self,
        _: WorkspaceKey,
        _: &str,
        _: &[f32],
        _: usize,
    ) -> Result<Option<Vec<(i64, f32)>>, StoreError> {
        Ok(None)
    }
}

/// A commit that fails for want of room has not been written to its end; after another error of the disk it may have been.
fn after_writing(error: StoreError) -> StoreError {
    match error {
        StoreError::Io(_) | StoreError::Unwritten(_) | StoreError::Unopened(_) => {
            StoreError::CommitInDoubt { cause: Box::new(error) }
        }
        other => other,
    }
}

pub(super) struct SqliteRow<'a>(pub(super) &'a rusqlite::Row<'a>);

impl Row for SqliteRow<'_> {
    fn column(&self, index: usize) -> Result<Column<'_>, StoreError> {
        Ok(match self.0.get_ref(index)? {
            ValueRef::Null => Column::Null,
            ValueRef::Integer(number) => Column::Integer(number),
            ValueRef::Real(number) => Column::Real(number),
            ValueRef::Text(bytes) => {
                Column::Text(std::str::from_utf8(bytes).map_err(|_| StoreError::UnexpectedColumn { index })?)
            }
            ValueRef::Blob(bytes) => Column::Blob(bytes),
        })
    }
}

/// Binds without copying texts and blobs.
struct Bound<'a>(&'a Value<'a>);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        fn list<T>(items: &[T], value: impl Fn(&T) -> SqliteValue) -> ToSqlOutput<'static> {
            ToSqlOutput::from_rc(Rc::new(items.iter().map(value).collect::<Vec<_>>()), LIST_POINTER)
        }
        Ok(match *self.0 {
            Value::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Value::Integer(number) => ToSqlOutput::Borrowed(ValueRef::Integer(number)),
            Value::Real(number) => ToSqlOutput::Borrowed(ValueRef::Real(number)),
            Value::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Value::Blob(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Value::IntegerList(numbers) => list(numbers, |number| SqliteValue::Integer(*number)),
            Value::BlobList(ids) => list(ids, |id| SqliteValue::Blob(id.to_vec())),
            Value::HashList(hashes) => list(hashes, |hash| SqliteValue::Blob(hash.to_vec())),
            Value::TextList(texts) => list(texts, |text| SqliteValue::Text(text.clone())),
        })
    }
}
