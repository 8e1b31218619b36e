//! Forgetting: a plan to review, then exactly what it showed, checked again item by item.

use serde_json::{Value, json};

use crate::harness::{DAY_MS, World, array, ids, names, text_of};

fn skips(applied: &Value) -> Vec<(String, String)> {
    array(&applied["skipped"]["first"]).iter().map(|it| (text_of(&it["id"]), text_of(&it["reason"]))).collect()
}

/// The items as the plan holds them: the words that matched are shown once and not kept.
pub fn without_words(items: &Value) -> Value {
    let mut items = items.clone();
    for item in items.as_array_mut().unwrap() {
        item.as_object_mut().unwrap().remove("matched_words");
    }
    items
}

/// As many bystanders as it takes to stay under the limits.
fn bystanders(world: &World, count: usize) {
    let many: Vec<_> = (0..count).map(|number| json!({"context": format!("bystander number {number}")})).collect();
    world.call("add_memories", json!({ "memories": many }));
}

#[test]
fn identifiers_match_exactly_after_normalisation() {
    let world = World::new();
    bystanders(&world, 5);
    for (name, text) in [
        ("exact", "Write to alice@acme.io about it."),
        ("smith", "Write to alice.smith@acme.io about it."),
        ("uk", "Write to alice@acme.io.uk about it."),
        ("shouted", "Mail ALICE@ACME.IO today."),
        ("tkt-100", "See TKT-100 for more."),
        ("tkt-1000", "See TKT-1000 for more."),
    ] {
        world.add_named(name, text);
    }
    let plan = world.call("forget", json!({"query": "alice@acme.io"}));
    assert_eq!(names(&plan["items"]), ["shouted", "exact"]);
    assert_eq!((&plan["matched"], &plan["in_plan"]), (&json!(2), &json!(2)));
    assert_eq!(names(&world.call("forget", json!({"query": "TKT-100"}))["items"]), ["tkt-100"]);
    assert_eq!(names(&world.call("forget", json!({"query": "everything about tkt-1000"}))["items"]), ["tkt-1000"]);
}

#[test]
fn a_plan_changes_nothing_and_shows_what_it_would_take() {
    let world = World::new();
    bystanders(&world, 3);
    world.add_named("one", "AlphaService is a falcon.");
    let before = world.dump("home");
    let plan = world.call("forget", json!({"query": "falcon"}));
    assert_eq!(world.dump("home"), before);
    let totals = json!({"memories": 1, "chunks": 1, "entities": 1, "relations": 0, "bytes": plan["totals"]["bytes"]});
    assert_eq!(plan["totals"], totals);
    assert_eq!(plan["fraction"], 0.25);
    assert_eq!((&plan["purge"], &plan["blocked"]), (&json!(false), &json!([])));
    let item = &plan["items"][0];
    assert_eq!((&item["kind"], &item["name"], &item["action"]), (&json!("memory"), &json!("one"), &json!("trash")));
    assert!(item["reason"].as_str().is_some_and(|reason| !reason.is_empty()));
    let read = world.call("get_plan", json!({"plan_id": plan["plan_id"]}));
    assert_eq!((&read["items"], &read["digest"]), (&without_words(&plan["items"]), &plan["digest"]));
    assert_eq!(item["matched_words"], json!(["falcon"]));
    assert_eq!(read["totals"], plan["totals"]);
}

#[test]
fn pinned_used_updated_and_deleted_items_are_skipped_with_their_reasons() {
    let world = World::new();
    bystanders(&world, 30);
    let mut id_of = Vec::new();
    for name in ["pinned", "used", "updated", "deleted", "reviewed", "rest"] {
        id_of.push(world.add_named(name, &format!("falcon {name}")));
    }
    let plan = world.call("forget", json!({"query": "falcon"}));
    assert_eq!(plan["in_plan"], 6);
    world.call("update_memory", json!({"memory_id": "pinned", "pinned": true}));
    world.call("get_memory", json!({"memory_id": "used"}));
    world.call("update_memory", json!({"memory_id": "updated", "context": "falcon, changed"}));
    world.delete("deleted");
    world.call("get_memory", json!({"memory_id": "reviewed", "plan_id": plan["plan_id"]}));
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(applied["trashed"]["memories"], 2, "{applied}");
    assert_eq!(applied["skipped"]["count"], 4);
    let mut skipped = skips(&applied);
    skipped.sort();
    let reasons: Vec<(String, String)> = id_of
        .iter()
        .take(4)
        .zip(["pinned", "used", "changed", "trashed"])
        .map(|(id, reason)| (id.clone(), reason.to_owned()))
        .collect();
    assert_eq!(skipped, reasons);
    assert_eq!(world.listed(json!({"query": "falcon"})).len(), 3);
    assert_eq!(names(&world.call("list_trash", json!({}))["items"]).len(), 3);
    world.assert_doctor_is_content();
}

#[test]
fn a_search_hit_saves_a_memory_even_before_its_use_is_written() {
    let world = World::new();
    bystanders(&world, 10);
    let id = world.add_named("hit", "falcon");
    let plan = world.call("forget", json!({"query": "falcon"}));
    world.call("search_memory", json!({"query": "falcon", "limit": 1}));
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(skips(&applied), [(id, "used".to_owned())]);
    assert_eq!(applied["trashed"]["memories"], 0);
}

#[test]
fn applying_twice_answers_the_same_and_does_nothing_more() {
    let world = World::new();
    bystanders(&world, 10);
    world.add_named("one", "falcon one");
    world.add_named("two", "falcon two");
    let plan = world.call("forget", json!({"query": "falcon"}));
    let request = json!({"plan_id": plan["plan_id"], "exclude": ["one"]});
    let first = world.call("gc_apply", request.clone());
    let after = world.dump("home");
    assert_eq!(world.call("gc_apply", request), first);
    assert_eq!(world.call("gc_apply", json!({"plan_id": plan["plan_id"]})), first);
    world.advance_ms(3 * DAY_MS);
    assert_eq!(world.call("gc_apply", json!({"plan_id": plan["plan_id"]})), first, "expiry is for the first apply");
    assert_eq!(world.dump("home"), after);
}

#[test]
fn what_matches_only_after_the_plan_is_not_touched() {
    let world = World::new();
    bystanders(&world, 10);
    world.add_named("before", "falcon before");
    let plan = world.call("forget", json!({"query": "falcon"}));
    world.add_named("after", "falcon after");
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(applied["trashed"]["memories"], 1);
    assert_eq!(world.listed(json!({"query": "falcon"})), ["after"]);
}

#[test]
fn a_plan_expires_after_a_day() {
    let world = World::new();
    bystanders(&world, 10);
    world.add("falcon");
    let plan = world.call("forget", json!({"query": "falcon"}));
    world.advance_ms(DAY_MS + 1);
    let (code, error) = world.fails("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(code, "plan_expired");
    assert!(error.message.contains(&text_of(&plan["expires_at"])), "{error}");
    assert_eq!(world.listed(json!({"query": "falcon"})).len(), 1);
}

#[test]
fn a_plan_belongs_to_its_workspace() {
    let world = World::new();
    world.call("create_workspace", json!({"workspace_id": "other"}));
    bystanders(&world, 10);
    world.add("falcon");
    let plan = world.call("forget", json!({"query": "falcon"}));
    for operation in ["gc_apply", "get_plan"] {
        let request = json!({"workspace_id": "other", "plan_id": plan["plan_id"]});
        assert_eq!(world.fails(operation, request).0, "not_found", "{operation}");
    }
    assert_eq!(world.call("gc_apply", json!({"plan_id": plan["plan_id"]}))["trashed"]["memories"], 1);
}

#[test]
fn what_the_reviewer_excludes_is_kept_by_id_or_by_name() {
    let world = World::new();
    bystanders(&world, 30);
    let id = world.add_named("by-id", "falcon 1");
    let named = world.add_named("by-name", "falcon 2");
    world.add_named("goes", "falcon 3");
    let plan = world.call("forget", json!({"query": "falcon"}));
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "exclude": [id, "by-name"]}));
    assert_eq!(applied["trashed"]["memories"], 1);
    let mut skipped = skips(&applied);
    skipped.sort();
    assert_eq!(skipped, [(id, "excluded".to_owned()), (named, "excluded".to_owned())]);
    assert_eq!(world.listed(json!({"query": "falcon"})), ["by-name", "by-id"]);
}

#[test]
fn an_exclusion_that_names_nothing_in_the_plan_is_an_error_and_nothing_goes() {
    let world = World::new();
    bystanders(&world, 30);
    world.add_named("keep-me", "falcon 1");
    let plan = world.call("forget", json!({"query": "falcon"}));
    let error = world.refuses("gc_apply", json!({"plan_id": plan["plan_id"], "exclude": ["kep-me"]}));
    assert!(error.message.contains("kep-me") && error.message.contains("exclude"), "{error}");
    assert_eq!(world.listed(json!({"query": "falcon"})), ["keep-me"]);
}

#[test]
fn a_plan_over_the_limit_needs_allow_large_and_the_message_has_the_numbers() {
    let world = World::new();
    bystanders(&world, 70);
    let many: Vec<_> = (0..30).map(|number| json!({"context": format!("falcon number {number}")})).collect();
    world.call("add_memories", json!({ "memories": many }));
    let plan = world.call("forget", json!({"query": "falcon"}));
    assert_eq!(array(&plan["items"]).len(), 20);
    assert_eq!(plan["items_total"], 30);
    assert_eq!(plan["blocked"][0]["limit"], "plan_fraction_max");
    let (code, error) = world.fails("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(code, "limit_exceeded");
    assert!(["30", "100", "20 %", "user"].iter().all(|part| error.message.contains(part)), "{error}");
    assert_eq!(world.call("list_memories", json!({}))["total"], 100);
    let page = world.call("get_plan", json!({"plan_id": plan["plan_id"], "offset": 20, "limit": 20}));
    assert_eq!(array(&page["items"]).len(), 10);
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "allow_large": true}));
    assert_eq!(applied["trashed"]["memories"], 30);
}

#[test]
fn three_of_five_are_allowed_and_all_of_a_source_are_not() {
    let world = World::new();
    bystanders(&world, 2);
    for number in 0..3 {
        world.add(&format!("falcon {number}"));
    }
    let plan = world.call("forget", json!({"query": "falcon"}));
    assert_eq!(plan["blocked"], json!([]));
    assert_eq!(world.call("gc_apply", json!({"plan_id": plan["plan_id"]}))["trashed"]["memories"], 3);
    let rest = world.call("forget", json!({"query": "bystander"}));
    assert_eq!(rest["blocked"][0]["limit"], "last_memory");
    assert_eq!(world.fails("gc_apply", json!({"plan_id": rest["plan_id"]})).0, "limit_exceeded");
}

#[test]
fn previewed_counts_are_the_applied_counts_when_nothing_changed() {
    let world = World::new();
    world.add("SharedThing uses KeptThing.");
    bystanders(&world, 10);
    world.add("falcon: SharedThing uses OneThing, and OneThing uses TwoThing.");
    world.add("falcon: SharedThing uses OneThing too.");
    let graph = json!({"entities": [{"name": "falcon"}], "relations": [{"source": "falcon", "relation": "eats", "target": "Mouse"}]});
    world.call("import_graph", graph);
    let plan = world.call("forget", json!({"query": "falcon"}));
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    for kind in ["memories", "chunks", "entities", "relations"] {
        assert_eq!(applied["trashed"][kind], plan["totals"][kind], "{kind}: {plan:#}\n{applied:#}");
    }
    assert!(applied["trashed"]["entities"].as_i64().unwrap() >= 3, "{applied}");
    assert_eq!(applied["skipped"]["count"], 0);
    world.assert_doctor_is_content();
}

#[test]
fn trash_by_forget_then_undo_is_the_identity_also_for_revisions_and_untracked_rows() {
    let world = World::new();
    bystanders(&world, 10);
    world.add_named("now", "falcon: SharedThing uses OneThing.");
    world.add_named("once", "falcon, in the past");
    world.call("update_memory", json!({"memory_id": "once", "topic": "something", "context": "something else"}));
    let relation = json!({"source": "FalconThing", "relation": "eats", "target": "Mouse"});
    let entity = json!({"name": "FalconThing", "description": "a falcon"});
    world.call("import_graph", json!({"entities": [entity], "relations": [relation]}));
    let before = world.dump("home");
    let plan = world.call("forget", json!({"query": "falcon"}));
    let kinds: Vec<String> = array(&plan["items"]).iter().map(|item| text_of(&item["kind"])).collect();
    assert_eq!(kinds, ["memory", "revision", "entity", "relation"], "{plan:#}");
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!((&applied["trashed"]["memories"], &applied["trashed"]["revisions"]), (&json!(1), &json!(1)));
    assert_eq!(world.fails("get_memory", json!({"memory_id": "once", "revision": 1})).0, "not_found");
    assert!(!world.entities().contains(&"FalconThing".to_owned()));
    world.assert_doctor_is_content();
    let undone = world.call("gc_undo", json!({"run_id": applied["run_id"]}));
    assert_eq!(undone["restored"], json!({"memories": 1, "revisions": 1, "untracked": 2}));
    assert_eq!(world.dump("home"), before);
}

#[test]
fn pinned_memories_are_left_out_and_listed_unless_asked_for() {
    let world = World::new();
    bystanders(&world, 10);
    let id = text_of(&world.call("add_memory", json!({"context": "falcon", "pinned": true}))["memory_id"]);
    let plan = world.call("forget", json!({"query": "falcon"}));
    assert_eq!((&plan["matched"], &plan["in_plan"]), (&json!(1), &json!(0)));
    assert_eq!(ids(&plan["kept_pinned"]), [id.as_str()]);
    let plan = world.call("forget", json!({"query": "falcon", "include_pinned": true}));
    assert_eq!((&plan["in_plan"], &plan["kept_pinned"]), (&json!(1), &json!([])));
    assert_eq!(world.call("gc_apply", json!({"plan_id": plan["plan_id"]}))["trashed"]["memories"], 1);
    world.call("gc_undo", json!({ "memory_id": id }));
}

#[test]
fn filters_alone_select_and_at_least_one_thing_is_needed() {
    let world = World::new();
    bystanders(&world, 10);
    world.call("add_memory", json!({"name": "a", "context": "one", "tags": ["x"], "source": "wiki"}));
    world.call("add_memory", json!({"name": "b", "context": "two", "tags": ["x"]}));
    let found = |request: Value| names(&world.call("forget", request)["items"]);
    assert_eq!(found(json!({"tags": ["x"]})), ["b", "a"]);
    assert_eq!(found(json!({"source": "wiki"})), ["a"]);
    assert_eq!(found(json!({"tags": ["x"], "query": "two"})), ["b"]);
    assert_eq!(found(json!({"created_after": world.look("b")["created_at"]})), ["b"]);
    assert_eq!(found(json!({"query": "wiki-only-word"})), Vec::<String>::new());
    for nothing in [json!({}), json!({"query": "   "}), json!({"tags": []})] {
        world.refuses("forget", nothing);
    }
    let words_outside_the_text = json!({"context": "three", "metadata": {"owner": "zebra"}, "name": "meta"});
    world.call("add_memory", words_outside_the_text);
    assert_eq!(found(json!({"query": "zebra"})), ["meta"]);
}

#[test]
fn skipped_revisions_are_named_as_the_preview_names_them() {
    let world = World::new();
    bystanders(&world, 10);
    world.add_named("note", "falcon");
    world.call("update_memory", json!({"memory_id": "note", "topic": "owl", "context": "owl"}));
    let plan = world.call("forget", json!({"query": "falcon"}));
    let shown = text_of(&plan["items"][0]["id"]);
    assert!(shown.ends_with("@1"), "{shown}");
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "exclude": [shown]}));
    assert_eq!(skips(&applied), [(shown, "excluded".to_owned())]);
}
