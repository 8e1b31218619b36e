//! What is known about something: sentences with their dates, the newest first, and what contradicts what.

use serde_json::{Value, json};

use crate::harness::{World, array};

const DAY_MS: i64 = 86_400_000;

fn known(world: &World, request: Value) -> Vec<(String, String)> {
    let answer = world.call("search_memory", request);
    let pairs = array(&answer["known"]).iter().map(|it| (it["text"].as_str().unwrap(), it["name"].as_str().unwrap()));
    pairs.map(|(text, name)| (text.to_owned(), name.to_owned())).collect()
}

#[test]
fn sentences_about_it_come_newest_first_and_others_stay_away() {
    let world = World::new();
    world.add_named("team", "Alice owns the ledger. She works from Lyon. Bob owns the API.");
    world.let_pass_ms(DAY_MS);
    world.add_named("travel", "Trains to Geneva leave at nine. Alice takes the one at ten.");
    world.add_named("room", "The room has nine chairs.");
    let found = known(&world, json!({"about": "Alice"}));
    let expected = [
        ("Alice takes the one at ten.", "travel"),
        ("Alice owns the ledger.", "team"),
        ("She works from Lyon.", "team"),
    ];
    assert_eq!(found, expected.map(|(text, name)| (text.to_owned(), name.to_owned())));
    assert_eq!(known(&world, json!({"about": "Alice", "limit": 1})).len(), 1);
    world.service.flush_uses().unwrap();
    assert_eq!(world.look("team")["use_count"], 2, "what was told about was used");
    assert_eq!(world.look("room")["use_count"], 0);
}

#[test]
fn what_a_newer_memory_contradicts_is_marked() {
    let world = World::new();
    world.add_named("port", "The payments API listens on port 8443. It is called by checkout.");
    world.let_pass_ms(DAY_MS);
    world.add_named("port-2", "The payments API listens on port 9443.");
    let answer = world.call("search_memory", json!({"about": "payments API"}));
    let marked: Vec<(&Value, &Value)> =
        array(&answer["known"]).iter().map(|it| (&it["name"], &it["contradicted_by"])).collect();
    let (null, port, newer) = (Value::Null, json!("port"), json!("port-2"));
    assert_eq!(marked, [(&newer, &null), (&port, &newer), (&port, &null)]);
}

#[test]
fn two_that_both_hold_are_not_marked_and_what_happened_later_is_newer() {
    let world = World::new();
    world.add_named("port", "The payments API listens on port 8443.");
    world.let_pass_ms(DAY_MS);
    world.add_named("port-2", "The payments API listens on port 9443.");
    world.call("update_memory", json!({"memory_id": "port-2", "both_hold": ["port"]}));
    let answer = world.call("search_memory", json!({"about": "payments API"}));
    assert!(array(&answer["known"]).iter().all(|it| it["contradicted_by"].is_null()), "{answer}");

    // Written later, and told of an earlier time.
    let world = World::new();
    let add = |name: &str, text: &str, at: &str| {
        world.call("add_memory", json!({"name": name, "text": text, "occurred_at": at}));
        world.let_pass_ms(DAY_MS);
    };
    add("now", "The payments API listens on port 9443.", "2024-06-01");
    add("then", "The payments API listens on port 8443.", "2023-02-01");
    let answer = world.call("search_memory", json!({"about": "payments API"}));
    let told: Vec<(&Value, &Value)> =
        array(&answer["known"]).iter().map(|it| (&it["name"], &it["contradicted_by"])).collect();
    assert_eq!(told, [(&json!("now"), &Value::Null), (&json!("then"), &json!("now"))], "{answer}");
    assert!(array(&answer["known"])[1]["occurred_at"].as_str().unwrap().starts_with("2023-0"), "{answer}");
}

#[test]
fn a_topic_a_tag_or_a_decision_is_about_it_too() {
    let world = World::new();
    world.call("add_memory", json!({"name": "a", "topic": "Falcon", "text": "Deploys on Fridays."}));
    world.call("add_memory", json!({"name": "b", "text": "We meet at ten.", "tags": ["falcon"]}));
    world.call("add_memory", json!({"name": "c", "text": "Minutes.", "decisions": ["Falcon moves to Lyon."]}));
    let mut names: Vec<String> =
        known(&world, json!({"about": "falcon"})).into_iter().map(|(text, name)| format!("{name}: {text}")).collect();
    names.sort();
    assert_eq!(names, ["a: Deploys on Fridays.", "b: We meet at ten.", "c: Falcon moves to Lyon."]);
}

#[test]
fn nothing_known_says_so_and_names_what_there_is() {
    let world = World::new();
    world.add_named("room", "The room has nine chairs.");
    let answer = world.call("search_memory", json!({"about": "zeppelins"}));
    assert_eq!((&answer["nothing_relevant"], answer.get("known")), (&json!(true), None));
    assert_eq!(answer["nearest"][0]["name"], "room");
    for request in
        [json!({"about": "x", "query": "y"}), json!({"about": "x", "mode": "entities"}), json!({"about": " "})]
    {
        world.refuses("search_memory", request);
    }
}

#[test]
fn superseded_memories_and_other_workspaces_are_not_told_of() {
    let world = World::new();
    world.add_named("old", "Falcon deploys on Mondays.");
    world.call("add_memory", json!({"name": "new", "text": "Falcon deploys on Fridays.", "supersedes": ["old"]}));
    world.call("create_workspace", json!({"workspace_id": "other"}));
    world.call("add_memory", json!({"workspace_id": "other", "text": "Falcon is a bird."}));
    assert_eq!(
        known(&world, json!({"about": "falcon"})),
        [("Falcon deploys on Fridays.".to_owned(), "new".to_owned())]
    );
}
