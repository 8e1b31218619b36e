//! Rows that say something else than what was written: doctor, backups and `backup_verify` report them.

use std::path::PathBuf;

use rootset_model::limits::COUNT_MAX;
use serde_json::json;

use crate::harness::{World, array, text_of};

fn filled() -> World {
    let world = World::new();
    let metadata = json!({"ticket": "OPS-7"});
    world.call(
        "add_memory",
        json!({"name": "falcon", "context": "Alice owns the Falcon.", "tags": ["birds"], "metadata": metadata}),
    );
    world.add_named("owl", "The owl sleeps.");
    world.call("update_memory", json!({"memory_id": "owl", "context": "The owl is awake."}));
    let segment =
        json!({"segment_id": "s", "type": "note", "text": "the kite circles", "raw": {"text": "the kite circles"}});
    world.call("context_add", json!({"session_id": "morning", "segments": [segment]}));
    world
}

/// Changes behind our back that leave the schema and every index as they were.
const ROT: [(&str, &str); 7] = [
    ("UPDATE revisions SET context = replace(context, 'Falcon', 'Galcon')", "revision 1 of memory"),
    ("UPDATE revisions SET context = replace(context, 'sleeps', 'rleeps')", "revision 1 of memory"),
    ("UPDATE revisions SET context = replace(context, 'awake', 'cwake')", "revision 2 of memory"),
    ("UPDATE memories SET metadata = replace(metadata, 'OPS', 'NPS')", "memory"),
    ("UPDATE memories SET written_by = 'nobody' WHERE name = 'owl'", "memory"),
    ("UPDATE segment_texts SET raw = replace(raw, 'kite', 'jite')", "the text of segment"),
    ("UPDATE segments SET role = 'tool'", "segment"),
];

#[test]
fn a_text_that_rotted_is_reported_by_doctor_and_by_a_backup_of_it() {
    for (rot, named) in ROT {
        let world = filled();
        world.assert_doctor_is_content();
        assert!(world.sql().execute(rot, &[]).unwrap() > 0, "{rot}");
        assert_eq!(world.complaints(), ["seals"], "{rot}");
        let checks = world.call("doctor", json!({}));
        let seals = array(&checks["checks"]).iter().find(|check| check["id"] == "seals").unwrap().clone();
        assert!(seals["found"].to_string().contains(named), "{rot}: {seals}");
        for format in World::backup_formats() {
            let (code, error) = world.fails("backup_create", json!({ "format": format }));
            assert_eq!(code, "conflict", "{rot}: {error}");
            let details = error.details.clone().unwrap();
            assert_eq!(details["altered"], true, "{rot}: {error}");
            let verified = world.call("backup_verify", json!({"backup_id": details["backup_id"]}));
            assert_eq!(verified["ok"], false, "{rot}");
            assert!(verified["problems"].to_string().contains(named), "{rot}: {verified}");
            // It is all there is of the rest; and what rotted stays known for it.
            world.call("backup_restore", json!({"backup_id": details["backup_id"], "confirm": true}));
            assert_eq!(world.complaints(), ["seals"], "{rot}");
        }
    }
}

#[test]
fn a_text_from_before_there_were_seals_is_checked_by_its_hash() {
    let world = filled();
    world.sql().execute_batch("UPDATE revisions SET seal = NULL; UPDATE memories SET seal = NULL").unwrap();
    world.assert_doctor_is_content();
    world.sql().execute_batch("UPDATE revisions SET context = replace(context, 'Falcon', 'Galcon')").unwrap();
    assert_eq!(world.complaints(), ["seals"]);
}

#[test]
fn a_quota_has_the_range_of_an_archive_and_greater_ones_of_earlier_versions_come_back() {
    for quota in [0, COUNT_MAX + 1, i64::MAX] {
        let error = world_refusal(json!({"workspace_id": "large", "quota": {"memories": quota}}));
        assert!(error.contains("from 1 to 9007199254740992"), "{error}");
    }
    let world = filled();
    world.call("create_workspace", json!({"workspace_id": "large", "quota": {"memories": COUNT_MAX}}));
    world.sql().execute_batch(&format!("UPDATE workspaces SET quota_bytes = {}", i64::MAX)).unwrap();
    for format in World::backup_formats() {
        let created = world.call("backup_create", json!({ "format": format }));
        let id = &created["backup_id"];
        assert_eq!(world.call("backup_verify", json!({ "backup_id": id }))["ok"], true);
        world.call("backup_restore", json!({"backup_id": id, "confirm": true}));
        let listed = world.call("list_workspaces", json!({}));
        let large = array(&listed["workspaces"]).iter().find(|it| it["workspace_id"] == "large").unwrap();
        assert_eq!(large["quota"], json!({"memories": COUNT_MAX, "bytes": COUNT_MAX}), "{format}");
    }
}

fn world_refusal(request: serde_json::Value) -> String {
    World::new().refuses("create_workspace", request).to_string()
}

#[test]
fn a_backup_verifies_only_if_every_row_of_it_can_be_restored() {
    for format in World::backup_formats() {
        let world = filled();
        world.sql().execute_batch("UPDATE memories SET attempts = -1 WHERE name = 'owl'").unwrap();
        let error = world.try_call("backup_create", json!({ "format": format })).unwrap_err().to_string();
        assert!(error.contains("`attempts`") && error.contains("out of range"), "{format}: {error}");
        assert_eq!(world.call("backup_list", json!({}))["total"], 0, "{format}");
    }
}

#[test]
fn a_backup_with_an_unreadable_manifest_is_listed_as_damaged() {
    let world = filled();
    let created = world.call("backup_create", json!({}));
    let whole = world.call("backup_create", json!({}));
    // Other folders may be there, too.
    std::fs::create_dir(world.backup_folder().join("photos")).unwrap();
    let manifest = PathBuf::from(text_of(&created["path"])).join("manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let digit = text.find("\"created_at\": \"2").unwrap() + 16;
    let mut flipped = text.clone().into_bytes();
    flipped[digit] ^= 1;
    for damaged in [flipped, b"{".to_vec(), Vec::new()] {
        std::fs::write(&manifest, damaged).unwrap();
        let listed = world.call("backup_list", json!({}));
        assert_eq!(listed["backups"][0]["backup_id"], whole["backup_id"]);
        assert_eq!(array(&listed["backups"]).len(), 1, "{listed}");
        assert_eq!(listed["damaged"][0]["backup_id"], created["backup_id"], "{listed}");
        assert_eq!(world.call("backup_verify", json!({"backup_id": created["backup_id"]}))["ok"], false);
    }
    // Nobody can tell what it holds, so an erasure names it.
    let erased = world.call("forget", json!({"tags": ["birds"], "purge": true}));
    let plan = json!({"plan_id": erased["plan_id"], "confirm": true, "allow_large": true});
    let receipt = world.call("gc_apply", plan)["receipt"].clone();
    let holding = receipt["backups"].to_string();
    assert!(holding.contains(&text_of(&created["backup_id"])), "{receipt}");
}
