//! Workspaces: tenants that see nothing of each other, and that come back whole from the trash.

use rootset_model::limits::PLANS_WAITING_MAX;
use serde_json::{Value, json};

use crate::harness::{World, array, text_of};

#[test]
fn everything_done_in_one_workspace_leaves_the_other_as_it_was() {
    let mut world = World::new();
    for workspace in ["a", "b"] {
        world.call("create_workspace", json!({ "workspace_id": workspace }));
        world.caller.workspace = workspace.into();
        world.add_named("one", "SharedThing uses OneThing, falcon.");
        world.add_named("two", "SharedThing uses TwoThing, falcon.");
        world.add_named("three", "Other words.");
        world.call("update_memory", json!({"memory_id": "three", "tags": ["t"], "context": "Other words, falcon."}));
        world.call("supersede_memory", json!({"memory_id": "three", "by": "two"}));
        world.call("import_graph", json!({"entities": [{"name": "SharedThing"}], "relations": []}));
        world.delete("three");
    }
    let before = world.dump("b");
    world.caller.workspace = "a".into();
    let run = world.delete("one");
    world.call("gc_undo", json!({ "run_id": run }));
    world.call("get_memory", json!({"memory_id": "one"}));
    world.call("search_memory", json!({"query": "falcon"}));
    world.service.flush_uses().unwrap();
    world.call("update_memory", json!({"memory_id": "one", "context": "Rewritten.", "erase_previous": true}));
    world.call("add_memory", json!({"context": "SharedThing uses FiveThing.", "supersedes": ["one"]}));
    let plan = world.call("forget", json!({"query": "falcon", "purge": true}));
    world.call("gc_apply", json!({"plan_id": plan["plan_id"], "confirm": true, "allow_large": true}));
    world.call("gc_purge", json!({"older_than": "0", "confirm": true}));
    let import = world.call("import_graph", json!({"entities": [{"name": "SixThing"}], "relations": []}));
    world.call("gc_undo", json!({"run_id": import["run_id"]}));
    world.call("doctor", json!({"repair": true}));
    assert_eq!(world.dump("b"), before);
    world.call("delete_workspace", json!({"workspace_id": "a", "confirm_phrase": "DELETE a"}));
    assert_eq!(world.dump("b"), before);
    world.call("gc_purge", json!({"workspace_id": "a", "older_than": "0", "confirm": true}));
    assert_eq!(world.dump("b"), before);
    world.assert_doctor_is_content();
}

#[test]
fn ids_and_runs_of_one_workspace_are_unknown_in_the_other() {
    let world = World::new();
    world.call("create_workspace", json!({"workspace_id": "other"}));
    let id = world.add_named("note", "SharedThing one");
    let entity = world.entity("SharedThing")["entity_id"].clone();
    let gone = world.add("two");
    let run = world.delete(&gone);
    for (operation, request) in [
        ("get_memory", json!({ "memory_id": id })),
        ("update_memory", json!({"memory_id": id, "tags": []})),
        ("delete_memory", json!({ "memory_id": id })),
        ("supersede_memory", json!({"memory_id": id, "by": id})),
        ("get_entity", json!({ "entity_id": entity })),
        ("gc_explain", json!({ "id": id })),
        ("gc_undo", json!({ "run_id": run })),
        ("gc_undo", json!({ "memory_id": gone })),
        ("gc_purge", json!({"run_id": run, "confirm": true})),
    ] {
        let mut request = request;
        request["workspace_id"] = "other".into();
        assert_eq!(world.fails(operation, request).0, "not_found", "{operation}");
    }
    let found = world.call("search_memory", json!({"workspace_id": "other", "query": "one"}));
    assert_eq!(found["results"], json!([]));
    assert_eq!(world.call("gc_undo", json!({ "run_id": run }))["restored"]["memories"], 1);
}

#[test]
fn a_deleted_workspace_comes_back_whole() {
    let mut world = World::new();
    world.call("create_workspace", json!({"workspace_id": "team", "name": "Team", "description": "d"}));
    world.caller.workspace = "team".into();
    world.call("add_memory", json!({"name": "pinned", "context": "SharedThing uses OneThing.", "pinned": true}));
    world.add_named("gone", "SharedThing uses TwoThing.");
    world.delete("gone");
    world.call("import_graph", json!({"entities": [{"name": "ThreeThing"}], "relations": []}));
    let before = world.dump("team");
    world.caller.workspace = "home".into();

    let (code, error) =
        world.fails("delete_workspace", json!({"workspace_id": "team", "confirm_phrase": "delete team"}));
    assert_eq!(code, "confirmation_required");
    assert!(error.message.contains("DELETE team"));
    let request = json!({"workspace_id": "team", "confirm_phrase": "DELETE team"});
    let deleted = world.call("delete_workspace", request);
    let (code, error) = world.fails("list_memories", json!({"workspace_id": "team"}));
    assert_eq!(code, "not_found");
    assert!(error.0.hint.unwrap().contains("gc_undo"));
    let listed = world.call("list_workspaces", json!({}));
    let ids: Vec<String> = array(&listed["workspaces"]).iter().map(|it| text_of(&it["workspace_id"])).collect();
    assert_eq!(ids, ["home"]);
    assert_eq!(world.fails("create_workspace", json!({"workspace_id": "team"})).0, "conflict");
    assert_eq!(world.call("list_trash", json!({"workspace_id": "team"}))["total"], 1);

    let undone = world.call("gc_undo", json!({"workspace_id": "team", "run_id": deleted["run_id"]}));
    assert_eq!(undone["restored"], json!({"memories": 0, "workspaces": 1}));
    assert_eq!(world.dump("team"), before);
    world.assert_doctor_is_content();
}

#[test]
fn a_trashed_workspace_is_undone_by_its_id_alone_or_purged_for_good() {
    let world = World::new();
    world.call("create_workspace", json!({"workspace_id": "team"}));
    let text = "zyxwaardvark of the team";
    world.call("add_memory", json!({"workspace_id": "team", "context": text}));
    let request = json!({"workspace_id": "team", "confirm_phrase": "DELETE team"});
    world.call("delete_workspace", request.clone());
    assert_eq!(world.call("gc_undo", json!({"workspace_id": "team"}))["restored"]["workspaces"], 1);
    assert_eq!(world.call("list_memories", json!({"workspace_id": "team"}))["total"], 1);
    let deleted = world.call("delete_workspace", request);
    let purge = json!({"workspace_id": "team", "run_id": deleted["run_id"], "confirm": true});
    assert_eq!(world.call("gc_purge", purge)["purged"]["workspaces"], 1);
    assert_eq!(world.places_with(b"zyxwaardvark"), Vec::<String>::new());
    assert_eq!(world.fails("gc_undo", json!({"workspace_id": "team"})).0, "not_found");
    world.call("create_workspace", json!({"workspace_id": "team"}));
    assert_eq!(world.call("list_memories", json!({"workspace_id": "team"}))["total"], 0);
    assert_eq!(world.call("add_memory", json!({"workspace_id": "team", "context": text}))["created"], true);
    world.assert_doctor_is_content();
}

#[test]
fn unknown_workspaces_are_not_found_with_the_nearest_names() {
    let world = World::new();
    world.call("create_workspace", json!({"workspace_id": "project-falcon"}));
    let (code, error) = world.fails("list_memories", json!({"workspace_id": "project-falkon"}));
    assert_eq!(code, "not_found");
    assert!(error.0.hint.unwrap().contains("project-falcon"));
    for bad in ["Upper", "a b", "../x", "-x", &"x".repeat(65)] {
        assert!(world.refuses("list_memories", json!({ "workspace_id": bad })).message.contains("workspace_id"));
        world.refuses("create_workspace", json!({ "workspace_id": bad }));
    }
    for current in [Value::Null, json!("")] {
        assert_eq!(world.call("list_memories", json!({ "workspace_id": current }))["total"], 0);
    }
    assert_eq!(world.fails("create_workspace", json!({"workspace_id": "project-falcon"})).0, "conflict");
    for operation in ["doctor", "list_workspaces"] {
        world.refuses(operation, json!({"workspace_id": "home"}));
    }
    let phrase = json!({"workspace_id": "home", "confirm_phrase": "DELETE home"});
    assert_eq!(world.fails("delete_workspace", phrase).0, "conflict");
}

#[test]
fn quotas_hold_for_adds_and_updates() {
    let world = World::new();
    world.call("create_workspace", json!({"workspace_id": "small", "quota": {"memories": 2, "bytes": 60}}));
    let add =
        |text: &str| world.try_call("add_memory", json!({"workspace_id": "small", "context": text, "topic": "t"}));
    let first = add("one").unwrap();
    add("two").unwrap();
    let error = add("three").unwrap_err();
    assert_eq!(error.code.as_str(), "limit_exceeded");
    let request = json!({"workspace_id": "small", "memory_id": first["memory_id"], "context": "x".repeat(100)});
    assert_eq!(world.fails("update_memory", request).0, "limit_exceeded");
    world.refuses("create_workspace", json!({"workspace_id": "none", "quota": {"memories": 0}}));
    world.assert_doctor_is_content();
}

#[test]
fn quota_of_bytes_counts_imports_and_segments_and_gives_back_what_is_purged() {
    let world = World::new();
    world.call("create_workspace", json!({"workspace_id": "small", "quota": {"bytes": 1_000}}));
    let import = |names: &[&str]| {
        let entities: Vec<_> = names.iter().map(|name| json!({"name": name, "description": "a bird"})).collect();
        world.try_call("import_graph", json!({"workspace_id": "small", "entities": entities, "relations": []}))
    };
    let brought = import(&["Falcon", "Heron", "Falcon"]).unwrap();
    assert_eq!(import(&["Owl", "Crane"]).unwrap_err().code.as_str(), "limit_exceeded");
    let long = "x".repeat(600);
    let segments = json!([{"type": "log", "text": long}]);
    for (operation, request) in [
        ("add_memory", json!({"workspace_id": "small", "context": long})),
        ("context_add", json!({"workspace_id": "small", "session_id": "s", "segments": segments})),
    ] {
        assert_eq!(world.fails(operation, request.clone()).0, "limit_exceeded", "{operation}");
    }
    world.assert_doctor_is_content();
    let run = json!({"workspace_id": "small", "run_id": brought["run_id"]});
    world.call("gc_undo", run.clone());
    assert_eq!(import(&["Owl", "Crane"]).unwrap_err().code.as_str(), "limit_exceeded", "the trash counts");
    world.call("gc_purge", json!({"workspace_id": "small", "run_id": brought["run_id"], "confirm": true}));
    world.assert_doctor_is_content();
    world.call("context_add", json!({"workspace_id": "small", "session_id": "s", "segments": segments}));
    assert_eq!(import(&["Owl", "Crane"]).unwrap_err().code.as_str(), "limit_exceeded");
    world.assert_doctor_is_content();
}

/// What a request may hold beside a text, as large as it may be: it takes room, so it counts.
#[test]
fn quota_of_bytes_counts_what_stands_beside_the_text_and_gives_it_back() {
    let world = World::new();
    world.call("create_workspace", json!({"workspace_id": "small", "quota": {"bytes": 10_000}}));
    let bytes = || {
        let listed = world.look_by("list_workspaces", json!({}));
        array(&listed["workspaces"]).iter().find(|it| it["workspace_id"] == "small").unwrap()["bytes"].as_i64().unwrap()
    };
    let call = |operation: &str, mut request: serde_json::Value| {
        request["workspace_id"] = "small".into();
        world.try_call(operation, request)
    };
    call("add_memory", json!({"context": "one", "name": "one"})).unwrap();
    call("context_set_focus", json!({"session_id": "s", "task_id": "t"})).unwrap();
    let empty = bytes();
    let metadata = |length: usize| json!({"note": "x".repeat(length)});
    let tags: Vec<String> = (0..90).map(|number| format!("{number}-{}", "t".repeat(120))).collect();
    let paths: Vec<String> = (0..40).map(|number| format!("/{number}/{}", "p".repeat(300))).collect();
    let segment = json!({"segment_id": "a", "type": "note", "text": "x", "tags": tags});
    for (operation, request) in [
        ("add_memory", json!({"context": "two", "metadata": metadata(10_000)})),
        ("add_memory", json!({"context": "two", "tags": tags})),
        ("add_memories", json!({"memories": [{"context": "two", "metadata": metadata(10_000)}]})),
        ("add_memory", json!({"context": "one", "metadata": metadata(10_000)})),
        ("update_memory", json!({"memory_id": "one", "metadata": metadata(10_000)})),
        ("update_memory", json!({"memory_id": "one", "context": "1", "tags": tags})),
        ("context_add", json!({"session_id": "s", "segments": [segment]})),
        ("context_set_focus", json!({"session_id": "s", "recent_files": paths})),
        ("context_set_focus", json!({"session_id": "another", "recent_files": paths})),
    ] {
        let shown = request.to_string();
        let code = match call(operation, request) {
            Err(error) => error.code.as_str().to_owned(),
            Ok(answer) => text_of(&answer["results"][0]["error"]["code"]),
        };
        assert_eq!(code, "limit_exceeded", "{operation} {shown}");
        assert_eq!(bytes(), empty, "{operation} {shown}");
    }
    // Within the quota it is counted, and counted back when it shrinks or is purged.
    call("update_memory", json!({"memory_id": "one", "metadata": metadata(4_000), "pinned": true})).unwrap();
    call("context_set_focus", json!({"session_id": "s", "recent_files": paths[..10]})).unwrap();
    assert!(bytes() > empty + 7_000, "{}", bytes());
    world.assert_doctor_is_content();
    call("update_memory", json!({"memory_id": "one", "metadata": metadata(1), "pinned": false})).unwrap();
    call("context_set_focus", json!({"session_id": "s", "recent_files": []})).unwrap();
    assert!(bytes() < empty + 100, "{}", bytes());
    call(
        "context_add",
        json!({"session_id": "s", "segments": [{"segment_id": "a", "type": "note", "text": "x", "tags": ["t"]}]}),
    )
    .unwrap();
    call("delete_memory", json!({"memory_id": "one"})).unwrap();
    call("context_delete_session", json!({"session_id": "s", "confirm": true})).unwrap();
    call("gc_purge", json!({"older_than": "0", "confirm": true})).unwrap();
    assert_eq!(bytes(), 0);
    world.assert_doctor_is_content();
}

#[test]
fn plans_that_wait_are_bounded_and_the_oldest_goes_first() {
    let world = World::new();
    world.call("add_memory", json!({"context": "a falcon"}));
    let plan = || world.call("forget", json!({"query": "falcon"}))["plan_id"].clone();
    let first = plan();
    let second = plan();
    for _ in 2..PLANS_WAITING_MAX {
        plan();
    }
    world.call("get_plan", json!({"plan_id": first}));
    let last = plan();
    assert_eq!(world.fails("get_plan", json!({"plan_id": first})).0, "not_found");
    for kept in [second, last] {
        assert_eq!(world.call("get_plan", json!({"plan_id": kept}))["items_total"], 1);
    }
}
