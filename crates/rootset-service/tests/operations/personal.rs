//! Personal memory: one workspace per person, beside every project, and nobody else's business.

mod reviewing;
mod whose;

use rootset_service::{Caller, FrontEnd};
use serde_json::{Value, json};

use crate::harness::{World, names, text_of};

/// A project of its own, `home` being another one.
fn world() -> World {
    let world = World::new();
    world.call("create_workspace", json!({"workspace_id": "falcon"}));
    world
}

#[track_caller]
fn in_project(world: &World, project: &str, operation: &str, request: Value) -> Value {
    let caller = Caller::new(FrontEnd::CommandLine, "cli", project);
    world.advance_ms(1_000);
    world.service.call(&caller, operation, request).unwrap_or_else(|error| panic!("{operation}: {}", error.to_json()))
}

fn add_personal(world: &World, name: &str, text: &str) -> String {
    let added = world.call("add_memory", json!({"name": name, "context": text, "memory_of": "personal"}));
    assert_eq!((&added["created"], &added["memory_of"]), (&json!(true), &json!("personal")), "{added}");
    text_of(&added["memory_id"])
}

#[test]
fn what_is_personal_is_found_in_every_project_and_nothing_else_is_in_it() {
    let world = world();
    world.add_named("deploys", "Falcon deploys with a pipeline.");
    add_personal(&world, "tabs", "I use tabs in Go files.");
    for project in ["home", "falcon"] {
        let found = in_project(&world, project, "search_memory", json!({"query": "tabs in Go"}));
        assert_eq!(names(&found["results"]), ["tabs"], "{project}");
        assert_eq!(found["results"][0]["memory_of"], "personal");
        let none = in_project(&world, project, "search_memory", json!({"query": "tabs in Go", "memory_of": "project"}));
        assert_eq!(none["results"], json!([]));
    }
    let listed = |request: Value| names(&world.call("list_memories", request)["memories"]);
    assert_eq!(listed(json!({})), ["deploys"]);
    assert_eq!(listed(json!({"memory_of": "personal"})), ["tabs"]);
    assert_eq!(listed(json!({"workspace_id": "personal"})), ["tabs"]);
    let found = world.call("search_memory", json!({"query": "falcon deploys", "memory_of": "personal"}));
    assert_eq!(found["results"], json!([]));
    world.assert_doctor_is_content();
}

#[test]
fn before_the_first_one_there_is_no_personal_workspace_and_asking_makes_none() {
    let world = world();
    assert_eq!(world.call("list_memories", json!({"memory_of": "personal"}))["total"], 0);
    assert_eq!(world.call("search_memory", json!({"query": "x", "memory_of": "personal"}))["results"], json!([]));
    world.call("search_memory", json!({"query": "x"}));
    assert_eq!(world.fails("list_memories", json!({"workspace_id": "personal"})).0, "not_found");
    let workspaces = world.call("list_workspaces", json!({}))["workspaces"].to_string();
    assert!(!workspaces.contains("personal"), "{workspaces}");
    world.refuses("create_workspace", json!({"workspace_id": "personal"}));
    for (operation, request) in [
        ("add_memory", json!({"context": "x", "memory_of": "both"})),
        ("add_memory", json!({"context": "x", "memory_of": "personal", "workspace_id": "falcon"})),
        ("list_memories", json!({"memory_of": "both"})),
        ("search_memory", json!({"memory_of": "personal", "workspace_id": "falcon"})),
        ("forget", json!({"query": "x", "memory_of": "project", "workspaces": ["*"]})),
    ] {
        world.refuses(operation, request);
    }
}

#[test]
fn a_search_shows_at_most_three_personal_hits_of_ten_and_only_what_was_asked_for() {
    let world = world();
    for number in 0..12 {
        world.add(&format!("Falcon deploys step {number} with the pipeline."));
        add_personal(&world, &format!("own-{number}"), &format!("My deploys note {number} about the pipeline."));
    }
    let found = world.call("search_memory", json!({"query": "deploys pipeline", "max_tokens": 100_000}));
    let personal: Vec<bool> =
        found["results"].as_array().unwrap().iter().map(|it| it["memory_of"] == "personal").collect();
    assert_eq!(personal, [[false; 7].as_slice(), &[true; 3]].concat());
    // One word of many is not what was asked for.
    let query = "which port does the falcon server listen on for deploys";
    let found = world.call("search_memory", json!({"query": query, "max_tokens": 100_000}));
    assert!(found["results"].as_array().unwrap().iter().all(|it| it["memory_of"].is_null()), "{found}");
    // A list without words is the project's.
    let listed = world.call("search_memory", json!({"limit": 100, "max_tokens": 100_000}));
    assert_eq!(listed["results"].as_array().map(Vec::len), Some(12));
}

#[test]
fn names_are_those_of_the_project_first_and_then_of_the_person() {
    let world = world();
    add_personal(&world, "editor", "I use vim.");
    add_personal(&world, "shared", "Mine.");
    world.add_named("shared", "The project's.");
    let read = |name: &str| world.call("get_memory", json!({"memory_id": name}));
    assert_eq!((&read("editor")["context"], &read("editor")["memory_of"]), (&json!("I use vim."), &json!("personal")));
    assert_eq!((&read("shared")["context"], &read("shared")["memory_of"]), (&json!("The project's."), &Value::Null));
    let own = world.call("get_memory", json!({"memory_id": "shared", "workspace_id": "personal"}));
    assert_eq!(own["context"], "Mine.");
    // Who names a workspace means that one.
    let (code, _) = world.fails("delete_memory", json!({"memory_id": "editor", "workspace_id": "home"}));
    assert_eq!(code, "not_found");
    world.call("update_memory", json!({"memory_id": "editor", "context": "I use helix."}));
    world.call("update_memory", json!({"memory_id": "editor", "context": "I use emacs.", "erase_previous": true}));
    assert_eq!(read("editor")["context"], "I use emacs.");
    add_personal(&world, "editor-2", "I use ed.");
    world.call("supersede_memory", json!({"memory_id": "editor", "by": "editor-2"}));
    let run = world.delete("editor-2");
    assert_eq!(read("editor")["superseded"], false);
    world.call("gc_undo", json!({"run_id": run}));
    assert_eq!(read("editor")["superseded"], true);
    assert_eq!(world.fails("get_memory", json!({"memory_id": "nobody"})).0, "not_found");
    world.assert_doctor_is_content();
}

#[test]
fn a_plan_is_of_one_place_and_says_what_the_other_holds() {
    let world = world();
    world.add_named("about-alice", "Alice owns the deploys.");
    add_personal(&world, "alice-likes-tea", "Alice likes tea.");
    add_personal(&world, "vim", "I use vim.");
    let of_project = world.call("forget", json!({"query": "Alice"}));
    assert_eq!((&of_project["in_plan"], &of_project["matched_personal"]), (&json!(1), &json!(1)));
    let of_personal = world.call("forget", json!({"query": "Alice", "memory_of": "personal"}));
    assert_eq!((&of_personal["in_plan"], &of_personal["matched_personal"]), (&json!(1), &Value::Null));
    let plan = json!({"plan_id": of_personal["plan_id"]});
    assert_eq!(world.call("get_plan", plan.clone())["items"][0]["name"], "alice-likes-tea");
    world.call("gc_apply", plan);
    assert_eq!(world.call("list_memories", json!({"memory_of": "personal"}))["total"], 1);
    assert_eq!(world.listed(json!({})), ["about-alice"]);
    // A person may take both at once; an agent makes two plans.
    add_personal(&world, "alice-walks", "Alice walks to work.");
    let agent = Caller::new(FrontEnd::Mcp, "agent", "home");
    let both = json!({"query": "Alice", "memory_of": "both", "purge": true});
    let error = world.service.call(&agent, "forget", both.clone()).unwrap_err();
    assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("twice")), "{error}");
    let joint = world.call("forget", both);
    assert_eq!(
        (&joint["in_plan"], joint["parts"].as_array().map(Vec::len)),
        (&json!(3), Some(2)),
        "what is in the trash is erased, too: {joint}"
    );
    world.call("gc_apply", json!({"plan_id": joint["plan_id"], "confirm": true, "allow_large": true}));
    world.empty_log();
    assert_eq!(world.places_with(b"walks to work"), Vec::<String>::new());
    world.assert_doctor_is_content();
}

#[test]
fn everything_of_a_workspace_holds_in_it_too() {
    let world = world();
    add_personal(&world, "vim", "I use vim for everything.");
    let (code, error) =
        world.fails("delete_workspace", json!({"workspace_id": "personal", "confirm_phrase": "DELETE personal"}));
    assert_eq!(code, "conflict", "{error}");
    world.call("set_retention", json!({"workspace_id": "personal", "max_age": "30d"}));
    world.call("update_workspace", json!({"workspace_id": "personal", "quota": {"memories": 2}}));
    add_personal(&world, "tabs", "I use tabs.");
    let full = world.fails("add_memory", json!({"context": "One too many.", "memory_of": "personal"}));
    assert_eq!(full.0, "limit_exceeded");
    let audit = world.call("list_audit", json!({"workspace_id": "personal"}));
    assert!(audit["entries"].to_string().contains("create_workspace"), "{audit}");
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
    world.call("update_memory", json!({"memory_id": "tabs", "context": format!("My token is {secret}.")}));
    assert_eq!(world.places_with(secret.as_bytes()), Vec::<String>::new());
    let everywhere = world.call("forget", json!({"query": "vim", "workspaces": ["*"]}));
    assert_eq!(everywhere["in_plan"], 1);
    world.assert_doctor_is_content();
}

#[test]
fn it_comes_back_from_a_backup_as_the_same_persons() {
    let world = world();
    add_personal(&world, "vim", "I use vim.");
    let whole = world.call("backup_create", json!({"format": "jsonl"}))["backup_id"].clone();
    let of_one =
        world.call("backup_create", json!({"format": "jsonl", "workspace_id": "personal"}))["backup_id"].clone();
    world.call("update_memory", json!({"memory_id": "vim", "context": "I use ed."}));
    for backup in [of_one, whole] {
        world.call("backup_restore", json!({"backup_id": backup, "confirm": true}));
        assert_eq!(world.call("get_memory", json!({"memory_id": "vim"}))["memory_of"], "personal");
        assert_eq!(world.call("get_memory", json!({"memory_id": "vim"}))["context"], "I use vim.");
        let into =
            json!({"backup_id": backup, "workspace_id": "personal", "into_workspace_id": "home", "confirm": true});
        world.call("backup_restore", into);
        assert_eq!(
            world.call("get_memory", json!({"memory_id": "vim"}))["memory_of"],
            Value::Null,
            "a copy is nobody's"
        );
        let back =
            json!({"backup_id": backup, "workspace_id": "home", "into_workspace_id": "personal", "confirm": true});
        let (code, _) = world.fails("backup_restore", back);
        assert!(["conflict", "not_found"].contains(&code), "a project never takes its place: {code}");
    }
    world.assert_doctor_is_content();
}
