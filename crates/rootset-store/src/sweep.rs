//! Carrying out a confirmed plan, in batches of whole roots. The only code that puts anything into the trash.
//!
//! I1–I3 are checked again for every item inside the batch's own transaction, with the cursor and the audit row beside it:
//! a crash between two batches is resumed from the cursor. A run of several batches belongs to one process by a lease
//! whose fence every batch checks, so that two appliers of one plan do not take turns.

mod confirm;
mod named;
mod redact;

use std::collections::{HashMap, HashSet};

use rootset_gc::invariants::sweep::Swept;
use rootset_gc::{Skip, recheck};
use rootset_model::limits::{SKIPPED_SHOWN, SWEEP_LEASE_MS};
use rootset_model::plan::{PlanItem, Reason};
use rootset_model::{Counts, ErasureId, Limits, PlanId, RetentionPolicy, RunId, Timestamp, WorkspaceKey};

pub(crate) use confirm::ConfirmedPlan;
pub(crate) use named::{erase_revisions, sweep_named, sweep_segments, trash_revisions};
pub(crate) use redact::Redacting;
pub use redact::{Remains, Remnant};

use crate::driver::Transaction;
use crate::error::StoreError;
use crate::failpoints::{failpoint, sweep_batch_memories};
use crate::garbage::{self, Seen};
use crate::graph;
use crate::kinds::{self, KINDS, States, Sweep, Terms};
use crate::leases::{self, Lease, Work};
use crate::plans::{self, Choice};
use crate::purge::{self, Erased, Receipt};
use crate::runs::{self, RunCounts, RunView};
use crate::statements::runs as sql;
use crate::{Author, Stamp, Store, Workspace, audit};

#[derive(Clone, Copy)]
pub struct ApplyOptions<'a> {
    /// Ids of items to keep, as the preview shows them.
    pub exclude: &'a [String],
    pub allow_large: bool,
    /// Needed by plans that erase.
    pub confirm: bool,
    pub limits: &'a Limits,
    pub grace_ms: i64,
    /// Ids for a run that starts now; a resumed one keeps its own.
    pub run: RunId,
    pub erasure: ErasureId,
    /// The policy of the configuration: whether items are still garbage is asked again.
    pub configured: RetentionPolicy,
    /// The run stops at the edge of a batch after so long; applying the plan again goes on.
    pub time_limit_ms: Option<i64>,
    /// Time goes on during a long run: its lease and its limit are told by this.
    pub clock: &'a dyn Fn() -> Timestamp,
    /// What is stashed becomes searchable.
    pub terms: Terms<'a>,
    /// What the reviewer wants of single items, by their ids.
    pub choices: &'a [(String, Choice)],
    /// The texts that stay of memories that are cut.
    pub remains: &'a Remains,
}

impl std::fmt::Debug for ApplyOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApplyOptions").field("run", &self.run).finish_non_exhaustive()
    }
}

#[derive(Clone, Debug)]
pub struct Applied {
    pub run: RunView,
    pub skipped: Skipped,
    pub receipt: Option<Receipt>,
    /// What went wrong after something was stored.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Skipped {
    pub count: i64,
    pub first: Vec<(String, Skip)>,
}

/// A run that this process carries out.
struct Running {
    confirmed: ConfirmedPlan,
    /// `None` when the first batch was the last.
    lease: Option<Lease>,
    erased: Erased,
}

impl Store {
    /// Applies a stored plan, or resumes, or answers the outcome of the first time.
    pub fn apply_plan<'a>(
        &self,
        workspace: &Workspace,
        plan: PlanId,
        options: &ApplyOptions<'_>,
        author: impl Into<Author<'a>>,
    ) -> Result<Applied, StoreError> {
        let author = author.into();
        let began_at = (options.clock)();
        let stamp = Stamp::new(began_at, author);
        let no_longer = self.read(workspace, |tx| {
            let stored = plans::find(tx, workspace.key, plan)?;
            confirm::no_longer_garbage(tx, workspace.key, &stored, options, stamp)
        })?;
        let (started, size) = self.start_apply(workspace.key, plan, options, no_longer.as_ref(), stamp)?;
        let (receipt, mut warnings) = self.go_on(started, size, options, began_at, author)?;
        let is_partial = !warnings.is_empty();
        let mut outcome = self
            .outcome(workspace, plan)
            .map_err(|cause| StoreError::AnswerLost { is_partial, cause: cause.into() })?;
        // Also of a run that ended before: its last attempt may have failed.
        if let Err(error) = self.carry_out(workspace.key, outcome.run.id, Stamp::new((options.clock)(), author)) {
            warnings.push(format!("what lies outside the database was not removed, apply the plan again: {error}"));
        }
        if let Some(receipt) = receipt {
            warnings.extend(receipt.warnings.iter().cloned());
            outcome.receipt = Some(receipt);
        }
        outcome.warnings = warnings;
        Ok(outcome)
    }

    /// The first batch, in pieces that fit on the disk; answers the size of those that follow.
    fn start_apply(
        &self,
        workspace: WorkspaceKey,
        plan: PlanId,
        options: &ApplyOptions<'_>,
        no_longer: Option<&HashSet<[u8; 16]>>,
        stamp: Stamp<'_>,
    ) -> Result<(Option<Running>, usize), StoreError> {
        let mut size = sweep_batch_memories();
        loop {
            let started =
                self.write_to_free_room(workspace, |tx| start(tx, workspace, plan, options, no_longer, size, stamp));
            match started {
                Err(StoreError::DiskFull) if size > 1 => size = (size / purge::BATCH_DIVISOR).max(1),
                started => return Ok((started?, size)),
            }
        }
    }

    /// Everything after the first batch. What is stored stays so, whatever happens here: applying the plan again goes on.
    fn go_on(
        &self,
        started: Option<Running>,
        size: usize,
        options: &ApplyOptions<'_>,
        began_at: Timestamp,
        author: Author<'_>,
    ) -> Result<(Option<Receipt>, Vec<String>), StoreError> {
        let Some(Running { confirmed, lease, mut erased }) = started else { return Ok((None, Vec::new())) };
        let swept = self.sweep_rest(&confirmed, lease, size, &mut erased, options, began_at, author);
        match swept {
            // Somebody else goes on with it: the caller waits for them.
            Err(error @ (StoreError::LeaseLost | StoreError::RunHeld { .. })) => return Err(error),
            Err(error) => {
                let warning = format!("stopped before the end, apply the plan again to continue: {error}");
                return Ok((None, vec![warning]));
            }
            Ok(()) => {}
        }
        if !confirmed.erases() {
            return Ok((None, Vec::new()));
        }
        Ok(match self.keep_receipt(&confirmed, erased) {
            Ok(receipt) => (receipt, Vec::new()),
            Err(error) => (None, vec![format!("there is no receipt, apply the plan again for it: {error}")]),
        })
    }

    #[expect(clippy::too_many_arguments, reason = "a run has this many sides")]
    fn sweep_rest(
        &self,
        confirmed: &ConfirmedPlan,
        lease: Option<Lease>,
        size: usize,
        erased: &mut Erased,
        options: &ApplyOptions<'_>,
        began_at: Timestamp,
        author: Author<'_>,
    ) -> Result<(), StoreError> {
        failpoint!("apply.started");
        if let Some(lease) = lease {
            let outcome = self.sweep(confirmed, &lease, size, erased, options, began_at, author);
            if outcome.is_err() {
                // Whoever resumes need not wait for the lease to run out; if this fails too, they wait.
                let _ = self.release_lease(&lease);
            }
            outcome?;
        }
        failpoint!("apply.swept");
        Ok(())
    }

    /// The second phase of external kinds: what the run has noted is done outside, with no transaction open.
    pub(crate) fn carry_out(&self, workspace: WorkspaceKey, run: RunId, stamp: Stamp<'_>) -> Result<(), StoreError> {
        for external in KINDS.iter().filter_map(|kind| kind.external()) {
            loop {
                let pending = self.read(workspace, |tx| external.pending(tx, workspace, run))?;
                if pending.is_empty() {
                    break;
                }
                external.carry_out(workspace, &pending)?;
                self.write(workspace, |tx| external.note_done(tx, workspace, &pending, stamp))?;
            }
        }
        Ok(())
    }

    /// Batches after the first, until the end or the time limit.
    #[expect(clippy::too_many_arguments, reason = "a run has this many sides")]
    fn sweep(
        &self,
        confirmed: &ConfirmedPlan,
        lease: &Lease,
        mut size: usize,
        erased: &mut Erased,
        options: &ApplyOptions<'_>,
        began_at: Timestamp,
        author: Author<'_>,
    ) -> Result<(), StoreError> {
        loop {
            let now = (options.clock)();
            if options.time_limit_ms.is_some_and(|limit| now.0.saturating_sub(began_at.0) >= limit) {
                return self.release_lease(lease);
            }
            let batch = self.write_to_free_room(confirmed.workspace(), |tx| {
                leases::renew(tx, lease, now, SWEEP_LEASE_MS)?;
                // A batch that has to be run again must not count twice.
                let mut of_batch = Erased::default();
                let is_finished =
                    sweep_batch(tx, confirmed, options.terms, size, &mut of_batch, Stamp::new(now, author))?;
                failpoint!("apply.batch");
                Ok((is_finished, of_batch))
            });
            let (is_finished, of_batch) = match batch {
                Err(StoreError::DiskFull) if size > 1 => {
                    size = (size / purge::BATCH_DIVISOR).max(1);
                    continue;
                }
                batch => batch?,
            };
            failpoint!("apply.batch_committed");
            erased.add(of_batch);
            if is_finished {
                return Ok(());
            }
        }
    }

    fn keep_receipt(&self, confirmed: &ConfirmedPlan, erased: Erased) -> Result<Option<Receipt>, StoreError> {
        let (workspace, id) = (confirmed.workspace(), confirmed.run());
        let run = self.read(workspace, |tx| runs::find(tx, workspace, id))?;
        if run.finished_at.is_none() {
            return Ok(None);
        }
        // A resumed run has lost the samples of its first part, but not the count.
        let erased = Erased { rows: run.counts.erased.clone(), ..erased };
        let mut receipt = self.receipt(workspace, None, confirmed.erasure(), erased);
        self.engine.keep_reserve();
        if !receipt.log_is_clean {
            // Who applies the plan again empties the log again, and gets a receipt that is true.
            return Ok(Some(receipt));
        }
        if let Err(error) = self.store_receipt(workspace, id, &receipt) {
            receipt.warnings.push(format!("the receipt was not stored, apply the plan again for it: {error}"));
        }
        Ok(Some(receipt))
    }

    /// Kept, so that applying the plan again answers the same.
    pub(crate) fn store_receipt(
        &self,
        workspace: WorkspaceKey,
        run: RunId,
        receipt: &Receipt,
    ) -> Result<(), StoreError> {
        let json = serde_json::to_string(receipt).expect("numbers and flags always serialise");
        self.write_to_free_room(workspace, |tx| {
            let parameters = [workspace.into(), (&run).into(), (&json).into()];
            tx.execute(&sql::SET_RECEIPT, &parameters).map(drop)
        })
    }

    /// The run of a plan, once it was applied.
    pub fn run_of_plan(&self, workspace: &Workspace, plan: PlanId) -> Result<Option<RunId>, StoreError> {
        self.read(workspace, |tx| Ok(plans::find(tx, workspace.key, plan)?.run))
    }

    fn outcome(&self, workspace: &Workspace, plan: PlanId) -> Result<Applied, StoreError> {
        self.read(workspace, |tx| {
            let stored = plans::find(tx, workspace.key, plan)?;
            let run = stored.run.ok_or(StoreError::MissingRow { statement: "plans.run" })?;
            let key = [workspace.key.into(), (&run).into()];
            let count = tx.scalar(&sql::SKIP_COUNT, &key)?;
            let parameters = [workspace.key.into(), (&run).into(), (SKIPPED_SHOWN as i64).into(), (&plan).into()];
            let first = tx.rows(&sql::SKIPS, &parameters, |row| {
                let unreadable = || StoreError::UnreadableValue("a skip");
                let kind = kinds::stored_name(&row.get::<String>(0)?)?;
                let reason = Skip::from_stored(&row.get::<String>(2)?).ok_or_else(unreadable)?;
                Ok((kinds::shown_id(kind, row.get(1)?, row.get(3)?), reason))
            })?;
            let run = runs::find(tx, workspace.key, run)?;
            let skipped = Skipped { count, first };
            Ok(Applied { receipt: run.receipt.clone(), run, skipped, warnings: Vec::new() })
        })
    }
}

/// The work of a run, for its lease.
pub(crate) fn work_of(workspace: WorkspaceKey, run: RunId) -> Work {
    Work { workspace, kind: "sweep", subject: run.0 }
}

/// `None` when the plan was applied to its end before. The first batch is part of the start: most plans have no second.
fn start(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    plan: PlanId,
    options: &ApplyOptions<'_>,
    no_longer: Option<&HashSet<[u8; 16]>>,
    size: usize,
    stamp: Stamp<'_>,
) -> Result<Option<Running>, StoreError> {
    let stored = plans::find(tx, workspace, plan)?;
    let mut erased = Erased::default();
    let confirmed = match stored.run {
        Some(run) => {
            let run = runs::find(tx, workspace, run)?;
            let confirmed = confirm::resumed(workspace, &stored, &run, options);
            if run.finished_at.is_some() {
                // A crash may have come between the last batch and its receipt.
                let lacks_receipt = stored.erases && run.receipt.is_none();
                return Ok(lacks_receipt.then_some(Running { confirmed, lease: None, erased }));
            }
            confirmed
        }
        None => confirm::begin(tx, workspace, &stored, options, no_longer, stamp)?,
    };
    let work = work_of(workspace, confirmed.run());
    let Some(lease) = leases::acquire(tx, work, stamp.now, SWEEP_LEASE_MS)? else {
        return Err(StoreError::RunHeld { run: confirmed.run() });
    };
    let is_finished = sweep_batch(tx, &confirmed, options.terms, size, &mut erased, stamp)?;
    failpoint!("apply.first_batch");
    Ok(Some(Running { confirmed, lease: (!is_finished).then_some(lease), erased }))
}

/// One batch from the stored cursor; `true` when the run is finished.
fn sweep_batch(
    tx: &mut dyn Transaction,
    confirmed: &ConfirmedPlan,
    terms: Terms<'_>,
    size: usize,
    erased: &mut Erased,
    stamp: Stamp<'_>,
) -> Result<bool, StoreError> {
    let sweep = confirmed.sweep(terms, stamp);
    let workspace = confirmed.workspace();
    let run = runs::find(tx, workspace, confirmed.run())?;
    if run.finished_at.is_some() {
        return Ok(true);
    }
    let batch = plans::items(tx, workspace, confirmed.plan(), run.cursor, size as i64)?;
    let is_last = batch.len() < size;
    let passed = recheck_batch(tx, confirmed, &sweep, &batch)?;
    let is_large = run.counts.awaits_count || (confirmed.seen().is_some() && !is_last);
    let mut counts = trash(tx, &sweep, &passed, is_large)?;
    counts.skipped = (batch.len() - passed.len()) as i64;
    if confirmed.erases() {
        let of_batch = purge::erase_items(tx, confirmed, &passed, stamp)?;
        counts.erased = of_batch.rows.clone();
        erased.add(of_batch);
    }
    let cursor = run.cursor + batch.len() as i64;
    let mut total = run.counts;
    if is_last && total.awaits_count {
        let batches = run.cursor / size as i64;
        let lost = lost_by_run(tx, confirmed, &total, &counts, batches)?;
        counts.taken.add_all(&lost);
        (counts.awaits_count, total.awaits_count) = (false, false);
    }
    total.add(&counts);
    runs::advance(tx, workspace, confirmed.run(), cursor, &total, is_last.then_some(stamp.now))?;
    if is_last {
        leases::remove(tx, work_of(workspace, confirmed.run()))?;
        if confirmed.erases() || total.took_nothing_undoable() {
            tx.execute(&sql::SET_PURGED, &[workspace.into(), (&run.id).into(), stamp.now.into()])?;
            tx.execute(&sql::CLEAR_UNDO, &[workspace.into(), (&run.id).into()])?;
        }
    }
    let entry = audit::Entry {
        operation: confirmed.operation(),
        counts: Some(audit::json(&counts)),
        plan: Some(confirmed.plan()),
        run: Some(confirmed.run()),
        details: confirmed.details().map(str::to_owned),
    };
    audit::append(tx, workspace, stamp, &entry)?;
    Ok(is_last)
}

/// The items that still qualify; the others are noted with their reasons.
fn recheck_batch(
    tx: &mut dyn Transaction,
    confirmed: &ConfirmedPlan,
    sweep: &Sweep<'_>,
    batch: &[(i64, PlanItem)],
) -> Result<Vec<PlanItem>, StoreError> {
    let planned: Vec<PlanItem> = batch.iter().map(|(_, item)| *item).collect();
    let mut states = States::new();
    for (kind, items) in kinds::by_kind(&planned) {
        kind.states(tx, sweep, &items, &mut states)?;
    }
    let from = batch.first().map_or(0, |(position, _)| *position);
    let run = confirmed.run();
    let key = [confirmed.workspace().into(), (&run).into(), from.into()];
    let excluded: HashSet<i64> = tx.rows(&sql::SKIPPED_POSITIONS, &key, |row| row.get(0))?.into_iter().collect();
    let mut passed = Vec::with_capacity(batch.len());
    let mut skipped = Vec::new();
    for (position, item) in batch.iter().filter(|(position, _)| !excluded.contains(position)) {
        let state = states.get(&(item.object, item.revision));
        let skip = match recheck(confirmed.facts(), item, state) {
            None if item.reason == Reason::REDACTED => redact::obstacle(tx, sweep, item)?,
            skip => skip,
        };
        match (skip, state) {
            (None, Some(state)) => passed.push((*item, *state)),
            (None, None) => unreachable!("what does not exist does not pass"),
            (Some(reason), _) => skipped.push((*position, *item, reason)),
        }
    }
    confirm::skip_all(tx, confirmed, &skipped)?;
    let swept = Swept { plan: confirmed.facts(), planned: &planned, swept: &passed };
    if let Err(broken) = swept.check() {
        // A bug of ours: better to stop than to lose a memory.
        panic!("{broken}");
    }
    Ok(passed.into_iter().map(|(item, _)| item).collect())
}

/// The flip, kind by kind, and the count of what followed from it.
fn trash(
    tx: &mut dyn Transaction,
    sweep: &Sweep<'_>,
    items: &[PlanItem],
    is_large: bool,
) -> Result<RunCounts, StoreError> {
    let mut counts = RunCounts { awaits_count: is_large, ..RunCounts::default() };
    let mut vouched: HashMap<[u8; 16], i64> = HashMap::new();
    if !is_large {
        for (kind, items) in kinds::by_kind(items) {
            vouched.extend(kind.vouched_by(tx, sweep.workspace, &items)?);
        }
    }
    for (kind, items) in kinds::by_kind(items) {
        let taken = kind.trash(tx, sweep, &items)?;
        if kind.is_derived() { counts.reclaimed.add_all(&taken) } else { counts.taken.add_all(&taken) }
    }
    // Entities and relations that nobody living vouches for any more.
    let visible = graph::visible_among(tx, sweep.workspace, &vouched.keys().copied().collect::<Vec<_>>())?;
    for (_, kind) in vouched.iter().filter(|(object, _)| !visible.contains(*object)) {
        counts.taken.add(graph::counted_as(*kind), 1);
    }
    Ok(counts)
}

/// Entities and relations that a run of several batches took: as previewed when nothing was written since the preview
/// but the run's own audit entries, counted otherwise. Counting batch by batch would be a third of the work of a run.
fn lost_by_run(
    tx: &mut dyn Transaction,
    confirmed: &ConfirmedPlan,
    before: &RunCounts,
    last: &RunCounts,
    batches: i64,
) -> Result<Counts, StoreError> {
    let own = |seen: Seen| Seen { audit_seq: seen.audit_seq + batches, ..seen };
    let is_untouched =
        confirmed.seen().is_some() && confirmed.seen().map(own) == garbage::seen(tx, confirmed.workspace())?;
    let mut lost = Counts::default();
    if is_untouched && before.skipped + last.skipped == 0 {
        let planned = &confirmed.planned().counts;
        lost.add("entities", planned.get("entities"));
        lost.add("relations", planned.get("relations"));
        return Ok(lost);
    }
    let (workspace, run) = (confirmed.workspace(), confirmed.run());
    tx.query(&crate::statements::graph::OBJECTS_LOST_BY_RUN, &[workspace.into(), (&run).into()], &mut |row| {
        lost.add(graph::counted_as(row.get(0)?), row.get(1)?);
        Ok(())
    })?;
    Ok(lost)
}
