//! Wall clocks that are wrong by days, and databases that nobody uses for a while: nothing goes before its time, what went
//! can be brought back as far as it should, and backups go on.

use std::sync::Arc;

use rootset_model::{RetentionPolicy, Timestamp};
use rootset_service::scheduler::Scheduler;
use rootset_service::{GcSettings, Service, Settings};
use serde_json::{Value, json};

use crate::harness::{DAY_MS, HOUR_MS, World, array, text_of};

/// A command that writes, and what it owes after its answer.
fn write(world: &World, process: &Arc<Service>, text: &str) {
    process.call(&world.caller, "add_memory", json!({ "context": text })).unwrap();
    process.finish().unwrap();
}

/// Every day somebody writes something.
fn live_for_days(world: &World, days: i64, about: &str) {
    for day in 0..days {
        world.advance_ms(DAY_MS);
        write(world, &world.second_process(), &format!("{about} on day {day}"));
    }
}

fn trashed(world: &World) -> Value {
    world.call("list_trash", json!({}))["total"].clone()
}

fn backups(world: &World) -> usize {
    array(&world.call("backup_list", json!({}))["backups"]).len()
}

/// A backup out of reach of the housekeeping, which removes old ones; answers its path.
fn back_up(world: &World) -> String {
    back_up_as(world, json!({}))
}

fn back_up_as(world: &World, request: Value) -> String {
    let made = world.call("backup_create", request);
    let kept = world.folder().join(format!("kept {}", text_of(&made["backup_id"])));
    std::fs::rename(text_of(&made["path"]), &kept).unwrap();
    kept.display().to_string()
}

/// From a path, as the command line takes it.
fn restore(world: &World, backup: &str) -> Value {
    world.call("backup_restore", json!({"backup_id": backup, "confirm": true}))
}

fn is_waiting(world: &World) -> bool {
    !world.call("gc_status", json!({}))["waiting"].is_null()
}

/// A world that has been in use for a while.
fn used_world() -> World {
    let world = World::new();
    write(&world, &world.service, "falcon flies at dawn");
    live_for_days(&world, 2, "eagle circles");
    world
}

#[test]
fn one_write_with_the_clock_sixty_days_ahead_takes_nothing_and_backups_go_on() {
    let world = used_world();
    let memory = world.add_named("heron", "heron stands still");
    let run = world.delete(&memory);
    world.set_clock_ahead_ms(60 * DAY_MS);
    write(&world, &world.second_process(), "written in a future that is none");
    assert_eq!(trashed(&world), 1, "its undo window has hardly begun");
    assert!(is_waiting(&world));
    world.set_clock_ahead_ms(-60 * DAY_MS);
    write(&world, &world.second_process(), "the clock is right again");
    let before = backups(&world);
    for day in 1..=4 {
        live_for_days(&world, 1, &format!("kite hovers, week {day}"));
        assert_eq!(backups(&world), before + day, "one a day, whatever the clock was");
        assert_eq!(trashed(&world), 1, "day {day}");
    }
    assert!(!is_waiting(&world), "a day has passed since");
    assert_eq!(world.call("gc_undo", json!({ "run_id": run }))["restored"]["memories"], 1);
    world.assert_doctor_is_content();
}

#[test]
fn trash_goes_when_both_clocks_say_so_after_the_wall_clock_was_wrong() {
    let world = used_world();
    let memory = world.add("heron stands still");
    world.delete(&memory);
    for _ in 0..2 {
        world.set_clock_ahead_ms(60 * DAY_MS);
        write(&world, &world.second_process(), &format!("in a future that is none, {}", world.now_ms()));
        world.set_clock_ahead_ms(-60 * DAY_MS);
    }
    live_for_days(&world, 6, "kite hovers");
    assert_eq!(trashed(&world), 1, "what a jump adds to the observed time, the wall clock does not know");
    live_for_days(&world, 2, "owl sees");
    assert_eq!(trashed(&world), 0);
    world.assert_doctor_is_content();
}

#[test]
fn clock_that_stays_ahead_purges_no_earlier_than_the_database_has_seen_the_grace_pass() {
    let world = used_world();
    let memory = world.add("heron stands still");
    world.delete(&memory);
    world.set_clock_ahead_ms(60 * DAY_MS);
    write(&world, &world.second_process(), "the clock is wrong from now on");
    live_for_days(&world, 5, "kite hovers");
    assert_eq!(trashed(&world), 1);
    live_for_days(&world, 2, "owl sees");
    assert_eq!(trashed(&world), 0, "a jump counts as one day, and six have passed");
}

#[test]
fn gap_in_which_nothing_ran_is_waited_out() {
    let world = used_world();
    let memory = world.add("heron stands still");
    world.delete(&memory);
    world.let_pass_ms(30 * DAY_MS);
    write(&world, &world.second_process(), "somebody is back");
    assert_eq!(trashed(&world), 1);
    let waiting = text_of(&world.call("gc_status", json!({}))["waiting"]);
    assert!(waiting.contains("30 days, or nothing ran for so long"), "{waiting}");
    assert!(waiting.contains("for another 24 hours of running time"), "{waiting}");
    live_for_days(&world, 7, "kite hovers");
    assert_eq!(trashed(&world), 0);
}

#[test]
fn clock_that_is_set_back_purges_nothing_and_holds_nothing_up_for_good() {
    let world = used_world();
    let memory = world.add("heron stands still");
    world.delete(&memory);
    world.set_clock_ahead_ms(-400 * DAY_MS);
    let before = backups(&world);
    live_for_days(&world, 1, "kite hovers");
    assert_eq!((trashed(&world), backups(&world)), (json!(1), before + 1));
    live_for_days(&world, 30, "owl sees");
    assert_eq!(trashed(&world), 1, "by the wall clock it is not even there yet");
    let later = world.add("stork leaves");
    world.delete(&later);
    live_for_days(&world, 8, "crane returns");
    assert_eq!(trashed(&world), 1, "what came after is done as ever");
}

#[test]
fn trash_of_a_clock_that_was_ahead_gets_the_time_at_which_it_was_made() {
    let world = used_world();
    let memory = world.add("heron stands still");
    world.set_clock_ahead_ms(60 * DAY_MS);
    world.delete(&memory);
    world.set_clock_ahead_ms(-60 * DAY_MS);
    live_for_days(&world, 9, "kite hovers");
    assert_eq!(trashed(&world), 0, "it does not wait for sixty days");
}

/// A memory of a clock that was sixty days behind, which is right again.
fn with_slow_clock(world: &World) -> String {
    world.set_clock_ahead_ms(-60 * DAY_MS);
    let memory = world.add_named("slow", "written by a slow clock");
    world.set_clock_ahead_ms(60 * DAY_MS);
    memory
}

fn planned(world: &World) -> Vec<Value> {
    array(&world.call("gc_plan", json!({"strategies": ["expired"]}))["items"]).to_vec()
}

#[test]
fn memory_of_a_slow_clock_does_not_expire_at_once() {
    let world = used_world();
    world.call("set_retention", json!({"max_age": "30d"}));
    let memory = with_slow_clock(&world);
    assert_eq!(planned(&world), Vec::<Value>::new(), "nobody knows how old it is");
    assert_eq!(world.call("gc_status", json!({}))["unclassifiable"], 1);
    let now_ms = world.now_ms();
    live_for_days(&world, 2, "kite hovers");
    assert_eq!(world.call("gc_status", json!({}))["unclassifiable"], 0, "it was stamped anew");
    let stamped = world.look(&memory);
    for field in ["ingested_at", "created_at", "updated_at"] {
        let stamp: Timestamp = serde_json::from_value(stamped[field].clone()).unwrap();
        assert!(stamp.0.abs_diff(now_ms) < 2 * DAY_MS as u64, "{field}: {stamped}");
    }
    assert_eq!(planned(&world), Vec::<Value>::new());
    live_for_days(&world, 31, "owl sees");
    let expired = planned(&world);
    assert!(expired.iter().any(|item| item["id"] == memory.as_str()), "{expired:?}");
}

#[test]
fn scheduler_deletes_nothing_of_a_slow_clock() {
    let world = used_world();
    let gc = GcSettings {
        enabled: true,
        auto_delete: true,
        retention: RetentionPolicy { max_age_ms: Some(30 * DAY_MS), ..RetentionPolicy::default() },
        ..GcSettings::default()
    };
    let scheduler = || Scheduler::new(world.process_with(Settings { gc: gc.clone(), ..Settings::default() }));
    with_slow_clock(&world);
    for _ in 0..40 {
        scheduler().tick().unwrap();
        assert_eq!(trashed(&world), 0);
        world.advance_ms(12 * HOUR_MS);
    }
}

#[test]
fn age_counts_only_while_the_database_has_seen_a_day_of_it() {
    let world = used_world();
    world.call("set_retention", json!({"max_age": "30d"}));
    let memory = world.add_named("old", "brought with a time of its own");
    let old = world.now_ms() - 60 * DAY_MS;
    world.sql().execute(&format!("UPDATE memories SET ingested_at = {old} WHERE name = 'old'"), &[]).unwrap();
    assert_eq!(planned(&world), Vec::<Value>::new());
    world.advance_ms(DAY_MS);
    assert_eq!(planned(&world)[0]["id"], memory.as_str());
    let imported = "UPDATE memories SET ingested_observed_ms = NULL WHERE name = 'imported'";
    let memory = world.add_named("imported", "an import says how old it is");
    world.sql().execute(imported, &[]).unwrap();
    world.sql().execute(&format!("UPDATE memories SET ingested_at = {old} WHERE name = 'imported'"), &[]).unwrap();
    assert!(planned(&world).iter().any(|item| item["id"] == memory.as_str()));
}

#[test]
fn use_by_a_clock_that_was_ahead_does_not_save_a_memory_from_erasure_for_good() {
    let world = used_world();
    world.add_named("heron", "heron stands still");
    world.add_named("stork", "stork leaves");
    for (name, is_written_ahead) in [("heron", true), ("stork", false)] {
        world.set_clock_ahead_ms(60 * DAY_MS);
        world.call("get_memory", json!({ "memory_id": name }));
        if is_written_ahead {
            world.service.flush_uses().unwrap();
        }
        world.set_clock_ahead_ms(-60 * DAY_MS);
        live_for_days(&world, 3, "kite hovers");
        let plan = world.call("forget", json!({"query": name, "purge": true}));
        let erased = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "allow_large": true, "confirm": true}));
        assert_eq!(erased["skipped"]["count"], 0, "{name}: {erased}");
        assert_eq!(world.fails("get_memory", json!({ "memory_id": name })).0, "not_found");
    }
}

#[test]
fn lease_of_a_process_that_died_in_the_future_holds_nobody_up() {
    let world = used_world();
    let held = format!(
        "UPDATE jobs SET lease_until = {} WHERE workspace = 0 AND kind = 'housekeeping'",
        world.now_ms() + 60 * DAY_MS
    );
    assert_eq!(world.sql().execute(&held, &[]).unwrap(), 1);
    let before = backups(&world);
    live_for_days(&world, 1, "kite hovers");
    assert_eq!(backups(&world), before + 1);
}

#[test]
fn backups_are_not_thrown_away_by_a_clock_that_is_in_doubt() {
    let world = used_world();
    live_for_days(&world, 6, "kite hovers");
    let before = backups(&world);
    assert!(before > 3, "{before}");
    world.set_clock_ahead_ms(60 * DAY_MS);
    write(&world, &world.second_process(), "in a future that is none");
    assert_eq!(backups(&world), before + 1);
}

#[test]
fn what_somebody_removed_comes_back_from_a_backup_into_the_trash() {
    for format in World::backup_formats() {
        let world = used_world();
        let memory = world.add_named("heron", "heron stands still");
        let backup = back_up_as(&world, json!({ "format": format }));
        world.delete(&memory);
        let in_trash = back_up_as(&world, json!({ "format": format }));
        live_for_days(&world, 9, "kite hovers");
        assert_eq!(trashed(&world), 0);
        let (code, error) = world.fails("add_memory", json!({"context": "heron stands still"}));
        assert_eq!(code, "conflict");
        assert!(error.message.contains("removed"), "{error}");
        for backup in [backup, in_trash] {
            let restored = restore(&world, &backup);
            assert_eq!((&restored["trashed_again"], &restored["replayed_erasures"]), (&json!(1), &json!(0)));
            assert_eq!(trashed(&world), 1);
            assert_eq!(world.fails("get_memory", json!({"memory_id": "heron"})).0, "not_found");
            assert_eq!(world.fails("add_memory", json!({"context": "heron stands still"})).0, "conflict");
            world.assert_doctor_is_content();
        }
        let runs = world.call("gc_undo", json!({}))["runs"].clone();
        assert_eq!((&runs[0]["operation"], &runs[0]["trashed"]["memories"]), (&json!("backup_restore"), &json!(1)));
        assert_eq!(world.call("gc_undo", json!({"run_id": runs[0]["run_id"]}))["restored"]["memories"], 1);
        assert_eq!(world.look(&memory)["context"], "heron stands still");
        world.assert_doctor_is_content();
    }
}

#[test]
fn what_came_back_into_the_trash_has_a_new_grace_and_goes_again() {
    let world = used_world();
    let memory = world.add_named("heron", "heron stands still");
    let backup = back_up(&world);
    world.delete(&memory);
    live_for_days(&world, 9, "kite hovers");
    restore(&world, &backup);
    live_for_days(&world, 6, "owl sees");
    assert_eq!(trashed(&world), 1);
    live_for_days(&world, 2, "stork leaves");
    assert_eq!(trashed(&world), 0);
    assert_eq!(world.fails("add_memory", json!({"context": "heron stands still"})).0, "conflict");
    assert_eq!(restore(&world, &backup)["trashed_again"], 1);
}

#[test]
fn what_somebody_removed_goes_into_the_trash_of_a_new_database_too() {
    let world = used_world();
    let memory = world.add_named("heron", "heron stands still");
    world.call("create_workspace", json!({"workspace_id": "team"}));
    world.call("add_memory", json!({"workspace_id": "team", "context": "stork leaves"}));
    let backup = back_up_as(&world, json!({"format": "jsonl"}));
    world.delete(&memory);
    world.call("delete_workspace", json!({"workspace_id": "team", "confirm_phrase": "DELETE team"}));
    live_for_days(&world, 9, "kite hovers");
    for entry in std::fs::read_dir(world.backup_folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "ledger") {
            std::fs::copy(&path, world.folder().join(path.file_name().unwrap())).unwrap();
        }
    }
    let new = World::new();
    // Databases of tests may be copies of one, and a key is what tells databases apart.
    new.sql().execute("UPDATE meta SET value = ?1 WHERE key = 'erasure_key'", &[[7_u8; 32].as_slice().into()]).unwrap();
    let restored = restore(&new, &backup);
    assert_eq!((&restored["trashed_again"], &restored["replayed_erasures"]), (&json!(2), &json!(0)), "{restored}");
    assert_eq!(trashed(&new), 1);
    assert_eq!(new.fails("get_memory", json!({"memory_id": "heron"})).0, "not_found");
    assert_eq!(new.fails("list_memories", json!({"workspace_id": "team"})).0, "not_found");
    let runs = new.call("gc_undo", json!({}))["runs"].clone();
    assert_eq!(new.call("gc_undo", json!({"run_id": runs[0]["run_id"]}))["restored"]["memories"], 1);
    new.assert_doctor_is_content();
}

#[test]
fn what_a_policy_removed_comes_back_as_it_was() {
    let world = used_world();
    let expires = Timestamp(world.now_ms() + DAY_MS).to_string();
    let memory = world.call("add_memory", json!({"name": "short", "context": "soon over", "expires_at": expires}));
    let backup = back_up(&world);
    world.advance_ms(2 * DAY_MS);
    let plan = world.call("gc_plan", json!({"strategies": ["expired"]}));
    world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    let in_trash = back_up(&world);
    live_for_days(&world, 9, "kite hovers");
    assert_eq!(trashed(&world), 0);
    let restored = restore(&world, &in_trash);
    assert_eq!((&restored["trashed_again"], &restored["replayed_erasures"]), (&json!(0), &json!(0)));
    let trash = world.call("list_trash", json!({}));
    assert_eq!(trash["items"][0]["id"], memory["memory_id"], "in the trash as in the backup: {trash}");
    let runs = world.call("gc_undo", json!({}))["runs"].clone();
    assert_eq!(runs[0]["operation"], "gc_apply", "and it can be undone: {runs}");
    restore(&world, &backup);
    assert_eq!(world.look("short")["memory_id"], memory["memory_id"], "and alive as in the other");
    world.assert_doctor_is_content();
}

#[test]
fn what_was_removed_came_back_and_was_erased_then_never_comes_back() {
    let world = used_world();
    let memory = world.add_named("heron", "heron stands still");
    let first = back_up(&world);
    world.delete(&memory);
    live_for_days(&world, 9, "kite hovers");
    restore(&world, &first);
    let second = back_up(&world);
    world.call("gc_purge", json!({"older_than": "0s", "confirm": true}));
    for backup in [first, second] {
        let restored = restore(&world, &backup);
        assert_eq!((&restored["trashed_again"], &restored["replayed_erasures"]), (&json!(0), &json!(1)), "{restored}");
        assert_eq!(trashed(&world), 0);
        world.assert_doctor_is_content();
    }
}

#[test]
fn deleted_workspace_comes_back_into_the_trash() {
    let world = used_world();
    world.call("create_workspace", json!({"workspace_id": "team"}));
    world.call("add_memory", json!({"workspace_id": "team", "context": "heron stands still"}));
    let backup = back_up(&world);
    world.call("delete_workspace", json!({"workspace_id": "team", "confirm_phrase": "DELETE team"}));
    live_for_days(&world, 9, "kite hovers");
    assert_eq!(world.fails("gc_undo", json!({"workspace_id": "team"})).0, "not_found");
    assert_eq!(restore(&world, &backup)["trashed_again"], 1);
    assert_eq!(world.fails("list_memories", json!({"workspace_id": "team"})).0, "not_found");
    let runs = world.call("gc_undo", json!({"workspace_id": "team"}))["runs"].clone();
    world.call("gc_undo", json!({"workspace_id": "team", "run_id": runs[0]["run_id"]}));
    assert_eq!(world.call("list_memories", json!({"workspace_id": "team"}))["total"], 1);
    world.assert_doctor_is_content();
}

#[test]
fn session_and_segments_come_back_into_the_trash() {
    let world = used_world();
    for session in ["one", "two"] {
        let segments = json!([
            {"segment_id": "first", "type": "log", "text": format!("{session}: a line of it")},
            {"segment_id": "second", "type": "log", "text": format!("{session}: another line")},
        ]);
        world.call("context_add", json!({"session_id": session, "segments": segments}));
    }
    let backup = back_up(&world);
    world.call("context_delete_session", json!({"session_id": "one", "confirm": true}));
    world.call(
        "context_gc_prune",
        json!({"session_id": "two", "segment_ids": ["first"], "strategy": "delete", "confirm": true}),
    );
    let in_trash = trashed(&world);
    live_for_days(&world, 9, "kite hovers");
    assert_eq!(trashed(&world), 0);
    let restored = restore(&world, &backup);
    assert_eq!((&restored["trashed_again"], &restored["replayed_erasures"]), (&json!(2), &json!(0)), "{restored}");
    assert_eq!(trashed(&world), in_trash);
    let runs = world.call("gc_undo", json!({}))["runs"].clone();
    let undone = world.call("gc_undo", json!({"run_id": runs[0]["run_id"]}))["restored"].clone();
    assert_eq!((&undone["sessions"], &undone["segments"]), (&json!(1), &json!(1)), "{undone}");
    world.assert_doctor_is_content();
}

#[test]
fn forgotten_revision_comes_back_into_the_trash() {
    let world = used_world();
    let request = json!({"name": "heron", "topic": "birds", "context": "heron stands still by the Titan server"});
    let memory = text_of(&world.call("add_memory", request)["memory_id"]);
    world.call("update_memory", json!({"memory_id": memory, "context": "heron has left"}));
    let backup = back_up(&world);
    let plan = world.call("forget", json!({"query": "Titan"}));
    world.call("gc_apply", json!({"plan_id": plan["plan_id"], "allow_large": true}));
    let in_trash = trashed(&world);
    assert_eq!(in_trash, 1);
    live_for_days(&world, 9, "kite hovers");
    assert_eq!(trashed(&world), 0);
    assert_eq!(restore(&world, &backup)["trashed_again"], 1);
    assert_eq!(trashed(&world), in_trash);
    assert_eq!(world.look(&memory)["context"], "heron has left");
    world.assert_doctor_is_content();
}

#[test]
fn memory_that_a_backup_holds_in_doubt_is_as_young_as_its_restore() {
    let world = used_world();
    world.call("set_retention", json!({"max_age": "30d"}));
    let memory = with_slow_clock(&world);
    let backup = back_up(&world);
    live_for_days(&world, 3, "kite hovers");
    restore(&world, &backup);
    live_for_days(&world, 3, "owl sees");
    assert_eq!(planned(&world), Vec::<Value>::new());
    world.look(&memory);
}
