//! Deleting and undoing: a shared entity lives as long as somebody vouches for it, and undo is exact.

use serde_json::{Value, json};

use crate::harness::{DAY_MS, World, array, ids, names, text_of};

#[test]
fn shared_entities_live_as_long_as_one_memory_names_them() {
    let world = World::new();
    let a = world.add("SharedThing uses UniqueOne.");
    let b = world.add("SharedThing uses UniqueTwo.");
    let start = world.dump("home");
    assert_eq!(world.entities(), ["SharedThing", "UniqueOne", "UniqueTwo"]);
    assert_eq!(world.entity("SharedThing")["refcount"], 2);

    let deleted = world.call("delete_memory", json!({ "memory_id": a }));
    assert_eq!(deleted["trashed"], json!({"memories": 1, "chunks": 1, "entities": 1, "relations": 1}));
    assert_eq!(world.entities(), ["SharedThing", "UniqueTwo"]);
    assert_eq!(world.entity("SharedThing")["refcount"], 1);
    assert_eq!(ids(&world.entity("SharedThing")["memory_ids"]), [b.as_str()]);
    assert_eq!(world.entity("UniqueTwo")["refcount"], 1);
    assert_eq!(world.fails("get_entity", json!({"entity_id": "UniqueOne"})).0, "not_found");
    assert_eq!(world.fails("get_memory", json!({ "memory_id": a })).0, "not_found");
    let before_b = world.dump("home");

    let run_b = world.delete(&b);
    assert_eq!(world.entities(), Vec::<String>::new());
    assert_eq!(world.call("export_graph", json!({}))["relations"], json!([]));

    assert_eq!(world.call("gc_undo", json!({ "run_id": run_b }))["restored"]["memories"], 1);
    assert_eq!(world.dump("home"), before_b);
    assert_eq!(world.call("gc_undo", json!({"run_id": deleted["run_id"]}))["conflicts"], json!([]));
    assert_eq!(world.dump("home"), start);
    world.assert_doctor_is_content();
}

#[test]
fn two_entities_that_only_vouch_for_each_other_go_with_their_memory() {
    let world = World::new();
    let id = world.add("LeftThing uses RightThing. RightThing depends on LeftThing.");
    assert_eq!(world.entities(), ["LeftThing", "RightThing"]);
    world.delete(&id);
    assert_eq!(world.entities(), Vec::<String>::new());
    world.call("gc_purge", json!({"older_than": "0", "confirm": true}));
    let stats = world.call("get_stats", json!({}));
    assert_eq!((&stats["counts"]["entities"], &stats["counts"]["relations"]), (&json!(0), &json!(0)));
    world.assert_doctor_is_content();
}

#[test]
fn descriptions_hold_no_word_of_a_deleted_or_superseded_memory() {
    let world = World::new();
    let a = world.add("SharedThing is a walrus.");
    world.add_named("b", "SharedThing is a penguin.");
    let description = || text_of(&world.entity("SharedThing")["description"]);
    assert!(description().contains("walrus") && description().contains("penguin"), "{}", description());
    let run = world.delete(&a);
    assert!(!description().contains("walrus") && description().contains("penguin"), "{}", description());
    world.call("gc_undo", json!({ "run_id": run }));
    assert!(description().contains("walrus"));
    world.call("supersede_memory", json!({"memory_id": a, "by": "b"}));
    assert!(!description().contains("walrus") && description().contains("penguin"), "{}", description());
    assert_eq!(world.entity("SharedThing")["refcount"], 2, "a superseded memory is not trashed");
}

#[test]
fn trash_then_undo_is_the_identity_with_everything_a_memory_can_have() {
    let world = World::new();
    world.call(
        "add_memory",
        json!({"name": "rich", "context": "SharedThing uses UniqueOne.", "decisions": ["Keep SharedThing"], "tags": ["t"],
               "metadata": {"k": [1, 2]}, "expires_at": "2040-01-01T00:00:00Z"}),
    );
    world.add_named("newer", "SharedThing uses UniqueTwo.");
    world.call("update_memory", json!({"memory_id": "rich", "context": "SharedThing uses UniqueThree."}));
    world.call("supersede_memory", json!({"memory_id": "rich", "by": "newer", "reason": "outdated"}));
    world.call("get_memory", json!({"memory_id": "rich"}));
    world.service.flush_uses().unwrap();
    let graph =
        json!({"entities": [{"name": "SharedThing", "type": "term", "description": "imported"}], "relations": []});
    world.call("import_graph", graph);
    let start = world.dump("home");
    for name in ["rich", "newer"] {
        let run = world.delete(name);
        assert_ne!(world.dump("home"), start);
        world.advance_ms(DAY_MS);
        world.call("gc_undo", json!({ "run_id": run }));
        assert_eq!(world.dump("home"), start, "{name}");
    }
    world.delete("rich");
    world.delete("newer");
    world.call("gc_undo", json!({"memory_id": "rich"}));
    world.call("gc_undo", json!({"memory_id": "newer"}));
    assert_eq!(world.dump("home"), start);
    world.assert_doctor_is_content();
}

#[test]
fn a_deleted_memory_is_out_of_every_search_and_list_and_in_the_trash() {
    let world = World::new();
    world.add_named("note", "The falcon uses SharedThing.");
    let answer = world.call("delete_memory", json!({"memory_id": "note"}));
    assert_eq!(world.found("falcon"), Vec::<String>::new());
    assert_eq!(world.found(""), Vec::<String>::new());
    assert_eq!(world.listed(json!({})), Vec::<String>::new());
    let entities = world.call("search_memory", json!({"query": "SharedThing", "mode": "entities"}));
    assert_eq!(entities["results"], json!([]));
    let trash = world.call("list_trash", json!({}));
    assert_eq!(trash["total"], 1);
    let item = &trash["items"][0];
    assert_eq!((&item["kind"], &item["name"]), (&json!("memory"), &json!("note")));
    assert_eq!((&item["run_id"], &item["undo_until"]), (&answer["run_id"], &answer["undo_until"]));
    let (code, error) = world.fails("get_memory", json!({"memory_id": "note"}));
    assert_eq!(code, "not_found");
    assert!(error.0.hint.unwrap().contains("gc_undo"));
    assert_eq!(error.0.details.unwrap()["next"]["arguments"]["run_id"], answer["run_id"]);
    assert_eq!(world.fails("delete_memory", json!({"memory_id": "note"})).0, "not_found");
    assert_eq!(world.fails("update_memory", json!({"memory_id": "note", "tags": []})).0, "not_found");
}

#[test]
fn a_pinned_memory_is_deleted_only_after_it_is_unpinned() {
    let world = World::new();
    world.call("add_memory", json!({"name": "note", "context": "x", "pinned": true, "pin_reason": "law"}));
    let (code, error) = world.fails("delete_memory", json!({"memory_id": "note"}));
    assert_eq!(code, "conflict");
    assert!(error.message.contains("law") && error.0.hint.unwrap().contains("unpin"));
    world.call("update_memory", json!({"memory_id": "note", "pinned": false}));
    world.delete("note");
}

#[test]
fn undo_names_what_is_in_the_way_and_brings_the_rest_back() {
    let world = World::new();
    for name in ["one", "two", "three", "four", "five", "six"] {
        world.call("add_memory", json!({"name": name, "context": format!("falcon {name}")}));
    }
    let plan = world.call("forget", json!({"query": "falcon"}));
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "allow_large": true}));
    assert_eq!(applied["trashed"]["memories"], 6);
    let name_taker = world.add_named("one", "something else");
    let content_taker = world.add_named("other", "soon the same");
    world.call("update_memory", json!({"memory_id": "other", "topic": "falcon two", "context": "falcon two"}));
    let undone = world.call("gc_undo", json!({"run_id": applied["run_id"]}));
    assert_eq!(undone["restored"]["memories"], 4);
    let conflicts: Vec<(String, Value)> =
        array(&undone["conflicts"]).iter().map(|it| (text_of(&it["reason"]), it["by"].clone())).collect();
    assert_eq!(conflicts, [("name_taken".into(), json!(name_taker)), ("content_taken".into(), json!(content_taker))]);
    assert_eq!(world.fails("gc_undo", json!({"run_id": applied["run_id"]})).0, "conflict");
    world.delete("other");
    assert_eq!(world.call("gc_undo", json!({"memory_id": "two"}))["restored"]["memories"], 1);
    assert_eq!(world.call("gc_apply", json!({"plan_id": plan["plan_id"]}))["undone"], true);
    world.assert_doctor_is_content();
}

#[test]
fn undo_without_an_id_lists_what_can_be_undone_and_changes_nothing() {
    let world = World::new();
    world.add_named("a", "a");
    world.add_named("b", "b");
    let first = world.delete("a");
    let second = world.delete("b");
    let before = world.dump("home");
    let runs = world.call("gc_undo", json!({}));
    let listed: Vec<String> = array(&runs["runs"]).iter().map(|run| text_of(&run["run_id"])).collect();
    assert_eq!(listed, [second.clone(), first]);
    assert_eq!(runs["runs"][0]["operation"], "delete_memory");
    assert_eq!(world.dump("home"), before);
    world.call("gc_undo", json!({ "run_id": second }));
    assert_eq!(array(&world.call("gc_undo", json!({}))["runs"]).len(), 1);
    let error = world.refuses("gc_undo", json!({"run_id": second, "memory_id": "a"}));
    assert!(error.message.contains("only one of"), "{error}");
}

#[test]
fn untracked_rows_outlive_the_memories_that_mention_them() {
    let world = World::new();
    let memory = world.add("SharedThing uses OtherThing.");
    let of = |name: &str| text_of(&world.entity(name)["type"]);
    let (kind_a, kind_b) = (of("SharedThing"), of("OtherThing"));
    let relation = json!({"source": "SharedThing", "relation": "uses", "target": "OtherThing"});
    let lonely = json!({"name": "LonelyThing", "type": kind_a, "description": "from elsewhere"});
    let import = world.call("import_graph", json!({"entities": [lonely], "relations": [relation]}));
    assert_eq!((&import["entities"], &import["relations"]), (&json!(3), &json!(1)));
    assert_eq!((of("SharedThing"), of("OtherThing")), (kind_a, kind_b), "the import joined what was there");
    let second = world.add("LonelyThing uses SharedThing.");
    assert_eq!(world.entity("LonelyThing")["origin"], "untracked");
    for id in [memory, second] {
        world.delete(&id);
    }
    world.call("gc_purge", json!({"older_than": "0", "confirm": true}));
    assert_eq!(world.entities(), ["LonelyThing", "OtherThing", "SharedThing"]);
    for name in world.entities() {
        let entity = world.entity(&name);
        assert_eq!((&entity["origin"], &entity["refcount"]), (&json!("untracked"), &json!(0)), "{name}");
    }
    let relations = world.call("export_graph", json!({}))["relations"].clone();
    assert_eq!(array(&relations).len(), 1);
    assert_eq!(relations[0]["origin"], "untracked");

    let undone = world.call("gc_undo", json!({"run_id": import["run_id"]}));
    assert_eq!(undone["restored"]["removed"], 4);
    assert_eq!(world.entities(), Vec::<String>::new());
    world.call("gc_purge", json!({"older_than": "0", "confirm": true}));
    assert_eq!(world.call("get_stats", json!({}))["counts"]["entities"], 0);
    world.assert_doctor_is_content();
}

#[test]
fn undo_of_an_import_leaves_what_a_memory_also_names_as_derived() {
    let world = World::new();
    world.add("SharedThing uses OtherThing.");
    let before = world.dump("home")["graph"].clone();
    let relation = json!({"source": "SharedThing", "relation": "uses", "target": "OtherThing"});
    let import = world.call("import_graph", json!({"entities": [], "relations": [relation]}));
    assert_eq!(world.entity("SharedThing")["origin"], "untracked");
    world.call("gc_undo", json!({"run_id": import["run_id"]}));
    assert_eq!(world.dump("home")["graph"], before);
}

#[test]
fn purging_an_import_that_stands_leaves_it_and_its_undo_alone() {
    let world = World::new();
    let graph = json!({"entities": [{"name": "LonelyThing"}], "relations": []});
    let import = world.call("import_graph", graph);
    let purged = world.call("gc_purge", json!({"run_id": import["run_id"], "confirm": true}));
    assert_eq!(purged["purged"], json!({"memories": 0}));
    assert_eq!(world.entities(), ["LonelyThing"]);
    assert_eq!(world.call("gc_undo", json!({"run_id": import["run_id"]}))["restored"]["removed"], 1);
}

#[test]
fn a_name_that_several_entities_share_is_a_conflict_with_the_candidates() {
    let world = World::new();
    let entities = json!([{"name": "Falcon", "type": "project"}, {"name": "falcon", "type": "bird"}]);
    world.call("import_graph", json!({"entities": entities, "relations": []}));
    let (code, error) = world.fails("get_entity", json!({"entity_id": "FALCON"}));
    assert_eq!(code, "conflict");
    let candidates = error.0.details.unwrap()["candidates"].clone();
    let types: Vec<String> = array(&candidates).iter().map(|it| text_of(&it["type"])).collect();
    assert_eq!(types, ["bird", "project"]);
    let by_id = world.call("get_entity", json!({"entity_id": candidates[0]["entity_id"]}));
    assert_eq!(by_id["type"], "bird");
    for operation in ["get_related", "get_entity"] {
        assert_eq!(world.fails(operation, json!({"entity_id": "falcon"})).0, "conflict");
    }
    let relation = json!({"source": "falcon", "relation": "uses", "target": "Other"});
    assert_eq!(world.fails("import_graph", json!({"entities": [], "relations": [relation]})).0, "conflict");
}

#[test]
fn related_entities_are_those_within_reach() {
    let world = World::new();
    let relation = |source: &str, target: &str| json!({"source": source, "relation": "knows", "target": target});
    let relations = [relation("a1", "b1"), relation("b1", "c1"), relation("c1", "d1"), relation("x1", "y1")];
    world.call("import_graph", json!({"entities": [], "relations": relations}));
    let reach = |depth: i64| names(&world.call("get_related", json!({"entity_id": "a1", "depth": depth}))["entities"]);
    assert_eq!(reach(1), ["b1"]);
    assert_eq!(reach(2), ["b1", "c1"]);
    assert_eq!(reach(5), ["b1", "c1", "d1"]);
    world.refuses("get_related", json!({"entity_id": "a1", "depth": 6}));
    world.refuses("get_related", json!({"entity_id": "a1", "depth": 0}));
}

#[test]
fn a_run_of_which_everything_is_back_is_not_listed_as_one_that_can_be_undone() {
    let world = World::new();
    for name in ["a", "b"] {
        world.add_named(name, &format!("Note {name}."));
    }
    world.call("forget", json!({"memory_ids": ["a", "b"]}));
    let listed = || array(&world.call("gc_undo", json!({}))["runs"]).len();
    world.call("gc_undo", json!({"memory_id": "a"}));
    assert_eq!(listed(), 1, "one is still in the trash");
    world.call("gc_undo", json!({"memory_id": "b"}));
    assert_eq!(listed(), 0);
}
