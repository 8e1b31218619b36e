//! Drains: sources with more garbage than one plan may take, announced, taken in rounds, taken back and stopped.

use rootset_gc::drains::DrainMode;
use rootset_model::RetentionPolicy;
use rootset_service::scheduler::{Round, Scheduler, Tick};
use rootset_service::{GcSettings, Settings};
use serde_json::{Value, json};

use crate::harness::{DAY_MS, World, array};

fn settings(change: impl FnOnce(&mut GcSettings)) -> Settings {
    let mut gc = GcSettings { enabled: true, auto_delete: true, ..GcSettings::default() };
    change(&mut gc);
    Settings { gc, ..Settings::default() }
}

/// What the file says: everything older than ten days goes.
fn ten_days(gc: &mut GcSettings) {
    gc.retention = RetentionPolicy { max_age_ms: Some(10 * DAY_MS), ..RetentionPolicy::default() };
}

fn scheduler(world: &World, settings: Settings) -> Scheduler {
    Scheduler::new(world.process_with(settings))
}

/// The round of the next day.
#[track_caller]
fn next_round(world: &World, scheduler: &Scheduler) -> Round {
    world.advance_ms(DAY_MS);
    round(scheduler)
}

#[track_caller]
fn round(scheduler: &Scheduler) -> Round {
    match scheduler.tick().unwrap() {
        Tick::Ran(round) => round,
        other => panic!("{other:?}"),
    }
}

fn add(world: &World, source: &str, kind: &str, count: usize) {
    let memory =
        |n| json!({"context": format!("{source} {kind} note number {n}"), "name": format!("{source}-{kind}-{n}")});
    let memories: Vec<Value> = (0..count)
        .map(memory)
        .map(|mut it| {
            it["source"] = json!(source);
            it
        })
        .collect();
    world.call("add_memories", json!({ "memories": memories }));
}

fn live(world: &World, source: &str) -> usize {
    world.call("list_memories", json!({"source": source, "limit": 1}))["total"].as_u64().unwrap() as usize
}

fn rounds(world: &World) -> Value {
    world.call("gc_status", json!({}))["rounds"].clone()
}

fn events(world: &World) -> Vec<String> {
    let trail = world.call("list_audit", json!({"kinds": ["events"], "limit": 100}));
    let mut kinds: Vec<String> =
        array(&trail["entries"]).iter().map(|entry| entry["operation"].as_str().unwrap().to_owned()).collect();
    kinds.reverse();
    kinds.retain(|kind| kind != "garbage_found");
    kinds
}

#[test]
fn policy_of_a_file_is_announced_then_drains_source_by_source_and_keeps_the_last_memory() {
    let world = World::new();
    add(&world, "chat", "old", 100);
    add(&world, "notes", "old", 2);
    world.advance_ms(11 * DAY_MS);
    add(&world, "notes", "young", 10);
    let scheduler = scheduler(&world, settings(ten_days));
    // Within the limits, and not held up by the other source.
    let first = round(&scheduler);
    assert_eq!((first.trashed, live(&world, "notes"), live(&world, "chat")), (2, 10, 100));
    let (workspace, waits) = &first.waiting[0];
    assert_eq!((workspace.as_str(), waits.source.as_str(), waits.state.as_str()), ("home", "chat", "announced"));
    assert_eq!(rounds(&world)["sources"][0]["garbage"], 100);
    // A day later it goes in five rounds, oldest first.
    let mut sizes = Vec::new();
    for _ in 0..5 {
        next_round(&world, &scheduler);
        sizes.push(live(&world, "chat"));
    }
    assert_eq!(sizes, [80, 60, 40, 20, 1]);
    assert_eq!(next_round(&world, &scheduler).trashed, 0);
    assert_eq!((live(&world, "chat"), rounds(&world)["sources"].clone()), (1, Value::Null));
    assert_eq!(rounds(&world)["garbage"], 1, "the last memory is garbage, and stays");
    let told = events(&world);
    let expected: Vec<&str> = [&["drain_announced", "drain_began"][..], &["drain_round"; 5], &["drain_ended"]].concat();
    assert_eq!(told, expected);
    world.assert_doctor_is_content();
}

#[test]
fn policy_whose_effect_was_shown_begins_at_once_and_may_empty_a_source() {
    let world = World::new();
    add(&world, "chat", "old", 50);
    world.advance_ms(11 * DAY_MS);
    let scheduler = scheduler(&world, settings(|_| {}));
    assert_eq!(round(&scheduler).trashed, 0);
    let set = world.call("set_retention", json!({"max_age": "10d", "may_empty": true}));
    assert_eq!(set["would_expire"]["memories"], 50);
    assert_eq!(next_round(&world, &scheduler).trashed, 10);
    for _ in 0..4 {
        next_round(&world, &scheduler);
    }
    assert_eq!(live(&world, "chat"), 0);
}

#[test]
fn policy_that_finds_far_more_than_was_shown_is_announced() {
    let world = World::new();
    add(&world, "chat", "old", 10);
    world.advance_ms(11 * DAY_MS);
    add(&world, "chat", "middle", 90);
    assert_eq!(world.call("set_retention", json!({"max_age": "10d"}))["would_expire"]["memories"], 10);
    let scheduler = scheduler(&world, settings(|_| {}));
    assert_eq!(round(&scheduler).trashed, 10, "within the limits");
    world.advance_ms(10 * DAY_MS);
    let round = next_round(&world, &scheduler);
    assert_eq!((round.trashed, round.waiting[0].1.state.as_str()), (0, "announced"));
    assert_eq!(next_round(&world, &scheduler).trashed, 18);
}

#[test]
fn typing_error_in_a_file_is_announced_before_anything_goes_and_setting_it_right_withdraws_it() {
    let world = World::new();
    add(&world, "chat", "some", 100);
    world.advance_ms(11 * DAY_MS);
    let wrong = scheduler(&world, settings(ten_days));
    assert_eq!((round(&wrong).trashed, live(&world, "chat")), (0, 100));
    drop(wrong);
    let right = |gc: &mut GcSettings| {
        gc.retention = RetentionPolicy { max_age_ms: Some(100 * DAY_MS), ..RetentionPolicy::default() };
    };
    let right = scheduler(&world, settings(right));
    assert_eq!((next_round(&world, &right).trashed, live(&world, "chat")), (0, 100));
    assert_eq!(events(&world), ["drain_announced", "drain_withdrawn"]);
    assert_eq!(rounds(&world)["sources"], Value::Null);
}

#[test]
fn undo_of_a_drain_takes_all_its_rounds_back_and_stops_it_until_the_policy_changes() {
    let world = World::new();
    add(&world, "chat", "old", 50);
    world.advance_ms(11 * DAY_MS);
    let before = world.dump("home")["memories"].clone();
    let scheduler = scheduler(&world, settings(|_| {}));
    world.call("set_retention", json!({"max_age": "10d"}));
    round(&scheduler);
    next_round(&world, &scheduler);
    assert_eq!(live(&world, "chat"), 30);
    let drain = rounds(&world)["sources"][0]["drain_id"].clone();
    let listed = world.call("gc_undo", json!({}))["runs"].clone();
    assert_eq!((&listed[0]["drain_id"], &listed[1]["drain_id"]), (&drain, &drain));
    let undone = world.call("gc_undo", json!({ "drain_id": drain }));
    assert_eq!(undone["restored"]["memories"], 20);
    assert_eq!(world.dump("home")["memories"], before);
    for _ in 0..3 {
        assert_eq!(next_round(&world, &scheduler).trashed, 0);
    }
    assert_eq!(rounds(&world)["sources"][0]["state"], "stopped");
    // Again is no error, and changes nothing.
    assert_eq!(world.call("gc_undo", json!({ "drain_id": drain }))["restored"]["memories"], 0);
    world.call("set_retention", json!({"max_age": "9d"}));
    assert_eq!(next_round(&world, &scheduler).trashed, 10);
    let (code, _) = world.fails("gc_undo", json!({"drain_id": "00000000-0000-0000-0000-000000000000"}));
    assert_eq!(code, "not_found");
    world.assert_doctor_is_content();
}

#[test]
fn trash_of_a_drain_is_purged_only_when_the_grace_of_its_last_round_is_over() {
    // A grace that is longer than the time between two rounds, and one that is shorter.
    for (grace_ms, interval_ms) in [(2 * DAY_MS, DAY_MS), (DAY_MS, 2 * DAY_MS)] {
        let world = World::new();
        add(&world, "chat", "old", 50);
        world.advance_ms(11 * DAY_MS);
        let gc = settings(|gc| {
            gc.drain = DrainMode::AtOnce;
            gc.retention = ten_days_policy();
            gc.interval_ms = interval_ms;
        });
        let scheduler = scheduler(&world, Settings { grace_ms, ..gc });
        let trashed = || world.call("gc_status", json!({}))["trash"]["memories"].as_u64().unwrap();
        let mut days = 0;
        while live(&world, "chat") > 1 {
            // Housekeeping comes every day, whether a round is due or not.
            scheduler.tick().unwrap();
            assert_eq!(live(&world, "chat") + trashed() as usize, 50, "day {days}");
            world.advance_ms(DAY_MS);
            days += 1;
        }
        assert_eq!(days, 4 * interval_ms / DAY_MS + 1);
        world.advance_ms(grace_ms);
        scheduler.tick().unwrap();
        assert_eq!(trashed(), 0);
    }
}

fn ten_days_policy() -> RetentionPolicy {
    RetentionPolicy { max_age_ms: Some(10 * DAY_MS), ..RetentionPolicy::default() }
}

#[test]
fn recently_used_memories_go_last_and_pinned_ones_not_at_all() {
    let world = World::new();
    add(&world, "chat", "old", 50);
    world.call("update_memory", json!({"memory_id": "chat-old-0", "pinned": true}));
    world.advance_ms(9 * DAY_MS);
    world.call("get_memory", json!({"memory_id": "chat-old-1"}));
    world.advance_ms(2 * DAY_MS);
    world.call("set_retention", json!({"max_age": "10d"}));
    let scheduler = scheduler(&world, settings(|_| {}));
    round(&scheduler);
    for _ in 0..3 {
        next_round(&world, &scheduler);
    }
    let names = world.listed(json!({"source": "chat", "limit": 100}));
    assert_eq!(names.len(), 10);
    assert!(names.contains(&"chat-old-0".to_owned()) && names.contains(&"chat-old-1".to_owned()), "{names:?}");
    next_round(&world, &scheduler);
    assert_eq!(world.listed(json!({"source": "chat"})), ["chat-old-0"], "what is pinned is no garbage");
}

#[test]
fn policy_of_a_tag_comes_before_that_of_its_source_and_the_longest_of_several_decides() {
    let world = World::new();
    for (name, tags) in [("plain", json!([])), ("log", json!(["log"])), ("both", json!(["log", "keep"]))] {
        world.call("add_memory", json!({"name": name, "context": format!("a note that is {name}"), "tags": tags}));
    }
    world.call("set_retention", json!({"max_age": "20d"}));
    world.call("set_retention", json!({"tag": "log", "max_age": "5d"}));
    world.call("set_retention", json!({"tag": "keep"}));
    assert_eq!(world.call("get_retention", json!({"tag": "log"}))["origin"], "tag");
    let scheduler = scheduler(&world, settings(|_| {}));
    world.advance_ms(6 * DAY_MS);
    round(&scheduler);
    assert_eq!(world.listed(json!({})), ["both", "plain"]);
    let trail = world.call("list_audit", json!({"operation": "gc_apply"}));
    let details = &trail["entries"][0]["details"];
    assert_eq!(details["policies"], json!({"user": [{"max_age": "5d"}]}), "the one that took it");
    assert_eq!(details["strategies"], json!(["stale_code", "expired", "superseded"]));
    world.advance_ms(20 * DAY_MS);
    round(&scheduler);
    assert_eq!(world.listed(json!({})), ["both"]);
}

#[test]
fn quiet_workspaces_are_not_looked_at_and_one_that_is_written_to_is() {
    let world = World::new();
    for workspace in ["a", "b", "c"] {
        world.call("create_workspace", json!({ "workspace_id": workspace }));
        world.call("add_memory", json!({"workspace_id": workspace, "context": "something to keep"}));
    }
    world.advance_ms(60_000);
    let scheduler = scheduler(&world, settings(ten_days));
    assert_eq!(round(&scheduler).workspaces, 4, "the first look");
    assert_eq!(next_round(&world, &scheduler).workspaces, 0);
    world.call("add_memory", json!({"workspace_id": "b", "context": "something else to keep"}));
    world.call("set_retention", json!({"workspace_id": "c", "max_age": "1d"}));
    assert_eq!(next_round(&world, &scheduler).workspaces, 2);
    world.advance_ms(8 * DAY_MS);
    assert_eq!(next_round(&world, &scheduler).workspaces, 3, "ten days are over, only for what was written then");
}

#[test]
fn what_a_final_policy_took_does_not_come_back_with_a_backup_and_what_another_took_does() {
    for format in World::backup_formats() {
        let world = World::new();
        add(&world, "chat", "old", 3);
        add(&world, "invoices", "old", 3);
        world.advance_ms(11 * DAY_MS);
        add(&world, "chat", "young", 20);
        add(&world, "invoices", "young", 20);
        let backup = world.call("backup_create", json!({ "format": format }))["backup_id"].clone();
        world.call("set_retention", json!({"source": "chat", "max_age": "10d"}));
        world.call("set_retention", json!({"source": "invoices", "max_age": "10d", "final": true}));
        let scheduler = scheduler(&world, Settings { grace_ms: DAY_MS, ..settings(|_| {}) });
        assert_eq!(round(&scheduler).trashed, 6);
        world.advance_ms(2 * DAY_MS);
        round(&scheduler);
        assert_eq!(world.call("gc_status", json!({}))["trash"]["memories"], 0);
        // The backup has no policies at all: the ledger alone knows.
        let restored = world.call("backup_restore", json!({"backup_id": backup, "confirm": true}));
        assert_eq!(restored["replayed_erasures"], 3, "{format}");
        assert_eq!((live(&world, "chat"), live(&world, "invoices")), (23, 20));
        world.assert_doctor_is_content();
        // Somebody may write the same again: the period begins anew.
        add(&world, "invoices", "old", 3);
        assert_eq!(live(&world, "invoices"), 23);
    }
}

#[test]
fn rows_past_a_final_policy_are_in_the_trash_after_a_restore_and_not_served() {
    let world = World::new();
    add(&world, "invoices", "old", 3);
    world.call("set_retention", json!({"source": "invoices", "max_age": "10d", "final": true}));
    let backup = world.call("backup_create", json!({}))["backup_id"].clone();
    world.advance_ms(11 * DAY_MS);
    let restored = world.call("backup_restore", json!({"backup_id": backup, "confirm": true}));
    assert_eq!((&restored["trashed_again"], live(&world, "invoices")), (&json!(3), 0));
    assert_eq!(world.found("invoices"), [""; 0]);
    world.assert_doctor_is_content();
}

#[test]
fn round_over_quiet_workspaces_asks_the_server_as_often_for_many_as_for_few() {
    let world = World::new();
    let often = |gc: &mut GcSettings| {
        ten_days(gc);
        gc.interval_ms = DAY_MS / 2;
    };
    let process = world.process_with(settings(often));
    let scheduler = Scheduler::new(process.clone());
    let create = |numbers: std::ops::Range<usize>| {
        for n in numbers {
            let workspace = format!("tenant-{n}");
            world.call("create_workspace", json!({ "workspace_id": workspace }));
            world.call("add_memory", json!({"workspace_id": workspace, "context": "something to keep"}));
        }
        // With the housekeeping of the day; then without.
        world.advance_ms(DAY_MS);
        round(&scheduler);
        world.advance_ms(DAY_MS / 2);
        let before = process.database_round_trips();
        assert_eq!(round(&scheduler).workspaces, 0);
        process.database_round_trips().zip(before).map(|(after, before)| after - before)
    };
    // The first one also opens connections and prepares statements.
    create(0..1);
    assert_eq!(create(1..3), create(3..13));
}
