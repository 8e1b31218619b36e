//! `gc_explain`: for any id, alive because of this, or garbage because of that.

use serde_json::{Value, json};

use crate::harness::{World, text_of};

#[track_caller]
fn explained(world: &World, id: &Value) -> (String, bool, String) {
    let answer = world.call("gc_explain", json!({ "id": id }));
    (text_of(&answer["kind"]), answer["alive"] == true, text_of(&answer["reason"]))
}

#[test]
fn memories_are_alive_for_a_reason_and_dead_for_another() {
    let world = World::new();
    world.add_named("plain", "one");
    world.call("add_memory", json!({"name": "pinned", "context": "two", "pinned": true, "pin_reason": "the law"}));
    world.call("add_memory", json!({"name": "expired", "context": "three", "expires_at": 5}));
    world.add_named("old", "four");
    world.call("add_memory", json!({"name": "new", "context": "five", "supersedes": ["old"]}));
    world.add_named("gone", "six");
    world.delete("gone");
    let check = |name: &str, alive: bool, part: &str| {
        let (kind, is_alive, reason) = explained(&world, &json!(name));
        assert_eq!((kind.as_str(), is_alive), ("memory", alive), "{name}");
        assert!(reason.contains(part), "{name}: {reason}");
    };
    check("plain", true, "root");
    check("pinned", true, "the law");
    check("expired", false, "expires_at");
    check("old", true, "superseded by `new`");
    check("gone", false, "delete_memory of cli");
}

#[test]
fn derived_things_are_explained_by_the_memories_behind_them() {
    let world = World::new();
    let first = world.add_named("first", "LeftThing uses RightThing.");
    world.add_named("second", "LeftThing uses RightThing, says another.");
    let read = world.look(&first);
    let entity = world.entity("LeftThing")["entity_id"].clone();
    let relation = world.entity("LeftThing")["relations"][0]["relation_id"].clone();
    let chunk = read["chunk_ids"][0].clone();
    for (id, kind) in [(&entity, "entity"), (&relation, "relation")] {
        let (found, alive, reason) = explained(&world, id);
        assert_eq!((found.as_str(), alive), (kind, true));
        assert!(reason.contains("2 living") && reason.contains("`first`") && reason.contains("`second`"), "{reason}");
    }
    let answer = world.call("gc_explain", json!({ "id": chunk }));
    assert_eq!((&answer["kind"], &answer["alive"]), (&json!("chunk"), &json!(true)));
    assert_eq!(answer["path"][0], "memory first");
    world.delete("first");
    assert!(!explained(&world, &chunk).1);
    assert!(explained(&world, &entity).1);
    world.delete("second");
    let (_, alive, reason) = explained(&world, &entity);
    assert!(!alive && reason.contains("trash"), "{reason}");
    let (_, alive, reason) = explained(&world, &relation);
    assert!(!alive && reason.contains("trash"), "{reason}");
    world.call("gc_purge", json!({"older_than": "0", "confirm": true}));
    for id in [entity, relation, chunk, json!(first), json!("never-was")] {
        assert_eq!(world.fails("gc_explain", json!({ "id": id })).0, "not_found", "{id}");
    }
}

#[test]
fn untracked_things_live_by_their_import() {
    let world = World::new();
    let relation = json!({"source": "LeftThing", "relation": "eats", "target": "RightThing"});
    let import = world.call("import_graph", json!({"entities": [], "relations": [relation]}));
    let id = world.entity("LeftThing")["entity_id"].clone();
    let (kind, alive, reason) = explained(&world, &id);
    assert!(kind == "entity" && alive && reason.contains("import"), "{reason}");
    world.call("gc_undo", json!({"run_id": import["run_id"]}));
    assert!(!explained(&world, &id).1);
}
