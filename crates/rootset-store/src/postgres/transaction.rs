//! A transaction on one connection: whose rows it sees, who else may write, and statements sent to it.

use std::collections::HashSet;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use futures_util::StreamExt;
use futures_util::future::{join, join3, maybe_done};
use rootset_gc::ObservedTime;
use rootset_model::{Timestamp, WorkspaceKey};
use tokio_postgres::types::ToSql;

use super::clock::ServerClock;
use super::commits::{Commit, SERVER_TIME, Token};
use super::connection::{Connection, named};
use super::durability;
use super::error::statement_error;
use super::many;
use super::migrate::SCHEMA_LOCK;
use super::search;
use super::values::{Bound, BoundColumn, PostgresRow};
use super::vectors;
use crate::driver::{
    Row, SearchIndex, SearchQuery, SearchRemoval, SearchRow, SearchStatistics, Statement, Tenant, Transaction, Value,
    Wall, in_workspace,
};
use crate::error::StoreError;
use crate::{Credential, SCHEMA_VERSION};

/// The role that all work is done as, whoever logged in: it owns nothing and row-level security binds it.
pub const APPLICATION_ROLE: &str = "rootset_application";

/// Advisory locks of ours carry this in their upper half, the workspace's number in the lower: "Root".
const LOCK_SPACE: i64 = 0x526F_6F74 << 32;

/// Rows that one message asks for while an answer is read: memory does not grow with the answer.
const ROWS_AT_ONCE: usize = 256;
/// Workspaces that are asked together where all of them are.
const WORKSPACES_AT_ONCE: usize = 200;

/// Shows the workspace to row-level security, and tells the schema's version and the time: the server's, and what the
/// database has seen pass. A writer of a whole tenant waits here until it is the only one.
fn enter_text() -> String {
    format!(
        "SELECT set_config('rootset.workspace', $1, true), (SELECT version FROM schema_version), \
         CASE WHEN $2 THEN pg_advisory_xact_lock($3)::text END, {SERVER_TIME}, \
         t.observed_ms, t.last_wall_ms, t.doubt_ends_ms, t.doubt_jump_ms, \
         set_config('rootset.token', $4, true) FROM observed_time t"
    )
}

fn digits(credential: Credential) -> String {
    credential.0.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    /// As the only writer of each tenant that is entered.
    Write,
    /// Beside other writers.
    Touch,
}

/// How a transaction begins.
pub struct Beginning<'a> {
    pub tenant: Tenant,
    pub access: Access,
    pub timeout_ms: u64,
    /// Stands in for the server's clock.
    pub wall: Option<&'a Wall>,
    pub credential: Option<Credential>,
}

pub struct PostgresTransaction<'a> {
    pub connection: &'a mut Connection,
    access: Access,
    pub has_vectors: bool,
    locked: HashSet<WorkspaceKey>,
    /// Names a transaction that writes, after a lost answer to its commit.
    pub commit: Option<Commit>,
    clock: ServerClock,
    /// Rows that statements of the store have changed.
    pub changed_rows: usize,
    /// The credential that is shown, as hexadecimal digits; empty for none.
    shown: String,
}

impl<'a> PostgresTransaction<'a> {
    /// Begins, in one round trip.
    pub fn begin(
        connection: &'a mut Connection,
        beginning: Beginning<'_>,
        has_vectors: bool,
    ) -> Result<Self, StoreError> {
        let Beginning { tenant, access, timeout_ms, wall, credential } = beginning;
        let enter = connection.prepare("enter", enter_text)?;
        let begin = match access {
            Access::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY".to_owned(),
            // Whoever changes the schema waits for writers, and they for him.
            Access::Write | Access::Touch => {
                let lock = format!("SELECT pg_advisory_xact_lock_shared({SCHEMA_LOCK})");
                format!("BEGIN ISOLATION LEVEL READ COMMITTED; {lock}; {}", durability::WAIT_FOR_THE_DISK)
            }
        };
        let begin = format!("{begin}; SET LOCAL ROLE {APPLICATION_ROLE}; SET LOCAL statement_timeout = {timeout_ms}");
        let key = tenant.key();
        let (text, is_writer, lock) = (key.0.to_string(), access == Access::Write, LOCK_SPACE | key.0);
        let shown = credential.map(digits).unwrap_or_default();
        let parameters: [&(dyn ToSql + Sync); 4] = [&text, &is_writer, &lock, &shown];
        let token = if access == Access::Read { None } else { Some(Token::new()?) };
        let client = &connection.client;
        let (begun, entered, noted) = connection.wait(async {
            let noted = async {
                match &token {
                    Some(token) => token.insert(client).await,
                    None => Ok(()),
                }
            };
            // All are sent before any is waited for.
            join3(client.batch_execute(&begin), client.query_one(&enter, &parameters), noted).await
        });
        begun.map_err(|error| statement_error(&error))?;
        let entered = entered.map_err(|error| statement_error(&error))?;
        let found: i64 = entered.try_get(1).map_err(|error| statement_error(&error))?;
        if found != SCHEMA_VERSION {
            return Err(StoreError::SchemaNewer { found, known: SCHEMA_VERSION });
        }
        noted.map_err(|error| statement_error(&error))?;
        let clock = ServerClock::read(&entered, 3, wall).map_err(|error| statement_error(&error))?;
        let commit = token.map(|token| Commit { token, begun_at_ms: clock.server_now.0 });
        Ok(Self {
            connection,
            access,
            has_vectors,
            locked: HashSet::from([key]),
            commit,
            clock,
            changed_rows: 0,
            shown,
        })
    }

    /// What moves the database's own clock on, where it is time. For the end of the transaction and not before, because its
    /// row is one for all workspaces.
    pub fn moved_clock(&self) -> String {
        self.clock.moved_on().unwrap_or_default()
    }

    pub fn server_now(&self) -> Timestamp {
        self.clock.server_now
    }

    /// The rows that a statement of the engine's own changes.
    pub fn execute_own(
        &mut self,
        name: &str,
        text: impl FnOnce() -> String,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, StoreError> {
        let prepared = self.connection.prepare(name, text)?;
        let changed = self.connection.wait(self.connection.client.execute(&prepared, parameters));
        changed.map_err(|error| named(name, &error))
    }

    /// The rows of a statement of the engine's own.
    pub fn query_own(
        &mut self,
        name: &str,
        text: impl FnOnce() -> String,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        let prepared = self.connection.prepare(name, text)?;
        let rows = self.connection.wait(self.connection.client.query(&prepared, parameters));
        rows.map_err(|error| named(name, &error))
    }

    /// The statement over arrays, prepared once; its types are those that the server inferred for a single row.
    fn prepare_many(&mut self, statement: &Statement) -> Result<tokio_postgres::Statement, StoreError> {
        let one = self.connection.prepare(statement.name, || statement.postgres.to_owned())?;
        let text = many::for_arrays(statement.postgres, one.params())
            .ok_or_else(|| StoreError::Engine(format!("`{}` cannot be written over many rows", statement.name)))?;
        self.connection.prepare(&format!("{} over many", statement.name), || text)
    }

    fn count(
        &mut self,
        statement: &Statement,
        changed: Result<u64, tokio_postgres::Error>,
    ) -> Result<usize, StoreError> {
        let changed = changed.map_err(|error| named(statement.name, &error))? as usize;
        self.changed_rows += changed;
        Ok(changed)
    }

    fn stream(
        &mut self,
        name: &str,
        prepared: &tokio_postgres::Statement,
        parameters: Vec<&(dyn ToSql + Sync)>,
        each: &mut dyn FnMut(&dyn Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let connection = &*self.connection;
        let rows = connection.wait(connection.client.query_raw(prepared, parameters));
        let mut rows = pin!(rows.map_err(|error| named(name, &error))?);
        loop {
            let page = connection.wait_on(async {
                let mut page = Vec::new();
                while page.len() < ROWS_AT_ONCE {
                    match rows.next().await {
                        Some(row) => page.push(PostgresRow::new(row?)),
                        None => break,
                    }
                }
                Ok::<_, tokio_postgres::Error>(page)
            });
            let page = page.map_err(|error| named(name, &error))?;
            for row in &page {
                each(row)?;
            }
            if page.len() < ROWS_AT_ONCE {
                return Ok(());
            }
        }
    }
}

/// A statement is sent when its answer is first asked for; here in the order given, which `join_all` does not promise.
async fn all_in_order<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures.map(|it| Box::pin(maybe_done(it))).collect();
    poll_fn(|context| {
        let unfinished =
            waiting.iter_mut().filter_map(|it| it.as_mut().poll(context).is_pending().then_some(())).count();
        if unfinished == 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    waiting.iter_mut().map(|it| it.as_mut().take_output().expect("every one is done")).collect()
}

fn bound<'a>(parameters: &'a [Bound<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    parameters.iter().map(|it| it as &(dyn ToSql + Sync)).collect()
}

impl Transaction for PostgresTransaction<'_> {
    fn observed_time(&mut self) -> Result<ObservedTime, StoreError> {
        Ok(self.clock.now)
    }

    fn enter(&mut self, tenant: Tenant) -> Result<(), StoreError> {
        let key = tenant.key();
        let is_new_writer = self.access == Access::Write && self.locked.insert(key);
        let lock = LOCK_SPACE | key.0;
        let shown = self.shown.clone();
        self.query_own("enter", enter_text, &[&key.0.to_string(), &is_new_writer, &lock, &shown]).map(drop)
    }

    fn show(&mut self, credential: Credential) -> Result<(), StoreError> {
        let shown = digits(credential);
        let text = || "SELECT set_config('rootset.token', $1, true)".to_owned();
        self.query_own("show", text, &[&shown])?;
        self.shown = shown;
        Ok(())
    }

    fn execute(&mut self, statement: &Statement, parameters: &[Value<'_>]) -> Result<usize, StoreError> {
        let prepared = self.connection.prepare(statement.name, || statement.postgres.to_owned())?;
        let parameters: Vec<Bound<'_>> = parameters.iter().map(Bound).collect();
        let changed = self.connection.wait(self.connection.client.execute_raw(&prepared, bound(&parameters)));
        self.count(statement, changed)
    }

    fn execute_many(&mut self, statement: &Statement, rows: &[Vec<Value<'_>>]) -> Result<usize, StoreError> {
        match rows {
            [] => Ok(0),
            [row] => self.execute(statement, row),
            [first, ..] => {
                let prepared = self.prepare_many(statement)?;
                let columns: Vec<_> = (0..first.len()).map(|place| BoundColumn { rows, place }).collect();
                let parameters = columns.iter().map(|it| it as &(dyn ToSql + Sync));
                let changed = self.connection.wait(self.connection.client.execute_raw(&prepared, parameters));
                self.count(statement, changed)
            }
        }
    }

    fn query(
        &mut self,
        statement: &Statement,
        parameters: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let prepared = self.connection.prepare(statement.name, || statement.postgres.to_owned())?;
        let parameters: Vec<Bound<'_>> = parameters.iter().map(Bound).collect();
        self.stream(statement.name, &prepared, bound(&parameters), each)
    }

    fn query_many(
        &mut self,
        statement: &Statement,
        rows: &[Vec<Value<'_>>],
        each: &mut dyn FnMut(&dyn Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let Some(first) = rows.first() else { return Ok(()) };
        let prepared = self.prepare_many(statement)?;
        let columns: Vec<_> = (0..first.len()).map(|place| BoundColumn { rows, place }).collect();
        let parameters = columns.iter().map(|it| it as &(dyn ToSql + Sync)).collect();
        self.stream(statement.name, &prepared, parameters, each)
    }

    /// The next ones are sent before the first has answered.
    fn query_each(
        &mut self,
        workspaces: &[WorkspaceKey],
        statement: &Statement,
        others: &[Value<'_>],
        each: &mut dyn FnMut(WorkspaceKey, &dyn Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        assert_eq!(self.access, Access::Read, "a writer has one workspace at a time to itself");
        let enter = self.connection.prepare("enter", enter_text)?;
        let prepared = self.connection.prepare(statement.name, || statement.postgres.to_owned())?;
        for some in workspaces.chunks(WORKSPACES_AT_ONCE) {
            let asked = some.iter().map(|&workspace| {
                let (client, enter, prepared, shown) = (&self.connection.client, &enter, &prepared, &self.shown);
                async move {
                    let name = workspace.0.to_string();
                    let entering: [&(dyn ToSql + Sync); 4] = [&name, &false, &0_i64, shown];
                    let values = in_workspace(workspace, others);
                    let values: Vec<Bound<'_>> = values.iter().map(Bound).collect();
                    let (entered, rows) =
                        join(client.query_one(enter, &entering), client.query(prepared, &bound(&values))).await;
                    entered.and(rows)
                }
            });
            let answers = self.connection.wait(all_in_order(asked));
            for (&workspace, rows) in some.iter().zip(answers) {
                for row in rows.map_err(|error| named(statement.name, &error))? {
                    each(workspace, &PostgresRow::new(row))?;
                }
            }
        }
        Ok(())
    }

    fn search_insert(
        &mut self,
        workspace: WorkspaceKey,
        index: SearchIndex,
        rows: Vec<SearchRow>,
    ) -> Result<(), StoreError> {
        search::insert(self, workspace, index, &rows)
    }

    fn search_delete(
        &mut self,
        workspace: WorkspaceKey,
        index: SearchIndex,
        keys: &[i64],
        _: SearchRemoval,
    ) -> Result<(), StoreError> {
        search::delete(self, workspace, index, keys)
    }

    /// Deleted rows are gone for every reader at once; their bytes go when the table is vacuumed.
    fn search_compact(&mut self, _: WorkspaceKey, _: SearchIndex, _: bool) -> Result<bool, StoreError> {
        Ok(true)
    }

    fn search_match(
        &mut self,
        workspace: WorkspaceKey,
        index: SearchIndex,
        query: &SearchQuery<'_>,
    ) -> Result<Vec<(i64, f64)>, StoreError> {
        search::find(self, workspace, index, query)
    }

    fn search_rows(
        &mut self,
        workspace: WorkspaceKey,
        index: SearchIndex,
        keys: &[i64],
    ) -> Result<Vec<SearchRow>, StoreError> {
        search::rows(self, workspace, index, keys)
    }

    fn search_statistics(
        &mut self,
        workspace: WorkspaceKey,
        index: SearchIndex,
        terms: &[String],
    ) -> Result<SearchStatistics, StoreError> {
        search::statistics(self, workspace, index, terms)
    }

    fn search_keys(&mut self, workspace: WorkspaceKey, index: SearchIndex) -> Result<Vec<i64>, StoreError> {
        search::keys(self, workspace, index)
    }

    fn search_flush(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    fn search_clear(&mut self, workspace: WorkspaceKey) -> Result<(), StoreError> {
        search::clear(self, workspace)
    }

    fn search_drop(&mut self, workspace: WorkspaceKey) -> Result<(), StoreError> {
        search::clear(self, workspace)
    }

    fn vectors_insert(
        &mut self,
        workspace: WorkspaceKey,
        space: &str,
        vectors: &[(i64, &[f32])],
    ) -> Result<(), StoreError> {
        vectors::insert(self, workspace, space, vectors)
    }

    fn vectors_nearest(
        &mut self,
        workspace: WorkspaceKey,
        space: &str,
        query: &[f32],
        limit: usize,
    ) -> Result<Option<Vec<(i64, f32)>>, StoreError> {
        vectors::nearest(self, workspace, space, query, limit).map(Some)
    }
}
