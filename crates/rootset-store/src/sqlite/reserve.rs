//! Room kept back for the moment when there is none: a file that is given up so that a full disk can still be purged.
//!
//! Opening a database and emptying its trash need a log and a shared index, some hundred pages at first. On a disk that
//! others have filled, the reserve is where they come from.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::failpoints::disk_room_bytes;
use crate::platform;

/// Enough to open the database and to purge one memory at a time.
const RESERVE_BYTES: u64 = 1 << 20;
/// A disk with less room than this many reserves has none to keep back.
const RESERVES_FREE_MIN: u64 = 2;

#[derive(Debug)]
pub struct Reserve {
    path: PathBuf,
}

impl Reserve {
    pub fn beside(database: &Path) -> Self {
        let mut path = database.as_os_str().to_owned();
        path.push(".reserve");
        Self { path: path.into() }
    }

    /// Makes it where it is missing and there is room. A failure is nobody's trouble: the next writer tries again.
    pub fn keep(&self) {
        if std::fs::metadata(&self.path).is_ok_and(|it| it.len() == RESERVE_BYTES) {
            return;
        }
        let folder = self.path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let has_room = disk_room_bytes(folder).is_some_and(|bytes| bytes / RESERVE_BYTES >= RESERVES_FREE_MIN);
        if has_room && self.make().is_err() {
            // A part of it would take room without being one.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// File systems that compress would keep no room for zeros.
    fn make(&self) -> std::io::Result<()> {
        let _ = std::fs::remove_file(&self.path);
        let mut state: u64 = 0x9E37_79B9_7F4A_7C15;
        let bytes: Vec<u8> = (0..RESERVE_BYTES / 8)
            .flat_map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state.to_le_bytes()
            })
            .collect();
        platform::private_file().open(&self.path)?.write_all(&bytes)
    }

    /// Gives it up; `false` when there is none.
    pub fn give_up(&self) -> bool {
        std::fs::remove_file(&self.path).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserve_is_made_once_given_up_once_and_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let reserve = Reserve::beside(&folder.path().join("x.db"));
        let size = || std::fs::metadata(folder.path().join("x.db.reserve")).map(|it| it.len()).ok();
        assert!(!reserve.give_up());
        reserve.keep();
        assert_eq!(size(), Some(RESERVE_BYTES));
        assert!(reserve.give_up());
        assert_eq!((size(), reserve.give_up()), (None, false));
        // A part that a process left behind is no reserve.
        std::fs::write(folder.path().join("x.db.reserve"), "a part").unwrap();
        reserve.keep();
        assert_eq!(size(), Some(RESERVE_BYTES));
    }
}
