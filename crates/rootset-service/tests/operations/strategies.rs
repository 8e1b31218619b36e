//! Every strategy in the list finds its garbage in a database: each brings an example of what it selects, which is stored
//! here and looked for in a plan, in an explanation and in what is left when the plan was applied.
//!
//! A strategy whose needs nobody reads would select nothing, and break no property.

use std::collections::BTreeSet;

use rootset_gc::Strategy;
use rootset_gc::heap::{DerivedKind, Root};
use rootset_gc::strategies::{ALL, Example};
use rootset_model::{Basis, ChunkKey, EntityId, MemoryId, RelationId, RetentionPolicy, Timestamp};
use serde_json::{Value, json};

use crate::harness::{World, array, text_of};

/// Of the planted memories: a policy for it leaves the others alone.
const SOURCE: &str = "planted";
/// A memory in every workspace that no strategy may take.
const KEPT: &str = "kept";

#[test]
fn every_strategy_finds_its_garbage_and_nothing_else() {
    let world = World::new();
    for strategy in ALL {
        let workspace = Planted::new(&world, strategy);
        let plan = workspace.call("gc_plan", json!({"strategies": [strategy.name]}));
        let found: BTreeSet<String> = array(&plan["items"]).iter().map(|item| text_of(&item["id"])).collect();
        assert_eq!(found, workspace.garbage, "{strategy:?}: {plan}");
        let reasons: Vec<&str> = strategy.reasons.iter().map(|reason| reason.in_words()).collect();
        for item in array(&plan["items"]) {
            assert!(reasons.contains(&text_of(&item["reason"]).as_str()), "{strategy:?}: {item}");
        }
    }
}

#[test]
fn a_memory_that_some_strategy_takes_is_explained_as_garbage() {
    let world = World::new();
    for strategy in ALL.iter().filter(|strategy| strategy.needs.are_memories()) {
        let workspace = Planted::new(&world, strategy);
        for id in &workspace.garbage {
            let explained = workspace.call("gc_explain", json!({ "id": id }));
            assert_eq!(explained["alive"], false, "{strategy:?}: {explained}");
            assert!(text_of(&explained["reason"]).starts_with("garbage: "), "{strategy:?}: {explained}");
        }
    }
}

#[test]
fn the_garbage_of_every_strategy_is_still_garbage_when_its_plan_is_applied() {
    let world = World::new();
    for strategy in ALL {
        let workspace = Planted::new(&world, strategy);
        let plan = workspace.call("gc_plan", json!({"strategies": [strategy.name]}));
        let applied = workspace.call("gc_apply", json!({"plan_id": plan["plan_id"], "allow_large": true}));
        assert_eq!(applied["skipped"]["count"], 0, "{strategy:?}: {applied}");
        let left = workspace.call("gc_plan", json!({"strategies": [strategy.name]}));
        assert_eq!(left["items_total"], 0, "{strategy:?}: {left}");
        workspace.call("get_memory", json!({"memory_id": KEPT}));
    }
}

/// A workspace that holds a strategy's example, and one memory that stays.
struct Planted<'a> {
    world: &'a World,
    name: &'static str,
    key: i64,
    /// Ids as plans show them.
    garbage: BTreeSet<String>,
}

impl<'a> Planted<'a> {
    fn new(world: &'a World, strategy: &Strategy) -> Self {
        let name = strategy.name;
        world.call("create_workspace", json!({"workspace_id": name}));
        let key =
            world.sql().scalar("SELECT workspace FROM workspaces WHERE workspace_id = ?1", &[name.into()]).unwrap();
        let mut planted = Self { world, name, key, garbage: BTreeSet::new() };
        let kept = planted.add(KEPT, "user");
        let Example { memories, policy, orphans } = (strategy.example)(Timestamp(world.now_ms()));
        planted.set_policy(policy);
        for (number, memory) in memories.iter().enumerate() {
            planted.plant_memory(number, memory, kept);
        }
        for (number, kind) in orphans.into_iter().enumerate() {
            planted.plant_orphan(1_000_000 + number as i64, kind);
        }
        assert!(!planted.garbage.is_empty(), "{strategy:?} shows nothing");
        planted
    }

    fn call(&self, operation: &str, mut request: Value) -> Value {
        request["workspace_id"] = self.name.into();
        self.world.call(operation, request)
    }

    fn execute(&self, statement: &str, parameters: &[rootset_store::driver::Value<'_>]) {
        self.world.sql().execute(statement, parameters).unwrap();
    }

    fn add(&self, name: &str, source: &str) -> [u8; 16] {
        let request = json!({"name": name, "context": format!("Text of {name}."), "source": source});
        text_of(&self.call("add_memory", request)["memory_id"]).parse::<MemoryId>().unwrap().0
    }

    fn set_policy(&self, policy: RetentionPolicy) {
        let RetentionPolicy { max_age_ms, max_count, max_version_gap, min_keep, keep_within_ms, basis, .. } = policy;
        let basis = match basis {
            Basis::IngestedAt => "ingested_at",
            Basis::LastUsedAt => "last_used_at",
        };
        let request = json!({
            "source": SOURCE, "max_age": max_age_ms, "max_count": max_count, "max_version_gap": max_version_gap,
            "min_keep": min_keep, "keep_within": keep_within_ms, "basis": basis, "may_empty": policy.may_empty,
            "final": policy.is_final,
        });
        self.call("set_retention", request);
    }

    fn plant_memory(&mut self, number: usize, root: &Root, successor: [u8; 16]) {
        // Every field, so that one that is added cannot be left out here.
        let Root { id: _, version: _, bucket: _, ingested_at, last_used_at, expires_at, superseded_at, .. } = *root;
        let Root { stale_at, source_version, is_pinned, is_indexed_file, is_in_flight, observed_age_ms, .. } = *root;
        assert!(!is_pinned && !is_in_flight, "what is held is not garbage");
        assert_eq!(observed_age_ms, i64::MAX, "times are planted as those that an import brings");
        let id = self.add(&format!("memory-{number}"), SOURCE);
        let time = |stamp: Option<Timestamp>| stamp.map(|stamp| stamp.0);
        self.execute(
            "UPDATE memories SET ingested_at = ?3, ingested_observed_ms = NULL, expires_at = ?4, superseded_at = ?5,
                 superseded_by = ?6, stale_at = ?7, source_version = ?8 WHERE workspace = ?1 AND memory = ?2",
            &[
                self.key.into(),
                (&id).into(),
                time(ingested_at).into(),
                time(expires_at).into(),
                time(superseded_at).into(),
                superseded_at.is_some().then_some(&successor).into(),
                time(stale_at).into(),
                source_version.into(),
            ],
        );
        if is_indexed_file {
            let statement = "UPDATE memories SET repo = 'web', file_path = name WHERE workspace = ?1 AND memory = ?2";
            self.execute(statement, &[self.key.into(), (&id).into()]);
        }
        if let Some(used_at) = last_used_at {
            let statement = "INSERT INTO uses VALUES (?1, ?2, 1, ?3)";
            self.execute(statement, &[self.key.into(), (&id).into(), used_at.0.into()]);
        }
        self.garbage.insert(MemoryId(id).to_string());
    }

    fn plant_orphan(&mut self, number: i64, kind: DerivedKind) {
        let mut id = [0xEE; 16];
        id[8..].copy_from_slice(&number.to_be_bytes());
        let shown = match kind {
            DerivedKind::Chunk => {
                let statement = "INSERT INTO chunks VALUES (?1, ?2, ?3, 0, 0, 0, 1, 0, NULL)";
                self.execute(statement, &[self.key.into(), number.into(), (&id).into()]);
                ChunkKey(number).external().to_string()
            }
            DerivedKind::Entity => {
                let statement = "INSERT INTO entities VALUES (?1, ?2, ?3, 'Planted', 'thing', 'planted', 1, 0, 0)";
                self.execute(statement, &[self.key.into(), (&id).into(), number.into()]);
                EntityId(id).to_string()
            }
            DerivedKind::Relation => {
                let statement = "INSERT INTO relations VALUES (?1, ?2, ?3, 'haunts', ?3, 1, 0)";
                self.execute(statement, &[self.key.into(), (&id).into(), (&[0xDD; 16]).into()]);
                RelationId(id).to_string()
            }
        };
        self.garbage.insert(shown);
    }
}
