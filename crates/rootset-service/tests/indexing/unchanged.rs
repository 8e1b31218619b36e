//! Files that are as they were, and how little a run writes for them.

use std::fs::{File, FileTimes};
use std::time::{Duration, SystemTime};

use rootset_trees::dump::differences;
use rootset_trees::raw_dump;
use serde_json::json;

use crate::place::{ORDERS, Place, counts};

#[test]
fn an_unchanged_tree_writes_one_row() {
    let place = Place::indexed();
    place.let_time_pass();
    let before = raw_dump(place.world.database.location()).unwrap();
    let answer = place.index();
    assert_eq!(counts(&answer), [4, 0, 4, 0], "{answer}");
    let found = differences(&before, &raw_dump(place.world.database.location()).unwrap());
    assert_eq!(found.len(), 2, "one row as it was and as it is: {found:#?}");
    assert!(found.iter().all(|it| it.starts_with("repos ")), "{found:#?}");
}

#[test]
fn a_run_right_after_another_hashes_and_finds_nothing_changed() {
    let place = Place::indexed();
    let answer = place.index();
    assert_eq!(counts(&answer), [4, 0, 4, 0], "{answer}");
}

#[test]
fn a_changed_comment_costs_exactly_that_file() {
    let place = Place::indexed();
    place.let_time_pass();
    let before = place.id_of("src/lib.rs");
    place.write("orders.py", ORDERS.replace("Places an order for a marmalade", "Places an order for a jam"));
    let answer = place.index();
    assert_eq!(counts(&answer), [4, 1, 3, 0], "{answer}");
    assert_eq!(place.id_of("src/lib.rs"), before);
    assert_eq!(place.found("jam"), ["orders.py"]);
    assert_eq!(place.found("marmalade"), ["README.md"]);
    place.world.assert_doctor_is_content();
}

#[test]
fn a_touched_file_is_unchanged_and_is_not_read_again_afterwards() {
    let place = Place::indexed();
    let memory = place.world.look(&place.id_of("orders.py"));
    place.let_time_pass();
    File::options().write(true).open(place.file("orders.py")).unwrap().set_modified(SystemTime::now()).unwrap();
    let answer = place.index();
    assert_eq!(counts(&answer), [4, 0, 4, 0], "{answer}");
    assert_eq!(place.world.look(&place.id_of("orders.py")), memory);
    // Its new time has been noted: the next run writes one row again.
    place.let_time_pass();
    let before = raw_dump(place.world.database.location()).unwrap();
    place.index();
    let found = differences(&before, &raw_dump(place.world.database.location()).unwrap());
    assert!(found.len() == 2 && found.iter().all(|it| it.starts_with("repos ")), "{found:#?}");
}

/// Other bytes of the same number under the same time of modification.
fn overwrite_unnoticed(place: &Place, path: &str, from: &str, to: &str) {
    assert_eq!(from.len(), to.len());
    let modified = std::fs::metadata(place.file(path)).unwrap().modified().unwrap();
    let text = std::fs::read_to_string(place.file(path)).unwrap();
    assert!(text.contains(from));
    place.write(path, text.replace(from, to));
    let file = File::options().write(true).open(place.file(path)).unwrap();
    file.set_times(FileTimes::new().set_modified(modified)).unwrap();
}

#[test]
fn other_content_of_the_same_size_and_time_right_after_a_run_is_noticed() {
    let place = Place::indexed();
    overwrite_unnoticed(&place, "orders.py", "marmalade", "pineapple");
    assert_eq!(counts(&place.index()), [4, 1, 3, 0]);
    assert_eq!(place.found("pineapple"), ["orders.py"]);
    // And again, at once.
    overwrite_unnoticed(&place, "orders.py", "pineapple", "artichoke");
    assert_eq!(counts(&place.index()), [4, 1, 3, 0]);
    assert_eq!(place.found("artichoke"), ["orders.py"]);
}

#[test]
fn other_content_of_the_same_size_and_time_long_after_a_run_is_noticed() {
    let place = Place::indexed();
    place.let_time_pass();
    overwrite_unnoticed(&place, "orders.py", "marmalade", "pineapple");
    assert_eq!(counts(&place.index()), [4, 1, 3, 0]);
    assert_eq!(place.found("pineapple"), ["orders.py"]);
}

#[test]
fn the_services_clock_has_no_say_about_the_times_of_files() {
    // The clock of the tests is months away from that of the file system, in both directions.
    for days in [-2_000_i64, 4_000] {
        let place = Place::new();
        place.world.set_clock_ahead_ms(days * 86_400_000);
        place.index();
        overwrite_unnoticed(&place, "orders.py", "marmalade", "pineapple");
        assert_eq!(counts(&place.index()), [4, 1, 3, 0], "{days} days");
    }
}

#[test]
fn a_file_from_the_future_or_from_long_ago_is_indexed_once_and_then_unchanged() {
    let place = Place::new();
    let times =
        [SystemTime::now() + Duration::from_secs(86_400 * 400), SystemTime::UNIX_EPOCH + Duration::from_secs(5)];
    for (path, time) in ["orders.py", "billing.py"].into_iter().zip(times) {
        File::options().write(true).open(place.file(path)).unwrap().set_modified(time).unwrap();
    }
    place.index();
    place.let_time_pass();
    assert_eq!(counts(&place.index()), [4, 0, 4, 0]);
    overwrite_unnoticed(&place, "orders.py", "marmalade", "pineapple");
    assert_eq!(counts(&place.index()), [4, 1, 3, 0]);
}

#[test]
fn a_file_that_is_copied_over_with_its_times_is_noticed() {
    // As by `cp -p` or an archive: an older time than before.
    let place = Place::indexed();
    place.let_time_pass();
    place.write("new.py", ORDERS.replace("marmalade", "pineapple"));
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    File::options().write(true).open(place.file("new.py")).unwrap().set_modified(old).unwrap();
    place.rename("new.py", "orders.py");
    assert_eq!(counts(&place.index()), [4, 1, 3, 0]);
    assert_eq!(place.found("pineapple"), ["orders.py"]);
}

#[test]
fn chunks_whose_text_is_unchanged_keep_their_ids() {
    let place = Place::indexed();
    let before = place.chunk_ids("orders.py");
    place.write("orders.py", format!("# A new first line.\n{ORDERS}\n\ndef appended():\n    return 4\n"));
    place.index();
    let after = place.chunk_ids("orders.py");
    let kept = before.iter().filter(|id| after.contains(id)).count();
    // The module's head has another text now; every function and method has the one that it had.
    assert!(kept + 1 >= before.len(), "{before:?} {after:?}");
    assert_eq!(after.len(), before.len() + 1, "{before:?} {after:?}");
    let memory = place.world.look(&place.id_of("orders.py"));
    assert_eq!(memory["version"], 2, "{memory}");
}

#[test]
fn files_read_by_another_version_of_the_extractor_are_read_again() {
    let place = Place::indexed();
    place.let_time_pass();
    let (memory, chunks) = (place.id_of("orders.py"), place.chunk_ids("orders.py"));
    let sql = place.world.sql();
    sql.execute("UPDATE files SET extractor = extractor - 1 WHERE path IN ('orders.py', 'src/lib.rs')", &[]).unwrap();
    sql.execute("UPDATE symbols SET signature = 'as it was read before'", &[]).unwrap();
    let answer = place.index();
    assert_eq!(counts(&answer), [4, 2, 2, 0], "{answer}");
    assert_eq!(place.symbols("Basket.add_item")[0]["signature"], "def add_item(self, item)");
    assert_eq!((place.id_of("orders.py"), place.chunk_ids("orders.py")), (memory, chunks));
    assert_eq!(counts(&place.index()), [4, 0, 4, 0]);
}

#[test]
fn a_removed_function_goes_with_chunk_and_symbol_and_the_others_keep_theirs() {
    let place = Place::indexed();
    let (memory, before) = (place.id_of("orders.py"), place.chunk_ids("orders.py"));
    let without = ORDERS.replace("def cancel_order(item):\n    return None\n\n\n", "");
    assert_ne!(without, ORDERS);
    place.write("orders.py", without);
    let answer = place.index();
    assert_eq!(counts(&answer), [4, 1, 3, 0], "{answer}");
    assert_eq!(answer["stale_memories"], 0);
    assert_eq!(place.id_of("orders.py"), memory);
    let after = place.chunk_ids("orders.py");
    assert_eq!(after.len(), before.len() - 1);
    assert!(after.iter().all(|id| before.contains(id)), "{before:?} {after:?}");
    assert_eq!(place.found("cancel"), [""; 0]);
    assert_eq!(place.symbol_names("orders.cancel_order"), [""; 0]);
    assert_eq!(place.world.fails("get_entity", json!({"entity_id": "orders.cancel_order"})).0, "not_found");
    place.world.assert_doctor_is_content();
}

#[test]
fn a_file_that_changes_back_and_forth_ends_as_it_was() {
    let place = Place::indexed();
    let memory = place.id_of("billing.py");
    let text = std::fs::read_to_string(place.file("billing.py")).unwrap();
    for round in 0..4 {
        place.write("billing.py", format!("def other_{round}():\n    pass\n"));
        place.index();
        place.write("billing.py", &text);
        place.index();
    }
    assert_eq!(place.id_of("billing.py"), memory);
    assert_eq!(place.symbol_names("refund"), ["billing.refund"]);
    assert_eq!(place.served().len(), 4);
    place.world.assert_doctor_is_content();
}
