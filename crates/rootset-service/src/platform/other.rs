//! Systems that are not Unix, by what the standard library knows.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant, UNIX_EPOCH};

use rootset_store::FileStamp;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Since the first call.
pub fn elapsed_ms() -> i64 {
    i64::try_from(START.elapsed().as_millis()).unwrap_or(i64::MAX)
}

/// Nothing tells the time of one thread: a busy machine gives up on a file sooner.
pub fn processor_time() -> Duration {
    START.elapsed()
}

/// Nothing tells file systems apart.
pub fn device_of(_: &Metadata) -> u64 {
    0
}

/// What the file system notes about a file, to see whether it changed.
pub fn stamp_of(metadata: &Metadata) -> FileStamp {
    let since_1970 = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified_ns = since_1970.map_or(0, |time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX));
    FileStamp {
        size: i64::try_from(metadata.len()).unwrap_or(i64::MAX),
        modified_ns,
        changed_ns: modified_ns,
        inode: 0,
    }
}

/// A folder that files are opened below.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    pub fn open(path: &Path) -> io::Result<Self> {
        path.canonicalize().map(Self)
    }

    /// Opens a path that stays below the folder, no part of it being a link.
    pub fn open_below(&self, path: &str) -> io::Result<File> {
        let mut place = self.0.clone();
        for part in path.split('/') {
            if part.is_empty() || part == "." || part == ".." || part.contains(['\\', ':']) {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            place.push(part);
            if std::fs::symlink_metadata(&place)?.is_symlink() {
                return Err(IS_A_LINK.into());
            }
        }
        File::open(place)
    }
}

/// No call of the standard library that is used here fails with it.
const IS_A_LINK: io::ErrorKind = io::ErrorKind::Unsupported;

/// A link stands where a file stood.
pub fn is_not_a_plain_path(error: &io::Error) -> bool {
    error.kind() == IS_A_LINK
}
