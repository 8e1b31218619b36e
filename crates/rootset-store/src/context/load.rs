//! Reading sessions: all of one, what changed of it, its words, and the list of all.

use std::collections::HashMap;

use rootset_model::{Timestamp, WorkspaceKey};

use super::rows::{self, SegmentRow};
use crate::driver::Transaction;
use crate::error::StoreError;
use crate::statements::context as sql;
use crate::{Store, Workspace};

/// A session as it is known at one version. `version` rises with every change; `epoch` rises when rows vanished or came
/// back in a way that only loading anew can follow: a purge, an undo, the restore of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionHead {
    pub session: i64,
    pub version: i64,
    pub epoch: i64,
}

/// What a session knows besides its segments. `settings` and `focus` are the caller's own JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionState {
    pub settings: String,
    pub focus: String,
    pub collections: i64,
    pub next_step: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedSession {
    pub head: SessionHead,
    pub session_id: String,
    pub state: SessionState,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Rows changed after what the caller knew, in order of addition; those in the trash included, as deleted.
    pub segments: Vec<SegmentRow>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentText {
    pub segment: i64,
    pub text: String,
    /// The caller's own message block, JSON.
    pub raw: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionView {
    pub session_id: String,
    /// Active ones.
    pub segments: i64,
    pub stashed: i64,
    /// Of the active ones.
    pub tokens: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Store {
    /// What changed after `known`; everything when nothing is known, or something of another epoch or session, which
    /// the caller sees in the head. `None`: there is no such session.
    pub fn load_session(
        &self,
        workspace: &Workspace,
        session_id: &str,
        known: Option<SessionHead>,
    ) -> Result<Option<LoadedSession>, StoreError> {
        self.read(workspace, |tx| {
            let Some(mut loaded) = find(tx, workspace.key, session_id)? else {
                refuse_trashed(tx, workspace.key, session_id)?;
                return Ok(None);
            };
            let head = loaded.head;
            let key = [workspace.key.into(), head.session.into()];
            let is_same = |known: &SessionHead| (known.session, known.epoch) == (head.session, head.epoch);
            loaded.segments = match known.filter(is_same) {
                Some(known) if known.version == head.version => Vec::new(),
                Some(known) => {
                    let parameters = [workspace.key.into(), head.session.into(), known.version.into()];
                    let mut changed = tx.rows(&sql::SEGMENTS_SINCE, &parameters, rows::read)?;
                    changed.sort_unstable_by_key(|it| it.segment);
                    changed
                }
                None => tx.rows(&sql::SEGMENTS, &key, rows::read)?,
            };
            Ok(Some(loaded))
        })
    }

    /// The words of segments, in the order of the numbers given; those that do not exist are left out.
    pub fn segment_texts(&self, workspace: &Workspace, segments: &[i64]) -> Result<Vec<SegmentText>, StoreError> {
        self.read(workspace, |tx| {
            let mut found: HashMap<i64, SegmentText> = HashMap::with_capacity(segments.len());
            tx.query(&sql::TEXTS, &[workspace.key.into(), segments.into()], &mut |row| {
                let text = SegmentText { segment: row.get(0)?, text: row.get(1)?, raw: row.get(2)? };
                found.insert(text.segment, text);
                Ok(())
            })?;
            Ok(segments.iter().filter_map(|segment| found.remove(segment)).collect())
        })
    }

    /// A page of the living sessions, newest update first, and how many there are.
    pub fn list_sessions(
        &self,
        workspace: &Workspace,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<SessionView>, i64), StoreError> {
        self.read(workspace, |tx| {
            let total = tx.scalar(&sql::SESSION_COUNT, &[workspace.key.into()])?;
            let parameters = [workspace.key.into(), limit.into(), offset.into()];
            let page: Vec<(i64, String, Timestamp, Timestamp)> = tx.rows(&sql::LIST_SESSIONS, &parameters, |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?;
            let numbers: Vec<i64> = page.iter().map(|(session, ..)| *session).collect();
            let mut counts: HashMap<i64, (i64, i64, i64)> = HashMap::new();
            tx.query(&sql::COUNTS_OF_SESSIONS, &[workspace.key.into(), numbers.as_slice().into()], &mut |row| {
                counts.insert(row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?));
                Ok(())
            })?;
            let views = page.into_iter().map(|(session, session_id, created_at, updated_at)| {
                let (segments, stashed, tokens) = counts.get(&session).copied().unwrap_or_default();
                SessionView { session_id, segments, stashed, tokens, created_at, updated_at }
            });
            Ok((views.collect(), total))
        })
    }
}

/// A living session without its segments.
pub(super) fn find(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    session_id: &str,
) -> Result<Option<LoadedSession>, StoreError> {
    tx.row(&sql::SESSION, &[workspace.into(), session_id.into()], |row| {
        Ok(LoadedSession {
            head: SessionHead { session: row.get(0)?, version: row.get(1)?, epoch: row.get(2)? },
            session_id: session_id.to_owned(),
            state: SessionState {
                settings: row.get(3)?,
                focus: row.get(4)?,
                collections: row.get(5)?,
                next_step: row.get(6)?,
            },
            created_at: row.get(7)?,
            updated_at: row.get(8)?,
            segments: Vec::new(),
        })
    })
}

/// A name in the trash is taken until it is purged: whoever undoes the deletion wants the session back under it.
pub(super) fn refuse_trashed(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    session_id: &str,
) -> Result<(), StoreError> {
    match tx.row(&sql::TRASHED_SESSION, &[workspace.into(), session_id.into()], |_| Ok(()))? {
        Some(()) => Err(StoreError::SessionTrashed { session_id: session_id.to_owned() }),
        None => Ok(()),
    }
}
