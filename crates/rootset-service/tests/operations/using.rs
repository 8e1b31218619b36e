//! Uses: counted when something is served to a caller, never by looking around.

use serde_json::{Value, json};

use crate::harness::{World, text_of};

fn use_of(world: &World, name: &str) -> (Value, Value) {
    world.service.flush_uses().unwrap();
    let read = world.look(name);
    (read["use_count"].clone(), read["last_used_at"].clone())
}

#[test]
fn searching_and_reading_count_as_uses() {
    let world = World::new();
    world.add_named("note", "the falcon");
    world.add_named("other", "an owl, far away and of another kind");
    assert_eq!(use_of(&world, "note"), (json!(0), Value::Null));
    world.call("get_memory", json!({"memory_id": "note"}));
    assert_eq!(use_of(&world, "note").0, 1);
    world.call("search_memory", json!({"query": "falcon", "limit": 1}));
    let (count, last) = use_of(&world, "note");
    assert_eq!(count, 2);
    let now = rootset_model::Timestamp(world.now_ms()).to_string();
    assert_eq!(text_of(&last), now);
    assert_eq!(world.look("note")["version"], 1, "a use is no change");
}

#[test]
fn looking_around_is_no_use() {
    let world = World::new();
    world.add_named("note", "SharedThing is the falcon.");
    world.add_named("other", "SharedThing is an owl.");
    world.call("get_memory", json!({"memory_id": "note"}));
    let before = use_of(&world, "note");
    let plan = world.call("forget", json!({"query": "falcon"}));
    for (operation, request) in [
        ("list_memories", json!({"query": "falcon"})),
        ("get_plan", json!({"plan_id": plan["plan_id"]})),
        ("get_memory", json!({"memory_id": "note", "plan_id": plan["plan_id"]})),
        ("forget", json!({"query": "falcon"})),
        ("doctor", json!({})),
        ("get_stats", json!({})),
        ("gc_explain", json!({"id": "note"})),
        ("get_entity", json!({"entity_id": "SharedThing"})),
        ("search_memory", json!({"query": "SharedThing", "mode": "entities"})),
        ("export_graph", json!({})),
        ("list_trash", json!({})),
        ("gc_undo", json!({})),
    ] {
        world.call(operation, request);
        assert_eq!(use_of(&world, "note"), before, "{operation}");
    }
    world.add("The falcon is similar to this.");
    assert_eq!(use_of(&world, "note"), before, "being listed as similar is no use");
}

#[test]
fn a_plan_id_that_does_not_exist_hides_no_use() {
    let world = World::new();
    world.add_named("note", "one");
    let made_up = json!({"memory_id": "note", "plan_id": "01900000-0000-7000-8000-0000000000ff"});
    assert_eq!(world.fails("get_memory", made_up).0, "not_found");
    world.refuses("get_memory", json!({"memory_id": "note", "plan_id": "my-plan"}));
}
