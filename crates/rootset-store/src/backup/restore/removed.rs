//! What somebody had removed and housekeeping purged since the backup: it comes back, but into the trash and with a new grace.
//!
//! Whoever restores an old backup may well want it; whoever had removed it does not want to see it.

use super::super::rows::Cell;
use super::FreshTrash;
use super::ledger::Since;
use super::targets::Target;
use crate::Stamp;
use crate::driver::Transaction;
use crate::error::StoreError;
use crate::kinds::{KINDS, TrashingAgain};
use crate::purge::REMOVED_AGAIN;
use crate::runs::{self, NewRun, RunCounts};

/// Answers how many roots there were; a run of their own holds them.
pub(super) fn trash_again(
    tx: &mut dyn Transaction,
    target: &mut Target<'_>,
    since: &Since,
    trash: FreshTrash,
    stamp: Stamp<'_>,
) -> Result<i64, StoreError> {
    let Since { removed, removed_runs, .. } = since;
    let again = TrashingAgain { workspace: target.key, removed, removed_runs, run: trash.run, stamp };
    let mut counts = RunCounts::default();
    for kind in KINDS {
        counts.taken.add_all(&kind.trash_again(tx, &again)?);
    }
    if target.is_trashed_again {
        // The row of the workspace is written in the end, from these.
        (target.cells[7], target.cells[8]) = (Cell::Blob(trash.run.0.to_vec()), Cell::Integer(stamp.now.0));
        counts.taken.add("workspaces", 1);
    }
    let total = counts.taken.total();
    if total > 0 {
        let undo_until = Some(stamp.now.saturating_add_ms(trash.grace_ms));
        let run = NewRun { id: trash.run, operation: REMOVED_AGAIN, plan: None, undo_until };
        runs::insert(tx, target.key, &run, stamp)?;
        runs::advance(tx, target.key, trash.run, 0, &counts, Some(stamp.now))?;
    }
    Ok(total)
}
