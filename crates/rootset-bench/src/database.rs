//! Where the databases of a benchmark live: a folder of its own on a real disk, removed afterwards unless kept, or where
//! the user says.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use rootset_store::Location;
use tempfile::TempDir;

use crate::client::Client;

/// File systems in memory: a durable write costs nothing there, and says nothing.
const MEMORY_FILE_SYSTEMS: &[&str] = &["tmpfs", "ramfs"];

pub struct BenchFolder {
    folder: Option<TempDir>,
    path: PathBuf,
}

impl BenchFolder {
    /// A new folder inside `parent`; without one, inside the first of the system's temporary folder, `/var/tmp` and the
    /// current folder that is on a disk.
    pub fn create(parent: Option<&Path>) -> anyhow::Result<Self> {
        let parent = match parent {
            Some(given) => given.to_owned(),
            None => {
                let choices = [std::env::temp_dir(), "/var/tmp".into(), ".".into()];
                choices.into_iter().find(|it| is_on_disk(it)).context("no folder on a disk found; name one: `--dir`")?
            }
        };
        let folder = tempfile::Builder::new()
            .prefix("rootset-bench-")
            .tempdir_in(&parent)
            .with_context(|| format!("cannot create a folder in `{}`", parent.display()))?;
        let path = folder.path().to_owned();
        let file_system = file_system(&path).unwrap_or_else(|| "unknown file system".into());
        // Standard error, so that `--json` prints nothing but JSON.
        eprintln!("folder: {} ({file_system})", path.display());
        if !is_on_disk(&path) {
            eprintln!("WARNING: this folder is in memory, not on a disk: writes are faster than on any disk");
        }
        Ok(Self { folder: Some(folder), path })
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Leaves the folder where it is.
    pub fn keep(&mut self) {
        if let Some(folder) = self.folder.take() {
            let _ = folder.keep();
        }
    }
}

/// A database that the user named: a new file, or an empty one on a server, because figures of one with other content
/// mean nothing.
pub fn named(database: &str) -> anyhow::Result<Location> {
    let location = Location::parse(database).map_err(|allowed| anyhow!("`--db` is not {allowed}"))?;
    let is_new = match &location {
        Location::File(path) => !path.exists(),
        Location::Postgres(_) => Client::open(&location)?.is_database_empty()?,
    };
    if !is_new {
        bail!("`{location}` is in use; hint: name a new one, figures of one with other content mean nothing");
    }
    Ok(location)
}

/// The size of a database whose connections are closed, and which therefore has no log any more.
pub fn file_bytes(path: &Path) -> anyhow::Result<u64> {
    Ok(fs::metadata(path).with_context(|| format!("cannot read the size of `{}`", path.display()))?.len())
}

fn is_on_disk(folder: &Path) -> bool {
    folder.is_dir() && file_system(folder).is_none_or(|it| !MEMORY_FILE_SYSTEMS.contains(&it.as_str()))
}

/// The type of the file system that holds the folder, where Linux tells.
fn file_system(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let mounts = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((fields.next()?, fields.next()?))
    });
    // The longest mount point that contains the folder; of equals the later one covers the earlier.
    let holding = mounts.filter(|(point, _)| folder.starts_with(point));
    holding.max_by_key(|(point, _)| point.len()).map(|(_, file_system)| file_system.to_owned())
}
