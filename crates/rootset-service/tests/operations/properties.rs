//! Random operations against the model of `model.rs`: every answer is compared, then everything that can be read.
//!
//! The vocabulary is tiny, so that contents collide and entities are shared all the time. A failure prints the shortest
//! list of operations that shows it; `ROOTSET_TEST_CASES` raises the number of lists tried.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError};
use rootset_model::{Content, Timestamp};
use rootset_service::ServiceError;
use serde_json::{Value, json};

use crate::harness::{DAY_MS, World, array, ids, text_of};
use crate::model::{
    Counts, Id, Item, Memory, Object, Plan, Revision, Run, Untracked, Workspace, objects_of, split_counts,
};

const CASES_DEFAULT: u32 = 150;
/// Fewer show little; a failing list is shortened all the same.
const OPERATIONS_MIN: usize = 8;
const OPERATIONS_MAX: usize = 25;
const WORKSPACES: [&str; 2] = ["default", "other"];
const THINGS: [&str; 3] = ["AlphaThing", "BetaThing", "GammaThing"];
const WORDS: [&str; 5] = ["zebra", "quartz", "AlphaThing", "BetaThing", "GammaThing"];
const NOBODY: &str = "01900000-0000-7000-8000-ffffffffffff";

/// Small numbers stand for things that are there by then, and now and then for things that are not; see [`choose`].
#[derive(Clone, Debug)]
enum Step {
    Add { content: u8, tag: Option<u8>, restore: bool, supersedes: Option<u8> },
    Rewrite { memory: u8, content: u8, is_expected: Option<bool>, erase: bool },
    Retag { memory: u8, tag: u8, pin: Option<bool> },
    Delete { memory: u8 },
    Supersede { memory: u8, by: u8 },
    UndoRun { run: u8 },
    UndoMemory { memory: u8 },
    Forget { word: u8, erase: bool },
    Apply { plan: u8, confirm: bool, allow_large: bool, exclude: bool },
    PurgeRun { run: u8 },
    PurgeAll,
    Import { first: u8, second: u8, describe: bool, relate: bool },
    Search { word: u8 },
    Get { memory: u8 },
    List,
    Wait,
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let number = 0..12_u8;
    let some = |chance: f64| proptest::option::weighted(chance, 0..12_u8);
    let step = prop_oneof![
        8 => (0..12_u8, some(0.3), prop::bool::weighted(0.3), some(0.2))
            .prop_map(|(content, tag, restore, supersedes)| Step::Add { content, tag, restore, supersedes }),
        5 => (number.clone(), 0..12_u8, proptest::option::weighted(0.3, any::<bool>()), prop::bool::weighted(0.2))
            .prop_map(|(memory, content, is_expected, erase)| Step::Rewrite { memory, content, is_expected, erase }),
        2 => (number.clone(), number.clone(), proptest::option::weighted(0.4, any::<bool>()))
            .prop_map(|(memory, tag, pin)| Step::Retag { memory, tag, pin }),
        4 => number.clone().prop_map(|memory| Step::Delete { memory }),
        3 => (number.clone(), number.clone()).prop_map(|(memory, by)| Step::Supersede { memory, by }),
        4 => number.clone().prop_map(|run| Step::UndoRun { run }),
        2 => number.clone().prop_map(|memory| Step::UndoMemory { memory }),
        4 => (0..5_u8, prop::bool::weighted(0.3)).prop_map(|(word, erase)| Step::Forget { word, erase }),
        7 => (number.clone(), prop::bool::weighted(0.8), prop::bool::weighted(0.8), prop::bool::weighted(0.2))
            .prop_map(|(plan, confirm, allow_large, exclude)| Step::Apply { plan, confirm, allow_large, exclude }),
        2 => number.clone().prop_map(|run| Step::PurgeRun { run }),
        1 => Just(Step::PurgeAll),
        2 => (0..3_u8, 0..3_u8, any::<bool>(), any::<bool>())
            .prop_map(|(first, second, describe, relate)| Step::Import { first, second, describe, relate }),
        2 => (0..5_u8).prop_map(|word| Step::Search { word }),
        2 => number.prop_map(|memory| Step::Get { memory }),
        1 => Just(Step::List),
        1 => Just(Step::Wait),
    ];
    // The second workspace is visited less often: things have to meet.
    prop::collection::vec((prop_oneof![4 => Just(0_usize), 1 => Just(1_usize)], step), OPERATIONS_MIN..=OPERATIONS_MAX)
}

/// Twelve contents: two of three things, and one of two words.
fn content(number: u8) -> Content {
    let (pair, word) = (number / 2 % 6, number % 2);
    let (first, second) = [(0, 1), (1, 0), (0, 2), (2, 1), (1, 1), (2, 2)][usize::from(pair)];
    let text = format!("{} uses {} and {}.", THINGS[first], THINGS[second], WORDS[usize::from(word)]);
    Content { topic: text.clone(), context: text, decisions: Vec::new(), rationale: Vec::new() }
}

fn kind_of(thing: &str) -> String {
    let text = format!("{thing} is here.");
    let content = Content { topic: text.clone(), context: text, decisions: Vec::new(), rationale: Vec::new() };
    let kind = objects_of(&content).into_iter().find_map(|object| match object {
        Object::Entity { name, kind, .. } if name == thing => Some(kind),
        _ => None,
    });
    kind.expect("the extractor knows identifiers")
}

type Expected = Result<Value, &'static str>;

struct Simulation {
    world: World,
    models: [Workspace; 2],
    /// Everything that ever was, per workspace or of both: purged ones too.
    memories: [Vec<Id>; 2],
    runs: Vec<Id>,
    plans: Vec<Id>,
}

/// One of the likely ones, so that most steps do something; with the highest number any that ever was.
fn choose(likely: Vec<Id>, ever: &[Id], number: u8) -> Id {
    let from = if number == 11 || likely.is_empty() { ever } else { &likely };
    match from.len() {
        0 => NOBODY.to_owned(),
        length => from[usize::from(number) % length].clone(),
    }
}

fn time(milliseconds: i64) -> Value {
    json!(Timestamp(milliseconds).to_string())
}

fn some(count: i64) -> Option<i64> {
    (count > 0).then_some(count)
}

/// Compares an answer with what was expected; fields of the answer that are not expected are left alone.
fn compare(step: &Step, expected: &Expected, answer: &Result<Value, ServiceError>) -> Result<(), TestCaseError> {
    match (expected, answer) {
        (Ok(expected), Ok(answer)) => {
            for (field, value) in expected.as_object().expect("an expected answer is an object") {
                prop_assert_eq!(&answer[field], value, "{:?}: {} of {}", step, field, answer);
            }
        }
        (Err(code), Err(error)) => prop_assert_eq!(*code, error.code.as_str(), "{:?}: {}", step, error),
        (expected, answer) => prop_assert!(false, "{step:?}: expected {expected:?}, answered {answer:?}"),
    }
    Ok(())
}

impl Simulation {
    fn new() -> Self {
        let world = World::new();
        world.call("create_workspace", json!({"workspace_id": WORKSPACES[1]}));
        Self { world, models: Default::default(), memories: Default::default(), runs: Vec::new(), plans: Vec::new() }
    }

    fn living(&self, at: usize, number: u8) -> Id {
        choose(self.models[at].live().map(|it| it.id.clone()).collect(), &self.memories[at], number)
    }

    fn trashed(&self, at: usize, number: u8) -> Id {
        let trashed = self.models[at].memories.iter().filter(|it| !it.is_live());
        choose(trashed.map(|it| it.id.clone()).collect(), &self.memories[at], number)
    }

    /// A run that can still be undone, newest first.
    fn run(&self, at: usize, number: u8) -> Id {
        let runs = self.models[at].runs.iter().rev().filter(|it| !it.is_undone && !it.is_purged);
        choose(runs.map(|it| it.id.clone()).collect(), &self.runs, number)
    }

    /// A plan that was not applied yet; sometimes any.
    fn plan(&self, at: usize, number: u8) -> Id {
        let plans = self.models[at].plans.iter().rev().filter(|it| it.outcome.is_none() || number > 8);
        choose(plans.map(|it| it.id.clone()).collect(), &self.plans, number)
    }

    fn ask(&self, at: usize, operation: &str, mut request: Value) -> Result<Value, ServiceError> {
        request["workspace_id"] = WORKSPACES[at].into();
        let answer = self.world.try_call(operation, request);
        self.world.service.flush_uses().unwrap();
        answer
    }

    fn take(&mut self, at: usize, step: &Step) -> Result<(), TestCaseError> {
        match step.clone() {
            Step::Add { content: number, tag, restore, supersedes } => {
                let old = supersedes.map(|number| self.living(at, number));
                let text = content(number).context;
                let tags: Vec<String> = tag.map(|tag| format!("tag-{}", tag % 2)).into_iter().collect();
                let request = json!({"context": text, "tags": tags, "restore": restore, "supersedes": old.as_slice()});
                let answer = self.ask(at, "add_memory", request);
                let expected = self.add(at, &content(number), &tags, restore, old.as_deref(), &answer)?;
                compare(step, &expected, &answer)
            }
            Step::Rewrite { memory, content: number, is_expected, erase } => {
                let id = self.living(at, memory);
                let seen = self.models[at].memory(&id).map_or(1, |it| it.version);
                let version = is_expected.map(|is_expected| if is_expected { seen } else { seen - 1 });
                let text = content(number).context;
                let request = json!({
                    "memory_id": id, "context": text, "topic": null, "expected_version": version, "erase_previous": erase,
                });
                let answer = self.ask(at, "update_memory", request);
                compare(step, &self.rewrite(at, &id, content(number), version, erase), &answer)
            }
            Step::Retag { memory, tag, pin } => {
                let id = self.living(at, memory);
                let tags = vec![format!("tag-{}", tag % 2)];
                let answer = self.ask(at, "update_memory", json!({"memory_id": id, "tags": tags, "pinned": pin}));
                let now = self.world.now_ms();
                let expected = self.models[at].living(&id).cloned().map(|it| {
                    let memory = self.models[at].memory_mut(&id);
                    memory.tags = tags;
                    memory.is_pinned = pin.unwrap_or(it.is_pinned);
                    memory.version += 1;
                    memory.updated_at = now;
                    json!({"memory_id": id, "version": memory.version, "revision": memory.current, "reextracted": false})
                });
                compare(step, &expected, &answer)
            }
            Step::Delete { memory } => {
                let id = self.living(at, memory);
                let answer = self.ask(at, "delete_memory", json!({ "memory_id": id }));
                compare(step, &self.delete(at, &id, &answer), &answer)
            }
            Step::Supersede { memory, by } => {
                let (id, by) = (self.living(at, memory), self.living(at, by));
                let answer = self.ask(at, "supersede_memory", json!({"memory_id": id, "by": by}));
                compare(step, &self.supersede(at, &id, &by), &answer)
            }
            Step::UndoRun { run } => {
                let run = self.run(at, run);
                let answer = self.ask(at, "gc_undo", json!({ "run_id": run }));
                compare(step, &self.undo_run(at, &run), &answer)
            }
            Step::UndoMemory { memory } => {
                let id = self.trashed(at, memory);
                let answer = self.ask(at, "gc_undo", json!({ "memory_id": id }));
                let expected = match self.models[at].memory(&id).filter(|it| !it.is_live()) {
                    None => Err("not_found"),
                    Some(_) => Ok(self.restored(at, &[id], json!({}))),
                };
                compare(step, &expected, &answer)
            }
            Step::Forget { word, erase } => {
                let word = WORDS[usize::from(word)];
                let answer = self.ask(at, "forget", json!({"query": word, "purge": erase})).map(with_sorted_items);
                let expected = self.forget(at, word, erase, &answer);
                compare(step, &Ok(expected), &answer)
            }
            Step::Apply { plan, confirm, allow_large, exclude } => {
                if self.models[at].plans.iter().all(|it| it.outcome.is_some()) && plan < 10 {
                    self.take(at, &Step::Forget { word: plan % 5, erase: plan > 6 })?;
                }
                let id = self.plan(at, plan);
                let known = self.models.iter().flat_map(|it| &it.plans).find(|it| it.id == id);
                let excluded: Vec<Id> = known.and_then(|it| it.items.first()).map(Item::shown).into_iter().collect();
                let excluded = if exclude { excluded } else { Vec::new() };
                let request =
                    json!({"plan_id": id, "confirm": confirm, "allow_large": allow_large, "exclude": excluded});
                let answer = self.ask(at, "gc_apply", request);
                let expected = self.apply(at, &id, confirm, allow_large, &excluded, &answer);
                compare(step, &expected, &answer)
            }
            Step::PurgeRun { run } => {
                let run = self.run(at, run);
                let answer = self.ask(at, "gc_purge", json!({"run_id": run, "confirm": true}));
                let expected = match self.models[at].runs.iter().any(|it| it.id == run) {
                    true => Ok(purged(self.purge(at, &run))),
                    false => Err("not_found"),
                };
                compare(step, &expected, &answer)
            }
            Step::PurgeAll => {
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
                compare(step, &Ok(purged(total)), &answer)
            }
            Step::Import { first, second, describe, relate } => {
                let (first, second) = (THINGS[usize::from(first)], THINGS[usize::from(second)]);
                let description = describe.then_some("brought with a zebra");
                let entity = json!({"name": first, "type": kind_of(first), "description": description});
                let relation = json!({"source": first, "source_type": kind_of(first), "relation": "uses",
                                      "target": second, "target_type": kind_of(second)});
                let relations: Vec<Value> = (relate && first != second).then_some(relation).into_iter().collect();
                let request = json!({"entities": [entity], "relations": relations});
                let answer = self.ask(at, "import_graph", request);
                let related = (!relations.is_empty()).then_some(second);
                compare(step, &Ok(self.import(at, first, description, related, &answer)), &answer)
            }
            Step::Search { word } => self.search(at, WORDS[usize::from(word)]),
            Step::Get { memory } => {
                let id = self.living(at, memory);
                let answer = self.ask(at, "get_memory", json!({"memory_id": id, "include": ["ids"]}));
                let now = self.world.now_ms();
                let model = &mut self.models[at];
                let expected = model.living(&id).map(|it| as_read(model, it));
                if expected.is_ok() {
                    let memory = model.memory_mut(&id);
                    memory.use_count += 1;
                    memory.last_used_at = Some(now);
                }
                compare(step, &expected, &answer)
            }
            Step::List => self.compare_lists(at),
            Step::Wait => {
                self.world.advance_ms(DAY_MS);
                Ok(())
            }
        }
    }

    fn add(
        &mut self,
        at: usize,
        content: &Content,
        tags: &[String],
        restore: bool,
        supersedes: Option<&str>,
        answer: &Result<Value, ServiceError>,
    ) -> Result<Expected, TestCaseError> {
        let now = self.world.now_ms();
        let model = &mut self.models[at];
        if supersedes.is_some_and(|old| model.living(old).is_err()) {
            return Ok(Err("not_found"));
        }
        let live = model.live_with_content(content).map(|it| it.id.clone());
        let trashed = model.memories.iter().filter(|it| !it.is_live() && it.content().doc_hash() == content.doc_hash());
        let trashed = trashed.max_by_key(|it| it.trashed.as_ref().unwrap().1).map(|it| it.id.clone());
        let restored = live.is_none() && trashed.is_some();
        let is_removed = restored || (live.is_none() && model.erased.contains(&content.doc_hash()));
        if is_removed && !restore {
            return Ok(Err("conflict"));
        }
        let target = live.or(trashed);
        if let (Some(target), Some(old)) = (&target, supersedes)
            && old != target
            && model.closes_cycle(old, target)
        {
            return Ok(Err("conflict"));
        }
        let expected = match target {
            Some(id) => {
                if restored && model.restore(&id).is_err() {
                    return Ok(Err("conflict"));
                }
                let memory = model.memory_mut(&id);
                let new: Vec<String> = tags.iter().filter(|tag| !memory.tags.contains(tag)).cloned().collect();
                if !new.is_empty() {
                    memory.tags.extend(new);
                    memory.version += 1;
                    memory.updated_at = now;
                }
                json!({"memory_id": id, "name": memory.name, "created": false, "restored": restored,
                       "version": memory.version, "chunks_created": 0, "entities_created": 0, "relations_created": 0})
            }
            None => {
                let Ok(answer) = answer else { return Ok(Ok(json!({"created": true}))) };
                let (id, name) = (text_of(&answer["memory_id"]), text_of(&answer["name"]));
                prop_assert!(!self.memories[at].contains(&id), "ids are fresh");
                let slug = rootset_text::slug::slug(&content.topic).unwrap();
                let is_taken = |name: &str| model.memories.iter().any(|it| it.name == name);
                prop_assert!(!is_taken(&name), "{} is taken", name);
                prop_assert_eq!(name == slug, !is_taken(&slug), "{} for {}", name, slug);
                prop_assert!(name.starts_with(&slug));
                let visible = model.visible();
                let new = objects_of(content).into_iter().filter(|object| !visible.contains(object)).collect();
                let (entities, relations) = split_counts(&new);
                let revision = Revision { content: content.clone(), trashed: None };
                model.memories.push(Memory {
                    id: id.clone(),
                    name: name.clone(),
                    revisions: BTreeMap::from([(1, revision)]),
                    current: 1,
                    version: 1,
                    tags: tags.to_vec(),
                    is_pinned: false,
                    updated_at: now,
                    superseded_by: None,
                    trashed: None,
                    use_count: 0,
                    last_used_at: None,
                });
                self.memories[at].push(id.clone());
                json!({"memory_id": id, "name": name, "created": true, "restored": false, "status": "complete",
                       "version": 1, "chunks_created": 1, "entities_created": entities, "relations_created": relations,
                       "redacted": 0, "errors": []})
            }
        };
        let id = text_of(&expected["memory_id"]);
        if let Some(old) = supersedes.filter(|old| *old != id) {
            link(&mut self.models[at], old, &id, now);
        }
        Ok(Ok(expected))
    }

    fn rewrite(&mut self, at: usize, id: &str, content: Content, version: Option<i64>, erase: bool) -> Expected {
        let now = self.world.now_ms();
        let model = &mut self.models[at];
        let memory = model.living(id)?.clone();
        if version.is_some_and(|version| version != memory.version) {
            return Err("conflict");
        }
        let has_changed = memory.content().doc_hash() != content.doc_hash();
        if has_changed && model.live_with_content(&content).is_some() {
            return Err("conflict");
        }
        let visible = model.visible();
        let after = model.memory_mut(id);
        after.version += 1;
        after.updated_at = now;
        if has_changed {
            after.current = after.revisions.keys().max().unwrap() + 1;
            after.revisions.insert(after.current, Revision { content: content.clone(), trashed: None });
        }
        let (version, revision) = (after.version, after.current);
        if erase {
            let is_earlier = |it: &Memory, number: i64, _: &Revision| it.id == id && number < it.current;
            model.remove(true, |_| false, is_earlier, |_| false);
        }
        let left = model.visible();
        let (mut new, mut lost) = (objects_of(&content), objects_of(memory.content()));
        new.retain(|object| !visible.contains(object));
        lost.retain(|object| !left.contains(object));
        let ((entities_created, relations_created), (entities_removed, relations_removed)) =
            (split_counts(&new), split_counts(&lost));
        Ok(json!({
            "memory_id": id, "version": version, "revision": revision, "reextracted": has_changed, "errors": [],
            "entities_created": entities_created, "relations_created": relations_created,
            "entities_removed": entities_removed, "relations_removed": relations_removed, "redacted": 0,
        }))
    }

    fn started(&mut self, at: usize, operation: &'static str, answer: &Result<Value, ServiceError>) -> Id {
        let id = answer.as_ref().map_or_else(|_| NOBODY.to_owned(), |answer| text_of(&answer["run_id"]));
        self.models[at].runs.push(Run { id: id.clone(), operation, is_undone: false, is_purged: false });
        self.runs.push(id.clone());
        id
    }

    fn delete(&mut self, at: usize, id: &str, answer: &Result<Value, ServiceError>) -> Expected {
        let now = self.world.now_ms();
        let memory = self.models[at].living(id)?.clone();
        if memory.is_pinned {
            return Err("conflict");
        }
        let item = [Item::Memory { id: id.to_owned(), version: memory.version }];
        let counts = self.models[at].totals(&item);
        let run = self.started(at, "delete_memory", answer);
        self.models[at].trash(&item, &run, now);
        Ok(json!({
            "run_id": run, "undo_until": time(now + 7 * DAY_MS),
            "trashed": {"memories": 1, "chunks": 1, "entities": counts.entities, "relations": counts.relations},
        }))
    }

    fn supersede(&mut self, at: usize, id: &str, by: &str) -> Expected {
        let now = self.world.now_ms();
        let model = &mut self.models[at];
        model.living(id)?;
        model.living(by)?;
        if model.closes_cycle(id, by) {
            return Err("conflict");
        }
        link(model, id, by, now);
        Ok(json!({"memory_id": id, "superseded_by": by, "chain": model.chain(id)}))
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

    fn undo_run(&mut self, at: usize, run: &Id) -> Expected {
        let model = &mut self.models[at];
        let known = model.runs.iter_mut().find(|it| it.id == *run).ok_or("not_found")?;
        if known.is_undone || known.is_purged {
            return Err("conflict");
        }
        known.is_undone = true;
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

    fn forget(&mut self, at: usize, word: &str, erases: bool, answer: &Result<Value, ServiceError>) -> Value {
        let now = self.world.now_ms();
        let model = &mut self.models[at];
        let (items, matched, kept) = model.forget(word, erases);
        let counts = model.totals(&items);
        let mut totals = json!({"memories": counts.memories, "chunks": counts.memories, "entities": counts.entities,
                                "relations": counts.relations, "bytes": counts.bytes});
        if counts.revisions > 0 {
            totals["revisions"] = counts.revisions.into();
        }
        let mut shown: Vec<Id> = items.iter().map(Item::shown).collect();
        shown.sort();
        let blocked: Vec<&str> = model.blocked(&items).into_iter().collect();
        let id = answer.as_ref().map_or_else(|_| NOBODY.to_owned(), |answer| text_of(&answer["plan_id"]));
        let expected = json!({"matched": matched, "in_plan": items.len(), "kept_pinned": kept, "totals": totals,
                              "purge": erases, "sorted_items": shown, "limits": blocked, "items_total": items.len()});
        model.plans.push(Plan { id: id.clone(), items, created_at: now, erases, outcome: None });
        self.plans.push(id);
        expected
    }

    fn apply(
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
        if let Some((outcome, run)) = plan.outcome {
            let mut outcome = outcome;
            let is_undone = model.runs.iter().any(|it| it.id == run && it.is_undone);
            outcome["undone"] = if is_undone { json!(true) } else { Value::Null };
            return Ok(outcome);
        }
        if plan.is_expired(now) {
            return Err("plan_expired");
        }
        if plan.erases && !confirm {
            return Err("confirmation_required");
        }
        let reviewed: Vec<Item> = plan.items.iter().filter(|it| !excluded.contains(&it.shown())).cloned().collect();
        if model.blocked(&reviewed).is_some() && !allow_large {
            return Err("limit_exceeded");
        }
        let (mut passed, mut skipped) = (Vec::new(), Vec::new());
        for item in &plan.items {
            let reason = if excluded.contains(&item.shown()) { Some("excluded") } else { model.skip(&plan, item) };
            match reason {
                Some(reason) => skipped.push(json!({"id": item.shown(), "reason": reason})),
                None => passed.push(item.clone()),
            }
        }
        let counts = model.totals(&passed);
        let run = self.started(at, "forget", answer);
        let mut trashed = json!({"memories": counts.memories, "chunks": counts.memories, "entities": counts.entities,
                                 "relations": counts.relations});
        if counts.revisions > 0 {
            trashed["revisions"] = counts.revisions.into();
        }
        let undo_until = if plan.erases { Value::Null } else { time(now + 7 * DAY_MS) };
        let skipped = json!({"count": skipped.len(), "first": &skipped[..skipped.len().min(20)]});
        let outcome = json!({"run_id": run, "trashed": trashed, "skipped": skipped, "undo_until": undo_until});
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
            model.runs.last_mut().unwrap().is_purged = true;
        }
        let stored = model.plans.iter_mut().find(|it| it.id == plan.id).unwrap();
        stored.outcome = Some((outcome.clone(), run));
        Ok(outcome)
    }

    fn purge(&mut self, at: usize, run: &Id) -> Counts {
        let model = &mut self.models[at];
        let is_noted = model.runs.iter().any(|it| it.id == *run && it.operation != "import_graph");
        let counts = model.remove(
            is_noted,
            |it| it.trashed.as_ref().is_some_and(|(by, _)| by == run),
            |_, _, it| it.trashed.as_ref() == Some(run),
            |it| it.trashed.as_ref() == Some(run),
        );
        if counts != Counts::default() {
            model.runs.iter_mut().find(|it| it.id == *run).unwrap().is_purged = true;
        }
        counts
    }

    fn import(
        &mut self,
        at: usize,
        first: &str,
        description: Option<&str>,
        related: Option<&str>,
        answer: &Result<Value, ServiceError>,
    ) -> Value {
        let run = self.started(at, "import_graph", answer);
        let first = Object::entity(first, &kind_of(first));
        let second = related.map(|second| Object::entity(second, &kind_of(second)));
        let relation = second.as_ref().map(|second| Object::relation(&first, "uses", second));
        let row = |object: &Object, description: Option<&str>| Untracked {
            object: object.clone(),
            run: run.clone(),
            description: description.map(str::to_owned),
            trashed: None,
        };
        let rows = &mut self.models[at].untracked;
        rows.push(row(&first, description));
        rows.extend(second.iter().chain(&relation).map(|object| row(object, None)));
        json!({"run_id": run, "entities": 1 + second.iter().len(), "relations": relation.iter().len()})
    }

    /// Neighbours of a hit may be served with it, so the answer lies between what has to be there and what may be.
    fn search(&mut self, at: usize, word: &str) -> Result<(), TestCaseError> {
        let request = json!({"query": word, "limit": 100, "max_tokens": 1_000_000});
        let answer = self.ask(at, "search_memory", request).unwrap();
        let now = self.world.now_ms();
        let found: Vec<Id> = array(&answer["results"]).iter().map(|it| text_of(&it["memory_id"])).collect();
        let model = &mut self.models[at];
        let distinct: BTreeSet<&Id> = found.iter().collect();
        prop_assert_eq!(distinct.len(), found.len(), "each memory once");
        for id in &found {
            let memory = model.memory(id);
            prop_assert!(memory.is_some_and(|it| model.is_current(it)), "{} is not current", id);
        }
        let holds = |it: &&Memory| it.content().context.contains(word);
        for memory in model.memories.iter().filter(|it| model.is_current(it)).filter(holds) {
            prop_assert!(found.contains(&memory.id), "{} holds {}", memory.id, word);
        }
        for id in found {
            let memory = model.memory_mut(&id);
            memory.use_count += 1;
            memory.last_used_at = Some(now);
        }
        let entities = self.ask(at, "search_memory", json!({"query": word, "mode": "entities", "limit": 100})).unwrap();
        let model = &self.models[at];
        for entity in array(&entities["results"]) {
            let shown = entity_answer(model, &text_of(&entity["name"]));
            let current: Vec<&Value> = array(&shown["memory_ids"])
                .iter()
                .filter(|id| model.memory(id.as_str().unwrap()).is_some_and(|it| model.is_current(it)))
                .collect();
            prop_assert_eq!(array(&entity["memory_ids"]).iter().collect::<Vec<_>>(), current);
            prop_assert!(entity["origin"] == "untracked" || entity["memory_ids"] != json!([]), "{}", entity);
            for field in ["entity_id", "description", "origin", "refcount"] {
                prop_assert_eq!(&entity[field], &shown[field], "{}", field);
            }
        }
        Ok(())
    }

    fn compare_lists(&self, at: usize) -> Result<(), TestCaseError> {
        let model = &self.models[at];
        let mut all: Vec<&Memory> = model.memories.iter().collect();
        all.sort_by(|a, b| (b.updated_at, &b.id).cmp(&(a.updated_at, &a.id)));
        for lifecycle in ["live", "trashed", "superseded", "all"] {
            let is_listed = |it: &&&Memory| match lifecycle {
                "live" => model.is_current(it),
                "trashed" => !it.is_live(),
                "superseded" => it.is_live() && model.is_superseded(it),
                _ => true,
            };
            let expected: Vec<Value> = all
                .iter()
                .filter(is_listed)
                .map(|it| json!([it.id, it.name, it.content().topic, it.is_pinned, time(it.updated_at)]))
                .collect();
            let answer = self.ask(at, "list_memories", json!({"lifecycle": lifecycle, "limit": 100})).unwrap();
            let listed: Vec<Value> = array(&answer["memories"])
                .iter()
                .map(|it| json!([it["memory_id"], it["name"], it["topic"], it["pinned"], it["updated_at"]]))
                .collect();
            prop_assert_eq!(&answer["total"], expected.len());
            prop_assert_eq!(listed, expected, "{}", lifecycle);
        }
        Ok(())
    }

    fn compare_everything(&mut self) -> Result<(), TestCaseError> {
        for (at, workspace) in WORKSPACES.into_iter().enumerate() {
            self.compare_lists(at)?;
            let model = &self.models[at];
            for memory in model.live() {
                let request = json!({"memory_id": memory.name, "include": ["ids"], "workspace_id": workspace});
                let answer = Ok(self.world.look_with(request));
                compare(&Step::Get { memory: 0 }, &Ok(as_read(model, memory)), &answer)?;
                for (number, revision) in &memory.revisions {
                    let request = json!({"memory_id": memory.id, "revision": number});
                    let answer = self.ask(at, "get_memory", request);
                    match &revision.trashed {
                        None => prop_assert_eq!(&answer.unwrap()["context"], &revision.content.context),
                        Some(_) => prop_assert_eq!(answer.unwrap_err().code.as_str(), "not_found"),
                    }
                }
            }
            self.compare_graph(at)?;
            self.compare_trash(at)?;
        }
        let doctor = self.world.call("doctor", json!({}));
        let broken: Vec<&Value> = array(&doctor["checks"]).iter().filter(|it| it["ok"] == false).collect();
        prop_assert!(broken.is_empty(), "{:?}", broken);
        Ok(())
    }

    fn compare_graph(&self, at: usize) -> Result<(), TestCaseError> {
        let model = &self.models[at];
        let answer = self.ask(at, "export_graph", json!({})).unwrap();
        let visible = model.visible();
        let names: BTreeMap<&Id, &String> = visible
            .iter()
            .filter_map(|object| match object {
                Object::Entity { id, name, .. } => Some((id, name)),
                Object::Relation { .. } => None,
            })
            .collect();
        let mut entities: Vec<Value> = names.values().map(|name| entity_answer(model, name)).collect();
        entities.sort_by_key(|it| text_of(&it["entity_id"]));
        prop_assert_eq!(array(&answer["entities"]), &entities[..]);
        let is_untracked = |id: &Id| model.untracked.iter().any(|it| it.object.id() == id && it.trashed.is_none());
        let mut relations: Vec<Value> = visible
            .iter()
            .filter_map(|object| match object {
                Object::Entity { .. } => None,
                Object::Relation { id, source, verb, target } => Some(json!({
                    "relation_id": id, "source": names[source], "source_id": source, "relation": verb,
                    "target": names[target], "target_id": target,
                    "origin": if is_untracked(id) { "untracked" } else { "derived" },
                })),
            })
            .collect();
        relations.sort_by_key(|it| text_of(&it["relation_id"]));
        prop_assert_eq!(array(&answer["relations"]), &relations[..]);
        Ok(())
    }

    fn compare_trash(&self, at: usize) -> Result<(), TestCaseError> {
        let model = &self.models[at];
        let mut expected: Vec<(String, Id, Id)> = Vec::new();
        for memory in &model.memories {
            expected.extend(memory.trashed.as_ref().map(|(run, _)| ("memory".into(), memory.id.clone(), run.clone())));
            for (number, revision) in &memory.revisions {
                let id = format!("{}@{number}", memory.id);
                expected.extend(revision.trashed.as_ref().map(|run| ("revision".into(), id, run.clone())));
            }
        }
        let rows = model.untracked.iter().filter(|it| it.object.is_entity());
        let rows: BTreeSet<(Id, Id)> =
            rows.filter_map(|it| it.trashed.clone().map(|run| (it.object.id().clone(), run))).collect();
        expected.extend(rows.into_iter().map(|(id, run)| ("entity".to_owned(), id, run)));
        expected.sort();
        let answer = self.ask(at, "list_trash", json!({"limit": 100})).unwrap();
        let mut listed: Vec<(String, Id, Id)> = array(&answer["items"])
            .iter()
            .map(|it| (text_of(&it["kind"]), text_of(&it["id"]), text_of(&it["run_id"])))
            .collect();
        listed.sort();
        prop_assert_eq!(listed, expected);
        Ok(())
    }
}

fn link(model: &mut Workspace, old: &str, by: &str, now: i64) {
    let memory = model.memory_mut(old);
    memory.superseded_by = Some(by.to_owned());
    memory.version += 1;
    memory.updated_at = now;
}

fn as_read(model: &Workspace, memory: &Memory) -> Value {
    let content = memory.content();
    let (entities, relations) = split_counts(&objects_of(content));
    let successor = memory.superseded_by.as_ref().filter(|_| model.is_superseded(memory));
    let predecessors: Vec<&String> =
        model.live().filter(|it| it.superseded_by.as_ref() == Some(&memory.id)).map(|it| &it.name).collect();
    json!({
        "memory_id": memory.id, "name": memory.name, "topic": content.topic, "context": content.context,
        "tags": memory.tags, "pinned": memory.is_pinned, "version": memory.version, "revision": memory.current,
        "updated_at": time(memory.updated_at), "use_count": memory.use_count,
        "last_used_at": memory.last_used_at.map(time), "superseded": successor.is_some(),
        "superseded_by": successor.map(|id| &model.memory(id).unwrap().name), "supersedes": predecessors,
        "entity_count": entities, "relation_count": relations, "chunk_count": 1, "status": "complete",
    })
}

/// An entity as it is exported.
fn entity_answer(model: &Workspace, name: &str) -> Value {
    let object = Object::entity(name, &kind_of(name));
    let rows: Vec<&Untracked> =
        model.untracked.iter().filter(|it| it.object == object && it.trashed.is_none()).collect();
    let mut contributors: Vec<&Memory> = model.live().filter(|it| objects_of(it.content()).contains(&object)).collect();
    contributors.sort_by(|a, b| (b.updated_at, &b.id).cmp(&(a.updated_at, &a.id)));
    let said = contributors.iter().filter(|it| model.is_current(it)).flat_map(|it| {
        let extraction = rootset_text::extract::extract(it.content());
        extraction.entities.into_iter().filter(|it| it.name == name).map(|it| it.description)
    });
    let mut texts: Vec<String> = Vec::new();
    for text in rows.iter().filter_map(|it| it.description.clone()).chain(said) {
        if texts.len() < 5 && !texts.contains(&text) {
            texts.push(text);
        }
    }
    json!({
        "entity_id": object.id(), "name": name, "type": kind_of(name), "description": texts.join(" "),
        "origin": if rows.is_empty() { "derived" } else { "untracked" }, "refcount": contributors.len(),
        "memory_ids": contributors.iter().map(|it| &it.id).collect::<Vec<_>>(),
    })
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
    json!({"purged": rows, "bytes_freed": counts.bytes})
}

/// Adds the ids of a plan's items in order, and the limits that block it, in a form that compares easily.
fn with_sorted_items(mut answer: Value) -> Value {
    let mut shown: Vec<Id> = array(&answer["items"]).iter().map(|it| text_of(&it["id"])).collect();
    shown.sort();
    answer["sorted_items"] = json!(shown);
    let limits: Vec<Value> = array(&answer["blocked"]).iter().map(|it| it["limit"].clone()).collect();
    answer["limits"] = json!(limits);
    let kept = ids(&answer["kept_pinned"]);
    answer["kept_pinned"] = json!(kept);
    answer
}

#[test]
fn random_operations_answer_as_the_model_says() {
    let cases = std::env::var("ROOTSET_TEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(CASES_DEFAULT);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    proptest!(config, |(steps in steps())| {
        let mut simulation = Simulation::new();
        for number in [0, 3, 5, 8, 9, 10] {
            let step = Step::Add { content: number, tag: None, restore: false, supersedes: None };
            simulation.take(0, &step)?;
        }
        for (at, step) in &steps {
            simulation.take(*at, step)?;
        }
        simulation.compare_everything()?;
    });
}
