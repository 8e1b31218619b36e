//! A bounded number of connections, handed from one piece of work to the next.
//!
//! A connection that was lost while it was idle is noticed when it is used: its user tries again with another.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tokio_postgres::Config;

use super::connection::{ConnectError, Connection};
use crate::error::StoreError;
use rootset_model::limits::WRITE_WAIT_MS;

/// Between two tries to reach a server that is away: a restart takes a second or two.
const RECONNECT_PAUSE: Duration = Duration::from_millis(100);

/// Connections that writers leave to readers, where there are as many.
const READERS_KEPT: usize = 2;

#[derive(Debug)]
pub struct Pool {
    config: Config,
    /// How the database is called in messages.
    place: String,
    size: usize,
    connect_timeout: Duration,
    state: Mutex<State>,
    freed: Condvar,
    pub round_trips: Arc<AtomicU64>,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Connection>,
    in_use: usize,
    in_use_by_writers: usize,
}

/// What a connection is wanted for. Writers wait for each other while they hold one; readers must not wait with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Read,
    Write,
}

impl Pool {
    pub fn new(config: Config, place: String, size: usize, connect_timeout: Duration) -> Self {
        Self {
            config,
            place,
            size: size.max(1),
            connect_timeout,
            state: Mutex::default(),
            freed: Condvar::new(),
            round_trips: Arc::default(),
        }
    }

    /// A connection for `work`, which goes back afterwards if it can still be used.
    pub fn with<T>(
        &self,
        purpose: Purpose,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut permit = self.wait_for_permit(purpose)?;
        let mut connection = match permit.idle.take() {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let result = work(&mut connection);
        permit.idle = Some(connection).filter(Connection::is_open);
        result
    }

    fn wait_for_permit(&self, purpose: Purpose) -> Result<Permit<'_>, StoreError> {
        let deadline = Instant::now() + Duration::from_millis(WRITE_WAIT_MS);
        let writers_max = self.size - READERS_KEPT.min(self.size - 1);
        let mut state = self.state.lock();
        while state.in_use >= self.size || (purpose == Purpose::Write && state.in_use_by_writers >= writers_max) {
            if self.freed.wait_until(&mut state, deadline).timed_out() {
                return Err(StoreError::Busy { waited_ms: WRITE_WAIT_MS });
            }
        }
        state.in_use += 1;
        state.in_use_by_writers += usize::from(purpose == Purpose::Write);
        let idle = std::iter::from_fn(|| state.idle.pop()).find(Connection::is_open);
        Ok(Permit { pool: self, purpose, idle })
    }

    /// A new connection. A server that is away for a moment is waited for.
    fn connect(&self) -> Result<Connection, StoreError> {
        let deadline = Instant::now() + self.connect_timeout;
        loop {
            match self.connect_once() {
                Err(ConnectError::Unreachable(_)) if Instant::now() + RECONNECT_PAUSE < deadline => {
                    std::thread::sleep(RECONNECT_PAUSE);
                }
                outcome => return outcome.map_err(|error| self.named(error)),
            }
        }
    }

    /// A new connection, or the reason why there is none: a wrong address is told at once.
    pub fn first(&self) -> Result<Connection, StoreError> {
        self.connect_once().map_err(|error| self.named(error))
    }

    fn connect_once(&self) -> Result<Connection, ConnectError> {
        Connection::open(&self.config, self.connect_timeout, Arc::clone(&self.round_trips))
    }

    fn named(&self, error: ConnectError) -> StoreError {
        let place = self.place.clone();
        match error {
            ConnectError::Unreachable(detail) => StoreError::Unreachable { place, detail },
            ConnectError::LoginRefused(detail) => StoreError::LoginRefused { place, detail },
            ConnectError::DatabaseMissing => StoreError::DatabaseMissing { place },
        }
    }

    /// Everything that was idle is closed: what a session has cached may be out of date.
    pub fn clear(&self) {
        self.state.lock().idle.clear();
    }
}

/// The right to one connection, given back whatever happens; with the connection, unless the work took it down with it.
struct Permit<'a> {
    pool: &'a Pool,
    purpose: Purpose,
    idle: Option<Connection>,
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.state.lock();
        state.in_use -= 1;
        state.in_use_by_writers -= usize::from(self.purpose == Purpose::Write);
        state.idle.extend(self.idle.take());
        drop(state);
        // Not one alone: it might be a writer, and the permit one for a reader.
        self.pool.freed.notify_all();
    }
}
