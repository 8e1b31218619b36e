//! A run speaks about its own scope only: what it does not look at is unknown, and unknown is not gone.

use serde_json::{Value, json};

use crate::place::{BILLING, Place, counts, skipped};

fn files_of_tests() -> Place {
    let place = Place::new();
    place.write("tests/test_orders.py", "def test_place_order():\n    assert True\n");
    place.write("billing_test.go", "package shop\n\nfunc TestBilling() {}\n");
    place
}

#[test]
fn a_scan_of_one_language_leaves_the_others_alone() {
    let place = Place::indexed();
    let answer = place.index_with(json!({"languages": ["python"]}));
    assert_eq!(answer["files_removed"], 0, "{answer}");
    assert_eq!(answer["stale_memories"], 0, "{answer}");
    assert_eq!(place.served(), ["README.md", "billing.py", "orders.py", "src/lib.rs"]);
    assert_eq!(place.found("measure"), ["src/lib.rs"]);
    // Also when one of the others is gone: this run did not look.
    place.remove("src/lib.rs");
    let answer = place.index_with(json!({"languages": ["python"]}));
    assert_eq!(answer["stale_memories"], 0, "{answer}");
    place.assert_nothing_stale();
    assert_eq!(place.index()["stale_memories"], 1);
}

#[test]
fn a_scan_of_one_language_still_notices_what_it_looks_at() {
    let place = Place::indexed();
    place.remove("billing.py");
    let answer = place.index_with(json!({"languages": ["python", "rust"]}));
    assert_eq!((&answer["files_removed"], &answer["stale_memories"]), (&json!(1), &json!(1)), "{answer}");
    assert_eq!(place.stale(), ["billing.py"]);
}

#[test]
fn a_first_scan_of_one_language_holds_nothing_else() {
    let place = Place::new();
    let answer = place.index_with(json!({"languages": ["rust"]}));
    assert_eq!(answer["files_indexed"], 1, "{answer}");
    assert_eq!(answer["languages"], json!({"rust": 1}), "{answer}");
    assert_eq!(place.served(), ["src/lib.rs"]);
    assert_eq!(counts(&place.index())[1], 3);
}

#[test]
fn a_scan_without_tests_leaves_them_alone() {
    let place = files_of_tests();
    let answer = place.index_with(json!({"include_tests": false}));
    assert_eq!(answer["files_indexed"], 4, "{answer}");
    assert_eq!(place.served(), ["README.md", "billing.py", "orders.py", "src/lib.rs"]);
    assert_eq!(counts(&place.index())[1], 2, "tests are looked at by default");
    place.remove("tests/test_orders.py");
    let answer = place.index_with(json!({"include_tests": false}));
    assert_eq!(answer["stale_memories"], 0, "{answer}");
    assert_eq!(place.symbols("test_place_order").len(), 1);
    let answer = place.index();
    assert_eq!((&answer["files_removed"], place.stale()), (&json!(1), vec!["tests/test_orders.py".to_owned()]));
}

#[test]
fn files_above_the_size_limit_are_left_out_and_counted() {
    let place = Place::new();
    place.write("large.py", format!("def large():\n{}", "    value = 'some text'\n".repeat(200)));
    let answer = place.index_with(json!({"max_file_size": 2_000}));
    assert_eq!(answer["files_indexed"], 4, "{answer}");
    assert_eq!(skipped(&answer), 1, "{answer}");
    assert_eq!(counts(&place.index())[1], 1);
    // Smaller than the limit of the last run, larger than that of this one: not looked at, so not gone.
    place.remove("large.py");
    let answer = place.index_with(json!({"max_file_size": 2_000}));
    assert_eq!(answer["stale_memories"], 0, "{answer}");
    place.assert_nothing_stale();
    assert_eq!(place.index()["stale_memories"], 1);
}

#[test]
fn files_above_a_mebibyte_are_left_out_by_default() {
    let place = Place::new();
    let lines = "value = 'some text that fills a line of code'\n";
    place.write("below.py", lines.repeat(1_048_576 / lines.len()));
    place.write("above.py", lines.repeat(1_048_576 / lines.len() + 1));
    let answer = place.index();
    assert_eq!(skipped(&answer), 1, "{answer}");
    assert!(place.served().contains(&"below.py".to_owned()));
    assert!(!place.served().contains(&"above.py".to_owned()));
}

#[test]
fn a_file_that_grew_beyond_the_limit_is_no_longer_served_as_it_was() {
    let place = Place::indexed();
    place.write("billing.py", format!("{BILLING}\n{}", "# a comment of some length\n".repeat(200)));
    let answer = place.index_with(json!({"max_file_size": 4_000}));
    assert_eq!(answer["files_indexed"], 0, "{answer}");
    assert!(!place.served().contains(&"billing.py".to_owned()), "what is stored of it is in no tree any more");
    assert_eq!(counts(&place.index())[1], 1);
    assert!(place.served().contains(&"billing.py".to_owned()));
    place.assert_nothing_stale();
}

#[test]
fn a_file_that_moves_out_of_the_scope_is_gone_from_where_it_was() {
    let place = Place::of_files(4);
    place.rename("f0.py", "f0.md");
    let answer = place.index_with(json!({"languages": ["python"]}));
    assert_eq!(answer["files_removed"], 1, "{answer}");
    assert_eq!(place.served(), ["f1.py", "f2.py", "f3.py"]);
    place.index();
    assert_eq!(place.served(), ["f0.md", "f1.py", "f2.py", "f3.py"]);
}

#[test]
fn the_share_of_missing_files_is_that_of_the_scope() {
    let place = Place::of_files(4);
    for number in 0..12 {
        place.write(&format!("g{number}.rs"), format!("pub fn rust_{number}() {{}}\n"));
    }
    place.index();
    for number in 0..3 {
        place.remove(&format!("f{number}.py"));
    }
    // Three of four that this run knows about, though only three of sixteen of the repository.
    let answer: Value = place.index_with(json!({"languages": ["python"]}));
    let of_the_repository = place.stale().len();
    assert!(of_the_repository == 0 || answer["stale_memories"] == 3, "{answer}");
    assert_eq!(place.index()["stale_memories"], 3, "three of sixteen");
}
