//! Physical removal of segments and sessions: rows, words, full text; and the notes that keep them from coming back.
//!
//! Lines of a ledger hold no content: they stay when a segment goes and go with their session.

use std::collections::HashSet;

use rootset_model::limits::PURGE_BATCH_MEMORIES;
use rootset_model::{RunId, SegmentKey, SessionKey, Timestamp, WorkspaceKey};

use crate::Stamp;
use crate::compaction::{MARKED_SHARE_MIN, search_delete};
use crate::driver::{Row, SearchIndex, SearchRemoval, Transaction, Value};
use crate::erasure::{self, NotedObject, ObjectHasher};
use crate::error::StoreError;
use crate::kinds::{HeadChange, Ledger, raise_heads};
use crate::purge::{Erased, PROBES_MAX};
use crate::statements::context as sql;
use crate::workspaces;

/// Up to `size` segments that a purge of the run takes.
pub(crate) fn to_purge(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    run: RunId,
    size: usize,
) -> Result<Vec<i64>, StoreError> {
    let parameters = |size: usize| [workspace.into(), Value::Blob(&run.0), (size as i64).into()];
    let mut segments: Vec<i64> = tx.rows(&sql::TRASHED_SEGMENTS, &parameters(size), |row| row.get(0))?;
    if segments.len() < size {
        let room = parameters(size - segments.len());
        segments.extend(tx.rows(&sql::REST_OF_TRASHED_SESSIONS, &room, |row| row.get::<i64>(0))?);
    }
    Ok(segments)
}

/// How terms leave the index when `batch` segments of the run are removed, the whole run being as large as it is.
pub(crate) fn removal_of_run(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    run: RunId,
    batch: usize,
) -> Result<SearchRemoval, StoreError> {
    if batch < PURGE_BATCH_MEMORIES {
        return Ok(SearchRemoval::AtOnce);
    }
    let many = many_of_index(tx, workspace)?;
    let count: i64 = tx.scalar(&sql::COUNT_TO_PURGE, &[workspace.into(), (&run).into(), many.into()])?;
    Ok(if count >= many { SearchRemoval::Marked } else { SearchRemoval::AtOnce })
}

/// The same where it is known how many go in all.
pub(crate) fn removal_of(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    segments: i64,
) -> Result<SearchRemoval, StoreError> {
    let is_large = segments >= PURGE_BATCH_MEMORIES as i64 && segments >= many_of_index(tx, workspace)?;
    Ok(if is_large { SearchRemoval::Marked } else { SearchRemoval::AtOnce })
}

/// From so many rows on, rewriting the index of the stash costs less than taking their terms out one by one.
fn many_of_index(tx: &mut dyn Transaction, workspace: WorkspaceKey) -> Result<i64, StoreError> {
    let stored = tx.search_statistics(workspace, SearchIndex::Stash, &[])?.rows;
    Ok((stored as f64 * MARKED_SHARE_MIN).ceil() as i64)
}

pub(crate) fn remove_segments(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    segments: &[i64],
    removal: SearchRemoval,
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
    let (mut bytes, mut of_attributes, mut indexed) = (0, 0, Vec::new());
    let hasher = ObjectHasher::new(tx)?;
    let mut noted: Vec<NotedObject> = Vec::with_capacity(segments.len());
    tx.query(&sql::REMOVED_SEGMENTS, &key, &mut |row| {
        let segment: i64 = row.get(0)?;
        noted.push(noted_segment(&hasher, row)?);
        bytes += row.get::<i64>(2)?;
        of_attributes += row.get::<i64>(6)?;
        if row.get(3)? {
            indexed.push(segment);
        }
        Ok(())
    })?;
    raise_heads(tx, workspace, segments, HeadChange::Removal, stamp)?;
    search_delete(tx, workspace, SearchIndex::Stash, &indexed, removal)?;
    tx.execute(&sql::DELETE_TEXTS, &key)?;
    let removed = tx.execute(&sql::DELETE_SEGMENTS, &key)? as i64;
    if let Some(ledger) = ledger {
        erasure::note_objects(tx, workspace, ledger, &noted, stamp)?;
    }
    workspaces::touch(tx, workspace, 0, -bytes - of_attributes, stamp.now)?;
    erased.rows.add("segments", removed);
    erased.rows.add("bytes", bytes);
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
    erased.rows.add("sessions", tx.execute(&sql::DELETE_SESSIONS, &key)? as i64);
    let bytes: i64 = sessions.iter().map(|it| it.bytes).sum();
    workspaces::touch(tx, workspace, 0, -bytes, stamp.now)?;
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
    /// What it counts against a quota.
    bytes: i64,
}

impl RemovedSession {
    fn read(row: &dyn Row) -> Result<Self, StoreError> {
        Ok(Self { session: row.get(0)?, session_id: row.get(1)?, created_at: row.get(2)?, bytes: row.get(3)? })
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

/// Sessions and segments that are those of some notes.
pub(crate) struct NotedContext {
    sessions: Vec<RemovedSession>,
    /// One by one; not those of the sessions.
    pub segments: Vec<i64>,
}

impl NotedContext {
    pub(crate) fn session_numbers(&self) -> Vec<i64> {
        self.sessions.iter().map(|it| it.session).collect()
    }
}

/// Those whose number and content are both those that were noted.
pub(crate) fn noted_among(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    notes: &[(Vec<u8>, [u8; 16])],
) -> Result<NotedContext, StoreError> {
    let hasher = ObjectHasher::new(tx)?;
    let noted: HashSet<([u8; 16], &[u8])> = notes.iter().map(|(hash, object)| (*object, hash.as_slice())).collect();
    let is_noted = |it: &NotedObject| noted.contains(&(it.object, it.hash.as_slice()));
    let numbers = |number: fn([u8; 16]) -> Option<i64>| -> Vec<i64> {
        notes.iter().filter_map(|(_, object)| number(*object)).collect()
    };
    let sessions = numbers(|object| SessionKey::from_object(object).map(|key| key.0));
    let parameters = [workspace.into(), sessions.as_slice().into()];
    let mut sessions = tx.rows(&sql::SESSION_DESCRIPTIONS, &parameters, RemovedSession::read)?;
    sessions.retain(|it| is_noted(&it.noted(&hasher)));
    let mut segments = Vec::new();
    let candidates = numbers(|object| SegmentKey::from_object(object).map(|key| key.0));
    tx.query(&sql::REMOVED_SEGMENTS, &[workspace.into(), candidates.as_slice().into()], &mut |row| {
        let segment: i64 = row.get(0)?;
        if is_noted(&noted_segment(&hasher, row)?) {
            segments.push(segment);
        }
        Ok(())
    })?;
    let mut noted = NotedContext { sessions, segments };
    let with_sessions = segments_of(tx, workspace, &noted.session_numbers())?;
    noted.segments.retain(|segment| !with_sessions.contains(segment));
    Ok(noted)
}

fn segments_of(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    sessions: &[i64],
) -> Result<HashSet<i64>, StoreError> {
    let found = tx.rows(&sql::SEGMENTS_OF_SESSIONS, &[workspace.into(), sessions.into()], |row| row.get(0))?;
    Ok(found.into_iter().collect())
}

/// Removes again what was erased since a backup.
pub(crate) fn remove_erased(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    erased_since: &[(Vec<u8>, [u8; 16])],
    erased: &mut Erased,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let noted = noted_among(tx, workspace, erased_since)?;
    let with_sessions = segments_of(tx, workspace, &noted.session_numbers())?;
    let NotedContext { sessions, mut segments } = noted;
    segments.extend(with_sessions);
    segments.sort_unstable();
    for some in segments.chunks(PURGE_BATCH_MEMORIES) {
        remove_segments(tx, workspace, some, SearchRemoval::AtOnce, None, erased, stamp)?;
    }
    remove_sessions(tx, workspace, &sessions, None, erased, stamp)
}
