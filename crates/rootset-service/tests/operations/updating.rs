//! Updating: only the given fields, by compare-and-set, with every earlier text kept until it is erased.

use std::sync::{Arc, Barrier};

use rootset_service::{Housekeeper, ServiceError};
use serde_json::{Value, json};

use crate::harness::{DAY_MS, World, array, text_of};

#[test]
fn only_the_given_field_changes() {
    let world = World::new();
    let full = json!({
        "name": "note", "topic": "Topic", "context": "AlphaService uses RedisCache.", "decisions": ["D"], "rationale": ["R"],
        "metadata": {"k": 1}, "tags": ["t"], "pinned": true, "pin_reason": "why", "expires_at": "2040-01-01T00:00:00Z",
    });
    world.call("add_memory", full);
    let change = |request: Value, changed: &[&str]| {
        let before = world.look("note");
        let mut request = request;
        request["memory_id"] = "note".into();
        let answer = world.call("update_memory", request);
        let after = world.look("note");
        assert_eq!(after["version"], before["version"].as_i64().unwrap() + 1);
        assert_eq!(answer["version"], after["version"]);
        let always = ["version", "updated_at"];
        for (field, value) in before.as_object().unwrap() {
            let may_change = always.contains(&field.as_str()) || changed.contains(&field.as_str());
            assert!(may_change || &after[field] == value, "{field}: {value} became {}", after[field]);
        }
        for field in changed {
            assert_ne!(after[*field], before[*field], "{field}");
        }
        answer
    };
    let answer = change(json!({"tags": ["u", "v"]}), &["tags"]);
    assert_eq!((&answer["reextracted"], &answer["revision"]), (&json!(false), &json!(1)));
    change(json!({"metadata": {"other": 2}}), &["metadata"]);
    change(json!({"clear": ["metadata"]}), &["metadata"]);
    change(json!({"clear": ["expires_at"]}), &["expires_at"]);
    change(json!({"pin_reason": "because"}), &["pin_reason"]);
    change(json!({"pinned": false}), &["pinned", "pin_reason", "pinned_by", "pinned_actor"]);
    let content = ["revision", "doc_hash", "ingested_at", "chunk_ids", "chunk_count"];
    let answer =
        change(json!({"decisions": ["E"]}), &["decisions", "revision", "doc_hash", "ingested_at", "chunk_ids"]);
    assert_eq!((&answer["reextracted"], &answer["revision"]), (&json!(true), &json!(2)));
    change(json!({"clear": ["rationale"]}), &[&["rationale"][..], &content].concat());
    let mut with_topic = vec!["topic"];
    with_topic.extend(["revision", "doc_hash", "ingested_at", "chunk_ids"]);
    change(json!({"topic": "Other topic"}), &with_topic);
    assert_eq!(world.look("note")["metadata"], Value::Null);
    world.assert_doctor_is_content();
}

#[test]
fn a_new_text_is_extracted_anew_and_drops_what_only_the_old_one_named() {
    let world = World::new();
    world.add_named("other", "SharedThing stays.");
    world.add_named("note", "SharedThing uses OldThing.");
    let answer = world.call(
        "update_memory",
        json!({"memory_id": "note", "context": "SharedThing uses NewThing.", "clear": ["topic"]}),
    );
    assert_eq!(answer["reextracted"], true);
    assert_eq!((&answer["entities_created"], &answer["entities_removed"]), (&json!(1), &json!(1)));
    assert_eq!((&answer["relations_created"], &answer["relations_removed"]), (&json!(1), &json!(1)));
    assert_eq!(world.entities(), ["NewThing", "SharedThing"]);
    assert_eq!(world.entity("SharedThing")["refcount"], 2);
    assert!(!text_of(&world.entity("SharedThing")["description"]).contains("OldThing"));
    let read = world.call("get_memory", json!({"memory_id": "note", "revision": 1}));
    assert_eq!(read["context"], "SharedThing uses OldThing.");
    assert_eq!(read["revision"], 1);
    assert_eq!(world.call("get_memory", json!({"memory_id": "note"}))["context"], "SharedThing uses NewThing.");
    assert_eq!(world.fails("get_memory", json!({"memory_id": "note", "revision": 3})).0, "not_found");
    assert_eq!(world.listed(json!({"query": "OldThing"})), Vec::<String>::new());
    world.assert_doctor_is_content();
}

#[test]
fn a_topic_made_from_the_text_changes_with_it_and_a_given_one_stays() {
    let world = World::new();
    let id = world.add("First line\nand more");
    world.call("update_memory", json!({"memory_id": id, "context": "Another line\nand more"}));
    let memory = world.look(&id);
    assert_eq!((&memory["topic"], &memory["name"]), (&json!("Another line"), &json!("another-line")));
    world.call("update_memory", json!({"memory_id": id, "topic": "Given", "context": "Third line"}));
    world.call("update_memory", json!({"memory_id": id, "context": "Fourth line"}));
    assert_eq!(world.look(&id)["topic"], "Given");
}

#[test]
fn a_given_name_survives_an_erasure() {
    let world = World::new();
    world.add_named("note", "First line");
    let request = json!({"memory_id": "note", "context": "Another line", "erase_previous": true});
    assert_eq!(world.call("update_memory", request)["name"], "note");
}

#[test]
fn the_old_text_is_a_new_memory_and_the_new_text_is_the_updated_one() {
    let world = World::new();
    let id = text_of(&world.call("add_memory", json!({"topic": "T", "context": "old text"}))["memory_id"]);
    world.call("update_memory", json!({"memory_id": id, "context": "new text"}));
    let old = world.call("add_memory", json!({"topic": "T", "context": "old text"}));
    assert_eq!(old["created"], true);
    assert_ne!(text_of(&old["memory_id"]), id);
    let new = world.call("add_memory", json!({"topic": "T", "context": "new text"}));
    assert_eq!((&new["created"], &new["memory_id"]), (&json!(false), &json!(id)));
    let (code, error) = world.fails("update_memory", json!({"memory_id": id, "context": "old text"}));
    assert_eq!(code, "conflict");
    assert!(error.message.contains(&text_of(&old["name"])), "{error}");
    assert_eq!(error.0.details.unwrap()["memory_id"], old["memory_id"]);
    assert_eq!(world.look(&id)["version"], 2, "a refused update changes nothing");
}

#[test]
fn an_expected_version_that_is_too_old_changes_nothing() {
    let world = World::new();
    world.add_named("note", "one");
    world.call("update_memory", json!({"memory_id": "note", "tags": ["a"], "expected_version": 1}));
    let before = world.dump("home");
    for request in [json!({"tags": ["b"]}), json!({"context": "two"}), json!({"name": "other"})] {
        let mut request = request;
        request["memory_id"] = "note".into();
        request["expected_version"] = 1.into();
        let (code, error) = world.fails("update_memory", request);
        assert_eq!(code, "conflict");
        assert_eq!(error.0.details.unwrap()["version"], 2);
    }
    assert_eq!(world.dump("home"), before);
}

#[test]
fn of_two_concurrent_updates_with_the_same_version_one_wins_and_one_conflicts() {
    let world = World::new();
    world.add_named("note", "start");
    for round in 0..5 {
        let version = world.look("note")["version"].clone();
        let start = Barrier::new(2);
        let outcomes: Vec<Result<Value, _>> = std::thread::scope(|scope| {
            let updaters: Vec<_> = (0..2)
                .map(|writer| {
                    let (world, start, version) = (&world, &start, version.clone());
                    let service = world.second_process();
                    scope.spawn(move || {
                        let text = format!("round {round} writer {writer}");
                        let request = json!({"memory_id": "note", "context": text, "expected_version": version});
                        start.wait();
                        service.call(&world.caller, "update_memory", request)
                    })
                })
                .collect();
            updaters.into_iter().map(|updater| updater.join().unwrap()).collect()
        });
        let winners = outcomes.iter().filter(|it| it.is_ok()).count();
        assert_eq!(winners, 1, "{outcomes:?}");
        let loser = outcomes.iter().find_map(|it| it.as_ref().err()).unwrap();
        assert_eq!(loser.code.as_str(), "conflict");
    }
    world.assert_doctor_is_content();
}

#[test]
fn concurrent_updates_of_different_fields_are_all_kept() {
    let world = Arc::new(World::new());
    world.add_named("note", "start");
    let requests =
        [json!({"tags": ["t"]}), json!({"metadata": {"k": 1}}), json!({"context": "end"}), json!({"pinned": true})];
    std::thread::scope(|scope| {
        for mut request in requests {
            let (world, service) = (&world, world.second_process());
            request["memory_id"] = "note".into();
            scope.spawn(move || service.call(&world.caller, "update_memory", request).unwrap());
        }
    });
    let read = world.look("note");
    assert_eq!(read["version"], 5);
    assert_eq!((&read["tags"], &read["metadata"]), (&json!(["t"]), &json!({"k": 1})));
    assert_eq!((&read["context"], &read["pinned"]), (&json!("end"), &json!(true)));
}

#[test]
fn an_unchanged_content_is_no_new_revision_and_does_not_move_ingested_at() {
    let world = World::new();
    world.add_named("note", "one");
    let before = world.look("note");
    let answer = world.call("update_memory", json!({"memory_id": "note", "context": "  one  "}));
    assert_eq!((&answer["revision"], &answer["reextracted"]), (&json!(1), &json!(false)));
    let after = world.look("note");
    assert_eq!(after["ingested_at"], before["ingested_at"]);
    assert_eq!(after["version"], 2);
    world.call("update_memory", json!({"memory_id": "note", "context": "two"}));
    assert_ne!(world.look("note")["ingested_at"], before["ingested_at"]);
}

#[test]
fn the_last_twenty_earlier_revisions_stay_readable() {
    let world = World::new();
    world.add_named("note", "text 1");
    for number in 2..=25 {
        world.call("update_memory", json!({"memory_id": "note", "context": format!("text {number}")}));
    }
    for revision in 1..=25 {
        let request = json!({"memory_id": "note", "revision": revision});
        match world.try_call("get_memory", request) {
            Ok(read) => {
                assert!(revision >= 5, "{revision}");
                assert_eq!(read["context"], format!("text {revision}"));
            }
            Err(error) => {
                assert!(revision < 5, "{revision}: {error}");
                assert_eq!(error.code.as_str(), "not_found");
            }
        }
    }
    world.assert_doctor_is_content();
}

/// A memory with one earlier revision more than are kept, and the run that took it.
fn pushed_out(world: &World) -> String {
    world.call("add_memory", json!({"name": "note", "context": "the original", "pinned": true}));
    for number in 1..=21 {
        world.call("update_memory", json!({"memory_id": "note", "context": format!("text {number}")}));
    }
    let runs = world.call("gc_undo", json!({}))["runs"].clone();
    assert_eq!((array(&runs).len(), &runs[0]["operation"]), (1, &json!("trim_revisions")), "{runs}");
    assert_eq!(runs[0]["trashed"]["revisions"], 1, "{runs}");
    text_of(&runs[0]["run_id"])
}

fn original(world: &World) -> Result<Value, ServiceError> {
    world.try_call("get_memory", json!({"memory_id": "note", "revision": 1}))
}

#[test]
fn a_revision_that_falls_off_the_history_goes_to_the_trash_and_comes_back() {
    let world = World::new();
    let run = pushed_out(&world);
    let error = original(&world).unwrap_err();
    assert_eq!(error.code.as_str(), "not_found");
    assert!(error.hint.as_ref().unwrap().contains("in the trash since"), "{}", error.to_json());
    assert_eq!(error.details.as_ref().unwrap()["next"]["arguments"]["run_id"], run.as_str());

    let trash = world.call("list_trash", json!({}));
    let item = &trash["items"][0];
    let id = text_of(&item["id"]);
    assert_eq!((&trash["total"], &item["kind"], &item["run_id"]), (&json!(1), &json!("revision"), &json!(run)));
    assert!(item["undo_until"].is_string(), "{item}");
    let why = world.call("gc_explain", json!({"id": id}));
    assert_eq!((&why["kind"], &why["alive"]), (&json!("revision"), &json!(false)), "{why}");
    assert!(text_of(&why["reason"]).contains("trim_revisions of cli"), "{why}");
    let status = world.call("gc_status", json!({}));
    assert_eq!(status["trash"]["revisions"], 1, "{status}");
    assert_eq!(status["disk"]["trash"], "the original".len() * 2, "topic and text: {status}");
    let audit = world.call("list_audit", json!({"operation": "trim_revisions"}));
    assert_eq!((&audit["total"], &audit["entries"][0]["run_id"]), (&json!(1), &json!(run)), "{audit}");
    world.assert_doctor_is_content();

    assert_eq!(world.call("gc_undo", json!({ "run_id": run }))["restored"]["revisions"], 1);
    assert_eq!(original(&world).unwrap()["context"], "the original");
    assert_eq!(world.call("gc_explain", json!({ "id": id }))["alive"], true);
    // There is one too many again, and the next change takes it again.
    world.call("update_memory", json!({"memory_id": "note", "context": "text 22"}));
    assert_eq!(original(&world).unwrap_err().code.as_str(), "not_found");
    assert_eq!(world.call("list_trash", json!({}))["total"], 2);
    world.assert_doctor_is_content();
}

#[test]
fn a_revision_past_its_grace_is_purged_without_a_word_about_its_text_or_name() {
    let world = World::new();
    world.call("add_memory", json!({"context": "A topic of its own\n\nand more"}));
    for number in 1..=21 {
        world.call("update_memory", json!({"memory_id": "a-topic-of-its-own", "context": format!("text {number}")}));
    }
    let run = text_of(&world.call("list_trash", json!({}))["items"][0]["run_id"]);
    world.advance_ms(8 * DAY_MS);
    world.service.housekeep(Housekeeper::Scheduler).unwrap();
    assert_eq!(world.call("list_trash", json!({}))["total"], 0);
    assert_eq!(world.fails("gc_undo", json!({ "run_id": run })).0, "conflict");
    assert_eq!(world.look("text-21")["revision"], 22);
    assert_eq!(world.fails("get_memory", json!({"memory_id": "a-topic-of-its-own"})).0, "not_found");
    // Nobody wanted the text gone, so it may be said again.
    let again = world.call("add_memory", json!({"context": "A topic of its own\n\nand more"}));
    assert_eq!(again["created"], true);
    world.assert_doctor_is_content();
}

#[test]
fn what_somebody_erases_or_forgets_is_gone_also_where_it_fell_off_the_history() {
    for request in [
        ("update_memory", json!({"memory_id": "note", "erase_previous": true})),
        ("gc_purge", json!({"older_than": "0", "confirm": true})),
    ] {
        let world = World::new();
        pushed_out(&world);
        let backup = world.call("backup_create", json!({"format": "jsonl"}));
        world.call(request.0, request.1);
        assert_eq!(world.call("list_trash", json!({}))["total"], 0);
        world.call("backup_restore", json!({"backup_id": backup["backup_id"], "confirm": true}));
        assert!(original(&world).is_err());
        assert_eq!(world.call("list_trash", json!({}))["total"], 0, "{}", request.0);
        world.assert_doctor_is_content();
    }
    let world = World::new();
    pushed_out(&world);
    let plan = world.call("forget", json!({"query": "original", "include_pinned": true, "purge": true}));
    assert_eq!(plan["in_plan"], 1, "{plan}");
    world.call("gc_apply", json!({"plan_id": plan["plan_id"], "confirm": true, "allow_large": true}));
    assert_eq!(world.places_with(b"the original"), Vec::<String>::new());
}

#[test]
fn a_backup_holds_revisions_in_the_trash_and_their_undo() {
    let world = World::new();
    let run = pushed_out(&world);
    let backup = world.call("backup_create", json!({"format": "jsonl"}));
    world.call("backup_restore", json!({"backup_id": backup["backup_id"], "confirm": true}));
    world.assert_doctor_is_content();
    world.call("gc_undo", json!({ "run_id": run }));
    assert_eq!(original(&world).unwrap()["context"], "the original");
}

#[test]
fn a_rename_keeps_the_id_and_frees_the_old_name() {
    let world = World::new();
    let id = world.add_named("before", "one");
    world.call("update_memory", json!({"memory_id": "before", "name": "after"}));
    assert_eq!(world.call("get_memory", json!({"memory_id": "after"}))["memory_id"], id.as_str());
    assert_eq!(world.fails("get_memory", json!({"memory_id": "before"})).0, "not_found");
    world.add_named("before", "two");
    assert_eq!(world.fails("update_memory", json!({"memory_id": "after", "name": "before"})).0, "conflict");
}

#[test]
fn an_update_without_any_field_is_refused() {
    let world = World::new();
    world.add_named("note", "one");
    for request in [json!({"memory_id": "note"}), json!({"memory_id": "note", "expected_version": 1})] {
        assert!(world.refuses("update_memory", request).message.contains("at least one field"));
    }
    assert_eq!(array(&world.look("note")["tags"]).len(), 0);
}
