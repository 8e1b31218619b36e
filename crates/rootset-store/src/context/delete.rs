//! Pruning segments and deleting sessions that the caller names: plan, confirmation and sweep in one transaction.

use std::collections::{HashMap, HashSet};

use rootset_gc::Skip;
use rootset_model::plan::{Action, ItemKind, PlanItem, Reason};
use rootset_model::{SegmentKey, SessionKey};

use super::load::{self, SessionHead};
use super::plans::SegmentItem;
use crate::driver::Transaction;
use crate::error::StoreError;
use crate::kinds::Terms;
use crate::runs::{self, RunView};
use crate::statements::context as sql;
use crate::statements::runs as run_sql;
use crate::sweep::{sweep_named, sweep_segments};
use crate::update::EraseIds;
use crate::{Stamp, Store, Workspace};

/// Segments that somebody wants out of the window, and how.
#[derive(Clone, Copy)]
pub struct Pruning<'a> {
    /// The version that the caller knows.
    pub session: SessionHead,
    /// To be stashed or trashed; each once.
    pub items: &'a [SegmentItem],
    pub terms: Terms<'a>,
    pub ids: EraseIds,
    /// How long what is trashed can be undone.
    pub grace_ms: i64,
}

impl std::fmt::Debug for Pruning<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pruning").field("items", &self.items.len()).finish_non_exhaustive()
    }
}

/// What became of them.
#[derive(Clone, Debug)]
pub struct Pruned {
    pub run: RunView,
    pub stashed: Vec<i64>,
    pub deleted: Vec<i64>,
    pub skipped: Vec<(i64, Skip)>,
}

impl Store {
    /// Stashes and trashes segments of a session in one run, with lines in its ledger. What is pinned, gone or changed is
    /// skipped.
    pub fn prune_segments(
        &self,
        workspace: &Workspace,
        pruning: &Pruning<'_>,
        stamp: Stamp<'_>,
    ) -> Result<Pruned, StoreError> {
        let mut seen = HashSet::new();
        let named: Vec<&SegmentItem> = pruning.items.iter().filter(|(segment, ..)| seen.insert(*segment)).collect();
        let ids = pruning.ids;
        self.write(workspace, |tx| {
            check_head(tx, workspace, pruning.session)?;
            let item = |(segment, version, action, reason): &&SegmentItem| PlanItem {
                kind: ItemKind::SEGMENT,
                object: SegmentKey(*segment).object(),
                revision: 0,
                version: *version,
                action: *action,
                reason: *reason,
            };
            sweep_segments(tx, workspace.key, named.iter().map(item).collect(), pruning, stamp)?;
            let parameters = [workspace.key.into(), (&ids.run).into(), i64::MAX.into(), (&ids.plan).into()];
            let skips: HashMap<[u8; 16], Skip> = tx
                .rows(&run_sql::SKIPS, &parameters, |row| {
                    let reason = Skip::from_stored(&row.get::<String>(2)?);
                    Ok((row.get(1)?, reason.ok_or(StoreError::UnreadableValue("a skip"))?))
                })?
                .into_iter()
                .collect();
            let run = runs::find(tx, workspace.key, ids.run)?;
            let mut pruned = Pruned { run, stashed: vec![], deleted: vec![], skipped: vec![] };
            for (segment, _, action, _) in &named {
                match skips.get(&SegmentKey(*segment).object()) {
                    Some(reason) => pruned.skipped.push((*segment, *reason)),
                    None if *action == Action::Stash => pruned.stashed.push(*segment),
                    None => pruned.deleted.push(*segment),
                }
            }
            Ok(pruned)
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
