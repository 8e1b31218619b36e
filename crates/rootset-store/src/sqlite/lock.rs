//! The queue in front of `BEGIN IMMEDIATE`: a blocking `flock` on `<db>.lock`.
//!
//! SQLite's own busy handler polls, and under many writers it starves some of them; the kernel's lock queue is fair.
//! The kernel drops the lock when a process dies, so nothing has to be cleaned up after a `kill -9`.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use crate::error::StoreError;

#[derive(Debug)]
pub struct WriteLock {
    path: PathBuf,
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
        Self { path: path.into() }
    }

    /// Waits in the queue; `Busy` after `wait`.
    pub fn acquire(&self, wait: Duration) -> Result<WriteGuard, StoreError> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&self.path)
            .map_err(|error| self.explain(&error))?;
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
}
