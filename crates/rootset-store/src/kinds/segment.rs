//! Segments of context sessions. Those of a session that goes, go with it.
//!
//! A process that keeps a session in memory learns of a change by the session's head: a flip raises its version, and what
//! only loading it again can follow raises its epoch.

use std::collections::{BTreeMap, HashMap, HashSet};

use rootset_gc::RootState;
use rootset_model::plan::{Action, ItemKind, PlanItem};
use rootset_model::{Counts, RunId, SegmentKey, Timestamp, WorkspaceKey};

use super::{
    Description, Descriptions, Emptying, Erasing, Id, Kind, Planned, Progress, Purging, Replaying, States, Sweep,
    TrashingAgain, Undoing, When,
};
use crate::Stamp;
use crate::context::{self, LedgerAction, remove};
use crate::doctor::CountedCheck;
use crate::driver::{Row, SearchIndex, SearchRemoval, SearchRow, Transaction, Value};
use crate::error::StoreError;
use crate::explain::{Explanation, in_trash};
use crate::forget::{ForgetKind, ForgetMatch, ForgetRequest, ForgetSelection};
use crate::plans::PlanTotals;
use crate::purge::Erased;
use crate::statements::backup as backup_sql;
use crate::statements::context as sql;
use crate::statements::doctor as doctor_sql;
use crate::undo::Undone;

const CHECKS: &[CountedCheck] = &[(
    "I8.segments",
    "segments without their session or text, texts and lines without either",
    &doctor_sql::BROKEN_CONTEXTS,
)];

/// Under which word a run counts segments that it put into the stash.
const STASHED: &str = "stashed";

pub(super) struct Segment;

impl Kind for Segment {
    fn names(&self) -> &'static [ItemKind] {
        &[ItemKind::SEGMENT]
    }

    fn forgotten_as(&self) -> &'static [ForgetKind] {
        &[ForgetKind { word: "segments", is_on_request: false }]
    }

    fn forget(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        request: &ForgetRequest<'_>,
        found: &mut ForgetSelection,
    ) -> Result<(), StoreError> {
        for it in context::forget::select(tx, workspace, request)? {
            let (key, version, is_pinned) = (SegmentKey(it.segment), it.version, it.is_pinned);
            let segment =
                ForgetMatch { kind: ItemKind::SEGMENT, object: key.object(), revision: 0, version, is_pinned };
            found.matched(request, segment, key.external());
        }
        Ok(())
    }

    fn count_planned(
        &self,
        tx: &mut dyn Transaction,
        plan: &Planned,
        items: &[PlanItem],
        totals: &mut PlanTotals,
    ) -> Result<(), StoreError> {
        let keys = keys(items);
        tx.query(&sql::SEGMENT_TOTALS, &[plan.workspace.into(), keys.as_slice().into()], &mut |row| {
            totals.counts.add("segments", row.get(0)?);
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
        let keys = keys(items);
        tx.query(&sql::SEGMENT_DESCRIPTIONS, &[workspace.into(), keys.as_slice().into()], &mut |row| {
            let description = Description {
                name: row.get(1)?,
                topic: row.get(2)?,
                file_path: row.get(3)?,
                created_at: row.get(4)?,
                ..Description::default()
            };
            found.insert(SegmentKey(row.get(0)?).object(), description);
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
        let mut calls: HashMap<Id, (i64, String)> = HashMap::new();
        tx.query(&sql::SEGMENT_STATES, &[sweep.workspace.into(), keys.as_slice().into()], &mut |row| {
            let object = SegmentKey(row.get(0)?).object();
            let state = RootState { is_trashed: row.get(2)?, is_pinned: row.get(3)?, ..RootState::plain(row.get(1)?) };
            states.insert((object, 0), state);
            if let Some(id) = row.get::<Option<String>>(5)? {
                calls.insert(object, (row.get(4)?, id));
            }
            Ok(())
        })?;
        let pinned = pinned_calls(tx, sweep.workspace, &calls)?;
        for (object, _) in calls.iter().filter(|(_, call)| pinned.contains(*call)) {
            states.entry((*object, 0)).and_modify(|state| state.is_pinned = true);
        }
        Ok(())
    }

    /// The flip, or the way into the stash, with its lines in the ledgers.
    fn trash(&self, tx: &mut dyn Transaction, sweep: &Sweep<'_>, items: &[PlanItem]) -> Result<Counts, StoreError> {
        let (stashed, trashed): (Vec<PlanItem>, Vec<PlanItem>) =
            items.iter().partition(|item| item.action == Action::Stash);
        raise_heads(tx, sweep.workspace, &keys(items), HeadChange::Rows, sweep.stamp)?;
        if !trashed.is_empty() {
            let keys = keys(&trashed);
            let (run, now) = (&sweep.run, sweep.stamp.now);
            tx.execute(
                &sql::TRASH_SEGMENTS,
                &[sweep.workspace.into(), keys.as_slice().into(), run.into(), now.into()],
            )?;
            for (reason, keys) in by_reason(&trashed) {
                // Those that were in the trash before have their lines.
                note(tx, sweep.workspace, &keys, LedgerAction::Delete, reason, Some(run), sweep.stamp)?;
            }
        }
        if !stashed.is_empty() {
            stash(tx, sweep, &stashed)?;
        }
        let mut counts = Counts::of("segments", trashed.len() as i64);
        counts.add(STASHED, stashed.len() as i64);
        Ok(counts)
    }

    fn erase(
        &self,
        tx: &mut dyn Transaction,
        erasing: &Erasing<'_>,
        items: &[PlanItem],
        erased: &mut Erased,
    ) -> Result<(), StoreError> {
        let removal = remove::removal_of(tx, erasing.workspace, erasing.planned.get("segments"))?;
        let (workspace, ledger) = (erasing.workspace, Some(&erasing.ledger));
        remove::remove_segments(tx, workspace, &keys(items), removal, ledger, erased, erasing.stamp)
    }

    fn restore(
        &self,
        tx: &mut dyn Transaction,
        undoing: &Undoing<'_>,
        _after: &[u8],
        undone: &mut Undone,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let workspace = undoing.workspace;
        let key = [workspace.into(), (&undoing.run.id).into()];
        let segments: Vec<i64> = tx.rows(&sql::SEGMENTS_TRASHED_BY, &key, |row| row.get(0))?;
        if !segments.is_empty() {
            raise_heads(tx, workspace, &segments, HeadChange::Return, undoing.stamp)?;
            let restored = tx.execute(&sql::RESTORE_SEGMENTS, &[workspace.into(), segments.as_slice().into()])?;
            undone.restored.add("segments", restored as i64);
        }
        if undoing.run.counts.taken.get(STASHED) > 0 {
            undone.restored.add("segments", unstash(tx, undoing)?);
        }
        Ok(None)
    }

    /// Also all others of the sessions that the run trashed.
    fn purge(
        &self,
        tx: &mut dyn Transaction,
        purging: &Purging<'_>,
        _removal: SearchRemoval,
        erased: &mut Erased,
    ) -> Result<Progress, StoreError> {
        let (workspace, ledger) = (purging.workspace, &purging.ledger);
        let segments = remove::to_purge(tx, workspace, ledger.run, purging.size)?;
        let removal = remove::removal_of_run(tx, workspace, ledger.run, segments.len())?;
        remove::remove_segments(tx, workspace, &segments, removal, Some(ledger), erased, purging.stamp)?;
        Ok(Progress::of(segments.len(), purging.size))
    }

    fn empty(
        &self,
        tx: &mut dyn Transaction,
        emptying: &Emptying<'_>,
        erased: &mut Erased,
    ) -> Result<Progress, StoreError> {
        let parameters = [emptying.workspace.into(), (emptying.size as i64).into()];
        let segments: Vec<i64> = tx.rows(&sql::ALL_SEGMENTS, &parameters, |row| row.get(0))?;
        let (workspace, removal) = (emptying.workspace, emptying.removal);
        remove::remove_segments(tx, workspace, &segments, removal, None, erased, emptying.stamp)?;
        Ok(Progress::of(segments.len(), emptying.size))
    }

    fn texts(&self) -> &'static [&'static str] {
        &["segments"]
    }

    /// Whether a root of its window leads to it is asked of the window, which is not here.
    fn explain(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        id: Id,
        _when: &When,
    ) -> Result<Option<Explanation>, StoreError> {
        let Some(segment) = SegmentKey::from_object(id) else { return Ok(None) };
        let found = tx.row(&sql::EXPLAINED_SEGMENT, &[workspace.into(), segment.0.into()], |row| {
            let own: Option<(RunId, Timestamp)> = row.get::<Option<_>>(5)?.zip(row.get(6)?);
            let of_session: Option<(RunId, Timestamp)> = row.get::<Option<_>>(7)?.zip(row.get(8)?);
            let names: (String, String) = (row.get(0)?, row.get(1)?);
            let pin: Option<Option<String>> = row.get::<bool>(3)?.then(|| row.get(4)).transpose()?;
            Ok((names, row.get::<String>(2)?, pin, own, of_session))
        })?;
        let Some(((name, session), state, pin, own, of_session)) = found else { return Ok(None) };
        let reason = match (own, of_session, pin) {
            (Some(trashed), ..) => in_trash(tx, workspace, trashed)?,
            (None, Some(trashed), _) => format!("its session is {}", in_trash(tx, workspace, trashed)?),
            (None, None, Some(Some(why))) => format!("pinned: {why}"),
            (None, None, Some(None)) => "pinned".to_owned(),
            (None, None, None) if state == "stashed" => "in the stash: `context_restore` restores it".to_owned(),
            (None, None, None) => "in its window: `context_explain` shows which root leads to it".to_owned(),
        };
        Ok(Some(Explanation {
            kind: "segment",
            id: segment.external().to_string(),
            is_alive: own.is_none() && of_session.is_none(),
            reason,
            path: vec![format!("session {session}"), format!("segment {name}")],
        }))
    }

    fn trashed_id(&self, _name: ItemKind, row: &dyn Row) -> Result<String, StoreError> {
        Ok(SegmentKey(row.get(7)?).external().to_string())
    }

    /// Sessions too: those that are noted go with their segments.
    fn replay(&self, tx: &mut dyn Transaction, replaying: &Replaying<'_>) -> Result<i64, StoreError> {
        let mut erased = Erased::default();
        remove::remove_erased(tx, replaying.workspace, replaying.erased, &mut erased, replaying.stamp)?;
        Ok(erased.rows.get("segments") + erased.rows.get("sessions"))
    }

    /// Sessions too, as with [`Kind::replay`].
    fn trash_again(&self, tx: &mut dyn Transaction, again: &TrashingAgain<'_>) -> Result<Counts, StoreError> {
        let noted = remove::noted_among(tx, again.workspace, again.removed)?;
        let sessions = noted.session_numbers();
        let segments = again.flip(tx, &backup_sql::TRASH_SEGMENTS_AGAIN, noted.segments.as_slice().into())?;
        let mut taken = Counts::of("segments", segments);
        taken.add("sessions", again.flip(tx, &backup_sql::TRASH_SESSIONS_AGAIN, sessions.as_slice().into())?);
        Ok(taken)
    }

    fn checks(&self) -> &'static [CountedCheck] {
        CHECKS
    }
}

fn keys<'a>(items: impl IntoIterator<Item = &'a PlanItem>) -> Vec<i64> {
    items.into_iter().filter_map(|item| SegmentKey::from_object(item.object)).map(|key| key.0).collect()
}

/// Tool calls of which some half is pinned: that holds the other, too.
fn pinned_calls(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    calls: &HashMap<Id, (i64, String)>,
) -> Result<HashSet<(i64, String)>, StoreError> {
    if calls.is_empty() {
        return Ok(HashSet::new());
    }
    let sessions: HashSet<i64> = calls.values().map(|(session, _)| *session).collect();
    let sessions: Vec<i64> = sessions.into_iter().collect();
    let parameters = [workspace.into(), sessions.as_slice().into()];
    let pinned = tx.rows(&sql::PINNED_CALLS, &parameters, |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(pinned.into_iter().collect())
}

/// Segments that left for one reason, together.
fn by_reason(items: &[PlanItem]) -> BTreeMap<&'static str, Vec<i64>> {
    let mut reasons: BTreeMap<&'static str, Vec<i64>> = BTreeMap::new();
    for item in items {
        reasons.entry(item.reason.in_words()).or_default().extend(keys([item]));
    }
    reasons
}

/// Out of the window; what is stashed for the first time becomes searchable.
fn stash(tx: &mut dyn Transaction, sweep: &Sweep<'_>, items: &[PlanItem]) -> Result<(), StoreError> {
    let (workspace, stamp) = (sweep.workspace, sweep.stamp);
    let all = keys(items);
    let rows = tx.rows(&sql::TEXTS_TO_INDEX, &[workspace.into(), all.as_slice().into()], |row| {
        Ok(SearchRow { key: row.get(0)?, head: String::new(), body: (sweep.terms)(&row.get::<String>(1)?) })
    })?;
    tx.search_insert(workspace, SearchIndex::Stash, rows)?;
    for (reason, keys) in by_reason(items) {
        let parameters = [workspace.into(), keys.as_slice().into(), stamp.now.into(), reason.into()];
        tx.execute(&sql::STASH_SEGMENTS, &parameters)?;
        note(tx, workspace, &keys, LedgerAction::Stash, reason, None, stamp)?;
    }
    Ok(())
}

/// What the run stashed and nobody restored since comes back into the window.
fn unstash(tx: &mut dyn Transaction, undoing: &Undoing<'_>) -> Result<i64, StoreError> {
    let (workspace, run) = (undoing.workspace, undoing.run);
    let (Some(plan), Some(finished_at)) = (run.plan, run.finished_at) else { return Ok(0) };
    let parameters = [workspace.into(), (&plan).into(), (&run.id).into()];
    let objects: Vec<Id> = tx.rows(&sql::STASHED_BY, &parameters, |row| row.get(0))?;
    let stashed: Vec<i64> = objects.into_iter().filter_map(SegmentKey::from_object).map(|key| key.0).collect();
    let parameters = [workspace.into(), stashed.as_slice().into(), run.started_at.into(), finished_at.into()];
    let still: Vec<i64> = tx.rows(&sql::STILL_STASHED, &parameters, |row| row.get(0))?;
    if still.is_empty() {
        return Ok(0);
    }
    raise_heads(tx, workspace, &still, HeadChange::Return, undoing.stamp)?;
    let restored = tx.execute(&sql::UNSTASH_SEGMENTS, &[workspace.into(), still.as_slice().into()])?;
    note(tx, workspace, &still, LedgerAction::Restore, "the stash was undone", None, undoing.stamp)?;
    Ok(restored as i64)
}

/// One line per segment; with a run, only for those that are in its trash.
fn note(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    segments: &[i64],
    action: LedgerAction,
    reason: &str,
    run: Option<&RunId>,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let parameters = [
        workspace.into(),
        segments.into(),
        stamp.now.into(),
        stamp.actor.into(),
        action.as_str().into(),
        reason.into(),
        run.into(),
    ];
    tx.execute(&sql::NOTE_SEGMENTS, &parameters).map(drop)
}

/// What happens to the sessions of some segments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeadChange {
    /// Rows changed: a process that knows the session reads those.
    Rows,
    /// Rows came back.
    Return,
    /// Rows vanish, which does not update the session.
    Removal,
}

/// Before the rows change: their new version is that of their session.
pub(crate) fn raise_heads(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    segments: &[i64],
    change: HeadChange,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let epochs = i64::from(change != HeadChange::Rows);
    let updated_at = match change {
        HeadChange::Removal => Value::Null,
        HeadChange::Rows | HeadChange::Return => stamp.now.into(),
    };
    tx.execute(&sql::RAISE_HEADS, &[workspace.into(), segments.into(), epochs.into(), updated_at]).map(drop)
}
