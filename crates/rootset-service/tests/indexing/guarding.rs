//! Which folders may be indexed by whom.

use std::path::{Path, PathBuf};

use rootset_api::Effect;
use rootset_service::{Caller, FrontEnd, Rights, Settings};
use serde_json::{Value, json};

use crate::harness::{World, array, text_of};
use crate::place::{Place, request, write};

#[test]
fn other_front_ends_index_nothing_outside_the_servers_folder_by_default() {
    let mut place = Place::new();
    for front_end in [FrontEnd::Mcp, FrontEnd::Http] {
        place.world.caller.front_end = front_end;
        let (code, error) = place.world.fails("index_codebase", place.request(json!({})));
        assert_eq!(code, "forbidden", "{error}");
        assert!(error.to_json().to_string().contains("code.roots"), "it says which setting allows it: {error}");
        // Nor does it tell what is there.
        let (code, _) = place.world.fails("index_codebase", json!({"path": "/nowhere/at/all"}));
        assert_eq!(code, "forbidden");
        let (code, _) = place.world.fails("index_codebase", json!({"path": "/"}));
        assert_eq!(code, "forbidden");
    }
    assert_eq!(place.served(), [""; 0]);
    place.world.caller.front_end = FrontEnd::CommandLine;
    place.index();
}

#[test]
fn other_front_ends_index_what_is_below_the_configured_roots_and_nothing_beside() {
    let mut place = Place::new();
    write(&place.beside("cafe/menu.py"), "def menu():\n    pass\n");
    write(&place.beside("shop-annex/menu.py"), "def menu():\n    pass\n");
    let mut settings = rootset_service::Settings::default();
    settings.code.roots = Some(vec![place.root()]);
    place.world.service = place.world.process_with(settings);
    place.world.caller.front_end = FrontEnd::Mcp;
    place.index();
    place.world.call("index_codebase", request(&place.file("src"), json!({})));
    std::os::unix::fs::symlink(place.beside("cafe"), place.file("way-out")).unwrap();
    let outside = [
        place.beside("cafe"),
        place.beside("shop-annex"),
        place.file("../cafe"),
        place.file("way-out"),
        place.beside(""),
    ];
    for path in outside {
        let (code, error) = place.world.fails("index_codebase", request(&path, json!({})));
        assert_eq!(code, "forbidden", "{}: {error}", path.display());
    }
    assert!(!place.served().iter().any(|path| path.contains("menu")), "{:?}", place.served());
}

/// A tenant with a token to read and write in a workspace of its own.
fn tenant() -> Caller {
    let rights = Rights {
        scopes: Some([Effect::Read, Effect::Write].into()),
        workspaces: Some(["own".to_owned()].into()),
        ..Rights::default()
    };
    Caller { rights, ..Caller::new(FrontEnd::Http, "tenant", "own") }
}

/// A server whose owner lets everything below one folder be indexed, and keeps the backups there. Another tenant has
/// something to hide.
fn careless_server() -> (World, PathBuf) {
    let mut world = World::new();
    let served = world.folder().canonicalize().unwrap().join("srv");
    std::fs::create_dir(&served).unwrap();
    let mut settings = Settings::default();
    settings.code.roots = Some(vec![world.folder().to_owned()]);
    settings.backup.folder = Some(served.join("backups"));
    settings.private_files = vec![served.join("first.token")];
    world.service = world.process_with(settings);
    world.call("create_workspace", json!({"workspace_id": "own"}));
    world.call("create_workspace", json!({"workspace_id": "theirs"}));
    let secret = json!({"workspace_id": "theirs", "context": "The zyxwaardvark opens the vault."});
    world.call("add_memory", secret);
    world.call("backup_create", json!({"format": "jsonl"}));
    write(&served.join("first.token"), "zyxwaardvark");
    (world, served)
}

fn only_entry(folder: &Path) -> PathBuf {
    let mut entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    entries.next().unwrap()
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in from.read_dir().unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

fn indexed_something(world: &World, caller: &Caller) -> bool {
    let ask = |operation: &str, request: Value| world.service.call(caller, operation, request).unwrap();
    let found = ask("search_code", json!({"query": "zyxwaardvark"}));
    let listed = ask("list_memories", json!({"source": "code_indexer"}));
    !array(&found["results"]).is_empty() || listed["total"] != 0
}

#[test]
fn a_tenant_cannot_read_others_by_indexing_the_servers_own_files() {
    let (world, served) = careless_server();
    let backups = served.join("backups");
    let backup = only_entry(&backups);
    std::os::unix::fs::symlink(&backups, served.join("way-in")).unwrap();
    copy_folder(&backup, &served.join("old/copies/first"));
    let mut places = vec![
        backups.clone(),
        backup.clone(),
        served.join("way-in"),
        served.join("old/../backups"),
        served.join("old/copies/first"),
    ];
    places.extend(world.database.location().path().and_then(Path::parent).map(Path::to_owned));
    for front_end in [FrontEnd::Http, FrontEnd::Mcp, FrontEnd::CommandLine] {
        let caller = Caller { front_end, ..tenant() };
        for path in &places {
            // At a terminal the sources may lie beside the database.
            if front_end == FrontEnd::CommandLine && served.starts_with(path) {
                continue;
            }
            let outcome = world.service.call(&caller, "index_codebase", request(path, json!({})));
            let error = outcome.map_or_else(|error| error, |answer| panic!("{}: {answer}", path.display()));
            assert_eq!(error.code.as_str(), "forbidden", "{}: {error}", path.display());
        }
        assert!(!indexed_something(&world, &caller));
    }
    assert_eq!(world.service.call(&tenant(), "list_repos", json!({})).unwrap()["repos"], json!([]));
}

#[test]
fn a_walk_leaves_out_the_servers_own_files_wherever_they_lie_and_says_so() {
    let (world, served) = careless_server();
    copy_folder(&only_entry(&served.join("backups")), &served.join("old/copies/first"));
    write(&served.join("src/main.py"), "def main():\n    pass\n");
    write(&served.join("site/manifest.json"), r#"{"name": "a web site, no backup"}"#);
    let mut own_files = 0;
    if let Some(database) = world.database.location().path() {
        std::fs::hard_link(database, served.join("src/database.txt")).unwrap();
        own_files = 1;
    }
    for front_end in [FrontEnd::Http, FrontEnd::CommandLine] {
        let caller = Caller { front_end, ..tenant() };
        let answer = world.service.call(&caller, "index_codebase", request(&served, json!({}))).unwrap();
        assert_eq!(answer["skipped"]["own_backups"], 2, "{answer}");
        assert_eq!(answer["skipped"]["own_secrets"], 1, "{answer}");
        assert_eq!(answer["skipped"]["own_database"].as_u64().unwrap_or(0), own_files, "{answer}");
        assert_eq!(answer["files_seen"], 2, "{answer}");
        let found = world.service.call(&caller, "search_code", json!({"query": "zyxwaardvark"})).unwrap();
        assert_eq!(found["results"], json!([]), "{found}");
    }
}

#[test]
fn over_the_network_nothing_is_indexed_unless_somebody_configured_it() {
    let place = Place::new();
    let here = std::env::current_dir().unwrap();
    let over_http = Caller::new(FrontEnd::Http, "t", "home");
    // The protocol of agents over the network is the network.
    let mcp_over_http = Caller { front_end: FrontEnd::Mcp, ..over_http.clone() };
    for caller in [over_http, mcp_over_http] {
        for path in [here.clone(), place.root()] {
            let error = place.world.service.call(&caller, "index_codebase", request(&path, json!({}))).unwrap_err();
            assert_eq!(error.code.as_str(), "forbidden", "{}: {error}", path.display());
        }
    }
}

#[test]
fn roots_can_be_given_to_a_workspace_and_to_a_token() {
    let mut place = Place::new();
    for folder in ["cafe", "bakery"] {
        write(&place.beside(&format!("{folder}/menu.py")), "def menu():\n    pass\n");
    }
    let mut settings = Settings::default();
    settings.code.roots = Some(vec![place.beside("cafe")]);
    settings.code.workspace_roots = [("bakers".to_owned(), vec![place.beside("bakery")])].into();
    place.world.service = place.world.process_with(settings);
    place.world.call("create_workspace", json!({"workspace_id": "bakers"}));
    let may = |workspace: &str, roots: Option<Vec<PathBuf>>, folder: &str| {
        let mut caller = Caller::new(FrontEnd::Http, "t", workspace);
        caller.rights.roots = roots.map(|roots| roots.iter().map(|it| it.display().to_string()).collect());
        match place.world.service.call(&caller, "index_codebase", request(&place.beside(folder), json!({}))) {
            Ok(_) => true,
            Err(error) => {
                assert_eq!(error.code.as_str(), "forbidden", "{error}");
                false
            }
        }
    };
    assert!(may("home", None, "cafe") && !may("home", None, "bakery"));
    assert!(may("bakers", None, "bakery") && !may("bakers", None, "cafe"));
    // A token can only narrow what is configured.
    assert!(may("home", Some(vec![place.beside("")]), "cafe"));
    assert!(!may("home", Some(vec![place.beside("")]), "bakery"));
    assert!(!may("home", Some(vec![place.beside("bakery")]), "cafe"));
    assert!(!may("home", Some(Vec::new()), "cafe"));
}

/// Every field of every operation that could be a path on this machine; a new one has to say what it is.
#[test]
fn no_other_request_of_a_server_names_a_file() {
    let place = Place::new();
    write(&place.file("messages.json"), r#"{"segments": []}"#);
    let file = place.file("messages.json").display().to_string();
    // What these paths say of themselves is stored or compared, never opened.
    let only_words = ["file_path", "active_file", "recent_files", "open_files", "breakpoints"];
    let filter = ("search_code", "path");
    let mut fields = Vec::new();
    for operation in rootset_api::catalogue() {
        for (field, schema) in operation.input_schema()["properties"].as_object().into_iter().flatten() {
            let about = schema["description"].as_str().unwrap_or_default().to_lowercase();
            let may_be_path = field.contains("path") || field.contains("file") || about.contains(" path");
            let takes_text = schema["type"] == "string" || schema["type"].is_array();
            let is_compared = only_words.contains(&field.as_str()) || (operation.name, field.as_str()) == filter;
            if may_be_path && takes_text && !is_compared {
                fields.push((operation.name, text_of(&json!(field))));
            }
        }
    }
    let known = ["backup_verify.backup_id", "backup_restore.backup_id", "index_codebase.path", "context_import.path"];
    let found: Vec<String> = fields.iter().map(|(operation, field)| format!("{operation}.{field}")).collect();
    assert_eq!(found, known);
    for front_end in [FrontEnd::Http, FrontEnd::Mcp] {
        let caller = Caller::new(front_end, "t", "home");
        for (operation, field) in &fields {
            let mut request = json!({"session_id": "s", "format": "rootset", "confirm": true});
            let schema = rootset_api::catalogue().iter().find(|it| it.name == *operation).unwrap().input_schema();
            request.as_object_mut().unwrap().retain(|name, _| schema["properties"].get(name).is_some());
            request[field.as_str()] = file.as_str().into();
            let error = place.world.service.call(&caller, operation, request).unwrap_err();
            assert!(["forbidden", "invalid_argument"].contains(&error.code.as_str()), "{operation}: {error}");
            let told = error.to_json().to_string();
            assert!(told.contains("command line"), "{operation}: {told}");
        }
    }
}
