//! What the doctor finds, and what a repair makes good.

use rootset_store::driver::SearchIndex;

use crate::harness::{World, segment};

fn filled() -> World {
    let world = World::new();
    world.add("one", vec![segment("a", "falcon"), segment("b", "owl")]);
    world.stash("one", "a");
    assert_eq!(world.broken(), Vec::<&str>::new());
    world
}

#[test]
fn missing_rows_are_found() {
    for damage in [
        "DELETE FROM segment_texts WHERE segment = 2",
        "DELETE FROM segments WHERE segment = 2",
        "INSERT INTO ledger VALUES (1, 99, 1, 1, 'x', 1, 'stash', 1, 'x')",
    ] {
        let world = filled();
        world.sql().execute_batch(damage).unwrap();
        assert!(world.broken().contains(&"I8.segments"), "{damage}: {:?}", world.broken());
    }
    let world = filled();
    world
        .sql()
        .execute_batch(
            "UPDATE segments SET trashed_run = X'00000000000000000000000000000001', trashed_at = 1 WHERE segment = 2",
        )
        .unwrap();
    assert_eq!(world.broken(), ["I9.runs"]);
    world.sql().execute_batch("DELETE FROM segments; DELETE FROM segment_texts").unwrap();
    world.sql().delete_search_rows(1, SearchIndex::Stash, |_| true).unwrap();
    assert_eq!(world.broken(), ["counters"]);
}

#[test]
fn stray_texts_and_lines_are_removed_by_a_repair() {
    let world = filled();
    let damage = "DELETE FROM segments WHERE segment = 2;
                  INSERT INTO ledger VALUES (1, 99, 1, 1, 'x', 1, 'stash', 1, 'x')";
    world.sql().execute_batch(damage).unwrap();
    world.store.repair_rows(rootset_model::Timestamp(1)).unwrap();
    assert_eq!(world.broken(), Vec::<&str>::new());
}

#[test]
fn full_text_of_the_stash_is_repaired_both_ways() {
    let world = filled();
    world.sql().delete_search_rows(1, SearchIndex::Stash, |_| true).unwrap();
    world.sql().insert_search_row(1, SearchIndex::Stash, 77, "ghost").unwrap();
    assert_eq!(world.broken(), ["I8.search_missing", "I8.search_superfluous"]);
    let missing = world.store.unindexed_texts().unwrap();
    assert_eq!(missing.iter().map(|it| (it.key, it.body.as_str())).collect::<Vec<_>>(), [(1, "falcon")]);
    world.store.repair_search(&missing).unwrap();
    assert_eq!((world.broken(), world.found(&["falcon"])), (Vec::new(), vec!["a".to_owned()]));
}
