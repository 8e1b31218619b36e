//! Several processes at one plan, and somebody who changes what is in it: the re-check decides.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use rootset_service::{Service, ServiceError, Settings};
use rootset_store::{Location, Store};
use rootset_stress::prepared_databases::{OLD_MEMORIES, State, fill};
use rootset_stress::step::{Running, Step, TICK, call, call_all};
use rootset_stress::verify::{Verifier, caller};
use rootset_testing::{Sql, TestDatabase, temporary_folder};
use serde_json::{Value, json};

use crate::program;

/// One old memory is pinned when the plan is made.
const PLANNED: usize = OLD_MEMORIES - 1;

fn planned(folder: &Path) -> State {
    fill(&folder.join("filled")).unwrap().planned(&folder.join("planned")).unwrap()
}

fn applier(state: &State) -> Running {
    let arguments = json!({"plan_id": state.facts["plan_id"], "allow_large": true});
    let step = Step { waits: true, ..Step::new(&state.database(), "gc_apply", &arguments) };
    step.start(&program()).unwrap()
}

fn assert_doctor_is_content(database: &Location) {
    let found = Verifier::open(database).unwrap().doctor().unwrap();
    assert!(found.is_empty(), "{found:?}");
}

/// Rows of two columns of text.
fn pairs(database: &Location, sql: &str) -> Vec<(String, String)> {
    Sql::open(database).unwrap().rows(sql, &[], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}

/// Names in the trash of the workspace `home`, with the operation of the run that put them there.
fn trash(database: &Location) -> BTreeMap<String, String> {
    let sql =
        "SELECT m.name, r.operation FROM memories m JOIN runs r ON r.workspace = m.workspace AND r.run = m.trashed_run
               WHERE m.workspace = 1";
    pairs(database, sql).into_iter().collect()
}

/// Memories that are in no plan, as they are.
fn outside_the_plan(database: &Location) -> Vec<(String, String)> {
    pairs(
        database,
        "SELECT workspace || '/' || name, version || ' ' || revision || ' ' || CASE WHEN trashed_run IS NULL THEN '-' ELSE 'trashed' END
         FROM memories m WHERE NOT EXISTS (
           SELECT 1 FROM plan_items i WHERE i.workspace = m.workspace AND i.object = m.memory AND i.reason <> 'named')
         AND name NOT LIKE 'old-%' ORDER BY 1",
    )
}

#[test]
fn two_appliers_of_one_plan_do_it_once_and_hear_the_same() {
    let folder = temporary_folder();
    let state = planned(folder.path());
    let mut appliers = [applier(&state), applier(&state)];
    appliers.iter_mut().for_each(Running::let_go);

    let [first, second] = appliers.map(|it| it.end().unwrap().answer().unwrap());

    assert_eq!(first, second);
    assert_eq!(first["trashed"]["memories"], PLANNED, "{first}");
    assert_eq!(first["skipped"]["count"], 0, "{first}");
    let runs = pairs(&state.database(), "SELECT operation, counts FROM audit WHERE operation = 'forget'");
    assert_eq!(runs.len(), 2, "one entry per batch: {runs:?}");
    assert_doctor_is_content(&state.database());
}

#[test]
fn undo_while_the_plan_is_applied_ends_the_run_and_brings_everything_back() {
    let folder = temporary_folder();
    let state = planned(folder.path());
    let database = state.database();
    let before = trash(&database);
    let mut applying = applier(&state);
    applying.let_go();
    let run = loop {
        let runs = call(&database, "gc_undo", json!({})).unwrap();
        let of_plan = |run: &&Value| run["operation"] == "forget";
        if let Some(run) = runs["runs"].as_array().unwrap().iter().find(of_plan) {
            break run["run_id"].clone();
        }
    };

    call(&database, "gc_undo", json!({"run_id": run})).unwrap();

    let applied = applying.end().unwrap().answer().unwrap();
    assert_eq!(applied["run_id"], run);
    assert_eq!(trash(&database), before, "nothing of the run is left in the trash");
    assert_doctor_is_content(&database);
}

/// What a person did to a memory of the plan while it was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Pin,
    Update,
    Use,
    Delete,
}

const DEEDS: [Deed; 4] = [Deed::Pin, Deed::Update, Deed::Use, Deed::Delete];

fn perform(service: &Arc<Service>, deed: Deed, name: &str) -> Result<(), ServiceError> {
    let (operation, arguments) = match deed {
        Deed::Pin => ("update_memory", json!({"memory_id": name, "pinned": true})),
        Deed::Update => ("update_memory", json!({"memory_id": name, "context": format!("{name} says something new.")})),
        Deed::Use => ("get_memory", json!({"memory_id": name})),
        Deed::Delete => ("delete_memory", json!({"memory_id": name})),
    };
    service.call(&caller(), operation, arguments)?;
    service.flush_uses()
}

#[test]
fn what_somebody_wants_while_the_plan_is_applied_is_kept_and_everything_is_accounted_for() {
    let folder = temporary_folder();
    let state = planned(folder.path());
    let database = state.database();
    let outside = outside_the_plan(&database);
    let service = Arc::new(Service::new(Store::open(&database, None).unwrap(), Settings::default()).unwrap());
    // Not those that the state itself treats in a special way.
    let mut names = (10..OLD_MEMORIES).map(|number| format!("old-{number}"));
    let mut done: BTreeMap<String, (Deed, Result<(), ServiceError>)> = BTreeMap::new();
    let mut deeds = DEEDS.into_iter().cycle();
    let mut applying = applier(&state);
    for _ in 0..2 * DEEDS.len() {
        // Before it starts, so that some are certainly in time.
        let (deed, name) = (deeds.next().unwrap(), names.next().unwrap());
        let outcome = perform(&service, deed, &name);
        assert!(outcome.is_ok(), "{deed:?} {name}: {outcome:?}");
        done.insert(name, (deed, outcome));
    }

    applying.let_go();
    // From both ends: batches go through the plan in one direction, and some deeds should come before them.
    let mut rest: Vec<String> = names.collect();
    while applying.is_running() && rest.len() > 2 {
        for name in [rest.pop().unwrap(), rest.remove(0)] {
            let deed = deeds.next().unwrap();
            let outcome = perform(&service, deed, &name);
            done.insert(name, (deed, outcome));
        }
    }
    let answer = applying.end().unwrap().answer().unwrap();

    let (trash, skips) = (trash(&database), skips(&database));
    let by_run: BTreeSet<&String> = trash.iter().filter(|(_, by)| *by == "forget").map(|(name, _)| name).collect();
    assert_eq!(answer["trashed"]["memories"], by_run.len(), "{answer}");
    assert_eq!(answer["skipped"]["count"], skips.len(), "{answer}");
    assert_eq!(by_run.len() + skips.len(), PLANNED, "every item is trashed or skipped");
    for (name, reason) in &skips {
        let Some((deed, Ok(()))) = done.get(name) else {
            panic!("`{name}` was skipped as {reason}; nobody touched it")
        };
        let is_true = match deed {
            Deed::Pin => reason == "pinned",
            Deed::Update => reason == "changed",
            Deed::Use => reason == "used",
            Deed::Delete => reason == "trashed",
        };
        assert!(is_true, "`{name}` was skipped as {reason} after {deed:?}");
        assert!(!by_run.contains(name), "`{name}` was skipped and trashed");
    }
    let lost = |(name, (deed, outcome)): &(&String, &(Deed, Result<(), ServiceError>))| {
        // A pin or an update that was acknowledged came before its batch, or would have found nothing to change.
        matches!(deed, Deed::Pin | Deed::Update) && outcome.is_ok() && by_run.contains(name)
    };
    let lost: Vec<_> = done.iter().filter(lost).collect();
    assert!(lost.is_empty(), "{lost:?}");
    let refused = done.iter().filter(|(_, (_, outcome))| outcome.is_err());
    refused.for_each(|(name, deed)| assert!(by_run.contains(name), "`{name}` was not there for {deed:?}"));
    assert_eq!(outside_the_plan(&database), outside);
    assert_doctor_is_content(&database);
}

fn skips(database: &Location) -> BTreeMap<String, String> {
    let sql = "SELECT m.name, s.reason FROM run_skips s
               JOIN memories m ON m.workspace = s.workspace AND m.memory = s.object WHERE s.workspace = 1";
    pairs(database, sql).into_iter().collect()
}

#[test]
fn two_schedulers_at_the_same_moment_do_one_round() {
    let database = TestDatabase::new();
    let database = database.location().clone();
    let memories: Vec<Value> = (0..60)
        .map(|number| json!({"context": format!("Note {number} of the scheduler's."), "source": "notes"}))
        .collect();
    let retention = json!({"source": "notes", "max_count": 50});
    call_all(&database, vec![("add_memories", json!({"memories": memories})), ("set_retention", retention)]).unwrap();
    let step = Step { waits: true, ..Step::new(&database, TICK, &json!({})) };
    let mut schedulers = [step.start(&program()).unwrap(), step.start(&program()).unwrap()];
    schedulers.iter_mut().for_each(Running::let_go);

    let ticks = schedulers.map(|it| it.end().unwrap().answer().unwrap());

    let ran: Vec<&Value> = ticks.iter().filter(|tick| !tick["ran"].is_null()).collect();
    assert_eq!(ran.len(), 1, "{ticks:?}");
    assert_eq!(*ran[0], json!({"ran": {"expired": 10, "trashed": 10, "failed": 0}}));
    assert_eq!(call(&database, "list_trash", json!({})).unwrap()["total"], 10);
    assert_doctor_is_content(&database);
}
