//! The engine for those who outgrow one machine: a PostgreSQL server that many processes share.
//!
//! One writer per workspace at a time, by an advisory lock of the transaction; workspaces do not wait for each other, and
//! readers wait for nobody. All work is done as a role that owns nothing, with the workspace shown to row-level security.
//! Conflicts and lost connections are tried again. A commit whose answer was lost is asked for by its token ([`commits`]),
//! so that nothing is done twice and nothing acknowledged that was not done.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use parking_lot::RwLock;
use rootset_model::limits::WRITE_WAIT_MS;
use tokio_postgres::Config;

use crate::Credential;
use crate::driver::{DurabilitySetting, Engine, Sizes, Tenant, Wall, Work};
use crate::error::StoreError;
use crate::location::{PostgresSettings, PostgresUrl};

mod clock;
mod commits;
mod connection;
mod durability;
mod error;
mod maintenance;
mod many;
mod migrate;
mod pool;
mod search;
mod statistics;
#[cfg(test)]
mod tests;
mod transaction;
mod values;
mod vectors;

use clock::ServerAhead;
use commits::Commit;
use connection::{CommitFailure, Connection};
use error::{Failure, failure};
use pool::{Pool, Purpose};
use statistics::ChangedRows;
use transaction::{Access, Beginning, PostgresTransaction};

/// How often work is tried again that others got in the way of.
const TRIES_MAX: u32 = 12;
/// The pause before the second try; it doubles, up to a second.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// A writer has more to do than a reader, and so has whoever looks at the whole database.
const LONG_WORK_FACTOR: u64 = 10;
/// A process that hangs in the middle of a transaction holds others up no longer than this.
const IDLE_IN_TRANSACTION_MS: u64 = 600_000;

/// What every session is told as it begins. Plans must depend neither on how full a table was when they were made nor on the
/// workspace that they are used for: one that came after the last statistics would be taken for empty. And none of ours is
/// long enough to compile.
fn session_settings() -> String {
    let settings = [
        "plan_cache_mode=force_generic_plan",
        "enable_seqscan=off",
        "enable_hashjoin=off",
        "enable_mergejoin=off",
        "jit=off",
        &format!("lock_timeout={WRITE_WAIT_MS}"),
        &format!("idle_in_transaction_session_timeout={IDLE_IN_TRANSACTION_MS}"),
        "client_min_messages=warning",
    ];
    settings.map(|setting| format!("-c {setting}")).join(" ")
}

pub struct PostgresEngine {
    pool: Pool,
    statement_timeout_ms: u64,
    /// How long an answer about a commit is waited for whose own answer was cut off.
    outcome_wait: Duration,
    has_vectors: bool,
    is_new: bool,
    durability: Vec<DurabilitySetting>,
    changed_rows: ChangedRows,
    /// Whether writes move the database's own clock on. What is written on opening does not: whoever opens may go by another
    /// wall clock.
    observes_time: bool,
    /// Stands in for the server's clock.
    wall: Option<Wall>,
    /// The token that transactions show unless they show another.
    credential: RwLock<Option<Credential>>,
    server_ahead: ServerAhead,
}

impl std::fmt::Debug for PostgresEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresEngine").field("pool", &self.pool).finish_non_exhaustive()
    }
}

impl PostgresEngine {
    /// Connects, and makes or updates the schema where that is needed and allowed.
    pub fn open(url: &PostgresUrl, settings: &PostgresSettings) -> Result<Self, StoreError> {
        let (pool, first, durability) = Self::connect(url, settings)?;
        let is_new = migrate::migrate(&first, &url.to_string())? == 0;
        let has_vectors = vectors::prepare(&first)?;
        drop(first);
        let mut engine = Self::over(pool, settings, durability, has_vectors)?;
        if engine.has_vectors {
            vectors::fill_all(&engine)?;
        }
        engine.is_new = is_new;
        engine.observes_time = true;
        Ok(engine)
    }

    /// As it is: nothing is made or changed. `None` where there is no schema, or one of another version.
    pub fn open_as_it_is(url: &PostgresUrl, settings: &PostgresSettings) -> Result<Option<Self>, StoreError> {
        let (pool, first, durability) = Self::connect(url, settings)?;
        if !migrate::is_up_to_date(&first)? {
            return Ok(None);
        }
        let has_vectors = vectors::are_prepared(&first)?;
        drop(first);
        let mut engine = Self::over(pool, settings, durability, has_vectors)?;
        engine.observes_time = true;
        Ok(Some(engine))
    }

    fn connect(
        url: &PostgresUrl,
        settings: &PostgresSettings,
    ) -> Result<(Pool, Connection, Vec<DurabilitySetting>), StoreError> {
        let place = url.to_string();
        let mut config: Config = url
            .secret()
            .parse()
            .map_err(|error: tokio_postgres::Error| StoreError::WrongUrl { detail: error::describe(&error) })?;
        if config.get_application_name().is_none() {
            config.application_name("rootset");
        }
        let own = session_settings();
        let options = config.get_options().map_or_else(|| own.clone(), |given| format!("{own} {given}"));
        config.options(&options);
        let connect_timeout = Duration::from_millis(settings.connect_timeout_ms);
        config.connect_timeout(connect_timeout);
        let pool = Pool::new(config, place.clone(), settings.pool_size, connect_timeout);
        let first = pool.first()?;
        let durability = migrate::check_server(&first, &place)?;
        Ok((pool, first, durability))
    }

    /// Whoever may not act as the application learns it here.
    fn over(
        pool: Pool,
        settings: &PostgresSettings,
        durability: Vec<DurabilitySetting>,
        has_vectors: bool,
    ) -> Result<Self, StoreError> {
        let connect_timeout = Duration::from_millis(settings.connect_timeout_ms);
        let statement_timeout_ms = settings.statement_timeout_ms;
        let outcome_wait = connect_timeout.max(Duration::from_millis(statement_timeout_ms));
        let engine = Self {
            pool,
            statement_timeout_ms,
            outcome_wait,
            has_vectors,
            is_new: false,
            durability,
            changed_rows: ChangedRows::default(),
            observes_time: false,
            wall: None,
            credential: RwLock::new(None),
            server_ahead: ServerAhead::default(),
        };
        engine.read(Tenant::Database, &mut |_| Ok(()))?;
        Ok(engine)
    }

    fn run(&self, tenant: Tenant, access: Access, work: Work<'_>) -> Result<(), StoreError> {
        let mut pause = FIRST_PAUSE;
        for tried in 1.. {
            match self.attempt(tenant, access, work) {
                Ok(()) => return Ok(()),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Conflict(error) | Failure::Disconnected(error)) if tried >= TRIES_MAX => {
                    return Err(error);
                }
                Err(Failure::Conflict(_)) => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                // The pool waits for a server that is away.
                Err(Failure::Disconnected(_)) => self.pool.clear(),
            }
        }
        unreachable!("the last try has answered")
    }

    /// One try. Without an answer to its commit the server is asked whether it went through.
    fn attempt(&self, tenant: Tenant, access: Access, work: Work<'_>) -> Result<(), Failure> {
        let mut unanswered = None;
        let timeout_ms = match (access, tenant) {
            (Access::Read, Tenant::Workspace(_)) => self.statement_timeout_ms,
            _ => self.statement_timeout_ms.saturating_mul(LONG_WORK_FACTOR),
        };
        let purpose = if access == Access::Read { Purpose::Read } else { Purpose::Write };
        let result = self.pool.with(purpose, |connection| {
            let local = crate::time::of_this_machine();
            let (before, wall) = (local(), self.wall.as_ref());
            let beginning = Beginning { tenant, access, timeout_ms, wall, credential: *self.credential.read() };
            let begun = PostgresTransaction::begin(connection, beginning, self.has_vectors);
            let worked = begun.and_then(|mut transaction| {
                if wall.is_none() {
                    self.server_ahead.compare(transaction.server_now(), before, local());
                }
                work(&mut transaction)?;
                let moved_clock = if self.observes_time { transaction.moved_clock() } else { String::new() };
                Ok((transaction.commit, moved_clock, transaction.changed_rows))
            });
            let (commit, moved_clock, changed_rows) = worked.inspect_err(|_| {
                connection.forget_dimensions();
                connection.roll_back();
            })?;
            let Some(commit) = commit else { return connection.command("COMMIT") };
            crate::failpoints::failpoint!("postgres.commit");
            match connection.commit_write(&moved_clock, Duration::from_millis(timeout_ms)) {
                Ok(()) => {
                    self.changed_rows.add(changed_rows, connection);
                    Ok(())
                }
                Err(CommitFailure::Refused(error)) => {
                    connection.forget_dimensions();
                    connection.roll_back();
                    Err(error)
                }
                Err(CommitFailure::Unanswered(error)) => {
                    unanswered = Some(commit);
                    Err(error)
                }
            }
        });
        match (result, unanswered) {
            (Ok(()), _) => Ok(()),
            (Err(error), None) => Err(failure(error)),
            (Err(error), Some(commit)) => match self.went_through(&commit) {
                Ok(true) => Ok(()),
                Ok(false) => Err(failure(error)),
                Err(unknown) => Err(Failure::Final(unknown)),
            },
        }
    }

    /// Whether a commit without an answer was made. A server that is away is waited for, and so is one that is still at it.
    fn went_through(&self, commit: &Commit) -> Result<bool, StoreError> {
        let deadline = Instant::now() + self.outcome_wait;
        let mut pause = FIRST_PAUSE;
        // What is idle was most likely cut off as well.
        self.pool.clear();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let asked = self.pool.with(Purpose::Read, |connection| commits::went_through(connection, commit, left));
            match asked {
                Ok(answer) => return Ok(answer),
                Err(StoreError::OutcomeUnknown) => return Err(StoreError::OutcomeUnknown),
                // Whatever kept the answer away, this is what matters to the caller.
                Err(_) if Instant::now() + pause >= deadline => return Err(StoreError::OutcomeUnknown),
                Err(_) => std::thread::sleep(pause),
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn with_login<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.pool.with(Purpose::Read, |connection| work(connection))
    }
}

impl Engine for PostgresEngine {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn set_wall(&mut self, wall: Wall) {
        self.wall = Some(wall);
    }

    fn act_with(&self, credential: Credential) {
        *self.credential.write() = Some(credential);
    }

    fn server_ahead_ms(&self) -> i64 {
        if self.wall.is_some() { 0 } else { self.server_ahead.ms() }
    }

    fn read(&self, tenant: Tenant, work: Work<'_>) -> Result<(), StoreError> {
        self.run(tenant, Access::Read, work)
    }

    fn write(&self, tenant: Tenant, work: Work<'_>) -> Result<(), StoreError> {
        self.run(tenant, Access::Write, work)
    }

    fn touch(&self, tenant: Tenant, work: Work<'_>) -> Result<(), StoreError> {
        self.run(tenant, Access::Touch, work)
    }

    /// The log is the server's, and so is its archive.
    fn truncate_log(&self) -> Result<bool, StoreError> {
        Ok(true)
    }

    fn shrink_log(&self) -> Result<bool, StoreError> {
        Ok(true)
    }

    /// The disk is the server's, too.
    fn give_up_reserve(&self) -> bool {
        false
    }

    fn keep_reserve(&self) {}

    fn sizes(&self) -> Result<Sizes, StoreError> {
        self.with_login(maintenance::sizes)
    }

    fn integrity(&self) -> Result<Vec<String>, StoreError> {
        self.with_login(maintenance::integrity)
    }

    fn durability(&self) -> Result<Vec<DurabilitySetting>, StoreError> {
        self.with_login(maintenance::durability)
    }

    fn durability_at_start(&self) -> &[DurabilitySetting] {
        &self.durability
    }

    fn delete_old_commits(&self) -> Result<i64, StoreError> {
        let mut deleted = 0;
        loop {
            let mut some = 0;
            self.touch(Tenant::Database, &mut |tx| {
                some = tx.scalar(&commits::DELETE_OLD, &[commits::OLD_AT_ONCE.into()])?;
                Ok(())
            })?;
            deleted += some;
            if some < commits::OLD_AT_ONCE {
                return Ok(deleted);
            }
        }
    }

    fn is_new(&self) -> bool {
        self.is_new
    }

    fn path(&self) -> Option<&Path> {
        None
    }

    fn copy_to(&self, _: &Path) -> Result<(), StoreError> {
        Err(StoreError::NoSnapshots { engine: self.name() })
    }

    fn compact(&self) -> Result<(), StoreError> {
        let outcome = self.with_login(maintenance::compact);
        // That session has lost its time limits.
        self.pool.clear();
        outcome
    }

    fn contains_bytes(&self, _: &[Vec<u8>]) -> Result<Option<bool>, StoreError> {
        Ok(None)
    }

    fn round_trips(&self) -> Option<u64> {
        Some(self.pool.round_trips.load(Ordering::Relaxed))
    }

    fn lacks_vectors(&self) -> bool {
        !self.has_vectors
    }
}
