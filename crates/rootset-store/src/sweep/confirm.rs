//! From a stored plan to the permission to sweep it.

use std::collections::HashSet;

use rootset_gc::{PlanFacts, Skip};
use rootset_model::limits::SWEEP_BATCH_MEMORIES;
use rootset_model::plan::{Action, ItemKind, PlanItem};
use rootset_model::{ErasureId, MemoryId, Origin, PlanId, RunId, WorkspaceKey};

use super::{ApplyOptions, Remains};
use crate::driver::Transaction;
use crate::error::StoreError;
use crate::garbage::{self, GarbageRequest, Seen};
use crate::kinds::{self, States, Sweep, Terms};
use crate::plans::{self, NewPlan, PlanTotals, StoredPlan};
use crate::runs::{self, NewRun};
use crate::statements::context as context_sql;
use crate::statements::plans as plan_sql;
use crate::statements::runs as sql;
use crate::update::EraseIds;
use crate::{Stamp, retention};

/// Permission to sweep: made only by [`confirm`] from a plan that is stored, in the transaction that starts its run, or
/// by [`resumed`] from a run that was started so.
pub(crate) struct ConfirmedPlan {
    workspace: WorkspaceKey,
    plan: PlanId,
    facts: PlanFacts,
    erases: bool,
    run: RunId,
    operation: String,
    /// Strategies and policies, where the plan was made by them.
    details: Option<String>,
    erasure: ErasureId,
    /// What the preview promised: also tells a large run from a small one.
    planned: PlanTotals,
    /// The state of the workspace that the preview saw, if nothing was written since: then its counts are true.
    seen: Option<Seen>,
    /// What stays of memories that are cut.
    remains: Remains,
}

impl ConfirmedPlan {
    pub(crate) fn workspace(&self) -> WorkspaceKey {
        self.workspace
    }

    pub(crate) fn plan(&self) -> PlanId {
        self.plan
    }

    pub(crate) fn facts(&self) -> &PlanFacts {
        &self.facts
    }

    pub(crate) fn erases(&self) -> bool {
        self.erases
    }

    pub(crate) fn run(&self) -> RunId {
        self.run
    }

    pub(crate) fn erasure(&self) -> ErasureId {
        self.erasure
    }

    pub(crate) fn operation(&self) -> &str {
        &self.operation
    }

    pub(crate) fn details(&self) -> Option<&str> {
        self.details.as_deref()
    }

    pub(crate) fn planned(&self) -> &PlanTotals {
        &self.planned
    }

    /// What kinds need to know of the run.
    pub(crate) fn sweep<'a>(&'a self, terms: Terms<'a>, stamp: Stamp<'a>) -> Sweep<'a> {
        let (workspace, run, erases, remains) = (self.workspace, self.run, self.erases, &self.remains);
        Sweep { workspace, run, erases, remains, terms, stamp }
    }

    pub(crate) fn seen(&self) -> Option<Seen> {
        self.seen
    }
}

/// The first apply of a plan: it is asked whether it may be applied at all, and its run begins.
pub(super) fn begin(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    stored: &StoredPlan,
    options: &ApplyOptions<'_>,
    no_longer: Option<&HashSet<[u8; 16]>>,
    stamp: Stamp<'_>,
) -> Result<ConfirmedPlan, StoreError> {
    if stamp.now > stored.expires_at {
        return Err(StoreError::PlanExpired { plan: stored.id, at: stored.expires_at });
    }
    if stored.erases && !options.confirm {
        return Err(StoreError::ConfirmationRequired { plan: stored.id });
    }
    plans::choose(tx, workspace, stored, options.choices)?;
    let excluded = excluded_items(tx, workspace, stored.id, options.exclude)?;
    if stored.include_pinned {
        refuse_pinned_by_person(tx, workspace, stored.id, &excluded, stamp)?;
    }
    let kept: Vec<PlanItem> = excluded.iter().map(|(_, item)| *item).collect();
    let limited = kinds::by_kind(&kept).filter(|(kind, _)| kind.is_limited());
    let kept: Vec<[u8; 16]> = limited.flat_map(|(_, items)| kinds::objects(&items)).collect();
    let blocked = plans::blocked(tx, workspace, stored, &kept, options.limits)?;
    if !blocked.is_empty() && !options.allow_large {
        return Err(StoreError::OverLimit { blocked });
    }
    let ids = EraseIds { plan: stored.id, run: options.run, erasure: options.erasure };
    // The operation that made the plan names its run: the cause that later decides what may come back by itself.
    let operation = stored.policy().operation.unwrap_or_else(|| "gc_apply".to_owned());
    // What is stashed is not in the trash: nothing removes it after a while.
    let only_stashes: bool = tx.scalar(&context_sql::ONLY_STASHES, &[workspace.into(), (&stored.id).into()])?;
    let grace_ms = (!only_stashes).then_some(options.grace_ms);
    let mut confirmed = confirm(tx, workspace, stored, &operation, ids, grace_ms, stamp)?;
    confirmed.remains = options.remains.clone();
    if no_longer.is_none() && excluded.is_empty() && !stored.policy().strategies.is_empty() {
        confirmed.seen = garbage::seen(tx, workspace)?;
    }
    skip_all(tx, &confirmed, &with_reason(&excluded, Skip::Excluded))?;
    if let Some(no_longer) = no_longer {
        let excluded: HashSet<i64> = excluded.iter().map(|(position, _)| *position).collect();
        let items = plans::items(tx, workspace, stored.id, 0, i64::MAX)?;
        let revived: Vec<_> = items
            .into_iter()
            .filter(|(position, item)| no_longer.contains(&item.object) && !excluded.contains(position))
            .collect();
        skip_all(tx, &confirmed, &with_reason(&revived, Skip::NotGarbage))?;
    }
    Ok(confirmed)
}

/// A run that a crash or a time limit cut short.
pub(super) fn resumed(
    workspace: WorkspaceKey,
    stored: &StoredPlan,
    run: &runs::RunView,
    options: &ApplyOptions<'_>,
) -> ConfirmedPlan {
    ConfirmedPlan {
        workspace,
        plan: stored.id,
        facts: stored.facts(),
        erases: stored.erases,
        run: run.id,
        operation: run.operation.clone(),
        details: details(stored),
        erasure: run.erasure.unwrap_or(options.erasure),
        planned: stored.totals.clone(),
        seen: None,
        remains: options.remains.clone(),
    }
}

/// Items of a plan by strategies that are no longer garbage; `None` when nothing was written since the plan was made.
///
/// Asked in a snapshot of its own before the run begins: the answer visits the whole workspace, and writers must not wait
/// for it. What changes after it is caught item by item, inside each batch.
pub(super) fn no_longer_garbage(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    stored: &StoredPlan,
    options: &ApplyOptions<'_>,
    stamp: Stamp<'_>,
) -> Result<Option<HashSet<[u8; 16]>>, StoreError> {
    let strategies = stored.policy().strategies;
    if strategies.is_empty() || stored.run.is_some() {
        return Ok(None);
    }
    let policies = retention::load(tx, workspace, options.configured)?;
    let marker = garbage::marker(tx, workspace, &policies)?;
    // A clock that was set back since may revive items without any write.
    let is_untouched = marker.is_some() && marker == stored.marker && stamp.now >= stored.created_at;
    if is_untouched {
        return Ok(None);
    }
    // Whoever made the plan decided how long stale files are kept: here it is asked whether they are stale at all.
    let (configured, now) = (options.configured, stamp.now);
    let request = GarbageRequest { strategies: &strategies, configured, stale_kept_ms: 0, now };
    let still: HashSet<[u8; 16]> =
        garbage::find(tx, workspace, &request)?.items.into_iter().map(|item| item.object).collect();
    let items = plans::items(tx, workspace, stored.id, 0, i64::MAX)?.into_iter().map(|(_, item)| item);
    let left: Vec<PlanItem> = items.filter(|item| !still.contains(&item.object)).collect();
    let (run, erases, terms) = (options.run, stored.erases, options.terms);
    let sweep = Sweep { workspace, run, erases, remains: options.remains, terms, stamp };
    let mut no_longer = HashSet::new();
    for some in left.chunks(SWEEP_BATCH_MEMORIES) {
        no_longer.extend(not_held(tx, &sweep, some)?);
    }
    Ok(Some(no_longer))
}

/// Those that left the selection without a reason that the re-check names better: pins, versions and uses are told item by
/// item.
fn not_held(tx: &mut dyn Transaction, sweep: &Sweep<'_>, items: &[PlanItem]) -> Result<Vec<[u8; 16]>, StoreError> {
    let mut free = Vec::new();
    for (kind, items) in kinds::by_kind(items) {
        let mut states = States::new();
        kind.states(tx, sweep, &items, &mut states)?;
        let state = |item: &PlanItem| states.get(&(item.object, item.revision));
        let is_free = |item: &&PlanItem| {
            state(item).is_some_and(|it| it.version == item.version && !it.is_trashed && !it.is_pinned)
        };
        free.extend(items.iter().filter(is_free).map(|item| item.object));
    }
    Ok(free)
}

fn confirm(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    plan: &StoredPlan,
    operation: &str,
    ids: EraseIds,
    grace_ms: Option<i64>,
    stamp: Stamp<'_>,
) -> Result<ConfirmedPlan, StoreError> {
    let undo_until = grace_ms.filter(|_| !plan.erases).map(|grace_ms| stamp.now.saturating_add_ms(grace_ms));
    let drain = plan.policy().drain;
    runs::insert(tx, workspace, &NewRun { id: ids.run, operation, plan: Some(plan.id), undo_until, drain }, stamp)?;
    if plan.erases {
        tx.execute(&sql::SET_ERASURE, &[workspace.into(), (&ids.run).into(), (&ids.erasure).into()])?;
    }
    let parameters = [workspace.into(), (&plan.id).into(), (&ids.run).into()];
    let confirmed = tx.execute(&crate::statements::plans::SET_RUN, &parameters)?;
    assert_eq!(confirmed, 1, "a plan is confirmed once, inside the write lock");
    Ok(ConfirmedPlan {
        workspace,
        plan: plan.id,
        facts: plan.facts(),
        erases: plan.erases,
        run: ids.run,
        operation: operation.to_owned(),
        details: details(plan),
        erasure: ids.erasure,
        planned: plan.totals.clone(),
        seen: None,
        remains: Remains::default(),
    })
}

/// What the audit says of a plan that strategies made: they and their policies.
fn details(plan: &StoredPlan) -> Option<String> {
    (!plan.policy().strategies.is_empty()).then(|| plan.policy.clone())
}

/// An id that the caller names is its own preview: the plan is stored and confirmed in one go.
pub(super) fn confirm_named(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    items: Vec<PlanItem>,
    operation: &str,
    ids: EraseIds,
    grace_ms: i64,
    stamp: Stamp<'_>,
) -> Result<ConfirmedPlan, StoreError> {
    let erases = items.iter().any(|item| item.action == Action::Erase);
    let only_stashes = !items.is_empty() && items.iter().all(|item| item.action == Action::Stash);
    let grace_ms = (!only_stashes).then_some(grace_ms);
    let policy = format!(r#"{{"operation":"{operation}"}}"#);
    // Where earlier revisions of a pinned memory go, the memory is kept: its pin does not stand in the way.
    let include_pinned = items.iter().all(|item| item.kind == ItemKind::REVISION);
    let plan = NewPlan { id: ids.plan, policy, items, erases, include_pinned, is_named: true, marker: None };
    plans::insert(tx, workspace, &plan, stamp)?;
    let stored = plans::find(tx, workspace, ids.plan)?;
    confirm(tx, workspace, &stored, operation, ids, grace_ms, stamp)
}

/// A plan that takes pinned memories takes those of a person only for a person.
fn refuse_pinned_by_person(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    plan: PlanId,
    excluded: &[(i64, PlanItem)],
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    if stamp.origin.is_none_or(Origin::acts_for_person) {
        return Ok(());
    }
    let held: Vec<(MemoryId, Option<String>)> =
        tx.rows(&plan_sql::PINNED_BY_PERSON, &[workspace.into(), (&plan).into()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let is_kept = |memory: &MemoryId| excluded.iter().any(|(_, item)| item.object == memory.0);
    match held.into_iter().find(|(memory, _)| !is_kept(memory)) {
        Some((memory, name)) => Err(StoreError::PinnedByPerson { memory, name }),
        None => Ok(()),
    }
}

/// The items that the reviewer keeps, with their positions.
fn excluded_items(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    plan: PlanId,
    excluded: &[String],
) -> Result<Vec<(i64, PlanItem)>, StoreError> {
    if excluded.is_empty() {
        return Ok(Vec::new());
    }
    let wanted: HashSet<&str> = excluded.iter().map(String::as_str).collect();
    let mut unknown = wanted.clone();
    let mut found = Vec::new();
    let offers = plans::find(tx, workspace, plan)?.policy().offers;
    let offered: HashSet<String> = offers.maybe.iter().map(|it| it.memory.to_string()).collect();
    unknown.retain(|reference| !offered.contains(*reference));
    for (position, item) in plans::items(tx, workspace, plan, 0, i64::MAX)? {
        let id = MemoryId(item.object).to_string();
        let shown = kinds::shown_id(item.kind, item.object, item.revision);
        if wanted.contains(id.as_str()) || wanted.contains(shown.as_str()) {
            unknown.remove(id.as_str());
            unknown.remove(shown.as_str());
            found.push((position, item));
        }
    }
    // Whoever misspells what they want to keep must not lose it.
    match unknown.into_iter().min() {
        Some(reference) => Err(StoreError::NotInPlan { reference: reference.to_owned() }),
        None => Ok(found),
    }
}

fn with_reason(items: &[(i64, PlanItem)], reason: Skip) -> Vec<(i64, PlanItem, Skip)> {
    items.iter().map(|(position, item)| (*position, *item, reason)).collect()
}

/// Notes items of a run that are left alone.
pub(super) fn skip_all(
    tx: &mut dyn Transaction,
    confirmed: &ConfirmedPlan,
    items: &[(i64, PlanItem, Skip)],
) -> Result<(), StoreError> {
    let rows: Vec<_> = items
        .iter()
        .map(|(position, item, reason)| {
            vec![
                confirmed.workspace.into(),
                (&confirmed.run).into(),
                (*position).into(),
                item.kind.as_str().into(),
                (&item.object).into(),
                reason.as_str().into(),
            ]
        })
        .collect();
    tx.execute_many(&sql::INSERT_SKIP, &rows)?;
    Ok(())
}
