//! Forgetting a part of a memory, and what is only maybe meant: the preview offers it, the reviewer decides.

use serde_json::{Value, json};

use crate::harness::{World, array, names, text_of};

const STAYS: &str = "Bob Miller owns the Wombat account.";
const GOES: &str = "Alice Quokka lives at 12 Platypus Street.";

fn with_bystanders() -> World {
    let world = World::new();
    let many: Vec<_> = (0..10).map(|number| json!({"context": format!("bystander number {number}")})).collect();
    world.call("add_memories", json!({ "memories": many }));
    world
}

fn mixed() -> (World, String) {
    let world = with_bystanders();
    let id = text_of(&world.call("add_memory", json!({"context": format!("{GOES} {STAYS}")}))["memory_id"]);
    (world, id)
}

/// What a memory says and is known by; not its version, which grows, nor its uses.
fn said(memory: &Value) -> Vec<Value> {
    let fields =
        ["name", "topic", "context", "revision", "doc_hash", "entity_ids", "relation_ids", "updated_at", "ingested_at"];
    fields.iter().map(|field| memory[*field].clone()).collect()
}

#[test]
fn a_memory_that_says_more_is_cut_and_undo_brings_the_whole_text_back() {
    let (world, id) = mixed();
    let before = said(&world.look(&id));
    let entities = world.entities();
    let plan = world.call("forget", json!({"query": "Alice Quokka"}));
    let item = &plan["items"][0];
    assert_eq!(
        (&item["kind"], &item["action"], &item["id"]),
        (&json!("memory"), &json!("redact"), &json!(id)),
        "{plan:#}"
    );
    assert_eq!((&item["rest"], &item["matched_words"]), (&json!(STAYS), &json!(["Alice Quokka"])));
    assert_eq!((&plan["matched"], &plan["in_plan"]), (&json!(1), &json!(1)));

    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!((&applied["trashed"]["revisions"], &applied["skipped"]["count"]), (&json!(1), &json!(0)), "{applied}");
    let after = world.look(&id);
    assert_eq!((&after["context"], &after["topic"]), (&json!(STAYS), &json!(STAYS)));
    assert_eq!(after["name"], "bob-miller-owns-the-wombat-account");
    assert_eq!(world.found("Platypus"), [""; 0]);
    assert_eq!(world.found("Wombat"), ["bob-miller-owns-the-wombat-account"]);
    assert!(!world.entities().contains(&"Alice Quokka".to_owned()));
    world.assert_doctor_is_content();
    assert_eq!(
        world.call("gc_apply", json!({"plan_id": plan["plan_id"]})),
        applied,
        "a second apply answers the first"
    );

    let undone = world.call("gc_undo", json!({"run_id": applied["run_id"]}));
    assert_eq!((&undone["restored"]["revisions"], &undone["conflicts"]), (&json!(1), &json!([])), "{undone}");
    assert_eq!(said(&world.look(&id)), before);
    assert_eq!(world.entities(), entities);
    world.assert_doctor_is_content();
}

#[test]
fn an_undo_after_another_change_is_a_conflict_and_changes_nothing() {
    let (world, id) = mixed();
    let plan = world.call("forget", json!({"query": "Alice Quokka"}));
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    world.call("update_memory", json!({"memory_id": id, "context": "Bob Miller sold it."}));
    let undone = world.call("gc_undo", json!({"run_id": applied["run_id"]}));
    assert_eq!(undone["conflicts"], json!([{"id": id, "reason": "changed"}]), "{undone}");
    assert_eq!(world.look(&id)["context"], "Bob Miller sold it.");
    assert_eq!(world.found("Platypus"), [""; 0]);
    world.assert_doctor_is_content();
}

#[test]
fn what_was_changed_after_the_preview_is_not_cut() {
    let (world, id) = mixed();
    let plan = world.call("forget", json!({"query": "Alice Quokka"}));
    let changed = format!("{STAYS} {GOES}");
    world.call("update_memory", json!({"memory_id": id, "context": changed}));
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(applied["skipped"]["first"][0]["reason"], "changed", "{applied}");
    assert_eq!(world.look(&id)["context"], json!(changed));
}

#[test]
fn an_erasure_of_a_part_leaves_no_byte_of_it_and_keeps_the_rest() {
    let (world, id) = mixed();
    world.call("update_memory", json!({"memory_id": id, "context": format!("{GOES} {STAYS} Since May.")}));
    let plan = world.call("forget", json!({"query": "Alice Quokka", "purge": true}));
    assert_eq!(plan["items"].as_array().unwrap().len(), 2, "the earlier revision goes as well: {plan:#}");
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "confirm": true}));
    assert_eq!(applied["receipt"]["rows"]["revisions"], 2, "{applied}");
    assert_eq!(applied["receipt"]["byte_scan"], World::clean_scan());
    world.empty_log();
    assert_eq!(world.places_with(b"Platypus Street"), [""; 0]);
    assert_eq!(world.places_with(b"alice-quokka"), [""; 0]);
    assert_eq!(world.look(&id)["context"], json!(format!("{STAYS} Since May.")));
    world.assert_doctor_is_content();
}

#[test]
fn the_reviewer_decides_item_by_item() {
    let (world, id) = mixed();
    let whole = text_of(&world.call("add_memory", json!({"context": "Alice Quokka likes tea."}))["memory_id"]);
    let near =
        text_of(&world.call("add_memory", json!({"context": "Alice Quokka-Smith plays the organ."}))["memory_id"]);
    let plan = world.call("forget", json!({"query": "everything about Alice Quokka"}));
    let maybe: Vec<(&Value, &Value)> = array(&plan["maybe"]).iter().map(|it| (&it["id"], &it["reason"])).collect();
    assert_eq!(maybe, [(&json!(near), &json!("has a longer name that contains this one"))]);
    let read = world.call("get_plan", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(read["maybe"][0]["id"], json!(near));

    let error = world.refuses("gc_apply", json!({"plan_id": plan["plan_id"], "actions": {"nothing-of-it": "remove"}}));
    assert!(error.message.contains("nothing-of-it"), "{error}");
    let error = world.refuses("gc_apply", json!({"plan_id": plan["plan_id"], "actions": {whole.clone(): "redact"}}));
    assert!(error.message.contains("cannot be redacted"), "{error}");

    let actions = json!({id.clone(): "remove", whole.clone(): "keep", near.clone(): "remove"});
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "actions": actions}));
    assert_eq!(applied["trashed"]["memories"], 2, "{applied}");
    assert_eq!(world.listed(json!({"query": "Quokka"})), ["alice-quokka-likes-tea"]);
    let undone = world.call("gc_undo", json!({"run_id": applied["run_id"]}));
    assert_eq!(undone["restored"]["memories"], 2);
    assert_eq!(world.listed(json!({"query": "Quokka"})).len(), 3);
    world.assert_doctor_is_content();
}

#[test]
fn what_only_comes_near_is_kept_unless_it_is_named() {
    let world = with_bystanders();
    for text in ["Sarah Chen joined.", "Sarah Miller left.", "Lunch with Sarah."] {
        world.add(text);
    }
    let plan = world.call("forget", json!({"query": "Sarah"}));
    assert_eq!((&plan["matched"], plan["maybe"].as_array().map(Vec::len)), (&json!(0), Some(3)), "{plan:#}");
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(applied["trashed"]["memories"], 0);
    assert_eq!(world.listed(json!({"query": "Sarah"})).len(), 3);
}

#[test]
fn identifiers_and_people_are_found_in_every_form_by_the_index() {
    let world = with_bystanders();
    for (name, text) in [
        ("phone", "His phone is 0170/123 45 67."),
        ("other-phone", "Her phone is 0170/123 45 678."),
        ("french", "Call 01 70 12 34 56 for it."),
        ("card", "Paid with 4111 1111 1111 1111."),
        ("umlaut", "Herr Müller called."),
        ("accent", "Señor Núñez wrote."),
        ("han", "田中宏さんが来た"),
        ("mac", "The switch is 00-1A-2B-3C-4D-5E."),
        ("date", "The audit was on 7 May 2024."),
        ("mail", "sarah.chen@acme.io bounced."),
    ] {
        world.add_named(name, text);
    }
    let found = |query: &str| names(&world.call("forget", json!({"query": query}))["items"]);
    assert_eq!(found("+49 170 1234567"), ["phone"]);
    assert_eq!(found("0170123456"), ["french"]);
    assert_eq!(found("4111-1111-1111-1111"), ["card"]);
    assert_eq!(found("everything about Mr Mueller"), ["umlaut"]);
    assert_eq!(found("forget Nunez"), ["accent"]);
    assert_eq!(found("田中宏"), ["han"]);
    assert_eq!(found("001a2b3c4d5e"), ["mac"]);
    assert_eq!(found("the audit of 2024-05-07"), ["date"]);
    assert_eq!(found("Sarah Chen's data"), ["mail"]);
}
