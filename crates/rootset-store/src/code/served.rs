//! Stale files are in no full text, so that they do not count in its statistics; files that come back are entered again.
//!
//! Their text, chunks and symbols were kept, so that nothing is parsed: only the terms are made anew, by the caller.

use std::collections::HashMap;

use rootset_model::{MemoryId, WorkspaceKey};

use crate::compaction::{removal_of, search_delete};
use crate::driver::{SearchIndex, SearchRemoval, SearchRow, Transaction};
use crate::error::StoreError;
use crate::statements::{code as sql, purge as purge_sql};

/// Files whose texts are in memory at a time.
const BATCH_FILES: usize = 64;

/// A chunk as its terms depend on it.
#[derive(Clone, Copy, Debug)]
pub struct ChunkOrigin<'a> {
    pub path: &'a str,
    pub text: &'a str,
    /// Name and qualified name.
    pub symbol: Option<(&'a str, &'a str)>,
}

/// Terms of head and body of a chunk, as the scan that wrote it gave them.
pub type TermsOfChunk<'a> = &'a dyn Fn(&ChunkOrigin<'_>) -> (String, String);

pub(super) fn leave(tx: &mut dyn Transaction, workspace: WorkspaceKey, files: &[[u8; 16]]) -> Result<(), StoreError> {
    let chunks: Vec<i64> = tx.rows(&purge_sql::CHUNK_KEYS, &[workspace.into(), files.into()], |row| row.get(0))?;
    let removal = removal_of(tx, workspace, files.len() as i64)?;
    search_delete(tx, workspace, SearchIndex::Code, &chunks, removal)
}

pub(super) fn enter(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    repo: &str,
    files: &[[u8; 16]],
    terms_of: TermsOfChunk<'_>,
) -> Result<(), StoreError> {
    for files in files.chunks(BATCH_FILES) {
        let mut texts: HashMap<MemoryId, String> = HashMap::new();
        tx.query(&sql::REPLACED, &[workspace.into(), repo.into(), files.into()], &mut |row| {
            texts.insert(row.get(0)?, row.get(1)?);
            Ok(())
        })?;
        let mut rows: Vec<SearchRow> = Vec::new();
        tx.query(&sql::CHUNK_ORIGINS, &[workspace.into(), files.into()], &mut |row| {
            let Some(text) = texts.get(&row.get(0)?) else { return Ok(()) };
            let (start, length): (i64, i64) = (row.get(2)?, row.get(3)?);
            let (path, names): (String, (Option<String>, Option<String>)) = (row.get(4)?, (row.get(5)?, row.get(6)?));
            let unreadable = StoreError::UnreadableValue("the place of a chunk");
            let (start, end) = (start as usize, (start + length) as usize);
            let origin = ChunkOrigin {
                path: &path,
                text: text.get(start..end).ok_or(unreadable)?,
                symbol: names.0.as_deref().zip(names.1.as_deref()),
            };
            let (head, body) = terms_of(&origin);
            rows.push(SearchRow { key: row.get(1)?, head, body });
            Ok(())
        })?;
        // Databases of earlier versions kept the rows of stale files.
        let keys: Vec<i64> = rows.iter().map(|row| row.key).collect();
        tx.search_delete(workspace, SearchIndex::Code, &keys, SearchRemoval::AtOnce)?;
        tx.search_insert(workspace, SearchIndex::Code, rows)?;
    }
    Ok(())
}
