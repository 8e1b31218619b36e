//! Physical removal of segments and sessions: rows, words, full text; and the notes that keep them from coming back.
//!
//! Lines of a ledger hold no content: they stay when a segment goes and go with their session.

use std::collections::HashSet;

use rootset_model::limits::PURGE_BATCH_MEMORIES;
use rootset_model::{RunId, SegmentKey, SessionKey, Timestamp, WorkspaceKey};

use super::trash::{HeadChange, raise_heads};
use crate::Stamp;
use crate::compaction::{MARKED_SHARE_MIN, search_delete};
use crate::driver::{Row, SearchIndex, SearchRemoval, Transaction};
use crate::erasure::{self, NotedObject, ObjectHasher};
use crate::error::StoreError;
use crate::purge::{Erased, Ledger, PROBES_MAX};
use crate::statements::context as sql;
use crate::workspaces;

/// How many segments a whole removal takes, of which a batch is a part.
#[derive(Clone, Copy)]
pub(crate) struct Extent(pub i64);

/// Up to `size` segments that a purge of the run takes, and how many there are of them.
pub(crate) fn to_purge(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    run: RunId,
    size: usize,
) -> Result<(Vec<i64>, Extent), StoreError> {
    let parameters = [workspace.into(), (&run).into(), (size as i64).into()];
    let segments: Vec<i64> = tx.rows(&sql::SEGMENTS_TO_PURGE, &parameters, |row| row.get(0))?;
    let extent = match segments.len() < size {
        true => segments.len() as i64,
        false => tx.scalar(&sql::SEGMENTS_TO_PURGE_COUNT, &[workspace.into(), (&run).into()])?,
    };
    Ok((segments, Extent(extent)))
}

pub(crate) fn remove_segments(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    segments: &[i64],
    extent: Extent,
    ledger: Option<&Ledger<'_>>,
    erased: &mut Erased,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    if segments.is_empty() {
        return Ok(());
    }
    let key = [workspace.into(), segments.into()];
    let sampled = &segments[..segments.len().min(PROBES_MAX)];
    tx.query(&sql::TEXTS, &[workspace.into(), sampled.into()], &mut |row| {
        erased.probe(&row.get::<String>(1)?);
        erased.probe(&row.get::<Option<String>>(2)?.unwrap_or_default());
        Ok(())
    })?;
    let (mut bytes, mut indexed) = (0, Vec::new());
    let hasher = ObjectHasher::new(tx)?;
    let mut noted: Vec<NotedObject> = Vec::with_capacity(segments.len());
    tx.query(&sql::REMOVED_SEGMENTS, &key, &mut |row| {
        let segment: i64 = row.get(0)?;
        noted.push(noted_segment(&hasher, row)?);
        bytes += row.get::<i64>(2)?;
        if row.get(3)? {
            indexed.push(segment);
        }
        Ok(())
    })?;
    raise_heads(tx, workspace, segments, HeadChange::Removal, stamp)?;
    let removal = removal_of(tx, workspace, &indexed, extent)?;
    search_delete(tx, workspace, SearchIndex::Stash, &indexed, removal)?;
    tx.execute(&sql::DELETE_TEXTS, &key)?;
    let removed = tx.execute(&sql::DELETE_SEGMENTS, &key)? as i64;
    if let Some(ledger) = ledger {
        erasure::note_objects(tx, workspace, ledger, &noted, stamp)?;
    }
    workspaces::touch(tx, workspace, 0, -bytes, stamp.now)?;
    erased.rows.segments += removed;
    erased.rows.bytes += bytes;
    Ok(())
}

/// Sessions whose segments are gone.
pub(crate) fn remove_sessions(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    sessions: &[RemovedSession],
    ledger: Option<&Ledger<'_>>,
    erased: &mut Erased,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    if sessions.is_empty() {
        return Ok(());
    }
    let numbers: Vec<i64> = sessions.iter().map(|it| it.session).collect();
    let key = [workspace.into(), numbers.as_slice().into()];
    tx.execute(&sql::DELETE_LEDGERS, &key)?;
    erased.rows.sessions += tx.execute(&sql::DELETE_SESSIONS, &key)? as i64;
    if let Some(ledger) = ledger {
        let hasher = ObjectHasher::new(tx)?;
        let noted: Vec<NotedObject> = sessions.iter().map(|it| it.noted(&hasher)).collect();
        erasure::note_objects(tx, workspace, ledger, &noted, stamp)?;
    }
    Ok(())
}

/// The sessions that a run trashed.
pub(crate) fn sessions_of(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    run: RunId,
) -> Result<Vec<RemovedSession>, StoreError> {
    tx.rows(&sql::SESSIONS_TRASHED_BY, &[workspace.into(), (&run).into()], RemovedSession::read)
}

/// What is noted of a session.
pub(crate) struct RemovedSession {
    session: i64,
    session_id: String,
    created_at: Timestamp,
}

impl RemovedSession {
    fn read(row: &dyn Row) -> Result<Self, StoreError> {
        Ok(Self { session: row.get(0)?, session_id: row.get(1)?, created_at: row.get(2)? })
    }

    fn noted(&self, hasher: &ObjectHasher) -> NotedObject {
        hasher.session(SessionKey(self.session), self.created_at, &self.session_id)
    }
}

/// What is noted of a segment, from a row of `removed_segments`.
fn noted_segment(hasher: &ObjectHasher, row: &dyn Row) -> Result<NotedObject, StoreError> {
    let (key, hash): (i64, [u8; 16]) = (row.get(0)?, row.get(1)?);
    Ok(hasher.segment(SegmentKey(key), &hash, row.get(4)?, &row.get::<String>(5)?))
}

/// Many rows, and a good share of the index: marked now, rewritten once.
fn removal_of(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    indexed: &[i64],
    extent: Extent,
) -> Result<SearchRemoval, StoreError> {
    if indexed.len() < PURGE_BATCH_MEMORIES {
        return Ok(SearchRemoval::AtOnce);
    }
    let stored = tx.search_statistics(workspace, SearchIndex::Stash, &[])?.rows;
    let is_large = extent.0 as f64 >= stored as f64 * MARKED_SHARE_MIN;
    Ok(if is_large { SearchRemoval::Marked } else { SearchRemoval::AtOnce })
}

/// Removes again what was purged since a backup: those whose number and content are both those that were noted.
pub(crate) fn remove_erased(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    erased_since: &[(Vec<u8>, [u8; 16])],
    erased: &mut Erased,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let hasher = ObjectHasher::new(tx)?;
    let noted: HashSet<([u8; 16], &[u8])> =
        erased_since.iter().map(|(hash, object)| (*object, hash.as_slice())).collect();
    let is_noted = |it: &NotedObject| noted.contains(&(it.object, it.hash.as_slice()));
    let numbers = |number: fn([u8; 16]) -> Option<i64>| -> Vec<i64> {
        erased_since.iter().filter_map(|(_, object)| number(*object)).collect()
    };
    let sessions = numbers(|object| SessionKey::from_object(object).map(|key| key.0));
    let parameters = [workspace.into(), sessions.as_slice().into()];
    let mut gone = tx.rows(&sql::SESSION_DESCRIPTIONS, &parameters, RemovedSession::read)?;
    gone.retain(|it| is_noted(&it.noted(&hasher)));
    let gone_numbers: Vec<i64> = gone.iter().map(|it| it.session).collect();
    let parameters = [workspace.into(), gone_numbers.as_slice().into()];
    let mut segments: Vec<i64> = tx.rows(&sql::SEGMENTS_OF_SESSIONS, &parameters, |row| row.get(0))?;
    let candidates = numbers(|object| SegmentKey::from_object(object).map(|key| key.0));
    tx.query(&sql::REMOVED_SEGMENTS, &[workspace.into(), candidates.as_slice().into()], &mut |row| {
        let segment: i64 = row.get(0)?;
        if is_noted(&noted_segment(&hasher, row)?) {
            segments.push(segment);
        }
        Ok(())
    })?;
    segments.sort_unstable();
    segments.dedup();
    let extent = Extent(segments.len() as i64);
    for some in segments.chunks(PURGE_BATCH_MEMORIES - 1) {
        remove_segments(tx, workspace, some, extent, None, erased, stamp)?;
    }
    remove_sessions(tx, workspace, &gone, None, erased, stamp)
}
