//! Backups: a copy of the database or a bundle of JSON lines, each in a folder of its own with a manifest.
//!
//! A backup is verified when it is made and again before it is restored. There is no catalogue: what can be lost with the
//! database cannot help to restore it.

mod archive;
mod beside;
mod bundle;
mod folder;
mod manifest;
mod restore;
mod rewrite;
mod rows;
mod salvage;
pub(crate) mod tables;
mod verify;

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rootset_model::Timestamp;

pub(crate) use bundle::each_readable_row;
pub(crate) use folder::trouble;
pub use folder::{
    Backup, DamagedBackup, find_backup, has_manifest, list_backups, list_damaged_backups, open_backup, remove_backup,
    remove_damaged_backup, remove_unfinished_backups,
};
pub use manifest::{BackupKind, BackupReason, Manifest, ManifestFile};
pub use restore::{Configured, FreshTrash, LedgerUse, PersonalOf, RestoreTarget, Restored, Restoring};
pub use rewrite::{Rewritten, RewrittenBackup};
pub(crate) use rows::Cell;
pub use salvage::{DAMAGED_TAG, Salvaged, salvage};
pub(crate) use tables::{CHUNK_TABLES, CONTEXT_TABLES, GRAPH_TABLES, MEMORY_TABLES, Table, sealed as sealed_tables};
pub use verify::verify_backup;

use crate::driver::Tenant;
use crate::error::StoreError;
use crate::failpoints::failpoint;
use crate::leases::DATABASE;
use crate::seals::Altered;
use crate::statements::purge as purge_sql;
use crate::{SCHEMA_VERSION, Stamp, Store, Workspace, audit};
use bundle::ArchivedWorkspace;
use folder::Partial;
use manifest::{FORMAT, SNAPSHOT_FILE};
use verify::{Verified, verify};

/// What to back up, and under which id.
#[derive(Clone, Copy, Debug)]
pub struct NewBackup<'a> {
    pub id: &'a str,
    pub kind: BackupKind,
    /// `None`: the whole database. Only a bundle can hold less.
    pub workspace: Option<&'a Workspace>,
}

/// `<database>.backups`, beside the database.
pub fn default_backup_folder(database: &Path) -> PathBuf {
    let mut folder = database.as_os_str().to_owned();
    folder.push(".backups");
    folder.into()
}

/// `20270115-080000-1f2e3d4c`: ids order by time, and two of one second differ.
pub fn backup_id(at: Timestamp, distinction: &str) -> String {
    let digits: String = at.to_string().chars().filter(char::is_ascii_digit).collect();
    match (digits.get(..8), digits.get(8..14)) {
        (Some(day), Some(second)) => format!("{day}-{second}-{distinction}"),
        _ => format!("{digits}-{distinction}"),
    }
}

impl Store {
    /// The folder for backups where nobody named another; `None` where the database is no file.
    pub fn backup_folder(&self) -> Option<PathBuf> {
        self.engine.path().map(default_backup_folder)
    }

    /// Whether the database is a file of our own: one that can be copied, salvaged, and looked through byte by byte.
    pub fn has_file(&self) -> bool {
        self.engine.path().is_some()
    }

    /// The files that the database is kept in, by their real paths: nobody else may open them in this process, because
    /// closing them again would take away its locks.
    pub fn own_files(&self) -> Vec<PathBuf> {
        let Some(path) = self.engine.path() else { return Vec::new() };
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let beside = |ending: &&str| {
            let mut name = path.clone().into_os_string();
            name.push(ending);
            name.into()
        };
        ["", "-wal", "-shm", ".lock", ".reserve"].iter().map(beside).collect()
    }

    /// Makes a backup while others write, verifies it, and only then lets it be found.
    pub fn create_backup(&self, folder: &Path, new: &NewBackup<'_>, stamp: Stamp<'_>) -> Result<Backup, StoreError> {
        let partial = Partial::begin(folder, new.id)?;
        failpoint!("backup.begun");
        let manifest = match new.kind {
            BackupKind::Snapshot => self.snapshot(&partial, new, stamp)?,
            BackupKind::Jsonl => self.bundle(&partial, new, stamp)?,
        };
        let (backup, altered) = verified(Backup { path: partial.path.clone(), manifest, warnings: Vec::new() })?;
        // A backup that can be found has its ledger beside it.
        self.complete_ledger(folder)?;
        let mut backup = partial.publish(Manifest { has_ledger: true, ..backup.manifest })?;
        if let Err(error) = self.note_backup(&backup, new, stamp) {
            backup.warnings.push(format!("the backup is complete, but the audit log lacks it: {error}"));
        }
        match altered.in_words() {
            None => Ok(backup),
            // Nobody should be without a backup of the rest, and nobody should take it for a good one.
            Some(altered) => Err(StoreError::BackupAltered { backup: backup.manifest.backup_id, altered }),
        }
    }

    fn note_backup(&self, backup: &Backup, new: &NewBackup<'_>, stamp: Stamp<'_>) -> Result<(), StoreError> {
        failpoint!("backup.published");
        let chain = new.workspace.map_or(DATABASE, |it| it.key);
        self.write(chain, |tx| {
            let counts = serde_json::json!({"rows": backup.manifest.rows(), "bytes": backup.manifest.bytes()});
            let entry = audit::Entry { counts: Some(counts.to_string()), ..audit::Entry::of("backup_create") };
            audit::append(tx, chain, stamp, &entry)
        })
    }

    fn snapshot(&self, partial: &Partial, new: &NewBackup<'_>, stamp: Stamp<'_>) -> Result<Manifest, StoreError> {
        if self.engine.path().is_none() {
            return Err(StoreError::NoSnapshots { engine: self.engine.name() });
        }
        let path = partial.path.join(SNAPSHOT_FILE);
        drop(partial.create(SNAPSHOT_FILE)?);
        self.engine.copy_to(&path)?;
        snapshot_manifest(&path, new.id, BackupReason::Requested, stamp.now)
    }

    fn bundle(&self, partial: &Partial, new: &NewBackup<'_>, stamp: Stamp<'_>) -> Result<Manifest, StoreError> {
        let (written, ledger_key) = self.read(Tenant::Database, |tx| {
            let wanted = |it: &ArchivedWorkspace| new.workspace.is_none_or(|only| only.key == it.number);
            let workspaces: Vec<_> = bundle::workspaces(tx)?.into_iter().filter(wanted).collect();
            let key: Vec<u8> = tx.scalar(&purge_sql::ERASURE_KEY, &[])?;
            Ok((bundle::write(partial, tx, &workspaces)?, key))
        })?;
        Ok(Manifest {
            format: FORMAT,
            kind: BackupKind::Jsonl,
            reason: BackupReason::Requested,
            backup_id: new.id.to_owned(),
            created_at: stamp.now,
            schema_version: SCHEMA_VERSION,
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            workspace_id: new.workspace.map(|it| it.id.clone()),
            ledger_key: STANDARD.encode(ledger_key),
            has_ledger: false,
            tables: written.tables,
            files: written.files,
            checksum: None,
        })
    }
}

/// The backup, if it can be restored; and what in it had rotted before it was made.
fn verified(backup: Backup) -> Result<(Backup, Altered), StoreError> {
    let Verified { problems, altered, .. } = verify(&backup)?;
    if problems.is_empty() {
        Ok((backup, altered))
    } else {
        Err(StoreError::BackupUnusable { backup: backup.manifest.backup_id, problems })
    }
}

/// What a copy holds is counted in the copy: nobody writes there.
fn snapshot_manifest(
    path: &Path,
    id: &str,
    reason: BackupReason,
    created_at: Timestamp,
) -> Result<Manifest, StoreError> {
    let inspected = crate::sqlite::archive::inspect(path)?;
    if !inspected.problems.is_empty() {
        return Err(StoreError::BackupUnusable { backup: id.to_owned(), problems: inspected.problems });
    }
    let bytes = std::fs::metadata(path).map_err(|error| trouble(path, &error))?.len();
    let blake3 = verify::checksum(path).map_err(|error| trouble(path, &error))?;
    Ok(Manifest {
        format: FORMAT,
        kind: BackupKind::Snapshot,
        reason,
        backup_id: id.to_owned(),
        created_at,
        schema_version: inspected.schema_version,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        workspace_id: None,
        ledger_key: STANDARD.encode(inspected.ledger_key),
        has_ledger: false,
        tables: inspected.tables,
        files: vec![ManifestFile { name: SNAPSHOT_FILE.to_owned(), bytes, blake3 }],
        checksum: None,
    })
}

/// A copy of a database whose schema is about to change. The database is being opened, so there is no service with a
/// clock yet: the system's own stands in.
pub(crate) fn before_migration(older: &rusqlite::Connection, folder: &Path) -> Result<(), StoreError> {
    let now = crate::time::of_this_machine()();
    let id = backup_id(now, &format!("migration-{:03}", now.0.rem_euclid(1_000)));
    let partial = Partial::begin(folder, &id)?;
    let path = partial.path.join(SNAPSHOT_FILE);
    drop(partial.create(SNAPSHOT_FILE)?);
    crate::sqlite::archive::copy(older, &path)?;
    let manifest = snapshot_manifest(&path, &id, BackupReason::Migration, now)?;
    partial.publish(manifest).map(drop)
}
