//! Deleting segments and sessions that the caller names: plan, confirmation and sweep in one transaction.

use std::collections::{HashMap, HashSet};

use rootset_gc::Skip;
use rootset_model::plan::{Action, ItemKind, PlanItem, Reason};
use rootset_model::{SegmentKey, SessionKey};

use super::load::{self, SessionHead};
use crate::driver::Transaction;
use crate::error::StoreError;
use crate::runs::{self, RunView};
use crate::statements::context as sql;
use crate::statements::runs as run_sql;
use crate::sweep::sweep_named;
use crate::update::EraseIds;
use crate::{Stamp, Store, Workspace};

/// What became of segments that somebody wanted gone.
#[derive(Clone, Debug)]
pub struct SegmentDeletion {
    pub run: RunView,
    pub deleted: Vec<i64>,
    pub skipped: Vec<(i64, Skip)>,
}

impl Store {
    /// Trashes segments (number and version) of a session, on top of the version that the caller knows; with lines in its
    /// ledger. What is pinned, gone or changed is skipped.
    pub fn delete_segments(
        &self,
        workspace: &Workspace,
        session: SessionHead,
        segments: &[(i64, i64)],
        ids: EraseIds,
        grace_ms: i64,
        stamp: Stamp<'_>,
    ) -> Result<SegmentDeletion, StoreError> {
        let mut seen = HashSet::new();
        let named: Vec<(i64, i64)> = segments.iter().filter(|(segment, _)| seen.insert(*segment)).copied().collect();
        self.write(workspace, |tx| {
            check_head(tx, workspace, session)?;
            let item = |(segment, version): &(i64, i64)| PlanItem {
                kind: ItemKind::SEGMENT,
                object: SegmentKey(*segment).object(),
                revision: 0,
                version: *version,
                action: Action::Trash,
                reason: Reason::NAMED,
            };
            let items = named.iter().map(item).collect();
            sweep_named(tx, workspace.key, items, "context_gc_prune", ids, grace_ms, stamp)?;
            let parameters = [workspace.key.into(), (&ids.run).into(), i64::MAX.into(), (&ids.plan).into()];
            let skips: HashMap<[u8; 16], Skip> = tx
                .rows(&run_sql::SKIPS, &parameters, |row| {
                    let reason = Skip::from_stored(&row.get::<String>(2)?);
                    Ok((row.get(1)?, reason.ok_or(StoreError::UnreadableValue("a skip"))?))
                })?
                .into_iter()
                .collect();
            let mut deletion =
                SegmentDeletion { run: runs::find(tx, workspace.key, ids.run)?, deleted: vec![], skipped: vec![] };
            for (segment, _) in &named {
                match skips.get(&SegmentKey(*segment).object()) {
                    Some(reason) => deletion.skipped.push((*segment, *reason)),
                    None => deletion.deleted.push(*segment),
                }
            }
            Ok(deletion)
        })
    }

    /// Trashes a whole session: one flip, because nothing in it is reached but through it. Pins do not hold it.
    pub fn delete_session(
        &self,
        workspace: &Workspace,
        session_id: &str,
        ids: EraseIds,
        grace_ms: i64,
        stamp: Stamp<'_>,
    ) -> Result<RunView, StoreError> {
        self.write(workspace, |tx| {
            let Some(session) = load::find(tx, workspace.key, session_id)? else {
                load::refuse_trashed(tx, workspace.key, session_id)?;
                return Err(StoreError::SessionNotFound(session_id.to_owned()));
            };
            let item = PlanItem {
                kind: ItemKind::SESSION,
                object: SessionKey(session.head.session).object(),
                revision: 0,
                version: session.head.version,
                action: Action::Trash,
                reason: Reason::NAMED,
            };
            sweep_named(tx, workspace.key, vec![item], "context_delete_session", ids, grace_ms, stamp)?;
            runs::find(tx, workspace.key, ids.run)
        })
    }
}

fn check_head(tx: &mut dyn Transaction, workspace: &Workspace, known: SessionHead) -> Result<(), StoreError> {
    let key = [workspace.key.into(), known.session.into()];
    let found: Option<(String, i64, i64, bool)> =
        tx.row(&sql::SESSION_BY_NUMBER, &key, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    match found {
        None => Err(StoreError::SessionNotFound(SessionKey(known.session).external().to_string())),
        Some((session_id, _, _, true)) => Err(StoreError::SessionTrashed { session_id }),
        Some((_, version, epoch, _)) if (version, epoch) == (known.version, known.epoch) => Ok(()),
        Some((session_id, ..)) => Err(StoreError::SessionChanged { session_id }),
    }
}
