//! What the protocol tells a kind in each of its phases, and what it wants to know.

use std::collections::{HashMap, HashSet};

use rootset_gc::RootState;
use rootset_model::{Counts, ErasureId, PlanId, RetentionPolicy, RunId, Timestamp, WorkspaceKey};

use crate::Stamp;
use crate::driver::{SearchRemoval, Statement, Transaction, Value};
use crate::erasure::Class;
use crate::error::StoreError;
use crate::runs::RunView;
use crate::sweep::Remains;

pub(crate) type Id = [u8; 16];
/// States by id and revision; what does not exist is not in it.
pub(crate) type States = HashMap<(Id, i64), RootState>;
/// What a preview shows of items, by id.
pub(crate) type Descriptions = HashMap<Id, Description>;

/// A plan that is being stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planned {
    pub workspace: WorkspaceKey,
    pub plan: PlanId,
}

/// Splits a text into terms of the full text: what knows how to do so is not in the store.
pub type Terms<'a> = &'a dyn Fn(&str) -> String;

/// A run at work.
#[derive(Clone, Copy)]
pub(crate) struct Sweep<'a> {
    pub workspace: WorkspaceKey,
    pub run: RunId,
    pub erases: bool,
    /// What stays of memories that are cut.
    pub remains: &'a Remains,
    pub terms: Terms<'a>,
    pub stamp: Stamp<'a>,
}

/// What the erasure ledger notes beside each thing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ledger<'a> {
    pub erasure: ErasureId,
    pub cause: &'a str,
    pub run: RunId,
    /// `None`: a policy removed it and its grace is over, so nothing is noted and any backup may bring it back.
    pub class: Option<Class>,
}

/// A batch that is erased.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Erasing<'a> {
    pub workspace: WorkspaceKey,
    pub ledger: Ledger<'a>,
    /// What the whole plan takes.
    pub planned: &'a Counts,
    pub stamp: Stamp<'a>,
}

/// A run that is undone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undoing<'a> {
    pub workspace: WorkspaceKey,
    pub run: &'a RunView,
    /// Rows of a batch.
    pub size: usize,
    /// The whole texts of memories that the run cut.
    pub wholes: &'a Remains,
    pub stamp: Stamp<'a>,
}

/// A run whose trash is removed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Purging<'a> {
    pub workspace: WorkspaceKey,
    pub ledger: Ledger<'a>,
    /// Rows of a batch.
    pub size: usize,
    pub stamp: Stamp<'a>,
}

/// A workspace that is removed with all there is in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Emptying<'a> {
    pub workspace: WorkspaceKey,
    pub erasure: ErasureId,
    pub class: Class,
    /// Rows of a batch.
    pub size: usize,
    pub removal: SearchRemoval,
    pub stamp: Stamp<'a>,
}

/// A restored backup, and what was erased since it was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replaying<'a> {
    pub workspace: WorkspaceKey,
    /// Lines of the erasure ledger: a hash of what was erased, or none where the id says all, and an id.
    pub erased: &'a [(Vec<u8>, Id)],
    /// Runs whose trash was erased.
    pub erased_runs: &'a HashSet<Id>,
    pub stamp: Stamp<'a>,
}

/// A restored backup, and what somebody had removed and housekeeping purged since it was made: it goes into the trash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrashingAgain<'a> {
    pub workspace: WorkspaceKey,
    /// Lines of the erasure ledger, as in [`Replaying`].
    pub removed: &'a [(Vec<u8>, Id)],
    /// Runs whose trash somebody made and housekeeping purged.
    pub removed_runs: &'a HashSet<Id>,
    /// The run that holds the new trash.
    pub run: RunId,
    pub stamp: Stamp<'a>,
}

impl TrashingAgain<'_> {
    /// Flips rows by a list of their ids, whatever trash they are in; answers how many there were.
    pub(crate) fn flip(
        &self,
        tx: &mut dyn Transaction,
        statement: &Statement,
        ids: Value<'_>,
    ) -> Result<i64, StoreError> {
        let parameters = [self.workspace.into(), ids, (&self.run).into(), self.stamp.now.into()];
        Ok(tx.execute(statement, &parameters)? as i64)
    }
}

/// Whether a batch took all there was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Done,
    More,
}

impl Progress {
    /// A batch that is not full was the last.
    pub(crate) fn of(rows: usize, size: usize) -> Self {
        if rows < size { Self::Done } else { Self::More }
    }
}

/// What an explanation depends on besides the rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct When {
    /// The policy in force where the database has none.
    pub configured: RetentionPolicy,
    pub now: Timestamp,
}

/// What a preview shows of an item.
#[derive(Clone, Debug, Default)]
pub(crate) struct Description {
    pub name: Option<String>,
    pub topic: Option<String>,
    pub file_path: Option<String>,
    pub created_at: Option<Timestamp>,
    pub lines: Option<i64>,
    pub chunk_count: Option<i64>,
}
