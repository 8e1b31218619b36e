//! Restores: the state of the backup, less what was purged since; others keep what is theirs and lose nothing later.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rootset_provider::{Embedder, ProviderError};
use serde_json::{Value, json};

use crate::harness::{World, array, text_of};

fn create(world: &World, request: Value) -> (String, PathBuf) {
    let answer = world.call("backup_create", request);
    (text_of(&answer["backup_id"]), PathBuf::from(text_of(&answer["path"])))
}

fn restore(world: &World, backup: &str) -> Value {
    world.call("backup_restore", json!({"backup_id": backup, "confirm": true}))
}

fn busy_world() -> World {
    let world = World::new();
    world.add_named("a", "SharedThing uses OneThing.");
    world.add_named("b", "SharedThing uses TwoThing.");
    world.add_named("c", "Something else about FalconThing.");
    world.add_named("trashed", "This one is in the trash.");
    world.call(
        "add_memory",
        json!({"name": "tagged", "context": "with tags", "tags": ["x", "y"], "metadata": {"k": 1.5}}),
    );
    world.call("update_memory", json!({"memory_id": "a", "context": "SharedThing uses ThreeThing."}));
    world.call("supersede_memory", json!({"memory_id": "c", "by": "b"}));
    world.call("import_graph", json!({"entities": [{"name": "FourThing"}], "relations": []}));
    world.delete("trashed");
    world.call("create_workspace", json!({"workspace_id": "other"}));
    world.call("add_memory", json!({"workspace_id": "other", "name": "a", "context": "SharedThing uses OneThing."}));
    world
}

/// The lines of every file of a bundle.
fn lines(folder: &Path) -> BTreeMap<String, Vec<String>> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let tables = files.filter(|path| path.extension().is_some_and(|it| it == "jsonl"));
    tables
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect())
        })
        .collect()
}

#[test]
fn what_was_added_is_gone_what_was_trashed_is_live_and_what_was_purged_stays_purged() {
    for format in World::backup_formats() {
        let world = busy_world();
        let before = world.dump("home");
        let (id, _) = create(&world, json!({ "format": format }));
        world.add_named("later", "quokka");
        world.call("update_memory", json!({"memory_id": "b", "context": "changed after the backup"}));
        let run = world.delete("tagged");
        let answer = restore(&world, &id);
        assert_eq!(answer["replayed_erasures"], 0, "{answer}");
        assert_eq!(world.dump("home"), before, "{format}");
        assert_eq!(world.found("quokka"), [""; 0]);
        assert_eq!(world.found("three"), ["a"]);
        assert_eq!(world.fails("gc_undo", json!({ "run_id": run })).0, "conflict", "runs after the backup are history");
        let restored = text_of(&world.call("gc_undo", json!({"memory_id": "trashed"}))["restored"].to_string().into());
        assert!(restored.contains('1'), "the backup's own trash can be undone: {restored}");
        world.assert_doctor_is_content();

        // Every cause of a purge counts: a deletion, and one that only the retention of trash noticed.
        world.add_named("new", "numbers go on after a restore");
        let run = world.delete("tagged");
        world.call("gc_purge", json!({"run_id": run, "confirm": true}));
        let plan = world.call("forget", json!({"query": "FalconThing", "purge": true}));
        world.call("gc_apply", json!({"plan_id": plan["plan_id"], "confirm": true, "allow_large": true}));
        world.call("update_memory", json!({"memory_id": "a", "erase_previous": true}));
        let answer = restore(&world, &id);
        assert_eq!(answer["replayed_erasures"], 3, "{answer}");
        let left = world.listed(json!({"lifecycle": "all", "order_by": "created_at", "descending": false}));
        assert_eq!(left, ["a", "b", "trashed"]);
        assert_eq!(world.fails("get_memory", json!({"memory_id": "a", "revision": 1})).0, "not_found");
        let (code, _) = world.fails("add_memory", json!({"context": "Something else about FalconThing."}));
        assert_eq!(code, "conflict", "the ledger only grows");
        world.assert_doctor_is_content();
    }
}

#[test]
fn a_name_made_from_erased_text_does_not_come_back_with_a_backup() {
    for format in World::backup_formats() {
        let world = World::new();
        let memory = world.add("Zebra secrets");
        world.call("update_memory", json!({"memory_id": memory, "context": "Nothing of it"}));
        let (id, _) = create(&world, json!({ "format": format }));
        world.call("update_memory", json!({"memory_id": memory, "erase_previous": true}));
        assert_eq!(restore(&world, &id)["replayed_erasures"], 1, "{format}");
        assert_eq!(world.look(&memory)["name"], "nothing-of-it", "{format}");
    }
}

#[test]
fn a_bundle_restored_and_bundled_again_is_the_same() {
    let world = busy_world();
    let (id, first) = create(&world, json!({"format": "jsonl"}));
    restore(&world, &id);
    let (_, second) = create(&world, json!({"format": "jsonl"}));
    assert_eq!(lines(&first), lines(&second));
    for format in World::backup_formats() {
        let (id, _) = create(&world, json!({ "format": format }));
        world.add("after");
        restore(&world, &id);
        let (_, third) = create(&world, json!({"format": "jsonl"}));
        assert_eq!(lines(&first), lines(&third), "{format}");
    }
}

#[test]
fn a_lost_database_comes_back_from_its_backup_alone() {
    let lost = busy_world();
    let before = (lost.dump("home"), lost.dump("other"));
    let run = lost.delete("b");
    lost.call("gc_purge", json!({"run_id": run, "confirm": true}));
    lost.call("add_memory", json!({"name": "b", "context": "SharedThing uses TwoThing.", "restore": true}));
    let paths = World::backup_formats().iter().map(|format| create(&lost, json!({ "format": format })).1);
    let paths: Vec<PathBuf> = paths.collect();
    let now = (lost.dump("home"), lost.dump("other"));
    assert_ne!(now, before);
    for path in paths {
        let fresh = World::new();
        restore(&fresh, path.to_str().unwrap());
        assert_eq!((fresh.dump("home"), fresh.dump("other")), now);
        fresh.assert_doctor_is_content();
        // It took the ledger's key over: what was erased there does not come back here by itself.
        fresh.delete("b");
        fresh.call("gc_purge", json!({"older_than": "0", "confirm": true}));
        let (code, _) = fresh.fails("add_memory", json!({"context": "SharedThing uses TwoThing."}));
        assert_eq!(code, "conflict");
    }
}

#[test]
fn one_workspace_comes_back_and_the_others_stay_as_they_are() {
    let world = busy_world();
    let before = world.dump("other");
    let whole = World::backup_formats().iter().map(|format| json!({ "format": format }));
    for request in whole.chain([json!({"workspace_id": "other"})]) {
        let (id, _) = create(&world, request);
        let added = world.call("add_memory", json!({"workspace_id": "other", "context": "after the backup"}));
        world.add(&format!("kept {added}"));
        let default = world.dump("home");
        let request = json!({"backup_id": id, "workspace_id": "other", "confirm": true});
        assert_eq!(world.call("backup_restore", request)["workspaces"], json!(["other"]));
        assert_eq!(world.dump("other"), before);
        assert_eq!(world.dump("home"), default);
        world.assert_doctor_is_content();
    }
}

#[test]
fn a_workspace_can_be_restored_into_another() {
    let world = busy_world();
    let (default, other) = (world.dump("home"), world.dump("other"));
    let (id, _) = create(&world, json!({"workspace_id": "home"}));
    let run = world.delete("b");
    world.call("gc_purge", json!({"run_id": run, "confirm": true}));
    let now = world.dump("home");
    let request = json!({"backup_id": id, "into_workspace_id": "copy", "confirm": true});
    let answer = world.call("backup_restore", request);
    assert_eq!(answer["replayed_erasures"], 1, "what was purged in the one stays purged in the other: {answer}");
    assert_eq!(world.dump("home"), now);
    assert_eq!(world.dump("other"), other);
    let names =
        |dump: &Value| -> Vec<String> { array(&dump["listed"]).iter().map(|it| text_of(&it["name"])).collect() };
    let wanted: Vec<String> = names(&default).into_iter().filter(|name| name != "b").collect();
    assert_eq!(names(&world.dump("copy")), wanted);
    // Over one that exists, too.
    world.call("backup_restore", json!({"backup_id": id, "into_workspace_id": "other", "confirm": true}));
    assert_eq!(names(&world.dump("other")), wanted);
    world.assert_doctor_is_content();
}

#[test]
fn requests_that_make_no_sense_are_refused_and_nothing_is_done_unconfirmed() {
    let world = busy_world();
    let (id, _) = create(&world, json!({"format": "jsonl"}));
    let before = world.dump("home");
    let (code, error) = world.fails("backup_restore", json!({ "backup_id": id }));
    assert_eq!(code, "confirmation_required");
    assert_eq!(error.0.details.unwrap()["next"]["arguments"]["confirm"], true);
    world.refuses("backup_restore", json!({"backup_id": id, "into_workspace_id": "x", "confirm": true}));
    world.refuses("backup_restore", json!({"backup_id": id, "workspace_id": "NO", "confirm": true}));
    let request = json!({"backup_id": id, "workspace_id": "nowhere", "confirm": true});
    let (code, error) = world.fails("backup_restore", request);
    assert_eq!((code, &error.0.details.unwrap()["workspaces"]), ("not_found", &json!(["home", "other"])));
    assert_eq!(world.fails("backup_restore", json!({"backup_id": "20990101-x", "confirm": true})).0, "not_found");
    assert_eq!(world.dump("home"), before);
}

#[test]
fn workspaces_made_later_go_purged_ones_stay_gone_and_one_that_is_asked_for_comes_back() {
    let world = busy_world();
    let (older, _) = create(&world, json!({"format": "jsonl"}));
    world.call("create_workspace", json!({"workspace_id": "later"}));
    world.call("add_memory", json!({"workspace_id": "later", "context": "in the later one"}));
    let (newer, _) = create(&world, json!({}));
    let later = world.dump("later");
    let other = world.dump("other");
    let number = |name: &str| -> i64 {
        world.sql().scalar("SELECT workspace FROM workspaces WHERE workspace_id = ?1", &[name.into()]).unwrap()
    };
    let numbers = (number("other"), number("later"));

    assert_eq!(restore(&world, &older)["workspaces_removed"], json!(["later"]));
    assert_eq!(world.fails("list_memories", json!({"workspace_id": "later"})).0, "not_found");
    restore(&world, &newer);
    assert_eq!(world.dump("later"), later, "a newer backup brings it back");

    world.call("delete_workspace", json!({"workspace_id": "other", "confirm_phrase": "DELETE other"}));
    world.call("gc_purge", json!({"workspace_id": "other", "older_than": "0", "confirm": true}));
    assert_eq!(restore(&world, &newer)["replayed_erasures"], 1);
    assert_eq!(world.fails("list_memories", json!({"workspace_id": "other"})).0, "not_found");
    world.call("backup_restore", json!({"backup_id": newer, "workspace_id": "other", "confirm": true}));
    assert_eq!(world.dump("other"), other);
    assert_eq!((number("other"), number("later")), numbers, "their audit chains go on");
    // Once it is back, backups of it are no longer older than its purge.
    let (newest, _) = create(&world, json!({}));
    restore(&world, &newest);
    assert_eq!(world.dump("other"), other);
    world.assert_doctor_is_content();
}

#[test]
fn other_processes_see_the_restored_state_and_lose_no_later_write() {
    let world = busy_world();
    let second = world.second_process();
    let ask = |operation: &str, request: Value| second.call(&world.caller, operation, request).unwrap();
    let found = |query: &str| {
        let answer = ask("search_memory", json!({ "query": query }));
        array(&answer["results"]).iter().map(|it| text_of(&it["name"])).collect::<Vec<_>>()
    };
    let (id, _) = create(&world, json!({}));
    ask("add_memory", json!({"name": "mine", "context": "zebra"}));
    assert_eq!(found("zebra"), ["mine"]);
    assert_eq!(found("three"), ["a"]);
    restore(&world, &id);
    assert_eq!(found("zebra"), [""; 0]);
    assert_eq!(found("three"), ["a"]);
    ask("add_memory", json!({"name": "after", "context": "quagga"}));
    assert_eq!(found("quagga"), ["after"]);
    assert_eq!(world.found("quagga"), ["after"]);
    let missing = second.call(&world.caller, "get_memory", json!({"memory_id": "mine"})).unwrap_err();
    assert_eq!(missing.code.as_str(), "not_found");
    world.assert_doctor_is_content();
}

/// One direction per first letter.
#[derive(Debug)]
struct LetterEmbedder;

impl Embedder for LetterEmbedder {
    fn id(&self) -> &str {
        "letters"
    }

    fn is_local(&self) -> bool {
        true
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ProviderError> {
        let vector = |text: &&str| {
            let letter = text.bytes().find(u8::is_ascii_alphabetic).unwrap_or(b'a').to_ascii_lowercase();
            (0..26).map(|place| if place == letter - b'a' { 1.0 } else { 0.0 }).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

#[test]
fn vectors_kept_in_memory_follow_a_restore() {
    let world = World::with_embedder(Arc::new(LetterEmbedder));
    world.add_named("apple", "apple");
    world.add_named("berry", "berry");
    let (id, _) = create(&world, json!({"format": "jsonl"}));
    let nearest = |query: &str| world.found(query).first().cloned();
    assert_eq!(nearest("bzzz").as_deref(), Some("berry"));
    let run = world.delete("berry");
    world.call("gc_purge", json!({"run_id": run, "confirm": true}));
    world.add_named("bean", "bean");
    assert_eq!(nearest("bzzz").as_deref(), Some("bean"));
    restore(&world, &id);
    assert_eq!(nearest("azzz").as_deref(), Some("apple"));
    world.add_named("blue", "blue");
    assert_eq!(nearest("bzzz").as_deref(), Some("blue"));
    world.assert_doctor_is_content();
}

#[test]
fn the_audit_grows_and_stored_plans_become_invalid() {
    let world = busy_world();
    let plan = world.call("forget", json!({"query": "SharedThing"}));
    let (id, _) = create(&world, json!({}));
    world.add("one more");
    let entries = |chain: i64| -> i64 {
        world.sql().scalar("SELECT COUNT(*) FROM audit WHERE chain = ?1", &[chain.into()]).unwrap()
    };
    let before = (entries(0), entries(1));
    restore(&world, &id);
    assert_eq!((entries(0), entries(1)), (before.0 + 1, before.1 + 1));
    let (code, _) = world.fails("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(code, "not_found");
    world.assert_doctor_is_content();
}
