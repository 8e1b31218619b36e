//! Versions of a source: what `max_version_gap` goes by, and how a document that was seen again stays current.

use rootset_model::limits::COUNT_MAX;
use serde_json::{Value, json};

use crate::harness::{World, array, text_of};

/// Five versions of a wiki, each with a page of its own and with `stays`, which every version holds.
fn world_with_versions() -> World {
    let world = World::new();
    for version in 1..=5 {
        let pages = json!([
            {"name": format!("v{version}"), "context": format!("Page of version {version}."), "source": "wiki",
             "source_version": version},
            {"context": "A page that never changes.", "source": "wiki", "source_version": version},
        ]);
        let added = world.call("add_memories", json!({ "memories": pages }));
        assert_eq!(added["failed"], 0, "{added}");
        assert_eq!(added["results"][1]["created"], version == 1);
    }
    world.call("update_memory", json!({"memory_id": "a-page-that-never-changes", "name": "stays"}));
    world
}

fn expired(world: &World) -> Vec<String> {
    let plan = world.call("gc_plan", json!({"strategies": ["expired"]}));
    let mut names: Vec<String> = array(&plan["items"]).iter().map(|item| text_of(&item["name"])).collect();
    names.sort();
    names
}

fn source_version(world: &World, memory: &str) -> Value {
    world.look(memory)["source_version"].clone()
}

#[test]
fn documents_two_or_more_versions_behind_expire_and_one_seen_again_does_not() {
    let world = world_with_versions();
    world.call("set_retention", json!({"source": "wiki", "max_version_gap": 2}));
    assert_eq!(source_version(&world, "stays"), 5);
    assert_eq!(expired(&world), ["v1", "v2", "v3"]);
    let explained = world.call("gc_explain", json!({"id": "v3"}));
    assert!(text_of(&explained["reason"]).contains("max_version_gap"), "{explained}");
    world.assert_doctor_is_content();
}

#[test]
fn another_source_has_versions_of_its_own_and_a_memory_without_one_never_expires_by_them() {
    let world = world_with_versions();
    world.call("add_memory", json!({"name": "other", "context": "Of a blog.", "source": "blog", "source_version": 1}));
    world.call("add_memory", json!({"name": "none", "context": "Of no version.", "source": "wiki"}));
    assert!(world.look("none").get("source_version").is_none());
    world.call("set_retention", json!({"max_version_gap": 2}));
    assert_eq!(expired(&world), ["v1", "v2", "v3"]);
}

#[test]
fn version_of_another_source_makes_nothing_of_this_one_look_old() {
    let world = world_with_versions();
    world.call("set_retention", json!({"max_version_gap": 2}));
    let again = json!({"context": "A page that never changes.", "source": "crawler", "source_version": 900});
    assert_eq!(world.call("add_memory", again)["created"], false);
    assert_eq!(source_version(&world, "stays"), 5);
    assert_eq!(expired(&world), ["v1", "v2", "v3"]);
}

#[test]
fn seeing_a_document_again_keeps_the_higher_version() {
    let world = World::new();
    let add = |version: Option<i64>| {
        world.call("add_memory", json!({"name": "page", "context": "A page.", "source_version": version}))
    };
    add(None);
    for (given, stored, changed) in [(Some(0), 0, true), (Some(7), 7, true), (Some(3), 7, false), (None, 7, false)] {
        let before = world.look("page")["version"].as_i64();
        let again = add(given);
        assert_eq!(again["created"], false);
        assert_eq!(source_version(&world, "page"), stored, "after {given:?}");
        assert_eq!(again["version"].as_i64() != before, changed, "after {given:?}");
    }
    world.assert_doctor_is_content();
}

#[test]
fn document_seen_again_after_the_plan_is_saved_and_one_that_was_trashed_comes_back_current() {
    let world = world_with_versions();
    world.call("set_retention", json!({"source": "wiki", "max_version_gap": 2}));
    let plan = world.call("gc_plan", json!({"strategies": ["expired"]}));
    let see_again = |text: &str| {
        world.call("add_memory", json!({"context": text, "source": "wiki", "source_version": 5}));
    };
    see_again("Page of version 2.");
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "allow_large": true}));
    assert_eq!(applied["trashed"]["memories"], 2, "{applied}");
    assert_eq!(applied["skipped"]["count"], 1, "{applied}");
    see_again("Page of version 1.");
    assert_eq!(source_version(&world, "v1"), 5);
    assert_eq!(expired(&world), [""; 0]);
}

#[test]
fn update_changes_or_clears_the_version_and_keeps_it_otherwise() {
    let world = World::new();
    world.call("add_memory", json!({"name": "page", "context": "A page.", "source_version": 4}));
    world.call("update_memory", json!({"memory_id": "page", "context": "The page.", "tags": ["a"]}));
    assert_eq!(source_version(&world, "page"), 4);
    world.call("update_memory", json!({"memory_id": "page", "source_version": 2}));
    assert_eq!(source_version(&world, "page"), 2, "somebody who says so may lower it");
    world.call("update_memory", json!({"memory_id": "page", "clear": ["source_version"]}));
    assert!(world.look("page").get("source_version").is_none());
    world.assert_doctor_is_content();
}

#[test]
fn version_out_of_range_is_refused_with_its_name_and_the_range() {
    let world = World::new();
    world.add_named("page", "A page.");
    for version in [-1, COUNT_MAX + 1, i64::MIN, i64::MAX] {
        for (operation, request) in [
            ("add_memory", json!({"context": "Another.", "source_version": version})),
            ("update_memory", json!({"memory_id": "page", "source_version": version})),
        ] {
            let error = world.refuses(operation, request);
            assert_eq!(error.message, format!("`source_version` is {version}; allowed: 0 to {COUNT_MAX}"));
        }
    }
    world.refuses("add_memory", json!({"context": "Another.", "source_version": "3"}));
    world.call("update_memory", json!({"memory_id": "page", "source_version": COUNT_MAX}));
    assert_eq!(source_version(&world, "page"), COUNT_MAX);
}

#[test]
fn versions_come_back_with_every_kind_of_backup() {
    let world = world_with_versions();
    for format in World::backup_formats() {
        let created = world.call("backup_create", json!({ "format": format }));
        world.call("update_memory", json!({"memory_id": "stays", "clear": ["source_version"]}));
        world.call("backup_restore", json!({"backup_id": created["backup_id"], "confirm": true}));
        assert_eq!(source_version(&world, "stays"), 5, "{format}");
        assert_eq!(source_version(&world, "v2"), 2, "{format}");
        world.assert_doctor_is_content();
    }
}
