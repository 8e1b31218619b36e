//! Rebuilding derived data from what it was derived from. Base rows are never invented and never removed here.

use std::collections::HashMap;

use rootset_model::{Content, Extraction, MemoryId, Timestamp, WorkspaceKey};

use crate::driver::{SearchIndex, SearchRemoval, SearchRow, Tenant, Transaction};
use crate::error::StoreError;
use crate::memories::{self, read_content};
use crate::statements::doctor as sql;
use crate::statements::memories as memory_sql;
use crate::update::{Ingestion, UpdateOutcome, switch_revision};
use crate::{ContentPart, PreparedContent, Store, jobs, workspaces};

/// A memory whose chunks or graph are incomplete, with all that is needed to derive them anew.
#[derive(Clone, Debug)]
pub struct BrokenMemory {
    pub workspace: WorkspaceKey,
    pub memory: MemoryId,
    pub content: Content,
    /// What a remote extractor answered then.
    pub extraction: Option<Extraction>,
}

/// Text whose search row is missing.
#[derive(Clone, Debug)]
pub struct UnindexedText {
    pub workspace: WorkspaceKey,
    pub index: SearchIndex,
    pub key: i64,
    pub head: String,
    pub body: String,
    /// Of a chunk of code.
    pub code: Option<CodeOrigin>,
}

/// Where a chunk of code comes from: its terms may depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeOrigin {
    pub path: String,
    pub language: String,
    /// The qualified name of its symbol.
    pub symbol: Option<String>,
}

impl Store {
    /// Memories, in the trash or not, whose derived rows are incomplete.
    pub fn broken_memories(&self) -> Result<Vec<BrokenMemory>, StoreError> {
        self.read(Tenant::Database, |tx| {
            let mut broken = Vec::new();
            for workspace in workspaces::keys(tx)? {
                tx.enter(workspace.into())?;
                let ids: Vec<MemoryId> = tx.rows(&sql::BROKEN_MEMORIES, &[workspace.into()], |row| row.get(0))?;
                for memory in ids {
                    let Some(row) = memories::by_id(tx, workspace, memory)? else { continue };
                    let (content, _) = memories::content_of(tx, workspace, memory, row.revision)?;
                    let parameters = [workspace.into(), (&memory).into(), row.revision.into()];
                    let stored: Option<String> = tx.scalar(&memory_sql::EXTRACTION, &parameters)?;
                    let unreadable = |_| StoreError::UnreadableValue("an extraction");
                    let extraction = stored.map(|json| serde_json::from_str(&json).map_err(unreadable)).transpose()?;
                    broken.push(BrokenMemory { workspace, memory, content, extraction });
                }
            }
            Ok(broken)
        })
    }

    /// Replaces a memory's derived rows by what was derived anew from its current revision.
    pub fn rederive(
        &self,
        broken: &BrokenMemory,
        prepared: &PreparedContent,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let derived = prepared.derived.as_ref().expect("a repair brings what was derived");
        self.write(broken.workspace, |tx| {
            let (workspace, memory) = (broken.workspace, broken.memory);
            let Some(row) = memories::by_id(tx, workspace, memory)? else { return Ok(()) };
            let mut outcome = UpdateOutcome::default();
            let (revision, ingestion) = (row.revision, Ingestion::Before);
            switch_revision(tx, workspace, memory, revision, prepared, derived, ingestion, now, &mut outcome)
        })
    }

    /// Counters counted anew, jobs of pending memories that have none, vectors of chunks that do not exist; files whose
    /// rows are incomplete are left to the next scan, which reads them again.
    pub fn repair_rows(&self, now: Timestamp) -> Result<(), StoreError> {
        self.compact_searches()?;
        self.write(Tenant::Database, |tx| {
            for workspace in workspaces::keys(tx)? {
                tx.enter(workspace.into())?;
                let key = [workspace.into()];
                tx.execute(&sql::RECOUNT_WORKSPACE, &key)?;
                tx.execute(&crate::statements::purge::DELETE_SOURCES, &key)?;
                tx.execute(&sql::RECOUNT_SOURCES, &key)?;
                tx.execute(&sql::DELETE_STRAY_VECTORS, &key)?;
                tx.execute(&sql::DELETE_STRAY_ORIGINALS, &key)?;
                tx.execute(&sql::DELETE_STRAY_FILES, &key)?;
                tx.execute(&sql::RESTORE_FILES, &[workspace.into(), (&[0u8; 16]).into()])?;
                tx.execute(&sql::DELETE_STRAY_SYMBOLS, &key)?;
                tx.execute(&sql::DELETE_STRAY_REFERENCES, &key)?;
                tx.execute(&sql::FORGET_EXTRACTION, &key)?;
                tx.execute(&sql::DELETE_STRAY_TEXTS, &key)?;
                tx.execute(&sql::DELETE_STRAY_LINES, &key)?;
                let jobless: Vec<MemoryId> = tx.rows(&sql::PENDING_WITHOUT_A_JOB, &key, |row| row.get(0))?;
                jobs::enqueue_completions(tx, workspace, &jobless, now)?;
            }
            Ok(())
        })
    }

    /// Texts that full text does not know.
    pub fn unindexed_texts(&self) -> Result<Vec<UnindexedText>, StoreError> {
        self.read(Tenant::Database, |tx| {
            let mut texts = Vec::new();
            for workspace in workspaces::keys(tx)? {
                tx.enter(workspace.into())?;
                let (missing, _) = search_difference(tx, workspace, SearchIndex::Memories)?;
                for (key, head, body) in chunk_texts(tx, workspace, &missing)? {
                    texts.push(UnindexedText { workspace, index: SearchIndex::Memories, key, head, body, code: None });
                }
                let (missing, _) = search_difference(tx, workspace, SearchIndex::Code)?;
                let mut origins = chunk_origins(tx, workspace, &missing)?;
                for (key, head, body) in chunk_texts(tx, workspace, &missing)? {
                    let code = origins.remove(&key);
                    texts.push(UnindexedText { workspace, index: SearchIndex::Code, key, head, body, code });
                }
                let (missing, _) = search_difference(tx, workspace, SearchIndex::Stash)?;
                tx.query(&sql::SEGMENT_TEXTS, &[workspace.into(), missing.as_slice().into()], &mut |row| {
                    let index = SearchIndex::Stash;
                    let (key, body) = (row.get(0)?, row.get(1)?);
                    texts.push(UnindexedText { workspace, index, key, head: String::new(), body, code: None });
                    Ok(())
                })?;
                let (missing, _) = search_difference(tx, workspace, SearchIndex::Entities)?;
                tx.query(&sql::ENTITY_NAMES, &[workspace.into(), missing.as_slice().into()], &mut |row| {
                    let index = SearchIndex::Entities;
                    let (key, body) = (row.get(0)?, row.get(1)?);
                    texts.push(UnindexedText { workspace, index, key, head: String::new(), body, code: None });
                    Ok(())
                })?;
            }
            Ok(texts)
        })
    }

    /// Writes missing search rows (their text already turned into terms) and drops those that belong to nothing.
    pub fn repair_search(&self, terms: &[UnindexedText]) -> Result<(), StoreError> {
        self.write(Tenant::Database, |tx| {
            for workspace in workspaces::keys(tx)? {
                tx.enter(workspace.into())?;
                for index in SearchIndex::ALL {
                    let (_, superfluous) = search_difference(tx, workspace, index)?;
                    tx.search_delete(workspace, index, &superfluous, SearchRemoval::AtOnce)?;
                    let rows: Vec<SearchRow> = terms
                        .iter()
                        .filter(|it| it.workspace == workspace && it.index == index)
                        .map(|it| SearchRow { key: it.key, head: it.head.clone(), body: it.body.clone() })
                        .collect();
                    tx.search_insert(workspace, index, rows)?;
                }
            }
            Ok(())
        })
    }
}

/// Number, topic and text of chunks.
pub(crate) fn chunk_texts(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    keys: &[i64],
) -> Result<Vec<(i64, String, String)>, StoreError> {
    tx.rows(&sql::CHUNK_TEXTS, &[workspace.into(), keys.into()], |row| {
        let part = ContentPart::from_stored(row.get(1)?).ok_or(StoreError::UnreadableValue("the part of a chunk"))?;
        let (start, length) = (row.get::<i64>(2)? as usize, row.get::<i64>(3)? as usize);
        let content = read_content(row, 4)?;
        let text = part.text_of(&content).get(start..start + length).unwrap_or_default().to_owned();
        Ok((row.get(0)?, content.topic, text))
    })
}

fn chunk_origins(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    keys: &[i64],
) -> Result<HashMap<i64, CodeOrigin>, StoreError> {
    let rows = tx.rows(&sql::CHUNK_ORIGINS, &[workspace.into(), keys.into()], |row| {
        Ok((row.get(0)?, CodeOrigin { path: row.get(1)?, language: row.get(2)?, symbol: row.get(3)? }))
    })?;
    Ok(rows.into_iter().collect())
}

/// Keys that the index lacks, and keys that it has too many.
pub(crate) fn search_difference(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    index: SearchIndex,
) -> Result<(Vec<i64>, Vec<i64>), StoreError> {
    let statement = match index {
        SearchIndex::Memories => &sql::CHUNK_KEYS,
        SearchIndex::Entities => &sql::ENTITY_NUMBERS,
        SearchIndex::Code => &sql::CODE_CHUNK_KEYS,
        SearchIndex::Stash => &sql::INDEXED_SEGMENTS,
    };
    let wanted: Vec<i64> = tx.rows(statement, &[workspace.into()], |row| row.get(0))?;
    let indexed = tx.search_keys(workspace, index)?;
    let tolerated: Vec<i64> = match index {
        SearchIndex::Code => tx.rows(&sql::STALE_CODE_CHUNK_KEYS, &[workspace.into()], |row| row.get(0))?,
        _ => Vec::new(),
    };
    let without =
        |a: &[i64], b: &[i64]| -> Vec<i64> { a.iter().filter(|key| b.binary_search(key).is_err()).copied().collect() };
    let superfluous = without(&without(&indexed, &wanted), &tolerated);
    Ok((without(&wanted, &indexed), superfluous))
}
