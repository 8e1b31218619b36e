//! Agents pin for themselves; what a person pinned is the person's.

use rootset_model::Trust;
use rootset_service::Caller;
use serde_json::{Value, json};

use super::{agent, call_as, refused_to, token};
use crate::harness::World;

fn consented() -> Caller {
    Caller { is_confirmed_by_person: true, ..agent() }
}

fn pinned() -> World {
    let world = World::new();
    world.call("add_memory", json!({"name": "mine", "context": "Use pnpm.", "pinned": true, "pin_reason": "always"}));
    call_as(&world, &agent(), "add_memory", json!({"name": "theirs", "context": "The build takes long."}));
    world
}

#[test]
fn a_pin_says_whose_it_is() {
    let world = pinned();
    let mine = world.look("mine");
    assert_eq!((&mine["pinned_by"], &mine["pinned_actor"]), (&json!("person"), &json!("cli")));
    let answer = call_as(&world, &agent(), "update_memory", json!({"memory_id": "theirs", "pinned": true}));
    assert_eq!(answer["pinned_by"], "agent");
    let theirs = world.look("theirs");
    assert_eq!((&theirs["pinned_by"], &theirs["pinned_actor"]), (&json!("agent"), &json!("claude-code")));
    let explained = world.call("gc_explain", json!({"id": "theirs"}));
    assert_eq!((&explained["reason"], &explained["trust"]), (&json!("pinned by an agent"), &json!("agent")));
    assert_eq!(
        call_as(&world, &agent(), "update_memory", json!({"memory_id": "mine", "pinned": true}))["pinned_by"],
        "person"
    );
    world.call("update_memory", json!({"memory_id": "theirs", "pinned": true}));
    assert_eq!(world.look("theirs")["pinned_by"], "person", "a person takes it over");
    world.call("update_memory", json!({"memory_id": "theirs", "pinned": false}));
    assert_eq!(world.look("theirs").get("pinned_by"), None);
    world.assert_doctor_is_content();
}

#[test]
fn an_agent_needs_a_person_for_what_a_person_pinned() {
    let world = pinned();
    let before = world.dump("home");
    let attempts = [
        ("update_memory", json!({"memory_id": "mine", "pinned": false})),
        ("update_memory", json!({"memory_id": "mine", "pin_reason": "because I say so"})),
        ("update_memory", json!({"memory_id": "mine", "text": "Use npm."})),
        ("update_memory", json!({"memory_id": "mine", "name": "yours"})),
        ("update_memory", json!({"memory_id": "mine", "expires_at": "2020-01-01T00:00:00Z"})),
        ("supersede_memory", json!({"memory_id": "mine", "by": "theirs"})),
        ("add_memory", json!({"text": "Use npm.", "supersedes": ["mine"]})),
        ("add_memory", json!({"text": "Use pnpm.", "expires_at": "2020-01-01T00:00:00Z"})),
        ("set_trust", json!({"memory_id": "mine", "trust": "untrusted"})),
    ];
    for (operation, request) in &attempts {
        let error = refused_to(&world, &agent(), operation, request.clone());
        assert_eq!(error["code"], "confirmation_required", "{request}");
        assert_eq!(error["details"]["needs_person"], true, "{request}");
        assert_eq!(error["details"]["next"]["operation"], *operation);
        let next = &error["details"]["next"]["arguments"];
        assert!(request.as_object().unwrap().keys().all(|field| next.get(field).is_some()), "{next} is another call");
        let error = refused_to(&world, &token(Trust::Agent), operation, request.clone());
        assert_eq!(error["code"], "forbidden", "{request}");
    }
    assert_eq!(world.dump("home"), before);
    for (operation, request) in attempts {
        let world = pinned();
        call_as(&world, &consented(), operation, request.clone());
        let world = pinned();
        call_as(&world, &token(Trust::Person), operation, request);
    }
}

#[test]
fn a_plan_with_pinned_memories_is_not_a_way_around_a_persons_pin() {
    let world = pinned();
    call_as(&world, &agent(), "update_memory", json!({"memory_id": "theirs", "pinned": true}));
    call_as(&world, &agent(), "add_memory", json!({"name": "rest", "context": "The rest stays."}));
    let plan = |words: &str| -> Value {
        let request = json!({"query": words, "include_pinned": true});
        call_as(&world, &agent(), "forget", request)["plan_id"].clone()
    };
    let error = refused_to(&world, &agent(), "gc_apply", json!({"plan_id": plan("pnpm")}));
    assert_eq!((&error["code"], &error["details"]["needs_person"]), (&json!("confirmation_required"), &json!(true)));
    assert_eq!(error["details"]["next"]["operation"], "gc_apply");
    let prune = json!({"plan_id": plan("pnpm"), "dry_run": false, "confirm": true});
    refused_to(&world, &agent(), "prune_memory", prune);
    assert_eq!(
        refused_to(&world, &token(Trust::Agent), "gc_apply", json!({"plan_id": plan("pnpm")}))["code"],
        "forbidden"
    );
    let kept = json!({"plan_id": plan("pnpm"), "exclude": ["mine"]});
    call_as(&world, &agent(), "gc_apply", kept);
    assert_eq!(world.look("mine")["pinned_by"], "person");
    call_as(&world, &agent(), "gc_apply", json!({"plan_id": plan("build")}));
    assert_eq!(world.listed(json!({"lifecycle": "trashed"})), ["theirs"], "its own pin holds nobody back");
    call_as(&world, &consented(), "gc_apply", json!({"plan_id": plan("pnpm"), "allow_large": true}));
    assert_eq!(world.listed(json!({})), ["rest"]);
}

#[test]
fn tags_and_metadata_of_a_pinned_memory_are_free() {
    let world = pinned();
    call_as(
        &world,
        &agent(),
        "update_memory",
        json!({"memory_id": "mine", "tags": ["tools"], "metadata": {"seen": 1}}),
    );
    let mine = world.look("mine");
    assert_eq!(
        (&mine["tags"], &mine["trust"], &mine["pinned_by"]),
        (&json!(["tools"]), &json!("person"), &json!("person"))
    );
}
