//! Retention: policies per workspace, source and repository, and what they let plans name.

use rootset_testing::TestEngine;
use serde_json::{Value, json};

use crate::harness::{DAY_MS, HOUR_MS, World, array, text_of};

/// Notes `n0` (oldest) to `n<count - 1>`, a day apart: `n0` is a little more than `count` days old.
fn world_with_days(count: i64) -> World {
    let world = World::new();
    for number in 0..count {
        world.add_named(&format!("n{number}"), &format!("Note number {number}."));
        world.advance_ms(DAY_MS);
    }
    world
}

fn expired(world: &World) -> Vec<String> {
    let plan = world.call("gc_plan", json!({"strategies": ["expired"]}));
    let mut names: Vec<String> = array(&plan["items"]).iter().map(|item| text_of(&item["name"])).collect();
    names.sort();
    names
}

#[test]
fn set_retention_answers_what_it_would_expire_and_removes_nothing() {
    let world = world_with_days(10);
    world.call("get_memory", json!({"memory_id": "n0"}));
    let set = world.call("set_retention", json!({"max_age": "7d"}));
    assert_eq!(set["policy"], json!({"max_age": "7d"}));
    assert_eq!(set["replaces"], json!({}));
    assert_eq!(set["would_expire"], json!({"memories": 4, "fraction": 0.4, "recently_used": 1}));
    assert_eq!(world.call("list_memories", json!({}))["total"], 10);
    let set = world.call("set_retention", json!({"max_count": 2}));
    assert_eq!(set["replaces"], json!({"max_age": "7d"}), "a policy is replaced as a whole");
    assert_eq!(set["would_expire"]["memories"], 8);
    assert_eq!(world.call("list_audit", json!({"operation": "set_retention"}))["total"], 2);
}

#[test]
fn the_rules_expire_and_the_keep_rules_keep() {
    let world = world_with_days(6);
    assert_eq!(expired(&world), [""; 0], "without a policy nothing expires");
    world.call("set_retention", json!({"max_count": 2}));
    assert_eq!(expired(&world), ["n0", "n1", "n2", "n3"]);
    world.call("set_retention", json!({"max_count": 2, "keep_within": "4d"}));
    assert_eq!(expired(&world), ["n0", "n1", "n2"]);
    world.call("set_retention", json!({"max_age": "1h", "min_keep": 5}));
    assert_eq!(expired(&world), ["n0"]);
    world.call("update_memory", json!({"memory_id": "n5", "pinned": true}));
    // A pinned memory takes no rank: five others stay.
    assert_eq!(expired(&world), [""; 0]);
    world.call("set_retention", json!({}));
    assert_eq!(expired(&world), [""; 0], "an empty policy expires nothing");
}

#[test]
fn max_count_zero_selects_all_and_then_the_limit_speaks() {
    let world = world_with_days(10);
    world.call("set_retention", json!({"max_count": 0}));
    let plan = world.call("gc_plan", json!({"strategies": ["expired"]}));
    assert_eq!(plan["totals"]["memories"], 10);
    let (code, _) = world.fails("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(code, "limit_exceeded");
}

#[test]
fn the_nearest_policy_wins_and_is_named() {
    let world = world_with_days(2);
    world.call("add_memory", json!({"name": "agent", "context": "Of an agent.", "source": "agent"}));
    world.advance_ms(HOUR_MS);
    assert_eq!(world.call("get_retention", json!({})), json!({"policy": {}, "origin": "configuration"}));
    world.call("set_retention", json!({"max_age": "30m"}));
    world.call("set_retention", json!({"source": "agent", "max_age": "90d"}));
    world.call("set_retention", json!({"repo": "web", "max_version_gap": 3}));
    assert_eq!(world.call("get_retention", json!({}))["origin"], "workspace");
    assert_eq!(
        world.call("get_retention", json!({"source": "agent"})),
        json!({"policy": {"max_age": "90d"}, "origin": "source"})
    );
    assert_eq!(world.call("get_retention", json!({"repo": "web"}))["origin"], "repo");
    assert_eq!(expired(&world), ["n0", "n1"]);
}

#[test]
fn invalid_values_name_the_field_and_change_nothing() {
    let world = world_with_days(1);
    for (field, value) in [
        ("max_age", json!(0)),
        ("max_age", json!(-5)),
        ("max_age", json!("abc")),
        ("max_age", json!(2.5)),
        ("max_age", json!([])),
        ("max_count", json!(2.5)),
        ("max_count", json!("many")),
        ("max_count", json!(-1)),
        ("max_version_gap", json!(0)),
        ("min_keep", json!(-1)),
        ("basis", json!("created_at")),
        ("source", json!("")),
    ] {
        let error = world.refuses("set_retention", json!({ field: value }));
        assert!(error.message.contains(field), "{field} {value}: {error}");
    }
    world.refuses("set_retention", json!({"source": "a", "repo": "b", "max_age": "1d"}));
    world.refuses("set_retention", json!({"max_days": 3}));
    assert_eq!(world.call("get_retention", json!({}))["policy"], json!({}));
}

#[test]
fn a_policy_that_was_loosened_after_the_plan_saves_what_it_keeps() {
    let world = world_with_days(40);
    world.call("set_retention", json!({"max_count": 36}));
    let plan = world.call("gc_plan", json!({"strategies": ["expired"]}));
    assert_eq!(plan["totals"]["memories"], 4);
    world.call("set_retention", json!({"max_count": 38}));
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(applied["trashed"]["memories"], 2, "{applied}");
    assert!(array(&applied["skipped"]["first"]).iter().all(|it| it["reason"] == "not_garbage"), "{applied}");
}

#[test]
fn deleting_newer_ones_after_the_plan_saves_what_moves_up() {
    let world = world_with_days(10);
    world.call("set_retention", json!({"max_count": 8}));
    let plan = world.call("gc_plan", json!({"strategies": ["expired"]}));
    assert_eq!(plan["totals"]["memories"], 2);
    world.delete("n9");
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(applied["trashed"]["memories"], 1, "{applied}");
    assert_eq!(applied["skipped"]["first"][0]["reason"], "not_garbage");
}

#[test]
fn pinning_a_newer_one_by_saying_it_again_saves_what_moves_up() {
    let world = world_with_days(10);
    world.call("set_retention", json!({"max_count": 8}));
    let plan = world.call("gc_plan", json!({"strategies": ["expired"]}));
    assert_eq!(plan["totals"]["memories"], 2);
    // A pinned memory takes no rank, however it came to be pinned.
    let again = world.call("add_memory", json!({"context": "Note number 9.", "pinned": true}));
    assert_eq!(again["created"], false);
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(applied["trashed"]["memories"], 1, "{applied}");
    assert_eq!(applied["skipped"]["first"][0]["reason"], "not_garbage");
}

#[test]
fn a_policy_for_a_repository_replaces_that_of_its_source() {
    let world = World::new();
    world.call("set_retention", json!({"max_age": "30d"}));
    world.call("set_retention", json!({"source": "code_indexer", "max_age": "60d"}));
    let set = world.call("set_retention", json!({"repo": "web", "max_age": "90d"}));
    assert_eq!(set["replaces"], json!({"max_age": "60d"}));
}

#[test]
fn stamps_that_are_no_past_time_never_expire_and_are_counted() {
    let world = world_with_days(5);
    world.call("set_retention", json!({"max_age": "1h"}));
    // PostgreSQL takes no words for numbers.
    let no_time = if world.database.engine() == TestEngine::Sqlite { "'soon'" } else { "-1" };
    for (name, stamp) in [("n0", no_time), ("n1", "-5"), ("n2", "9000000000000")] {
        world.sql().execute_batch(&format!("UPDATE memories SET ingested_at = {stamp} WHERE name = '{name}'")).unwrap();
    }
    assert_eq!(expired(&world), ["n3", "n4"]);
    assert_eq!(world.call("gc_status", json!({}))["unclassifiable"], 3);
}

#[test]
fn a_clock_set_back_expires_nothing() {
    let world = world_with_days(5);
    world.call("set_retention", json!({"max_age": "2d"}));
    let plan = world.call("gc_plan", json!({"strategies": ["expired"]}));
    assert_eq!(plan["totals"]["memories"], 4);
    world.set_clock_ahead_ms(-400 * DAY_MS);
    assert_eq!(expired(&world), [""; 0]);
    let applied: Value = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "allow_large": true}));
    assert_eq!(applied["trashed"]["memories"], 0, "{applied}");
}

#[test]
fn retention_by_use_counts_from_the_last_use() {
    let world = world_with_days(5);
    world.call("get_memory", json!({"memory_id": "n0"}));
    world.call("set_retention", json!({"max_age": "3d", "basis": "last_used_at"}));
    assert_eq!(expired(&world), ["n1", "n2"]);
}
