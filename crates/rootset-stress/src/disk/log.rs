//! The record that the library writes (`shim/faulty_disk.c`), read back.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::StressError;

const HEAD_BYTES: usize = 32;

/// One call that succeeded, or something the process said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The number of the call among all that may fail.
    pub call: u64,
    /// Whether it needs room.
    pub grows: bool,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    Open {
        path: PathBuf,
        inode: u64,
        created: bool,
        emptied: bool,
        is_folder: bool,
    },
    Write {
        inode: u64,
        offset: u64,
        data: Arc<[u8]>,
    },
    Sync {
        inode: u64,
    },
    Truncate {
        inode: u64,
        bytes: u64,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Remove {
        path: PathBuf,
    },
    MakeFolder {
        path: PathBuf,
    },
    /// On its standard output.
    Said {
        text: Vec<u8>,
    },
}

impl Record {
    /// Whether a write can be cut short here.
    pub fn is_write(&self) -> bool {
        matches!(self.what, What::Write { .. })
    }
}

pub fn read(path: &Path) -> Result<Vec<Record>, StressError> {
    let bytes = std::fs::read(path)?;
    let mut rest = bytes.as_slice();
    let mut records = Vec::new();
    while !rest.is_empty() {
        let (record, after) = parse(rest).ok_or(StressError::NoShim("its log ends in the middle".into()))?;
        records.push(record);
        rest = after;
    }
    Ok(records)
}

fn parse(bytes: &[u8]) -> Option<(Record, &[u8])> {
    let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
    let number = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    let (kind, flags) = (head[0], head[1]);
    let path_bytes = usize::from(u16::from_le_bytes([head[2], head[3]]));
    let data_bytes = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
    let (call, inode, offset) = (number(8), number(16), number(24));
    let (path, rest) = rest.split_at_checked(path_bytes)?;
    let (data, rest) = rest.split_at_checked(data_bytes)?;
    let text = |bytes: &[u8]| PathBuf::from(String::from_utf8_lossy(bytes).into_owned());
    let has = |flag: u8| flags & flag != 0;
    let what = match kind {
        1 => What::Open { path: text(path), inode, created: has(1), emptied: has(2), is_folder: has(4) },
        2 => What::Write { inode, offset, data: data.into() },
        3 => What::Sync { inode },
        4 => What::Truncate { inode, bytes: offset },
        5 => What::Rename { from: text(path), to: text(data) },
        6 | 8 => What::Remove { path: text(path) },
        7 => What::MakeFolder { path: text(path) },
        9 => What::Said { text: data.to_vec() },
        _ => return None,
    };
    Some((Record { call, grows: has(8), what }, rest))
}
