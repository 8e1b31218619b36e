//! Untracked graph rows: entities and relations that an import brought, and vouches for.

use std::collections::{HashMap, HashSet};

use rootset_gc::RootState;
use rootset_model::plan::{ItemKind, PlanItem};
use rootset_model::{Counts, EntityId, RelationId, RunId, WorkspaceKey};

use super::{
    Description, Descriptions, Emptying, Erasing, Id, Kind, Ledger, Planned, Progress, Purging, Replaying, States,
    Sweep, TrashingAgain, Undoing, delete_orphans, objects,
};
use crate::Stamp;
use crate::backup::{GRAPH_TABLES, Table};
use crate::doctor::CountedCheck;
use crate::driver::{SearchRemoval, Transaction};
use crate::erasure::{self, NotedObject, ObjectHasher};
use crate::error::StoreError;
use crate::forget::{ForgetKind, ForgetMatch, ForgetRequest, ForgetSelection};
use crate::graph;
use crate::plans::PlanTotals;
use crate::purge::Erased;
use crate::statements::backup as backup_sql;
use crate::statements::doctor as doctor_sql;
use crate::statements::graph as graph_sql;
use crate::statements::plans as plan_sql;
use crate::statements::purge as purge_sql;
use crate::statements::runs as sql;
use crate::undo::Undone;
use crate::workspaces;

const CHECKS: &[CountedCheck] =
    &[("I4.untracked", "untracked marks whose graph row is missing", &doctor_sql::UNTRACKED_WITHOUT_OBJECT)];

pub(super) struct Untracked;

impl Kind for Untracked {
    fn names(&self) -> &'static [ItemKind] {
        &[ItemKind::ENTITY, ItemKind::RELATION]
    }

    fn shown_id(&self, name: ItemKind, object: Id, _revision: i64) -> String {
        shown_id(name, object)
    }

    fn forgotten_as(&self) -> &'static [ForgetKind] {
        &[ForgetKind { word: "entities", is_on_request: false }]
    }

    /// Entities by their own words, with the relations that would dangle without them.
    fn forget(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        request: &ForgetRequest<'_>,
        found: &mut ForgetSelection,
    ) -> Result<(), StoreError> {
        let Some(words) = request.words.filter(|_| request.filters.is_empty()) else { return Ok(()) };
        let mut entities: Vec<Id> = Vec::new();
        let parameters = [workspace.into(), request.takes_trash().into()];
        tx.query(&graph_sql::ALL_UNTRACKED_ENTITIES, &parameters, &mut |row| {
            let id: Id = row.get(0)?;
            let (name, description): (String, Option<String>) = (row.get(1)?, row.get(3)?);
            let fields: Vec<&str> = std::iter::once(name.as_str()).chain(description.as_deref()).collect();
            if entities.last() != Some(&id) && words.matches(id, &fields) {
                entities.push(id);
            }
            Ok(())
        })?;
        if entities.is_empty() {
            return Ok(());
        }
        let of_kind = |kind, object| ForgetMatch { kind, object, revision: 0, version: 0, is_pinned: false };
        for id in &entities {
            found.matched(request, of_kind(ItemKind::ENTITY, *id), EntityId(*id));
        }
        let parameters = [workspace.into(), entities.as_slice().into(), request.takes_trash().into()];
        let relations: Vec<Id> = tx.rows(&graph_sql::UNTRACKED_RELATIONS_TOUCHING, &parameters, |row| row.get(0))?;
        relations.into_iter().for_each(|id| found.take(request, of_kind(ItemKind::RELATION, id)));
        Ok(())
    }

    /// They are counted with all graph rows that a plan would take.
    fn count_planned(
        &self,
        _tx: &mut dyn Transaction,
        _plan: &Planned,
        _items: &[PlanItem],
        _totals: &mut PlanTotals,
    ) -> Result<(), StoreError> {
        Ok(())
    }

    fn describe(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        items: &[PlanItem],
        found: &mut Descriptions,
    ) -> Result<(), StoreError> {
        describe(tx, workspace, items, found)
    }

    fn states(
        &self,
        tx: &mut dyn Transaction,
        sweep: &Sweep<'_>,
        items: &[PlanItem],
        states: &mut States,
    ) -> Result<(), StoreError> {
        let ids = objects(items);
        tx.query(&sql::UNTRACKED_STATES, &[sweep.workspace.into(), ids.as_slice().into()], &mut |row| {
            states.insert((row.get(0)?, 0), RootState { is_trashed: row.get(1)?, ..RootState::plain(0) });
            Ok(())
        })
    }

    /// Those that are visible: an erasure also takes what is in the trash, which nobody loses.
    fn vouched_by(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        items: &[PlanItem],
    ) -> Result<HashMap<Id, i64>, StoreError> {
        let ids = objects(items);
        let visible = graph::visible_among(tx, workspace, &ids)?;
        let kinds = tx.rows(&sql::UNTRACKED_KINDS, &[workspace.into(), ids.as_slice().into()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        Ok(kinds.into_iter().filter(|(object, _)| visible.contains(object)).collect())
    }

    fn trash(&self, tx: &mut dyn Transaction, sweep: &Sweep<'_>, items: &[PlanItem]) -> Result<Counts, StoreError> {
        let ids = objects(items);
        let parameters = [sweep.workspace.into(), ids.as_slice().into(), (&sweep.run).into(), sweep.stamp.now.into()];
        let statement = if sweep.erases { &graph_sql::CLAIM_UNTRACKED } else { &graph_sql::TRASH_UNTRACKED };
        tx.execute(statement, &parameters)?;
        Ok(Counts::default())
    }

    fn erase(
        &self,
        tx: &mut dyn Transaction,
        erasing: &Erasing<'_>,
        _items: &[PlanItem],
        erased: &mut Erased,
    ) -> Result<(), StoreError> {
        let ledger = Some((&erasing.ledger, erasing.stamp));
        remove(tx, erasing.workspace, erasing.ledger.run, ledger, erased)
    }

    fn restore(
        &self,
        tx: &mut dyn Transaction,
        undoing: &Undoing<'_>,
        _after: &[u8],
        undone: &mut Undone,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let (workspace, run) = (undoing.workspace, &undoing.run.id);
        if undoing.run.operation == "import_graph" {
            // The undo of an import takes out what it brought.
            let parameters = [workspace.into(), run.into(), undoing.stamp.now.into()];
            undone.restored.add("removed", tx.execute(&graph_sql::TRASH_IMPORT, &parameters)? as i64);
        } else {
            let restored = tx.execute(&graph_sql::RESTORE_UNTRACKED, &[workspace.into(), run.into()])?;
            undone.restored.add("untracked", restored as i64);
        }
        Ok(None)
    }

    fn purge(
        &self,
        tx: &mut dyn Transaction,
        purging: &Purging<'_>,
        _removal: SearchRemoval,
        erased: &mut Erased,
    ) -> Result<Progress, StoreError> {
        let ledger = Some((&purging.ledger, purging.stamp));
        remove(tx, purging.workspace, purging.ledger.run, ledger, erased)?;
        Ok(Progress::Done)
    }

    fn empty(
        &self,
        tx: &mut dyn Transaction,
        emptying: &Emptying<'_>,
        _erased: &mut Erased,
    ) -> Result<Progress, StoreError> {
        for statement in [&purge_sql::DELETE_UNTRACKED, &purge_sql::DELETE_RELATIONS, &purge_sql::DELETE_ENTITIES] {
            tx.execute(statement, &[emptying.workspace.into()])?;
        }
        Ok(Progress::Done)
    }

    fn tables(&self) -> &'static [Table] {
        GRAPH_TABLES
    }

    fn replay(&self, tx: &mut dyn Transaction, replaying: &Replaying<'_>) -> Result<i64, StoreError> {
        let mut erased = Erased::default();
        for run in replaying.erased_runs {
            remove(tx, replaying.workspace, RunId(*run), None, &mut erased)?;
        }
        remove_noted(tx, replaying.workspace, replaying.erased, &mut erased)?;
        Ok(erased.rows.get("untracked"))
    }

    fn trash_again(&self, tx: &mut dyn Transaction, again: &TrashingAgain<'_>) -> Result<Counts, StoreError> {
        let runs: Vec<Id> = again.removed_runs.iter().copied().collect();
        let mut count = again.flip(tx, &backup_sql::TRASH_UNTRACKED_AGAIN, runs.as_slice().into())?;
        let noted = noted_rows(tx, again.workspace, again.removed)?;
        let rows: Vec<_> = noted
            .iter()
            .map(|(object, import, _)| {
                let key = [again.workspace.into(), object.into(), import.into()];
                key.into_iter().chain([(&again.run).into(), again.stamp.now.into()]).collect()
            })
            .collect();
        count += tx.execute_many(&backup_sql::TRASH_UNTRACKED_ROW_AGAIN, &rows)? as i64;
        Ok(Counts::of("untracked", count))
    }

    fn checks(&self) -> &'static [CountedCheck] {
        CHECKS
    }
}

/// Rows that are those of some notes: object, import and kind of each.
fn noted_rows(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    notes: &[(Vec<u8>, Id)],
) -> Result<Vec<(Id, Id, i64)>, StoreError> {
    if notes.is_empty() {
        return Ok(Vec::new());
    }
    let noted: HashSet<&[u8]> = notes.iter().map(|(hash, _)| hash.as_slice()).collect();
    let hasher = ObjectHasher::new(tx)?;
    let mut rows: Vec<(Id, Id, i64)> =
        tx.rows(&backup_sql::READ_UNTRACKED, &[workspace.into()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    rows.retain(|(object, import, _)| noted.contains(hasher.untracked(object, import).hash.as_slice()));
    Ok(rows)
}

/// Removes again what was erased since a backup.
fn remove_noted(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    notes: &[(Vec<u8>, Id)],
    erased: &mut Erased,
) -> Result<(), StoreError> {
    let rows = noted_rows(tx, workspace, notes)?;
    if rows.is_empty() {
        return Ok(());
    }
    let keys: Vec<_> =
        rows.iter().map(|(object, import, _)| vec![workspace.into(), object.into(), import.into()]).collect();
    erased.rows.add("untracked", tx.execute_many(&graph_sql::DELETE_UNTRACKED_ROW, &keys)? as i64);
    let marks = rows.iter().map(|(object, _, kind)| (*object, *kind)).collect();
    let orphans = delete_orphans(tx, workspace, &marks, SearchRemoval::AtOnce)?;
    erased.rows.add_all(&orphans);
    Ok(())
}

/// Removes what the run trashed, and the graph rows that nobody else vouches for. With a ledger it is noted: no restore
/// brings it back.
fn remove(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    run: RunId,
    ledger: Option<(&Ledger<'_>, Stamp<'_>)>,
    erased: &mut Erased,
) -> Result<(), StoreError> {
    let key = [workspace.into(), (&run).into()];
    let mut bytes = 0;
    let rows: Vec<(Id, i64, Id)> = tx.rows(&graph_sql::UNTRACKED_TRASHED_BY, &key, |row| {
        bytes += row.get::<i64>(3)?;
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    if rows.is_empty() {
        return Ok(());
    }
    if let Some((ledger, stamp)) = ledger {
        let hasher = ObjectHasher::new(tx)?;
        let noted: Vec<NotedObject> = rows.iter().map(|(object, _, import)| hasher.untracked(object, import)).collect();
        erasure::note_objects(tx, workspace, ledger, &noted, stamp)?;
        // Without a ledger a restore is going on, which counts everything again.
        workspaces::touch(tx, workspace, 0, -bytes, stamp.now)?;
    }
    erased.rows.add("untracked", tx.execute(&graph_sql::DELETE_UNTRACKED_TRASHED_BY, &key)? as i64);
    let marks = rows.into_iter().map(|(object, kind, _)| (object, kind)).collect();
    let orphans = delete_orphans(tx, workspace, &marks, SearchRemoval::AtOnce)?;
    erased.rows.add_all(&orphans);
    Ok(())
}

pub(super) fn shown_id(name: ItemKind, object: Id) -> String {
    if name == ItemKind::ENTITY { EntityId(object).to_string() } else { RelationId(object).to_string() }
}

/// Also for graph rows that nobody vouches for any more.
pub(super) fn describe(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    items: &[PlanItem],
    found: &mut Descriptions,
) -> Result<(), StoreError> {
    let (entities, relations): (Vec<PlanItem>, Vec<PlanItem>) =
        items.iter().partition(|item| item.kind == ItemKind::ENTITY);
    let entities = objects(&entities);
    tx.query(&plan_sql::ENTITY_DESCRIPTIONS, &[workspace.into(), entities.as_slice().into()], &mut |row| {
        let description =
            Description { name: row.get(1)?, topic: row.get(2)?, created_at: row.get(3)?, ..Description::default() };
        found.insert(row.get(0)?, description);
        Ok(())
    })?;
    let relations = objects(&relations);
    tx.query(&plan_sql::RELATION_DESCRIPTIONS, &[workspace.into(), relations.as_slice().into()], &mut |row| {
        let (source, verb, target): (String, String, String) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let name = Some(format!("{source} {verb} {target}"));
        found.insert(row.get(0)?, Description { name, created_at: row.get(4)?, ..Description::default() });
        Ok(())
    })
}
