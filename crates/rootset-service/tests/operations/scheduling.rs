//! The scheduler, driven by a clock that moves only when told: rounds, reports, limits, leases and doubts.

use std::sync::Arc;

use parking_lot::Mutex;
use rootset_model::RetentionPolicy;
use rootset_service::scheduler::{Doubt, Event, Scheduler, TelemetrySink, Tick, Tombstone};
use rootset_service::{DrainMode, GcOverrides, GcSettings, Settings};
use serde_json::{Value, json};

use crate::harness::{DAY_MS, HOUR_MS, World, array};

/// Keeps what it is told.
#[derive(Debug, Default)]
struct Notebook(Mutex<Vec<Event>>);

impl TelemetrySink for Notebook {
    fn emit(&self, event: &Event) {
        self.0.lock().push(event.clone());
    }
}

impl Notebook {
    fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.0.lock())
    }

    fn tombstones(&self) -> Vec<Tombstone> {
        let tombstone = |event| match event {
            Event::Tombstone(it) => Some(it),
            _ => None,
        };
        self.take().into_iter().filter_map(tombstone).collect()
    }

    /// Takes what it was told, which was that the clock is in doubt and nothing else.
    #[track_caller]
    fn assert_only_doubt(&self) {
        let told = self.take();
        assert!(matches!(&told[..], [Event::Clock(clock)] if clock.is_in_doubt), "{told:?}");
    }
}

fn settings(change: impl FnOnce(&mut GcSettings)) -> Settings {
    let mut gc = GcSettings {
        enabled: true,
        retention: RetentionPolicy { max_age_ms: Some(10 * DAY_MS), ..RetentionPolicy::default() },
        ..GcSettings::default()
    };
    change(&mut gc);
    Settings { gc, ..Settings::default() }
}

fn deleting(gc: &mut GcSettings) {
    gc.auto_delete = true;
}

/// A scheduler as a process of its own, and what it tells.
fn scheduler(world: &World, settings: Settings) -> (Scheduler, Arc<Notebook>) {
    let notebook = Arc::new(Notebook::default());
    (Scheduler::new(world.process_with(settings)).with_sink(notebook.clone()), notebook)
}

/// Old memories that ten days of retention expire, and young ones that it keeps.
fn fill(world: &World, workspace: &str, old: usize, young: usize) {
    add(world, workspace, "old", old);
    world.advance_ms(11 * DAY_MS);
    add(world, workspace, "young", young);
}

fn add(world: &World, workspace: &str, age: &str, count: usize) {
    for n in 0..count {
        let text = format!("{age} note number {n}");
        world.call("add_memory", json!({"workspace_id": workspace, "name": format!("{age}-{n}"), "context": text}));
    }
}

fn live(world: &World, workspace: &str) -> Value {
    world.call("list_memories", json!({ "workspace_id": workspace }))["total"].clone()
}

#[track_caller]
fn ran(tick: Tick) -> rootset_service::scheduler::Round {
    match tick {
        Tick::Ran(round) => round,
        other => panic!("{other:?}"),
    }
}

#[test]
fn disabled_collector_does_nothing() {
    let world = World::new();
    fill(&world, "home", 2, 8);
    let (scheduler, events) = scheduler(&world, settings(|gc| gc.enabled = false));
    assert_eq!(scheduler.tick(), Ok(Tick::Disabled));
    assert_eq!((live(&world, "home"), events.take()), (json!(10), vec![]));
}

#[test]
fn without_auto_delete_findings_are_reported_and_nothing_is_deleted() {
    let world = World::new();
    fill(&world, "home", 3, 7);
    let (scheduler, events) = scheduler(&world, settings(|_| {}));
    let round = ran(scheduler.tick().unwrap());
    assert_eq!((round.expired, round.trashed, round.failed), (3, 0, 0));
    assert_eq!(live(&world, "home"), 10);
    let told = events.tombstones();
    assert_eq!(told.len(), 1);
    let it = &told[0];
    assert_eq!((it.workspace_id.as_str(), it.source.as_str(), it.repo.as_deref()), ("home", "user", None));
    assert_eq!((it.memories_total, it.chunks_total, it.chunks_deleted), (10, 10, 0));
    assert_eq!((it.detail.expired, it.detail.evaluated, it.detail.deleted), (3, 10, 0));
    assert_eq!((it.detail.unclassifiable, it.detail.auto_delete), (0, false));
    assert_eq!(json!(it.detail.retention), json!({"max_age": "10d"}));
}

#[test]
fn with_auto_delete_findings_go_to_the_trash_and_can_be_undone() {
    let world = World::new();
    fill(&world, "home", 2, 10);
    let (scheduler, events) = scheduler(&world, settings(deleting));
    let round = ran(scheduler.tick().unwrap());
    assert_eq!((round.expired, round.trashed), (2, 2));
    assert_eq!(live(&world, "home"), 10);
    let told = events.tombstones();
    assert_eq!((told[0].memories_total, told[0].chunks_deleted, told[0].detail.deleted), (12, 2, 2));
    let runs = world.call("gc_undo", json!({}))["runs"].clone();
    assert_eq!((&runs[0]["actor"], &runs[0]["operation"]), (&json!("scheduler"), &json!("gc_apply")));
    world.call("gc_undo", json!({"run_id": runs[0]["run_id"]}));
    assert_eq!(live(&world, "home"), 12);
    world.assert_doctor_is_content();
}

#[test]
fn workspace_can_be_exempt_from_deletion_and_have_a_policy_of_its_own() {
    let world = World::new();
    for workspace in ["team", "other"] {
        world.call("create_workspace", json!({ "workspace_id": workspace }));
        add(&world, workspace, "old", 1);
    }
    world.advance_ms(11 * DAY_MS);
    add(&world, "team", "young", 2);
    add(&world, "other", "young", 2);
    let (scheduler, events) = scheduler(
        &world,
        settings(|gc| {
            gc.auto_delete = true;
            let keeps_all = GcOverrides { retention: Some(RetentionPolicy::default()), ..GcOverrides::default() };
            gc.workspaces.insert("team".into(), keeps_all);
            let only_reports = GcOverrides { auto_delete: Some(false), ..GcOverrides::default() };
            gc.workspaces.insert("other".into(), only_reports);
        }),
    );
    scheduler.tick().unwrap();
    assert_eq!((live(&world, "team"), live(&world, "other")), (json!(3), json!(3)));
    let told = events.tombstones();
    assert_eq!(told.iter().map(|it| it.workspace_id.as_str()).collect::<Vec<_>>(), ["other"]);
}

#[test]
fn clean_workspace_tells_nothing_and_the_same_finding_is_not_told_again() {
    let world = World::new();
    add(&world, "home", "young", 5);
    let (scheduler, events) = scheduler(&world, settings(|_| {}));
    ran(scheduler.tick().unwrap());
    assert_eq!(events.take(), vec![]);
    world.advance_ms(11 * DAY_MS);
    add(&world, "home", "newer", 5);
    ran(scheduler.tick().unwrap());
    assert_eq!(events.take().len(), 1);
    world.advance_ms(DAY_MS);
    assert_eq!(ran(scheduler.tick().unwrap()).expired, 5);
    assert_eq!(events.take(), vec![], "the next day");
    world.advance_ms(10 * DAY_MS);
    ran(scheduler.tick().unwrap());
    assert_eq!(events.tombstones()[0].detail.expired, 10, "a larger set is another one");
}

#[test]
fn finding_that_was_told_is_not_told_again_by_the_next_process() {
    let world = World::new();
    fill(&world, "home", 2, 8);
    let (first, events) = scheduler(&world, settings(|_| {}));
    first.tick().unwrap();
    assert_eq!(events.take().len(), 1);
    drop(first);
    world.advance_ms(DAY_MS);
    let (second, events) = scheduler(&world, settings(|_| {}));
    ran(second.tick().unwrap());
    assert_eq!(events.take(), vec![]);
}

#[test]
fn interval_holds_over_a_restart() {
    let world = World::new();
    let (first, _) = scheduler(&world, settings(|_| {}));
    let began_ms = world.now_ms();
    ran(first.tick().unwrap());
    drop(first);
    world.advance_ms(23 * HOUR_MS);
    let (second, _) = scheduler(&world, settings(|_| {}));
    let Tick::NotDue { next_at } = second.tick().unwrap() else { panic!("too early") };
    assert_eq!(next_at.0, began_ms + DAY_MS);
    world.advance_ms(HOUR_MS);
    ran(second.tick().unwrap());
    assert!(matches!(second.tick(), Ok(Tick::NotDue { .. })), "once per interval");
}

#[test]
fn two_schedulers_do_one_round_between_them() {
    let world = World::new();
    fill(&world, "home", 2, 10);
    let (one, of_one) = scheduler(&world, settings(deleting));
    let (other, of_other) = scheduler(&world, settings(deleting));
    ran(one.tick().unwrap());
    assert!(matches!(other.tick(), Ok(Tick::NotDue { .. })));
    assert_eq!((of_one.take().len(), of_other.take().len()), (1, 0));
    world.advance_ms(DAY_MS);
    // The other one is in the middle of its round.
    let until = world.now_ms() + 60_000;
    let held = format!("UPDATE jobs SET lease_until = {until} WHERE workspace = 0 AND kind = 'scheduler'");
    world.sql().execute(&held, &[]).unwrap();
    assert_eq!(one.tick(), Ok(Tick::HeldElsewhere));
}

#[test]
fn round_that_was_cut_off_is_done_again() {
    let world = World::new();
    fill(&world, "home", 2, 10);
    let (first, _) = scheduler(&world, settings(deleting));
    // As a crash right after the start leaves it.
    ran(first.tick().unwrap());
    let note = json!({"started_at_ms": world.now_ms()}).to_string();
    let sql = "UPDATE jobs SET cursor = ?1 WHERE workspace = 0 AND kind = 'scheduler'";
    world.sql().execute(sql, &[note.as_bytes().into()]).unwrap();
    world.advance_ms(60_000);
    ran(scheduler(&world, settings(deleting)).0.tick().unwrap());
}

#[test]
fn failure_in_one_workspace_leaves_the_others_to_be_done() {
    let world = World::new();
    for workspace in ["a", "broken", "z"] {
        world.call("create_workspace", json!({ "workspace_id": workspace }));
        add(&world, workspace, "old", 1);
    }
    world.advance_ms(11 * DAY_MS);
    for workspace in ["a", "broken", "z"] {
        add(&world, workspace, "young", 5);
    }
    let sql = "INSERT INTO retention (workspace, scope, target, policy, set_by, set_at)
               SELECT workspace, 'workspace', '', 'not a policy', 'test', 0 FROM workspaces WHERE workspace_id = 'broken'";
    world.sql().execute(sql, &[]).unwrap();
    let (scheduler, events) = scheduler(&world, settings(deleting));
    let round = ran(scheduler.tick().unwrap());
    assert_eq!((round.workspaces, round.failed, round.trashed), (4, 1, 2));
    assert_eq!((live(&world, "a"), live(&world, "broken"), live(&world, "z")), (json!(5), json!(6), json!(5)));
    let told: Vec<String> = events.tombstones().into_iter().map(|it| it.workspace_id).collect();
    assert_eq!(told, ["a", "z"]);
}

#[test]
fn run_over_the_limit_trashes_nothing_says_so_once_and_keeps_its_plan() {
    let world = World::new();
    fill(&world, "home", 30, 70);
    let blocking = |gc: &mut GcSettings| {
        gc.auto_delete = true;
        gc.drain = DrainMode::Never;
    };
    let (scheduler, events) = scheduler(&world, settings(blocking));
    assert_eq!(ran(scheduler.tick().unwrap()).trashed, 0);
    assert_eq!(live(&world, "home"), 100);
    let told = events.take();
    let blocked: Vec<_> = told
        .iter()
        .filter_map(|event| match event {
            Event::Blocked(it) => Some(it),
            _ => None,
        })
        .collect();
    assert_eq!((told.len(), blocked.len()), (2, 1), "{told:?}");
    assert_eq!((blocked[0].blocked[0].in_plan, blocked[0].blocked[0].total), (30, 100));
    let plan = blocked[0].plan_id.to_string();
    // A person with the same configuration; another one would be told that nothing of it is garbage.
    let person = world.process_with(settings(|_| {}));
    let apply = |request: Value| person.call(&world.caller, "gc_apply", request);
    assert_eq!(apply(json!({ "plan_id": plan })).unwrap_err().code.as_str(), "limit_exceeded");
    assert_eq!(apply(json!({"plan_id": plan, "allow_large": true})).unwrap()["trashed"]["memories"], 30);
    world.call("gc_undo", json!({"run_id": world.call("gc_undo", json!({}))["runs"][0]["run_id"]}));
    world.advance_ms(DAY_MS);
    ran(scheduler.tick().unwrap());
    assert_eq!(events.take(), vec![], "the same set the next day");
}

#[test]
fn sink_that_panics_does_not_stop_the_run() {
    #[derive(Debug)]
    struct Broken;
    impl TelemetrySink for Broken {
        fn emit(&self, _: &Event) {
            panic!("no line to the collector of events");
        }
    }
    let world = World::new();
    fill(&world, "home", 2, 10);
    let scheduler = Scheduler::new(world.process_with(settings(deleting))).with_sink(Arc::new(Broken));
    let round = ran(scheduler.tick().unwrap());
    assert_eq!((round.trashed, round.failed), (2, 0));
}

#[test]
fn run_stops_at_the_time_limit_and_the_next_round_goes_on() {
    let world = World::new();
    let batch = rootset_model::limits::SWEEP_BATCH_MEMORIES;
    let texts = |age: &str, count: usize| -> Vec<Value> {
        (0..count).map(|n| json!({"context": format!("{age} {n}"), "name": format!("{age}-{n}")})).collect()
    };
    for part in texts("old", batch + 10).chunks(1_000) {
        world.call("add_memories", json!({ "memories": part }));
    }
    world.advance_ms(11 * DAY_MS);
    world.call("add_memories", json!({ "memories": texts("young", 10) }));
    let strict = |gc: &mut GcSettings| {
        gc.auto_delete = true;
        gc.time_limit_ms = Some(1);
    };
    let mut large = settings(strict);
    large.limits.plan_fraction_max = 1.0;
    let (scheduler, _) = scheduler(&world, large);
    // The clock stands still between batches unless a batch takes time: a limit of 0 ms would be over at once.
    world.tick_on_every_reading();
    let round = ran(scheduler.tick().unwrap());
    assert_eq!(round.trashed, batch as i64);
    assert_eq!(live(&world, "home"), 20);
    world.advance_ms(DAY_MS);
    ran(scheduler.tick().unwrap());
    assert_eq!(live(&world, "home"), 10);
    world.assert_doctor_is_content();
}

#[test]
fn clock_that_is_set_while_the_scheduler_runs_deletes_nothing() {
    for jump_ms in [-400 * DAY_MS, 3_650 * DAY_MS, 30 * DAY_MS] {
        let world = World::new();
        add(&world, "home", "note", 12);
        let (scheduler, events) = scheduler(&world, settings(deleting));
        ran(scheduler.tick().unwrap());
        world.set_clock_ahead_ms(jump_ms);
        let Tick::Waiting(waiting) = scheduler.tick().unwrap() else { panic!("{jump_ms}") };
        let doubted_ms = match waiting.doubt {
            Doubt::WentBack { by_ms } => -by_ms,
            Doubt::JumpedAhead { by_ms } => by_ms,
        };
        assert!(doubted_ms.abs_diff(jump_ms) < 60_000, "the database looks at the clock once a minute: {waiting:?}");
        assert_eq!(live(&world, "home"), 12);
        events.assert_only_doubt();
        world.set_clock_ahead_ms(-jump_ms);
        assert!(matches!(scheduler.tick(), Ok(Tick::Waiting(_))), "{jump_ms}");
        world.advance_ms(DAY_MS + HOUR_MS);
        ran(scheduler.tick().unwrap());
    }
}

#[test]
fn clock_that_was_set_between_two_processes_deletes_nothing_until_somebody_vouches_for_it() {
    for jump_ms in [-400 * DAY_MS, 3_650 * DAY_MS] {
        let world = World::new();
        add(&world, "home", "note", 12);
        ran(scheduler(&world, settings(deleting)).0.tick().unwrap());
        world.set_clock_ahead_ms(jump_ms);
        let (second, events) = scheduler(&world, settings(deleting));
        assert!(matches!(second.tick(), Ok(Tick::Waiting(_))), "{jump_ms}");
        assert_eq!(live(&world, "home"), 12);
        events.assert_only_doubt();
        second.trust_clock().unwrap();
        assert!(!matches!(second.tick(), Ok(Tick::Waiting(_))));
        drop(second);
        world.advance_ms(DAY_MS);
        ran(scheduler(&world, settings(|_| {})).0.tick().unwrap());
    }
}

#[test]
fn first_round_ever_measures_the_clock_by_the_last_write() {
    let world = World::new();
    add(&world, "home", "note", 12);
    world.set_clock_ahead_ms(3_650 * DAY_MS);
    let (scheduler, _) = scheduler(&world, settings(deleting));
    let Ok(Tick::Waiting(waiting)) = scheduler.tick() else { panic!("the clock is believed") };
    assert!(matches!(waiting.doubt, Doubt::JumpedAhead { .. }), "{waiting:?}");
}

#[test]
fn defragmentation_is_recommended_when_enough_was_purged() {
    for (purged, threshold, recommended) in [(20, 0.10, true), (5, 0.10, false), (20, 0.0, false)] {
        let world = World::new();
        fill(&world, "home", 1, 99);
        let names: Vec<String> = (0..purged).map(|n| format!("young-{n}")).collect();
        names.iter().for_each(|name| drop(world.delete(name)));
        world.call("gc_purge", json!({"older_than": "0s", "confirm": true}));
        let (scheduler, events) = scheduler(&world, settings(|gc| gc.defrag_threshold = threshold));
        ran(scheduler.tick().unwrap());
        events.take();
        // Housekeeping looked after that round; the next one finds more, and says what was seen.
        world.advance_ms(11 * DAY_MS);
        ran(scheduler.tick().unwrap());
        assert_eq!(events.tombstones()[0].detail.defrag_recommended, recommended, "{purged} {threshold}");
    }
}

#[test]
fn superseded_memories_go_after_their_time_without_an_event_of_expiry() {
    let world = World::new();
    add(&world, "home", "note", 12);
    world.call("supersede_memory", json!({"memory_id": "note-0", "by": "note-1"}));
    let keeps_all = settings(|gc| {
        gc.auto_delete = true;
        gc.retention = RetentionPolicy::default();
    });
    let (scheduler, events) = scheduler(&world, keeps_all);
    ran(scheduler.tick().unwrap());
    world.advance_ms(31 * DAY_MS);
    assert_eq!(ran(scheduler.tick().unwrap()).trashed, 1);
    assert_eq!(events.take(), vec![]);
    let trash = world.call("list_trash", json!({}));
    assert_eq!(array(&trash["items"])[0]["name"], "note-0");
}
