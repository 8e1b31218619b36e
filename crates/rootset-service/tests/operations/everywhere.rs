//! Forgetting in several workspaces at once: one request, one joint plan, its parts in their workspaces.

use rootset_api::Effect;
use rootset_service::{Caller, FrontEnd};
use serde_json::{Value, json};

use crate::forgetting::without_words;
use crate::harness::{World, array, ids, text_of};

const SECRET: &str = "Alice Quokka lives at 12 Wombat Street and likes nobody to know it.";

fn add_in(world: &World, workspace: &str, name: &str, text: &str) -> String {
    let added = world.call("add_memory", json!({"workspace_id": workspace, "name": name, "context": text}));
    text_of(&added["memory_id"])
}

/// Three workspaces: the text is in two of them, and in the trash of one.
fn three_workspaces() -> World {
    let world = World::new();
    for workspace in ["acme", "beta"] {
        world.call("create_workspace", json!({"workspace_id": workspace}));
    }
    for workspace in ["home", "acme", "beta"] {
        for number in 0..6 {
            add_in(&world, workspace, &format!("bystander-{number}"), &format!("Bystander {number} of {workspace}."));
        }
    }
    add_in(&world, "home", "secret", SECRET);
    add_in(&world, "acme", "secret", SECRET);
    add_in(&world, "acme", "trashed-secret", &format!("{SECRET} She said so twice."));
    world.call("delete_memory", json!({"workspace_id": "acme", "memory_id": "trashed-secret"}));
    world
}

fn everywhere(world: &World, more: Value) -> Value {
    let mut request = json!({"query": "Quokka", "workspaces": ["*"]});
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    world.call("forget", request)
}

fn by_workspace(list: &Value, field: &str) -> Vec<(String, Value)> {
    array(list).iter().map(|part| (text_of(&part["workspace_id"]), part[field].clone())).collect()
}

fn names_in(world: &World, workspace: &str) -> Vec<String> {
    let listed = world.listed(json!({"workspace_id": workspace, "limit": 100}));
    listed.into_iter().filter(|name| !name.starts_with("bystander")).collect()
}

#[test]
fn one_request_makes_one_joint_plan_with_a_part_where_something_matches() {
    let world = three_workspaces();
    let plan = everywhere(&world, json!({}));
    assert_eq!(by_workspace(&plan["parts"], "in_plan"), [("home".into(), json!(1)), ("acme".into(), json!(1))]);
    assert_eq!((&plan["matched"], &plan["in_plan"], &plan["items_total"]), (&json!(2), &json!(2), &json!(2)));
    let items: Vec<_> = array(&plan["items"]).iter().map(|it| (&it["workspace_id"], &it["name"])).collect();
    assert_eq!(items, [(&json!("home"), &json!("secret")), (&json!("acme"), &json!("secret"))]);
    assert_eq!(plan["totals"]["memories"], 2);

    // The parts are plans of their workspaces, and the joint plan can be read again and paged through.
    for part in array(&plan["parts"]) {
        let read = json!({"workspace_id": part["workspace_id"], "plan_id": part["plan_id"]});
        assert_eq!(world.call("get_plan", read)["items_total"], 1);
    }
    let read = world.call("get_plan", json!({"plan_id": plan["plan_id"]}));
    assert_eq!((&read["digest"], &read["items"]), (&plan["digest"], &without_words(&plan["items"])));
    let second = world.call("get_plan", json!({"plan_id": plan["plan_id"], "offset": 1, "limit": 1}));
    assert_eq!(array(&second["items"]), &array(&without_words(&plan["items"]))[1..]);
    assert_eq!(names_in(&world, "acme"), ["secret"], "a preview changes nothing");
}

#[test]
fn applying_a_joint_plan_applies_every_part_and_undo_takes_all_of_it_back() {
    let world = three_workspaces();
    let before: Vec<Value> = ["home", "acme", "beta"].iter().map(|it| world.dump(it)).collect();
    let plan = everywhere(&world, json!({}));
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(applied["trashed"]["memories"], 2, "{applied}");
    assert_eq!(array(&applied["parts"]).len(), 2);
    assert_eq!(applied["run_id"], plan["plan_id"]);
    assert_eq!((names_in(&world, "home").len(), names_in(&world, "acme").len()), (0, 0));

    let again = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(again["parts"], applied["parts"], "applying it again answers the first outcome");

    let undone = world.call("gc_undo", json!({"run_id": applied["run_id"]}));
    assert_eq!(undone["restored"]["memories"], 2, "{undone}");
    assert_eq!(by_workspace(&undone["parts"], "problem"), [("home".into(), json!(null)), ("acme".into(), json!(null))]);
    let after: Vec<Value> = ["home", "acme", "beta"].iter().map(|it| world.dump(it)).collect();
    assert_eq!(after, before);
    assert_eq!(world.fails("gc_undo", json!({"run_id": applied["run_id"]})).0, "conflict");
    world.assert_doctor_is_content();
}

#[test]
fn an_erasure_everywhere_takes_the_trash_too_and_leaves_no_byte() {
    let world = three_workspaces();
    let plan = everywhere(&world, json!({"purge": true}));
    assert_eq!(by_workspace(&plan["parts"], "in_plan"), [("home".into(), json!(1)), ("acme".into(), json!(2))]);
    assert_eq!(world.fails("gc_apply", json!({"plan_id": plan["plan_id"]})).0, "confirmation_required");
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "confirm": true}));
    assert_eq!(applied["receipt"]["rows"]["memories"], 3, "{applied}");
    // One part's text was still in the other workspace when it was first looked for.
    assert_eq!(applied["receipt"]["byte_scan"], World::clean_scan());
    world.empty_log();
    assert_eq!(world.places_with(b"Wombat Street"), [""; 0]);
    let again = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "confirm": true}));
    assert_eq!(again["receipt"]["byte_scan"], World::clean_scan());
    world.assert_doctor_is_content();
}

#[test]
fn an_erasure_everywhere_looks_into_workspaces_that_are_in_the_trash() {
    let world = three_workspaces();
    world.call("delete_workspace", json!({"workspace_id": "acme", "confirm_phrase": "DELETE acme"}));
    assert_eq!(array(&everywhere(&world, json!({}))["parts"]).len(), 1, "what is there is in the trash already");
    let plan = everywhere(&world, json!({"purge": true}));
    assert_eq!(by_workspace(&plan["parts"], "in_plan"), [("home".into(), json!(1)), ("acme".into(), json!(2))]);
    world.call("gc_apply", json!({"plan_id": plan["plan_id"], "confirm": true}));
    world.call("gc_undo", json!({"workspace_id": "acme"}));
    assert_eq!(names_in(&world, "acme"), [""; 0]);
    assert_eq!(world.listed(json!({"workspace_id": "acme", "limit": 100})).len(), 6);
    world.assert_doctor_is_content();
}

#[test]
fn pinned_matches_are_kept_and_counted_by_workspace() {
    let world = three_workspaces();
    world.call("update_memory", json!({"workspace_id": "acme", "memory_id": "secret", "pinned": true}));
    let plan = everywhere(&world, json!({}));
    assert_eq!(by_workspace(&plan["parts"], "kept_pinned"), [("home".into(), json!(0)), ("acme".into(), json!(1))]);
    assert_eq!(plan["parts"][1]["plan_id"], Value::Null, "there is nothing to apply");
    assert_eq!(ids(&plan["kept_pinned"]).len(), 1);
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(by_workspace(&applied["parts"], "problem"), [("home".into(), Value::Null)]);
    assert_eq!(names_in(&world, "acme"), ["secret"]);
}

#[test]
fn a_part_that_fails_is_told_with_its_workspace_and_tried_again() {
    let world = three_workspaces();
    // In this one, everything of a source would go.
    world.call("create_workspace", json!({"workspace_id": "small"}));
    add_in(&world, "small", "secret", SECRET);
    let plan = everywhere(&world, json!({}));
    assert_eq!(array(&plan["blocked"]).len(), 1);
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(applied["unfinished"], true);
    let problems = by_workspace(&applied["parts"], "problem");
    assert!(problems[..2].iter().all(|(_, problem)| problem.is_null()), "{problems:?}");
    assert!(problems[2].0 == "small" && text_of(&problems[2].1).contains("limit"), "{problems:?}");
    assert_eq!((names_in(&world, "acme").len(), names_in(&world, "small").len()), (0, 1));
    let again = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "allow_large": true}));
    assert_eq!(again["unfinished"], Value::Null, "{again}");
    assert_eq!(names_in(&world, "small").len(), 0);
    assert_eq!(world.call("gc_undo", json!({"run_id": plan["plan_id"]}))["restored"]["memories"], 3);
}

#[test]
fn items_to_keep_are_found_in_their_parts_or_refused_before_anything_goes() {
    let world = three_workspaces();
    let plan = everywhere(&world, json!({}));
    let request = |exclude: Value| json!({"plan_id": plan["plan_id"], "exclude": exclude});
    world.refuses("gc_apply", request(json!(["secret", "misspelt"])));
    assert_eq!(names_in(&world, "home"), ["secret"]);
    let in_acme = array(&plan["items"])[1]["id"].clone();
    let applied = world.call("gc_apply", request(json!([in_acme])));
    assert_eq!(by_workspace(&applied["parts"], "skipped"), [("home".into(), json!(0)), ("acme".into(), json!(1))]);
    assert_eq!((names_in(&world, "home").len(), names_in(&world, "acme").len()), (0, 1));
}

#[test]
fn workspaces_can_be_named_and_nonsense_is_refused() {
    let world = three_workspaces();
    let forget = |workspaces: Value| json!({"query": "Quokka", "workspaces": workspaces});
    let plan = world.call("forget", forget(json!(["acme", "beta", "acme"])));
    assert_eq!(by_workspace(&plan["parts"], "in_plan"), [("acme".into(), json!(1))]);
    assert_eq!(array(&world.call("forget", forget(json!(["beta"])))["parts"]).len(), 0);
    world.refuses("forget", forget(json!([])));
    world.refuses("forget", forget(json!(["*", "acme"])));
    world.refuses("forget", forget(json!(vec!["acme"; 1_001])));
    world.refuses("forget", json!({"query": "Quokka", "workspaces": ["*"], "workspace_id": "acme"}));
    assert_eq!(world.fails("forget", forget(json!(["nowhere"]))).0, "not_found");
    world.refuses("forget", json!({"workspaces": ["*"]}));
}

#[test]
fn only_a_person_with_rights_over_the_whole_database_forgets_everywhere() {
    let world = three_workspaces();
    let plan = everywhere(&world, json!({}));
    let request = json!({"query": "Quokka", "workspaces": ["*"]});
    let agent = Caller::new(FrontEnd::Mcp, "agent", "home");
    let mut confirmed_agent = agent.clone();
    confirmed_agent.is_confirmed_by_person = true;
    let mut limited = Caller::new(FrontEnd::Http, "token", "acme");
    limited.rights.workspaces = Some(["acme".to_owned()].into());
    let mut no_admin = Caller::new(FrontEnd::Http, "token", "acme");
    no_admin.rights.scopes = Some([Effect::Read, Effect::Write, Effect::Destroy, Effect::Purge].into());
    for caller in [&agent, &confirmed_agent, &limited, &no_admin] {
        let refused = world.service.call(caller, "forget", request.clone()).unwrap_err();
        assert_eq!(refused.code.as_str(), "forbidden", "{caller:?}");
        for (operation, field) in [("gc_apply", "plan_id"), ("gc_undo", "run_id")] {
            let error = world.service.call(caller, operation, json!({ field: plan["plan_id"] })).unwrap_err();
            assert!(["forbidden", "not_found"].contains(&error.code.as_str()), "{operation}: {error}");
        }
    }
    let unknown = world.service.call(&limited, "get_plan", json!({"plan_id": plan["plan_id"]})).unwrap_err();
    assert_eq!(unknown.code.as_str(), "not_found", "to this caller there is no such plan");
    let admin = Caller::new(FrontEnd::Http, "admin", "home");
    world.service.call(&admin, "forget", request).unwrap();
}
