//! How the store's errors are reported to callers: a code, a message that names the thing, and what to do next.

use std::ops::{Deref, DerefMut};

use rootset_api::{Error, ErrorCode, nearest, nearest_words};
use rootset_model::{Counts, Timestamp};
use rootset_store::StoreError;
use serde_json::{Value, json};

/// An error of the API. A type of its own, so that `?` turns what the store answers into one: the API knows no store.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceError(pub Error);

impl ServiceError {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(Error::new(code, message))
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self(Error::invalid(message))
    }

    pub fn conflict(message: impl Into<String>) -> Self {
        Self(Error::conflict(message))
    }

    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self(self.0.with_hint(hint))
    }

    pub fn with_details(self, details: Value) -> Self {
        Self(self.0.with_details(details))
    }
}

impl Deref for ServiceError {
    type Target = Error;

    fn deref(&self) -> &Error {
        &self.0
    }
}

impl DerefMut for ServiceError {
    fn deref_mut(&mut self) -> &mut Error {
        &mut self.0
    }
}

impl std::fmt::Display for ServiceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for ServiceError {}

impl From<Error> for ServiceError {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl From<ServiceError> for Error {
    fn from(error: ServiceError) -> Self {
        error.0
    }
}

/// How long a caller should wait after `busy`.
const RETRY_AFTER_MS: u64 = 1_000;

impl From<StoreError> for ServiceError {
    fn from(error: StoreError) -> Self {
        use ErrorCode as Code;
        let message = error.to_string();
        match error {
            StoreError::FolderMissing(_) => {
                Self::invalid(message).with_hint("create the folder, or give another database with `--db`")
            }
            StoreError::NoLockFile(_) => Self::invalid(message)
                .with_hint("find out who put it there, and remove it: nobody else should be able to write to this folder"),
            StoreError::NotADatabase { .. } => Self::invalid(message)
                .with_hint("use `--db` with a Rootset database, or with a path that does not exist yet"),
            StoreError::EngineMissing { feature, .. } => {
                Self::invalid(message).with_hint(format!("rebuild it with the cargo feature `{feature}`"))
            }
            StoreError::Unreachable { .. } => Self::new(Code::Busy, message)
                .with_hint("check host, port and `sslmode` in `db`, and that the server is running; then try again")
                .with_details(json!({"retry_after_ms": RETRY_AFTER_MS})),
            StoreError::LoginRefused { .. } => Self::new(Code::Forbidden, message)
                .with_hint("check user and password in `db`, and the server's `pg_hba.conf`"),
            StoreError::DatabaseMissing { .. } => {
                Self::new(Code::NotFound, message).with_hint("create it first with `createdb` or `CREATE DATABASE`")
            }
            StoreError::RoleLacksRights { .. } => Self::new(Code::Forbidden, message)
                .with_hint("the first start needs the owner of the database, as a member of `rootset_application`; see docs/operations.md"),
            StoreError::PermissionDenied(_) => Self::new(Code::Forbidden, message).with_hint(
                "grant the role `rootset_application` to the login; upgrades and `defrag` need the owner; see docs/operations.md",
            ),
            StoreError::ServerTooOld { .. } => {
                Self::invalid(message).with_hint("upgrade the server, or give another one with `--db`")
            }
            StoreError::TimedOut => Self::new(Code::Busy, message)
                .with_hint("request less at once, or raise `postgres.statement_timeout`")
                .with_details(json!({"retry_after_ms": RETRY_AFTER_MS})),
            StoreError::WrongUrl { .. } => Self::invalid(message)
                .with_hint("the form is `postgres://USER@HOST:PORT/DATABASE`; escape special characters in a password, `@` as `%40`"),
            StoreError::SchemaNewer { .. } => Self::new(Code::UpgradeRequired, message)
                .with_hint("another process upgraded the database: restart this client with the newer version"),
            StoreError::Busy { waited_ms } => {
                Self::new(Code::Busy, format!("waited {waited_ms} ms for the write lock of the database"))
                    .with_hint("another process holds it; try again")
                    .with_details(json!({"retry_after_ms": RETRY_AFTER_MS}))
            }
            StoreError::Disconnected(_) | StoreError::Conflicted(_) => {
                Self::new(Code::Busy, message)
                    .with_hint("check whether the change was made, then try again")
                    .with_details(json!({"retry_after_ms": RETRY_AFTER_MS}))
            }
            StoreError::OutcomeUnknown => Self::new(Code::Busy, message)
                .with_hint("check whether the change was made, then try again")
                .with_details(json!({"retry_after_ms": RETRY_AFTER_MS, "outcome": "unknown"})),
            StoreError::RunHeld { .. } => Self::new(Code::Busy, message)
                .with_hint("the run continues; repeat the call to see its outcome")
                .with_details(json!({"retry_after_ms": RETRY_AFTER_MS})),
            StoreError::ReadOnly => {
                Self::new(Code::Forbidden, message).with_hint("reading works; to write, check the permissions of the file and of its folder")
            }
            StoreError::Io(_) | StoreError::Unopened(_) | StoreError::Unwritten(_) => {
                Self::new(Code::Internal, message).with_hint(
                    "check the disk and the system log, then try again; `rootset doctor` checks what is stored",
                )
            }
            StoreError::CommitInDoubt { cause } => {
                let error = Self::from(*cause);
                Self::new(error.code, message)
                    .with_hint("check whether the change was made before you repeat it; check the disk and the system log")
                    .with_details(json!({"outcome": "unknown"}))
            }
            StoreError::AnswerLost { is_partial, cause } => Self::new(Self::from(*cause).code, message)
                .with_hint("repeat the call to complete it and to see its outcome; nothing is done twice")
                .with_details(json!({"outcome": if is_partial { "partial" } else { "done" }})),
            StoreError::DiskFull => Self::new(Code::Internal, message).with_hint(
                "stored data is intact; free some space and try again. Purging trash (`gc_purge`) needs very little space",
            ),
            StoreError::Damaged(_) => Self::new(Code::Internal, message)
                .with_hint(
                    "stop writing and copy the file before anything else; `rootset doctor` shows what can be done",
                )
                .with_details(json!({"damaged": true})),
            StoreError::BackupFile { .. } => Self::new(Code::Internal, message)
                .with_hint("check the backup folder and its permissions; `backup.dir` sets another folder"),
            StoreError::LedgerMissing { .. } => Self::conflict(message).with_hint(
                "nothing was changed; copy the ledger from the folder the backup comes from, or restore with \
                 `without_ledger: true`, which may bring back what was erased after the backup",
            ),
            StoreError::LedgerDamaged { .. } => Self::conflict(message).with_hint(
                "nothing was changed; `backup_create` of the same database writes the ledger again; \
                 `without_ledger: true` restores without it and may bring back what was erased after the backup",
            ),
            StoreError::BackupNotFound(_) => {
                Self::new(Code::NotFound, message).with_hint("`backup_list` shows the existing backups")
            }
            StoreError::BackupUnusable { problems, .. } => Self::conflict(message)
                .with_hint("nothing was changed; `backup_list` shows other backups")
                .with_details(json!({"problems": problems})),
            StoreError::BackupAltered { backup, .. } => Self::conflict(message)
                .with_hint(
                    "the disk or its memory may be failing; bring those rows back from an older backup, or change or delete \
                     them. `doctor` finds them again",
                )
                .with_details(json!({"backup_id": backup, "altered": true})),
            StoreError::WorkspaceNotInBackup { present, .. } => {
                Self::new(Code::NotFound, message).with_details(json!({"workspaces": present}))
            }
            StoreError::NoSnapshots { .. } => Self::invalid(message).with_hint("use the format `jsonl`"),
            StoreError::EngineTooOld { .. }
            | StoreError::Engine(_)
            | StoreError::Constraint(_)
            | StoreError::UnexpectedColumn { .. }
            | StoreError::MissingRow { .. }
            | StoreError::UnreadableValue(_)
            | StoreError::LeaseLost => Self::new(Code::Internal, message),
            StoreError::WorkspaceNotFound { name, nearest, trashed } => workspace_not_found(&name, &nearest, trashed),
            StoreError::WorkspaceExists { name, trashed } => {
                let error = Self::conflict(message);
                if trashed {
                    error.with_hint(format!("`{name}` is in the trash; undo or purge it first"))
                } else {
                    error
                }
            }
            StoreError::MemoryNotFound { trashed: Some((run, at)), .. }
            | StoreError::RevisionNotFound { trashed: Some((run, at)), .. } => Self::new(Code::NotFound, message)
                .with_hint(format!("it has been in the trash since {at}; `gc_undo` restores it"))
                .with_details(json!({"next": {"operation": "gc_undo", "arguments": {"run_id": run}}})),
            StoreError::MemoryNotFound { reference, trashed: None, names } => memory_not_found(message, &reference, &names),
            StoreError::RevisionNotFound { trashed: None, .. } => Self::new(Code::NotFound, message),
            StoreError::IndexedFile { .. } => Self::conflict(message)
                .with_hint("change the file and index it again; `tags`, `metadata` and `pinned` can be changed"),
            StoreError::RepoElsewhere { root, .. } => Self::conflict(message)
                .with_hint("choose another `repo`, or move it to this folder with `rootset index --rebind`")
                .with_details(json!({"root": root})),
            StoreError::ScanOvertaken { .. } => {
                Self::conflict(message).with_hint("nothing was marked; index again if files changed since then")
            }
            StoreError::SessionNotFound(_) => Self::new(Code::NotFound, message)
                .with_hint("`context_list_sessions` shows the existing sessions; adding a segment creates one"),
            StoreError::SessionTrashed { .. } => Self::conflict(message)
                .with_hint("`gc_undo` restores it, `gc_purge` frees its name; `list_trash` shows the run"),
            StoreError::SessionChanged { .. } => Self::new(Code::Busy, message).with_hint("try again"),
            StoreError::NotInTrash(_)
            | StoreError::SegmentNotFound { .. }
            | StoreError::RepoNotFound(_)
            | StoreError::EntityNotFound(_)
            | StoreError::NothingFound(_)
            | StoreError::DrainNotFound(_)
            | StoreError::RunNotFound(_) => Self::new(Code::NotFound, message),
            StoreError::PlanNotFound(_) => {
                Self::new(Code::NotFound, message).with_hint("a plan belongs to one workspace; make a new plan there")
            }
            StoreError::EntityAmbiguous { candidates, .. } => {
                let listed: Vec<Value> = candidates
                    .into_iter()
                    .map(|(id, entity_type)| json!({"entity_id": id, "type": entity_type}))
                    .collect();
                Self::conflict(message).with_hint("use an `entity_id`").with_details(json!({"candidates": listed}))
            }
            StoreError::TokenNotFound(_) => {
                Self::new(Code::NotFound, message).with_hint("`list_tokens` shows the existing tokens")
            }
            StoreError::TokenNameTaken { by, .. } => Self::conflict(message)
                .with_hint("choose another `name`, or revoke the existing token with `revoke_token`")
                .with_details(json!({"token_id": by})),
            StoreError::KeyTaken { ref key, by } => {
                let details = json!({"key": key, "memory_id": by});
                Self::conflict(message).with_details(details).with_hint("`add_memory` with this key updates it")
            }
            StoreError::AmbiguousId(_) => Self::invalid(message).with_hint("give more of the id, or the name"),
            StoreError::NameTaken { by, .. } => Self::conflict(message).with_details(json!({"memory_id": by})),
            StoreError::ContentTaken { by, name } => {
                let named = name.as_deref().map_or_else(|| by.to_string(), |name| format!("`{name}`"));
                Self::conflict(format!("{message}: {named}"))
                    .with_hint("update that memory, or supersede one with the other")
                    .with_details(json!({"memory_id": by, "name": name}))
            }
            StoreError::ContentRemoved { memory, at, erased } => content_removed(memory, at, erased),
            StoreError::MergedTooLarge { .. } => {
                Self::invalid(message).with_hint("`update_memory` replaces metadata and tags instead of adding to them")
            }
            StoreError::Pinned { memory, reason } => {
                let because = reason.map_or_else(String::new, |reason| format!(": {reason}"));
                Self::conflict(format!("{message}{because}"))
                    .with_hint("unpin it first: `update_memory` with `pinned: false`")
                    .with_details(json!({"next": {
                        "operation": "update_memory", "arguments": {"memory_id": memory, "pinned": false},
                    }}))
            }
            StoreError::PinnedByPerson { memory, name } => {
                let shown = name.unwrap_or_else(|| memory.to_string());
                let message = format!("`{shown}` is pinned by a person: agents can neither change, replace nor remove it");
                Self::new(ErrorCode::Forbidden, message)
                    .with_hint("a person can do it in a terminal")
                    .with_details(json!({"memory_id": memory, "pinned_by": "person", "needs_person": true}))
            }
            StoreError::VersionMismatch { expected, found } => {
                Self::conflict(format!("`expected_version` is {expected}, the memory has version {found}"))
                    .with_hint("read the memory again and repeat the change on its current version")
                    .with_details(json!({"version": found}))
            }
            StoreError::SupersedeCycle => Self::conflict(message).with_hint("a memory cannot replace itself"),
            StoreError::PlanExpired { at, .. } => {
                Self::new(Code::PlanExpired, format!("{message} at {at}")).with_hint("make a new plan and review it")
            }
            StoreError::NotInPlan { .. } => {
                Self::invalid(message).with_hint("`get_plan` lists the ids; nothing was removed")
            }
            StoreError::CannotBeCut { .. } => {
                Self::invalid(message).with_hint("use `remove` or `keep`; nothing was removed")
            }
            StoreError::OverLimit { blocked } => over_limit(&blocked),
            StoreError::ConfirmationRequired { plan } => {
                Self::new(Code::ConfirmationRequired, "this plan erases permanently and needs `confirm: true`")
                    .with_details(json!({"plan_id": plan, "next": {
                        "operation": "gc_apply", "arguments": {"plan_id": plan, "confirm": true},
                    }}))
            }
            StoreError::QuotaExceeded { .. } => Self::new(Code::LimitExceeded, message)
                .with_hint("purge what is no longer needed, or raise the quota of the workspace"),
            StoreError::RunNotUndoable { purged, .. } => Self::conflict(message).with_hint(if purged {
                "it was purged or erased"
            } else {
                "it was already undone; restore single memories that are still in the trash by `memory_id`"
            }),
        }
    }
}

/// Of a mistyped name, those that are spelt like it come first, then those that share a word with it.
fn memory_not_found(message: String, reference: &str, names: &[String]) -> ServiceError {
    const SUGGESTED_MAX: usize = 3;
    let all = || names.iter().map(String::as_str);
    let mut near = nearest(reference, all(), SUGGESTED_MAX);
    for place in nearest_words(reference, all(), SUGGESTED_MAX) {
        if near.len() < SUGGESTED_MAX && !near.contains(&names[place].as_str()) {
            near.push(&names[place]);
        }
    }
    let error = ServiceError::new(ErrorCode::NotFound, message);
    if near.is_empty() {
        return error.with_hint("`search_memory` finds a memory by its words");
    }
    error.with_hint(format!("did you mean `{}`?", near.join("`, `"))).with_details(json!({"nearest": near}))
}

fn workspace_not_found(name: &str, all: &[String], trashed: bool) -> ServiceError {
    let error = ServiceError::new(ErrorCode::NotFound, format!("no workspace `{name}`"));
    if trashed {
        return error.with_hint("it is in the trash; `gc_undo` with this `workspace_id` restores it");
    }
    let near = nearest(name, all.iter().map(String::as_str), 3);
    if near.is_empty() {
        return error.with_hint("create it with `create_workspace`");
    }
    error.with_hint(format!("did you mean `{}`?", near.join("`, `"))).with_details(json!({"nearest": near}))
}

fn content_removed(memory: rootset_model::MemoryId, at: Timestamp, erased: bool) -> ServiceError {
    let how = if erased { "erased" } else { "removed" };
    ServiceError::conflict(format!("this content was {how} at {at}"))
        .with_hint("removed content stays removed unless you add it with `restore: true`")
        .with_details(json!({"memory_id": memory, "removed_at": at}))
}

fn over_limit(blocked: &[rootset_gc::Blocked]) -> ServiceError {
    let memories = |count: i64| Counts::of("memories", count).in_words();
    let parts: Vec<String> = blocked
        .iter()
        .map(|it| match it.fraction_max {
            Some(max) => format!(
                "it would trash {} of {} of source `{}`, more than {:.0} %",
                it.in_plan,
                memories(it.total),
                it.source,
                max * 100.0
            ),
            None if it.total == 1 => format!("it would trash the only memory of source `{}`", it.source),
            None => format!("it would trash all {} of source `{}`", memories(it.total), it.source),
        })
        .collect();
    ServiceError::new(ErrorCode::LimitExceeded, format!("the plan exceeds a limit: {}", parts.join("; ")))
        .with_hint("review the plan, then apply it with `allow_large: true` if it is correct")
        .with_details(json!({ "blocked": blocked }))
}
