//! Contradictions: two current texts of which only one can hold. They follow both texts, and nothing is superseded by itself.

use serde_json::{Value, json};

use crate::harness::World;

fn contradicting(world: &World) -> Vec<(String, Value, Value)> {
    let listed = world.call("list_memories", json!({"lifecycle": "contradicting", "order_by": "created_at"}));
    let memories = listed["memories"].as_array().unwrap();
    assert_eq!(listed["total"], memories.len());
    let shown = |memory: &Value| {
        let name = memory["name"].as_str().unwrap().to_owned();
        (name, memory["contradicted_by"].clone(), memory["contradicts"].clone())
    };
    memories.iter().map(shown).collect()
}

fn world_with_a_pair() -> World {
    let world = World::new();
    for number in 0..10 {
        world.add(&format!("Bystander number {number} lives in a tree."));
    }
    world.add_named("home", "Alice Quokka lives in Berlin.");
    world.add_named("moved", "Alice Quokka moved to Hamburg.");
    world
}

fn the_pair() -> Vec<(String, Value, Value)> {
    vec![("moved".to_owned(), json!(null), json!(["home"])), ("home".to_owned(), json!(["moved"]), json!(null))]
}

#[test]
fn a_contradiction_is_listed_as_long_as_both_texts_say_so() {
    let world = world_with_a_pair();
    assert_eq!(contradicting(&world), the_pair());
    assert_eq!(world.call("list_memories", json!({"lifecycle": "contradicting", "query": "Hamburg"}))["total"], 1);

    world.call("supersede_memory", json!({"memory_id": "home", "by": "moved"}));
    assert_eq!(contradicting(&world), []);
    let deleted = world.call("delete_memory", json!({"memory_id": "moved"}));
    assert_eq!(contradicting(&world), []);
    world.call("gc_undo", json!({"run_id": deleted["run_id"]}));
    assert_eq!(contradicting(&world), [], "the successor is back");

    let other = world_with_a_pair();
    let deleted = other.call("delete_memory", json!({"memory_id": "home"}));
    assert_eq!(contradicting(&other), []);
    other.call("gc_undo", json!({"run_id": deleted["run_id"]}));
    assert_eq!(contradicting(&other), the_pair());
    other.call("update_memory", json!({"memory_id": "home", "text": "Alice Quokka plays the violin."}));
    assert_eq!(contradicting(&other), []);
}

#[test]
fn both_hold_until_one_of_the_two_changes() {
    let world = world_with_a_pair();
    world.call("update_memory", json!({"memory_id": "moved", "both_hold": ["home"], "tags": ["kept"]}));
    assert_eq!(contradicting(&world), []);
    let found = world.call("search_memory", json!({"query": "Alice Quokka Berlin"}));
    assert!(found["results"].as_array().unwrap().iter().all(|it| it["contradicted_by"].is_null()), "{found}");
    world.call("update_memory", json!({"memory_id": "home", "tags": ["seen"]}));
    assert_eq!(contradicting(&world), [], "a tag is no other text");

    world.advance_ms(1_000);
    world.call("update_memory", json!({"memory_id": "home", "text": "Alice Quokka lives in Bremen."}));
    assert_eq!(contradicting(&world).len(), 2, "what was said held for the old text");

    let (code, _) = world.fails("update_memory", json!({"memory_id": "moved", "both_hold": ["nobody"]}));
    assert_eq!(code, "not_found");
    let (code, _) = world.fails("update_memory", json!({"memory_id": "moved", "both_hold": ["moved"]}));
    assert_eq!(code, "invalid_argument");
    let (code, _) = world.fails("update_memory", json!({"memory_id": "moved", "both_hold": ["home"], "text": "Else."}));
    assert_eq!(code, "invalid_argument");
}

#[test]
fn a_search_shows_the_newer_first_and_says_that_the_older_disagrees() {
    let world = world_with_a_pair();
    let found = world.call("search_memory", json!({"query": "Alice Quokka lives in Berlin"}));
    let results = found["results"].as_array().unwrap();
    let place = |name: &str| results.iter().position(|it| it["name"] == name).unwrap();
    assert!(place("moved") < place("home"), "{found}");
    assert_eq!(results[place("home")]["contradicted_by"], "moved");
    assert_eq!(results[place("moved")]["contradicted_by"], json!(null));
}

#[test]
fn only_the_clause_that_disagrees_is_replaced() {
    let world = World::new();
    let text = "Alice Quokka lives in Berlin. The wiki is maintained by Omar. Lunch is at noon.";
    world.add_named("facts", text);
    let added = world.call("add_memory", json!({"name": "moved", "text": "Alice Quokka moved to Hamburg."}));
    let next = &added["updates"][0]["next"];
    assert_eq!(next["operation"], "update_memory", "{added}");
    world.call("update_memory", next["arguments"].clone());
    let changed = "Alice Quokka moved to Hamburg. The wiki is maintained by Omar. Lunch is at noon.";
    assert_eq!(world.look("facts")["context"], changed);

    world.add_named("wiki", "The wiki is now maintained by Priya.");
    let asked = json!({"memory_id": "facts", "by": "wiki", "replace": "clause"});
    let superseded = world.call("supersede_memory", asked);
    let changed = "Alice Quokka moved to Hamburg. The wiki is now maintained by Priya. Lunch is at noon.";
    assert_eq!((&superseded["text"], &world.look("facts")["context"]), (&json!(changed), &json!(changed)));
    assert_eq!(world.look("facts")["superseded"], false);

    let nothing = json!({"memory_id": "facts", "text": "Bob plays chess.", "replace": "clause"});
    assert_eq!(world.fails("update_memory", nothing).0, "invalid_argument");
    assert_eq!(world.fails("update_memory", json!({"memory_id": "facts", "replace": "clause"})).0, "invalid_argument");
}

#[test]
fn what_cannot_be_divided_is_neither_replaced_nor_proposed_to_be() {
    let world = World::new();
    let text = "Alice Quokka and Bob Wombat live in Berlin.";
    world.add_named("homes", text);
    let added = world.call("add_memory", json!({"name": "moved", "text": "Alice Quokka moved to Hamburg."}));
    let next = &added["updates"][0]["next"];
    assert_eq!((&next["operation"], &next["arguments"]["text"]), (&json!("update_memory"), &json!(text)), "{added}");
    world.call("update_memory", next["arguments"].clone());
    assert_eq!(world.look("homes")["context"], text, "the call as it stands takes nothing away");

    for (operation, asked) in [
        ("update_memory", json!({"memory_id": "homes", "text": "Alice Quokka moved to Hamburg.", "replace": "clause"})),
        ("supersede_memory", json!({"memory_id": "homes", "by": "moved", "replace": "clause"})),
    ] {
        let (code, answer) = world.fails(operation, asked);
        assert_eq!(code, "invalid_argument");
        assert!(answer.to_string().contains("cannot be divided"), "{answer}");
    }
    assert_eq!(world.look("homes")["context"], text);
}

#[test]
fn doctor_counts_them_and_is_content() {
    let world = world_with_a_pair();
    let remark = |world: &World| {
        let report = world.call("doctor", json!({}));
        assert_eq!(report["ok"], true, "{report}");
        let checks = report["checks"].as_array().unwrap();
        checks.iter().find(|it| it["id"] == "contradictions").map(|it| it["found"][0].as_str().unwrap().to_owned())
    };
    let told = remark(&world).unwrap();
    assert!(told.starts_with("1 memory in `home` says something else than a newer one"), "{told}");
    world.call("supersede_memory", json!({"memory_id": "home", "by": "moved"}));
    assert_eq!(remark(&world), None);
}
