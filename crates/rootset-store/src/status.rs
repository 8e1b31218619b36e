//! The state of a workspace's heap, and how much of the file is dead.

use rootset_gc::ObservedTime;
use rootset_model::{Counts, Timestamp};

use crate::driver::{Sizes, Tenant};
use crate::error::StoreError;
use crate::kinds::KINDS;
use crate::removals::{Removals, removals_by_agents};
use crate::runs::RunView;
use crate::statements::status as sql;
use crate::{Store, Workspace, workspaces};

const DAY_MS: i64 = 24 * 3_600_000;
/// Names of memories that agents removed; all of them are counted.
const NAMES_SHOWN: i64 = 5;

#[derive(Clone, Debug, Default)]
pub struct HeapStatus {
    /// By kind; segments only where their session lives.
    pub live: Counts,
    pub pinned: i64,
    /// Living, but superseded, expired or stale.
    pub out_of_search: i64,
    /// Living, without a time of ingestion that is past and not in doubt.
    pub unclassifiable: i64,
    /// By kind; segments one by one, those of a trashed session are not counted again.
    pub trashed: Counts,
    pub oldest_trash_at: Option<Timestamp>,
    pub trash_bytes: i64,
    pub last_runs: Vec<RunView>,
    /// Runs whose undo ends within a day.
    pub undo_ends_soon: Vec<RunView>,
    pub removed_by_agents: Removals,
    pub dead: DeadRows,
    pub sizes: Sizes,
    /// The database's own clock.
    pub clock: ObservedTime,
}

/// Chunks that were purged since the last defragmentation, and those there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeadRows {
    pub chunks: i64,
    pub purged: i64,
}

impl DeadRows {
    pub fn fraction(&self) -> f64 {
        let all = self.chunks + self.purged;
        if all == 0 { 0.0 } else { self.purged as f64 / all as f64 }
    }
}

impl HeapStatus {
    /// The oldest of what a kind has in the trash.
    pub(crate) fn note_trash_since(&mut self, oldest: Option<Timestamp>) {
        self.oldest_trash_at = self.oldest_trash_at.into_iter().chain(oldest).min();
    }
}

impl Store {
    pub fn status(&self, workspace: &Workspace, runs: i64, now: Timestamp) -> Result<HeapStatus, StoreError> {
        let mut status = self.read(workspace, |tx| {
            let mut counts = HeapStatus::default();
            for kind in KINDS {
                kind.count_heap(tx, workspace.key, now, &mut counts)?;
            }
            let trash_bytes = tx.scalar(&sql::TRASH_BYTES, &[workspace.key.into()])?;
            let last_runs = tx.rows(&sql::LAST_RUNS, &[workspace.key.into(), runs.into()], RunView::read)?;
            let soon = now.saturating_add_ms(DAY_MS);
            let parameters = [workspace.key.into(), soon.into(), runs.into()];
            let undo_ends_soon = tx.rows(&sql::UNDO_ENDS_SOON, &parameters, RunView::read)?;
            let removed_by_agents = removals_by_agents(tx, workspace.key, NAMES_SHOWN, now)?;
            let clock = tx.observed_time()?;
            Ok(HeapStatus { trash_bytes, last_runs, undo_ends_soon, removed_by_agents, clock, ..counts })
        })?;
        status.dead = self.dead_rows()?;
        status.sizes = self.engine.sizes()?;
        Ok(status)
    }

    pub fn dead_rows(&self) -> Result<DeadRows, StoreError> {
        self.read(Tenant::Database, |tx| {
            let mut dead = DeadRows { chunks: 0, purged: tx.scalar(&sql::PURGED_CHUNKS, &[])? };
            let workspaces = workspaces::keys(tx)?;
            tx.query_each(&workspaces, &sql::CHUNK_COUNT, &[], &mut |_, row| {
                dead.chunks += row.get::<i64>(0)?;
                Ok(())
            })?;
            Ok(dead)
        })
    }
}
