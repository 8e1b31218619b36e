//! Steps of people and agents: adding, changing, superseding, importing; and what is planted past the service.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use rootset_model::slug::is_made_from;
use rootset_model::{ChunkKey, Content, EntityId, RelationId};
use rootset_service::ServiceError;
use serde_json::{Value, json};

use super::simulation::{Expected, Outcome, Simulation, compare};
use super::steps::{Addition, CODE_SOURCE, Planting, REPO, SOURCES, Step, THINGS, content, kind_of};
use crate::harness::{DAY_MS, STEP_MS, text_of};
use crate::model::{
    Id, Memory, Object, Orphan, OrphanKind, Revision, Run, Untracked, Workspace, objects_of, split_counts,
};

impl Simulation {
    pub fn add(&mut self, at: usize, step: &Step, addition: &Addition) -> Outcome {
        let old = addition.supersedes.map(|number| self.living(at, number));
        let content = content(addition.content);
        let tags: Vec<String> = addition.tag.map(|tag| format!("tag-{}", tag % 2)).into_iter().collect();
        let expires_at = addition.expires_in_days.map(|days| self.world.now_ms() + days * DAY_MS);
        let answer = self.ask(
            at,
            "add_memory",
            json!({
                "context": content.context, "tags": tags, "restore": addition.restore, "supersedes": old.as_slice(),
                "source": SOURCES[usize::from(addition.source)], "pinned": addition.pin, "expires_at": expires_at,
                "source_version": addition.source_version,
            }),
        );
        let expected = self.added(at, &content, &tags, addition, expires_at, old.as_deref(), &answer)?;
        compare(step, &expected, &answer)
    }

    #[expect(clippy::too_many_arguments, reason = "what was asked, resolved to what is there")]
    fn added(
        &mut self,
        at: usize,
        content: &Content,
        tags: &[String],
        addition: &Addition,
        expires_at: Option<i64>,
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
        let trashed = trashed.max_by_key(|it| it.trashed.as_ref().unwrap().1).cloned();
        let is_restored = live.is_none() && trashed.is_some();
        let is_removed = match &trashed {
            // What a policy took comes back when somebody says it again; what somebody took does not.
            Some(it) => model.was_removed_by_somebody(it),
            None => model.erased.contains(&content.doc_hash()),
        };
        if live.is_none() && is_removed && !addition.restore {
            return Ok(Err("conflict"));
        }
        let target = live.or(trashed.map(|it| it.id));
        if let (Some(target), Some(old)) = (&target, supersedes)
            && old != target
            && model.closes_cycle(old, target)
        {
            return Ok(Err("conflict"));
        }
        let expected = match target {
            Some(id) => {
                if is_restored {
                    if model.restore(&id).is_err() {
                        return Ok(Err("conflict"));
                    }
                    model.audited += 1;
                }
                merged(model.memory_mut(&id), tags, addition, expires_at, is_restored, now)
            }
            None => {
                let Ok(answer) = answer else { return Ok(Ok(json!({"created": true}))) };
                self.created(at, content, tags, addition, expires_at, answer)?
            }
        };
        let id = text_of(&expected["memory_id"]);
        if let Some(old) = supersedes.filter(|old| *old != id) {
            link(&mut self.models[at], old, &id, now);
        }
        Ok(Ok(expected))
    }

    fn created(
        &mut self,
        at: usize,
        content: &Content,
        tags: &[String],
        addition: &Addition,
        expires_at: Option<i64>,
        answer: &Value,
    ) -> Result<Value, TestCaseError> {
        let now = self.world.now_ms();
        let model = &mut self.models[at];
        let (id, name) = (text_of(&answer["memory_id"]), text_of(&answer["name"]));
        prop_assert!(!self.memories[at].contains(&id), "ids are fresh");
        let slug = rootset_model::slug::slug(&content.topic).unwrap();
        let is_taken =
            |name: &str| model.memories.iter().any(|it| it.name == name || it.aliases.iter().any(|it| it == name));
        prop_assert!(!is_taken(&name), "{} is taken", name);
        prop_assert_eq!(name == slug, !is_taken(&slug), "{} for {}", name, slug);
        let visible = model.visible();
        let new = objects_of(content).into_iter().filter(|object| !visible.contains(object)).collect();
        let (entities, relations) = split_counts(&new);
        model.memories.push(Memory {
            id: id.clone(),
            name: name.clone(),
            aliases: Vec::new(),
            revisions: BTreeMap::from([(1, Revision { content: content.clone(), trashed: None })]),
            current: 1,
            version: 1,
            tags: tags.to_vec(),
            is_pinned: addition.pin,
            source: SOURCES[usize::from(addition.source)],
            repo: None,
            stale_at: None,
            source_version: addition.source_version,
            updated_at: now,
            ingested_at: now,
            expires_at,
            superseded_by: None,
            superseded_at: 0,
            trashed: None,
            use_count: 0,
            last_used_at: None,
        });
        self.memories[at].push(id.clone());
        Ok(json!({"memory_id": id, "name": name, "created": true, "restored": false, "status": "complete",
                  "version": 1, "chunks_created": 1, "entities_created": entities, "relations_created": relations,
                  "redacted": 0, "errors": []}))
    }

    pub fn rewrite(
        &mut self,
        at: usize,
        step: &Step,
        memory: u8,
        number: u8,
        is_expected: Option<bool>,
        erase: bool,
    ) -> Outcome {
        let id = self.living(at, memory);
        let seen = self.models[at].memory(&id).map_or(1, |it| it.version);
        let version = is_expected.map(|is_expected| if is_expected { seen } else { seen - 1 });
        let content = content(number);
        let request = json!({
            "memory_id": id, "context": content.context, "topic": null, "expected_version": version,
            "erase_previous": erase,
        });
        let answer = self.ask(at, "update_memory", request);
        compare(step, &self.rewritten(at, &id, content, version, erase), &answer)?;
        if erase && answer.is_ok() { self.check_absence() } else { Ok(()) }
    }

    fn rewritten(&mut self, at: usize, id: &str, content: Content, version: Option<i64>, erase: bool) -> Expected {
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
            if is_made_from(&after.name, &memory.content().topic) && !is_made_from(&after.name, &content.topic) {
                after.aliases.push(std::mem::take(&mut after.name));
            }
            after.current = after.revisions.keys().max().unwrap() + 1;
            after.revisions.insert(after.current, Revision { content: content.clone(), trashed: None });
            after.ingested_at = now;
        }
        let (version, revision) = (after.version, after.current);
        if erase {
            model.audited += usize::from(model.memory(id).unwrap().revisions.len() > 1);
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

    pub fn retag(&mut self, at: usize, step: &Step, memory: u8, tag: u8, pin: Option<bool>) -> Outcome {
        let id = self.living(at, memory);
        let tags = vec![format!("tag-{}", tag % 2)];
        let answer = self.ask(at, "update_memory", json!({"memory_id": id, "tags": tags, "pinned": pin}));
        let expected = self.changed(at, &id, |it| {
            it.tags = tags;
            it.is_pinned = pin.unwrap_or(it.is_pinned);
        });
        compare(step, &expected, &answer)
    }

    pub fn expire(&mut self, at: usize, step: &Step, memory: u8, days: Option<i64>) -> Outcome {
        let id = self.living(at, memory);
        let expires_at = days.map(|days| self.world.now_ms() + STEP_MS + days * DAY_MS);
        let request = match expires_at {
            Some(expires_at) => json!({"memory_id": id, "expires_at": expires_at}),
            None => json!({"memory_id": id, "clear": ["expires_at"]}),
        };
        let answer = self.ask(at, "update_memory", request);
        let expected = self.changed(at, &id, |it| it.expires_at = expires_at);
        compare(step, &expected, &answer)
    }

    pub fn set_source_version(&mut self, at: usize, step: &Step, memory: u8, version: Option<i64>) -> Outcome {
        let id = self.living(at, memory);
        let request = match version {
            Some(version) => json!({"memory_id": id, "source_version": version}),
            None => json!({"memory_id": id, "clear": ["source_version"]}),
        };
        let answer = self.ask(at, "update_memory", request);
        let expected = self.changed(at, &id, |it| it.source_version = version);
        compare(step, &expected, &answer)
    }

    /// An update of anything but the text.
    fn changed(&mut self, at: usize, id: &str, change: impl FnOnce(&mut Memory)) -> Expected {
        let now = self.world.now_ms();
        self.models[at].living(id)?;
        let memory = self.models[at].memory_mut(id);
        change(memory);
        memory.version += 1;
        memory.updated_at = now;
        Ok(json!({"memory_id": id, "version": memory.version, "revision": memory.current, "reextracted": false}))
    }

    pub fn supersede(&mut self, at: usize, step: &Step, memory: u8, by: u8) -> Outcome {
        let (id, by) = (self.living(at, memory), self.living(at, by));
        let answer = self.ask(at, "supersede_memory", json!({"memory_id": id, "by": by}));
        compare(step, &self.superseded(at, &id, &by), &answer)
    }

    fn superseded(&mut self, at: usize, id: &str, by: &str) -> Expected {
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

    pub fn import(&mut self, at: usize, step: &Step, first: u8, second: u8, describe: bool, relate: bool) -> Outcome {
        let (first, second) = (THINGS[usize::from(first)], THINGS[usize::from(second)]);
        let description = describe.then_some("brought with a zebra");
        let entity = json!({"name": first, "type": kind_of(first), "description": description});
        let relation = json!({"source": first, "source_type": kind_of(first), "relation": "uses",
                              "target": second, "target_type": kind_of(second)});
        let relations: Vec<Value> = (relate && first != second).then_some(relation).into_iter().collect();
        let answer = self.ask(at, "import_graph", json!({"entities": [entity], "relations": relations}));
        let related = (!relations.is_empty()).then_some(second);
        compare(step, &Ok(self.imported(at, first, description, related, &answer)), &answer)
    }

    fn imported(
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

    /// Notes a run that the answer names.
    pub fn started(&mut self, at: usize, operation: &'static str, answer: &Result<Value, ServiceError>) -> Id {
        let id = answer.as_ref().map_or_else(|_| super::simulation::NOBODY.to_owned(), |it| text_of(&it["run_id"]));
        self.models[at].runs.push(Run { id: id.clone(), operation, is_undone: false, is_purged: false });
        self.models[at].audited += 1;
        self.runs.push(id.clone());
        id
    }

    /// Written as a scan would write it: the workspace's last write is told, too.
    pub fn plant(&mut self, at: usize, planting: &Planting) {
        self.world.advance_ms(STEP_MS);
        let now = self.world.now_ms();
        let key = self.key(at);
        match planting {
            Planting::File { memory, is_stale } => {
                let Some(memory) = self.planted_on(at, *memory) else { return };
                memory.repo = Some(REPO);
                memory.source = CODE_SOURCE;
                memory.stale_at = is_stale.then_some(now);
                let (id, stale_at) = (bytes_of(&memory.id), memory.stale_at);
                let statement =
                    "UPDATE memories SET repo = ?3, file_path = name, source = ?4, stale_at = ?5, seal = NULL
                                 WHERE workspace = ?1 AND memory = ?2";
                self.sql
                    .execute(statement, &[key.into(), (&id).into(), REPO.into(), CODE_SOURCE.into(), stale_at.into()])
                    .unwrap();
                let recount = "DELETE FROM sources;
                               INSERT INTO sources SELECT workspace, source, COUNT(*) FROM memories GROUP BY 1, 2;";
                self.sql.execute_batch(recount).unwrap();
            }
            Planting::IngestedAt { memory, is_future } => {
                let Some(memory) = self.planted_on(at, *memory) else { return };
                memory.ingested_at = if *is_future { now + 1000 * DAY_MS } else { -5 };
                let (id, ingested_at) = (bytes_of(&memory.id), memory.ingested_at);
                let statement = "UPDATE memories SET ingested_at = ?3 WHERE workspace = ?1 AND memory = ?2";
                self.sql.execute(statement, &[key.into(), (&id).into(), ingested_at.into()]).unwrap();
            }
            Planting::Orphan { kind } => self.plant_orphan(at, *kind),
        }
        self.sql
            .execute("UPDATE workspaces SET last_write_at = ?2 WHERE workspace = ?1", &[key.into(), now.into()])
            .unwrap();
    }

    fn planted_on(&mut self, at: usize, number: u8) -> Option<&mut Memory> {
        let id = self.living(at, number);
        self.models[at].living(&id).ok()?;
        Some(self.models[at].memory_mut(&id))
    }

    fn plant_orphan(&mut self, at: usize, kind: OrphanKind) {
        self.planted += 1;
        let (key, number) = (self.key(at), 1_000_000 + self.planted);
        let mut id = [0xee; 16];
        id[8..].copy_from_slice(&number.to_be_bytes());
        let orphans = &mut self.models[at].orphans;
        if kind == OrphanKind::Chunk {
            let statement = "INSERT INTO chunks VALUES (?1, ?2, ?3, 0, 0, 0, 1, 0, NULL)";
            self.sql.execute(statement, &[key.into(), number.into(), (&id).into()]).unwrap();
            orphans.insert(Orphan { kind, id: ChunkKey(number).external().to_string() });
            return;
        }
        let statement = "INSERT INTO entities VALUES (?1, ?2, ?3, 'Planted', 'thing', 'planted', 1, 0, 0)";
        self.sql.execute(statement, &[key.into(), (&id).into(), number.into()]).unwrap();
        orphans.insert(Orphan { kind: OrphanKind::Entity, id: EntityId(id).to_string() });
        if kind == OrphanKind::Relation {
            let end = id;
            id[0] = 0xdd;
            let statement = "INSERT INTO relations VALUES (?1, ?2, ?3, 'haunts', ?3, 1, 0)";
            self.sql.execute(statement, &[key.into(), (&id).into(), (&end).into()]).unwrap();
            orphans.insert(Orphan { kind, id: RelationId(id).to_string() });
        }
    }
}

/// The same content once more: what came with it is merged in.
fn merged(
    memory: &mut Memory,
    tags: &[String],
    addition: &Addition,
    expires_at: Option<i64>,
    is_restored: bool,
    now: i64,
) -> Value {
    let attributes = |it: &Memory| (it.tags.clone(), it.is_pinned, it.expires_at, it.source_version);
    let before = attributes(memory);
    let new: Vec<String> = tags.iter().filter(|tag| !memory.tags.contains(tag)).cloned().collect();
    memory.tags.extend(new);
    memory.is_pinned |= addition.pin;
    if memory.source == SOURCES[usize::from(addition.source)] {
        memory.source_version = memory.source_version.max(addition.source_version);
    }
    // What comes back must not be gone again at once.
    let kept = memory.expires_at.filter(|at| !is_restored || *at > now);
    memory.expires_at = expires_at.or(kept);
    if before != attributes(memory) {
        memory.version += 1;
        memory.updated_at = now;
    }
    json!({"memory_id": memory.id, "name": memory.name, "created": false, "restored": is_restored,
           "version": memory.version, "chunks_created": 0, "entities_created": 0, "relations_created": 0})
}

fn link(model: &mut Workspace, old: &str, by: &str, now: i64) {
    let memory = model.memory_mut(old);
    memory.superseded_by = Some(by.to_owned());
    memory.superseded_at = now;
    memory.version += 1;
    memory.updated_at = now;
}

pub fn bytes_of(id: &str) -> [u8; 16] {
    id.parse::<rootset_model::MemoryId>().unwrap().0
}
