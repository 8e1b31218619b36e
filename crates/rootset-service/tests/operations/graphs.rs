//! Graphs that go out and come in again.

use serde_json::{Value, json};

use crate::harness::{World, array, text_of};

/// An export of one workspace, imported into an empty one: what that exports.
fn carried(world: &World, from: &str, into: &str) -> (Value, Value) {
    world.call("create_workspace", json!({"workspace_id": into}));
    let mut graph = world.call("export_graph", json!({"workspace_id": from}));
    let exported = graph.clone();
    graph["workspace_id"] = into.into();
    world.call("import_graph", graph);
    (exported, world.call("export_graph", json!({"workspace_id": into})))
}

/// Without what says who vouches for a row: after an import, that is the import.
fn without_vouching(mut graph: Value) -> Value {
    for kind in ["entities", "relations"] {
        for row in graph[kind].as_array_mut().unwrap() {
            let row = row.as_object_mut().unwrap();
            for field in ["origin", "refcount", "memory_ids"] {
                row.remove(field);
            }
        }
    }
    graph
}

#[test]
fn an_export_imported_into_an_empty_workspace_is_exported_the_same() {
    let world = World::new();
    world.add("Project Falcon uses PostgreSQL. Project Falcon depends on Redis. <b> & \"quotes\"");
    world.add("Project Falcon is described twice, by Alice Smith (alice@acme.io), in src/falcon.rs.");
    // Two of one name, and a relation that only the id or the type can place.
    let entities = json!([
        {"name": "Mercury", "type": "planet", "description": "the first one"},
        {"name": "Mercury", "type": "element"},
    ]);
    let relation =
        json!({"source": "Mercury", "source_type": "element", "relation": "is_part_of", "target": "Thermometer"});
    world.call("import_graph", json!({"entities": entities, "relations": [relation]}));

    let (derived, once) = carried(&world, "home", "once");
    assert!(array(&derived["relations"]).len() >= 3, "{derived:#}");
    assert_eq!(without_vouching(once.clone()), without_vouching(derived));
    assert!(array(&once["entities"]).iter().all(|it| it["origin"] == "untracked" && it["refcount"] == 0));

    let (once, twice) = carried(&world, "once", "twice");
    assert_eq!(twice, once);
    world.assert_doctor_is_content();
}

#[test]
fn a_description_put_together_from_many_imports_can_be_imported() {
    let world = World::new();
    for number in 0..4 {
        let description = format!("{number}{}", "x".repeat(900));
        let entity = json!({"name": "Falcon", "description": description});
        world.call("import_graph", json!({"entities": [entity], "relations": []}));
    }
    let (exported, again) = carried(&world, "home", "other");
    assert!(text_of(&exported["entities"][0]["description"]).starts_with("0xxx"));
    assert_eq!(again, exported);
}

#[test]
fn a_relation_finds_its_end_by_id_in_the_workspace_when_the_import_does_not_hold_it() {
    let world = World::new();
    let entities = json!([{"name": "Mercury", "type": "planet"}, {"name": "Mercury", "type": "element"}]);
    world.call("import_graph", json!({"entities": entities, "relations": []}));
    let graph = world.call("export_graph", json!({}));
    let element = array(&graph["entities"]).iter().find(|it| it["type"] == "element").unwrap();
    let relation =
        json!({"source": "Mercury", "source_id": element["entity_id"], "relation": "melts", "target": "Ice"});
    world.call("import_graph", json!({"entities": [], "relations": [relation]}));
    let relations = world.call("export_graph", json!({}))["relations"].clone();
    assert_eq!(relations[0]["source_id"], element["entity_id"]);
}
