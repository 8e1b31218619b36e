//! Steps that read, and the comparison of everything that can be read with the model.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};

use super::simulation::{Outcome, Simulation, compare, time};
use super::steps::{Step, WORKSPACES, kind_of};
use crate::harness::{array, text_of};
use crate::model::{Id, Memory, Object, Untracked, Workspace, objects_of, split_counts};

impl Simulation {
    /// A look with the plan's id is a review: it leaves no use behind.
    pub fn get(&mut self, at: usize, step: &Step, memory: u8, plan: Option<u8>) -> Outcome {
        let id = self.living(at, memory);
        let plans = &self.models[at].plans;
        let names_it = |it: &&crate::model::Plan| it.items.iter().any(|item| item.shown() == id);
        let plan = plan.and_then(|_| plans.iter().rev().find(names_it)).map(|it| it.id.clone());
        let answer = self.ask(at, "get_memory", json!({"memory_id": id, "include": ["ids"], "plan_id": plan}));
        let now = self.world.now_ms();
        let model = &mut self.models[at];
        let expected = model.living(&id).map(|it| as_read(model, it));
        if expected.is_ok() && plan.is_none() {
            let memory = model.memory_mut(&id);
            memory.use_count += 1;
            memory.last_used_at = Some(now);
        }
        compare(step, &expected, &answer)
    }

    /// Neighbours of a hit may be served with it, so the answer lies between what has to be there and what may be.
    pub fn search(&mut self, at: usize, word: &str) -> Result<(), TestCaseError> {
        let request = json!({"query": word, "limit": 100, "max_tokens": 1_000_000});
        let answer = self.ask(at, "search_memory", request).unwrap();
        let now = self.world.now_ms();
        let found: Vec<Id> = array(&answer["results"]).iter().map(|it| text_of(&it["memory_id"])).collect();
        let model = &mut self.models[at];
        let distinct: BTreeSet<&Id> = found.iter().collect();
        prop_assert_eq!(distinct.len(), found.len(), "each memory once");
        for id in &found {
            let memory = model.memory(id);
            prop_assert!(memory.is_some_and(|it| model.is_current(it, now)), "{} is not current", id);
        }
        // Indexed files are found by those who ask for them.
        let holds = |it: &&Memory| it.repo.is_none() && it.content().context.contains(word);
        for memory in model.memories.iter().filter(|it| model.is_current(it, now)).filter(holds) {
            prop_assert!(found.contains(&memory.id), "{} holds {}", memory.id, word);
        }
        for id in found {
            let memory = model.memory_mut(&id);
            memory.use_count += 1;
            memory.last_used_at = Some(now);
        }
        let entities = self.ask(at, "search_memory", json!({"query": word, "mode": "entities", "limit": 100})).unwrap();
        let (model, now) = (&self.models[at], self.world.now_ms());
        for entity in array(&entities["results"]) {
            let shown = entity_answer(model, &text_of(&entity["name"]), now);
            let current: Vec<&Value> = array(&shown["memory_ids"])
                .iter()
                .filter(|id| model.memory(id.as_str().unwrap()).is_some_and(|it| model.is_current(it, now)))
                .collect();
            prop_assert_eq!(array(&entity["memory_ids"]).iter().collect::<Vec<_>>(), current);
            prop_assert!(entity["origin"] == "untracked" || entity["memory_ids"] != json!([]), "{}", entity);
            for field in ["entity_id", "description", "origin", "refcount"] {
                prop_assert_eq!(&entity[field], &shown[field], "{}", field);
            }
        }
        Ok(())
    }

    pub fn compare_lists(&self, at: usize) -> Result<(), TestCaseError> {
        let model = &self.models[at];
        // Indexed files are listed for those who ask for them.
        let mut all: Vec<&Memory> = model.memories.iter().filter(|it| it.repo.is_none()).collect();
        all.sort_by(|a, b| (b.updated_at, &b.id).cmp(&(a.updated_at, &a.id)));
        for lifecycle in ["live", "trashed", "superseded", "all"] {
            let is_listed = |it: &&&Memory| match lifecycle {
                "live" => it.is_live() && !model.is_superseded(it),
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

    pub fn compare_everything(&mut self) -> Outcome {
        for (at, workspace) in WORKSPACES.into_iter().enumerate() {
            self.compare_lists(at)?;
            let model = &self.models[at];
            for memory in model.live() {
                let request = json!({"memory_id": memory.name, "include": ["ids"], "workspace_id": workspace});
                let answer = Ok(self.world.look_with(request));
                compare(&Step::List, &Ok(as_read(model, memory)), &answer)?;
                for (number, revision) in &memory.revisions {
                    let answer = self.ask(at, "get_memory", json!({"memory_id": memory.id, "revision": number}));
                    match &revision.trashed {
                        None => prop_assert_eq!(&answer.unwrap()["context"], &revision.content.context),
                        Some(_) => prop_assert_eq!(answer.unwrap_err().code.as_str(), "not_found"),
                    }
                }
            }
            self.compare_graph(at)?;
            self.compare_trash(at)?;
            let audited = self.look(at, "list_audit", json!({}));
            prop_assert_eq!(&audited["total"], self.models[at].audited, "{}", audited);
        }
        Ok(())
    }

    fn compare_graph(&self, at: usize) -> Result<(), TestCaseError> {
        let model = &self.models[at];
        let answer = self.ask(at, "export_graph", json!({})).unwrap();
        let (visible, now) = (model.visible(), self.world.now_ms());
        let names: BTreeMap<&Id, &String> = visible
            .iter()
            .filter_map(|object| match object {
                Object::Entity { id, name, .. } => Some((id, name)),
                Object::Relation { .. } => None,
            })
            .collect();
        let mut entities: Vec<Value> = names.values().map(|name| entity_answer(model, name, now)).collect();
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
        "last_used_at": memory.last_used_at.map(time), "source": memory.source, "expires_at": memory.expires_at.map(time),
        "superseded": successor.is_some(),
        "superseded_by": successor.map(|id| &model.memory(id).unwrap().name), "supersedes": predecessors,
        "entity_count": entities, "relation_count": relations, "chunk_count": 1, "status": "complete",
    })
}

/// An entity as it is exported.
fn entity_answer(model: &Workspace, name: &str, now: i64) -> Value {
    let object = Object::entity(name, &kind_of(name));
    let rows: Vec<&Untracked> =
        model.untracked.iter().filter(|it| it.object == object && it.trashed.is_none()).collect();
    let mut contributors: Vec<&Memory> = model.live().filter(|it| objects_of(it.content()).contains(&object)).collect();
    contributors.sort_by(|a, b| (b.updated_at, &b.id).cmp(&(a.updated_at, &a.id)));
    let said = contributors.iter().filter(|it| model.is_current(it, now)).flat_map(|it| {
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
