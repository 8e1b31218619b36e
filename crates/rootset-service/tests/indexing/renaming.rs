//! Files that move keep their memory, their chunks and their uses.

use serde_json::json;

use crate::place::{BILLING, Place, counts};

#[test]
fn a_renamed_file_keeps_its_memory_under_the_new_path() {
    let place = Place::indexed();
    let (memory, chunks) = (place.id_of("billing.py"), place.chunk_ids("billing.py"));
    place.rename("billing.py", "money/payment.py");
    let answer = place.index();
    assert_eq!((&answer["files_removed"], &answer["stale_memories"]), (&json!(0), &json!(0)), "{answer}");
    assert_eq!(place.served(), ["README.md", "money/payment.py", "orders.py", "src/lib.rs"]);
    assert_eq!((place.id_of("money/payment.py"), place.chunk_ids("money/payment.py")), (memory.clone(), chunks));
    // Names follow the path.
    assert_eq!(place.symbol_names("refund"), ["money.payment.refund"]);
    assert_eq!(place.found("payment"), ["money/payment.py"]);
    let read = place.world.look(&memory);
    assert_eq!((&read["file_path"], &read["topic"]), (&json!("money/payment.py"), &json!("money/payment.py")));
    place.world.assert_doctor_is_content();
}

#[test]
fn files_of_equal_content_are_matched_by_base_name_and_then_by_path() {
    let place =
        Place::with([("a/one.py", BILLING), ("b/two.py", BILLING), ("c/three.py", BILLING), ("kept.py", "x = 1\n")]);
    place.index();
    let [one, two, three] = ["a/one.py", "b/two.py", "c/three.py"].map(|path| place.id_of(path));
    place.rename("a/one.py", "z/first.py");
    place.rename("b/two.py", "y/second.py");
    place.rename("c/three.py", "x/three.py");
    let answer = place.index();
    assert_eq!(answer["stale_memories"], 0, "{answer}");
    // The one that kept its name first; then in the order of the paths, old and new.
    assert_eq!(place.id_of("x/three.py"), three);
    assert_eq!(place.id_of("y/second.py"), one);
    assert_eq!(place.id_of("z/first.py"), two);
}

#[test]
fn a_copy_is_a_new_memory() {
    let place = Place::indexed();
    let memory = place.id_of("billing.py");
    place.write("copy.py", BILLING);
    let answer = place.index();
    assert_eq!(counts(&answer), [5, 1, 4, 0], "{answer}");
    assert_eq!(place.id_of("billing.py"), memory);
    assert_ne!(place.id_of("copy.py"), memory);
}

#[test]
fn files_that_change_places_stay_what_their_paths_say() {
    let place = Place::indexed();
    let before = ["orders.py", "billing.py"].map(|path| place.id_of(path));
    place.rename("orders.py", "aside");
    place.rename("billing.py", "orders.py");
    place.rename("aside", "billing.py");
    place.index();
    assert_eq!(["orders.py", "billing.py"].map(|path| place.id_of(path)), before);
    assert_eq!(place.symbol_names("refund"), ["orders.refund"]);
    assert_eq!(place.symbol_names("cancel_order"), ["billing.cancel_order"]);
    place.assert_nothing_stale();
    place.world.assert_doctor_is_content();
}

#[test]
fn a_moved_file_with_other_content_is_another_file() {
    let place = Place::indexed();
    let memory = place.id_of("billing.py");
    place.remove("billing.py");
    place.write("payment.py", format!("{BILLING}\n# more\n"));
    let answer = place.index();
    assert_eq!(counts(&answer), [4, 1, 3, 1], "{answer}");
    assert_ne!(place.id_of("payment.py"), memory);
    assert_eq!(place.stale(), ["billing.py"]);
}

#[test]
fn empty_files_move_like_others_and_never_become_one() {
    let place = Place::with([("a/__init__.py", ""), ("b/__init__.py", ""), ("kept.py", "x = 1\n")]);
    place.index();
    assert_eq!(place.served().len(), 3);
    place.rename("a/__init__.py", "c/__init__.py");
    let answer = place.index();
    assert_eq!(answer["stale_memories"], 0, "{answer}");
    assert_eq!(place.served(), ["b/__init__.py", "c/__init__.py", "kept.py"]);
}

#[test]
fn a_file_that_moves_onto_the_path_of_a_stale_one_is_served_once() {
    let place = Place::of_files(6);
    place.remove("f0.py");
    place.index();
    assert_eq!(place.stale(), ["f0.py"]);
    place.rename("f1.py", "f0.py");
    place.index();
    assert_eq!(place.served(), ["f0.py", "f2.py", "f3.py", "f4.py", "f5.py"]);
    assert_eq!(place.symbol_names("function_1"), ["f0.function_1"]);
    place.world.assert_doctor_is_content();
    // And back again.
    place.rename("f0.py", "f1.py");
    place.write("f0.py", "def function_0():\n    return 0\n");
    place.index();
    assert_eq!(place.served().len(), 6);
    place.assert_nothing_stale();
    place.world.assert_doctor_is_content();
}

#[test]
fn a_stale_file_found_again_elsewhere_is_there_again() {
    let place = Place::of_files(6);
    let text = std::fs::read(place.file("f0.py")).unwrap();
    place.remove("f0.py");
    place.index();
    place.write("sub/f0.py", text);
    place.index();
    assert_eq!(place.served().len(), 6);
    assert_eq!(place.symbol_names("function_0"), ["sub.f0.function_0"]);
    place.world.assert_doctor_is_content();
}

#[test]
fn a_moved_file_keeps_its_uses() {
    let place = Place::indexed();
    let memory = place.id_of("billing.py");
    for _ in 0..3 {
        place.world.call("get_memory", json!({ "memory_id": memory }));
    }
    place.world.service.flush_uses().unwrap();
    assert_eq!(place.world.look(&memory)["use_count"], 3);
    place.rename("billing.py", "payment.py");
    place.index();
    place.write("payment.py", format!("{BILLING}\n\ndef more():\n    pass\n"));
    place.index();
    assert_eq!(place.world.look(&place.id_of("payment.py"))["use_count"], 3);
}
