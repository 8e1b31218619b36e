//! The erasure ledger beside the backups: what was erased after a backup does not come back in a database that never knew.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::harness::{World, array, text_of};

const SECRET: &str = "The quokka has a PrivateThing and a secret that nobody needs.";

/// Databases of tests may be copies of one, and a key is what tells databases apart.
fn new_world() -> World {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let world = World::new();
    let key = [MADE.fetch_add(1, Ordering::Relaxed).to_be_bytes(); 4].concat();
    world.sql().execute("UPDATE meta SET value = ?1 WHERE key = 'erasure_key'", &[key.as_slice().into()]).unwrap();
    world
}

fn create(world: &World, request: Value) -> PathBuf {
    PathBuf::from(text_of(&world.call("backup_create", request)["path"]))
}

fn restore_request(backup: &Path) -> Value {
    json!({"backup_id": backup, "confirm": true})
}

fn ledgers(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|it| it == "ledger")).collect()
}

fn ledger(world: &World) -> PathBuf {
    let mut found = ledgers(&world.backup_folder());
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn forget(world: &World, query: &str) -> Value {
    let plan = world.call("forget", json!({"query": query, "purge": true}));
    world.call("gc_apply", json!({"plan_id": plan["plan_id"], "confirm": true, "allow_large": true}))
}

/// A database with a backup that still holds what was erased afterwards, in every way there is.
fn erased_after(format: &str) -> (World, PathBuf) {
    let world = new_world();
    world.add_named("kept", "Something that stays.");
    world.add_named("secret", SECRET);
    world.add_named("rewritten", "An earlier wombat text.");
    world.call("update_memory", json!({"memory_id": "rewritten", "context": "A later text."}));
    world.call("import_graph", json!({"entities": [{"name": "NumbatThing"}, {"name": "Stays"}], "relations": []}));
    world.call(
        "context_add",
        json!({"session_id": "window", "segments": [{"type": "message", "text": "the bandicoot"}]}),
    );
    world.call("create_workspace", json!({"workspace_id": "doomed"}));
    world.call("add_memory", json!({"workspace_id": "doomed", "context": "gone with its workspace"}));
    let backup = create(&world, json!({ "format": format }));
    let receipt = forget(&world, "quokka")["receipt"].clone();
    assert_eq!(receipt["ledger_problem"], Value::Null, "{receipt}");
    world.call("update_memory", json!({"memory_id": "rewritten", "erase_previous": true}));
    forget(&world, "NumbatThing");
    forget(&world, "bandicoot");
    let run =
        world.call("delete_workspace", json!({"workspace_id": "doomed", "confirm_phrase": "DELETE doomed"}))["run_id"]
            .clone();
    world.call("gc_purge", json!({"workspace_id": "doomed", "run_id": run, "confirm": true}));
    (world, backup)
}

#[track_caller]
fn assert_nothing_came_back(world: &World, answer: &Value) {
    assert_eq!(answer["replayed_erasures"], 5, "{answer}");
    assert_eq!(answer["workspaces"], json!(["home"]));
    assert_eq!(world.listed(json!({"order_by": "created_at", "descending": false})), ["kept", "rewritten"]);
    assert_eq!(world.fails("get_memory", json!({"memory_id": "rewritten", "revision": 1})).0, "not_found");
    let graph = world.call("export_graph", json!({}));
    let names: Vec<&str> = array(&graph["entities"]).iter().filter_map(|it| it["name"].as_str()).collect();
    assert!(
        names.contains(&"Stays") && !names.contains(&"NumbatThing") && !names.contains(&"PrivateThing"),
        "{names:?}"
    );
    let window = world.call("context_get", json!({"session_id": "window"}));
    assert!(!window.to_string().contains("bandicoot"), "{window}");
    world.assert_doctor_is_content();
}

#[test]
fn what_was_erased_after_the_backup_does_not_come_back_in_a_new_database() {
    for format in World::backup_formats() {
        let (lost, backup) = erased_after(format);
        let new = new_world();
        let answer = new.call("backup_restore", restore_request(&backup));
        assert_nothing_came_back(&new, &answer);
        let (code, _) = new.fails("add_memory", json!({ "context": SECRET }));
        assert_eq!(code, "conflict", "the new database has the ledger, {format}");

        // The next backup of the new database has a ledger of its own, and that knows as much.
        create(&new, json!({}));
        std::fs::remove_file(ledger(&lost)).unwrap();
        std::fs::copy(ledger(&new), lost.backup_folder().join(ledger(&new).file_name().unwrap())).unwrap();
        let third = new_world();
        let answer = third.call("backup_restore", restore_request(&backup));
        assert_nothing_came_back(&third, &answer);
    }
}

#[test]
fn a_workspace_restored_under_another_name_elsewhere_stays_without_what_was_erased() {
    let (_lost, backup) = erased_after("jsonl");
    let other = new_world();
    other.add("This database is in use, and has a key of its own.");
    other.delete(&other.add("and a ledger"));
    other.call("gc_purge", json!({"older_than": "0", "confirm": true}));
    let mut request = restore_request(&backup);
    request["workspace_id"] = "home".into();
    request["into_workspace_id"] = "brought".into();
    assert_eq!(other.call("backup_restore", request)["replayed_erasures"], 4);
    let listed = json!({"workspace_id": "brought", "order_by": "created_at", "descending": false});
    assert_eq!(other.listed(listed), ["kept", "rewritten"]);
    assert_eq!(other.fails("add_memory", json!({"context": "and a ledger"})).0, "conflict", "its own key is back");
    other.assert_doctor_is_content();
}

#[test]
fn without_its_ledger_a_backup_is_restored_only_when_told_to() {
    let (lost, backup) = erased_after("jsonl");
    let file = ledger(&lost);
    let bytes = std::fs::read(&file).unwrap();
    let mut damaged = bytes.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let cases: [(&str, Option<&[u8]>); 4] = [
        ("missing", None),
        ("damaged", Some(&damaged)),
        ("cut off", Some(&bytes[..bytes.len() - 1])),
        ("empty", Some(b"")),
    ];
    for (case, content) in cases {
        match content {
            Some(content) => std::fs::write(&file, content).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
        let new = new_world();
        let (code, error) = new.fails("backup_restore", restore_request(&backup));
        assert_eq!(code, "conflict", "{case}");
        assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("without_ledger")), "{case}: {error}");
        assert_eq!(new.listed(json!({})), [""; 0], "{case}");
    }
    let new = new_world();
    let mut request = restore_request(&backup);
    request["without_ledger"] = true.into();
    assert_eq!(new.call("backup_restore", request)["replayed_erasures"], 0);
    assert!(new.listed(json!({})).contains(&"secret".to_owned()));
}

#[test]
fn a_database_that_lost_the_file_beside_its_backups_knows_its_own_erasures() {
    let (world, backup) = erased_after("jsonl");
    std::fs::remove_file(ledger(&world)).unwrap();
    let answer = world.call("backup_restore", restore_request(&backup));
    assert_nothing_came_back(&world, &answer);
}

#[test]
fn a_receipt_says_when_the_ledger_was_not_written_and_the_next_backup_writes_it() {
    let world = new_world();
    world.add_named("secret", SECRET);
    world.add_named("kept", "Something that stays.");
    let backup = create(&world, json!({"format": "jsonl"}));
    std::fs::write(ledger(&world), "not a ledger").unwrap();
    let problem = text_of(&forget(&world, "quokka")["receipt"]["ledger_problem"]);
    assert!(problem.contains("cannot be used"), "{problem}");
    assert_eq!(new_world().fails("backup_restore", restore_request(&backup)).0, "conflict");

    create(&world, json!({"format": "jsonl"}));
    let new = new_world();
    assert_eq!(new.call("backup_restore", restore_request(&backup))["replayed_erasures"], 1);
    assert_eq!(new.listed(json!({})), ["kept"]);
}

#[test]
fn databases_that_share_a_folder_have_ledgers_of_their_own_without_text_or_key() {
    let (one, other) = (new_world(), new_world());
    // Names of backups are made from the time and random numbers; here both begin alike.
    other.advance_ms(60_000);
    let mut settings = rootset_service::Settings::default();
    settings.backup.folder = Some(one.backup_folder());
    let other = other.process_with(settings);
    let caller = &one.caller;
    for (service, text) in [(&one.service, SECRET), (&other, "A numbat in another database.")] {
        let id = service.call(caller, "add_memory", json!({ "context": text })).unwrap()["memory_id"].clone();
        service.call(caller, "backup_create", json!({"format": "jsonl"})).unwrap();
        let run = service.call(caller, "delete_memory", json!({ "memory_id": id })).unwrap()["run_id"].clone();
        service.call(caller, "gc_purge", json!({"run_id": run, "confirm": true})).unwrap();
    }
    let files = ledgers(&one.backup_folder());
    assert_eq!(files.len(), 2, "{files:?}");
    let manifests: Vec<Value> = array(&one.call("backup_list", json!({}))["backups"])
        .iter()
        .map(|it| std::fs::read(Path::new(&text_of(&it["path"])).join("manifest.json")).unwrap())
        .map(|json| serde_json::from_slice(&json).unwrap())
        .collect();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text.lines().count(), 4, "a head, an erasure, a memory and its content: {text}");
        assert!(!text.contains("quokka") && !text.contains("numbat"), "{text}");
        assert!(manifests.iter().all(|it| !text.contains(it["ledger_key"].as_str().unwrap())), "{text}");
    }
}
