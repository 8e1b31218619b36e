//! What the last scans left of every file: all that the next one needs to tell changed files from unchanged ones.

use std::collections::HashMap;

use rootset_model::{MemoryId, Timestamp};

use super::repos::{self, RepoRow};
use crate::error::StoreError;
use crate::statements::code as sql;
use crate::{Store, Workspace};

/// What the file system says of a file without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStamp {
    pub size: i64,
    pub modified_ns: i64,
    pub changed_ns: i64,
    pub inode: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    pub memory: MemoryId,
    pub path: String,
    pub stamp: FileStamp,
    pub content_hash: [u8; 16],
    /// The version of whatever read symbols and chunks out of it.
    pub extractor: i64,
    pub language: String,
    pub is_test: bool,
    pub is_mounted: bool,
    pub lines: i64,
    pub functions: i64,
    pub classes: i64,
    pub is_stale: bool,
}

/// What is known of a file that is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedFile {
    pub path: String,
    pub stamp: FileStamp,
    pub written_at: Timestamp,
}

impl Store {
    /// Those of the files at these paths that are served.
    pub fn served_files(
        &self,
        workspace: &Workspace,
        repo: &str,
        paths: &[String],
    ) -> Result<Vec<ServedFile>, StoreError> {
        let parameters = [workspace.key.into(), repo.into(), paths.into()];
        self.read(workspace, |tx| {
            tx.rows(&sql::STAMPS, &parameters, |row| {
                let stamp = FileStamp {
                    size: row.get(1)?,
                    modified_ns: row.get(2)?,
                    changed_ns: row.get(3)?,
                    inode: row.get(4)?,
                };
                Ok(ServedFile { path: row.get(0)?, stamp, written_at: row.get(5)? })
            })
        })
    }

    /// The repository and each of its living files, stale ones included, in the order of their paths; from one snapshot.
    ///
    /// A file whose memory is in the trash is not among them: to a scan it was never seen.
    pub fn file_states(
        &self,
        workspace: &Workspace,
        repo: &str,
    ) -> Result<Option<(RepoRow, Vec<FileState>)>, StoreError> {
        self.read(workspace, |tx| {
            let Some(row) = repos::find(tx, workspace.key, repo)? else { return Ok(None) };
            let parameters = [workspace.key.into(), repo.into()];
            // Few are stale or in the trash: asking for those spares a look at the memory of every file.
            let away: HashMap<MemoryId, bool> =
                tx.rows(&sql::AWAY, &parameters, |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect();
            let mut states = Vec::new();
            tx.query(&sql::FILES, &parameters, &mut |row| {
                let memory: MemoryId = row.get(1)?;
                let is_trashed = if away.is_empty() { None } else { away.get(&memory) };
                if is_trashed == Some(&true) {
                    return Ok(());
                }
                states.push(FileState {
                    memory,
                    path: row.get(0)?,
                    stamp: FileStamp {
                        size: row.get(2)?,
                        modified_ns: row.get(3)?,
                        changed_ns: row.get(4)?,
                        inode: row.get(5)?,
                    },
                    content_hash: row.get(6)?,
                    extractor: row.get(7)?,
                    language: row.get(8)?,
                    is_test: row.get(9)?,
                    is_mounted: row.get(10)?,
                    lines: row.get(11)?,
                    functions: row.get(12)?,
                    classes: row.get(13)?,
                    is_stale: is_trashed.is_some(),
                });
                Ok(())
            })?;
            Ok(Some((row, states)))
        })
    }
}
