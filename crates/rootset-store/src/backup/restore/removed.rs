//! What a restore brings back into the trash, with a new grace: what somebody had removed and housekeeping purged since the
//! backup, and what is past a final policy by now.
//!
//! Whoever restores an old backup may well want it; whoever had removed it does not want to see it, and what a legal period
//! forbids to keep must not be served again.

use super::super::rows::Cell;
use super::ledger::Since;
use super::targets::Target;
use super::{Configured, FreshTrash};
use crate::driver::Transaction;
use crate::error::StoreError;
use crate::kinds::{KINDS, TrashingAgain};
use crate::purge::REMOVED_AGAIN;
use crate::runs::{self, NewRun, RunCounts};
use crate::statements::runs as run_sql;
use crate::{STANDARD_CLASS, Stamp, Workspace, garbage};

/// The place of a workspace's class among its cells.
const CLASS_CELL: usize = 9;

/// Answers how many roots there were; a run of their own holds them.
pub(super) fn trash_again(
    tx: &mut dyn Transaction,
    target: &mut Target<'_>,
    since: &Since,
    trash: FreshTrash,
    configured: Configured<'_>,
    stamp: Stamp<'_>,
) -> Result<i64, StoreError> {
    let Since { removed, removed_runs, .. } = since;
    let again = TrashingAgain { workspace: target.key, removed, removed_runs, run: trash.run, stamp };
    let mut counts = RunCounts::default();
    for kind in KINDS {
        counts.taken.add_all(&kind.trash_again(tx, &again)?);
    }
    let text = |place: usize| target.cells[place].text();
    let (id, class) = (text(0).unwrap_or_default().to_owned(), text(CLASS_CELL).unwrap_or(STANDARD_CLASS).to_owned());
    let workspace = Workspace { key: target.key, id, class, trashed: None, person: None };
    let over = garbage::past_final_policies(tx, target.key, (configured.0)(&workspace), stamp.now)?;
    if !over.is_empty() {
        let parameters = [target.key.into(), over.as_slice().into(), (&trash.run).into(), stamp.now.into()];
        counts.taken.add("memories", tx.execute(&run_sql::TRASH_MEMORIES, &parameters)? as i64);
    }
    if target.is_trashed_again {
        // The row of the workspace is written in the end, from these.
        (target.cells[7], target.cells[8]) = (Cell::Blob(trash.run.0.to_vec()), Cell::Integer(stamp.now.0));
        counts.taken.add("workspaces", 1);
    }
    let total = counts.taken.total();
    if total > 0 {
        let undo_until = Some(stamp.now.saturating_add_ms(trash.grace_ms));
        let run = NewRun { id: trash.run, operation: REMOVED_AGAIN, plan: None, undo_until, drain: None };
        runs::insert(tx, target.key, &run, stamp)?;
        runs::advance(tx, target.key, trash.run, 0, &counts, Some(stamp.now))?;
    }
    Ok(total)
}
