//! After a purge nothing of a file is left: no text, no symbol, no reference, no full-text term, in no file.

use rootset_store::driver::SearchIndex;
use serde_json::json;

use crate::harness::World;
use crate::place::{PROJECT, Place};

/// Words that occur nowhere else: as a name, as a call, as an import, in a comment, as a path.
const WORDS: [&str; 5] = ["zyxwaardvark", "quuxflamingo", "vorpalmonkey", "jabberwombat", "snarkpelican"];
/// What the full-text index keeps of them beside [`NEIGHBOURS`]: terms are stored without what they share with the term
/// before.
const TAILS: [&str; 5] = ["ardvark", "lamingo", "lmonkey", "wombat", "pelican"];
const NEIGHBOURS: [&str; 5] = ["zyxwa", "quuxf", "vorpa", "jabber", "snark"];

fn secret_text() -> String {
    format!(
        "from {import} import {import}_part\n\n\nclass Kept:\n    pass\n\n\ndef {name}(value):\n    # {comment} was here\n    return {call}(value)\n",
        import = WORDS[2],
        name = WORDS[0],
        comment = WORDS[3],
        call = WORDS[1],
    )
}

fn place_with_secret() -> Place {
    let place = Place::with(PROJECT);
    for word in NEIGHBOURS {
        place.write(&format!("{word}.py"), format!("def {word}():\n    return {word}_other()\n"));
    }
    place.write(&format!("{}.py", WORDS[4]), secret_text());
    place.index();
    assert!(WORDS.iter().all(|word| !place.world.places_with(word.as_bytes()).is_empty()));
    place
}

#[track_caller]
fn assert_is_nowhere(place: &Place) {
    for needle in WORDS.iter().chain(&TAILS) {
        assert_eq!(place.world.places_with(needle.as_bytes()), [""; 0], "`{needle}`");
    }
    place.world.assert_doctor_is_content();
}

#[test]
fn a_purge_of_a_pruned_file_leaves_no_bytes_of_it() {
    let place = place_with_secret();
    place.remove(&format!("{}.py", WORDS[4]));
    place.index();
    let plan = place.world.call("prune_memory", json!({}));
    let applied = place.world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(applied["trashed"]["memories"], 1, "{applied}");
    let purged = place.world.call("gc_purge", json!({"run_id": applied["run_id"], "confirm": true}));
    assert_eq!(purged["purged"]["memories"], 1, "{purged}");
    assert_eq!(
        (&purged["wal_clean"], &purged["receipt"]["byte_scan"]),
        (&json!(true), &json!(World::clean_scan())),
        "{purged}"
    );
    assert_is_nowhere(&place);
    assert_eq!(place.served().len(), 9);
}

#[test]
fn an_erasing_forget_of_code_leaves_no_bytes_of_it() {
    let place = place_with_secret();
    place.remove(&format!("{}.py", WORDS[4]));
    let plan = place.world.call("forget", json!({"query": WORDS[3], "kinds": ["code"], "purge": true}));
    assert_eq!(plan["matched"], 1, "{plan}");
    let request = json!({"plan_id": plan["plan_id"], "confirm": true, "allow_large": true});
    let applied = place.world.call("gc_apply", request);
    assert_eq!(applied["receipt"]["byte_scan"], World::clean_scan(), "{applied}");
    assert_is_nowhere(&place);
}

#[test]
fn a_file_that_changed_leaves_nothing_of_its_old_text_after_a_defragmentation() {
    // No revisions are kept of files: what a file no longer holds is in the free pages at most, and those are wiped.
    let place = place_with_secret();
    place.rename(&format!("{}.py", WORDS[4]), "plain.py");
    place.write("plain.py", "class Kept:\n    pass\n");
    place.index();
    let plan = place.world.call("prune_memory", json!({}));
    if plan["items_total"] != 0 {
        let applied = place.world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
        place.world.call("gc_purge", json!({"run_id": applied["run_id"], "confirm": true}));
    }
    place.world.call("defrag", json!({"confirm": true}));
    assert_is_nowhere(&place);
}

#[test]
fn a_purged_file_that_is_still_on_disk_is_indexed_again() {
    let place = Place::indexed();
    let run = place.world.delete(&place.id_of("billing.py"));
    place.world.call("gc_purge", json!({"run_id": run, "confirm": true}));
    let answer = place.index();
    assert_eq!(answer["files_indexed"], 1, "{answer}");
    assert_eq!(place.symbol_names("refund"), ["billing.refund"]);
    place.world.assert_doctor_is_content();
}

#[test]
fn a_deleted_workspace_comes_back_with_its_code_and_goes_with_it() {
    let place = Place::new();
    place.world.call("create_workspace", json!({"workspace_id": "second"}));
    place.index_with(json!({"workspace_id": "second"}));
    let phrase = json!({"workspace_id": "second", "confirm_phrase": "DELETE second"});
    let run = place.world.call("delete_workspace", phrase.clone())["run_id"].clone();
    place.world.call("gc_undo", json!({"workspace_id": "second", "run_id": run}));
    let found = place.world.call("search_code", json!({"query": "refund", "workspace_id": "second"}));
    assert_eq!(found["results"][0]["file_path"], "billing.py", "{found}");
    let run = place.world.call("delete_workspace", phrase)["run_id"].clone();
    place.world.call("gc_purge", json!({"workspace_id": "second", "run_id": run, "confirm": true}));
    for word in ["marmalade", "cancel_order", "empty_basket"] {
        assert_eq!(place.world.places_with(word.as_bytes()), [""; 0], "`{word}`");
    }
    place.world.assert_doctor_is_content();
}

#[test]
fn a_backup_holds_the_code_index_and_a_restore_brings_it_back() {
    for format in World::backup_formats() {
        let place = Place::indexed();
        let scope = rootset_trees::IndexScope::default();
        let dump = || rootset_trees::logical_dump(place.world.database.location(), "home", &scope).unwrap();
        let before = dump();
        let backup = place.world.call("backup_create", json!({ "format": format }))["backup_id"].clone();
        place.remove("billing.py");
        place.write("orders.py", "def other():\n    pass\n");
        place.index();
        place.world.call("backup_restore", json!({"backup_id": backup, "confirm": true}));
        assert_eq!(dump(), before, "{format}");
        place.world.assert_doctor_is_content();
        // The tree goes on from there.
        let answer = place.index();
        assert_eq!((&answer["files_indexed"], &answer["stale_memories"]), (&json!(1), &json!(1)), "{answer}");
        assert_eq!(place.served(), ["README.md", "orders.py", "src/lib.rs"]);
    }
}

#[test]
fn doctor_rebuilds_what_it_can_of_the_code_index() {
    let place = Place::indexed();
    let scope = rootset_trees::IndexScope::default();
    let dump = || rootset_trees::logical_dump(place.world.database.location(), "home", &scope).unwrap();
    let before = dump();
    place.world.sql().delete_search_rows(1, SearchIndex::Code, |key| key % 2 == 0).unwrap();
    assert!(!place.world.complaints().is_empty());
    place.world.call("doctor", json!({"repair": true}));
    place.world.assert_doctor_is_content();
    assert_eq!(dump(), before);
}
