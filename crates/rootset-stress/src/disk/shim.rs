//! Building the library that stands between a process and its disk, and starting processes with it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::StressError;

const SOURCE: &str = include_str!("../../shim/faulty_disk.c");

/// The compiled library.
#[derive(Clone, Debug)]
pub struct Shim {
    library: PathBuf,
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskError {
    /// The device has an error.
    Io,
    /// There is no room; writes over what is there succeed.
    Full,
    /// A write that writes half; on a disk that stays so, the next one finds no room.
    Short,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    Once,
    Onwards,
}

/// One fault: the call of that number, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskFault {
    pub call: u64,
    pub error: DiskError,
    pub times: Times,
}

impl fmt::Display for DiskFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = match self.error {
            DiskError::Io => "EIO",
            DiskError::Full => "ENOSPC",
            DiskError::Short => "SHORT",
        };
        let times = match self.times {
            Times::Once => "once",
            Times::Onwards => "onwards",
        };
        write!(f, "{}:{error}:{times}", self.call)
    }
}

/// What the library does for one process.
#[derive(Clone, Debug, Default)]
pub struct Watch<'a> {
    /// The folder whose files it sees.
    pub root: PathBuf,
    pub log: Option<&'a Path>,
    pub fault: Option<DiskFault>,
    /// By how many bytes files may grow altogether.
    pub room_bytes: Option<u64>,
}

impl Shim {
    /// Compiles it. Without a compiler there is no proof, so that is an error and nothing is skipped.
    pub fn build(folder: &Path) -> Result<Self, StressError> {
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        let (source, library) = (folder.join("faulty_disk.c"), folder.join("faulty_disk.so"));
        std::fs::write(&source, SOURCE)?;
        let mut command = Command::new(&compiler);
        command.args(["-shared", "-fPIC", "-O2", "-o"]).arg(&library).arg(&source).args(["-ldl", "-lpthread"]);
        let built = command.output().map_err(|error| StressError::NoShim(format!("{compiler:?}: {error}")))?;
        if !built.status.success() {
            return Err(StressError::NoShim(String::from_utf8_lossy(&built.stderr).into_owned()));
        }
        Ok(Self { library })
    }

    pub fn put_below(&self, command: &mut Command, watch: &Watch<'_>) {
        command.env("LD_PRELOAD", &self.library).env("ROOTSET_DISK_ROOT", &watch.root);
        if let Some(log) = watch.log {
            command.env("ROOTSET_DISK_LOG", log);
        }
        if let Some(room) = watch.room_bytes {
            command.env("ROOTSET_DISK_ROOM", room.to_string());
        }
        if let Some(fault) = watch.fault {
            command.env("ROOTSET_DISK_FAIL", fault.to_string());
        }
    }
}
