//! What processes do after their answers: trash whose grace is over, plans of the past, and when to leave both alone.

use std::sync::Arc;

use rootset_service::scheduler::Scheduler;
use rootset_service::{BackupSettings, GcSettings, Service, Settings};
use rootset_testing::{TestDatabase, TestEngine};
use serde_json::{Value, json};

use crate::harness::{DAY_MS, HOUR_MS, World, array, text_of};

/// A command that writes, and what it owes after its answer.
fn write(world: &World, process: &Arc<Service>, text: &str) {
    process.call(&world.caller, "add_memory", json!({ "context": text })).unwrap();
    process.finish().unwrap();
}

fn trashed(world: &World) -> Value {
    world.call("list_trash", json!({}))["total"].clone()
}

/// A memory that has been in the trash for eight days, and processes that have seen the clock before.
fn with_old_trash() -> World {
    let world = World::new();
    write(&world, &world.service, "falcon flies at dawn");
    let memory = text_of(&world.call("list_memories", json!({}))["memories"][0]["memory_id"]);
    world.delete(&memory);
    world.advance_ms(8 * DAY_MS);
    world
}

#[test]
fn trash_past_its_grace_is_purged_by_the_next_process_that_writes() {
    let world = with_old_trash();
    assert_eq!(trashed(&world), 1);
    write(&world, &world.second_process(), "heron stands still");
    assert_eq!(trashed(&world), 0);
    assert_eq!(world.places_with(b"falcon flies"), Vec::<String>::new());
    let audit = world.call("list_audit", json!({"operation": "gc_purge"}));
    assert_eq!(audit["entries"][0]["actor"], "housekeeping");
    world.assert_doctor_is_content();
}

/// By the server's own clock, which no test moves.
#[test]
fn tokens_of_old_commits_on_postgres_are_deleted_by_the_next_process_that_writes() {
    let world = World::on(TestDatabase::on(TestEngine::Postgres), |service| service);
    write(&world, &world.service, "falcon flies at dawn");
    world.advance_ms(2 * DAY_MS);
    let sql = world.sql();
    sql.execute_batch("INSERT INTO commits (token, at) VALUES ('\\x01', 0)").unwrap();
    write(&world, &world.second_process(), "heron stands still");
    let count = |condition: &str| -> i64 {
        sql.scalar(&format!("SELECT COUNT(*) FROM commits WHERE {condition}"), &[]).unwrap()
    };
    assert_eq!(count("at = 0"), 0);
    assert!(count("at > 0") > 0);
}

#[test]
fn process_that_only_reads_keeps_no_house() {
    let world = with_old_trash();
    let reader = world.second_process();
    reader.call(&world.caller, "list_memories", json!({})).unwrap();
    reader.finish().unwrap();
    assert_eq!(trashed(&world), 1);
}

#[test]
fn trash_within_its_grace_stays() {
    let world = World::new();
    write(&world, &world.service, "falcon flies at dawn");
    let memory = world.add("heron stands still");
    world.delete(&memory);
    world.advance_ms(6 * DAY_MS);
    write(&world, &world.second_process(), "eagle circles");
    assert_eq!(trashed(&world), 1);
}

#[test]
fn housekeeping_is_done_once_a_day_over_all_processes() {
    let world = with_old_trash();
    write(&world, &world.second_process(), "heron stands still");
    let soon_over = world.process_with(Settings { grace_ms: HOUR_MS, ..Settings::default() });
    let memory = world.add("owl sees at night");
    soon_over.call(&world.caller, "delete_memory", json!({ "memory_id": memory })).unwrap();
    world.advance_ms(2 * HOUR_MS);
    write(&world, &soon_over, "eagle circles");
    assert_eq!(trashed(&world), 1, "it was done two hours ago");
    world.advance_ms(DAY_MS);
    write(&world, &soon_over, "kite hovers");
    assert_eq!(trashed(&world), 0);
}

#[test]
fn process_that_holds_the_lease_is_left_alone() {
    let world = with_old_trash();
    let held = format!(
        "UPDATE jobs SET lease_until = {} WHERE workspace = 0 AND kind = 'housekeeping'",
        world.now_ms() + HOUR_MS
    );
    assert_eq!(world.sql().execute(&held, &[]).unwrap(), 1);
    write(&world, &world.second_process(), "heron stands still");
    assert_eq!(trashed(&world), 1);
}

#[test]
fn trash_is_kept_where_the_configuration_says_so() {
    let world = with_old_trash();
    let keeping = GcSettings { purge_trash: false, ..GcSettings::default() };
    write(&world, &world.process_with(Settings { gc: keeping, ..Settings::default() }), "heron stands still");
    assert_eq!(trashed(&world), 1);
}

#[test]
fn promise_of_a_longer_grace_is_kept_by_a_process_with_a_shorter_one() {
    let world = World::new();
    write(&world, &world.service, "falcon flies at dawn");
    let memory = world.add("heron stands still");
    let patient = world.process_with(Settings { grace_ms: 30 * DAY_MS, ..Settings::default() });
    patient.call(&world.caller, "delete_memory", json!({ "memory_id": memory })).unwrap();
    world.advance_ms(8 * DAY_MS);
    write(&world, &world.second_process(), "eagle circles");
    assert_eq!(trashed(&world), 1);
    world.advance_ms(23 * DAY_MS);
    write(&world, &world.second_process(), "kite hovers");
    assert_eq!(trashed(&world), 0);
}

#[test]
fn clock_that_jumps_purges_nothing() {
    for jump_ms in [-400 * DAY_MS, 3_650 * DAY_MS] {
        let world = World::new();
        write(&world, &world.service, "falcon flies at dawn");
        let memory = world.add("heron stands still");
        world.delete(&memory);
        world.set_clock_ahead_ms(jump_ms);
        write(&world, &world.second_process(), "eagle circles");
        assert_eq!(trashed(&world), 1, "{jump_ms}");
        world.set_clock_ahead_ms(-jump_ms);
        world.advance_ms(8 * DAY_MS);
        write(&world, &world.second_process(), "kite hovers");
        assert_eq!(trashed(&world), 0, "set right, it goes on ({jump_ms})");
    }
}

#[test]
fn deleted_workspace_goes_for_good_after_its_grace() {
    let world = World::new();
    write(&world, &world.service, "falcon flies at dawn");
    world.call("create_workspace", json!({"workspace_id": "team"}));
    world.call("add_memory", json!({"workspace_id": "team", "context": "heron stands still"}));
    world.call("delete_workspace", json!({"workspace_id": "team", "confirm_phrase": "DELETE team"}));
    world.advance_ms(8 * DAY_MS);
    write(&world, &world.second_process(), "eagle circles");
    assert_eq!(world.fails("gc_undo", json!({"workspace_id": "team"})).0, "not_found");
    assert_eq!(world.places_with(b"heron stands"), Vec::<String>::new());
    world.assert_doctor_is_content();
}

#[test]
fn plans_that_nobody_applied_go_a_week_after_they_expired() {
    let world = World::new();
    write(&world, &world.service, "falcon flies at dawn");
    world.add("heron stands still");
    let plan = text_of(&world.call("forget", json!({"query": "falcon"}))["plan_id"]);
    world.advance_ms(2 * DAY_MS);
    write(&world, &world.second_process(), "eagle circles");
    assert_eq!(world.fails("gc_apply", json!({ "plan_id": plan })).0, "plan_expired");
    world.advance_ms(7 * DAY_MS);
    write(&world, &world.second_process(), "kite hovers");
    assert_eq!(world.fails("gc_apply", json!({ "plan_id": plan })).0, "not_found");
    world.assert_doctor_is_content();
}

#[test]
fn carried_out_plan_answers_its_outcome_for_a_while_and_its_run_can_still_be_undone() {
    let world = World::new();
    write(&world, &world.service, "falcon flies at dawn");
    world.add("heron stands still");
    let patient = world.process_with(Settings { grace_ms: 365 * DAY_MS, ..Settings::default() });
    let plan = patient.call(&world.caller, "forget", json!({"query": "falcon"})).unwrap()["plan_id"].clone();
    let applied = patient.call(&world.caller, "gc_apply", json!({ "plan_id": plan })).unwrap();
    for _ in 0..2 {
        world.advance_ms(40 * DAY_MS);
        write(&world, &world.second_process(), &format!("eagle circles at {}", world.now_ms()));
    }
    assert_eq!(world.call("gc_apply", json!({ "plan_id": plan }))["run_id"], applied["run_id"]);
    world.advance_ms(40 * DAY_MS);
    write(&world, &world.second_process(), "kite hovers");
    assert_eq!(world.fails("gc_apply", json!({ "plan_id": plan })).0, "not_found");
    assert_eq!(world.call("gc_undo", json!({"run_id": applied["run_id"]}))["restored"]["memories"], 1);
    world.assert_doctor_is_content();
}

fn backups(world: &World) -> usize {
    array(&world.call("backup_list", json!({}))["backups"]).len()
}

#[test]
fn backup_is_taken_once_a_day_by_who_writes_and_old_ones_go() {
    let world = World::new();
    write(&world, &world.service, "falcon flies at dawn");
    assert_eq!(backups(&world), 0, "a new database has nothing to lose yet");
    for day in 1..=10 {
        world.advance_ms(DAY_MS);
        write(&world, &world.second_process(), &format!("heron stands still on day {day}"));
        write(&world, &world.second_process(), &format!("eagle circles on day {day}"));
        let expected = day.min(7);
        assert_eq!(backups(&world), expected, "those of the last week, on day {day}");
    }
}

#[test]
fn no_backup_is_taken_where_they_are_off() {
    let world = World::new();
    let backup = BackupSettings { interval_ms: None, ..BackupSettings::default() };
    let process = world.process_with(Settings { backup, ..Settings::default() });
    for day in 0..3 {
        write(&world, &process, &format!("falcon flies on day {day}"));
        world.advance_ms(DAY_MS);
    }
    assert_eq!(backups(&world), 0);
}

/// A scheduler that does nothing but housekeeping.
fn scheduler_with(world: &World, backup: BackupSettings) -> Scheduler {
    let gc = GcSettings { enabled: true, ..GcSettings::default() };
    Scheduler::new(world.process_with(Settings { gc, backup, ..Settings::default() }))
}

#[test]
fn scheduler_purges_only_after_a_backup_that_verifies() {
    let world = with_old_trash();
    let file = world.folder().join("file");
    std::fs::write(&file, "").unwrap();
    let nowhere = file.join("no folder can be made below a file");
    let without = BackupSettings { folder: Some(nowhere), ..BackupSettings::default() };
    scheduler_with(&world, without).tick().unwrap();
    assert_eq!(trashed(&world), 1, "no backup, no purge");
    scheduler_with(&world, BackupSettings::default()).tick().unwrap();
    assert_eq!((trashed(&world), backups(&world)), (json!(0), 1));
    let backup = world.call("backup_list", json!({}))["backups"][0]["backup_id"].clone();
    assert_eq!(world.call("backup_verify", json!({ "backup_id": backup }))["ok"], true);
}

#[test]
fn scheduler_purges_nothing_while_texts_are_no_longer_what_was_written() {
    let world = with_old_trash();
    world.add_named("owl", "The owl sleeps.");
    world.sql().execute_batch("UPDATE revisions SET context = replace(context, 'sleeps', 'rleeps')").unwrap();
    let scheduler = scheduler_with(&world, BackupSettings::default());
    scheduler.tick().unwrap();
    assert_eq!((trashed(&world), backups(&world)), (json!(1), 1), "the backup is made, but does not verify");
    world.call("update_memory", json!({"memory_id": "owl", "context": "The owl is awake.", "erase_previous": true}));
    world.advance_ms(DAY_MS);
    scheduler.tick().unwrap();
    assert_eq!(trashed(&world), 0);
}

#[test]
fn scheduler_takes_backups_as_often_as_the_interval_asks() {
    let world = World::new();
    write(&world, &world.service, "falcon flies at dawn");
    let scheduler = scheduler_with(&world, BackupSettings { interval_ms: Some(HOUR_MS), ..BackupSettings::default() });
    for hour in 1..=3 {
        world.advance_ms(HOUR_MS);
        scheduler.tick().unwrap();
        scheduler.tick().unwrap();
        assert_eq!(backups(&world), hour);
    }
}

#[test]
fn scheduler_defragments_when_it_pays_and_nobody_writes() {
    let world = World::new();
    let memories: Vec<String> = (0..20).map(|n| world.add(&format!("falcon number {n} flies"))).collect();
    memories.iter().take(5).for_each(|memory| drop(world.delete(memory)));
    world.call("gc_purge", json!({"older_than": "0s", "confirm": true}));
    let gc = GcSettings { enabled: true, auto_defrag: true, ..GcSettings::default() };
    let scheduler = Scheduler::new(world.process_with(Settings { gc, ..Settings::default() }));
    let is_recommended = || world.call("gc_status", json!({}))["defrag_recommended"].clone();
    scheduler.tick().unwrap();
    assert_eq!(is_recommended(), true, "somebody has just written");
    world.advance_ms(HOUR_MS);
    scheduler.tick().unwrap();
    assert_eq!(is_recommended(), false);
    let audit = world.call("list_audit", json!({"database": true, "operation": "defrag"}));
    assert_eq!(audit["entries"][0]["actor"], "scheduler");
    world.assert_doctor_is_content();
}
