//! Retention that nobody watches: tenants over sixty days, and random lives beside a naive model of what should be there.

use std::collections::{BTreeMap, BTreeSet};

use rootset_gc::drains::DrainMode;
use rootset_model::RetentionPolicy;
use rootset_properties::Budget;
use rootset_service::scheduler::{Scheduler, Tick};
use rootset_service::{GcOverrides, GcSettings, Settings};
use rootset_testing::Dice;
use serde_json::json;

use crate::harness::{DAY_MS, HOUR_MS, World, names};

fn max_age(days: i64) -> RetentionPolicy {
    RetentionPolicy { max_age_ms: Some(days * DAY_MS), ..RetentionPolicy::default() }
}

fn add(world: &World, workspace: &str, source: &str, name: &str) {
    let context = format!("a note called {name} in {workspace}");
    let request = json!({"workspace_id": workspace, "source": source, "name": name, "context": context});
    world.call("add_memory", request);
}

/// Read by somebody; front ends write that down after their answer.
fn use_memory(world: &World, workspace: &str, name: &str) {
    world.call("get_memory", json!({"workspace_id": workspace, "memory_id": name}));
    world.service.flush_uses().unwrap();
}

fn live(world: &World, workspace: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    loop {
        let page = json!({"workspace_id": workspace, "limit": 100, "offset": found.len()});
        let page = names(&world.call("list_memories", page)["memories"]);
        if page.is_empty() {
            return found;
        }
        found.extend(page);
    }
}

#[test]
fn five_tenants_end_where_their_policies_say_after_sixty_days() {
    let world = World::new();
    // Two by class, one by a typing error in a file, one by its own policy, one without any.
    for (workspace, class) in
        [("small", "trial"), ("large", "trial"), ("typo", "standard"), ("own", "standard"), ("keeper", "archive")]
    {
        world.call("create_workspace", json!({"workspace_id": workspace, "class": class}));
    }
    let gc = GcSettings {
        enabled: true,
        auto_delete: true,
        interval_ms: 12 * HOUR_MS,
        classes: BTreeMap::from([
            ("trial".to_owned(), GcOverrides { retention: Some(max_age(30)), ..GcOverrides::default() }),
            ("archive".to_owned(), GcOverrides { auto_delete: Some(false), ..GcOverrides::default() }),
        ]),
        workspaces: BTreeMap::from([(
            "typo".to_owned(),
            GcOverrides { retention: Some(max_age(9)), ..GcOverrides::default() },
        )]),
        ..GcSettings::default()
    };
    let scheduler = Scheduler::new(world.process_with(Settings { gc, ..Settings::default() }));
    for n in 0..8 {
        add(&world, "small", "user", &format!("small-{n}"));
    }
    for n in 0..40 {
        add(&world, "large", "user", &format!("large-{n}"));
        add(&world, "typo", "user", &format!("typo-{n}"));
    }
    for n in 0..20 {
        add(&world, "own", "user", &format!("own-{n}"));
        add(&world, "keeper", "user", &format!("keeper-{n}"));
    }
    world.call("update_memory", json!({"workspace_id": "large", "memory_id": "large-7", "pinned": true}));
    world.call("set_retention", json!({"workspace_id": "own", "max_age": "20d", "basis": "last_used_at"}));
    let mut typo_was_announced = false;
    for half in 0..120 {
        world.advance_ms(12 * HOUR_MS);
        let day = half / 2;
        if half % 2 == 0 {
            // One note of every tenant each day, and one that is used all the time.
            for workspace in ["small", "large", "own"] {
                add(&world, workspace, "user", &format!("{workspace}-day-{day}"));
            }
            use_memory(&world, "own", "own-3");
        }
        let Tick::Ran(round) = scheduler.tick().unwrap() else { panic!("a round is due") };
        assert_eq!(round.failed, 0);
        let typo = round.waiting.iter().find(|(workspace, _)| workspace == "typo").map(|(_, it)| it.clone());
        if let Some(announced) = typo.filter(|it| it.state.as_str() == "announced") {
            typo_was_announced = true;
            assert_eq!(live(&world, "typo").len(), 40, "nothing goes before it was announced");
            // One command takes it back before it has begun.
            let drain = announced.drain_id.expect("a drain");
            world.call("gc_undo", json!({"workspace_id": "typo", "drain_id": drain}));
        }
    }
    assert!(typo_was_announced);
    assert_eq!(live(&world, "typo").len(), 40);
    assert_eq!(live(&world, "keeper").len(), 20);
    let last_days = |workspace: &str, days: i64| -> BTreeSet<String> {
        (60 - days..60).map(|day| format!("{workspace}-day-{day}")).collect()
    };
    assert_eq!(live(&world, "small"), last_days("small", 30));
    let mut large = last_days("large", 30);
    large.insert("large-7".to_owned());
    assert_eq!(live(&world, "large"), large);
    let mut own = last_days("own", 20);
    own.insert("own-3".to_owned());
    assert_eq!(live(&world, "own"), own);
    world.assert_doctor_is_content();
}

/// What the model knows of a memory.
#[derive(Clone, Debug)]
struct Note {
    name: String,
    source: &'static str,
    written_ms: i64,
    used_ms: Option<i64>,
    is_pinned: bool,
}

#[derive(Clone, Copy, Debug)]
enum Open {
    Announced { found: usize, begins_ms: i64 },
    Draining { slice: usize },
}

/// The rules in their simplest form: lists, searched and sorted anew every day.
#[derive(Debug)]
struct Model {
    notes: Vec<Note>,
    open: BTreeMap<&'static str, Open>,
    max_age_ms: i64,
    may_empty: bool,
    mode: DrainMode,
}

const SOURCES: [&str; 2] = ["chat", "user"];

impl Model {
    fn round(&mut self, now_ms: i64) {
        for source in SOURCES {
            self.round_of(source, now_ms);
        }
    }

    fn round_of(&mut self, source: &'static str, now_ms: i64) {
        let total = self.notes.iter().filter(|note| note.source == source).count();
        let is_garbage =
            |note: &&Note| note.source == source && !note.is_pinned && now_ms - note.written_ms > self.max_age_ms;
        let mut garbage: Vec<Note> = self.notes.iter().filter(is_garbage).cloned().collect();
        garbage.sort_by_key(|note| {
            (note.used_ms.is_some_and(|used| now_ms - used < 30 * DAY_MS), note.written_ms, note.name.clone())
        });
        let is_over = garbage.len() > 5 && garbage.len() * 5 > total;
        let slice = 5.max(total.div_ceil(5));
        let takable = if garbage.len() == total && !self.may_empty { total.saturating_sub(1) } else { garbage.len() };
        if garbage.is_empty() {
            self.open.remove(source);
            return;
        }
        let found = garbage.len();
        let anew = match self.mode {
            _ if !is_over => None,
            DrainMode::AtOnce => Some(Open::Draining { slice }),
            DrainMode::Announce => Some(Open::Announced { found, begins_ms: now_ms + DAY_MS }),
            DrainMode::Never => return,
        };
        let next = match self.open.get(source).copied() {
            Some(Open::Draining { slice }) => Some(Open::Draining { slice }),
            Some(Open::Announced { .. }) if !is_over => None,
            Some(Open::Announced { found: before, begins_ms }) if found <= 2 * before => Some(if now_ms >= begins_ms {
                Open::Draining { slice }
            } else {
                Open::Announced { found: before, begins_ms }
            }),
            _ => anew,
        };
        let taken = match next {
            None => takable,
            Some(Open::Announced { .. }) => 0,
            Some(Open::Draining { slice }) => slice.min(takable),
        };
        let stays_open = match next {
            Some(Open::Draining { .. }) => taken < takable,
            Some(Open::Announced { .. }) => true,
            None => false,
        };
        match next.filter(|_| stays_open) {
            Some(open) => self.open.insert(source, open),
            None => self.open.remove(source),
        };
        let gone: BTreeSet<String> = garbage[..taken].iter().map(|note| note.name.clone()).collect();
        self.notes.retain(|note| !gone.contains(&note.name));
    }
}

fn live_out(dice: &mut Dice) {
    let world = World::new();
    let days = 2 + dice.below(10) as i64;
    let mode = [DrainMode::Announce, DrainMode::AtOnce, DrainMode::Never][dice.below(3)];
    let may_empty = dice.below(2) == 0;
    let mut model = Model { notes: Vec::new(), open: BTreeMap::new(), max_age_ms: days * DAY_MS, may_empty, mode };
    let retention = RetentionPolicy { may_empty, ..max_age(days) };
    let gc = GcSettings { enabled: true, auto_delete: true, drain: mode, retention, ..GcSettings::default() };
    let scheduler = Scheduler::new(world.process_with(Settings { gc, ..Settings::default() }));
    for day in 0..25 {
        let many = if dice.below(5) == 0 { dice.below(30) } else { dice.below(3) };
        for n in 0..many {
            let (source, name) = (SOURCES[dice.below(2)], format!("{day:02}-{n:02}"));
            add(&world, "home", source, &name);
            let written_ms = world.now_ms();
            let is_pinned = dice.below(10) == 0;
            if is_pinned {
                world.call("update_memory", json!({"memory_id": name, "pinned": true}));
            }
            model.notes.push(Note { name, source, written_ms, used_ms: None, is_pinned });
        }
        if !model.notes.is_empty() && dice.below(3) == 0 {
            let place = dice.below(model.notes.len());
            use_memory(&world, "home", &model.notes[place].name);
            model.notes[place].used_ms = Some(world.now_ms());
        }
        world.advance_ms(DAY_MS);
        let now_ms = world.now_ms();
        assert!(matches!(scheduler.tick().unwrap(), Tick::Ran(_)));
        model.round(now_ms);
        let wanted: BTreeSet<String> = model.notes.iter().map(|note| note.name.clone()).collect();
        assert_eq!(live(&world, "home"), wanted, "day {day}, {model:?}");
    }
    world.assert_doctor_is_content();
}

#[test]
fn rounds_take_what_a_naive_model_takes_day_by_day() {
    for seed in Budget::weighted(4).seeds() {
        println!("ROOTSET_TEST_SEED={seed} ROOTSET_TEST_CASES=1 repeats this");
        live_out(&mut Dice(seed));
    }
}
