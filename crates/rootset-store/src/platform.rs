//! What systems do in different ways about files: who may read a new one, and when a folder is on the disk. The rest of the
//! crate is the same everywhere.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// For a new file that its owner alone may read.
pub fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// For a lock file, made where it is missing for its owner alone. A link in its place is not followed: whoever may write to the
/// folder could otherwise have any file of ours opened or made. A pipe in its place is not waited for.
pub fn lock_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    options
}

/// Gives a file to those who may use another one, and to nobody else. Who does not own it changes nothing.
pub fn share_like(file: &File, other: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(other).map_or(0o600, |it| it.permissions().mode() & 0o666);
        if file.metadata().is_ok_and(|it| it.permissions().mode() & 0o777 != mode) {
            let _ = file.set_permissions(std::fs::Permissions::from_mode(mode));
        }
    }
    #[cfg(not(unix))]
    {
        let _ = (file, other);
    }
}

/// For new folders that their owner alone may enter.
pub fn private_folder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// What tells a file from another that took its name, where the system says.
pub fn identity(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(path).ok().map(|it| (it.dev(), it.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// A rename is durable once its folder is; elsewhere than on Unix, folders cannot be synced.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) { std::fs::File::open(path)?.sync_all() } else { Ok(()) }
}
