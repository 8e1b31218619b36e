//! Steps of the collector: policies, plans, previews, applies, undo and purge.

use std::collections::BTreeSet;

use rootset_service::ServiceError;
use serde_json::{Value, json};

use super::evidence::States;
use super::simulation::{Expected, NOBODY, Outcome, Simulation, compare, some, time};
use super::steps::{CODE_SOURCE, REPO, Review, Step, WORDS, WORKSPACES};
use crate::harness::{DAY_MS, STEP_MS, array, ids, text_of};
use crate::model::{Counts, Id, Item, Memory, OrphanKind, Plan, Policy, Target, Untracked, Why};

/// What was there before something was swept.
struct Before {
    states: States,
    dump: Value,
}

impl Simulation {
    pub fn set_retention(&mut self, at: usize, step: &Step, target: Target, policy: Policy) -> Outcome {
        let mut request = policy.shown();
        match target {
            Target::Workspace => {}
            Target::Source(source) => request["source"] = source.into(),
            Target::Repo(repo) => request["repo"] = repo.into(),
        }
        let answer = self.ask(at, "set_retention", request);
        let now = self.world.now_ms();
        let model = &mut self.models[at];
        let replaced = match target {
            Target::Workspace => model.policy_of(None, None),
            Target::Source(source) => model.policy_of(Some(source), None),
            Target::Repo(repo) => model.policy_of(Some(CODE_SOURCE), Some(repo)),
        };
        model.policies.insert(target, policy);
        model.audited += 1;
        let expired: Vec<&Memory> = model.live().filter(|it| model.is_expired_by_policy(it, now)).collect();
        let is_recent = |it: &&&Memory| it.last_used_at.is_some_and(|at| now - at < 30 * DAY_MS);
        let fraction = if expired.is_empty() { 0.0 } else { expired.len() as f64 / model.live().count() as f64 };
        let expected = json!({
            "policy": policy.shown(), "replaces": replaced.shown(),
            "would_expire": {"memories": expired.len(), "fraction": fraction,
                             "recently_used": expired.iter().filter(is_recent).count()},
        });
        compare(step, &Ok(expected), &answer)?;
        let in_force = self.ask(at, "get_retention", json!({ "repo": REPO }));
        let model = &self.models[at];
        let expected = json!({"policy": model.policy_of(Some(CODE_SOURCE), Some(REPO)).shown()});
        compare(step, &Ok(expected), &in_force)
    }

    /// A dry run changes nothing but the stored plan, and asked again it plans the same.
    pub fn plan_garbage(&mut self, at: usize, step: &Step, strategies: &[&'static str]) -> Outcome {
        let answer = self.ask(at, "gc_plan", json!({ "strategies": strategies })).map(with_ids_of_items);
        let now = self.world.now_ms();
        let items = self.models[at].garbage(strategies, now);
        compare(step, &Ok(self.preview(at, &items)), &answer)?;
        let id = self.noted_plan(at, items, strategies, false, "gc_apply");
        self.check_selection(at, &id)
    }

    /// What a plan of these items shows.
    fn preview(&self, at: usize, items: &[Item]) -> Value {
        let model = &self.models[at];
        let counts = model.totals(items);
        let mut totals = json!({"memories": counts.memories, "chunks": counts.memories, "entities": counts.entities,
                                "relations": counts.relations, "bytes": counts.bytes});
        if counts.revisions > 0 {
            totals["revisions"] = counts.revisions.into();
        }
        if let Some(reclaim) = reclaimed(items) {
            totals["reclaim"] = reclaim;
        }
        let shown: Vec<Id> = items.iter().map(Item::shown).collect();
        json!({"totals": totals, "ids": shown, "limits": model.blocked(items), "items_total": items.len()})
    }

    /// Notes the plan that was just stored.
    fn noted_plan(
        &mut self,
        at: usize,
        items: Vec<Item>,
        strategies: &[&'static str],
        erases: bool,
        operation: &'static str,
    ) -> Id {
        let (id, created_at) = self.newest_plan(at);
        let strategies = strategies.to_vec();
        let plan = Plan { id: id.clone(), items, created_at, erases, strategies, operation, outcome: None };
        self.models[at].plans.push(plan);
        self.plans.push(id.clone());
        id
    }

    pub fn forget(&mut self, at: usize, step: &Step, word: &str, erases: bool) -> Outcome {
        let answer = self.ask(at, "forget", json!({"query": word, "purge": erases})).map(with_ids_of_items);
        let (items, matched, kept) = self.models[at].forget(word, erases);
        let mut expected = self.preview(at, &items);
        let mut shown = ids(&expected["ids"]);
        shown.sort();
        expected["ids"] = json!(shown);
        for (field, value) in [("matched", json!(matched)), ("in_plan", json!(items.len())), ("purge", json!(erases))] {
            expected[field] = value;
        }
        expected["kept_pinned"] = json!(kept);
        let answer = answer.map(|mut answer| {
            let mut shown = ids(&answer["ids"]);
            shown.sort();
            answer["ids"] = json!(shown);
            answer
        });
        compare(step, &Ok(expected), &answer)?;
        self.noted_plan(at, items, &[], erases, "forget");
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "every combination of the request's fields")]
    pub fn prune(
        &mut self,
        at: usize,
        step: &Step,
        strategy: &'static str,
        plan: Option<u8>,
        dry_run: Option<bool>,
        confirm: bool,
        review: Review,
    ) -> Outcome {
        let given = plan.map(|number| self.plan(at, number));
        let items = match &given {
            Some(id) => self.items_of(at, id),
            None => self.models[at].garbage(&[strategy], self.world.now_ms() + STEP_MS),
        };
        let excluded = excluded(&items, review);
        let mut request = json!({"dry_run": dry_run, "confirm": confirm, "allow_large": review.allow_large,
                                 "exclude": excluded, "plan_id": given});
        if given.is_none() {
            request["strategy"] = strategy.into();
        }
        let before = self.before(at);
        let answer = self.ask(at, "prune_memory", request);
        let is_known = given.as_ref().is_none_or(|id| self.models[at].plans.iter().any(|it| it.id == *id));
        if !is_known {
            return compare(step, &Err("not_found"), &answer);
        }
        let is_fresh = given.is_none();
        let id = given.unwrap_or_else(|| self.noted_plan(at, items.clone(), &[strategy], false, "prune_memory"));
        let erases = self.models[at].plans.iter().any(|it| it.id == id && it.erases);
        if dry_run.unwrap_or(true) {
            let mut expected = json!({"plan_id": id, "items_total": items.len()});
            if is_fresh {
                expected = self.preview(at, &items);
                self.check_selection(at, &id)?;
            }
            return compare(step, &Ok(expected), &answer.map(with_ids_of_items));
        }
        let is_previewed = !is_fresh || at != 0 || items.is_empty();
        if !confirm || (!erases && !is_previewed) {
            compare(step, &Err("confirmation_required"), &answer)?;
            let details = answer.unwrap_err().0.details.unwrap_or_default();
            proptest::prop_assert_eq!(&details["plan_id"], &json!(id), "the refusal names the plan");
            return self.check_untouched(at, &before.dump);
        }
        if erases {
            return compare(step, &Err("invalid_argument"), &answer);
        }
        self.compare_apply(at, step, &id, false, review, &excluded, &answer, before)
    }

    pub fn apply(&mut self, at: usize, step: &Step, plan: u8, confirm: bool, review: Review) -> Outcome {
        if self.models[at].plans.iter().all(|it| it.outcome.is_some()) && plan < 10 {
            match plan % 3 {
                0 => self.forget(at, step, WORDS[usize::from(plan % 5)], plan > 6)?,
                _ => self.plan_garbage(at, step, &["all"])?,
            }
        }
        let id = self.plan(at, plan);
        let items = self.items_of(at, &id);
        let excluded = excluded(&items, review);
        let request =
            json!({"plan_id": id, "confirm": confirm, "allow_large": review.allow_large, "exclude": excluded});
        let before = self.before(at);
        let answer = self.ask(at, "gc_apply", request);
        self.compare_apply(at, step, &id, confirm, review, &excluded, &answer, before)
    }

    fn items_of(&self, at: usize, plan: &str) -> Vec<Item> {
        let plan = self.models[at].plans.iter().find(|it| it.id == plan);
        plan.map(|it| it.items.clone()).unwrap_or_default()
    }

    fn before(&self, at: usize) -> Before {
        Before { states: self.states(at), dump: self.world.dump(WORKSPACES[at]) }
    }

    /// The answer, I1, I2 and I3 of what was swept, and now and then I9.
    #[expect(clippy::too_many_arguments, reason = "one apply, seen from all sides")]
    fn compare_apply(
        &mut self,
        at: usize,
        step: &Step,
        plan: &str,
        confirm: bool,
        review: Review,
        excluded: &[Id],
        answer: &Result<Value, ServiceError>,
        before: Before,
    ) -> Outcome {
        let known = self.models[at].plans.iter().find(|it| it.id == plan).cloned();
        let expected = self.applied(at, plan, confirm, review.allow_large, excluded, answer);
        compare(step, &expected, answer)?;
        let (Some(known), Ok(answer)) = (known, answer) else { return self.check_untouched(at, &before.dump) };
        if known.outcome.is_some() {
            return self.check_untouched(at, &before.dump);
        }
        let run = text_of(&answer["run_id"]);
        self.check_sweep(at, &before.states, &run)?;
        if known.erases {
            return self.check_absence();
        }
        let has_orphans = known.items.iter().any(|it| matches!(it, Item::Orphan(_)));
        if review.undo && !has_orphans { self.undo_at_once(at, step, run, &before.dump) } else { Ok(()) }
    }

    /// I9.
    fn undo_at_once(&mut self, at: usize, step: &Step, run: Id, before: &Value) -> Outcome {
        self.undo(at, step, run)?;
        self.check_identity(before, &self.world.dump(WORKSPACES[at]))
    }

    fn applied(
        &mut self,
        at: usize,
        plan: &str,
        confirm: bool,
        allow_large: bool,
        excluded: &[Id],
        answer: &Result<Value, ServiceError>,
    ) -> Expected {
        let now = self.world.now_ms();
        let model = &self.models[at];
        let plan = model.plans.iter().find(|it| it.id == plan).ok_or("not_found")?.clone();
        if let Some((mut outcome, run)) = plan.outcome {
            let run = model.runs.iter().find(|it| it.id == run);
            outcome["undone"] = if run.is_some_and(|it| it.is_undone) { json!(true) } else { Value::Null };
            return Ok(outcome);
        }
        if plan.is_expired(now) {
            return Err("plan_expired");
        }
        if plan.erases && !confirm {
            return Err("confirmation_required");
        }
        let reviewed: Vec<Item> = plan.items.iter().filter(|it| !excluded.contains(&it.shown())).cloned().collect();
        if !model.blocked(&reviewed).is_empty() && !allow_large {
            return Err("limit_exceeded");
        }
        let (mut passed, mut skipped) = (Vec::new(), Vec::new());
        for item in &plan.items {
            let reason = if excluded.contains(&item.shown()) { Some("excluded") } else { model.skip(&plan, item, now) };
            match reason {
                Some(reason) => skipped.push(json!({"id": item.shown(), "reason": reason})),
                None => passed.push(item.clone()),
            }
        }
        let counts = model.totals(&passed);
        let run = self.started(at, plan.operation, answer);
        let mut trashed = json!({"memories": counts.memories, "chunks": counts.memories, "entities": counts.entities,
                                 "relations": counts.relations});
        if counts.revisions > 0 {
            trashed["revisions"] = counts.revisions.into();
        }
        let reclaimed = reclaimed(&passed);
        let is_final = plan.erases || (reclaimed.is_some() && counts == Counts::default());
        let takes_nothing = counts == Counts::default();
        let undo_until = if is_final || takes_nothing { Value::Null } else { time(now + 7 * DAY_MS) };
        let skipped = json!({"count": skipped.len(), "first": &skipped[..skipped.len().min(20)]});
        let outcome = json!({"run_id": run, "trashed": trashed, "skipped": skipped, "undo_until": undo_until,
                             "reclaimed": reclaimed});
        let model = &mut self.models[at];
        model.trash(&passed, &run, now);
        if plan.erases {
            let gone: BTreeSet<Id> = passed.iter().map(Item::shown).collect();
            model.remove(
                true,
                |it| gone.contains(&it.id),
                |it, number, _| gone.contains(&format!("{}@{number}", it.id)),
                |it| gone.contains(it.object.id()),
            );
        }
        model.runs.last_mut().unwrap().is_purged = is_final;
        let stored = model.plans.iter_mut().find(|it| it.id == plan.id).unwrap();
        stored.outcome = Some((outcome.clone(), run));
        Ok(outcome)
    }

    pub fn delete(&mut self, at: usize, step: &Step, memory: u8, undo: bool) -> Outcome {
        let id = self.living(at, memory);
        let before = self.before(at);
        let answer = self.ask(at, "delete_memory", json!({ "memory_id": id }));
        compare(step, &self.deleted(at, &id, &answer), &answer)?;
        let Ok(answer) = answer else { return Ok(()) };
        let run = text_of(&answer["run_id"]);
        self.check_sweep(at, &before.states, &run)?;
        if undo { self.undo_at_once(at, step, run, &before.dump) } else { Ok(()) }
    }

    fn deleted(&mut self, at: usize, id: &str, answer: &Result<Value, ServiceError>) -> Expected {
        let now = self.world.now_ms();
        let memory = self.models[at].living(id)?.clone();
        if memory.is_pinned {
            return Err("conflict");
        }
        let item = [Item::Memory { id: id.to_owned(), version: memory.version, why: Why::Asked }];
        let counts = self.models[at].totals(&item);
        let run = self.started(at, "delete_memory", answer);
        self.models[at].trash(&item, &run, now);
        Ok(json!({
            "run_id": run, "undo_until": time(now + 7 * DAY_MS),
            "trashed": {"memories": 1, "chunks": 1, "entities": counts.entities, "relations": counts.relations},
        }))
    }

    pub fn undo_run(&mut self, at: usize, step: &Step, run: u8) -> Outcome {
        let run = self.run(at, run);
        self.undo(at, step, run)
    }

    fn undo(&mut self, at: usize, step: &Step, run: Id) -> Outcome {
        let answer = self.ask(at, "gc_undo", json!({ "run_id": run }));
        compare(step, &self.undone(at, &run), &answer)
    }

    fn undone(&mut self, at: usize, run: &Id) -> Expected {
        let model = &mut self.models[at];
        let known = model.runs.iter_mut().find(|it| it.id == *run).ok_or("not_found")?;
        if known.is_undone || known.is_purged {
            return Err("conflict");
        }
        known.is_undone = true;
        model.audited += 1;
        if known.operation == "import_graph" {
            let rows = model.untracked.iter_mut().filter(|it| it.run == *run && it.trashed.is_none());
            let removed = rows.map(|it| it.trashed = Some(run.clone())).count() as i64;
            return Ok(self.restored(at, &[], json!({"removed": some(removed)})));
        }
        let is_of_run = |it: &&mut Untracked| it.trashed.as_ref() == Some(run);
        let untracked = model.untracked.iter_mut().filter(is_of_run).map(|it| it.trashed = None).count() as i64;
        let revisions = model.memories.iter_mut().flat_map(|it| it.revisions.values_mut());
        let revisions =
            revisions.filter(|it| it.trashed.as_ref() == Some(run)).map(|it| it.trashed = None).count() as i64;
        let is_of_run = |it: &&Memory| it.trashed.as_ref().is_some_and(|(by, _)| by == run);
        let mut memories: Vec<Id> = model.memories.iter().filter(is_of_run).map(|it| it.id.clone()).collect();
        memories.sort();
        Ok(self.restored(at, &memories, json!({"revisions": some(revisions), "untracked": some(untracked)})))
    }

    pub fn undo_memory(&mut self, at: usize, step: &Step, memory: u8) -> Outcome {
        let id = self.trashed(at, memory);
        let answer = self.ask(at, "gc_undo", json!({ "memory_id": id }));
        let expected = match self.models[at].memory(&id).filter(|it| !it.is_live()) {
            None => Err("not_found"),
            Some(_) => {
                self.models[at].audited += 1;
                Ok(self.restored(at, &[id], json!({})))
            }
        };
        compare(step, &expected, &answer)
    }

    /// Brings memories back where nothing is in the way.
    fn restored(&mut self, at: usize, memories: &[Id], others: Value) -> Value {
        let (mut count, mut conflicts) = (0, Vec::new());
        for id in memories {
            match self.models[at].restore(id) {
                Ok(()) => count += 1,
                Err((reason, by)) => conflicts.push(json!({"id": id, "reason": reason, "by": by})),
            }
        }
        let mut restored = json!({ "memories": count });
        for (field, value) in others.as_object().unwrap().iter().filter(|(_, value)| !value.is_null()) {
            restored[field] = value.clone();
        }
        json!({"restored": restored, "conflicts": conflicts})
    }

    pub fn purge_run(&mut self, at: usize, step: &Step, run: u8) -> Outcome {
        let run = self.run(at, run);
        let answer = self.ask(at, "gc_purge", json!({"run_id": run, "confirm": true}));
        let is_known = self.models[at].runs.iter().any(|it| it.id == run);
        let expected = if is_known { Ok(purged(self.purge(at, &run))) } else { Err("not_found") };
        compare(step, &expected, &answer)?;
        if answer.is_ok() { self.check_absence() } else { Ok(()) }
    }

    pub fn purge_all(&mut self, at: usize, step: &Step) -> Outcome {
        let answer = self.ask(at, "gc_purge", json!({"older_than": 0, "confirm": true}));
        let runs: Vec<Id> = self.models[at].runs.iter().map(|it| it.id.clone()).collect();
        let mut total = Counts::default();
        for run in runs {
            let counts = self.purge(at, &run);
            total.memories += counts.memories;
            total.revisions += counts.revisions;
            total.entities += counts.entities;
            total.relations += counts.relations;
            total.untracked += counts.untracked;
            total.bytes += counts.bytes;
        }
        compare(step, &Ok(purged(total)), &answer)?;
        self.check_absence()
    }

    fn purge(&mut self, at: usize, run: &Id) -> Counts {
        let model = &mut self.models[at];
        let known = model.runs.iter().find(|it| it.id == *run);
        // What a policy took may be said again; what somebody took must not come back by itself.
        let is_noted = known.is_some_and(|it| ["delete_memory", "forget"].contains(&it.operation));
        let counts = model.remove(
            is_noted,
            |it| it.trashed.as_ref().is_some_and(|(by, _)| by == run),
            |_, _, it| it.trashed.as_ref() == Some(run),
            |it| it.trashed.as_ref() == Some(run),
        );
        if counts != Counts::default() {
            model.runs.iter_mut().find(|it| it.id == *run).unwrap().is_purged = true;
            model.audited += 1;
        }
        counts
    }

    /// Finds the plan that was stored last.
    fn newest_plan(&self, at: usize) -> (Id, i64) {
        let statement = "SELECT plan, created_at FROM plans WHERE workspace = ?1 ORDER BY created_at DESC, plan DESC";
        let newest = self.sql.row(statement, &[self.key(at).into()], |row| Ok((row.get::<[u8; 16]>(0)?, row.get(1)?)));
        newest.unwrap().map_or_else(
            || (NOBODY.to_owned(), 0),
            |(id, created_at)| (rootset_model::PlanId(id).to_string(), created_at),
        )
    }
}

/// The first item, unless it is a relation: who keeps that keeps its ends, too, whatever the plan says of them.
fn excluded(items: &[Item], review: Review) -> Vec<Id> {
    let is_relation = |it: &&Item| matches!(it, Item::Orphan(orphan) if orphan.kind == OrphanKind::Relation);
    items.first().filter(|it| review.exclude && !is_relation(it)).map(Item::shown).into_iter().collect()
}

fn reclaimed(items: &[Item]) -> Option<Value> {
    let count = |kind| items.iter().filter(|it| matches!(it, Item::Orphan(orphan) if orphan.kind == kind)).count();
    let [chunks, entities, relations] = [OrphanKind::Chunk, OrphanKind::Entity, OrphanKind::Relation].map(count);
    (chunks + entities + relations > 0).then(|| json!({"chunks": chunks, "entities": entities, "relations": relations}))
}

fn purged(counts: Counts) -> Value {
    let mut rows = json!({ "memories": counts.memories });
    for (kind, count) in [
        ("revisions", counts.revisions),
        ("chunks", counts.memories),
        ("entities", counts.entities),
        ("relations", counts.relations),
        ("untracked", counts.untracked),
    ] {
        if count > 0 {
            rows[kind] = count.into();
        }
    }
    json!({"purged": rows, "bytes_freed": counts.bytes, "wal_clean": true})
}

/// Adds the ids of a plan's items, and the names of the limits that block it, in a form that compares easily.
fn with_ids_of_items(mut answer: Value) -> Value {
    let shown: Vec<Id> = array(&answer["items"]).iter().map(|it| text_of(&it["id"])).collect();
    answer["ids"] = json!(shown);
    let limits: Vec<Value> = array(&answer["blocked"]).iter().map(|it| it["limit"].clone()).collect();
    answer["limits"] = json!(limits);
    answer
}
