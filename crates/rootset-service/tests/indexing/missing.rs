//! Files that are not there: which of them a run may call stale, and what happens when they come back.

use serde_json::{Value, json};

use crate::harness::{array, text_of};
use crate::place::{BILLING, Place, counts};

fn item_paths(plan: &Value) -> Vec<String> {
    array(&plan["items"]).iter().map(|it| text_of(&it["file_path"])).collect()
}

#[test]
fn a_deleted_file_is_stale_and_leaves_the_search_at_once_and_prune_takes_it() {
    let place = Place::indexed();
    let chunks = json!(place.chunk_ids("billing.py").len());
    place.remove("billing.py");
    let answer = place.index();
    assert_eq!(counts(&answer), [3, 0, 3, 1], "{answer}");
    assert_eq!(answer["stale_memories"], 1, "{answer}");
    assert!(text_of(&answer["message"]).contains("prune_memory"), "{answer}");
    assert_eq!(place.found("refund"), [""; 0]);
    assert_eq!(place.symbols("charge").len(), 0);
    let preview = place.world.call("prune_memory", json!({}));
    assert_eq!(item_paths(&preview), ["billing.py"], "{preview}");
    assert_eq!(preview["items"][0]["chunk_count"], chunks, "{preview}");
    assert_eq!((&preview["totals"]["memories"], &preview["totals"]["chunks"]), (&json!(1), &chunks), "{preview}");
    let applied = place.world.call("gc_apply", json!({"plan_id": preview["plan_id"]}));
    assert_eq!(applied["trashed"]["memories"], 1, "{applied}");
    assert_eq!(applied["trashed"]["chunks"], chunks, "{applied}");
    place.assert_nothing_stale();
    // The next run has nothing to report, and the next prune nothing to take.
    let answer = place.index();
    assert_eq!(counts(&answer), [3, 0, 3, 0], "{answer}");
    assert_eq!(answer["stale_memories"], 0);
    assert_eq!(place.world.call("prune_memory", json!({}))["items_total"], 0);
    place.world.assert_doctor_is_content();
}

#[test]
fn stale_files_are_counted_until_they_are_pruned_but_removed_only_once() {
    let place = Place::indexed();
    place.remove("billing.py");
    place.index();
    let answer = place.index();
    assert_eq!(counts(&answer), [3, 0, 3, 0], "{answer}");
    assert_eq!(answer["stale_memories"], 1, "{answer}");
}

#[test]
fn a_file_that_comes_back_is_no_longer_stale_and_a_plan_made_before_skips_it() {
    let place = Place::indexed();
    let (memory, chunks) = (place.id_of("billing.py"), place.chunk_ids("billing.py"));
    place.remove("billing.py");
    place.index();
    let plan = place.world.call("prune_memory", json!({}));
    assert_eq!(item_paths(&plan), ["billing.py"]);
    place.write("billing.py", BILLING);
    let answer = place.index();
    assert_eq!(answer["stale_memories"], 0, "{answer}");
    assert_eq!(answer["files_seen"], 4);
    assert_eq!((place.id_of("billing.py"), place.chunk_ids("billing.py")), (memory, chunks));
    assert_eq!(place.found("refund"), ["billing.py"]);
    let applied = place.world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(applied["trashed"]["memories"], 0, "{applied}");
    assert_eq!(applied["skipped"]["count"], 1, "{applied}");
    assert_eq!(place.found("refund"), ["billing.py"]);
}

#[test]
fn a_stale_file_that_comes_back_with_other_content_keeps_its_memory() {
    let place = Place::indexed();
    let memory = place.id_of("billing.py");
    place.remove("billing.py");
    place.index();
    place.write("billing.py", "def charge(item):\n    return 'pineapple'\n");
    let answer = place.index();
    assert_eq!(counts(&answer), [4, 1, 3, 0], "{answer}");
    assert_eq!(answer["stale_memories"], 0);
    assert_eq!(place.id_of("billing.py"), memory);
    assert_eq!(place.found("pineapple"), ["billing.py"]);
}

#[test]
fn a_root_that_is_missing_or_empty_is_an_error_and_makes_nothing_stale() {
    let place = Place::indexed();
    let aside = place.beside("aside");
    std::fs::rename(place.root(), &aside).unwrap();
    for accept_missing in [false, true] {
        let request = place.request(json!({ "accept_missing": accept_missing }));
        place.world.refuses("index_codebase", request);
        place.assert_nothing_stale();
    }
    std::fs::create_dir(place.root()).unwrap();
    for accept_missing in [false, true] {
        let request = place.request(json!({ "accept_missing": accept_missing }));
        place.world.refuses("index_codebase", request);
        place.assert_nothing_stale();
    }
    std::fs::remove_dir(place.root()).unwrap();
    std::fs::rename(&aside, place.root()).unwrap();
    assert_eq!(counts(&place.index()), [4, 0, 4, 0]);
}

#[test]
fn a_file_in_the_place_of_the_root_makes_nothing_stale() {
    let place = Place::indexed();
    std::fs::rename(place.root(), place.beside("aside")).unwrap();
    std::fs::write(place.root(), "no folder").unwrap();
    place.world.refuses("index_codebase", place.request(json!({"accept_missing": true})));
    place.assert_nothing_stale();
}

#[test]
fn more_than_half_missing_marks_nothing_until_it_is_accepted() {
    let place = Place::of_files(10);
    for number in 0..6 {
        place.remove(&format!("f{number}.py"));
    }
    let answer = place.index();
    assert_eq!(answer["stale_memories"], 0, "{answer}");
    assert_eq!(answer["files_removed"], 6, "it found them missing, and says so: {answer}");
    let said = format!("{} {}", answer["message"], answer["warnings"]);
    assert!(said.contains("accept_missing") && said.contains('6'), "{answer}");
    place.assert_nothing_stale();
    assert_eq!(place.symbol_names("function_3"), ["f3.function_3"]);
    let answer = place.index_with(json!({"accept_missing": true}));
    assert_eq!(counts(&answer), [4, 0, 4, 6], "{answer}");
    assert_eq!((answer["stale_memories"].as_i64(), place.stale().len()), (Some(6), 6));
}

#[test]
fn half_missing_is_accepted() {
    let place = Place::of_files(10);
    for number in 0..5 {
        place.remove(&format!("f{number}.py"));
    }
    let answer = place.index();
    assert_eq!(counts(&answer), [5, 0, 5, 5], "{answer}");
}

#[test]
fn what_was_stale_before_does_not_count_as_missing_at_once() {
    let place = Place::of_files(10);
    for number in 0..4 {
        place.remove(&format!("f{number}.py"));
    }
    assert_eq!(place.index()["stale_memories"], 4);
    // Three of the six that were there.
    for number in 4..7 {
        place.remove(&format!("f{number}.py"));
    }
    let answer = place.index();
    assert_eq!((&answer["files_removed"], &answer["stale_memories"]), (&json!(3), &json!(7)), "{answer}");
}

#[test]
fn a_move_of_every_file_is_not_a_loss() {
    let place = Place::of_files(10);
    let before: Vec<String> = (0..10).map(|number| place.id_of(&format!("f{number}.py"))).collect();
    for number in 0..10 {
        place.rename(&format!("f{number}.py"), &format!("moved/f{number}.py"));
    }
    let answer = place.index();
    assert_eq!((&answer["files_removed"], &answer["stale_memories"]), (&json!(0), &json!(0)), "{answer}");
    let after: Vec<String> = (0..10).map(|number| place.id_of(&format!("moved/f{number}.py"))).collect();
    assert_eq!(before, after);
}

#[test]
fn changes_are_indexed_even_while_most_of_the_tree_is_missing() {
    let place = Place::of_files(10);
    for number in 0..8 {
        place.remove(&format!("f{number}.py"));
    }
    place.write("f9.py", "def pineapple():\n    pass\n");
    let answer = place.index();
    assert_eq!(answer["files_indexed"], 1, "{answer}");
    place.assert_nothing_stale();
    assert_eq!(place.found("pineapple"), ["f9.py"]);
}

#[test]
fn a_file_that_became_a_folder_or_a_link_is_gone() {
    let place = Place::indexed();
    place.remove("billing.py");
    place.write("billing.py/inner.py", "def inner_function():\n    pass\n");
    place.remove("README.md");
    std::os::unix::fs::symlink("orders.py", place.file("README.md")).unwrap();
    let answer = place.index();
    assert_eq!(answer["files_removed"], 2, "{answer}");
    assert_eq!(place.served(), ["billing.py/inner.py", "orders.py", "src/lib.rs"]);
    assert_eq!(place.stale(), ["README.md", "billing.py"]);
}

#[test]
fn a_file_that_is_not_worth_reading_any_more_leaves_the_index() {
    let place = Place::of_files(4);
    place.write("f0.py", [0_u8, 1, 2, 3, 0, 0]);
    place.write("f1.py", format!("function_1 = {}", "1 + ".repeat(2_000)));
    let answer = place.index();
    assert_eq!(place.served(), ["f2.py", "f3.py"], "{answer}");
    assert_eq!(place.symbol_names("function_0"), [""; 0]);
    place.write("f0.py", "def function_0():\n    return 5\n");
    place.index();
    assert_eq!(place.served(), ["f0.py", "f2.py", "f3.py"]);
}

#[test]
fn a_mount_that_is_not_there_makes_nothing_stale() {
    let place = Place::indexed();
    for name in ["one", "two"] {
        place.write(&format!("mounted/{name}.py"), format!("def {name}_of_the_disk():\n    pass\n"));
    }
    place.index();
    // A disk of its own needs a privilege; that the files were on one is what the index remembers.
    place.world.sql().execute("UPDATE files SET is_mounted = 1 WHERE path LIKE 'mounted/%'", &[]).unwrap();
    std::fs::remove_dir_all(place.file("mounted")).unwrap();
    for is_there in [false, true] {
        if is_there {
            std::fs::create_dir(place.file("mounted")).unwrap();
        }
        let answer = place.index_with(json!({"accept_missing": true}));
        assert_eq!((&answer["stale_memories"], &answer["files_removed"]), (&json!(0), &json!(0)), "{answer}");
        assert_eq!(place.symbol_names("two_of_the_disk"), ["mounted.two.two_of_the_disk"]);
    }
    // With the disk back, a file that is not on it is gone.
    place.write("mounted/one.py", "def one_of_the_disk():\n    pass\n");
    place.index();
    assert_eq!(place.symbol_names("one_of_the_disk"), ["mounted.one.one_of_the_disk"]);
}
