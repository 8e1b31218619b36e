//! What can go wrong in the store: facts, not sentences for people. The service turns them into answers.

use std::path::PathBuf;

use rootset_model::{MemoryId, PlanId, RunId, Timestamp, TokenId};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum StoreError {
    // The database and its files.
    #[error("the folder `{0}` does not exist")]
    FolderMissing(PathBuf),
    #[error("`{path}` is not a Rootset database: {detail}")]
    NotADatabase { path: PathBuf, detail: &'static str },
    #[error("`{0}` is in the place of the lock file of the database, but is not a file")]
    NoLockFile(PathBuf),
    #[error("this program was built without {engine}")]
    EngineMissing { engine: &'static str, feature: &'static str },
    #[error("cannot reach the server of `{place}`: {detail}")]
    Unreachable { place: String, detail: String },
    #[error("the server of `{place}` refused the login: {detail}")]
    LoginRefused { place: String, detail: String },
    #[error("there is no database `{place}`")]
    DatabaseMissing { place: String },
    #[error("the role lacks rights in `{place}`: {detail}")]
    RoleLacksRights { place: String, detail: String },
    #[error("the URL of the database cannot be used: {detail}")]
    WrongUrl { detail: String },
    #[error("the database has schema {found}, this program supports schemas up to {known}")]
    SchemaNewer { found: i64, known: i64 },
    #[error("waited {waited_ms} ms for the write lock of the database")]
    Busy { waited_ms: u64 },
    #[error("the database or its folder is read-only")]
    ReadOnly,
    #[error("the disk is full, or a quota or file size limit is reached")]
    DiskFull,
    #[error("the disk reported an error: {0}")]
    Io(String),
    // What SQLite says when it cannot say why; the engine looks for the reason before anybody sees it.
    #[error("the database cannot be opened: {0}")]
    Unopened(String),
    #[error("the database cannot be written: {0}")]
    Unwritten(String),
    #[error("{cause}; it is not known whether the change was kept")]
    CommitInDoubt { cause: Box<StoreError> },
    #[error("the change was made{}, but its outcome could not be read: {cause}", if_partial(.is_partial))]
    AnswerLost { is_partial: bool, cause: Box<StoreError> },
    #[error("the database file is damaged: {0}")]
    Damaged(String),
    #[error("this program was built with SQLite {found}, but needs at least {wanted}")]
    EngineTooOld { found: &'static str, wanted: &'static str },
    #[error("the connection to the database was lost: {0}")]
    Disconnected(String),
    #[error("the connection to the database was lost, and the outcome of a commit is not known")]
    OutcomeUnknown,
    #[error("a conflict with another writer: {0}")]
    Conflicted(String),
    #[error("a statement exceeded its time limit")]
    TimedOut,
    #[error("permission denied: {0}")]
    PermissionDenied(String),
    #[error("`{place}` runs PostgreSQL {found}, but at least {wanted} is required")]
    ServerTooOld { place: String, found: String, wanted: &'static str },
    #[error("{0}")]
    Engine(String),
    #[error("a constraint of the schema is violated: {0}")]
    Constraint(String),
    #[error("column {index} holds an unexpected type")]
    UnexpectedColumn { index: usize },
    #[error("statement `{statement}` returned no row")]
    MissingRow { statement: &'static str },
    #[error("a stored value cannot be read: {0}")]
    UnreadableValue(&'static str),

    #[error("`{path}`: {detail}")]
    BackupFile { path: PathBuf, detail: String },

    #[error("the erasure ledger `{}` cannot be used: {problem}", path.display())]
    LedgerDamaged { path: PathBuf, problem: String },

    // The caller's.
    #[error("no erasure ledger beside the backup: `{}` does not exist", path.display())]
    LedgerMissing { path: PathBuf },
    #[error("no backup `{0}`")]
    BackupNotFound(String),
    #[error("the backup `{backup}` cannot be used: {}", problems.join("; "))]
    BackupUnusable { backup: String, problems: Vec<String> },
    #[error("the backup `{backup}` was made, but {altered}")]
    BackupAltered { backup: String, altered: String },
    #[error("no workspace `{workspace}` in the backup `{backup}`")]
    WorkspaceNotInBackup { backup: String, workspace: String, present: Vec<String> },
    #[error("the engine `{engine}` does not support snapshots")]
    NoSnapshots { engine: &'static str },
    #[error("no workspace `{name}`")]
    WorkspaceNotFound { name: String, nearest: Vec<String>, trashed: bool },
    #[error("the workspace `{name}` already exists")]
    WorkspaceExists { name: String, trashed: bool },
    #[error("no memory `{reference}`")]
    MemoryNotFound {
        reference: String,
        trashed: Option<(RunId, Timestamp)>,
        /// Names that there are: those that changed last. Which of them are like the reference is the caller's to say.
        names: Vec<String>,
    },
    #[error("the ids of several memories begin with `{0}`")]
    AmbiguousId(String),
    #[error("the key `{key}` leads to a memory already")]
    KeyTaken { key: String, by: MemoryId },
    #[error("no memory `{0}` in the trash")]
    NotInTrash(String),
    #[error("no revision {revision} of memory {memory}")]
    RevisionNotFound { memory: MemoryId, revision: i64, trashed: Option<(RunId, Timestamp)> },
    #[error("no entity `{0}`")]
    EntityNotFound(String),
    #[error("`{name}` matches several entities")]
    EntityAmbiguous { name: String, candidates: Vec<(String, String)> },
    #[error("nothing with the id `{0}`")]
    NothingFound(String),
    #[error("no plan {0}")]
    PlanNotFound(String),
    #[error("no drain `{0}`")]
    DrainNotFound(String),
    #[error("no run {0}")]
    RunNotFound(String),
    #[error("the name `{name}` is already used")]
    NameTaken { name: String, by: MemoryId },
    #[error("another memory has the same content")]
    ContentTaken { by: MemoryId, name: Option<String> },
    #[error("this content was removed")]
    ContentRemoved { memory: MemoryId, at: Timestamp, erased: bool },
    #[error("`{field}` merged with the memory's own has {found} {unit}, more than {limit}")]
    MergedTooLarge { field: &'static str, unit: &'static str, found: usize, limit: usize },
    #[error("the memory is pinned")]
    Pinned { memory: MemoryId, reason: Option<String> },
    #[error("the memory is pinned by a person")]
    PinnedByPerson { memory: MemoryId, name: Option<String> },
    #[error("version {found} is not the expected {expected}")]
    VersionMismatch { expected: i64, found: i64 },
    #[error("superseding would create a cycle")]
    SupersedeCycle,
    #[error("the plan expired")]
    PlanExpired { plan: PlanId, at: Timestamp },
    #[error("`exclude`: `{reference}` is not in the plan")]
    NotInPlan { reference: String },
    #[error(
        "`actions`: `{reference}` cannot be redacted: nothing of it would be left, or what goes and what stays are in one sentence"
    )]
    CannotBeCut { reference: String },
    #[error("the plan exceeds a limit")]
    OverLimit { blocked: Vec<rootset_gc::Blocked> },
    #[error("the plan erases permanently and needs `confirm: true`")]
    ConfirmationRequired { plan: PlanId },
    #[error("the quota of {limit} {unit} is reached")]
    QuotaExceeded { unit: &'static str, limit: i64 },
    #[error("the run can no longer be undone")]
    RunNotUndoable { run: RunId, purged: bool },
    #[error("another process is carrying out the run {run}")]
    RunHeld { run: RunId },
    #[error("another worker took over the job")]
    LeaseLost,
    #[error("the memory is an indexed file; its name, content and version come from the file")]
    IndexedFile { memory: MemoryId },
    #[error("no session `{0}`")]
    SessionNotFound(String),
    #[error("the session `{session_id}` is in the trash")]
    SessionTrashed { session_id: String },
    #[error("the session `{session_id}` changed in the meantime")]
    SessionChanged { session_id: String },
    #[error("no segment {segment} in the session")]
    SegmentNotFound { segment: i64 },
    #[error("no token `{0}`")]
    TokenNotFound(String),
    #[error("a token `{name}` already exists")]
    TokenNameTaken { name: String, by: TokenId },
    #[error("no repository `{0}`")]
    RepoNotFound(String),
    #[error("the repository `{repo}` belongs to the folder `{root}`")]
    RepoElsewhere { repo: String, root: String },
    #[error("another scan of `{repo}` completed in the meantime: run {found} instead of {expected}")]
    ScanOvertaken { repo: String, expected: i64, found: i64 },
}

/// How much of a change was made.
fn if_partial(is_partial: &bool) -> &'static str {
    if *is_partial { " in part" } else { "" }
}

impl StoreError {
    /// What a file operation of our own ran into.
    pub(crate) fn of_file(path: &std::path::Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => Self::DiskFull,
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Self::ReadOnly,
            _ => Self::Io(format!("`{}`: {error}", path.display())),
        }
    }
}
