//! The border between the store's logic and an engine: begin, execute, query, and the few things engines do their own way.
//!
//! Statements are written once, with `?1` placeholders and a few words that `build.rs` puts into those of each engine:
//! `integer_list(?n)`, `blob_list(?n)` and `text_list(?n)`, tables with one column named `value`; `greatest` and `least` of
//! what is not null; `for_update()` and `skip_locked()`; and `row_by_row()` at the end of an `EXISTS` that is a look-up.
//! What is *not* here: any rule about memories. An engine moves rows; it decides nothing.

use rootset_model::WorkspaceKey;

use crate::error::StoreError;

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

/// A bound parameter.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
    IntegerList(&'a [i64]),
    BlobList(&'a [[u8; 16]]),
    HashList(&'a [[u8; 32]]),
    TextList(&'a [String]),
}

/// A column of a result row.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
}

/// One result row, valid until the next.
pub trait Row {
    fn column(&self, index: usize) -> Result<Column<'_>, StoreError>;
}

/// Which of the separate full-text indexes of a workspace is meant. They never share statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SearchIndex {
    /// Chunks of memories that people and agents wrote.
    Memories,
    /// Names of entities, but not of symbols.
    Entities,
    /// Chunks of indexed files.
    Code,
    /// Segments that were stashed at least once, by their numbers.
    Stash,
}

impl SearchIndex {
    pub const ALL: [Self; 4] = [Self::Memories, Self::Entities, Self::Code, Self::Stash];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Memories => "memories",
            Self::Entities => "entities",
            Self::Code => "code",
            Self::Stash => "stash",
        }
    }
}

/// How the terms of deleted rows leave an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchRemoval {
    /// At once, term by term: the right thing for few rows.
    AtOnce,
    /// Marked now, gone when the index has been rewritten by [`Transaction::search_compact`]: many times faster for many
    /// rows. Whoever deletes so sees to the rewriting.
    Marked,
}

/// A row of a full-text index: terms already split, folded and stemmed by the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchRow {
    pub key: i64,
    pub head: String,
    pub body: String,
}

/// How terms of a full-text query combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    Any,
    All,
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

/// One transaction on one engine. Reads see one snapshot.
pub trait Transaction {
    /// Goes on in another tenant: for work that visits one workspace after the other.
    fn enter(&mut self, tenant: Tenant) -> Result<(), StoreError>;

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

#[derive(Clone, Copy, Debug)]
pub struct SearchQuery<'a> {
    pub terms: &'a [String],
    pub combine: Combine,
    pub limit: usize,
    /// With [`Combine::Any`]: a term that more rows hold says too little to be worth reading them.
    pub rows_per_term_max: usize,
}

/// Counts of one full-text index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchStatistics {
    /// Rows that hold each of the terms asked for, in their order.
    pub frequencies: Vec<i64>,
    pub rows: i64,
    pub body_terms: i64,
}

/// What a transaction's work looks like to an engine.
pub type Work<'a> = &'a mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>;

/// A database: where transactions come from.
pub trait Engine: Send + Sync {
    fn name(&self) -> &'static str;

    /// Runs `work` on one snapshot; never waits for a writer.
    fn read(&self, tenant: Tenant, work: Work<'_>) -> Result<(), StoreError>;

    /// Runs `work` as the only writer of its tenant and commits durably, or rolls back when it fails.
    fn write(&self, tenant: Tenant, work: Work<'_>) -> Result<(), StoreError>;

    /// The same without being the only writer: for changes of single rows that are right whoever else writes. Nobody
    /// waits for it but for the very rows.
    fn touch(&self, tenant: Tenant, work: Work<'_>) -> Result<(), StoreError>;

    /// Moves what was written out of the log and truncates it; `false` while a reader still holds the old one.
    fn truncate_log(&self) -> Result<bool, StoreError>;

    /// Bytes of the database, of its log, and of its pages that are free.
    fn sizes(&self) -> Result<Sizes, StoreError>;

    /// What the engine itself says about the health of its files; empty when all is well.
    fn integrity(&self) -> Result<Vec<String>, StoreError>;

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

// Conversions that keep call sites short: `&[workspace.into(), id.into()]`.

impl From<WorkspaceKey> for Value<'_> {
    fn from(workspace: WorkspaceKey) -> Self {
        Self::Integer(workspace.0)
    }
}

impl From<rootset_model::ChunkKey> for Value<'_> {
    fn from(chunk: rootset_model::ChunkKey) -> Self {
        Self::Integer(chunk.0)
    }
}

impl From<rootset_model::Timestamp> for Value<'_> {
    fn from(time: rootset_model::Timestamp) -> Self {
        Self::Integer(time.0)
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Self::Integer(i64::from(flag))
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Blob(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Value<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Self::Blob(bytes)
    }
}

impl<'a> From<&'a [[u8; 16]]> for Value<'a> {
    fn from(ids: &'a [[u8; 16]]) -> Self {
        Self::BlobList(ids)
    }
}

impl<'a> From<&'a [[u8; 32]]> for Value<'a> {
    fn from(hashes: &'a [[u8; 32]]) -> Self {
        Self::HashList(hashes)
    }
}

impl<'a> From<&'a [i64]> for Value<'a> {
    fn from(numbers: &'a [i64]) -> Self {
        Self::IntegerList(numbers)
    }
}

impl<'a> From<&'a [String]> for Value<'a> {
    fn from(texts: &'a [String]) -> Self {
        Self::TextList(texts)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

macro_rules! value_from_id {
    ($($id:ident),*) => {
        $(
            impl<'a> From<&'a rootset_model::$id> for Value<'a> {
                fn from(id: &'a rootset_model::$id) -> Self {
                    Self::Blob(&id.0)
                }
            }

            impl FromColumn for rootset_model::$id {
                fn from_column(column: Column<'_>) -> Option<Self> {
                    match column {
                        Column::Blob(bytes) => Self::from_slice(bytes),
                        _ => None,
                    }
                }
            }
        )*
    };
}
value_from_id!(MemoryId, EntityId, RelationId, PlanId, RunId, ErasureId, TokenId);

/// What a column can be read as; `None` is a type the schema does not promise.
pub trait FromColumn: Sized {
    fn from_column(column: Column<'_>) -> Option<Self>;
}

impl FromColumn for i64 {
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Integer(number) => Some(number),
            _ => None,
        }
    }
}

impl FromColumn for u32 {
    fn from_column(column: Column<'_>) -> Option<Self> {
        i64::from_column(column).and_then(|number| Self::try_from(number).ok())
    }
}

impl FromColumn for bool {
    fn from_column(column: Column<'_>) -> Option<Self> {
        i64::from_column(column).map(|number| number != 0)
    }
}

impl FromColumn for f64 {
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Real(number) => Some(number),
            Column::Integer(number) => Some(number as f64),
            _ => None,
        }
    }
}

impl FromColumn for String {
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Text(text) => Some(text.to_owned()),
            _ => None,
        }
    }
}

impl FromColumn for Vec<u8> {
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Blob(bytes) => Some(bytes.to_vec()),
            _ => None,
        }
    }
}

impl<const N: usize> FromColumn for [u8; N] {
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Blob(bytes) => bytes.try_into().ok(),
            _ => None,
        }
    }
}

impl FromColumn for rootset_model::Timestamp {
    fn from_column(column: Column<'_>) -> Option<Self> {
        i64::from_column(column).map(Self)
    }
}

impl FromColumn for WorkspaceKey {
    fn from_column(column: Column<'_>) -> Option<Self> {
        i64::from_column(column).map(Self)
    }
}

impl FromColumn for rootset_model::ChunkKey {
    fn from_column(column: Column<'_>) -> Option<Self> {
        i64::from_column(column).map(Self)
    }
}

impl<T: FromColumn> FromColumn for Option<T> {
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Null => Some(None),
            other => T::from_column(other).map(Some),
        }
    }
}

impl dyn Row + '_ {
    /// Reads a column as the type the schema promises; anything else means a damaged or hand-edited row.
    pub fn get<T: FromColumn>(&self, index: usize) -> Result<T, StoreError> {
        T::from_column(self.column(index)?).ok_or(StoreError::UnexpectedColumn { index })
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
