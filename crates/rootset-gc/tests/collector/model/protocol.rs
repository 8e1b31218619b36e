//! Plan, apply in batches, undo, purge: the protocol over the model's rows. Every decision is the crate's.

use std::collections::{BTreeMap, BTreeSet};

use rootset_gc::heap::{DerivedKind, Heap};
use rootset_gc::invariants::sweep::Swept;
use rootset_gc::strategies::select;
use rootset_gc::{PlanFacts, RootState, Selection, Skip, SourceShare, Strategy, blocked, digest, recheck};
use rootset_invariants::{selection, steps};
use rootset_model::plan::{Action, ItemKind, PlanItem, Reason};
use rootset_model::{Limits, Timestamp};

use super::{Id, Object, Workspace};

/// Small, so that runs of a few memories have several.
const BATCH: usize = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub facts: PlanFacts,
    /// None for plans that a caller's words or ids made.
    pub strategies: Vec<&'static Strategy>,
    pub items: Vec<PlanItem>,
    pub digest: [u8; 32],
    pub run: Option<usize>,
}

impl Plan {
    pub fn erases(&self) -> bool {
        self.items.iter().any(|item| item.action == Action::Erase)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub plan: usize,
    pub excluded: BTreeSet<Id>,
    pub cursor: usize,
    pub skipped: Vec<(Id, Skip)>,
    pub is_finished: bool,
    pub is_purged: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    pub seq: i64,
    operation: &'static str,
    run: usize,
    pub hash: [u8; 32],
}

impl AuditRow {
    pub fn expected_hash(&self, previous: &[u8; 32]) -> [u8; 32] {
        let text = format!("{previous:?} {} {} {}", self.seq, self.operation, self.run);
        digest(&text, &[])
    }
}

/// A mistake that somebody might make some day: a test that finds none of them proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The re-check does not object for this reason.
    NoObjection(Skip),
    StrategiesIgnorePins,
    UndoForgetsOne,
    PurgeLeavesFullText,
    PurgeLeavesLog,
    PurgeForgetsContributions,
    TrashForgetsRefcounts,
    ResumeStartsOver,
    ResumeSkipsOne,
    ResumeForgetsExclusions,
    BatchWithoutAuditRow,
    SweepsWhatIsNotInThePlan,
    SkipsWhatQualifies,
}

#[derive(Clone, Debug, Default)]
pub struct ApplyOptions {
    pub exclude: BTreeSet<Id>,
    pub allow_large: bool,
    /// The process dies after so many batches, with the next one half done.
    pub batches_max: Option<usize>,
    pub fault: Option<Fault>,
}

impl Workspace {
    pub fn plan(
        &mut self,
        strategies: &[&'static Strategy],
        fault: Option<Fault>,
        now: Timestamp,
    ) -> Result<usize, String> {
        let (roots, selection) = self.select(strategies, None, fault, now)?;
        let of_roots = selection.roots.iter().map(|(place, reason)| {
            let root = &roots[*place as usize];
            item(ItemKind::MEMORY, root.id, root.version, Action::Trash, *reason)
        });
        let of_derived = selection.derived.iter().map(|(place, reason)| {
            let row = &self.planted[*place as usize];
            let kind = match row.kind {
                DerivedKind::Chunk => ItemKind::CHUNK,
                DerivedKind::Entity => ItemKind::ENTITY,
                DerivedKind::Relation => ItemKind::RELATION,
            };
            item(kind, row.id, 0, Action::Reclaim, *reason)
        });
        let items: Vec<PlanItem> = of_roots.chain(of_derived).collect();
        if let Some(held) = items.iter().filter_map(|item| self.memories.get(&item.object)).find(|it| it.is_pinned) {
            return Err(format!("a strategy took what is pinned: {held:?}"));
        }
        let facts = PlanFacts { created_at: now, include_pinned: false, is_named: false };
        Ok(self.keep_plan(facts, strategies, items))
    }

    /// The caller's own ids.
    pub fn plan_named(&mut self, id: Id, now: Timestamp) -> usize {
        let version = self.memories[&id].version;
        let facts = PlanFacts { created_at: now, include_pinned: false, is_named: true };
        self.keep_plan(facts, &[], vec![item(ItemKind::MEMORY, id, version, Action::Trash, Reason::NAMED)])
    }

    /// Everything that speaks of an object.
    pub fn plan_forget(&mut self, object: Object, include_pinned: bool, action: Action, now: Timestamp) -> usize {
        let speak_of_it = self.contributions.iter().filter(|(of, _)| *of == object).map(|(_, memory)| *memory);
        let items = speak_of_it
            .filter(|id| {
                let memory = &self.memories[id];
                let is_reachable = memory.trashed.is_none() || action == Action::Erase;
                is_reachable && (include_pinned || !memory.is_pinned)
            })
            .map(|id| item(ItemKind::MEMORY, id, self.memories[&id].version, action, Reason::MATCHED))
            .collect();
        self.keep_plan(PlanFacts { created_at: now, include_pinned, is_named: false }, &[], items)
    }

    fn keep_plan(&mut self, facts: PlanFacts, strategies: &[&'static Strategy], items: Vec<PlanItem>) -> usize {
        let plan = Plan { facts, strategies: strategies.to_vec(), digest: digest("model", &items), items, run: None };
        self.plans.push(plan);
        self.plans.len() - 1
    }

    /// What the strategies select, with I4 and I5 checked.
    fn select(
        &self,
        strategies: &[&'static Strategy],
        own_run: Option<usize>,
        fault: Option<Fault>,
        now: Timestamp,
    ) -> Result<(Vec<rootset_gc::heap::Root>, Selection), String> {
        let mut roots = self.roots(own_run);
        if fault == Some(Fault::StrategiesIgnorePins) {
            roots.iter_mut().for_each(|root| root.is_pinned = false);
        }
        let heap = Heap { roots: &roots, buckets: &self.buckets, derived: &self.planted };
        let selected = select(strategies, &heap, now);
        selection::only_orphans_are_condemned(&heap, &selected).map_err(|broken| broken.to_string())?;
        selection::expiry_has_a_date_and_an_order(&heap, &selected, now).map_err(|broken| broken.to_string())?;
        Ok((roots, selected))
    }

    /// Limits that the plan breaks now.
    fn is_blocked(&self, plan: &Plan, exclude: &BTreeSet<Id>) -> bool {
        if plan.facts.is_named {
            return false;
        }
        let taken = plan.items.iter().filter(|item| item.kind == ItemKind::MEMORY && !exclude.contains(&item.object));
        let taken: BTreeSet<Id> = taken.map(|item| item.object).collect();
        let shares = self.buckets.iter().zip(0..).map(|(bucket, number)| {
            let of_bucket = || self.living().filter(|(_, memory)| memory.bucket == number);
            SourceShare {
                source: bucket.source.clone(),
                in_plan: of_bucket().filter(|(id, _)| taken.contains(*id)).count() as i64,
                total: of_bucket().count() as i64,
            }
        });
        !blocked(&shares.collect::<Vec<_>>(), &Limits::default()).is_empty()
    }

    /// Begins or resumes the plan's run; `None` when a limit refuses it.
    pub fn apply(&mut self, place: usize, options: &ApplyOptions, now: Timestamp) -> Result<Option<usize>, String> {
        let plan = &self.plans[place];
        let run = match plan.run {
            Some(run) => {
                self.resume(run, options.fault);
                run
            }
            None if self.is_blocked(plan, &options.exclude) && !options.allow_large => return Ok(None),
            None => {
                let excluded = options.exclude.clone();
                let (skipped, run) = (Vec::new(), self.runs.len());
                let (is_finished, is_purged) = (false, false);
                self.runs.push(Run { plan: place, excluded, cursor: 0, skipped, is_finished, is_purged });
                self.plans[place].run = Some(run);
                run
            }
        };
        let mut batches = 0;
        while !self.runs[run].is_finished {
            // Every batch is a transaction: one that is cut short never happened.
            let mut next = self.clone();
            next.sweep_batch(run, options.fault, now)?;
            if options.batches_max == Some(batches) {
                return Ok(Some(run));
            }
            *self = next;
            batches += 1;
        }
        Ok(Some(run))
    }

    fn resume(&mut self, run: usize, fault: Option<Fault>) {
        let run = &mut self.runs[run];
        match fault {
            Some(Fault::ResumeStartsOver) if !run.is_finished => (run.cursor, run.skipped) = (0, Vec::new()),
            Some(Fault::ResumeSkipsOne) if !run.is_finished && run.cursor > 0 => run.cursor += 1,
            Some(Fault::ResumeForgetsExclusions) if !run.is_finished => run.excluded.clear(),
            _ => {}
        }
    }

    fn sweep_batch(&mut self, run: usize, fault: Option<Fault>, now: Timestamp) -> Result<(), String> {
        let plan = self.plans[self.runs[run].plan].clone();
        let cursor = self.runs[run].cursor.min(plan.items.len());
        let batch: Vec<PlanItem> = plan.items[cursor..].iter().take(BATCH).copied().collect();
        let still_garbage = self.still_garbage(&plan, run, fault, now)?;
        let mut swept = Vec::new();
        for (place, item) in batch.iter().enumerate() {
            let state = self.state(item, run);
            let skip = if self.runs[run].excluded.contains(&item.object) {
                Some(Skip::Excluded)
            } else {
                let objection = recheck(&plan.facts, item, state.as_ref());
                let is_garbage = plan.strategies.is_empty() || still_garbage.contains_key(&item.object);
                objection.or((!is_garbage).then_some(Skip::NotGarbage))
            };
            let skip = match (fault, skip) {
                (Some(Fault::NoObjection(ignored)), Some(skip)) if ignored == skip && state.is_some() => None,
                (Some(Fault::SkipsWhatQualifies), None) if place == 1 => Some(Skip::Changed),
                (_, skip) => skip,
            };
            match (skip, state) {
                (None, Some(state)) => swept.push((*item, state)),
                (skip, _) => {
                    let skip = skip.unwrap_or(Skip::Gone);
                    self.check_skip(&plan, item, skip, &still_garbage)?;
                    self.runs[run].skipped.push((item.object, skip));
                }
            }
        }
        if fault == Some(Fault::SweepsWhatIsNotInThePlan) && !swept.is_empty() {
            let planned: BTreeSet<Id> = plan.items.iter().map(|item| item.object).collect();
            let other = self.living().find(|(id, memory)| !planned.contains(*id) && !memory.is_pinned);
            if let Some((id, memory)) = other {
                let more = item(ItemKind::MEMORY, *id, memory.version, Action::Trash, Reason::MATCHED);
                swept.push((more, RootState::plain(memory.version)));
            }
        }
        Swept { plan: &plan.facts, planned: &batch, swept: &swept }.check().map_err(|broken| broken.to_string())?;
        self.check_swept(&plan, run, &swept, &still_garbage)?;
        for (item, _) in &swept {
            self.carry_out(item, run, fault, now)?;
        }
        let state = &mut self.runs[run];
        state.cursor = cursor + batch.len();
        state.is_finished = state.cursor == plan.items.len();
        state.is_purged = state.is_finished && plan.erases();
        self.destructive_steps += 1;
        if fault != Some(Fault::BatchWithoutAuditRow) {
            self.append_audit("apply", run);
        }
        Ok(())
    }

    /// What the plan's strategies still select, as if the run had done nothing yet.
    fn still_garbage(
        &self,
        plan: &Plan,
        run: usize,
        fault: Option<Fault>,
        now: Timestamp,
    ) -> Result<BTreeMap<Id, Reason>, String> {
        let (roots, selection) = self.select(&plan.strategies, Some(run), fault, now)?;
        let of_roots = selection.roots.iter().map(|(place, reason)| (roots[*place as usize].id, *reason));
        let of_derived = selection.derived.iter().map(|(place, reason)| (self.planted[*place as usize].id, *reason));
        Ok(of_roots.chain(of_derived).collect())
    }

    fn state(&self, item: &PlanItem, run: usize) -> Option<RootState> {
        if item.action == Action::Reclaim {
            let is_there = self.planted.iter().any(|row| row.id == item.object);
            return is_there.then(|| RootState { is_orphaned: true, ..RootState::plain(0) });
        }
        let memory = self.memories.get(&item.object)?;
        Some(RootState {
            version: memory.version,
            is_trashed: memory.trashed.is_some(),
            is_pinned: memory.is_pinned,
            last_used_at: memory.last_used_at,
            is_in_flight: memory.is_in_flight,
            is_stale: memory.stale_at.is_some(),
            is_superseded: self.superseded_at(memory, Some(run)).is_some(),
            is_orphaned: false,
        })
    }

    /// I1–I3 once more, by what really happened instead of by versions and stamps.
    fn check_swept(
        &self,
        plan: &Plan,
        run: usize,
        swept: &[(PlanItem, RootState)],
        still_garbage: &BTreeMap<Id, Reason>,
    ) -> Result<(), String> {
        for (item, _) in swept.iter().filter(|(item, _)| item.kind == ItemKind::MEMORY) {
            let memory = &self.memories[&item.object];
            let since = |at: Timestamp| at > plan.facts.created_at;
            let is_used_since = memory.used_at.is_some_and(since) && !plan.facts.is_named;
            if since(memory.written_at) || is_used_since {
                return Err(format!("swept although changed or used since {:?}: {memory:?}", plan.facts.created_at));
            }
            if !plan.strategies.is_empty() && !still_garbage.contains_key(&item.object) {
                return Err(format!("swept although no strategy wants it any more: {memory:?}"));
            }
            if self.runs[run].excluded.contains(&item.object) {
                return Err(format!("swept although the reviewer keeps it: {memory:?}"));
            }
        }
        Ok(())
    }

    /// Caution has its reasons too: what nothing speaks for is not kept.
    fn check_skip(
        &self,
        plan: &Plan,
        item: &PlanItem,
        skip: Skip,
        still_garbage: &BTreeMap<Id, Reason>,
    ) -> Result<(), String> {
        let created_at = plan.facts.created_at;
        let is_founded = match (self.memories.get(&item.object), skip) {
            (_, Skip::Excluded) => true,
            (memory, Skip::Gone) => memory.is_none() && self.planted.iter().all(|row| row.id != item.object),
            // Another strategy may want it by now; that is not what the reviewer saw.
            (_, Skip::NotGarbage) => still_garbage.get(&item.object) != Some(&item.reason),
            (None, _) => false,
            (Some(memory), Skip::Trashed) => memory.trashed.is_some(),
            (Some(memory), Skip::Changed) => memory.written_at > created_at,
            (Some(memory), Skip::Pinned) => memory.is_pinned,
            (Some(memory), Skip::Used) => memory.used_at.is_some_and(|at| at > created_at),
            (Some(memory), Skip::InFlight) => memory.is_in_flight,
        };
        if is_founded { Ok(()) } else { Err(format!("{:02x?} was skipped as {skip:?} for no reason", item.object)) }
    }

    fn carry_out(&mut self, item: &PlanItem, run: usize, fault: Option<Fault>, now: Timestamp) -> Result<(), String> {
        match item.action {
            Action::Stash => unreachable!("no strategy stashes"),
            Action::Reclaim => self.planted.retain(|row| row.id != item.object),
            Action::Trash => self.flip(item.object, Some((run, now)), fault),
            Action::Erase => {
                if self.memories[&item.object].trashed.is_none() {
                    self.flip(item.object, Some((run, now)), fault);
                }
                self.remove_for_good(&[item.object].into(), fault)?;
            }
        }
        Ok(())
    }

    /// Into the trash, or out of it.
    fn flip(&mut self, id: Id, trashed: Option<(usize, Timestamp)>, fault: Option<Fault>) {
        let memory = self.memories.get_mut(&id).expect("its state was read in this transaction");
        assert_ne!(memory.trashed.is_some(), trashed.is_some(), "a flip changes sides");
        memory.trashed = trashed;
        let change = if trashed.is_some() { -1 } else { 1 };
        if fault != Some(Fault::TrashForgetsRefcounts) {
            for object in self.contributed_by(id) {
                *self.refcounts.get_mut(&object).expect("counted since it was written") += change;
            }
        }
    }

    fn trash_of(&self, run: usize) -> BTreeSet<Id> {
        let of_run = self.memories.iter().filter(|(_, it)| it.trashed.is_some_and(|(of, _)| of == run));
        of_run.map(|(id, _)| *id).collect()
    }

    /// Ids that could not come back.
    pub fn undo(&mut self, run: usize, fault: Option<Fault>) -> BTreeSet<Id> {
        let mut conflicts = BTreeSet::new();
        for (place, id) in self.trash_of(run).into_iter().enumerate() {
            let is_taken = self.memories[&id].path.is_some_and(|path| self.living_at_path(path).is_some());
            if is_taken {
                conflicts.insert(id);
            } else if place != 1 || fault != Some(Fault::UndoForgetsOne) {
                self.flip(id, None, fault);
            }
        }
        self.destructive_steps += 1;
        self.append_audit("undo", run);
        conflicts
    }

    pub fn purge(&mut self, run: usize, fault: Option<Fault>) -> Result<(), String> {
        let trash = self.trash_of(run);
        self.remove_for_good(&trash, fault)?;
        self.runs[run].is_purged = true;
        self.destructive_steps += 1;
        self.append_audit("purge", run);
        Ok(())
    }

    /// Physical removal, with I12 checked.
    fn remove_for_good(&mut self, ids: &BTreeSet<Id>, fault: Option<Fault>) -> Result<(), String> {
        let texts: BTreeSet<u64> = ids.iter().map(|id| self.memories[id].text).collect();
        for id in ids {
            let contributions = self.contributions.clone();
            self.remove_content(*id);
            match fault {
                Some(Fault::PurgeLeavesFullText) => drop(self.full_text.insert(*id, self.memories[id].text)),
                Some(Fault::PurgeForgetsContributions) => self.contributions = contributions,
                _ => {}
            }
            self.memories.remove(id);
        }
        if fault != Some(Fault::PurgeLeavesLog) {
            self.log.clear();
        }
        steps::purged_means_absent(&self.traces(&texts)).map_err(|broken| broken.to_string())
    }

    fn append_audit(&mut self, operation: &'static str, run: usize) {
        let previous = self.audit.last().map_or([0; 32], |row| row.hash);
        let mut row = AuditRow { seq: self.audit.len() as i64 + 1, operation, run, hash: [0; 32] };
        row.hash = row.expected_hash(&previous);
        self.audit.push(row);
    }
}

fn item(kind: ItemKind, object: Id, version: i64, action: Action, reason: Reason) -> PlanItem {
    PlanItem { kind, object, revision: 0, version, action, reason }
}
