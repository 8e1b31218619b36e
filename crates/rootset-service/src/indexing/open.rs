//! Opening one file of a tree, and nothing else: never through a link, never outside the root, never what is not a file.
//!
//! The tree may change between the walk and the opening, and its owner may be hostile.

use std::io::{self, Read};
use std::path::Path;

use rootset_store::FileStamp;

use crate::platform::{Folder, is_not_a_plain_path, stamp_of};

/// A folder that files are opened below.
#[derive(Debug)]
pub struct Root {
    folder: Folder,
}

/// The bytes of a file and what the file system noted about it before they were read.
#[derive(Debug)]
pub struct Opened {
    pub bytes: Vec<u8>,
    pub stamp: FileStamp,
    /// It has more bytes than were asked for.
    pub is_too_large: bool,
}

impl Root {
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { folder: Folder::open(path)? })
    }

    /// `None` when it is no regular file any more.
    pub fn read(&self, path: &str, bytes_max: u64) -> io::Result<Option<Opened>> {
        let mut file = match self.folder.open_below(path) {
            Ok(file) => file,
            Err(error) if is_not_a_plain_path(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let before = file.metadata()?;
        if !before.is_file() {
            return Ok(None);
        }
        let mut stamp = stamp_of(&before);
        let mut bytes = Vec::with_capacity(usize::try_from(before.len().min(bytes_max)).unwrap_or_default() + 1);
        (&mut file).take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
        if stamp_of(&file.metadata()?) != stamp {
            // Written while it was read: a stamp that no file has makes the next run look again.
            stamp.modified_ns = i64::MIN;
        }
        let is_too_large = bytes.len() as u64 > bytes_max;
        Ok(Some(Opened { bytes, stamp, is_too_large }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_below_the_root_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir_all(root.join("inside")).unwrap();
        std::fs::write(folder.path().join("outside.txt"), "secret").unwrap();
        std::fs::write(root.join("inside/file.txt"), "text").unwrap();
        std::os::unix::fs::symlink("../outside.txt", root.join("link.txt")).unwrap();
        std::os::unix::fs::symlink("..", root.join("folder")).unwrap();
        let opened = Root::open(&root).unwrap();
        assert_eq!(opened.read("inside/file.txt", 100).unwrap().unwrap().bytes, b"text");
        assert!(opened.read("link.txt", 100).unwrap().is_none());
        assert!(opened.read("folder/outside.txt", 100).unwrap().is_none());
        assert!(opened.read("inside", 100).unwrap().is_none());
        assert!(!matches!(opened.read("../outside.txt", 100), Ok(Some(_))));
    }

    #[test]
    fn file_that_is_larger_than_allowed_is_not_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("large"), "0123456789").unwrap();
        let opened = Root::open(folder.path()).unwrap().read("large", 4).unwrap().unwrap();
        assert!(opened.is_too_large);
        assert_eq!(opened.bytes.len(), 5);
    }
}
