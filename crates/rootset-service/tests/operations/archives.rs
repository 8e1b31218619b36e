//! Archives from strangers: whatever is in them, nothing outside the database is touched and nothing in it is broken.

use std::path::{Path, PathBuf};

use rootset_testing::Sql;
use serde_json::{Value, json};

use crate::harness::{World, array, text_of};

fn filled() -> World {
    let world = World::new();
    world.add_named("falcon", "Project Falcon uses PostgreSQL.");
    world.add_named("alice", "Alice owns Project Falcon.");
    world.call("create_workspace", json!({"workspace_id": "other"}));
    world.call("add_memory", json!({"workspace_id": "other", "context": "elsewhere"}));
    world
}

/// Writes the file anew and makes the manifest agree with it: a forger knows how.
pub fn forge(folder: &Path, file: &str, change: impl FnOnce(String) -> String) {
    let path = folder.join(file);
    let text = change(std::fs::read_to_string(&path).unwrap());
    std::fs::write(&path, &text).unwrap();
    agree(folder, file, text.as_bytes(), text.lines().count());
}

fn agree(folder: &Path, file: &str, bytes: &[u8], rows: usize) {
    edit_manifest(folder, |manifest| {
        let files = manifest["files"].as_array_mut().unwrap();
        let entry = files.iter_mut().find(|it| it["name"] == file).unwrap();
        entry["bytes"] = bytes.len().into();
        entry["blake3"] = blake3::hash(bytes).to_hex().to_string().into();
        if let Some(table) = file.strip_suffix(".jsonl") {
            manifest["tables"][table] = rows.into();
        }
    });
}

fn edit_manifest(folder: &Path, edit: impl FnOnce(&mut Value)) {
    let path = folder.join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    edit(&mut manifest);
    manifest.as_object_mut().unwrap().remove("checksum");
    std::fs::write(path, manifest.to_string()).unwrap();
}

/// Restores a forged backup, which has to be refused without a trace.
#[track_caller]
fn refused(world: &World, format: &str, forgery: impl FnOnce(&Path), says: &str) {
    let created = world.call("backup_create", json!({ "format": format }));
    let before = (world.dump("home"), world.dump("other"));
    forgery(&PathBuf::from(text_of(&created["path"])));
    let request = json!({"backup_id": created["backup_id"], "confirm": true});
    let (code, error) = world.fails("backup_restore", request);
    let problems = error.details.as_ref().map(|it| it["problems"].to_string()).unwrap_or_default();
    assert_eq!(code, "conflict", "{error}");
    // Engines shout differently.
    assert!(problems.to_lowercase().contains(&says.to_lowercase()), "`{says}` is not in {problems}");
    assert_eq!((world.dump("home"), world.dump("other")), before);
}

#[test]
fn files_outside_the_backup_are_never_opened() {
    let world = filled();
    let secret = world.folder().join("secret.jsonl");
    std::fs::write(&secret, "{}\n").unwrap();
    for name in [secret.to_str().unwrap(), "../../secret.jsonl", "memories.jsonl/../../x", "audit.jsonl", "x.jsonl", ""]
    {
        let add = |folder: &Path| {
            edit_manifest(folder, |it| {
                let file = json!({"name": name, "bytes": 3, "blake3": blake3::hash(b"{}\n").to_hex().to_string()});
                it["files"].as_array_mut().unwrap().push(file);
            });
        };
        refused(&world, "jsonl", add, "not a file of a backup");
    }
    let link = |folder: &Path| {
        std::fs::remove_file(folder.join("uses.jsonl")).unwrap();
        std::os::unix::fs::symlink(&secret, folder.join("uses.jsonl")).unwrap();
    };
    refused(&world, "jsonl", link, "not an ordinary file");
    world.assert_doctor_is_content();
}

#[test]
fn a_snapshot_of_sqlite_that_is_a_link_is_never_opened() {
    let world = filled();
    let link = |folder: &Path| {
        let copy = world.folder().join("copy.db");
        std::fs::rename(folder.join("rootset.db"), &copy).unwrap();
        std::os::unix::fs::symlink(&copy, folder.join("rootset.db")).unwrap();
    };
    refused(&world, "snapshot", link, "not an ordinary file");
    world.assert_doctor_is_content();
}

#[test]
fn tables_and_fields_that_nobody_knows_are_refused() {
    let world = filled();
    refused(
        &world,
        "jsonl",
        |folder| edit_manifest(folder, |it| it["tables"]["audit"] = 1.into()),
        "not a table of a backup",
    );
    let field = |text: String| text.replacen('{', r#"{"surprise": 1, "#, 1);
    refused(&world, "jsonl", |folder| forge(folder, "memories.jsonl", field), "unknown field");
}

#[test]
fn a_snapshot_of_sqlite_with_more_than_our_schema_is_refused() {
    let world = filled();
    let with_trigger = |folder: &Path| {
        let path = folder.join("rootset.db");
        let sql = Sql::open(&path.as_path().into()).unwrap();
        sql.execute_batch("CREATE TRIGGER evil AFTER INSERT ON memories BEGIN DELETE FROM memories; END").unwrap();
        drop(sql);
        agree(folder, "rootset.db", &std::fs::read(path).unwrap(), 0);
    };
    refused(&world, "snapshot", with_trigger, "`evil` in its schema is not ours");
    let with_view = |folder: &Path| {
        let path = folder.join("rootset.db");
        let sql = Sql::open(&path.as_path().into()).unwrap();
        sql.execute_batch("DROP TABLE uses; CREATE VIEW uses AS SELECT 1 AS workspace").unwrap();
        drop(sql);
        agree(folder, "rootset.db", &std::fs::read(path).unwrap(), 0);
    };
    refused(&world, "snapshot", with_view, "`uses` in its schema is not ours");
}

#[test]
fn rows_that_are_no_rows_are_refused() {
    let world = filled();
    let first_line = |change: fn(&mut Value)| {
        move |text: String| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let mut row: Value = serde_json::from_str(&lines[0]).unwrap();
            change(&mut row);
            lines[0] = row.to_string();
            lines.join("\n") + "\n"
        }
    };
    type Case = (&'static str, fn(&mut Value), &'static str);
    let cases: [Case; 8] = [
        ("chunks.jsonl", |row| row["start"] = json!(-1), "out of range"),
        ("chunks.jsonl", |row| row["part"] = json!(3), "out of range"),
        ("chunks.jsonl", |row| row["start"] = json!(i64::MAX), "out of range"),
        ("memories.jsonl", |row| row["memory"] = json!("../x"), "cannot be read"),
        ("memories.jsonl", |row| row["status"] = json!("odd"), "out of range"),
        ("memories.jsonl", |row| row["workspace"] = json!("stranger"), "not in it"),
        ("revisions.jsonl", |row| row["decisions"] = json!("{"), "out of range"),
        ("workspaces.jsonl", |row| row["workspace_id"] = json!("../up"), "out of range"),
    ];
    for (file, change, says) in cases {
        refused(&world, "jsonl", |folder| forge(folder, file, first_line(change)), says);
    }
    let endless = |text: String| format!("{}{}", text.trim_end(), "x".repeat(100));
    refused(&world, "jsonl", |folder| forge(folder, "uses.jsonl", endless), "cut off");
    let long = |_: String| format!("{{\"workspace\": \"{}\"}}\n", "x".repeat(17 << 20));
    refused(&world, "jsonl", |folder| forge(folder, "uses.jsonl", long), "longer than");
}

#[test]
fn references_that_lead_nowhere_or_elsewhere_are_refused() {
    let world = filled();
    let into_other = |text: String| text.replacen(r#""workspace":"home""#, r#""workspace":"other""#, 1);
    refused(&world, "jsonl", |folder| forge(folder, "revisions.jsonl", into_other), "FOREIGN KEY");
    refused(&world, "jsonl", |folder| forge(folder, "relations.jsonl", into_other), "FOREIGN KEY");
    refused(&world, "jsonl", |folder| forge(folder, "contributions.jsonl", into_other), "FOREIGN KEY");
    let twice = |text: String| format!("{text}{}\n", text.lines().next().unwrap());
    refused(&world, "jsonl", |folder| forge(folder, "memories.jsonl", twice), "UNIQUE");
    let none = |_: String| String::new();
    refused(&world, "jsonl", |folder| forge(folder, "contributions.jsonl", none), "I7.orphans");
    refused(&world, "jsonl", |folder| forge(folder, "revisions.jsonl", none), "I8.revisions");
    refused(&world, "jsonl", |folder| forge(folder, "search_memories.jsonl", none), "I8.search_missing");
    world.assert_doctor_is_content();
    assert_eq!(array(&world.call("list_workspaces", json!({}))["workspaces"]).len(), 2);
}

/// Bundles of earlier versions call the workspace that always exists `default`, and may hold another one that is called `home`.
#[test]
fn bundle_of_an_earlier_version_brings_back_default_as_home() {
    let world = filled();
    world.call("create_workspace", json!({"workspace_id": "elsewhere"}));
    world.call("add_memory", json!({"workspace_id": "elsewhere", "name": "own", "context": "Its own home."}));
    let (home, other) = (world.dump("home"), world.dump("elsewhere"));
    let created = world.call("backup_create", json!({"format": "jsonl"}));
    let folder = PathBuf::from(text_of(&created["path"]));
    for entry in std::fs::read_dir(&folder).unwrap() {
        let file = entry.unwrap().file_name().to_string_lossy().into_owned();
        if file.ends_with(".jsonl") {
            forge(&folder, &file, with_names_of_before);
        }
    }
    world.add_named("later", "Added after the backup.");
    world.call("backup_restore", json!({"backup_id": created["backup_id"], "confirm": true}));
    assert_eq!(world.dump("home"), home);
    assert_eq!(world.dump("home-2"), other);
    assert_eq!(
        world.call("list_memories", json!({"workspace_id": "default"}))["total"],
        2,
        "the old name still leads there"
    );
    world.assert_doctor_is_content();
}

fn with_names_of_before(text: String) -> String {
    let renamed = text.lines().map(|line| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        for field in ["workspace", "workspace_id"] {
            match row[field].as_str() {
                Some("home") => row[field] = json!("default"),
                Some("elsewhere") => row[field] = json!("home"),
                _ => {}
            }
        }
        format!("{row}\n")
    });
    renamed.collect()
}
