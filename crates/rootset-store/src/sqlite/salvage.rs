//! Reading what can still be read of a damaged file: row by row, past every page that cannot.
//!
//! A table is walked along its key. Where a page fails, the walk looks for the next key that can be read, by steps that
//! double, and reads backwards from there to the damage. Then every page is read for itself, whatever the trees say: so rows
//! are found also where the schema is lost. Most rows are found twice. Nothing is written to the file.

use std::path::Path;

use rusqlite::types::Value as Raw;
use rusqlite::{OpenFlags, params_from_iter};

use super::connection::SqliteRow;
use super::pages::{Pages, Schemas, Shape};
use crate::driver::Row;
use crate::error::StoreError;

/// A damaged database, opened for reading.
#[derive(Debug)]
pub struct Wreck {
    /// `None` where not even the schema can be read.
    raw: Option<rusqlite::Connection>,
    pages: Pages,
    schemas: Schemas,
}

/// The column that a walk follows, and so how it steps over damage.
#[derive(Clone, Copy, Debug)]
pub enum Key {
    /// A whole number, such as `rowid`.
    Integer(&'static str),
    /// Sixteen bytes, taken for one great number.
    Id(&'static str),
    /// Small tables without either: read to the first damage and no further.
    None,
}

impl Key {
    fn column(self) -> Option<&'static str> {
        match self {
            Self::Integer(column) | Self::Id(column) => Some(column),
            Self::None => None,
        }
    }

    fn bound(self, number: u128) -> Raw {
        match self {
            Self::Id(_) => Raw::Blob(number.to_be_bytes().to_vec()),
            _ => Raw::Integer(i64::try_from(number).unwrap_or(i64::MAX)),
        }
    }

    fn max(self) -> u128 {
        match self {
            Self::Id(_) => u128::MAX,
            _ => i64::MAX as u128,
        }
    }
}

/// Which way a walk goes.
#[derive(Clone, Copy)]
enum Direction {
    Up,
    Down,
}

impl Wreck {
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let with_log = rusqlite::Connection::open_with_flags(path, flags).map_err(StoreError::from);
        // With its log if that can be read, without it otherwise.
        let readable = |raw: &rusqlite::Connection| {
            raw.query_row("SELECT COUNT(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0)).is_ok()
        };
        let raw = match with_log {
            Ok(raw) if readable(&raw) => Some(raw),
            _ => super::archive::open(path).ok().filter(readable),
        };
        Ok(Self { raw, pages: Pages::open(path)?, schemas: Schemas::new()? })
    }

    /// Whether the file says which tables it has.
    pub fn has_schema(&self) -> bool {
        self.raw.is_some()
    }

    /// Every row that can be read, at least once; columns that an older schema does not have are null. Answers how often it
    /// met damage.
    pub fn rows(
        &self,
        table: &str,
        columns: &[&str],
        key: Key,
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<i64, StoreError> {
        let damages = match &self.raw {
            Some(raw) => self.walk(raw, table, columns, key, each),
            None => 0,
        };
        self.pages.rows(&Shape::of(&self.schemas, table, columns)?, each);
        Ok(damages)
    }

    fn walk(
        &self,
        raw: &rusqlite::Connection,
        table: &str,
        columns: &[&str],
        key: Key,
        each: &mut dyn FnMut(&dyn Row),
    ) -> i64 {
        let known = columns_of(raw, table);
        if known.is_empty() {
            // Lost, unless the file is from before there was such a table.
            let version = raw.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap_or(0);
            return i64::from(self.schemas.knew(version, table));
        }
        let is_known = |column: &str| column == "rowid" || known.iter().any(|it| it == column);
        let selected: Vec<String> = columns
            .iter()
            .map(|column| if is_known(column) { format!("\"{column}\"") } else { "NULL".to_owned() })
            .collect();
        Walk { raw, table, selected: selected.join(", "), key, each }.run()
    }
}

fn columns_of(raw: &rusqlite::Connection, table: &str) -> Vec<String> {
    let read = || -> rusqlite::Result<Vec<String>> {
        let mut statement = raw.prepare("SELECT name FROM pragma_table_info(?1)")?;
        let names = statement.query_map([table], |row| row.get(0))?;
        Ok(names.map_while(Result::ok).collect())
    };
    read().unwrap_or_default()
}

struct Walk<'a> {
    raw: &'a rusqlite::Connection,
    table: &'a str,
    selected: String,
    key: Key,
    each: &'a mut dyn FnMut(&dyn Row),
}

impl Walk<'_> {
    fn run(mut self) -> i64 {
        let Some(column) = self.key.column() else {
            return i64::from(self.rows("", &[]).is_err());
        };
        let mut damages = 0;
        for workspace in self.workspaces() {
            let mut from = 0;
            // Each turn reads up to a damage and ends beyond it.
            while let Err(last) = self.stretch(column, workspace, from, self.key.max(), Direction::Up) {
                damages += 1;
                let after = last.map_or(from, |last| last.saturating_add(1));
                let Some(beyond) = self.beyond(column, workspace, after) else { break };
                if let Some(before) = beyond.checked_sub(1).filter(|before| *before >= after) {
                    // Up to the damage from the other side; where it lies is known already.
                    let _ = self.stretch(column, workspace, after, before, Direction::Down);
                }
                from = beyond;
            }
        }
        damages
    }

    /// Tables keyed by `rowid` are one stretch; all others begin with the workspace. A number that cannot be read is
    /// found by trying: workspaces are few.
    fn workspaces(&self) -> Vec<Option<i64>> {
        const WORKSPACES_TRIED_MAX: i64 = 1_000;
        match self.key.column() {
            Some("rowid" | "id") | None => vec![None],
            Some(_) => {
                let sql = format!("SELECT 1 FROM \"{}\" WHERE workspace = ?1 LIMIT 1", self.table);
                let Ok(mut statement) = self.raw.prepare(&sql) else { return Vec::new() };
                // An error means that there may be something behind it.
                let mut may_exist = |workspace: &i64| !matches!(statement.exists([workspace]), Ok(false));
                (0..=WORKSPACES_TRIED_MAX).filter(&mut may_exist).map(Some).collect()
            }
        }
    }

    /// Reads the rows with keys in a range; `Err` with the last key that was read when the rest cannot be.
    fn stretch(
        &mut self,
        column: &str,
        workspace: Option<i64>,
        from: u128,
        to: u128,
        direction: Direction,
    ) -> Result<(), Option<u128>> {
        let order = match direction {
            Direction::Up => "ASC",
            Direction::Down => "DESC",
        };
        let (condition, mut parameters) = of_workspace(workspace);
        parameters.extend([self.key.bound(from), self.key.bound(to)]);
        let count = parameters.len();
        let tail = format!(
            "WHERE {condition} \"{column}\" >= ?{} AND \"{column}\" <= ?{count} ORDER BY \"{column}\" {order}",
            count - 1
        );
        self.rows(&tail, &parameters)
    }

    fn rows(&mut self, tail: &str, parameters: &[Raw]) -> Result<(), Option<u128>> {
        let key = self.key.column().map_or_else(|| "NULL".to_owned(), |column| format!("\"{column}\""));
        let sql = format!("SELECT {}, {key} FROM \"{}\" {tail}", self.selected, self.table);
        let mut last = None;
        let Ok(mut statement) = self.raw.prepare(&sql) else { return Err(None) };
        let place = statement.column_count() - 1;
        let Ok(mut rows) = statement.query(params_from_iter(parameters)) else { return Err(None) };
        loop {
            match rows.next() {
                Ok(Some(row)) => {
                    last = row.get_ref(place).ok().and_then(number).or(last);
                    (self.each)(&SqliteRow(row));
                }
                Ok(None) => return Ok(()),
                Err(_) => return Err(last),
            }
        }
    }

    /// The first key from `after` on that can be found again, or `None` when nothing more can.
    fn beyond(&self, column: &str, workspace: Option<i64>, after: u128) -> Option<u128> {
        let (condition, mut parameters) = of_workspace(workspace);
        parameters.push(Raw::Null);
        let count = parameters.len();
        let sql = format!(
            "SELECT \"{column}\" FROM \"{}\" WHERE {condition} \"{column}\" >= ?{count} ORDER BY \"{column}\" LIMIT 1",
            self.table
        );
        let mut statement = self.raw.prepare(&sql).ok()?;
        let mut step: u128 = 1;
        loop {
            let candidate = after.checked_add(step).filter(|it| *it <= self.key.max())?;
            parameters[count - 1] = self.key.bound(candidate);
            let mut rows = statement.query(params_from_iter(&parameters)).ok()?;
            match rows.next() {
                Ok(Some(row)) => return row.get_ref(0).ok().and_then(number).filter(|found| *found > after),
                Ok(None) => return None,
                Err(_) => step = step.checked_mul(2)?,
            }
        }
    }
}

fn of_workspace(workspace: Option<i64>) -> (&'static str, Vec<Raw>) {
    match workspace {
        Some(workspace) => ("workspace = ?1 AND", vec![Raw::Integer(workspace)]),
        None => ("", Vec::new()),
    }
}

fn number(value: rusqlite::types::ValueRef<'_>) -> Option<u128> {
    match value {
        rusqlite::types::ValueRef::Integer(number) => u128::try_from(number).ok(),
        rusqlite::types::ValueRef::Blob(bytes) => Some(u128::from_be_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}
