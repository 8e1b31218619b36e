//! What SQLite's errors mean: which are about room, which about rights, and which about a disk that fails.

use std::path::PathBuf;

use rootset_model::limits::WRITE_WAIT_MS;

use super::{SqliteEngine, obstacle};
use crate::error::StoreError;

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::{ErrorCode, ffi};
        let Some(code) = error.sqlite_error_code() else { return Self::Engine(error.to_string()) };
        let extended = error.sqlite_error().map_or(0, |it| it.extended_code);
        match code {
            // An error of the device, a quota or a limit on file sizes; SQLite says "full" only when the device itself is.
            _ if [ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_SHMSIZE].contains(&extended) => {
                Self::Unwritten(error.to_string())
            }
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy { waited_ms: WRITE_WAIT_MS },
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => Self::ReadOnly,
            ErrorCode::CannotOpen => Self::Unopened(error.to_string()),
            ErrorCode::SystemIoFailure => Self::Io(error.to_string()),
            ErrorCode::DiskFull => Self::DiskFull,
            ErrorCode::NotADatabase => {
                Self::NotADatabase { path: PathBuf::new(), detail: "the file has another format" }
            }
            ErrorCode::ConstraintViolation => Self::Constraint(error.to_string()),
            ErrorCode::DatabaseCorrupt => Self::Damaged(error.to_string()),
            _ => Self::Engine(error.to_string()),
        }
    }
}

impl SqliteEngine {
    /// The same error with what only the engine knows: which file it is about, and why it cannot be written.
    pub(super) fn explain(&self, error: StoreError) -> StoreError {
        match error {
            StoreError::NotADatabase { detail, .. } => StoreError::NotADatabase { path: self.path.clone(), detail },
            StoreError::CommitInDoubt { cause } => StoreError::CommitInDoubt { cause: Box::new(self.explain(*cause)) },
            StoreError::ReadOnly | StoreError::Unopened(_) | StoreError::Unwritten(_) => {
                let is_refused = self.own_file.as_ref().is_some_and(|file| !file.may_be_written());
                let obstacle = || obstacle::find(&self.path, &self.log_path());
                match (is_refused.then_some(StoreError::ReadOnly).or_else(obstacle), error) {
                    (Some(obstacle), _) => obstacle,
                    (None, StoreError::ReadOnly) => StoreError::Io("it could not be opened for writing".to_owned()),
                    (None, error) => StoreError::Io(error.to_string()),
                }
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    fn error(code: i32) -> StoreError {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None).into()
    }

    #[test]
    fn only_a_full_disk_is_called_full_and_only_rights_are_called_rights() {
        let folder = tempfile::tempdir().unwrap();
        let engine = SqliteEngine::open(&folder.path().join("x.db"), &|_| Ok(())).unwrap();
        for code in [
            ffi::SQLITE_IOERR_READ,
            ffi::SQLITE_IOERR_WRITE,
            ffi::SQLITE_IOERR_FSYNC,
            ffi::SQLITE_IOERR_SHMSIZE,
            ffi::SQLITE_CANTOPEN,
            ffi::SQLITE_READONLY,
        ] {
            // Nothing is wrong with this folder any more, so it was the device.
            let explained = engine.explain(error(code));
            assert!(matches!(explained, StoreError::Io(_)), "{code}: {explained:?}");
        }
        assert!(matches!(engine.explain(error(ffi::SQLITE_FULL)), StoreError::DiskFull));
    }

    #[test]
    fn folder_that_is_gone_is_neither_full_nor_forbidden() {
        let folder = tempfile::tempdir().unwrap();
        let engine = SqliteEngine::open(&folder.path().join("x.db"), &|_| Ok(())).unwrap();
        drop(folder);
        let explained = engine.explain(error(ffi::SQLITE_CANTOPEN));
        assert!(matches!(explained, StoreError::Io(_)), "{explained:?}");
    }
}
