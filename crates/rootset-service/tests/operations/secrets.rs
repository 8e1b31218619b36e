//! Secrets do not get in, whichever field they come through; those that are in can be found and erased.

mod catalogue;
mod stored;

use rootset_service::{SecretPolicy, SecretSettings, Settings};
use serde_json::json;

use crate::harness::{World, array, text_of};

/// Shaped like the real things, and nobody's.
const TOKEN: &str = concat!("ghp", "_Zk3vQ9rT1xLw8YbN5mPc2HsD7fGj4KaR6uVe");
const PASSWORD: &str = "Tr0ub4dor&3";

fn with_policy(policy: SecretPolicy, personal_data: bool) -> Settings {
    Settings { secrets: SecretSettings { policy, personal_data }, add_wait_ms: 300, ..Settings::default() }
}

#[track_caller]
fn assert_is_nowhere(world: &World, secret: &str) {
    for needle in [secret.to_owned(), secret.to_lowercase(), secret[secret.len() / 2..].to_lowercase()] {
        assert_eq!(world.places_with(needle.as_bytes()), [""; 0], "`{needle}`");
    }
}

#[test]
fn text_is_redacted_wherever_it_is_and_the_answer_counts() {
    let world = World::new();
    let added = world.call(
        "add_memory",
        json!({
            "context": format!("the token is {TOKEN} for now"), "topic": format!("about {TOKEN}"), "tags": [TOKEN, "team"],
            "decisions": [format!("rotate {TOKEN}")], "metadata": {TOKEN: 1, "deep": {"password": PASSWORD}},
            "pinned": true, "pin_reason": TOKEN,
        }),
    );
    assert_eq!(added["redacted"], 7, "{added}");
    let memory = world.call("get_memory", json!({"memory_id": added["memory_id"]}));
    assert_eq!(memory["tags"], json!(["[redacted:github_token]", "team"]));
    assert_eq!(memory["metadata"], json!({"[redacted:github_token]": 1, "deep": {"password": "[redacted:password]"}}));
    assert_is_nowhere(&world, TOKEN);
    assert_is_nowhere(&world, PASSWORD);
}

#[test]
fn a_batch_counts_by_item() {
    let world = World::new();
    let request = json!({"memories": [{"context": "one"}, {"context": format!("two {TOKEN} {TOKEN}")}]});
    let answer = world.call("add_memories", request);
    let counts: Vec<_> = array(&answer["results"]).iter().map(|it| it["redacted"].clone()).collect();
    assert_eq!(counts, [json!(0), json!(2)], "{answer}");
}

#[test]
fn other_operations_say_what_they_redacted() {
    let world = World::new();
    let answer = world.call(
        "context_add",
        json!({"session_id": "s", "segments": [{"type": "note", "text": TOKEN, "raw": {"token": TOKEN}, "task_id": TOKEN}]}),
    );
    assert_eq!(answer["redacted"], 3, "{answer}");
    let graph = json!({"entities": [{"name": "API", "description": format!("uses {TOKEN}")}], "relations": []});
    assert_eq!(world.call("import_graph", graph)["redacted"], 1);
    assert_is_nowhere(&world, TOKEN);
}

#[test]
fn a_secret_in_a_name_is_refused_without_being_repeated() {
    let world = World::new();
    for (operation, request, place) in [
        ("add_memory", json!({"context": "x", "name": TOKEN}), "name"),
        ("import_graph", json!({"entities": [{"name": TOKEN}], "relations": []}), "entities[0].name"),
        ("create_workspace", json!({"workspace_id": "w", "name": TOKEN}), "name"),
        ("context_add", json!({"session_id": TOKEN, "segments": [{"type": "note", "text": "x"}]}), "session_id"),
    ] {
        let error = world.refuses(operation, request);
        assert_eq!(error.message, format!("`{place}` looks like a secret (github_token)"), "{operation}");
        assert!(!error.to_json().to_string().contains(TOKEN));
    }
    assert_is_nowhere(&world, TOKEN);
}

#[test]
fn policies_refuse_or_warn_instead() {
    let world = World::new();
    let request = json!({"context": format!("use {TOKEN}"), "tags": ["a"]});
    let refusing = world.process_with(with_policy(SecretPolicy::Refuse, false));
    let error = refusing.call(&world.caller, "add_memory", request.clone()).unwrap_err();
    assert_eq!(
        (error.code.as_str(), error.message.as_str()),
        ("invalid_argument", "`text` looks like a secret (github_token)")
    );
    let warning = world.process_with(with_policy(SecretPolicy::Warn, false));
    let answer = warning.call(&world.caller, "add_memory", request).unwrap();
    assert_eq!(answer["redacted"], 0);
    assert_eq!(answer["warnings"], json!(["`text` looks like a secret (github_token) and was stored"]));
    assert!(text_of(&world.call("get_memory", json!({"memory_id": answer["memory_id"]}))["context"]).contains(TOKEN));
}

#[test]
fn personal_data_counts_only_if_it_is_configured() {
    let world = World::new();
    let request = json!({"context": "card 4242 4242 4242 4242"});
    assert_eq!(world.call("add_memory", request.clone())["redacted"], 0);
    let careful = world.process_with(with_policy(SecretPolicy::Redact, true));
    assert_eq!(careful.call(&world.caller, "add_memory", request).unwrap()["redacted"], 1);
}

#[test]
fn a_secret_can_still_be_looked_for_to_forget_it() {
    let world = World::new();
    let careless = world.process_with(with_policy(SecretPolicy::Warn, false));
    careless.call(&world.caller, "add_memory", json!({"context": format!("use {TOKEN} here")})).unwrap();
    let plan = world.call("forget", json!({"query": TOKEN, "purge": true}));
    assert_eq!(plan["matched"], 1, "{plan}");
    let confirm = json!({"plan_id": plan["plan_id"], "confirm": true, "allow_large": true});
    world.call("gc_apply", confirm);
    assert_is_nowhere(&world, TOKEN);
}
