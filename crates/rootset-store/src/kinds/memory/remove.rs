//! Physical removal of memories: revisions, chunks, code, full text, vectors, and the graph rows that only they vouched for.

use std::collections::HashSet;

use rootset_model::content::DocHash;
use rootset_model::{MemoryId, WorkspaceKey};

use crate::compaction::search_delete;
use crate::driver::{SearchIndex, SearchRemoval, Transaction};
use crate::error::StoreError;
use crate::kinds::{Id, Ledger, delete_orphans};
use crate::memories::read_content;
use crate::purge::{Erased, NOTED_CAUSES, count_purged_chunks};
use crate::statements::code as code_sql;
use crate::statements::graph as graph_sql;
use crate::statements::memories as memory_sql;
use crate::statements::purge as purge_sql;
use crate::{Stamp, erasure, graph, jobs, vectors, workspaces};

/// Removes memories with all that is theirs, and what only they vouched for.
pub(super) fn remove(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    ids: &[Id],
    ledger: Option<&Ledger<'_>>,
    removal: SearchRemoval,
    erased: &mut Erased,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    if ids.is_empty() {
        return Ok(());
    }
    let key = [workspace.into(), ids.into()];
    let objects = graph::contributed_by(tx, workspace, ids)?;
    let chunks: Vec<i64> = tx.rows(&purge_sql::CHUNK_KEYS, &key, |row| row.get(0))?;
    let mut contents: Vec<(MemoryId, DocHash)> = Vec::new();
    let (mut bytes, mut revisions) = (0, 0);
    tx.query(&purge_sql::CONTENTS, &key, &mut |row| {
        let content = read_content(row, 2)?;
        erased.probe(&content.context);
        contents.push((row.get(0)?, content.doc_hash()));
        bytes += row.get::<i64>(6)?;
        revisions += 1;
        Ok(())
    })?;
    vectors::delete(tx, workspace, &chunks)?;
    let files: Vec<Id> = tx.rows(&purge_sql::FILES_AMONG, &key, |row| row.get(0))?;
    let mut of_files: HashSet<i64> = HashSet::new();
    if !files.is_empty() {
        let chunks = tx.rows(&purge_sql::CHUNK_KEYS, &[workspace.into(), files.as_slice().into()], |row| row.get(0))?;
        of_files.extend::<Vec<i64>>(chunks);
    }
    let (code, notes): (Vec<i64>, Vec<i64>) = chunks.iter().partition(|chunk| of_files.contains(chunk));
    search_delete(tx, workspace, SearchIndex::Memories, &notes, removal)?;
    search_delete(tx, workspace, SearchIndex::Code, &code, removal)?;
    count_purged_chunks(tx, chunks.len())?;
    jobs::cancel(tx, workspace, ids)?;
    for statement in [
        &memory_sql::DELETE_CHUNKS,
        &code_sql::DELETE_FILES,
        &code_sql::DELETE_SYMBOLS,
        &code_sql::DELETE_REFERENCES,
        &graph_sql::DELETE_CONTRIBUTIONS,
        &memory_sql::DELETE_TAGS,
        &memory_sql::DELETE_OTHER_NAMES,
        &purge_sql::DELETE_USES,
        &purge_sql::DELETE_SHOWN,
        &purge_sql::DELETE_REVISIONS,
        &purge_sql::FORGET_SUCCESSORS,
    ] {
        tx.execute(statement, &key)?;
    }
    let sources: Vec<(String, i64, i64)> =
        tx.rows(&purge_sql::SOURCES_OF, &key, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let of_attributes: i64 = sources.iter().map(|(_, _, bytes)| bytes).sum();
    let counts: Vec<_> =
        sources.iter().map(|(source, count, _)| vec![workspace.into(), source.into(), (-count).into()]).collect();
    tx.execute_many(&memory_sql::COUNT_SOURCE, &counts)?;
    let removed = tx.execute(&purge_sql::DELETE_MEMORIES, &key)? as i64;
    erased.rows.add_all(&delete_orphans(tx, workspace, &objects, removal)?);
    // Last, so that the notes find room in the pages that have just become free: the file need not grow.
    if let Some(ledger) = ledger {
        erasure::note_memories(tx, workspace, ledger, ids, stamp)?;
    }
    if let Some(ledger) = ledger.filter(|it| NOTED_CAUSES.contains(&it.cause)) {
        erasure::record(tx, workspace, ledger, &contents, stamp)?;
    }
    workspaces::touch(tx, workspace, -removed, -bytes - of_attributes, stamp.now)?;
    for (kind, count) in
        [("memories", removed), ("revisions", revisions), ("chunks", chunks.len() as i64), ("bytes", bytes)]
    {
        erased.rows.add(kind, count);
    }
    Ok(())
}
