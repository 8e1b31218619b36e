//! Backups: made while others write, found by their manifests, checked to the byte, and removed when newer ones verify.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rootset_model::Timestamp;
use rootset_service::FrontEnd;
use serde_json::{Value, json};

use crate::harness::{DAY_MS, World, array, text_of};

fn filled() -> World {
    let world = World::new();
    world.add_named("falcon", "Project Falcon uses PostgreSQL.");
    world.add_named("alice", "Alice owns Project Falcon.");
    world
}

fn created(world: &World, request: Value) -> (String, PathBuf) {
    let answer = world.call("backup_create", request);
    assert_eq!(answer["verified"], true);
    (text_of(&answer["backup_id"]), PathBuf::from(text_of(&answer["path"])))
}

fn problems(world: &World, backup: &str) -> Vec<String> {
    let answer = world.call("backup_verify", json!({ "backup_id": backup }));
    let problems: Vec<String> = array(&answer["problems"]).iter().map(text_of).collect();
    assert_eq!(answer["ok"], problems.is_empty());
    problems
}

fn edit_manifest(folder: &Path, edit: impl FnOnce(&mut Value)) {
    let path = folder.join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    edit(&mut manifest);
    manifest.as_object_mut().unwrap().remove("checksum");
    std::fs::write(path, manifest.to_string()).unwrap();
}

#[test]
fn a_backup_is_private_listed_and_verifies() {
    let world = filled();
    for format in World::backup_formats() {
        let (id, path) = created(&world, json!({ "format": format }));
        assert_eq!(problems(&world, &id), [""; 0]);
        assert_eq!(path.parent().unwrap(), world.backup_folder());
        for (path, mode) in [(world.backup_folder(), 0o700), (path.clone(), 0o700)] {
            assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, mode);
        }
        for entry in std::fs::read_dir(&path).unwrap() {
            assert_eq!(entry.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
    let listed = world.call("backup_list", json!({}));
    let shown: Vec<(&str, i64)> = array(&listed["backups"])
        .iter()
        .map(|it| (it["format"].as_str().unwrap(), it["memories"].as_i64().unwrap()))
        .collect();
    let made: Vec<(&str, i64)> = World::backup_formats().iter().rev().map(|format| (*format, 2)).collect();
    assert_eq!(shown, made, "newest first");
    let operations: i64 =
        world.sql().scalar("SELECT COUNT(*) FROM audit WHERE chain = 0 AND operation = 'backup_create'", &[]).unwrap();
    assert_eq!(operations, made.len() as i64);
    world.assert_doctor_is_content();
}

#[test]
fn a_snapshot_is_of_the_whole_and_a_bundle_may_be_of_one_workspace() {
    let world = filled();
    world.refuses("backup_create", json!({"format": "snapshot", "workspace_id": "home"}));
    world.refuses("backup_create", json!({"format": "zip"}));
    world.refuses("backup_list", json!({"workspace_id": "home"}));
    world.refuses("defrag", json!({"workspace_id": "home"}));
    assert_eq!(world.fails("backup_create", json!({"workspace_id": "nowhere"})).0, "not_found");
    world.call("create_workspace", json!({"workspace_id": "other"}));
    world.call("add_memory", json!({"workspace_id": "other", "context": "elsewhere"}));
    let (_, path) = created(&world, json!({"workspace_id": "other"}));
    let memories = std::fs::read_to_string(path.join("memories.jsonl")).unwrap();
    assert_eq!(memories.lines().count(), 1);
    let line: Value = serde_json::from_str(&memories).unwrap();
    assert_eq!(line["workspace"], "other");
    assert!(line["memory"].as_str().unwrap().len() == 36, "ids are text: {line}");
}

#[track_caller]
fn assert_noticed(world: &World, format: &str, change: &dyn Fn(&Path), says: &str) {
    let (id, path) = created(world, json!({ "format": format }));
    change(&path);
    let found = problems(world, &id);
    assert!(found.iter().any(|it| it.contains(says)), "`{says}` is not in {found:?}");
    let (code, error) = world.fails("backup_restore", json!({"backup_id": id, "confirm": true}));
    assert_eq!(code, "conflict", "{error}");
}

fn flip(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn whatever_is_changed_in_a_snapshot_of_sqlite_is_noticed() {
    let world = filled();
    let noticed = |change: &dyn Fn(&Path), says: &str| assert_noticed(&world, "snapshot", change, says);
    noticed(&|folder| flip(&folder.join("rootset.db")), "checksum");
    noticed(&|folder| edit_manifest(folder, |it| it["tables"]["memories"] = 7.into()), "`memories` has 2");
    noticed(&|folder| edit_manifest(folder, |it| it["schema_version"] = 1.into()), "the manifest says 1");
    world.assert_doctor_is_content();
}

#[test]
fn whatever_is_changed_in_a_backup_is_noticed() {
    let world = filled();
    let noticed = |format: &str, change: &dyn Fn(&Path), says: &str| assert_noticed(&world, format, change, says);
    noticed("jsonl", &|folder| flip(&folder.join("revisions.jsonl")), "checksum");
    noticed("jsonl", &|folder| std::fs::remove_file(folder.join("chunks.jsonl")).unwrap(), "missing");
    noticed("jsonl", &|folder| std::fs::write(folder.join("extra.jsonl"), "{}").unwrap(), "not in the manifest");
    noticed("jsonl", &|folder| edit_manifest(folder, |it| it["tables"]["memories"] = 1.into()), "more than the 1 rows");
    for format in World::backup_formats() {
        noticed(format, &|folder| edit_manifest(folder, |it| it["schema_version"] = 99.into()), "later version");
        noticed(format, &|folder| edit_manifest(folder, |it| it["format"] = 2.into()), "format 2");
        noticed(format, &|folder| edit_manifest(folder, |it| it["surprise"] = 2.into()), "surprise");
    }
    world.assert_doctor_is_content();
}

#[test]
fn ids_stay_within_the_folder_and_paths_are_for_the_command_line() {
    let mut world = filled();
    let (id, path) = created(&world, json!({}));
    let elsewhere = world.folder().join("carried-away");
    std::fs::rename(&path, &elsewhere).unwrap();
    assert_eq!(world.fails("backup_verify", json!({ "backup_id": id })).0, "not_found");
    assert_eq!(problems(&world, elsewhere.to_str().unwrap()), [""; 0]);
    for front_end in [FrontEnd::Http, FrontEnd::Mcp] {
        world.caller.front_end = front_end;
        for path in [elsewhere.to_str().unwrap(), "../carried-away", "./x", "..", "."] {
            world.refuses("backup_verify", json!({ "backup_id": path }));
            world.refuses("backup_restore", json!({"backup_id": path, "confirm": true}));
        }
        std::os::unix::fs::symlink(&elsewhere, world.backup_folder().join("link")).ok();
        assert_eq!(world.fails("backup_verify", json!({"backup_id": "link"})).0, "not_found");
        assert_eq!(world.call("backup_list", json!({}))["total"], 0);
    }
}

#[test]
fn old_backups_go_when_enough_newer_ones_verify() {
    let world = filled();
    let ids: Vec<String> = (0..5)
        .map(|_| {
            world.advance_ms(10 * DAY_MS);
            created(&world, json!({})).0
        })
        .collect();
    let now = Timestamp(world.now_ms());
    let listed = || -> Vec<String> {
        array(&world.call("backup_list", json!({}))["backups"]).iter().map(|it| text_of(&it["backup_id"])).collect()
    };
    for entry in std::fs::read_dir(world.backup_folder().join(&ids[4])).unwrap() {
        let path = entry.unwrap().path();
        if !path.ends_with("manifest.json") {
            std::fs::write(path, "damaged").unwrap();
        }
    }
    let removed = world.service.prune_backups(now).unwrap();
    assert_eq!(removed, [ids[0].clone()], "the newest does not verify, so three others stay beside it");
    assert_eq!(listed(), [&ids[4], &ids[3], &ids[2], &ids[1]].map(Clone::clone));
    assert_eq!(world.service.prune_backups(now).unwrap(), [""; 0]);
}

#[test]
fn a_backup_of_nothing_pushes_no_other_out() {
    let world = World::new();
    world.add_named("only", "only");
    let (full, _) = created(&world, json!({}));
    let run = world.delete("only");
    world.call("gc_purge", json!({"run_id": run, "confirm": true}));
    for _ in 0..4 {
        world.advance_ms(10 * DAY_MS);
        created(&world, json!({}));
    }
    world.service.prune_backups(Timestamp(world.now_ms() + 30 * DAY_MS)).unwrap();
    let left = world.call("backup_list", json!({}));
    assert_eq!((&left["total"], &left["backups"][0]["backup_id"]), (&json!(1), &json!(full)));
}

#[test]
fn receipts_can_name_the_backups_that_may_hold_what_was_erased() {
    let world = filled();
    let (before, _) = created(&world, json!({}));
    let erased_at = Timestamp(world.now_ms());
    created(&world, json!({}));
    let holding = world.service.backups_that_may_hold(&["home"], erased_at).unwrap();
    assert_eq!(holding.len(), 1);
    assert_eq!((&holding[0].backup_id, holding[0].expires_at), (&before, Timestamp(erased_at.0 + 7 * DAY_MS)));
}

#[test]
fn a_writer_goes_on_while_a_backup_is_made() {
    let world = filled();
    let second = world.second_process();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0..30 {
                second.call(&world.caller, "add_memory", json!({"context": format!("note {number}")})).unwrap();
            }
        });
        while !writer.is_finished() {
            for format in World::backup_formats() {
                let (id, _) = created(&world, json!({ "format": format }));
                assert_eq!(problems(&world, &id), [""; 0]);
            }
        }
    });
    assert_eq!(world.call("list_memories", json!({}))["total"], 32);
    world.assert_doctor_is_content();
}
