//! Whole context sessions: one flip, because nothing in a session is reached but through it.

use rootset_gc::RootState;
use rootset_model::plan::{ItemKind, PlanItem};
use rootset_model::{Counts, RunId, SessionKey, Timestamp, WorkspaceKey};

use super::{Description, Descriptions, Emptying, Id, Kind, Planned, Progress, Purging, States, Sweep, Undoing, When};
use crate::backup::{CONTEXT_TABLES, Table};
use crate::context::remove;
use crate::driver::{Row, SearchRemoval, Transaction};
use crate::error::StoreError;
use crate::explain::{Explanation, in_trash};
use crate::plans::PlanTotals;
use crate::purge::Erased;
use crate::statements::backup as backup_sql;
use crate::statements::context as sql;
use crate::statements::status as status_sql;
use crate::status::HeapStatus;
use crate::undo::{Conflict, Undone};

pub(super) struct Session;

impl Kind for Session {
    fn names(&self) -> &'static [ItemKind] {
        &[ItemKind::SESSION]
    }

    fn count_planned(
        &self,
        tx: &mut dyn Transaction,
        plan: &Planned,
        items: &[PlanItem],
        totals: &mut PlanTotals,
    ) -> Result<(), StoreError> {
        let keys = keys(items);
        totals.counts.add("sessions", keys.len() as i64);
        let parameters = [plan.workspace.into(), keys.as_slice().into()];
        totals.counts.add("bytes", tx.scalar(&sql::SESSION_TOTALS, &parameters)?);
        Ok(())
    }

    fn describe(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        items: &[PlanItem],
        found: &mut Descriptions,
    ) -> Result<(), StoreError> {
        let keys = keys(items);
        tx.query(&sql::SESSION_DESCRIPTIONS, &[workspace.into(), keys.as_slice().into()], &mut |row| {
            let description = Description { name: row.get(1)?, created_at: row.get(2)?, ..Description::default() };
            found.insert(SessionKey(row.get(0)?).object(), description);
            Ok(())
        })
    }

    fn states(
        &self,
        tx: &mut dyn Transaction,
        sweep: &Sweep<'_>,
        items: &[PlanItem],
        states: &mut States,
    ) -> Result<(), StoreError> {
        let keys = keys(items);
        tx.query(&sql::SESSION_STATES, &[sweep.workspace.into(), keys.as_slice().into()], &mut |row| {
            let state = RootState { is_trashed: row.get(2)?, ..RootState::plain(row.get(1)?) };
            states.insert((SessionKey(row.get(0)?).object(), 0), state);
            Ok(())
        })
    }

    fn trash(&self, tx: &mut dyn Transaction, sweep: &Sweep<'_>, items: &[PlanItem]) -> Result<Counts, StoreError> {
        let keys = keys(items);
        let parameters = [sweep.workspace.into(), keys.as_slice().into(), (&sweep.run).into(), sweep.stamp.now.into()];
        tx.execute(&sql::TRASH_SESSIONS, &parameters)?;
        Ok(Counts::of("sessions", keys.len() as i64))
    }

    fn restore(
        &self,
        tx: &mut dyn Transaction,
        undoing: &Undoing<'_>,
        _after: &[u8],
        undone: &mut Undone,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let (workspace, run) = (undoing.workspace, &undoing.run.id);
        let parameters = [workspace.into(), run.into(), undoing.stamp.now.into()];
        undone.restored.add("sessions", tx.execute(&sql::RESTORE_SESSIONS, &parameters)? as i64);
        let taken: Vec<i64> = tx.rows(&sql::SESSIONS_TRASHED_BY, &[workspace.into(), run.into()], |row| row.get(0))?;
        undone.conflicts.extend(taken.into_iter().map(|session| Conflict {
            id: SessionKey(session).external().to_string(),
            reason: "name_taken",
            by: None,
        }));
        Ok(None)
    }

    /// After their segments.
    fn purge(
        &self,
        tx: &mut dyn Transaction,
        purging: &Purging<'_>,
        _removal: SearchRemoval,
        erased: &mut Erased,
    ) -> Result<Progress, StoreError> {
        let (workspace, ledger) = (purging.workspace, &purging.ledger);
        let sessions = remove::sessions_of(tx, workspace, ledger.run)?;
        remove::remove_sessions(tx, workspace, &sessions, Some(ledger), erased, purging.stamp)?;
        Ok(Progress::Done)
    }

    fn empty(
        &self,
        tx: &mut dyn Transaction,
        emptying: &Emptying<'_>,
        erased: &mut Erased,
    ) -> Result<Progress, StoreError> {
        let key = [emptying.workspace.into()];
        tx.execute(&backup_sql::DELETE_LEDGER, &key)?;
        erased.rows.add("sessions", tx.execute(&backup_sql::DELETE_SESSIONS, &key)? as i64);
        Ok(Progress::Done)
    }

    fn explain(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        id: Id,
        _when: &When,
    ) -> Result<Option<Explanation>, StoreError> {
        let Some(session) = SessionKey::from_object(id) else { return Ok(None) };
        let found = tx.row(&sql::SESSION_BY_NUMBER, &[workspace.into(), session.0.into()], |row| {
            let trashed: Option<(RunId, Timestamp)> = row.get::<Option<_>>(4)?.zip(row.get(5)?);
            Ok((row.get::<String>(0)?, trashed))
        })?;
        let Some((name, trashed)) = found else { return Ok(None) };
        let reason = match trashed {
            Some(trashed) => in_trash(tx, workspace, trashed)?,
            None => "a session is a root: it stays until somebody removes it".to_owned(),
        };
        Ok(Some(Explanation {
            kind: "session",
            id: session.external().to_string(),
            is_alive: trashed.is_none(),
            reason,
            path: vec![format!("session {name}")],
        }))
    }

    fn trashed_id(&self, _name: ItemKind, row: &dyn Row) -> Result<String, StoreError> {
        Ok(SessionKey(row.get(7)?).external().to_string())
    }

    /// With the segments: one statement counts both.
    fn count_heap(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        _now: Timestamp,
        status: &mut HeapStatus,
    ) -> Result<(), StoreError> {
        tx.query(&status_sql::CONTEXT_COUNTS, &[workspace.into()], &mut |row| {
            status.live.add("sessions", row.get(0)?);
            status.live.add("segments", row.get(1)?);
            status.trashed.add("sessions", row.get(2)?);
            status.trashed.add("segments", row.get(3)?);
            status.note_trash_since(row.get(4)?);
            Ok(())
        })
    }

    /// With those of the segments.
    fn tables(&self) -> &'static [Table] {
        CONTEXT_TABLES
    }
}

fn keys(items: &[PlanItem]) -> Vec<i64> {
    items.iter().filter_map(|item| SessionKey::from_object(item.object)).map(|key| key.0).collect()
}
