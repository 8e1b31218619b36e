//! Whole workspaces: one flip, because nothing in a workspace is reached but through it. Pins do not hold it.

use rootset_gc::RootState;
use rootset_model::plan::{ItemKind, PlanItem};
use rootset_model::{Counts, WorkspaceKey};

use super::{Descriptions, Emptying, Kind, Planned, Progress, States, Sweep, Undoing};
use crate::driver::Transaction;
use crate::error::StoreError;
use crate::plans::PlanTotals;
use crate::purge::Erased;
use crate::statements::backup as backup_sql;
use crate::statements::purge as purge_sql;
use crate::statements::retention as retention_sql;
use crate::statements::workspaces as sql;
use crate::undo::Undone;
use crate::{compaction, erasure, tokens};

pub(super) struct WholeWorkspace;

impl Kind for WholeWorkspace {
    fn names(&self) -> &'static [ItemKind] {
        &[ItemKind::WORKSPACE]
    }

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
        _tx: &mut dyn Transaction,
        _workspace: WorkspaceKey,
        _items: &[PlanItem],
        _found: &mut Descriptions,
    ) -> Result<(), StoreError> {
        Ok(())
    }

    fn states(
        &self,
        _tx: &mut dyn Transaction,
        _sweep: &Sweep<'_>,
        items: &[PlanItem],
        states: &mut States,
    ) -> Result<(), StoreError> {
        states.extend(items.iter().map(|item| ((item.object, 0), RootState::plain(0))));
        Ok(())
    }

    fn trash(&self, tx: &mut dyn Transaction, sweep: &Sweep<'_>, _items: &[PlanItem]) -> Result<Counts, StoreError> {
        tx.execute(&sql::TRASH, &[sweep.workspace.into(), (&sweep.run).into(), sweep.stamp.now.into()])?;
        Ok(Counts::default())
    }

    fn restore(
        &self,
        tx: &mut dyn Transaction,
        undoing: &Undoing<'_>,
        _after: &[u8],
        undone: &mut Undone,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let key = [undoing.workspace.into(), (&undoing.run.id).into()];
        undone.restored.add("workspaces", tx.execute(&sql::RESTORE, &key)? as i64);
        Ok(None)
    }

    /// What belongs to the workspace itself, and its row: after all that was in it.
    fn empty(
        &self,
        tx: &mut dyn Transaction,
        emptying: &Emptying<'_>,
        erased: &mut Erased,
    ) -> Result<Progress, StoreError> {
        let workspace = emptying.workspace;
        for statement in [
            &purge_sql::DELETE_SOURCES,
            &retention_sql::DELETE_ALL,
            &backup_sql::DELETE_DRAINS,
            &backup_sql::DELETE_REPOS,
            &backup_sql::DELETE_PROJECTS,
            &purge_sql::DELETE_PLAN_ITEMS,
            &purge_sql::DELETE_PLANS,
            &purge_sql::DELETE_JOBS,
        ] {
            tx.execute(statement, &[workspace.into()])?;
        }
        tx.search_drop(workspace)?;
        compaction::forget(tx, workspace)?;
        erasure::note_workspace(tx, workspace, emptying.erasure, emptying.class, emptying.stamp)?;
        erased.rows.add("workspaces", tx.execute(&sql::DELETE, &[workspace.into()])? as i64);
        tokens::unbind(tx, workspace, emptying.stamp)?;
        Ok(Progress::Done)
    }
}
