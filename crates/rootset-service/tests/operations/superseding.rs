//! Superseding: the old text leaves search, the chain can be read from any point, and nothing goes in circles.

use serde_json::json;

use crate::harness::{World, text_of};

fn chain_of_three() -> World {
    let world = World::new();
    world.add_named("v1", "SharedThing is a walrus.");
    world.add_named("v2", "SharedThing is a penguin.");
    world.add_named("v3", "SharedThing is an ostrich.");
    let first = world.call("supersede_memory", json!({"memory_id": "v1", "by": "v2", "reason": "colder"}));
    assert_eq!(first["chain"], json!(["v1", "v2"]));
    let second = world.call("supersede_memory", json!({"memory_id": "v2", "by": "v3"}));
    assert_eq!(second["chain"], json!(["v1", "v2", "v3"]));
    world
}

#[test]
fn a_chain_can_be_read_from_any_point() {
    let world = chain_of_three();
    for name in ["v1", "v2", "v3"] {
        assert_eq!(world.look(name)["chain"], json!(["v1", "v2", "v3"]), "{name}");
    }
    let first = world.look("v1");
    assert_eq!((&first["superseded"], &first["superseded_by"]), (&json!(true), &json!("v2")));
    assert_eq!(first["supersede_reason"], "colder");
    assert_eq!(first["context"], "SharedThing is a walrus.", "the old one keeps its text");
    let last = world.look("v3");
    assert_eq!((&last["superseded"], &last["supersedes"]), (&json!(false), &json!(["v2"])));
    assert_eq!(world.listed(json!({})), ["v3"]);
}

#[test]
fn superseded_text_is_found_neither_by_search_nor_in_descriptions() {
    let world = chain_of_three();
    assert_eq!(world.found("walrus penguin ostrich SharedThing"), ["v3"]);
    assert_eq!(world.found("walrus"), Vec::<String>::new());
    assert_eq!(world.found(""), ["v3"]);
    let description = text_of(&world.entity("SharedThing")["description"]);
    assert!(description.contains("ostrich") && !description.contains("walrus") && !description.contains("penguin"));
    let found = world.call("search_memory", json!({"query": "SharedThing", "mode": "entities"}));
    assert_eq!(found["results"][0]["memory_ids"], json!([world.look("v3")["memory_id"]]));
}

#[test]
fn an_entity_that_only_superseded_memories_name_is_not_found() {
    let world = World::new();
    world.add_named("old", "OnlyThere is a thing.");
    world.add_named("new", "Nothing of the kind.");
    let found = || world.call("search_memory", json!({"query": "OnlyThere", "mode": "entities"}))["results"].clone();
    assert_eq!(found()[0]["name"], "OnlyThere");
    world.call("supersede_memory", json!({"memory_id": "old", "by": "new"}));
    assert_eq!(found(), json!([]));
    assert_eq!(world.entities(), ["OnlyThere"], "a superseded memory still vouches for it");
}

#[test]
fn cycles_are_refused_however_they_would_be_closed() {
    let world = chain_of_three();
    let before = world.dump("home");
    for (old, by) in [("v3", "v1"), ("v2", "v1"), ("v3", "v2"), ("v1", "v1")] {
        assert_eq!(world.fails("supersede_memory", json!({"memory_id": old, "by": by})).0, "conflict", "{old} by {by}");
    }
    let again = json!({"context": "SharedThing is a walrus.", "supersedes": ["v3"]});
    assert_eq!(world.fails("add_memory", again).0, "conflict");
    assert_eq!(world.dump("home"), before);
    // A link through the trash counts too: its undo must not be able to close a circle.
    world.delete("v2");
    assert_eq!(world.fails("supersede_memory", json!({"memory_id": "v3", "by": "v1"})).0, "conflict");
}

#[test]
fn deleting_the_successor_makes_the_old_one_current_and_undo_superseded_again() {
    let world = chain_of_three();
    let before = world.dump("home");
    let run = world.delete("v3");
    assert_eq!(world.found("penguin"), ["v2"]);
    assert_eq!(world.look("v2")["superseded"], false);
    assert_eq!(world.look("v1")["superseded"], true);
    assert!(text_of(&world.entity("SharedThing")["description"]).contains("penguin"));
    world.call("gc_undo", json!({ "run_id": run }));
    assert_eq!(world.found("penguin ostrich"), ["v3"]);
    assert_eq!(world.dump("home"), before);
}

#[test]
fn a_purged_successor_leaves_the_old_one_current_for_good() {
    let world = chain_of_three();
    let run = world.delete("v3");
    world.call("gc_purge", json!({"run_id": run, "confirm": true}));
    let read = world.look("v2");
    assert_eq!((&read["superseded"], &read["chain"]), (&json!(false), &json!(["v1", "v2"])));
    world.assert_doctor_is_content();
}

#[test]
fn an_add_may_supersede_and_an_unknown_predecessor_adds_nothing() {
    let world = World::new();
    world.add_named("old", "one");
    world.call("add_memory", json!({"name": "new", "context": "two", "supersedes": ["old"]}));
    assert_eq!(world.look("old")["superseded_by"], "new");
    let (code, _) = world.fails("add_memory", json!({"context": "three", "supersedes": ["nobody"]}));
    assert_eq!(code, "not_found");
    assert_eq!(world.call("list_memories", json!({"lifecycle": "all"}))["total"], 2);
}

#[test]
fn an_add_names_the_older_memory_that_it_disagrees_with_and_the_call_that_replaces_it() {
    let world = World::new();
    for number in 0..10 {
        world.add(&format!("Bystander number {number} lives in a tree."));
    }
    let old = world.add_named("home", "Alice Quokka lives in Berlin.");
    let added = world.call("add_memory", json!({"context": "Alice Quokka moved to Hamburg."}));
    let update = &added["updates"][0];
    assert_eq!((&update["memory_id"], &update["name"]), (&json!(old), &json!("home")), "{added}");
    assert_eq!(update["says"], "Alice Quokka lives in Berlin.");
    assert_eq!(update["now"], "Alice Quokka moved to Hamburg.");
    assert_eq!(world.listed(json!({"query": "Berlin"})), ["home"], "nothing is replaced by itself");
    world.call(update["next"]["operation"].as_str().unwrap(), update["next"]["arguments"].clone());
    assert_eq!(world.found("Berlin"), [""; 0]);
    let unrelated = world.call("add_memory", json!({"context": "Bob Miller lives in Bremen."}));
    assert_eq!(unrelated["updates"], json!(null), "{unrelated}");
}
