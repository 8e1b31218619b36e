//! Secrets that are stored already: found without being shown, and erased.

use rootset_service::SecretPolicy;
use serde_json::{Value, json};

use super::{PASSWORD, TOKEN, assert_is_nowhere, with_policy};
use crate::harness::{World, array, text_of};

/// A database from before there were rules.
fn careless_world() -> (World, String) {
    let world = World::new();
    let careless = world.process_with(with_policy(SecretPolicy::Warn, false));
    let call = |operation: &str, request: Value| careless.call(&world.caller, operation, request).unwrap();
    let added = call(
        "add_memory",
        json!({
            "name": "leak", "context": format!("use {TOKEN}"), "tags": [TOKEN, "kept"], "metadata": {"password": PASSWORD},
            "pinned": true, "pin_reason": TOKEN,
        }),
    );
    call("update_memory", json!({"memory_id": "leak", "context": format!("better use {TOKEN} twice: {TOKEN}")}));
    call("add_memory", json!({"name": "harmless", "context": "Deploys happen on Fridays."}));
    call("update_memory", json!({"memory_id": "harmless", "context": "Deploys happen on Mondays."}));
    call("import_graph", json!({"entities": [{"name": "API", "description": TOKEN}], "relations": []}));
    call("context_add", json!({"session_id": "s", "segments": [{"type": "note", "segment_id": "g", "text": TOKEN}]}));
    let id = text_of(&added["memory_id"]);
    (world, id)
}

fn scanned(world: &World) -> Vec<Value> {
    let mut found = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let page = world.call("scan_secrets", json!({"cursor": cursor}));
        found.extend(array(&page["findings"]).iter().cloned());
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            return found;
        }
    }
}

#[test]
fn a_scan_says_where_and_never_what() {
    let (world, id) = careless_world();
    let found = scanned(&world);
    let at = |kind: &str, field: &str| found.iter().filter(|it| it["kind"] == kind && it["field"] == field).count();
    assert_eq!(at("memory", "context"), 2, "both revisions: {found:?}");
    assert_eq!((at("entity", "description"), at("segment", "text")), (1, 1), "{found:?}");
    assert!(at("memory", "tags") > 0 && at("memory", "metadata") > 0 && at("memory", "pin_reason") > 0);
    let said = Value::from(found.clone()).to_string();
    assert!(!said.contains(TOKEN) && !said.contains(PASSWORD));
    assert!(found.iter().filter(|it| it["kind"] == "memory").all(|it| it["id"] == id.as_str()), "{said}");
}

#[test]
fn redacting_erases_the_secret_from_the_memory_and_its_past() {
    let (world, id) = careless_world();
    let request = json!({"memory_ids": [id]});
    let (code, _) = world.fails("redact_secrets", request);
    assert_eq!(code, "confirmation_required");
    let answer = world.call("redact_secrets", json!({"memory_ids": [id, "harmless"], "confirm": true}));
    assert_eq!(answer["failed"], 0, "{answer}");
    assert!(!answer["results"][0]["receipt"].is_null(), "{answer}");
    assert_eq!(answer["results"][1]["erased"], 0, "nothing to do there: {answer}");
    let memory = world.call("get_memory", json!({"memory_id": id}));
    assert_eq!(memory["context"], "better use [redacted:github_token] twice: [redacted:github_token]");
    assert_eq!(memory["tags"], json!(["[redacted:github_token]", "kept"]));
    assert_eq!(memory["metadata"], json!({"password": "[redacted:password]"}));
    assert!(scanned(&world).iter().all(|it| it["kind"] != "memory"));
    let earlier = world.call("get_memory", json!({"memory_id": "harmless", "revision": 1}));
    assert_eq!(earlier["context"], "Deploys happen on Fridays.", "the history of others stays");
    // What else holds it is erased by forgetting it.
    let plan = world.call("forget", json!({"query": TOKEN, "purge": true, "kinds": ["entities", "segments"]}));
    world.call("gc_apply", json!({"plan_id": plan["plan_id"], "confirm": true, "allow_large": true}));
    assert_is_nowhere(&world, TOKEN);
    assert_is_nowhere(&world, PASSWORD);
    world.assert_doctor_is_content();
}

#[test]
fn a_cursor_of_ones_own_making_is_refused() {
    let world = World::new();
    for cursor in ["", "memory", "memory x 1", "segment x", "entity 1 2"] {
        let error = world.refuses("scan_secrets", json!({"cursor": cursor}));
        assert!(error.message.starts_with("`cursor` must be"), "{error}");
    }
}
