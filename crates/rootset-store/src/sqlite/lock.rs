//! The queue in front of `BEGIN IMMEDIATE`: a blocking `flock` on `<db>.lock`.
//!
//! SQLite's own busy handler polls, and under many writers it starves some of them; the kernel's lock queue is fair.
//! The kernel drops the lock when a process dies, so nothing has to be cleaned up after a `kill -9`.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use crate::error::StoreError;
use crate::platform;

#[derive(Debug)]
pub struct WriteLock {
    database: PathBuf,
    path: PathBuf,
    /// Whether this process has seen to it that who may use the database may use the lock, and nobody else.
    is_shared_like_database: AtomicBool,
}

/// Held while the file is open; closing it unlocks.
#[derive(Debug)]
pub struct WriteGuard {
    _file: File,
}

impl WriteLock {
    pub fn beside(database: &Path) -> Self {
        let mut path = database.as_os_str().to_owned();
        path.push(".lock");
        Self { database: database.to_owned(), path: path.into(), is_shared_like_database: AtomicBool::new(false) }
    }

    /// Waits in the queue; `Busy` after `wait`.
    pub fn acquire(&self, wait: Duration) -> Result<WriteGuard, StoreError> {
        let file = platform::lock_file().open(&self.path).map_err(|error| self.explain(&error))?;
        if !self.is_shared_like_database.swap(true, Ordering::Relaxed) {
            platform::share_like(&file, &self.database);
        }
        match file.try_lock() {
            Ok(()) => Ok(WriteGuard { _file: file }),
            Err(TryLockError::WouldBlock) => self.wait_in_queue(file, wait),
            Err(TryLockError::Error(error)) => Err(self.explain(&error)),
        }
    }

    /// `flock` has no time limit, so a thread of its own waits. When nobody listens any more, the lock it gets at last
    /// is dropped with the file.
    fn wait_in_queue(&self, file: File, wait: Duration) -> Result<WriteGuard, StoreError> {
        let (sender, receiver) = mpsc::channel();
        std::thread::Builder::new()
            .name("rootset-write-lock".into())
            .spawn(move || {
                let outcome = file.lock().map(|()| WriteGuard { _file: file });
                // A failed send means the caller gave up: the guard in it is dropped, which unlocks.
                let _ = sender.send(outcome);
            })
            .map_err(|error| self.explain(&error))?;
        match receiver.recv_timeout(wait) {
            Ok(Ok(guard)) => Ok(guard),
            Ok(Err(error)) => Err(self.explain(&error)),
            Err(_) => Err(StoreError::Busy { waited_ms: wait.as_millis() as u64 }),
        }
    }

    fn explain(&self, error: &std::io::Error) -> StoreError {
        if std::fs::symlink_metadata(&self.path).is_ok_and(|it| !it.is_file()) {
            return StoreError::NoLockFile(self.path.clone());
        }
        match error.kind() {
            std::io::ErrorKind::NotFound => {
                StoreError::FolderMissing(self.path.parent().map(Path::to_owned).unwrap_or_default())
            }
            _ => StoreError::of_file(&self.path, error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_writer_waits_and_gives_up_after_its_time() {
        let folder = tempfile::tempdir().unwrap();
        let lock = WriteLock::beside(&folder.path().join("x.db"));
        let guard = lock.acquire(Duration::from_secs(1)).unwrap();
        let outcome = lock.acquire(Duration::from_millis(20));
        assert!(matches!(outcome, Err(StoreError::Busy { waited_ms: 20 })), "{outcome:?}");
        drop(guard);
        lock.acquire(Duration::from_secs(10)).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_neither_followed_nor_waited_for() {
        use std::os::unix::fs::symlink;
        use std::os::unix::net::UnixListener;
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("x.db.lock"), folder.path().join("other"));
        let refused = |what: &str| {
            let outcome = WriteLock::beside(&folder.path().join("x.db")).acquire(Duration::from_secs(1));
            assert!(matches!(&outcome, Err(StoreError::NoLockFile(it)) if *it == path), "{what}: {outcome:?}");
            assert!(!other.exists(), "{what}");
        };
        symlink(&other, &path).unwrap();
        refused("a link to nothing");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        refused("a folder");
        std::fs::remove_dir(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        refused("a pipe that nobody reads");
        std::fs::remove_file(&path).unwrap();
        let _socket = UnixListener::bind(&path).unwrap();
        refused("a socket");
    }

    #[cfg(unix)]
    #[test]
    fn lock_is_for_those_who_may_use_the_database() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("x.db");
        let set = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        let mode_of_lock = || std::fs::metadata(folder.path().join("x.db.lock")).unwrap().permissions().mode() & 0o777;
        let acquire = || WriteLock::beside(&database).acquire(Duration::from_secs(1)).map(drop).unwrap();
        acquire();
        assert_eq!(mode_of_lock(), 0o600, "without a database");
        std::fs::write(&database, "").unwrap();
        set(&database, 0o660);
        acquire();
        assert_eq!(mode_of_lock(), 0o660, "of a database that a group shares");
        set(&database, 0o600);
        set(&folder.path().join("x.db.lock"), 0o644);
        acquire();
        assert_eq!(mode_of_lock(), 0o600, "of a version that left it to the system");
    }
}
