//! Rot in the files of a backup: it is listed as damaged, or does not verify.

use std::path::{Path, PathBuf};

use rootset_store::{list_backups, list_damaged_backups, verify_backup};

use super::Outcome;
use super::world::{World, cleared};
use crate::error::StressError;

impl World {
    /// Every file of every backup.
    pub(super) fn backup_files(&self) -> Result<Vec<PathBuf>, StressError> {
        let mut files = Vec::new();
        for backup in list_backups(&self.backups)? {
            for entry in std::fs::read_dir(&backup.path)? {
                files.push(entry?.path());
            }
        }
        files.sort();
        Ok(files)
    }

    /// Copies the backup that the file belongs to, with other bytes in that file.
    pub(super) fn look_at_backup(&self, file: &Path, bytes: &[u8]) -> Result<Outcome, StressError> {
        cleared(&self.room)?;
        let original = file.parent().unwrap_or(Path::new(""));
        let folder = self.room.join(original.file_name().unwrap_or_default());
        std::fs::create_dir(&folder)?;
        for entry in std::fs::read_dir(original)? {
            let entry = entry?;
            let copy = folder.join(entry.file_name());
            if entry.path() == file {
                std::fs::write(copy, bytes)?;
            } else {
                std::fs::hard_link(entry.path(), copy)?;
            }
        }
        let (whole, broken) = (list_backups(&self.room)?, list_damaged_backups(&self.room)?);
        Ok(match (whole.as_slice(), broken.as_slice()) {
            ([], [_]) => Outcome::Reported,
            ([backup], []) if !verify_backup(backup)?.is_empty() => Outcome::Reported,
            ([_], []) => Outcome::Failed("it verifies".to_owned()),
            _ => Outcome::Failed("it is not listed".to_owned()),
        })
    }
}
