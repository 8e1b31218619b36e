//! Linux, macOS and their relatives.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use nix::time::{ClockId, clock_gettime};
use rootset_store::FileStamp;

/// The standard library's `Instant` stands still while the machine sleeps; after a night of that, every wall clock would
/// look as if it had jumped.
pub fn elapsed_ms() -> i64 {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const SINCE_BOOT: ClockId = ClockId::CLOCK_BOOTTIME;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const SINCE_BOOT: ClockId = ClockId::CLOCK_MONOTONIC;
    let time = clock_gettime(SINCE_BOOT).expect("every supported system has this clock");
    time.tv_sec() * 1_000 + time.tv_nsec() / 1_000_000
}

/// Of this thread: a machine that is busy with other things must not change what is read out of a file.
pub fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// The file system that a file is on.
pub fn device_of(metadata: &Metadata) -> u64 {
    metadata.dev()
}

/// What the file system notes about a file, to see whether it changed.
pub fn stamp_of(metadata: &Metadata) -> FileStamp {
    let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    FileStamp {
        size: i64::try_from(metadata.size()).unwrap_or(i64::MAX),
        modified_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
        changed_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        // As a number to compare, nothing more.
        inode: metadata.ino() as i64,
    }
}

/// Not waiting for the other end of a pipe that took a file's place.
const FLAGS: OFlag =
    OFlag::O_RDONLY.union(OFlag::O_NOFOLLOW).union(OFlag::O_NONBLOCK).union(OFlag::O_CLOEXEC).union(OFlag::O_NOCTTY);

/// A folder that files are opened below, also when somebody moves it meanwhile.
#[derive(Debug)]
pub struct Folder(File);

impl Folder {
    pub fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self)
    }

    /// Opens a path that stays below the folder, no part of it being a link.
    #[cfg(target_os = "linux")]
    pub fn open_below(&self, path: &str) -> io::Result<File> {
        use nix::fcntl::{OpenHow, ResolveFlag, openat2};
        let resolve =
            ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS | ResolveFlag::RESOLVE_NO_MAGICLINKS;
        match openat2(&self.0, path, OpenHow::new().flags(FLAGS).resolve(resolve)) {
            Ok(file) => Ok(File::from(file)),
            // An old kernel, or a sandbox that does not know the call.
            Err(Errno::ENOSYS | Errno::EPERM) => self.open_step_by_step(path),
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub fn open_below(&self, path: &str) -> io::Result<File> {
        self.open_step_by_step(path)
    }

    /// Folder by folder, no part of the path being a link.
    fn open_step_by_step(&self, path: &str) -> io::Result<File> {
        let mut folder = self.0.try_clone()?;
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            if part.is_empty() || part == "." || part == ".." {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            let flags = if parts.peek().is_some() { FLAGS.union(OFlag::O_DIRECTORY) } else { FLAGS };
            folder = File::from(nix::fcntl::openat(&folder, part, flags, Mode::empty())?);
        }
        Ok(folder)
    }
}

/// A link or a device stands where a file stood.
pub fn is_not_a_plain_path(error: &io::Error) -> bool {
    [Errno::ELOOP, Errno::ENXIO, Errno::EXDEV].iter().any(|it| error.raw_os_error() == Some(*it as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_by_step_no_way_leads_out_of_the_folder() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        std::fs::create_dir_all(root.join("inside")).unwrap();
        std::fs::write(place.path().join("outside.txt"), "secret").unwrap();
        std::fs::write(root.join("inside/file.txt"), "text").unwrap();
        std::os::unix::fs::symlink("..", root.join("folder")).unwrap();
        let opened = Folder::open(&root).unwrap();
        assert!(opened.open_step_by_step("folder/outside.txt").is_err());
        assert!(opened.open_step_by_step("../outside.txt").is_err());
        assert!(opened.open_step_by_step("inside/file.txt").is_ok());
    }
}
