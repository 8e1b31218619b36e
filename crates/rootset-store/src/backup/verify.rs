//! Whether a backup can be restored: its files are those of the manifest to the byte, it can be read to the end, and it
//! holds what it says. An archive may come from anywhere, so nothing in it is believed.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::path::Path;

use super::archive::Archive;
use super::bundle;
use super::folder::Backup;
use super::manifest::{BackupKind, MANIFEST_FILE, Manifest, SNAPSHOT_FILE};
use super::rows::Cell;
use super::tables::{self, Rows};
use crate::SCHEMA_VERSION;
use crate::error::StoreError;
use crate::seals::{Altered, Sealed};
use crate::sqlite::archive;

/// What is wrong with a backup, in words; empty when all is well.
pub fn verify_backup(backup: &Backup) -> Result<Vec<String>, StoreError> {
    let Verified { mut problems, altered, .. } = verify(backup)?;
    problems.extend(altered.in_words());
    Ok(problems)
}

/// What was found in a backup.
#[derive(Debug, Default)]
pub(crate) struct Verified {
    /// Why it cannot be restored.
    pub problems: Vec<String>,
    /// What had rotted before the backup was made. All the rest of it can be restored.
    pub altered: Altered,
    unreadable: BTreeMap<(&'static str, &'static str), i64>,
}

impl Verified {
    pub fn check_seal(&mut self, sealed: Option<&Sealed>, cells: &[Cell]) {
        if let Some(sealed) = sealed
            && !sealed.holds(cells)
        {
            self.altered.note(|| sealed.name_of(cells));
        }
    }

    pub fn unreadable(&mut self, table: &'static str, column: &'static str) {
        *self.unreadable.entry((table, column)).or_default() += 1;
    }
}

/// Looks at everything in it, each row the way a restore does.
pub(crate) fn verify(backup: &Backup) -> Result<Verified, StoreError> {
    let manifest = &backup.manifest;
    let mut verified = Verified::default();
    let problems = &mut verified.problems;
    if manifest.schema_version > SCHEMA_VERSION {
        problems.push(format!(
            "it was made by a later version: schema {}, this program knows up to {SCHEMA_VERSION}",
            manifest.schema_version
        ));
        return Ok(verified);
    }
    if manifest.schema_version < 1 {
        problems.push(format!("schema {} does not exist", manifest.schema_version));
        return Ok(verified);
    }
    check_names(&backup.path, manifest, problems);
    if problems.is_empty() {
        check_files(&backup.path, manifest, problems);
    }
    // Only what is the very file that was written is worth reading.
    if problems.is_empty() {
        match manifest.kind {
            BackupKind::Snapshot => {
                check_snapshot(&backup.path, manifest, problems);
                if problems.is_empty() {
                    check_rows(backup, &mut verified);
                }
            }
            BackupKind::Jsonl => check_bundle(&backup.path, manifest, &mut verified)?,
        }
    }
    Ok(verified)
}

/// A copy of an older schema is read from a copy of its own that is brought up to date, as a restore does.
fn check_rows(backup: &Backup, verified: &mut Verified) {
    let room = backup.path.parent().unwrap_or(&backup.path);
    let read = Archive::open(backup, room).and_then(|archive| archive.check_snapshot(verified));
    let unreadable = std::mem::take(&mut verified.unreadable);
    verified.problems.extend(unreadable.into_iter().map(|((table, column), rows)| {
        format!("`{table}` has {rows} rows whose `{column}` cannot be read or is out of range")
    }));
    verified.problems.extend(read.err().map(|error| format!("`{SNAPSHOT_FILE}` cannot be read to its end: {error}")));
}

/// Every file is one that this kind of backup has, and there are no others.
fn check_names(folder: &Path, manifest: &Manifest, problems: &mut Vec<String>) {
    let is_known = |name: &str| match manifest.kind {
        BackupKind::Snapshot => name == SNAPSHOT_FILE,
        BackupKind::Jsonl => bundle::table_of(name).is_some(),
    };
    let mut listed = HashSet::new();
    for file in &manifest.files {
        if !is_known(&file.name) {
            problems.push(format!("the manifest lists `{}`, which is not a file of a backup", shown(&file.name)));
        } else if !listed.insert(file.name.as_str()) {
            problems.push(format!("the manifest lists `{}` twice", file.name));
        }
    }
    if manifest.kind == BackupKind::Snapshot && !listed.contains(SNAPSHOT_FILE) {
        problems.push(format!("the manifest does not list `{SNAPSHOT_FILE}`"));
    }
    if manifest.kind == BackupKind::Jsonl {
        for table in manifest.tables.keys().filter(|name| tables::by_name(name).is_none()) {
            problems.push(format!("the manifest counts `{}`, which is not a table of a backup", shown(table)));
        }
    }
    match fs::read_dir(folder) {
        Ok(entries) => {
            let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
            let strangers = names.filter(|name| name != MANIFEST_FILE && !listed.contains(name.as_str()));
            problems.extend(strangers.map(|name| format!("`{}` is not in the manifest", shown(&name))));
        }
        Err(error) => problems.push(format!("the folder cannot be read: {error}")),
    }
}

/// Ordinary files of the size and the checksum that the manifest says.
fn check_files(folder: &Path, manifest: &Manifest, problems: &mut Vec<String>) {
    for file in &manifest.files {
        let path = folder.join(&file.name);
        let problem = match fs::symlink_metadata(&path) {
            Err(error) => Some(format!("`{}` is missing: {error}", file.name)),
            Ok(found) if !found.is_file() => Some(format!("`{}` is not an ordinary file", file.name)),
            Ok(found) if found.len() != file.bytes => {
                Some(format!("`{}` has {} bytes, the manifest says {}", file.name, found.len(), file.bytes))
            }
            Ok(_) => match checksum(&path) {
                Ok(found) if found == file.blake3 => None,
                Ok(_) => Some(format!("`{}` was changed: its checksum is not that of the manifest", file.name)),
                Err(error) => Some(format!("`{}` cannot be read: {error}", file.name)),
            },
        };
        problems.extend(problem);
    }
}

pub(crate) fn checksum(path: &Path) -> std::io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

fn check_snapshot(folder: &Path, manifest: &Manifest, problems: &mut Vec<String>) {
    match archive::inspect(&folder.join(SNAPSHOT_FILE)) {
        Err(error) => problems.push(format!("`{SNAPSHOT_FILE}` cannot be opened: {error}")),
        Ok(inspected) => {
            problems.extend(inspected.problems);
            if inspected.schema_version != manifest.schema_version {
                problems.push(format!(
                    "`{SNAPSHOT_FILE}` has schema {}, the manifest says {}",
                    inspected.schema_version, manifest.schema_version
                ));
            }
            compare_counts(&inspected.tables, &manifest.tables, problems);
        }
    }
}

fn check_bundle(folder: &Path, manifest: &Manifest, verified: &mut Verified) -> Result<(), StoreError> {
    let mut counts = BTreeMap::new();
    let mut workspaces: HashSet<String> = HashSet::new();
    let mut strangers = 0;
    // A later version may have tables that an earlier one did not write.
    let listed = |name: &str| manifest.files.iter().any(|file| file.name == name);
    for table in tables::all().filter(|table| listed(&bundle::file_name(table))) {
        let rows_max = manifest.tables.get(table.name).copied().unwrap_or(0);
        let is_workspaces = matches!(table.rows, Rows::Workspaces);
        let sealed = Sealed::of(table);
        let outcome = bundle::read(folder, table, rows_max, &mut |workspace: &str, cells: Vec<Cell>| {
            verified.check_seal(sealed.as_ref(), &cells);
            if is_workspaces {
                workspaces.insert(workspace.to_owned());
            } else if !workspaces.contains(workspace) {
                strangers += 1;
            }
            Ok(())
        })?;
        match outcome {
            Ok(count) => drop(counts.insert(table.name.to_owned(), count)),
            Err(problem) => verified.problems.push(problem),
        }
    }
    let problems = &mut verified.problems;
    if strangers > 0 {
        problems.push(format!("{strangers} rows belong to workspaces that are not in it"));
    }
    if let Some(only) = &manifest.workspace_id
        && (workspaces.len() != 1 || !workspaces.contains(only))
    {
        problems.push(format!("it does not hold the workspace `{}` alone, as the manifest says", shown(only)));
    }
    if problems.is_empty() {
        compare_counts(&counts, &manifest.tables, problems);
    }
    Ok(())
}

fn compare_counts(found: &BTreeMap<String, i64>, said: &BTreeMap<String, i64>, problems: &mut Vec<String>) {
    for name in found.keys().chain(said.keys().filter(|name| !found.contains_key(*name))) {
        let count = |counts: &BTreeMap<String, i64>| counts.get(name).copied().unwrap_or(0);
        if count(found) != count(said) {
            problems.push(format!("`{}` has {} rows, the manifest says {}", shown(name), count(found), count(said)));
        }
    }
}

fn shown(name: &str) -> String {
    name.chars().take(80).map(|c| if c.is_control() { '?' } else { c }).collect()
}
