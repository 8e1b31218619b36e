//! Earlier revisions of memories, one by one. Those of a memory that goes, go with it.

use std::collections::{HashMap, HashSet};

use rootset_gc::RootState;
use rootset_model::content::DocHash;
use rootset_model::plan::{ItemKind, PlanItem};
use rootset_model::{Content, Counts, MemoryId, RunId, Timestamp, WorkspaceKey};

use super::{
    Descriptions, Erasing, Id, Kind, Ledger, Planned, Progress, Purging, States, Sweep, Undoing, When, memory, objects,
};
use crate::driver::{SearchRemoval, Transaction};
use crate::erasure::Class;
use crate::error::StoreError;
use crate::explain::{self, Explanation};
use crate::forget::{ForgetKind, ForgetMatch, ForgetRequest, ForgetSelection, ForgetText, ForgetVerdict};
use crate::memories::read_content;
use crate::plans::PlanTotals;
use crate::purge::{Erased, NOTED_CAUSES};
use crate::statements::memories as memory_sql;
use crate::statements::purge as purge_sql;
use crate::status::HeapStatus;
use crate::sweep::Redacting;
use crate::undo::Undone;
use crate::{Stamp, erased_names, erasure, workspaces};

statements!(
    revision,
    r#"
-- Revisions that are not current: they are in no index, so all of them are read, a page at a time.
-- name: forget
-- scans: earlier revisions are in no index
SELECT r.memory, r.revision, m.version, m.pinned, r.topic, r.context, r.decisions, r.rationale
FROM revisions r JOIN memories m ON m.workspace = r.workspace AND m.memory = r.memory
WHERE r.workspace = ?1 AND (?2 = 1 OR (r.trashed_run IS NULL AND m.trashed_run IS NULL)) AND r.revision < m.revision
ORDER BY r.memory, r.revision;

-- name: totals
SELECT COUNT(*), CAST(COALESCE(SUM(r.bytes), 0) AS BIGINT)
FROM plan_items p
JOIN revisions r ON r.workspace = p.workspace AND r.memory = p.object AND r.revision = p.revision
WHERE p.workspace = ?1 AND p.plan = ?2 AND p.kind = 'revision';

-- name: states
SELECT r.memory, r.revision, m.version, r.trashed_run IS NOT NULL OR m.trashed_run IS NOT NULL, m.pinned
FROM revisions r JOIN memories m ON m.workspace = r.workspace AND m.memory = r.memory
WHERE r.workspace = ?1 AND r.memory IN (SELECT value FROM blob_list(?2));

-- name: trash
UPDATE revisions SET trashed_run = ?4, trashed_at = ?5
WHERE workspace = ?1 AND memory = ?2 AND revision = ?3 AND trashed_run IS NULL;

-- name: trashed_of
SELECT memory, revision FROM revisions WHERE workspace = ?1 AND trashed_run = ?2 ORDER BY memory, revision;

-- name: restore
UPDATE revisions SET trashed_run = NULL, trashed_at = NULL
WHERE workspace = ?1 AND memory = ?2 AND revision = ?3 AND trashed_run = ?4;

-- fragment: runs_with_trash_before.revision
SELECT DISTINCT trashed_run FROM revisions
WHERE workspace = ?1 AND trashed_run IS NOT NULL AND trashed_at <= ?2

-- fragment: has_trash_of_run.revision
EXISTS (SELECT 1 FROM revisions v WHERE v.workspace = r.workspace AND v.trashed_run = r.run row_by_row())

-- fragment: trash_without_run.revision
(SELECT COUNT(*) FROM revisions v WHERE v.workspace = ?1 AND v.trashed_run IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM runs r WHERE r.workspace = v.workspace AND r.run = v.trashed_run))

-- Those of a trashed memory are counted with it.
-- fragment: trash_bytes.revision
(SELECT CAST(COALESCE(SUM(v.bytes), 0) AS BIGINT)
 FROM revisions v JOIN memories m ON m.workspace = v.workspace AND m.memory = v.memory
 WHERE v.workspace = ?1 AND v.trashed_run IS NOT NULL AND m.trashed_run IS NULL)

-- name: count_trash
SELECT COUNT(*), MIN(trashed_at) FROM revisions WHERE workspace = ?1 AND trashed_run IS NOT NULL;

-- name: explained
SELECT m.name, m.revision, r.trashed_run, r.trashed_at, m.trashed_run IS NOT NULL
FROM revisions r JOIN memories m ON m.workspace = r.workspace AND m.memory = r.memory
WHERE r.workspace = ?1 AND r.memory = ?2 AND r.revision = ?3;

-- fragment: trash_rows.revision
SELECT 'revision' AS kind, v.memory AS object, m.name AS name, v.topic AS topic, v.trashed_at AS trashed_at,
       v.trashed_run AS run, v.revision AS revision
FROM revisions v JOIN memories m ON m.workspace = v.workspace AND m.memory = v.memory
WHERE v.workspace = ?1 AND v.trashed_run IS NOT NULL
"#
);

pub(super) struct Revision;

impl Kind for Revision {
    fn names(&self) -> &'static [ItemKind] {
        &[ItemKind::REVISION]
    }

    fn shown_id(&self, _name: ItemKind, object: Id, revision: i64) -> String {
        format!("{}@{revision}", MemoryId(object))
    }

    fn forgotten_as(&self) -> &'static [ForgetKind] {
        &[ForgetKind { word: "revisions", is_on_request: false }]
    }

    /// By their words, where their memories do not go themselves.
    fn forget(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        request: &ForgetRequest<'_>,
        found: &mut ForgetSelection,
    ) -> Result<(), StoreError> {
        let Some(words) = request.words else { return Ok(()) };
        let going: HashSet<Id> = found.items.iter().map(|item| item.object).collect();
        let mut matching: Vec<ForgetMatch> = Vec::new();
        let parameters = [workspace.into(), request.takes_trash().into()];
        tx.query(&sql::FORGET, &parameters, &mut |row| {
            let (object, content) = (row.get(0)?, read_content(row, 4)?);
            let text = ForgetText {
                object,
                revision: row.get(1)?,
                topic: &content.topic,
                context: &content.context,
                decisions: &content.decisions,
                rationale: &content.rationale,
                more: &[],
            };
            if matches!((words.judge)(&text), ForgetVerdict::Matched | ForgetVerdict::InPart) {
                let (revision, version, is_pinned) = (row.get(1)?, row.get(2)?, row.get(3)?);
                if going.contains(&object) {
                    found.earlier.push((MemoryId(object), revision));
                } else {
                    matching.push(ForgetMatch { kind: ItemKind::REVISION, object, revision, version, is_pinned });
                }
            }
            Ok(())
        })?;
        if matching.is_empty() {
            return Ok(());
        }
        let allowed: HashSet<Id> = memory::filtered(tx, workspace, request)?.into_iter().map(|it| it.id).collect();
        for revision in matching.into_iter().filter(|it| allowed.contains(&it.object)) {
            found.matched(request, revision, MemoryId(revision.object));
        }
        Ok(())
    }

    fn count_planned(
        &self,
        tx: &mut dyn Transaction,
        plan: &Planned,
        _items: &[PlanItem],
        totals: &mut PlanTotals,
    ) -> Result<(), StoreError> {
        tx.query(&sql::TOTALS, &[plan.workspace.into(), (&plan.plan).into()], &mut |row| {
            totals.counts.add("revisions", row.get(0)?);
            totals.counts.add("bytes", row.get(1)?);
            Ok(())
        })
    }

    fn describe(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        items: &[PlanItem],
        found: &mut Descriptions,
    ) -> Result<(), StoreError> {
        memory::describe(tx, workspace, items, found)
    }

    fn states(
        &self,
        tx: &mut dyn Transaction,
        sweep: &Sweep<'_>,
        items: &[PlanItem],
        states: &mut States,
    ) -> Result<(), StoreError> {
        let ids = objects(items);
        tx.query(&sql::STATES, &[sweep.workspace.into(), ids.as_slice().into()], &mut |row| {
            let state = RootState { is_trashed: row.get(3)?, is_pinned: row.get(4)?, ..RootState::plain(row.get(2)?) };
            states.insert((row.get(0)?, row.get(1)?), state);
            Ok(())
        })
    }

    fn trash(&self, tx: &mut dyn Transaction, sweep: &Sweep<'_>, items: &[PlanItem]) -> Result<Counts, StoreError> {
        Redacting::cut(tx, sweep, items)?;
        let rows: Vec<_> = items
            .iter()
            .map(|item| {
                vec![
                    sweep.workspace.into(),
                    (&item.object).into(),
                    item.revision.into(),
                    (&sweep.run).into(),
                    sweep.stamp.now.into(),
                ]
            })
            .collect();
        tx.execute_many(&sql::TRASH, &rows)?;
        Ok(Counts::of("revisions", items.len() as i64))
    }

    fn erase(
        &self,
        tx: &mut dyn Transaction,
        erasing: &Erasing<'_>,
        items: &[PlanItem],
        erased: &mut Erased,
    ) -> Result<(), StoreError> {
        let revisions: Vec<(MemoryId, i64)> = items.iter().map(|item| (MemoryId(item.object), item.revision)).collect();
        remove(tx, erasing.workspace, &revisions, &erasing.ledger, erased, erasing.stamp)
    }

    fn restore(
        &self,
        tx: &mut dyn Transaction,
        undoing: &Undoing<'_>,
        _after: &[u8],
        undone: &mut Undone,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let (workspace, run) = (undoing.workspace, &undoing.run.id);
        let left = Redacting::restore(tx, undoing, undone)?;
        let trashed: Vec<(Id, i64)> =
            tx.rows(&sql::TRASHED_OF, &[workspace.into(), run.into()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let rows: Vec<_> = trashed
            .iter()
            .filter(|it| !left.contains(it))
            .map(|(memory, revision)| vec![workspace.into(), memory.into(), (*revision).into(), run.into()])
            .collect();
        undone.restored.add("revisions", tx.execute_many(&sql::RESTORE, &rows)? as i64);
        Ok(None)
    }

    fn purge(
        &self,
        tx: &mut dyn Transaction,
        purging: &Purging<'_>,
        _removal: SearchRemoval,
        erased: &mut Erased,
    ) -> Result<Progress, StoreError> {
        let key = [purging.workspace.into(), (&purging.ledger.run).into()];
        let revisions = tx.rows(&sql::TRASHED_OF, &key, |row| Ok((row.get(0)?, row.get(1)?)))?;
        remove(tx, purging.workspace, &revisions, &purging.ledger, erased, purging.stamp)?;
        Ok(Progress::Done)
    }

    /// By the id that plans and the trash show: the memory's, `@` and the number.
    fn explain_named(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        name: &str,
        _when: &When,
    ) -> Result<Option<Explanation>, StoreError> {
        let parsed = name.split_once('@').map(|(memory, number)| (memory.parse::<MemoryId>(), number.parse::<i64>()));
        let Some((Ok(memory), Ok(revision))) = parsed else { return Ok(None) };
        let key = [workspace.into(), (&memory).into(), revision.into()];
        type Row = (Option<String>, i64, Option<(RunId, Timestamp)>, bool);
        let found: Option<Row> = tx.row(&sql::EXPLAINED, &key, |row| {
            let trashed = row.get::<Option<RunId>>(2)?.zip(row.get(3)?);
            Ok((row.get(0)?, row.get(1)?, trashed, row.get(4)?))
        })?;
        let Some((memory_name, current, trashed, is_memory_trashed)) = found else { return Ok(None) };
        let root = format!("memory {}", memory_name.unwrap_or_else(|| memory.to_string()));
        let (is_alive, reason) = match trashed {
            Some(trash) => (false, explain::in_trash(tx, workspace, trash)?),
            None if is_memory_trashed => (false, "its memory is in the trash".to_owned()),
            None if revision >= current => (true, "it is the text of its memory".to_owned()),
            None => (true, "an earlier revision among those that are kept".to_owned()),
        };
        let path = is_alive.then_some(root).into_iter().chain([format!("revision {revision}")]).collect();
        let id = self.shown_id(ItemKind::REVISION, memory.0, revision);
        Ok(Some(Explanation { kind: "revision", id, is_alive, reason, path }))
    }

    fn count_heap(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        _now: Timestamp,
        status: &mut HeapStatus,
    ) -> Result<(), StoreError> {
        tx.query(&sql::COUNT_TRASH, &[workspace.into()], &mut |row| {
            // Most workspaces have none, and need not hear of it.
            if row.get::<i64>(0)? > 0 {
                status.trashed.add("revisions", row.get(0)?);
                status.note_trash_since(row.get(1)?);
            }
            Ok(())
        })
    }
}

fn remove(
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
    let memories: HashSet<Id> = revisions.iter().map(|(memory, _)| memory.0).collect();
    let memories: Vec<Id> = memories.into_iter().collect();
    let mut going: Vec<(MemoryId, Content)> = Vec::new();
    let mut kept: Vec<(MemoryId, String)> = Vec::new();
    let mut bytes = 0;
    tx.query(&purge_sql::CONTENTS, &[workspace.into(), memories.as_slice().into()], &mut |row| {
        let memory: MemoryId = row.get(0)?;
        let content = read_content(row, 2)?;
        if wanted.contains(&(memory, row.get(1)?)) {
            bytes += row.get::<i64>(6)?;
            going.push((memory, content));
        } else {
            kept.push((memory, content.context));
        }
        Ok(())
    })?;
    let mut topics: HashMap<MemoryId, Vec<String>> = HashMap::new();
    let mut contents: Vec<(MemoryId, DocHash)> = Vec::new();
    for (memory, content) in going {
        let kept: Vec<&str> = kept.iter().filter(|(of, _)| *of == memory).map(|(_, text)| text.as_str()).collect();
        erased.probe_unlike(&content.context, &kept);
        contents.push((memory, content.doc_hash()));
        topics.entry(memory).or_default().push(content.topic);
    }
    let rows: Vec<_> =
        revisions.iter().map(|(memory, revision)| vec![workspace.into(), memory.into(), (*revision).into()]).collect();
    erased.rows.add("revisions", tx.execute_many(&memory_sql::DELETE_REVISION, &rows)? as i64);
    erased.rows.add("bytes", bytes);
    workspaces::touch(tx, workspace, 0, -bytes, stamp.now)?;
    // What merely fell off the end of the history may be said again, and its memory keeps its name.
    if NOTED_CAUSES.contains(&ledger.cause) || ledger.class == Some(Class::Erased) {
        for name in erased_names::replace(tx, workspace, &topics)? {
            erased.probe(&name);
        }
        erasure::record(tx, workspace, ledger, &contents, stamp)?;
    } else {
        // What it was called then goes with the words.
        erased_names::forget_aliases(tx, workspace, &topics)?;
    }
    Ok(())
}
