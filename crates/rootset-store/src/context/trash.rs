//! Segments and sessions in the protocol: their states at the moment of a sweep, the flip, and the flip back.
//!
//! Whoever keeps a session in memory learns of it by its head: a flip raises the version, what only loading anew can
//! follow raises the epoch.

use std::collections::{HashMap, HashSet};

use rootset_gc::RootState;
use rootset_model::plan::{ItemKind, PlanItem, Reason};
use rootset_model::{RunId, SegmentKey, SessionKey, WorkspaceKey};

use crate::Stamp;
use crate::driver::{Transaction, Value};
use crate::error::StoreError;
use crate::runs::RunCounts;
use crate::statements::context as sql;
use crate::undo::{Conflict, Undone};

/// The numbers of a plan's segments.
pub(crate) fn segments_in<'a>(items: impl IntoIterator<Item = &'a PlanItem>) -> Vec<i64> {
    let of_kind = items.into_iter().filter(|item| item.kind == ItemKind::Segment);
    of_kind.filter_map(|item| SegmentKey::from_object(item.object)).map(|key| key.0).collect()
}

/// The numbers of a plan's sessions.
pub(crate) fn sessions_in<'a>(items: impl IntoIterator<Item = &'a PlanItem>) -> Vec<i64> {
    let of_kind = items.into_iter().filter(|item| item.kind == ItemKind::Session);
    of_kind.filter_map(|item| SessionKey::from_object(item.object)).map(|key| key.0).collect()
}

/// States by id; what does not exist is not in it.
pub(crate) fn states(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    items: &[PlanItem],
    states: &mut HashMap<([u8; 16], i64), RootState>,
) -> Result<(), StoreError> {
    let segments = segments_in(items);
    if !segments.is_empty() {
        let mut calls: HashMap<[u8; 16], (i64, String)> = HashMap::new();
        tx.query(&sql::SEGMENT_STATES, &[workspace.into(), segments.as_slice().into()], &mut |row| {
            let object = SegmentKey(row.get(0)?).object();
            let state = RootState { is_trashed: row.get(2)?, is_pinned: row.get(3)?, ..RootState::plain(row.get(1)?) };
            states.insert((object, 0), state);
            calls.extend(
                row.get::<Option<String>>(5)?
                    .map(|id| row.get(4).map(|session| (object, (session, id))))
                    .transpose()?,
            );
            Ok(())
        })?;
        let pinned = pinned_calls(tx, workspace, &calls)?;
        for (object, _) in calls.iter().filter(|(_, call)| pinned.contains(*call)) {
            states.entry((*object, 0)).and_modify(|state| state.is_pinned = true);
        }
    }
    let sessions = sessions_in(items);
    if !sessions.is_empty() {
        tx.query(&sql::SESSION_STATES, &[workspace.into(), sessions.as_slice().into()], &mut |row| {
            let state = RootState { is_trashed: row.get(2)?, ..RootState::plain(row.get(1)?) };
            states.insert((SessionKey(row.get(0)?).object(), 0), state);
            Ok(())
        })?;
    }
    Ok(())
}

/// Tool calls of which some half is pinned: that holds the other, too.
fn pinned_calls(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    calls: &HashMap<[u8; 16], (i64, String)>,
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

/// The flip, with its lines in the ledgers.
pub(crate) fn trash(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    items: &[PlanItem],
    run: RunId,
    counts: &mut RunCounts,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let segments = segments_in(items);
    if !segments.is_empty() {
        raise_heads(tx, workspace, &segments, HeadChange::Rows, stamp)?;
        let parameters = [workspace.into(), segments.as_slice().into(), (&run).into(), stamp.now.into()];
        tx.execute(&sql::TRASH_SEGMENTS, &parameters)?;
        note(tx, workspace, items, run, stamp)?;
        counts.segments = segments.len() as i64;
    }
    let sessions = sessions_in(items);
    if !sessions.is_empty() {
        let parameters = [workspace.into(), sessions.as_slice().into(), (&run).into(), stamp.now.into()];
        tx.execute(&sql::TRASH_SESSIONS, &parameters)?;
        counts.sessions = sessions.len() as i64;
    }
    Ok(())
}

/// One line per segment that this run has flipped; those that were in the trash before have theirs.
fn note(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    items: &[PlanItem],
    run: RunId,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let mut reasons: Vec<Reason> = items.iter().map(|item| item.reason).collect();
    reasons.sort_unstable();
    reasons.dedup();
    for reason in reasons {
        let segments = segments_in(items.iter().filter(|item| item.reason == reason));
        let parameters = [
            workspace.into(),
            segments.as_slice().into(),
            (&run).into(),
            stamp.now.into(),
            stamp.actor.into(),
            reason.in_words().into(),
        ];
        tx.execute(&sql::NOTE_TRASHED, &parameters)?;
    }
    Ok(())
}

/// What happens to the sessions of some segments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadChange {
    /// Rows changed: whoever knows the session reads those.
    Rows,
    /// Rows came back.
    Return,
    /// Rows vanish, which is no update of the session.
    Removal,
}

/// Before the rows change: their new version is that of their session.
pub(super) fn raise_heads(
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

/// The flip back of everything that a run trashed.
pub(crate) fn restore(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    run: RunId,
    undone: &mut Undone,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let key = [workspace.into(), (&run).into()];
    let segments: Vec<i64> = tx.rows(&sql::SEGMENTS_TRASHED_BY, &key, |row| row.get(0))?;
    if !segments.is_empty() {
        raise_heads(tx, workspace, &segments, HeadChange::Return, stamp)?;
        let parameters = [workspace.into(), segments.as_slice().into()];
        undone.segments += tx.execute(&sql::RESTORE_SEGMENTS, &parameters)? as i64;
    }
    let parameters = [workspace.into(), (&run).into(), stamp.now.into()];
    undone.sessions += tx.execute(&sql::RESTORE_SESSIONS, &parameters)? as i64;
    let taken: Vec<i64> = tx.rows(&sql::SESSIONS_TRASHED_BY, &key, |row| row.get(0))?;
    undone.conflicts.extend(taken.into_iter().map(|session| Conflict {
        id: SessionKey(session).external().to_string(),
        reason: "name_taken",
        by: None,
    }));
    Ok(())
}
