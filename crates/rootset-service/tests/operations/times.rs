//! Times in requests: every field takes a date, RFC 3339, a duration and milliseconds, and its description says so.

use rootset_api::catalogue;
use serde_json::{Value, json};

use crate::harness::{World, names, text_of};

const DAY_MS: i64 = 86_400_000;

#[test]
fn durations_count_back_or_on_from_the_clock_of_the_service() {
    let world = World::new();
    world.add_named("old", "Falcon is old.");
    world.add_named("older", "Nothing of that.");
    world.delete("older");
    world.let_pass_ms(3 * DAY_MS);
    world.call("add_memory", json!({"name": "new", "text": "Falcon is new.", "expires_at": "7d"}));
    let expires = rootset_model::Timestamp::parse(&text_of(&world.look("new")["expires_at"])).unwrap();
    assert_eq!(expires.0, world.now_ms() + 7 * DAY_MS);
    let found = |request: Value| names(&world.call("search_memory", request)["results"]);
    assert_eq!(found(json!({"query": "falcon", "created_after": "1d"})), ["new"]);
    assert_eq!(found(json!({"query": "falcon", "created_before": "1d"})), ["old"]);
    assert_eq!(found(json!({"query": "falcon", "created_before": "1999-01-01"})), Vec::<String>::new());
    let audited = |since: Value| world.call("list_audit", json!({ "since": since }))["total"].as_i64().unwrap();
    assert_eq!((audited(json!("1d")), audited(json!("30d"))), (0, 1));
    world.call("update_memory", json!({"memory_id": "old", "expires_at": "1h"}));
    let plan = world.call("forget", json!({"query": "falcon", "created_after": "1d"}));
    assert_eq!(names(&plan["items"]), ["new"]);
    for wrong in ["soon", "-1d", "1.5d", ""] {
        let error = world.refuses("search_memory", json!({"query": "x", "created_after": wrong}));
        assert!(error.message.contains("`created_after`") && error.message.contains("`7d`"), "{wrong}: {error}");
    }
}

/// A field that takes a time has two types and no list of words.
#[test]
fn every_time_in_a_request_says_how_it_is_written() {
    let mut described = 0;
    for operation in catalogue() {
        let mut open = vec![operation.input_schema()];
        while let Some(schema) = open.pop() {
            for (name, field) in schema["properties"].as_object().into_iter().flatten() {
                let is_time = name.ends_with("_at")
                    || ["since", "until"].contains(&name.as_str())
                    || name.starts_with("created_");
                if is_time && field["type"] == json!(["string", "integer"]) {
                    let said = field["description"].as_str().unwrap_or_default();
                    assert!(said.contains("RFC 3339") && said.contains("`7d`"), "{} {name}: {said}", operation.name);
                    described += 1;
                }
                open.push(field);
                open.extend(field.get("items"));
            }
        }
    }
    assert!(described >= 10, "{described}");
}
