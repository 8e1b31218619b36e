//! Why a file cannot be opened or written. SQLite knows only that it cannot, so this finds out by trying.

use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::platform;

/// More than SQLite needs at once for its shared index.
const ROOM_BYTES: usize = 64 * 1024;

/// What stands in the way of writing beside the database; `None` when nothing does any more.
pub fn find(database: &Path, log: &Path) -> Option<StoreError> {
    let log_refused = std::fs::OpenOptions::new().write(true).open(log).err();
    if let Some(error) = log_refused.filter(|error| error.kind() != std::io::ErrorKind::NotFound) {
        return Some(StoreError::of_file(log, &error));
    }
    let mut name = database.as_os_str().to_owned();
    name.push(format!(".probe-{}", std::process::id()));
    let probe = PathBuf::from(name);
    let largest = [database, log].iter().filter_map(|path| std::fs::metadata(path).ok()).map(|it| it.len()).max();
    let outcome = try_to_write(&probe, largest.unwrap_or(0));
    // It was not there before, and whatever is wrong with the disk is found already.
    let _ = std::fs::remove_file(&probe);
    outcome.err().map(|error| StoreError::of_file(&probe, &error))
}

/// Room for some pages, and for a file that is longer than the ones there are: limits on sizes and quotas speak then.
fn try_to_write(probe: &Path, beyond: u64) -> std::io::Result<()> {
    let mut file = platform::private_file().open(probe)?;
    file.write_all(&vec![1; ROOM_BYTES])?;
    file.seek(SeekFrom::Start(beyond.max(ROOM_BYTES as u64)))?;
    file.write_all(&[1])
}
