//! A verified backup as a source of rows, whatever its kind: a restore reads either the same way.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::bundle::{self, ArchivedWorkspace, EachRow};
use super::folder::{Backup, Partial, trouble};
use super::manifest::{BackupKind, Manifest, SNAPSHOT_FILE};
use super::tables::{self, Table, WORKSPACES};
use super::verify::Verified;
use crate::driver::Tenant;
use crate::error::StoreError;
use crate::seals::{self, Sealed};
use crate::{SCHEMA_VERSION, Store};

/// Where the rows of a backup come from.
#[derive(Debug)]
pub(crate) enum Archive {
    Snapshot {
        store: Store,
        /// A snapshot of an older schema is read from a copy that was brought up to date.
        _copy: Option<Partial>,
    },
    Bundle {
        folder: PathBuf,
        manifest: Manifest,
    },
}

impl Archive {
    /// The backup must have been verified. `room` is a folder for the copy of a snapshot with an older schema.
    pub fn open(backup: &Backup, room: &Path) -> Result<Self, StoreError> {
        if backup.manifest.kind == BackupKind::Jsonl {
            return Ok(Self::Bundle { folder: backup.path.clone(), manifest: backup.manifest.clone() });
        }
        let path = backup.path.join(SNAPSHOT_FILE);
        if backup.manifest.schema_version == SCHEMA_VERSION {
            return Ok(Self::Snapshot { store: Store::open_archive(&path)?, _copy: None });
        }
        let copy = Partial::begin(room, &format!("restore-{}", std::process::id()))?;
        let upgraded = copy.path.join(SNAPSHOT_FILE);
        let mut file = copy.create(SNAPSHOT_FILE)?;
        let copied = std::fs::File::open(&path).and_then(|mut from| std::io::copy(&mut from, &mut file));
        copied.map_err(|error| trouble(&upgraded, &error))?;
        Ok(Self::Snapshot { store: Store::open_copy(&upgraded)?, _copy: Some(copy) })
    }

    pub fn workspaces(&self) -> Result<Vec<ArchivedWorkspace>, StoreError> {
        match self {
            Self::Snapshot { store, .. } => store.read(Tenant::Database, bundle::workspaces),
            Self::Bundle { .. } => {
                let mut found = Vec::new();
                self.read_bundle(&WORKSPACES, &mut |_, cells| {
                    found.push(ArchivedWorkspace::new(cells));
                    Ok(())
                })?;
                Ok(found)
            }
        }
    }

    /// Whether it knows of such a table: an earlier version had no such rows. A snapshot was brought up to date.
    pub fn has(&self, table: &Table) -> bool {
        match self {
            Self::Snapshot { .. } => true,
            Self::Bundle { manifest, .. } => manifest.files.iter().any(|file| file.name == bundle::file_name(table)),
        }
    }

    /// Reads everything that a restore would read from a copy, and checks it; a bundle's lines are checked one by one.
    pub fn check_snapshot(&self, verified: &mut Verified) -> Result<(), StoreError> {
        let Self::Snapshot { store, .. } = self else { return Ok(()) };
        store.read(Tenant::Database, |tx| {
            for workspace in bundle::workspaces(tx)? {
                for table in tables::in_workspace() {
                    let sealed = Sealed::of(table);
                    bundle::each_readable_row(tx, table, workspace.number, &mut |row| match row {
                        Ok(cells) => verified.check_seal(sealed.as_ref(), &cells),
                        Err(column) => verified.unreadable(table.name, column),
                    })?;
                }
                verified.altered.add(seals::check_unsealed(tx, workspace.number)?);
            }
            Ok(())
        })
    }

    /// Rows of a table that belong to one of the workspaces, each with the name of its workspace.
    pub fn rows(&self, table: &Table, workspaces: &[&ArchivedWorkspace], each: EachRow<'_>) -> Result<(), StoreError> {
        match self {
            Self::Snapshot { store, .. } => store.read(Tenant::Database, |tx| {
                for workspace in workspaces {
                    tx.enter(workspace.number.into())?;
                    bundle::each_row(tx, table, workspace.number, &mut |cells| each(&workspace.id, cells))?;
                }
                Ok(())
            }),
            Self::Bundle { .. } => {
                let wanted: HashSet<&str> = workspaces.iter().map(|it| it.id.as_str()).collect();
                self.read_bundle(table, &mut |workspace, cells| {
                    if wanted.contains(workspace) { each(workspace, cells) } else { Ok(()) }
                })
            }
        }
    }

    fn read_bundle(&self, table: &Table, each: EachRow<'_>) -> Result<(), StoreError> {
        let Self::Bundle { folder, manifest } = self else { return Ok(()) };
        if !self.has(table) {
            return Ok(()); // An earlier version had no such table.
        }
        let rows_max = manifest.tables.get(table.name).copied().unwrap_or(0);
        // It was verified before, so this is a file that changed under our hands.
        bundle::read(folder, table, rows_max, each)?.map(drop).map_err(|problem| StoreError::BackupUnusable {
            backup: manifest.backup_id.clone(),
            problems: vec![problem],
        })
    }
}
