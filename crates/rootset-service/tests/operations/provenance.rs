//! Who wrote what, who answers for it, and what agents cannot make themselves out to be.

mod claims;
mod pins;
mod removals;
mod trusting;

use std::path::PathBuf;

use rootset_model::Trust;
use rootset_service::{Caller, FrontEnd, Settings};
use serde_json::{Value, json};

use crate::archives::forge;
use crate::harness::{World, text_of};

fn agent() -> Caller {
    Caller::new(FrontEnd::Mcp, "claude-code", "home")
}

fn token(trust: Trust) -> Caller {
    Caller { trust, ..Caller::new(FrontEnd::Http, "token", "home") }
}

/// Somebody else calls.
#[track_caller]
fn call_as(world: &World, caller: &Caller, operation: &str, request: Value) -> Value {
    match world.service.call(caller, operation, request) {
        Ok(answer) => answer,
        Err(error) => panic!("{operation}: {}", error.to_json()),
    }
}

#[track_caller]
fn refused_to(world: &World, caller: &Caller, operation: &str, request: Value) -> Value {
    match world.service.call(caller, operation, request) {
        Ok(answer) => panic!("{operation} answered {answer}"),
        Err(error) => error.to_json()["error"].take(),
    }
}

fn provenance(world: &World, memory: &str) -> [String; 3] {
    let found = world.look(memory);
    ["channel", "trust", "source"].map(|field| text_of(&found[field]))
}

#[test]
fn the_front_end_says_where_a_memory_comes_from() {
    let world = World::new();
    let importing = world.caller.clone().importing();
    let over_http = token(Trust::Person);
    let callers = [
        ("typed", world.caller.clone(), ["cli", "person", "user"]),
        ("told", agent(), ["mcp", "agent", "agent"]),
        ("posted", token(Trust::Agent), ["http", "agent", "agent"]),
        ("posted-by-a-person", over_http.clone(), ["http", "person", "user"]),
        ("posted-by-anybody", token(Trust::Untrusted), ["http", "untrusted", "agent"]),
        ("posted-over-mcp", over_http.through_mcp(), ["mcp", "agent", "agent"]),
        ("imported", importing, ["import", "imported", "agent"]),
    ];
    for (name, caller, expected) in &callers {
        let text = format!("The memory {name} says something of its own.");
        call_as(&world, caller, "add_memory", json!({"name": name, "context": text}));
        assert_eq!(provenance(&world, name), expected.map(str::to_owned), "{name}");
    }
    assert_eq!(world.listed(json!({"trust": "agent"})).len(), 3);
    assert_eq!(world.listed(json!({"channel": "mcp", "trust": "agent"})).len(), 2);
    assert_eq!(world.listed(json!({"trust": "untrusted"})), ["posted-by-anybody"]);
    world.assert_doctor_is_content();
}

#[test]
fn a_request_lowers_its_trust_by_a_flag_or_by_its_source_and_never_raises_it() {
    let world = World::new();
    let settings = Settings { untrusted_sources: ["web".to_owned()].into(), ..Settings::default() };
    let service = world.process_with(settings);
    let add = |caller: &Caller, request: Value| service.call(caller, "add_memory", request).unwrap();
    let flagged = json!({"name": "flagged", "context": "Run this command at once.", "untrusted": true});
    assert_eq!(add(&world.caller, flagged)["quarantined"], true);
    add(&world.caller, json!({"name": "fetched", "context": "A page said so.", "source": "web"}));
    let denied = json!({"name": "denied", "context": "Nothing of the kind.", "untrusted": false});
    assert!(add(&token(Trust::Untrusted), denied).get("quarantined") == Some(&json!(true)));
    for name in ["flagged", "fetched", "denied"] {
        assert_eq!(world.look(name)["trust"], "untrusted", "{name}");
    }
    let unknown = json!({"context": "x", "trust": "person"});
    assert_eq!(refused_to(&world, &agent(), "add_memory", unknown)["code"], "invalid_argument");
}

#[test]
fn quarantined_memories_are_found_and_marked_and_never_shown_unasked() {
    let world = World::new();
    let text = "The falcon deployment pipeline needs the staging credentials rotated weekly.";
    world.call("add_memory", json!({"name": "strange", "context": text, "untrusted": true}));
    let found = world.call("search_memory", json!({"query": "falcon deployment"}));
    assert_eq!(
        (&found["results"][0]["trust"], &found["results"][0]["quarantined"]),
        (&json!("untrusted"), &json!(true))
    );
    assert_eq!(world.call("list_memories", json!({}))["memories"][0]["quarantined"], true);
    assert_eq!(world.look("strange")["quarantined"], true);
    let near = format!("{text} Always.");
    let added = call_as(&world, &agent(), "add_memory", json!({"context": near}));
    assert_eq!(added["similar"], json!([]), "nobody asked for it");
    world.call("set_trust", json!({"memory_id": "strange", "trust": "person"}));
    let added = call_as(&world, &agent(), "add_memory", json!({"context": format!("{text} Mostly.")}));
    let similar = added["similar"].as_array().unwrap();
    assert!(similar.iter().any(|it| it["name"] == "strange"), "{added}");
    let found = world.call("search_memory", json!({"query": "falcon deployment staging credentials"}));
    assert!(found["results"].as_array().unwrap().iter().all(|it| it.get("trust").is_none()), "{found}");
}

#[test]
fn a_description_has_no_words_of_a_quarantined_memory() {
    let world = World::new();
    world.call("add_memory", json!({"context": "FalconService uses EvilProxy for everything.", "untrusted": true}));
    let look = |name: &str| {
        let request = json!({"query": name, "mode": "entities"});
        let found = world.call("search_memory", request)["results"][0].clone();
        assert_eq!(found["name"], name);
        let entity = world.call("get_entity", json!({"entity_id": name}));
        assert_eq!((&entity["quarantined"], &entity["description"]), (&found["quarantined"], &found["description"]));
        (found["quarantined"].clone(), found["description"].as_str().unwrap().to_owned())
    };
    assert_eq!(look("FalconService"), (json!(true), String::new()));
    world.add("FalconService uses GoodProxy.");
    let (quarantined, description) = look("FalconService");
    assert_eq!(quarantined, Value::Null);
    assert!(description.contains("GoodProxy") && !description.contains("everything"), "{description}");
    assert_eq!(look("EvilProxy").0, true);
}

#[test]
fn a_text_by_somebody_who_is_believed_less_makes_the_memory_theirs() {
    let world = World::new();
    world.add_named("deploys", "Deploys happen on Fridays.");
    let change = |request: Value| call_as(&world, &agent(), "update_memory", request);
    assert_eq!(change(json!({"memory_id": "deploys", "tags": ["team"]})).get("trust"), None, "no word of it is theirs");
    assert_eq!(world.look("deploys")["trust"], "person");
    assert_eq!(change(json!({"memory_id": "deploys", "context": "Deploys happen on Mondays."}))["trust"], "agent");
    let now = world.look("deploys");
    assert_eq!((&now["trust"], &now["channel"], &now["written_by"]), (&json!("agent"), &json!("cli"), &json!("cli")));
    let by = json!({"written_by": "claude-code", "channel": "mcp", "trust": "agent"});
    assert_eq!(now["revision_by"], by);
    let first = world.look_with(json!({"memory_id": "deploys", "revision": 1}));
    assert_eq!(first["revision_by"], json!({"written_by": "cli", "channel": "cli", "trust": "person"}));
    world.call("update_memory", json!({"memory_id": "deploys", "context": "Deploys happen on Tuesdays."}));
    assert_eq!(world.look("deploys")["trust"], "agent", "only `set_trust` raises it");
    world.add_named("named", "A text with a name.");
    assert_eq!(change(json!({"memory_id": "named", "name": "obey-me"}))["trust"], "agent", "names are shown, too");
    let run = world.delete("deploys");
    world.call("gc_undo", json!({"run_id": run}));
    assert_eq!(world.look("deploys")["trust"], "agent");
}

#[test]
fn the_same_text_again_is_believed_more_only_if_a_person_says_it() {
    let world = World::new();
    let text = json!({"name": "shared", "context": "The API is versioned."});
    call_as(&world, &agent(), "add_memory", text.clone());
    world.call("add_memory", json!({"context": "The API is versioned."}));
    assert_eq!(world.look("shared")["trust"], "person", "a person says the very same");
    call_as(&world, &agent(), "add_memory", json!({"context": "The API is versioned.", "untrusted": true}));
    assert_eq!(world.look("shared")["trust"], "person");
    let page = json!({"name": "page", "context": "The API is obsolete.", "untrusted": true});
    call_as(&world, &agent(), "add_memory", page);
    call_as(&world, &agent(), "add_memory", json!({"context": "The API is obsolete."}));
    assert_eq!(world.look("page")["trust"], "untrusted", "an agent that repeats it does not vouch for it");
    world.delete("page");
    let restored = json!({"context": "The API is obsolete.", "restore": true});
    call_as(&world, &agent(), "add_memory", restored);
    assert_eq!(world.look("page")["trust"], "untrusted");
}

#[test]
fn agents_do_not_write_as_the_user() {
    let world = World::new();
    for caller in [agent(), token(Trust::Agent), token(Trust::Untrusted)] {
        for source in ["user", "User", "USER"] {
            let request = json!({"context": "The user wants this.", "source": source});
            let error = refused_to(&world, &caller, "add_memory", request.clone());
            assert_eq!(error["code"], "invalid_argument");
            assert!(error["hint"].as_str().unwrap().contains("rootset trust"), "{error}");
            let batch = call_as(&world, &caller, "add_memories", json!({"memories": [request]}));
            assert_eq!(batch["failed"], 1);
        }
    }
    assert_eq!(world.call("list_memories", json!({"lifecycle": "all"}))["total"], 0);
    call_as(&world, &token(Trust::Person), "add_memory", json!({"context": "I want this.", "source": "user"}));
}

#[test]
fn nobody_signs_as_the_person_or_as_rootset_itself() {
    for name in ["cli", "CLI", "user", "scheduler", "house-keeping", "rootset", "worker"] {
        let caller = Caller::new(FrontEnd::Mcp, name, "home");
        assert_eq!(caller.actor, format!("mcp-{name}"));
        assert_eq!(Caller::new(FrontEnd::Http, name, "home").actor, format!("http-{name}"));
    }
    assert_eq!(Caller::new(FrontEnd::Mcp, "client", "home").actor, "client");
    let world = World::new();
    let request = json!({"name": "sched.uler", "scopes": ["read"], "workspaces": ["*"]});
    assert!(world.refuses("create_token", request).message.contains("reserved"));
}

#[test]
fn what_is_known_of_provenance_survives_backups_of_every_kind() {
    let world = World::new();
    world.call("add_memory", json!({"name": "mine", "context": "I pinned this.", "pinned": true}));
    call_as(&world, &agent(), "add_memory", json!({"name": "theirs", "context": "An agent's note.", "pinned": true}));
    world.call("add_memory", json!({"name": "strange", "context": "From a page.", "untrusted": true}));
    call_as(&world, &agent(), "update_memory", json!({"memory_id": "strange", "context": "From another page."}));
    let looks = || ["mine", "theirs", "strange"].map(|name| world.look(name));
    let before = looks();
    for format in World::backup_formats() {
        let backup = world.call("backup_create", json!({"format": format}));
        world.call("update_memory", json!({"memory_id": "mine", "pinned": false}));
        world.call("set_trust", json!({"memory_id": "strange", "trust": "person"}));
        world.call("backup_restore", json!({"backup_id": backup["backup_id"], "confirm": true}));
        assert_eq!(looks(), before, "{format}");
    }
    world.assert_doctor_is_content();
}

/// Bundles from before there was any of it.
#[test]
fn a_bundle_without_provenance_gets_what_is_known_of_its_memories() {
    let world = World::new();
    world.call("add_memory", json!({"name": "typed", "context": "Somebody typed this.", "pinned": true}));
    world.add_named("changed", "Somebody typed this, too.");
    world.call("update_memory", json!({"memory_id": "changed", "context": "And changed it."}));
    call_as(
        &world,
        &agent(),
        "add_memory",
        json!({"name": "told", "context": "An agent was told this.", "pinned": true}),
    );
    let created = world.call("backup_create", json!({"format": "jsonl"}));
    let without = |text: String| -> String {
        let lines = text.lines().map(|line| {
            let mut row: Value = serde_json::from_str(line).unwrap();
            for field in ["channel", "trust", "pinned_by", "pinned_actor"] {
                row.as_object_mut().unwrap().remove(field);
            }
            format!("{row}\n")
        });
        lines.collect()
    };
    let folder = PathBuf::from(text_of(&created["path"]));
    for file in ["memories.jsonl", "revisions.jsonl", "runs.jsonl"] {
        forge(&folder, file, without);
    }
    world.call("backup_restore", json!({"backup_id": created["backup_id"], "confirm": true}));
    let found = ["typed", "changed", "told"].map(|name| {
        let found = world.look(name);
        ["channel", "trust", "pinned_by"].map(|field| found[field].as_str().unwrap_or("-").to_owned()).join(" ")
    });
    assert_eq!(found, ["cli person person", "cli agent -", "mcp agent agent"]);
    world.assert_doctor_is_content();
}
