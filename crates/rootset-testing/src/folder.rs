//! Folders for tests. In memory where the machine has room for them there: every write of a SQLite database is synced to
//! its disk, which costs more than all else that a short test does, and no power cut will ever meet a test's database.

use std::path::Path;

use tempfile::TempDir;

const MEMORY: &str = "/dev/shm";
/// All tests that run at the same time, with the largest of them; containers often have 64 MiB.
const ROOM_BYTES_MIN: u64 = 2 << 30;

/// Gone with its value.
pub fn temporary_folder() -> TempDir {
    let has_room = fs4::available_space(Path::new(MEMORY)).is_ok_and(|bytes| bytes >= ROOM_BYTES_MIN);
    let folder = if has_room { tempfile::tempdir_in(MEMORY) } else { tempfile::tempdir() };
    folder.expect("a temporary folder")
}
