//! A connection to a PostgreSQL server for callers that wait: tests, in async functions or not.

use std::future::Future;

use rootset_store::driver::Value;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, private::BytesMut, to_sql_checked};
use tokio_postgres::{Client, Config, NoTls};

use super::{Cell, SqlError, SqlRow};
use crate::off_runtime;

pub struct Server {
    client: Client,
    runtime: Runtime,
}

/// A runtime that ends inside another one must not wait for anything.
struct Runtime(Option<tokio::runtime::Runtime>);

impl Drop for Runtime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Server {
    pub fn connect(url: &str) -> Result<Self, SqlError> {
        let config: Config = url.parse().map_err(|source| SqlError::Url { url: url.to_owned(), source })?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let runtime = Runtime(Some(runtime));
        let client = wait(&runtime, async {
            let (client, connection) = config.connect(NoTls).await?;
            tokio::spawn(connection);
            // No trigger fires, and those that keep foreign keys are triggers.
            client.batch_execute("SET session_replication_role = replica").await?;
            Ok(client)
        })?;
        Ok(Self { client, runtime })
    }

    pub fn execute(&self, sql: &str, parameters: &[Value<'_>]) -> Result<usize, SqlError> {
        let bound: Vec<Bound<'_>> = parameters.iter().map(Bound).collect();
        let bound: Vec<&(dyn ToSql + Sync)> = bound.iter().map(|it| it as _).collect();
        wait(&self.runtime, async { Ok(self.client.execute(sql, &bound).await? as usize) })
    }

    pub fn execute_batch(&self, sql: &str) -> Result<(), SqlError> {
        wait(&self.runtime, async { Ok(self.client.batch_execute(sql).await?) })
    }

    pub fn rows(&self, sql: &str, parameters: &[Value<'_>]) -> Result<Vec<SqlRow>, SqlError> {
        let bound: Vec<Bound<'_>> = parameters.iter().map(Bound).collect();
        let bound: Vec<&(dyn ToSql + Sync)> = bound.iter().map(|it| it as _).collect();
        let rows = wait(&self.runtime, async { Ok(self.client.query(sql, &bound).await?) })?;
        rows.iter()
            .map(|row| {
                let names = row.columns().iter().map(|column| column.name().to_owned()).collect();
                let cells = (0..row.len()).map(|at| cell(row, at)).collect::<Result<_, _>>()?;
                Ok(SqlRow { names, cells })
            })
            .collect()
    }
}

/// What the server said, and not only that it said something.
pub fn in_words(error: &tokio_postgres::Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), ToString::to_string)
}

fn wait<T: Send>(runtime: &Runtime, work: impl Future<Output = Result<T, SqlError>> + Send) -> Result<T, SqlError> {
    let runtime = runtime.0.as_ref().expect("it lives as long as its connection");
    off_runtime(|| runtime.block_on(work))
}

fn cell(row: &tokio_postgres::Row, at: usize) -> Result<Cell, SqlError> {
    let kind = row.columns()[at].type_();
    let cell = match *kind {
        Type::BOOL => row.try_get::<_, Option<bool>>(at)?.map(|flag| Cell::Integer(flag.into())),
        Type::INT2 => row.try_get::<_, Option<i16>>(at)?.map(|number| Cell::Integer(number.into())),
        Type::INT4 => row.try_get::<_, Option<i32>>(at)?.map(|number| Cell::Integer(number.into())),
        Type::INT8 => row.try_get::<_, Option<i64>>(at)?.map(Cell::Integer),
        Type::FLOAT8 => row.try_get::<_, Option<f64>>(at)?.map(Cell::Real),
        Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(at)?.map(Cell::Blob),
        Type::VOID => None,
        _ if <String as FromSql<'_>>::accepts(kind) => row.try_get::<_, Option<String>>(at)?.map(Cell::Text),
        _ => row.try_get::<_, Option<AsSent>>(at)?.map(|bytes| Cell::Blob(bytes.0)),
    };
    Ok(cell.unwrap_or(Cell::Null))
}

/// A value of a type that is nobody's here, a vector for instance, in the form in which the server sends it.
struct AsSent(Vec<u8>);

impl<'a> FromSql<'a> for AsSent {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(raw.to_vec()))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// A value that takes the type that the server infers for its place.
#[derive(Debug)]
struct Bound<'a>(&'a Value<'a>);

impl ToSql for Bound<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match (self.0, kind) {
            (Value::Null, _) => Ok(IsNull::Yes),
            (Value::Integer(number), &Type::INT4) => i32::try_from(*number)?.to_sql(kind, out),
            (Value::Integer(number), &Type::FLOAT8) => (*number as f64).to_sql(kind, out),
            (Value::Integer(number), &Type::BOOL) => (*number != 0).to_sql(kind, out),
            (Value::Integer(number), _) => number.to_sql(kind, out),
            (Value::Real(number), _) => number.to_sql(kind, out),
            (Value::Text(text), _) => text.to_sql(kind, out),
            (Value::Blob(bytes), _) => bytes.to_sql(kind, out),
            _ => panic!("statements of tests are over single values"),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
