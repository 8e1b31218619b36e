//! What only this engine does, asked below the store's logic: conflicts, time limits, few connections, lost answers, crashes,
//! and the index over vectors.

mod commits;
mod conflicts;
mod connections;
mod crashes;
mod durability;
mod nearest;
mod starting;
mod statistics;

use std::time::Duration;

use rootset_model::WorkspaceKey;
use rootset_testing::{Sql, TestDatabase, TestEngine};

use super::PostgresEngine;
use crate::driver::{Engine, Statement, Tenant, Value};
use crate::error::StoreError;
use crate::location::{Location, PostgresSettings};

/// Longer than anything here takes; a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(30);

fn database() -> TestDatabase {
    TestDatabase::on(TestEngine::Postgres)
}

fn settings() -> PostgresSettings {
    PostgresSettings::default()
}

fn try_open(database: &TestDatabase, settings: &PostgresSettings) -> Result<PostgresEngine, StoreError> {
    open_url(database.url(), settings)
}

fn open_url(url: &str, settings: &PostgresSettings) -> Result<PostgresEngine, StoreError> {
    match Location::parse(url).expect("a URL of the tests") {
        Location::Postgres(url) => PostgresEngine::open(&url, settings),
        Location::File(path) => panic!("{} is no server", path.display()),
    }
}

fn open(database: &TestDatabase, settings: &PostgresSettings) -> PostgresEngine {
    try_open(database, settings).unwrap_or_else(|error| panic!("{error}"))
}

/// Rows that anybody may count up: one per workspace, in a table that refers to nothing.
const COUNT_UP: Statement = Statement {
    name: "tests.count_up",
    sqlite: "",
    scans: None,
    postgres: "INSERT INTO kept_counters AS k (workspace, next_number, next_chunk, next_session, next_segment)
               VALUES ($1, 1, 0, 0, 0) ON CONFLICT (workspace) DO UPDATE SET next_number = k.next_number + 1",
};

fn count_up(engine: &PostgresEngine, workspace: i64) -> Result<(), StoreError> {
    engine.write(Tenant::Workspace(WorkspaceKey(workspace)), &mut |tx| {
        tx.execute(&COUNT_UP, &[Value::Integer(workspace)]).map(drop)
    })
}

fn counted(sql: &Sql, workspace: i64) -> i64 {
    let statement = "SELECT COALESCE(MAX(next_number), 0) FROM kept_counters WHERE workspace = ?1";
    sql.scalar(statement, &[workspace.into()]).expect("a count")
}

/// Ends every session of the database but the one that asks.
fn end_all_sessions(sql: &Sql) {
    let statement = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                     WHERE datname = current_database() AND pid <> pg_backend_pid()";
    sql.rows(statement, &[], |_| Ok(())).expect("backends that end");
}
