//! `add_memories`: one bad item does not fail the rest.

use serde_json::json;

use crate::harness::{World, array, text_of};

#[test]
fn one_bad_item_of_a_batch_does_not_fail_the_rest() {
    let world = World::new();
    world.add_named("taken", "zero");
    let answer = world.call(
        "add_memories",
        json!({"memories": [
            {"context": "one"}, {"context": "  "}, {"context": "one"}, {"context": "two", "name": "taken"},
            {"context": "three", "supersedes": ["nobody"]}, {"context": "four", "source": "code_indexer"},
            {"context": "five", "supersedes": ["taken"]},
        ]}),
    );
    let codes: Vec<String> = array(&answer["results"])
        .iter()
        .map(|it| match it.get("error") {
            Some(error) => text_of(&error["code"]),
            None => format!("created {}", it["created"]),
        })
        .collect();
    assert_eq!(
        codes,
        [
            "created true",
            "invalid_argument",
            "created false",
            "conflict",
            "not_found",
            "invalid_argument",
            "created true"
        ]
    );
    assert_eq!(answer["created"], 2);
    assert_eq!(answer["failed"], 4);
    assert_eq!(world.call("list_memories", json!({"lifecycle": "all"}))["total"], 3);
    assert_eq!(world.look("taken")["superseded"], true);
    world.assert_doctor_is_content();
}

#[test]
fn items_of_a_batch_that_would_close_a_cycle_fail_alone() {
    let world = World::new();
    world.add_named("old", "old text");
    world.call("add_memory", json!({"name": "new", "context": "new text", "supersedes": ["old"]}));
    let request = json!({"memories": [{"context": "old text", "supersedes": ["new"]}, {"context": "fine"}]});
    let answer = world.call("add_memories", request);
    assert_eq!(answer["results"][0]["error"]["code"], "conflict");
    assert_eq!(answer["created"], 1);
    assert_eq!(world.look("old")["superseded_by"], "new");
    assert_eq!(world.look("new")["superseded"], false);
}

#[test]
fn a_batch_has_at_most_a_thousand_items() {
    let world = World::new();
    let many: Vec<_> = (0..1_001).map(|number| json!({"context": format!("number {number}")})).collect();
    let error = world.refuses("add_memories", json!({ "memories": many }));
    assert!(error.message.contains("1001") && error.message.contains("1000"), "{error}");
    assert_eq!(world.call("list_memories", json!({}))["total"], 0);
    let answer = world.call("add_memories", json!({ "memories": many[..1_000] }));
    assert_eq!(answer["created"], 1_000);
    assert_eq!(answer["failed"], 0);
}
