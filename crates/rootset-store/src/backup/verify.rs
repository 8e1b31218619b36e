//! Whether a backup can be restored: its files are those of the manifest to the byte, it can be read to the end, and it
//! holds what it says. An archive may come from anywhere, so nothing in it is believed.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::path::Path;

use super::bundle;
use super::folder::Backup;
use super::manifest::{BackupKind, MANIFEST_FILE, Manifest, SNAPSHOT_FILE};
use super::rows::Cell;
use super::tables::{self, Rows};
use crate::SCHEMA_VERSION;
use crate::error::StoreError;
use crate::sqlite::archive;

/// What is wrong with a backup, in words; empty when all is well.
pub fn verify_backup(backup: &Backup) -> Result<Vec<String>, StoreError> {
    let manifest = &backup.manifest;
    let mut problems = Vec::new();
    if manifest.schema_version > SCHEMA_VERSION {
        problems.push(format!(
            "it was made by a later version: schema {}, this program knows up to {SCHEMA_VERSION}",
            manifest.schema_version
        ));
        return Ok(problems);
    }
    if manifest.schema_version < 1 {
        problems.push(format!("schema {} does not exist", manifest.schema_version));
        return Ok(problems);
    }
    check_names(&backup.path, manifest, &mut problems);
    if problems.is_empty() {
        check_files(&backup.path, manifest, &mut problems);
    }
    // Only what is the very file that was written is worth reading.
    if problems.is_empty() {
        match manifest.kind {
            BackupKind::Snapshot => check_snapshot(&backup.path, manifest, &mut problems),
            BackupKind::Jsonl => check_bundle(&backup.path, manifest, &mut problems)?,
        }
    }
    Ok(problems)
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

fn check_bundle(folder: &Path, manifest: &Manifest, problems: &mut Vec<String>) -> Result<(), StoreError> {
    let mut counts = BTreeMap::new();
    let mut workspaces: HashSet<String> = HashSet::new();
    let mut strangers = 0;
    // A later version may have tables that an earlier one did not write.
    let listed = |name: &str| manifest.files.iter().any(|file| file.name == name);
    for table in tables::all().filter(|table| listed(&bundle::file_name(table))) {
        let rows_max = manifest.tables.get(table.name).copied().unwrap_or(0);
        let is_workspaces = matches!(table.rows, Rows::Workspaces);
        let outcome = bundle::read(folder, table, rows_max, &mut |workspace: &str, _: Vec<Cell>| {
            if is_workspaces {
                workspaces.insert(workspace.to_owned());
            } else if !workspaces.contains(workspace) {
                strangers += 1;
            }
            Ok(())
        })?;
        match outcome {
            Ok(count) => drop(counts.insert(table.name.to_owned(), count)),
            Err(problem) => problems.push(problem),
        }
    }
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
