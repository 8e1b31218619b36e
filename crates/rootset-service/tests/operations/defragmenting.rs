//! Defragmentation: everything is still there, in no more room than it would need in a new database.

use serde_json::json;

use rootset_testing::TestEngine;

use crate::harness::World;

fn note(number: usize) -> String {
    let words: Vec<String> = (0..40).map(|place| format!("word{}", (number * 31 + place * 17) % 977)).collect();
    format!("Note{number} says {}.", words.join(" "))
}

fn add(world: &World, numbers: impl Iterator<Item = usize>) {
    let memories: Vec<_> =
        numbers.map(|number| json!({"name": format!("n{number}"), "context": note(number)})).collect();
    world.call("add_memories", json!({ "memories": memories }));
}

fn bytes_of_file(world: &World) -> u64 {
    world.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    std::fs::metadata(world.sqlite_file()).unwrap().len()
}

/// What a rebuild makes smaller for certain. A server vacuums by itself whenever it likes, and keeps maps of each table it has
/// vacuumed: the size of a small database says little there, that of its indexes says it all.
fn room(world: &World) -> i64 {
    match TestEngine::chosen() {
        TestEngine::Sqlite => bytes_of_file(world) as i64,
        TestEngine::Postgres => {
            world.sql().scalar("SELECT sum(pg_indexes_size(relid))::BIGINT FROM pg_stat_user_tables", &[]).unwrap()
        }
    }
}

/// A database of which two thirds were purged.
fn fragmented() -> World {
    let world = World::new();
    add(&world, 0..600);
    for number in (0..600).filter(|number| number % 3 != 0) {
        world.delete(&format!("n{number}"));
    }
    world.call("gc_purge", json!({"older_than": "0", "confirm": true}));
    world
}

#[test]
fn a_defragmentation_keeps_everything_in_less_room_and_is_asked_for_twice() {
    let world = fragmented();
    let (before, room_before) = (world.dump("home"), room(&world));
    assert_eq!(world.fails("defrag", json!({})).0, "confirmation_required");
    let answer = world.call("defrag", json!({"confirm": true}));
    assert_eq!(world.dump("home"), before);
    let room_after = room(&world);
    assert!(room_after < room_before, "{room_before} bytes, then {room_after}: {answer}");
    let purged: i64 = world.sql().scalar("SELECT value FROM counters WHERE name = 'purged_chunks'", &[]).unwrap();
    assert_eq!(purged, 0);
    world.assert_doctor_is_content();
}

#[test]
fn a_defragmented_file_of_sqlite_is_hardly_larger_than_a_new_one() {
    let world = fragmented();
    // A new database has no runs, plans and ledger to keep.
    world.sql().execute_batch("DELETE FROM plan_items; DELETE FROM plans; DELETE FROM runs; DELETE FROM erased_contents; DELETE FROM erasures; DELETE FROM audit;").unwrap();
    world.call("defrag", json!({"confirm": true}));
    let fresh = World::new();
    add(&fresh, (0..600).filter(|number| number % 3 == 0));
    let (here, there) = (bytes_of_file(&world), bytes_of_file(&fresh));
    assert!(here as f64 <= 1.05 * there as f64, "{here} bytes, a new database has {there}");
    world.assert_doctor_is_content();
}

#[test]
fn others_go_on_reading_and_writing_after_a_rebuild() {
    let world = World::new();
    add(&world, 0..20);
    let second = world.second_process();
    let ask = |operation: &str, request| second.call(&world.caller, operation, request).unwrap();
    ask("search_memory", json!({"query": "Note7"}));
    world.call("defrag", json!({"confirm": true}));
    assert_eq!(ask("search_memory", json!({"query": "Note7"}))["results"][0]["name"], "n7");
    ask("add_memory", json!({"name": "after", "context": "after the rebuild"}));
    assert_eq!(world.found("rebuild"), ["after"]);
    world.assert_doctor_is_content();
}
