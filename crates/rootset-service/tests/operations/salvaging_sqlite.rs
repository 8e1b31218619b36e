//! Damaged files: what can be read is saved, and a new database is made from it.

use std::path::PathBuf;

use rootset_model::Timestamp;
use rootset_store::salvage;
use serde_json::json;

use crate::harness::{World, array, names};

const NOTES: usize = 120;

fn note(number: usize) -> String {
    format!("Note {number} speaks of Thing{number}. {}", format!("filler{number} ").repeat(60))
}

fn filled() -> World {
    let world = World::new();
    for number in 0..NOTES {
        world.call("add_memory", json!({"name": format!("n{number}"), "context": note(number), "tags": ["all"]}));
    }
    world.call("update_memory", json!({"memory_id": "n3", "context": "the third was changed"}));
    world.delete("n5");
    world.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    world
}

/// A copy of the database in which pages that hold these words are overwritten.
fn damaged_copy(world: &World, words: &[&str]) -> PathBuf {
    let path = world.folder().join("damaged.db");
    let mut bytes = std::fs::read(world.sqlite_file()).unwrap();
    for page in bytes.chunks_exact_mut(4096).skip(1) {
        let holds = |word: &&str| page.windows(word.len()).any(|window| window == word.as_bytes());
        if words.iter().any(holds) {
            page.fill(0xAB);
        }
    }
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn whatever_can_be_read_of_a_damaged_file_comes_back_whole() {
    let world = filled();
    let path = damaged_copy(&world, &["Note 40 speaks", "filler80 filler80"]);
    let before = std::fs::read(&path).unwrap();
    let folder = world.folder().join("salvaged");
    let salvaged = salvage(&path, &folder, "20270115-080000-salvage", Timestamp(world.now_ms())).unwrap();
    assert!(salvaged.damages > 0);
    assert_eq!(std::fs::read(&path).unwrap(), before, "the file is left as it is");

    let fresh = World::new();
    fresh.call("backup_restore", json!({"backup_id": salvaged.backup.path.to_str().unwrap(), "confirm": true}));
    let mut found = Vec::new();
    while found.len() % 100 == 0 {
        let request = json!({"lifecycle": "all", "limit": 100, "offset": found.len()});
        let page = names(&fresh.call("list_memories", request)["memories"]);
        assert!(!page.is_empty());
        found.extend(page);
    }
    // A page holds a few notes; its neighbours must not go with it.
    assert!(found.len() >= NOTES - 40, "{} of {NOTES} came back", found.len());
    assert!(!found.contains(&"n40".to_owned()));
    assert_eq!(fresh.look("n3")["context"], "the third was changed");
    assert_eq!(fresh.look("n100")["tags"], json!(["all"]));
    assert_eq!(fresh.found("filler100"), ["n100"]);
    assert_eq!(array(&fresh.entity("Thing100")["memory_ids"]).len(), 1);
    assert_eq!(fresh.listed(json!({"lifecycle": "trashed"})), ["n5"]);
    fresh.assert_doctor_is_content();
}

#[test]
fn a_whole_file_is_salvaged_without_loss() {
    let world = filled();
    let folder = world.folder().join("salvaged");
    let salvaged = salvage(world.sqlite_file(), &folder, "20270115-080000-salvage", Timestamp(world.now_ms())).unwrap();
    assert_eq!((salvaged.damages, salvaged.incomplete), (0, 0));
    assert_eq!(salvaged.backup.manifest.tables["memories"], NOTES as i64);
    assert_eq!(salvaged.backup.manifest.tables["revisions"], NOTES as i64 + 1);
}

#[test]
fn a_file_without_its_first_page_is_salvaged_without_loss() {
    let world = filled();
    let path = world.folder().join("headless.db");
    let mut bytes = std::fs::read(world.sqlite_file()).unwrap();
    bytes[..4096].fill(0xAB);
    std::fs::write(&path, bytes).unwrap();
    let folder = world.folder().join("salvaged");
    let salvaged = salvage(&path, &folder, "20270115-080000-salvage", Timestamp(world.now_ms())).unwrap();
    assert_eq!((salvaged.damages, salvaged.incomplete, salvaged.altered), (1, 0, 0));

    let fresh = World::new();
    fresh.call("backup_restore", json!({"backup_id": salvaged.backup.path.to_str().unwrap(), "confirm": true}));
    assert_eq!(fresh.look("n3")["context"], "the third was changed");
    assert_eq!(fresh.look("n100")["tags"], json!(["all"]));
    assert_eq!(fresh.found("filler100"), ["n100"]);
    assert_eq!(fresh.listed(json!({"lifecycle": "trashed"})), ["n5"]);
    fresh.assert_doctor_is_content();
}

#[test]
fn what_is_salvaged_although_it_rotted_is_marked() {
    let world = filled();
    let path = world.folder().join("rotten.db");
    let mut bytes = std::fs::read(world.sqlite_file()).unwrap();
    let places: Vec<usize> =
        bytes.windows(14).enumerate().filter(|(_, it)| it == b"Note 40 speaks").map(|it| it.0).collect();
    places.iter().for_each(|place| bytes[place + 5] ^= 1);
    std::fs::write(&path, bytes).unwrap();
    let folder = world.folder().join("salvaged");
    let salvaged = salvage(&path, &folder, "20270115-080000-salvage", Timestamp(world.now_ms())).unwrap();
    assert_eq!((salvaged.incomplete, salvaged.altered), (0, 1));

    let fresh = World::new();
    fresh.call("backup_restore", json!({"backup_id": salvaged.backup.path.to_str().unwrap(), "confirm": true}));
    assert_eq!(fresh.listed(json!({"tags": ["damaged"]})), ["n40"]);
    assert!(fresh.look("n40")["context"].as_str().unwrap().starts_with("Note 50 speaks of Thing40"));
    fresh.assert_doctor_is_content();
}
