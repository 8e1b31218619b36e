//! The durable home of everything an agent remembers.
//!
//! One [`Store`] over one [`driver::Engine`]: the logic is written once, statements live in `sql/` and engines only move
//! rows. Nobody outside this crate opens a transaction, and nothing here knows about requests, models or text: callers
//! bring terms already split, extractions already validated, and the time.
//!
//! Invariants kept here: a destructive change and its audit row are one transaction; only a [`sweep::ConfirmedPlan`] can
//! be swept, and only confirming a stored plan makes one; liveness is checked again inside the sweep's transaction.

mod add;
mod audit;
mod backup;
mod code;
mod compaction;
mod context;
mod defrag;
mod doctor;
mod drains;
pub mod driver;
mod erased_names;
mod erasure;
mod error;
mod events;
mod explain;
pub mod failpoints;
mod forget;
mod garbage;
mod graph;
mod housekeeping;
mod jobs;
mod joint;
mod kinds;
mod leases;
mod location;
mod log;
mod memories;
mod notes;
mod orphans;
mod other_names;
mod plans;
pub mod platform;
#[cfg(feature = "postgres")]
mod postgres;
mod projects;
mod purge;
#[cfg(test)]
mod query_plans;
mod removals;
mod repair;
mod retention;
mod runs;
mod seals;
mod search;
mod simulation;
mod sqlite;
mod stamp;
mod stats;
mod status;
mod stored_texts;
mod supersede;
mod sweep;
mod time;
mod tokens;
mod trust;
mod undo;
mod update;
mod uses;
mod vectors;
mod workspaces;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use driver::{DurabilitySetting, Engine, Tenant, Transaction, Wall};

pub use add::{AddOutcome, NewMemory, ThreadNumber};
pub use audit::{ACCESS_DENIED, AuditEntry, AuditFilters, AuditHead, Denial};
pub use backup::{
    Backup, BackupKind, BackupReason, Configured, DAMAGED_TAG, DamagedBackup, FreshTrash, LedgerUse, Manifest,
    ManifestFile, NewBackup, PersonalOf, RestoreTarget, Restored, Restoring, Rewritten, RewrittenBackup, Salvaged,
    backup_id, default_backup_folder, find_backup, has_manifest, list_backups, list_damaged_backups, open_backup,
    remove_backup, remove_damaged_backup, remove_unfinished_backups, salvage, verify_backup,
};
pub use code::{
    ChunkOrigin, CodeCandidate, CodeFilters, CodeHit, CodeSearch, CodeSymbol, CodeText, CompletedScan, FileOutcome,
    FileReferences, FileStamp, FileState, NewFile, RankCode, RepoRow, RepoView, ServedFile, SymbolRow, TermsOfChunk,
};
pub use context::{
    LedgerAction, LedgerEntry, LoadedSession, NewLedgerEntry, NewSegmentRow, Pruned, Pruning, SegmentChange,
    SegmentItem, SegmentRow, SegmentText, SessionChange, SessionHead, SessionState, SessionView, StashFilters,
    StashHit,
};
pub use defrag::Defragmented;
pub use doctor::Check;
pub use drains::{Drain, NewDrain};
pub use error::StoreError;
pub use events::{EventNote, Outgoing};
pub use explain::Explanation;
pub use forget::{
    ForgetFilters, ForgetRequest, ForgetSelection, ForgetText, ForgetVerdict, ForgetWords, forget_words, searched_words,
};
pub use garbage::{BucketFindings, BucketTotals, Findings, Garbage, GarbageRequest, SourceGarbage};
pub use graph::{Contributor, EntityView, Imported, ImportedEntity, ImportedRelation, RelationView};
pub use housekeeping::{OldPlans, PastGrace};
pub use jobs::{ClaimedJob, PendingWork};
pub use joint::{JointPart, JointPlan, NewJointPlan};
pub use kinds::Terms;
pub use leases::{DATABASE, Lease, Work};
pub use location::{Location, LocationError, PostgresSettings, PostgresUrl};
pub use memories::{
    FullMemory, Lifecycle, ListFilters, ListOrder, ListedMemory, MemoryRow, Recent, Status, Writer, witness_of,
};
pub use notes::{NoteKey, WITNESS};
pub use plans::{Choice, ItemView, NewPlan, OfferedCut, OfferedItem, Offers, PlanTotals, PlanView, Searched};
pub use projects::{Arrival, KnownProject, ProjectFacts, Related, RelatedBy};
pub use purge::{PurgeSet, PurgeTarget, Receipt};
pub use removals::Removals;
pub use repair::{BrokenMemory, CodeOrigin, UnindexedText};
pub use retention::RetentionTarget;
pub use runs::{RunCounts, RunView, TrashedItem, TrashedText};
pub use search::{
    Candidate, Candidates, ComparableNote, EntityHit, Hit, NEIGHBOURS, NamedMemory, Ranked, RelatedMemory,
    SearchFilters, SearchRequest, SimilarMemory,
};
pub use simulation::{Loss, RetentionSimulation};
pub use stamp::{Author, Credential, Stamp, Way};
pub use stats::{SourceCounts, Stats};
pub use status::{DeadRows, HeapStatus};
pub use stored_texts::{StoredTexts, TextOwner, TextsAfter};
pub use sweep::{Applied, ApplyOptions, Remains, Remnant, Skipped};
pub use tokens::{BoundWorkspace, NewToken, Rotation, TokenReference, TokenRow};
pub use trust::TrustChange;
pub use undo::{Conflict, Undone};
pub use update::{AttributeChanges, EraseIds, History, UpdateOutcome, UpdateRequest};
pub use uses::RecordedUse;
pub use vectors::{OwedVectors, UnembeddedChunk, VectorProgress};
pub use workspaces::{NewWorkspace, NextLook, STANDARD_CLASS, Workspace, WorkspaceView};

/// SQLite's header.
const DATABASE_BYTES_MIN: u64 = 100;

/// The version of the schema that this program reads and writes.
pub const SCHEMA_VERSION: i64 = sqlite::SCHEMA_VERSION;

/// Everything computed about a content before any transaction begins.
#[derive(Clone, Debug)]
pub struct PreparedContent {
    pub content: rootset_model::Content,
    pub doc_hash: rootset_model::content::DocHash,
    pub chunks: Vec<PreparedChunk>,
    pub extractor_id: String,
    pub extractor_version: i64,
    /// `None` when the extraction has yet to be done: the memory is then stored as pending.
    pub derived: Option<PreparedDerived>,
}

/// One chunk: where it stands in the content, and its terms for the full-text index.
#[derive(Clone, Debug)]
pub struct PreparedChunk {
    pub part: ContentPart,
    pub start: usize,
    pub length: usize,
    pub is_question: bool,
    pub head_terms: String,
    pub body_terms: String,
}

/// Graph and vectors of a content.
#[derive(Clone, Debug, Default)]
pub struct PreparedDerived {
    pub extraction: rootset_model::Extraction,
    /// Terms of each entity's name, in the order of `extraction.entities`.
    pub entity_terms: Vec<String>,
    pub vectors: PreparedVectors,
}

/// What becomes of the vectors of a content's chunks.
#[derive(Clone, Debug, Default)]
pub enum PreparedVectors {
    /// There is no embedder.
    #[default]
    None,
    /// They are made in the background: the memory is complete without them.
    Owed,
    /// One of unit length per chunk, in the order of the chunks.
    Made { space: String, vectors: Vec<Vec<f32>> },
}

/// Which list of a content a chunk was cut from; lists are joined by line feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentPart {
    Context,
    Decisions,
    Rationale,
}

impl ContentPart {
    fn stored(self) -> i64 {
        match self {
            Self::Context => 0,
            Self::Decisions => 1,
            Self::Rationale => 2,
        }
    }

    fn from_stored(number: i64) -> Option<Self> {
        [Self::Context, Self::Decisions, Self::Rationale].into_iter().find(|part| part.stored() == number)
    }

    /// The text that ranges of this part count in.
    pub fn text_of(self, content: &rootset_model::Content) -> std::borrow::Cow<'_, str> {
        match self {
            Self::Context => content.context.as_str().into(),
            Self::Decisions => content.decisions.join("\n").into(),
            Self::Rationale => content.rationale.join("\n").into(),
        }
    }
}

/// SQL as typed constants, generated from `sql/` and from the kinds' own statements.
mod statements {
    include!(concat!(env!("OUT_DIR"), "/statements.rs"));
}

/// The migrations of each engine, in order: the version that a text brings the schema to, and the text.
mod migrations {
    include!(concat!(env!("OUT_DIR"), "/migrations.rs"));
}

pub struct Store {
    engine: Box<dyn Engine>,
    vectors: vectors::VectorCache,
    /// Whether this process could not empty the log when it should have.
    log_waits: AtomicBool,
    /// Where the erasure ledger is kept as well.
    ledger_folder: OnceLock<PathBuf>,
    /// Places that want to hear of events.
    event_sinks: OnceLock<Vec<String>>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("engine", &self.engine.name()).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens a database and brings its schema up to date. A file is created if need be, and backed up into `backups`
    /// before its schema is changed; without a folder for that, into `<database>.backups`.
    pub fn open(location: &Location, backups: Option<&Path>) -> Result<Self, StoreError> {
        Self::open_with(location, backups, &PostgresSettings::default())
    }

    /// The same, with settings for a server.
    pub fn open_with(
        location: &Location,
        backups: Option<&Path>,
        postgres: &PostgresSettings,
    ) -> Result<Self, StoreError> {
        match location {
            Location::File(path) => match backups {
                Some(backups) => Self::open_sqlite_with_backups(path, backups),
                None => Self::open_sqlite(path),
            },
            #[cfg(feature = "postgres")]
            Location::Postgres(url) => crate::postgres::PostgresEngine::open(url, postgres).map(Self::over),
            #[cfg(not(feature = "postgres"))]
            Location::Postgres(_) => {
                let PostgresSettings { .. } = postgres;
                Err(StoreError::EngineMissing { engine: "PostgreSQL", feature: "postgres" })
            }
        }
    }

    /// Opens a database for somebody who is only passing: nothing is made, no schema is changed, and a writer waits no longer
    /// than that for others. `None` where there is no database, or one of another version that its owner has to open first.
    pub fn open_in_passing(
        location: &Location,
        postgres: &PostgresSettings,
        write_wait: Duration,
    ) -> Result<Option<Self>, StoreError> {
        let mut store = match location {
            Location::File(path) => {
                // A shorter file is no database yet.
                if !std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() >= DATABASE_BYTES_MIN) {
                    return Ok(None);
                }
                let is_older = std::cell::Cell::new(false);
                let refuse = |_: &rusqlite::Connection| {
                    is_older.set(true);
                    Err(StoreError::Busy { waited_ms: 0 })
                };
                match sqlite::SqliteEngine::open(path, &refuse) {
                    Err(_) if is_older.get() => return Ok(None),
                    engine => Self::over(engine?),
                }
            }
            #[cfg(feature = "postgres")]
            Location::Postgres(url) => match crate::postgres::PostgresEngine::open_as_it_is(url, postgres)? {
                Some(engine) => Self::over(engine),
                None => return Ok(None),
            },
            #[cfg(not(feature = "postgres"))]
            Location::Postgres(_) => Self::open_with(location, None, postgres)?,
        };
        store.engine.set_write_wait(write_wait);
        Ok(Some(store))
    }

    /// Opens or creates an embedded database and brings its schema up to date.
    ///
    /// A database of an older schema is backed up first, into `<database>.backups`.
    pub fn open_sqlite(path: &Path) -> Result<Self, StoreError> {
        Self::open_sqlite_with_backups(path, &default_backup_folder(path))
    }

    /// The same, with another folder for the backup before a change of the schema.
    fn open_sqlite_with_backups(path: &Path, backups: &Path) -> Result<Self, StoreError> {
        let engine = sqlite::SqliteEngine::open(path, &|older| backup::before_migration(older, backups))?;
        Ok(Self::over(engine))
    }

    /// A snapshot, for reading.
    fn open_archive(path: &Path) -> Result<Self, StoreError> {
        sqlite::SqliteEngine::open_archive(path).map(Self::over)
    }

    /// A copy of our own that may be changed: its original is the backup.
    fn open_copy(path: &Path) -> Result<Self, StoreError> {
        sqlite::SqliteEngine::open(path, &|_| Ok(())).map(Self::over)
    }

    fn over(engine: impl Engine + 'static) -> Self {
        Self {
            engine: Box::new(engine),
            vectors: vectors::VectorCache::default(),
            log_waits: AtomicBool::new(false),
            ledger_folder: OnceLock::new(),
            event_sinks: OnceLock::new(),
        }
    }

    /// Whether there was nothing before it was opened: its schema has just been made.
    pub fn is_new(&self) -> bool {
        self.engine.is_new()
    }

    /// What had to be done to open the database, for people.
    pub fn notices(&self) -> &[String] {
        self.engine.notices()
    }

    pub fn engine_name(&self) -> &'static str {
        self.engine.name()
    }

    /// How often this process has waited for a server's answer; `None` where there is no server.
    pub fn round_trips(&self) -> Option<u64> {
        self.engine.round_trips()
    }

    /// Whether searches can only go by words, because the engine lacks what it needs for vectors.
    pub fn lacks_vectors(&self) -> bool {
        self.engine.lacks_vectors()
    }

    /// Settings of a server that decide whether acknowledged writes survive a crash, as they were when this was opened;
    /// none where there is no server.
    pub fn durability_at_start(&self) -> &[DurabilitySetting] {
        self.engine.durability_at_start()
    }

    /// Goes by another wall clock than that of the machine or the server: for tests, and for whoever brings time along.
    pub fn set_wall(&mut self, wall: Wall) {
        self.engine.set_wall(wall);
    }

    /// The token that this process shows to an engine that checks tokens itself, where a request brings none of its own.
    pub fn act_with(&self, credential: Credential) {
        self.engine.act_with(credential);
    }

    /// By how much the server's wall clock is ahead of this machine's, as far as known; 0 where there is no server.
    pub fn server_ahead_ms(&self) -> i64 {
        self.engine.server_ahead_ms()
    }

    /// One snapshot of a tenant; never waits for a writer.
    fn read<T>(
        &self,
        tenant: impl Into<Tenant>,
        mut work: impl FnMut(&mut dyn Transaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut result = None;
        self.engine.read(tenant.into(), &mut |transaction| {
            result = Some(work(transaction)?);
            Ok(())
        })?;
        Ok(result.expect("an engine that answers Ok has run the work"))
    }

    /// One durable transaction, all or nothing, the only one that writes in its tenant. The work may be run again if the
    /// engine has to retry.
    fn write<T>(
        &self,
        tenant: impl Into<Tenant>,
        mut work: impl FnMut(&mut dyn Transaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut result = None;
        self.engine.write(tenant.into(), &mut |transaction| {
            result = Some(work(transaction)?);
            Ok(())
        })?;
        Ok(result.expect("an engine that answers Ok has run the work"))
    }

    /// The same for work that ends in freeing room: on a full disk it may use what is kept back for that.
    fn write_to_free_room<T>(
        &self,
        tenant: impl Into<Tenant>,
        mut work: impl FnMut(&mut dyn Transaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let tenant = tenant.into();
        match self.write(tenant, &mut work) {
            Err(StoreError::DiskFull) if self.engine.give_up_reserve() => self.write(tenant, work),
            outcome => outcome,
        }
    }

    /// The same for changes of single rows that are right whoever else writes: leases, claims, use counts.
    fn touch<T>(
        &self,
        tenant: impl Into<Tenant>,
        mut work: impl FnMut(&mut dyn Transaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut result = None;
        self.engine.touch(tenant.into(), &mut |transaction| {
            result = Some(work(transaction)?);
            Ok(())
        })?;
        Ok(result.expect("an engine that answers Ok has run the work"))
    }
}
