//! What memories are called: names that follow the text, former names, keys, and the beginnings of ids.

use serde_json::{Value, json};

use crate::harness::World;

fn name_of(world: &World, reference: &str) -> Value {
    world.call("get_memory", json!({"memory_id": reference}))["name"].clone()
}

#[test]
fn a_name_made_from_the_text_changes_with_it_and_the_old_one_still_leads_there() {
    let world = World::new();
    world.call("add_memory", json!({"text": "The API listens on port 8443."}));
    let old = "the-api-listens-on-port-8443";
    let answer = world.call("update_memory", json!({"memory_id": old, "text": "Checkout calls the API on 9443."}));
    assert_eq!(answer["name"], "checkout-calls-the-api-on-9443");
    assert_eq!(name_of(&world, old), "checkout-calls-the-api-on-9443");

    // Nobody else gets it while its memory lives.
    let other = world.call("add_memory", json!({"text": "The API listens on port 8443!"}));
    assert_eq!(other["name"], format!("{old}-2"));
    assert_eq!(world.fails("add_memory", json!({"text": "Another.", "name": old})).0, "conflict");

    // Back to what it said: back to what it was called.
    let back = json!({"memory_id": "checkout-calls-the-api-on-9443", "text": "The API listens on port 8443."});
    assert_eq!(world.call("update_memory", back)["name"], old);
    world.assert_doctor_is_content();
}

#[test]
fn a_name_that_somebody_gave_stays() {
    let world = World::new();
    world.call("add_memory", json!({"text": "Deploys happen on Fridays.", "name": "release-day"}));
    world.call("add_memory", json!({"text": "Tabs are for Go.", "name": "tabs-are-for-go"}));
    for (name, text) in [("release-day", "Deploys happen on Mondays."), ("tabs-are-for-go", "Spaces are for Python.")] {
        let answer = world.call("update_memory", json!({"memory_id": name, "text": text}));
        assert_eq!(answer["name"], name);
    }
}

#[test]
fn a_former_name_goes_with_the_words_it_was_made_from() {
    let world = World::new();
    world.call("add_memory", json!({"text": "The password is swordfish."}));
    let old = "the-password-is-swordfish";
    world.call("update_memory", json!({"memory_id": old, "text": "The password is in the vault."}));
    assert_eq!(name_of(&world, old), "the-password-is-in-the-vault");
    let erased = world.call("update_memory", json!({"memory_id": old, "erase_previous": true}));
    assert_eq!(erased["receipt"]["byte_scan"], World::clean_scan(), "{erased}");
    assert_eq!(world.fails("get_memory", json!({"memory_id": old})).0, "not_found");
    assert_eq!(name_of(&world, "the-password-is-in-the-vault"), "the-password-is-in-the-vault");
    world.assert_doctor_is_content();
}

#[test]
fn former_names_and_keys_go_with_a_purged_memory_and_come_back_with_an_undo() {
    let world = World::new();
    world.call("add_memory", json!({"text": "The office is in Lyon.", "key": "office"}));
    world.call("add_memory", json!({"text": "The office is in Oslo.", "key": "office"}));
    let run = world.call("forget", json!({"memory_ids": ["the-office-is-in-lyon"]}))["run_id"].clone();
    assert_eq!(world.fails("get_memory", json!({"memory_id": "the-office-is-in-lyon"})).0, "not_found");
    world.call("gc_undo", json!({ "run_id": run }));
    assert_eq!(name_of(&world, "the-office-is-in-lyon"), "the-office-is-in-oslo");
    let run = world.call("forget", json!({"memory_ids": ["the-office-is-in-oslo"]}))["run_id"].clone();
    world.call("gc_purge", json!({"run_id": run, "confirm": true}));
    let again = world.call("add_memory", json!({"text": "The office is in Rome.", "key": "office"}));
    assert_eq!((&again["created"], &again["name"]), (&json!(true), &json!("the-office-is-in-rome")));
    world.assert_doctor_is_content();
}

#[test]
fn a_key_adds_once_and_then_updates() {
    let world = World::new();
    let added =
        world.call("add_memory", json!({"text": "The build takes 4 minutes.", "key": "build/time", "tags": ["ci"]}));
    let again = world.call("add_memory", json!({"text": "The build takes 9 minutes.", "key": "build/time"}));
    assert_eq!((&added["created"], &again["created"]), (&json!(true), &json!(false)));
    assert_eq!(added["memory_id"], again["memory_id"]);
    let memory = world.call("get_memory", json!({"memory_id": added["memory_id"]}));
    assert_eq!((&memory["context"], &memory["tags"]), (&json!("The build takes 9 minutes."), &json!(["ci"])));
    assert_eq!(world.call("list_memories", json!({}))["total"], 1);

    let batch = json!({"memories": [{"text": "Ten.", "key": "build/time"}, {"text": "Eleven.", "key": "other"}]});
    let results = world.call("add_memories", batch);
    assert_eq!((&results["created"], &results["failed"]), (&json!(1), &json!(1)));
    assert_eq!(results["results"][0]["error"]["code"], "conflict", "{results}");
    world.refuses("add_memory", json!({"text": "x", "key": " "}));
    world.assert_doctor_is_content();
}

#[test]
fn former_names_and_keys_come_back_with_every_kind_of_backup() {
    let world = World::new();
    world.call("add_memory", json!({"text": "The office is in Lyon.", "key": "office"}));
    world.call("update_memory", json!({"memory_id": "the-office-is-in-lyon", "text": "The office is in Oslo."}));
    for format in World::backup_formats() {
        let created = world.call("backup_create", json!({ "format": format }));
        world.call("backup_restore", json!({"backup_id": created["backup_id"], "confirm": true}));
        assert_eq!(name_of(&world, "the-office-is-in-lyon"), "the-office-is-in-oslo", "{format}");
        let again = world.call("add_memory", json!({"text": "The office is in Oslo.", "key": "office"}));
        assert_eq!(again["created"], false, "{format}: {again}");
    }
    world.assert_doctor_is_content();
}

#[test]
fn the_beginning_of_an_id_is_enough_where_it_names_one() {
    let world = World::new();
    let first = world.call("add_memory", json!({"text": "One."}))["memory_id"].as_str().unwrap().to_owned();
    assert_eq!(name_of(&world, &first[..8]), "one");
    assert_eq!(name_of(&world, &first.replace('-', "")[..20]), "one");
    assert_eq!(world.fails("get_memory", json!({"memory_id": &first[..3]})).0, "not_found");
    world.call("add_memory", json!({"text": "Two."}));
    let error = world.refuses("get_memory", json!({"memory_id": &first[..8]}));
    assert!(error.message.contains("several"), "{error}");
    world.call("delete_memory", json!({ "memory_id": first }));
    assert_eq!(name_of(&world, &first[..8]), "two", "what is in the trash is not meant");
    assert_eq!(world.call("gc_undo", json!({"memory_id": &first[..8]}))["restored"]["memories"], 1);
}

#[test]
fn a_run_that_took_nothing_is_none_that_can_be_undone() {
    let world = World::new();
    world.add_named("note", "Deploys happen on Fridays.");
    let plan = world.call("prune_memory", json!({"strategy": "all"}))["plan_id"].clone();
    let applied = world.call("gc_apply", json!({ "plan_id": plan }));
    assert_eq!(applied.get("undo_until"), None, "{applied}");
    assert_eq!(world.call("gc_undo", json!({}))["runs"], json!([]));
}

#[test]
fn names_made_from_a_text_are_short() {
    let world = World::new();
    let text = "The nightly job reconcile compares our ledger with the statement of the bank and writes a report.";
    let name = world.call("add_memory", json!({ "text": text }))["name"].as_str().unwrap().to_owned();
    assert_eq!(name, "the-nightly-job-reconcile-compares-our");
}

#[test]
fn a_mistyped_name_is_answered_with_those_like_it() {
    let world = World::new();
    world.add_named("deploy-day", "Deploys happen on Fridays.");
    world.add_named("room", "The room has nine chairs.");
    for (operation, request) in [
        ("get_memory", json!({"memory_id": "deploy-dya"})),
        ("update_memory", json!({"memory_id": "deploys", "text": "x"})),
        ("delete_memory", json!({"memory_id": "day"})),
    ] {
        let (code, error) = world.fails(operation, request);
        assert_eq!((code, error.details.as_ref().unwrap()["nearest"][0].as_str()), ("not_found", Some("deploy-day")));
        assert_eq!(error.hint.as_deref(), Some("did you mean `deploy-day`?"));
    }
    let (_, error) = world.fails("get_memory", json!({"memory_id": "zeppelin"}));
    assert_eq!((error.hint.as_deref(), &error.details), (Some("`search_memory` finds a memory by its words"), &None));
    world.call("add_memory", json!({"name": "zeppelins", "text": "From a stranger.", "untrusted": true}));
    let (_, error) = world.fails("get_memory", json!({"memory_id": "zeppelin"}));
    assert!(!error.to_json().to_string().contains("zeppelins"), "{error}");
}
