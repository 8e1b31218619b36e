//! What a caller may do, and where: asked of every operation there is, so that a new one cannot forget it.

use std::collections::BTreeSet;

use rootset_api::{Effect, OperationInfo, catalogue};
use rootset_service::{Caller, FrontEnd, Rights, ServiceError};
use rootset_trees::dump::differences;
use rootset_trees::raw_dump;
use serde_json::{Value, json};

use crate::harness::{World, array, text_of};
use crate::nonsense::plausible;

fn caller(scopes: &[Effect], workspaces: Option<&[&str]>) -> Caller {
    let mut caller = Caller::new(FrontEnd::Http, "somebody", workspaces.map_or("home", |ids| ids[0]));
    caller.rights = Rights {
        scopes: Some(scopes.iter().copied().collect()),
        workspaces: workspaces.map(|ids| ids.iter().map(|&id| id.to_owned()).collect()),
        ..Rights::default()
    };
    caller
}

fn takes_workspace(operation: &OperationInfo) -> bool {
    operation.input_schema().pointer("/properties/workspace_id").is_some()
}

#[test]
fn a_caller_of_one_scope_can_call_nothing_of_another() {
    let world = World::new();
    for scope in Effect::ALL {
        let caller = caller(&[scope], None);
        for operation in catalogue().iter().filter(|it| it.effect != scope) {
            let outcome = world.service.call(&caller, operation.name, plausible(operation));
            let error = outcome.map_or_else(|error| error, |answer| panic!("{}: {answer}", operation.name));
            assert_eq!(error.code.as_str(), "forbidden", "{} with {scope:?}", operation.name);
            assert!(error.message.contains(operation.effect.as_str()), "{error}");
        }
    }
    assert_eq!(world.call("list_memories", json!({"lifecycle": "all"}))["total"], 0);
}

#[test]
fn a_caller_of_all_scopes_is_forbidden_nothing() {
    let world = World::new();
    let caller = caller(&Effect::ALL, None);
    for operation in catalogue() {
        if let Err(error) = world.service.call(&caller, operation.name, plausible(operation)) {
            assert!(!error.message.contains("token"), "{}: {error}", operation.name);
        }
    }
}

/// Three workspaces of others, full of things: a living one, one in the trash, and one that never was.
fn inhabited() -> World {
    let mut world = World::new();
    for id in ["own", "bee", "cee"] {
        world.call("create_workspace", json!({"workspace_id": id}));
        world.caller.workspace = id.into();
        world.add_named("one", "SharedThing uses OneThing. The zyxwaardvark is here.");
        world.add_named("gone", "SharedThing uses TwoThing.");
        world.delete("gone");
        let segment = json!({"segment_id": "s", "type": "note", "text": "deploy"});
        world.call("context_add", json!({"session_id": "x", "segments": [segment]}));
        world.call("gc_plan", json!({"strategies": ["all"]}));
    }
    world.caller.workspace = "home".into();
    world.call("delete_workspace", json!({"workspace_id": "cee", "confirm_phrase": "DELETE cee"}));
    world
}

#[test]
fn workspaces_outside_a_token_do_not_exist_in_any_operation() {
    let world = inhabited();
    let before = world.dump("bee");
    let caller = caller(&Effect::ALL, Some(&["own"]));
    for operation in catalogue().iter().filter(|it| takes_workspace(it)) {
        let ask = |id: &str| -> ServiceError {
            let mut request = plausible(operation);
            request["workspace_id"] = id.into();
            match world.service.call(&caller, operation.name, request) {
                Err(error) => error,
                Ok(answer) => panic!("{} answered {answer}", operation.name),
            }
        };
        // One that never was: whatever else is asked about, the answer has to be this one, word by word.
        let nothing = ask("dee");
        let wanted = if operation.is_database_wide { "forbidden" } else { "not_found" };
        assert_eq!(nothing.code.as_str(), wanted, "{}: {nothing}", operation.name);
        for id in ["bee", "cee"] {
            let told = ask(id).to_json().to_string();
            assert_eq!(told.replace(id, "dee"), nothing.to_json().to_string(), "{}", operation.name);
        }
    }
    assert_eq!(world.dump("bee"), before);
}

#[test]
fn operations_without_a_workspace_are_about_the_database_or_filter_what_they_show() {
    let world = inhabited();
    let caller = caller(&Effect::ALL, Some(&["own"]));
    let without: BTreeSet<&str> = catalogue().iter().filter(|it| !takes_workspace(it)).map(|it| it.name).collect();
    let wide: BTreeSet<&str> = catalogue().iter().filter(|it| it.is_database_wide).map(|it| it.name).collect();
    let filtering: Vec<&&str> = without.difference(&wide).collect();
    assert_eq!(filtering, [&"list_workspaces"]);
    for operation in catalogue().iter().filter(|it| it.is_database_wide) {
        let outcome = world.service.call(&caller, operation.name, plausible(operation));
        assert_eq!(outcome.unwrap_err().code.as_str(), "forbidden", "{}", operation.name);
    }
    let listed = world.service.call(&caller, "list_workspaces", json!({})).unwrap();
    let ids: Vec<String> = array(&listed["workspaces"]).iter().map(|it| text_of(&it["workspace_id"])).collect();
    assert_eq!(ids, ["own"]);
}

#[test]
fn requests_about_the_whole_database_are_forbidden_to_callers_of_some_workspaces() {
    let mut world = inhabited();
    let backup = world.call("backup_create", json!({"format": "jsonl"}));
    let of_others = world.call("backup_create", json!({"workspace_id": "bee"}));
    world.caller = caller(&Effect::ALL, Some(&["own"]));
    let id = &backup["backup_id"];
    for (operation, request) in [
        ("backup_create", json!({})),
        ("backup_create", json!({"format": "jsonl"})),
        ("backup_restore", json!({"backup_id": id, "confirm": true})),
        ("list_audit", json!({"database": true})),
    ] {
        assert_eq!(world.fails(operation, request.clone()).0, "forbidden", "{operation} {request}");
    }
    let into_others = json!({"backup_id": id, "workspace_id": "own", "into_workspace_id": "bee", "confirm": true});
    let into_none = json!({"backup_id": id, "workspace_id": "own", "into_workspace_id": "dee", "confirm": true});
    let told = [into_others, into_none].map(|request| world.fails("backup_restore", request));
    assert_eq!((told[0].0, told[0].1.message.replace("bee", "dee")), ("not_found", told[1].1.message.clone()));
    // A backup of others does not tell whose it is.
    let request = json!({"backup_id": of_others["backup_id"], "workspace_id": "own", "confirm": true});
    let (code, error) = world.fails("backup_restore", request);
    assert_eq!(code, "not_found");
    assert!(!error.to_json().to_string().contains("bee"), "{}", error.to_json());

    let restored = world.call("backup_restore", json!({"backup_id": id, "workspace_id": "own", "confirm": true}));
    assert_eq!(restored["workspaces"], json!(["own"]));
}

#[test]
fn answers_about_an_own_workspace_tell_nothing_of_the_database_around_it() {
    let mut world = inhabited();
    let of_others = world.call("backup_create", json!({"workspace_id": "bee"}));
    let of_all = world.call("backup_create", json!({}));
    world.caller = caller(&Effect::ALL, Some(&["own"]));
    let stats = world.call("get_stats", json!({}));
    let sizes: Vec<&String> = stats["sizes"].as_object().unwrap().keys().collect();
    assert_eq!(sizes, ["content_bytes"]);
    let status = world.call("gc_status", json!({}));
    assert_eq!(status["disk"].as_object().unwrap().keys().collect::<Vec<_>>(), ["trash"]);
    assert_eq!((status.get("dead_fraction"), status.get("defrag_recommended")), (None, None));
    let purged = world.call("gc_purge", json!({"older_than": "0", "confirm": true})).to_string();
    assert!(purged.contains(&text_of(&of_all["backup_id"])), "{purged}");
    assert!(!purged.contains(&text_of(&of_others["backup_id"])), "{purged}");
    // What would be a snapshot of everything is a bundle of the one workspace.
    let plan = world.call("gc_plan", json!({"strategies": ["all"]}));
    world.call("gc_apply", json!({"plan_id": plan["plan_id"], "backup": true}));
    world.caller = Caller::new(FrontEnd::CommandLine, "cli", "home");
    let newest = &world.call("backup_list", json!({}))["backups"][0];
    assert_eq!((&newest["workspace_id"], &newest["format"]), (&json!("own"), &json!("jsonl")));
}

#[test]
fn an_own_workspace_that_is_gone_suggests_none_of_the_others() {
    let mut world = World::new();
    for id in ["team-a", "team-b"] {
        world.call("create_workspace", json!({"workspace_id": id}));
    }
    world.caller = caller(&Effect::ALL, Some(&["team-a", "team-c"]));
    let (code, error) = world.fails("list_memories", json!({"workspace_id": "team-c"}));
    assert_eq!((code, error.0.details), ("not_found", Some(json!({"nearest": ["team-a"]}))));
}

#[test]
fn what_cannot_be_undone_needs_the_scope_for_it() {
    let mut world = World::new();
    world.add_named("one", "The zyxwaardvark is here.");
    world.caller = caller(&[Effect::Read, Effect::Write, Effect::Destroy], None);
    let plan = world.call("forget", json!({"query": "zyxwaardvark", "purge": true}));
    let apply = json!({"plan_id": plan["plan_id"], "confirm": true, "allow_large": true});
    let update = json!({"memory_id": "one", "context": "Rewritten.", "erase_previous": true});
    for (operation, request) in
        [("gc_apply", &apply), ("update_memory", &update), ("list_audit", &json!({"database": true}))]
    {
        assert_eq!(world.fails(operation, request.clone()).0, "forbidden", "{operation}");
    }
    assert_eq!(world.look("one")["version"], 1);
    let gentle = world.call("forget", json!({"query": "zyxwaardvark"}));
    world.call("gc_apply", json!({"plan_id": gentle["plan_id"], "allow_large": true}));
    world.call("gc_undo", json!({"memory_id": "one"}));
    world.caller = caller(&[Effect::Destroy, Effect::Purge], None);
    world.call("gc_apply", apply);
    assert_eq!(world.places_with(b"zyxwaardvark"), Vec::<String>::new());
}

#[test]
fn reading_leaves_the_database_as_it_was() {
    let world = inhabited();
    let before = raw_dump(world.database.location()).unwrap();
    for operation in catalogue().iter().filter(|it| it.effect == Effect::Read) {
        let mut request = plausible(operation);
        if takes_workspace(operation) {
            request["workspace_id"] = "own".into();
        }
        let _: Result<Value, ServiceError> = world.service.call(&world.caller, operation.name, request);
        let after = raw_dump(world.database.location()).unwrap();
        assert_eq!(differences(&before, &after), [""; 0], "{} wrote", operation.name);
    }
}
