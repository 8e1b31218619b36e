//! `set_trust`: people promote, anybody may lower what they are believed as much as.

use rootset_model::Trust;
use rootset_service::Caller;
use serde_json::json;

use super::{agent, call_as, refused_to, token};
use crate::harness::{World, array};

fn world() -> World {
    let world = World::new();
    world.add_named("mine", "I said so.");
    call_as(&world, &agent(), "add_memory", json!({"name": "theirs", "context": "An agent said so."}));
    world.call("add_memory", json!({"name": "strange", "context": "A page said so.", "untrusted": true}));
    world
}

#[test]
fn a_person_promotes_and_takes_it_back_and_the_audit_knows() {
    let world = world();
    let answer = world.call("set_trust", json!({"memory_id": "strange", "trust": "person"}));
    assert_eq!((&answer["previous"], &answer["trust"]), (&json!("untrusted"), &json!("person")));
    assert_eq!(world.look("strange").get("quarantined"), None);
    let again = world.call("set_trust", json!({"memory_id": "strange", "trust": "person"}));
    assert_eq!((&again["previous"], &again["version"]), (&json!("person"), &answer["version"]), "nothing changes");
    world.call("set_trust", json!({"memory_id": "strange", "trust": answer["previous"]}));
    assert_eq!(world.look("strange")["trust"], "untrusted");
    let audit = world.call("list_audit", json!({"operation": "set_trust"}));
    let changes: Vec<_> = array(&audit["entries"])
        .iter()
        .map(|it| (it["details"]["before"].clone(), it["details"]["after"].clone()))
        .collect();
    assert_eq!(changes, [(json!("person"), json!("untrusted")), (json!("untrusted"), json!("person"))]);
    world.assert_doctor_is_content();
}

#[test]
fn an_agent_raises_nothing_without_a_person_and_lowers_only_its_own() {
    let world = world();
    for (name, trust) in [
        ("strange", "person"),
        ("strange", "agent"),
        ("strange", "imported"),
        ("theirs", "person"),
        ("mine", "untrusted"),
    ] {
        let request = json!({"memory_id": name, "trust": trust});
        let error = refused_to(&world, &agent(), "set_trust", request.clone());
        assert_eq!(error["code"], "confirmation_required", "{request}");
        assert_eq!(error["details"]["next"], json!({"operation": "set_trust", "arguments": request}));
        assert_eq!(refused_to(&world, &token(Trust::Agent), "set_trust", request)["code"], "forbidden");
    }
    call_as(&world, &agent(), "set_trust", json!({"memory_id": "theirs", "trust": "untrusted"}));
    let with_consent = Caller { is_confirmed_by_person: true, ..agent() };
    call_as(&world, &with_consent, "set_trust", json!({"memory_id": "theirs", "trust": "person"}));
    call_as(&world, &token(Trust::Person), "set_trust", json!({"memory_id": "strange", "trust": "agent"}));
    assert_eq!((&world.look("theirs")["trust"], &world.look("strange")["trust"]), (&json!("person"), &json!("agent")));
}
