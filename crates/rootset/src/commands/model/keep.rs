//! The folder of models: each has a folder of its own, which gets its name only when it is whole. What is being made has a
//! hidden name, stays when it is interrupted, and is in the hands of one process.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rootset_api::ErrorCode;
use rootset_provider::MODEL_FILES;
use rootset_service::ServiceError;
use rootset_store::platform::sync_folder;

use crate::configuration::create_private;

const LOCK_FILE: &str = ".lock";

/// A model that is not whole yet.
#[derive(Debug)]
pub struct Part {
    path: PathBuf,
    /// Held until it is finished or given up.
    _lock: File,
}

impl Part {
    /// What an earlier attempt left is gone on with.
    pub fn begin(target: &Path) -> Result<Self, ServiceError> {
        let (parent, name) = (target.parent().unwrap_or(target), target.file_name().unwrap_or_default());
        create_private(parent)?;
        let path = part_of(target);
        create_private(&path)?;
        let lock_path = path.join(LOCK_FILE);
        let lock = open(&lock_path)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, _lock: lock }),
            Err(fs::TryLockError::WouldBlock) => {
                let message = format!("another process is fetching the model `{}`", name.to_string_lossy());
                Err(ServiceError::new(ErrorCode::Busy, message).with_hint("wait until it has ended"))
            }
            Err(fs::TryLockError::Error(error)) => Err(about(&lock_path, &error)),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// One of the model's files, with what is there of it.
    pub fn file(&self, name: &str) -> Result<File, ServiceError> {
        let path = self.path.join(name);
        create_private(path.parent().unwrap_or(&path))?;
        open(&path)
    }

    /// What an attempt at another model of this name left goes: a file too many could be read.
    pub fn keep_only(&self, names: &[&str]) {
        for name in MODEL_FILES.iter().filter(|name| !names.contains(name)) {
            let _ = fs::remove_file(self.path.join(name));
        }
    }

    pub fn copy_from(&self, folder: &Path) -> Result<(), ServiceError> {
        let is_there = |name: &&&str| folder.join(name).is_file();
        self.keep_only(&MODEL_FILES.iter().filter(is_there).copied().collect::<Vec<_>>());
        for name in MODEL_FILES {
            let source = folder.join(name);
            if !source.is_file() {
                continue;
            }
            let mut target = self.file(name)?;
            let mut opened = File::open(&source).map_err(|error| about(&source, &error))?;
            let copied = target.set_len(0).and_then(|()| io::copy(&mut opened, &mut target));
            copied.and_then(|_| target.sync_all()).map_err(|error| about(&self.path.join(name), &error))?;
        }
        Ok(())
    }

    /// From now on it has its name.
    pub fn finish(self, target: &Path) -> Result<(), ServiceError> {
        let finish = || {
            fs::remove_file(self.path.join(LOCK_FILE))?;
            fs::rename(&self.path, target)?;
            sync_folder(target.parent().unwrap_or(target))
        };
        finish().map_err(|error| about(target, &error))
    }
}

/// Links to a folder elsewhere, which has to stay where it is.
pub fn link(folder: &Path, target: &Path) -> Result<(), ServiceError> {
    create_private(target.parent().unwrap_or(target))?;
    #[cfg(unix)]
    let linked = std::os::unix::fs::symlink(folder, target);
    #[cfg(not(unix))]
    let linked = Err::<(), _>(io::Error::from(io::ErrorKind::Unsupported));
    linked
        .map_err(|error| about(target, &error).with_hint(format!("leave `--link` out to copy `{}`", folder.display())))
}

/// Whether anything is kept of a model, and if only what an interrupted attempt left.
pub fn is_there(target: &Path) -> bool {
    target.symlink_metadata().is_ok() || part_of(target).exists()
}

fn part_of(target: &Path) -> PathBuf {
    target.with_file_name(format!(".{}.part", target.file_name().unwrap_or_default().to_string_lossy()))
}

/// The link, or the folder with what is in it; and what an interrupted attempt left.
pub fn remove(target: &Path) -> Result<(), ServiceError> {
    let part = part_of(target);
    if part.exists() {
        fs::remove_dir_all(&part).map_err(|error| about(&part, &error))?;
    }
    if target.symlink_metadata().is_err() {
        return Ok(());
    }
    let is_link = target.symlink_metadata().is_ok_and(|it| it.is_symlink());
    let removed = if is_link { fs::remove_file(target) } else { fs::remove_dir_all(target) };
    removed.map_err(|error| about(target, &error))
}

/// Models by name; what is hidden is not whole.
pub fn folders(models: &Path) -> Result<Vec<PathBuf>, ServiceError> {
    let entries = match fs::read_dir(models) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(about(models, &error)),
    };
    let is_hidden = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let mut folders: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| !is_hidden(path) && !path.is_file())
        .collect();
    folders.sort();
    Ok(folders)
}

/// Of the files that belong to a model.
pub fn bytes(folder: &Path) -> u64 {
    MODEL_FILES.iter().filter_map(|name| fs::metadata(folder.join(name)).ok()).map(|it| it.len()).sum()
}

/// Through no link, so that nothing outside the folder is written.
fn open(path: &Path) -> Result<File, ServiceError> {
    if path.symlink_metadata().is_ok_and(|it| !it.is_file()) {
        return Err(ServiceError::invalid(format!("`{}` is not a regular file", path.display())));
    }
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    opened.map_err(|error| about(path, &error))
}

fn about(path: &Path, error: &io::Error) -> ServiceError {
    ServiceError::new(ErrorCode::Internal, format!("`{}`: {error}", path.display()))
}
