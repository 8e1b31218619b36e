//! Removes again, from what a backup brought back, the memories and revisions that were purged since it was made.

use std::collections::{HashMap, HashSet};

use rootset_model::limits::SWEEP_BATCH_MEMORIES;
use rootset_model::{MemoryId, WorkspaceKey};

use super::remove;
use crate::driver::{SearchRemoval, Transaction};
use crate::error::StoreError;
use crate::kinds::{Id, Replaying};
use crate::memories::read_content;
use crate::purge::Erased;
use crate::statements::{backup as backup_sql, memories as memory_sql, purge as purge_sql};
use crate::{erased_names, erasure};

/// Answers how many memories and revisions that were.
pub(super) fn replay(tx: &mut dyn Transaction, replaying: &Replaying<'_>) -> Result<i64, StoreError> {
    let mut whole: HashSet<Id> = HashSet::new();
    let mut contents: HashMap<Id, HashSet<&[u8]>> = HashMap::new();
    for (hash, memory) in replaying.erased {
        match hash.as_slice() {
            erasure::WHOLE_MEMORY => drop(whole.insert(*memory)),
            hash => drop(contents.entry(*memory).or_default().insert(hash)),
        }
    }
    let mut revisions = 0;
    let partly: Vec<Id> = contents.keys().filter(|memory| !whole.contains(*memory)).copied().collect();
    for ids in partly.chunks(SWEEP_BATCH_MEMORIES) {
        revisions += remove_revisions(tx, replaying.workspace, ids, &contents, &mut whole)?;
    }
    let mut erased = Erased::default();
    let whole: Vec<Id> = whole.into_iter().collect();
    for ids in whole.chunks(SWEEP_BATCH_MEMORIES) {
        let removal = SearchRemoval::AtOnce;
        remove(tx, replaying.workspace, ids, None, removal, &mut erased, replaying.stamp)?;
    }
    Ok(erased.rows.get("memories") + revisions)
}

/// Revisions whose content was erased since go; a memory whose current or pending text it was goes as a whole.
fn remove_revisions(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    ids: &[Id],
    contents: &HashMap<Id, HashSet<&[u8]>>,
    whole: &mut HashSet<Id>,
) -> Result<i64, StoreError> {
    let key = [workspace.into(), ids.into()];
    let in_use: HashMap<Id, (i64, Option<i64>)> = tx
        .rows(&backup_sql::CURRENT_REVISIONS, &key, |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?
        .into_iter()
        .collect();
    let revisions =
        tx.rows(&purge_sql::CONTENTS, &key, |row| Ok((row.get::<Id>(0)?, row.get::<i64>(1)?, read_content(row, 2)?)))?;
    let ledger_key = erasure::Key::load(tx)?;
    let mut removed = 0;
    let mut topics: HashMap<MemoryId, Vec<String>> = HashMap::new();
    for (memory, revision, content) in revisions {
        let hash = ledger_key.hash(&content.doc_hash());
        if !contents.get(&memory).is_some_and(|erased| erased.contains(&hash[..])) {
            continue;
        }
        match in_use.get(&memory) {
            Some((current, pending)) if *current != revision && *pending != Some(revision) => {
                let key = [workspace.into(), (&memory).into(), revision.into()];
                removed += tx.execute(&memory_sql::DELETE_REVISION, &key)? as i64;
                topics.entry(MemoryId(memory)).or_default().push(content.topic);
            }
            _ => drop(whole.insert(memory)),
        }
    }
    erased_names::replace(tx, workspace, &topics)?;
    Ok(removed)
}
