//! Adding: what comes back is what was given, and the same content is one memory.

use serde_json::{Value, json};

use crate::harness::{DAY_MS, World, array, text_of};

#[test]
fn what_was_added_is_listed_and_read_back_as_given() {
    let world = World::new();
    let given = json!({
        "context": "We deploy with BlueGreen releases.\nSecond line.", "topic": "Deploys", "decisions": ["Use BlueGreen"],
        "rationale": ["Fast rollback"], "metadata": {"ticket": {"id": 7}}, "tags": ["ops", "release"], "source": "wiki",
        "name": "deploys", "pinned": true, "pin_reason": "policy", "expires_at": "2030-01-01T00:00:00Z",
    });
    let added = world.call("add_memory", given.clone());
    assert_eq!(added["created"], true);
    assert_eq!(added["restored"], false);
    assert_eq!(added["status"], "complete");
    assert_eq!(added["version"], 1);
    assert_eq!(added["errors"], json!([]));

    let listed = world.call("list_memories", json!({}));
    assert_eq!(listed["total"], 1);
    let row = &listed["memories"][0];
    for field in ["name", "topic", "source", "pinned"] {
        assert_eq!(row[field], given[field], "{field}");
    }
    assert_eq!(row["decision_count"], 1);
    assert_eq!(row["full_length"], 47);

    let read = world.call("get_memory", json!({"memory_id": added["memory_id"], "include": ["ids"]}));
    for (field, value) in given.as_object().unwrap().iter().filter(|(field, _)| *field != "expires_at") {
        assert_eq!(&read[field], value, "{field}");
    }
    assert_eq!(read["expires_at"], "2030-01-01T00:00:00.000Z");
    assert_eq!(read["written_by"], "cli");
    assert_eq!(read["revision"], 1);
    assert_eq!(array(&read["chunk_ids"]).len(), added["chunks_created"].as_u64().unwrap() as usize);
    assert_eq!(array(&read["entity_ids"]).len(), added["entities_created"].as_u64().unwrap() as usize);
    assert_eq!(array(&read["relation_ids"]).len(), added["relations_created"].as_u64().unwrap() as usize);
    assert!(added["entities_created"].as_u64().unwrap() > 0, "{added}");
    world.assert_doctor_is_content();
}

#[test]
fn the_hash_of_a_content_is_the_documented_one() {
    let world = World::new();
    let request = json!({"topic": "Topic", "context": " Context ", "decisions": ["D1"], "rationale": ["R1"]});
    let added = world.call("add_memory", request);
    let hash = "57b3e5eb8be710e0256141a60e5a0d24c9443e36fcb7e5baa89735fecb88ee2f";
    assert_eq!(world.look(&text_of(&added["memory_id"]))["doc_hash"], hash);
}

#[test]
fn the_same_content_again_is_the_same_memory_and_brings_no_new_entities() {
    let world = World::new();
    let first = world.call("add_memory", json!({"topic": "Cache", "context": "AlphaService uses RedisCache."}));
    let entities = world.entities();
    for (topic, context) in
        [("Cache", "AlphaService uses RedisCache."), ("  Cache ", "  AlphaService uses RedisCache.\n\n")]
    {
        let again = world.call("add_memory", json!({"topic": topic, "context": context}));
        assert_eq!(again["memory_id"], first["memory_id"]);
        assert_eq!(again["name"], first["name"]);
        assert_eq!(again["created"], false);
        assert_eq!(again["entities_created"], 0);
        assert_eq!(again["relations_created"], 0);
        assert_eq!(again["chunks_created"], 0);
        assert_eq!(again["version"], 1, "nothing came with it, so nothing changed");
    }
    assert_eq!(world.entities(), entities);
    assert_eq!(world.call("list_memories", json!({}))["total"], 1);
}

#[test]
fn what_comes_with_the_same_content_is_merged_in() {
    let world = World::new();
    let first = json!({"context": "one", "metadata": {"a": 1, "b": 1}, "tags": ["x"]});
    let id = text_of(&world.call("add_memory", first)["memory_id"]);
    let again = world.call(
        "add_memory",
        json!({"context": "one", "metadata": {"b": 2, "c": 3}, "tags": ["y", "x"], "pinned": true, "pin_reason": "why"}),
    );
    assert_eq!(again["version"], 2);
    let read = world.look(&id);
    assert_eq!(read["metadata"], json!({"a": 1, "b": 2, "c": 3}));
    assert_eq!(read["tags"], json!(["x", "y"]));
    assert_eq!(read["pinned"], true);
    assert_eq!(read["pin_reason"], "why");
    assert_eq!(world.listed(json!({"tags": ["x", "y"]})).len(), 1);
}

#[test]
fn merging_cannot_grow_metadata_or_tags_past_their_limits() {
    let world = World::new();
    let id = world.add("one");
    let half = "x".repeat(40_000);
    world.call("add_memory", json!({"context": "one", "metadata": {"a": half}}));
    let (code, error) = world.fails("add_memory", json!({"context": "one", "metadata": {"b": half}}));
    assert_eq!(code, "invalid_argument");
    assert!(error.message.contains("metadata") && error.message.contains("65536"), "{error}");
    let tags = |from: usize| (from..from + 60).map(|number| format!("tag-{number}")).collect::<Vec<_>>();
    world.call("add_memory", json!({"context": "one", "tags": tags(0)}));
    let (code, error) = world.fails("add_memory", json!({"context": "one", "tags": tags(60)}));
    assert_eq!(code, "invalid_argument");
    assert!(error.message.contains("tags"), "{error}");
    let read = world.look(&id);
    assert_eq!(array(&read["tags"]).len(), 60);
    assert_eq!(read["version"], 3, "what was refused changed nothing");
}

#[test]
fn lists_of_a_content_are_part_of_it_and_metadata_is_not() {
    let world = World::new();
    let plain = world.add("one");
    let decided = world.call("add_memory", json!({"context": "one", "decisions": ["two"]}));
    assert_eq!(decided["created"], true);
    assert_ne!(text_of(&decided["memory_id"]), plain);
    let empty = world.call("add_memory", json!({"context": "one", "decisions": [], "metadata": {"k": 1}}));
    assert_eq!(text_of(&empty["memory_id"]), plain);
}

#[test]
fn a_topic_that_is_not_given_is_the_first_line_cut_to_the_limit() {
    let world = World::new();
    let id = world.add(&format!("\n\n  {}\nsecond", "é".repeat(600)));
    assert_eq!(world.look(&id)["topic"], "é".repeat(500));
}

#[test]
fn text_and_content_are_other_names_of_context() {
    let world = World::new();
    for field in ["text", "content"] {
        let mut request = json!({});
        request[field] = format!("given as {field}").into();
        let id = text_of(&world.call("add_memory", request)["memory_id"]);
        assert_eq!(world.look(&id)["context"], format!("given as {field}"));
    }
}

#[test]
fn generated_names_come_from_the_topic_and_never_clash_also_not_with_the_trash() {
    let world = World::new();
    let name = |context: &str| {
        text_of(&world.call("add_memory", json!({"topic": "Deploy Checklist", "context": context}))["name"])
    };
    assert_eq!(name("one"), "deploy-checklist");
    world.delete("deploy-checklist");
    assert_eq!(name("two"), "deploy-checklist-2");
    assert_eq!(name("three"), "deploy-checklist-3");
    let nothing_left = text_of(&world.call("add_memory", json!({"topic": "東京", "context": "x"}))["name"]);
    assert!(nothing_left.starts_with("memory-"), "{nothing_left}");
    let id_like = json!({"topic": "018f2f3e-9c4b-7cc1-a1f0-000000000001", "context": "y"});
    assert!(text_of(&world.call("add_memory", id_like)["name"]).starts_with("memory-"));
}

#[test]
fn a_name_can_be_used_wherever_an_id_can() {
    let world = World::new();
    world.add_named("first", "AlphaService one");
    world.add_named("second", "AlphaService two");
    world.add_named("third", "AlphaService three");
    assert_eq!(world.call("get_memory", json!({"memory_id": "first"}))["name"], "first");
    world.call("update_memory", json!({"memory_id": "first", "tags": ["t"]}));
    world.call("supersede_memory", json!({"memory_id": "first", "by": "second"}));
    assert_eq!(world.call("gc_explain", json!({"id": "first"}))["alive"], true);
    world.call("add_memory", json!({"context": "fourth", "name": "fourth", "supersedes": ["second"]}));
    assert_eq!(world.look("second")["superseded_by"], "fourth");
    let plan = world.call("forget", json!({"query": "AlphaService"}));
    let request = json!({"plan_id": plan["plan_id"], "exclude": ["third"], "allow_large": true});
    let applied = world.call("gc_apply", request);
    assert_eq!(applied["trashed"]["memories"], 2, "{applied}");
    assert_eq!(world.call("gc_undo", json!({"memory_id": "first"}))["restored"]["memories"], 1);
    world.delete("third");
}

#[test]
fn names_are_unique_within_a_workspace_and_independent_between_two() {
    let world = World::new();
    world.call("create_workspace", json!({"workspace_id": "other"}));
    let here = world.add_named("note", "here");
    let (code, error) = world.fails("add_memory", json!({"name": "note", "context": "again"}));
    assert_eq!(code, "conflict");
    assert_eq!(error.0.details.unwrap()["memory_id"], here.as_str());
    let there = world.call("add_memory", json!({"workspace_id": "other", "name": "note", "context": "here"}));
    assert_eq!(there["created"], true);
    assert_ne!(text_of(&there["memory_id"]), here);
    world.delete("note");
    assert_eq!(world.call("get_memory", json!({"workspace_id": "other", "memory_id": "note"}))["context"], "here");
}

#[test]
fn removed_content_does_not_come_back_by_itself() {
    let world = World::new();
    let id = world.add_named("note", "AlphaService uses RedisCache.");
    let before = world.dump("home");
    world.delete(&id);
    let removed_at = world.call("list_trash", json!({}))["items"][0]["trashed_at"].clone();
    let (code, error) = world.fails("add_memory", json!({"context": "AlphaService uses RedisCache."}));
    assert_eq!(code, "conflict");
    assert!(error.message.contains(&text_of(&removed_at)), "{error}");
    assert_eq!(error.details.as_ref().unwrap()["memory_id"], id.as_str());
    let back = world.call("add_memory", json!({"context": "AlphaService uses RedisCache.", "restore": true}));
    assert_eq!(text_of(&back["memory_id"]), id);
    assert_eq!(back["created"], false);
    assert_eq!(back["restored"], true);
    assert_eq!(world.dump("home"), before);
}

#[test]
fn restoring_by_add_under_a_name_that_was_taken_meanwhile_is_a_conflict() {
    let world = World::new();
    let id = world.add_named("note", "one");
    world.delete(&id);
    let other = world.add_named("note", "two");
    let (code, error) = world.fails("add_memory", json!({"context": "one", "restore": true}));
    assert_eq!(code, "conflict");
    assert_eq!(error.0.details.unwrap()["memory_id"], other.as_str());
    assert_eq!(world.fails("get_memory", json!({ "memory_id": id })).0, "not_found");
}

#[test]
fn an_expiry_in_the_past_means_now_and_an_added_memory_says_what_is_similar() {
    let world = World::new();
    let gone = json!({"name": "gone", "context": "The falcon release notes of spring", "expires_at": 1_000});
    world.call("add_memory", gone);
    assert_eq!(world.found("falcon"), Vec::<String>::new());
    assert_eq!(world.listed(json!({})), ["gone"], "expired ones are listed until a plan takes them");
    world.add_named("kept", "The falcon release notes of autumn");
    let twin = world.call("add_memory", json!({"context": "The falcon release notes of winter"}));
    let similar: Vec<Value> = array(&twin["similar"]).iter().map(|it| it["name"].clone()).collect();
    assert_eq!(similar, ["kept"]);
    world.advance_ms(DAY_MS);
}

#[test]
fn secrets_are_redacted_before_they_are_stored_and_the_answer_says_so() {
    let world = World::new();
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let text = format!("the token is {secret} for now");
    let added = world.call("add_memory", json!({"context": text, "metadata": {"also": {"here": secret}}}));
    assert_eq!(added["redacted"], 2);
    assert_eq!(world.places_with(secret.as_bytes()), Vec::<String>::new());
}
