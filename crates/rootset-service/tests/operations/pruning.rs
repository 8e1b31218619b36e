//! Garbage by strategies: the preview, what is applied, and everything that may happen in between.

use rootset_model::limits::SWEEP_BATCH_MEMORIES;
use rootset_service::Settings;
use serde_json::{Value, json};

use crate::harness::{DAY_MS, World, array, text_of};

/// Ten notes of which those named `old-…` have run out.
fn world_with_expired(old: usize, fresh: usize) -> World {
    let world = World::new();
    for number in 0..old {
        let expires_at = world.now_ms() + DAY_MS;
        let text = format!("Old fact {number} about OldThing{number}.");
        world.call("add_memory", json!({"name": format!("old-{number}"), "context": text, "expires_at": expires_at}));
    }
    for number in 0..fresh {
        world.add_named(&format!("fresh-{number}"), &format!("Fresh fact {number} about FreshThing{number}."));
    }
    world.advance_ms(2 * DAY_MS);
    world
}

/// So many memories that have run out, and one, `kept`, that has not.
fn world_with_many_expired(count: usize) -> World {
    let world = World::new();
    let memories: Vec<Value> = (0..count)
        .map(|number| json!({"context": format!("note number {number}"), "expires_at": world.now_ms() + DAY_MS}))
        .collect();
    for part in memories.chunks(1_000) {
        world.call("add_memories", json!({ "memories": part }));
    }
    world.add_named("kept", "kept");
    world.advance_ms(2 * DAY_MS);
    world
}

fn plan(world: &World, strategies: &[&str]) -> Value {
    world.call("gc_plan", json!({ "strategies": strategies }))
}

fn item_names(plan: &Value) -> Vec<String> {
    array(&plan["items"]).iter().map(|item| text_of(&item["name"])).collect()
}

fn skips(applied: &Value) -> Vec<(String, String)> {
    array(&applied["skipped"]["first"]).iter().map(|it| (text_of(&it["id"]), text_of(&it["reason"]))).collect()
}

#[test]
fn prune_without_arguments_previews_and_changes_nothing() {
    let world = world_with_expired(1, 3);
    let before = world.dump("home");
    let preview = world.call("prune_memory", json!({}));
    assert_eq!(preview["items_total"], 0, "{preview}");
    assert_eq!(preview["message"], "nothing is garbage");
    let preview = world.call("prune_memory", json!({"strategy": "expired", "confirm": true}));
    assert_eq!(item_names(&preview), ["old-0"]);
    assert_eq!(preview["items"][0]["reason"], "its expires_at has passed");
    assert_eq!(preview["totals"]["memories"], 1);
    assert_eq!(world.dump("home"), before);
}

#[test]
fn prune_removes_only_when_it_is_told_twice() {
    let world = world_with_expired(1, 3);
    world.call("create_workspace", json!({"workspace_id": "other"}));
    for workspace in ["home", "other"] {
        let (code, error) =
            world.fails("prune_memory", json!({"workspace_id": workspace, "dry_run": false, "strategy": "expired"}));
        assert_eq!(code, "confirmation_required");
        assert!(error.details.as_ref().unwrap()["plan_id"].is_string(), "{error:?}");
        assert!(error.details.as_ref().unwrap()["totals"]["memories"].is_number(), "{error:?}");
    }
    world.refuses("prune_memory", json!({"strategy": "everything"}));
    world.refuses("prune_memory", json!({"stratgy": "expired"}));
    world.refuses("gc_plan", json!({"strategies": []}));
    assert_eq!(world.call("list_trash", json!({}))["total"], 0);
}

#[test]
fn the_default_workspace_is_pruned_only_by_an_earlier_preview() {
    let world = world_with_expired(1, 3);
    let request = json!({"dry_run": false, "confirm": true, "strategy": "expired"});
    let (code, error) = world.fails("prune_memory", request);
    assert_eq!(code, "confirmation_required");
    let plan = &error.0.details.unwrap()["plan_id"];
    let applied = world.call("prune_memory", json!({"dry_run": false, "confirm": true, "plan_id": plan}));
    assert_eq!(applied["trashed"]["memories"], 1, "{applied}");
    assert!(applied["undo_until"].is_string() && applied["message"].is_string(), "{applied}");
    world.assert_doctor_is_content();
}

#[test]
fn the_call_to_make_after_a_confirmation_keeps_what_was_to_be_kept() {
    let world = world_with_expired(2, 6);
    let request = json!({"dry_run": false, "strategy": "expired", "exclude": ["old-0"], "allow_large": true});
    let (_, error) = world.fails("prune_memory", request);
    let next = error.0.details.unwrap()["next"].clone();
    let applied = world.call(&text_of(&next["operation"]), next["arguments"].clone());
    assert_eq!(applied["trashed"]["memories"], 1, "{applied}");
    assert!(world.look("old-0").get("trashed_at").is_none());
}

#[test]
fn another_workspace_is_pruned_in_one_go() {
    let world = World::new();
    world.call("create_workspace", json!({"workspace_id": "w"}));
    let expires_at = world.now_ms() + DAY_MS;
    for (name, expires_at) in [("a", Some(expires_at)), ("b", None)] {
        let request = json!({"workspace_id": "w", "name": name, "context": name, "expires_at": expires_at});
        world.call("add_memory", request);
    }
    world.advance_ms(2 * DAY_MS);
    let request = json!({"workspace_id": "w", "dry_run": false, "confirm": true, "strategy": "all"});
    let applied = world.call("prune_memory", request.clone());
    assert_eq!(applied["trashed"]["memories"], 1);
    let again = world.call("prune_memory", request);
    assert_eq!(again["trashed"]["memories"], 0, "nothing is left: {again}");
    let run = applied["run_id"].clone();
    world.call("gc_undo", json!({"workspace_id": "w", "run_id": run}));
    assert_eq!(world.call("list_memories", json!({"workspace_id": "w"}))["total"], 2);
}

#[test]
fn the_call_to_make_next_is_about_the_same_workspace() {
    let world = World::new();
    world.call("create_workspace", json!({"workspace_id": "w"}));
    for (name, expires_at) in [("a", Some(world.now_ms() + DAY_MS)), ("b", None)] {
        let request = json!({"workspace_id": "w", "name": name, "context": name, "expires_at": expires_at});
        world.call("add_memory", request);
    }
    world.advance_ms(2 * DAY_MS);
    let unconfirmed = json!({"workspace_id": "w", "dry_run": false, "strategy": "expired"});
    let next = |error: rootset_service::ServiceError| error.0.details.unwrap()["next"].clone();
    let prune = next(world.fails("prune_memory", unconfirmed).1);
    let applied = world.call(&text_of(&prune["operation"]), prune["arguments"].clone());
    assert_eq!(applied["trashed"]["memories"], 1);
    let purge = next(world.fails("gc_purge", json!({"workspace_id": "w", "older_than": "0"})).1);
    let set = purge["arguments"]["set"].clone();
    assert_eq!(purge["arguments"], json!({"older_than": "0", "confirm": true, "workspace_id": "w", "set": set}));
    assert_eq!(world.call("gc_purge", purge["arguments"].clone())["purged"]["memories"], 1);
}

#[test]
fn everything_garbage_and_an_empty_workspace_answer_sensibly() {
    let world = World::new();
    let empty = world.call("prune_memory", json!({"strategy": "all"}));
    assert_eq!((&empty["items_total"], &empty["fraction"]), (&json!(0), &json!(0.0)));
    let world = world_with_expired(3, 0);
    let plan = plan(&world, &["expired"]);
    assert_eq!(plan["fraction"], 1.0);
    assert_eq!(plan["blocked"][0]["limit"], "last_memory");
    let (code, error) = world.fails("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(code, "limit_exceeded");
    assert!(error.message.contains("all 3 memories"), "{error}");
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "allow_large": true}));
    assert_eq!(applied["trashed"]["memories"], 3);
}

#[test]
fn what_was_pinned_used_updated_or_deleted_after_the_plan_stays_or_is_left_alone() {
    let world = world_with_expired(6, 24);
    let plan = plan(&world, &["expired"]);
    assert_eq!(plan["totals"]["memories"], 6);
    let id = |name: &str| text_of(&world.look(name)["memory_id"]);
    let (pinned, used, updated, deleted) = (id("old-0"), id("old-1"), id("old-2"), id("old-3"));
    world.call("update_memory", json!({"memory_id": pinned, "pinned": true, "pin_reason": "still true"}));
    world.call("get_memory", json!({"memory_id": used}));
    world.call("update_memory", json!({"memory_id": updated, "topic": "another"}));
    world.delete(&deleted);
    // Reviewing an item with the plan does not save it.
    world.call("get_memory", json!({"memory_id": id("old-4"), "plan_id": plan["plan_id"]}));
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "allow_large": true}));
    assert_eq!(applied["trashed"]["memories"], 2, "{applied}");
    let mut skipped = skips(&applied);
    skipped.sort();
    let mut wanted = vec![
        (pinned, "pinned".to_owned()),
        (used, "used".to_owned()),
        (updated, "changed".to_owned()),
        (deleted, "trashed".to_owned()),
    ];
    wanted.sort();
    assert_eq!(skipped, wanted);
    world.assert_doctor_is_content();
}

#[test]
fn garbage_that_appears_after_the_plan_is_not_touched_by_it() {
    let world = world_with_expired(1, 9);
    let plan = plan(&world, &["expired"]);
    let expires_at = world.now_ms() + DAY_MS / 2;
    world.call("add_memory", json!({"name": "newer", "context": "Newer garbage.", "expires_at": expires_at}));
    world.advance_ms(DAY_MS * 2 / 3);
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(applied["trashed"]["memories"], 1);
    assert!(world.listed(json!({"limit": 100})).contains(&"newer".to_owned()));
    let again = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(again, applied, "a second apply answers the first outcome");
}

#[test]
fn a_plan_expires_and_belongs_to_its_workspace() {
    let world = world_with_expired(1, 9);
    world.call("create_workspace", json!({"workspace_id": "b"}));
    let plan = plan(&world, &["expired"]);
    let (code, _) = world.fails("gc_apply", json!({"plan_id": plan["plan_id"], "workspace_id": "b"}));
    assert_eq!(code, "not_found");
    world.advance_ms(DAY_MS + 1);
    let (code, _) = world.fails("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(code, "plan_expired");
}

#[test]
fn previewed_counts_are_applied_counts_and_undo_is_the_identity() {
    let world = world_with_expired(2, 20);
    // Shared with a fresh one: the entity stays.
    world.call(
        "add_memory",
        json!({"name": "old-shared", "context": "FreshThing1 uses LonelyThing.", "expires_at": world.now_ms() + 1}),
    );
    world.advance_ms(DAY_MS);
    let before = world.dump("home");
    let plan = plan(&world, &["all"]);
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    for kind in ["memories", "chunks", "entities", "relations"] {
        assert_eq!(applied["trashed"][kind], plan["totals"][kind], "{kind}");
    }
    assert_eq!(plan["totals"]["memories"], 3);
    world.call("gc_undo", json!({"run_id": applied["run_id"]}));
    assert_eq!(world.dump("home"), before);
}

#[test]
fn exclude_keeps_what_it_names_and_does_not_count_against_the_limit() {
    let world = world_with_expired(8, 24);
    let plan = plan(&world, &["expired"]);
    assert_eq!(plan["blocked"][0]["limit"], "plan_fraction_max");
    let exclude = ["old-0", "old-1", "old-2"];
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "exclude": exclude}));
    assert_eq!(applied["trashed"]["memories"], 5, "{applied}");
    assert_eq!(applied["skipped"]["count"], 3);
    assert!(skips(&applied).iter().all(|(_, reason)| reason == "excluded"));
}

#[test]
fn thirty_of_a_hundred_are_too_many_and_three_of_five_are_not() {
    let world = world_with_expired(30, 70);
    let thirty = plan(&world, &["expired"]);
    let (code, error) = world.fails("gc_apply", json!({"plan_id": thirty["plan_id"]}));
    assert_eq!(code, "limit_exceeded");
    assert!(error.message.contains("30 of 100") && error.message.contains("20 %"), "{error}");
    assert_eq!(world.call("list_trash", json!({}))["total"], 0);
    let world = world_with_expired(3, 2);
    let three = plan(&world, &["expired"]);
    assert_eq!(world.call("gc_apply", json!({"plan_id": three["plan_id"]}))["trashed"]["memories"], 3);
}

#[test]
fn superseded_memories_go_after_thirty_days_unless_they_are_current_again() {
    let world = World::new();
    for name in ["v1", "v2", "other"] {
        world.add_named(name, &format!("Version {name}."));
    }
    world.call("supersede_memory", json!({"memory_id": "v1", "by": "v2"}));
    world.advance_ms(29 * DAY_MS);
    assert_eq!(plan(&world, &["superseded"])["items_total"], 0);
    world.advance_ms(2 * DAY_MS);
    let condemned = plan(&world, &["superseded"]);
    assert_eq!(item_names(&condemned), ["v1"]);
    // Its successor goes: it is current again, and the plan no longer holds.
    world.delete("v2");
    let applied = world.call("gc_apply", json!({"plan_id": condemned["plan_id"]}));
    assert_eq!(applied["trashed"]["memories"], 0);
    assert_eq!(skips(&applied)[0].1, "not_garbage");
}

/// A file of the code index, as a scan leaves it.
fn make_indexed(world: &World, name: &str, stale_at: Option<i64>) {
    let sql =
        "UPDATE memories SET repo = 'web', file_path = name, source = 'code_indexer', stale_at = ?2 WHERE name = ?1";
    world.sql().execute(sql, &[name.into(), stale_at.into()]).unwrap();
    world
        .sql()
        .execute_batch(
            "DELETE FROM sources;
             INSERT INTO sources SELECT workspace, source, COUNT(*) FROM memories GROUP BY workspace, source;",
        )
        .unwrap();
}

#[test]
fn stale_code_takes_stale_files_and_nothing_that_a_person_wrote() {
    let world = World::new();
    for name in ["gone.rs", "there.rs", "note"] {
        world.add_named(name, &format!("Text of {name}."));
    }
    make_indexed(&world, "gone.rs", Some(world.now_ms()));
    make_indexed(&world, "there.rs", None);
    // A hand edit: a note is no file, whatever its row says.
    world.sql().execute("UPDATE memories SET stale_at = 1 WHERE name = 'note'", &[]).unwrap();
    let condemned = plan(&world, &["stale_code"]);
    assert_eq!(item_names(&condemned), ["gone.rs"]);
    assert_eq!(condemned["items"][0]["file_path"], "gone.rs");
    // The next scan sees the file again.
    make_indexed(&world, "gone.rs", None);
    let applied = world.call("gc_apply", json!({"plan_id": condemned["plan_id"]}));
    assert_eq!(skips(&applied)[0].1, "not_garbage");
}

#[test]
fn searches_do_not_serve_files_that_left_their_repository() {
    let world = World::new();
    for name in ["gone.rs", "there.rs"] {
        world.add_named(name, &format!("Text of {name} about FileThing."));
    }
    make_indexed(&world, "gone.rs", Some(world.now_ms()));
    make_indexed(&world, "there.rs", None);
    let found = world.call("search_memory", json!({"query": "FileThing", "source": "code_indexer"}));
    let found: Vec<String> = array(&found["results"]).iter().map(|it| text_of(&it["name"])).collect();
    assert_eq!(found, ["there.rs"]);
    let listed = world.listed(json!({"source": "code_indexer"}));
    assert_eq!(listed.len(), 2, "until it is trashed, it can be looked at");
}

#[test]
fn rows_planted_without_contributors_are_reported_and_reclaimed() {
    let world = World::new();
    world.add_named("a", "SharedThing uses OneThing.");
    world.call("import_graph", json!({"entities": [{"name": "Imported"}], "relations": []}));
    let before = world.dump("home");
    let (entity, gone) = ("ab".repeat(16), "cd".repeat(16));
    world
        .sql()
        .execute_batch(&format!(
            "INSERT INTO entities VALUES (1, x'{entity}', 9001, 'Planted', 'thing', 'planted', 1, 0, 0);
             INSERT INTO contributions VALUES (1, x'{gone}', x'{entity}', 0, 1, NULL, 1.0);
             INSERT INTO chunks VALUES (1, 9001, x'{gone}', 0, 0, 0, 1, 0, NULL);"
        ))
        .unwrap();
    let complaints = world.complaints();
    assert!(complaints.contains(&"I8.memories".to_owned()), "{complaints:?}");
    let chunks = plan(&world, &["orphaned_chunks"]);
    assert_eq!(chunks["totals"]["reclaim"], json!({"chunks": 1, "entities": 0, "relations": 0}));
    assert_eq!(chunks["items"][0]["action"], "reclaim");
    let applied = world.call("gc_apply", json!({"plan_id": chunks["plan_id"]}));
    assert_eq!(applied["reclaimed"]["chunks"], 1, "{applied}");
    assert!(applied.get("undo_until").is_none(), "{applied}");
    let entities = plan(&world, &["orphaned_entities"]);
    assert_eq!(item_names(&entities), ["Planted"]);
    let applied = world.call("gc_apply", json!({"plan_id": entities["plan_id"]}));
    assert_eq!(applied["reclaimed"]["entities"], 1, "{applied}");
    world.call("doctor", json!({"repair": true}));
    world.assert_doctor_is_content();
    assert_eq!(world.dump("home"), before);
}

#[test]
fn a_plan_of_several_batches_is_applied_to_its_end_and_undone() {
    let count = SWEEP_BATCH_MEMORIES + 201;
    let world = world_with_many_expired(count);
    let condemned = plan(&world, &["expired"]);
    let request = json!({"plan_id": condemned["plan_id"], "allow_large": true});
    let applied = world.call("gc_apply", request.clone());
    assert_eq!(applied["trashed"]["memories"], count);
    assert_eq!(world.listed(json!({})), ["kept"]);
    assert_eq!(world.call("gc_apply", request), applied);
    let undone = world.call("gc_undo", json!({"run_id": applied["run_id"]}));
    assert_eq!(undone["restored"]["memories"], count);
    assert_eq!(world.call("list_memories", json!({}))["total"], count + 1);
    world.assert_doctor_is_content();
}

#[test]
fn what_happens_in_one_workspace_leaves_the_other_equal() {
    let world = world_with_expired(2, 8);
    world.call("create_workspace", json!({"workspace_id": "b"}));
    for name in ["old-0", "fresh-0"] {
        let text = text_of(&world.look(name)["context"]);
        let request = json!({"workspace_id": "b", "name": name, "context": text, "expires_at": world.now_ms()});
        world.call("add_memory", request);
    }
    let before = world.dump("b");
    let condemned = plan(&world, &["all"]);
    let applied = world.call("gc_apply", json!({"plan_id": condemned["plan_id"]}));
    world.call("set_retention", json!({"max_count": 1}));
    world.call("gc_undo", json!({"run_id": applied["run_id"]}));
    world.delete("old-0");
    world.call("gc_purge", json!({"older_than": "0", "confirm": true}));
    assert_eq!(world.dump("b"), before);
}

#[test]
fn a_chain_of_superseded_memories_goes_as_a_whole_in_several_batches() {
    let world = World::new();
    let count = SWEEP_BATCH_MEMORIES + 10;
    let memories: Vec<Value> = (0..count)
        .map(|number| json!({"name": format!("v{number}"), "context": format!("version {number}")}))
        .collect();
    for part in memories.chunks(1_000) {
        world.call("add_memories", json!({ "memories": part }));
    }
    world
        .sql()
        .execute_batch(&format!(
            "UPDATE memories SET superseded_at = 1, superseded_by = (
                 SELECT n.memory FROM memories n WHERE n.workspace = 1 AND n.sequence = memories.sequence + 1)
             WHERE name <> 'v{}'",
            count - 1
        ))
        .unwrap();
    let condemned = plan(&world, &["superseded"]);
    assert_eq!(condemned["totals"]["memories"], count - 1);
    let applied = world.call("gc_apply", json!({"plan_id": condemned["plan_id"], "allow_large": true}));
    assert_eq!((&applied["trashed"]["memories"], &applied["skipped"]["count"]), (&json!(count - 1), &json!(0)));
}

#[test]
fn a_backup_comes_before_an_apply_that_asks_for_one_and_never_before_an_erasure() {
    let world = world_with_expired(1, 9);
    let condemned = plan(&world, &["expired"]);
    let request = json!({"plan_id": condemned["plan_id"], "backup": true});
    world.call("gc_apply", request.clone());
    let backups = world.call("backup_list", json!({}));
    assert_eq!(array(&backups["backups"]).len(), 1, "{backups}");
    world.call("gc_apply", request);
    assert_eq!(world.call("backup_list", json!({})), backups, "the second apply only answers");
    let erasing = world.call("forget", json!({"query": "FreshThing1", "purge": true}));
    let refused = world.refuses("gc_apply", json!({"plan_id": erasing["plan_id"], "backup": true, "confirm": true}));
    assert!(refused.message.contains("backup"), "{refused}");
    let erased = world.call("gc_apply", json!({"plan_id": erasing["plan_id"], "confirm": true}));
    let holding = array(&erased["receipt"]["backups"]);
    assert_eq!(holding[0]["backup_id"], backups["backups"][0]["backup_id"], "{erased}");
    assert!(holding[0]["expires_at"].is_string());
}

#[test]
fn a_run_that_was_started_goes_on_although_its_plan_has_expired() {
    let count = SWEEP_BATCH_MEMORIES + 5;
    let world = world_with_many_expired(count);
    let condemned = plan(&world, &["expired"]);
    let mut settings = Settings::default();
    settings.gc.time_limit_ms = Some(0);
    let hurried = world.process_with(settings);
    let request = json!({"plan_id": condemned["plan_id"], "allow_large": true});
    let begun = hurried.call(&world.caller, "gc_apply", request.clone()).unwrap();
    assert_eq!((&begun["unfinished"], &begun["trashed"]["memories"]), (&json!(true), &json!(SWEEP_BATCH_MEMORIES)));
    world.advance_ms(3 * DAY_MS);
    let finished = world.call("gc_apply", request);
    assert_eq!((&finished["run_id"], &finished["trashed"]["memories"]), (&begun["run_id"], &json!(count)));
    assert_eq!(finished.get("unfinished"), None);
    assert_eq!(finished["trashed"]["entities"], condemned["totals"]["entities"]);
    world.assert_doctor_is_content();
}
