//! Whether a commit went through whose answer was lost.
//!
//! Every transaction that writes inserts a random token, sent together with its begin. Whoever lost the answer to the commit
//! inserts the same token in another transaction, and rolls it back. The unique index waits for the first one: a conflict
//! means that it was committed, no conflict that it was not and never will be. The number of the transaction would not do:
//! after a crash or a failover the server hands out again the numbers whose log it does not have.

use std::time::Duration;

use futures_util::future::{join, join3};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};

use super::connection::{CommitFailure, Connection};
use super::durability;
use super::error::statement_error;
use super::transaction::APPLICATION_ROLE;
use crate::driver::Statement;
use crate::error::StoreError;

/// Tokens are kept for a day, see `0007_note_commits.sql`. Whoever slept for longer than this between a commit and the
/// question could take a token that is gone for one that never was.
const ASKED_WITHIN_MS: i64 = 12 * 3_600_000;
/// Tokens that one transaction deletes.
pub const OLD_AT_ONCE: i64 = 10_000;
/// The server gives up first, and says why.
const ANSWER_DELAY: Duration = Duration::from_secs(1);

/// The server's time as the transaction began, in milliseconds.
pub const SERVER_TIME: &str = "(EXTRACT(EPOCH FROM now()) * 1000)::BIGINT";

/// See `0007_note_commits.sql`. There is no such table in a file, so the statement is not among the shared ones.
pub const DELETE_OLD: Statement = Statement {
    name: "commits.delete_old",
    sqlite: "",
    postgres: "SELECT delete_old_commits($1)",
    #[cfg(test)]
    scans: None,
};

pub struct Token([u8; 16]);

impl Token {
    pub fn new() -> Result<Self, StoreError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| StoreError::Engine(format!("no random bytes: {error}")))?;
        Ok(Self(bytes))
    }

    #[cfg(test)]
    pub fn of(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Not prepared: a new connection would wait for that.
    pub async fn insert(&self, client: &Client) -> Result<(), tokio_postgres::Error> {
        let token: &(dyn ToSql + Sync) = &self.0.as_slice();
        client.execute_typed("INSERT INTO commits (token) VALUES ($1)", &[(token, Type::BYTEA)]).await.map(drop)
    }
}

/// A transaction that has written its token.
pub struct Commit {
    pub token: Token,
    /// See [`SERVER_TIME`].
    pub begun_at_ms: i64,
}

/// Whether it went through. While the server is still at it, it is waited for.
pub fn went_through(connection: &mut Connection, commit: &Commit, wait: Duration) -> Result<bool, StoreError> {
    let limit = wait.as_millis().max(1);
    let begin = format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL ROLE {APPLICATION_ROLE}; \
         SET LOCAL lock_timeout = {limit}; SET LOCAL statement_timeout = {limit}"
    );
    let ask_time = format!("SELECT {SERVER_TIME}");
    let (begun, time, inserted) = connection.wait_within(wait + ANSWER_DELAY, async |client| {
        join3(client.batch_execute(&begin), client.query_typed_one(&ask_time, &[]), commit.token.insert(client)).await
    })?;
    connection.roll_back();
    begun.map_err(|error| statement_error(&error))?;
    let now: i64 = time.and_then(|row| row.try_get(0)).map_err(|error| statement_error(&error))?;
    if now.abs_diff(commit.begun_at_ms) > ASKED_WITHIN_MS.unsigned_abs() {
        return Err(StoreError::OutcomeUnknown);
    }
    match inserted {
        Ok(()) => Ok(false),
        Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
            commit_behind(connection, wait)?;
            Ok(true)
        }
        Err(error) => Err(statement_error(&error)),
    }
}

/// Commits something of our own. Once that is answered, everything before it is on the disk, and on the standbys that the
/// server waits for: one that crashed while it waited for them does not wait again for what it finds in its log.
fn commit_behind(connection: &mut Connection, wait: Duration) -> Result<(), StoreError> {
    let token = Token::new()?;
    let begin = format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED; {}; SET LOCAL ROLE {APPLICATION_ROLE}",
        durability::WAIT_FOR_THE_DISK
    );
    let (begun, inserted) = connection.wait_within(wait + ANSWER_DELAY, async |client| {
        join(client.batch_execute(&begin), token.insert(client)).await
    })?;
    let committed = match begun.and(inserted) {
        Ok(()) => connection.commit_write("", wait),
        Err(error) => Err(CommitFailure::Refused(statement_error(&error))),
    };
    committed.map_err(|failure| {
        connection.roll_back();
        failure.into_error()
    })
}
