//! One connection to a server: its prepared statements, and how its answers are waited for.
//!
//! The store is synchronous. Each connection has a small runtime of its own, driven only while somebody waits for an
//! answer: no thread is spent on it, and no answer passes from one thread to another.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, NoTls, Statement as Prepared};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::{describe, statement_error};
use crate::error::StoreError;

pub struct Connection {
    /// Always there but while the connection is dropped.
    runtime: Option<Runtime>,
    pub client: Client,
    prepared: HashMap<String, Prepared>,
    is_usable: bool,
    /// Dimensions of vectors that are known to have their index.
    dimensions: HashSet<i64>,
    round_trips: Arc<AtomicU64>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("prepared", &self.prepared.len()).finish_non_exhaustive()
    }
}

impl Connection {
    pub fn open(config: &Config, timeout: Duration, round_trips: Arc<AtomicU64>) -> Result<Self, ConnectError> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| ConnectError::Unreachable(format!("no runtime for a connection: {error}")))?;
        let client = runtime.block_on(async {
            tokio::time::timeout(timeout, connect(config))
                .await
                .map_err(|_| ConnectError::Unreachable("no answer in time".to_owned()))?
        })?;
        Ok(Self {
            runtime: Some(runtime),
            client,
            prepared: HashMap::new(),
            is_usable: true,
            dimensions: HashSet::new(),
            round_trips,
        })
    }

    pub fn is_open(&self) -> bool {
        self.is_usable && !self.client.is_closed()
    }

    /// Whatever state is left dies with the connection.
    pub fn close(&mut self) {
        self.is_usable = false;
    }

    /// Waits for answers: one round trip, however many statements were sent.
    pub fn wait<F: Future>(&self, answers: F) -> F::Output {
        self.round_trips.fetch_add(1, Ordering::Relaxed);
        self.wait_on(answers)
    }

    /// Waits for more of an answer that is on its way.
    pub fn wait_on<F: Future>(&self, answers: F) -> F::Output {
        self.runtime.as_ref().expect("a connection in use has its runtime").block_on(answers)
    }

    /// The same, but no longer than that. Who did not answer in time is not asked again: the connection is closed.
    pub fn wait_within<T>(&mut self, limit: Duration, ask: impl AsyncFnOnce(&Client) -> T) -> Result<T, StoreError> {
        // Inside the runtime, which the timer belongs to.
        let answered = self.wait(async { tokio::time::timeout(limit, ask(&self.client)).await });
        answered.map_err(|_| {
            self.is_usable = false;
            StoreError::Disconnected("no answer in time".to_owned())
        })
    }

    /// Commits what was written, and with it the statements `last`, in one round trip. No limit of the server's applies: it
    /// would end the wait for a synchronous standby, and acknowledge what no standby has.
    pub fn commit_write(&mut self, last: &str, wait: Duration) -> Result<(), CommitFailure> {
        let commit = format!("{last}SET LOCAL statement_timeout = 0; COMMIT");
        let answered = self.wait_within(wait, async |client| client.batch_execute(&commit).await);
        match answered {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => match statement_error(&error) {
                refusal if error.as_db_error().is_some() && !matches!(refusal, StoreError::Disconnected(_)) => {
                    Err(CommitFailure::Refused(refusal))
                }
                _ => Err(CommitFailure::Unanswered(StoreError::Disconnected(describe(&error)))),
            },
            Err(error) => Err(CommitFailure::Unanswered(error)),
        }
    }

    /// A connection that cannot even do this is closed, which does the same.
    pub fn roll_back(&mut self) {
        if self.is_open() && self.command("ROLLBACK").is_err() {
            self.close();
        }
    }

    /// The statement, prepared once per connection.
    pub fn prepare(&mut self, name: &str, text: impl FnOnce() -> String) -> Result<Prepared, StoreError> {
        if let Some(prepared) = self.prepared.get(name) {
            return Ok(prepared.clone());
        }
        let text = text();
        let prepared = self.wait(self.client.prepare(&text)).map_err(|error| named(name, &error))?;
        self.prepared.insert(name.to_owned(), prepared.clone());
        Ok(prepared)
    }

    pub fn knows_dimension(&self, dimension: i64) -> bool {
        self.dimensions.contains(&dimension)
    }

    pub fn note_dimension(&mut self, dimension: i64) {
        self.dimensions.insert(dimension);
    }

    /// After a transaction that came to nothing: the index may have gone with it.
    pub fn forget_dimensions(&mut self) {
        self.dimensions.clear();
    }

    pub fn command(&self, sql: &str) -> Result<(), StoreError> {
        self.wait(self.client.batch_execute(sql)).map_err(|error| statement_error(&error))
    }

    /// Asked of the catalogue's rows: `to_regclass` may remember, for as long as a transaction waits for a lock, that there
    /// was no such table before.
    pub fn has_table(&self, name: &str) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM pg_class WHERE relname = $1::TEXT AND relnamespace = current_schema()::regnamespace";
        Ok(!self.query(sql, &[&name])?.is_empty())
    }

    /// The rows of a statement of the engine's own.
    pub fn query(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        self.wait(self.client.query(sql, parameters)).map_err(|error| statement_error(&error))
    }
}

/// A runtime must not be dropped where waiting is forbidden, and a store may be.
impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// An error that says which of our statements it was: the server only knows its text.
pub fn named(name: &str, error: &tokio_postgres::Error) -> StoreError {
    match statement_error(error) {
        StoreError::Engine(message) => StoreError::Engine(format!("`{name}`: {message}")),
        other => other,
    }
}

/// Why a commit is not known to have been made.
#[derive(Debug)]
pub enum CommitFailure {
    /// The server said no: nothing was changed.
    Refused(StoreError),
    /// It may have been made.
    Unanswered(StoreError),
}

impl CommitFailure {
    pub fn into_error(self) -> StoreError {
        match self {
            Self::Refused(error) | Self::Unanswered(error) => error,
        }
    }
}

/// Why there is no connection.
#[derive(Debug)]
pub enum ConnectError {
    /// Nobody answers there, now.
    Unreachable(String),
    /// Somebody answers, and does not know this login.
    LoginRefused(String),
    DatabaseMissing,
}

async fn connect(config: &Config) -> Result<Client, ConnectError> {
    if config.get_ssl_mode() == SslMode::Disable {
        let (client, connection) = config.connect(NoTls).await.map_err(|error| connect_error(&error))?;
        tokio::spawn(connection);
        return Ok(client);
    }
    let (tls, _) = MakeRustlsConnect::with_native_certs()
        .map_err(|_| ConnectError::Unreachable("no certificates of this system can be read".to_owned()))?;
    let (client, connection) = config.connect(tls).await.map_err(|error| connect_error(&error))?;
    tokio::spawn(connection);
    Ok(client)
}

fn connect_error(error: &tokio_postgres::Error) -> ConnectError {
    match error.code() {
        Some(&SqlState::INVALID_CATALOG_NAME) => ConnectError::DatabaseMissing,
        Some(code) if code.code().starts_with("28") => ConnectError::LoginRefused(describe(error)),
        // The server asks for one, and the client gives up by itself.
        None if describe(error).contains("password missing") => {
            ConnectError::LoginRefused("it asks for a password, and the URL has none".to_owned())
        }
        _ => ConnectError::Unreachable(describe(error)),
    }
}
