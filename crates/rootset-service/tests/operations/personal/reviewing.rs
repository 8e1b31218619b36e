//! What an agent writes to personal memory is found at once, and waits for a person before projects are shown it.

use rootset_service::{Caller, FrontEnd};
use serde_json::{Value, json};

use super::{add_personal, world};
use crate::harness::names;

#[test]
fn an_agents_note_waits_until_a_person_keeps_drops_or_pins_it() {
    let world = world();
    let agent = Caller::new(FrontEnd::Mcp, "agent", "home");
    let by_agent = |name: &str, text: &str| {
        world.advance_ms(1_000);
        let request = json!({"name": name, "context": text, "memory_of": "personal"});
        let added = world.service.call(&agent, "add_memory", request).unwrap();
        assert_eq!(added["waiting"], true, "{added}");
    };
    by_agent("tea", "The user drinks tea.");
    by_agent("coffee", "The user drinks coffee.");
    by_agent("water", "The user drinks water.");
    add_personal(&world, "milk", "I drink milk.");
    let waiting = || names(&world.call("list_memories", json!({"waiting": true}))["memories"]);
    assert_eq!(waiting(), ["water", "coffee", "tea"]);
    let found = world.call("search_memory", json!({"query": "drinks tea"}));
    assert_eq!((&found["results"][0]["name"], &found["results"][0]["waiting"]), (&json!("tea"), &json!(true)));
    assert_eq!(world.call("get_memory", json!({"memory_id": "tea"}))["waiting"], true);

    // An agent cannot approve its own note: a person is asked.
    let approve = json!({"memory_id": "tea", "trust": "person"});
    let error = world.service.call(&agent, "set_trust", approve.clone()).unwrap_err();
    assert_eq!(error.code.as_str(), "confirmation_required", "{error}");
    world.service.call(&agent, "update_memory", json!({"memory_id": "tea", "pinned": true})).unwrap();
    assert_eq!(waiting().len(), 3, "an agent's pin approves nothing");

    world.call("set_trust", approve);
    world.call("update_memory", json!({"memory_id": "coffee", "pinned": true}));
    world.delete("water");
    assert_eq!(waiting(), Vec::<String>::new());
    assert_eq!(world.call("get_memory", json!({"memory_id": "tea"}))["waiting"], Value::Null);

    // What an agent writes over it waits again.
    world.service.call(&agent, "update_memory", json!({"memory_id": "tea", "pinned": false})).ok();
    world
        .service
        .call(&agent, "update_memory", json!({"memory_id": "tea", "context": "The user drinks gin."}))
        .unwrap();
    assert_eq!(waiting(), ["tea"]);
}

#[test]
fn in_a_project_nothing_waits() {
    let world = world();
    let agent = Caller::new(FrontEnd::Mcp, "agent", "home");
    let added = world.service.call(&agent, "add_memory", json!({"name": "a", "context": "A note."})).unwrap();
    assert_eq!((&added["waiting"], &added["memory_of"]), (&Value::Null, &Value::Null));
    assert_eq!(world.call("list_memories", json!({"waiting": true}))["total"], 0);
    assert_eq!(world.call("search_memory", json!({"query": "note"}))["results"][0]["waiting"], Value::Null);
}
