//! What the erasure ledger says about memories and revisions that a backup brought back: those that were erased since go
//! again, those that somebody had removed go into the trash.

use std::collections::{HashMap, HashSet};

use rootset_model::limits::SWEEP_BATCH_MEMORIES;
use rootset_model::{Counts, MemoryId, WorkspaceKey};

use super::remove;
use crate::driver::{SearchRemoval, Transaction};
use crate::error::StoreError;
use crate::kinds::{Id, Replaying, TrashingAgain};
use crate::memories::read_content;
use crate::purge::Erased;
use crate::statements::{backup as backup_sql, memories as memory_sql, purge as purge_sql};
use crate::{erased_names, erasure};

/// Answers how many memories and revisions that were.
pub(super) fn replay(tx: &mut dyn Transaction, replaying: &Replaying<'_>) -> Result<i64, StoreError> {
    let workspace = replaying.workspace;
    let noted = Noted::of(tx, workspace, replaying.erased)?;
    let rows: Vec<_> =
        noted.revisions.iter().map(|it| vec![workspace.into(), (&it.memory).into(), it.revision.into()]).collect();
    let revisions = tx.execute_many(&memory_sql::DELETE_REVISION, &rows)? as i64;
    let mut topics: HashMap<MemoryId, Vec<String>> = HashMap::new();
    for it in noted.revisions {
        topics.entry(it.memory).or_default().push(it.topic);
    }
    erased_names::replace(tx, workspace, &topics)?;
    let mut erased = Erased::default();
    for ids in noted.whole.chunks(SWEEP_BATCH_MEMORIES) {
        remove(tx, workspace, ids, None, SearchRemoval::AtOnce, &mut erased, replaying.stamp)?;
    }
    Ok(erased.rows.get("memories") + revisions)
}

pub(super) fn trash_again(tx: &mut dyn Transaction, again: &TrashingAgain<'_>) -> Result<Counts, StoreError> {
    let noted = Noted::of(tx, again.workspace, again.removed)?;
    let rows: Vec<_> = noted
        .revisions
        .iter()
        .map(|it| {
            let key = [again.workspace.into(), (&it.memory).into(), it.revision.into()];
            key.into_iter().chain([(&again.run).into(), again.stamp.now.into()]).collect()
        })
        .collect();
    let mut taken = Counts::of("revisions", tx.execute_many(&backup_sql::TRASH_REVISION_AGAIN, &rows)? as i64);
    for ids in noted.whole.chunks(SWEEP_BATCH_MEMORIES) {
        taken.add("memories", again.flip(tx, &backup_sql::TRASH_MEMORIES_AGAIN, ids.into())?);
    }
    Ok(taken)
}

/// What lines of the ledger say about memories that are there.
struct Noted {
    /// Also those whose current or pending text is noted.
    whole: Vec<Id>,
    /// Earlier revisions with a noted content, of other memories.
    revisions: Vec<NotedRevision>,
}

struct NotedRevision {
    memory: MemoryId,
    revision: i64,
    topic: String,
}

impl Noted {
    fn of(tx: &mut dyn Transaction, workspace: WorkspaceKey, lines: &[(Vec<u8>, Id)]) -> Result<Self, StoreError> {
        let mut whole: HashSet<Id> = HashSet::new();
        let mut contents: HashMap<Id, HashSet<&[u8]>> = HashMap::new();
        for (hash, memory) in lines {
            match hash.as_slice() {
                erasure::WHOLE_MEMORY => drop(whole.insert(*memory)),
                hash => drop(contents.entry(*memory).or_default().insert(hash)),
            }
        }
        let partly: Vec<Id> = contents.keys().filter(|memory| !whole.contains(*memory)).copied().collect();
        let mut revisions = Vec::new();
        for ids in partly.chunks(SWEEP_BATCH_MEMORIES) {
            revisions.extend(noted_revisions(tx, workspace, ids, &contents, &mut whole)?);
        }
        Ok(Self { whole: whole.into_iter().collect(), revisions })
    }
}

/// Earlier revisions whose content is noted; a memory whose current or pending text it is counts as noted as a whole.
fn noted_revisions(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    ids: &[Id],
    contents: &HashMap<Id, HashSet<&[u8]>>,
    whole: &mut HashSet<Id>,
) -> Result<Vec<NotedRevision>, StoreError> {
    let key = [workspace.into(), ids.into()];
    let in_use: HashMap<Id, (i64, Option<i64>)> = tx
        .rows(&backup_sql::CURRENT_REVISIONS, &key, |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?
        .into_iter()
        .collect();
    let revisions =
        tx.rows(&purge_sql::CONTENTS, &key, |row| Ok((row.get::<Id>(0)?, row.get::<i64>(1)?, read_content(row, 2)?)))?;
    let ledger_key = erasure::Key::load(tx)?;
    let mut found = Vec::new();
    for (memory, revision, content) in revisions {
        let hash = ledger_key.hash(&content.doc_hash());
        if !contents.get(&memory).is_some_and(|noted| noted.contains(&hash[..])) {
            continue;
        }
        match in_use.get(&memory) {
            Some((current, pending)) if *current != revision && *pending != Some(revision) => {
                found.push(NotedRevision { memory: MemoryId(memory), revision, topic: content.topic });
            }
            _ => drop(whole.insert(memory)),
        }
    }
    Ok(found)
}
