//! Every failpoint of the store, struck once by a death and once by an error; then the same operation again, which must
//! end as if nothing had happened.
//!
//! A scenario is a state and an operation on it. Its uninterrupted twin is the measure: after a fault and a second
//! attempt by another process, the dump of the database equals the twin's, and `doctor` finds nothing.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rootset_store::failpoints::FAILPOINTS;
use rootset_trees::dump::{Dump, differences};
use serde_json::{Value, json};

use crate::dump::Since;
use crate::error::StressError;
use crate::model::Violation;
use crate::prepared_databases::{State, States};
use crate::step::{Ended, Fault, Step, call};
use crate::verify::Verifier;

/// Beyond the lease of a process that died.
const AHEAD_MS: i64 = 10_000;

/// What a second attempt may do when the first one had finished and only its answer was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Again {
    Answers,
    /// It says that it was done before.
    Refuses,
    /// What it was about is gone.
    NotFound,
}

struct Scenario {
    name: &'static str,
    /// Each with how often it may be passed before it strikes.
    points: &'static [(&'static str, u64)],
    again: Again,
    /// Tables in which each attempt leaves a row of its own.
    per_attempt: &'static [&'static str],
    state: fn(&States) -> &State,
    /// The operation, given the facts of the state.
    operation: fn(&Value) -> (&'static str, Value),
}

const APPLY_POINTS: &[(&str, u64)] = &[
    ("apply.first_batch", 0),
    ("apply.started", 0),
    ("apply.batch", 0),
    ("apply.batch_committed", 0),
    ("apply.swept", 0),
];

/// Those of a snapshot are others than those of a bundle in the middle.
const SNAPSHOT_POINTS: &[(&str, u64)] =
    &[("backup.begun", 0), ("backup.copied", 0), ("backup.written", 0), ("backup.published", 0)];
const BUNDLE_POINTS: &[(&str, u64)] =
    &[("backup.begun", 0), ("backup.table", 3), ("backup.written", 0), ("backup.published", 0)];

const RESTORE_POINTS: &[(&str, u64)] = &[
    ("restore.verified", 0),
    ("restore.emptied", 0),
    ("restore.inserted", 0),
    ("restore.replayed", 0),
    ("restore.checked", 0),
    ("restore.committed", 0),
];

const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "apply",
        points: APPLY_POINTS,
        again: Again::Answers,
        per_attempt: &[],
        state: |states| &states.planned,
        operation: |facts| ("gc_apply", json!({"plan_id": facts["plan_id"], "allow_large": true})),
    },
    Scenario {
        name: "apply a plan that erases",
        points: APPLY_POINTS,
        again: Again::Answers,
        per_attempt: &[],
        state: |states| &states.erasing,
        operation: |facts| ("gc_apply", json!({"plan_id": facts["plan_id"], "allow_large": true, "confirm": true})),
    },
    Scenario {
        name: "undo",
        points: &[("undo.batch", 0), ("undo.batch", 1), ("undo.batch_committed", 0), ("undo.batch_committed", 1)],
        again: Again::Refuses,
        per_attempt: &[],
        state: |states| &states.trashed,
        operation: |facts| ("gc_undo", json!({"run_id": facts["run_id"]})),
    },
    Scenario {
        name: "purge",
        points: &[
            ("purge.batch", 0),
            ("purge.batch", 1),
            ("purge.batch_committed", 0),
            ("purge.batch_committed", 1),
            ("purge.removed", 0),
            ("purge.compaction_step", 0),
            ("purge.log_emptied", 0),
        ],
        again: Again::Answers,
        per_attempt: &["erasures"],
        state: |states| &states.trashed,
        operation: |facts| ("gc_purge", json!({"run_id": facts["run_id"], "confirm": true})),
    },
    Scenario {
        name: "purge a workspace",
        points: &[
            ("purge.workspace_batch", 0),
            ("purge.workspace_batch", 1),
            ("purge.workspace_batch_committed", 0),
            ("purge.removed", 0),
        ],
        again: Again::NotFound,
        per_attempt: &["erasures"],
        state: |states| &states.workspace_trashed,
        operation: |facts| ("gc_purge", json!({"workspace_id": "other", "run_id": facts["run_id"], "confirm": true})),
    },
    Scenario {
        name: "snapshot",
        points: SNAPSHOT_POINTS,
        again: Again::Answers,
        per_attempt: &["audit"],
        state: |states| &states.trashed,
        operation: |_| ("backup_create", json!({"format": "snapshot"})),
    },
    Scenario {
        name: "bundle",
        points: BUNDLE_POINTS,
        again: Again::Answers,
        per_attempt: &["audit"],
        state: |states| &states.trashed,
        operation: |_| ("backup_create", json!({"format": "jsonl"})),
    },
    Scenario {
        name: "restore a snapshot",
        points: RESTORE_POINTS,
        again: Again::Answers,
        per_attempt: &["audit", "counters"],
        state: |states| &states.backed_up,
        operation: |facts| ("backup_restore", json!({"backup_id": facts["snapshot"], "confirm": true})),
    },
    Scenario {
        name: "restore a bundle",
        points: &[("restore.inserted", 0), ("restore.committed", 0)],
        again: Again::Answers,
        per_attempt: &["audit", "counters"],
        state: |states| &states.backed_up,
        operation: |facts| ("backup_restore", json!({"backup_id": facts["bundle"], "confirm": true})),
    },
    Scenario {
        name: "restore one workspace of a bundle",
        points: RESTORE_POINTS,
        again: Again::Answers,
        per_attempt: &["audit", "counters"],
        state: |states| &states.backed_up,
        operation: |facts| {
            ("backup_restore", json!({"backup_id": facts["bundle"], "workspace_id": "home", "confirm": true}))
        },
    },
    Scenario {
        name: "restore a workspace under another name",
        points: &[("restore.inserted", 0), ("restore.committed", 0)],
        again: Again::Answers,
        per_attempt: &["audit", "counters"],
        state: |states| &states.backed_up,
        operation: |facts| {
            let into = json!({"backup_id": facts["other_bundle"], "into_workspace_id": "third", "confirm": true});
            ("backup_restore", into)
        },
    },
    Scenario {
        name: "rewrite the backups",
        points: &[("rewrite.restored", 0), ("rewrite.restored", 1), ("rewrite.aside", 0), ("rewrite.replaced", 0)],
        again: Again::Answers,
        per_attempt: &["erasures"],
        state: |states| &states.backed_up,
        operation: |_| ("gc_purge", json!({"older_than": "0", "confirm": true, "rewrite_backups": true})),
    },
    Scenario {
        name: "defrag",
        points: &[("defrag.begun", 0), ("defrag.optimized", 0), ("defrag.rebuilt", 0), ("defrag.noted", 0)],
        again: Again::Answers,
        per_attempt: &["audit"],
        state: |states| &states.purged,
        operation: |_| ("defrag", json!({"confirm": true})),
    },
    Scenario {
        name: "migrate",
        points: &[
            ("migrate.backed_up", 0),
            ("migrate.step", 0),
            ("migrate.committed", 0),
            ("backup.copied", 0),
            ("backup.written", 0),
        ],
        again: Again::Answers,
        per_attempt: &[],
        state: |states| &states.first_schema,
        operation: |_| ("get_stats", json!({})),
    },
];

#[derive(Clone, Debug)]
pub struct FaultSettings {
    /// The binary of this crate.
    pub program: PathBuf,
    /// An empty folder.
    pub folder: PathBuf,
    /// Every case, or one in so many.
    pub one_in: usize,
}

#[derive(Clone, Debug, Default)]
pub struct FaultReport {
    pub scenarios: usize,
    pub points: usize,
    pub faults: usize,
    pub elapsed: Duration,
}

impl fmt::Display for FaultReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scenarios, points, faults, elapsed } = self;
        write!(f, "{points} failpoints in {scenarios} scenarios, {faults} faults, {:.1} s", elapsed.as_secs_f64())
    }
}

/// Names of failpoints that no scenario reaches.
pub fn points_without_scenario() -> Vec<&'static str> {
    let reached: BTreeSet<&str> = SCENARIOS.iter().flat_map(|it| it.points).map(|(point, _)| *point).collect();
    FAILPOINTS.iter().copied().filter(|point| !reached.contains(point)).collect()
}

/// One fault in one scenario.
struct Case<'a> {
    scenario: &'a Scenario,
    measure: &'a Measure,
    point: &'static str,
    passes: u64,
    fault: Fault,
}

/// The uninterrupted twin.
struct Measure {
    state: State,
    since: Since,
    dump: Dump,
}

/// Walks all of them; answers every failure, so that one run shows the whole picture.
pub fn run(settings: &FaultSettings) -> Result<FaultReport, Vec<String>> {
    let start = Instant::now();
    let whole = |error: StressError| vec![error.to_string()];
    let states = States::make(&settings.folder).map_err(whole)?;
    let measures = in_parallel(SCENARIOS.iter().collect(), |scenario: &&Scenario| {
        measure(settings, scenario, &states).map_err(|error| format!("{}, uninterrupted: {error}", scenario.name))
    })?;
    let mut cases = Vec::new();
    for (scenario, measure) in SCENARIOS.iter().zip(&measures) {
        for &(point, passes) in scenario.points {
            for fault in [Fault::Abort, Fault::Error] {
                cases.push(Case { scenario, measure, point, passes, fault });
            }
        }
    }
    let cases: Vec<Case<'_>> = cases.into_iter().step_by(settings.one_in).collect();
    let faults = cases.len();
    in_parallel(cases, |case| {
        let Case { scenario, point, passes, fault, .. } = case;
        strike(settings, case)
            .map_err(|error| format!("{}, {fault:?} at {point} after {passes} passes: {error}", scenario.name))
    })?;
    Ok(FaultReport { scenarios: SCENARIOS.len(), points: FAILPOINTS.len(), faults, elapsed: start.elapsed() })
}

fn measure(settings: &FaultSettings, scenario: &Scenario, states: &States) -> Result<Measure, StressError> {
    let state = (scenario.state)(states).clone();
    let room = tempfile::tempdir_in(&settings.folder)?;
    let twin = state.copy_to(&room.path().join("twin"))?;
    // Of the copy: a database that is open has files beside it that come and go while another thread copies the folder.
    let since = twin.since()?;
    step(scenario, &twin).run_in(&settings.program)?.answer()?;
    let dump = scenario.dump(&since, &twin)?;
    refuse(Verifier::open(&twin.database())?.doctor()?)?;
    Ok(Measure { state, since, dump })
}

fn step(scenario: &Scenario, state: &State) -> Step {
    let (operation, arguments) = (scenario.operation)(&state.facts);
    Step::new(&state.database(), operation, &arguments)
}

fn strike(settings: &FaultSettings, case: &Case<'_>) -> Result<(), StressError> {
    let room = tempfile::tempdir_in(&settings.folder)?;
    let state = case.measure.state.copy_to(&room.path().join("struck"))?;
    let first = step(case.scenario, &state);
    let interrupted =
        Step { failpoint: Some(case.point.to_owned()), fault: Some(case.fault), passes: case.passes, ..first.clone() };
    let ended = interrupted.run_in(&settings.program)?;
    let is_struck = match (&ended, case.fault) {
        (Ended::Aborted(point), Fault::Abort) => point == case.point,
        (Ended::Refused(refusal), Fault::Error) => refusal.message.contains(case.point),
        // What was stored before the fault is answered, with a word about the fault.
        (Ended::Answered(answer), Fault::Error) => answer["warnings"].to_string().contains(case.point),
        _ => false,
    };
    if !is_struck {
        return Err(StressError::StepEnded { ended: format!("without the fault: {ended:?}") });
    }
    if case.scenario.name != "migrate" {
        // Looking at a database migrates it.
        let found = Verifier::open(&state.database())?.doctor()?;
        // Full text that a purge still has to rewrite is a debt that `doctor` knows of until the purge is resumed.
        refuse(found.into_iter().filter(|it| !it.is_debt_of_a_purge()).collect())?;
    }
    let again = Step { ahead_ms: AHEAD_MS, ..first }.run_in(&settings.program)?;
    let is_in_order = match &again {
        Ended::Answered(_) => true,
        Ended::Refused(refusal) => matches!(
            (case.scenario.again, refusal.code.as_str()),
            (Again::Refuses, "conflict") | (Again::NotFound, "not_found")
        ),
        Ended::Aborted(_) | Ended::Died => false,
    };
    if !is_in_order {
        return Err(StressError::StepEnded { ended: format!("the second time: {again:?}") });
    }
    let found = case.scenario.dump(&case.measure.since, &state)?;
    let differences = differences(&case.measure.dump, &found);
    if !differences.is_empty() {
        return Err(StressError::Violated(differences.into_iter().map(Violation::Twin).collect()));
    }
    refuse(Verifier::open(&state.database())?.doctor()?)?;
    refuse(backup_violations(&state)?)
}

/// Every backup that is listed verifies, and nothing unfinished lies beside them once another was made.
fn backup_violations(state: &State) -> Result<Vec<Violation>, StressError> {
    let database = state.database();
    let mut violations = Vec::new();
    let list = call(&database, "backup_list", json!({}))?;
    for backup in list["backups"].as_array().into_iter().flatten() {
        let verified = call(&database, "backup_verify", json!({"backup_id": backup["backup_id"]}))?;
        if verified["ok"] != true {
            violations.push(Violation::Twin(format!("backup {}: {}", backup["backup_id"], verified["problems"])));
        }
    }
    Ok(violations)
}

impl Scenario {
    fn dump(&self, since: &Since, state: &State) -> Result<Dump, StressError> {
        let mut dump = since.dump(&state.database())?;
        for table in self.per_attempt {
            let rows = dump.entry((*table).to_owned()).or_default();
            // How much an attempt had to do depends on what those before it did.
            rows.retain(|row| !row.starts_with("name=purged_chunks "));
            rows.iter_mut().filter(|row| row.contains("operation=defrag")).for_each(|row| {
                row.truncate(row.find(" counts=").unwrap_or(row.len()));
            });
            rows.dedup();
        }
        Ok(dump)
    }
}

fn refuse(violations: Vec<Violation>) -> Result<(), StressError> {
    if violations.is_empty() { Ok(()) } else { Err(StressError::Violated(violations)) }
}

/// One thread per core: most of the time goes into processes, which wait for the disk.
pub(crate) fn in_parallel<T: Send + Sync, R: Send>(
    work: Vec<T>,
    each: impl Fn(&T) -> Result<R, String> + Sync,
) -> Result<Vec<R>, Vec<String>> {
    let threads = std::thread::available_parallelism().map_or(2, |it| it.get().max(2));
    let next = Mutex::new(0..work.len());
    let results: Mutex<Vec<(usize, Result<R, String>)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some(index) = next.lock().expect("no thread panics with it").next() else { return };
                    let result = each(&work[index]);
                    results.lock().expect("no thread panics with it").push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no thread panics with it");
    results.sort_by_key(|(index, _)| *index);
    let (mut done, mut failures) = (Vec::new(), Vec::new());
    for (_, result) in results {
        match result {
            Ok(result) => done.push(result),
            Err(failure) => failures.push(failure),
        }
    }
    if failures.is_empty() { Ok(done) } else { Err(failures) }
}

/// The folder that a run of this kind works in must not hold anything.
pub fn settings(program: &Path, folder: &Path) -> FaultSettings {
    FaultSettings { program: program.to_owned(), folder: folder.to_owned(), one_in: 1 }
}
