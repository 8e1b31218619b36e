//! Operations that find the disk full, at every size from hardly anything to enough.
//!
//! The limit is one of the sizes of files, so it holds for the database, its log and every copy alike. Whatever does not
//! fit says so and leaves the database whole; the same operation again, with room, ends as if it had been there all the
//! time. Purging goes on where the database cannot grow by a single byte.

use std::fmt;
use std::path::{Path, PathBuf};

use rootset_trees::dump::{Dump, differences};
use serde_json::{Value, json};

use crate::dump::Since;
use crate::error::StressError;
use crate::model::Violation;
use crate::prepared_databases::{State, States};
use crate::step::{Ended, Step};
use crate::verify::Verifier;

/// Enough to open a database (its shared index takes 32 KiB), and too little for any of the operations.
const SMALLEST_BYTES: u64 = 64 * 1024;
/// Limits from the smallest to more than anything needs.
const LIMITS: [u64; 5] = [SMALLEST_BYTES, 256 * 1024, 1024 * 1024, 2 * 1024 * 1024, 4 * 1024 * 1024];
/// What the log may still take before a purge: less than a batch needs.
const LOG_ROOM_BYTES: u64 = 400 * 1024;
/// Beyond the lease of a run that stopped.
const AHEAD_MS: i64 = 10_000;
/// What tells attempts apart, and says nothing about what is stored.
const PER_ATTEMPT: [&str; 5] = ["audit", "counters", "erasures", "jobs", "meta"];

struct Phase {
    name: &'static str,
    state: fn(&States) -> &State,
    operation: fn(&Value) -> (&'static str, Value),
}

const PHASES: &[Phase] = &[
    Phase {
        name: "add",
        state: |states| &states.filled,
        operation: |_| {
            let memories: Vec<Value> =
                (0..40).map(|number| json!({"context": format!("Note {number} of many.")})).collect();
            ("add_memories", json!({"memories": memories}))
        },
    },
    Phase {
        name: "apply",
        state: |states| &states.planned,
        operation: |facts| ("gc_apply", json!({"plan_id": facts["plan_id"], "allow_large": true})),
    },
    Phase {
        name: "erase",
        state: |states| &states.erasing,
        operation: |facts| ("gc_apply", json!({"plan_id": facts["plan_id"], "allow_large": true, "confirm": true})),
    },
    Phase {
        name: "undo",
        state: |states| &states.trashed,
        operation: |facts| ("gc_undo", json!({"run_id": facts["run_id"]})),
    },
    Phase {
        name: "purge",
        state: |states| &states.trashed,
        operation: |facts| ("gc_purge", json!({"run_id": facts["run_id"], "confirm": true})),
    },
    Phase {
        name: "snapshot",
        state: |states| &states.filled,
        operation: |_| ("backup_create", json!({"format": "snapshot"})),
    },
    Phase {
        name: "bundle",
        state: |states| &states.filled,
        operation: |_| ("backup_create", json!({"format": "jsonl"})),
    },
    Phase {
        name: "restore",
        state: |states| &states.backed_up,
        operation: |facts| ("backup_restore", json!({"backup_id": facts["bundle"], "confirm": true})),
    },
    Phase { name: "defrag", state: |states| &states.purged, operation: |_| ("defrag", json!({"confirm": true})) },
];

#[derive(Clone, Debug)]
pub struct DiskFullSettings {
    /// The binary of this crate.
    pub program: PathBuf,
    /// An empty folder.
    pub folder: PathBuf,
}

/// Per phase, the limits that were too small.
#[derive(Clone, Debug, Default)]
pub struct DiskFullReport {
    pub refused: Vec<(&'static str, Vec<u64>)>,
}

impl fmt::Display for DiskFullReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (phase, limits) in &self.refused {
            let kib: Vec<u64> = limits.iter().map(|bytes| bytes / 1024).collect();
            writeln!(f, "{phase}: refused with files of at most {kib:?} KiB")?;
        }
        Ok(())
    }
}

pub fn run(settings: &DiskFullSettings) -> Result<DiskFullReport, StressError> {
    let states = States::make(&settings.folder)?;
    let mut report = DiskFullReport::default();
    for phase in PHASES {
        report.refused.push((phase.name, run_phase(settings, phase, (phase.state)(&states))?));
    }
    purge_without_growing(settings, &states.trashed)?;
    Ok(report)
}

/// Answers the limits that were too small.
fn run_phase(settings: &DiskFullSettings, phase: &Phase, state: &State) -> Result<Vec<u64>, StressError> {
    let since = state.since()?;
    let before = comparable(&since, state)?;
    let room = tempfile::tempdir_in(&settings.folder)?;
    let twin = state.copy_to(&room.path().join("twin"))?;
    step(phase, &twin).run_in(&settings.program)?.answer()?;
    let wanted = comparable(&since, &twin)?;
    let mut refused = Vec::new();
    for limit in LIMITS {
        let at = |what: &str| format!("{} with files of at most {limit} bytes: {what}", phase.name);
        let copy = state.copy_to(&room.path().join(limit.to_string()))?;
        let limited = Step { file_bytes_max: Some(limit), ..step(phase, &copy) };
        let ended = limited.run_in(&settings.program)?;
        if matches!(ended, Ended::Answered(_)) && !said_full(&ended) {
            break;
        }
        if !is_clear(&ended) {
            return Err(StressError::StepEnded { ended: at(&format!("{ended:?}")) });
        }
        let found = Verifier::open(&copy.database())?.doctor()?;
        refuse(&at("doctor"), found.into_iter().filter(|it| !it.is_debt_of_a_purge()).collect())?;
        if limit == SMALLEST_BYTES && matches!(ended, Ended::Refused(_)) {
            same(&at("refused"), &before, &comparable(&since, &copy)?)?;
        }
        Step { ahead_ms: AHEAD_MS, ..step(phase, &copy) }.run_in(&settings.program)?.answer()?;
        if phase.name != "add" {
            same(&at("again"), &wanted, &comparable(&since, &copy)?)?;
        }
        refuse(&at("doctor again"), Verifier::open(&copy.database())?.doctor()?)?;
        refused.push(limit);
    }
    if refused.is_empty() {
        return Err(StressError::StepEnded { ended: format!("{} although there was no room", phase.name) });
    }
    Ok(refused)
}

/// Neither the database nor its log may become larger than the database is, and the log is nearly that large already.
fn purge_without_growing(settings: &DiskFullSettings, state: &State) -> Result<(), StressError> {
    let since = state.since()?;
    let room = tempfile::tempdir_in(&settings.folder)?;
    let (twin, full) = (state.copy_to(&room.path().join("twin"))?, state.copy_to(&room.path().join("full"))?);
    let bytes = std::fs::metadata(full.file())?.len();
    let purge = json!({"run_id": state.facts["run_id"], "confirm": true});
    let of = |state: &State| Step::new(&state.database(), "gc_purge", &purge);
    of(&twin).run_in(&settings.program)?.answer()?;
    let _open = fill_log(&full.file(), bytes - LOG_ROOM_BYTES)?;
    let answer = Step { file_bytes_max: Some(bytes), ..of(&full) }.run_in(&settings.program)?.answer()?;
    if answer["wal_clean"] != true {
        return Err(StressError::StepEnded { ended: format!("with a log that is not clean: {answer}") });
    }
    same("purged without growing", &comparable(&since, &twin)?, &comparable(&since, &full)?)?;
    refuse("purged without growing", Verifier::open(&full.database())?.doctor()?)
}

/// Writes rows as they are until the log has that size. While the connection is open, nobody empties it by leaving.
fn fill_log(database: &Path, bytes: u64) -> Result<rusqlite::Connection, StressError> {
    let connection = rusqlite::Connection::open(database)?;
    connection.execute_batch("PRAGMA wal_autocheckpoint = 0")?;
    let log = database.with_extension("db-wal");
    let size = || std::fs::metadata(&log).map_or(0, |it| it.len());
    while size() < bytes {
        let before = size();
        connection.execute_batch(
            "UPDATE memories SET attempts = attempts + 1; UPDATE memories SET attempts = attempts - 1",
        )?;
        if size() == before {
            return Err(StressError::StepEnded { ended: "without a log that grows".into() });
        }
    }
    Ok(connection)
}

fn step(phase: &Phase, state: &State) -> Step {
    let (operation, arguments) = (phase.operation)(&state.facts);
    Step::new(&state.database(), operation, &arguments)
}

/// A full disk is our trouble, not the caller's, and there is something to do about it.
fn is_clear(ended: &Ended) -> bool {
    match ended {
        Ended::Refused(refusal) => {
            refusal.code == "internal" && refusal.message.contains("the disk is full") && refusal.hint.is_some()
        }
        other => said_full(other),
    }
}

/// A batch of adds answers item by item; what was partly done is answered with a warning.
fn said_full(ended: &Ended) -> bool {
    let Ended::Answered(answer) = ended else { return false };
    [&answer["results"], &answer["warnings"]].iter().any(|it| it.to_string().contains("the disk is full"))
}

fn comparable(since: &Since, state: &State) -> Result<Dump, StressError> {
    let mut dump = since.dump(&state.database())?;
    dump.retain(|table, _| !PER_ATTEMPT.contains(&table.as_str()));
    Ok(dump)
}

fn same(at: &str, wanted: &Dump, found: &Dump) -> Result<(), StressError> {
    let found = differences(wanted, found).into_iter().map(|it| Violation::Twin(format!("{at}: {it}")));
    let violations: Vec<Violation> = found.collect();
    if violations.is_empty() { Ok(()) } else { Err(StressError::Violated(violations)) }
}

fn refuse(at: &str, violations: Vec<Violation>) -> Result<(), StressError> {
    if violations.is_empty() {
        return Ok(());
    }
    let named = violations.into_iter().map(|it| Violation::Twin(format!("{at}: {it}"))).collect();
    Err(StressError::Violated(named))
}

pub fn settings(program: &Path, folder: &Path) -> DiskFullSettings {
    DiskFullSettings { program: program.to_owned(), folder: folder.to_owned() }
}
