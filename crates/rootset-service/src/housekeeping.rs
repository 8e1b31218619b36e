//! Daily housekeeping: a backup is taken, trash whose grace is over is purged, plans of the past are removed, the log is
//! emptied.
//!
//! Independent of the scheduler: any process that wrote does it after its answer, at most once a day over all processes,
//! under a lease. It touches only what the protocol has already condemned. While the clock is in doubt it removes nothing,
//! and takes backups all the same. A scheduler also takes backups more often than once a day, where the interval asks for
//! it, and one before it purges.

use rootset_model::Timestamp;
use rootset_store::{DATABASE, Lease, OldPlans, PastGrace, Stamp};

use crate::error::ServiceError;
use crate::scheduler::Waiting;
use crate::scheduler::state::{self, HousekeepingNote};
use crate::service::Service;

const DAY_MS: i64 = 24 * 3_600_000;
/// A process that dies in the middle leaves the rest to the next one after so long.
const LEASE_MS: i64 = 10 * 60_000;
/// Whoever applies a plan a little too late should hear that it expired, not that it never was.
const EXPIRED_PLANS_KEPT_MS: i64 = 7 * DAY_MS;
/// Applying a plan again answers its first outcome for so long.
const FINISHED_PLANS_KEPT_MS: i64 = 90 * DAY_MS;
const ACTOR: &str = "housekeeping";
/// A command that wants to end copies no database larger than this; a scheduler copies any.
const BYTES_BACKED_UP_AT_END_MAX: i64 = 1 << 30;

/// Who does it: a scheduler takes more time than a command that wants to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Housekeeper {
    Scheduler,
    Writer,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Housekept {
    pub backups_taken: i64,
    /// Whether the backup holds texts that had changed on the disk.
    pub found_rot: bool,
    pub backups_removed: i64,
    pub runs_purged: i64,
    pub memories_purged: i64,
    pub plans_removed: i64,
}

impl Service {
    /// Does what is due, if anything is; `None` when it was done already or is being done.
    pub fn housekeep(&self, keeper: Housekeeper) -> Result<Option<Housekept>, ServiceError> {
        let now = self.now();
        let note: HousekeepingNote = state::read(&self.store, state::HOUSEKEEPING)?;
        if self.due(&note, keeper, now) == Due::default() {
            return Ok(None);
        }
        let Some(lease) = self.store.acquire_lease(state::HOUSEKEEPING, now, LEASE_MS)? else { return Ok(None) };
        let outcome = self.housekeep_under(&lease, keeper);
        self.store.release_lease(&lease)?;
        outcome
    }

    fn due(&self, note: &HousekeepingNote, keeper: Housekeeper, now: Timestamp) -> Due {
        let is_daily = is_due(note, now);
        Due { daily: is_daily, backup: is_backup_due(note, self.backup_interval_ms(), keeper, is_daily, now) }
    }

    /// For after the answer: a failure is logged and changes nothing.
    pub(crate) fn housekeep_and_log(&self, keeper: Housekeeper) {
        match self.housekeep(keeper) {
            Ok(Some(done)) => tracing::info!(?done, "housekeeping"),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "housekeeping failed; the next one tries again"),
        }
    }

    /// Tries again to empty the log, where a reader stood in the way of a purge. For after the answer, too.
    pub(crate) fn retry_log_and_log(&self) {
        match self.store.retry_log() {
            Ok(true) => {}
            Ok(false) => tracing::info!("a reader still holds the log: what was removed is still in it"),
            Err(error) => tracing::warn!(%error, "emptying the log failed; the next one tries again"),
        }
        self.empty_old_log_and_log();
    }

    /// Moves what was written some minutes ago out of the log. For whoever has time, now and then.
    pub fn empty_old_log_and_log(&self) {
        if let Err(error) = self.store.empty_old_log() {
            tracing::warn!(%error, "emptying the log failed; the next one tries again");
        }
    }

    fn housekeep_under(&self, lease: &Lease, keeper: Housekeeper) -> Result<Option<Housekept>, ServiceError> {
        let now = self.now();
        // Read again under the lease: another process may just have finished.
        let mut note: HousekeepingNote = state::read(&self.store, state::HOUSEKEEPING)?;
        let due = self.due(&note, keeper, now);
        if due == Due::default() {
            return Ok(None);
        }
        let waiting = self.waiting()?;
        let mut done = Housekept::default();
        if due.backup {
            self.back_up_unless_too_large(lease, keeper, waiting.as_ref(), &mut note, &mut done)?;
        }
        if let Some(waiting) = waiting.as_ref().filter(|_| due.daily) {
            tracing::info!("{}", waiting.in_words());
        }
        if due.daily && waiting.is_none() {
            self.store.restamp(now)?;
            if self.settings.gc.purge_trash {
                self.purge_past_grace(lease, keeper, &mut note, &mut done)?;
            }
            self.remove_old_plans(now, &mut done)?;
            self.drop_old_hook_sessions(now)?;
            self.store.delete_old_commits()?;
        }
        if due.daily {
            self.warn_of_ending_tokens(ACTOR)?;
            // Also for whoever removed something, met a reader and ended before it was gone.
            if !self.store.empty_log()? {
                tracing::info!("a reader holds the log: what was removed is still in it");
            }
            let dead = self.store.dead_rows()?.fraction();
            note.defrag_recommended = rootset_gc::is_defrag_recommended(dead, self.settings.gc.defrag_threshold);
            note.done_at_ms = Some(now.0);
        }
        state::write(&self.store, lease, &note)?;
        Ok(Some(done))
    }

    /// A failure is logged: a full disk for backups must not keep the trash from being emptied.
    fn back_up_unless_too_large(
        &self,
        lease: &Lease,
        keeper: Housekeeper,
        waiting: Option<&Waiting>,
        note: &mut HousekeepingNote,
        done: &mut Housekept,
    ) -> Result<(), ServiceError> {
        if keeper == Housekeeper::Writer && self.store.database_bytes()? >= BYTES_BACKED_UP_AT_END_MAX {
            return Ok(());
        }
        let outcome = self.back_up(lease, note, done).and_then(|()| match waiting {
            // By a wrong clock every backup may look old.
            Some(_) => Ok(()),
            None => self.remove_old_backups(done),
        });
        if let Err(error) = outcome {
            tracing::warn!(%error, "the backup failed; the next housekeeping tries again");
        }
        Ok(())
    }

    /// Takes a backup, which verifies unless something has rotted.
    fn back_up(&self, lease: &Lease, note: &mut HousekeepingNote, done: &mut Housekept) -> Result<(), ServiceError> {
        match self.create_whole_backup(ACTOR.into()) {
            Err(error) if is_altered(&error) => {
                // It is all there is of the rest, but it does not verify.
                tracing::error!(%error, "texts have changed on the disk");
                done.found_rot = true;
            }
            made => drop(made?),
        }
        done.backups_taken += 1;
        note.backed_up_at_ms = Some(self.now().0);
        Ok(self.store.renew_lease(lease, self.now(), LEASE_MS)?)
    }

    fn remove_old_backups(&self, done: &mut Housekept) -> Result<(), ServiceError> {
        done.backups_removed += self.prune_backups(self.now())?.len() as i64;
        Ok(())
    }

    fn purge_past_grace(
        &self,
        lease: &Lease,
        keeper: Housekeeper,
        note: &mut HousekeepingNote,
        done: &mut Housekept,
    ) -> Result<(), ServiceError> {
        let condemned = self.store.trash_past_grace(self.settings.grace_ms, self.now())?;
        let wants_backups = self.backup_interval_ms().is_some();
        if keeper == Housekeeper::Scheduler && wants_backups && !condemned.is_empty() {
            // Nobody looks on when a scheduler purges: without a backup that verifies, it does not.
            if done.backups_taken == 0 {
                self.back_up(lease, note, done)?;
                self.remove_old_backups(done)?;
            }
            if done.found_rot {
                tracing::error!("nothing is purged while texts are no longer what was written; `doctor` names them");
                return Ok(());
            }
        }
        for PastGrace { workspace, run } in condemned {
            self.store.renew_lease(lease, self.now(), LEASE_MS)?;
            let stamp = Stamp::new(self.now(), ACTOR);
            let receipt = self.store.purge_past_grace(&workspace, run, self.next_erasure_id(), stamp)?;
            done.runs_purged += 1;
            done.memories_purged += receipt.rows.get("memories");
            for warning in &receipt.warnings {
                tracing::warn!("purging: {warning}");
            }
        }
        Ok(())
    }

    fn remove_old_plans(&self, now: Timestamp, done: &mut Housekept) -> Result<(), ServiceError> {
        let old = OldPlans {
            expired_before: now.saturating_add_ms(-EXPIRED_PLANS_KEPT_MS),
            finished_before: now.saturating_add_ms(-FINISHED_PLANS_KEPT_MS),
        };
        for workspace in self.store.workspaces()? {
            done.plans_removed += self.store.delete_old_plans(workspace.key, old)?;
        }
        // Joint plans have no run of their own: they are kept as long as those of their parts, and can be undone.
        let kept_ms = FINISHED_PLANS_KEPT_MS.max(self.settings.grace_ms.saturating_add(DAY_MS));
        let old = OldPlans { expired_before: now.saturating_add_ms(kept_ms.saturating_neg()), ..old };
        done.plans_removed += self.store.delete_old_plans(DATABASE, old)?;
        Ok(())
    }
}

/// Whether a backup was made of a database in which something has rotted.
fn is_altered(error: &ServiceError) -> bool {
    error.details.as_ref().is_some_and(|details| details["altered"] == true)
}

/// What there is to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Due {
    daily: bool,
    backup: bool,
}

/// Writers take backups with the rest of their housekeeping, schedulers whenever the interval is over. Nobody takes one
/// of a database that is seen for the first time: there is nothing in it yet.
fn is_backup_due(
    note: &HousekeepingNote,
    interval_ms: Option<i64>,
    keeper: Housekeeper,
    is_daily: bool,
    now: Timestamp,
) -> bool {
    let Some(interval_ms) = interval_ms.filter(|_| note.done_at_ms.is_some()) else { return false };
    let is_over = note.backed_up_at_ms.is_none_or(|at| now.0.abs_diff(at) >= interval_ms.unsigned_abs());
    is_over && (is_daily || keeper == Housekeeper::Scheduler)
}

/// At most once a day, by whatever the clock says.
fn is_due(note: &HousekeepingNote, now: Timestamp) -> bool {
    note.done_at_ms.is_none_or(|at| now.0.abs_diff(at) >= DAY_MS.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn housekeeping_is_due_once_a_day_whatever_the_clock_does() {
        let done_at = |at: i64| HousekeepingNote { done_at_ms: Some(at), ..HousekeepingNote::default() };
        let now = Timestamp(100 * DAY_MS);
        assert!(is_due(&HousekeepingNote::default(), now));
        assert!(!is_due(&done_at(100 * DAY_MS - 1), now));
        assert!(is_due(&done_at(99 * DAY_MS), now));
        assert!(is_due(&done_at(900 * DAY_MS), now), "a time in the future holds nothing back");
    }

    #[test]
    fn backups_follow_their_interval_and_writers_wait_for_their_day() {
        let now = Timestamp(100 * DAY_MS);
        let note = |backed_up_ago: i64| HousekeepingNote {
            done_at_ms: Some(now.0 - DAY_MS),
            backed_up_at_ms: Some(now.0 - backed_up_ago),
            ..HousekeepingNote::default()
        };
        let is_due =
            |note: &HousekeepingNote, interval, keeper, is_daily| is_backup_due(note, interval, keeper, is_daily, now);
        let (hour, day) = (Some(DAY_MS / 24), Some(DAY_MS));
        assert!(is_due(&note(DAY_MS), day, Housekeeper::Writer, true));
        assert!(!is_due(&note(DAY_MS - 1), day, Housekeeper::Writer, true));
        assert!(!is_due(&note(DAY_MS / 2), hour, Housekeeper::Writer, false));
        assert!(is_due(&note(DAY_MS / 2), hour, Housekeeper::Scheduler, false));
        assert!(!is_due(&note(DAY_MS), None, Housekeeper::Scheduler, true), "turned off");
        assert!(!is_due(&HousekeepingNote::default(), day, Housekeeper::Writer, true), "a new database");
    }
}
