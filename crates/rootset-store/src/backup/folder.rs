//! The folder of backups: one folder per backup, found by its manifest. A backup is made under a name that nobody lists
//! and appears whole, by one rename.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rootset_model::Timestamp;
use rootset_model::limits::WRITE_WAIT_MS;

use super::bundle::table_of;
use super::manifest::{MANIFEST_FILE, Manifest, SNAPSHOT_FILE};
use crate::error::StoreError;
use crate::failpoints::failpoint;
use crate::platform;
use crate::sqlite::lock::{WriteGuard, WriteLock};

/// What a backup's folder is called while it is made. Nothing that begins like this is ever listed.
const PARTIAL_PREFIX: &str = ".partial-";
/// What a backup's folder is called while a rewritten one takes its place. Until that has its name, this one is listed.
const REPLACED_PREFIX: &str = ".replaced-";
/// The folder for temporary databases that backups are rewritten in.
const SCRATCH_FOLDER: &str = ".rewriting";
const ID_CHARS_MAX: usize = 64;

/// A backup that was found.
#[derive(Clone, Debug)]
pub struct Backup {
    pub path: PathBuf,
    pub manifest: Manifest,
    /// What went wrong after it was complete; of one that was just made.
    pub warnings: Vec<String>,
}

/// A backup whose manifest cannot be read. It may still hold everything it was made of.
#[derive(Clone, Debug)]
pub struct DamagedBackup {
    pub path: PathBuf,
    pub backup_id: String,
    /// When its folder was last changed: what the manifest said is lost.
    pub changed_at: Timestamp,
    pub problem: String,
}

/// Whether a folder is a backup of whichever database, as far as a manifest tells.
pub fn has_manifest(folder: &Path) -> bool {
    Manifest::is_in(folder)
}

/// Every backup in a folder, newest first, but for damaged ones.
pub fn list_backups(folder: &Path) -> Result<Vec<Backup>, StoreError> {
    let mut found: Vec<Backup> = look_through(folder)?.into_iter().filter_map(Result::ok).collect();
    found.sort_by(|a, b| {
        let key = |it: &Backup| (it.manifest.created_at, it.manifest.backup_id.clone());
        key(b).cmp(&key(a))
    });
    Ok(found)
}

/// The others, by their ids, newest first: folders that hold files of a backup without a manifest that says what they are.
pub fn list_damaged_backups(folder: &Path) -> Result<Vec<DamagedBackup>, StoreError> {
    let mut found: Vec<DamagedBackup> = look_through(folder)?.into_iter().filter_map(Result::err).collect();
    found.sort_by(|a, b| b.backup_id.cmp(&a.backup_id));
    Ok(found)
}

fn look_through(folder: &Path) -> Result<Vec<Result<Backup, DamagedBackup>>, StoreError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(trouble(folder, &error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| trouble(folder, &error))?;
        let name = entry.file_name();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let Some(id) = name.to_str().filter(|_| is_folder).and_then(|name| listed_id(folder, name)) else { continue };
        let path = entry.path();
        match Manifest::read(&path) {
            Ok(manifest) if manifest.backup_id == id => found.push(Ok(Backup { path, manifest, warnings: Vec::new() })),
            _ if !holds_backup(&path) => {}
            read => {
                let problem = read.err().unwrap_or_else(|| "its manifest is that of another backup".to_owned());
                found.push(Err(DamagedBackup {
                    changed_at: changed_at(&path),
                    backup_id: id.to_owned(),
                    path,
                    problem,
                }));
            }
        }
    }
    Ok(found)
}

/// The id under which a folder is listed, if it is. One that was put aside counts as long as nothing has taken its place.
fn listed_id<'a>(folder: &Path, name: &'a str) -> Option<&'a str> {
    let id = match name.strip_prefix(REPLACED_PREFIX) {
        None => name,
        Some(id) => Some(id).filter(|id| !exists(&folder.join(id)))?,
    };
    is_backup_id(id).then_some(id)
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Whether a folder holds anything that only a backup does: other folders may be beside backups.
fn holds_backup(folder: &Path) -> bool {
    let mut names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.any(|name| {
        let name = name.to_string_lossy();
        [MANIFEST_FILE, SNAPSHOT_FILE].contains(&name.as_ref()) || table_of(&name).is_some()
    })
}

fn changed_at(path: &Path) -> Timestamp {
    let changed = fs::metadata(path).and_then(|it| it.modified()).unwrap_or(UNIX_EPOCH);
    let elapsed = changed.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
}

/// The backup of that id. An id is a name within the folder, never a path.
pub fn find_backup(folder: &Path, id: &str) -> Result<Backup, StoreError> {
    let missing = || StoreError::BackupNotFound(id.chars().take(ID_CHARS_MAX).collect());
    if !is_backup_id(id) {
        return Err(missing());
    }
    let is_folder = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|it| it.is_dir());
    let path = [folder.join(id), aside(folder, id)].into_iter().find(is_folder).ok_or_else(missing)?;
    open_backup(&path)
}

/// The backup in this very folder, wherever it is.
pub fn open_backup(path: &Path) -> Result<Backup, StoreError> {
    if !path.is_dir() {
        return Err(StoreError::BackupNotFound(path.display().to_string()));
    }
    match Manifest::read(path) {
        Ok(manifest) => Ok(Backup { path: path.to_owned(), manifest, warnings: Vec::new() }),
        Err(problem) => Err(StoreError::BackupUnusable { backup: path.display().to_string(), problems: vec![problem] }),
    }
}

pub fn remove_backup(backup: &Backup) -> Result<(), StoreError> {
    // Without its manifest nobody takes it for a backup, also when the rest cannot be removed.
    let manifest = backup.path.join(MANIFEST_FILE);
    fs::remove_file(&manifest).map_err(|error| trouble(&manifest, &error))?;
    fs::remove_dir_all(&backup.path).map_err(|error| trouble(&backup.path, &error))
}

pub fn remove_damaged_backup(backup: &DamagedBackup) -> Result<(), StoreError> {
    fs::remove_dir_all(&backup.path).map_err(|error| trouble(&backup.path, &error))
}

/// Lower-case letters, digits and single hyphens: no separators, no dots, no options.
pub(crate) fn is_backup_id(id: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    id.len() <= ID_CHARS_MAX && id.starts_with(is_word) && id.chars().all(|c| is_word(c) || c == '-')
}

/// A backup in the making. Dropped before [`Self::publish`], it leaves nothing behind; a killed process leaves a folder
/// that nobody lists and that the next backup removes.
#[derive(Debug)]
pub(crate) struct Partial {
    folder: PathBuf,
    pub path: PathBuf,
    is_published: bool,
    _alone: WriteGuard,
}

impl Partial {
    /// Waits for whoever makes a backup in the same folder.
    pub fn begin(folder: &Path, name: &str) -> Result<Self, StoreError> {
        create_private_folder(folder)?;
        let lock = WriteLock::beside(&folder.join("backups"));
        let alone = lock.acquire(Duration::from_millis(WRITE_WAIT_MS))?;
        remove_abandoned(folder);
        let path = folder.join(format!("{PARTIAL_PREFIX}{name}"));
        create_private_folder(&path)?;
        Ok(Self { folder: folder.to_owned(), path, is_published: false, _alone: alone })
    }

    pub fn create(&self, name: &str) -> Result<File, StoreError> {
        create_private_file(&self.path.join(name))
    }

    /// Writes the manifest last, and makes everything durable.
    fn complete(&self, manifest: Manifest) -> Result<Manifest, StoreError> {
        let manifest = manifest.sealed();
        let mut file = self.create(MANIFEST_FILE)?;
        let at_manifest = |error: &std::io::Error| trouble(&self.path.join(MANIFEST_FILE), error);
        // At once: a serializer writes every quotation mark by itself.
        let text = serde_json::to_vec_pretty(&manifest).map_err(|error| at_manifest(&error.into()))?;
        file.write_all(&text).map_err(|error| at_manifest(&error))?;
        file.sync_all().map_err(|error| at_manifest(&error))?;
        sync_folder(&self.path)?;
        Ok(manifest)
    }

    /// Gives the folder its name.
    pub fn publish(mut self, manifest: Manifest) -> Result<Backup, StoreError> {
        let manifest = self.complete(manifest)?;
        failpoint!("backup.written");
        let path = self.folder.join(&manifest.backup_id);
        fs::rename(&self.path, &path).map_err(|error| trouble(&path, &error))?;
        if let Err(error) = sync_folder(&self.folder) {
            // A name that may not survive a power cut is not a backup: it is taken back, and goes with the rest.
            let is_taken_back = fs::rename(&path, &self.path).is_ok();
            self.is_published = !is_taken_back;
            let left = format!("the backup `{}` was written, but may not survive a power cut", manifest.backup_id);
            return Err(if is_taken_back { error } else { StoreError::Io(format!("{left}: {error}")) });
        }
        self.is_published = true;
        Ok(Backup { path, manifest, warnings: Vec::new() })
    }

    /// The same in the place of the backup that has the name already, which is gone afterwards. No system swaps two
    /// folders everywhere, so the old one steps aside first; [`settle`] ends what a crash leaves half done.
    pub fn replace(mut self, manifest: Manifest) -> Result<(), StoreError> {
        let manifest = self.complete(manifest)?;
        let (path, aside) = (self.folder.join(&manifest.backup_id), aside(&self.folder, &manifest.backup_id));
        fs::rename(&path, &aside).map_err(|error| trouble(&path, &error))?;
        sync_folder(&self.folder)?;
        failpoint!("rewrite.aside");
        if let Err(error) = fs::rename(&self.path, &path) {
            settle_replaced(&self.folder);
            return Err(trouble(&path, &error));
        }
        self.is_published = true;
        sync_folder(&self.folder)?;
        failpoint!("rewrite.replaced");
        fs::remove_dir_all(&aside).map_err(|error| trouble(&aside, &error))?;
        sync_folder(&self.folder)
    }
}

fn aside(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{REPLACED_PREFIX}{id}"))
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.is_published {
            // What cannot be removed now is removed by the next backup.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Removes what processes left behind that died while they made a backup: it holds what the database held then. `false`
/// when somebody is making one at this moment.
pub fn remove_unfinished_backups(folder: &Path) -> Result<bool, StoreError> {
    let is_unfinished = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with(PARTIAL_PREFIX) || name.starts_with(REPLACED_PREFIX) || name == SCRATCH_FOLDER
    };
    if !fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| is_unfinished(&entry)) {
        return Ok(true);
    }
    match WriteLock::beside(&folder.join("backups")).acquire(Duration::ZERO) {
        Ok(_alone) => remove_abandoned(folder),
        Err(StoreError::Busy { .. }) => return Ok(false),
        Err(error) => return Err(error),
    }
    sync_folder(folder)?;
    Ok(!fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| is_unfinished(&entry)))
}

/// The caller is alone in the folder: whatever is unfinished was left by a process that is gone.
fn remove_abandoned(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PARTIAL_PREFIX) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    settle_replaced(folder);
    remove_scratch(folder);
}

/// Ends what a process left half done that died while it rewrote a backup.
pub(super) fn settle(folder: &Path) -> Result<(), StoreError> {
    let _alone = WriteLock::beside(&folder.join("backups")).acquire(Duration::from_millis(WRITE_WAIT_MS))?;
    remove_abandoned(folder);
    sync_folder(folder)
}

/// What was put aside goes if something has taken its place, and otherwise takes it again.
fn settle_replaced(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|name| name.strip_prefix(REPLACED_PREFIX)) else { continue };
        let path = folder.join(id);
        // What fails now is tried again by whoever is next.
        let _ = if exists(&path) { fs::remove_dir_all(entry.path()) } else { fs::rename(entry.path(), path) };
    }
}

pub(super) fn scratch_folder(folder: &Path) -> PathBuf {
    folder.join(SCRATCH_FOLDER)
}

/// Unless somebody is rewriting a backup at this moment.
pub(super) fn remove_scratch(folder: &Path) {
    let scratch = scratch_folder(folder);
    if scratch.is_dir() && WriteLock::beside(&scratch.join("backups")).acquire(Duration::ZERO).is_ok() {
        let _ = fs::remove_dir_all(scratch);
    }
}

/// Backups hold what the database holds: for the owner's eyes only.
fn create_private_folder(path: &Path) -> Result<(), StoreError> {
    platform::private_folder().create(path).map_err(|error| trouble(path, &error))
}

pub(super) fn create_private_file(path: &Path) -> Result<File, StoreError> {
    platform::private_file().open(path).map_err(|error| trouble(path, &error))
}

pub(super) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    platform::sync_folder(path).map_err(|error| trouble(path, &error))
}

pub(crate) fn trouble(path: &Path, error: &std::io::Error) -> StoreError {
    use std::io::ErrorKind as Kind;
    match error.kind() {
        // Somebody chose the folder, and can choose another.
        Kind::NotFound
        | Kind::AlreadyExists
        | Kind::NotADirectory
        | Kind::PermissionDenied
        | Kind::ReadOnlyFilesystem => StoreError::BackupFile { path: path.to_owned(), detail: error.to_string() },
        _ => StoreError::of_file(path, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_names_and_never_paths() {
        assert!(is_backup_id("20270115-080000-1f2e3d4c"));
        for bad in
            ["", ".", "..", "../x", "/etc", "a/b", "a\\b", ".partial-x", "-x", "A", "a b", "a\0", &"a".repeat(65)]
        {
            assert!(!is_backup_id(bad), "{bad:?}");
        }
    }
}
