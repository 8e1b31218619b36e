//! The border between the store's logic and an engine: begin, execute, query, and the few things engines do their own way.
//!
//! Statements are written once, with `?1` placeholders and a few words that `build.rs` puts into those of each engine:
//! `integer_list(?n)`, `blob_list(?n)` and `text_list(?n)`, tables with one column named `value`; `greatest` and `least` of
//! what is not null; `for_update()` and `skip_locked()`; and `row_by_row()` at the end of an `EXISTS` that is a look-up.
//! What is *not* here: any rule about memories. An engine moves rows; it decides nothing.

mod search;
mod values;

use std::sync::Arc;
use std::time::Duration;

use rootset_gc::ObservedTime;
use rootset_model::{Timestamp, WorkspaceKey};

use crate::Credential;
use crate::error::StoreError;
pub use search::{Combine, SearchIndex, SearchQuery, SearchRemoval, SearchRow, SearchStatistics};
pub use values::{Column, FromColumn, Row, Value};

/// A statement from `sql/` or from the file of a kind, see `build.rs`.
#[derive(Debug)]
pub struct Statement {
    pub name: &'static str,
    /// The text in SQLite's words.
    pub sqlite: &'static str,
    /// The same text in PostgreSQL's words.
    pub postgres: &'static str,
    /// Why it may read all of a workspace or table.
    #[cfg(test)]
    pub scans: Option<&'static str>,
}

/// Whose rows a transaction may touch. An engine that keeps tenants apart shows it no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tenant {
    Workspace(WorkspaceKey),
    /// What belongs to no workspace: the list of workspaces, tokens, the database's own audit and leases.
    Database,
}

impl Tenant {
    /// The number that rows of this tenant carry.
    pub fn key(self) -> WorkspaceKey {
        match self {
            Self::Workspace(key) => key,
            Self::Database => crate::leases::DATABASE,
        }
    }
}

impl From<WorkspaceKey> for Tenant {
    fn from(key: WorkspaceKey) -> Self {
        match key {
            crate::leases::DATABASE => Self::Database,
            key => Self::Workspace(key),
        }
    }
}

impl From<&crate::Workspace> for Tenant {
    fn from(workspace: &crate::Workspace) -> Self {
        workspace.key.into()
    }
}

/// A wall clock.
pub type Wall = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// One transaction on one engine. Reads see one snapshot.
pub trait Transaction {
    /// The database's own clock as this transaction began. A transaction that writes has it moved on in the database.
    fn observed_time(&mut self) -> Result<ObservedTime, StoreError>;

    /// Goes on in another tenant: for work that visits one workspace after the other.
    fn enter(&mut self, tenant: Tenant) -> Result<(), StoreError>;

    /// Shows an engine that checks tokens itself whose request this is, for the rest of the transaction. Others do not ask.
    fn show(&mut self, _credential: Credential) -> Result<(), StoreError> {
        Ok(())
    }

    /// Rows changed.
    fn execute(&mut self, statement: &Statement, parameters: &[Value<'_>]) -> Result<usize, StoreError>;

    /// One statement over many rows of parameters, in one round trip; rows changed by all of them. No two rows of
    /// parameters mean the same row.
    fn execute_many(&mut self, statement: &Statement, rows: &[Vec<Value<'_>>]) -> Result<usize, StoreError>;

    fn query(
        &mut self,
        statement: &Statement,
        parameters: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// The same for a statement that answers rows: all answers, in any order.
    fn query_many(
        &mut self,
        statement: &Statement,
        rows: &[Vec<Value<'_>>],
        each: &mut dyn FnMut(&dyn Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// One statement in one workspace after the other, for whoever reads all of them; the workspace is its first
    /// parameter, and the same ones follow everywhere. An engine that is far away asks many at a time.
    fn query_each(
        &mut self,
        workspaces: &[WorkspaceKey],
        statement: &Statement,
        others: &[Value<'_>],
        each: &mut dyn FnMut(WorkspaceKey, &dyn Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for &workspace in workspaces {
            self.enter(Tenant::Workspace(workspace))?;
            self.query(statement, &in_workspace(workspace, others), &mut |row| each(workspace, row))?;
        }
        Ok(())
    }

    // Full text: every engine has its own.

    fn search_insert(
        &mut self,
        workspace: WorkspaceKey,
        index: SearchIndex,
        rows: Vec<SearchRow>,
    ) -> Result<(), StoreError>;

    fn search_delete(
        &mut self,
        workspace: WorkspaceKey,
        index: SearchIndex,
        keys: &[i64],
        removal: SearchRemoval,
    ) -> Result<(), StoreError>;

    /// One step of rewriting an index without what was only marked in it; `true` when nothing is left to do.
    /// `is_first` begins anew.
    fn search_compact(
        &mut self,
        workspace: WorkspaceKey,
        index: SearchIndex,
        is_first: bool,
    ) -> Result<bool, StoreError>;

    /// Keys, best first: with [`Combine::Any`] by the summed rarity of the terms a row holds, newest first among equals;
    /// with [`Combine::All`] in any order. Terms are data, nothing in them is syntax.
    fn search_match(
        &mut self,
        workspace: WorkspaceKey,
        index: SearchIndex,
        query: &SearchQuery<'_>,
    ) -> Result<Vec<(i64, f64)>, StoreError>;

    /// The stored terms of some rows, in any order; keys that do not exist are left out.
    fn search_rows(
        &mut self,
        workspace: WorkspaceKey,
        index: SearchIndex,
        keys: &[i64],
    ) -> Result<Vec<SearchRow>, StoreError>;

    /// In how many rows each term occurs, and what BM25 needs to know of the whole index.
    fn search_statistics(
        &mut self,
        workspace: WorkspaceKey,
        index: SearchIndex,
        terms: &[String],
    ) -> Result<SearchStatistics, StoreError>;

    /// Every key of an index, for `doctor`.
    fn search_keys(&mut self, workspace: WorkspaceKey, index: SearchIndex) -> Result<Vec<i64>, StoreError>;

    /// Writes what [`Self::search_insert`] may have kept back, so that a long transaction does not hold it in memory.
    fn search_flush(&mut self) -> Result<(), StoreError>;

    /// Empties a workspace's indexes.
    fn search_clear(&mut self, workspace: WorkspaceKey) -> Result<(), StoreError>;

    /// Drops a workspace's indexes when the workspace is purged.
    fn search_drop(&mut self, workspace: WorkspaceKey) -> Result<(), StoreError>;

    // Vectors: an engine may have an index of its own over them. What is deleted leaves it with the rows of `vectors`.

    /// Unit-length vectors of chunks, after their rows were written.
    fn vectors_insert(
        &mut self,
        workspace: WorkspaceKey,
        space: &str,
        vectors: &[(i64, &[f32])],
    ) -> Result<(), StoreError>;

    /// The nearest chunks by cosine, best first; `None` from an engine without an index.
    fn vectors_nearest(
        &mut self,
        workspace: WorkspaceKey,
        space: &str,
        query: &[f32],
        limit: usize,
    ) -> Result<Option<Vec<(i64, f32)>>, StoreError>;
}

/// What a transaction's work looks like to an engine.
pub type Work<'a> = &'a mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>;

/// A database: where transactions come from.
pub trait Engine: Send + Sync {
    fn name(&self) -> &'static str;

    /// Takes another wall clock than its own: that of the machine, or of the server where there is one.
    fn set_wall(&mut self, wall: Wall);

    /// By how much the wall clock of the server is ahead of this machine's; 0 where there is none.
    fn server_ahead_ms(&self) -> i64;

    /// How long a writer waits for the others. A server has its own limits: there, only writers of one workspace meet.
    fn set_write_wait(&mut self, _wait: Duration) {}

    /// What every transaction shows from now on, to an engine that checks tokens itself.
    fn act_with(&self, _credential: Credential) {}

    /// Runs `work` on one snapshot; never waits for a writer.
    fn read(&self, tenant: Tenant, work: Work<'_>) -> Result<(), StoreError>;

    /// Runs `work` as the only writer of its tenant and commits durably, or rolls back when it fails.
    fn write(&self, tenant: Tenant, work: Work<'_>) -> Result<(), StoreError>;

    /// The same without being the only writer: for changes of single rows that are right whoever else writes. Nobody
    /// waits for it but for the very rows.
    fn touch(&self, tenant: Tenant, work: Work<'_>) -> Result<(), StoreError>;

    /// Moves what was written out of the log and empties it, so that nothing in it comes back, not even after a power cut;
    /// `false` while a reader still holds the old one.
    fn truncate_log(&self) -> Result<bool, StoreError>;

    /// Whether what was written has been in the log for so long that it should move out of it.
    fn has_old_log(&self) -> bool {
        false
    }

    /// What had to be done to open the database, for people.
    fn notices(&self) -> &[String] {
        &[]
    }

    /// Makes the log small, because its room is needed.
    fn shrink_log(&self) -> Result<bool, StoreError>;

    /// Gives up the room that is kept for purging a full disk; `false` when there is none.
    fn give_up_reserve(&self) -> bool;

    /// Keeps that room again, if there is any.
    fn keep_reserve(&self);

    /// Bytes of the database, of its log, and of its pages that are free.
    fn sizes(&self) -> Result<Sizes, StoreError>;

    /// What the engine itself says about the health of its files; empty when all is well.
    fn integrity(&self) -> Result<Vec<String>, StoreError>;

    /// Settings of a server that decide whether acknowledged writes survive a crash, as they are now; none where all of
    /// them are ours.
    fn durability(&self) -> Result<Vec<DurabilitySetting>, StoreError> {
        Ok(Vec::new())
    }

    /// The same as they were when this was opened.
    fn durability_at_start(&self) -> &[DurabilitySetting] {
        &[]
    }

    /// Deletes notes about commits that nobody can ask for any more; how many.
    fn delete_old_commits(&self) -> Result<i64, StoreError> {
        Ok(0)
    }

    /// The database's file; `None` where there is none of our own.
    fn path(&self) -> Option<&std::path::Path>;

    /// Whether the schema was made when this was opened.
    fn is_new(&self) -> bool;

    /// Copies one snapshot into a new file while others write.
    fn copy_to(&self, destination: &std::path::Path) -> Result<(), StoreError>;

    /// Rebuilds the files without what they no longer need, as the only writer; readers go on.
    fn compact(&self) -> Result<(), StoreError>;

    /// Looks for any of the byte strings in the database's own files; `None` where files are out of reach.
    fn contains_bytes(&self, needles: &[Vec<u8>]) -> Result<Option<bool>, StoreError>;

    /// How often this process has waited for a server's answer; `None` where there is no server.
    fn round_trips(&self) -> Option<u64>;

    /// Whether a search can only go by words, because the engine lacks what it needs for vectors.
    fn lacks_vectors(&self) -> bool;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    pub database_bytes: i64,
    pub log_bytes: i64,
    pub free_bytes: i64,
    /// Left on the disk that holds the database, where that can be told.
    pub disk_free_bytes: Option<i64>,
}

/// A setting of a server, and what it puts at risk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurabilitySetting {
    pub name: &'static str,
    pub value: String,
    pub risk: Option<&'static str>,
}

impl std::fmt::Display for DurabilitySetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} = {}", self.name, self.value)?;
        self.risk.map_or(Ok(()), |risk| write!(f, ": {risk}"))
    }
}

/// The parameters of a statement of [`Transaction::query_each`].
pub(crate) fn in_workspace<'a>(workspace: WorkspaceKey, others: &[Value<'a>]) -> Vec<Value<'a>> {
    [&[workspace.into()], others].concat()
}

impl dyn Transaction + '_ {
    /// All rows, each turned into a value.
    pub fn rows<T>(
        &mut self,
        statement: &Statement,
        parameters: &[Value<'_>],
        mut read: impl FnMut(&dyn Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut rows = Vec::new();
        self.query(statement, parameters, &mut |row| {
            rows.push(read(row)?);
            Ok(())
        })?;
        Ok(rows)
    }

    /// The first row, if any.
    pub fn row<T>(
        &mut self,
        statement: &Statement,
        parameters: &[Value<'_>],
        read: impl FnMut(&dyn Row) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.rows(statement, parameters, read)?.into_iter().next())
    }

    /// The single column of the single row of a statement that always yields one.
    pub fn scalar<T: FromColumn>(&mut self, statement: &Statement, parameters: &[Value<'_>]) -> Result<T, StoreError> {
        self.row(statement, parameters, |row| row.get(0))?.ok_or(StoreError::MissingRow { statement: statement.name })
    }
}
