//! Physical removal: tables, revisions, full text, vectors, and the graph rows that lost their last contributor.
//!
//! Only what is in the trash, or what a confirmed plan erases, ever comes here. What somebody removed on purpose is noted
//! in the erasure ledger on its way out.

use std::collections::{HashMap, HashSet};

use rootset_model::content::DocHash;
use rootset_model::limits::PURGE_BATCH_MEMORIES;
use rootset_model::plan::{ItemKind, PlanItem};
use rootset_model::{ErasureId, MemoryId, RunId, Timestamp, WorkspaceKey};
use serde::{Deserialize, Serialize};

use crate::compaction::{self, removal_of, search_delete};
use crate::context::trash::segments_in;
use crate::driver::{SearchIndex, SearchRemoval, Transaction, Value};
use crate::error::StoreError;
use crate::failpoints::failpoint;
use crate::graph::{self, KIND_ENTITY, KIND_RELATION};
use crate::memories::read_content;
use crate::statements::backup as backup_sql;
use crate::statements::code as code_sql;
use crate::statements::context as context_sql;
use crate::statements::graph as graph_sql;
use crate::statements::memories as memory_sql;
use crate::statements::purge as sql;
use crate::statements::runs as run_sql;
use crate::sweep::ConfirmedPlan;
use crate::workspaces;
use crate::{Stamp, Store, Workspace, audit, context, erasure, jobs, runs, vectors};

/// Causes that are noted in the ledger: somebody wanted it gone, so it must not come back by itself.
const NOTED_CAUSES: [&str; 3] = ["delete_memory", "forget", "update_memory"];
/// Byte strings looked for after an erasure; enough to notice a leak, few enough for one pass over the file.
pub(crate) const PROBES_MAX: usize = 16;
/// By how much a batch shrinks that did not fit on the disk.
const BATCH_DIVISOR: usize = 8;
const PROBE_BYTES_MIN: usize = 16;
/// Long enough that another memory with the same beginning is not taken for a leak, short enough to stand in one page.
const PROBE_BYTES_MAX: usize = 160;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PurgeTarget {
    Run(RunId),
    /// Everything trashed at or before this time.
    TrashedBefore(Timestamp),
}

/// Rows removed, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Purged {
    pub memories: i64,
    pub revisions: i64,
    pub chunks: i64,
    pub entities: i64,
    pub relations: i64,
    pub untracked: i64,
    pub segments: i64,
    pub sessions: i64,
    pub workspaces: i64,
    pub bytes: i64,
}

impl Purged {
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn add(&mut self, more: &Self) {
        self.memories += more.memories;
        self.revisions += more.revisions;
        self.chunks += more.chunks;
        self.entities += more.entities;
        self.relations += more.relations;
        self.untracked += more.untracked;
        self.segments += more.segments;
        self.sessions += more.sessions;
        self.workspaces += more.workspaces;
        self.bytes += more.bytes;
    }
}

/// What an erasure did, for whoever asked for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Receipt {
    pub erasure: ErasureId,
    pub rows: Purged,
    /// `Some(true)` when a piece of the erased text is still in the files, `None` when that could not be found out.
    pub text_remains: Option<bool>,
    pub log_is_clean: bool,
}

/// What a batch removed, with samples of its text for the byte scan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Erased {
    pub rows: Purged,
    pub probes: Vec<Vec<u8>>,
}

impl Erased {
    pub fn add(&mut self, other: Self) {
        self.rows.add(&other.rows);
        self.probes.extend(other.probes);
        self.probes.truncate(PROBES_MAX);
    }

    pub fn probe(&mut self, text: &str) {
        let bytes = text.as_bytes();
        if self.probes.len() < PROBES_MAX && bytes.len() >= PROBE_BYTES_MIN {
            self.probes.push(bytes[..bytes.len().min(PROBE_BYTES_MAX)].to_vec());
        }
    }
}

impl Store {
    /// Removes trash for good.
    pub fn purge(
        &self,
        workspace: &Workspace,
        target: PurgeTarget,
        erasure: ErasureId,
        stamp: Stamp<'_>,
    ) -> Result<Receipt, StoreError> {
        let runs = self.read(workspace, |tx| match target {
            PurgeTarget::Run(run) => Ok(vec![runs::find(tx, workspace.key, run)?.id]),
            PurgeTarget::TrashedBefore(time) => {
                let parameters = [workspace.key.into(), time.into()];
                tx.rows(&run_sql::RUNS_WITH_TRASH_BEFORE, &parameters, |row| row.get(0))
            }
        })?;
        let mut erased = Erased::default();
        for run in runs {
            self.purge_run(workspace.key, run, erasure, &mut erased, stamp)?;
        }
        let takes_workspace = match (target, workspace.trashed) {
            (PurgeTarget::Run(run), Some((trashed_run, _))) => run == trashed_run,
            (PurgeTarget::TrashedBefore(time), Some((_, trashed_at))) => trashed_at <= time,
            (_, None) => false,
        };
        if takes_workspace {
            self.purge_workspace(workspace.key, erasure, &mut erased, stamp)?;
        }
        failpoint!("purge.removed");
        self.receipt(erasure, erased)
    }

    /// Empties the log and looks for what was erased.
    pub(crate) fn receipt(&self, erasure: ErasureId, erased: Erased) -> Result<Receipt, StoreError> {
        let log_is_clean = self.empty_log()?;
        failpoint!("purge.log_emptied");
        let texts = erased.rows.memories + erased.rows.revisions + erased.rows.segments;
        let text_remains = match (erased.probes.is_empty(), texts) {
            (false, _) => self.engine.contains_bytes(&erased.probes)?,
            (true, 0) => Some(false),
            // The samples died with the process that erased, or the texts were too short to look for.
            (true, _) => None,
        };
        Ok(Receipt { erasure, rows: erased.rows, text_remains, log_is_clean })
    }

    fn purge_run(
        &self,
        workspace: WorkspaceKey,
        run: RunId,
        erasure: ErasureId,
        erased: &mut Erased,
        stamp: Stamp<'_>,
    ) -> Result<(), StoreError> {
        let mut size = PURGE_BATCH_MEMORIES;
        let large = self.read(workspace, |tx| {
            let count = tx.scalar(&run_sql::TRASHED_MEMORY_COUNT, &[workspace.into(), (&run).into()])?;
            removal_of(tx, workspace, count)
        })?;
        loop {
            // Marking rows needs room, removing them does not.
            let removal = if size < PURGE_BATCH_MEMORIES { SearchRemoval::AtOnce } else { large };
            let batch = self.write(workspace, |tx| {
                let batch = purge_batch(tx, workspace, run, erasure, size, removal, stamp)?;
                failpoint!("purge.batch");
                Ok(batch)
            });
            let Some((is_last, of_batch)) = self.unless_full(batch, &mut size)? else { continue };
            failpoint!("purge.batch_committed");
            erased.add(of_batch);
            if is_last {
                return Ok(());
            }
        }
    }

    /// Purging is how room is made, so it has to work where there is hardly any: `None` when a batch did not fit on the
    /// disk and a smaller one should be tried. The log is what grows; emptied after every batch, it needs room for the
    /// pages of one batch only.
    fn unless_full<T>(&self, batch: Result<T, StoreError>, size: &mut usize) -> Result<Option<T>, StoreError> {
        let outcome = match batch {
            Err(StoreError::DiskFull) if *size > 1 => {
                *size = (*size / BATCH_DIVISOR).max(1);
                None
            }
            batch => Some(batch?),
        };
        if *size < PURGE_BATCH_MEMORIES {
            // If this fails, the next batch says what is wrong.
            let _ = self.engine.truncate_log();
        }
        Ok(outcome)
    }

    fn purge_workspace(
        &self,
        workspace: WorkspaceKey,
        erasure: ErasureId,
        erased: &mut Erased,
        stamp: Stamp<'_>,
    ) -> Result<(), StoreError> {
        let mut size = PURGE_BATCH_MEMORIES;
        loop {
            let batch = self.write(workspace, |tx| {
                let parameters = [workspace.into(), (size as i64).into()];
                let ids: Vec<[u8; 16]> = tx.rows(&sql::ALL_MEMORIES, &parameters, |row| row.get(0))?;
                let mut of_batch = Erased::default();
                // The indexes are dropped as a whole in the end.
                let removal = if size < PURGE_BATCH_MEMORIES { SearchRemoval::AtOnce } else { SearchRemoval::Marked };
                remove_memories(tx, workspace, &ids, None, removal, &mut of_batch, stamp)?;
                let mut is_last = ids.len() < size;
                if is_last {
                    let segments: Vec<i64> = tx.rows(&context_sql::ALL_SEGMENTS, &parameters, |row| row.get(0))?;
                    is_last = segments.len() < size;
                    context::remove::remove_segments(tx, workspace, &segments, removal, None, &mut of_batch, stamp)?;
                }
                if is_last {
                    let key = [workspace.into()];
                    tx.execute(&backup_sql::DELETE_LEDGER, &key)?;
                    of_batch.rows.sessions = tx.execute(&backup_sql::DELETE_SESSIONS, &key)? as i64;
                    for statement in [
                        &sql::DELETE_SOURCES,
                        &crate::statements::retention::DELETE_ALL,
                        &backup_sql::DELETE_REPOS,
                        &sql::DELETE_UNTRACKED,
                        &sql::DELETE_RELATIONS,
                        &sql::DELETE_ENTITIES,
                        &sql::DELETE_PLAN_ITEMS,
                        &sql::DELETE_PLANS,
                        &sql::DELETE_JOBS,
                    ] {
                        tx.execute(statement, &key)?;
                    }
                    tx.search_drop(workspace)?;
                    compaction::forget(tx, workspace)?;
                    erasure::note_workspace(tx, workspace, erasure, stamp)?;
                    of_batch.rows.workspaces = tx.execute(&crate::statements::workspaces::DELETE, &key)? as i64;
                }
                let counts = serde_json::to_string(&of_batch.rows).expect("numbers always serialise");
                let entry = audit::Entry { counts: Some(counts), ..audit::Entry::of("gc_purge") };
                audit::append(tx, workspace, stamp, &entry)?;
                failpoint!("purge.workspace_batch");
                Ok((is_last, of_batch))
            });
            let Some((is_last, of_batch)) = self.unless_full(batch, &mut size)? else { continue };
            failpoint!("purge.workspace_batch_committed");
            erased.add(of_batch);
            if is_last {
                return Ok(());
            }
        }
    }
}

/// Up to `size` memories of a run, after the last of them up to `size` segments, and after those the rest of what it
/// trashed; `true` when that was all.
fn purge_batch(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    run: RunId,
    erasure: ErasureId,
    size: usize,
    removal: SearchRemoval,
    stamp: Stamp<'_>,
) -> Result<(bool, Erased), StoreError> {
    let parameters = [workspace.into(), (&run).into(), Value::Blob(&[]), (size as i64).into()];
    let ids: Vec<[u8; 16]> = tx.rows(&run_sql::TRASHED_MEMORIES_OF, &parameters, |row| row.get(0))?;
    let mut is_last = ids.len() < size;
    runs::end(tx, workspace, run, stamp.now)?;
    let cause = runs::find(tx, workspace, run)?.operation;
    let ledger = Ledger { erasure, cause: &cause, run };
    let mut erased = Erased::default();
    remove_memories(tx, workspace, &ids, Some(&ledger), removal, &mut erased, stamp)?;
    if is_last {
        let segments = context::remove::to_purge(tx, workspace, run, size)?;
        is_last = segments.len() < size;
        let removal = context::remove::removal_of_run(tx, workspace, run, segments.len())?;
        context::remove::remove_segments(tx, workspace, &segments, removal, Some(&ledger), &mut erased, stamp)?;
    }
    if is_last {
        let sessions = context::remove::sessions_of(tx, workspace, run)?;
        context::remove::remove_sessions(tx, workspace, &sessions, Some(&ledger), &mut erased, stamp)?;
        let revisions: Vec<(MemoryId, i64)> =
            tx.rows(&run_sql::TRASHED_REVISIONS_OF, &[workspace.into(), (&run).into()], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        remove_revisions(tx, workspace, &revisions, &ledger, &mut erased, stamp)?;
        remove_untracked(tx, workspace, run, &mut erased)?;
    }
    if erased.rows != Purged::default() {
        // A run with nothing in the trash stays as it is: there may still be something to undo.
        tx.execute(&run_sql::SET_PURGED, &[workspace.into(), (&run).into(), stamp.now.into()])?;
        append_audit(tx, workspace, run, &erased, stamp)?;
    }
    Ok((is_last, erased))
}

/// What the erasure ledger notes beside each thing.
pub(crate) struct Ledger<'a> {
    pub erasure: ErasureId,
    pub cause: &'a str,
    pub run: RunId,
}

/// Removes what a batch of an erasing plan has just trashed, in the same transaction.
pub(crate) fn erase_items(
    tx: &mut dyn Transaction,
    confirmed: &ConfirmedPlan,
    items: &[PlanItem],
    stamp: Stamp<'_>,
) -> Result<Erased, StoreError> {
    let workspace = confirmed.workspace();
    let ledger = Ledger { erasure: confirmed.erasure(), cause: confirmed.operation(), run: confirmed.run() };
    let mut erased = Erased::default();
    let memories: Vec<[u8; 16]> =
        items.iter().filter(|item| item.kind == ItemKind::Memory).map(|item| item.object).collect();
    let removal = removal_of(tx, workspace, confirmed.planned().memories)?;
    remove_memories(tx, workspace, &memories, Some(&ledger), removal, &mut erased, stamp)?;
    let revisions: Vec<(MemoryId, i64)> = items
        .iter()
        .filter(|item| item.kind == ItemKind::Revision)
        .map(|item| (MemoryId(item.object), item.revision))
        .collect();
    remove_revisions(tx, workspace, &revisions, &ledger, &mut erased, stamp)?;
    remove_untracked(tx, workspace, confirmed.run(), &mut erased)?;
    let segments = segments_in(items);
    let removal = context::remove::removal_of(tx, workspace, confirmed.planned().segments)?;
    context::remove::remove_segments(tx, workspace, &segments, removal, Some(&ledger), &mut erased, stamp)?;
    Ok(erased)
}

pub(crate) fn remove_memories(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    ids: &[[u8; 16]],
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
    let chunks: Vec<i64> = tx.rows(&sql::CHUNK_KEYS, &key, |row| row.get(0))?;
    let mut contents: Vec<(MemoryId, DocHash)> = Vec::new();
    let (mut bytes, mut revisions) = (0, 0);
    tx.query(&sql::CONTENTS, &key, &mut |row| {
        let content = read_content(row, 2)?;
        erased.probe(&content.context);
        contents.push((row.get(0)?, content.doc_hash()));
        bytes += row.get::<i64>(6)?;
        revisions += 1;
        Ok(())
    })?;
    vectors::delete(tx, workspace, &chunks)?;
    let files: Vec<[u8; 16]> = tx.rows(&sql::FILES_AMONG, &key, |row| row.get(0))?;
    let of_files: HashSet<i64> = match files.is_empty() {
        true => HashSet::new(),
        false => tx
            .rows(&sql::CHUNK_KEYS, &[workspace.into(), files.as_slice().into()], |row| row.get(0))?
            .into_iter()
            .collect(),
    };
    let (code, notes): (Vec<i64>, Vec<i64>) = chunks.iter().partition(|chunk| of_files.contains(chunk));
    search_delete(tx, workspace, SearchIndex::Memories, &notes, removal)?;
    search_delete(tx, workspace, SearchIndex::Code, &code, removal)?;
    count_purged_chunks(tx, chunks.len())?;
    jobs::cancel_completions(tx, workspace, ids)?;
    for statement in [
        &memory_sql::DELETE_CHUNKS,
        &code_sql::DELETE_FILES,
        &code_sql::DELETE_SYMBOLS,
        &code_sql::DELETE_REFERENCES,
        &graph_sql::DELETE_CONTRIBUTIONS,
        &memory_sql::DELETE_TAGS,
        &sql::DELETE_USES,
        &sql::DELETE_REVISIONS,
        &sql::FORGET_SUCCESSORS,
    ] {
        tx.execute(statement, &key)?;
    }
    let sources: Vec<(String, i64)> = tx.rows(&sql::SOURCES_OF, &key, |row| Ok((row.get(0)?, row.get(1)?)))?;
    let counts: Vec<_> =
        sources.iter().map(|(source, count)| vec![workspace.into(), source.into(), (-count).into()]).collect();
    tx.execute_many(&memory_sql::COUNT_SOURCE, &counts)?;
    let removed = tx.execute(&sql::DELETE_MEMORIES, &key)? as i64;
    let (entities, relations) = delete_orphans(tx, workspace, &objects, removal)?;
    // Last, so that the notes find room in the pages that have just become free: the file need not grow.
    if let Some(ledger) = ledger {
        erasure::note_memories(tx, workspace, ledger.erasure, ledger.cause, ledger.run, ids, stamp)?;
    }
    if let Some(ledger) = ledger.filter(|it| NOTED_CAUSES.contains(&it.cause)) {
        erasure::record(tx, workspace, ledger.erasure, ledger.cause, ledger.run, &contents, stamp)?;
    }
    workspaces::touch(tx, workspace, -removed, -bytes, stamp.now)?;
    erased.add(Erased {
        rows: Purged {
            memories: removed,
            revisions,
            chunks: chunks.len() as i64,
            entities,
            relations,
            bytes,
            ..Purged::default()
        },
        probes: Vec::new(),
    });
    Ok(())
}

fn remove_revisions(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    revisions: &[(MemoryId, i64)],
    ledger: &Ledger<'_>,
    erased: &mut Erased,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    if revisions.is_empty() {
        return Ok(());
    }
    let wanted: HashSet<(MemoryId, i64)> = revisions.iter().copied().collect();
    let memories: HashSet<[u8; 16]> = revisions.iter().map(|(memory, _)| memory.0).collect();
    let memories: Vec<[u8; 16]> = memories.into_iter().collect();
    let mut contents: Vec<(MemoryId, DocHash)> = Vec::new();
    let mut bytes = 0;
    tx.query(&sql::CONTENTS, &[workspace.into(), memories.as_slice().into()], &mut |row| {
        let memory: MemoryId = row.get(0)?;
        if wanted.contains(&(memory, row.get(1)?)) {
            let content = read_content(row, 2)?;
            erased.probe(&content.context);
            contents.push((memory, content.doc_hash()));
            bytes += row.get::<i64>(6)?;
        }
        Ok(())
    })?;
    let rows: Vec<_> =
        revisions.iter().map(|(memory, revision)| vec![workspace.into(), memory.into(), (*revision).into()]).collect();
    erased.rows.revisions += tx.execute_many(&memory_sql::DELETE_REVISION, &rows)? as i64;
    erased.rows.bytes += bytes;
    workspaces::touch(tx, workspace, 0, -bytes, stamp.now)?;
    if !contents.is_empty() && NOTED_CAUSES.contains(&ledger.cause) {
        erasure::record(tx, workspace, ledger.erasure, ledger.cause, ledger.run, &contents, stamp)?;
    }
    Ok(())
}

pub(crate) fn remove_untracked(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    run: RunId,
    erased: &mut Erased,
) -> Result<(), StoreError> {
    let key = [workspace.into(), (&run).into()];
    let marks = tx.rows(&graph_sql::UNTRACKED_TRASHED_BY, &key, |row| Ok((row.get(0)?, row.get(1)?)))?;
    if marks.is_empty() {
        return Ok(());
    }
    erased.rows.untracked += tx.execute(&graph_sql::DELETE_UNTRACKED_TRASHED_BY, &key)? as i64;
    let (entities, relations) = delete_orphans(tx, workspace, &marks.into_iter().collect(), SearchRemoval::AtOnce)?;
    erased.rows.entities += entities;
    erased.rows.relations += relations;
    Ok(())
}

/// What a defragmentation would win back is known by this.
pub(crate) fn count_purged_chunks(tx: &mut dyn Transaction, chunks: usize) -> Result<(), StoreError> {
    tx.execute(&sql::COUNT_PURGED_CHUNKS, &[(chunks as i64).into()]).map(drop)
}

/// Removes those of the objects (id to kind) that no memory, living or trashed, and no import vouches for.
pub(crate) fn delete_orphans(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    objects: &HashMap<[u8; 16], i64>,
    removal: SearchRemoval,
) -> Result<(i64, i64), StoreError> {
    let of_kind =
        |kind| -> Vec<[u8; 16]> { objects.iter().filter(|(_, of)| **of == kind).map(|(object, _)| *object).collect() };
    let relations = of_kind(KIND_RELATION);
    let mut removed_relations = 0;
    if !relations.is_empty() {
        let parameters = [workspace.into(), relations.as_slice().into()];
        removed_relations = tx.execute(&graph_sql::DELETE_ORPHAN_RELATIONS, &parameters)? as i64;
    }
    let entities = of_kind(KIND_ENTITY);
    if entities.is_empty() {
        return Ok((0, removed_relations));
    }
    let orphans: Vec<([u8; 16], i64)> =
        tx.rows(&graph_sql::ORPHAN_ENTITIES, &[workspace.into(), entities.as_slice().into()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let (ids, numbers): (Vec<[u8; 16]>, Vec<i64>) = orphans.into_iter().unzip();
    if !ids.is_empty() {
        search_delete(tx, workspace, SearchIndex::Entities, &numbers, removal)?;
        tx.execute(&graph_sql::DELETE_ENTITIES, &[workspace.into(), ids.as_slice().into()])?;
    }
    Ok((ids.len() as i64, removed_relations))
}

fn append_audit(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    run: RunId,
    erased: &Erased,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let counts = serde_json::to_string(&erased.rows).expect("numbers always serialise");
    let entry = audit::Entry { counts: Some(counts), run: Some(run), ..audit::Entry::of("gc_purge") };
    audit::append(tx, workspace, stamp, &entry)
}
