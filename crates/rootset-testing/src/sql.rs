//! Statements of the tests' own, on either engine: to look at rows that no operation shows, and to break them.
//!
//! Written in SQLite's words, of which the few that PostgreSQL has no such words for are rewritten. Foreign keys are off and
//! no policy about rows applies: tests that break rows on purpose must not be stopped.

mod dialect;
mod search;
mod server;

use std::time::Duration;

use rootset_store::Location;
use rootset_store::driver::{Column, FromColumn, Value};
use rusqlite::types::ValueRef;
use thiserror::Error;

use server::Server;

/// As long as a writer waits for another.
const WAIT: Duration = Duration::from_secs(60);

pub struct Sql(Connection);

enum Connection {
    Sqlite(rusqlite::Connection),
    Postgres(Server),
}

#[derive(Debug, Error)]
pub enum SqlError {
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("{}", server::in_words(.0))]
    Postgres(#[from] tokio_postgres::Error),
    #[error("`{url}` is no URL of a server: {source}")]
    Url { url: String, source: tokio_postgres::Error },
    #[error("column {index} is {found:?}")]
    Column { index: usize, found: Option<Cell> },
    #[error("no row")]
    NoRow,
}

/// What a column holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

/// A row of an answer.
#[derive(Clone, Debug)]
pub struct SqlRow {
    names: Vec<String>,
    cells: Vec<Cell>,
}

impl SqlRow {
    pub fn get<T: FromColumn>(&self, index: usize) -> Result<T, SqlError> {
        let cell = self.cells.get(index);
        let value = cell.and_then(|cell| T::from_column(cell.as_column()));
        value.ok_or_else(|| SqlError::Column { index, found: cell.cloned() })
    }

    /// Columns with their names, in their order.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &Cell)> {
        self.names.iter().map(String::as_str).zip(&self.cells)
    }
}

impl Cell {
    fn as_column(&self) -> Column<'_> {
        match self {
            Self::Null => Column::Null,
            Self::Integer(number) => Column::Integer(*number),
            Self::Real(number) => Column::Real(*number),
            Self::Text(text) => Column::Text(text),
            Self::Blob(bytes) => Column::Blob(bytes),
        }
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => write!(f, "-"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Real(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{text}"),
            Self::Blob(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

impl Sql {
    /// A connection to a database that is there.
    pub fn open(location: &Location) -> Result<Self, SqlError> {
        let connection = match location {
            Location::File(path) => {
                let flags = rusqlite::OpenFlags::default() & !rusqlite::OpenFlags::SQLITE_OPEN_CREATE;
                let connection = rusqlite::Connection::open_with_flags(path, flags)?;
                connection.busy_timeout(WAIT)?;
                // What the test itself overwrites must not look like something that the store left behind.
                connection.execute_batch("PRAGMA secure_delete = ON; PRAGMA foreign_keys = OFF")?;
                Connection::Sqlite(connection)
            }
            Location::Postgres(url) => Connection::Postgres(Server::connect(url.secret())?),
        };
        Ok(Self(connection))
    }

    /// From now on, everything is read as it is now.
    pub fn begin_snapshot(&self) -> Result<(), SqlError> {
        match &self.0 {
            Connection::Sqlite(connection) => Ok(connection.execute_batch("BEGIN")?),
            Connection::Postgres(server) => server.execute_batch("BEGIN ISOLATION LEVEL REPEATABLE READ"),
        }
    }

    /// Rows changed.
    pub fn execute(&self, sql: &str, parameters: &[Value<'_>]) -> Result<usize, SqlError> {
        match &self.0 {
            Connection::Sqlite(connection) => Ok(connection.prepare_cached(sql)?.execute(bound(parameters))?),
            Connection::Postgres(server) => server.execute(&dialect::postgres(sql), parameters),
        }
    }

    /// Several statements, one after the other.
    pub fn execute_batch(&self, sql: &str) -> Result<(), SqlError> {
        match &self.0 {
            Connection::Sqlite(connection) => Ok(connection.execute_batch(sql)?),
            Connection::Postgres(server) => server.execute_batch(&dialect::postgres(sql)),
        }
    }

    /// All rows, each turned into a value.
    pub fn rows<T>(
        &self,
        sql: &str,
        parameters: &[Value<'_>],
        read: impl FnMut(&SqlRow) -> Result<T, SqlError>,
    ) -> Result<Vec<T>, SqlError> {
        let rows = match &self.0 {
            Connection::Sqlite(connection) => sqlite_rows(connection, sql, parameters)?,
            Connection::Postgres(server) => server.rows(&dialect::postgres(sql), parameters)?,
        };
        rows.iter().map(read).collect()
    }

    /// The first row, if any.
    pub fn row<T>(
        &self,
        sql: &str,
        parameters: &[Value<'_>],
        read: impl FnMut(&SqlRow) -> Result<T, SqlError>,
    ) -> Result<Option<T>, SqlError> {
        Ok(self.rows(sql, parameters, read)?.into_iter().next())
    }

    /// The first column of the first row.
    pub fn scalar<T: FromColumn>(&self, sql: &str, parameters: &[Value<'_>]) -> Result<T, SqlError> {
        self.row(sql, parameters, |row| row.get(0))?.ok_or(SqlError::NoRow)
    }

    /// All that the rows of a table hold, one after the other.
    pub(crate) fn bytes_of(&self, table: &str) -> Result<Vec<u8>, SqlError> {
        let rows = self.rows(&format!("SELECT * FROM \"{table}\""), &[], |row| Ok(row.clone()))?;
        let mut bytes = Vec::new();
        for cell in rows.iter().flat_map(|row| &row.cells) {
            match cell {
                Cell::Blob(blob) => bytes.extend_from_slice(blob),
                other => bytes.extend_from_slice(other.to_string().as_bytes()),
            }
            bytes.push(0);
        }
        Ok(bytes)
    }

    /// Names of all tables with rows of their own, sorted. Not the tokens of commits: every transaction that writes adds
    /// one, and they say nothing of what is stored.
    pub fn tables(&self) -> Result<Vec<String>, SqlError> {
        let sql = match &self.0 {
            Connection::Sqlite(_) => {
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL TABLE%' ORDER BY 1"
            }
            Connection::Postgres(_) => {
                "SELECT tablename::text FROM pg_tables
                 WHERE schemaname = current_schema() AND tablename <> 'commits' ORDER BY 1"
            }
        };
        self.rows(sql, &[], |row| row.get(0))
    }
}

impl std::fmt::Debug for Sql {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let engine = match &self.0 {
            Connection::Sqlite(_) => "sqlite",
            Connection::Postgres(_) => "postgres",
        };
        f.debug_tuple("Sql").field(&engine).finish()
    }
}

fn sqlite_rows(
    connection: &rusqlite::Connection,
    sql: &str,
    parameters: &[Value<'_>],
) -> Result<Vec<SqlRow>, SqlError> {
    let mut statement = connection.prepare_cached(sql)?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let rows = statement.query_map(bound(parameters), |row| {
        let cells = (0..names.len()).map(|at| row.get_ref(at).map(sqlite_cell)).collect::<Result<_, _>>()?;
        Ok(SqlRow { names: names.clone(), cells })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn sqlite_cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Cell::Blob(bytes.to_vec()),
    }
}

fn bound(parameters: &[Value<'_>]) -> impl rusqlite::Params {
    use rusqlite::types::Value as Sqlite;
    rusqlite::params_from_iter(
        parameters
            .iter()
            .map(|value| match value {
                Value::Null => Sqlite::Null,
                Value::Integer(number) => Sqlite::Integer(*number),
                Value::Real(number) => Sqlite::Real(*number),
                Value::Text(text) => Sqlite::Text((*text).to_owned()),
                Value::Blob(bytes) => Sqlite::Blob(bytes.to_vec()),
                _ => panic!("statements of tests are over single values"),
            })
            .collect::<Vec<_>>(),
    )
}
