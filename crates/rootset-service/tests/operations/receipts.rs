//! Signed receipts, and backups that are rewritten without what was erased.

use std::path::{Path, PathBuf};

use rootset_service::receipts::{ReceiptDocument, verify_receipt};
use serde_json::{Value, json};

use crate::harness::{World, array, text_of};

const SECRET: &str = "Alice Quokka lives at 12 Wombat Street and likes nobody to know it.";

/// The text in two of three workspaces, in the trash of one, and in a backup of each format. A database of its own key:
/// databases of tests may be copies of one.
fn backed_up() -> (World, Vec<PathBuf>) {
    let world = World::new();
    let key: [u8; 32] = std::array::from_fn(|place| (place as u8) ^ (world.folder().as_os_str().len() as u8));
    world.sql().execute("UPDATE meta SET value = ?1 WHERE key = 'erasure_key'", &[key.as_slice().into()]).unwrap();
    for workspace in ["acme", "beta"] {
        world.call("create_workspace", json!({"workspace_id": workspace}));
    }
    for workspace in ["home", "acme", "beta"] {
        world
            .call("add_memory", json!({"workspace_id": workspace, "name": "kept", "context": "Something that stays."}));
    }
    for (workspace, name) in [("home", "secret"), ("acme", "secret"), ("acme", "trashed")] {
        // One sentence: of two, the second would stay.
        let context = format!("{}, in {workspace} as {name}.", SECRET.trim_end_matches('.'));
        world.call("add_memory", json!({"workspace_id": workspace, "name": name, "context": context}));
    }
    world.call("delete_memory", json!({"workspace_id": "acme", "memory_id": "trashed"}));
    world.call(
        "context_add",
        json!({"session_id": "window", "segments": [{"type": "message", "text": "Quokka of Wombat Street"}]}),
    );
    let made = World::backup_formats()
        .iter()
        .map(|format| PathBuf::from(text_of(&world.call("backup_create", json!({ "format": format }))["path"])));
    let made = made.collect();
    (world, made)
}

fn erase_everywhere(world: &World, more: Value) -> Value {
    let plan = world.call("forget", json!({"query": "Quokka", "purge": true, "workspaces": ["*"]}));
    let mut request = json!({"plan_id": plan["plan_id"], "confirm": true, "allow_large": true});
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    world.call("gc_apply", request)
}

#[track_caller]
fn signed(applied: &Value) -> ReceiptDocument {
    verify_receipt(&text_of(&applied["receipt"]["signed"])).unwrap_or_else(|error| panic!("{error}: {applied:#}"))
}

/// Files in a folder, at any depth, that hold the bytes.
fn files_with(folder: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if std::fs::read(&path).unwrap().windows(bytes.len()).any(|window| window == bytes) {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn a_receipt_says_what_was_searched_erased_left_and_out_of_reach_without_a_word_of_it() {
    let (world, backups) = backed_up();
    world.call("update_memory", json!({"workspace_id": "home", "memory_id": "secret", "pinned": true}));
    let applied = erase_everywhere(&world, json!({"receipt": true}));
    let text = text_of(&applied["receipt"]["signed"]);
    for word in ["Quokka", "quokka", "Wombat", "Alice", "secret"] {
        assert!(!text.contains(word), "{word} is in {text}");
    }
    let receipt = signed(&applied);
    assert_eq!(receipt.store, world.engine_name());
    assert_eq!(receipt.asked.operation, "forget");
    assert_eq!(receipt.asked.keyed_hash.as_ref().map(String::len), Some(64));
    let searched = receipt.searched.as_ref().unwrap();
    assert_eq!(searched.workspaces, ["home", "acme", "beta"]);
    assert!(searched.kinds.contains(&"memories".to_owned()) && searched.kinds_left_out.contains(&"code".to_owned()));
    let erased: Vec<_> = receipt.erased.iter().map(|it| (it.workspace_id.as_str(), it.rows.get("memories"))).collect();
    assert_eq!(erased, [("home", 0), ("acme", 2)]);
    let left: Vec<_> =
        receipt.erased[0].left.iter().map(|it| (it.count, it.reason.as_str(), it.decided_by.as_str())).collect();
    assert_eq!(left, [(1, "pinned", "a pin")]);
    assert_eq!(receipt.backups.len(), backups.len());
    assert!(receipt.backups.iter().all(|it| it.state == "holds" && it.expires_at.is_some()));
    let has_server = receipt.not_reached.iter().any(|it| it.contains("write-ahead log"));
    assert_eq!(has_server, world.engine_name() == "postgres", "{:?}", receipt.not_reached);

    // It is chained to the audit: the entry is the erasure's own, with that hash.
    for erased in &receipt.erased {
        let audit = erased.audit.as_ref().unwrap();
        let hash: Vec<u8> = world
            .sql()
            .scalar(
                "SELECT a.hash FROM audit a JOIN workspaces w ON w.workspace = a.chain WHERE w.workspace_id = ?1 AND a.seq = ?2",
                &[erased.workspace_id.as_str().into(), audit.seq.into()],
            )
            .unwrap();
        assert_eq!(hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), audit.hash);
    }
    assert_eq!(receipt.key.fingerprint, world.service.receipt_key_fingerprint().unwrap());
}

#[test]
fn equal_requests_have_equal_hashes_and_others_do_not() {
    let (world, _) = backed_up();
    let asked = |query: &str| {
        world.call("add_memory", json!({"context": format!("{query} is here, {} times.", world.now_ms())}));
        let plan = world.call("forget", json!({"query": query, "purge": true}));
        let request = json!({"plan_id": plan["plan_id"], "confirm": true, "allow_large": true, "receipt": true});
        signed(&world.call("gc_apply", request)).asked.keyed_hash.unwrap()
    };
    let first = asked("numbat");
    assert_eq!(asked("numbat"), first);
    assert_ne!(asked("bilby"), first);
}

#[test]
fn one_changed_byte_makes_a_receipt_worthless() {
    let (world, _) = backed_up();
    let text = text_of(&erase_everywhere(&world, json!({"receipt": true}))["receipt"]["signed"]);
    verify_receipt(&text).unwrap();
    for place in (0..text.len()).filter(|place| text.is_char_boundary(*place) && text.is_char_boundary(place + 1)) {
        let other = if &text[place..=place] == "1" { "2" } else { "1" };
        let changed = format!("{}{other}{}", &text[..place], &text[place + 1..]);
        assert!(verify_receipt(&changed).is_err(), "byte {place}");
    }
}

#[test]
fn a_purge_and_an_erasure_in_one_workspace_have_the_same_receipt() {
    let (world, _) = backed_up();
    let plan = world.call("forget", json!({"query": "Quokka", "purge": true}));
    let request = json!({"plan_id": plan["plan_id"], "confirm": true, "allow_large": true, "receipt": true});
    let receipt = signed(&world.call("gc_apply", request.clone()));
    assert_eq!(receipt.searched.as_ref().unwrap().workspaces, ["home"]);
    assert_eq!(signed(&world.call("gc_apply", request)).erased, receipt.erased, "applying it again tells the same");

    let run = world.delete("kept");
    let purge = json!({"run_id": run, "confirm": true, "receipt": true});
    let receipt = signed(&world.call("gc_purge", purge));
    assert_eq!((receipt.asked.operation.as_str(), receipt.searched), ("gc_purge", None));
    assert_eq!(receipt.erased[0].rows.get("memories"), 1);
}

#[test]
fn receipts_and_rewritten_backups_are_for_erasures_alone() {
    let (world, _) = backed_up();
    let plan = world.call("forget", json!({"query": "Quokka"}));
    for field in ["receipt", "rewrite_backups"] {
        world.refuses("gc_apply", json!({"plan_id": plan["plan_id"], "allow_large": true, field: true}));
    }
    let plan = world.call("forget", json!({"query": "Quokka", "purge": true, "workspaces": ["*"]}));
    world.refuses("gc_apply", json!({"plan_id": plan["plan_id"], "confirm": true, "backup": true}));
}

#[test]
fn the_key_that_signs_is_in_no_backup() {
    let (world, _) = backed_up();
    world.service.receipt_key_fingerprint().unwrap();
    let seed: Vec<u8> = world.sql().scalar("SELECT value FROM meta WHERE key = 'signing_key'", &[]).unwrap();
    for format in World::backup_formats() {
        world.call("backup_create", json!({ "format": format }));
    }
    assert_eq!(files_with(&world.backup_folder(), &seed), [""; 0].map(PathBuf::from));
    assert_eq!(files_with(&world.backup_folder(), b"signing_key").len(), 0);
    let still: Vec<u8> = world.sql().scalar("SELECT value FROM meta WHERE key = 'signing_key'", &[]).unwrap();
    assert_eq!(still, seed, "the original keeps it");
}

#[test]
fn rewritten_backups_hold_no_byte_of_what_was_erased_and_can_be_restored() {
    let (world, backups) = backed_up();
    let listed = world.call("backup_list", json!({}));
    assert!(!files_with(&world.backup_folder(), b"Wombat Street").is_empty());
    let applied = erase_everywhere(&world, json!({"receipt": true, "rewrite_backups": true}));
    let outcomes: Vec<String> =
        array(&applied["receipt"]["rewritten"]).iter().map(|it| text_of(&it["outcome"])).collect();
    assert_eq!(outcomes, vec!["rewritten"; backups.len()], "{applied:#}");
    assert_eq!(applied["receipt"]["backups"], json!([]), "none holds it any more");
    assert!(signed(&applied).backups.iter().all(|it| it.state == "rewritten"));

    for bytes in ["Wombat Street", "Quokka", "quokka", "wombat"] {
        assert_eq!(files_with(&world.backup_folder(), bytes.as_bytes()), Vec::<PathBuf>::new(), "{bytes}");
    }
    let after = world.call("backup_list", json!({}));
    for (before, after) in array(&listed["backups"]).iter().zip(array(&after["backups"])) {
        for field in ["backup_id", "created_at", "format", "reason", "path"] {
            assert_eq!(before[field], after[field]);
        }
        let verified = world.call("backup_verify", json!({"backup_id": after["backup_id"]}));
        assert_eq!(verified["ok"], true, "{verified}");
        world.call("backup_restore", json!({"backup_id": after["backup_id"], "confirm": true}));
        for workspace in ["home", "acme", "beta"] {
            let everything = json!({"workspace_id": workspace, "lifecycle": "all", "limit": 100});
            assert_eq!(world.listed(everything), ["kept"], "{workspace}");
        }
        world.assert_doctor_is_content();
    }
    // A second time there is nothing left to do.
    let run = world.delete("kept");
    let purged = world.call("gc_purge", json!({"run_id": run, "confirm": true, "rewrite_backups": true}));
    let again = world.call("gc_purge", json!({"older_than": "0", "confirm": true, "rewrite_backups": true}));
    let outcomes = |answer: &Value| -> Vec<String> {
        array(&answer["receipt"]["rewritten"]).iter().map(|it| text_of(&it["outcome"])).collect()
    };
    assert_eq!(outcomes(&purged), vec!["rewritten"; backups.len()]);
    assert_eq!(outcomes(&again), vec!["clean"; backups.len()]);
    let hidden = std::fs::read_dir(world.backup_folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let hidden: Vec<_> = hidden.filter(|name| name.to_string_lossy().starts_with('.')).collect();
    assert!(hidden.is_empty(), "{hidden:?}");
}

#[test]
fn a_backup_that_a_process_put_aside_before_it_died_is_found_and_comes_back() {
    let (world, backups) = backed_up();
    let path = &backups[0];
    let id = text_of(&json!(path.file_name().unwrap().to_str()));
    let aside = world.backup_folder().join(format!(".replaced-{id}"));
    let listed = || {
        let list = world.call("backup_list", json!({}));
        array(&list["backups"]).iter().filter(|it| it["backup_id"] == id.as_str()).count()
    };
    // Between the two renames: the old one is aside, and nothing has its name.
    std::fs::rename(path, &aside).unwrap();
    assert_eq!(listed(), 1);
    assert_eq!(world.call("backup_verify", json!({"backup_id": id}))["ok"], true);
    world.call("backup_restore", json!({"backup_id": id, "confirm": true}));
    world.call("backup_create", json!({}));
    assert!(path.is_dir() && !aside.exists(), "the next backup puts it back");

    // After the second rename: the new one has its name, and the old one is still aside.
    std::fs::create_dir(&aside).unwrap();
    for entry in std::fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), aside.join(entry.file_name())).unwrap();
    }
    assert_eq!(listed(), 1);
    erase_everywhere(&world, json!({}));
    assert!(path.is_dir() && !aside.exists(), "no receipt while the old one is there");
    assert_eq!(listed(), 1);
}

#[test]
fn a_backup_that_cannot_be_rewritten_is_told_and_the_others_go_on() {
    let (world, backups) = backed_up();
    world.call("backup_create", json!({"format": "jsonl", "workspace_id": "acme"}));
    // One whose bytes are not those of its manifest, and one of another database.
    let file = std::fs::read_dir(&backups[0]).unwrap().map(|it| it.unwrap().path());
    let file = file.into_iter().find(|it| !it.ends_with("manifest.json")).unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes.push(b'x');
    std::fs::write(&file, &bytes).unwrap();
    let applied = erase_everywhere(&world, json!({"receipt": true, "rewrite_backups": true}));
    let rewritten = array(&applied["receipt"]["rewritten"]);
    let failed: Vec<&Value> = rewritten.iter().filter(|it| it["outcome"] == "failed").collect();
    assert_eq!(failed.len(), 1, "{applied:#}");
    assert!(backups[0].ends_with(failed[0]["backup_id"].as_str().unwrap()) && failed[0]["problem"].is_string());
    assert!(rewritten.iter().filter(|it| it["outcome"] == "rewritten").count() >= 1);
    let holding: Vec<&Value> = array(&applied["receipt"]["backups"]).iter().map(|it| &it["backup_id"]).collect();
    assert_eq!(holding, [&failed[0]["backup_id"]], "the receipt says that it may still hold it");
    let line = signed(&applied).backups.into_iter().find(|it| it.state == "failed").unwrap();
    assert!(line.expires_at.is_some() && line.problem.is_some());
    assert_eq!(std::fs::read(&file).unwrap(), bytes, "it is as it was");
}

#[test]
fn a_backup_can_be_taken_before_whatever_is_removed() {
    let (world, _) = backed_up();
    let count = || array(&world.call("backup_list", json!({}))["backups"]).len();
    let mut before = count();
    let mut takes_one = |operation: &str, request: Value| {
        world.call(operation, request);
        assert_eq!(count(), before + 1, "{operation}");
        before += 1;
    };
    takes_one("delete_memory", json!({"memory_id": "kept", "backup": true}));
    let window = world.call("context_get", json!({"session_id": "window"}));
    let segment = &window["segments"][0]["segment_id"];
    takes_one("context_gc_prune", json!({"session_id": "window", "segment_ids": [segment], "backup": true}));
    takes_one("context_delete_session", json!({"session_id": "window", "confirm": true, "backup": true}));
    let phrase = json!({"workspace_id": "beta", "confirm_phrase": "DELETE beta", "backup": true});
    takes_one("delete_workspace", phrase);
    let plan = world.call("forget", json!({"query": "Quokka", "workspaces": ["*"]}));
    let apply = json!({"plan_id": plan["plan_id"], "backup": true, "allow_large": true});
    takes_one("gc_apply", apply.clone());
    world.call("gc_apply", apply);
    assert_eq!(count(), before, "what was applied before needs no backup any more");
}
