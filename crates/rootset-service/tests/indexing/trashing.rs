//! Files in the trash: a scan does not see them, and an undo does not put two memories into one place.

use rootset_service::scheduler::Scheduler;
use rootset_service::{GcSettings, Settings};
use serde_json::{Value, json};

use crate::harness::{DAY_MS, array, text_of};
use crate::place::{BILLING, Place, counts};

#[track_caller]
fn conflicts(undone: &Value) -> usize {
    array(&undone["conflicts"]).len()
}

#[test]
fn a_file_trashed_by_hand_is_added_again_by_the_next_scan() {
    let place = Place::indexed();
    let memory = place.id_of("billing.py");
    let run = place.world.delete(&memory);
    assert_eq!(place.found("refund"), [""; 0]);
    let answer = place.index();
    assert_eq!(counts(&answer), [4, 1, 3, 0], "{answer}");
    assert_ne!(place.id_of("billing.py"), memory);
    assert_eq!(place.found("refund"), ["billing.py"]);
    // The old one cannot come back beside it.
    let undone = place.world.call("gc_undo", json!({ "run_id": run }));
    assert_eq!((conflicts(&undone), &undone["restored"]["memories"]), (1, &json!(0)), "{undone}");
    assert!(text_of(&undone["conflicts"][0]["reason"]).contains("path"), "{undone}");
    assert_eq!(place.symbols("refund").len(), 1);
    assert_eq!(place.served().len(), 4);
    place.world.assert_doctor_is_content();
}

#[test]
fn a_trashed_file_that_is_undone_is_unchanged_again() {
    let place = Place::indexed();
    let memory = place.id_of("billing.py");
    let run = place.world.delete(&memory);
    place.world.call("gc_undo", json!({ "run_id": run }));
    let answer = place.index();
    assert_eq!(counts(&answer), [4, 0, 4, 0], "{answer}");
    assert_eq!(place.id_of("billing.py"), memory);
    assert_eq!(place.found("refund"), ["billing.py"]);
}

#[test]
fn a_pruned_file_that_comes_back_is_a_new_memory_and_the_undo_conflicts() {
    let place = Place::indexed();
    let memory = place.id_of("billing.py");
    place.remove("billing.py");
    place.index();
    let plan = place.world.call("prune_memory", json!({}));
    let applied = place.world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    place.write("billing.py", BILLING);
    let answer = place.index();
    assert_eq!(counts(&answer), [4, 1, 3, 0], "{answer}");
    assert_ne!(place.id_of("billing.py"), memory);
    let undone = place.world.call("gc_undo", json!({"run_id": applied["run_id"]}));
    assert_eq!((conflicts(&undone), &undone["restored"]["memories"]), (1, &json!(0)), "{undone}");
    place.world.assert_doctor_is_content();
}

#[test]
fn a_pruned_file_that_is_undone_is_stale_as_it_was() {
    let place = Place::indexed();
    place.remove("billing.py");
    place.index();
    let plan = place.world.call("prune_memory", json!({}));
    let applied = place.world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    let undone = place.world.call("gc_undo", json!({"run_id": applied["run_id"]}));
    assert_eq!((conflicts(&undone), &undone["restored"]["memories"]), (0, &json!(1)), "{undone}");
    assert_eq!(place.stale(), ["billing.py"]);
    assert_eq!(place.found("refund"), [""; 0], "it is back, but its repository does not hold it");
    // The file comes back, too.
    place.write("billing.py", BILLING);
    place.index();
    place.assert_nothing_stale();
    assert_eq!(place.found("refund"), ["billing.py"]);
    place.world.assert_doctor_is_content();
}

#[test]
fn a_changed_file_in_the_trash_is_not_written_to() {
    let place = Place::indexed();
    let run = place.world.delete(&place.id_of("billing.py"));
    place.write("billing.py", "def pineapple():\n    pass\n");
    place.index();
    place.remove("billing.py");
    place.index();
    place.world.delete(&place.id_of("billing.py"));
    // Nothing living is in its place now: it comes back with the text that it had.
    let undone = place.world.call("gc_undo", json!({ "run_id": run }));
    assert_eq!(conflicts(&undone), 0, "{undone}");
    let memory = place.world.look(&place.id_of("billing.py"));
    assert!(text_of(&memory["context"]).contains("refund"), "{memory}");
    place.world.assert_doctor_is_content();
}

#[test]
fn trash_and_undo_of_all_files_is_the_identity() {
    let place = Place::indexed();
    let scope = rootset_trees::IndexScope::default();
    let dump = || rootset_trees::logical_dump(place.world.database.location(), "home", &scope).unwrap();
    let before = dump();
    let runs: Vec<String> = place.served().iter().map(|path| place.world.delete(&place.id_of(path))).collect();
    assert_eq!(dump()["files"], [""; 0]);
    assert_eq!(place.found("marmalade"), [""; 0]);
    for run in runs {
        place.world.call("gc_undo", json!({ "run_id": run }));
    }
    assert_eq!(dump(), before);
    assert_eq!(counts(&place.index()), [4, 0, 4, 0]);
}

#[test]
fn a_pinned_stale_file_is_not_pruned() {
    let place = Place::indexed();
    place.world.call("update_memory", json!({"memory_id": place.id_of("billing.py"), "pinned": true}));
    place.remove("billing.py");
    place.index();
    let plan = place.world.call("prune_memory", json!({}));
    assert_eq!(plan["items_total"], 0, "{plan}");
    assert_eq!(place.stale(), ["billing.py"]);
}

#[test]
fn retention_does_not_punch_holes_into_the_last_scan() {
    let place = Place::indexed();
    place.world.call("set_retention", json!({"source": "code_indexer", "max_age": "1d"}));
    place.world.call("set_retention", json!({"repo": "shop", "max_count": 1}));
    place.world.advance_ms(400 * crate::harness::DAY_MS);
    let plan = place.world.call("gc_plan", json!({"strategies": ["expired"]}));
    assert_eq!(plan["items_total"], 0, "{plan}");
}

#[test]
fn the_scheduler_keeps_stale_files_for_thirty_days_and_who_prunes_does_not_wait() {
    let place = Place::of_files(4);
    place.world.call("add_memory", json!({"context": "A note of the day, in another source."}));
    let gc = GcSettings { enabled: true, auto_delete: true, ..GcSettings::default() };
    let settings = Settings { gc, ..Settings::default() };
    let scheduler = Scheduler::new(place.world.process_with(settings));
    place.remove("f3.py");
    place.index();
    assert_eq!(place.stale(), ["f3.py"]);
    for day in 0..30 {
        scheduler.tick().unwrap();
        assert_eq!(place.stale(), ["f3.py"], "day {day}");
        place.world.advance_ms(DAY_MS);
    }
    // By hand, it goes at any time.
    assert_eq!(place.world.call("prune_memory", json!({}))["items_total"], 1);
    place.world.advance_ms(DAY_MS);
    scheduler.tick().unwrap();
    place.assert_nothing_stale();
}
