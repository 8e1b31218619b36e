//! Searching: only what is current, any text is a query, entities with their memories.

use serde_json::json;

use crate::harness::{World, array, ids, names};

#[test]
fn entity_mode_shows_memories_newest_first_and_an_empty_list_for_untracked_ones() {
    let world = World::new();
    let a = world.add("SharedThing is one.");
    let b = world.add("SharedThing is two.");
    let c = world.add("SharedThing is three.");
    world.call("update_memory", json!({"memory_id": a, "tags": ["touched"]}));
    world.call("import_graph", json!({"entities": [{"name": "ImportedThing"}], "relations": []}));
    let found = world.call("search_memory", json!({"query": "SharedThing ImportedThing", "mode": "entities"}));
    let of = |name: &str| array(&found["results"]).iter().find(|it| it["name"] == name).unwrap().clone();
    assert_eq!(ids(&of("SharedThing")["memory_ids"]), [a, c, b]);
    assert_eq!((&of("SharedThing")["refcount"], &of("SharedThing")["origin"]), (&json!(3), &json!("derived")));
    assert_eq!(of("ImportedThing")["memory_ids"], json!([]));
    assert_eq!(of("ImportedThing")["origin"], "untracked");
    let without = json!({"query": "SharedThing", "mode": "entities", "include_memory_ids": false});
    assert!(world.call("search_memory", without)["results"][0].get("memory_ids").is_none());
}

#[test]
fn without_a_query_the_pinned_come_first_and_then_the_newest() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.add_named(name, name);
    }
    world.call("update_memory", json!({"memory_id": "a", "pinned": true}));
    world.call("update_memory", json!({"memory_id": "b", "tags": ["t"]}));
    assert_eq!(world.found(""), ["a", "b", "c"]);
    assert_eq!(names(&world.call("search_memory", json!({"limit": 2}))["results"]), ["a", "b"]);
    assert_eq!(names(&world.call("search_memory", json!({"tags": ["t"]}))["results"]), ["b"]);
}

#[test]
fn filters_hold_in_search_too() {
    let world = World::new();
    world.call("add_memory", json!({"name": "a", "context": "falcon", "tags": ["x"], "source": "wiki"}));
    world.call("add_memory", json!({"name": "b", "context": "falcon plan", "tags": ["x", "y"]}));
    let created = world.look("b")["created_at"].clone();
    let found = |mut filter: serde_json::Value| {
        filter["query"] = "falcon".into();
        names(&world.call("search_memory", filter)["results"])
    };
    assert_eq!(found(json!({"source": "wiki"})), ["a"]);
    assert_eq!(found(json!({"tags": ["y"]})), ["b"]);
    assert_eq!(found(json!({"created_after": created})), ["b"]);
    assert_eq!(found(json!({"created_before": "2000-01-01T00:00:00Z"})), Vec::<String>::new());
}

#[test]
fn tags_and_names_count_like_words_of_the_text() {
    let world = World::new();
    for number in 0..30 {
        world.add(&format!("Filler {number} about invoices and other things."));
    }
    world.call("add_memory", json!({"name": "vault-key", "context": "It lies under the third flower pot."}));
    let text = "The card is charged on the fifth of each month.";
    world.call("add_memory", json!({"name": "card", "context": text, "tags": ["Billing", "release-notes"]}));
    let found = |query: &str| names(&world.call("search_memory", json!({ "query": query }))["results"]);
    assert_eq!(found("vault key"), ["vault-key"]);
    assert_eq!(found("where is the vault key?"), ["vault-key"]);
    assert_eq!(found("billing"), ["card"], "whatever its first letter");
    assert_eq!(found("what do the release notes say")[0], "card");
    assert_eq!(found("billings charged"), ["card"]);

    world.call("update_memory", json!({"memory_id": "card", "tags": ["money"], "name": "visa"}));
    assert_eq!(found("release notes"), Vec::<String>::new());
    assert_eq!((found("money"), found("visa")), (vec!["visa".to_owned()], vec!["visa".to_owned()]));
    world.delete("visa");
    assert_eq!(found("money"), Vec::<String>::new());
}

#[test]
fn a_tag_that_everything_carries_leaves_the_order_to_the_words() {
    let world = World::new();
    let many: Vec<_> =
        (0..100).map(|number| json!({"context": format!("Number {number} of the list."), "tags": ["work"]})).collect();
    world.call("add_memories", json!({ "memories": many }));
    world.add_named("falcon", "Falcon is at work.");
    assert_eq!(world.found("falcon work")[0], "falcon");
}

#[test]
fn dead_rows_never_take_a_slot() {
    let world = World::new();
    world.add_named("kept", "falcon, once, somewhere in a rather long sentence about other things entirely");
    let many: Vec<_> = (0..200)
        .map(|number| json!({"context": format!("falcon falcon {number}"), "name": format!("dead-{number}")}))
        .collect();
    world.call("add_memories", json!({ "memories": many }));
    let plan = world.call("forget", json!({"query": "falcon"}));
    let request = json!({"plan_id": plan["plan_id"], "allow_large": true, "exclude": ["kept"]});
    assert_eq!(world.call("gc_apply", request)["trashed"]["memories"], 200);
    assert_eq!(names(&world.call("search_memory", json!({"query": "falcon", "limit": 1}))["results"]), ["kept"]);
    let entities = world.call("search_memory", json!({"query": "falcon", "mode": "entities", "limit": 1}));
    assert!(array(&entities["results"]).len() <= 1);
}

#[test]
fn any_text_is_a_valid_query() {
    let world = World::new();
    world.add_named("note", "NEAR the \"quoted\" falcon OR owl* (AND) NOT -minus col:umn ^caret 👍");
    let emoji = "👍🏽 ".repeat(1_000);
    let quotes = "\" ' `".repeat(2_500);
    let operators = "AND OR NOT NEAR(a b, 2) * ^ : - + { } ( ) ".repeat(300);
    for query in [
        "\"",
        "'",
        "*",
        "AND",
        "OR NOT",
        "NEAR(",
        "body:falcon",
        "-falcon",
        "^falcon",
        "falcon*",
        "(falcon",
        "\\",
        "%",
        "_",
        "{a b}",
        "falcon\0owl",
        "\u{feff}",
        "👍",
        ";DROP TABLE memories;--",
        "a\nb\tc",
        &emoji,
        &quotes,
        &operators,
    ] {
        for mode in ["memories", "entities"] {
            world.call("search_memory", json!({"query": query, "mode": mode}));
        }
        world.call("list_memories", json!({ "query": query }));
    }
    assert!(emoji.len() > 8_000 && quotes.len() > 10_000 && operators.len() > 10_000);
    assert_eq!(world.found("falcon*"), ["note"]);
    assert_eq!(world.found("body:falcon -falcon"), ["note"]);
    let error = world.refuses("search_memory", json!({"query": "x".repeat(70_000)}));
    assert!(error.message.contains("query"), "{error}");
}

#[test]
fn an_answer_is_cut_to_its_tokens_from_the_end() {
    let world = World::new();
    for number in 0..10 {
        world.add(&format!("falcon number {number} {}", "and many more words ".repeat(40)));
    }
    let whole = world.call("search_memory", json!({"query": "falcon", "max_tokens": 100_000}));
    assert_eq!(array(&whole["results"]).len(), 10);
    assert!(whole.get("truncated").is_none());
    let cut = world.call("search_memory", json!({"query": "falcon", "max_tokens": 300}));
    let kept = array(&cut["results"]).len();
    assert!(kept < 10 && cut["truncated"] == true, "{cut}");
    assert_eq!(names(&cut["results"])[..], names(&whole["results"])[..kept]);
    let one = world.call("search_memory", json!({"query": "falcon", "max_tokens": 1}));
    assert_eq!(array(&one["results"]).len(), 1);
    for result in array(&whole["results"]) {
        assert!(result["snippet"].as_str().unwrap().chars().count() <= 300);
    }
}

#[test]
fn every_part_of_a_content_is_searched() {
    let world = World::new();
    let parts = json!({"name": "note", "topic": "walrus", "context": "penguin", "decisions": ["ostrich"], "rationale": ["heron"]});
    world.call("add_memory", parts);
    for word in ["walrus", "penguin", "ostrich", "heron"] {
        assert_eq!(world.found(word), ["note"], "{word}");
    }
    assert_eq!(world.found("falcon"), Vec::<String>::new());
}

#[test]
fn the_neighbours_of_a_memory_are_those_of_its_thread() {
    let world = World::new();
    let said = [
        ("garden", "a1", "The heron visited our pond early this morning"),
        ("office", "b1", "Printer paper arrives tomorrow"),
        ("garden", "a2", "It caught three of them, sadly"),
        ("office", "b2", "Nobody ordered toner"),
    ];
    for (thread, name, text) in said {
        world.call("add_memory", json!({"name": name, "topic": "note", "context": text, "thread": thread}));
    }
    let found = |query: &str| names(&world.call("search_memory", json!({"query": query}))["results"]);
    assert_eq!(found("early heron visited pond"), ["a1", "a2"]);
    world.call("update_memory", json!({"memory_id": "a1", "context": "The heron visited our pond late this morning"}));
    assert_eq!(found("late heron visited pond"), ["a1", "a2"], "a changed text stays where it was said");
}

#[test]
fn a_query_with_a_date_prefers_what_happened_then() {
    let world = World::new();
    for (name, occurred) in
        [("may", json!("2023-05-07")), ("june", json!("2023-06-01/2023-06-09")), ("none", json!(null))]
    {
        let memory =
            json!({"name": name, "topic": name, "context": format!("support group, {name}"), "occurred_at": occurred});
        world.call("add_memory", memory);
    }
    let first = |query: &str| names(&world.call("search_memory", json!({"query": query}))["results"])[0].clone();
    assert_eq!(first("support group on 7 May 2023"), "may");
    assert_eq!(first("support group on 2023-06-05"), "june");
    let error = world.refuses("add_memory", json!({"context": "x", "occurred_at": "soon"}));
    assert!(error.to_string().contains("occurred_at"), "{error}");
}
