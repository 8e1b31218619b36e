//! Whose it is: one person's on a file, the owner's of a token on a server, and never anybody else's.

use std::sync::Arc;

use rootset_service::{Caller, Service, Settings};
use serde_json::{Value, json};

use super::{add_personal, world};
use crate::harness::{World, names, text_of};

/// A caller with a token, everywhere unless it says where.
fn holder(world: &World, service: &Arc<Service>, name: &str, owner: Option<&str>, workspaces: &[&str]) -> Caller {
    let mut request =
        json!({"name": name, "scopes": ["read", "write", "destroy", "purge", "admin"], "workspaces": workspaces});
    if let Some(owner) = owner {
        request["owner"] = owner.into();
    }
    let secret = text_of(&world.call("create_token", request)["token"]);
    service.authenticate(&secret).unwrap()
}

fn call(world: &World, caller: &Caller, operation: &str, request: Value) -> Result<Value, &'static str> {
    world.advance_ms(1_000);
    world.service.call(caller, operation, request).map_err(|error| error.code.as_str())
}

const EVERYWHERE: &[&str] = &["*"];

#[test]
fn two_owners_on_a_server_never_see_each_others() {
    let world = world();
    let alice = holder(&world, &world.service, "a", Some("alice"), EVERYWHERE);
    let again = holder(&world, &world.service, "a-2", Some("alice"), EVERYWHERE);
    let bob = holder(&world, &world.service, "b", Some("bob"), EVERYWHERE);
    let nobody = holder(&world, &world.service, "n", None, EVERYWHERE);
    let add = |caller: &Caller, text: &str| {
        call(&world, caller, "add_memory", json!({"name": "secret", "context": text, "memory_of": "personal"}))
    };
    add(&alice, "Alice sings in the morning.").unwrap();
    add(&bob, "Bob sings at night.").unwrap();
    assert_eq!(add(&nobody, "Nobody sings."), Err("invalid_argument"));
    add_personal(&world, "own", "The user of this machine sings.");
    let found = |caller: &Caller| {
        let found = call(&world, caller, "search_memory", json!({"query": "sings"})).unwrap();
        found["results"].as_array().unwrap().iter().map(|it| text_of(&it["snippet"])).collect::<Vec<_>>()
    };
    assert_eq!(found(&alice), ["Alice sings in the morning."]);
    assert_eq!(found(&again), found(&alice), "a person, not a token");
    assert_eq!(found(&bob), ["Bob sings at night."]);
    assert_eq!(found(&nobody), Vec::<String>::new());
    assert_eq!(world.found("sings"), ["own"]);

    // Nor by its name, nor in a list, a plan, a backup or an error.
    for name in ["personal-alice", "personal-missing"] {
        for (operation, request) in [
            ("list_memories", json!({"workspace_id": name})),
            ("add_memory", json!({"workspace_id": name, "context": "x"})),
            ("get_stats", json!({"workspace_id": name})),
            ("update_workspace", json!({"workspace_id": name, "class": "pro"})),
            ("delete_workspace", json!({"workspace_id": name, "confirm_phrase": format!("DELETE {name}")})),
            ("gc_undo", json!({"workspace_id": name})),
            ("forget", json!({"workspaces": [name], "query": "sings"})),
        ] {
            for caller in [&bob, &nobody] {
                assert_eq!(call(&world, caller, operation, request.clone()), Err("not_found"), "{operation} {name}");
            }
        }
    }
    let ids = |caller: &Caller| {
        let listed = call(&world, caller, "list_workspaces", json!({})).unwrap();
        listed["workspaces"].as_array().unwrap().iter().map(|it| text_of(&it["workspace_id"])).collect::<Vec<_>>()
    };
    assert_eq!(ids(&bob), ["falcon", "home", "personal-bob"]);
    assert_eq!(ids(&nobody), ["falcon", "home"]);
    assert_eq!(ids(&world.caller), ["falcon", "home", "personal", "personal-alice", "personal-bob"]);
    let of_bob = call(&world, &bob, "forget", json!({"workspaces": ["*"], "query": "sings"})).unwrap();
    assert_eq!((&of_bob["in_plan"], of_bob.to_string().contains("Alice")), (&json!(1), false), "{of_bob}");
    let of_all = world.call("forget", json!({"workspaces": ["*"], "query": "sings"}));
    assert_eq!(of_all["in_plan"], 3);
    assert_eq!(call(&world, &bob, "get_plan", json!({"plan_id": of_all["plan_id"]})), Err("not_found"));
    let backup = world.call("backup_create", json!({"format": "jsonl"}))["backup_id"].clone();
    for into in ["personal-alice", "loot"] {
        let request =
            json!({"backup_id": backup, "workspace_id": "personal-alice", "into_workspace_id": into, "confirm": true});
        assert_eq!(call(&world, &bob, "backup_restore", request), Err("not_found"), "{into}");
    }
    world.assert_doctor_is_content();
}

#[test]
fn a_token_of_some_workspaces_has_it_only_if_it_names_it() {
    let world = world();
    let without = holder(&world, &world.service, "w", Some("alice"), &["falcon"]);
    let with = holder(&world, &world.service, "p", Some("alice"), &["falcon", "personal"]);
    assert_eq!(with.workspace.named(), Some("falcon"), "it is nobody's default");
    let request = json!({"name": "n", "scopes": ["read"], "workspaces": ["falcon", "personal"]});
    world.fails("create_token", request);
    let request = json!({"name": "n", "scopes": ["read"], "workspaces": ["personal-alice"], "owner": "bob"});
    world.refuses("create_token", request);
    let add = json!({"name": "tea", "context": "I like tea.", "memory_of": "personal"});
    assert_eq!(call(&world, &without, "add_memory", add.clone()), Err("forbidden"));
    call(&world, &with, "add_memory", add).unwrap();
    let find =
        |caller: &Caller| names(&call(&world, caller, "search_memory", json!({"query": "tea"})).unwrap()["results"]);
    assert_eq!((find(&with), find(&without)), (vec!["tea".to_owned()], Vec::new()));
    assert_eq!(call(&world, &without, "get_memory", json!({"memory_id": "tea"})), Err("not_found"));
    assert_eq!(call(&world, &without, "search_memory", json!({"memory_of": "personal"})), Err("forbidden"));
}

#[test]
fn a_token_of_somebody_makes_no_token_of_somebody_else() {
    let world = world();
    let bob = holder(&world, &world.service, "b", Some("bob"), EVERYWHERE);
    let operator = holder(&world, &world.service, "o", None, EVERYWHERE);
    holder(&world, &world.service, "a", Some("alice"), EVERYWHERE);
    let of = |owner: &str, name: &str| json!({"name": name, "scopes": ["read"], "workspaces": ["*"], "owner": owner});
    assert_eq!(call(&world, &bob, "create_token", of("alice", "x")), Err("forbidden"));
    assert_eq!(call(&world, &bob, "rotate_token", json!({"name": "a"})), Err("forbidden"));
    call(&world, &bob, "create_token", of("bob", "b-2")).unwrap();
    call(&world, &operator, "create_token", of("alice", "a-2")).unwrap();
}

#[test]
fn the_user_of_a_machine_is_one_person_at_the_terminal_and_by_a_token() {
    let world = world();
    let served = world.process_with(Settings { local_user: Some("maria".to_owned()), ..Settings::default() });
    add_personal(&world, "vim", "I use vim.");
    for (owner, finds) in [("maria", 1), ("paul", 0)] {
        let caller = holder(&world, &served, owner, Some(owner), EVERYWHERE);
        let found = served.call(&caller, "search_memory", json!({"query": "vim"})).unwrap();
        assert_eq!(found["results"].as_array().map(Vec::len), Some(finds), "{owner}");
    }
}

#[test]
fn a_workspace_that_was_called_personal_before_stays_what_it_was() {
    let world = world();
    world.sql().execute("UPDATE workspaces SET workspace_id = 'personal' WHERE workspace_id = 'falcon'", &[]).unwrap();
    world.call("add_memory", json!({"workspace_id": "personal", "name": "old", "context": "An old note."}));
    add_personal(&world, "vim", "I use vim.");
    assert_eq!(world.listed(json!({"workspace_id": "personal"})), ["old"]);
    assert_eq!(world.listed(json!({"memory_of": "personal"})), ["vim"]);
    assert_eq!(world.listed(json!({"workspace_id": "personal-2"})), ["vim"]);
}
